//! The columns of OpenShift's routes, which an API server of OpenShift defines itself: they have no definition.

use super::super::part::ObjectPart;
use kubereel_format::RecordedAt;

pub(super) fn route_cells(route: ObjectPart<'_>, _at: RecordedAt) -> Vec<String> {
    let spec = route.at("spec");
    vec![host(route), backends(spec), termination(spec.at("tls"))]
}

/// Returns the host of a router that admitted the route, with the number of others; else why none did.
fn host(route: ObjectPart<'_>) -> String {
    let wanted = route.at("spec.host").text();
    let routers = route.at("status.ingress");
    if !routers.is_there() {
        return wanted.to_owned();
    }
    let (mut admitted, mut refused, mut reason) = (Vec::new(), 0_usize, "");
    for router in routers.items() {
        let mut conditions = router.at("conditions").items();
        let Some(condition) = conditions.find(|one| one.at("type").text() == "Admitted") else {
            continue;
        };
        match condition.at("status").text() {
            "True" => admitted.push(router.at("host").text()),
            "False" => {
                refused += 1;
                reason = condition.at("reason").text();
            }
            _ => {}
        }
    }
    let Some(last) = admitted.last() else {
        return if refused > 0 { reason } else { "Pending" }.to_owned();
    };
    let host = if admitted.contains(&wanted) {
        wanted
    } else {
        last
    };
    match (admitted.len() - 1, refused) {
        (0, 0) => host.to_owned(),
        (more, 0) => format!("{host} ... {more} more"),
        (_, refused) => format!("{host} ... {refused} rejected"),
    }
}

/// Returns the Services, with their shares if there are several.
fn backends(spec: ObjectPart<'_>) -> String {
    let others = spec.at("alternateBackends").items();
    let all: Vec<ObjectPart<'_>> = std::iter::once(spec.at("to")).chain(others).collect();
    let total: i64 = all.iter().map(|one| one.at("weight").whole()).sum();
    let cells = all.iter().map(|one| {
        let (name, weight) = (one.at("name").text(), one.at("weight"));
        let share = weight.whole().saturating_mul(100).checked_div(total);
        match share {
            _ if !weight.is_there() => name.to_owned(),
            Some(_) if all.len() == 1 => name.to_owned(),
            share => format!("{name}({}%)", share.unwrap_or_default()),
        }
    });
    cells.collect::<Vec<_>>().join(",")
}

fn termination(tls: ObjectPart<'_>) -> String {
    let end = tls.at("termination").text();
    match tls.at("insecureEdgeTerminationPolicy").text() {
        "" => end.to_owned(),
        insecure if end.is_empty() => format!("default/{insecure}"),
        insecure => format!("{end}/{insecure}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::kind::row_of;
    use super::*;
    use serde_json::{Value, json};

    fn cells(route: &Value) -> Vec<String> {
        row_of("routes", route, RecordedAt::from_micros(0))
    }

    #[test]
    fn a_route_prints_as_oc_prints_it() {
        let admitted = |host: &str| json!({"host": host, "conditions": [{"type": "Admitted", "status": "True"}]});
        let refused = json!({"host": "a", "conditions": [{"type": "Admitted", "status": "False", "reason": "HostAlreadyClaimed"}]});
        for (spec, ingress, expected) in [
            (
                json!({"host": "a", "to": {"name": "web", "weight": 100}, "wildcardPolicy": "None"}),
                json!([admitted("a")]),
                ["a", "", "web", "<all>", "", "None"],
            ),
            (
                json!({"host": "a", "path": "/x", "to": {"name": "web", "weight": 1}, "port": {"targetPort": 8080},
                    "alternateBackends": [{"name": "new", "weight": 3}],
                    "tls": {"termination": "edge", "insecureEdgeTerminationPolicy": "Redirect"}}),
                json!([admitted("b"), admitted("a")]),
                [
                    "a ... 1 more",
                    "/x",
                    "web(25%),new(75%)",
                    "8080",
                    "edge/Redirect",
                    "",
                ],
            ),
            (
                json!({"host": "a", "to": {"name": "web", "weight": 0}, "port": {"targetPort": "https"},
                    "tls": {"insecureEdgeTerminationPolicy": "Allow"}}),
                json!([refused]),
                [
                    "HostAlreadyClaimed",
                    "",
                    "web(0%)",
                    "https",
                    "default/Allow",
                    "",
                ],
            ),
            (
                json!({"host": "a", "to": {"name": "web"}, "tls": {"termination": "reencrypt"}}),
                json!([admitted("b"), refused]),
                ["b ... 1 rejected", "", "web", "<all>", "reencrypt", ""],
            ),
            (
                json!({"host": "a", "to": {"name": "web"}}),
                json!([]),
                ["Pending", "", "web", "<all>", "", ""],
            ),
            (
                json!({"host": "a", "to": {"name": "web"}}),
                Value::Null,
                ["a", "", "web", "<all>", "", ""],
            ),
        ] {
            let route =
                json!({"metadata": {"name": "r"}, "spec": spec, "status": {"ingress": ingress}});
            assert_eq!(
                cells(&route).get(1..),
                Some(&expected.map(String::from)[..])
            );
        }
    }
}
