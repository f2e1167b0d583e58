//! The order of the list: by what is affected, whether it is still so at the end, and whether another problem
//! explains it; among equals, what began first comes first.

use crate::cause::is_about_network_plugin;
use crate::collect::Collected;
use crate::drain::{REBOOT, RESTARTED};
use crate::lookup::{has_word, read, serving_service};
use crate::problem::{NodeFailure, Problem, ProblemObject};
use crate::sign::SignKind;
use crate::span::{SLACK, between};
use kubereel_cluster::RecordMark;
use kubereel_format::RecordedAt;
use kubereel_history::Timeline;
use kubereel_history::field::text;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What one controller reports may be recorded this much later than what another one reports of it.
const SKEW: Duration = Duration::from_secs(10);
/// A Service that loses its endpoints within this time after its selector was changed loses them for that.
const SWITCHED: Duration = Duration::from_secs(15);
/// More problems that explain one another in a row are not put in order.
const MOST_LINKS: usize = 4;

/// The kinds that stand for the Pods that they make.
pub(crate) const WORKLOADS: [&str; 9] = [
    "Deployment",
    "DeploymentConfig",
    "ReplicaSet",
    "ReplicationController",
    "StatefulSet",
    "DaemonSet",
    "Job",
    "CronJob",
    "Rollout",
];

/// Ranks the problems of a reel.
pub(crate) struct ProblemRanking<'a> {
    pub(crate) timeline: &'a Timeline,
    pub(crate) found: &'a Collected,
    /// Returns whether the containers of a problem call a Service.
    pub(crate) calls: &'a dyn Fn(&Problem, &ProblemObject) -> bool,
    /// Returns whether a Pod, by its uid, is one of a workload.
    pub(crate) is_of: &'a dyn Fn(&str, &ProblemObject) -> bool,
}

