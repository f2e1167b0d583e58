//! A recording as it is asked about: events by their line, values by their field, histories.
//!
//! What the timeline says was done to the cluster, found as the change that it made, at its time.
//!
//! What the timeline says was seen, line by line: found with the history of its field, and with
//! `get --at`.
//!
//! Every transition of two real recordings, as others computed them from the lines, comes back from
//! the history of its field, and no other does; `get --at` and `diff` agree on each.

use crate::recordings::{Recording, Reel, Section, sections, time};
use kubereel_format::{EventType, RecordedAt, ResourceInfo, Seq};
use kubereel_history::{
    ChangeKind, ComparisonScope, Cut, HistoryItem, HistoryQuestion, HistoryVersion, ObjectFate,
    ObjectFilter, ObjectForm, ResourceMoment, Timeline, VersionPlace, differing,
};
use kubereel_import::ImportOptions;
use kubereel_tests::shared_data::shared_data;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// An imported recording.
pub struct Story {
    reel: Reel,
    /// The event of each line.
    events: Vec<Seq>,
}

impl Story {
    /// Imports a recording; `None`, reported, if it is not there.
    pub fn read(file: &str) -> Option<Self> {
        let reel = Recording::read(file)?.import(&ImportOptions::new("test", "a recording"));
        let raw = reel.timeline.reel();
        let all = raw.objects().map(|object| raw.versions(object.id));
        let mut events: Vec<Seq> = all.flatten().copied().collect();
        events.sort_unstable();
        Some(Self { reel, events })
    }

    pub fn timeline(&self) -> &Timeline {
        &self.reel.timeline
    }

    /// Returns the line, counted from 0, of an event.
    pub fn line(&self, seq: Seq) -> usize {
        self.events.binary_search(&seq).unwrap()
    }

    /// Returns the event of a line.
    pub fn event(&self, line: usize) -> Seq {
        self.events[line]
    }

    pub fn resource(&self, name: &str) -> &ResourceInfo {
        self.timeline().resources().find(name).unwrap()
    }

    /// Returns the versions of an object that `kubereel history --field` shows.
    pub fn history(&self, object: &[&str; 3], fields: &[String]) -> Vec<HistoryVersion> {
        let [resource, namespace, name] = *object;
        let question = HistoryQuestion {
            resource: self.resource(resource),
            namespace,
            name,
            scope: scope(fields),
            from: None,
            to: None,
        };
        self.timeline()
            .history(question)
            .map(|item| match item {
                HistoryItem::Version(version) => *version,
                other => panic!("{other:?}"),
            })
            .collect()
    }

    /// Returns the moment after an event, or before it.
    pub fn cut(&self, seq: Seq, is_after: bool) -> Cut {
        Cut::Arrival {
            below: Seq(seq.0 + u64::from(is_after)),
            wall: self.wall(seq),
        }
    }

    pub fn wall(&self, seq: Seq) -> RecordedAt {
        self.timeline().reel().stamp(seq).unwrap().wall
    }

    /// Returns the object as `kubereel get --at` shows it.
    pub fn at(&self, object: &[&str; 3], cut: Cut) -> Option<(Seq, Value)> {
        let [resource, namespace, name] = *object;
        let resource = self.resource(resource);
        let names = [name.to_owned()];
        let filter = ObjectFilter {
            namespace: Some(namespace),
            names: &names,
        };
        let state = self.timeline().as_of(resource.id, cut, &filter);
        let held = state.objects.first()?;
        let object = self
            .timeline()
            .object(held.seq, resource, ObjectForm::default());
        Some((held.seq, object.unwrap()))
    }
}

/// Asks for fields only.
pub fn scope(fields: &[String]) -> ComparisonScope {
    ComparisonScope {
        fields: fields.iter().map(|field| field.parse().unwrap()).collect(),
        ..ComparisonScope::default()
    }
}

/// Reads a table of values between commas, some of them in quotes; the first row names the columns.
pub fn table(text: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let mut is_quoted = false;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                letters.next();
                rows.last_mut().unwrap().last_mut().unwrap().push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => rows.last_mut().unwrap().push(String::new()),
            '\n' if !is_quoted => rows.push(vec![String::new()]),
            '\r' if !is_quoted => {}
            letter => rows.last_mut().unwrap().last_mut().unwrap().push(letter),
        }
    }
    rows.retain(|row| row.len() > 1);
    rows.remove(0);
    rows
}

