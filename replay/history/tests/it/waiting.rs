//! Waits over a recording: what was met when, what gaps hide, and what it costs.

use crate::script::{Script, Stream, Thing, pod, thing};
use kubereel_format::{
    Appender, ConnectionId, Elapsed, EndCause, EventType, Evidence, ListMethod, NewBody, NewEvent,
    Note, RecordedAt, ResourceId, ResourceInfo, Seq, Stamp,
};
use kubereel_history::{
    ComparisonScope, Cut, EventQuestion, HistoryItem, HistoryQuestion, MissedReason, Moment,
    Regarding, Timeline, ValueQuestion, WaitAnswer, WaitFor, WaitQuestion, WaitSpan, WaitVerdict,
};

use serde_json::Value;
use std::collections::BTreeMap;

const START_SECS: i64 = crate::script::START_MICROS / 1_000_000;

/// Writes a reel with a resource of pods, the second one of Events, and opens it.
fn told(story: impl FnOnce(&mut Script, Stream, Stream)) -> (tempfile::TempDir, Timeline) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.reel");
    let mut script = Script::begin(&path);
    let pods = script.resource("pods", "Pod", &["po"]);
    let events = script.resource("events", "Event", &["ev"]);
    let (pods, events) = (script.connect(pods, None), script.connect(events, None));
    story(&mut script, pods, events);
    script.finish();
    let timeline = Timeline::open(&path).expect("a reel");
    (folder, timeline)
}

/// Writes a pod that waits for a reason; resourceVersion 2 is its creation.
fn waiting(script: &mut Script, stream: Stream, rv: u128, reason: &str) {
    let body = format!(
        r#"{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"a","uid":"u1","resourceVersion":"{rv}"}},"status":{{"containerStatuses":[{{"state":{{"waiting":{{"reason":"{reason}"}}}}}}]}}}}"#
    );
    let write = if rv == 2 {
        Script::added
    } else {
        Script::modified
    };
    write(script, stream, thing("x", "a", "u1"), rv, body.as_bytes());
}

const fn a() -> Thing<'static> {
    Thing {
        namespace: "x",
        name: "a",
        uid: "u1",
    }
}

struct Ask<'a> {
    goals: &'a [&'a str],
    fail_on: &'a [&'a str],
    is_any: bool,
    nth: u64,
    at_least_micros: u64,
}

impl Default for Ask<'_> {
    fn default() -> Self {
        Self {
            goals: &[],
            fail_on: &[],
            is_any: false,
            nth: 1,
            at_least_micros: 0,
        }
    }
}

fn goals(texts: &[&str]) -> Vec<WaitFor> {
    let read = texts.iter().map(|text| text.parse().expect("a goal"));
    read.collect()
}

fn span(timeline: &Timeline, resource: ResourceId, goals: &[WaitFor]) -> WaitSpan {
    let end = timeline.resolve(Moment::End).expect("an end");
    WaitSpan::of(timeline, resource, goals, None, end, None)
}

fn ask(timeline: &Timeline, ask: &Ask<'_>) -> WaitAnswer {
    let resource = timeline.resources().get(ResourceId(0)).expect("pods");
    timeline.wait(&WaitQuestion {
        resource,
        namespace: "x",
        name: "a",
        goals: &goals(ask.goals),
        is_any: ask.is_any,
        fail_on: &goals(ask.fail_on),
        span: span(timeline, resource.id, &goals(ask.goals)),
        nth: ask.nth,
        at_least_micros: ask.at_least_micros,
    })
}

fn wait(timeline: &Timeline, goals: &[&str]) -> WaitAnswer {
    ask(
        timeline,
        &Ask {
            goals,
            ..Ask::default()
        },
    )
}

/// Returns the seconds since the start at which things were met.
fn met(waited: &WaitAnswer) -> Vec<i64> {
    let steps = waited.steps.iter();
    steps.map(|step| secs(step.at)).collect()
}

fn secs(at: RecordedAt) -> i64 {
    at.micros / 1_000_000 - START_SECS
}

const PULL: &str = "jsonpath={.status.containerStatuses[0].state.waiting.reason}=ErrImagePull";

