//! Tests of the stream, event by event: the next request and the entries after each response.

use super::*;
use crate::known::KnownObject;
use crate::watch::state::machine::{ListPage, ServerRefusal};
use crate::watch::state::review::GapReview;
use crate::wire::ObjectHead;
use kubereel_format::{EndCause, EventType, Evidence, ListMethod};
use std::ops::{Deref, DerefMut};

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

/// A stream with all that it has put out.
struct DrivenStream {
    state: WatchState,
    out: Vec<WatchOutput>,
}

impl DrivenStream {
    fn of(state: WatchState) -> Self {
        let out = Vec::new();
        Self { state, out }
    }

    fn fresh() -> Self {
        let nothing = ResumeState::default();
        Self::of(WatchState::new(CACHED, nothing, WatchOrigin::Fresh, 1))
    }

    /// Words the next request.
    fn asks(&mut self, now: u64) -> String {
        match self.step(at(now).elapsed) {
            WatchStep::Wait { .. } => "nothing yet".to_owned(),
            WatchStep::WatchList { .. } => "list and watch".to_owned(),
            WatchStep::Page { limit, token } => {
                let limit = limit.map_or_else(|| "all".to_owned(), |limit| limit.to_string());
                format!(
                    "page of {limit}, token {}",
                    token.as_deref().unwrap_or("None")
                )
            }
            WatchStep::Watch { from, .. } => format!("watch from {from}"),
        }
    }

    /// Returns when the next request is due.
    fn wait(&mut self, mut now: u64) -> u64 {
        while let WatchStep::Wait { micros } = self.step(at(now).elapsed) {
            now += micros;
        }
        now
    }

    fn answered(&mut self, now: u64, timeout_secs: u32) {
        self.state
            .answered(at(now).elapsed, timeout_secs, &mut self.out);
    }

    fn refused(&mut self, code: u16, others_may_know: bool, now: u64) {
        let refusal = refusal(code, others_may_know);
        self.state.refused(refusal, at(now).elapsed, &mut self.out);
    }

    fn ended(&mut self, cause: EndCause, now: u64) {
        self.state.ended(cause, at(now).elapsed);
    }

    fn event(&mut self, kind: EventType, name: &str, uid: &str, version: &str, now: u64) {
        let head = head(name, uid, version);
        self.state.event(kind, &head, at(now), &mut self.out);
    }

    fn item(&mut self, name: &str, uid: &str, version: &str, now: u64) {
        let head = head(name, uid, version);
        self.state.item(&head, at(now), &mut self.out);
    }

    fn bookmark(&mut self, version: &str, ends_list: bool, now: u64) {
        self.state
            .bookmark(version, ends_list, at(now), &mut self.out);
    }

    fn page(&mut self, version: &str, token: &str, now: u64) {
        let page = ListPage {
            version,
            token,
            bytes: 1_000_000,
            items: 1,
        };
        self.state.page(page, at(now), &mut self.out);
    }

    fn gone(&mut self, version: u64, now: u64) {
        let version = ResourceVersion::Number(version);
        self.state.gone(&version, at(now), &mut self.out);
    }

    /// Returns the version after which it continues.
    fn version(&self) -> Option<ResourceVersion> {
        self.position().map(|position| position.version.clone())
    }

    /// Returns the causes of the gaps.
    fn gaps(&self) -> Vec<GapCause> {
        let gap = |out: &WatchOutput| match out {
            WatchOutput::Gap { cause, .. } => Some(*cause),
            _ => None,
        };
        self.out.iter().filter_map(gap).collect()
    }
}

impl Deref for DrivenStream {
    type Target = WatchState;

    fn deref(&self) -> &WatchState {
        &self.state
    }
}

impl DerefMut for DrivenStream {
    fn deref_mut(&mut self) -> &mut WatchState {
        &mut self.state
    }
}

#[test]
fn the_position_waits_for_the_end_of_the_initial_objects() {
    let mut stream = DrivenStream::fresh();
    assert_eq!(stream.asks(0), "list and watch");
    stream.answered(0, 300);
    stream.event(EventType::Added, "a", "ua", "900", 1);
    stream.bookmark("900", false, 2);
    assert_eq!(stream.position(), None);
    stream.event(EventType::Modified, "a", "ua", "950", 3);
    assert_eq!(stream.position(), None);
    stream.bookmark("950", true, 4);
    let expected = [
        WatchOutput::Write {
            kind: EventType::Added,
            evidence: Evidence::Initial,
            uid: None,
        },
        WatchOutput::Write {
            kind: EventType::Modified,
            evidence: Evidence::Live,
            uid: None,
        },
        WatchOutput::Synced {
            version: "950".into(),
            method: ListMethod::WatchList,
            objects: 1,
        },
    ];
    assert_eq!(stream.out, expected);
}