/// Returns the item of a list that has a member of this value.
pub fn item<'a>(list: &'a Value, member: &str, value: &str) -> &'a Value {
    let mut items = list.as_array().into_iter().flatten();
    items
        .find(|item| item[member] == value)
        .unwrap_or(&Value::Null)
}

/// Writes a value as the tables do.
pub fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        other => other.to_string(),
    }
}

/// The deeds are stamped just before or after their request; processes take a moment to start.
const NEAR_MICROS: u64 = 3_000_000;
/// The first objects of a cluster take longer.
const NEAR_AT_FIRST_MICROS: u64 = 15_000_000;

/// How a deed shows.
enum Shows {
    /// A field has a value that begins so.
    Value(String),
    /// A field has no value any more.
    Gone,
    /// The field has another value.
    Changed,
    /// The object is first seen.
    Begins,
    /// The object is deleted.
    Ends,
}

struct Trace {
    object: [String; 3],
    fields: Vec<String>,
    shows: Shows,
}

#[test]
fn every_deed_that_changed_an_object_is_found_at_its_time() {
    let (Some(story), Some(sections)) = (Story::read("cvo-upgrade/events.jsonl.zst"), sections())
    else {
        return;
    };
    let (mut found, mut unseen) = (0, 0);
    for section in sections {
        if !section.heading.starts_with("Planted") {
            continue;
        }
        for row in section.rows {
            let what = row.last().unwrap();
            let Some(trace) = trace(what) else {
                // A refusal changes nothing, and two rows are about the recording itself.
                let silent = ["eviction refused", "API server ready", "recording ends"];
                assert!(silent.iter().any(|one| what.starts_with(one)), "{what}");
                unseen += 1;
                continue;
            };
            let near = if what.starts_with("CRDs") {
                NEAR_AT_FIRST_MICROS
            } else {
                NEAR_MICROS
            };
            let object = trace.object.each_ref().map(String::as_str);
            let at = time(&row[0]);
            let history = story.history(&object, &trace.fields);
            let is_found = history.iter().any(|version| {
                version.at.micros_since(at).unsigned_abs() <= near && shows(version, &trace.shows)
            });
            assert!(is_found, "{row:?}: {history:#?}");
            found += 1;
        }
    }
    assert_eq!((found, unseen), (92, 22));
}

fn shows(version: &HistoryVersion, shows: &Shows) -> bool {
    let changes = version.changes.iter().flatten();
    match shows {
        Shows::Begins => version.place == VersionPlace::First,
        Shows::Ends => version.kind == EventType::Deleted,
        Shows::Gone => changes.clone().any(|change| change.new.is_none()),
        Shows::Changed => changes.clone().any(|change| change.new.is_some()),
        Shows::Value(wanted) => changes.clone().any(|change| {
            let new = change.new.as_ref().map(text);
            new.is_some_and(|new| {
                if wanted.is_empty() {
                    new.is_empty()
                } else {
                    new.starts_with(wanted)
                }
            })
        }),
    }
}

/// Says where a deed shows; `None` if it shows in no object.
fn trace(what: &str) -> Option<Trace> {
    let (words, details) = match what.split_once('{') {
        Some((words, details)) => (words.trim(), format!("{{{details}")),
        None => (what, String::new()),
    };
    // Long details break off; what is needed of them stands before.
    let detail = |name: &str| {
        let (_, after) = details.split_once(&format!("\"{name}\": \""))?;
        after.split_once('"').map(|(value, _)| value.to_owned())
    };
    if let Some(operator) = detail("operator") {
        let (kind, begun) = words.split_once(' ')?;
        let is_begun = begun == "begins";
        let (kind, value) = match kind {
            "Degraded" => ("Degraded", is_begun),
            _ => ("Available", !is_begun),
        };
        let field = format!(".status.conditions[{kind}].status");
        let value = text(&Value::from(value));
        return Some(of(
            ["clusteroperators", "", &operator],
            &field,
            Shows::Value(value),
        ));
    }
    if let Some(pod) = detail("pod") {
        return pod_trace(words, &pod, detail("reason"));
    }
    admin_trace(words).or_else(|| node_trace(words))
}