#[test]
fn a_state_shorter_than_any_poll_is_found() {
    let (_folder, timeline) = told(|script, pods, _| {
        script.synced(pods, 1);
        script.wait(1000);
        waiting(script, pods, 2, "ImagePullBackOff");
        script.wait(4000);
        waiting(script, pods, 3, "ErrImagePull");
        script.wait(30);
        waiting(script, pods, 4, "ImagePullBackOff");
        script.wait(5000);
        waiting(script, pods, 5, "ErrImagePull");
        script.wait(1000);
        waiting(script, pods, 6, "Done");
    });
    let waited = wait(&timeline, &[PULL]);
    assert_eq!(waited.verdict, WaitVerdict::Met);
    assert_eq!(met(&waited), [5]);
    assert!(waited.missed.is_empty(), "{waited:?}");
    let step = &waited.steps[0];
    assert_eq!((step.rv.as_str(), step.not_before), ("3", None));
    assert_eq!(step.until.expect("an end").micros_since(step.at), 30_000);
    assert_eq!(
        (step.met_micros, step.longest_micros),
        (1_030_000, 1_000_000)
    );
    let both = [
        "reason=ImagePullBackOff",
        "reason=ErrImagePull",
        "reason=ImagePullBackOff",
        "reason=Done",
    ];
    assert_eq!(met(&wait(&timeline, &both)), [1, 5, 5, 11]);
    let second = Ask {
        goals: &[PULL],
        nth: 2,
        ..Ask::default()
    };
    assert_eq!(met(&ask(&timeline, &second)), [10]);
    let expected = WaitVerdict::NotMet;
    assert_eq!(wait(&timeline, &["reason=Other"]).verdict, expected);
    let refused = wait(&timeline, &["jsonpath=.status.containerStatuses[1]"]);
    let WaitVerdict::Refused { at, .. } = refused.verdict else {
        panic!("{refused:?}");
    };
    assert_eq!(secs(at), 1);
}

/// Changes at 1 s; a gap from 2 s to 4 s, after which the list shows the pod with that reason.
fn gap(reason: &str, rv: u128) -> (tempfile::TempDir, Timeline) {
    told(|script, pods, _| {
        script.synced(pods, 1);
        script.wait(1000);
        waiting(script, pods, 2, "Before");
        script.wait(1000);
        let from = script.now();
        script.wait(2000);
        let again = script.connect(pods.resource, None);
        script.gap(pods.resource, 2, 9, from);
        if rv > 2 {
            waiting(script, again, rv, reason);
        }
        script.synced(again, 9);
        script.wait(1000);
        script.bookmark(again, 10);
    })
}

#[test]
fn a_gap_hides_changes_unless_the_version_is_the_same_after_it() {
    let (_folder, timeline) = gap("After", 8);
    let waited = wait(&timeline, &["reason=After"]);
    assert_eq!(
        (waited.verdict.clone(), met(&waited)),
        (WaitVerdict::Met, vec![4])
    );
    assert_eq!(waited.steps[0].not_before.map(secs), Some(2));
    assert_eq!(waited.missed[0].why, MissedReason::Gap);
    let waited = wait(&timeline, &["reason=Between"]);
    assert_eq!(waited.verdict, WaitVerdict::Unknown);
    let waited = wait(&timeline, &["reason=Before"]);
    assert_eq!(
        (waited.verdict.clone(), met(&waited)),
        (WaitVerdict::Met, vec![1])
    );
    assert!(waited.missed.is_empty(), "{waited:?}");

    let (_folder, timeline) = gap("", 0);
    let waited = wait(&timeline, &["reason=Between"]);
    assert_eq!(waited.verdict, WaitVerdict::NotMet);
    assert_eq!((waited.missed.len(), waited.bridged_gaps), (0, 1));
}

#[test]
fn an_object_that_was_not_there_may_have_come_and_gone_in_a_gap() {
    let (_folder, timeline) = told(|script, pods, _| {
        script.synced(pods, 1);
        script.wait(1000);
        let from = script.now();
        script.wait(2000);
        script.gap(pods.resource, 1, 9, from);
        script.synced(pods, 9);
        script.wait(1000);
        script.bookmark(pods, 10);
    });
    assert_eq!(wait(&timeline, &["create"]).verdict, WaitVerdict::Unknown);
    assert_eq!(met(&wait(&timeline, &["delete"])), [0]);
}

