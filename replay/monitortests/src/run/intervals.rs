//! A run over a file of intervals: there are no objects, and only Events describe the cluster.

use super::reel::{Missing, RunOptions, choose, judge};
use super::report::{RunReport, RunStats, RunTrust};
use crate::compute::computed_from;
use crate::exception::RunKind;
use crate::facts::{Facts, FactsOverTime, SuiteUpgrades};
use crate::gather::Mode;
use crate::interval::{Interval, Intervals, source};
use crate::unseen::Unseen;
use crate::verdict::MonitorTest;
use std::collections::BTreeSet;

/// Runs monitor tests over intervals that a file holds.
///
/// Where the file has raw intervals only, those of states are computed first. Monitortests that read
/// objects are skipped, and those that ask for what only objects tell of the cluster.
/// `told` holds the facts of the cluster, where they are given.
pub fn run_intervals(
    intervals: Intervals,
    told: &Facts,
    tests: Vec<Box<dyn MonitorTest>>,
    asked: &RunOptions<'_>,
) -> RunReport {
    let intervals = with_states(intervals);
    let is_told = *told != Facts::default();
    let mut told = told.clone();
    told.masters = told.masters.or_else(|| masters(&intervals));
    let suite = SuiteUpgrades::of(&intervals);
    let version = |version: &Option<String>| version.clone().unwrap_or_default();
    let facts = FactsOverTime {
        upgrades: suite.windows(&version(&told.from_version), &version(&told.version)),
        suite,
        steps: vec![(intervals.start(), told)],
        // Only the monitor of OpenShift writes such files, and kubereel in its place.
        is_openshift: true,
        ..FactsOverTime::default()
    };
    let chosen = choose(tests, asked.selection, |test| why_skipped(test, is_told));
    let mut report = RunReport {
        start: intervals.start(),
        end: intervals.end(),
        is_dated: true,
        trust: RunTrust::Intervals,
        kind: RunKind::of(&facts),
        facts,
        outcomes: Vec::new(),
        omitted: Vec::new(),
        work: RunStats {
            events: intervals.all().iter().fold(0, |count, _| count + 1),
            ..RunStats::default()
        },
        intervals,
        upstream: None,
        uses: asked.exceptions.uses(),
        unread: Vec::new(),
        has_lost_records: false,
    };
    judge(&mut report, chosen, None, &Unseen::default(), asked);
    report
}

/// Tells why a monitor test cannot run on intervals.
fn why_skipped(test: &dyn MonitorTest, is_told: bool) -> Option<Missing> {
    let needs = test.needs();
    let objects: Vec<String> = needs.objects.into_iter().chain(needs.any_of).collect();
    if !objects.is_empty() {
        let objects = objects.join(", ");
        let why = format!("a file of intervals has no objects: {objects}");
        return Some(Missing::NotRecorded(why));
    }
    let why = "a file of intervals does not say what cluster it was";
    (needs.facts && !is_told).then(|| Missing::NotRecorded(why.to_owned()))
}

/// Counts the nodes of the control plane, as far as intervals name them.
fn masters(intervals: &Intervals) -> Option<u64> {
    let of_nodes = intervals.of(source::NODE_MONITOR);
    let is_master = |interval: &&Interval| {
        let roles = interval.message.annotation("roles").unwrap_or_default();
        roles
            .split(',')
            .any(|role| matches!(role, "master" | "control-plane"))
    };
    let masters: BTreeSet<&str> = of_nodes
        .filter(is_master)
        .filter_map(|interval| interval.locator.get("node"))
        .collect();
    let count = masters.iter().fold(0, |count, _| count + 1);
    (count > 0).then_some(count)
}

/// Adds the intervals of states, unless the file has them.
fn with_states(intervals: Intervals) -> Intervals {
    let is_computed = |interval: &Interval| {
        let by = interval.message.annotation("constructed");
        by.is_some_and(|by| !by.is_empty())
    };
    if intervals.all().iter().any(is_computed) {
        return intervals;
    }
    let (start, end) = (intervals.start(), intervals.end());
    let mut all = computed_from(&intervals, Mode::Upstream, &[]);
    all.extend(intervals.all().iter().cloned());
    Intervals::new(all, start, end)
}
