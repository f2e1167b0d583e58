//! Owns which `PodDisruptionBudgets` held up a drain: those that allowed no eviction while a Pod of
//! theirs stood on the node. The refusals themselves are answers to requests, which no watch shows.

use super::super::read::{Budget, Pod, Seen};
use super::mark::{Lasting, Mark, Spans};
use super::node_update::NodeUpdate;
use crate::moment::Cut;
use crate::timeline::QueryError;
use crate::timeline::Timeline;
use kubereel_format::{EventType, Seq};
use std::collections::BTreeMap;

/// Shorter holds, in microseconds, are the ordinary turn of replicas: 0.2 s.
const SHORTEST_MICROS: u64 = 200_000;

/// A budget that allowed no eviction while a node was drained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrainHold {
    /// The budget's namespace.
    pub namespace: String,
    /// The budget.
    pub budget: String,
    /// The Pod that stood on the node meanwhile.
    pub pod: String,
    /// When both was so.
    pub span: Lasting,
}

struct BudgetTale {
    namespace: String,
    name: String,
    versions: Vec<Seen<Budget>>,
    /// When it allowed no eviction.
    exhausted: Vec<Lasting>,
}

/// A Pod on a node.
struct Stay {
    name: String,
    labels: BTreeMap<String, String>,
    node: String,
    from: Mark,
    /// When it was asked to go, or was gone.
    to: Option<Mark>,
}

impl Timeline {
    /// Finds what held up the drains of nodes.
    pub(super) fn find_holds(
        &self,
        cut: Cut,
        updates: &mut [NodeUpdate],
    ) -> Result<(), QueryError> {
        let drains = updates.iter().filter_map(|update| update.drain);
        let Some(begin) = drains.map(|drain| drain.from).min() else {
            return Ok(());
        };
        let tracks = self.tracks(("policy", "poddisruptionbudgets"), cut, |_| true);
        let mut budgets = Vec::new();
        for ((namespace, name), seqs) in tracks {
            let versions = self.read_seqs::<Budget>(&seqs)?;
            let mut exhausted = Spans::default();
            for seen in &versions {
                exhausted.note(seen.mark, !seen.is_gone && seen.body.is_exhausted());
            }
            budgets.push(BudgetTale {
                namespace,
                name,
                versions,
                exhausted: exhausted.all(),
            });
        }
        let mut stays: BTreeMap<String, Vec<Stay>> = BTreeMap::new();
        for update in updates {
            let Some(drain) = update.drain else {
                continue;
            };
            for budget in &budgets {
                let overlaps: Vec<Lasting> = budget
                    .exhausted
                    .iter()
                    .filter_map(|span| overlap(*span, drain))
                    .collect();
                if overlaps.is_empty() {
                    continue;
                }
                if !stays.contains_key(&budget.namespace) {
                    let read = self.stays(cut, &budget.namespace, begin)?;
                    stays.insert(budget.namespace.clone(), read);
                }
                let pods = stays.get(&budget.namespace);
                let on_node = pods.into_iter().flatten();
                for pod in on_node.filter(|pod| pod.node == update.node) {
                    let held = budget.held(pod, &overlaps, drain);
                    update.held_by.extend(held);
                }
            }
            update.held_by.sort_by_key(|hold| hold.span.from);
        }
        Ok(())
    }

    /// Reads where the Pods of a namespace stood.
    fn stays(&self, cut: Cut, namespace: &str, begin: Mark) -> Result<Vec<Stay>, QueryError> {
        let mut stays = Vec::new();
        for resource in self.resources_named("", "pods") {
            for &object in self.objects_of(resource) {
                let Some(key) = self.key_of(object).filter(|key| key.namespace == namespace) else {
                    continue;
                };
                let versions = self.reel().versions(object);
                let known = versions.partition_point(|seq| self.is_within(*seq, cut));
                let versions = versions.get(..known).unwrap_or_default();
                // What was gone before the first drain held up none.
                let is_gone = |seq: &Seq| self.reel().kind_of(*seq) == Some(EventType::Deleted);
                let is_over = versions
                    .last()
                    .is_none_or(|last| *last < begin.seq && is_gone(last));
                if !is_over {
                    stays.extend(self.stay(&key.name, versions)?);
                }
            }
        }
        Ok(stays)
    }

    fn stay(&self, name: &str, seqs: &[Seq]) -> Result<Option<Stay>, QueryError> {
        // A Pod gets its node once, and is asked to go once.
        let placed = self.first_of(seqs, |seen| !seen.body.spec.node_name.is_empty())?;
        let Some(first) = placed.and_then(|place| seqs.get(place)) else {
            return Ok(None);
        };
        let left = self.first_of(seqs, |seen| {
            seen.is_gone || seen.body.is_going() || seen.body.is_over()
        })?;
        let pod = self.read_seq::<Pod>(*first)?;
        Ok(Some(Stay {
            name: name.to_owned(),
            labels: pod.body.metadata.labels,
            node: pod.body.spec.node_name,
            from: pod.mark,
            to: left
                .and_then(|place| seqs.get(place))
                .map(|seq| self.mark(*seq)),
        }))
    }

    /// Finds the first version of which something holds that holds ever after.
    fn first_of(
        &self,
        seqs: &[Seq],
        holds: impl Fn(&Seen<Pod>) -> bool,
    ) -> Result<Option<usize>, QueryError> {
        let (mut low, mut high) = (0, seqs.len());
        while low < high {
            let middle = low.midpoint(high);
            let Some(seq) = seqs.get(middle) else {
                break;
            };
            if holds(&self.read_seq(*seq)?) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Ok((low < seqs.len()).then_some(low))
    }
}

impl BudgetTale {
    fn held(&self, pod: &Stay, overlaps: &[Lasting], drain: Lasting) -> Vec<DrainHold> {
        let stay = Lasting {
            from: pod.from,
            to: pod.to,
        };
        let Some(on_node) = overlap(stay, drain) else {
            return Vec::new();
        };
        let budget = self.versions.iter().rev();
        let mut at_drain = budget.skip_while(|seen| seen.mark > on_node.from);
        let budget = at_drain.next().or(self.versions.first());
        let selector = budget.and_then(|seen| seen.body.spec.selector.as_ref());
        if !selector.is_some_and(|selector| selector.selects(&pod.labels)) {
            return Vec::new();
        }
        let spans = overlaps.iter().filter_map(|span| overlap(*span, on_node));
        let end = drain.to.or(pod.to);
        let lasts = |span: &Lasting| {
            // One that is open is as long as the recording makes it.
            span.to.or(end).is_none_or(|to| {
                super::mark::micros_between(span.from.at, to.at) >= SHORTEST_MICROS
            })
        };
        spans
            .filter(lasts)
            .map(|span| DrainHold {
                namespace: self.namespace.clone(),
                budget: self.name.clone(),
                pod: pod.name.clone(),
                span,
            })
            .collect()
    }
}

/// Gives the time that two have in common.
fn overlap(one: Lasting, other: Lasting) -> Option<Lasting> {
    let from = one.from.max(other.from);
    let to = match (one.to, other.to) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    to.is_none_or(|to| from < to)
        .then_some(Lasting { from, to })
}
