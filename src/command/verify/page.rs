//! Owns what `verify` shows to people. Refuses sums and judgements: the proof has them.

use super::revisions;
use crate::command_error::CommandError;
use crate::screen::Screen;
use crate::table::Table;
use crate::words::{bytes, count, number};
use kubereel_replay::{
    GapSummary, OutageSummary, Proof, ResourceProof, ResourceState, Timeline, Verdict, harmless,
    timetext,
};

/// How many gaps, damaged places and outages are listed one by one.
pub(super) const LISTED: usize = 20;

/// Prints the page, and the verdict as its last line.
pub(super) fn print(
    timeline: &Timeline,
    proof: &Proof,
    screen: &mut Screen,
) -> Result<(), CommandError> {
    integrity(proof, screen)?;
    resources(timeline, proof, screen)?;
    revisions::print(timeline, proof, screen)?;
    outages(timeline, proof, screen)?;
    verdict(proof, screen)
}

/// Writes a line behind its label.
pub(super) fn labelled(screen: &mut Screen, label: &str, text: &str) -> Result<(), CommandError> {
    let label = screen.paint().strong(&format!("{label:<11}"));
    screen.line(format!("{label}  {text}"))
}

/// Says how many more there are of what was listed.
pub(super) fn rest(screen: &mut Screen, total: usize, what: &str) -> Result<(), CommandError> {
    let rest = total.saturating_sub(LISTED);
    if rest == 0 {
        return Ok(());
    }
    let text = screen
        .paint()
        .faint(&format!("{rest} more {what}: -o json"));
    labelled(screen, "", &text)
}

fn integrity(proof: &Proof, screen: &mut Screen) -> Result<(), CommandError> {
    let paint = screen.paint();
    let read = &proof.integrity;
    let verdict = if read.whole {
        paint.good("every checksum fits")
    } else {
        paint.bad(&count(read.damaged_places, "damaged place"))
    };
    let parts = [
        verdict,
        count(read.records, "record"),
        count(read.blocks, "block"),
        format!("{} decompressed", bytes(read.decompressed_bytes)),
    ];
    labelled(screen, "integrity", &parts.join(" · "))?;
    for damage in read.damage.iter().take(LISTED) {
        let text = format!("{}: {}", damage.place, damage.cause);
        labelled(screen, "  damaged", &paint.bad(&text))?;
    }
    let total = usize::try_from(read.damaged_places).unwrap_or(usize::MAX);
    rest(screen, total, "damaged places")
}

fn resources(timeline: &Timeline, proof: &Proof, screen: &mut Screen) -> Result<(), CommandError> {
    let complete = proof.resources.iter().filter(|one| one.state.is_complete());
    let complete = complete.count();
    let text = format!("{complete} of {} resources", proof.resources.len());
    let text = if complete == proof.resources.len() && complete > 0 {
        screen.paint().good(&text)
    } else {
        screen.paint().wary(&text)
    };
    labelled(screen, "complete", &text)?;
    let mut table = Table::default();
    for one in &proof.resources {
        for said in said(timeline, one) {
            table.push(vec![format!("  {}", one.resource), said]);
        }
    }
    for excluded in &proof.not_covered {
        let text = format!("not covered: {} {}", excluded.reason, excluded.detail);
        let name = format!("  {}", excluded.resource);
        table.push(vec![name, text.trim_end().to_owned()]);
    }
    for line in table.lines() {
        screen.line(line)?;
    }
    Ok(())
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
            vec!["imported: the recording does not tell what it leaves out".to_owned()]
        }
        ResourceState::NeverListed => vec!["never listed completely".to_owned()],
        _ => vec![format!("known {span}, not all of it")],
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
        lines.push(format!("not seen between {from} and {to}: {}", unseen.why));
    }
    lines
}

fn told(timeline: &Timeline, gap: &GapSummary, words: &str) -> String {
    let (from, to) = (timeline.written(gap.from), timeline.written(gap.to));
    format!("{words} between {from} and {to}: {}", gap.cause)
}

fn outages(timeline: &Timeline, proof: &Proof, screen: &mut Screen) -> Result<(), CommandError> {
    let outages = &proof.outages;
    if outages.count == 0 {
        return labelled(screen, "API outages", "none seen");
    }
    let text = format!(
        "{} · {:.1} s in all; what streams missed in them they were told afterwards, or there is a gap",
        number(outages.count),
        outages.total_secs
    );
    labelled(screen, "API outages", &text)?;
    let real: Vec<&OutageSummary> = outages
        .each
        .iter()
        .filter(|outage| !outage.before_first_answer)
        .collect();
    for outage in real.iter().take(LISTED) {
        let span = outage.to.micros_since(outage.from);
        let mut parts = vec![
            format!(
                "{} – {}",
                timeline.written(outage.from),
                timeline.written(outage.to)
            ),
            timetext::span(u64::try_from(span).unwrap_or(0)),
        ];
        parts.extend(outage.endpoint.clone());
        parts.extend(outage.class.clone());
        parts.push(outage.error.clone());
        labelled(screen, "  outage", &harmless(&parts.join(" · ")))?;
    }
    rest(screen, real.len(), "outages")
}

fn verdict(proof: &Proof, screen: &mut Screen) -> Result<(), CommandError> {
    let paint = screen.paint();
    let reasons = proof.reasons.join("; ");
    let text = match proof.verdict {
        Verdict::Complete => {
            paint.good("complete: every change of every recorded resource is in the reel")
        }
        Verdict::Incomplete => paint.wary(&format!("incomplete: {reasons}")),
        _ => paint.bad(&format!("damaged: {reasons}")),
    };
    labelled(screen, "verdict", &text)
}
