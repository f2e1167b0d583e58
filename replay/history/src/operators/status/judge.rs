//! Owns the judgement of a whole cluster at a moment, by the rules of `oc adm upgrade status`, and where
//! it finds its objects.

use super::super::pool_of;
use super::super::read::{
    ClusterOperator, ClusterVersion, HistoryEntry, MachineConfig, Node, Pool, Seen, find,
};
use super::answer::{
    Assessment, Impact, Insight, InsightLevel, OperatorCounts, Origin, PoolState, UpdateStatus,
};
use super::nodes::Release;
use super::{estimate, insights, nodes};
use crate::moment::Cut;
use crate::select::ObjectFilter;
use crate::timeline::QueryError;
use crate::timeline::Timeline;
use kubereel_format::RecordedAt;
use serde::Deserialize;
use std::collections::BTreeMap;

const CONFIG: &str = "config.openshift.io";
const MACHINES: &str = "machineconfiguration.openshift.io";

const MACHINE_CONFIG: &str = "machine-config";
const CONTROL_PLANE: &str = "master";

/// Beyond its estimate by less than this an update is slow, beyond that it stalls: 10 min.
const SLOW_SECS: i64 = 10 * 60;

impl Timeline {
    /// Judges the update of the cluster at a moment; `None` if there was no `ClusterVersion` then.
    ///
    /// Ages are counted to `now`, or to the moment if none is given.
    ///
    /// # Errors
    /// When the reel is damaged there, or a version is no object.
    pub fn update_status(
        &self,
        cut: Cut,
        now: Option<RecordedAt>,
    ) -> Result<Option<UpdateStatus>, QueryError> {
        let versions = self.held::<ClusterVersion>((CONFIG, "clusterversions"), "", cut)?;
        let Some(version) = versions.get("version") else {
            return Ok(None);
        };
        let now = now.unwrap_or_else(|| self.told_at(cut));
        let operators = self.held::<ClusterOperator>((CONFIG, "clusteroperators"), "", cut)?;
        let payload: BTreeMap<&String, &ClusterOperator> = operators
            .iter()
            .filter(|(_, operator)| operator.is_of_payload())
            .collect();
        let image = self.machine_config_image(cut)?;
        let counts = counts(version, &payload, image.as_deref());
        let is_done = counts.total > 0 && counts.updated == counts.total;
        let mut insights = Vec::new();
        insights::of_version(version, is_done, now, &mut insights);
        for (name, operator) in &payload {
            insights::of_operator(name, operator, now, &mut insights);
        }
        let progressing = find(&version.status.conditions, "Progressing");
        let is_progressing = progressing.is_some_and(|said| said.is("True"));
        // To a cluster that migrated nothing tells of nodes that still do: their version stays.
        let is_migrating = is_progressing && is_migration(version);
        let pools = self.pools(version, is_migrating, cut, now, &mut insights)?;
        let mut status = began(version, counts, now);
        let is_lagging = pools
            .iter()
            .any(|pool| pool.name != CONTROL_PLANE && pool.updated() < pool.nodes.len());
        status.is_updating = is_progressing || is_lagging;
        status.pools = pools;
        assess(&mut status, version, &payload);
        status.insights = in_order(insights, &status);
        Ok(Some(status))
    }

    /// Reads the objects of a resource that held at a moment, by name.
    fn held<T>(
        &self,
        (group, plural): (&str, &str),
        namespace: &str,
        cut: Cut,
    ) -> Result<BTreeMap<String, T>, QueryError>
    where
        T: Default + for<'de> Deserialize<'de>,
    {
        self.held_named((group, plural), namespace, &[], cut)
    }

    fn held_named<T>(
        &self,
        (group, plural): (&str, &str),
        namespace: &str,
        names: &[String],
        cut: Cut,
    ) -> Result<BTreeMap<String, T>, QueryError>
    where
        T: Default + for<'de> Deserialize<'de>,
    {
        let filter = ObjectFilter {
            namespace: Some(namespace),
            names,
        };
        let mut held = BTreeMap::new();
        for resource in self.resources_named(group, plural) {
            for one in self.as_of(resource, cut, &filter).objects {
                let seen: Seen<T> = self.read_seq(one.seq)?;
                held.insert(one.name, seen.body);
            }
        }
        Ok(held)
    }

