//! What revisions prove: the account, the bound of gaps, the clock, and what is left out of them.

use crate::script::{Script, Stream, Thing, pod, thing};
use kubereel_format::{EndCause, EpochId, EventType, Evidence, Note, OutageClass, RecordedAt, Seq};
use kubereel_history::{
    AccountError, AccountExclusion, Certainty, GapOutcome, Moment, ReelSummary, RevisionAccount,
    SequenceMember, Timeline,
};
use std::path::Path;

const A: Thing<'static> = thing("default", "a", "uid-a");
const B: Thing<'static> = thing("default", "b", "uid-b");

fn write<T>(story: impl FnOnce(&Path) -> T) -> (Timeline, T) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.reel");
    let said = story(&path);
    (Timeline::open(&path).expect("a reel"), said)
}

/// Pods and nodes, both listed between probes, at 10.
fn two_streams(script: &mut Script, second: &str) -> (Stream, Stream) {
    script.probed(10, 5);
    script.wait(10);
    let pods = script.resource("pods", "Pod", &["po"]);
    let other = script.resource(second, "Other", &[]);
    let pods = script.connect(pods, None);
    script.initial(pods, A, 7, &pod(A, 7, "x"));
    script.synced(pods, 10);
    let other = script.connect(other, None);
    script.initial(other, B, 9, b"{}");
    script.synced(other, 10);
    script.wait(2000);
    script.probed(10, 5);
    (pods, other)
}

fn end(script: Script, revision: u64) {
    let mut script = script;
    script.wait(1000);
    script.probed(revision, 5);
    script.wait(2000);
    script.finish();
}

fn account(timeline: &Timeline) -> RevisionAccount {
    let accounts = timeline.accounts().expect("an account");
    assert_eq!(accounts.len(), 1, "{accounts:?}");
    accounts.first().cloned().expect("one")
}

#[test]
fn every_revision_is_explained_or_listed() {
    let (timeline, ()) = write(|path| {
        let mut script = Script::begin(path);
        let (pods, nodes) = two_streams(&mut script, "nodes");
        script.modified(pods, A, 11, &pod(A, 11, "y"));
        script.modified(nodes, B, 12, b"{}");
        script.wait(2000);
        script.probed(14, 5);
        script.modified(pods, A, 15, &pod(A, 15, "z"));
        end(script, 17);
    });
    let account = account(&timeline);
    assert_eq!((account.from_rv, account.to_rv), (10, 17));
    assert_eq!((account.explained, account.unexplained_total()), (3, 4));
    let runs: Vec<_> = account
        .unexplained
        .iter()
        .map(|range| (range.first, range.last))
        .collect();
    assert_eq!(runs, [(13, 14), (16, 17)]);
    let bounds = &account.unexplained[0];
    assert!(bounds.after < bounds.before && bounds.after.is_some());
    assert_eq!((account.members, account.shared), (2, 0));
    assert!(account.left_out.is_empty());
    let share = account.share().expect("no revision is shared");
    assert!((share - 3.0 / 7.0).abs() < 1e-5);
}

#[test]
fn what_the_last_probe_tells_of_too_late_for_the_streams_is_no_part_of_the_account() {
    let (timeline, ()) = write(|path| {
        let mut script = Script::begin(path);
        let (pods, _) = two_streams(&mut script, "nodes");
        script.modified(pods, A, 11, &pod(A, 11, "y"));
        script.wait(1000);
        script.probed(11, 5);
        script.wait(5000);
        script.probed(12, 5);
        script.wait(900);
        script.disconnect(pods, EndCause::Stopped);
        script.wait(5000);
        script.finish();
    });
    assert_eq!(account(&timeline).to_rv, 11);
}

