//! The state at a moment, on reels written for the purpose.

use crate::script::{START_MICROS, Script, Stream, pod, thing};
use kubereel_format::{
    EndCause, EpochId, EventType, Evidence, GapVerdict, NotCoveredReason, Note, OutageClass,
    RecordedAt, ResourceId,
};
use kubereel_history::{
    Certainty, ComparisonScope, Cut, GapOutcome, HistoryItem, HistoryQuestion, LifetimeEnd, Moment,
    ObjectFilter, ReelSummary, ResourceSnapshot, Timeline, UnobservedReason,
};
use std::path::Path;

fn at(timeline: &Timeline, resource: ResourceId, moment: &str) -> ResourceSnapshot {
    let moment: Moment = moment.parse().expect("a moment");
    let cut = timeline.resolve(moment).expect("a place");
    timeline.as_of(resource, cut, &ObjectFilter::default())
}

fn names(state: &ResourceSnapshot) -> Vec<String> {
    let name = |held: &kubereel_history::ObjectVersion| format!("{}/{}", held.namespace, held.name);
    state.objects.iter().map(name).collect()
}

fn write<T>(story: impl FnOnce(&Path) -> T) -> (Timeline, T) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.reel");
    let told = story(&path);
    (Timeline::open(&path).expect("a reel"), told)
}

const A: crate::script::Thing<'static> = thing("web", "a", "uid-a");
const B: crate::script::Thing<'static> = thing("web-2", "b", "uid-b");

/// Lists pod `a` at 14:00:01 (rv 10), adds `b` at :03 (12), changes `a` at :05 (14), deletes `b` at :07 (16).
fn small_life(script: &mut Script) -> Stream {
    let pods = script.resource("pods", "Pod", &["po"]);
    script.wait(1000);
    let stream = script.connect(pods, None);
    script.initial(stream, A, 9, &pod(A, 9, "x"));
    script.synced(stream, 10);
    script.wait(2000);
    script.added(stream, B, 12, &pod(B, 12, "x"));
    script.wait(2000);
    script.modified(stream, A, 14, &pod(A, 14, "y"));
    script.wait(2000);
    script.deleted(stream, B, 16, &pod(B, 16, "x"));
    stream
}

/// Writes the small life, and what comes after it.
fn life<T>(more: impl FnOnce(&mut Script, Stream) -> T) -> (Timeline, Stream, T) {
    let (timeline, (stream, told)) = write(|path| {
        let mut script = Script::begin(path);
        let stream = small_life(&mut script);
        let told = more(&mut script, stream);
        script.finish();
        (stream, told)
    });
    (timeline, stream, told)
}

#[test]
fn the_first_known_state_has_a_time_at_which_it_is_shown() {
    let (timeline, pods) = write(|path| {
        let mut script = Script::begin(path);
        let pods = script.resource("pods", "Pod", &["po"]);
        let others = script.resource("configmaps", "ConfigMap", &["cm"]);
        script.wait(1000);
        let stream = script.connect(pods, None);
        let beside = script.connect(others, None);
        script.initial(stream, A, 9, &pod(A, 9, "x"));
        // An object of the other list was received a moment later, and is in front of the end of this one.
        script.wait(5);
        script.initial(beside, B, 8, &pod(B, 8, "x"));
        script.wait(-5);
        script.synced(stream, 10);
        script.wait(20);
        script.synced(beside, 10);
        script.finish();
        pods
    });
    let Certainty::BeforeFirst { first: Some(first) } = at(&timeline, pods, "start").certainty
    else {
        panic!("not known at the start");
    };
    let shown = at(&timeline, pods, &kubereel_history::timetext::rfc3339(first));
    assert!(
        matches!(shown.certainty, Certainty::Known { .. }),
        "{shown:?}"
    );
    assert_eq!(names(&shown), ["web/a"]);
}

#[test]
fn an_object_whose_deletion_was_not_observed_does_not_come_back() {
    let (timeline, stream, ()) = life(|script, stream| {
        let later = thing("web", "a", "uid-a2");
        script.wait(1000);
        script.added(stream, later, 18, &pod(later, 18, "z"));
        script.wait(1000);
        script.deleted(stream, later, 20, &pod(later, 20, "z"));
    });
    let named = |moment| names(&at(&timeline, stream.resource, moment));
    assert_eq!(named("rv:14"), ["web-2/b", "web/a"]);
    assert_eq!(named("rv:18"), ["web/a"]);
    assert!(named("end").is_empty());
    assert!(named("rv:20").is_empty());
}

