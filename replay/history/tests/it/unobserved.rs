//! The times in which changes may be missing: gaps and late lists, but no reconnects.

use crate::script::{Script, Stream, Thing, pod, thing};
use kubereel_format::{
    EndCause, EventType, Evidence, GapCause, GapVerdict, NotCoveredReason, OddLineProblem,
    OutageClass, RecordedAt, ResourceId, Seq,
};
use kubereel_history::{
    Certainty, ComparisonScope, Cut, GapOutcome, HistoryItem, HistoryQuestion, ObjectFilter,
    RecordedGap, RecorderEnd, ReelSummary, ResourceProof, Timeline, UnobservedEffect,
    UnobservedReason, UnobservedSpan, WaitFor, WaitQuestion, WaitSpan,
};
use proptest::prelude::*;

const A: Thing<'static> = thing("default", "a", "u");

const B: Thing<'static> = thing("default", "b", "v");

fn unseen(story: impl FnOnce(&mut Script)) -> (Timeline, Vec<UnobservedSpan>) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.reel");
    let mut script = Script::begin(&path);
    story(&mut script);
    script.finish();
    let timeline = Timeline::open(&path).expect("a reel");
    let pods = timeline.resources().find("pods").expect("pods").id;
    let unseen = timeline.unobserved(pods).cloned().collect();
    (timeline, unseen)
}

fn secs(timeline: &Timeline, at: RecordedAt) -> i64 {
    at.micros_since(timeline.start()) / 1_000_000
}

#[test]
fn a_reconnect_hides_nothing_and_a_gap_does() {
    let (timeline, unseen) = unseen(|script| {
        let pods = script.resource("pods", "Pod", &[]);
        let stream = script.connect(pods, None);
        script.initial(stream, A, 5, &pod(A, 5, "x"));
        script.synced(stream, 10);
        script.wait(10_000);
        script.disconnect(stream, EndCause::Clean);
        script.wait(30_000);
        let stream = script.connect(pods, Some(10));
        script.modified(stream, A, 12, &pod(A, 12, "y"));
        script.wait(10_000);
        let from = script.now();
        script.disconnect(stream, EndCause::Expired);
        script.wait(5_000);
        let stream = script.connect(pods, None);
        script.gap(pods, 12, 30, from);
        script.synced(stream, 30);
        script.wait(10_000);
    });
    let [gap] = unseen.as_slice() else {
        panic!("{unseen:?}");
    };
    assert!(
        matches!(&gap.reason, UnobservedReason::Gap { gap } if gap.gap.cause == GapCause::Expired),
        "{gap:?}"
    );
    assert_eq!(
        (secs(&timeline, gap.from), secs(&timeline, gap.to)),
        (50, 55)
    );
}

/// Two pods are listed at the begin and watched for 20 s; the API is away for 8 s, and the watch cannot go on.
/// What happened meanwhile is read back, with a probe every two seconds while there is an API.
fn restarted(changed: Option<Thing<'static>>) -> Timeline {
    let (timeline, _) = unseen(|script| {
        script.probed(10, 5);
        let pods = script.resource("pods", "Pod", &[]);
        let stream = script.connect(pods, None);
        script.initial(stream, A, 5, &pod(A, 5, "x"));
        script.initial(stream, B, 6, &pod(B, 6, "x"));
        script.synced(stream, 10);
        let listed = script.now();
        for _ in 0..10 {
            script.wait(2_000);
            script.probed(10, 5);
        }
        script.wait(1_000);
        script.disconnect(stream, EndCause::Cut);
        script.wait(8_000);
        script.probed(12, 5);
        let again = script.connect(pods, Some(10));
        script.disconnect(again, EndCause::Expired);
        script.wait(2_000);
        let stream = script.connect(pods, None);
        if let Some(thing) = changed {
            let back = Evidence::Reconstructed;
            script.event(
                stream,
                EventType::Modified,
                back,
                thing,
                12,
                &pod(thing, 12, "y"),
            );
        }
        script.gap(pods, 10, 12, listed);
        script.judged(GapVerdict::Reconstructed, None);
        script.synced(stream, 12);
        script.wait(2_000);
        script.probed(12, 5);
        script.modified(stream, B, 13, &pod(B, 13, "z"));
        script.wait(10_000);
    });
    timeline
}

#[test]
fn a_gap_that_was_read_back_hides_only_objects_that_changed_in_it() {
    let certainty = |timeline: &Timeline, secs: i64, names: &[String]| {
        let pods = timeline.resources().find("pods").expect("pods").id;
        let wall = RecordedAt::from_micros(timeline.start().micros + secs * 1_000_000 + 500_000);
        let below = timeline.reel().seq_after(wall);
        let one = ObjectFilter {
            namespace: None,
            names,
        };
        timeline.certainty_of(pods, Cut::Arrival { below, wall }, &one)
    };
    let (a, b) = (["a".to_owned()], ["b".to_owned()]);
    let quiet = restarted(None);
    assert!(quiet.is_fully_observed(quiet.resources().find("pods").expect("pods").id));
    for secs in 0..40 {
        let all = certainty(&quiet, secs, &[]);
        assert!(all.is_proven(), "{secs}: {all:?}");
        let is_read_back = matches!(all, Certainty::ReadBack { .. });
        assert_eq!(is_read_back, (21..31).contains(&secs), "{secs}: {all:?}");
    }
    let changed = restarted(Some(A));
    for secs in 0..40 {
        // Not committed yet when the API was asked last; received with the list.
        let is_hidden = (20..31).contains(&secs);
        let known = |names: &[String]| certainty(&changed, secs, names).is_proven();
        assert_eq!(known(&[]), !is_hidden, "{secs}");
        assert_eq!(known(&a), !is_hidden, "{secs}");
        assert!(known(&b), "{secs}");
    }
}

