//! Tests of the entries that lines and items become.

use super::*;
use crate::clock::Clock;
use crate::resource::plain_info;
use crate::watch::gap::WAITING_BYTES;
use crate::watch::state::{ResumeState, ServerRefusal, ServerTraits, WatchOrigin};
use kubereel_format::ListMethod;

fn intake(group: &str, plural: &str) -> Intake {
    let target = WatchTarget::new(plain_info(4, group, plural));
    let traits = ServerTraits {
        is_cached: true,
        can_watch_list: true,
    };
    let stream = WatchState::new(traits, ResumeState::default(), WatchOrigin::Fresh, 1);
    let numbers = Arc::new(RecordNumbers::new(0, 0));
    let room = Arc::new(Semaphore::new(WAITING_BYTES));
    let redactor = crate::queue::redactor();
    let health = Arc::new(Health::new(Clock::start(), redactor.clone()));
    Intake::new(target, stream, redactor, numbers, room, health)
}

/// Returns an intake whose watch is past its list, with no entry left to write.
fn watching(group: &str, plural: &str) -> Intake {
    let mut intake = intake(group, plural);
    connect(&mut intake, 1);
    let end = br#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"10","annotations":{"k8s.io/initial-events-end":"true"}}}}"#;
    assert_eq!(intake.line(end, Stamp::default()), LineFlow::On);
    assert!(intake.stream.is_synced());
    intake.take_entries();
    intake
}

fn connect(intake: &mut Intake, id: u32) {
    intake.stream.step(Stamp::default().elapsed);
    let at = Stamp::default();
    intake.connected(ConnectionId(id), None, ListMethod::WatchList, 300, at);
}

fn entry_names(intake: &mut Intake) -> Vec<String> {
    let entries = intake.take_entries();
    entries.iter().map(tell).collect()
}

fn tell(entry: &QueueEntry) -> String {
    match entry {
        QueueEntry::Event(event) => format!("{:?} {}", event.kind, event.name),
        QueueEntry::Note { note, .. } => {
            let text = format!("{note:?}");
            let end = text.find([' ', '(', '{']).unwrap_or(text.len());
            text[..end].to_owned()
        }
        QueueEntry::Blob { note, bytes, .. } => match note {
            BlobNote::OddLine { problem, len, .. } => {
                format!("{problem:?} {len}: {}", String::from_utf8_lossy(bytes))
            }
            BlobNote::Document { path, .. } => path.clone(),
        },
    }
}

const EVENT: &str = r#"{"type":"MODIFIED","object":{ "kind":"X","metadata":{"namespace":"n","name":"a","uid":"u","resourceVersion":"11"},"v":1e3 }}"#;

