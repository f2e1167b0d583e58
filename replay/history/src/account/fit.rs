//! Owns the judgement whether a resource's versions are revisions of the cluster's own storage.
//! Refuses to take it for granted, of any resource: an API of another server, or a storage that was
//! set apart (as that of Events often is), counts for itself.

use super::probes::{Probe, Steady, session_of};
use kubereel_format::{ConnectionId, EpochId, ListMethod, Note, NoteEntry, ResourceId, Seq};
use std::collections::BTreeMap;

/// A request's answer may have been made so long before it came, in microseconds: 30 s.
///
/// The recorder gives up later answers.
const LATEST_ANSWER_MICROS: u64 = 30_000_000;

/// Whether a resource shares the sequence of revisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// Its lists were as far as the probes around them said.
    Fits,
    /// It is left out of the account.
    LeftOut(LeftOut),
}

/// Why a resource is left out of the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOut {
    /// Its versions are none of the cluster's storage: they count something else.
    CountsForItself,
    /// No list of it lies between two probes.
    NotKnown,
}

impl LeftOut {
    /// Gives the words that are shown to people and programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CountsForItself => "its versions are not those of the cluster's storage",
            Self::NotKnown => "no list of it lies between two probes",
        }
    }
}

/// What the lists of one resource say of it.
#[derive(Clone, Copy, Debug, Default)]
struct Evidence {
    fits: bool,
    contradicts: bool,
}

/// Where a connection began.
#[derive(Clone, Copy, Debug)]
struct Begun {
    seq: Seq,
    at: Steady,
    epoch: EpochId,
}

/// Judges every resource that was listed in an epoch.
pub(super) fn members(
    notes: &[NoteEntry],
    epoch: EpochId,
    probes: &[Probe],
) -> BTreeMap<ResourceId, Member> {
    let mut evidence: BTreeMap<ResourceId, Evidence> = BTreeMap::new();
    let mut begun: BTreeMap<ConnectionId, Begun> = BTreeMap::new();
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
                    Begun {
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
            Evidence {
                contradicts: true, ..
            } => Member::LeftOut(LeftOut::CountsForItself),
            Evidence { fits: true, .. } => Member::Fits,
            Evidence { .. } => Member::LeftOut(LeftOut::NotKnown),
        };
        (resource, member)
    });
    judged.collect()
}

/// Holds a list against the probes: it is as new as the storage was when it was asked for, and no newer
/// than when it had come.
fn weigh(evidence: &mut Evidence, probes: &[Probe], begun: &Begun, synced: Steady, rv: u64) {
    let earlier = probes.partition_point(|probe| probe.seq < begun.seq);
    let earlier = probes.get(..earlier).unwrap_or_default();
    let later = probes.iter().find(|probe| probe.sent.0 > synced);
    let long_before = |probe: &&Probe| {
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
mod tests {
    use super::*;
    use kubereel_format::RecordedAt;

    fn probe(seq: u64, secs: u64, revision: u64) -> Probe {
        let at = |secs: u64| ((1, secs * 1_000_000), RecordedAt::default());
        Probe {
            seq: Seq(seq),
            revision,
            sent: at(secs),
            answered: at(secs),
        }
    }

    fn weighed(begun: (u64, u64), synced_secs: u64, rv: u64) -> (bool, bool) {
        let probes = [probe(1, 10, 100), probe(5, 50, 140), probe(9, 60, 160)];
        let mut evidence = Evidence::default();
        let begun = Begun {
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