fn of(object: [&str; 3], field: &str, shows: Shows) -> Trace {
    Trace {
        object: object.map(str::to_owned),
        fields: vec![field.to_owned()],
        shows,
    }
}

fn pod_trace(words: &str, pod: &str, reason: Option<String>) -> Option<Trace> {
    let object = ["pods", "openshift-cluster-version", pod];
    let phase = ".status.phase";
    Some(match words {
        "CVO process started for Pod" => of(object, phase, Shows::Value("Running".to_owned())),
        "CVO process ended after Pod deletion" => of(object, phase, Shows::Ends),
        "attempt" => of(object, phase, Shows::Begins),
        "init container waiting" => {
            let field = ".status.initContainerStatuses.state.waiting.reason";
            of(object, field, Shows::Value(reason?))
        }
        "Failed DeadlineExceeded" => of(
            object,
            ".status.reason",
            Shows::Value("DeadlineExceeded".to_owned()),
        ),
        "succeeded" => of(object, phase, Shows::Value("Succeeded".to_owned())),
        other => panic!("nobody checks {other}"),
    })
}

fn admin_trace(words: &str) -> Option<Trace> {
    let version = ["clusterversions", "", "version"];
    let lease = ["leases", "openshift-cluster-version", "version"];
    let image = ".spec.desiredUpdate.image";
    let release = |digits: &str| {
        let start = "quay.a.example.org/openshift-release-dev/ocp-release@sha256:";
        Shows::Value(format!("{start}{digits}"))
    };
    let signature = |name: &str| {
        of(
            ["configmaps", "openshift-config-managed", name],
            ".metadata.name",
            Shows::Begins,
        )
    };
    let begins = |words: &str| {
        words
            .split([',', ':'])
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    Some(match begins(words).as_str() {
        "CRDs and configuration objects are created" => of(
            ["crd", "", "clusterversions.config.openshift.io"],
            ".metadata.name",
            Shows::Begins,
        ),
        "bootstrap CVO process started" => of(
            lease,
            ".spec.holderIdentity",
            Shows::Value("bootstrap_".to_owned()),
        ),
        "bootstrap CVO told to stop" => {
            of(lease, ".spec.holderIdentity", Shows::Value(String::new()))
        }
        "user workload created" => of(
            ["deployments", "shop", "web"],
            ".metadata.name",
            Shows::Begins,
        ),
        "install complete; quiet period" => of(
            version,
            ".status.history[0].state",
            Shows::Value("Completed".to_owned()),
        ),
        "upgrade to an unsigned digest" => of(version, image, release("d0d4b05f")),
        "redirected to the right digest" => of(version, image, release("e28eecaf")),
        "signature for the wrong digest added" => {
            signature("sha256-d0d4b05ffbb6ce9869710a460295777bb143dd9ba8ccca006ff45a11ae28b11d")
        }
        "signature for the right digest added" => {
            signature("sha256-e28eecaf2a236b3a7bf69d46288aaa0dcffc2452deaacc4020abad698becbc86")
        }
        "PDB of the user workload relaxed from minAvailable 2 to 1" => of(
            ["pdb", "shop", "web"],
            ".spec.minAvailable",
            Shows::Value("1".to_owned()),
        ),
        _ => return None,
    })
}

fn node_trace(words: &str) -> Option<Trace> {
    let mut parts: Vec<&str> = words.split(' ').collect();
    if words.starts_with("pool update") {
        let (pool, deed) = parts.split_last()?;
        let is_done = deed.last() == Some(&"done");
        let object = ["machineconfigpools", "", *pool];
        let value = text(&Value::from(is_done));
        return Some(of(
            object,
            ".status.conditions[Updated].status",
            Shows::Value(value),
        ));
    }
    if words.starts_with("node update begins") {
        parts.pop();
    }
    let (node, deed) = parts.split_last()?;
    let object = ["nodes", "", *node];
    let annotation = |name: &str| format!(r#".metadata.annotations["{name}"]"#);
    let daemon = |name: &str| annotation(&format!("machineconfiguration.openshift.io/{name}"));
    let ready = ".status.conditions[Ready].status";
    Some(match deed.join(" ").as_str() {
        "node joined and Ready" | "node Ready again" => {
            of(object, ready, Shows::Value("True".to_owned()))
        }
        "node update begins" => of(object, &daemon("desiredConfig"), Shows::Changed),
        "cordoned, drain begins" => of(
            object,
            ".spec.unschedulable",
            Shows::Value("True".to_owned()),
        ),
        "drained" => of(
            object,
            &daemon("lastAppliedDrain"),
            Shows::Value("drain-".to_owned()),
        ),
        "node goes down for reboot" => of(
            object,
            &annotation("test.example.org/reboot"),
            Shows::Changed,
        ),
        "kubelet back, NotReady" => of(object, ".status.nodeInfo.bootID", Shows::Changed),
        "uncordoned, node update done" => of(object, ".spec.unschedulable", Shows::Gone),
        _ => return None,
    })
}

const VERSION: [&str; 3] = ["clusterversions", "", "version"];

#[test]
fn every_line_of_what_was_seen_is_found() {
    let (Some(story), Some(sections)) = (Story::read("cvo-upgrade/events.jsonl.zst"), sections())
    else {
        return;
    };
    let mut found = 0;
    for section in sections {
        let check = match section.heading.split(':').next().unwrap() {
            "Seen" => match section.heading.strip_prefix("Seen: ").unwrap() {
                "ClusterVersion history" => update,
                heading if heading.starts_with("ClusterVersion conditions") => condition,
                heading if heading.starts_with("order in which operators") => operator_version,
                heading if heading.starts_with("ClusterOperator status flips") => flip,
                heading if heading.starts_with("holder of the CVO lease") => holder,
                heading if heading.starts_with("Events about") => event,
                other => panic!("nobody checks {other}"),
            },
            _ => continue,
        };
        found += checked(&story, &section, check);
    }
    assert_eq!(found, 4 + 56 + 34 + 76 + 8 + 39);
}

/// Checks a row's fact in the object after its line.
type Check = fn(&Story, usize, &[&str]) -> (Vec<String>, [String; 3]);

/// Checks each row: the line is in the history of the fields that the row is about.
fn checked(story: &Story, section: &Section, check: Check) -> usize {
    for row in &section.rows {
        let cells: Vec<&str> = row.iter().map(String::as_str).collect();
        let line: usize = cells[1].parse().unwrap();
        let seq = story.event(line);
        let millis = story.wall(seq).micros.div_euclid(1000);
        assert_eq!(millis, time(cells[0]).micros / 1000, "{row:?}");
        let (fields, object) = check(story, line, &cells[2..]);
        let object = [object[0].as_str(), object[1].as_str(), object[2].as_str()];
        let history = story.history(&object, &fields);
        let version = history.iter().find(|version| version.seq == seq);
        let changes = version.and_then(|version| version.changes.as_ref());
        assert!(
            changes.is_some_and(|changes| !changes.is_empty()),
            "{row:?}"
        );
    }
    section.rows.len()
}

fn owned(object: [&str; 3]) -> [String; 3] {
    object.map(str::to_owned)
}

/// Returns an object as it was right after a line.
fn after(story: &Story, object: &[&str; 3], line: usize) -> Value {
    let seq = story.event(line);
    let (held, shown) = story.at(object, story.cut(seq, true)).unwrap();
    assert_eq!(held, seq);
    shown
}

/// Writes a text as the timeline does: digests by eight digits, line ends as ` // `.
fn shortened(text: &str) -> String {
    let mut short = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("sha256:") {
        let digits = after.bytes().take_while(u8::is_ascii_hexdigit).count();
        short.push_str(before);
        short.push_str("sha256:");
        if digits == 64 {
            short.push_str(&after[..8]);
            short.push('…');
        } else {
            short.push_str(&after[..digits]);
        }
        rest = &after[digits..];
    }
    short.push_str(rest);
    short.replace('\n', " // ")
}

/// Compares a text with a cell, which may break off, even within a digest.
#[track_caller]
fn reads(told: &str, cell: &str) {
    let short = shortened(told);
    let Some(start) = cell.strip_suffix('…').map(str::trim_end) else {
        assert_eq!(short, cell);
        return;
    };
    let (head, digits) = start.rsplit_once("sha256:").unwrap_or((start, ""));
    let is_begun = short.starts_with(start)
        || short.starts_with(head) && told.contains(&format!("sha256:{digits}"));
    assert!(is_begun, "{told:?} is not {cell:?}");
}

fn update(story: &Story, line: usize, cells: &[&str]) -> (Vec<String>, [String; 3]) {
    let shown = after(story, &VERSION, line);
    let clock = |value: &Value| {
        let time = value.as_str().and_then(|time| time.get(11..19));
        time.unwrap_or("null").to_owned()
    };
    let entries = shown["status"]["history"].as_array().unwrap().iter();
    let entries: Vec<String> = entries
        .map(|entry| {
            let verified = if entry["verified"] == true {
                "True"
            } else {
                "False"
            };
            let risks = if entry["acceptedRisks"].is_string() {
                " acceptedRisks"
            } else {
                ""
            };
            format!(
                "{} {} {}→{} verified={verified}{risks}",
                text(&entry["state"]),
                text(&entry["version"]),
                clock(&entry["startedTime"]),
                clock(&entry["completionTime"]),
            )
        })
        .collect();
    assert_eq!(entries.join(" ; "), cells[0]);
    (vec![".status.history".to_owned()], owned(VERSION))
}

fn condition(story: &Story, line: usize, cells: &[&str]) -> (Vec<String>, [String; 3]) {
    let shown = after(story, &VERSION, line);
    let found = item(&shown["status"]["conditions"], "type", cells[0]);
    if cells[1] == "removed" {
        assert!(found.is_null(), "{cells:?}");
    } else {
        assert_eq!(text(&found["status"]), cells[1]);
        assert_eq!(text(&found["reason"]), cells[2]);
        reads(&text(&found["message"]), cells[3]);
    }
    let field = format!(".status.conditions[{}]", cells[0]);
    (vec![field], owned(VERSION))
}

fn operator_version(story: &Story, line: usize, cells: &[&str]) -> (Vec<String>, [String; 3]) {
    let object = ["clusteroperators", "", cells[0]];
    let shown = after(story, &object, line);
    let found = item(&shown["status"]["versions"], "name", "operator");
    assert_eq!(text(&found["version"]), cells[1]);
    (
        vec![".status.versions[operator].version".to_owned()],
        owned(object),
    )
}

fn flip(story: &Story, line: usize, cells: &[&str]) -> (Vec<String>, [String; 3]) {
    let object = ["clusteroperators", "", cells[0]];
    let status =
        |shown: &Value| text(&item(&shown["status"]["conditions"], "type", cells[1])["status"]);
    let (_, before) = story
        .at(&object, story.cut(story.event(line), false))
        .unwrap();
    assert_eq!(status(&before), cells[2]);
    assert_eq!(status(&after(story, &object, line)), cells[3]);
    (
        vec![format!(".status.conditions[{}].status", cells[1])],
        owned(object),
    )
}

fn holder(story: &Story, line: usize, cells: &[&str]) -> (Vec<String>, [String; 3]) {
    let object = ["leases", "openshift-cluster-version", "version"];
    let holder = text(&after(story, &object, line)["spec"]["holderIdentity"]);
    let released = if cells[0] == "(released)" {
        ""
    } else {
        cells[0]
    };
    assert_eq!(holder, released);
    (vec![".spec.holderIdentity".to_owned()], owned(object))
}

fn event(story: &Story, line: usize, cells: &[&str]) -> (Vec<String>, [String; 3]) {
    let reel = story.timeline().reel();
    let object = reel.object_of(story.event(line)).unwrap();
    let key = reel.key(object).unwrap();
    let object = ["events", key.namespace, key.name];
    let shown = after(story, &object, line);
    assert_eq!(shown["involvedObject"]["name"], "version");
    assert_eq!(text(&shown["type"]), cells[0]);
    assert_eq!(text(&shown["reason"]), cells[1]);
    assert_eq!(text(&shown["count"]), cells[2]);
    reads(&text(&shown["message"]), cells[3]);
    (vec![".count".to_owned()], owned(object))
}

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
        let key = story.timeline().key_of(*object).unwrap();
        let name = key.name.to_owned();
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
            let form = ObjectForm::default();
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
    // A first observation may name an absent value: a node that nobody cordoned.
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

/// Returns whether a column is about a condition that an object does not have.
fn is_silent(field: &str, object: &Value) -> bool {
    let Some((kind, "reason" | "message")) = field.split_once('.') else {
        return false;
    };
    item(&object["status"]["conditions"], "type", kind).is_null()
}

/// Returns the fields that a column of the table speaks of.
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