impl ProblemRanking<'_> {
    /// Scores the problems, and finds which explain which: a problem is known by its object and kind.
    pub(crate) fn rank(&self, problems: &mut [Problem]) -> ExplainedBy {
        for problem in problems.iter_mut() {
            problem.score = self.own_score(problem);
        }
        let mut explained = BTreeMap::new();
        for problem in problems.iter() {
            let others = problems.iter();
            let others = others.filter(|other| self.explains(other, problem));
            // One that was seen a little later explains it only if no earlier one does.
            if let Some(other) = others.min_by_key(|other| other.from > problem.from) {
                explained.insert(key(problem), key(other));
            }
        }
        // What takes a Service away comes before what only keeps a rollout from its end.
        let takes_service: BTreeSet<ProblemKey> = problems
            .iter()
            .filter(|problem| problem.kind == SignKind::NoEndpoints)
            .filter_map(|problem| explained.get(&key(problem)).cloned())
            .collect();
        for problem in problems.iter_mut() {
            if takes_service.contains(&key(problem)) {
                problem.score += 5;
            }
            if explained.contains_key(&key(problem)) {
                problem.score -= 30;
            }
        }
        // A consequence comes after what explains it, also at the end of a chain.
        for _ in 0..MOST_LINKS {
            let scores: BTreeMap<ProblemKey, i32> = problems
                .iter()
                .map(|problem| (key(problem), problem.score))
                .collect();
            for problem in problems.iter_mut() {
                let by = explained.get(&key(problem));
                if let Some(score) = by.and_then(|by| scores.get(by)) {
                    problem.score = problem.score.min(score - 1);
                }
            }
        }
        sort(problems, &explained);
        explained
    }

    /// Scores a problem by itself.
    fn own_score(&self, problem: &Problem) -> i32 {
        let to = problem.to.unwrap_or(self.timeline.end());
        let by_length = match between(problem.from.at, to).as_secs() {
            0..10 => 0,
            10..60 => 2,
            60..600 => 4,
            _ => 6,
        };
        let mut score = problem.kind.weight() + by_length;
        if problem.is_open() {
            score += 6;
        }
        // What was so before anybody looked broke before.
        if problem.is_older {
            score -= 20;
        }
        score
    }

    /// Puts what was planned, and what a planned problem explains, after the others. What outlasts the planned problem
    /// that it began with needs another explanation.
    pub(crate) fn lower_planned(&self, problems: &mut [Problem], explained: &mut ExplainedBy) {
        let end = self.timeline.end();
        let own = problems.iter();
        let own = own.filter(|problem| problem.is_planned || is_drained(problem, end));
        let mut planned: BTreeMap<ProblemKey, Option<RecordedAt>> =
            own.map(|problem| (key(problem), problem.to)).collect();
        // What explains a problem may be explained itself.
        for _ in 0..MOST_LINKS {
            let more = problems.iter().filter(|problem| {
                // An operator says by itself whether it misses only Nodes that are rebooted.
                if matches!(
                    problem.kind,
                    SignKind::OperatorUnavailable | SignKind::OperatorDegraded
                ) {
                    return false;
                }
                let by = explained.get(&key(problem)).and_then(|by| planned.get(by));
                let to = problem.to.unwrap_or(end);
                let most = problem.to.map_or(SLACK, |_| RESTARTED);
                let is_over = |by: RecordedAt| between(by, to) > most;
                by.is_some_and(|by| !by.is_some_and(is_over))
            });
            let more: Vec<_> = more.map(|problem| (key(problem), problem.to)).collect();
            planned.extend(more);
        }
        for problem in problems.iter_mut() {
            if planned.contains_key(&key(problem)) {
                problem.is_planned = true;
                problem.score -= 50;
                continue;
            }
            let by = explained.get(&key(problem));
            if by.is_some_and(|by| planned.contains_key(by)) {
                explained.remove(&key(problem));
                problem.score = self.own_score(problem);
            }
        }
        sort(problems, explained);
    }

    /// Returns whether a problem explains another one.
    fn explains(&self, one: &Problem, other: &Problem) -> bool {
        if one.object == other.object || !was_before(one, other) {
            return false;
        }
        match (one.kind, other.kind) {
            (
                SignKind::OperatorUnavailable | SignKind::OperatorDegraded,
                SignKind::VersionFailing,
            ) => is_named(&one.object.name, other),
            // An operator says which Node it misses.
            (
                SignKind::NodeNotReady | SignKind::NodeRebooted,
                SignKind::OperatorUnavailable | SignKind::OperatorDegraded,
            ) => {
                let mut signs = other.signs.iter();
                signs.any(|sign| has_word(&sign.message, &one.object.name))
            }
            // It also says which workload it waits for.
            (_, SignKind::OperatorUnavailable | SignKind::OperatorDegraded)
                if WORKLOADS.contains(&one.object.kind.as_str()) =>
            {
                let mut signs = other.signs.iter();
                signs.any(|sign| has_workload(&sign.message, &one.object))
            }
            // The program that makes the network of the Node ran on it and failed.
            (_, SignKind::NodeNotReady) if one.object.kind == "DaemonSet" => {
                takes_network_away(one, other)
            }
            (SignKind::NodeNotReady | SignKind::NodeRebooted | SignKind::NodePressure, _)
                if other.object.kind != "Node" =>
            {
                self.began_on(other, one)
                    && !matches!(other.kind, SignKind::ImagePull | SignKind::DrainHeld)
                    && !takes_network_away(other, one)
            }
            (SignKind::ClaimPending, SignKind::Unschedulable | SignKind::PodPending) => {
                one.object.namespace == other.object.namespace
                    && other
                        .message
                        .to_lowercase()
                        .contains("persistentvolumeclaim")
            }
            (SignKind::PoolDegraded, SignKind::OperatorDegraded) => {
                other.object.name == "machine-config"
            }
            // A Service is as well as the Pods behind it.
            (_, SignKind::NoEndpoints) if WORKLOADS.contains(&one.object.kind.as_str()) => {
                self.is_behind(one, other) && !self.is_switched(other)
            }
            (SignKind::NamespaceStuck, SignKind::DeletionStuck) => {
                one.object.name == other.object.namespace
            }
            (SignKind::NoEndpoints, SignKind::ApiService) => {
                let body = read(self.timeline, other.kind_from.seq);
                body.is_some_and(|body| {
                    let service = (one.object.namespace.as_str(), one.object.name.as_str());
                    serving_service(&body) == service
                })
            }
            // What calls a Service that nothing serves fails.
            (
                SignKind::NoEndpoints,
                SignKind::ContainerExit
                | SignKind::JobFailed
                | SignKind::Probe
                | SignKind::PodPending,
            ) => (self.calls)(other, &one.object) && !self.is_behind(other, one),
            // The words hold the address that was called.
            (SignKind::NoEndpoints, SignKind::Webhook) => {
                let service = &one.object;
                let host = format!("//{}.{}.svc", service.name, service.namespace);
                other.message.contains(&host)
            }
            (SignKind::Webhook, _) => quoting(one, other).is_some(),
            _ => false,
        }
    }

    /// Returns whether a Pod that a problem is about was on a Node before that was well again.
    fn began_on(&self, problem: &Problem, node: &Problem) -> bool {
        let Some(first) = problem.failure_on_node() else {
            return false;
        };
        let bound = || {
            let mut versions = self.timeline.reel().versions(first.pod).iter();
            versions.find(|seq| {
                read(self.timeline, **seq)
                    .is_some_and(|pod| text(&pod, "/spec/nodeName") == first.node)
            })
        };
        first.node == node.object.name
            && node
                .to
                .is_none_or(|to| bound().is_some_and(|seq| self.timeline.wall_of(*seq) <= to))
    }

    /// Returns whether the selector of a Service was changed just before it had no endpoints: that took the
    /// old Pods away from it.
    fn is_switched(&self, service: &Problem) -> bool {
        let (own, from) = (&service.object, service.from);
        let lives = own.resource.map(|resource| {
            let (namespace, name) = (&own.namespace, &own.name);
            self.timeline.lives(resource, namespace, name)
        });
        let versions = lives.into_iter().flatten().flat_map(|life| {
            let versions = self.timeline.reel().versions(life.object).iter();
            versions.copied().filter(|seq| *seq <= from.seq)
        });
        let selectors: Vec<(RecordedAt, Value)> = versions
            .filter_map(|seq| {
                let body = read(self.timeline, seq)?;
                let selector = body.pointer("/spec/selector").cloned();
                Some((self.timeline.wall_of(seq), selector.unwrap_or_default()))
            })
            .collect();
        selectors.windows(2).any(|pair| match pair {
            [(_, old), (at, new)] => old != new && between(*at, from.at) <= SWITCHED,
            _ => false,
        })
    }

    /// Returns whether Pods of a workload with a problem were behind a Service.
    fn is_behind(&self, workload: &Problem, service: &Problem) -> bool {
        if workload.object.namespace != service.object.namespace {
            return false;
        }
        let mut uids = self
            .found
            .services
            .pods_of(&service.object.namespace, &service.object.name);
        uids.any(|uid| {
            let of_uid = workload
                .shown_by
                .iter()
                .filter_map(|id| self.timeline.key_of(*id));
            of_uid.into_iter().any(|key| key.uid == *uid) || (self.is_of)(uid, &workload.object)
        })
    }
}