#[test]
fn a_gap_that_was_read_back_stays_known_when_a_later_watch_ends() {
    let (timeline, _) = unseen(|script| {
        let pods = script.resource("pods", "Pod", &[]);
        let stream = script.connect(pods, None);
        script.initial(stream, A, 5, &pod(A, 5, "x"));
        script.synced(stream, 10);
        let listed = script.now();
        script.wait(9_000);
        script.disconnect(stream, EndCause::Clean);
        let again = script.connect(pods, Some(10));
        script.disconnect(again, EndCause::Expired);
        script.wait(3_000);
        let stream = script.connect(pods, None);
        script.gap(pods, 10, 12, listed);
        script.judged(GapVerdict::Reconstructed, None);
        script.synced(stream, 12);
        script.wait(10_000);
        script.bookmark(stream, 12);
        script.disconnect(stream, EndCause::Gone);
        script.wait(3_000);
        script.not_covered("pods", NotCoveredReason::Gone, "");
        script.wait(3_000);
    });
    let pods = timeline.resources().find("pods").expect("pods").id;
    for (moment, is_read_back) in [("+8s", false), ("+11s", true), ("+13s", false)] {
        let cut = timeline.resolve(moment.parse().expect("a moment"));
        let certainty = timeline.certainty(pods, cut.expect("a cut"));
        assert!(certainty.is_proven(), "{moment}: {certainty:?}");
        let is_back = matches!(certainty, Certainty::ReadBack { .. });
        assert_eq!(is_back, is_read_back, "{moment}: {certainty:?}");
    }
}

/// Three pods are listed; history is lost for a minute, with or without a kill, and the next list shows that `a` is
/// the same, `b` changed, and `c` is gone.
fn lost(cause: GapCause) -> Timeline {
    const C: Thing<'static> = thing("default", "c", "w");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.reel");
    let mut script = Script::begin(&path);
    let pods = script.resource("pods", "Pod", &[]);
    let mut stream = script.connect(pods, None);
    for (thing, rv) in [(A, 5), (B, 6), (C, 7)] {
        script.initial(stream, thing, rv, &pod(thing, rv, "x"));
    }
    script.synced(stream, 10);
    let last = script.now();
    script.wait(10_000);
    script.probed(10, 5);
    if cause == GapCause::RecorderStopped {
        script.wait(60_000);
        script = script.resume(&path);
        stream = script.connect(pods, Some(10));
    }
    script.disconnect(stream, EndCause::Expired);
    script.wait(5_000);
    let stream = script.connect(pods, None);
    let listed = Evidence::Listed;
    script.event(stream, EventType::Modified, listed, B, 20, &pod(B, 20, "y"));
    let gone = Evidence::Inferred;
    script.event(stream, EventType::Deleted, gone, C, 30, &pod(C, 7, "x"));
    script.gap_after(cause, pods, (10, 30), last);
    script.synced(stream, 30);
    script.wait(10_000);
    script.modified(stream, A, 31, &pod(A, 31, "z"));
    script.wait(1_000);
    script.finish();
    Timeline::open(&path).expect("a reel")
}

#[test]
fn an_object_with_the_same_version_on_both_sides_of_a_gap_did_not_change_in_it() {
    for cause in [
        GapCause::Expired,
        GapCause::RecorderStopped,
        GapCause::NewEpoch,
    ] {
        let timeline = lost(cause);
        let info = timeline.resources().find("pods").expect("pods");
        let moment = if cause == GapCause::RecorderStopped {
            "+72s"
        } else {
            "+12s"
        };
        let cut = timeline.resolve(moment.parse().expect("a moment"));
        let cut = cut.expect("a cut");
        let certainty = |namespace: Option<&str>, names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            let names = &names;
            timeline.certainty_of(info.id, cut, &ObjectFilter { namespace, names })
        };
        let own = certainty(Some("default"), &["a"]);
        let is_same = cause != GapCause::NewEpoch;
        assert_eq!(own.is_known(), is_same, "{cause:?}: {own:?}");
        for names in [&["b"][..], &["c"], &["none"], &["a", "b"], &[]] {
            let other = certainty(Some("default"), names);
            assert!(!other.is_known(), "{cause:?}: {names:?}: {other:?}");
        }
        assert!(!certainty(None, &["a"]).is_known(), "of another namespace");
        assert!(!certainty(Some("other"), &["a"]).is_known());
        let question = |name| HistoryQuestion {
            resource: info,
            namespace: "default",
            name,
            scope: ComparisonScope::default(),
            from: None,
            to: None,
        };
        assert_eq!(
            timeline.history(question("a")).gaps(),
            usize::from(!is_same)
        );
        assert_eq!(timeline.history(question("b")).gaps(), 1);
        // Between its two versions, no other one can be missing.
        let a = timeline.lives(info.id, "default", "a").remove(0).object;
        let last = timeline.reel().versions(a)[1];
        let is_missing = timeline.may_miss_changes(last, timeline.start(), timeline.end());
        assert_eq!(is_missing, !is_same);
        assert_eq!(timeline.unseen_before(last), None);
    }
}

