//! Owns the columns of deployments.

use super::super::part::Part;
use super::kind::Header::{self, Always, Wide};
use super::{containers, replica_set, selector};
use kubereel_format::RecordedAt;

pub(super) const COLUMNS: [Header; 8] = [
    Always("NAME"),
    Always("READY"),
    Always("UP-TO-DATE"),
    Always("AVAILABLE"),
    Always("AGE"),
    Wide("CONTAINERS"),
    Wide("IMAGES"),
    Wide("SELECTOR"),
];

pub(super) fn row(deployment: Part<'_>, at: RecordedAt) -> Vec<String> {
    let status = deployment.at("status");
    let ready = status.at("readyReplicas").whole();
    let desired = replica_set::desired(deployment);
    let [names, images] =
        containers::names_and_images(deployment.at("spec.template.spec.containers"));
    vec![
        deployment.name(),
        format!("{ready}/{desired}"),
        status.at("updatedReplicas").whole().to_string(),
        status.at("availableReplicas").whole().to_string(),
        deployment.age(at),
        names,
        images,
        // Unlike elsewhere, no selector leaves the cell empty.
        selector::written(deployment.at("spec.selector")).unwrap_or_else(|| "<invalid>".to_owned()),
    ]
}