#[test]
fn the_list_after_a_gap_bounds_what_it_shows() {
    let body = |uid: &str, rv| pod(thing("x", "a", uid), rv, "q");
    let gap = |uid: Option<&str>| {
        told(|script, pods, _| {
            script.synced(pods, 1);
            script.wait(1000);
            script.added(pods, a(), 2, &body("u1", 2));
            script.wait(1000);
            let from = script.now();
            script.wait(2000);
            let again = script.connect(pods.resource, None);
            script.gap(pods.resource, 2, 9, from);
            let (added, deleted) = (EventType::Added, EventType::Deleted);
            script.event(again, deleted, Evidence::Inferred, a(), 9, &body("u1", 2));
            if let Some(uid) = uid {
                let other = thing("x", "a", uid);
                script.event(again, added, Evidence::Listed, other, 8, &body(uid, 8));
            }
            script.synced(again, 9);
            script.wait(1000);
            script.bookmark(again, 10);
        })
    };
    for uid in [None, Some("u2")] {
        let (_folder, timeline) = gap(uid);
        let pods = timeline.resources().get(ResourceId(0)).expect("pods");
        let lives = timeline.lives(pods.id, "x", "a");
        assert!(timeline.end_words(&lives[0]).starts_with("before "));
        let object = lives[0].object;
        let last = timeline.reel().versions(object).last().expect("a version");
        assert_eq!(timeline.unseen_before(*last).map(secs), Some(2));
        assert_eq!(timeline.unseen_before(lives[0].first), None);
        let waited = wait(&timeline, &["jsonpath=.metadata.uid=u1"]);
        let step = &waited.steps[0];
        let (until, before) = (step.until.map(secs), step.until_not_before.map(secs));
        assert_eq!((until, before), (Some(4), Some(2)), "{waited:?}");
    }
    let (_folder, timeline) = gap(Some("u2"));
    let waited = wait(&timeline, &["replaced"]);
    let step = &waited.steps[0];
    assert_eq!((secs(step.at), step.not_before.map(secs)), (4, Some(2)));
}

/// A pod waits for a reason at 1 s. The recorder is paused from 2 s to 12 s, and at 12.5 s the pod is received with
/// another reason, which it has until 18.5 s.
fn paused(is_probed: bool) -> (tempfile::TempDir, Timeline) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.reel");
    let mut script = Script::begin(&path);
    let probe = |script: &mut Script, revision| {
        if is_probed {
            script.probed(revision, 0);
        }
    };
    probe(&mut script, 1);
    let pods = script.resource("pods", "Pod", &["po"]);
    let pods = script.connect(pods, None);
    script.synced(pods, 1);
    probe(&mut script, 1);
    script.wait(1000);
    waiting(&mut script, pods, 2, "Before");
    script.wait(1000);
    probe(&mut script, 2);
    script.pause(10_000);
    script.wait(500);
    waiting(&mut script, pods, 5, "After");
    script.wait(100);
    probe(&mut script, 5);
    script.wait(5900);
    waiting(&mut script, pods, 6, "Later");
    script.wait(1000);
    script.bookmark(pods, 9);
    script.finish();
    let timeline = Timeline::open(&path).expect("a reel");
    (folder, timeline)
}

