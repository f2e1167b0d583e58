//! The recorder's runs, the clusters, and the outages, as probes and discovery detected them. A
//! cluster that is not up yet is not an outage, and an outage is not a gap: most lose no event.

use kubereel_format::{
    EpochId, Lifecycle, Note, NoteEntry, OutageClass, RecordedAt, Seq, SessionEnd, SessionId,
};
use std::collections::BTreeMap;

/// One run of the recorder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingSession {
    /// Its number.
    pub id: SessionId,
    /// The recorder's version.
    pub recorder: String,
    /// The redaction policy in force; 0 means that nothing is redacted.
    pub redaction_policy: u32,
    /// The record that begins it.
    pub first: Seq,
    /// When it began.
    pub from: RecordedAt,
    /// When its last record was written.
    pub to: RecordedAt,
    /// How it ended; `None` if it was killed.
    pub end: Option<SessionEnd>,
}

/// A cluster behind the kubeconfig.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Its number among those seen.
    pub epoch: EpochId,
    /// The record that first names it.
    pub first: Seq,
    /// When it was first identified.
    pub from: RecordedAt,
    /// The uid of its namespace `kube-system`; empty if it could not be read.
    pub uid: String,
    /// The server versions seen, in order, without repetition.
    pub versions: Vec<String>,
}

/// Reads the recorder runs; `end` is the time of the reel's last record.
pub(crate) fn sessions(
    notes: &[NoteEntry],
    last_before: impl Fn(Seq) -> Option<RecordedAt>,
    end: RecordedAt,
) -> Vec<RecordingSession> {
    let mut sessions: Vec<RecordingSession> = Vec::new();
    for entry in notes {
        match &entry.note {
            Note::SessionStarted {
                session,
                recorder,
                at,
                redaction_policy,
            } => {
                if let Some(before) = sessions.last_mut()
                    && before.end.is_none()
                {
                    before.to = last_before(entry.seq).unwrap_or(before.from);
                }
                sessions.push(RecordingSession {
                    id: *session,
                    recorder: recorder.clone(),
                    redaction_policy: *redaction_policy,
                    first: entry.seq,
                    from: *at,
                    to: end,
                    end: None,
                });
            }
            Note::SessionEnded { end, .. } => {
                if let Some(session) = sessions.last_mut() {
                    session.end = Some(end.clone());
                    session.to = entry.stamp.wall;
                }
            }
            _ => {}
        }
    }
    sessions
}

/// Reads the clusters, in order.
pub(crate) fn clusters(notes: &[NoteEntry]) -> Vec<Cluster> {
    let mut clusters: Vec<Cluster> = Vec::new();
    for entry in notes {
        let Note::Cluster {
            epoch,
            uid,
            version,
        } = &entry.note
        else {
            continue;
        };
        let known = clusters.iter().position(|cluster| cluster.epoch == *epoch);
        let cluster = match known.and_then(|at| clusters.get_mut(at)) {
            Some(cluster) => cluster,
            None => clusters.push_mut(Cluster {
                epoch: *epoch,
                first: entry.seq,
                from: entry.stamp.wall,
                uid: uid.clone(),
                versions: Vec::new(),
            }),
        };
        if cluster.uid.is_empty() {
            cluster.uid.clone_from(uid);
        }
        if !version.is_empty() && cluster.versions.last() != Some(version) {
            cluster.versions.push(version.clone());
        }
    }
    clusters
}

/// A time without a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    /// When the first failed probe was sent; without probes, when the outage was noticed.
    pub from: RecordedAt,
    /// When a probe succeeded again, or when the session ended.
    pub to: RecordedAt,
    /// The failure.
    pub error: String,
    /// Whether no server had responded yet in that session: a cluster that is not up yet is not an
    /// outage.
    pub is_before_first_answer: bool,
    /// The evidence of probes; `None` if only discovery noticed the outage.
    pub probed: Option<ProbedOutage>,
}

impl Outage {
    /// Returns whether no probe was sent in it: it was the recorder that did not run.
    pub(crate) fn is_pause(&self) -> bool {
        let probed = self.probed.as_ref();
        probed.is_some_and(|probed| probed.failed == Some(0))
    }

    /// Returns whether a server answered, and did not accept the recorder's credentials.
    pub fn is_refusal(&self) -> bool {
        if let Some(probed) = &self.probed {
            return probed.class == OutageClass::Credentials;
        }
        let mut words = self.error.split(|letter: char| !letter.is_alphanumeric());
        words.any(|word| word == "401" || word == "403")
    }
}

/// The evidence of probes about an outage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbedOutage {
    /// The endpoint: scheme, host and port.
    pub endpoint: String,
    /// The class of the first failure.
    pub class: OutageClass,
    /// The number of failed probes; `None` if the session ended in the outage.
    pub failed: Option<u64>,
}

/// Reads the times without a server, in order.
///
/// Discovery notices the same outages as the probes, less exactly: an outage of discovery that
/// overlaps with one of the probes is the same one, and the probes describe it.
pub(crate) fn outages(notes: &[NoteEntry], sessions: &[RecordingSession]) -> Vec<Outage> {
    let mut reading = OutageReader {
        sessions,
        current: None,
        has_answered: false,
        noticed: None,
        failing: BTreeMap::new(),
        by_discovery: Vec::new(),
        by_probes: Vec::new(),
    };
    for entry in notes {
        reading.take(entry);
    }
    reading.end_session();
    let mut outages = reading.by_probes;
    let is_told = |one: &Outage| {
        let mut told = outages.iter();
        told.any(|probed| probed.from <= one.to && one.from <= probed.to)
    };
    let mut others = reading.by_discovery;
    others.retain(|one| !is_told(one));
    outages.append(&mut others);
    outages.sort_by_key(|outage| (outage.from, outage.to));
    outages
}

