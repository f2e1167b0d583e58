//! Every transition of two real recordings, as others computed them from the lines, comes back from
//! the history of its field, and no other does; `get --at` and `diff` agree on each.

use super::story::{Story, item, scope, table, text};
use kubereel_format::EventType;
use kubereel_history::{ChangeKind, ObjectFate, ObjectFilter, ResourceMoment, differing};
use kubereel_tests::shared_data::shared_data;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A transition: the line, what was, what is.
type Row = (usize, String, String);

#[test]
fn every_transition_of_an_operator_of_the_install_is_in_its_history() {
    let Some(story) = Story::read("okd412-sno-install-run1/events.jsonl.zst") else {
        return;
    };
    let path = shared_data("okd412-sno-install-run1/clusteroperator-transitions.csv").unwrap();
    let mut expected: BTreeMap<(String, String), Vec<[String; 5]>> = BTreeMap::new();
    let rows = table(&std::fs::read_to_string(path).unwrap());
    assert_eq!(rows.len(), 288);
    for row in rows {
        let [line, ts, operator, kind, old, new, reason, _, rv]: [String; 9] =
            row.try_into().unwrap();
        let told = [format!("{line} at {ts}"), old, new, reason, rv];
        expected.entry((operator, kind)).or_default().push(told);
    }
    let info = story.resource("co");
    for object in story.timeline().objects_of(info.id) {
        let place = usize::try_from(object.0).unwrap();
        let name = story.timeline().reel().objects()[place].key.name.clone();
        let mut found: BTreeMap<(String, String), Vec<[String; 5]>> = BTreeMap::new();
        let object = ["co", "", &name];
        for version in story.history(&object, &[".status.conditions.status".to_owned()]) {
            let line = story.line(version.seq);
            let secs = version.at.micros / 1_000_000;
            let (_, shown) = story.at(&object, story.cut(version.seq, true)).unwrap();
            for change in version.changes.unwrap() {
                let path = change.path.to_string();
                let kind = path.strip_prefix("status.conditions[").unwrap();
                let kind = kind.strip_suffix("].status").unwrap().to_owned();
                let condition = item(&shown["status"]["conditions"], "type", &kind);
                let value =
                    |value: Option<Value>| value.map_or_else(String::new, |value| text(&value));
                let told = [
                    format!("{line} at {secs}"),
                    value(change.old),
                    value(change.new),
                    text(&condition["reason"]),
                    version.rv.clone(),
                ];
                found.entry((name.clone(), kind)).or_default().push(told);
            }
        }
        for (key, found) in found {
            assert_eq!(expected.remove(&key), Some(found), "{key:?}");
        }
    }
    assert!(expected.is_empty(), "not found: {expected:?}");
}

#[test]
fn every_transition_of_the_upgrade_is_in_its_history() {
    let Some(story) = Story::read("cvo-upgrade/events.jsonl.zst") else {
        return;
    };
    let path = shared_data("cvo-upgrade/transitions.csv").unwrap();
    let rows = table(&std::fs::read_to_string(path).unwrap());
    assert_eq!(rows.len(), 661);
    let mut expected: BTreeMap<(String, String, String), Vec<Row>> = BTreeMap::new();
    for row in rows {
        let [line, _, resource, name, field, old, new]: [String; 7] = row.try_into().unwrap();
        let key = (resource, name, field);
        let line = line.parse().unwrap();
        let told = (line, in_order(old), in_order(new));
        expected.entry(key).or_default().push(told);
    }
    let mut checked = 0;
    for ((resource, name, field), rows) in expected {
        let namespace = match resource.as_str() {
            "pods" | "leases" => "openshift-cluster-version",
            _ => "",
        };
        let object = [resource.as_str(), namespace, name.as_str()];
        let fields = fields_of(&resource, &field);
        let mut found: Vec<Row> = Vec::new();
        let mut last = String::new();
        for version in story.history(&object, &fields) {
            let form = kubereel_history::ObjectForm::default();
            let info = story.resource(&resource);
            let shown = story.timeline().object(version.seq, info, form).unwrap();
            // Reason and message of a condition that is gone are not spoken of.
            if is_silent(&field, &shown) {
                continue;
            }
            let is_gone = version.kind == EventType::Deleted && field == "phase";
            let value = if is_gone {
                "DELETED".to_owned()
            } else {
                told(&resource, &field, &shown)
            };
            if value != last {
                found.push((story.line(version.seq), last, value.clone()));
                last = value;
            }
        }
        assert_eq!(found, rows, "{object:?} {field}");
        for (line, old, new) in &rows {
            agrees(&story, &object, &field, &fields, *line, old, new);
            checked += 1;
        }
    }
    assert_eq!(checked, 661);
}

