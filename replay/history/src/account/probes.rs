//! Owns the revision clock: between which times a revision was committed, by what probes were told.
//! Refuses a probe that contradicts an earlier one of its epoch.

use kubereel_format::{EpochId, Note, NoteEntry, RecordedAt, Seq};
use std::collections::BTreeMap;

/// A point on the recorder's steady clock: which session, and how long after its start.
pub(super) type Steady = (usize, u64);

/// A probe that was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Probe {
    pub(super) seq: Seq,
    pub(super) revision: u64,
    /// When the question was sent.
    pub(super) sent: (Steady, RecordedAt),
    /// When the answer was complete.
    pub(super) answered: (Steady, RecordedAt),
}

/// Between which times a change was committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitBounds {
    /// It was not yet there when the server was asked then; `None` if it is older than the probes.
    pub after: Option<RecordedAt>,
    /// It was there by then: it had been received, or a probe had been answered.
    pub before: RecordedAt,
}

/// Gives, for each place among the notes, the session it lies in.
pub(super) fn session_of(notes: &[NoteEntry]) -> impl Iterator<Item = (usize, &NoteEntry)> {
    let mut session = 0usize;
    notes.iter().map(move |entry| {
        if matches!(entry.note, Note::SessionStarted { .. }) {
            session = session.saturating_add(1);
        }
        (session, entry)
    })
}

/// Reads the probes of each epoch; their revisions never fall.
pub(super) fn read(notes: &[NoteEntry]) -> BTreeMap<EpochId, Vec<Probe>> {
    let mut probes: BTreeMap<EpochId, Vec<Probe>> = BTreeMap::new();
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
        let took = i64::try_from(*took_micros).unwrap_or(i64::MAX);
        let sent = RecordedAt::from_micros(wall.micros.saturating_sub(took));
        known.push(Probe {
            seq: entry.seq,
            revision,
            sent: ((session, elapsed.saturating_sub(*took_micros)), sent),
            answered: ((session, elapsed), wall),
        });
    }
    probes
}

/// Finds the bounds of a revision that was received at a time.
pub(super) fn bounds(probes: &[Probe], rv: u128, received: RecordedAt) -> Option<CommitBounds> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(revision: u64, sent: i64, answered: i64) -> Probe {
        let at = |secs| ((1, 0), RecordedAt::from_micros(secs));
        Probe {
            seq: Seq(0),
            revision,
            sent: at(sent),
            answered: at(answered),
        }
    }

    #[test]
    fn a_revision_lies_between_the_question_that_missed_it_and_the_answer_that_had_it() {
        let probes = [probe(10, 0, 1), probe(14, 20, 22), probe(20, 40, 41)];
        let found_in = |probes: &[Probe]| bounds(probes, 3, RecordedAt::default());
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
