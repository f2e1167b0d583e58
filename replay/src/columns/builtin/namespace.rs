//! Owns the columns of namespaces.

use super::super::part::Part;
use super::kind::Header::{self, Always};
use kubereel_format::RecordedAt;

pub(super) const COLUMNS: [Header; 3] = [Always("NAME"), Always("STATUS"), Always("AGE")];

pub(super) fn row(namespace: Part<'_>, at: RecordedAt) -> Vec<String> {
    let phase = namespace.at("status.phase").text().to_owned();
    vec![namespace.name(), phase, namespace.age(at)]
}