#[test]
fn what_was_received_late_was_committed_between_two_times() {
    for is_probed in [true, false] {
        let (_folder, timeline) = paused(is_probed);
        let waited = wait(&timeline, &["reason=After"]);
        assert_eq!(waited.verdict, WaitVerdict::Met);
        assert_eq!(waited.missed, []);
        let step = &waited.steps[0];
        assert_eq!((secs(step.at), step.not_before.map(secs)), (12, Some(2)));
        assert_eq!(
            (step.until.map(secs), step.until_not_before),
            (Some(18), None)
        );
        assert_eq!((step.met_micros, step.may_last_longer), (6_000_000, true));
        let waited = wait(&timeline, &["reason=Before"]);
        let step = &waited.steps[0];
        assert_eq!((secs(step.at), step.not_before), (1, None));
        let until = (step.until.map(secs), step.until_not_before.map(secs));
        assert_eq!(until, (Some(12), Some(2)));
        assert_eq!(step.met_micros, 1_000_000);
        // Whether it was met for long depends on when it was committed; that it was never met does not.
        let lasting = |reason: &str, at_least_secs: u64| {
            let goals = [reason];
            let asked = Ask {
                goals: &goals,
                at_least_micros: at_least_secs * 1_000_000,
                ..Ask::default()
            };
            ask(&timeline, &asked).verdict
        };
        assert_eq!(lasting("reason=After", 6), WaitVerdict::Met);
        assert_eq!(lasting("reason=After", 7), WaitVerdict::Unknown);
        assert_eq!(lasting("reason=After", 17), WaitVerdict::NotMet);
        assert_eq!(lasting("reason=Never", 0), WaitVerdict::NotMet);
        let resource = timeline.resources().get(ResourceId(0)).expect("pods");
        let history = timeline.history(HistoryQuestion {
            resource,
            namespace: "x",
            name: "a",
            scope: ComparisonScope::default(),
            from: None,
            to: None,
        });
        let lengths = history.map(|item| {
            let HistoryItem::Version(version) = item else {
                panic!("{item:?}");
            };
            let held = version.held.expect("a length");
            let most = held.most_micros.map(|most| most / 500_000);
            (version.not_before.map(secs), held.micros / 500_000, most)
        });
        let lengths: Vec<_> = lengths.collect();
        let expected = [
            (None, 2, Some(23)),
            (Some(2), 12, Some(33)),
            (None, 2, None),
        ];
        assert_eq!(lengths, expected);
        // Every answer is the same: the state is known again when the change has been received.
        for (millis, is_known) in [(1500, true), (7000, false), (12_300, false), (12_700, true)] {
            let wall = RecordedAt::from_micros(timeline.start().micros + millis * 1000);
            let below = timeline.reel().seq_after(wall);
            let certainty = timeline.certainty(resource.id, Cut::Arrival { below, wall });
            assert_eq!(certainty.is_known(), is_known, "{millis}: {certainty:?}");
        }
    }
}

#[test]
fn values_that_were_received_late_have_bounds() {
    let pattern = regex::Regex::new("^(Before|After)$").expect("a pattern");
    for is_probed in [true, false] {
        let (_folder, timeline) = paused(is_probed);
        let found = timeline.search(
            &ValueQuestion {
                pattern: &pattern,
                resources: None,
                namespace: None,
                name: None,
                from: Seq(0),
                to: timeline.reel().end(),
                limit: None,
            },
            |_| {},
        );
        let found = found.values.iter().map(|value| {
            let begin = (secs(value.from), value.begin_unknown_since.map(secs));
            let end = (value.to.map(secs), value.end_unknown_since.map(secs));
            (value.value.as_str(), begin, end)
        });
        let found: Vec<_> = found.collect();
        let expected = [
            ("Before", (1, None), (None, Some(2))),
            ("After", (12, Some(2)), (Some(18), None)),
        ];
        assert_eq!(found, expected);
    }
}

#[test]
fn what_no_watch_saw_before_the_end_is_not_known() {
    let (_folder, timeline) = told(|script, pods, events| {
        script.synced(pods, 1);
        script.synced(events, 1);
        script.wait(1000);
        waiting(script, pods, 2, "Before");
        script.wait(1000);
        script.disconnect(pods, EndCause::Expired);
        script.wait(5000);
        script.bookmark(events, 9);
    });
    let waited = wait(&timeline, &["reason=After"]);
    assert_eq!(waited.verdict, WaitVerdict::Unknown);
    let missed = waited
        .missed
        .iter()
        .map(|missed| (secs(missed.from), secs(missed.to)));
    assert_eq!(missed.collect::<Vec<_>>(), [(2, 7)]);
    assert_eq!(met(&wait(&timeline, &["reason=Before"])), [1]);
}

