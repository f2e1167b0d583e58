//! The columns of configuration: `ConfigMap`s, Secrets, budgets and quotas, roles and bindings,
//! certificate requests.

use super::super::part::{NONE, ObjectPart};
use crate::timetext;
use kubereel_format::RecordedAt;

pub(super) fn config_map_row(map: ObjectPart<'_>, at: RecordedAt) -> Vec<String> {
    let count = map.at("data").members().count() + map.at("binaryData").members().count();
    vec![map.name(), count.to_string(), map.age(at)]
}

pub(super) fn secret_row(secret: ObjectPart<'_>, at: RecordedAt) -> Vec<String> {
    vec![
        secret.name(),
        secret.at("type").text().to_owned(),
        secret.at("data").members().count().to_string(),
        secret.age(at),
    ]
}

pub(super) fn disruption_budget_row(budget: ObjectPart<'_>, at: RecordedAt) -> Vec<String> {
    vec![
        budget.name(),
        budget.at("spec.minAvailable").plain_or("N/A"),
        budget.at("spec.maxUnavailable").plain_or("N/A"),
        budget.at("status.disruptionsAllowed").whole().to_string(),
        budget.age(at),
    ]
}

/// The row of a kind that shows its creation time instead of its age.
pub(super) fn created_row(object: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    let created = object.at("metadata.creationTimestamp").text();
    vec![object.name(), created.to_owned()]
}

pub(super) fn webhooks_row(webhooks: ObjectPart<'_>, at: RecordedAt) -> Vec<String> {
    let count = webhooks.at("webhooks").items().len();
    vec![webhooks.name(), count.to_string(), webhooks.age(at)]
}

pub(super) fn api_service_row(service: ObjectPart<'_>, at: RecordedAt) -> Vec<String> {
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
    vec![
        service.name(),
        place,
        available.unwrap_or_else(|| "Unknown".to_owned()),
        service.age(at),
    ]
}

pub(super) fn binding_row(binding: ObjectPart<'_>, at: RecordedAt) -> Vec<String> {
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
        binding.name(),
        format!("{}/{}", role.at("kind").text(), role.at("name").text()),
        binding.age(at),
        subjects("User"),
        subjects("Group"),
        subjects("ServiceAccount"),
    ]
}

pub(super) fn quota_row(quota: ObjectPart<'_>, at: RecordedAt) -> Vec<String> {
    let status = quota.at("status");
    let used = status.at("used").texts();
    let [mut requests, mut limits] = [Vec::new(), Vec::new()];
    for (resource, hard) in status.at("hard").texts() {
        let used = used.get(resource).copied().unwrap_or("0");
        let is_limit = resource.starts_with("limits.");
        let column = if is_limit { &mut limits } else { &mut requests };
        column.push(format!("{resource}: {used}/{hard}"));
    }
    vec![
        quota.name(),
        requests.join(", "),
        limits.join(", "),
        quota.age(at),
    ]
}

pub(super) fn priority_class_row(class: ObjectPart<'_>, at: RecordedAt) -> Vec<String> {
    vec![
        class.name(),
        class.at("value").whole().to_string(),
        class.at("globalDefault").holds().to_string(),
        class.age(at),
        class.at("preemptionPolicy").text().to_owned(),
    ]
}

pub(super) fn runtime_class_row(class: ObjectPart<'_>, at: RecordedAt) -> Vec<String> {
    vec![
        class.name(),
        class.at("handler").text().to_owned(),
        class.age(at),
    ]
}

pub(super) fn signing_request_row(request: ObjectPart<'_>, at: RecordedAt) -> Vec<String> {
    let spec = request.at("spec");
    let wished = spec.at("expirationSeconds");
    let duration = if wished.is_there() {
        timetext::age(wished.whole())
    } else {
        NONE.to_owned()
    };
    vec![
        request.name(),
        request.age(at),
        spec.at("signerName").text_or(NONE).to_owned(),
        spec.at("username").text().to_owned(),
        duration,
        signing_state(request.at("status")),
    ]
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