/// Checks that `get --at` and `diff` show a transition too.
fn agrees(
    story: &Story,
    object: &[&str; 3],
    field: &str,
    fields: &[String],
    line: usize,
    old: &str,
    new: &str,
) {
    let [resource, namespace, name] = *object;
    let seq = story.event(line);
    let (before, after) = (story.cut(seq, false), story.cut(seq, true));
    let Some((held, shown)) = story.at(object, after) else {
        // The line deleted the object: what it held last is in its history only.
        assert!(
            story.at(object, before).is_some(),
            "{object:?} {field} {line}"
        );
        return;
    };
    assert_eq!(held, seq);
    assert_eq!(told(resource, field, &shown), new);
    let earlier = story.at(object, before).map(|(_, shown)| shown);
    if !earlier
        .as_ref()
        .is_some_and(|shown| is_silent(field, shown))
    {
        let earlier = earlier.map_or_else(String::new, |shown| told(resource, field, &shown));
        assert_eq!(earlier, old, "{object:?} {field} {line}");
    }

    let info = story.resource(resource);
    let names = [name.to_owned()];
    let filter = ObjectFilter {
        namespace: Some(namespace),
        names: &names,
    };
    let state = |cut| story.timeline().as_of(info.id, cut, &filter);
    let found = differing(&state(before), &state(after));
    let [one] = found.as_slice() else {
        panic!("{found:?}");
    };
    let asked = |cut| ResourceMoment {
        resource: info,
        cut,
    };
    let changes = one
        .fate
        .changes(
            story.timeline(),
            asked(before),
            asked(after),
            &scope(fields),
        )
        .unwrap();
    // A first sight may name what is told by absence: a node that nobody cordoned.
    let is_created = matches!(one.fate, ObjectFate::Created { .. });
    assert!(
        !changes.is_empty() || is_created,
        "{object:?} {field} {line}"
    );
    let is_plain = |text: &str| text.is_empty() || !text.starts_with(['[', '{']);
    if let [only] = changes.as_slice()
        && only.kind == ChangeKind::Changed
        && is_plain(new)
        && !field.starts_with("state:")
    {
        assert_eq!(only.old.as_ref().map(text).unwrap(), old);
        assert_eq!(only.new.as_ref().map(text).unwrap(), new);
    }
}

/// Tells whether a column is about a condition that an object does not have.
fn is_silent(field: &str, object: &Value) -> bool {
    let Some((kind, "reason" | "message")) = field.split_once('.') else {
        return false;
    };
    item(&object["status"]["conditions"], "type", kind).is_null()
}

