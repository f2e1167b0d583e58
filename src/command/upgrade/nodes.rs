//! Nodes and pools on the page of an upgrade: what was done to each, and how long it took.

use super::page::{END_NOT_OBSERVED, UpgradePage, between, lasting, shortened};
use crate::command_error::CommandError;
use crate::screen::{Style, StyledLine};
use crate::words::count;
use kubereel_cluster::{
    DrainHold, MarkSpan, MarkedMessage, NodeUpdate, PoolUpdate, UpdateKind, UpgradeStory,
};
use kubereel_format::RecordedAt;

/// Holds of a drain shorter than this, in microseconds, are only counted: 5 s.
const SHOWN_HOLD_MICROS: u64 = 5_000_000;

/// The resources of what is printed here, as a story names them.
const NODES: &str = "nodes";
const POOLS: &str = "machineconfigpools";

/// Prints pools and nodes.
pub(super) fn print(page: &mut UpgradePage<'_>, story: &UpgradeStory) -> Result<(), CommandError> {
    joins(page, story)?;
    if story.nodes.is_empty() && story.pools.is_empty() {
        return Ok(());
    }
    let number =
        |is_of: fn(&NodeUpdate) -> bool| story.nodes.iter().filter(|one| is_of(one)).count();
    let deleted = number(|node| node.deleted.is_some());
    let pending = number(|node| node.over().is_none());
    let mut more = format!("{} updated", story.nodes.len() - deleted - pending);
    for (number, word) in [(deleted, "deleted"), (pending, "under way")] {
        if number > 0 {
            more.extend([format!(", {number} {word}")]);
        }
    }
    page.title("Nodes", &more)?;
    for pool in &story.pools {
        one_pool(page, pool, story)?;
    }
    if story.nodes.is_empty() {
        return Ok(());
    }
    let (width, length) = (page.time_width(), page.length_width());
    let away = length.max(9);
    page.headers(&format!(
        "  {:<width$}  {:<length$}{:<length$}{:<length$}{:<away$}NODE",
        "BEGAN", "TOOK", "DRAIN", "REBOOT", "NOTREADY"
    ))?;
    for node in &story.nodes {
        one_node(page, node, story)?;
    }
    Ok(())
}

fn joins(page: &mut UpgradePage<'_>, story: &UpgradeStory) -> Result<(), CommandError> {
    if story.joins.is_empty() {
        return Ok(());
    }
    let title = match story.update.kind {
        UpdateKind::Install => "Nodes joined",
        UpdateKind::Upgrade => "Nodes that joined meanwhile",
    };
    let ready = story.joins.iter().filter(|join| join.ready.is_some());
    let more = format!("{} of {} were ready", ready.count(), story.joins.len());
    page.title(title, &more)?;
    let width = page.time_width();
    page.headers(&format!(
        "  {:<width$}  {:<width$}  NODE",
        "JOINED", "READY"
    ))?;
    for join in &story.joins {
        let mut line = StyledLine::of(Style::Strong, format!("  {}  ", page.at(join.joined)));
        match join.ready {
            Some(ready) => line.push(Style::Plain, page.at(ready)),
            None => line.push(Style::Wary, format!("{:<width$}", "not yet")),
        }
        line.push(Style::Plain, format!("  {}", join.node));
        page.line(&line, width + 4)?;
    }
    Ok(())
}

fn one_pool(
    page: &mut UpgradePage<'_>,
    pool: &PoolUpdate,
    story: &UpgradeStory,
) -> Result<(), CommandError> {
    let now = story.until(POOLS, &pool.name);
    let mut line = StyledLine::of(Style::Strong, format!("  {}  ", page.at(pool.began)));
    let took = match pool.over() {
        Some(over) => between(pool.began, over.at),
        None => format!("{}+", between(pool.began, now)),
    };
    let length = page.length_width();
    line.push(
        Style::Plain,
        format!(
            "{took:<length$}pool {}: {} of {} machines",
            pool.name, pool.updated, pool.machines
        ),
    );
    if let Some(deleted) = pool.deleted {
        let at = page.timeline.written(deleted.at);
        line.push(Style::Wary, format!(", deleted {at}"));
    }
    if !pool.paused.is_empty() {
        line.push(Style::Wary, ", paused");
    }
    if let Some(degraded) = pool.degraded.first() {
        let lasted = lasting(degraded.micros(now), degraded.to.is_some());
        line.push(Style::Bad, format!(", degraded for {lasted}"));
    }
    if pool.over().is_none() && story.is_unknown(POOLS, &pool.name) {
        line.push(Style::Wary, END_NOT_OBSERVED);
    }
    page.line(&line, page.time_width() + 4)
}

