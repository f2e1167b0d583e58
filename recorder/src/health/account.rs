//! Summarizes the notes of a run while it is recorded: the way to the cluster, and what the server refused. It is
//! bounded: no more of each kind than a page shows. What the reel holds in the end is read from the reel.

use super::interruption::{InterruptionLine, InterruptionReport};
use crate::number::len64;
use crate::queue::QueueEntry;
use kubereel_format::{
    Elapsed, Lifecycle, NotCoveredReason, Note, REDACTION_PREFIX, RecordedAt, ResourceId, Stamp,
    qualified,
};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many of a kind are kept one by one.
const TOLD: usize = 100;

/// The notes of a run.
#[derive(Debug, Default)]
pub(crate) struct NoteTally {
    account: Mutex<RunAccount>,
    interruptions: Mutex<InterruptionReport>,
}

/// The summary of a run's notes.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunAccount {
    /// When the run began.
    pub(crate) began: Option<RecordedAt>,
    /// The labels of the job.
    pub(crate) labels: Vec<(String, String)>,
    /// The states of the kubeconfig, as texts.
    pub(crate) way: CappedList<(RecordedAt, String)>,
    /// The versions of the recorded clusters.
    pub(crate) clusters: CappedList<String>,
    /// Whether a server ever responded.
    pub(crate) is_reached: bool,
    /// Resources that are not covered although they could be.
    pub(crate) not_covered: CappedList<String>,
    /// The number of marks.
    pub(crate) marks: u64,
    /// What was redacted, as text.
    pub(crate) redaction: Option<String>,
    names: BTreeMap<ResourceId, String>,
}

/// The first of many, and their number.
#[derive(Clone, Debug)]
pub(crate) struct CappedList<T> {
    /// The first.
    pub(crate) kept: Vec<T>,
    /// The number of all, also of those that are not kept.
    pub(crate) all: u64,
}

impl<T> Default for CappedList<T> {
    fn default() -> Self {
        Self {
            kept: Vec::new(),
            all: 0,
        }
    }
}

impl<T> CappedList<T> {
    fn push(&mut self, one: T) {
        self.all = self.all.saturating_add(1);
        if self.kept.len() < TOLD {
            self.kept.push(one);
        }
    }
}

impl NoteTally {
    /// Takes a written note.
    pub(crate) fn take(&self, entry: &QueueEntry) {
        let QueueEntry::Note { stamp, note } = entry else {
            return;
        };
        let mut account = self.lock();
        account.take(*stamp, note);
        let mut interruptions = self.interruptions();
        log(interruptions.take(*stamp, note, |resource| account.name(resource)));
    }

    /// Time passes while these resources are behind: logs what is over.
    pub(crate) fn tick(&self, now: Elapsed, is_behind: impl Fn(ResourceId) -> bool) {
        let account = self.lock();
        let mut interruptions = self.interruptions();
        log(interruptions.tick(now.micros, is_behind, |resource| account.name(resource)));
    }