#[test]
fn an_end_in_order_goes_on_at_once_and_a_cut_soon() {
    let mut stream = DrivenStream::of(synced(CACHED));
    stream.event(EventType::Modified, "a", "ua", "11", 3);
    stream.ended(EndCause::Clean, 300_000_000);
    assert_eq!(stream.asks(300_000_000), "watch from 11");
    stream.answered(300_000_000, 300);
    stream.ended(EndCause::Cut, 303_000_000);
    match stream.step(at(303_000_000).elapsed) {
        WatchStep::Watch { timeout_secs, .. } => {
            assert_eq!(timeout_secs, 3, "to get a bookmark soon");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_lost_history_is_given_up_within_two_seconds() {
    let mut stream = DrivenStream::of(synced(CACHED));
    let mut now = 10_000_000;
    let mut tries = 0;
    stream.ended(EndCause::Cut, now);
    loop {
        match stream.step(at(now).elapsed) {
            WatchStep::Wait { micros } => now += micros,
            WatchStep::Watch { .. } => {
                tries += 1;
                now += 5_000;
                stream.answered(now, 300);
                stream.refused(410, false, now);
            }
            WatchStep::WatchList { .. } => break,
            other @ WatchStep::Page { .. } => panic!("{other:?}"),
        }
    }
    assert!((4..=40).contains(&tries), "{tries}");
    assert!(now < 12_000_000, "{now}");
    stream.out.clear();
    stream.answered(now, 300);
    stream.item("a", "ua", "12", now);
    stream.item("b", "ub", "14", now);
    stream.bookmark("20", true, now);
    let review = stream.out.iter().find_map(|out| match out {
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
    assert!(stream.out.contains(&WatchOutput::Gap {
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
    let mut stream = DrivenStream::of(synced(CACHED));
    let mut now = 10_000_000;
    stream.ended(EndCause::Cut, now);
    for _ in 0..23 {
        now = stream.wait(now);
        assert_eq!(stream.asks(now), "watch from 10");
        stream.answered(now, 300);
        stream.refused(410, true, now);
    }
    now = stream.wait(now);
    stream.answered(now, 300);
    stream.event(EventType::Modified, "a", "ua", "11", now);
    let found = WatchOutput::HistoryFound { tries: 23 };
    assert!(stream.out.contains(&found));
    assert_eq!(stream.gaps(), []);
}

#[test]
fn a_cut_inside_a_bulk_of_deletions_loses_none_of_them() {
    let mut stream = DrivenStream::of(synced(EVENTS));
    for name in ["b", "c"] {
        stream.event(EventType::Added, name, name, "11", 3);
    }
    stream.event(EventType::Deleted, "b", "b", "12", 4);
    stream.ended(EndCause::Cut, 5_000_000);
    assert_eq!(stream.asks(5_000_000), "watch from 11");
    stream.out.clear();
    stream.answered(5_000_000, 300);
    stream.event(EventType::Deleted, "b", "b", "12", 6_000_000);
    assert_eq!(stream.out, [], "it is recorded already");
    stream.event(EventType::Deleted, "c", "c", "12", 6_000_000);
    assert_eq!(stream.out.len(), 1);
    stream.ended(EndCause::Cut, 9_000_000);
    assert_eq!(stream.asks(9_000_000), "watch from 11");
    stream.event(EventType::Added, "d", "d", "13", 9_100_000);
    stream.ended(EndCause::Cut, 9_200_000);
    assert_eq!(stream.version(), Some(ResourceVersion::Number(13)));
}

#[test]
fn a_new_uid_under_an_old_name_is_another_object() {
    let mut stream = DrivenStream::of(synced(CACHED));
    stream.event(EventType::Added, "a", "other", "12", 3);
    assert!(
        matches!(&stream.out[0], WatchOutput::Infer { object, .. } if object.uid.text() == "ua")
    );
    assert_eq!(stream.out.len(), 2);
}

#[test]
fn odd_versions_are_kept_and_marked() {
    let mut stream = DrivenStream::of(synced(CACHED));
    stream.event(EventType::Modified, "a", "ua", "12", 3);
    stream.event(EventType::Added, "b", "ub", "11", 4);
    stream.event(EventType::Deleted, "b", "", "", 5);
    stream.bookmark("", false, 6);
    let kinds: Vec<_> = stream
        .out
        .iter()
        .map(|out| match out {
            WatchOutput::Anomaly { kind, .. } => format!("{kind:?}"),
            WatchOutput::Write { kind, uid, .. } => format!("{kind:?} {uid:?}"),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [
        "Modified None",
        "VersionNotRising",
        "Added None",
        "VersionUnusable",
        "Deleted Some(\"ub\")",
        "BookmarkWithoutVersion",
    ];
    assert_eq!(kinds, expected);
    assert_eq!(stream.version(), Some(ResourceVersion::Number(12)));
}

#[test]
fn an_unreadable_line_is_asked_for_once_more_and_then_a_gap() {
    let mut stream = DrivenStream::of(synced(CACHED));
    let mut now = 5_000_000;
    stream.ended(EndCause::Unreadable, now);
    now += 10_000_000;
    assert_eq!(stream.asks(now), "watch from 10");
    stream.answered(now, 300);
    stream.ended(EndCause::Unreadable, now);
    now += 10_000_000;
    assert_eq!(stream.asks(now), "list and watch");
    stream.answered(now, 300);
    stream.bookmark("30", true, now);
    assert_eq!(stream.gaps(), [GapCause::Unreadable]);
}

#[test]
fn without_streamed_lists_there_are_pages() {
    let mut stream = DrivenStream::fresh();
    assert_eq!(stream.asks(0), "list and watch");
    stream.refused(422, false, 1);
    assert_eq!(stream.asks(1), "page of 500, token None");
    stream.answered(1, 0);
    stream.item("a", "ua", "5", 2);
    stream.page("10", "next", 2);
    assert_eq!(stream.asks(2), "page of 10, token next");
    stream.refused(410, false, 3);
    assert_eq!(stream.asks(9_000_000), "page of 40, token None");
    stream.item("a", "ua", "5", 4);
    stream.page("11", "", 4);
    assert_eq!(stream.asks(9_000_000), "watch from 11");
    assert_eq!(
        stream.out.len(),
        2,
        "the object once, the end of the list: {:?}",
        stream.out
    );
}

#[test]
fn a_silent_list_is_read_in_pages() {
    let mut stream = DrivenStream::fresh();
    assert_eq!(stream.asks(0), "list and watch");
    stream.answered(0, 300);
    assert_eq!(stream.idle_secs(), LIST_IDLE_SECS);
    stream.ended(EndCause::Idle, 30_000_000);
    assert!(stream.asks(40_000_000).starts_with("page of "));
}

#[test]
fn what_is_forbidden_is_said_once_and_asked_for_again() {
    let mut stream = DrivenStream::fresh();
    for now in [0, 40_000_000] {
        assert_eq!(stream.asks(now), "list and watch");
        stream.refused(403, false, now);
        assert_eq!(stream.asks(now), "nothing yet");
    }
    assert!(matches!(
        stream.out.as_slice(),
        [WatchOutput::NotCovered {
            reason: NotCoveredReason::Forbidden,
            ..
        }]
    ));
    stream.out.clear();
    assert_eq!(stream.asks(80_000_000), "list and watch");
    stream.answered(80_000_000, 300);
    assert_eq!(stream.out, [WatchOutput::CoveredAgain]);
}

#[test]
fn a_long_failure_counts_as_not_covered() {
    let mut stream = DrivenStream::of(synced(CACHED));
    for now in [0, 30_000_000, 59_000_000, 61_000_000, 70_000_000] {
        stream.refused(503, false, now);
    }
    assert!(matches!(
        stream.out.as_slice(),
        [WatchOutput::NotCovered {
            reason: NotCoveredReason::Failing,
            ..
        }]
    ));
    assert_eq!(
        stream.asks(200_000_000),
        "watch from 10",
        "the position stays"
    );
}

#[test]
fn another_cluster_is_a_gap_of_its_own() {
    let mut stream = DrivenStream::of(synced(CACHED));
    stream.new_epoch();
    assert_eq!(stream.asks(5), "list and watch");
    stream.answered(5, 300);
    stream.event(EventType::Added, "a", "other", "3", 6);
    stream.bookmark("4", true, 7);
    assert!(matches!(&stream.out[0], WatchOutput::Infer { .. }));
    assert!(stream.out.contains(&WatchOutput::VersionFell));
    assert!(stream.out.iter().any(|out| matches!(
        out,
        WatchOutput::Gap {
            cause: GapCause::NewEpoch,
            missing_at_most: None,
            ..
        }
    )));
    assert_eq!(stream.asks(8), "watch from 4");
}

#[test]
fn a_reopened_recording_goes_on_where_it_stopped() {
    let memory = synced(CACHED).into_memory();
    let mut stream = DrivenStream::of(WatchState::new(CACHED, memory, WatchOrigin::Reopened, 3));
    assert_eq!(stream.asks(0), "watch from 10");
    let mut now = 0;
    while !stream.wants_list() {
        match stream.step(at(now).elapsed) {
            WatchStep::Wait { micros } => now += micros,
            _ => stream.refused(410, false, now),
        }
    }
    now = stream.wait(now);
    stream.answered(now, 300);
    stream.bookmark("30", true, now);
    let is_inferred =
        |out: &WatchOutput| matches!(out, WatchOutput::Infer { name, .. } if name == "a");
    assert!(stream.out.iter().any(is_inferred));
    assert_eq!(stream.gaps(), [GapCause::RecorderStopped]);
}

#[test]
fn a_resource_that_came_to_its_end_begins_anew() {
    let mut stream = DrivenStream::of(synced(CACHED));
    stream.event(EventType::Deleted, "a", "ua", "12", 3);
    let memory = stream.state.into_memory();
    let mut stream = DrivenStream::of(WatchState::new(CACHED, memory, WatchOrigin::Fresh, 1));
    assert_eq!(stream.asks(4), "list and watch");
    stream.answered(4, 300);
    stream.out.clear();
    stream.event(EventType::Added, "a", "new", "20", 5);
    stream.bookmark("21", true, 6);
    assert!(matches!(
        stream.out[0],
        WatchOutput::Write {
            evidence: Evidence::Initial,
            ..
        }
    ));
    assert_eq!(stream.gaps(), []);
}

#[test]
fn a_stream_that_goes_on_follows_only_once_the_server_has_answered() {
    let memory = synced(CACHED).into_memory();
    let mut stream = DrivenStream::of(WatchState::new(CACHED, memory, WatchOrigin::Reopened, 1));
    assert!(stream.is_synced() && !stream.is_following());
    stream.answered(2, 300);
    assert!(stream.is_following());
    stream.ended(EndCause::Clean, 3);
    assert!(stream.is_synced() && !stream.is_following());
}

#[test]
fn a_resource_that_vanishes_from_an_unbroken_chain_leaves_no_gap() {
    let mut stream = DrivenStream::of(synced(CACHED));
    stream.answered(2, 300);
    stream.event(EventType::Deleted, "a", "ua", "12", 3);
    stream.ended(EndCause::Clean, 4);
    stream.refused(404, false, 5);
    stream.out.clear();
    stream.gone(20, 6);
    assert_eq!(stream.out, []);
    assert!(stream.state.into_memory().known.is_empty());
}

#[test]
fn a_resource_that_vanishes_unseen_leaves_a_gap_up_to_its_end() {
    let mut stream = DrivenStream::of(synced(CACHED));
    stream.answered(2, 300);
    stream.ended(EndCause::Cut, 4);
    stream.refused(404, false, 5);
    stream.gone(20, 6);
    assert!(
        matches!(&stream.out[0], WatchOutput::Infer { name, version, .. } if name == "a" && version == "20")
    );
    assert!(matches!(
        &stream.out[1],
        WatchOutput::Gap { from: Some(from), to, missing_at_most: Some(10), differences: 1, .. }
            if from == "10" && to == "20"
    ));
    let memory = stream.state.into_memory();
    assert!(memory.known.is_empty() && memory.position.is_none());
}

#[test]
fn a_gap_among_deletions_of_one_version_begins_before_them() {
    let mut stream = DrivenStream::of(synced(EVENTS));
    stream.answered(3, 300);
    stream.event(EventType::Deleted, "a", "ua", "12", 4);
    stream.ended(EndCause::Cut, 5);
    let mut now = 6;
    while !stream.wants_list() {
        now += 1_000_000;
        stream.refused(410, false, now);
    }
    stream.step(at(now + 1_000_000).elapsed);
    let listed = ResourceVersion::Number(20);
    stream
        .state
        .finish_list(listed, at(now + 2_000_000), &mut stream.out);
    let from = stream.out.iter().find_map(|output| match output {
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
    let mut stream = DrivenStream::of(synced(CACHED));
    let mut lists = 0;
    for now in (10_000_000..70_000_000).step_by(1_000_000) {
        while let WatchStep::Wait { .. } = stream.step(at(now).elapsed) {
            stream.backoff = Backoff::new(1);
        }
        let is_list = stream.wants_list();
        stream.answered(now, 300);
        if is_list {
            lists += 1;
            stream.bookmark(&now.to_string(), true, now);
        }
        if !stream.passes_unreadable(at(now).elapsed) {
            stream.ended(EndCause::Unreadable, now);
        }
    }
    assert_eq!(lists, 1);
}
