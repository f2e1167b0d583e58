//! Tests of the stream, event by event: the next request and the entries after each response.

use super::*;
use crate::known::KnownObject;
use crate::watch::state::machine::{ListPage, ServerRefusal};
use crate::watch::state::review::GapReview;
use crate::wire::ObjectHead;
use kubereel_format::{EndCause, EventType, Evidence, ListMethod};

pub(in crate::watch::state) const CACHED: ServerTraits = ServerTraits {
    is_cached: true,
    can_watch_list: true,
};
pub(in crate::watch::state) const EVENTS: ServerTraits = ServerTraits {
    is_cached: false,
    can_watch_list: false,
};

pub(in crate::watch::state) fn at(micros: u64) -> Stamp {
    Stamp::from_micros(i64::try_from(micros).expect("small"), micros)
}

pub(in crate::watch::state) fn head<'a>(
    name: &'a str,
    uid: &'a str,
    version: &'a str,
) -> ObjectHead<'a> {
    ObjectHead {
        namespace: "ns".into(),
        name: name.into(),
        uid: uid.into(),
        version: version.into(),
    }
}

pub(in crate::watch::state) fn refusal(code: u16, others_may_know: bool) -> ServerRefusal<'static> {
    ServerRefusal {
        code,
        retry_after_secs: None,
        message: "",
        others_may_know,
    }
}

/// A stream that has listed `a` at 5 and is complete as of 10.
pub(in crate::watch::state) fn synced(traits: ServerTraits) -> WatchState {
    let mut out = Vec::new();
    let mut stream = WatchState::new(traits, ResumeState::default(), WatchOrigin::Fresh, 1);
    assert!(!matches!(
        stream.step(at(0).elapsed),
        WatchStep::Watch { .. }
    ));
    stream.answered(at(0).elapsed, 300, &mut out);
    stream.item(&head("a", "ua", "5"), at(1), &mut out);
    stream.finish_list(ResourceVersion::Number(10), at(2), &mut out);
    assert!(stream.is_synced());
    stream
}