#[test]
fn an_event_keeps_the_bytes_of_its_object() {
    let mut intake = watching("", "endpoints");
    let expected = LineFlow::On;
    assert_eq!(intake.line(EVENT.as_bytes(), Stamp::default()), expected);
    match intake.take_entries().as_slice() {
        [QueueEntry::Event(event)] => {
            let body = event.body.as_deref().expect("a body");
            let start = EVENT.find("{ \"kind").expect("the object");
            assert_eq!(body, &EVENT.as_bytes()[start..EVENT.len() - 1]);
            assert_eq!(&*event.version, "11");
            assert_eq!(&*event.uid, "u");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_resource_is_announced_before_anything_of_it() {
    let mut intake = intake("", "endpoints");
    connect(&mut intake, 1);
    assert_eq!(entry_names(&mut intake), [""; 0], "nothing has come yet");
    intake.item(
        br#"{"metadata":{"name":"a","uid":"u","resourceVersion":"3"}}"#,
        Stamp::default(),
    );
    let expected = ["Resource", "Connected", "Added a"];
    assert_eq!(entry_names(&mut intake), expected);
    intake.ended(EndCause::Cut, "reset", Stamp::default());
    assert_eq!(entry_names(&mut intake), ["Disconnected"]);
}

#[test]
fn what_is_no_event_is_kept_and_marked() {
    for (line, flow, kept) in [
        (
            "{\"type\":\"ADD",
            LineFlow::Unreadable,
            "Unparsable 12: {\"type\":\"ADD",
        ),
        (
            r#"{"type":"PATCHED","object":{}}"#,
            LineFlow::On,
            r#"UnknownType 30: {"type":"PATCHED","object":{}}"#,
        ),
        (
            r#"{"type":"ADDED","object":[]}"#,
            LineFlow::Unreadable,
            r#"Unparsable 28: {"type":"ADDED","object":[]}"#,
        ),
        (
            r#"{"type":"ERROR","object":{"kind":"Status","code":500,"message":"m"}}"#,
            LineFlow::Refused {
                code: 500,
                message: "m".into(),
            },
            r#"ServerError 68: {"type":"ERROR","object":{"kind":"Status","code":500,"message":"m"}}"#,
        ),
    ] {
        let mut intake = watching("", "endpoints");
        assert_eq!(
            intake.line(line.as_bytes(), Stamp::default()),
            flow,
            "{line}"
        );
        assert_eq!(entry_names(&mut intake), [kept]);
    }
}

#[test]
fn nothing_of_a_secret_is_kept_as_it_came() {
    let secret = |kind: &str| {
        format!(
            r#"{{"type":"{kind}","object":{{"kind":"Secret","metadata":{{"name":"s","uid":"u","resourceVersion":"12","annotations":{{"kubectl.kubernetes.io/last-applied-configuration":"CANARY"}}}},"data":{{"k":"CANARY"}},"stringData":{{"k":"CANARY"}}}}}}"#
        )
    };
    let mut lines: Vec<String> = [
        "ADDED", "MODIFIED", "DELETED", "PATCHED", "ERROR", "BOOKMARK",
    ]
    .map(secret)
    .to_vec();
    lines.push(secret("ADDED").replace("\"name\":\"s\"", "\"name\":7"));
    lines.push(secret("ADDED").replace("\"metadata\"", "\"metadata\":{},\"metadata\""));
    lines.push(secret("ADDED")[..200].to_owned());
    lines.push(format!("{}CANARY", secret("ADDED")));
    for line in &lines {
        let mut intake = watching("", "secrets");
        intake.line(line.as_bytes(), Stamp::default());
        intake.rest(line.as_bytes(), Stamp::default());
        intake.part(line.as_bytes(), 1, Stamp::default());
        let object = line
            .split_once("\"object\":")
            .map_or("", |(_, object)| object);
        intake.item(object.trim_end_matches('}').as_bytes(), Stamp::default());
        intake.item(
            &object.as_bytes()[..object.len().saturating_sub(1)],
            Stamp::default(),
        );
        let entries = intake.take_entries();
        let bytes = format!("{entries:?}").replace(", ", " ");
        let text: Vec<u8> = entries.iter().flat_map(bytes_of).collect();
        let text = String::from_utf8_lossy(&text);
        assert!(!text.contains("CANARY"), "{line}: {text}");
        assert!(!bytes.contains("CANARY"), "{line}: {bytes}");
    }
}

fn bytes_of(entry: &QueueEntry) -> Vec<u8> {
    match entry {
        QueueEntry::Event(event) => event.body.clone().unwrap_or_default().into_vec(),
        QueueEntry::Note { .. } => Vec::new(),
        QueueEntry::Blob { bytes, .. } => bytes.clone(),
    }
}

#[test]
fn a_row_of_the_same_refusal_is_told_once() {
    let mut intake = watching("", "endpoints");
    intake.ended(EndCause::Cut, "", Stamp::default());
    intake.take_entries();
    let lost = br#"{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}}"#;
    for id in 2..9 {
        connect(&mut intake, id);
        assert!(matches!(
            intake.line(lost, Stamp::default()),
            LineFlow::Refused { code: 410, .. }
        ));
        let refusal = ServerRefusal {
            code: 410,
            retry_after_secs: None,
            message: "too old",
            others_may_know: true,
        };
        intake.refused(refusal, ConnectionId(id), Stamp::default());
        let entry_names = entry_names(&mut intake);
        if id == 2 {
            assert_eq!(
                entry_names.len(),
                3,
                "connected, the line, the end: {entry_names:?}"
            );
        } else {
            assert_eq!(entry_names, [""; 0]);
        }
    }
    connect(&mut intake, 9);
    let expected = LineFlow::On;
    assert_eq!(intake.line(EVENT.as_bytes(), Stamp::default()), expected);
    assert_eq!(entry_names(&mut intake), ["Connected", "Modified a"]);
    assert!(intake.take_wishes().has_found_history);
}

#[test]
fn a_line_without_its_newline_is_a_line_and_half_a_line_is_told() {
    let mut intake = watching("", "endpoints");
    intake.rest(EVENT.as_bytes(), Stamp::default());
    assert_eq!(entry_names(&mut intake), ["Modified a"]);
    intake.rest(&EVENT.as_bytes()[..40], Stamp::default());
    let entry_names = entry_names(&mut intake);
    assert!(
        entry_names[0].starts_with("Truncated 40: {"),
        "{entry_names:?}"
    );
}

#[test]
fn a_definition_is_told_to_others() {
    let mut intake = watching("apiextensions.k8s.io", "customresourcedefinitions");
    let line = br#"{"type":"ADDED","object":{"metadata":{"name":"ws.x.io","uid":"u","resourceVersion":"12"},"spec":{"group":"x.io","names":{"plural":"ws","kind":"W"},"scope":"Cluster","versions":[{"name":"v1","served":true,"storage":true}]}}}"#;
    intake.line(line, Stamp::default());
    assert!(matches!(
        intake.take_sightings().last(),
        Some(DiscoverySighting::Definition(definition)) if !definition.is_established
    ));
}

#[test]
fn a_forbidden_resource_is_announced_only_once_it_can_be_read() {
    let mut intake = intake("", "endpoints");
    let refusal = ServerRefusal {
        code: 403,
        retry_after_secs: None,
        message: "forbidden",
        others_may_know: false,
    };
    intake.refused(refusal, ConnectionId(1), Stamp::default());
    assert_eq!(entry_names(&mut intake), ["Disconnected", "NotCovered"]);
    connect(&mut intake, 2);
    intake.ended(EndCause::Clean, "", Stamp::default());
    let expected = ["Resource", "Connected", "Disconnected"];
    assert_eq!(entry_names(&mut intake), expected);
}

fn succeed(intake: &mut Intake, id: u32) {
    let (from, secs) = intake.stream.begin_successor().expect("it watches");
    let at = Stamp::default();
    intake.successor_connected(ConnectionId(id), &from, secs, at);
}

#[test]
fn a_successor_is_told_before_its_predecessor_ends() {
    let mut intake = watching("", "endpoints");
    succeed(&mut intake, 2);
    assert_eq!(
        entry_names(&mut intake),
        [""; 0],
        "nothing has come of it yet"
    );
    let at = Stamp::default();
    intake.take_over(EndCause::Clean, "", at);
    let ids: Vec<u32> = intake
        .take_entries()
        .iter()
        .filter_map(|entry| match entry {
            QueueEntry::Note { note, .. } => match note {
                Note::Connected { connection, .. } => Some(connection.0),
                Note::Disconnected { connection, .. } => Some(connection.0 + 100),
                _ => None,
            },
            _ => None,
        })
        .collect();
    assert_eq!(ids, [2, 101]);
    assert_eq!(intake.line(EVENT.as_bytes(), at), LineFlow::On);
    assert_eq!(entry_names(&mut intake), ["Modified a"]);
}

#[test]
fn what_comes_on_both_is_written_once_with_the_one_that_brought_it() {
    let mut intake = watching("", "endpoints");
    succeed(&mut intake, 2);
    let at = Stamp::default();
    intake.on_successor(|intake| intake.line(EVENT.as_bytes(), at));
    intake.line(EVENT.as_bytes(), at);
    let events: Vec<u32> = intake
        .take_entries()
        .iter()
        .filter_map(|entry| match entry {
            QueueEntry::Event(event) => Some(event.connection.0),
            _ => None,
        })
        .collect();
    assert_eq!(events, [2]);
    intake.successor_ended(EndCause::Cut, "reset", None, at);
    assert_eq!(entry_names(&mut intake), ["Disconnected"]);
}

#[test]
fn a_refused_successor_is_not_told() {
    let mut intake = watching("", "endpoints");
    succeed(&mut intake, 2);
    let lost = br#"{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}}"#;
    let at = Stamp::default();
    let flow = intake.on_successor(|intake| intake.line(lost, at));
    assert!(matches!(flow, LineFlow::Refused { code: 410, .. }));
    intake.successor_ended(EndCause::Expired, "too old", None, at);
    assert_eq!(entry_names(&mut intake), [""; 0]);
    assert_eq!(intake.line(EVENT.as_bytes(), at), LineFlow::On);
    assert_eq!(entry_names(&mut intake), ["Modified a"]);
}

/// An event of a Pod that is not UTF-8, as a server sends it that does not validate bytes.
fn not_utf8(kind: &str, version: &str, secret: &str) -> Vec<u8> {
    let event = format!(
        r#"{{"type":"{kind}","object":{{"kind":"Pod","metadata":{{"namespace":"n","name":"a","uid":"u","resourceVersion":"{version}","annotations":{{"x":"BAD"}}}},"spec":{{"containers":[{{"env":[{{"name":"PASSWORD","value":"{secret}"}}]}}]}}}}}}"#
    );
    let (before, after) = event.split_once("BAD").expect("a place");
    [before.as_bytes(), b"\xff\xfe", after.as_bytes()].concat()
}

#[test]
fn an_object_that_is_not_utf8_is_kept_unparsed_and_the_watch_goes_on_behind_it() {
    let mut intake = watching("", "pods");
    let at = Stamp::default();
    let canary = ["hunter", "2", "-of-the-test"].concat();
    for version in ["11", "12", "13"] {
        let line = not_utf8("MODIFIED", version, &canary);
        assert_eq!(intake.line(&line, at), LineFlow::On);
    }
    let entries = intake.take_entries();
    let kept: Vec<Vec<u8>> = entries.iter().map(bytes_of).collect();
    assert_eq!(entries.len(), 3, "{entries:?}");
    assert!(
        entries
            .iter()
            .all(|entry| tell(entry).starts_with("Unparsable"))
    );
    for bytes in kept {
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.contains(r#""name":"a""#), "{text}");
        assert!(!text.contains(&canary), "{text}");
    }
    let position = intake.stream.position().expect("a position");
    assert_eq!(position.version.to_string(), "13");
    // The next version is valid: the object is complete again.
    let well = EVENT.replace("\"11\"", "\"14\"");
    assert_eq!(intake.line(well.as_bytes(), at), LineFlow::On);
    assert_eq!(entry_names(&mut intake), ["Modified a"]);
}

#[test]
fn an_unparsed_object_is_told_again_by_every_list_that_has_it() {
    let long = "n".repeat(5_000);
    let long_name =
        format!(r#"{{"metadata":{{"name":"{long}","uid":"u","resourceVersion":"3"}}}}"#);
    let long_version = format!(
        r#"{{"metadata":{{"name":"a","uid":"u","resourceVersion":"{}"}}}}"#,
        "7".repeat(5_000)
    );
    let event = not_utf8("ADDED", "3", "x");
    let object = &event[r#"{"type":"ADDED","object":"#.len()..event.len() - 1];
    for (item, problem) in [
        (long_name.as_bytes(), "TooLong"),
        (long_version.as_bytes(), "TooLong"),
        (object, "Unparsable"),
    ] {
        let mut intake = intake("", "pods");
        for list in 1..3 {
            connect(&mut intake, list);
            intake.item(item, Stamp::default());
            let entry_names = entry_names(&mut intake);
            assert!(
                entry_names.iter().any(|one| one.starts_with(problem)),
                "{list}: {entry_names:?}"
            );
            intake.stream.new_epoch();
        }
    }
}

#[test]
fn a_version_that_is_none_does_not_move_the_position() {
    let mut intake = watching("", "pods");
    for version in ["x".repeat(5_000), "abc".to_owned()] {
        let line = EVENT.replace("\"11\"", &format!("{version:?}"));
        assert_eq!(intake.line(line.as_bytes(), Stamp::default()), LineFlow::On);
    }
    let position = intake.stream.position().expect("a position");
    assert_eq!(position.version.to_string(), "10");
}