#[test]
fn each_moment_shows_what_was_received_by_then() {
    let (timeline, stream, ()) = life(|script, stream| {
        script.wait(1000);
        script.bookmark(stream, 20);
    });
    let pods = stream.resource;
    for (moment, expected, rv) in [
        ("14:00:01", vec!["web/a"], 9),
        ("14:00:02.999", vec!["web/a"], 9),
        // A name with a hyphen sorts before one that ends: the server's order of keys.
        ("14:00:03", vec!["web-2/b", "web/a"], 12),
        ("+6s", vec!["web-2/b", "web/a"], 14),
        ("-1s", vec!["web/a"], 16),
        ("end", vec!["web/a"], 16),
        ("rv:10", vec!["web/a"], 9),
        ("rv:12", vec!["web-2/b", "web/a"], 12),
        ("rv:13", vec!["web-2/b", "web/a"], 12),
        ("rv:15", vec!["web-2/b", "web/a"], 14),
        ("rv:16", vec!["web/a"], 16),
        ("rv:20", vec!["web/a"], 16),
    ] {
        let state = at(&timeline, pods, moment);
        assert_eq!(names(&state), expected, "{moment}");
        assert_eq!(state.rv, Some(rv), "{moment}");
        assert!(
            state.certainty.is_known(),
            "{moment}: {:?}",
            state.certainty
        );
    }
}

#[test]
fn a_deletion_with_the_version_of_the_last_change_was_after_what_came_before_it() {
    let (timeline, pods) = write(|path| {
        let mut script = Script::begin(path);
        let pods = script.resource("pods", "Pod", &[]);
        let stream = script.connect(pods, None);
        script.synced(stream, 9);
        script.added(stream, A, 10, &pod(A, 10, "x"));
        script.wait(1000);
        script.modified(stream, A, 11, &pod(A, 11, "y"));
        script.wait(1000);
        script.added(stream, B, 12, &pod(B, 12, "x"));
        script.wait(1000);
        script.modified(stream, B, 15, &pod(B, 15, "y"));
        script.wait(1000);
        script.deleted(stream, A, 11, &pod(A, 11, "y"));
        script.wait(1000);
        script.modified(stream, B, 20, &pod(B, 20, "z"));
        script.finish();
        pods
    });
    for (moment, expected, secs) in [
        ("rv:10", vec!["web/a"], 0),
        ("rv:11", vec!["web/a"], 1),
        ("rv:12", vec!["web-2/b", "web/a"], 2),
        ("rv:15", vec!["web-2/b", "web/a"], 3),
        ("rv:20", vec!["web-2/b"], 5),
        ("end", vec!["web-2/b"], 5),
    ] {
        let state = at(&timeline, pods, moment);
        assert_eq!(names(&state), expected, "{moment}");
        let expected = START_MICROS + secs * 1_000_000;
        assert_eq!(state.at.micros, expected, "{moment}");
    }
    let versions = |to: u128| {
        let history = timeline.history(HistoryQuestion {
            resource: timeline.resources().get(pods).expect("recorded"),
            namespace: "web",
            name: "a",
            scope: ComparisonScope::default(),
            from: None,
            to: Some(Cut::Revision(to)),
        });
        history.versions()
    };
    assert_eq!((versions(11), versions(15), versions(20)), (2, 2, 3));
}

#[test]
fn a_resource_version_has_one_time_in_all_resources_of_a_storage() {
    let (timeline, (pods, nodes, own, late)) = write(|path| {
        let mut script = Script::begin(path);
        script.probed(10, 5);
        script.wait(1000);
        let listed = |script: &mut Script, name: &str, rv: u128| {
            let stream = script.watched(name, "Other", &[]);
            script.initial(stream, A, rv - 3, &pod(A, rv - 3, "x"));
            script.synced(stream, rv);
            stream
        };
        let pods = listed(&mut script, "pods", 10);
        let nodes = listed(&mut script, "nodes", 10);
        script.wait(1000);
        script.probed(10, 5);
        // At 3 seconds, and 11 to 13 a second each.
        for (rv, stream) in [(11, pods), (12, nodes), (13, pods)] {
            script.wait(1000);
            script.modified(stream, A, rv, &pod(A, rv, "y"));
        }
        script.probed(13, 5);
        script.wait(55_000);
        // A storage of its own, of which the versions are lower; and a late list, which shows old versions.
        let own = listed(&mut script, "things.example.com", 5);
        script.wait(1000);
        script.modified(own, A, 6, &pod(A, 6, "y"));
        let late = listed(&mut script, "others.example.com", 13);
        script.wait(2000);
        script.probed(13, 5);
        script.finish();
        (pods.resource, nodes.resource, own.resource, late.resource)
    });
    let sequence = &timeline.sequences()[0];
    assert!(!sequence.has_member(own) && sequence.has_member(late));
    for (resource, moment, secs) in [
        (pods, "rv:10", 1),
        (pods, "rv:11", 3),
        (nodes, "rv:11", 3),
        (pods, "rv:12", 4),
        (nodes, "rv:13", 5),
        // The state of the late one is that of its list.
        (late, "rv:13", 61),
        (own, "rv:6", 61),
    ] {
        let state = at(&timeline, resource, moment);
        let expected = START_MICROS + secs * 1_000_000;
        assert_eq!(state.at.micros, expected, "{resource:?} {moment}");
        let is_complete = matches!(state.certainty, Certainty::Known { .. });
        assert!(is_complete, "{moment}: {:?}", state.certainty);
    }
    let silent_since = Some(RecordedAt::from_micros(START_MICROS + 4_000_000));
    let certainty = at(&timeline, nodes, "rv:13").certainty;
    assert_eq!(certainty, Certainty::Known { silent_since });
    let beyond = at(&timeline, nodes, "rv:14").certainty;
    assert!(matches!(beyond, Certainty::AfterLast { .. }), "{beyond:?}");
}

