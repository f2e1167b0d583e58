//! OpenShift: what operators, the cluster's version and pools of Nodes say.

use super::Reading;
use crate::sign::{Sign, SignKind};
use kubereel_cluster::StatusCondition;
use serde_json::Value;

pub(super) const PATHS: &[&str] = &["status.history.state"];

fn sign(kind: SignKind, condition: &StatusCondition<'_>) -> Sign {
    Sign::new(kind, condition.reason, condition.message)
        .of_part(condition.kind)
        .since(condition.since())
}

pub(super) fn operator(object: &Value) -> Reading {
    let mut reading = Reading::default();
    for condition in StatusCondition::all(object) {
        match (condition.kind, condition.status) {
            ("Available", "True") => reading.is_well = true,
            ("Available", "False") => {
                reading
                    .signs
                    .push(sign(SignKind::OperatorUnavailable, &condition));
            }
            ("Degraded", "True") => {
                reading
                    .signs
                    .push(sign(SignKind::OperatorDegraded, &condition));
            }
            _ => {}
        }
    }
    reading.is_well &= reading.signs.is_empty();
    reading
}

pub(super) fn version(object: &Value) -> Reading {
    let mut reading = Reading::default();
    for condition in StatusCondition::all(object) {
        match (condition.kind, condition.status) {
            ("Available", "True") => reading.is_well = true,
            ("ReleaseAccepted", "False") => {
                reading
                    .signs
                    .push(sign(SignKind::ReleaseNotAccepted, &condition));
            }
            ("Failing", "True") => reading
                .signs
                .push(sign(SignKind::VersionFailing, &condition)),
            _ => {}
        }
    }
    reading
}

pub(super) fn pool(object: &Value) -> Reading {
    let mut reading = Reading::default();
    for condition in StatusCondition::all(object) {
        match (condition.kind, condition.status) {
            ("Updated", "True") => reading.is_well = true,
            ("Degraded", "True") => reading.signs.push(sign(SignKind::PoolDegraded, &condition)),
            _ => {}
        }
    }
    reading
}
