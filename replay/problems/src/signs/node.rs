//! Nodes: what their conditions and their specification say.

use super::Reading;
use crate::sign::{Sign, SignKind, is_true};
use kubereel_cluster::StatusCondition;
use serde_json::Value;

pub(super) const PATHS: &[&str] = &[
    "metadata.labels",
    "spec.unschedulable",
    "spec.taints",
    "status.allocatable",
];

/// Conditions that are True when something is wrong.
const TROUBLES: [&str; 8] = [
    "DiskPressure",
    "MemoryPressure",
    "PIDPressure",
    "NetworkUnavailable",
    "KernelDeadlock",
    "ReadonlyFilesystem",
    "CorruptDockerOverlay2",
    "OutOfDisk",
];

pub(super) fn read(node: &Value) -> Reading {
    let mut reading = Reading::default();
    for condition in StatusCondition::all(node) {
        if condition.kind == "Ready" {
            reading.is_well = condition.is("True");
            if !reading.is_well {
                reading.signs.push(
                    Sign::new(SignKind::NodeNotReady, condition.reason, condition.message)
                        .since(condition.since()),
                );
            }
        } else if TROUBLES.contains(&condition.kind) && condition.is("True") {
            let mut sign = Sign::new(SignKind::NodePressure, condition.reason, condition.message)
                .of_part(condition.kind)
                .since(condition.since());
            if !sign.message.contains(condition.kind) {
                sign.message = format!("{}=True: {}", condition.kind, sign.message);
            }
            reading.signs.push(sign);
        }
    }
    if is_true(node, "/spec/unschedulable") {
        reading.signs.push(Sign::new(
            SignKind::NodeCordoned,
            "",
            "spec.unschedulable is true",
        ));
    }
    reading
}