#[test]
fn a_record_number_means_after_that_record() {
    let (timeline, (stream, added)) = write(|path| {
        let mut script = Script::begin(path);
        let stream = script.watched("pods", "Pod", &[]);
        script.synced(stream, 10);
        let added = script.added(stream, A, 11, &pod(A, 11, "x"));
        script.deleted(stream, A, 12, &pod(A, 12, "x"));
        script.finish();
        (stream, added)
    });
    let pods = stream.resource;
    let before = added.0 - 1;
    assert!(names(&at(&timeline, pods, &format!("seq:{before}"))).is_empty());
    assert_eq!(
        names(&at(&timeline, pods, &format!("seq:{added}"))),
        ["web/a"]
    );
    let after = added.0 + 1;
    assert!(names(&at(&timeline, pods, &format!("seq:{after}"))).is_empty());
}

#[test]
fn names_and_namespaces_narrow_the_answer() {
    let (timeline, stream, ()) = life(|_, _| ());
    let cut = timeline
        .resolve("rv:14".parse().expect("a moment"))
        .expect("a place");
    let named = ["b".to_owned()];
    for (namespace, names_asked, expected) in [
        (Some("web"), &[][..], vec!["web/a"]),
        (None, &named[..], vec!["web-2/b"]),
        (Some("web"), &named[..], vec![]),
    ] {
        let filter = ObjectFilter {
            namespace,
            names: names_asked,
        };
        let state = timeline.as_of(stream.resource, cut, &filter);
        assert_eq!(names(&state), expected);
    }
}

#[test]
fn a_new_object_under_an_old_name_takes_its_place_though_the_deletion_was_never_seen() {
    let again = thing("web", "a", "uid-a2");
    let (timeline, stream, ()) = life(|script, stream| {
        script.added(stream, again, 18, &pod(again, 18, "z"));
    });
    let state = at(&timeline, stream.resource, "end");
    assert_eq!(names(&state), ["web/a"]);
    let body = timeline.reel().body(state.objects[0].seq).expect("a body");
    assert_eq!(body.as_ref(), pod(again, 18, "z"));
    let lives = timeline.lives(stream.resource, "web", "a");
    assert_eq!(lives.len(), 2);
    assert!(lives[0].is_older_than_reel && !lives[1].is_older_than_reel);
    assert_eq!(lives[0].end, LifetimeEnd::Replaced(lives[1].from));
    assert_eq!(lives[1].end, LifetimeEnd::NotObserved);
}

#[test]
fn a_deleted_object_that_comes_back_is_there_again() {
    let (timeline, stream, ()) = life(|script, stream| {
        script.added(stream, B, 18, &pod(B, 18, "x"));
    });
    assert_eq!(names(&at(&timeline, stream.resource, "rv:16")), ["web/a"]);
    assert_eq!(names(&at(&timeline, stream.resource, "rv:18")).len(), 2);
}

#[test]
fn before_the_first_list_nothing_is_shown() {
    let (timeline, stream, ()) = life(|_, _| ());
    for moment in ["start", "14:00:00.5", "13:59", "rv:9"] {
        let state = at(&timeline, stream.resource, moment);
        let first = Some(RecordedAt::from_micros(START_MICROS + 1_000_000));
        assert_eq!(
            state.certainty,
            Certainty::BeforeFirst { first },
            "{moment}"
        );
        assert!(state.objects.is_empty(), "{moment}");
    }
}

#[test]
fn after_the_last_moment_the_last_state_is_shown_as_unsure() {
    let (timeline, stream, ()) = life(|_, _| ());
    for moment in ["15:00", "+1h", "rv:17"] {
        let state = at(&timeline, stream.resource, moment);
        assert!(
            matches!(state.certainty, Certainty::AfterLast { .. }),
            "{moment}: {:?}",
            state.certainty
        );
        assert_eq!(names(&state), ["web/a"], "{moment}");
    }
}