#[test]
fn a_watch_that_was_silent_in_an_outage_does_not_bound_a_gap() {
    let (timeline, unseen) = unseen(|script| {
        let pods = script.resource("pods", "Pod", &[]);
        let stream = script.connect(pods, None);
        script.synced(stream, 10);
        let listed = script.now();
        script.wait(9_000);
        script.outage("https://a:6443", OutageClass::Connect, 4_000);
        script.wait(2_000);
        script.disconnect(stream, EndCause::Cut);
        script.wait(1_000);
        let again = script.connect(pods, Some(10));
        script.disconnect(again, EndCause::Expired);
        let stream = script.connect(pods, None);
        script.gap(pods, 10, 30, listed);
        script.synced(stream, 30);
        script.wait(10_000);
    });
    let [gap] = unseen.as_slice() else {
        panic!("{unseen:?}");
    };
    let span = (secs(&timeline, gap.from), secs(&timeline, gap.to));
    assert_eq!(span, (9, 16));
}

#[test]
fn a_late_list_a_lost_permission_and_a_watch_that_never_came_back_hide_changes() {
    let late = |secs: i64| {
        unseen(|script| {
            let nodes = script.resource("nodes", "Node", &[]);
            let pods = script.resource("pods", "Pod", &[]);
            let stream = script.connect(nodes, None);
            script.synced(stream, 4);
            script.wait(secs * 1000);
            let stream = script.connect(pods, None);
            script.synced(stream, 5);
            script.wait(1000);
        })
        .1
    };
    assert_eq!(late(59), []);
    assert_eq!(late(60).len(), 1);
    let (timeline, after) = unseen(|script| {
        let stream = script.watched("pods", "Pod", &[]);
        script.synced(stream, 5);
        script.wait(7000);
        script.not_covered("pods", NotCoveredReason::Forbidden, "no");
        script.wait(3000);
    });
    assert_eq!(after.len(), 1, "{after:?}");
    assert_eq!(secs(&timeline, after[0].from), 7);
    assert_eq!(after[0].to, timeline.end());
    assert_eq!(after[0].reason.to_string(), "not recorded: forbidden: no");
    let (_, after) = unseen(|script| {
        let stream = script.watched("pods", "Pod", &[]);
        script.synced(stream, 5);
        script.wait(7000);
        script.disconnect(stream, EndCause::Clean);
        script.wait(3000);
    });
    assert_eq!(after.len(), 1, "{after:?}");
    let recorder = RecorderEnd::InOrder;
    assert_eq!(after[0].reason, UnobservedReason::WatchEnded { recorder });
    // The one that the recorder's own end cut is none.
    let (_, after) = unseen(|script| {
        let stream = script.watched("pods", "Pod", &[]);
        script.added(stream, thing("n", "b", "v"), 5, b"{}");
        script.synced(stream, 5);
        script.wait(7000);
        script.disconnect(stream, EndCause::Stopped);
    });
    assert_eq!(after, []);
}

#[test]
fn a_line_that_is_no_event_hides_a_change_until_the_next_list() {
    let play = |problem: OddLineProblem, listed_again: bool| {
        unseen(|script| {
            let pods = script.resource("pods", "Pod", &[]);
            let stream = script.connect(pods, None);
            script.initial(stream, A, 5, &pod(A, 5, "x"));
            script.synced(stream, 5);
            script.wait(7_000);
            script.odd_line(stream, problem, b"{\"type\":\"PATCHED\"}");
            script.wait(3_000);
            script.modified(stream, A, 12, &pod(A, 12, "y"));
            if listed_again {
                let again = script.connect(pods, None);
                script.synced(again, 12);
            }
            script.wait(10_000);
        })
    };
    for problem in [
        OddLineProblem::UnknownType,
        OddLineProblem::TooLong,
        OddLineProblem::Unparsable,
    ] {
        for (listed_again, until) in [(true, 10), (false, 20)] {
            let (timeline, unseen) = play(problem, listed_again);
            let [unread] = unseen.as_slice() else {
                panic!("{unseen:?}");
            };
            let expected = UnobservedReason::Unparsed { problem, lines: 1 };
            assert_eq!(unread.reason, expected);
            let span = (secs(&timeline, unread.from), secs(&timeline, unread.to));
            assert_eq!(span, (7, until));
        }
    }
    assert_eq!(play(OddLineProblem::Truncated, false).1, []);
    // It is asked for again: what it told comes, or there is a gap.
    let (_, unseen) = unseen(|script| {
        let pods = script.resource("pods", "Pod", &[]);
        let stream = script.connect(pods, None);
        script.synced(stream, 5);
        script.odd_line(stream, OddLineProblem::Unparsable, b"{\"type\":");
        script.disconnect(stream, EndCause::Unreadable);
        let stream = script.connect(pods, Some(5));
        script.added(stream, A, 12, &pod(A, 12, "y"));
        script.wait(1_000);
    });
    assert_eq!(unseen, []);
}

