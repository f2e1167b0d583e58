//! The page of a `PersistentVolumeClaim`.

use super::lines::{PageWriter, go_list, terminating};
use super::surroundings::{NOT_RECORDED, Surroundings};
use crate::body_reader::QueryError;
use crate::columns::{ObjectPart, access_modes, class_of};
use kubereel_format::RecordedAt;
use serde_json::Value;

/// Writes a claim; without a moment, the template of one.
pub(super) fn claim_fields(page: &mut PageWriter, claim: ObjectPart<'_>, at: Option<RecordedAt>) {
    let (spec, status) = (claim.at("spec"), claim.at("status"));
    if at.is_some() {
        page.name(claim);
    }
    page.field(0, "StorageClass", class_of(claim));
    if let Some(at) = at {
        let phase = status.at("phase").text();
        page.field(
            0,
            "Status",
            terminating(claim, at).unwrap_or_else(|| phase.to_owned()),
        );
    }
    let volume = spec.at("volumeName").text();
    page.field(0, "Volume", volume);
    page.metadata(claim);
    if at.is_some() {
        page.field(0, "Finalizers", go_list(claim.at("metadata.finalizers")));
    }
    let is_bound = !volume.is_empty();
    let capacity = status.at("capacity.storage").plain_or("0");
    page.field(
        0,
        "Capacity",
        if is_bound { capacity } else { String::new() },
    );
    let modes = if is_bound {
        access_modes(status.at("accessModes"))
    } else {
        String::new()
    };
    page.field(0, "Access Modes", modes);
    page.field_if(0, "VolumeMode", spec.at("volumeMode").text());
    let source = spec.at("dataSource");
    if source.is_there() {
        page.line(0, "DataSource:");
        page.field_if(1, "APIGroup", source.at("apiGroup").text());
        page.field(1, "Kind", source.at("kind").text());
        page.field(1, "Name", source.at("name").text());
    }
}

pub(super) fn claim_page(
    page: &mut PageWriter,
    claim: ObjectPart<'_>,
    around: Surroundings<'_>,
) -> Result<(), QueryError> {
    claim_fields(page, claim, Some(around.at));
    let name = claim.name();
    match around.list("pods", claim.at("metadata.namespace").text())? {
        None => page.field(0, "Used By", NOT_RECORDED),
        Some(pods) => {
            let users = pods.iter().filter(|pod| is_user(pod, &name));
            let users = users.map(|pod| ObjectPart::of(pod).name());
            page.list(0, "Used By", users.collect());
        }
    }
    let conditions = claim.at("status.conditions");
    if conditions.items().len() > 0 {
        page.line(0, "Conditions:");
        page.line(
            1,
            "Type\tStatus\tLastProbeTime\tLastTransitionTime\tReason\tMessage",
        );
        page.line(
            1,
            "----\t------\t-----------------\t------------------\t------\t-------",
        );
    }
    let (probe, transition) = ("date lastProbeTime ", "date lastTransitionTime ");
    page.rows(
        conditions,
        &["type ", "status ", probe, transition, "reason ", "message"],
    );
    Ok(())
}

/// Returns whether a Pod mounts a claim.
fn is_user(pod: &Value, claim: &str) -> bool {
    let volumes = ObjectPart::of(pod).at("spec.volumes");
    let mut volumes = volumes.items();
    volumes.any(|volume| volume.at("persistentVolumeClaim.claimName").text() == claim)
}