#[test]
fn silence_to_the_end_is_said() {
    let (timeline, stream, last) = life(|script, _| {
        let last = script.now();
        script.wait(30_000);
        last
    });
    let state = at(&timeline, stream.resource, "end");
    let silent_since = Some(last);
    assert_eq!(state.certainty, Certainty::Known { silent_since });
    let state = at(&timeline, stream.resource, "14:00:06");
    assert_eq!(state.certainty, Certainty::Known { silent_since: None });
}

/// A gap from 14:00:07 to 14:00:12, rv (16, 30], noted before or after the list that ends it.
fn with_gap(path: &Path, is_noted_first: bool) -> Stream {
    let mut script = Script::begin(path);
    let stream = small_life(&mut script);
    let from = script.now();
    script.disconnect(stream, EndCause::Expired);
    script.wait(5000);
    let stream = script.connect(stream.resource, None);
    if is_noted_first {
        script.gap(stream.resource, 16, 30, from);
    }
    let (modified, listed) = (EventType::Modified, Evidence::Listed);
    script.event(stream, modified, listed, A, 25, &pod(A, 25, "z"));
    script.synced(stream, 30);
    if !is_noted_first {
        script.gap(stream.resource, 16, 30, from);
    }
    script.wait(3000);
    script.modified(stream, A, 31, &pod(A, 31, "z"));
    script.finish();
    stream
}

#[test]
fn a_moment_inside_a_gap_says_so() {
    for is_noted_first in [true, false] {
        let (timeline, stream) = write(|path| with_gap(path, is_noted_first));
        let pods = stream.resource;
        for moment in ["14:00:07.001", "14:00:11.999", "rv:17", "rv:29"] {
            let state = at(&timeline, pods, moment);
            assert!(
                matches!(&state.certainty, Certainty::InsideGap { gap } if gap.gap.to_rv == "30"),
                "{moment}: {:?}",
                state.certainty
            );
        }
        for moment in [
            "14:00:05", "14:00:07", "14:00:12", "14:00:14", "rv:16", "rv:30", "rv:31", "end",
        ] {
            let certainty = at(&timeline, pods, moment).certainty;
            assert!(certainty.is_known(), "{moment}: {certainty:?}");
        }
        let coverage = timeline.coverage(pods).expect("recorded");
        let spans: Vec<(&str, &str)> = coverage
            .spans()
            .iter()
            .map(|span| (span.covered.from_rv.as_str(), span.covered.to_rv.as_str()))
            .collect();
        assert_eq!(spans, [("10", "16"), ("30", "31")]);
    }
}

/// The same gap, of which the versions 18 and 25 were read back.
fn read_back(path: &Path, verdict: GapVerdict) -> Stream {
    let mut script = Script::begin(path);
    let stream = small_life(&mut script);
    let from = script.now();
    script.disconnect(stream, EndCause::Expired);
    script.wait(5000);
    let stream = script.connect(stream.resource, None);
    let modified = EventType::Modified;
    let back = Evidence::Reconstructed;
    script.event(stream, modified, back, A, 18, &pod(A, 18, "read back"));
    script.event(stream, modified, back, A, 25, &pod(A, 25, "z"));
    script.gap(stream.resource, 16, 30, from);
    script.judged(verdict, Some(1));
    script.synced(stream, 30);
    script.wait(3000);
    script.modified(stream, A, 31, &pod(A, 31, "z"));
    script.finish();
    stream
}

#[test]
fn a_gap_whose_every_change_was_read_back_is_none() {
    let (timeline, stream) = write(|path| read_back(path, GapVerdict::Reconstructed));
    let pods = stream.resource;
    let coverage = timeline.coverage(pods).expect("recorded");
    assert_eq!(coverage.spans().len(), 1, "{coverage:?}");
    let closed = coverage
        .gaps(GapOutcome::ReadBack)
        .next()
        .expect("it is reported");
    assert_eq!(closed.gap.to_rv, "30");
    assert!(timeline.is_fully_observed(pods));
    for moment in ["rv:17", "rv:18", "rv:29", "14:00:05", "14:00:14", "end"] {
        let certainty = at(&timeline, pods, moment).certainty;
        assert!(certainty.is_known(), "{moment}: {certainty:?}");
    }
    // By arrival it was not known yet.
    for moment in ["14:00:07.001", "14:00:11.999"] {
        let certainty = at(&timeline, pods, moment).certainty;
        let is_blind = matches!(certainty, Certainty::Blind { to: Some(_), .. });
        assert!(is_blind, "{moment}: {certainty:?}");
    }
}

