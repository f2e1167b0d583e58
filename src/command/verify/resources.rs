//! Owns how the proof of each resource is shown to people: what is wrong first and in rows, what is complete
//! in one line unless all rows are wanted. Refuses judgements: the proof has them.

use super::page::{LISTED, labelled};
use crate::command_error::CommandError;
use crate::screen::Screen;
use crate::table::Table;
use crate::words::{count, number};
use kubereel_history::{GapSummary, Proof, ResourceProof, ResourceState, Timeline};
use std::collections::BTreeMap;

/// Prints what is proven of the resources.
pub(super) fn print(
    timeline: &Timeline,
    proof: &Proof,
    is_all: bool,
    screen: &mut Screen,
) -> Result<(), CommandError> {
    let complete = proof.resources.iter().filter(|one| one.state.is_complete());
    let complete: Vec<&ResourceProof> = complete.collect();
    let text = format!("{} of {} resources", complete.len(), proof.resources.len());
    let text = if complete.len() == proof.resources.len() && !complete.is_empty() {
        screen.paint().good(&text)
    } else {
        screen.paint().wary(&text)
    };
    labelled(screen, "complete", &text)?;
    let mut table = Table::default();
    let wrong = proof
        .resources
        .iter()
        .filter(|one| !one.state.is_complete());
    for one in wrong {
        rows(&mut table, timeline, one);
    }
    let mut no_loss: BTreeMap<&str, u64> = BTreeMap::new();
    for excluded in timeline.resources().excluded() {
        if !is_all && !excluded.is_loss() {
            *no_loss.entry(excluded.reason.as_str()).or_default() += 1;
            continue;
        }
        let text = format!(
            "not covered: {} {}",
            excluded.reason.as_str(),
            excluded.detail
        );
        let name = format!("  {}", excluded.qualified());
        table.push(vec![name, text.trim_end().to_owned()]);
    }
    if is_all {
        for one in &complete {
            rows(&mut table, timeline, one);
        }
    }
    for line in table.lines() {
        screen.line(line)?;
    }
    if is_all {
        return Ok(());
    }
    for (state, more) in [
        (ResourceState::Complete, ""),
        (ResourceState::Reconstructed, ", with gaps that are closed"),
    ] {
        let those: Vec<&ResourceProof> = complete
            .iter()
            .copied()
            .filter(|one| one.state == state)
            .collect();
        if let Some(text) = together(timeline, &those) {
            screen.line(format!("  {text}{more}"))?;
        }
    }
    if !no_loss.is_empty() {
        let total = number(no_loss.values().sum());
        let reasons = no_loss
            .iter()
            .map(|(why, of_them)| format!("{of_them} {why}"));
        let reasons: Vec<String> = reasons.collect();
        let text = format!("  {total} not recorded, not a loss: {}", reasons.join(", "));
        screen.line(text)?;
    }
    if complete.is_empty() && no_loss.is_empty() {
        return Ok(());
    }
    let hint = screen.paint().faint("  one row per resource: --all");
    screen.line(hint)
}

/// Says of several resources what is said of each: complete from when to when.
fn together(timeline: &Timeline, those: &[&ResourceProof]) -> Option<String> {
    let froms = || those.iter().filter_map(|one| one.from);
    let tos = || those.iter().filter_map(|one| one.to);
    let (first, all_from) = (froms().min()?, froms().max()?);
    let (all_to, last) = (tos().min()?, tos().max()?);
    let many = count(u64::try_from(those.len()).unwrap_or(u64::MAX), "resource");
    let at = |moment| timeline.written(moment);
    if those.len() == 1 {
        return Some(format!(
            "{many} complete from {} to {}",
            at(first),
            at(last)
        ));
    }
    let ends = format!("the first from {}, the last to {}", at(first), at(last));
    Some(if all_from <= all_to {
        format!(
            "{many} complete, all from {} to {}, {ends}",
            at(all_from),
            at(all_to)
        )
    } else {
        format!("{many} complete, {ends}")
    })
}

fn rows(table: &mut Table, timeline: &Timeline, one: &ResourceProof) {
    for said in said(timeline, one) {
        table.push(vec![format!("  {}", one.resource), said]);
    }
}

/// Says what is proven of a resource, a line for each thing to be said.
fn said(timeline: &Timeline, one: &ResourceProof) -> Vec<String> {
    let span = match (one.from, one.to) {
        (Some(from), Some(to)) => {
            let (from, to) = (timeline.written(from), timeline.written(to));
            format!("from {from} to {to}")
        }
        _ => String::new(),
    };
    let mut lines = match one.state {
        ResourceState::Complete => vec![format!("complete {span}")],
        ResourceState::Reconstructed => vec![format!("complete {span}, with gaps that are closed")],
        ResourceState::Imported => {
            vec!["imported: completeness is unknown".to_owned()]
        }
        ResourceState::NeverListed => vec!["never listed completely".to_owned()],
        _ => vec![format!("known {span}, incomplete")],
    };
    for gap in one.gaps.iter().take(LISTED) {
        let missing = gap.missing_at_most.map_or_else(
            || "may miss changes".to_owned(),
            |most| format!("may miss up to {}", count(most, "change")),
        );
        lines.push(told(timeline, gap, &missing));
    }
    if one.gaps.len() > LISTED {
        lines.push(format!("{} more gaps: -o json", one.gaps.len() - LISTED));
    }
    for gap in one.reconstructed.iter().take(LISTED) {
        let words = format!(
            "reconstructed: {} read back,",
            count(gap.read_back, "event")
        );
        lines.push(told(timeline, gap, &words));
    }
    for gap in one.proven.iter().take(LISTED) {
        let (from, to) = (gap.from_rv.as_deref().unwrap_or(""), &gap.to_rv);
        let words = format!("nothing lost: every revision after {from} up to {to} is explained,");
        lines.push(told(timeline, gap, &words));
    }
    for unseen in one.unseen.iter().take(LISTED) {
        let (from, to) = (timeline.written(unseen.from), timeline.written(unseen.to));
        lines.push(format!(
            "not observed between {from} and {to}: {}",
            unseen.why
        ));
    }
    lines
}

fn told(timeline: &Timeline, gap: &GapSummary, words: &str) -> String {
    let (from, to) = (timeline.written(gap.from), timeline.written(gap.to));
    format!("{words} between {from} and {to}: {}", gap.cause)
}