/// Returns whether a failing `ClusterVersion` names an operator. If it named operators when it began, those that
/// failed later are not what it began with.
fn is_named(operator: &str, version: &Problem) -> bool {
    let first = version.signs.first();
    let began = first.map(|first| first.began.as_deref().unwrap_or(&first.message));
    if let Some(began) = began.filter(|began| began.to_lowercase().contains("cluster operator")) {
        return has_word(began, operator);
    }
    let mut signs = version.signs.iter();
    signs.any(|sign| has_word(&sign.message, operator))
}

/// Returns whether a text names a workload: as `namespace/name` or as `name.namespace`.
fn has_workload(text: &str, workload: &ProblemObject) -> bool {
    let (namespace, name) = (&workload.namespace, &workload.name);
    let [path, host] = [format!("{namespace}/{name}"), format!("{name}.{namespace}")];
    let mut words =
        text.split(|letter: char| !(letter.is_alphanumeric() || "-./".contains(letter)));
    words.any(|word| {
        let word = word.trim_start_matches('/').trim_end_matches('.');
        word == path || word == host
    })
}

/// Returns when a problem first quoted the words of a webhook that failed.
fn quoting(webhook: &Problem, other: &Problem) -> Option<RecordedAt> {
    let words = webhook.message.split(": ").next().unwrap_or_default();
    let signs = other.signs.iter();
    let quoting = signs.filter(|sign| sign.message.contains(words));
    quoting.map(|sign| sign.from.at).min()
}