#[test]
fn a_gap_that_was_read_back_in_part_stays_one() {
    for verdict in [GapVerdict::Partly, GapVerdict::Lost] {
        let (timeline, stream) = write(|path| read_back(path, verdict));
        let coverage = timeline.coverage(stream.resource).expect("recorded");
        assert!(!timeline.is_fully_observed(stream.resource));
        assert_eq!(coverage.gaps(GapOutcome::ReadBack).count(), 0);
        let holes: Vec<_> = coverage.gaps(GapOutcome::MayMiss).collect();
        let [hole] = holes.as_slice() else {
            panic!("{coverage:?}");
        };
        assert_eq!(hole.missing_at_most(), Some(1));
        let state = at(&timeline, stream.resource, "rv:17");
        assert!(matches!(state.certainty, Certainty::InsideGap { .. }));
    }
}

#[test]
fn while_no_watch_ran_the_answer_is_unsure_but_nothing_is_missing_by_revision() {
    let (timeline, stream, short) = life(|script, stream| {
        script.disconnect(stream, EndCause::Cut);
        script.wait(400);
        let stream = script.connect(stream.resource, Some(16));
        let short = script.now();
        script.wait(5000);
        script.disconnect(stream, EndCause::Cut);
        script.wait(5000);
        let stream = script.connect(stream.resource, Some(16));
        script.modified(stream, A, 20, &pod(A, 20, "z"));
        short
    });
    let pods = stream.resource;
    let blind = at(&timeline, pods, "14:00:15").certainty;
    assert!(
        matches!(blind, Certainty::Blind { to: Some(_), .. }),
        "{blind:?}"
    );
    // A reconnect of less than a second is no more than a late delivery.
    let wall = RecordedAt::from_micros(short.micros - 1000);
    let cut = timeline.resolve(Moment::Time(wall)).expect("a place");
    assert!(timeline.certainty(pods, cut).is_known());
    assert!(at(&timeline, pods, "rv:18").certainty.is_known());
    assert!(timeline.is_fully_observed(pods));
}

#[test]
fn between_two_sessions_nobody_watched() {
    let (timeline, stream) = write(|path| {
        let mut script = Script::begin(path);
        let stream = small_life(&mut script);
        script.wait(1000);
        script.bookmark(stream, 17);
        let mut script = script.resume(path);
        script.wait(60_000);
        let stream = script.connect(stream.resource, Some(17));
        script.modified(stream, A, 20, &pod(A, 20, "z"));
        script.finish();
        stream
    });
    assert_eq!(timeline.sessions().len(), 2);
    assert_eq!(timeline.sessions()[0].end, None);
    let certainty = at(&timeline, stream.resource, "14:00:30").certainty;
    assert!(
        matches!(certainty, Certainty::Blind { .. }),
        "{certainty:?}"
    );
    for moment in ["14:00:08", "rv:18", "end"] {
        let certainty = at(&timeline, stream.resource, moment).certainty;
        assert!(certainty.is_known(), "{moment}: {certainty:?}");
    }
    // Only an answer that ends in that time lacks its changes.
    let unobserved = |from: &str, to: &str| {
        let place = |moment: &str| {
            let moment: Moment = moment.parse().expect("a moment");
            timeline.resolve(moment).expect("a place")
        };
        let bounds = (Some(place(from)), Some(place(to)));
        timeline.unobserved_within(stream.resource, bounds).count()
    };
    assert_eq!(unobserved("14:00:05", "14:00:30"), 1);
    assert_eq!(unobserved("14:00:20", "14:00:30"), 1);
    assert_eq!(unobserved("14:00:20", "end"), 0);
    assert_eq!(unobserved("14:00:05", "14:00:08"), 0);
    assert_eq!(unobserved("14:00:05", "rv:18"), 0);
}

#[test]
fn a_resource_that_vanished_is_not_covered_and_one_that_came_back_is_found() {
    let (timeline, (old, new)) = write(|path| {
        let mut script = Script::begin(path);
        let old = script.resource("widgets.example.io", "Widget", &[]);
        let stream = script.connect(old, None);
        script.synced(stream, 10);
        script.added(stream, A, 11, &pod(A, 11, "x"));
        script.wait(5000);
        script.deleted(stream, A, 12, &pod(A, 12, "x"));
        script.disconnect(stream, EndCause::Gone);
        script.not_covered("widgets.example.io", NotCoveredReason::Gone, "CRD deleted");
        script.wait(5000);
        let new = script.resource("widgets.example.io", "Widget", &[]);
        script.wait(1000);
        let stream = script.connect(new, None);
        script.synced(stream, 20);
        script.added(stream, B, 21, &pod(B, 21, "x"));
        script.wait(1000);
        script.finish();
        (old, new)
    });
    let named = timeline.resources().find("widgets").expect("recorded");
    for (moment, id, is_known) in [
        ("14:00:03", old, true),
        ("14:00:07", old, false),
        ("end", new, true),
        ("rv:11", old, true),
        ("rv:21", new, true),
    ] {
        let cut = timeline
            .resolve(moment.parse().expect("a moment"))
            .expect("a place");
        let resource = timeline.resource_at(named, cut);
        assert_eq!(resource.id, id, "{moment}");
        let certainty = timeline.certainty(resource.id, cut);
        assert_eq!(certainty.is_known(), is_known, "{moment}: {certainty:?}");
    }
    let certainty = at(&timeline, old, "14:00:07").certainty;
    let reason = NotCoveredReason::Gone;
    let detail = "CRD deleted".to_owned();
    assert_eq!(certainty, Certainty::NotCovered { reason, detail });
}