    fn interruptions(&self) -> MutexGuard<'_, InterruptionReport> {
        let lock = self.interruptions.lock();
        lock.unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the summary.
    pub(crate) fn account(&self) -> RunAccount {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, RunAccount> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn log(line: Option<InterruptionLine>) {
    match line {
        Some(line) if line.is_trouble => tracing::warn!("{}", line.text),
        Some(line) => tracing::info!("{}", line.text),
        None => {}
    }
}

impl RunAccount {
    /// The texts that come from clusters, servers and jobs.
    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let labels = self.labels.iter_mut().map(|(_, value)| value);
        let way = self.way.kept.iter_mut().map(|(_, words)| words);
        labels
            .chain(way)
            .chain(&mut self.clusters.kept)
            .chain(&mut self.not_covered.kept)
            .chain(&mut self.redaction)
    }

    fn take(&mut self, stamp: Stamp, note: &Note) {
        let at = stamp.wall;
        match note {
            Note::SessionStarted { at, .. } => self.began = Some(*at),
            Note::Label { name, value } => self.labels.push((name.clone(), value.clone())),
            Note::Lifecycle(state) => self.way(at, state),
            Note::Cluster { uid, version, .. } => {
                let uid = if uid.is_empty() { "unknown" } else { uid };
                self.clusters.push(format!("{version}, uid {uid}"));
            }
            Note::Resource(info) => {
                let name = info.qualified();
                // It is followed again from where it was refused; what is missing of it is a gap.
                if self.names.contains_key(&info.id) {
                    let of_it = format!("{name} (");
                    let before = self.not_covered.kept.len();
                    self.not_covered.kept.retain(|one| !one.starts_with(&of_it));
                    let again = len64(before - self.not_covered.kept.len());
                    self.not_covered.all = self.not_covered.all.saturating_sub(again);
                }
                self.names.insert(info.id, name);
            }
            Note::NotCovered {
                group,
                version,
                plural,
                reason,
                detail,
            } if is_loss(*reason) => {
                let name = qualified(plural, group);
                let words = reason.as_str();
                self.not_covered
                    .push(format!("{name} ({version}): {words}: {detail}"));
            }
            Note::Mark { .. } => self.marks = self.marks.saturating_add(1),
            Note::Provenance { text } => {
                if let Some(redaction) = text.strip_prefix(REDACTION_PREFIX) {
                    self.redaction = Some(redaction.to_owned());
                }
            }
            _ => {}
        }
    }

    fn way(&mut self, at: RecordedAt, state: &Lifecycle) {
        let words = match state {
            Lifecycle::WaitingForKubeconfig { path } => format!("no kubeconfig at {path}"),
            Lifecycle::KubeconfigUnusable { path, error } => {
                format!("the kubeconfig cannot be used: {error}: {path}")
            }
            Lifecycle::KubeconfigLoaded { path } => format!("kubeconfig loaded: {path}"),
            Lifecycle::Unreachable { error } => format!("the cluster does not answer: {error}"),
            Lifecycle::Reachable => {
                self.is_reached = true;
                "the cluster answers".to_owned()
            }
        };
        self.way.push((at, words));
    }

    fn name(&self, resource: ResourceId) -> String {
        let name = self.names.get(&resource).cloned();
        name.unwrap_or_else(|| format!("resource {}", resource.0))
    }
}

/// Returns whether it means missing data: a resource that is gone, or whose storage another one
/// covers, does not.
const fn is_loss(reason: NotCoveredReason) -> bool {
    matches!(
        reason,
        NotCoveredReason::Forbidden
            | NotCoveredReason::Failing
            | NotCoveredReason::SizeBudget
            | NotCoveredReason::MemoryBudget
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(notes: Vec<Note>) -> RunAccount {
        let tally = NoteTally::default();
        for note in notes {
            let stamp = Stamp::from_micros(1_000_000, 0);
            tally.take(&QueueEntry::Note { stamp, note });
        }
        tally.account()
    }

    #[test]
    fn what_is_no_longer_kept_is_counted() {
        let not = |number| Note::NotCovered {
            group: String::new(),
            version: "v1".to_owned(),
            plural: format!("r{number}"),
            reason: NotCoveredReason::Forbidden,
            detail: String::new(),
        };
        let account = account((0..150).map(not).collect());
        assert_eq!(account.not_covered.all, 150);
        assert_eq!(account.not_covered.kept.len(), TOLD);
    }

    #[test]
    fn only_what_is_missed_is_not_covered() {
        let not = |reason| Note::NotCovered {
            group: String::new(),
            version: "v1".to_owned(),
            plural: "bindings".to_owned(),
            reason,
            detail: String::new(),
        };
        let mut notes = vec![
            not(NotCoveredReason::NoList),
            not(NotCoveredReason::SameStorage),
            not(NotCoveredReason::Forbidden),
        ];
        let refused = account(notes.clone());
        assert_eq!(refused.not_covered.kept, ["bindings (v1): forbidden: "]);
        let info = crate::resource::plain_info(1, "", "bindings");
        notes.push(Note::Resource(info.clone()));
        assert_eq!(
            account(notes.clone()).not_covered.all,
            1,
            "it was never followed"
        );
        notes.push(not(NotCoveredReason::Forbidden));
        notes.push(Note::Resource(info));
        assert_eq!(account(notes).not_covered.all, 0);
    }
}
