//! The columns of configuration: `ConfigMap`s, Secrets, budgets and quotas, roles and bindings,
//! certificate requests.

use super::super::part::{NONE, ObjectPart};
use crate::timetext;
use kubereel_format::RecordedAt;

pub(super) fn config_map_cells(map: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    let count = map.at("data").members().count() + map.at("binaryData").members().count();
    vec![count.to_string()]
}

pub(super) fn api_service_cells(service: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    let place = service.at("spec.service");
    let place = if place.is_there() {
        format!(
            "{}/{}",
            place.at("namespace").text(),
            place.at("name").text()
        )
    } else {
        "Local".to_owned()
    };
    let mut conditions = service.at("status.conditions").items();
    let available = conditions.find(|one| one.at("type").text() == "Available");
    let available = available.map(|one| match one.at("status").text() {
        "True" => "True".to_owned(),
        status => format!("{status} ({})", one.at("reason").text()),
    });
    vec![place, available.unwrap_or_else(|| "Unknown".to_owned())]
}

pub(super) fn binding_cells(binding: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    let role = binding.at("roleRef");
    let subjects = |kind: &str| {
        let of_kind = binding
            .at("subjects")
            .items()
            .filter(|one| one.at("kind").text() == kind);
        let names = of_kind.map(|one| match one.at("namespace").text() {
            namespace if kind == "ServiceAccount" && !namespace.is_empty() => {
                format!("{namespace}/{}", one.at("name").text())
            }
            _ => one.at("name").text().to_owned(),
        });
        names.collect::<Vec<_>>().join(", ")
    };
    vec![
        format!("{}/{}", role.at("kind").text(), role.at("name").text()),
        subjects("User"),
        subjects("Group"),
        subjects("ServiceAccount"),
    ]
}

pub(super) fn quota_cells(quota: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    let status = quota.at("status");
    let used = status.at("used").texts();
    let [mut requests, mut limits] = [Vec::new(), Vec::new()];
    for (resource, hard) in status.at("hard").texts() {
        let used = used.get(resource).copied().unwrap_or("0");
        let is_limit = resource.starts_with("limits.");
        let column = if is_limit { &mut limits } else { &mut requests };
        column.push(format!("{resource}: {used}/{hard}"));
    }
    vec![requests.join(", "), limits.join(", ")]
}

pub(super) fn signing_request_cells(request: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    let wished = request.at("spec.expirationSeconds");
    let duration = if wished.is_there() {
        timetext::age(wished.whole())
    } else {
        NONE.to_owned()
    };
    vec![duration, signing_state(request.at("status"))]
}

/// Returns the state of a certificate request.
fn signing_state(status: ObjectPart<'_>) -> String {
    let is = |kind: &str| {
        let mut conditions = status.at("conditions").items();
        conditions.any(|one| one.at("type").text() == kind)
    };
    let decided = if is("Denied") {
        "Denied"
    } else if is("Approved") {
        "Approved"
    } else {
        "Pending"
    };
    let failed = if is("Failed") { ",Failed" } else { "" };
    let is_issued = !status.at("certificate").text().is_empty();
    let issued = if is_issued { ",Issued" } else { "" };
    format!("{decided}{failed}{issued}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_signing_request_says_what_became_of_it() {
        for (status, expected) in [
            (json!({}), "Pending"),
            (json!({"conditions": [{"type": "Approved"}]}), "Approved"),
            (
                json!({"conditions": [{"type": "Approved"}], "certificate": "LS0t"}),
                "Approved,Issued",
            ),
            (
                json!({"conditions": [{"type": "Approved"}, {"type": "Failed"}]}),
                "Approved,Failed",
            ),
            (
                json!({"conditions": [{"type": "Approved"}, {"type": "Denied"}]}),
                "Denied",
            ),
        ] {
            assert_eq!(signing_state(ObjectPart::of(&status)), expected, "{status}");
        }
    }
}