/// A gap of the first stream in (11, 14]; its object was listed at 14, the other stream says the rest.
fn gap(script: &mut Script, pods: Stream, other: Stream, others: &[u128]) -> Seq {
    script.modified(pods, A, 11, &pod(A, 11, "y"));
    let from = script.now();
    script.disconnect(pods, EndCause::Expired);
    script.wait(2000);
    for &rv in others {
        script.modified(other, B, rv, b"{}");
    }
    let again = script.connect(pods.resource, None);
    script.gap(pods.resource, 11, 14, from);
    let (modified, listed) = (EventType::Modified, Evidence::Listed);
    let seq = script.event(again, modified, listed, A, 14, &pod(A, 14, "z"));
    script.synced(again, 14);
    script.wait(2000);
    seq
}

#[test]
fn a_gap_in_which_every_revision_is_explained_lost_nothing() {
    let (timeline, (pods, seq)) = write(|path| {
        let mut script = Script::begin(path);
        let (pods, nodes) = two_streams(&mut script, "nodes");
        let seq = gap(&mut script, pods, nodes, &[12, 13]);
        end(script, 14);
        (pods.resource, seq)
    });
    let coverage = timeline.coverage(pods).expect("recorded");
    assert_eq!(coverage.spans().len(), 1, "{coverage:?}");
    let proven: Vec<_> = coverage.gaps(GapOutcome::ProvenEmpty).collect();
    let [proven] = proven.as_slice() else {
        panic!("{coverage:?}");
    };
    assert_eq!(proven.unexplained, Some(0));
    assert!(timeline.is_fully_observed(pods));
    let cut = timeline.resolve(Moment::Revision(13)).expect("a moment");
    assert!(timeline.certainty(pods, cut).is_known());
    let bounds = timeline.committed(seq).expect("probes tell");
    assert!(bounds.after.is_some_and(|after| after < bounds.before));
}

#[test]
fn a_gap_cannot_have_lost_more_than_what_nothing_explains() {
    let (timeline, pods) = write(|path| {
        let mut script = Script::begin(path);
        let (pods, nodes) = two_streams(&mut script, "nodes");
        gap(&mut script, pods, nodes, &[12]);
        end(script, 14);
        pods.resource
    });
    let coverage = timeline.coverage(pods).expect("recorded");
    let holes: Vec<_> = coverage.gaps(GapOutcome::MayMiss).collect();
    let [hole] = holes.as_slice() else {
        panic!("{coverage:?}");
    };
    assert_eq!(hole.unexplained, Some(1));
    assert_eq!(hole.missing_at_most(), Some(1), "the gap itself says 4");
    let cut = timeline.resolve(Moment::Revision(13)).expect("a moment");
    let certainty = timeline.certainty(pods, cut);
    assert!(matches!(certainty, Certainty::InsideGap { .. }));
}

#[test]
fn of_events_nothing_is_proven() {
    let (timeline, events) = write(|path| {
        let mut script = Script::begin(path);
        let (nodes, events) = two_streams(&mut script, "events");
        gap(&mut script, events, nodes, &[12, 13]);
        end(script, 14);
        events.resource
    });
    let coverage = timeline.coverage(events).expect("recorded");
    assert_eq!(coverage.gaps(GapOutcome::ProvenEmpty).count(), 0);
    let holes: Vec<_> = coverage.gaps(GapOutcome::MayMiss).collect();
    let [hole] = holes.as_slice() else {
        panic!("{coverage:?}");
    };
    assert_eq!(hole.unexplained, None);
    assert_eq!(account(&timeline).unexplained_total(), 0);
}

