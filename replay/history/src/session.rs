//! Owns the story of the recording itself: recorder runs, clusters met. Refuses what
//! happened in the cluster, and outages: `outage` has those.

use kubereel_format::{EpochId, Note, NoteEntry, RecordedAt, Seq, SessionEnd, SessionId};

/// One run of the recorder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
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

/// A cluster that was found behind the kubeconfig.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Its number among those seen.
    pub epoch: EpochId,
    /// The record that names it first.
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
) -> Vec<Session> {
    let mut sessions: Vec<Session> = Vec::new();
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
                sessions.push(Session {
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

/// Reads the clusters met, in order.
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
