//! Owns how the account of revisions is shown to people. Refuses to guess what an unexplained revision
//! was.

use super::page::{LISTED, labelled, rest};
use crate::command_error::CommandError;
use crate::screen::Screen;
use crate::words::{count, number};
use kubereel_history::{AccountSummary, Proof, RangeSummary, Timeline};

/// What else leaves revisions than changes of recorded objects.
const OTHERS: &str = "API servers renew leases of their own and the storage marks what it forgets: \
                      such revisions have no API object, and cannot be distinguished from missed changes";

/// Prints every account.
pub(super) fn print(
    timeline: &Timeline,
    proof: &Proof,
    screen: &mut Screen,
) -> Result<(), CommandError> {
    if let Some(why) = &proof.no_account {
        let text = screen.paint().faint(&format!("no account: {why}"));
        return labelled(screen, "revisions", &text);
    }
    for account in &proof.accounts {
        one(timeline, account, screen)?;
    }
    Ok(())
}

fn one(
    timeline: &Timeline,
    account: &AccountSummary,
    screen: &mut Screen,
) -> Result<(), CommandError> {
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
        labelled(screen, "  no event", &written(timeline, range))?;
    }
    let total = usize::try_from(account.ranges_total).unwrap_or(usize::MAX);
    rest(screen, total, "ranges without an event")?;
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
    rest(screen, account.left_out.len(), "left out")
}

fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

fn written(timeline: &Timeline, range: &RangeSummary) -> String {
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
