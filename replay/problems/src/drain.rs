//! Which outages are due to Nodes that were drained: the Pods that a Service or a workload lacks were on a Node that
//! took no Pods, and went from there. That an earlier Pod was on such a Node says nothing, once it was replaced.

use crate::collect::{Collected, ControllerRef};
use crate::endpoints::EndpointLoss;
use crate::lookup::{has_word, mark_after, read, resources};
use crate::sign::{Sign, SignKind};
use crate::span::{SLACK, ShownTime, SignEnd, SignSpan, between, is_creation};
use kubereel_cluster::{ClusterHistory, DrainHold, MarkSpan, StatusCondition, is_being_configured};
use kubereel_format::{EventType, ObjectId, RecordedAt, Seq};
use kubereel_history::Timeline;
use kubereel_history::field::{is_being_deleted, number, text};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What a Pod shows, and what its controller or the `EndpointSlice` says of it, come in any order: in microseconds.
const SEEN_WITHIN: i64 = 5_000_000;
/// A controller may count a Pod that went this much later, in microseconds.
const COUNTED_WITHIN: i64 = 10_000_000;
/// A Node that was cordoned before it went away, and is back within this time, was rebooted on purpose.
pub(crate) const REBOOT: Duration = Duration::from_mins(20);
/// The Pods of a Node that was rebooted run again within this time after it is ready.
pub(crate) const RESTARTED: Duration = Duration::from_mins(5);
/// A drain takes no longer than this, in microseconds: what was lost earlier was lost for another reason.
const DRAIN: i64 = 20 * 60 * 1_000_000;

/// The Nodes that took no Pods, and the Pods that went from them.
pub(crate) struct DrainedNodes<'a> {
    timeline: &'a Timeline,
    /// The times in which Nodes took no Pods, with the names of the Nodes.
    cordons: Vec<(&'a str, &'a SignSpan)>,
}

/// A Pod at a time.
struct SeenPod {
    node: String,
    /// Whether its workload counts it among those that it has.
    is_counted: bool,
    /// Whether it goes because somebody asked for its eviction.
    is_evicted: bool,
}

impl<'a> DrainedNodes<'a> {
    pub(crate) fn of(timeline: &'a Timeline, found: &'a Collected) -> Self {
        let spans = found.spans.iter();
        let cordons = spans.filter(|span| span.sign.kind == SignKind::NodeCordoned);
        Self {
            timeline,
            cordons: cordons
                .filter_map(|span| Some((timeline.key_of(span.object)?.name, span)))
                .collect(),
        }
    }

    /// Returns whether a Node shows a sign because it is rebooted as planned.
    pub(crate) fn is_reboot(&self, node: &str, span: &SignSpan) -> bool {
        self.had_cordoned(node, span) || self.was_configured(span)
    }

    /// Returns whether another configuration was being applied to a Node when it went away, and it was rebooted if it
    /// came back: the machine config operator neither drains nor cordons the only Node of a cluster before that.
    fn was_configured(&self, span: &SignSpan) -> bool {
        let versions = self.timeline.reel().versions(span.object);
        let newest = |is_before: &dyn Fn(Seq) -> bool| {
            let last = versions.iter().rev().find(|seq| is_before(**seq));
            last.and_then(|seq| read(self.timeline, *seq))
        };
        let earliest = later(span.from.at, -DRAIN);
        let before = newest(&|seq| seq < span.from.seq || span.is_older && seq == span.from.seq);
        let long_before = newest(&|seq| self.timeline.wall_of(seq) < earliest);
        let back = span
            .end
            .at()
            .and_then(|to| newest(&|seq| self.timeline.wall_of(seq) <= to));
        let is_lost = |before: &Value| {
            let boot = |node| text(node, "/status/nodeInfo/bootID");
            back.as_ref()
                .is_some_and(|back| !boot(back).is_empty() && boot(back) == boot(before))
        };
        before.is_some_and(|before| is_being_configured(&before) && !is_lost(&before))
            && !long_before.is_some_and(|node| is_being_configured(&node))
    }

