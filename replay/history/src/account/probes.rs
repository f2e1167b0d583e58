//! The revision clock: between which times a revision was committed, according to probes, and
//! whether the versions of a resource are revisions of the cluster's own storage. An API of another
//! server, or a storage that was set apart (as that of Events often is), has a sequence of its own.
//! A probe that contradicts an earlier one of its epoch is ignored.

use kubereel_format::worded;
use kubereel_format::{
    ConnectionId, EpochId, ListMethod, Note, NoteEntry, RecordedAt, ResourceId, Seq,
};
use std::collections::BTreeMap;

/// A time on the recorder's steady clock: the session, and the time since its start.
pub(super) type SteadyTime = (usize, u64);

/// A successful probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RevisionProbe {
    pub(super) seq: Seq,
    pub(super) revision: u64,
    /// When the request was sent.
    pub(super) sent: (SteadyTime, RecordedAt),
    /// When the response was complete.
    pub(super) answered: (SteadyTime, RecordedAt),
}

/// Between which times a change was committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitBounds {
    /// A response shows that it was not committed when this request was sent; `None` if it is older
    /// than the probes.
    pub after: Option<RecordedAt>,
    /// It was committed by then: it had been received, or a probe had responded.
    pub before: RecordedAt,
}

/// Returns, for each index among the notes, its session.
pub(super) fn session_of(notes: &[NoteEntry]) -> impl Iterator<Item = (usize, &NoteEntry)> {
    let mut session = 0usize;
    notes.iter().map(move |entry| {
        if matches!(entry.note, Note::SessionStarted { .. }) {
            session = session.saturating_add(1);
        }
        (session, entry)
    })
}

/// Reads the probes of each epoch; their revisions never decrease.
pub(super) fn read(notes: &[NoteEntry]) -> BTreeMap<EpochId, Vec<RevisionProbe>> {
    let mut probes: BTreeMap<EpochId, Vec<RevisionProbe>> = BTreeMap::new();
    for (session, entry) in session_of(notes) {
        let Note::Probed {
            epoch,
            revision,
            took_micros,
        } = &entry.note
        else {
            continue;
        };
        let Ok(revision) = revision.parse::<u64>() else {
            continue;
        };
        let known = probes.entry(*epoch).or_default();
        if known.last().is_some_and(|last| revision < last.revision) {
            continue;
        }
        let (wall, elapsed) = (entry.stamp.wall, entry.stamp.elapsed.micros);
        // A damaged file may have any number here; the earliest time is then a valid bound.
        let took = i64::try_from(*took_micros).unwrap_or(i64::MAX);
        let sent = RecordedAt::from_micros(wall.micros.saturating_sub(took));
        known.push(RevisionProbe {
            seq: entry.seq,
            revision,
            sent: ((session, elapsed.saturating_sub(*took_micros)), sent),
            answered: ((session, elapsed), wall),
        });
    }
    probes
}

/// Finds the bounds of a revision that was received at a time.
pub(super) fn bounds(
    probes: &[RevisionProbe],
    rv: u128,
    received: RecordedAt,
) -> Option<CommitBounds> {
    let below = probes.partition_point(|probe| u128::from(probe.revision) < rv);
    let after = below.checked_sub(1).and_then(|place| probes.get(place));
    let at_or_above = probes.get(below);
    if after.is_none() && at_or_above.is_none() {
        return None;
    }
    let told = at_or_above.map(|probe| probe.answered.1);
    Some(CommitBounds {
        after: after.map(|probe| probe.sent.1),
        before: told.map_or(received, |told| told.min(received)),
    })
}

/// The longest time between the state of a response and its arrival, in microseconds: 30 s.
///
/// The recorder drops later responses.
const LATEST_ANSWER_MICROS: u64 = 30_000_000;

/// Whether a resource shares the sequence of revisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceMember {
    /// Its lists agree with the probes around them.
    Fits,
    /// It is left out of the account.
    LeftOut(AccountExclusion),
}

worded! {
/// Why a resource is left out of the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccountExclusion {
    /// Its versions are not revisions of the cluster's storage.
    CountsForItself = "its versions are not those of the cluster's storage",
    /// No list of it lies between two probes.
    NotKnown = "no list of it lies between two probes",
}
}

/// The evidence of one resource's lists.
#[derive(Clone, Copy, Debug, Default)]
struct ListEvidence {
    fits: bool,
    contradicts: bool,
}

/// The begin of a connection.
#[derive(Clone, Copy, Debug)]
struct ListStart {
    seq: Seq,
    at: SteadyTime,
    epoch: EpochId,
}

