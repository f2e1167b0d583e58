//! Other built-in kinds: claims, volumes, aggregated APIs, certificates, and the deletion of anything.

use super::Reading;
use super::pod::finalizers;
use crate::sign::{Sign, SignKind, text};
use kubereel_cluster::StatusCondition;
use kubereel_format::ResourceInfo;
use kubereel_history::timetext;
use serde_json::Value;

pub(super) const PATHS: &[&str] = &[
    "status.phase",
    "status.reason",
    "status.message",
    "status.attached",
    "status.attachError",
    "status.notAfter",
    "status.renewalTime",
];

fn only(sign: Sign) -> Reading {
    Reading {
        signs: vec![sign],
        is_well: false,
    }
}

/// Reads what is being deleted and is still there.
pub(super) fn deletion(info: &ResourceInfo, object: &Value) -> Reading {
    let since = timetext::parsed(text(object, "/metadata/deletionTimestamp"));
    if info.group.is_empty() && info.plural == "namespaces" {
        let remaining: Vec<&str> = StatusCondition::all(object)
            .filter(|one| one.is("True"))
            .map(|one| one.message)
            .collect();
        let sign = Sign::new(SignKind::NamespaceStuck, "", &remaining.join("; "));
        return only(sign.since(since));
    }
    let names = finalizers(object);
    if names.is_empty() {
        return Reading::default();
    }
    let message = format!("deleted, and held by finalizers: {names}");
    only(Sign::new(SignKind::DeletionStuck, "", &message).since(since))
}

pub(super) fn claim(object: &Value) -> Reading {
    let phase = text(object, "/status/phase");
    match phase {
        "Bound" => Reading {
            is_well: true,
            ..Reading::default()
        },
        "Lost" => only(Sign::new(
            SignKind::Volume,
            phase,
            "the volume of the claim is gone",
        )),
        _ => only(Sign::new(
            SignKind::ClaimPending,
            phase,
            "the claim is not bound to a volume",
        )),
    }
}

pub(super) fn volume(object: &Value) -> Reading {
    match text(object, "/status/phase") {
        "Failed" => only(Sign::new(
            SignKind::Volume,
            text(object, "/status/reason"),
            text(object, "/status/message"),
        )),
        _ => Reading {
            is_well: true,
            ..Reading::default()
        },
    }
}

pub(super) fn attachment(object: &Value) -> Reading {
    match text(object, "/status/attachError/message") {
        "" => Reading::default(),
        message => only(Sign::new(SignKind::Volume, "AttachError", message)),
    }
}

pub(super) fn api_service(object: &Value) -> Reading {
    let available = StatusCondition::all(object).find(|one| one.kind == "Available");
    match available {
        Some(condition) if !condition.is("True") => only(
            Sign::new(SignKind::ApiService, condition.reason, condition.message)
                .since(condition.since()),
        ),
        Some(_) => Reading {
            is_well: true,
            ..Reading::default()
        },
        None => Reading::default(),
    }
}

/// Reads a certificate of cert-manager: its conditions; the collector compares its end with the time.
pub(super) fn certificate(object: &Value) -> Reading {
    super::condition::read(object)
}
