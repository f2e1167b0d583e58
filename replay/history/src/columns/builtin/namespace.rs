//! Owns the columns of namespaces.

use super::super::part::Part;
use super::kind::Header::{self, Always};
use kubereel_format::RecordedAt;

pub(super) const COLUMNS: [Header; 3] = [Always("NAME"), Always("STATUS"), Always("AGE")];

pub(super) fn row(namespace: Part<'_>, at: RecordedAt) -> Vec<String> {
    // The server fills in what is not said.
    let phase = namespace.at("status.phase").text_or("Active");
    vec![namespace.name(), phase.to_owned(), namespace.age(at)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_namespace_is_active_unless_it_says_otherwise() {
        let at = RecordedAt::from_micros(1_795_269_660_000_000);
        for (status, expected) in [
            (json!({}), "Active"),
            (json!({"phase": "Active"}), "Active"),
            (json!({"phase": "Terminating"}), "Terminating"),
        ] {
            let metadata = json!({"name": "a", "creationTimestamp": "2026-11-21T14:00:00Z"});
            let namespace = json!({"metadata": metadata, "status": status});
            assert_eq!(row(Part::of(&namespace), at), ["a", expected, "60s"]);
        }
    }
}
