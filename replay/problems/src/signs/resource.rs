//! Other built-in kinds: claims, volumes, aggregated APIs, certificates, and the deletion of anything.

use super::Reading;
use super::pod::finalizers;
use crate::sign::{Sign, SignKind};
use kubereel_cluster::StatusCondition;
use kubereel_format::RecordedAt;
use kubereel_history::field::{at, text, time};
use kubereel_history::{Quantity, timetext};
use serde_json::Value;
use std::cmp::Ordering;

pub(super) const PATHS: &[&str] = &[
    "metadata.labels[olm.copiedFrom]",
    "status.phase",
    "status.reason",
    "status.message",
    "status.state",
    "status.health.status",
    "status.lastPhaseTransitionTime",
    "status.errorMessage",
    "status.failureReason",
    "status.attached",
    "status.attachError",
    "status.detachError",
    "status.hard",
    "status.used",
    "status.certificate",
    "spec.signerName",
];

/// The part of the sign of an exhausted quota.
pub(crate) const FULL: &str = "full";

fn only(sign: Sign) -> Reading {
    Reading::new(false, [sign])
}

fn deleted_at(object: &Value) -> Option<RecordedAt> {
    timetext::parsed(text(object, "/metadata/deletionTimestamp"))
}

/// Reads a namespace that is being deleted: its conditions say what is left in it.
pub(super) fn namespace_deletion(object: &Value) -> Reading {
    let remaining: Vec<&str> = StatusCondition::all(object)
        .filter(|one| one.is("True"))
        .map(|one| one.message)
        .collect();
    let sign = Sign::new(SignKind::NamespaceStuck, "", &remaining.join("; "));
    only(sign.since(deleted_at(object)))
}

/// Reads what is being deleted and is still there.
pub(super) fn deletion(object: &Value) -> Reading {
    let names = finalizers(object);
    if names.is_empty() {
        return Reading::default();
    }
    let message = format!("deleted, and held by finalizers: {names}");
    only(Sign::new(SignKind::DeletionStuck, "", &message).since(deleted_at(object)))
}

pub(super) fn claim(object: &Value) -> Reading {
    let phase = text(object, "/status/phase");
    match phase {
        "Bound" => Reading::new(true, []),
        // Nothing that takes its time: the volume does not come back.
        "Lost" => {
            let sign = Sign::new(SignKind::Volume, phase, "the volume of the claim is gone");
            only(Sign {
                is_failure: true,
                ..sign
            })
        }
        _ => {
            let words = "the claim is not bound to a volume";
            let sign = Sign::new(SignKind::ClaimPending, phase, words);
            // It does not become Pending again.
            only(sign.since(time(object, "/metadata/creationTimestamp")))
        }
    }
}

pub(super) fn volume(object: &Value) -> Reading {
    match text(object, "/status/phase") {
        "Failed" => {
            let at = |field| text(object, field);
            let sign = Sign::new(
                SignKind::Volume,
                at("/status/reason"),
                at("/status/message"),
            );
            only(sign.since(time(object, "/status/lastPhaseTransitionTime")))
        }
        _ => Reading::new(true, []),
    }
}

pub(super) fn attachment(object: &Value) -> Reading {
    let errors = [
        ("AttachError", "attachError"),
        ("DetachError", "detachError"),
    ];
    let signs = errors.iter().filter_map(|(reason, field)| {
        match text(object, &format!("/status/{field}/message")) {
            "" => None,
            message => {
                let sign = Sign::new(SignKind::Volume, reason, message);
                Some(sign.since(time(object, &format!("/status/{field}/time"))))
            }
        }
    });
    Reading::new(false, signs)
}

pub(super) fn api_service(object: &Value) -> Reading {
    let available = StatusCondition::all(object).find(|one| one.kind == "Available");
    match available {
        Some(condition) if !condition.is("True") => only(
            Sign::new(SignKind::ApiService, condition.reason, condition.message)
                .since(condition.since()),
        ),
        Some(_) => Reading::new(true, []),
        None => Reading::default(),
    }
}