    /// Returns whether a Node was being drained before and when it shows a sign. Of a cordon and the sign at the first
    /// look, the cordon counts as the earlier one.
    pub(crate) fn had_cordoned(&self, node: &str, span: &SignSpan) -> bool {
        self.cordons.iter().any(|(name, cordon)| {
            *name == node
                && (cordon.from.seq < span.from.seq
                    || span.is_older && cordon.from.seq == span.from.seq)
                && cordon.end.at().is_none_or(|to| to >= span.from.at)
                && self.is_drain(node, cordon, span.from.at)
        })
    }

    /// Returns whether an operator misses a Node only while that is rebooted as planned, and its Pods start again. The
    /// operator may have missed another Node before it.
    pub(crate) fn took_node(&self, found: &Collected, span: &SignSpan) -> bool {
        let to = span.end.at().unwrap_or(self.timeline.end());
        let outages = found.spans.iter().filter_map(|outage| {
            let node = self.timeline.key_of(outage.object)?.name;
            let gone = outage.end.at().unwrap_or(self.timeline.end());
            let is_planned = outage.sign.kind == SignKind::NodeNotReady
                && between(outage.from.at, gone) <= REBOOT
                && self.is_reboot(node, outage);
            let is_during = |at: RecordedAt| {
                between(at, outage.from.at) <= SLACK && between(gone, at) <= RESTARTED
            };
            is_planned.then(|| (node, is_during(span.from.at), is_during(to)))
        });
        let outages: Vec<_> = outages.collect();
        let mut named = outages.iter();
        outages.iter().any(|(_, is_begin, _)| *is_begin)
            && named.any(|(node, _, is_end)| *is_end && has_word(&span.sign.message, node))
    }

    /// Returns whether a Node was being drained at some time between two.
    pub(crate) fn was_cordoned(&self, node: &str, since: RecordedAt, until: RecordedAt) -> bool {
        self.cordons.iter().any(|(name, cordon)| {
            *name == node
                && cordon.from.at <= until
                && cordon.end.at().is_none_or(|to| to >= since)
                && self.is_drain(node, cordon, until)
        })
    }

    /// Returns whether a cordoned Node was being drained shortly before a time: a Node that only takes no more Pods
    /// can be lost as any other.
    fn is_drain(&self, node: &str, cordon: &SignSpan, at: RecordedAt) -> bool {
        let earliest = later(at, -DRAIN);
        cordon.from.at >= earliest || self.has_lost_pods(node, earliest, later(at, SEEN_WITHIN))
    }

    /// Returns whether Pods that a drain evicts went from a Node between two times.
    fn has_lost_pods(&self, node: &str, since: RecordedAt, until: RecordedAt) -> bool {
        let pods = resources(self.timeline, "", "pods").into_iter();
        let mut pods = pods.flat_map(|resource| self.timeline.objects_of(resource));
        let reel = self.timeline.reel();
        pods.any(|pod| {
            let last = reel.versions(*pod).last().copied();
            let last = last.filter(|seq| {
                reel.kind_of(*seq) == Some(EventType::Deleted)
                    && (since..=until).contains(&self.timeline.wall_of(*seq))
            });
            let body = last.and_then(|seq| read(self.timeline, seq));
            body.is_some_and(|body| {
                let owner = ControllerRef::of(&body);
                text(&body, "/spec/nodeName") == node
                    && owner.is_none_or(|owner| !["DaemonSet", "Node"].contains(&&*owner.kind))
            })
        })
    }

    /// Returns whether a Service lost its endpoints because their Pods were drained, each time that it had none.
    pub(crate) fn took_endpoints(
        &self,
        losses: &[EndpointLoss],
        span: &SignSpan,
        by_uid: &BTreeMap<&str, ObjectId>,
    ) -> bool {
        let until = span.end.at().unwrap_or(self.timeline.end());
        let mut own = losses
            .iter()
            .filter(|loss| (span.from.at..=until).contains(&loss.at))
            .peekable();
        let is_known = own.peek().is_some_and(|first| first.at == span.from.at);
        is_known
            && own.all(|loss| {
                let mut pods = loss.pods.iter();
                !loss.pods.is_empty()
                    && pods.all(|uid| {
                        let pod = by_uid.get(uid.as_str());
                        pod.is_some_and(|pod| self.has_drained(*pod, loss.at))
                    })
            })
    }

