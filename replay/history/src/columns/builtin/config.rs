//! The columns of what configures: `ConfigMap`s, Secrets, disruption budgets, roles and their bindings.

use super::super::part::ObjectPart;
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

/// The row of what shows when it was created, and not its age.
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