    /// Gives the image of the machine-config operator, by its Deployment; `None` if it was not recorded.
    fn machine_config_image(&self, cut: Cut) -> Result<Option<String>, QueryError> {
        let names = ["machine-config-operator".to_owned()];
        let namespace = "openshift-machine-config-operator";
        let held =
            self.held_named::<serde_json::Value>(("apps", "deployments"), namespace, &names, cut)?;
        let containers = held
            .into_values()
            .next()
            .and_then(|body| body.pointer("/spec/template/spec/containers").cloned());
        let images = containers.as_ref().and_then(serde_json::Value::as_array);
        let of_operator = images.into_iter().flatten().find(|container| {
            container.get("name").and_then(serde_json::Value::as_str)
                == Some("machine-config-operator")
        });
        let image = of_operator.and_then(|container| container.get("image")?.as_str());
        Ok(image.map(str::to_owned))
    }

    fn pools(
        &self,
        version: &ClusterVersion,
        is_migrating: bool,
        cut: Cut,
        now: RecordedAt,
        insights: &mut Vec<Insight>,
    ) -> Result<Vec<PoolState>, QueryError> {
        let pools = self.held::<Pool>((MACHINES, "machineconfigpools"), "", cut)?;
        let all = self.held::<Node>(("", "nodes"), "", cut)?;
        let noted = all
            .values()
            .flat_map(|node| ["currentConfig", "desiredConfig"].map(|name| node.noted(name)));
        let mut names: Vec<String> = noted.map(str::to_owned).collect();
        names.sort_unstable();
        names.dedup();
        let configs =
            self.held_named::<MachineConfig>((MACHINES, "machineconfigs"), "", &names, cut)?;
        let releases: BTreeMap<String, String> = configs
            .into_iter()
            .map(|(name, config)| (name, config.release().to_owned()))
            .collect();
        let release = Release::of(version, is_migrating, &releases, now);
        let mut states = Vec::new();
        for (name, pool) in &pools {
            let of_pool: Vec<(&str, &Node)> = all
                .iter()
                .filter(|(_, node)| pool_of(&pools, node.labels()) == Some(name))
                .map(|(name, node)| (name.as_str(), node))
                .collect();
            states.push(nodes::pool(name, pool, &of_pool, &release, insights));
        }
        states.sort_by_key(|pool| pool.name != CONTROL_PLANE);
        Ok(states)
    }
}

/// Tells whether a cluster moves to another image of the version that it has.
fn is_migration(version: &ClusterVersion) -> bool {
    match version.status.history.as_slice() {
        [newest, previous, ..] => {
            newest.version == previous.version && newest.image != previous.image
        }
        _ => false,
    }
}

fn counts(
    version: &ClusterVersion,
    operators: &BTreeMap<&String, &ClusterOperator>,
    image: Option<&str>,
) -> OperatorCounts {
    let mut counts = OperatorCounts::default();
    for (name, operator) in operators {
        counts.total += 1;
        let is_updated = is_updated(version, name, operator, image);
        if is_updated {
            counts.updated += 1;
        } else if operator.is("Progressing", "True") {
            counts.updating.push((*name).clone());
        } else if operator.is("Progressing", "False") {
            counts.waiting.push((*name).clone());
        }
        if !operator.is("Available", "True") {
            counts.unavailable.push((*name).clone());
        } else if operator.is("Degraded", "True") {
            counts.degraded.push((*name).clone());
        }
    }
    counts
}

