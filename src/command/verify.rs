//! `kubereel verify`: whether every byte of a reel is as it was written, and whether every change is in it. Sums and
//! judgements are those of the proof.

use crate::arguments::JsonOutput;
use crate::command::signature::{SignatureCheck, SignatureState, SignerArgs};
use crate::command_error::{CommandError, Exit};
use crate::files;
use crate::outputs::outputs;
use crate::progress::ProgressReporter;
use crate::screen::Console;
use crate::table::TextTable;
use crate::words::{self, Amount, bytes, count, duration, number};
use kubereel_format::LossCounts;
use kubereel_history::{
    AccountSummary, GapSummary, Integrity, OutageSummary, Proof, RangeSummary, ReelVerdict,
    ResourceCompleteness, ResourceProof, Timeline, harmless,
};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Check that a reel is whole and complete
///
/// It reads every byte: pages, indexes, objects and kept texts, and compares each with its checksum.
/// It prints the verdict first, then the problems, then a summary: for each resource the time span in
/// which every change is in the reel, what was read back from the server's history, and how many
/// changes a gap can have lost; how many revisions of the cluster's storage the events explain; and
/// the outages of the API. docs/verify.md describes what this proves and what it cannot.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubereel verify run.reel                          check integrity and completeness
  kubereel verify run.reel --all                    with a row for each complete resource
  kubereel verify run.reel && kubereel test run.reel
  kubereel verify run.reel -o json | jq .verdict    for programs
  kubereel verify run.reel -o json | jq '.resources[] | select(.state == \"incomplete\")'
  kubereel verify run.reel --signer allowed_signers --identity ann@example.com
                                                    did Ann sign this recording?
  kubereel verify run.reel --signer ann.pub         the same with her public key

Exit codes: 0 whole and complete; 1 whole, but changes may be missing; 3 damaged or unreadable.
With --signer: 1 also if there is no signature; 3 also if it is bad.")]
pub(crate) struct Args {
    /// The reel: a file, a folder, an archive or a URL; default: $KUBEREEL, or the only one here
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    /// Show a row for every resource, also the complete ones; -o json always has everything
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    signer: SignerArgs,
    #[command(flatten)]
    output: JsonOutput,
}

outputs! {
/// What a reel proves, and with --signer who signed it.
struct VerifyOutput<'a>(proof: &'a Proof, signature: Option<&'a SignatureCheck>) {
    #[serde(flatten)]
    proof: &'a Proof = proof,
    /// The signature; only with --signer.
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<&'a SignatureCheck> = signature,
}
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let local = files::locate_reel(&args.reel)?;
    let question = args.signer.read(&args.reel, &local)?;
    let timeline = files::open_located(&args.reel, &local)?;
    drop(local);
    let integrity = {
        let total = timeline.reel().end().0;
        let mut progress = ProgressReporter::begin("reading", total, screen.is_err_terminal());
        Integrity::read(&timeline, |done| progress.reached(done))
    };
    let proof = Proof::of(&timeline, integrity);
    let digest = proof.integrity.digest.as_deref();
    let signature = question
        .map(|question| question.answer(digest))
        .transpose()?;
    if args.output.is_json() {
        screen.json(&VerifyOutput::of(&proof, signature.as_ref()))?;
    } else {
        print_verdict(&proof, screen)?;
        if let Some(signature) = &signature {
            print_signature(signature, screen)?;
        }
        print_page(&timeline, &proof, args.all, screen)?;
    }
    let exit = match proof.verdict {
        ReelVerdict::Complete => Exit::Yes,
        ReelVerdict::Incomplete => Exit::No,
        _ => Exit::Reel,
    };
    Ok(signature.map_or(exit, |signature| signature.exit(exit)))
}

/// How many gaps, damaged places and outages are listed one by one.
const LISTED: usize = 20;

fn print_signature(signature: &SignatureCheck, screen: &mut Console) -> Result<(), CommandError> {
    let (paint, words) = (screen.paint(), signature.words());
    let words = harmless(&words);
    let text = match signature.state {
        SignatureState::Good => paint.good(&words),
        SignatureState::Bad => paint.bad(&words),
        SignatureState::Unsigned => paint.wary(&words),
    };
    labelled(screen, "signature", &text)
}

