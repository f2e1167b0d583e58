//! Faults that objects of some kinds state outside of the conditions whose types are known.

use super::condition;
use crate::sign::{Sign, SignKind};
use kubereel_cluster::{StatedFault, StatedFaults};
use kubereel_format::ResourceInfo;
use serde_json::Value;

/// Reads which faults an object states, unless it rests on purpose.
pub(super) fn read(info: &ResourceInfo, object: &Value) -> Vec<Sign> {
    let faults = StatedFaults::of(info).read(object).into_iter();
    faults.map(sign).collect()
}

fn sign(fault: StatedFault<'_>) -> Sign {
    match fault {
        StatedFault::Condition { condition, item } => {
            let mut sign = condition::sign_of(&condition);
            if item.is_empty() {
                return sign;
            }
            sign.message = format!("{item}: {}", sign.message);
            sign.of_part(&format!("{item}/{}", condition.kind))
        }
        StatedFault::Field {
            field,
            value,
            message,
            start,
        } => {
            let name = field.trim_start_matches("status.");
            // It is a fault because it lasts.
            let is = start.map_or("is", |_| "is still");
            let words = match message {
                "" => format!("{name} {is} {value}"),
                message if message == value => message.to_owned(),
                message => format!("{name} {is} {value}: {message}"),
            };
            // A sentence is a poor name of a problem.
            let reason = if value.contains(' ') { "Error" } else { value };
            let sign = Sign::new(SignKind::Condition, reason, &words).of_part(field);
            Sign { start, ..sign }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_format::ResourceId;
    use serde_json::json;

    /// Returns reasons and messages of what an object of a resource states.
    fn said(group: &str, plural: &str, status: &Value) -> Vec<String> {
        let api_version = if group.is_empty() {
            "v1".to_owned()
        } else {
            format!("{group}/v1")
        };
        let info = ResourceInfo::new(ResourceId(1), &api_version, plural, "");
        let object = json!({"metadata": {"generation": 2}, "status": status});
        let signs = read(&info, &object).into_iter();
        signs
            .map(|sign| format!("{} {}", sign.reason, sign.message))
            .collect()
    }

    #[test]
    fn an_item_of_a_list_is_read_by_its_conditions_unless_these_are_old() {
        let route = |admitted: &str| {
            let condition = json!({"type": "Admitted", "status": admitted, "reason": "HostAlreadyClaimed",
                "message": "other is older"});
            json!({"ingress": [{"routerName": "default", "conditions": [condition]}]})
        };
        let of = |admitted| said("route.openshift.io", "routes", &route(admitted));
        assert!(of("True").is_empty());
        let words = "HostAlreadyClaimed default: Admitted=False: other is older";
        assert_eq!(of("False"), [words]);
        let parent = |observed: u64| {
            json!({"parents": [{"parentRef": {"name": "web"}, "conditions": [
                {"type": "ResolvedRefs", "status": "False", "reason": "BackendNotFound",
                    "observedGeneration": observed}]}]})
        };
        let of = |observed| said("gateway.networking.k8s.io", "httproutes", &parent(observed));
        assert_eq!(of(2), ["BackendNotFound web: ResolvedRefs=False"]);
        assert!(of(1).is_empty());
    }

    #[test]
    fn a_field_is_read_by_its_value_or_by_being_there() {
        let host = |word: &str| {
            let status = json!({"operationalStatus": word, "errorMessage": "no power"});
            said("metal3.io", "baremetalhosts", &status)
        };
        assert!(host("OK").is_empty());
        assert_eq!(
            host("error"),
            ["error operationalStatus is error: no power"]
        );
        let snapshot = |status: Value| said("snapshot.storage.k8s.io", "volumesnapshots", &status);
        assert!(snapshot(json!({"readyToUse": true})).is_empty());
        let failed = snapshot(json!({"error": {"message": "no such volume"}}));
        assert_eq!(failed, ["Error no such volume"]);
    }

    #[test]
    fn of_a_list_of_what_happened_the_last_condition_counts() {
        let group = "machineconfiguration.openshift.io";
        let of =
            |conditions: Value| said(group, "kubeletconfigs", &json!({"conditions": conditions}));
        let failed = json!({"type": "Failure", "status": "False", "message": "Error: no pool"});
        let done = json!({"type": "Success", "status": "True", "message": "Success"});
        assert_eq!(
            of(json!([done, failed])),
            ["Failure Failure=False: Error: no pool"]
        );
        assert!(of(json!([failed, done])).is_empty());
    }
}