/// There from 1 s to 3 s, and another one of that name from 4 s on.
fn two_lives() -> (tempfile::TempDir, Timeline) {
    told(|script, pods, events| {
        script.synced(pods, 1);
        script.synced(events, 1);
        script.wait(1000);
        script.added(pods, a(), 2, &pod(a(), 2, "p"));
        script.wait(1000);
        let event = |rv: u128, reason: &str| {
            format!(
                r#"{{"kind":"Event","apiVersion":"v1","metadata":{{"name":"e{rv}","namespace":"x","resourceVersion":"{rv}"}},"involvedObject":{{"kind":"Pod","namespace":"x","name":"a","uid":"u1"}},"reason":"{reason}","type":"Normal"}}"#
            )
        };
        for (rv, reason) in [(3, "Killing"), (4, "Other"), (5, "Killing")] {
            let name = format!("e{rv}");
            let (of, body) = (thing("x", &name, &name), event(rv, reason));
            script.added(events, of, rv, body.as_bytes());
            script.wait(500);
        }
        script.deleted(pods, a(), 6, &pod(a(), 6, "p"));
        script.wait(500);
        let b = thing("x", "a", "u2");
        script.added(pods, b, 7, &pod(b, 7, "q"));
        script.wait(1000);
        script.bookmark(pods, 9);
        script.bookmark(events, 9);
    })
}

#[test]
fn creation_deletion_and_replacement_are_seen() {
    let (_folder, timeline) = two_lives();
    // Creation is waited for first, wherever it stands.
    assert_eq!(met(&wait(&timeline, &["delete", "Create"])), [1, 3]);
    assert_eq!(met(&wait(&timeline, &["delete"])), [0]);
    assert_eq!(met(&wait(&timeline, &["replaced"])), [4]);
    let second = "jsonpath=.metadata.labels.app=q";
    assert_eq!(
        met(&wait(&timeline, &["create", "delete", second])),
        [1, 3, 4]
    );
}

#[test]
fn events_about_the_object_are_met_at_their_moment() {
    let (_folder, timeline) = two_lives();
    let ask_nth = |nth| {
        let goals = &["event=Killing"];
        let waited = ask(
            &timeline,
            &Ask {
                goals,
                nth,
                ..Ask::default()
            },
        );
        (waited.verdict.clone(), met(&waited))
    };
    assert_eq!(ask_nth(1), (WaitVerdict::Met, vec![2]));
    assert_eq!(ask_nth(2), (WaitVerdict::Met, vec![3]));
    assert_eq!(ask_nth(3), (WaitVerdict::NotMet, vec![]));
    assert_eq!(met(&wait(&timeline, &["event=Other", "delete"])), [2, 3]);
}

#[test]
fn an_event_may_be_missing_if_the_second_group_of_events_has_a_gap() {
    let (_folder, timeline) = told(|script, pods, events| {
        let grouped = script.resource("events.events.k8s.io", "Event", &[]);
        let grouped = script.connect(grouped, None);
        for stream in [pods, events, grouped] {
            script.synced(stream, 1);
        }
        script.wait(1000);
        let from = script.now();
        script.wait(2000);
        let again = script.connect(grouped.resource, None);
        script.gap(grouped.resource, 1, 9, from);
        script.synced(again, 9);
        script.wait(1000);
        script.bookmark(events, 10);
    });
    assert!(timeline.may_miss_events((None, None)));
    let waited = wait(&timeline, &["event=Killing"]);
    let missed = waited.missed.iter();
    let missed: Vec<_> = missed
        .map(|missed| (secs(missed.from), secs(missed.to)))
        .collect();
    assert_eq!(
        (waited.verdict, missed),
        (WaitVerdict::Unknown, vec![(1, 3)])
    );
}

