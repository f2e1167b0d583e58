//! Owns the columns of leases.

use super::super::part::Part;
use super::kind::Header::{self, Always};
use kubereel_format::RecordedAt;

pub(super) const COLUMNS: [Header; 3] = [Always("NAME"), Always("HOLDER"), Always("AGE")];

pub(super) fn row(lease: Part<'_>, at: RecordedAt) -> Vec<String> {
    let holder = lease.at("spec.holderIdentity").text().to_owned();
    vec![lease.name(), holder, lease.age(at)]
}
