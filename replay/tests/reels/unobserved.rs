//! The times in which changes may be missing: gaps and late lists, but no reconnects.

use crate::script::{Script, Thing, pod, thing};
use kubereel_format::{EndCause, GapCause, NotCoveredReason, OddLineProblem, RecordedAt};
use kubereel_replay::{Timeline, UnobservedReason, UnobservedSpan};

const A: Thing<'static> = Thing {
    namespace: "default",
    name: "a",
    uid: "u",
};

fn unseen(story: impl FnOnce(&mut Script)) -> (Timeline, Vec<UnobservedSpan>) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.reel");
    let mut script = Script::begin(&path);
    story(&mut script);
    script.finish();
    let timeline = Timeline::open(&path).expect("a reel");
    let pods = timeline.resources().find("pods").expect("pods").id;
    let unseen = timeline.unobserved(pods);
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
    let cause = GapCause::Expired;
    assert_eq!(gap.reason, UnobservedReason::Gap { cause });
    assert_eq!(
        (secs(&timeline, gap.from), secs(&timeline, gap.to)),
        (50, 55)
    );
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
        let pods = script.resource("pods", "Pod", &[]);
        let stream = script.connect(pods, None);
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
        let pods = script.resource("pods", "Pod", &[]);
        let stream = script.connect(pods, None);
        script.synced(stream, 5);
        script.wait(7000);
        script.disconnect(stream, EndCause::Clean);
        script.wait(3000);
    });
    assert_eq!(after.len(), 1, "{after:?}");
    assert_eq!(after[0].reason, UnobservedReason::WatchEnded);
    // The one that the recorder's own end cut is none.
    let (_, after) = unseen(|script| {
        let pods = script.resource("pods", "Pod", &[]);
        let stream = script.connect(pods, None);
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
            assert_eq!(unread.reason, UnobservedReason::Unparsed { problem });
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
        let nodes = script.resource("nodes", "Node", &[]);
        let stream = script.connect(nodes, None);
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
    assert_eq!(hanging.reason, UnobservedReason::WatchEnded);
}

#[test]
fn a_life_without_a_begin_and_a_name_without_an_end_prove_a_loss() {
    let next = Thing { uid: "v", ..A };
    let other = thing("default", "b", "w");
    let play = |story: fn(&mut Script, crate::script::Stream, Thing<'_>, Thing<'_>)| {
        unseen(|script| {
            let pods = script.resource("pods", "Pod", &[]);
            let stream = script.connect(pods, None);
            script.initial(stream, A, 5, &pod(A, 5, "x"));
            script.synced(stream, 5);
            script.wait(7_000);
            story(script, stream, next, other);
            script.wait(3_000);
        })
    };
    let lost = |is_deletion| UnobservedReason::LostChange { is_deletion };
    // An object changes, or goes, that nobody created: it came after the list.
    for is_deleted in [false, true] {
        let (timeline, unseen) = unseen(|script| {
            let pods = script.resource("pods", "Pod", &[]);
            let stream = script.connect(pods, None);
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
        assert_eq!(one.reason, lost(false));
        assert_eq!((secs(&timeline, one.from), secs(&timeline, one.to)), (1, 7));
    }
    // A name is taken again by another object, though its last holder never went.
    let (_, unseen) = play(|script, stream, next, _| {
        script.added(stream, next, 9, &pod(next, 9, "y"));
    });
    assert_eq!(unseen.len(), 1, "{unseen:?}");
    assert_eq!(unseen[0].reason, lost(true));
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
