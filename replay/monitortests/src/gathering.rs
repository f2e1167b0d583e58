//! The one way from a reel to its intervals and facts: which watchers take part in the pass, and
//! what becomes of what they note. It does not handle the pass itself: `feed` is that, for all who
//! watch.

use crate::compute::{self, SpanScope};
use crate::facts::{FactsOverTime, FactsWatcher};
use crate::feed::{StateWatcher, Watcher};
use crate::gather::{
    Events, InstantRules, InstantWatcher, Mode, PodName, PodsWatcher, WantedIntervals, conditions,
    recording,
};
use crate::interval::{Interval, Intervals, SharedTexts, source};
use crate::open_ends::end_unobserved;
use crate::unseen::Unseen;
use kubereel_cluster::StateTrack;
use kubereel_history::Timeline;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The watchers that make intervals and find facts.
///
/// ```no_run
/// use kubereel_monitortests::{Gathering, Mode, feed};
///
/// let timeline = kubereel_history::Timeline::open("run.reel".as_ref())?;
/// let mut gathering = Gathering::new(&timeline, Mode::Upstream);
/// feed(&timeline, &mut gathering.watchers(), |_| {});
/// let gathered = gathering.finish(&timeline);
/// # Ok::<(), kubereel_format::OpenError>(())
/// ```
#[derive(Debug)]
pub struct Gathering {
    mode: Mode,
    kept: WantedIntervals,
    facts: FactsWatcher,
    /// Whether installations and upgrades are wanted as intervals.
    has_phases: bool,
    /// The states that spans are views of; none where upstream's rules count.
    states: Option<StateWatcher>,
    instants: Vec<InstantWatcher>,
    pods: Option<PodsWatcher>,
    events: Option<Events>,
}

/// What a pass gave.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct GatheredIntervals {
    /// The intervals, raw and computed, sorted.
    pub intervals: Intervals,
    /// What cluster it was, over time.
    pub facts: FactsOverTime,
}

impl Gathering {
    /// Prepares to gather everything.
    pub fn new(timeline: &Timeline, mode: Mode) -> Self {
        Self::only(timeline, mode, |_| true)
    }

    /// Prepares to gather what the intervals of some sources need: Events and pods take the most
    /// memory. Facts are always found; more sources than asked for may come out.
    pub fn only(timeline: &Timeline, mode: Mode, is_wanted: impl Fn(&str) -> bool) -> Self {
        let start = timeline.start();
        let any = |sources: &[&str]| sources.iter().any(|source| is_wanted(source));
        let events = any(&[
            source::KUBE_EVENT,
            source::NODE_STATE,
            source::API_SERVER_GRACEFUL_SHUTDOWN,
        ]);
        let rules = InstantRules::ALL.into_iter();
        let rules = rules.filter(|rules| any(rules.sources));
        let rules: Vec<&InstantRules> = rules.collect();
        let kinds = rules.iter().filter_map(|rules| rules.state);
        Self {
            mode,
            kept: WantedIntervals::default(),
            facts: FactsWatcher::new(events_group(timeline)),
            has_phases: is_wanted(source::CLUSTER_PHASE),
            states: mode.is_exact().then(|| StateWatcher::new(kinds)),
            instants: rules
                .into_iter()
                .map(|rules| InstantWatcher::new(rules, mode, start))
                .collect(),
            pods: any(&[
                source::POD_MONITOR,
                source::POD_STATE,
                source::STATIC_POD_INSTALL_MONITOR,
            ])
            .then(|| PodsWatcher::new(mode)),
            events: events.then(|| Events::new(mode, start, events_group(timeline))),
        }
    }

    /// Lets it hold some intervals only: of many runs most are those of Events and pods at which nobody
    /// looks.
    pub(crate) fn keep(&mut self, kept: &WantedIntervals) {
        self.kept = kept.clone();
        if let Some(events) = &mut self.events {
            events.keep(kept.clone(), compute::is_computed_from);
        }
    }

    /// Returns the watchers, for `feed`.
    pub fn watchers(&mut self) -> Vec<&mut dyn Watcher> {
        fn dynamic<W: Watcher>(watcher: &mut W) -> &mut dyn Watcher {
            watcher
        }
        let mut watchers = vec![dynamic(&mut self.facts)];
        watchers.extend(self.states.iter_mut().map(dynamic));
        watchers.extend(self.instants.iter_mut().map(dynamic));
        watchers.extend(self.pods.iter_mut().map(dynamic));
        watchers.extend(self.events.iter_mut().map(dynamic));
        watchers
    }