struct OutageReader<'a> {
    sessions: &'a [RecordingSession],
    current: Option<&'a RecordingSession>,
    has_answered: bool,
    /// The open outage of discovery.
    noticed: Option<Outage>,
    /// The open outages of probes, by endpoint.
    failing: BTreeMap<String, Outage>,
    by_discovery: Vec<Outage>,
    by_probes: Vec<Outage>,
}

impl OutageReader<'_> {
    fn take(&mut self, entry: &NoteEntry) {
        let wall = entry.stamp.wall;
        match &entry.note {
            Note::SessionStarted { session, .. } => self.start_session(*session),
            Note::Lifecycle(Lifecycle::Unreachable { error }) => {
                let is_before_first_answer = !self.has_answered;
                self.noticed.get_or_insert_with(|| Outage {
                    from: wall,
                    to: wall,
                    error: error.clone(),
                    is_before_first_answer,
                    probed: None,
                });
            }
            Note::Lifecycle(Lifecycle::Reachable) => {
                self.has_answered = true;
                if let Some(mut outage) = self.noticed.take() {
                    outage.to = wall;
                    self.by_discovery.push(outage);
                }
            }
            Note::OutageBegan {
                endpoint,
                class,
                error,
                since_micros,
            } => {
                // A damaged file may have any number here; the earliest time is then a valid bound.
                let before = i64::try_from(*since_micros).unwrap_or(i64::MAX);
                let outage = Outage {
                    from: RecordedAt::from_micros(wall.micros.saturating_sub(before)),
                    to: wall,
                    error: error.clone(),
                    is_before_first_answer: false,
                    probed: Some(ProbedOutage {
                        endpoint: endpoint.clone(),
                        class: *class,
                        failed: None,
                    }),
                };
                self.failing.entry(endpoint.clone()).or_insert(outage);
            }
            Note::OutageEnded { endpoint, failed } => {
                if let Some(mut outage) = self.failing.remove(endpoint) {
                    outage.to = wall.max(outage.from);
                    if let Some(probed) = &mut outage.probed {
                        probed.failed = Some(*failed);
                    }
                    self.by_probes.push(outage);
                }
            }
            _ => {}
        }
    }

    fn start_session(&mut self, session: SessionId) {
        self.end_session();
        self.has_answered = false;
        self.current = self.sessions.iter().find(|known| known.id == session);
    }

    /// The end of a session ends the known part of its outage.
    fn end_session(&mut self) {
        let Some(session) = self.current else {
            return;
        };
        if let Some(mut outage) = self.noticed.take() {
            outage.to = session.to.max(outage.from);
            self.by_discovery.push(outage);
        }
        for (_, mut outage) in std::mem::take(&mut self.failing) {
            outage.to = session.to.max(outage.from);
            self.by_probes.push(outage);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_format::{Seq, SessionEnd, Stamp};

    fn notes(all: Vec<(i64, Note)>) -> Vec<NoteEntry> {
        (0u64..)
            .zip(all)
            .map(|(seq, (secs, note))| NoteEntry {
                seq: Seq(seq),
                stamp: Stamp::from_micros(secs * 1_000_000, 0),
                note,
            })
            .collect()
    }

    fn started(session: u32) -> Note {
        Note::SessionStarted {
            session: SessionId(session),
            recorder: String::new(),
            at: RecordedAt::default(),
            redaction_policy: 0,
        }
    }

    fn began(endpoint: &str, since_secs: u64) -> Note {
        Note::OutageBegan {
            endpoint: endpoint.to_owned(),
            class: OutageClass::Connect,
            error: "refused".to_owned(),
            since_micros: since_secs * 1_000_000,
        }
    }

    fn ended(endpoint: &str) -> Note {
        Note::OutageEnded {
            endpoint: endpoint.to_owned(),
            failed: 3,
        }
    }

    fn unreachable() -> Note {
        Note::Lifecycle(Lifecycle::Unreachable {
            error: "no".to_owned(),
        })
    }

    fn reachable() -> Note {
        Note::Lifecycle(Lifecycle::Reachable)
    }

    fn spans(all: Vec<(i64, Note)>) -> Vec<(i64, i64, bool, bool)> {
        let notes = notes(all);
        let end = notes.last().map(|entry| entry.stamp.wall);
        let sessions = sessions(&notes, |_| None, end.unwrap_or_default());
        outages(&notes, &sessions)
            .iter()
            .map(|outage| {
                (
                    outage.from.micros / 1_000_000,
                    outage.to.micros / 1_000_000,
                    outage.is_before_first_answer,
                    outage.probed.is_some(),
                )
            })
            .collect()
    }

    #[test]
    fn probes_tell_what_discovery_notices_too() {
        let told = spans(vec![
            (0, started(0)),
            (1, unreachable()),
            (5, reachable()),
            (20, began("a", 2)),
            (22, unreachable()),
            (30, ended("a")),
            (31, reachable()),
            (50, unreachable()),
            (60, reachable()),
        ]);
        assert_eq!(
            told,
            [
                (1, 5, true, false),
                (18, 30, false, true),
                (50, 60, false, false)
            ]
        );
    }

    #[test]
    fn each_endpoint_fails_by_itself_and_a_session_ends_what_it_ended_in() {
        let told = spans(vec![
            (0, started(0)),
            (10, began("a", 0)),
            (12, began("b", 1)),
            (13, ended("c")),
            (15, ended("b")),
            (
                40,
                Note::SessionEnded {
                    session: SessionId(0),
                    end: SessionEnd::Finished,
                },
            ),
            (50, started(1)),
            (60, ended("a")),
        ]);
        assert_eq!(told, [(10, 40, false, true), (11, 15, false, true)]);
    }
}