fn watch_from(stream: &mut WatchState, now: u64) -> String {
    match stream.step(at(now).elapsed) {
        WatchStep::Watch { from, .. } => from.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_position_waits_for_the_end_of_the_initial_objects() {
    let mut out = Vec::new();
    let mut stream = WatchState::new(CACHED, ResumeState::default(), WatchOrigin::Fresh, 1);
    assert!(matches!(
        stream.step(at(0).elapsed),
        WatchStep::WatchList { .. }
    ));
    stream.answered(at(0).elapsed, 300, &mut out);
    stream.event(EventType::Added, &head("a", "ua", "900"), at(1), &mut out);
    stream.bookmark("900", false, at(2), &mut out);
    assert_eq!(stream.position(), None);
    stream.event(
        EventType::Modified,
        &head("a", "ua", "950"),
        at(3),
        &mut out,
    );
    assert_eq!(stream.position(), None);
    stream.bookmark("950", true, at(4), &mut out);
    assert_eq!(
        out,
        [
            WatchOutput::Write {
                kind: EventType::Added,
                evidence: Evidence::Initial,
                uid: None
            },
            WatchOutput::Write {
                kind: EventType::Modified,
                evidence: Evidence::Live,
                uid: None
            },
            WatchOutput::Synced {
                version: "950".into(),
                method: ListMethod::WatchList,
                objects: 1
            },
        ]
    );
}

#[test]
fn an_end_in_order_goes_on_at_once_and_a_cut_soon() {
    let mut stream = synced(CACHED);
    let mut out = Vec::new();
    stream.event(EventType::Modified, &head("a", "ua", "11"), at(3), &mut out);
    stream.ended(EndCause::Clean, at(300_000_000).elapsed);
    assert_eq!(watch_from(&mut stream, 300_000_000), "11");
    stream.answered(at(300_000_000).elapsed, 300, &mut out);
    stream.ended(EndCause::Cut, at(303_000_000).elapsed);
    match stream.step(at(303_000_000).elapsed) {
        WatchStep::Watch { timeout_secs, .. } => {
            assert_eq!(timeout_secs, 3, "to get a bookmark soon");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_lost_history_is_given_up_within_two_seconds() {
    let mut stream = synced(CACHED);
    let mut out = Vec::new();
    let mut now = 10_000_000;
    let mut tries = 0;
    stream.ended(EndCause::Cut, at(now).elapsed);
    loop {
        match stream.step(at(now).elapsed) {
            WatchStep::Wait { micros } => now += micros,
            WatchStep::Watch { .. } => {
                tries += 1;
                now += 5_000;
                stream.answered(at(now).elapsed, 300, &mut out);
                stream.refused(refusal(410, false), at(now).elapsed, &mut out);
            }
            WatchStep::WatchList { .. } => break,
            other @ WatchStep::Page { .. } => panic!("{other:?}"),
        }
    }
    assert!((4..=40).contains(&tries), "{tries}");
    assert!(now < 12_000_000, "{now}");
    out.clear();
    stream.answered(at(now).elapsed, 300, &mut out);
    stream.item(&head("a", "ua", "12"), at(now), &mut out);
    stream.item(&head("b", "ub", "14"), at(now), &mut out);
    stream.bookmark("20", true, at(now), &mut out);
    let review = out.iter().find_map(|out| match out {
        WatchOutput::Gap {
            review: Some(GapReview::Names(names)),
            ..
        } => Some(names.clone()),
        _ => None,
    });
    let review = review.expect("it can be read back");
    let names: Vec<(&str, Option<u128>, Option<u128>)> = review
        .iter()
        .map(|one| {
            let number = |known: &Option<KnownObject>| {
                known
                    .as_ref()
                    .and_then(|known| known.version.as_ref()?.number())
            };
            (&*one.name, number(&one.before), number(&one.after))
        })
        .collect();
    assert_eq!(names, [("a", Some(5), Some(12)), ("b", None, Some(14))]);
    assert!(out.contains(&WatchOutput::Gap {
        from: Some("10".into()),
        to: "20".into(),
        from_time: at(2).wall,
        to_time: at(now).wall,
        cause: GapCause::Expired,
        missing_at_most: Some(8),
        differences: 2,
        review: Some(GapReview::Names(review)),
    }));
}

#[test]
fn history_that_others_may_know_is_asked_for_longer() {
    let mut stream = synced(CACHED);
    let mut out = Vec::new();
    let mut now = 10_000_000;
    stream.ended(EndCause::Cut, at(now).elapsed);
    for _ in 0..23 {
        while let WatchStep::Wait { micros } = stream.step(at(now).elapsed) {
            now += micros;
        }
        assert_eq!(watch_from(&mut stream, now), "10");
        stream.answered(at(now).elapsed, 300, &mut out);
        stream.refused(refusal(410, true), at(now).elapsed, &mut out);
    }
    while let WatchStep::Wait { micros } = stream.step(at(now).elapsed) {
        now += micros;
    }
    stream.answered(at(now).elapsed, 300, &mut out);
    stream.event(
        EventType::Modified,
        &head("a", "ua", "11"),
        at(now),
        &mut out,
    );
    assert!(out.contains(&WatchOutput::HistoryFound { tries: 23 }));
    assert!(!out.iter().any(|out| matches!(out, WatchOutput::Gap { .. })));
}

#[test]
fn a_cut_inside_a_bulk_of_deletions_loses_none_of_them() {
    let mut stream = synced(EVENTS);
    let mut out = Vec::new();
    for name in ["b", "c"] {
        stream.event(EventType::Added, &head(name, name, "11"), at(3), &mut out);
    }
    stream.event(EventType::Deleted, &head("b", "b", "12"), at(4), &mut out);
    stream.ended(EndCause::Cut, at(5_000_000).elapsed);
    assert_eq!(watch_from(&mut stream, 5_000_000), "11");
    out.clear();
    stream.answered(at(5_000_000).elapsed, 300, &mut out);
    stream.event(
        EventType::Deleted,
        &head("b", "b", "12"),
        at(6_000_000),
        &mut out,
    );
    assert_eq!(out, [], "it is recorded already");
    stream.event(
        EventType::Deleted,
        &head("c", "c", "12"),
        at(6_000_000),
        &mut out,
    );
    assert_eq!(out.len(), 1);
    stream.ended(EndCause::Cut, at(9_000_000).elapsed);
    assert_eq!(watch_from(&mut stream, 9_000_000), "11");
    stream.event(
        EventType::Added,
        &head("d", "d", "13"),
        at(9_100_000),
        &mut out,
    );
    stream.ended(EndCause::Cut, at(9_200_000).elapsed);
    assert_eq!(
        stream.position().expect("one").version,
        ResourceVersion::Number(13)
    );
}

#[test]
fn a_new_uid_under_an_old_name_is_another_object() {
    let mut stream = synced(CACHED);
    let mut out = Vec::new();
    stream.event(EventType::Added, &head("a", "other", "12"), at(3), &mut out);
    assert!(matches!(&out[0], WatchOutput::Infer { object, .. } if object.uid.text() == "ua"));
    assert_eq!(out.len(), 2);
}

#[test]
fn odd_versions_are_kept_and_marked() {
    let mut stream = synced(CACHED);
    let mut out = Vec::new();
    stream.event(EventType::Modified, &head("a", "ua", "12"), at(3), &mut out);
    stream.event(EventType::Added, &head("b", "ub", "11"), at(4), &mut out);
    stream.event(EventType::Deleted, &head("b", "", ""), at(5), &mut out);
    stream.bookmark("", false, at(6), &mut out);
    let kinds: Vec<_> = out
        .iter()
        .map(|out| match out {
            WatchOutput::Anomaly { kind, .. } => format!("{kind:?}"),
            WatchOutput::Write { kind, uid, .. } => format!("{kind:?} {uid:?}"),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "Modified None",
            "VersionNotRising",
            "Added None",
            "VersionUnusable",
            "Deleted Some(\"ub\")",
            "BookmarkWithoutVersion"
        ]
    );
    assert_eq!(
        stream.position().expect("one").version,
        ResourceVersion::Number(12)
    );
}

#[test]
fn an_unreadable_line_is_asked_for_once_more_and_then_a_gap() {
    let mut stream = synced(CACHED);
    let mut out = Vec::new();
    let mut now = 5_000_000;
    stream.ended(EndCause::Unreadable, at(now).elapsed);
    now += 10_000_000;
    assert_eq!(watch_from(&mut stream, now), "10");
    stream.answered(at(now).elapsed, 300, &mut out);
    stream.ended(EndCause::Unreadable, at(now).elapsed);
    now += 10_000_000;
    assert!(matches!(
        stream.step(at(now).elapsed),
        WatchStep::WatchList { .. }
    ));
    stream.answered(at(now).elapsed, 300, &mut out);
    stream.bookmark("30", true, at(now), &mut out);
    assert!(out.iter().any(|out| matches!(
        out,
        WatchOutput::Gap {
            cause: GapCause::Unreadable,
            ..
        }
    )));
}

#[test]
fn without_streamed_lists_there_are_pages() {
    let mut out = Vec::new();
    let mut stream = WatchState::new(CACHED, ResumeState::default(), WatchOrigin::Fresh, 1);
    assert!(matches!(
        stream.step(at(0).elapsed),
        WatchStep::WatchList { .. }
    ));
    stream.refused(refusal(422, false), at(1).elapsed, &mut out);
    let first = stream.step(at(1).elapsed);
    assert_eq!(
        first,
        WatchStep::Page {
            limit: Some(500),
            token: None
        }
    );
    stream.answered(at(1).elapsed, 0, &mut out);
    stream.item(&head("a", "ua", "5"), at(2), &mut out);
    let page = |version, token| ListPage {
        version,
        token,
        bytes: 1_000_000,
        items: 1,
    };
    stream.page(page("10", "next"), at(2), &mut out);
    let second = stream.step(at(2).elapsed);
    assert_eq!(
        second,
        WatchStep::Page {
            limit: Some(10),
            token: Some("next".into())
        }
    );
    stream.refused(refusal(410, false), at(3).elapsed, &mut out);
    let again = stream.step(at(9_000_000).elapsed);
    assert_eq!(
        again,
        WatchStep::Page {
            limit: Some(40),
            token: None
        }
    );
    stream.item(&head("a", "ua", "5"), at(4), &mut out);
    stream.page(page("11", ""), at(4), &mut out);
    assert_eq!(watch_from(&mut stream, 9_000_000), "11");
    assert_eq!(
        out.len(),
        2,
        "the object once, the end of the list: {out:?}"
    );
}

#[test]
fn a_silent_list_is_read_in_pages() {
    let mut out = Vec::new();
    let mut stream = WatchState::new(CACHED, ResumeState::default(), WatchOrigin::Fresh, 1);
    assert!(matches!(
        stream.step(at(0).elapsed),
        WatchStep::WatchList { .. }
    ));
    stream.answered(at(0).elapsed, 300, &mut out);
    assert_eq!(stream.idle_secs(), LIST_IDLE_SECS);
    stream.ended(EndCause::Idle, at(30_000_000).elapsed);
    assert!(matches!(
        stream.step(at(40_000_000).elapsed),
        WatchStep::Page { .. }
    ));
}

#[test]
fn what_is_forbidden_is_said_once_and_asked_for_again() {
    let mut out = Vec::new();
    let mut stream = WatchState::new(CACHED, ResumeState::default(), WatchOrigin::Fresh, 1);
    for now in [0, 40_000_000] {
        assert!(matches!(
            stream.step(at(now).elapsed),
            WatchStep::WatchList { .. }
        ));
        stream.refused(refusal(403, false), at(now).elapsed, &mut out);
        assert!(matches!(
            stream.step(at(now).elapsed),
            WatchStep::Wait { .. }
        ));
    }
    assert!(matches!(
        out.as_slice(),
        [WatchOutput::NotCovered {
            reason: NotCoveredReason::Forbidden,
            ..
        }]
    ));
    out.clear();
    assert!(matches!(
        stream.step(at(80_000_000).elapsed),
        WatchStep::WatchList { .. }
    ));
    stream.answered(at(80_000_000).elapsed, 300, &mut out);
    assert_eq!(out, [WatchOutput::CoveredAgain]);
}

#[test]
fn a_long_failure_counts_as_not_covered() {
    let mut out = Vec::new();
    let mut stream = synced(CACHED);
    for now in [0, 30_000_000, 59_000_000, 61_000_000, 70_000_000] {
        stream.refused(refusal(503, false), at(now).elapsed, &mut out);
    }
    assert!(matches!(
        out.as_slice(),
        [WatchOutput::NotCovered {
            reason: NotCoveredReason::Failing,
            ..
        }]
    ));
    assert_eq!(
        watch_from(&mut stream, 200_000_000),
        "10",
        "the position stays"
    );
}

#[test]
fn another_cluster_is_a_gap_of_its_own() {
    let mut stream = synced(CACHED);
    let mut out = Vec::new();
    stream.new_epoch();
    assert!(matches!(
        stream.step(at(5).elapsed),
        WatchStep::WatchList { .. }
    ));
    stream.answered(at(5).elapsed, 300, &mut out);
    stream.event(EventType::Added, &head("a", "other", "3"), at(6), &mut out);
    stream.bookmark("4", true, at(7), &mut out);
    assert!(matches!(&out[0], WatchOutput::Infer { .. }));
    assert!(out.contains(&WatchOutput::VersionFell));
    assert!(out.iter().any(|out| matches!(
        out,
        WatchOutput::Gap {
            cause: GapCause::NewEpoch,
            missing_at_most: None,
            ..
        }
    )));
    assert_eq!(watch_from(&mut stream, 8), "4");
}

#[test]
fn a_reopened_recording_goes_on_where_it_stopped() {
    let memory = synced(CACHED).into_memory();
    let mut stream = WatchState::new(CACHED, memory, WatchOrigin::Reopened, 3);
    assert_eq!(watch_from(&mut stream, 0), "10");
    let mut out = Vec::new();
    let mut now = 0;
    while !stream.wants_list() {
        match stream.step(at(now).elapsed) {
            WatchStep::Wait { micros } => now += micros,
            _ => stream.refused(refusal(410, false), at(now).elapsed, &mut out),
        }
    }
    while let WatchStep::Wait { micros } = stream.step(at(now).elapsed) {
        now += micros;
    }
    stream.answered(at(now).elapsed, 300, &mut out);
    stream.bookmark("30", true, at(now), &mut out);
    assert!(
        out.iter()
            .any(|out| matches!(out, WatchOutput::Infer { name, .. } if name == "a"))
    );
    assert!(out.iter().any(|out| matches!(
        out,
        WatchOutput::Gap {
            cause: GapCause::RecorderStopped,
            ..
        }
    )));
}

#[test]
fn a_resource_that_came_to_its_end_begins_anew() {
    let mut stream = synced(CACHED);
    let mut out = Vec::new();
    stream.event(EventType::Deleted, &head("a", "ua", "12"), at(3), &mut out);
    let mut stream = WatchState::new(CACHED, stream.into_memory(), WatchOrigin::Fresh, 1);
    assert!(matches!(
        stream.step(at(4).elapsed),
        WatchStep::WatchList { .. }
    ));
    stream.answered(at(4).elapsed, 300, &mut out);
    out.clear();
    stream.event(EventType::Added, &head("a", "new", "20"), at(5), &mut out);
    stream.bookmark("21", true, at(6), &mut out);
    assert!(matches!(
        out[0],
        WatchOutput::Write {
            evidence: Evidence::Initial,
            ..
        }
    ));
    assert!(!out.iter().any(|out| matches!(out, WatchOutput::Gap { .. })));
}

#[test]
fn a_stream_that_goes_on_follows_only_once_the_server_has_answered() {
    let mut out = Vec::new();
    let memory = synced(CACHED).into_memory();
    let mut stream = WatchState::new(CACHED, memory, WatchOrigin::Reopened, 1);
    assert!(stream.is_synced() && !stream.is_following());
    stream.answered(at(2).elapsed, 300, &mut out);
    assert!(stream.is_following());
    stream.ended(EndCause::Clean, at(3).elapsed);
    assert!(stream.is_synced() && !stream.is_following());
}

#[test]
fn a_resource_that_vanishes_from_an_unbroken_chain_leaves_no_gap() {
    let mut stream = synced(CACHED);
    let mut out = Vec::new();
    stream.answered(at(2).elapsed, 300, &mut out);
    stream.event(EventType::Deleted, &head("a", "ua", "12"), at(3), &mut out);
    stream.ended(EndCause::Clean, at(4).elapsed);
    stream.refused(refusal(404, false), at(5).elapsed, &mut out);
    out.clear();
    stream.gone(&ResourceVersion::Number(20), at(6), &mut out);
    assert_eq!(out, []);
    assert!(stream.into_memory().known.is_empty());
}

#[test]
fn a_resource_that_vanishes_unseen_leaves_a_gap_up_to_its_end() {
    let mut stream = synced(CACHED);
    let mut out = Vec::new();
    stream.answered(at(2).elapsed, 300, &mut out);
    stream.ended(EndCause::Cut, at(4).elapsed);
    stream.refused(refusal(404, false), at(5).elapsed, &mut out);
    stream.gone(&ResourceVersion::Number(20), at(6), &mut out);
    assert!(
        matches!(&out[0], WatchOutput::Infer { name, version, .. } if name == "a" && version == "20")
    );
    assert!(matches!(
        &out[1],
        WatchOutput::Gap { from: Some(from), to, missing_at_most: Some(10), differences: 1, .. }
            if from == "10" && to == "20"
    ));
    let memory = stream.into_memory();
    assert!(memory.known.is_empty() && memory.position.is_none());
}

#[test]
fn a_gap_among_deletions_of_one_version_begins_before_them() {
    let mut stream = synced(EVENTS);
    let mut out = Vec::new();
    stream.answered(at(3).elapsed, 300, &mut out);
    stream.event(EventType::Deleted, &head("a", "ua", "12"), at(4), &mut out);
    stream.ended(EndCause::Cut, at(5).elapsed);
    let mut now = 6;
    while !stream.wants_list() {
        now += 1_000_000;
        stream.refused(refusal(410, false), at(now).elapsed, &mut out);
    }
    stream.step(at(now + 1_000_000).elapsed);
    stream.finish_list(ResourceVersion::Number(20), at(now + 2_000_000), &mut out);
    let from = out.iter().find_map(|output| match output {
        WatchOutput::Gap { from, .. } => from.as_deref(),
        _ => None,
    });
    assert_eq!(from, Some("11"));
}

/// Counts the requests of a resource whose lists are always refused in this way, over two minutes.
fn asked_in_two_minutes(refusal: ServerRefusal<'_>) -> (u32, u64) {
    let mut stream = WatchState::new(CACHED, ResumeState::default(), WatchOrigin::Fresh, 3);
    let (mut out, mut now, mut asked, mut longest) = (Vec::new(), 0, 0, 0);
    while now < 120_000_000 {
        if let WatchStep::Wait { micros } = stream.step(at(now).elapsed) {
            longest = longest.max(micros);
            now += micros;
        } else {
            asked += 1;
            stream.refused(refusal, at(now).elapsed, &mut out);
        }
    }
    (asked, longest)
}

#[test]
fn a_list_that_is_refused_for_long_is_asked_for_ever_less() {
    for code in [204, 302, 401, 404, 406, 429, 500, 502, 503] {
        let (asked, longest) = asked_in_two_minutes(refusal(code, false));
        assert!((10..=22).contains(&asked), "{code}: {asked} requests");
        assert!(longest <= 30_000_000, "{code}: {longest}");
    }
    let busy = ServerRefusal {
        retry_after_secs: Some(25),
        ..refusal(429, false)
    };
    let (asked, longest) = asked_in_two_minutes(busy);
    assert!(asked <= 14, "{asked}");
    assert!(longest >= 12_500_000, "{longest}");
}

#[test]
fn a_line_that_stays_unreadable_is_passed_once_a_list_did_not_help() {
    let mut stream = synced(CACHED);
    let mut out = Vec::new();
    let mut lists = 0;
    for now in (10_000_000..70_000_000).step_by(1_000_000) {
        while let WatchStep::Wait { .. } = stream.step(at(now).elapsed) {
            stream.backoff = Backoff::new(1);
        }
        let is_list = stream.wants_list();
        stream.answered(at(now).elapsed, 300, &mut out);
        if is_list {
            lists += 1;
            stream.bookmark(&now.to_string(), true, at(now), &mut out);
        }
        if !stream.passes_unreadable(at(now).elapsed) {
            stream.ended(EndCause::Unreadable, at(now).elapsed);
        }
    }
    assert_eq!(lists, 1);
}