#[test]
fn any_of_several_is_enough_and_some_must_not_come_first() {
    let (_folder, timeline) = two_lives();
    let second = "jsonpath=.metadata.labels.app=q";
    let any = Ask {
        goals: &[second, "event=Other", "replaced"],
        is_any: true,
        ..Ask::default()
    };
    let waited = ask(&timeline, &any);
    assert_eq!(
        (met(&waited), waited.steps[0].goal.as_str()),
        (vec![2], "event=Other")
    );
    let fails = |fail_on: &str, goal: &str| {
        let ask_failing = Ask {
            goals: &[goal],
            fail_on: &[fail_on],
            ..Ask::default()
        };
        ask(&timeline, &ask_failing).verdict
    };
    let WaitVerdict::Failed { at, goal } = fails("event=Killing", "replaced") else {
        panic!("it was killed first");
    };
    assert_eq!((secs(at), goal.as_str()), (2, "event=Killing"));
    assert_eq!(fails("replaced", "event=Killing"), WaitVerdict::Met);
    // What is met at once counts against it.
    assert!(matches!(
        fails(second, "replaced"),
        WaitVerdict::Failed { .. }
    ));
    assert!(matches!(
        fails("create", "reason=x"),
        WaitVerdict::Failed { .. }
    ));
}

#[test]
fn a_deletion_that_must_not_come_needs_an_object_that_exists() {
    let (_folder, timeline) = told(|script, pods, _| {
        script.synced(pods, 1);
        script.wait(1000);
        waiting(script, pods, 2, "ImagePullBackOff");
        script.wait(1000);
        waiting(script, pods, 3, "ErrImagePull");
        script.wait(1000);
        script.deleted(pods, a(), 4, b"{}");
    });
    let unless_deleted = |goal: &str| {
        let asked = Ask {
            goals: &[goal],
            fail_on: &["delete"],
            ..Ask::default()
        };
        ask(&timeline, &asked).verdict
    };
    assert_eq!(unless_deleted(PULL), WaitVerdict::Met);
    let WaitVerdict::Failed { at, .. } = unless_deleted("reason=Other") else {
        panic!("it was deleted first");
    };
    assert_eq!(secs(at), 3);
}

#[test]
fn an_event_about_a_cluster_scoped_object_may_name_a_namespace() {
    let (_folder, timeline) = told(|script, _, events| {
        let body = r#"{"kind":"Event","metadata":{"name":"e","namespace":"operators"},"type":"Normal",
            "reason":"PayloadLoaded","involvedObject":{"kind":"ClusterVersion","namespace":"operators","name":"version"}}"#;
        let event = thing("operators", "e", "e1");
        script.added(events, event, 2, body.as_bytes());
    });
    let about = |namespace: &str| {
        let question = EventQuestion {
            about: Some(Regarding {
                kind: "ClusterVersion".to_owned(),
                namespace: namespace.to_owned(),
                name: "version".to_owned(),
                ..Regarding::default()
            }),
            ..EventQuestion::default()
        };
        timeline.event_log(question).count()
    };
    assert_eq!((about(""), about("other")), (1, 0));
}

#[test]
fn the_time_that_is_searched_begins_and_ends_as_asked() {
    let (_folder, timeline) = two_lives();
    let pods = ResourceId(0);
    let at = |secs: i64| Cut::Arrival {
        below: timeline
            .reel()
            .seq_after(RecordedAt::from_micros((START_SECS + secs) * 1_000_000)),
        wall: RecordedAt::from_micros((START_SECS + secs) * 1_000_000),
    };
    let found = |from: Option<i64>, to: Cut, timeout: Option<i64>| {
        let resource = timeline.resources().get(pods).expect("pods");
        let timeout = timeout.map(|secs| secs * 1_000_000);
        let waited = timeline.wait(&WaitQuestion {
            resource,
            namespace: "x",
            name: "a",
            goals: &goals(&["replaced"]),
            is_any: false,
            fail_on: &[],
            span: WaitSpan::of(&timeline, pods, &[], from.map(at), to, timeout),
            nth: 1,
            at_least_micros: 0,
        });
        (waited.verdict.clone(), met(&waited))
    };
    assert_eq!(found(Some(1), at(5), None), (WaitVerdict::Met, vec![4]));
    assert_eq!(found(Some(1), at(3), None), (WaitVerdict::NotMet, vec![]));
    let expected = (WaitVerdict::NotMet, vec![]);
    assert_eq!(found(Some(1), at(5), Some(2)), expected);
    assert_eq!(found(Some(1), at(5), Some(3)), (WaitVerdict::Met, vec![4]));
    // From the second life on, it is the first one.
    assert_eq!(found(Some(4), at(5), None), (WaitVerdict::NotMet, vec![]));
    // A revision is a moment too, and what lies behind the end is not known.
    let expected = (WaitVerdict::NotMet, vec![]);
    assert_eq!(found(None, Cut::Revision(6), None), expected);
    let expected = (WaitVerdict::Met, vec![4]);
    assert_eq!(found(None, Cut::Revision(7), None), expected);
    assert_eq!(found(Some(4), at(50), None), (WaitVerdict::Unknown, vec![]));
}

