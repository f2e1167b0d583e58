//! Owns all that one pass over a reel gives to the screen: lanes, and stages of the cluster's
//! life. Refuses to say what looks wrong: `problem` does.

use super::anomaly::{Anomaly, anomalies};
use super::dark::{all_dark, dark_of};
use super::line::{Lane, Reading};
use super::stages::{Stage, stages};
use super::watch::LaneWatcher;
use kubereel_format::{ResourceId, Seq};
use kubereel_history::{Timeline, harmless};
use kubereel_monitortests::{FactsOverTime, Gathering, Mode, feed_while};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// All that one pass gives.
#[derive(Clone, Debug, Default)]
pub(crate) struct Board {
    /// The lanes, in groups.
    pub(crate) lanes: Vec<Lane>,
    /// The stages, in order.
    pub(crate) stages: Vec<Stage>,
    /// What cluster it was, as it came to be known.
    pub(crate) facts: FactsOverTime,
    /// What is odd, in order of time.
    pub(crate) anomalies: Vec<Anomaly>,
    /// The releases of the cluster, in order; empty if it has none.
    pub(crate) releases: Vec<String>,
    /// How many events could not be read.
    pub(crate) unread: usize,
}

/// Reads a reel once; `go_on` ends it early, and then there is nothing.
pub(crate) fn gather(
    timeline: &Timeline,
    mut go_on: impl FnMut(Seq) -> ControlFlow<()>,
) -> Option<Board> {
    let mut watcher = LaneWatcher::default();
    let mut facts = Gathering::only(timeline, Mode::Exact, |_| false);
    let mut watchers = facts.watchers();
    watchers.push(&mut watcher);
    let mut is_ended = false;
    let fed = feed_while(timeline, &mut watchers, |seq| {
        let on = go_on(seq);
        is_ended |= on.is_break();
        on
    });
    drop(watchers);
    if is_ended {
        return None;
    }
    let facts = facts.finish(timeline).facts;
    let mut darks: BTreeMap<ResourceId, Arc<[_]>> = BTreeMap::new();
    let lanes = watcher
        .lanes
        .into_iter()
        .map(|((group, _, _, condition), grown)| {
            let resource = grown.subject.resource;
            let dark = darks
                .entry(resource)
                .or_insert_with(|| dark_of(timeline, resource).into());
            Lane::of(
                (group, grown.subject, condition.map(Arc::from)),
                Reading::State,
                grown.spells,
                Arc::clone(dark),
            )
        });
    let lanes: Vec<Lane> = lanes.collect();
    Some(Board {
        stages: stages(timeline, &facts),
        anomalies: anomalies(timeline, &lanes, &all_dark(timeline)),
        releases: releases(&facts),
        unread: fed.unread.len(),
        lanes,
        facts,
    })
}

fn releases(facts: &FactsOverTime) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for upgrade in facts.upgrades() {
        for version in [&upgrade.from_version, &upgrade.to_version] {
            let version = harmless(version).into_owned();
            if !version.is_empty() && all.last() != Some(&version) {
                all.push(version);
            }
        }
    }
    all
}