    /// Returns whether a Pod is gone, going or not ready, on a Node that took no Pods then.
    fn has_drained(&self, pod: ObjectId, at: RecordedAt) -> bool {
        let state = self.pod_at(pod, later(at, SEEN_WITHIN), |pod| {
            is_ready(pod) && !is_being_deleted(pod)
        });
        state.is_some_and(|state| !state.is_counted && self.is_meant(&state, at, at))
    }

    /// Returns whether a workload lacks Pods because they were drained, each time that it did. `turns` are the times
    /// at which it no longer had all that it wants, first that of the sign.
    pub(crate) fn took_pods(
        &self,
        kind: &str,
        pods: &[ObjectId],
        turns: &[RecordedAt],
        span: &SignSpan,
    ) -> bool {
        let Some((first, others)) = turns.split_first() else {
            return false;
        };
        let earliest = later(span.from.at, -DRAIN);
        let since = later(*first, -COUNTED_WITHIN).max(earliest);
        let until = later(span.from.at, SEEN_WITHIN);
        let lost = self.lost_on(kind, pods, since, until);
        !lost.is_empty()
            && lost.iter().all(|pod| self.is_meant(pod, since, until))
            && others.iter().all(|turn| {
                let (since, until) = (later(*turn, -COUNTED_WITHIN), later(*turn, SEEN_WITHIN));
                let lost = self.lost_on(kind, pods, since, until);
                lost.iter().all(|pod| self.is_meant(pod, since, until))
            })
    }

    /// Returns whether a lost Pod went because of a drain or another eviction, which budgets for disruptions allowed.
    fn is_meant(&self, lost: &SeenPod, since: RecordedAt, until: RecordedAt) -> bool {
        lost.is_evicted || self.was_cordoned(&lost.node, since, until)
    }

    /// Returns the Pods that a workload had at a time, and no longer had at a later one, as they were then.
    fn lost_on(
        &self,
        kind: &str,
        pods: &[ObjectId],
        since: RecordedAt,
        until: RecordedAt,
    ) -> Vec<SeenPod> {
        let is_counted = |pod: &Value| {
            // A StatefulSet counts a Pod until it is gone.
            let is_going = kind != "StatefulSet" && is_being_deleted(pod);
            is_ready(pod) && !is_going && ControllerRef::of(pod).is_some()
        };
        let lost = pods.iter().filter_map(|pod| {
            let had = |at| self.pod_at(*pod, at, is_counted);
            let before = had(since).or_else(|| self.first_look(*pod, is_counted))?;
            let after = had(until)?;
            (before.is_counted && !after.is_counted).then_some(after)
        });
        lost.collect()
    }

    /// Finds disruption budgets that allowed no eviction while a cordoned Node had their Pods.
    pub(crate) fn held_drains(&self) -> Vec<SignSpan> {
        let drains: Vec<(&str, MarkSpan)> = self
            .cordons
            .iter()
            .map(|(node, cordon)| {
                let from = cordon.from;
                let to = cordon.end.at().map(|at| mark_after(self.timeline, at));
                (*node, MarkSpan { from, to })
            })
            .collect();
        let history = ClusterHistory::of(self.timeline);
        // A damaged reel does not tell.
        let holds = history.drain_holds(&drains, self.timeline.last_cut());
        let mut held = Vec::new();
        for ((node, _), holds) in drains.iter().zip(holds.unwrap_or_default()) {
            let mut by_budget: BTreeMap<(String, String), Vec<DrainHold>> = BTreeMap::new();
            for hold in holds {
                let key = (hold.namespace.clone(), hold.budget.clone());
                by_budget.entry(key).or_default().push(hold);
            }
            for ((namespace, name), holds) in by_budget {
                held.extend(self.held_drain(&namespace, &name, node, &holds));
            }
        }
        held
    }