/// Gives the fields that a column of the table speaks of.
fn fields_of(resource: &str, field: &str) -> Vec<String> {
    let condition = |kind: &str, member: &str| vec![format!(".status.conditions[{kind}].{member}")];
    let one = |field: &str| vec![field.to_owned()];
    match (resource, field) {
        (_, "generation") => one(".metadata.generation"),
        (_, "observedGeneration") => one(".status.observedGeneration"),
        (_, "desired") => one(".status.desired"),
        (_, "history") => one(".status.history"),
        (_, "spec.desiredUpdate") => one(".spec.desiredUpdate"),
        ("leases", _) => one(".spec.holderIdentity"),
        ("nodes", "unschedulable") => one(".spec.unschedulable"),
        ("nodes", "bootID") => one(".status.nodeInfo.bootID"),
        ("nodes", "Ready") => condition("Ready", "status"),
        ("nodes", annotation) => vec![format!(
            r#".metadata.annotations["machineconfiguration.openshift.io/{annotation}"]"#
        )],
        ("machineconfigpools", "updatedMachineCount") => one(".status.updatedMachineCount"),
        ("pods", "phase") => one(".status.phase"),
        ("pods", "reason") => one(".status.reason"),
        ("pods", "deletionTimestamp") => one(".metadata.deletionTimestamp"),
        (_, field) => match (field.split_once(':'), field.split_once('.')) {
            (Some(("version", name)), _) => vec![format!(".status.versions[{name}].version")],
            (Some((_, name)), _) => vec![
                format!(".status.containerStatuses[{name}].state"),
                format!(".status.initContainerStatuses[{name}].state"),
            ],
            (None, Some((kind, member))) => condition(kind, member),
            (None, None) => condition(field, "status"),
        },
    }
}

/// Writes what an object says in a column of the table.
fn told(resource: &str, field: &str, object: &Value) -> String {
    let status = &object["status"];
    match (resource, field) {
        (_, "generation") => text(&object["metadata"]["generation"]),
        (_, "observedGeneration") => text(&status["observedGeneration"]),
        (_, "desired") => {
            let desired = &status["desired"];
            let member = |name: &str| match &desired[name] {
                Value::String(text) if !text.is_empty() => json!(text),
                _ => Value::Null,
            };
            json!({"version": member("version"), "image": member("image")}).to_string()
        }
        (_, "history") => status["history"].to_string(),
        (_, "spec.desiredUpdate") => object["spec"]["desiredUpdate"].to_string(),
        ("leases", _) => text(&object["spec"]["holderIdentity"]),
        ("nodes", "unschedulable") => match &object["spec"]["unschedulable"] {
            Value::Null => "False".to_owned(),
            other => text(other),
        },
        ("nodes", "bootID") => text(&status["nodeInfo"]["bootID"]),
        ("nodes", "Ready") => text(&item(&status["conditions"], "type", "Ready")["status"]),
        ("nodes", annotation) => {
            let name = format!("machineconfiguration.openshift.io/{annotation}");
            text(&object["metadata"]["annotations"][name])
        }
        ("machineconfigpools", "updatedMachineCount") => text(&status["updatedMachineCount"]),
        ("pods", "phase") => text(&status["phase"]),
        ("pods", "reason") => text(&status["reason"]),
        ("pods", "deletionTimestamp") => text(&object["metadata"]["deletionTimestamp"]),
        (_, field) => match (field.split_once(':'), field.split_once('.')) {
            (Some(("version", name)), _) => {
                text(&item(&status["versions"], "name", name)["version"])
            }
            (Some((_, name)), _) => container_state(status, name),
            (None, Some((kind, member))) => {
                text(&item(&status["conditions"], "type", kind)[member])
            }
            (None, None) => text(&item(&status["conditions"], "type", field)["status"]),
        },
    }
}

fn container_state(status: &Value, name: &str) -> String {
    let lists = ["containerStatuses", "initContainerStatuses"];
    let found = lists.map(|list| item(&status[list], "name", name));
    let state = found
        .iter()
        .find_map(|container| container["state"].as_object());
    let Some((kind, about)) = state.and_then(|state| state.iter().next()) else {
        return String::new();
    };
    match about["reason"].as_str() {
        Some(reason) => format!("{kind}:{reason}"),
        None => kind.clone(),
    }
}

/// Writes JSON without spaces, members in order; other texts stay.
fn in_order(text: String) -> String {
    if !text.starts_with(['{', '[']) {
        return text;
    }
    serde_json::from_str::<Value>(&text).map_or(text, |value| value.to_string())
}