fn one_node(
    page: &mut UpgradePage<'_>,
    node: &NodeUpdate,
    story: &UpgradeStory,
) -> Result<(), CommandError> {
    let now = story.until(NODES, &node.node);
    let mut line = StyledLine::of(Style::Strong, format!("  {}  ", page.at(node.began)));
    let long = |span: Option<MarkSpan>| {
        span.map_or_else(
            || "-".to_owned(),
            |span| lasting(span.micros(now), span.to.is_some()),
        )
    };
    let took = lasting(node.micros(now), node.over().is_some());
    let away: u64 = node.not_ready.iter().map(|span| span.micros(now)).sum();
    let is_back = node.not_ready.iter().all(|span| span.to.is_some());
    let away = if node.not_ready.is_empty() {
        "-".to_owned()
    } else {
        lasting(away, is_back)
    };
    let (drain, reboot) = (long(node.drain), long(node.reboot));
    let length = page.length_width();
    let away_width = length.max(9);
    line.push(
        Style::Plain,
        format!(
            "{took:<length$}{drain:<length$}{reboot:<length$}{away:<away_width$}{}",
            node.node
        ),
    );
    if let Some(deleted) = node.deleted {
        let at = page.timeline.written(deleted.at);
        line.push(Style::Wary, format!(" · deleted {at}"));
    }
    if node.over().is_none() {
        let (word, since) = phase(node);
        let since = since.map_or_else(String::new, |at| {
            format!(" since {}", page.timeline.written(at))
        });
        line.push(Style::Wary, format!(" · {word}{since}"));
        if story.is_unknown(NODES, &node.node) {
            line.push(Style::Wary, END_NOT_OBSERVED);
        }
    }
    let hang = page.time_width() + 4;
    page.line(&line, hang)?;
    below(page, node, now, hang)
}

/// Says where a node is on its way.
fn phase(node: &NodeUpdate) -> (&'static str, Option<RecordedAt>) {
    let open = |span: Option<MarkSpan>| span.filter(|span| span.to.is_none());
    if let Some(reboot) = open(node.reboot) {
        return ("rebooting", Some(reboot.from.at));
    }
    if let Some(drain) = open(node.drain) {
        return ("draining", Some(drain.from.at));
    }
    match (node.cordoned, node.done) {
        (_, Some(done)) => ("still cordoned", Some(done.at)),
        (Some(cordoned), None) => ("cordoned", Some(cordoned.at)),
        (None, None) => ("update requested", None),
    }
}

/// Prints what held a node up.
fn below(
    page: &mut UpgradePage<'_>,
    node: &NodeUpdate,
    now: RecordedAt,
    hang: usize,
) -> Result<(), CommandError> {
    let indent = " ".repeat(hang);
    let (long, short): (Vec<&DrainHold>, Vec<&DrainHold>) = node
        .blocked_by
        .iter()
        .partition(|hold| hold.span.micros(now) >= SHOWN_HOLD_MICROS);
    for hold in &long {
        let lasted = lasting(hold.span.micros(now), hold.span.to.is_some());
        let from = page.timeline.written(hold.span.from.at);
        let line = StyledLine::of(
            Style::Wary,
            format!(
                "{indent}drain blocked {lasted} from {from}: PodDisruptionBudget {}/{} allowed no eviction of Pod {}",
                hold.namespace, hold.budget, hold.pod
            ),
        );
        page.line(&line, hang)?;
    }
    if !short.is_empty() {
        let short = short.len();
        let mut line = StyledLine::default();
        let words = count(short, "block of its drain");
        line.push(
            Style::Faint,
            format!("{indent}{words} shorter than 5s: -o json"),
        );
        page.line(&line, hang)?;
    }
    for (span, why) in &node.degraded {
        let lasted = lasting(span.micros(now), span.to.is_some());
        let from = page.timeline.written(span.from.at);
        let line = StyledLine::of(
            Style::Bad,
            format!("{indent}degraded {lasted} from {from}: {}", shortened(why)),
        );
        page.line(&line, hang)?;
    }
    // The kubelet warns of every reboot.
    let is_news = |warning: &&MarkedMessage| warning.reason != "Rebooted";
    for warning in node.warnings.iter().filter(is_news) {
        let mut line = StyledLine::default();
        let at = page.timeline.written(warning.mark.at);
        line.push(
            Style::Wary,
            format!(
                "{indent}{at} {}: {}",
                warning.reason,
                shortened(&warning.message)
            ),
        );
        page.line(&line, hang)?;
    }
    Ok(())
}