#[test]
fn an_unparsed_object_makes_the_state_unknown_until_a_list_in_which_all_were_parsed() {
    let (timeline, _) = unseen(|script| {
        let pods = script.resource("pods", "Pod", &[]);
        let stream = script.connect(pods, None);
        script.initial(stream, A, 5, &pod(A, 5, "x"));
        script.synced(stream, 5);
        script.wait(10_000);
        script.odd_line(stream, OddLineProblem::Unparsable, b"\xff");
        script.modified(stream, A, 12, &pod(A, 12, "y"));
        script.wait(10_000);
        // An item of this list is not parsed: it does not tell the state either.
        let again = script.connect(pods, None);
        script.odd_line(again, OddLineProblem::TooLong, b"{}");
        script.synced(again, 20);
        script.wait(10_000);
        let whole = script.connect(pods, None);
        script.synced(whole, 30);
        script.wait(10_000);
    });
    let pods = timeline.resources().find("pods").expect("pods").id;
    let is_known = |moment: &str| {
        let moment = moment.parse().expect("a moment");
        let cut = timeline.resolve(moment).expect("a cut");
        timeline.certainty(pods, cut).is_known()
    };
    let at = ["+9s", "+11s", "+21s", "+29s", "+31s"].map(is_known);
    assert_eq!(at, [true, false, false, false, true]);
    let revisions = ["rv:5", "rv:6", "rv:12", "rv:29", "rv:30"].map(is_known);
    assert_eq!(revisions, [true, false, false, false, true]);
}

#[test]
fn what_was_announced_and_never_listed_is_not_observed() {
    let (timeline, never) = unseen(|script| {
        let stream = script.watched("nodes", "Node", &[]);
        script.synced(stream, 4);
        script.wait(2_000);
        script.resource("pods", "Pod", &[]);
        script.wait(3_000);
    });
    let [never] = never.as_slice() else {
        panic!("{never:?}");
    };
    assert_eq!(never.reason, UnobservedReason::NeverListed);
    let span = (secs(&timeline, never.from), secs(&timeline, never.to));
    assert_eq!(span, (2, 5));
    // A list that did not end tells nothing: neither the first, nor the next after a lost history.
    let (_, hanging) = unseen(|script| {
        let pods = script.resource("pods", "Pod", &[]);
        let stream = script.connect(pods, None);
        script.synced(stream, 4);
        script.disconnect(stream, EndCause::Expired);
        script.connect(pods, None);
    });
    let [hanging] = hanging.as_slice() else {
        panic!("{hanging:?}");
    };
    let recorder = RecorderEnd::InOrder;
    assert_eq!(hanging.reason, UnobservedReason::WatchEnded { recorder });
}

#[test]
fn a_life_without_a_begin_and_a_name_without_an_end_prove_a_loss() {
    let next = Thing { uid: "v", ..A };
    let other = thing("default", "b", "w");
    let play = |story: fn(&mut Script, Stream, Thing<'_>, Thing<'_>)| {
        unseen(|script| {
            let stream = script.watched("pods", "Pod", &[]);
            script.initial(stream, A, 5, &pod(A, 5, "x"));
            script.synced(stream, 5);
            script.wait(7_000);
            story(script, stream, next, other);
            script.wait(3_000);
        })
    };
    let lost = |one: &UnobservedSpan| match &one.reason {
        UnobservedReason::LostChange { lost } => Some((lost.name.clone(), lost.is_deletion)),
        _ => None,
    };
    // An object changes, or goes, that nobody created: it came after the list.
    for is_deleted in [false, true] {
        let (timeline, unseen) = unseen(|script| {
            let stream = script.watched("pods", "Pod", &[]);
            script.wait(1_000);
            script.synced(stream, 5);
            script.wait(6_000);
            let seen = if is_deleted {
                Script::deleted
            } else {
                Script::modified
            };
            seen(script, stream, other, 9, &pod(other, 9, "x"));
            script.wait(3_000);
        });
        let [one] = unseen.as_slice() else {
            panic!("{unseen:?}");
        };
        assert_eq!(lost(one), Some(("b".to_owned(), false)));
        assert_eq!((secs(&timeline, one.from), secs(&timeline, one.to)), (1, 7));
    }
    // A name is taken again by another object, though its last holder never went.
    let (_, unseen) = play(|script, stream, next, _| {
        script.added(stream, next, 9, &pod(next, 9, "y"));
    });
    assert_eq!(unseen.len(), 1, "{unseen:?}");
    assert_eq!(lost(&unseen[0]), Some(("a".to_owned(), true)));
    // What lives as it should proves nothing.
    let (_, unseen) = play(|script, stream, next, other| {
        script.modified(stream, A, 6, &pod(A, 6, "y"));
        script.deleted(stream, A, 7, &pod(A, 7, "y"));
        script.added(stream, next, 9, &pod(next, 9, "y"));
        script.added(stream, other, 10, &pod(other, 10, "y"));
        script.modified(stream, other, 11, &pod(other, 11, "z"));
        script.deleted(stream, other, 12, &pod(other, 12, "z"));
    });
    assert_eq!(unseen, []);
}

