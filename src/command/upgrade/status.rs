//! The state at a moment on the page of an upgrade, in the terms of `oc adm upgrade status`.

use super::page::{UpgradePage, shortened, span};
use crate::command_error::CommandError;
use crate::screen::Console;
use crate::screen::{Style, StyledLine};
use crate::words::duration;
use kubereel_cluster::{
    Assessment, Insight, InsightLevel, NodePhase, PoolState, UpdateOrigin, UpdateStatus,
};
use kubereel_history::{Timeline, timetext};

/// How many nodes of a pool without work are shown where JSON has all.
pub(super) const SHOWN_NODES: usize = 10;

const HANG: usize = 14;

/// Prints the state; `shown` limits the nodes without work of each pool.
pub(super) fn print(
    timeline: &Timeline,
    status: &UpdateStatus,
    shown: Option<usize>,
    screen: &mut Console,
) -> Result<(), CommandError> {
    let mut page = UpgradePage { timeline, screen };
    let mut title = StyledLine::default();
    let at = timeline.written(status.now);
    title.push(
        Style::Strong,
        format!("As oc adm upgrade status judges it at {at}"),
    );
    page.line(&title, 2)?;
    if !status.is_updating {
        return value(&mut page, "cluster", Style::Good, "not updating");
    }
    control_plane(&mut page, status)?;
    for pool in &status.pools {
        one_pool(&mut page, pool, shown)?;
    }
    for insight in &status.insights {
        one_insight(&mut page, status, insight)?;
    }
    Ok(())
}

fn value(
    page: &mut UpgradePage<'_>,
    name: &str,
    style: Style,
    text: &str,
) -> Result<(), CommandError> {
    let mut line = StyledLine::of(Style::Plain, format!("  {name:<11} "));
    line.push(style, text);
    page.line(&line, HANG)
}

fn control_plane(page: &mut UpgradePage<'_>, status: &UpdateStatus) -> Result<(), CommandError> {
    let origin = match &status.origin {
        UpdateOrigin::Nothing => "a new install".to_owned(),
        UpdateOrigin::Version(version) => format!("from {version}"),
        UpdateOrigin::Partial(version) => format!("from incomplete {version}"),
        UpdateOrigin::SameVersion => "to Multi-Architecture".to_owned(),
    };
    let style = match status.assessment {
        Assessment::Completed | Assessment::Progressing => Style::Good,
        Assessment::Stalled | Assessment::Degraded => Style::Bad,
        _ => Style::Wary,
    };
    let target = format!("{} ({origin})", status.target);
    value(page, "target", Style::Plain, &target)?;
    value(page, "assessment", style, status.assessment.as_str())?;
    let counts = &status.operators;
    let done = format!(
        "{:.0}%: {} updated, {} updating, {} waiting",
        counts.completion() * 100.0,
        counts.updated,
        counts.updating.len(),
        counts.waiting.len()
    );
    value(page, "completion", Style::Plain, &done)?;
    if !counts.updating.is_empty() {
        value(page, "updating", Style::Plain, &counts.updating.join(", "))?;
    }
    if !counts.waiting.is_empty() {
        value(page, "waiting", Style::Plain, &counts.waiting.join(", "))?;
    }
    let micros = status.elapsed_micros;
    value(page, "duration", Style::Plain, &duration(micros))?;
    if let Some(estimate) = status.estimate {
        let secs = |secs: i64| span(secs.unsigned_abs() * 1_000_000);
        let left = if estimate.remaining_secs < 0 {
            format!(
                "expected to end {} ago, after {}",
                secs(estimate.remaining_secs),
                secs(estimate.total_secs)
            )
        } else {
            format!("{} left", secs(estimate.remaining_secs))
        };
        let words = format!("{left}: estimated by oc's curve, not measured");
        value(page, "estimate", Style::Faint, &words)?;
    }
    let mut health = format!("{} healthy", counts.healthy());
    for (names, word) in [
        (&counts.unavailable, "unavailable"),
        (&counts.degraded, "available but degraded"),
    ] {
        if !names.is_empty() {
            health.extend([format!(", {} {word}: {}", names.len(), names.join(", "))]);
        }
    }
    value(page, "operators", Style::Plain, &health)
}

fn one_pool(
    page: &mut UpgradePage<'_>,
    pool: &PoolState,
    shown: Option<usize>,
) -> Result<(), CommandError> {
    let (all, updated) = (pool.nodes.len(), pool.updated());
    let mut text = format!("{}, {updated} of {all} updated", pool.assessment.as_str());
    // The pool's own number is shown elsewhere.
    if let Some(reported) = pool.reported
        && u64::try_from(updated).ok() != Some(reported)
    {
        text.extend([format!(" (the pool reports {reported})")]);
    }
    if pool.progressing() > 0 {
        text.extend([format!(", {} progressing", pool.progressing())]);
    }
    if pool.is_paused {
        text.push_str(", paused");
    }
    let name = format!("pool {}", pool.name);
    value(page, &name, Style::Plain, &text)?;
    let is_quiet = |phase: NodePhase| matches!(phase, NodePhase::Updated | NodePhase::Pending);
    let mut quiet = 0;
    let mut omitted: usize = 0;
    for node in &pool.nodes {
        if is_quiet(node.phase) && node.message.is_empty() {
            quiet += 1;
            if shown.is_some_and(|shown| quiet > shown) {
                omitted += 1;
                continue;
            }
        }
        let mut line = StyledLine::default();
        let version = if node.version.is_empty() {
            "?"
        } else {
            &node.version
        };
        let (assessment, phase) = (node.assessment.as_str(), node.phase.as_str());
        line.push(
            Style::Plain,
            format!("    {assessment:<12}{phase:<10}{} {version}", node.name),
        );
        if !node.message.is_empty() {
            line.push(Style::Wary, format!(": {}", shortened(&node.message)));
        }
        page.line(&line, HANG)?;
    }
    if omitted > 0 {
        let line = StyledLine::of(Style::Faint, format!("    … {omitted} more: -o json"));
        page.line(&line, HANG)?;
    }
    Ok(())
}

fn one_insight(
    page: &mut UpgradePage<'_>,
    status: &UpdateStatus,
    insight: &Insight,
) -> Result<(), CommandError> {
    let style = match insight.level {
        InsightLevel::Error => Style::Bad,
        InsightLevel::Warning => Style::Wary,
        InsightLevel::Info => Style::Good,
    };
    let since = insight.since.map_or_else(String::new, |since| {
        let micros = status.now.micros_since(since);
        format!(
            ", for {} since {}",
            duration(micros),
            timetext::rfc3339(since)
        )
    });
    let text = format!("{} ({}){since}", insight.summary, insight.impact.as_str());
    value(page, &insight.level.as_str().to_lowercase(), style, &text)
}
