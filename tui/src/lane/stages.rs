//! Owns the stages of the cluster's life: installation, quiet, upgrades and their parts, as far as the
//! recording shows them. Refuses guesses: what nothing tells has no stage, and so no name.

use crate::subject::NamedObject;
use kubereel_cluster::{ClusterHistory, UpdateKind, UpgradeStory};
use kubereel_format::RecordedAt;
use kubereel_history::{ObjectForm, Timeline, harmless};
use kubereel_monitortests::{FactsOverTime, Phase};
use serde_json::Value;
use std::ops::Range;
use unicode_width::UnicodeWidthStr as _;

/// Its new version comes last, with the nodes that it updates: they have a stage of their own.
const OPERATOR_OF_NODES: &str = "machine-config";

/// The parts of this many upgrades are found, the last ones: each costs a pass over the whole
/// reel. The others are one stage each.
const MOST_DIVIDED: usize = 4;

/// A part of the cluster's life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClusterStage {
    /// From when to when.
    pub(crate) span: Range<RecordedAt>,
    /// What it is called, in full.
    pub(crate) name: String,
    /// Shorter names, the longest first.
    short: Vec<String>,
}

impl ClusterStage {
    fn of(from: RecordedAt, to: RecordedAt, name: &str, short: &[&str]) -> Self {
        Self {
            span: from..to,
            name: name.to_owned(),
            short: short.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    /// Makes a part of an upgrade; its first short name is that of the part alone.
    fn of_upgrade(
        from: RecordedAt,
        to: RecordedAt,
        version: &str,
        part: &str,
        short: &[&str],
    ) -> Self {
        let mut stage = Self::of(from, to, &format!("upgrade{version}: {part}"), &[part]);
        stage
            .short
            .extend(short.iter().map(|name| (*name).to_owned()));
        stage
    }

    /// Gives the longest name that fits in this many columns; none is cut.
    pub(crate) fn fitting(&self, columns: u16) -> Option<&str> {
        let names = std::iter::once(&self.name).chain(&self.short);
        let mut names = names.map(String::as_str);
        names.find(|name| name.width() <= usize::from(columns))
    }
}

/// Finds the stages, in order of time and without overlap; none of a cluster that reports no installation and no
/// upgrades.
pub(super) fn stages(timeline: &Timeline, facts: &FactsOverTime) -> Vec<ClusterStage> {
    if !facts.is_openshift() {
        return Vec::new();
    }
    let mut known = of_facts(timeline, facts);
    known.extend(bootstrap(timeline, &known));
    known.extend(of_upgrades(timeline));
    flat(timeline, &known)
}

/// Gives what the facts tell of each time.
fn of_facts(timeline: &Timeline, facts: &FactsOverTime) -> Vec<ClusterStage> {
    let (start, end) = (timeline.start(), beyond(timeline));
    let upgrades = || facts.upgrades().iter();
    let mut bounds: Vec<RecordedAt> = upgrades()
        .flat_map(|upgrade| [Some(upgrade.from), upgrade.to])
        .chain([facts.installed(), Some(start), Some(end)])
        .flatten()
        .map(|at| at.clamp(start, end))
        .collect();
    bounds.sort_unstable();
    bounds.dedup();
    let pairs = bounds.iter().zip(bounds.iter().skip(1));
    let found = pairs.filter_map(|(from, to)| {
        Some(match facts.phase(*from)? {
            Phase::Install => ClusterStage::of(*from, *to, "install", &[]),
            Phase::Upgrade => {
                let holds = |to: RecordedAt| *from < to;
                let ours = upgrades().find(|one| one.from <= *from && one.to.is_none_or(holds));
                let version = ours.map_or("", |one| &one.to_version);
                let name = format!("upgrade{}", goal(version));
                ClusterStage::of(*from, *to, &name, &["upgrade"])
            }
            Phase::Stable => ClusterStage::of(*from, *to, "quiet", &[]),
        })
    });
    found.collect()
}

/// Writes where an upgrade goes; nothing where that is not known.
fn goal(version: &str) -> String {
    if version.is_empty() {
        String::new()
    } else {
        format!(" to {}", harmless(version))
    }
}

/// Gives the bootstrap, which ends when its process says so in `kube-system/bootstrap`: the sign that the
/// installer itself waits for.
fn bootstrap(timeline: &Timeline, known: &[ClusterStage]) -> Option<ClusterStage> {
    let install = known.iter().find(|stage| stage.name == "install")?;
    let mut resources = timeline.resources().iter();
    let info = resources.find(|info| info.group.is_empty() && info.plural == "configmaps")?;
    let subject = NamedObject {
        resource: info.id,
        namespace: "kube-system".to_owned(),
        name: "bootstrap".to_owned(),
    };
    let is_complete = |object: &Value| {
        let status = object.pointer("/data/status").and_then(Value::as_str);
        status == Some("complete")
    };
    let complete = subject.versions(timeline).into_iter().find(|seq| {
        let object = timeline.object(*seq, info, ObjectForm::default());
        object.is_ok_and(|object| is_complete(&object))
    })?;
    let to = timeline.reel().stamp(complete)?.wall;
    let span = &install.span;
    Some(ClusterStage::of(
        span.start,
        to.min(span.end),
        "bootstrap",
        &["boot"],
    ))
}

/// Gives the parts of every upgrade; none where damage hides them.
fn of_upgrades(timeline: &Timeline) -> Vec<ClusterStage> {
    let end = timeline.last_cut();
    let Ok(updates) = ClusterHistory::of(timeline).updates(end) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    let upgrades = updates.all.iter().rev();
    let upgrades = upgrades.filter(|one| one.kind == UpdateKind::Upgrade);
    for update in upgrades.take(MOST_DIVIDED) {
        if let Ok(story) = ClusterHistory::of(timeline).upgrade_story(&updates, update, end) {
            all.extend(of_story(&story, beyond(timeline)));
        }
    }
    all
}

/// Gives the parts of one upgrade.
fn of_story(story: &UpgradeStory, end: RecordedAt) -> Vec<ClusterStage> {
    let update = &story.update;
    let version = goal(update.target_version());
    let stage = |from, to, part: &str, short: &[&str]| {
        ClusterStage::of_upgrade(from, to, &version, part, short)
    };
    let ended = update.end.map(|end| end.mark.at);
    let over = story.over.map_or(end, |over| over.at);
    let mut all = Vec::new();
    let accepted = update.accepted.map(|mark| mark.at);
    if let Some(asked) = update.asked() {
        let to = accepted.or(ended).unwrap_or(end);
        all.push(stage(asked.at, to, "retrieve payload", &["retrieve"]));
        // The Pod brought the payload; then it is loaded, and its version and preconditions are verified.
        let pods = story.retrievals.attempts.iter();
        let brought = pods
            .filter(|attempt| !attempt.has_failed() && attempt.end.is_some())
            .filter_map(|attempt| attempt.pod.as_ref()?.over)
            .max();
        if let (Some(brought), Some(accepted)) = (brought, accepted) {
            all.push(stage(brought.at, accepted, "verify", &[]));
        }
    }
    let taken_up = accepted
        .or_else(|| (update.is_older && update.target.is_some()).then_some(update.first.at));
    let Some(taken_up) = taken_up else {
        return all;
    };
    all.push(stage(taken_up, over, "operators", &["ops"]));
    if let Some(nodes) = story.nodes.iter().map(|node| node.began.at).min() {
        let mut late = story.operators.iter();
        let is_late = |at: Option<RecordedAt>| at.is_none_or(|at| at > nodes);
        let is_mixed = late.any(|one| {
            let is_counted = one.is_of_payload && one.name != OPERATOR_OF_NODES && !one.was_there;
            is_counted && is_late(one.arrived().map(|mark| mark.at))
        });
        let moved = story
            .operators
            .iter()
            .filter(|one| one.is_of_payload && one.name != OPERATOR_OF_NODES);
        let moved = moved
            .map(|one| one.arrived().map_or(over, |mark| mark.at))
            .max();
        let from = nodes.max(taken_up);
        if is_mixed {
            all.push(stage(from, over, "operators and nodes", &["ops, nodes"]));
        }
        let alone = if is_mixed {
            moved.unwrap_or(from)
        } else {
            from
        };
        all.push(stage(alone.max(from), over, "nodes", &[]));
    }
    all
}

/// Lets later stages hide earlier ones, within the recording.
fn flat(timeline: &Timeline, known: &[ClusterStage]) -> Vec<ClusterStage> {
    let (start, end) = (timeline.start(), beyond(timeline));
    let mut bounds: Vec<RecordedAt> = known
        .iter()
        .flat_map(|stage| [stage.span.start, stage.span.end])
        .map(|at| at.clamp(start, end))
        .collect();
    bounds.sort_unstable();
    bounds.dedup();
    let mut all: Vec<ClusterStage> = Vec::new();
    for (from, to) in bounds.iter().zip(bounds.iter().skip(1)) {
        let Some(stage) = known.iter().rfind(|stage| stage.span.contains(from)) else {
            continue;
        };
        match all.last_mut() {
            Some(last) if last.name == stage.name && last.span.end == *from => last.span.end = *to,
            _ => all.push(ClusterStage {
                span: *from..*to,
                ..stage.clone()
            }),
        }
    }
    all
}

/// Gives the first moment after a reel.
fn beyond(timeline: &Timeline) -> RecordedAt {
    RecordedAt::from_micros(timeline.end().micros.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shortened_and_never_cut() {
        let at = RecordedAt::from_micros;
        let stage = ClusterStage::of_upgrade(
            at(0),
            at(9),
            " to 4.22.1",
            "retrieve payload",
            &["retrieve"],
        );
        let fitting = |columns| stage.fitting(columns);
        assert_eq!(fitting(80), Some("upgrade to 4.22.1: retrieve payload"));
        assert_eq!(fitting(35), fitting(80));
        assert_eq!(fitting(34), Some("retrieve payload"));
        assert_eq!(fitting(15), Some("retrieve"));
        assert_eq!(fitting(7), None);
    }
}
