//! Summarizes the notes of a run for its report at the end: the kubeconfig, gaps, outages,
//! resources that were not covered. It is bounded: no more of each kind than a page shows.

use super::interruption::{InterruptionLine, InterruptionReport};
use crate::number::len64;
use crate::queue::QueueEntry;
use kubereel_format::{
    Elapsed, Gap, GapId, GapVerdict, Lifecycle, NotCoveredReason, Note, REDACTION_PREFIX,
    RecordedAt, ResourceId, Stamp, qualified,
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
    pub(crate) gaps: CappedList<AccountGap>,
    /// The outages: begin, end, and the failure.
    pub(crate) outages: CappedList<AccountOutage>,
    /// Resources that are not covered although they could be.
    pub(crate) not_covered: CappedList<String>,
    /// The number of marks.
    pub(crate) marks: u64,
    /// What was redacted, as text.
    pub(crate) redaction: Option<String>,
    names: BTreeMap<ResourceId, String>,
    /// The index of each gap among the reported ones.
    judged: BTreeMap<GapId, usize>,
}

/// A reported gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AccountGap {
    pub(crate) resource: String,
    pub(crate) gap: Gap,
    /// Its outcome, if it is known.
    pub(crate) verdict: Option<GapVerdict>,
}

/// An outage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AccountOutage {
    /// The endpoint.
    pub(crate) endpoint: String,
    /// Its begin.
    pub(crate) from: RecordedAt,
    /// Its end; `None` if it lasted to the end.
    pub(crate) to: Option<RecordedAt>,
    /// The failure.
    pub(crate) error: String,
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
        let outages = self.outages.kept.iter_mut().map(|outage| &mut outage.error);
        labels
            .chain(way)
            .chain(outages)
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
            Note::Gap(gap) => self.gap(gap),
            Note::GapJudged {
                gap,
                verdict,
                missing_at_most,
                ..
            } => {
                let place = self.judged.get(gap);
                if let Some(kept) = place.and_then(|place| self.gaps.kept.get_mut(*place)) {
                    kept.verdict = Some(*verdict);
                    kept.gap.missing_at_most = missing_at_most.or(kept.gap.missing_at_most);
                }
            }
            Note::OutageBegan {
                endpoint,
                class,
                error,
                since_micros,
            } => {
                // Saturates: it is a bound of the time, shown to people.
                let since = i64::try_from(*since_micros).unwrap_or(i64::MAX);
                self.outages.push(AccountOutage {
                    endpoint: endpoint.clone(),
                    from: RecordedAt::from_micros(at.micros.saturating_sub(since)),
                    to: None,
                    error: format!("{}: {error}", class.as_str()),
                });
            }
            Note::OutageEnded { endpoint, .. } => self.over(endpoint, at),
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

    fn gap(&mut self, gap: &Gap) {
        let name = self.name(gap.resource);
        if self.gaps.kept.len() < TOLD {
            self.judged.insert(gap.id, self.gaps.kept.len());
        }
        self.gaps.push(AccountGap {
            resource: name,
            gap: gap.clone(),
            verdict: None,
        });
    }

    fn over(&mut self, endpoint: &str, at: RecordedAt) {
        let mut open = self.outages.kept.iter_mut().rev();
        let open = open.find(|outage| outage.to.is_none() && outage.endpoint == endpoint);
        if let Some(outage) = open {
            outage.to = Some(at);
        }
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
    use kubereel_format::{GapCause, OutageClass};

    fn gap(id: u32) -> Note {
        Note::Gap(Gap {
            id: GapId(id),
            resource: ResourceId(7),
            from_rv: None,
            to_rv: "9".to_owned(),
            from_time: RecordedAt::default(),
            to_time: RecordedAt::default(),
            cause: GapCause::Expired,
            missing_at_most: None,
            differences: 0,
        })
    }

    fn account(notes: Vec<Note>) -> RunAccount {
        let tally = NoteTally::default();
        for note in notes {
            let stamp = Stamp::from_micros(1_000_000, 0);
            tally.take(&QueueEntry::Note { stamp, note });
        }
        tally.account()
    }

    #[test]
    fn gaps_are_counted_when_they_are_no_longer_told() {
        let mut notes: Vec<Note> = (0..150).map(gap).collect();
        notes.push(Note::GapJudged {
            gap: GapId(3),
            verdict: GapVerdict::Reconstructed,
            reconstructed: 1,
            missing_at_most: None,
            requests: 1,
            detail: String::new(),
        });
        let account = account(notes);
        assert_eq!(account.gaps.all, 150);
        assert_eq!(account.gaps.kept.len(), TOLD);
        let verdicts: Vec<_> = account.gaps.kept.iter().map(|kept| kept.verdict).collect();
        assert_eq!(verdicts.iter().flatten().count(), 1);
        assert_eq!(verdicts.get(3), Some(&Some(GapVerdict::Reconstructed)));
    }

    #[test]
    fn an_outage_ends_at_its_own_endpoint() {
        let began = |endpoint: &str| Note::OutageBegan {
            endpoint: endpoint.to_owned(),
            class: OutageClass::Connect,
            error: "refused".to_owned(),
            since_micros: 250_000,
        };
        let account = account(vec![
            began("a"),
            began("b"),
            Note::OutageEnded {
                endpoint: "a".to_owned(),
                failed: 2,
            },
        ]);
        let ends: Vec<bool> = account
            .outages
            .kept
            .iter()
            .map(|outage| outage.to.is_some())
            .collect();
        assert_eq!(ends, [true, false]);
        let first = account.outages.kept.first().expect("an outage");
        assert_eq!(first.from.micros, 750_000);
        assert_eq!(first.error, "no connection: refused");
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