    /// Returns what was gathered, with what is computed from it.
    pub fn finish(self, timeline: &Timeline) -> GatheredIntervals {
        let (start, end) = (timeline.start(), timeline.end());
        let states = self.states.into_iter().flat_map(StateWatcher::into_tracks);
        let tracks: Vec<StateTrack> = states.collect();
        let mut facts = self.facts.into_facts(start);
        facts.is_openshift = is_openshift(timeline);
        facts.no_history = no_history(timeline, &facts);
        let mut few = recording::intervals(timeline, self.mode);
        let instants = self.instants.into_iter();
        few.extend(instants.flat_map(InstantWatcher::into_intervals));
        few.extend(conditions::instants(&tracks));
        if self.has_phases {
            few.extend(facts.spans(timeline, self.mode));
        }
        let (pods, last_pods) = self.pods.map(PodsWatcher::into_parts).unwrap_or_default();
        let (events, nodes) = self.events.map(Events::into_parts).unwrap_or_default();
        let mut raw = few;
        raw.reserve_exact(events.len());
        raw.extend(events.into_intervals());
        let run = SpanScope {
            mode: self.mode,
            start,
            end,
            pods: &last_pods,
            tracks: &tracks,
            kept: &self.kept,
        };
        let mut sieve = Sieve {
            kept: &self.kept,
            nodes,
        };
        // One Pod at a time: the instants of all of them would be most of what a run holds.
        let mut of_pods = Vec::new();
        let mut words = SharedTexts::default();
        for mut pod in pods.into_groups(PodName::of) {
            pod.sort_unstable_by(Interval::state_order);
            of_pods.extend(compute::of_pods(&pod, &run, &mut words));
            raw.extend(
                pod.into_iter()
                    .filter(|one| compute::is_computed_from(one) || sieve.keeps(one)),
            );
        }
        drop(words);
        raw.sort_unstable_by(Interval::state_order);
        let of_others = compute::of_others(&raw, &run);
        raw.retain(|interval| {
            // Of Events and Pods no others are left than those that are kept or were computed from.
            let is_sifted = [source::KUBE_EVENT, source::POD_MONITOR]
                .contains(&interval.source.as_str())
                && !compute::is_computed_from(interval);
            is_sifted || sieve.keeps(interval)
        });
        raw.extend(of_pods);
        raw.extend(of_others.into_iter().filter(|one| self.kept.has(one)));
        if self.mode.is_exact() {
            end_unobserved(&mut raw, timeline);
        }
        GatheredIntervals {
            intervals: Intervals::new(raw, start, end).with_nodes(sieve.nodes),
            facts,
        }
    }
}

/// Lets go of intervals at which nobody looks.
struct Sieve<'a> {
    kept: &'a WantedIntervals,
    /// The nodes of the intervals that it dropped.
    nodes: BTreeSet<Arc<str>>,
}

impl Sieve<'_> {
    /// Returns whether an interval is held.
    fn keeps(&mut self, interval: &Interval) -> bool {
        let is_kept = self.kept.has(interval);
        if !is_kept
            && let Some(node) = interval.locator.keys.get("node")
            && !self.nodes.contains(node)
        {
            self.nodes.insert(Arc::clone(node));
        }
        is_kept
    }
}

/// Returns the group under which Events are read: the same ones lie in both.
fn events_group(timeline: &Timeline) -> &'static str {
    let mut resources = timeline.resources().iter();
    if resources.any(|info| info.group.is_empty() && info.plural == "events") {
        ""
    } else {
        "events.k8s.io"
    }
}

/// The group whose resources every OpenShift cluster has.
const OPENSHIFT: &str = "config.openshift.io";

/// Returns whether the cluster is one of OpenShift: its API, as far as it is recorded or known not
/// to be, has resources of OpenShift's configuration.
fn is_openshift(timeline: &Timeline) -> bool {
    let resources = timeline.resources();
    resources.iter().any(|info| info.group == OPENSHIFT)
        || resources
            .excluded()
            .iter()
            .any(|resource| resource.group == OPENSHIFT)
}

const VERSIONS: &str = "clusterversions.config.openshift.io";

/// Returns why no history of the cluster was seen; `None` if one was, or the cluster has none.
fn no_history(timeline: &Timeline, facts: &FactsOverTime) -> Option<String> {
    let is_seen = facts.install.is_some() || facts.saw_install;
    let unseen = Unseen::of(timeline);
    if is_seen || !facts.is_openshift || !unseen.is_served(VERSIONS) {
        return None;
    }
    unseen.why_missing(VERSIONS).or_else(|| {
        let mut dark = unseen.dark.get(VERSIONS)?.iter();
        dark.next().map(|dark| dark.why.clone())
    })
}