#[test]
fn the_cost_depends_on_the_versions_of_the_name() {
    let cost = |events: u128| {
        let (_folder, timeline) = told(|script, pods, _| {
            script.synced(pods, 0);
            for rv in 1..=events {
                script.wait(1);
                let is_asked = (rv - 1) % (events / 10) == 0;
                let other = format!("n{}", rv % 50);
                let name = if is_asked { "a" } else { other.as_str() };
                let what = thing("x", name, name);
                let kind = if rv == 1 {
                    EventType::Added
                } else {
                    EventType::Modified
                };
                let body = pod(what, rv, &rv.to_string());
                script.event(pods, kind, Evidence::Live, what, rv, &body);
            }
        });
        let before = timeline.reel().counts().bodies;
        assert_eq!(wait(&timeline, &[PULL]).verdict, WaitVerdict::NotMet);
        timeline.reel().counts().bodies - before
    };
    let (short, long) = (cost(1_000), cost(10_000));
    assert!(short >= 10, "{short}");
    assert!(long <= short * 3, "{short} {long}");
}

/// Tells, written plainly, whether an object is ready.
fn is_ready(object: &Value) -> bool {
    let number = |value: Option<&Value>| value.and_then(Value::as_i64);
    let conditions = object.pointer("/status/conditions");
    let conditions = conditions.and_then(Value::as_array).into_iter().flatten();
    let is_type = |condition: &Value| condition.get("type") == Some(&Value::from("Ready"));
    let ready = conditions.into_iter().find(|condition| is_type(condition));
    ready.is_some_and(|ready| {
        let observed = number(ready.get("observedGeneration"))
            .or_else(|| number(object.pointer("/status/observedGeneration")));
        let generation = number(object.pointer("/metadata/generation"));
        let is_old = observed.is_some() && generation.is_some() && observed < generation;
        ready.get("status") == Some(&Value::from("True")) && !is_old
    })
}

#[test]
fn every_pod_and_node_of_the_demo_agrees_with_a_plain_walk() {
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/demo.reel");
    let timeline = Timeline::open(std::path::Path::new(demo)).expect("the demo");
    let goal = goals(&["condition=Ready"]);
    let mut found = 0;
    for plural in ["pods", "nodes"] {
        let resource = timeline.resources().find(plural).expect("recorded");
        let end = timeline.resolve(Moment::End).expect("an end");
        let span = WaitSpan::of(&timeline, resource.id, &goal, None, end, None);
        let mut firsts: BTreeMap<(&str, &str), Option<Seq>> = BTreeMap::new();
        for &object in timeline.objects_of(resource.id) {
            let key = timeline.key_of(object).expect("a key");
            let ready = timeline
                .reel()
                .versions(object)
                .iter()
                .copied()
                .find(|&seq| {
                    let body = timeline.reel().body(seq).expect("a body");
                    let body: Value = serde_json::from_slice(&body).expect("JSON");
                    timeline.reel().kind_of(seq) != Some(EventType::Deleted) && is_ready(&body)
                });
            let first = firsts.entry((key.namespace, key.name)).or_default();
            *first = [*first, ready].into_iter().flatten().min();
        }
        for ((namespace, name), first) in firsts {
            let waited = timeline.wait(&WaitQuestion {
                resource,
                namespace,
                name,
                goals: &goal,
                is_any: false,
                fail_on: &[],
                span,
                nth: 1,
                at_least_micros: 0,
            });
            let met = waited.steps.first().and_then(|step| step.seq);
            assert_eq!(met, first, "{plural} {namespace}/{name}");
            found += usize::from(met.is_some());
        }
    }
    assert!(found > 20, "{found}");
}