/// Prints the page behind the verdict.
fn print_page(
    timeline: &Timeline,
    proof: &Proof,
    is_all: bool,
    screen: &mut Console,
) -> Result<(), CommandError> {
    print_integrity(timeline, proof, screen)?;
    print_resources(timeline, proof, is_all, screen)?;
    print_revisions(timeline, proof, screen)?;
    print_outages(timeline, proof, screen)?;
    if proof.clock_steps == 0 {
        return Ok(());
    }
    let steps = words::clock_steps(proof.clock_steps);
    labelled(screen, "clock", &screen.paint().wary(&steps))
}

/// Writes a line behind its label.
fn labelled(screen: &mut Console, label: &str, text: &str) -> Result<(), CommandError> {
    let label = screen.paint().strong(&format!("{label:<11}"));
    screen.line(format!("{label}  {text}"))
}

/// Says how many more there are of what was listed.
fn print_rest(screen: &mut Console, total: impl Amount, what: &str) -> Result<(), CommandError> {
    let rest = total.get().saturating_sub(LISTED.get());
    if rest == 0 {
        return Ok(());
    }
    let text = screen
        .paint()
        .faint(&format!("{rest} more {what}: -o json"));
    labelled(screen, "", &text)
}

fn print_integrity(
    timeline: &Timeline,
    proof: &Proof,
    screen: &mut Console,
) -> Result<(), CommandError> {
    let paint = screen.paint();
    let read = &proof.integrity;
    let verdict = if read.whole {
        paint.good("all checksums match")
    } else {
        paint.bad(&count(read.damaged_places, "place damaged"))
    };
    let lost = words::losses(LossCounts {
        events: read.unreadable,
        ..timeline.reel().losses()
    });
    let mut parts = vec![verdict];
    parts.extend((!lost.is_empty()).then(|| paint.bad(&lost)));
    parts.extend([
        count(read.records, "record"),
        count(read.blocks, "block"),
        format!("{} decompressed", bytes(read.decompressed_bytes)),
    ]);
    labelled(screen, "integrity", &parts.join(" · "))?;
    let digest = read.digest.as_deref();
    labelled(
        screen,
        "digest",
        digest.unwrap_or("none: records are lost or unreadable"),
    )?;
    for damage in read.damage.iter().take(LISTED) {
        labelled(screen, "  damaged", &paint.bad(&damage.lost))?;
    }
    print_rest(screen, read.damaged_places, "damaged places")
}

fn print_outages(
    timeline: &Timeline,
    proof: &Proof,
    screen: &mut Console,
) -> Result<(), CommandError> {
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
    for outage in outages.counted().take(LISTED) {
        labelled(screen, "  outage", &outage_line(timeline, outage))?;
    }
    print_rest(screen, outages.count, "outages")
}

/// Describes an outage.
pub(super) fn outage_line(timeline: &Timeline, outage: &OutageSummary) -> String {
    let (from, to) = (timeline.written(outage.from), timeline.written(outage.to));
    let span = duration(outage.to.micros_since(outage.from));
    let mut parts = vec![format!("{from} – {to}"), span];
    parts.extend(outage.endpoint.clone());
    parts.extend(outage.class.clone());
    parts.push(outage.error.clone());
    harmless(&parts.join(" · ")).into_owned()
}

/// Says what complete means: where every revision has its event nothing can be missing, else the streams
/// say so.
fn complete_text(unexplained: u64) -> String {
    if unexplained == 0 {
        return "complete: every change of every recorded resource is in the reel".to_owned();
    }
    let without = count(unexplained, "revision");
    format!(
        "complete: every change that the streams of the recorded resources delivered is in the reel; {without} without an event"
    )
}

fn print_verdict(proof: &Proof, screen: &mut Console) -> Result<(), CommandError> {
    let paint = screen.paint();
    let reasons = proof.reasons.join("; ");
    let text = match proof.verdict {
        ReelVerdict::Complete => {
            let unexplained: u64 = proof.accounts.iter().map(|one| one.unexplained).sum();
            paint.good(&complete_text(unexplained))
        }
        ReelVerdict::Incomplete => paint.wary(&format!("incomplete: {reasons}")),
        _ => paint.bad(&format!("damaged: {reasons}")),
    };
    labelled(screen, "verdict", &text)
}

