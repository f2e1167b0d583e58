//! Judges a whole cluster at a moment, by the rules of `oc adm upgrade status`: which objects it
//! reads, the insights, and the remaining time.

use super::answer::{
    Assessment, Estimate, Impact, Insight, InsightLevel, OperatorCounts, PoolState, UpdateOrigin,
    UpdateStatus,
};
use super::nodes;
use super::nodes::NodeRelease;
use crate::condition::StatusCondition;
use crate::history::{ClusterHistory, ParsedVersion};
use crate::objects::{
    HistoryEntry, MachineConfig, NodeObject, OperatorObject, PoolObject, VersionObject, pool_of,
};
use crate::story::SpellKind;
use jiff::SignedDuration;
use kubereel_format::RecordedAt;
use kubereel_history::{Cut, ObjectFilter, QueryError};
use serde::Deserialize;
use std::collections::BTreeMap;

const CONFIG: &str = "config.openshift.io";
const MACHINES: &str = "machineconfiguration.openshift.io";

const MACHINE_CONFIG: &str = "machine-config";
const CONTROL_PLANE: &str = "master";

/// How far beyond its estimate an update is slow; beyond that it stalls: 10 min.
const SLOW_SECS: i64 = 10 * 60;

impl ClusterHistory<'_> {
    /// Judges the update of the cluster at a moment; `None` if there was no `ClusterVersion` then.
    ///
    /// Ages are relative to `now`, or to the moment if none is given.
    ///
    /// # Errors
    /// When the reel is damaged there, or a version is not an object.
    pub fn update_status(
        self,
        cut: Cut,
        now: Option<RecordedAt>,
    ) -> Result<Option<UpdateStatus>, QueryError> {
        let versions = self.objects_at::<VersionObject>((CONFIG, "clusterversions"), "", cut)?;
        let Some(version) = versions.get("version") else {
            return Ok(None);
        };
        let now = now.unwrap_or_else(|| self.story_time(cut));
        let operators = self.objects_at::<OperatorObject>((CONFIG, "clusteroperators"), "", cut)?;
        let payload: BTreeMap<&String, &OperatorObject> = operators
            .iter()
            .filter(|(_, operator)| operator.is_of_payload())
            .collect();
        let image = self.machine_config_image(cut)?;
        let counts = counts(version, &payload, image.as_deref());
        let is_done = counts.total > 0 && counts.updated == counts.total;
        let mut insights = Vec::new();
        of_version(version, is_done, now, &mut insights);
        for (name, operator) in &payload {
            of_operator(name, operator, now, &mut insights);
        }
        let progressing = StatusCondition::find(&version.status.conditions, "Progressing");
        let is_progressing = progressing.is_some_and(|condition| condition.is("True"));
        let of_nodes = operators.get(MACHINE_CONFIG);
        let pools = self.pools(
            (version, of_nodes),
            is_progressing,
            (cut, now),
            &mut insights,
        )?;
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

    /// Reads the objects of a resource at a moment, by name.
    fn objects_at<T>(
        self,
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
        self,
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
        let mut objects = BTreeMap::new();
        for resource in self.resources_named(group, plural) {
            for one in self.timeline.as_of(resource, cut, &filter).objects {
                let seen: Result<ParsedVersion<T>, QueryError> = self.read_seq(one.seq);
                match seen {
                    Ok(seen) => {
                        objects.insert(one.name, seen.body);
                    }
                    Err(error) => self.skip(error)?,
                }
            }
        }
        Ok(objects)
    }

    /// Returns the image of the machine-config operator, by its Deployment; `None` if it was not recorded.
    fn machine_config_image(self, cut: Cut) -> Result<Option<String>, QueryError> {
        let names = ["machine-config-operator".to_owned()];
        let namespace = "openshift-machine-config-operator";
        let deployments =
            self.held_named::<serde_json::Value>(("apps", "deployments"), namespace, &names, cut)?;
        let containers = deployments
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
        self,
        (version, operator): (&VersionObject, Option<&OperatorObject>),
        is_progressing: bool,
        (cut, now): (Cut, RecordedAt),
        insights: &mut Vec<Insight>,
    ) -> Result<Vec<PoolState>, QueryError> {
        let pools = self.objects_at::<PoolObject>((MACHINES, "machineconfigpools"), "", cut)?;
        let all = self.objects_at::<NodeObject>(("", "nodes"), "", cut)?;
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
        let newest = version.status.history.first();
        let is_same_version = is_migration(version);
        let release = NodeRelease {
            version: newest.map_or("", |newest| newest.version.as_str()),
            is_same_version,
            // Then the nodes that still migrate cannot be identified by the version.
            is_migrating: is_progressing && is_same_version,
            releases: &releases,
            is_rendered: operator.is_some_and(|operator| {
                let wanted = &version.status.desired.version;
                nodes::is_rendered(wanted, operator, pools.values())
            }),
            now,
        };
        let mut states = Vec::new();
        for (name, pool) in &pools {
            let of_pool: Vec<(&str, &NodeObject)> = all
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

/// Returns whether a cluster moves to another image of its version.
fn is_migration(version: &VersionObject) -> bool {
    match version.status.history.as_slice() {
        [newest, previous, ..] => {
            newest.version == previous.version && newest.image != previous.image
        }
        _ => false,
    }
}

fn counts(
    version: &VersionObject,
    operators: &BTreeMap<&String, &OperatorObject>,
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
    version: &VersionObject,
    name: &str,
    operator: &OperatorObject,
    image: Option<&str>,
) -> bool {
    if operator.version_of("operator") != Some(version.status.desired.version.as_str()) {
        return false;
    }
    let Some(own) = operator
        .version_of("operator-image")
        .filter(|_| name == MACHINE_CONFIG)
    else {
        return true;
    };
    // The version stays in a migration; the image is that of the machine-config operator. Where its
    // Deployment was not recorded, the version decides, and in a migration the history: an update is
    // complete when all operators are.
    let newest = version.status.history.first();
    image.map_or_else(
        || !is_migration(version) || newest.is_some_and(HistoryEntry::is_completed),
        |image| image == own,
    )
}

fn began(version: &VersionObject, operators: OperatorCounts, now: RecordedAt) -> UpdateStatus {
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
            None => UpdateOrigin::Nothing,
            Some(_) if is_migration(version) => UpdateOrigin::SameVersion,
            Some(previous) if previous.is_completed() => {
                UpdateOrigin::Version(previous.version.clone())
            }
            Some(previous) => UpdateOrigin::Partial(previous.version.clone()),
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
    version: &VersionObject,
    operators: &BTreeMap<&String, &OperatorObject>,
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
    let estimate = estimate(
        baseline_secs(&version.status.history),
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
    // A migration changes one operator only: the share of operators is not meaningful.
    let is_migration = status.origin == UpdateOrigin::SameVersion;
    status.estimate = estimate.filter(|_| !is_migration);
    if is_migration {
        status.assessment = Assessment::Progressing;
    }
}

/// Returns when an operator last began or ended to progress. Rebooting nodes make other operators
/// flip, so the last change counts alone if it is that of the nodes' operator.
fn last_progress(
    status: &UpdateStatus,
    operators: &BTreeMap<&String, &OperatorObject>,
) -> Option<RecordedAt> {
    let since = |operator: &OperatorObject| operator.condition("Progressing")?.since();
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
        insights.push(Insight {
            level: InsightLevel::Info,
            impact: Impact::None,
            summary: "Update is proceeding well".to_owned(),
            description: String::new(),
            since: status.started,
        });
    }
    insights.sort_by(|a, b| {
        let newest = |insight: &Insight| std::cmp::Reverse(insight.since);
        (a.level, newest(a), &a.summary).cmp(&(b.level, newest(b), &b.summary))
    });
    insights
}

/// Adds the insights about an operator.
pub(super) fn of_operator(
    name: &str,
    operator: &OperatorObject,
    now: RecordedAt,
    insights: &mut Vec<Insight>,
) {
    let available = operator.condition("Available");
    let degraded = operator.condition("Degraded");
    for (ill, condition, word) in [
        (
            SpellKind::Unavailable,
            available.filter(|condition| condition.is("False")),
            "unavailable",
        ),
        (
            SpellKind::Degraded,
            degraded.filter(|condition| condition.is("True")),
            "degraded",
        ),
    ] {
        let Some(condition) = condition else {
            continue;
        };
        let level = level(ill, condition, now);
        insights.extend(level.map(|level| Insight {
            level,
            impact: Impact::ApiAvailability,
            summary: format!("Cluster Operator {name} is {word} ({})", condition.reason),
            description: condition.message.to_owned(),
            since: condition.since(),
        }));
    }
}

fn level(ill: SpellKind, condition: StatusCondition<'_>, now: RecordedAt) -> Option<InsightLevel> {
    let lasted = condition
        .since()
        .map(|since| u64::try_from(now.micros_since(since)).unwrap_or_default());
    let (warning, error) = ill.thresholds_micros();
    // A condition without a time counts as old.
    let is_past = |threshold: Option<u64>| {
        threshold.is_some_and(|least| lasted.is_none_or(|lasted| lasted > least))
    };
    if is_past(error) {
        Some(InsightLevel::Error)
    } else {
        is_past(warning).then_some(InsightLevel::Warning)
    }
}

/// Adds the insights about `ClusterVersion`.
pub(super) fn of_version(
    version: &VersionObject,
    is_control_plane_done: bool,
    now: RecordedAt,
    insights: &mut Vec<Insight>,
) {
    let status = &version.status;
    let warning = |impact, summary: String, description: &str, since| Insight {
        level: InsightLevel::Warning,
        impact,
        summary,
        description: description.to_owned(),
        since,
    };
    match StatusCondition::find(&status.conditions, "Failing") {
        None => insights.push(warning(
            Impact::UpdateStalled,
            "Cluster Version version has no Failing condition".to_owned(),
            "",
            Some(now),
        )),
        Some(failing) if !failing.is("False") => insights.push(warning(
            Impact::UpdateStalled,
            format!(
                "Cluster Version version is failing to proceed with the update ({})",
                failing.reason
            ),
            failing.message,
            failing.since(),
        )),
        Some(_) => {}
    }
    let [newest, previous, earlier @ ..] = status.history.as_slice() else {
        return;
    };
    if is_control_plane_done || previous.is_completed() {
        return;
    }
    let complete = earlier.iter().find(|entry| entry.is_completed());
    let complete = complete.map_or("unknown", |entry| entry.version.as_str());
    insights.push(warning(
        Impact::None,
        format!(
            "Previous update to {} never completed, last complete update was {complete}",
            previous.version
        ),
        "",
        newest.started(),
    ));
}

const MINUTE_SECS: i64 = 60;

/// The assumed length of an update while none is known: 1 h.
const USUAL_SECS: i64 = 60 * MINUTE_SECS;

/// The least progress time before it is extrapolated: 5 min.
const EARLY_MICROS: i64 = 5 * MINUTE_SECS * 1_000_000;

/// The factor on the remaining time.
const MARGIN: f64 = 1.2;

/// Returns the length of an update of this cluster: that of the last completed one, without the
/// installation.
pub(super) fn baseline_secs(history: &[HistoryEntry]) -> i64 {
    let [_, earlier @ .., _] = history else {
        return USUAL_SECS;
    };
    let completed = earlier.iter().find(|entry| entry.is_completed());
    let secs = completed.and_then(|entry| {
        let micros = entry.completed()?.micros_since(entry.started()?);
        Some(micros / 1_000_000)
    });
    secs.unwrap_or(USUAL_SECS)
}

/// Estimates the remaining time.
pub(super) fn estimate(
    baseline_secs: i64,
    to_last_progress_micros: i64,
    elapsed_micros: i64,
    completion: f64,
) -> Option<Estimate> {
    if completion >= 1.0 {
        return None;
    }
    let done = share_of_time(completion);
    let is_projected = completion > 0.0 && done > 0.0 && to_last_progress_micros > EARLY_MICROS;
    let total = if is_projected {
        secs(to_last_progress_micros) / done
    } else {
        secs(baseline_secs.saturating_mul(1_000_000))
    };
    let left = total - secs(elapsed_micros);
    let left = if left < 0.0 {
        left / MARGIN
    } else {
        left * MARGIN
    };
    let left = SignedDuration::try_from_secs_f64(left).ok()?.as_secs();
    let remaining_secs = if left > 10 * MINUTE_SECS {
        (left + MINUTE_SECS / 2).div_euclid(MINUTE_SECS) * MINUTE_SECS
    } else {
        left
    };
    let all = elapsed_micros / 1_000_000 + remaining_secs;
    Some(Estimate {
        remaining_secs,
        total_secs: all - all % MINUTE_SECS,
    })
}

fn secs(micros: i64) -> f64 {
    SignedDuration::from_micros(micros).as_secs_f64()
}

/// Returns the share of the time that a share of the operators takes: 97 % of them finish in two
/// thirds of the time. The numbers are those of `oc`.
fn share_of_time(completion: f64) -> f64 {
    let curve: &[f64] = if completion < 0.25 {
        &[-0.030_787_88, 2.628_86, -3.823_954]
    } else if completion < 0.9 {
        &[0.185_121_5, 1.649_94, -4.676_898, 5.451_824, -2.125_286]
    } else {
        &[25_053.32, -107_394.3, 172_527.2, -123_107.0, 32_921.81]
    };
    // Summed up in this order: the last curve is the small difference of large numbers.
    let mut power = 1.0;
    let mut sum = 0.0;
    for factor in curve {
        sum += factor * power;
        power *= completion;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE_MICROS: i64 = MINUTE_SECS * 1_000_000;

    #[test]
    fn without_its_deployment_the_operator_of_nodes_is_judged_by_its_version() {
        let operator = |version: &str| -> OperatorObject {
            let versions = serde_json::json!([
                {"name": "operator", "version": version},
                {"name": "operator-image", "version": "image"},
            ]);
            serde_json::from_value(serde_json::json!({"status": {"versions": versions}}))
                .expect("an operator")
        };
        let version = |before: &str, state: &str| -> VersionObject {
            let entry = |version: &str, image: &str, state: &str| serde_json::json!({"version": version, "image": image, "state": state});
            let history = [entry("2", "b", state), entry(before, "a", "Completed")];
            let status = serde_json::json!({"desired": {"version": "2"}, "history": history});
            serde_json::from_value(serde_json::json!({"status": status})).expect("a version")
        };
        let is_updated = |version: &VersionObject, own: &str, image| {
            is_updated(version, MACHINE_CONFIG, &operator(own), image)
        };
        let upgrade = version("1", "Partial");
        assert!(is_updated(&upgrade, "2", None));
        assert!(!is_updated(&upgrade, "1", None));
        assert!(!is_updated(&upgrade, "2", Some("other")));
        assert!(is_updated(&upgrade, "2", Some("image")));
        // Where only the image changes, the version decides nothing.
        assert!(!is_updated(&version("2", "Partial"), "2", None));
        assert!(is_updated(&version("2", "Completed"), "2", None));
    }

    #[test]
    fn early_the_baseline_counts_then_the_progress() {
        let secs = |baseline, progress, elapsed, completion| {
            let all = estimate(
                baseline * MINUTE_SECS,
                progress * MINUTE_MICROS,
                elapsed * MINUTE_MICROS,
                completion,
            );
            all.expect("an estimate").remaining_secs
        };
        assert_eq!(secs(70, 0, 10, 0.0), 72 * MINUTE_SECS);
        assert_eq!(secs(63, 2, 3, 0.03), 72 * MINUTE_SECS);
        assert_eq!(secs(60, 40, 50, 0.97), 8 * MINUTE_SECS + 45);
        // An expected end in the past is nearer than it seems.
        assert_eq!(secs(60, 0, 72, 0.0), -10 * MINUTE_SECS);
        assert_eq!(estimate(60, 0, 0, 1.0), None);
    }

    #[test]
    fn the_baseline_is_the_last_completed_update() {
        let entry = |state: &str, minutes: u8| -> HistoryEntry {
            serde_json::from_value(serde_json::json!({
                "state": state,
                "startedTime": "2026-11-21T10:00:00Z",
                "completionTime": format!("2026-11-21T10:{minutes:02}:00Z"),
            }))
            .expect("an entry")
        };
        let history = |states: &[(&str, u8)]| -> Vec<HistoryEntry> {
            states
                .iter()
                .map(|(state, minutes)| entry(state, *minutes))
                .collect()
        };
        let install = ("Completed", 30);
        let baseline = |states: &[(&str, u8)]| baseline_secs(&history(states));
        assert_eq!(baseline(&[]), USUAL_SECS);
        assert_eq!(baseline(&[("Partial", 1), install]), USUAL_SECS);
        let later = [("Partial", 1), ("Partial", 2), ("Completed", 44), install];
        assert_eq!(baseline(&later), 44 * MINUTE_SECS);
        assert_eq!(
            baseline(&[("Partial", 1), ("Partial", 2), install]),
            USUAL_SECS
        );
    }
}