    /// Makes a span of the time in which a budget kept Pods on a cordoned Node.
    fn held_drain(
        &self,
        namespace: &str,
        name: &str,
        node: &str,
        holds: &[DrainHold],
    ) -> Option<SignSpan> {
        let from = holds.iter().map(|hold| hold.span.from).min()?;
        let ends: Option<Vec<RecordedAt>> =
            holds.iter().map(|hold| Some(hold.span.to?.at)).collect();
        let to = ends.and_then(|ends| ends.into_iter().max());
        let until = to.unwrap_or(self.timeline.end());
        let mut named = resources(self.timeline, "policy", "poddisruptionbudgets").into_iter();
        let budget = named.find_map(|resource| {
            let lives = self.timeline.lives(resource, namespace, name);
            lives.last().map(|life| life.object)
        })?;
        let versions = self.timeline.reel().versions(budget).iter().rev();
        let mut before = versions.filter(|seq| **seq <= from.seq);
        let body = before.next().and_then(|seq| read(self.timeline, *seq));
        // It allows an eviction once all its Pods are healthy again.
        let waits = body.as_ref().is_some_and(|budget| {
            let of = |field: &str| number(budget, &format!("/status/{field}"));
            let counts = of("desiredHealthy").zip(of("expectedPods"));
            counts.is_some_and(|(healthy, all)| healthy < all)
        });
        let allowed = ["minAvailable", "maxUnavailable"]
            .into_iter()
            .find_map(|field| {
                let value = body.as_ref()?.pointer(&format!("/spec/{field}"))?;
                Some(format!(" ({field} {value})"))
            });
        let pods: BTreeSet<&str> = holds.iter().map(|hold| hold.pod.as_str()).collect();
        let message = format!(
            "no disruption is allowed{} while Node {node} is cordoned with {} of its Pods",
            allowed.unwrap_or_default(),
            pods.len()
        );
        let mut sign = Sign::new(SignKind::DrainHeld, "", &message);
        sign.is_under_way = waits;
        Some(SignSpan {
            object: budget,
            sign,
            from,
            is_older: false,
            end: to.map_or(SignEnd::Open, SignEnd::Recovered),
            shown: ShownTime::of(between(from.at, until)),
            run_from: until,
            seen: from.at,
            was_well: true,
            count: 1,
            node: node.to_owned(),
            reasons: Vec::new(),
            message_from: None,
            began: None,
            closed_by: None,
        })
    }

    /// Reads a Pod as it was at a time; `None` before its first version.
    fn pod_at(
        &self,
        pod: ObjectId,
        at: RecordedAt,
        is_counted: impl Fn(&Value) -> bool,
    ) -> Option<SeenPod> {
        let reel = self.timeline.reel();
        let versions = reel.versions(pod).iter().rev();
        let mut known = versions.filter(|seq| self.timeline.wall_of(**seq) <= at);
        let last = *known.next()?;
        if reel.kind_of(last) != Some(EventType::Deleted) {
            return self.pod_of(last, is_counted);
        }
        let living = self.pod_of(*known.next()?, is_counted)?;
        Some(SeenPod {
            is_counted: false,
            ..living
        })
    }

    /// Reads a Pod that was there before anybody looked.
    fn first_look(&self, pod: ObjectId, is_counted: impl Fn(&Value) -> bool) -> Option<SeenPod> {
        let first = *self.timeline.reel().versions(pod).first()?;
        let was_there = !is_creation(self.timeline, first);
        self.pod_of(first, is_counted).filter(|_| was_there)
    }

    fn pod_of(&self, seq: Seq, is_counted: impl Fn(&Value) -> bool) -> Option<SeenPod> {
        let body = read(self.timeline, seq)?;
        Some(SeenPod {
            node: text(&body, "/spec/nodeName").to_owned(),
            is_counted: is_counted(&body),
            is_evicted: StatusCondition::all(&body)
                .any(|one| one.kind == "DisruptionTarget" && one.reason == "EvictionByEvictionAPI"),
        })
    }
}

fn is_ready(pod: &Value) -> bool {
    StatusCondition::all(pod).any(|one| one.kind == "Ready" && one.is("True"))
}

/// Returns a time some microseconds later.
fn later(at: RecordedAt, micros: i64) -> RecordedAt {
    RecordedAt::from_micros(at.micros.saturating_add(micros))
}