/// Writes how many resources were not recorded without a loss, by the reason.
fn no_loss_line(reasons: &BTreeMap<&str, u64>) -> Option<String> {
    let total: u64 = reasons.values().sum();
    let reasons = reasons.iter();
    let reasons = reasons.map(|(why, of_them)| format!("{of_them} {why}"));
    let reasons: Vec<String> = reasons.collect();
    let line = format!(
        "  {} not recorded, not a loss: {}",
        number(total),
        reasons.join(", ")
    );
    (total > 0).then_some(line)
}

/// Prints what is proven of the resources.
fn print_resources(
    timeline: &Timeline,
    proof: &Proof,
    is_all: bool,
    screen: &mut Console,
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
    let mut table = TextTable::default();
    let wrong = proof
        .resources
        .iter()
        .filter(|one| !one.state.is_complete());
    let mut only_imported = 0_usize;
    for one in wrong {
        // Of many resources all that can be said is the same.
        let is_only_imported = one.state == ResourceCompleteness::Imported
            && one.gaps.is_empty()
            && one.unseen.is_empty();
        if is_only_imported && !is_all {
            only_imported += 1;
        } else {
            push_rows(&mut table, timeline, one);
        }
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
            push_rows(&mut table, timeline, one);
        }
    }
    screen.table(&table)?;
    if is_all {
        return Ok(());
    }
    if only_imported > 0 {
        let many = count(only_imported, "resource");
        screen.line(format!("  {many} imported: completeness is unknown"))?;
    }
    for (state, more) in [
        (ResourceCompleteness::Complete, ""),
        (
            ResourceCompleteness::Reconstructed,
            ", with gaps that are closed",
        ),
    ] {
        let those: Vec<&ResourceProof> = complete
            .iter()
            .copied()
            .filter(|one| one.state == state)
            .collect();
        if let Some(text) = summary_line(timeline, &those) {
            screen.line(format!("  {text}{more}"))?;
        }
    }
    if let Some(text) = no_loss_line(&no_loss) {
        screen.line(text)?;
    }
    if complete.is_empty() && no_loss.is_empty() && only_imported == 0 {
        return Ok(());
    }
    let hint = screen.paint().faint("  one row per resource: --all");
    screen.line(hint)
}

