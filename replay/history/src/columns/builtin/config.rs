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

pub(super) fn role_row(role: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    let created = role.at("metadata.creationTimestamp").text();
    vec![role.name(), created.to_owned()]
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
