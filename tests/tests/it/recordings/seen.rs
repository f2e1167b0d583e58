//! What the timeline says was seen, line by line: found with the history of its field, and with
//! `get --at`.

use super::recording::{Section, sections, time};
use super::story::{Story, item, text};
use serde_json::Value;

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

/// Gives an object as it was right after a line.
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
    let place = usize::try_from(reel.object_of(story.event(line)).unwrap().0).unwrap();
    let key = &reel.objects()[place].key;
    let object = ["events", key.namespace.as_str(), key.name.as_str()];
    let shown = after(story, &object, line);
    assert_eq!(shown["involvedObject"]["name"], "version");
    assert_eq!(text(&shown["type"]), cells[0]);
    assert_eq!(text(&shown["reason"]), cells[1]);
    assert_eq!(text(&shown["count"]), cells[2]);
    reads(&text(&shown["message"]), cells[3]);
    (vec![".count".to_owned()], owned(object))
}