#[test]
fn a_lost_change_hides_the_state_of_its_name_at_the_revisions_in_which_it_lies() {
    let other = thing("default", "b", "w");
    let (timeline, _) = unseen(|script| {
        let stream = script.watched("pods", "Pod", &[]);
        script.initial(stream, A, 5, &pod(A, 5, "x"));
        script.synced(stream, 5);
        script.wait(7_000);
        script.modified(stream, other, 9, &pod(other, 9, "x"));
        script.wait(3_000);
    });
    let pods = timeline.resources().find("pods").expect("pods").id;
    let names = ["a".to_owned(), "b".to_owned()];
    let is_known = |names: &[String], rv: u128| {
        let namespace = Some("default");
        let filter = ObjectFilter { namespace, names };
        let cut = Cut::Revision(rv);
        timeline.certainty_of(pods, cut, &filter).is_known()
    };
    let known = |names: &[String]| [5, 6, 8, 9].map(|rv| is_known(names, rv));
    assert_eq!(known(&[]), [true, false, false, true]);
    assert_eq!(known(&names[1..]), [true, false, false, true]);
    assert_eq!(known(&names[..1]), [true; 4]);
}

/// The recorder ends, or is killed, 3 s after the last record of pods; a minute later the next one finds a gap, or
/// the watch goes on.
fn stopped(is_killed: bool, is_gap: bool) -> Timeline {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.reel");
    let mut script = Script::begin(&path);
    let pods = script.resource("pods", "Pod", &[]);
    let stream = script.connect(pods, None);
    script.initial(stream, A, 5, &pod(A, 5, "x"));
    script.synced(stream, 10);
    let last = script.now();
    script.wait(3_000);
    script.probed(10, 5);
    if !is_killed {
        script.disconnect(stream, EndCause::Stopped);
        script.end_session();
    }
    script.wait(60_000);
    let mut script = script.resume(&path);
    let stream = script.connect(pods, Some(10));
    if is_gap {
        script.disconnect(stream, EndCause::Expired);
        let stream = script.connect(pods, None);
        script.gap_after(GapCause::RecorderStopped, pods, (10, 30), last);
        script.synced(stream, 30);
    } else {
        script.modified(stream, A, 12, &pod(A, 12, "y"));
    }
    script.wait(10_000);
    script.finish();
    Timeline::open(&path).expect("a reel")
}

#[test]
fn after_a_kill_it_is_not_claimed_that_no_recorder_ran() {
    let told = |is_killed: bool, is_gap: bool| {
        let timeline = stopped(is_killed, is_gap);
        let pods = timeline.resources().find("pods").expect("pods").id;
        let mut spans = timeline.unobserved_spans(pods).iter();
        let span = spans
            .find(|span| span.reason != UnobservedReason::NotBegun)
            .expect("a span");
        assert_eq!(secs(&timeline, span.from), 3);
        assert_eq!(secs(&timeline, span.to), 63);
        if is_gap {
            let summary = ReelSummary::of(&timeline);
            let pods = summary.resources.iter().find(|one| one.resource == "pods");
            let cause = pods.map(|pods| pods.gaps[0].cause.as_str());
            assert_eq!(cause, span.open_gap().map(RecordedGap::cause));
        }
        let moment = "+30s".parse().expect("a moment");
        let cut = timeline.resolve(moment).expect("a cut");
        let recorder = match timeline.certainty(pods, cut) {
            Certainty::InsideGap { gap } => return (span.reason.to_string(), gap.cause()),
            Certainty::Blind { recorder, .. } => recorder,
            other => panic!("{other:?}"),
        };
        (span.reason.to_string(), recorder.no_watch())
    };
    let words = |reason: &str, certainty| (reason.to_owned(), certainty);
    assert_eq!(
        told(false, true),
        words("gap: no recorder ran", "no recorder ran")
    );
    let killed = "no recorder ran, or it was killed before it could write";
    assert_eq!(told(true, true), words(&format!("gap: {killed}"), killed));
    assert_eq!(told(false, false), words("no watch ran", "no watch ran"));
    let killed = "no watch ran, or the recorder was killed before it could write";
    assert_eq!(told(true, false), words(killed, killed));
}

/// What may happen to the recording of a resource.
#[derive(Clone, Debug)]
enum Step {
    Wait(i64),
    Event(u8, EventType),
    End(EndCause),
    /// A watch that goes on, or a list.
    Connect(bool),
    /// A list after a lost history, of which everything was read back or not.
    Gap {
        is_read_back: bool,
    },
    NotCovered(NotCoveredReason),
    Announced,
    OddLine(OddLineProblem),
    /// The recorder is killed and begins again.
    Killed(i64),
}

