//! Owns the columns of leases.

use super::super::part::Part;
use super::kind::Header::{self, Always};
use kubereel_format::RecordedAt;

pub(super) const COLUMNS: [Header; 3] = [Always("NAME"), Always("HOLDER"), Always("AGE")];

pub(super) fn row(lease: Part<'_>, at: RecordedAt) -> Vec<String> {
    let holder = lease.at("spec.holderIdentity").text().to_owned();
    vec![lease.name(), holder, lease.age(at)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_lease_names_its_holder() {
        let at = RecordedAt::from_micros(1_795_269_660_000_000);
        let metadata = json!({"name": "a", "creationTimestamp": "2026-11-21T14:00:00Z"});
        for (spec, expected) in [
            (json!({"holderIdentity": "b_1"}), "b_1"),
            (json!({"holderIdentity": null}), ""),
            (json!({}), ""),
        ] {
            let lease = json!({"metadata": metadata, "spec": spec});
            assert_eq!(row(Part::of(&lease), at), ["a", expected, "60s"]);
        }
    }
}
