//! The columns of what the API server itself works with: priority and fairness, addresses of
//! Services, admission policies; and of claims of devices.

use super::super::part::{NONE, ObjectPart};
use kubereel_format::RecordedAt;

const UNSET: &str = "<unset>";

pub(super) fn flow_schema_cells(schema: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    let mut conditions = schema.at("status.conditions").items();
    let dangling = conditions.find(|one| one.at("type").text() == "Dangling");
    vec![
        dangling
            .map_or("?", |one| one.at("status").text())
            .to_owned(),
    ]
}

pub(super) fn ip_address_cells(address: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    let parent = address.at("spec.parentRef");
    let member = |name: &str| parent.at(name).text();
    let mut resource = member("resource").to_owned();
    if !member("group").is_empty() {
        resource.extend([".", member("group")]);
    }
    let mut text = resource.to_lowercase();
    for part in [member("namespace"), member("name")] {
        if !part.is_empty() {
            text.extend(["/", part]);
        }
    }
    vec![if parent.is_there() {
        text
    } else {
        NONE.to_owned()
    }]
}

pub(super) fn policy_cells(policy: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    let params = policy.at("spec.paramKind");
    let kind = if params.is_there() {
        format!(
            "{}/{}",
            params.at("apiVersion").text(),
            params.at("kind").text()
        )
    } else {
        UNSET.to_owned()
    };
    vec![kind]
}

pub(super) fn policy_binding_cells(binding: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    let params = binding.at("spec.paramRef");
    let text = match (params.at("namespace").text(), params.at("name").text()) {
        (_, "") if params.at("selector").is_there() => selector_in_go(params.at("selector")),
        (_, "") => UNSET.to_owned(),
        ("", name) => format!("*/{name}"),
        (namespace, name) => format!("{namespace}/{name}"),
    };
    vec![text]
}

/// Formats a selector as the server does, which prints its own value.
fn selector_in_go(selector: ObjectPart<'_>) -> String {
    let mut text = "&LabelSelector{MatchLabels:map[string]string{".to_owned();
    for (name, value) in selector.at("matchLabels").texts() {
        text.extend([name, ": ", value, ","]);
    }
    text.push_str("},MatchExpressions:[]LabelSelectorRequirement{");
    for one in selector.at("matchExpressions").items() {
        let values = one.at("values").items().map(ObjectPart::text);
        let values: Vec<&str> = values.collect();
        let (key, operator) = (one.at("key").text(), one.at("operator").text());
        text.extend(["LabelSelectorRequirement{Key:", key, ",Operator:", operator]);
        text.extend([",Values:[", &values.join(" "), "],},"]);
    }
    text.push_str("},}");
    text
}

pub(super) fn pod_template_cells(template: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    let labels = template.at("template.metadata.labels").texts();
    let labels: Vec<String> = labels
        .into_iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let labels = if labels.is_empty() {
        NONE.to_owned()
    } else {
        labels.join(",")
    };
    vec![labels]
}

pub(super) fn resource_claim_cells(claim: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    let is_deleted = claim.at("metadata.deletionTimestamp").is_there();
    let is_allocated = claim.at("status.allocation").is_there();
    let is_reserved = claim.at("status.reservedFor").items().len() > 0;
    let states = [
        (is_deleted, "deleted"),
        (!is_deleted && !is_allocated, "pending"),
        (is_allocated, "allocated"),
        (is_allocated && is_reserved, "reserved"),
    ];
    let states = states.into_iter().filter(|(is_so, _)| *is_so);
    let states: Vec<&str> = states.map(|(_, word)| word).collect();
    vec![states.join(",")]
}

#[cfg(test)]
mod tests {
    use super::super::kind::row_of;
    use super::*;
    use serde_json::{Value, json};

    /// The expected cells are those that kubectl v1.36.3 printed of such objects.
    #[test]
    fn cells_are_those_of_kubectl() {
        let at = RecordedAt::from_micros(1_795_269_660_000_000);
        let cases: [(&str, Value, &[&str]); 12] = [
            (
                "flowschemas",
                json!({"spec": {"priorityLevelConfiguration": {"name": "system"}, "matchingPrecedence": 500,
                    "distinguisherMethod": {"type": "ByUser"}},
                    "status": {"conditions": [{"type": "Dangling", "status": "False"}]}}),
                &["system", "500", "ByUser", "<unknown>", "False"],
            ),
            (
                "flowschemas",
                json!({"spec": {"priorityLevelConfiguration": {"name": "exempt"}, "matchingPrecedence": 1}}),
                &["exempt", "1", "<none>", "<unknown>", "?"],
            ),
            (
                "prioritylevelconfigurations",
                json!({"spec": {"type": "Limited", "limited": {"nominalConcurrencyShares": 5,
                    "limitResponse": {"type": "Reject"}}}}),
                &["Limited", "5", "<none>", "<none>", "<none>", "<unknown>"],
            ),
            (
                "prioritylevelconfigurations",
                json!({"spec": {"type": "Limited", "limited": {"nominalConcurrencyShares": 20,
                    "limitResponse": {"queuing": {"queues": 128, "handSize": 6, "queueLengthLimit": 50}}}}}),
                &["Limited", "20", "128", "6", "50", "<unknown>"],
            ),
            (
                "ipaddresses",
                json!({"spec": {"parentRef": {"resource": "services", "namespace": "default", "name": "kubernetes"}}}),
                &["services/default/kubernetes"],
            ),
            (
                "servicecidrs",
                json!({"spec": {"cidrs": ["10.96.0.0/16", "fd00::/108"]}}),
                &["10.96.0.0/16,fd00::/108", "<unknown>"],
            ),
            (
                "validatingadmissionpolicies",
                json!({"spec": {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}, "validations": [{}]}}),
                &["1", "v1/ConfigMap", "<unknown>"],
            ),
            (
                "mutatingadmissionpolicies",
                json!({"spec": {"mutations": [{}, {}]}}),
                &["2", "<unset>", "<unknown>"],
            ),
            (
                "validatingadmissionpolicybindings",
                json!({"spec": {"policyName": "vap", "paramRef": {"selector": {"matchLabels": {"a": "b"}}}}}),
                &[
                    "vap",
                    "&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{},}",
                    "<unknown>",
                ],
            ),
            (
                "validatingadmissionpolicybindings",
                json!({"spec": {"policyName": "vap", "paramRef": {"name": "note", "namespace": "shop"}}}),
                &["vap", "shop/note", "<unknown>"],
            ),
            (
                "resourceclaims",
                json!({"status": {"allocation": {}, "reservedFor": [{}]}}),
                &["allocated,reserved", "<unknown>"],
            ),
            (
                "resourceslices",
                json!({"spec": {"nodeName": "n1", "driver": "d.example", "pool": {"name": "p"}}}),
                &["n1", "d.example", "p", "<unknown>"],
            ),
        ];
        for (plural, object, expected) in cases {
            let cells = row_of(plural, &object, at);
            assert_eq!(cells[1..], *expected, "{object}");
        }
    }
}