/// Summarizes the spans of several resources: complete from when to when.
fn summary_line(timeline: &Timeline, those: &[&ResourceProof]) -> Option<String> {
    let froms = || those.iter().filter_map(|one| one.from);
    let tos = || those.iter().filter_map(|one| one.to);
    let (first, all_from) = (froms().min()?, froms().max()?);
    let (all_to, last) = (tos().min()?, tos().max()?);
    let many = count(those.len(), "resource");
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

fn push_rows(table: &mut TextTable, timeline: &Timeline, one: &ResourceProof) {
    for said in resource_lines(timeline, one) {
        table.push(vec![format!("  {}", one.resource), said]);
    }
}

/// Says what is proven of a resource, a line for each thing to be said.
fn resource_lines(timeline: &Timeline, one: &ResourceProof) -> Vec<String> {
    let span = match (one.from, one.to) {
        (Some(from), Some(to)) => {
            let (from, to) = (timeline.written(from), timeline.written(to));
            format!("from {from} to {to}")
        }
        _ => String::new(),
    };
    let mut lines = match one.state {
        ResourceCompleteness::Complete => vec![format!("complete {span}")],
        ResourceCompleteness::Reconstructed => {
            vec![format!("complete {span}, with gaps that are closed")]
        }
        ResourceCompleteness::Imported => {
            vec!["imported: completeness is unknown".to_owned()]
        }
        ResourceCompleteness::NeverListed => vec!["never listed completely".to_owned()],
        _ => vec![format!("known {span}, incomplete")],
    };
    lines.extend(missing_lines(timeline, one, LISTED));
    for gap in one.reconstructed.iter().take(LISTED) {
        let words = format!(
            "reconstructed: {} read back,",
            count(gap.read_back, "event")
        );
        lines.push(gap_line(timeline, gap, &words));
    }
    for gap in one.proven.iter().take(LISTED) {
        let (from, to) = (gap.from_rv.as_deref().unwrap_or(""), &gap.to_rv);
        let words = format!("nothing lost: every revision after {from} up to {to} is explained,");
        lines.push(gap_line(timeline, gap, &words));
    }
    lines
}

/// Says in which times changes of a resource may be missing: the first gaps, then the first other times.
pub(super) fn missing_lines(timeline: &Timeline, one: &ResourceProof, most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for gap in one.gaps.iter().take(most) {
        let missing = gap.missing_at_most.map_or_else(
            || "may miss changes".to_owned(),
            |most| format!("may miss up to {}", count(most, "change")),
        );
        lines.push(gap_line(timeline, gap, &missing));
    }
    if one.gaps.len() > most {
        lines.push(format!("{} more gaps: -o json", one.gaps.len() - most));
    }
    for unseen in one.unseen.iter().take(most) {
        let [from, to] = [unseen.from, unseen.to].map(|at| timeline.written_if_known(at));
        let why = &unseen.why;
        lines.push(format!("not observed between {from} and {to}: {why}"));
    }
    lines
}

fn gap_line(timeline: &Timeline, gap: &GapSummary, words: &str) -> String {
    let (from, to) = (timeline.written(gap.from), timeline.written(gap.to));
    format!("{words} between {from} and {to}: {}", gap.cause)
}

/// What else leaves revisions than changes of recorded objects.
const OTHERS: &str = "API servers renew leases of their own and etcd records compactions: \
                      such revisions have no API object, and cannot be distinguished from missed changes";

/// Prints every account.
fn print_revisions(
    timeline: &Timeline,
    proof: &Proof,
    screen: &mut Console,
) -> Result<(), CommandError> {
    if let Some(why) = &proof.no_account {
        let text = screen.paint().faint(&format!("no account: {why}"));
        return labelled(screen, "revisions", &text);
    }
    for account in &proof.accounts {
        print_account(timeline, account, screen)?;
    }
    Ok(())
}

fn print_account(
    timeline: &Timeline,
    account: &AccountSummary,
    screen: &mut Console,
) -> Result<(), CommandError> {
    if account.revisions == 0 {
        let text = format!(
            "none to explain: none came between {}, when the recorded resources had been listed, and the last probe",
            account.from_rv
        );
        return labelled(screen, "revisions", &screen.paint().faint(&text));
    }
    let paint = screen.paint();
    let parts = [
        match account.explained_share {
            Some(share) if account.unexplained == 0 => paint.good(&percent(share)),
            Some(share) => percent(share),
            None => paint.wary("inconclusive"),
        },
        format!(
            "{} of {} explained by events of {}",
            number(account.explained),
            number(account.revisions),
            count(account.resources, "resource")
        ),
        format!("after {} up to {}", account.from_rv, account.to_rv),
        format!(
            "{} – {}",
            timeline.written(account.from),
            timeline.written(account.to)
        ),
    ];
    labelled(screen, "revisions", &parts.join(" · "))?;
    if account.unexplained > 0 {
        let text = format!("{} are not: {OTHERS}", number(account.unexplained));
        labelled(screen, "", &text)?;
    }
    for range in account.ranges.iter().take(LISTED) {
        labelled(screen, "  no event", &range_text(timeline, range))?;
    }
    print_rest(screen, account.ranges_total, "ranges without an event")?;
    if account.shared_revisions > 0 {
        let shared = count(account.shared_revisions, "revision");
        let text = format!(
            "{shared} of several objects: two histories, or two storages, gave the same numbers"
        );
        labelled(screen, "", &paint.wary(&text))?;
    }
    for left_out in account.left_out.iter().take(LISTED) {
        let text = format!("{}: {}", left_out.resource, left_out.reason);
        labelled(screen, "  left out", &paint.faint(&text))?;
    }
    print_rest(screen, account.left_out.len(), "left out")
}

fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

fn range_text(timeline: &Timeline, range: &RangeSummary) -> String {
    let span = if range.first_rv == range.last_rv {
        range.first_rv.clone()
    } else {
        format!("{}–{}", range.first_rv, range.last_rv)
    };
    let (Some(after), Some(before)) = (range.after, range.before) else {
        return span;
    };
    let (after, before) = (timeline.written(after), timeline.written(before));
    format!("{span} · committed between {after} and {before}")
}
