//! Owns what `verify` shows to people: the verdict first, then why. Refuses sums and judgements: the proof
//! has them.

use super::{resources, revisions};
use crate::command_error::CommandError;
use crate::screen::Screen;
use crate::words::{bytes, count, number};
use kubereel_history::{OutageSummary, Proof, Timeline, Verdict, harmless, timetext};

/// How many gaps, damaged places and outages are listed one by one.
pub(super) const LISTED: usize = 20;

/// Prints the page; the verdict is its first line.
pub(super) fn print(
    timeline: &Timeline,
    proof: &Proof,
    is_all: bool,
    screen: &mut Screen,
) -> Result<(), CommandError> {
    verdict(proof, screen)?;
    integrity(proof, screen)?;
    resources::print(timeline, proof, is_all, screen)?;
    revisions::print(timeline, proof, screen)?;
    outages(timeline, proof, screen)
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

fn outages(timeline: &Timeline, proof: &Proof, screen: &mut Screen) -> Result<(), CommandError> {
    let outages = &proof.outages;
    if outages.count == 0 {
        return labelled(screen, "API outages", "none observed");
    }
    let text = format!(
        "{} · {:.1} s in all; changes during an outage were received afterwards, or a gap is recorded",
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

/// Says what complete means: where every revision has its event nothing can be missing, else the streams
/// say so.
fn complete(unexplained: u64) -> String {
    if unexplained == 0 {
        return "complete: every change of every recorded resource is in the reel".to_owned();
    }
    let without = count(unexplained, "revision");
    format!(
        "complete: every change that the streams of the recorded resources delivered is in the reel; {without} without an event"
    )
}

fn verdict(proof: &Proof, screen: &mut Screen) -> Result<(), CommandError> {
    let paint = screen.paint();
    let reasons = proof.reasons.join("; ");
    let text = match proof.verdict {
        Verdict::Complete => {
            let unexplained: u64 = proof.accounts.iter().map(|one| one.unexplained).sum();
            paint.good(&complete(unexplained))
        }
        Verdict::Incomplete => paint.wary(&format!("incomplete: {reasons}")),
        _ => paint.bad(&format!("damaged: {reasons}")),
    };
    labelled(screen, "verdict", &text)
}