/// Reads a quota: more is used than is allowed, or all of it. One that allows nothing forbids, and is not
/// used up.
pub(super) fn quota(object: &Value) -> Reading {
    let hard = at(object, "/status/hard").and_then(Value::as_object);
    let mut exceeded: Vec<String> = Vec::new();
    let mut full: Vec<String> = Vec::new();
    for (name, hard) in hard.into_iter().flatten() {
        let used = at(object, "/status/used").and_then(|used| used.get(name));
        let (Some(hard), Some(used)) = (hard.as_str(), used.and_then(Value::as_str)) else {
            continue;
        };
        let (Some(most), Some(now)) = (Quantity::parse(hard), Quantity::parse(used)) else {
            continue;
        };
        let words = format!("{name}: {used} of {hard} used");
        match now.compare(most) {
            Ordering::Greater => exceeded.push(words),
            // A quota of nothing forbids, and is used up from the beginning.
            Ordering::Equal if !most.is_zero() => full.push(words),
            _ => {}
        }
    }
    let sign = |reason, of: Vec<String>| Sign::new(SignKind::QuotaExceeded, reason, &of.join(", "));
    let mut reading = Reading::new(exceeded.is_empty() && full.is_empty(), []);
    if !exceeded.is_empty() {
        reading.signs.push(sign("QuotaExceeded", exceeded));
    } else if !full.is_empty() {
        reading.signs.push(sign("QuotaUsedUp", full).of_part(FULL));
    }
    reading
}

/// Reads a request for a certificate: nobody decides about it, or its signer does not answer.
pub(super) fn signing_request(object: &Value) -> Reading {
    let signer = text(object, "/spec/signerName");
    let since = timetext::parsed(text(object, "/metadata/creationTimestamp"));
    let is = |kind: &str| StatusCondition::all(object).find(|one| one.kind == kind);
    let sign = |reason: &str, message: &str| {
        only(
            Sign::new(SignKind::SigningRequest, reason, message)
                .of_part(signer)
                .since(since),
        )
    };
    if is("Denied").is_some() || !text(object, "/status/certificate").is_empty() {
        return Reading::new(true, []);
    }
    if let Some(failed) = is("Failed") {
        return sign("SigningFailed", failed.message);
    }
    match is("Approved") {
        Some(_) => sign(
            "NotSigned",
            &format!("approved, and {signer} does not sign it"),
        ),
        None => sign("", &format!("nobody approves it; it is for {signer}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_quota_is_exceeded_by_more_and_used_up_by_as_much() {
        let of = |hard: &str, used: &str| {
            let object = json!({"status": {"hard": {"cpu": hard}, "used": {"cpu": used}}});
            let signs = quota(&object).signs.into_iter();
            signs.map(|sign| sign.reason).collect::<Vec<_>>()
        };
        assert!(of("2", "1999m").is_empty());
        assert_eq!(of("2", "2000m"), ["QuotaUsedUp"]);
        assert_eq!(of("1Gi", "1025Mi"), ["QuotaExceeded"]);
        // It forbids, and what is there came before it.
        assert!(of("0", "0").is_empty());
        assert_eq!(of("0", "1"), ["QuotaExceeded"]);
        assert!(of("much", "1").is_empty());
    }

    #[test]
    fn a_signing_request_waits_until_it_is_decided_and_signed() {
        let of = |status: Value| {
            let object =
                json!({"spec": {"signerName": "kubernetes.io/kubelet-serving"}, "status": status});
            let signs = signing_request(&object).signs.into_iter();
            signs.map(|sign| sign.reason).collect::<Vec<_>>()
        };
        let decided = |kind: &str| json!([{"type": kind, "status": "True"}]);
        assert_eq!(of(json!({})), ["SigningRequestPending"]);
        assert_eq!(
            of(json!({"conditions": decided("Approved")})),
            ["NotSigned"]
        );
        assert!(of(json!({"conditions": decided("Denied")})).is_empty());
        let signed = json!({"conditions": decided("Approved"), "certificate": "LS0t"});
        assert!(of(signed).is_empty());
    }

    #[test]
    fn an_object_that_is_held_names_its_finalizers() {
        let mut object = json!({"metadata": {"deletionTimestamp": "2026-11-23T10:00:00Z"}});
        assert!(deletion(&object).signs.is_empty());
        object["metadata"]["finalizers"] = json!(["service.kubernetes.io/load-balancer-cleanup"]);
        let signs = deletion(&object).signs;
        assert!(
            signs
                .iter()
                .all(|sign| sign.message.ends_with("load-balancer-cleanup"))
        );
        assert_eq!(signs.len(), 1);
    }
}