/// Returns whether a problem began before another one, and was not over long before it.
fn was_before(one: &Problem, other: &Problem) -> bool {
    let from = match (one.kind, other.failure_on_node()) {
        // What other Nodes have to do with it does not count.
        (
            SignKind::NodeNotReady | SignKind::NodeRebooted | SignKind::NodePressure,
            Some(failure),
        ) => failure.from.at,
        // It is called until it times out, and only then are there words for it.
        (SignKind::Webhook, _) => quoting(one, other).unwrap_or(other.from.at),
        _ => other.from.at,
    };
    let is_earlier = between(from, one.from.at) <= noticed_within(one, other);
    // The containers of a Node that was rebooted are started again one after the other.
    let later = match one.kind {
        SignKind::NodeRebooted if !one.is_planned => RESTARTED,
        _ => SLACK,
    };
    is_earlier && one.to.is_none_or(|to| between(to, from) <= later)
}

/// Returns how much later than its consequence a problem may be noticed: it must have begun before.
fn noticed_within(one: &Problem, other: &Problem) -> Duration {
    match (one.kind, other.kind) {
        // The API server looks at the endpoints.
        (SignKind::NoEndpoints, SignKind::ApiService) => SKEW,
        // A Node that is lost is waited for, and a Pod behind a Service fails several probes; what ran on the one or
        // calls the other fails at once.
        (SignKind::NodeNotReady | SignKind::NodePressure | SignKind::NoEndpoints, _)
        // The Pods that a Service had are gone before their successors fail, and a ClusterVersion that fails again
        // names what fails last.
        | (_, SignKind::NoEndpoints | SignKind::VersionFailing) => SLACK,
        _ => SKEW,
    }
}

/// Returns whether a Node has no network because the Pod of a `DaemonSet` that makes it failed there before.
fn takes_network_away(workload: &Problem, node: &Problem) -> bool {
    let is_there = |one: &NodeFailure| one.node == node.object.name && one.from < node.from;
    workload.object.kind == "DaemonSet"
        && workload.nodes.iter().any(is_there)
        && is_about_network_plugin(&node.message.to_lowercase())
}

/// What a problem is known by while the list is sorted.
type ProblemKey = (ProblemObject, SignKind, RecordMark);

/// The problem that explains another.
pub(crate) type ExplainedBy = BTreeMap<ProblemKey, ProblemKey>;

fn key(problem: &Problem) -> ProblemKey {
    (problem.object.clone(), problem.kind, problem.from)
}

/// Sorts the problems, and notes the places of those that explain others.
fn sort(problems: &mut [Problem], explained: &ExplainedBy) {
    problems.sort_by_key(|problem| (-problem.score, problem.from, problem.object.clone()));
    let places: BTreeMap<ProblemKey, usize> = problems
        .iter()
        .enumerate()
        .map(|(at, problem)| (key(problem), at))
        .collect();
    for problem in problems {
        let by = explained.get(&key(problem));
        problem.consequence_of = by.and_then(|by| places.get(by).copied());
    }
}

/// Returns whether Pods waited for a Node only while others were being drained.
fn is_drained(problem: &Problem, end: RecordedAt) -> bool {
    let is_cordon = problem
        .causes
        .first()
        .is_some_and(|cause| cause.object.kind == "Node" && cause.field == "spec.unschedulable");
    let mut signs = problem.signs.iter();
    let is_short = signs.all(|sign| between(sign.from.at, sign.to.unwrap_or(end)) <= REBOOT);
    is_cordon && is_short && problem.kind == SignKind::Unschedulable
}
