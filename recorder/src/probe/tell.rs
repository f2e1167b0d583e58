//! Owns what is written of the probes: which answers are worth a note, when an outage begins and when
//! it ends. Refuses to ask, and to wait.

use crate::watch::version::Version;
use kubereel_format::{Elapsed, EpochId, Note, OutageClass, Stamp};
use std::cmp::Ordering;

/// How long a revision that does not move may go without a note, in microseconds: 30 s.
const SILENT_MICROS: u64 = 30_000_000;

/// A probe that was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// Whose history.
    pub(super) epoch: u32,
    /// How far it has come.
    pub(super) revision: Version,
    /// When the question was sent.
    pub(super) sent: Elapsed,
    /// When the answer was complete.
    pub(super) stamp: Stamp,
}

/// How an endpoint does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Answers,
    /// So many probes failed.
    Fails(u64),
}

/// What was told until now.
#[derive(Debug, Default)]
pub(super) struct Telling {
    last: Option<Answer>,
    endpoint: String,
    /// Nothing was ever answered: then the recorder waits for a cluster, and that is no outage.
    standing: Option<Standing>,
}

impl Telling {
    /// Tells whether the endpoint fails at the moment.
    pub(super) const fn is_failing(&self) -> bool {
        matches!(self.standing, Some(Standing::Fails(_)))
    }

    /// Takes the endpoint that is asked next; one that failed and is not asked any more fails no
    /// longer.
    pub(super) fn ask(&mut self, endpoint: &str) -> Option<Note> {
        if self.endpoint == endpoint {
            return None;
        }
        let before = std::mem::replace(&mut self.endpoint, endpoint.to_owned());
        match self.standing {
            Some(Standing::Fails(failed)) => {
                self.standing = Some(Standing::Answers);
                Some(Note::OutageEnded {
                    endpoint: before,
                    failed,
                })
            }
            Some(Standing::Answers) | None => None,
        }
    }

    /// Takes a probe that failed, sent and told then, and gives the note of an outage that begins.
    pub(super) fn failed(
        &mut self,
        class: OutageClass,
        error: &str,
        sent: Elapsed,
        told: Elapsed,
    ) -> Option<Note> {
        match &mut self.standing {
            None => None,
            Some(Standing::Fails(failed)) => {
                *failed = failed.saturating_add(1);
                None
            }
            Some(standing) => {
                *standing = Standing::Fails(1);
                Some(Note::OutageBegan {
                    endpoint: self.endpoint.clone(),
                    class,
                    error: error.to_owned(),
                    since_micros: told.micros.saturating_sub(sent.micros),
                })
            }
        }
    }

    /// Takes a probe that was answered, and gives the note of an outage that ended with it.
    pub(super) fn answered(&mut self) -> Option<Note> {
        let before = self.standing.replace(Standing::Answers);
        let Some(Standing::Fails(failed)) = before else {
            return None;
        };
        Some(Note::OutageEnded {
            endpoint: self.endpoint.clone(),
            failed,
        })
    }

    /// Tells whether the history that answers has fallen back behind what it said before.
    pub(super) fn has_fallen(&self, answer: &Answer) -> bool {
        self.last.as_ref().is_some_and(|last| {
            last.epoch == answer.epoch
                && answer.revision.order(&last.revision) == Some(Ordering::Less)
        })
    }

    /// Gives the note of an answer, if it says anything new.
    pub(super) fn probed(&self, answer: &Answer) -> Option<Note> {
        let says_nothing_new = self.last.as_ref().is_some_and(|last| {
            let silent = answer
                .stamp
                .elapsed
                .micros
                .saturating_sub(last.stamp.elapsed.micros);
            last.epoch == answer.epoch && last.revision == answer.revision && silent < SILENT_MICROS
        });
        if says_nothing_new || self.has_fallen(answer) {
            return None;
        }
        Some(Note::Probed {
            epoch: EpochId(answer.epoch),
            revision: answer.revision.to_string(),
            took_micros: answer
                .stamp
                .elapsed
                .micros
                .saturating_sub(answer.sent.micros),
        })
    }

    /// Takes the answer whose note is on its way to the file.
    pub(super) fn told(&mut self, answer: Answer) {
        self.last = Some(answer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_format::RecordedAt;

    const fn at(secs: u64) -> Elapsed {
        Elapsed {
            micros: secs * 1_000_000,
        }
    }

    fn answer(epoch: u32, revision: u64, secs: u64) -> Answer {
        Answer {
            epoch,
            revision: Version::Number(revision),
            sent: at(secs),
            stamp: Stamp {
                wall: RecordedAt::default(),
                elapsed: at(secs + 1),
            },
        }
    }

    #[test]
    fn a_revision_that_rests_is_told_every_half_minute() {
        let mut telling = Telling::default();
        let mut told = Vec::new();
        for secs in (0..100).step_by(2) {
            let answer = answer(0, if secs < 80 { 7 } else { secs }, secs);
            if let Some(note) = telling.probed(&answer) {
                let Note::Probed { took_micros, .. } = note else {
                    panic!("{note:?}");
                };
                assert_eq!(took_micros, 1_000_000);
                telling.told(answer);
                told.push(secs);
            }
        }
        assert_eq!(told, [0, 30, 60, 80, 82, 84, 86, 88, 90, 92, 94, 96, 98]);
    }

    #[test]
    fn what_was_not_written_is_told_again() {
        let mut telling = Telling::default();
        assert!(telling.probed(&answer(0, 7, 0)).is_some());
        assert!(
            telling.probed(&answer(0, 7, 2)).is_some(),
            "the queue was full"
        );
        telling.told(answer(0, 7, 2));
        assert_eq!(telling.probed(&answer(0, 7, 4)), None);
    }

    #[test]
    fn a_fallen_revision_is_another_history_and_told_only_in_another_epoch() {
        let mut telling = Telling::default();
        telling.told(answer(0, 7, 0));
        assert!(telling.has_fallen(&answer(0, 6, 2)));
        assert_eq!(telling.probed(&answer(0, 6, 2)), None);
        assert!(!telling.has_fallen(&answer(1, 6, 4)));
        assert!(telling.probed(&answer(1, 6, 4)).is_some());
    }

    #[test]
    fn an_outage_begins_with_the_first_failure_and_ends_with_the_first_answer() {
        let mut telling = Telling::default();
        assert_eq!(telling.ask("https://a:1"), None);
        let failed = |telling: &mut Telling, secs| {
            telling.failed(OutageClass::Connect, "refused", at(secs), at(secs + 3))
        };
        assert_eq!(failed(&mut telling, 0), None, "nothing was ever answered");
        assert_eq!(telling.answered(), None);
        assert_eq!(
            failed(&mut telling, 2),
            Some(Note::OutageBegan {
                endpoint: "https://a:1".to_owned(),
                class: OutageClass::Connect,
                error: "refused".to_owned(),
                since_micros: 3_000_000,
            })
        );
        assert_eq!(failed(&mut telling, 3), None);
        assert!(telling.is_failing());
        let ended = |endpoint: &str, failed| {
            Some(Note::OutageEnded {
                endpoint: endpoint.to_owned(),
                failed,
            })
        };
        assert_eq!(telling.answered(), ended("https://a:1", 2));
        assert!(failed(&mut telling, 9).is_some());
        assert_eq!(telling.ask("https://b:1"), ended("https://a:1", 1));
        assert!(!telling.is_failing());
    }
}