#[test]
fn a_resource_that_counts_for_itself_explains_nothing() {
    let (timeline, (pods, own, late)) = write(|path| {
        let mut script = Script::begin(path);
        let (pods, _) = two_streams(&mut script, "nodes");
        script.wait(60_000);
        script.probed(1000, 5);
        let own = script.resource("things.example.com", "Thing", &[]);
        let things = script.connect(own, None);
        script.synced(things, 12);
        script.modified(things, B, 13, b"{}");
        script.wait(2000);
        script.probed(1000, 5);
        script.wait(2000);
        // Nothing tells whether a list is of the sequence that no probe follows.
        let late = script.resource("others.example.com", "Other", &[]);
        let others = script.connect(late, None);
        script.synced(others, 1000);
        script.finish();
        (pods.resource, own, late)
    });
    let sequence = &timeline.sequences()[0];
    let found: Vec<_> = sequence.members().collect();
    assert!(found.contains(&(pods, SequenceMember::Fits)), "{found:?}");
    // The probe was answered right before the list: it may still have been on its way.
    let own_is_out = sequence.left_out().any(|(id, _)| id == own);
    assert!(own_is_out, "{found:?}");
    assert!(found.contains(&(late, SequenceMember::LeftOut(AccountExclusion::NotKnown))));
    let account = account(&timeline);
    assert_eq!(account.explained, 0, "{account:?}");
}

#[test]
fn a_revision_of_two_objects_takes_the_account_its_force() {
    let (timeline, pods) = write(|path| {
        let mut script = Script::begin(path);
        let (pods, nodes) = two_streams(&mut script, "nodes");
        gap(&mut script, pods, nodes, &[12, 13]);
        script.modified(nodes, thing("", "c", "uid-c"), 11, b"{}");
        end(script, 14);
        pods.resource
    });
    let account = account(&timeline);
    assert_eq!((account.shared, account.share()), (1, None));
    let coverage = timeline.coverage(pods).expect("recorded");
    assert_eq!(coverage.gaps(GapOutcome::MayMiss).count(), 1);
    assert_eq!(coverage.gaps(GapOutcome::ProvenEmpty).count(), 0);
}

#[test]
fn without_probes_there_is_no_account() {
    let (timeline, ()) = write(|path| Script::begin(path).finish());
    assert_eq!(timeline.accounts(), Err(AccountError::NoProbes));
    let (timeline, ()) = write(|path| {
        let mut script = Script::begin(path);
        script.probed(10, 5);
        script.finish();
    });
    assert_eq!(timeline.accounts(), Err(AccountError::TooShort));
}

#[test]
fn an_outage_is_told_with_its_bounds_endpoint_and_class() {
    let (timeline, ()) = write(|path| {
        let mut script = Script::begin(path);
        script.probed(10, 5);
        script.wait(4000);
        script.outage("https://127.0.0.1:6443", OutageClass::Server, 3000);
        script.probed(10, 5);
        script.finish();
    });
    let summary = ReelSummary::of(&timeline);
    let [outage] = &summary.outages[..] else {
        panic!("{:?}", summary.outages);
    };
    assert!((outage.span_secs - 3.0).abs() < 1e-6);
    assert_eq!(outage.class.as_deref(), Some("server error"));
    assert_eq!(outage.endpoint.as_deref(), Some("https://127.0.0.1:6443"));
    assert_eq!(outage.failed_probes, Some(3));
    assert!(!outage.before_first_answer);
}

#[test]
fn hostile_probes_do_no_harm() {
    let (timeline, ()) = write(|path| {
        let mut script = Script::begin(path);
        two_streams(&mut script, "nodes");
        for revision in [
            "",
            "x",
            "-1",
            "340282366920938463463374607431768211455",
            "3",
        ] {
            script.note(Note::Probed {
                epoch: EpochId(u32::MAX),
                revision: revision.to_owned(),
                took_micros: u64::MAX,
            });
        }
        script.note(Note::Probed {
            epoch: EpochId(0),
            revision: u64::MAX.to_string(),
            took_micros: 0,
        });
        script.wait(2000);
        script.finish();
    });
    let accounts = timeline.accounts().expect("an account");
    assert_eq!(accounts[0].to_rv, u64::MAX);
    assert_eq!(accounts[0].ranges, 1);
    assert!(accounts[0].to > RecordedAt::default());
}