/// Judges every resource with a list in an epoch.
pub(super) fn members(
    notes: &[NoteEntry],
    epoch: EpochId,
    probes: &[RevisionProbe],
) -> BTreeMap<ResourceId, SequenceMember> {
    let mut evidence: BTreeMap<ResourceId, ListEvidence> = BTreeMap::new();
    let mut begun: BTreeMap<ConnectionId, ListStart> = BTreeMap::new();
    let mut now = EpochId::default();
    for (session, entry) in session_of(notes) {
        let at = (session, entry.stamp.elapsed.micros);
        match &entry.note {
            Note::Cluster { epoch, .. } => now = *epoch,
            Note::Connected {
                connection,
                resource,
                method,
                ..
            } => {
                let seq = entry.seq;
                begun.insert(
                    *connection,
                    ListStart {
                        seq,
                        at,
                        epoch: now,
                    },
                );
                if now == epoch && *method != ListMethod::Import {
                    evidence.entry(*resource).or_default();
                }
            }
            Note::Synced {
                resource,
                connection,
                rv,
                method: ListMethod::WatchList | ListMethod::Pages,
                ..
            } => {
                let begun = begun.get(connection).filter(|begun| begun.epoch == epoch);
                if let (Some(begun), Ok(rv)) = (begun, rv.parse::<u64>()) {
                    let evidence = evidence.entry(*resource).or_default();
                    weigh(evidence, probes, begun, at, rv);
                }
            }
            _ => {}
        }
    }
    let judged = evidence.into_iter().map(|(resource, evidence)| {
        let member = match evidence {
            ListEvidence {
                contradicts: true, ..
            } => SequenceMember::LeftOut(AccountExclusion::CountsForItself),
            ListEvidence { fits: true, .. } => SequenceMember::Fits,
            ListEvidence { .. } => SequenceMember::LeftOut(AccountExclusion::NotKnown),
        };
        (resource, member)
    });
    judged.collect()
}

/// Compares a list with the probes: its version is not older than the storage at the request, and
/// not newer than the storage at the response.
fn weigh(
    evidence: &mut ListEvidence,
    probes: &[RevisionProbe],
    begun: &ListStart,
    synced: SteadyTime,
    rv: u64,
) {
    let earlier = probes.partition_point(|probe| probe.seq < begun.seq);
    let earlier = probes.get(..earlier).unwrap_or_default();
    let later = probes.iter().find(|probe| probe.sent.0 > synced);
    let long_before = |probe: &&RevisionProbe| {
        let ((session, micros), (asked_in, asked_at)) = (probe.answered.0, begun.at);
        session < asked_in || micros.saturating_add(LATEST_ANSWER_MICROS) <= asked_at
    };
    let floor = earlier.iter().rev().find(long_before);
    if floor.is_some_and(|floor| rv < floor.revision)
        || later.is_some_and(|later| rv > later.revision)
    {
        evidence.contradicts = true;
    }
    if let (Some(before), Some(later)) = (earlier.last(), later) {
        evidence.fits |= (before.revision..=later.revision).contains(&rv);
    }
}

#[cfg(test)]
mod probes_tests {
    use super::*;

    fn probe(revision: u64, sent: i64, answered: i64) -> RevisionProbe {
        let at = |secs| ((1, 0), RecordedAt::from_micros(secs));
        RevisionProbe {
            seq: Seq(0),
            revision,
            sent: at(sent),
            answered: at(answered),
        }
    }

    #[test]
    fn a_revision_lies_between_the_question_that_missed_it_and_the_answer_that_had_it() {
        let probes = [probe(10, 0, 1), probe(14, 20, 22), probe(20, 40, 41)];
        let found_in = |probes: &[RevisionProbe]| bounds(probes, 3, RecordedAt::default());
        let found = |rv, received| {
            let bounds = bounds(&probes, rv, RecordedAt::from_micros(received));
            bounds.map(|bounds| {
                let after = bounds.after.map(|at| at.micros);
                (after, bounds.before.micros)
            })
        };
        assert_eq!(
            found(11, 15),
            Some((Some(0), 15)),
            "received before the answer"
        );
        assert_eq!(found(11, 30), Some((Some(0), 22)), "received late");
        assert_eq!(found(14, 30), Some((Some(0), 22)));
        assert_eq!(found(15, 30), Some((Some(20), 30)));
        assert_eq!(found(10, 30), Some((None, 1)));
        assert_eq!(found(21, 50), Some((Some(40), 50)));
        assert_eq!(found_in(&[]), None);
    }
}

#[cfg(test)]
mod fit_tests {
    use super::*;
    use kubereel_format::RecordedAt;

    fn probe(seq: u64, secs: u64, revision: u64) -> RevisionProbe {
        let at = |secs: u64| ((1, secs * 1_000_000), RecordedAt::default());
        RevisionProbe {
            seq: Seq(seq),
            revision,
            sent: at(secs),
            answered: at(secs),
        }
    }

    fn weighed(begun: (u64, u64), synced_secs: u64, rv: u64) -> (bool, bool) {
        let probes = [probe(1, 10, 100), probe(5, 50, 140), probe(9, 60, 160)];
        let mut evidence = ListEvidence::default();
        let begun = ListStart {
            seq: Seq(begun.0),
            at: (1, begun.1 * 1_000_000),
            epoch: EpochId(0),
        };
        weigh(
            &mut evidence,
            &probes,
            &begun,
            (1, synced_secs * 1_000_000),
            rv,
        );
        (evidence.fits, evidence.contradicts)
    }

    #[test]
    fn a_list_fits_between_the_probes_around_it() {
        assert_eq!(weighed((2, 20), 40, 100), (true, false));
        assert_eq!(weighed((2, 20), 40, 140), (true, false));
        assert_eq!(weighed((2, 20), 40, 141), (false, true), "from the future");
        assert_eq!(
            weighed((6, 51), 52, 139),
            (false, false),
            "may have been long on its way"
        );
        assert_eq!(
            weighed((6, 51), 52, 99),
            (false, true),
            "older than it can be"
        );
        assert_eq!(weighed((0, 1), 2, 90), (false, false), "nothing before it");
        assert_eq!(
            weighed((10, 70), 80, 170),
            (false, false),
            "nothing after it"
        );
    }
}