fn step() -> impl Strategy<Value = Step> {
    let kind = prop_oneof![
        Just(EventType::Added),
        Just(EventType::Modified),
        Just(EventType::Deleted)
    ];
    prop_oneof![
        6 => (0i64..4_000).prop_map(Step::Wait),
        1 => Just(Step::Wait(70_000)),
        6 => (0u8..3, kind).prop_map(|(name, kind)| Step::Event(name, kind)),
        2 => prop_oneof![Just(EndCause::Clean), Just(EndCause::Expired), Just(EndCause::Cut)]
            .prop_map(Step::End),
        3 => any::<bool>().prop_map(Step::Connect),
        1 => any::<bool>().prop_map(|is_read_back| Step::Gap { is_read_back }),
        1 => prop_oneof![Just(NotCoveredReason::Forbidden), Just(NotCoveredReason::Gone)]
            .prop_map(Step::NotCovered),
        1 => Just(Step::Announced),
        1 => prop_oneof![Just(OddLineProblem::TooLong), Just(OddLineProblem::UnknownType)]
            .prop_map(Step::OddLine),
        1 => (0i64..4_000).prop_map(Step::Killed),
    ]
}

/// A story, and moments at which nobody can know the state: nothing was listed, a line was not parsed, or
/// no watch had run for a second.
struct Story {
    timeline: Timeline,
    pods: ResourceId,
    unknown: Vec<RecordedAt>,
}

/// Plays the steps that can follow each other.
#[expect(clippy::too_many_lines, reason = "one arm a step")]
fn play(path: &std::path::Path, steps: &[Step]) -> Story {
    let mut script = Script::begin(path);
    let beside = script.watched("nodes", "Node", &[]);
    script.synced(beside, 1);
    let pods = script.resource("pods", "Pod", &[]);
    let mut stream: Option<Stream> = None;
    let mut is_listed = false;
    let mut rv = 10;
    let mut is_unparsed = false;
    let (mut last_data, mut listed, mut connected) = (script.now(), script.now(), script.now());
    let mut unwatched_since = None;
    let mut unknown = Vec::new();
    for step in steps {
        let now = script.now().micros;
        unwatched_since = stream.is_none().then(|| unwatched_since.unwrap_or(now));
        let is_long = unwatched_since.is_some_and(|since| now - since >= 1_002_000);
        if !is_listed || is_unparsed || is_long {
            unknown.push(RecordedAt::from_micros(now + 500));
        }
        // A watch that continues delivers what it has within five seconds.
        if stream.is_some() && !is_unparsed && now - connected.micros >= 5_000_000 {
            unknown.retain(|at| *at < listed);
        }
        script.wait(1);
        rv += 1;
        match (step, stream) {
            (Step::Wait(millis), _) => script.wait(*millis),
            (Step::Event(name, kind), Some(stream)) if is_listed => {
                let (name, uid) = (format!("n{name}"), format!("u{name}"));
                let thing = thing("x", &name, &uid);
                let body = pod(thing, rv, "x");
                script.event(stream, *kind, Evidence::Live, thing, rv, &body);
                last_data = script.now();
            }
            (Step::End(cause), Some(open)) => {
                script.disconnect(open, *cause);
                stream = None;
            }
            (Step::Connect(is_list), None) => {
                let is_list = *is_list || !is_listed;
                let opened = script.connect(pods, (!is_list).then_some(rv - 1));
                if is_list {
                    script.synced(opened, rv);
                    (last_data, listed) = (script.now(), script.now());
                    (is_listed, is_unparsed) = (true, false);
                }
                connected = script.now();
                stream = Some(opened);
            }
            (Step::Gap { is_read_back }, None) if is_listed => {
                script.wait(1_500);
                let opened = script.connect(pods, None);
                script.gap(pods, rv - 1, rv + 5, last_data);
                if *is_read_back {
                    script.judged(GapVerdict::Reconstructed, None);
                    unknown.retain(|at| *at < last_data);
                } else {
                    unknown.push(RecordedAt::from_micros(script.now().micros - 1));
                }
                rv += 5;
                script.synced(opened, rv);
                (last_data, listed, connected) = (script.now(), script.now(), script.now());
                is_unparsed = false;
                stream = Some(opened);
            }
            (Step::NotCovered(reason), open) => {
                if let Some(open) = open {
                    script.disconnect(open, EndCause::Clean);
                }
                script.not_covered("pods", *reason, "no");
                (stream, is_listed) = (None, false);
            }
            (Step::OddLine(problem), Some(stream)) => {
                script.odd_line(stream, *problem, b"{}");
                script.wait(1);
                is_unparsed = true;
            }
            (Step::Announced, None) if !is_listed => {
                script.announce(pods, "pods", "Pod", &[]);
            }
            (Step::Killed(millis), _) => {
                script.wait(*millis);
                script = script.resume(path);
                stream = None;
            }
            _ => {}
        }
    }
    script.wait(500);
    script.finish();
    Story {
        timeline: Timeline::open(path).expect("a reel"),
        pods,
        unknown,
    }
}

