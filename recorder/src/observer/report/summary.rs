//! The summary for people: one page of text.

use super::words::{secs, time};
use super::{Report, Stage, Verdict, cases};
use kubereel_format::harmless;

/// Writes the page.
pub(in crate::observer) fn summary(report: &Report) -> String {
    let account = &report.account;
    let mut lines = vec![
        format!(
            "kubereel {}: {}",
            env!("CARGO_PKG_VERSION"),
            report.outcome()
        ),
        String::new(),
        format!("reel        {}, {} bytes", report.reel, report.reel_bytes),
    ];
    if !report.file_words.is_empty() {
        lines.push(format!("            {}", report.file_words));
    }
    if let Some(began) = account.began {
        let span = secs(report.at.micros_since(began));
        lines.push(format!(
            "recorded    {} – {} ({span} s)",
            time(began),
            time(report.at)
        ));
    }
    match &report.stage {
        Stage::Running => lines.push("ended       not yet, or killed".to_owned()),
        Stage::Ended(by) => lines.push(format!("ended       by {by}")),
        Stage::NotBegun(why) | Stage::Failed(why) => lines.push(format!("ended       {why}")),
    }
    for cluster in &account.clusters.told {
        lines.push(format!("cluster     {cluster}"));
    }
    lines.push(format!(
        "events      {} of {} resources",
        report.standing.events(),
        report.standing.resources
    ));
    for (name, value) in &account.labels {
        lines.push(format!("label       {name}={value}"));
    }
    lines.push(String::new());
    for case in cases(report) {
        let (word, words) = match &case.verdict {
            Verdict::Fine { words } => ("yes", words.as_str()),
            Verdict::Trouble { body, .. } => ("NO", body.as_str()),
            Verdict::Unknown { why } => ("?", why.as_str()),
        };
        lines.push(format!("{word:<4}{}", case.name));
        lines.extend(words.lines().map(|line| format!("        {line}")));
    }
    if !account.way.told.is_empty() {
        lines.extend([String::new(), "the way to the cluster".to_owned()]);
        let way = account.way.told.iter();
        lines.extend(way.map(|(at, words)| format!("    {} {words}", time(*at))));
        let untold = account.way.all - u64::try_from(account.way.told.len()).unwrap_or(0);
        if untold > 0 {
            lines.push(format!("    and {untold} more"));
        }
    }
    lines.extend([
        String::new(),
        format!("look at it:  kubereel {}", report.reel),
    ]);
    // One line stays one line: words of a server cannot pretend to be another.
    lines
        .iter()
        .fold(String::new(), |text, line| text + &harmless(line) + "\n")
}
