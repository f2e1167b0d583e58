//! Owns how the rest is printed: who led, where nothing moved, what took longest, what was not seen.

use super::page::{Page, between, lasting, shortened};
use crate::command_error::CommandError;
use crate::spans::{Line, Style};
use crate::words::count;
use kubereel_history::{Handover, PartKind, UpgradeStory};

/// Prints the rest.
pub(super) fn print(page: &mut Page<'_>, story: &UpgradeStory) -> Result<(), CommandError> {
    handovers(page, story)?;
    stalls(page, story)?;
    slowest(page, story)?;
    not_seen(page, story)
}

fn handovers(page: &mut Page<'_>, story: &UpgradeStory) -> Result<(), CommandError> {
    if story.handovers.is_empty() {
        return Ok(());
    }
    let all = u64::try_from(story.handovers.len()).unwrap_or(u64::MAX);
    page.title("Cluster-version operator", &count(all, "change of leader"))?;
    for handover in &story.handovers {
        let Some(mark) = handover.released.or(handover.taken) else {
            continue;
        };
        let mut line = Line::default();
        line.push(Style::Strong, format!("  {}  ", page.at(mark)));
        line.push(Style::Plain, told(page, handover));
        page.line(&line, page.time_width() + 4)?;
    }
    Ok(())
}

fn told(page: &Page<'_>, handover: &Handover) -> String {
    let from = process(&handover.from);
    let to = process(&handover.to);
    match (handover.released, handover.taken) {
        (Some(released), Some(taken)) => format!(
            "{from} released the lease; {to} acquired it {} later, {}",
            between(released, taken.at),
            page.timeline.written(taken.at)
        ),
        (Some(_), None) => format!("{from} released the lease; not acquired again"),
        (None, _) if handover.from.is_empty() => format!("{to} acquired the lease"),
        (None, _) => format!("{to} acquired the lease, which {from} had not released"),
    }
}

/// Names a process by its node: the rest of its identity is random.
fn process(holder: &str) -> &str {
    holder.split_once('_').map_or(holder, |(node, _)| node)
}

fn stalls(page: &mut Page<'_>, story: &UpgradeStory) -> Result<(), CommandError> {
    if story.stalls.is_empty() {
        return Ok(());
    }
    page.title(
        "Stalls",
        "no operator and no node moved for 5 minutes or longer",
    )?;
    for stall in &story.stalls {
        let mut line = Line::default();
        line.push(Style::Strong, format!("  {}  ", page.at(stall.from)));
        let to = stall.to.map_or(story.now, |to| to.at);
        let lasted = u64::try_from(to.micros_since(stall.from.at)).unwrap_or_default();
        line.push(
            Style::Bad,
            format!("{:<8}", lasting(lasted, stall.to.is_some())),
        );
        line.push(Style::Plain, shortened(&stall.said));
        page.line(&line, page.time_width() + 12)?;
    }
    Ok(())
}

fn slowest(page: &mut Page<'_>, story: &UpgradeStory) -> Result<(), CommandError> {
    if story.slowest.is_empty() {
        return Ok(());
    }
    page.title("Slowest", "")?;
    for part in &story.slowest {
        let mut line = Line::default();
        line.push(Style::Strong, format!("  {}  ", page.at(part.from)));
        let took = lasting(part.micros, part.is_over);
        let what = match part.what {
            PartKind::Acceptance => "from the request to its acceptance".to_owned(),
            PartKind::Operator => format!("operator {}", part.name),
            PartKind::Drain => format!("drain of {}", part.name),
            PartKind::Reboot => format!("reboot of {}, until it was ready", part.name),
        };
        line.push(Style::Plain, format!("{took:<8}{what}"));
        page.line(&line, page.time_width() + 12)?;
    }
    Ok(())
}

fn not_seen(page: &mut Page<'_>, story: &UpgradeStory) -> Result<(), CommandError> {
    if story.not_seen.is_empty() {
        return Ok(());
    }
    page.title("Not observed", "the story above may be incomplete")?;
    for one in &story.not_seen {
        let mut line = Line::default();
        let when = one.unseen.as_ref().map_or_else(String::new, |unseen| {
            let (from, to) = (unseen.from, unseen.to);
            format!(
                "{}–{}  ",
                page.timeline.written(from),
                page.timeline.written(to)
            )
        });
        line.push(Style::Strong, format!("  {when}"));
        line.push(Style::Wary, format!("{} {}", one.resource, one.why()));
        line.push(Style::Plain, format!(": {}", one.tells));
        page.line(&line, 4)?;
    }
    Ok(())
}