fn is_updated(
    version: &ClusterVersion,
    name: &str,
    operator: &ClusterOperator,
    image: Option<&str>,
) -> bool {
    if operator.version_of("operator") != Some(version.status.desired.version.as_str()) {
        return false;
    }
    // The version stays in a migration; the machine-config operator says which image it has.
    match operator.version_of("operator-image") {
        Some(own) if name == MACHINE_CONFIG => image == Some(own),
        _ => true,
    }
}

fn began(version: &ClusterVersion, operators: OperatorCounts, now: RecordedAt) -> UpdateStatus {
    let history = &version.status.history;
    let newest = history.first();
    let previous = history.get(1);
    let started = newest.and_then(HistoryEntry::started);
    let completed = newest
        .filter(|newest| newest.is_completed())
        .and_then(HistoryEntry::completed);
    let until = completed.unwrap_or(now);
    UpdateStatus {
        now,
        is_updating: false,
        target: newest.map_or_else(String::new, |newest| newest.version.clone()),
        origin: match previous {
            None => Origin::Nothing,
            Some(_) if is_migration(version) => Origin::SameVersion,
            Some(previous) if previous.is_completed() => Origin::Version(previous.version.clone()),
            Some(previous) => Origin::Partial(previous.version.clone()),
        },
        assessment: Assessment::Progressing,
        operators,
        started,
        completed,
        elapsed_micros: started.map_or(0, |started| until.micros_since(started)),
        estimate: None,
        pools: Vec::new(),
        insights: Vec::new(),
    }
}

fn assess(
    status: &mut UpdateStatus,
    version: &ClusterVersion,
    operators: &BTreeMap<&String, &ClusterOperator>,
) {
    let counts = &status.operators;
    if counts.total > 0 && counts.updated == counts.total {
        status.assessment = Assessment::Completed;
        return;
    }
    let Some(started) = status.started else {
        return;
    };
    let last = last_progress(status, operators).filter(|last| *last > started);
    let to_last = last.unwrap_or(status.now).micros_since(started);
    let estimate = estimate::estimate(
        estimate::baseline_secs(&version.status.history),
        to_last,
        status.elapsed_micros,
        counts.completion(),
    );
    if let Some(estimate) = estimate {
        status.assessment = match estimate.remaining_secs {
            left if left < -SLOW_SECS => Assessment::Stalled,
            left if left < 0 => Assessment::ProgressingSlow,
            _ => Assessment::Progressing,
        };
    }
    // A migration touches one operator only: the share of operators says nothing.
    let is_migration = status.origin == Origin::SameVersion;
    status.estimate = estimate.filter(|_| !is_migration);
    if is_migration {
        status.assessment = Assessment::Progressing;
    }
}

/// Gives when an operator began or ended to progress last; nodes that reboot make others flip, so that
/// the last one counts alone if it is that of the nodes.
fn last_progress(
    status: &UpdateStatus,
    operators: &BTreeMap<&String, &ClusterOperator>,
) -> Option<RecordedAt> {
    let since = |operator: &ClusterOperator| operator.condition("Progressing")?.since();
    let is_last = status.operators.total - status.operators.updated == 1
        && status.operators.updating == [MACHINE_CONFIG];
    if is_last {
        let mut all = operators.iter();
        let nodes = all.find(|(name, _)| name.as_str() == MACHINE_CONFIG);
        return nodes.and_then(|(_, operator)| since(operator));
    }
    operators
        .values()
        .filter_map(|operator| since(operator))
        .max()
}

fn in_order(mut insights: Vec<Insight>, status: &UpdateStatus) -> Vec<Insight> {
    if insights.is_empty() && status.is_updating {
        let since = status.now.micros.saturating_sub(status.elapsed_micros);
        insights.push(Insight {
            level: InsightLevel::Info,
            impact: Impact::None,
            summary: "Update is proceeding well".to_owned(),
            description: String::new(),
            since: Some(RecordedAt::from_micros(since)),
        });
    }
    insights.sort_by(|a, b| {
        let newest = |insight: &Insight| std::cmp::Reverse(insight.since);
        (a.level, newest(a), &a.summary).cmp(&(b.level, newest(b), &b.summary))
    });
    insights
}