/// What may happen on an open watch before its recorder is killed.
#[derive(Clone, Copy, Debug)]
enum QuietStep {
    Event,
    Bookmark,
    Reconnect,
    Nothing,
}

/// Plays a watch whose recorder is killed, and the same with a next recorder that finds the history lost; returns both,
/// and until when nothing is known.
fn killed_and_resumed(steps: &[(i64, QuietStep)]) -> (Timeline, Timeline, RecordedAt) {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, copy) = (folder.path().join("a.reel"), folder.path().join("b.reel"));
    let mut script = Script::begin(&path);
    let pods = script.resource("pods", "Pod", &[]);
    let mut stream = script.connect(pods, None);
    script.synced(stream, 10);
    let (mut rv, mut last) = (10, script.now());
    for (millis, step) in steps {
        script.wait(200 + millis);
        match step {
            QuietStep::Event => {
                rv += 1;
                script.modified(stream, A, rv, &pod(A, rv, "x"));
                last = script.now();
            }
            QuietStep::Bookmark => {
                script.bookmark(stream, rv);
                last = script.now();
            }
            QuietStep::Reconnect => {
                script.disconnect(stream, EndCause::Clean);
                script.wait(100);
                stream = script.connect(pods, Some(rv));
            }
            QuietStep::Nothing => {
                script.probed(20, 5);
            }
        }
    }
    script.wait(200);
    script.probed(20, 5);
    script.commit();
    std::fs::copy(&path, &copy).expect("a copy");
    script.wait(60_000);
    let mut script = script.resume(&path);
    let again = script.connect(pods, Some(rv));
    script.disconnect(again, EndCause::Expired);
    script.wait(500);
    let stream = script.connect(pods, None);
    script.gap_after(GapCause::RecorderStopped, pods, (rv, rv + 20), last);
    script.synced(stream, rv + 20);
    let known_again = script.now();
    script.wait(2_000);
    script.finish();
    let open = |path| Timeline::open(path).expect("a reel");
    (open(&copy), open(&path), known_again)
}

fn quiet_step() -> impl Strategy<Value = (i64, QuietStep)> {
    let step = prop_oneof![
        Just(QuietStep::Event),
        Just(QuietStep::Bookmark),
        Just(QuietStep::Reconnect),
        Just(QuietStep::Nothing)
    ];
    (0i64..20_000, step)
}