#[test]
fn what_came_back_is_not_known_before_it_is_listed_again() {
    let (timeline, widgets) = write(|path| {
        let mut script = Script::begin(path);
        let widgets = script.resource("widgets.example.io", "Widget", &[]);
        let stream = script.connect(widgets, None);
        script.synced(stream, 10);
        script.wait(5000);
        script.disconnect(stream, EndCause::Gone);
        script.not_covered("widgets.example.io", NotCoveredReason::Gone, "CRD deleted");
        script.wait(5000);
        let stream = script.connect(widgets, None);
        script.wait(1000);
        script.synced(stream, 20);
        script.wait(1000);
        script.finish();
        widgets
    });
    let unseen: Vec<_> = timeline.unobserved(widgets).collect();
    let [between] = unseen.as_slice() else {
        panic!("{unseen:?}");
    };
    assert_eq!(between.reason, UnobservedReason::NotListedYet);
    assert_eq!(between.to.micros_since(between.from), 6_000_000);
}

#[test]
fn what_is_equal_in_two_histories_proves_nothing_across() {
    let (timeline, (widgets, begin)) = write(|path| {
        let mut script = Script::begin(path);
        let widgets = script.resource("widgets.example.io", "Widget", &[]);
        let stream = script.connect(widgets, None);
        script.synced(stream, 10);
        script.wait(5000);
        script.disconnect(stream, EndCause::Unreachable);
        script.wait(1000);
        let begin = script.now();
        script.note(Note::Cluster {
            epoch: EpochId(1),
            uid: "another".to_owned(),
            version: "v1.36.3".to_owned(),
        });
        script.wait(1000);
        let stream = script.connect(widgets, None);
        script.synced(stream, 10);
        script.gap(widgets, 10, 10, begin);
        script.wait(1000);
        script.finish();
        (widgets, begin)
    });
    let coverage = timeline.coverage(widgets).expect("recorded");
    let spans: Vec<_> = coverage.spans().iter().map(|span| &span.covered).collect();
    let [before, after] = spans.as_slice() else {
        panic!("{spans:?}");
    };
    assert!(
        before.to_time < begin && begin < after.from_time,
        "{spans:?}"
    );
}

#[test]
fn a_time_of_day_that_comes_twice_is_refused() {
    let (timeline, _, ()) = life(|script, _| {
        script.wait(30 * 3600 * 1000);
    });
    let resolve = |text: &str| timeline.resolve(text.parse().expect("a moment"));
    assert!(resolve("14:30").is_err_and(|error| error.to_string().contains("2 times")));
    // Once only: 21:00 on the first day, 13:00 on the second.
    for (text, hours) in [("21:00", 7), ("13:00", 23)] {
        let wall = RecordedAt::from_micros(START_MICROS + hours * 3_600_000_000);
        let Ok(Cut::Arrival { wall: found, .. }) = resolve(text) else {
            panic!("{text} has no place");
        };
        assert_eq!(found, wall, "{text}");
    }
    let expected = "2026-11-21T14:00:00.000Z";
    assert_eq!(timeline.written(timeline.start()), expected);
}

#[test]
fn what_is_printed_can_be_pasted() {
    let (timeline, _, ()) = life(|_, _| ());
    for entry in timeline.reel().notes() {
        let wall = entry.stamp.wall;
        let moment: Moment = timeline.written(wall).parse().expect("pasted");
        let Ok(Cut::Arrival { wall: found, .. }) = timeline.resolve(moment) else {
            panic!("no place");
        };
        assert_eq!(found, wall);
    }
}

