//! Owns what needs attention at a moment, of operators and of `ClusterVersion`, and after how long: by
//! the rules of `oc adm upgrade status`.

use super::answer::{Impact, Insight, InsightLevel};
use crate::condition::StatusCondition;
use crate::read::{ClusterOperator, ClusterVersion};
use crate::story::Ill;
use kubereel_format::RecordedAt;

/// Adds what an operator needs.
pub(super) fn of_operator(
    name: &str,
    operator: &ClusterOperator,
    now: RecordedAt,
    insights: &mut Vec<Insight>,
) {
    let available = operator.condition("Available");
    let degraded = operator.condition("Degraded");
    for (ill, said, word) in [
        (
            Ill::Unavailable,
            available.filter(|said| said.is("False")),
            "unavailable",
        ),
        (
            Ill::Degraded,
            degraded.filter(|said| said.is("True")),
            "degraded",
        ),
    ] {
        let Some(said) = said else {
            continue;
        };
        let level = level(ill, said, now);
        insights.extend(level.map(|level| Insight {
            level,
            impact: Impact::ApiAvailability,
            summary: format!("Cluster Operator {name} is {word} ({})", said.reason),
            description: said.message.to_owned(),
            since: said.since(),
        }));
    }
}

fn level(ill: Ill, said: StatusCondition<'_>, now: RecordedAt) -> Option<InsightLevel> {
    let lasted = said
        .since()
        .map(|since| u64::try_from(now.micros_since(since)).unwrap_or_default());
    let (warning, error) = ill.thresholds_micros();
    // One that does not say since when is old.
    let is_past = |threshold: Option<u64>| {
        threshold.is_some_and(|least| lasted.is_none_or(|lasted| lasted > least))
    };
    if is_past(error) {
        Some(InsightLevel::Error)
    } else {
        is_past(warning).then_some(InsightLevel::Warning)
    }
}

/// Adds what `ClusterVersion` needs.
pub(super) fn of_version(
    version: &ClusterVersion,
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