fn is_in(span: &UnobservedSpan, at: RecordedAt) -> bool {
    span.from < at && (at < span.to || span.is_open())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]
    #[test]
    fn a_loss_after_a_kill_hides_nothing_that_was_known_before_the_kill(
        steps in proptest::collection::vec(quiet_step(), 0..8),
    ) {
        let (killed, resumed, known_again) = killed_and_resumed(&steps);
        let pods = killed.resources().find("pods").expect("pods").id;
        let certainty = |timeline: &Timeline, wall: RecordedAt| {
            let below = timeline.reel().seq_after(wall);
            timeline.certainty(pods, Cut::Arrival { below, wall })
        };
        let records = (0..killed.reel().end().0).map(Seq);
        let walls = records.filter_map(|seq| Some(killed.reel().stamp(seq)?.wall.micros));
        for at in walls.flat_map(|at| [at - 500, at, at + 500]) {
            let at = RecordedAt::from_micros(at);
            if (killed.start()..=killed.end()).contains(&at) {
                let (before, after) = (certainty(&killed, at), certainty(&resumed, at));
                prop_assert_eq!(before.is_known(), after.is_known(), "{:?}: {:?}", before, after);
            }
        }
        let unknown = [killed.end().micros + 1, known_again.micros - 1];
        for at in unknown.map(RecordedAt::from_micros) {
            prop_assert!(!certainty(&resumed, at).is_known(), "{at:?}");
        }
    }

    #[test]
    fn every_answer_about_what_was_observed_is_the_same(
        steps in proptest::collection::vec(step(), 1..50),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let story = play(&folder.path().join("test.reel"), &steps);
        let (timeline, pods) = (story.timeline, story.pods);
        let info = timeline.resources().get(pods).expect("pods").clone();
        let spans = timeline.unobserved_spans(pods);
        let may_miss: Vec<_> = timeline.unobserved(pods).collect();

        // The verdicts on the whole.
        let proof = ResourceProof::of(&timeline, &info);
        let is_listed = timeline.coverage(pods).is_some_and(|one| !one.spans().is_empty());
        prop_assert_eq!(proof.state.is_complete(), is_listed && may_miss.is_empty());
        let summary = ReelSummary::of(&timeline);
        let summed = summary.resources.iter().find(|one| one.resource == "pods").expect("pods");
        prop_assert_eq!(summed.whole, is_listed && may_miss.is_empty());

        // The state at a moment, and the wait that ends at once there.
        let names = ["n0".to_owned()];
        let one = ObjectFilter { namespace: Some("x"), names: &names };
        let goals: [WaitFor; 1] = ["jsonpath={.metadata.name}=none".parse().expect("a goal")];
        let created: [WaitFor; 1] = ["create".parse().expect("a goal")];
        let records = (0..timeline.reel().end().0).map(Seq);
        let walls = records.filter_map(|seq| Some(timeline.reel().stamp(seq)?.wall.micros));
        let moments: Vec<i64> = walls.flat_map(|at| [at - 500, at + 500]).collect();
        for at in moments.into_iter().map(RecordedAt::from_micros) {
            if at < timeline.start() || at > timeline.end() {
                continue;
            }
            let cut = Cut::Arrival { below: timeline.reel().seq_after(at), wall: at };
            let within: Vec<_> = spans.iter().filter(|span| is_in(span, at)).collect();
            let certainty = timeline.certainty(pods, cut);
            prop_assert_eq!(certainty.is_known(), within.is_empty(), "{:?}: {:?}", certainty, within);
            let own = timeline.certainty_of(pods, cut, &one);
            prop_assert!(own.is_known() || !certainty.is_known());
            prop_assert_eq!(&timeline.as_of(pods, cut, &one).certainty, &own);
            let span = WaitSpan::of(&timeline, pods, &goals, Some(cut), cut, Some(0));
            let waited = timeline.wait(&WaitQuestion {
                resource: &info,
                namespace: "x",
                name: "n0",
                goals: &goals,
                is_any: false,
                fail_on: &[],
                nth: 1,
                at_least_micros: 0,
                span,
            });
            let is_hidden = waited.verdict == kubereel_history::WaitVerdict::Unknown;
            prop_assert!(!is_hidden || !own.is_known(), "{:?}: {:?}", waited, own);
            // Nothing that was received reports an object that never was.
            let none = timeline.wait(&WaitQuestion {
                resource: &info,
                namespace: "x",
                name: "none",
                goals: &created,
                is_any: false,
                fail_on: &[],
                nth: 1,
                at_least_micros: 0,
                span,
            });
            let names = ["none".to_owned()];
            let one = ObjectFilter { namespace: Some("x"), names: &names };
            let own = timeline.certainty_of(pods, cut, &one);
            let is_hidden = none.verdict == kubereel_history::WaitVerdict::Unknown;
            prop_assert_eq!(is_hidden, !own.is_known(), "{:?}: {:?}", none, own);
        }

        for at in story.unknown {
            let cut = Cut::Arrival { below: timeline.reel().seq_after(at), wall: at };
            let certainty = timeline.certainty(pods, cut);
            prop_assert!(!certainty.is_known(), "{:?}: {:?}", at, certainty);
        }

        // By revision, a change that is proven to be lost, and a gap in which changes may be missing, hide the
        // states between their bounds; a gap that was read back hides none.
        for span in spans {
            let UnobservedReason::Gap { gap } = &span.reason else {
                continue;
            };
            let within = gap.gap.to_rv.parse::<u128>().expect("a number") - 1;
            let certainty = timeline.certainty(pods, Cut::Revision(within));
            match gap.outcome() {
                GapOutcome::MayMiss => prop_assert!(!certainty.is_known(), "{:?}", certainty),
                _ => prop_assert!(
                    !matches!(certainty, Certainty::InsideGap { .. }),
                    "{:?}", certainty
                ),
            }
        }

        // The history of an object names what may be missing from it, and nothing else.
        let history = timeline.history(HistoryQuestion {
            resource: &info,
            namespace: "x",
            name: "n0",
            scope: ComparisonScope::default(),
            from: None,
            to: None,
        });
        let mut named = Vec::new();
        for item in history {
            match item {
                HistoryItem::Gap(gap) => named.push(gap.from),
                HistoryItem::Unobserved(span) => named.push(span.from),
                _ => {}
            }
        }
        let concerned = may_miss.iter().filter(|span| timeline.concerns(span, &one));
        let expected: Vec<_> = concerned.map(|span| span.from).collect();
        prop_assert_eq!(named, expected);
        let lives = timeline.lives(pods, "x", "n0");
        let versions = lives.iter().flat_map(|life| timeline.reel().versions(life.object));
        let versions: Vec<Seq> = versions.copied().collect();
        for span in may_miss.iter().filter(|span| !timeline.concerns(span, &one)) {
            if matches!(&span.reason, UnobservedReason::LostChange { lost } if lost.name != "n0") {
                continue;
            }
            let mut at = versions.iter().map(|seq| timeline.wall_of(*seq));
            prop_assert!(at.all(|at| at <= span.from || at > span.to), "{span:?}");
            let last = versions.iter().filter(|seq| timeline.wall_of(**seq) <= span.from).max();
            let kind = last.and_then(|seq| timeline.reel().kind_of(*seq));
            prop_assert!(kind.is_some_and(|kind| kind != EventType::Deleted), "{span:?}");
        }
        for span in spans {
            let is_late = span.reason.effect() == UnobservedEffect::Late;
            let is_closed_gap = match &span.reason {
                UnobservedReason::Gap { gap } => gap.outcome() != GapOutcome::MayMiss,
                _ => false,
            };
            let is_resumed = matches!(span.reason, UnobservedReason::NoWatch { .. });
            prop_assert_eq!(is_late, is_resumed || is_closed_gap);
        }
    }
}
