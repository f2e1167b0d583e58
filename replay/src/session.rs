//! Owns the story of the recording itself: recorder runs, clusters met, times without a server.
//! Refuses what happened in the cluster.

use kubereel_format::{
    EpochId, Lifecycle, Note, NoteEntry, RecordedAt, Seq, SessionEnd, SessionId,
};

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

/// A time in which the recorder had no server to talk to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    /// When it was noticed.
    pub from: RecordedAt,
    /// When it was over, or when the session ended in it.
    pub to: RecordedAt,
    /// What happened instead of an answer.
    pub error: String,
    /// Whether no server had answered yet in that session: a cluster that is not up yet is no outage.
    pub is_before_first_answer: bool,
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

/// Reads the times without a server, in order.
pub(crate) fn outages(notes: &[NoteEntry], sessions: &[Session]) -> Vec<Outage> {
    let mut outages = Vec::new();
    let mut open: Option<Outage> = None;
    let mut has_answered = false;
    let mut current: Option<&Session> = None;
    for entry in notes {
        match &entry.note {
            Note::SessionStarted { session, .. } => {
                // A session that ended in an outage ends the outage's known part.
                if let (Some(mut outage), Some(session)) = (open.take(), current) {
                    outage.to = session.to;
                    outages.push(outage);
                }
                has_answered = false;
                current = sessions.iter().find(|known| known.id == *session);
            }
            Note::Lifecycle(Lifecycle::Unreachable { error }) => {
                open.get_or_insert_with(|| Outage {
                    from: entry.stamp.wall,
                    to: entry.stamp.wall,
                    error: error.clone(),
                    is_before_first_answer: !has_answered,
                });
            }
            Note::Lifecycle(Lifecycle::Reachable) => {
                has_answered = true;
                if let Some(mut outage) = open.take() {
                    outage.to = entry.stamp.wall;
                    outages.push(outage);
                }
            }
            _ => {}
        }
    }
    if let (Some(mut outage), Some(session)) = (open, current) {
        outage.to = session.to;
        outages.push(outage);
    }
    outages
}