#[test]
fn a_clock_that_was_set_back_makes_no_guess() {
    let (timeline, stream, ()) = life(|script, stream| {
        // 14:00:07, and 14:00:04 from here on.
        script.set_back(3000);
        script.note(Note::ClockStepped { micros: -3_000_000 });
        script.wait(500);
        script.modified(stream, A, 18, &pod(A, 18, "z"));
        script.wait(20_000);
        script.modified(stream, A, 20, &pod(A, 20, "w"));
    });
    let resolve = |moment: &str| {
        let moment: Moment = moment.parse().expect("a moment");
        timeline.resolve(moment)
    };
    for twice in ["14:00:04.500Z", "14:00:06Z"] {
        let error = resolve(twice).expect_err(twice).to_string();
        assert!(
            error.contains("set back") && error.contains("2 times"),
            "{error}"
        );
    }
    // What passed once has its place, though later records have earlier times.
    let state = at(&timeline, stream.resource, "14:00:03Z");
    assert_eq!(names(&state), ["web-2/b", "web/a"]);
    let state = at(&timeline, stream.resource, "14:00:10Z");
    let versions = state
        .objects
        .iter()
        .map(|held| timeline.reel().rv_of(held.seq));
    assert_eq!(versions.collect::<Vec<_>>(), [Some(18)]);
    assert!(!timeline.reaches_outside(Some(resolve("14:00:10Z").expect("a place")), None));
}

#[test]
fn a_time_at_which_the_clock_was_set_back_has_the_state_of_the_old_clock() {
    // 14:00:07 when the clock is set to 13:00:07; the recorder notices it after a change.
    let (timeline, stream, ()) = life(|script, stream| {
        script.wait(800);
        script.set_back(3_600_000);
        script.modified(stream, A, 18, &pod(A, 18, "z"));
        script.wait(700);
        script.note(Note::ClockStepped {
            micros: -3_600_000_000,
        });
        script.wait(500);
        script.modified(stream, A, 20, &pod(A, 20, "w"));
    });
    let resolve = |moment: &str| {
        let moment: Moment = moment.parse().expect("a moment");
        timeline.resolve(moment)
    };
    let rv_at = |moment: &str| {
        let state = at(&timeline, stream.resource, moment);
        let versions = state.objects.iter();
        versions
            .map(|held| timeline.reel().rv_of(held.seq))
            .collect::<Vec<_>>()
    };
    // Nothing was received in the last 0.8 s of the old clock.
    assert_eq!(rv_at("14:00:07.500Z"), rv_at("14:00:07Z"));
    assert_eq!(rv_at("13:00:08Z"), [Some(18)]);
    assert_eq!(rv_at("13:00:09Z"), [Some(20)]);
    // Neither clock showed these.
    for never in ["14:00:09Z", "13:30:00Z"] {
        let error = resolve(never).expect_err(never).to_string();
        assert!(error.contains("at no record"), "{never}: {error}");
    }
}

#[test]
fn a_state_across_a_clock_that_was_set_back_lasts_as_long_as_it_did() {
    let (timeline, stream, ()) = life(|script, stream| {
        script.wait(1000);
        script.set_back(3_600_000);
        script.note(Note::ClockStepped {
            micros: -3_600_000_000,
        });
        script.wait(1000);
        script.modified(stream, A, 18, &pod(A, 18, "z"));
        script.wait(4000);
    });
    let resource = timeline.resources().get(stream.resource).expect("pods");
    let history = timeline.history(HistoryQuestion {
        resource,
        namespace: A.namespace,
        name: A.name,
        scope: ComparisonScope::default(),
        from: None,
        to: None,
    });
    let lasted = history.filter_map(|item| match item {
        HistoryItem::Version(version) => version.held.map(|held| held.micros / 1_000_000),
        _ => None,
    });
    assert_eq!(lasted.collect::<Vec<_>>(), [4, 4, 4]);
}

#[test]
fn a_session_that_begins_before_the_end_of_the_last_one_is_another_time() {
    let (timeline, stream) = write(|path| {
        let mut script = Script::begin(path);
        let stream = small_life(&mut script);
        script.set_back(3_600_000);
        let mut script = script.resume(path);
        script.wait(1000);
        script.modified(stream, A, 18, &pod(A, 18, "z"));
        script.set_back(-3_600_000);
        let mut script = script.resume(path);
        script.wait(1000);
        script.finish();
        stream
    });
    // Between the last two sessions lies an hour that the first one had.
    let before = at(&timeline, stream.resource, "14:00:05Z");
    let after = at(&timeline, stream.resource, "13:00:08Z");
    let version = |state: &ResourceSnapshot| timeline.reel().rv_of(state.objects.last()?.seq);
    assert_ne!(version(&before), Some(18));
    assert_eq!(version(&after), Some(18));
    assert_eq!(ReelSummary::of(&timeline).clock_steps, 1);
}