/// Writes an import of lists, each with its moment, and opens it: what a list changes has only its
/// evidence. The Pods are `a`, whose phase changes in the third list, and `b`, which it no longer
/// has.
fn listed() -> (tempfile::TempDir, Timeline) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.reel");
    let mut reel = Appender::create(&path).expect("a reel");
    let stamp = |secs: i64| Stamp {
        wall: RecordedAt::from_micros((START_SECS + secs) * 1_000_000),
        elapsed: Elapsed {
            micros: u64::try_from(secs).expect("a time") * 1_000_000,
        },
    };
    let info = ResourceInfo::new(ResourceId(0), "v1", "pods", "Pod");
    reel.append_note(stamp(0), Note::Resource(info))
        .expect("appended");
    let list = |reel: &mut Appender, secs| {
        let connected = Note::Connected {
            connection: ConnectionId(0),
            resource: ResourceId(0),
            from_rv: None,
            method: ListMethod::Import,
        };
        reel.append_note(stamp(secs), connected).expect("appended");
    };
    let event = |reel: &mut Appender, secs, name, kind, phase: &str| {
        let body = format!(r#"{{"metadata":{{"name":"{name}"}},"status":{{"phase":"{phase}"}}}}"#);
        reel.append_event(&NewEvent {
            stamp: stamp(secs),
            connection: ConnectionId(0),
            kind,
            evidence: if secs == 0 {
                Evidence::Imported
            } else {
                Evidence::Listed
            },
            resource: ResourceId(0),
            namespace: "x",
            name,
            uid: name,
            resource_version: "",
            body: if phase.is_empty() {
                NewBody::Last
            } else {
                NewBody::Bytes(body.as_bytes())
            },
        })
        .expect("appended");
    };
    list(&mut reel, 0);
    event(&mut reel, 0, "a", EventType::Added, "Pending");
    event(&mut reel, 0, "b", EventType::Added, "Running");
    list(&mut reel, 1000);
    event(&mut reel, 3000, "a", EventType::Modified, "Running");
    event(&mut reel, 3000, "b", EventType::Deleted, "");
    list(&mut reel, 3000);
    reel.finish().expect("finished");
    let timeline = Timeline::open(&path).expect("a reel");
    (folder, timeline)
}

#[test]
fn what_a_list_of_an_import_shows_happened_after_the_list_before_it() {
    let (_folder, timeline) = listed();
    let resource = timeline.resources().get(ResourceId(0)).expect("pods");
    let wait = |name: &str, goal: &str, at_least_secs: u64| {
        let goals = goals(&[goal]);
        timeline.wait(&WaitQuestion {
            resource,
            namespace: "x",
            name,
            goals: &goals,
            is_any: false,
            fail_on: &[],
            span: span(&timeline, resource.id, &goals),
            nth: 1,
            at_least_micros: at_least_secs * 1_000_000,
        })
    };
    for (name, goal) in [("a", "jsonpath={.status.phase}=Running"), ("b", "delete")] {
        let waited = wait(name, goal, 0);
        assert_eq!(waited.verdict, WaitVerdict::Met, "{waited:?}");
        assert_eq!(met(&waited), [3000]);
        let step = waited.steps.first().expect("a step");
        assert_eq!(step.not_before.map(secs), Some(1000), "{waited:?}");
        let missed: Vec<(i64, i64)> = waited
            .missed
            .iter()
            .map(|one| (secs(one.from), secs(one.to)))
            .collect();
        assert_eq!(missed, [(1000, 3000)]);
    }
    // It was so in two lists, and what was in between is not known.
    let pending = "jsonpath={.status.phase}=Pending";
    assert_eq!(wait("a", pending, 1000).verdict, WaitVerdict::Met);
    assert_eq!(wait("a", pending, 2000).verdict, WaitVerdict::Unknown);
    assert!(wait("a", pending, 0).missed.is_empty());
}