#[test]
fn a_watch_that_goes_on_after_a_refusal_misses_nothing() {
    for (is_continued, expected) in [(true, 0), (false, 1)] {
        let (timeline, stream, ()) = life(|script, stream| {
            script.disconnect(stream, EndCause::Cut);
            script.wait(1000);
            script.not_covered("pods", NotCoveredReason::Forbidden, "no");
            script.wait(10_000);
            script.announce(stream.resource, "pods", "Pod", &["po"]);
            if is_continued {
                let again = script.connect(stream.resource, Some(16));
                script.modified(again, A, 18, &pod(A, 18, "z"));
                script.wait(1000);
                script.bookmark(again, 20);
            }
        });
        let missing: Vec<_> = timeline.unobserved(stream.resource).collect();
        assert_eq!(missing.len().min(1), expected, "{missing:?}");
        let late = timeline.received_late(stream.resource).count();
        assert_eq!(late, 1 - expected);
    }
}

#[test]
fn a_watch_that_is_silent_in_an_outage_or_a_pause_proves_nothing() {
    for (has_changed, is_paused) in [(true, false), (false, false), (true, true), (false, true)] {
        let (timeline, stream, ()) = life(|script, stream| {
            script.wait(1000);
            if is_paused {
                script.pause(10_000);
            } else {
                script.outage("https://a:6443", OutageClass::Timeout, 10_000);
            }
            script.wait(500);
            if has_changed {
                script.added(stream, B, 18, &pod(B, 18, "x"));
            }
            script.wait(500);
            script.bookmark(stream, 20);
        });
        let state = at(&timeline, stream.resource, "14:00:12Z");
        let expected = if is_paused {
            UnobservedReason::RecorderPaused
        } else {
            UnobservedReason::NoAnswer
        };
        let is_silent = matches!(
            &state.certainty,
            Certainty::Unobserved { reason, .. } if *reason == expected
        );
        assert_eq!(is_silent, has_changed, "{:?}", state.certainty);
        // The cluster has nothing to do with it.
        assert_eq!(timeline.outages().is_empty(), is_paused);
        assert_eq!(state.certainty.is_known(), !has_changed);
        for moment in ["14:00:07.5Z", "14:00:18.8Z"] {
            let certainty = at(&timeline, stream.resource, moment).certainty;
            assert!(certainty.is_known(), "{moment}: {certainty:?}");
        }
        assert!(timeline.is_fully_observed(stream.resource));
        assert_eq!(timeline.received_late(stream.resource).count(), 0);
    }
}

#[test]
fn a_recording_that_ends_in_an_outage_proves_nothing_at_its_end() {
    let (timeline, stream, ()) = life(|script, _| {
        script.wait(1000);
        script.begin_outage("https://a:6443", OutageClass::Timeout);
        script.wait(10_000);
    });
    for moment in ["14:00:17Z", "14:00:18Z"] {
        let certainty = at(&timeline, stream.resource, moment).certainty;
        assert!(!certainty.is_known(), "{moment}: {certainty:?}");
    }
}

#[test]
fn what_the_first_lists_show_is_looked_at_behind_all_of_them() {
    let (timeline, (others, first, later)) = write(|path| {
        let mut script = Script::begin(path);
        let pods = script.resource("pods", "Pod", &["po"]);
        let others = script.resource("configmaps", "ConfigMap", &["cm"]);
        let slow = script.resource("secrets", "Secret", &[]);
        script.wait(1000);
        let (stream, beside) = (script.connect(pods, None), script.connect(others, None));
        let first = script.initial(stream, A, 9, &pod(A, 9, "x"));
        let later = script.initial(stream, B, 8, &pod(B, 8, "x"));
        script.synced(stream, 10);
        script.wait(20);
        script.modified(stream, B, 12, &pod(B, 12, "y"));
        script.synced(beside, 12);
        script.wait(60_000);
        let last = script.connect(slow, None);
        script.synced(last, 12);
        script.finish();
        (others, first, later)
    });
    let shown = timeline.shown_by(first);
    let state = timeline.as_of(others, shown, &ObjectFilter::default());
    assert!(
        matches!(state.certainty, Certainty::Known { .. }),
        "{state:?}"
    );
    let end = timeline.resolve("end".parse().expect("a moment"));
    assert_ne!(end, Ok(shown), "a list that was delayed is not waited for");
    // The state that a record shows is not that of the object's next change.
    assert!(timeline.is_within(later, timeline.shown_by(later)));
    let next = timeline.reel().object_of(later).and_then(|object| {
        let versions = timeline.reel().versions(object);
        versions.get(1).copied()
    });
    let next = next.expect("a second version");
    assert!(!timeline.is_within(next, timeline.shown_by(later)));
    // A change is looked at behind its own record.
    let behind = Moment::Record(next);
    assert_eq!(timeline.resolve(behind), Ok(timeline.shown_by(next)));
}
