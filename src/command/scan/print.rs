//! Owns what a scan prints, for people and for programs. Refuses secrets.

use crate::command_error::CommandError;
use crate::screen::Screen;
use crate::table::Table;
use crate::words::{bytes, count, number};
use kubereel_history::{Timeline, harmless, timetext};
use kubereel_scan::{Found, Place, Report};
use serde_json::{Value, json};

/// How many finds people are shown.
const SHOWN: usize = 40;

/// Prints what was found, then what that means.
pub(super) fn page(
    timeline: &Timeline,
    report: &Report,
    screen: &mut Screen,
) -> Result<(), CommandError> {
    listed(timeline, &report.found, report.total, screen)?;
    let paint = screen.err_paint();
    for unread in &report.unread {
        let text = format!("not read: {}", harmless(unread));
        screen.aside(paint.bad(&text))?;
    }
    let searched = [
        count(report.objects, "object"),
        format!("{} decompressed", bytes(report.decompressed_bytes)),
        format!("{} in the file", bytes(report.file_bytes)),
        count(report.canaries, "canary").replace("canarys", "canaries"),
    ];
    screen.aside(format!("searched {}", searched.join(" · ")))?;
    let verdict = if report.total > 0 {
        paint.bad(&count(report.total, "secret in the reel"))
    } else if report.unread.is_empty() {
        paint.good("no known form of a secret was found")
    } else {
        paint.wary("unknown: no known form of a secret was found in the readable part")
    };
    if report.high_entropy_total > 0 {
        let text = format!(
            "high entropy, mostly not secrets: {}",
            count(report.high_entropy_total, "string")
        );
        screen.aside(paint.wary(&text))?;
        listed(
            timeline,
            &report.high_entropy,
            report.high_entropy_total,
            screen,
        )?;
    }
    screen.aside(verdict)
}

fn listed(
    timeline: &Timeline,
    found: &[Found],
    total: u64,
    screen: &mut Screen,
) -> Result<(), CommandError> {
    if found.is_empty() {
        return Ok(());
    }
    let mut table = Table::with_headers(["TIME", "WHERE", "PATH", "RULE", "SECRET"]);
    for one in found.iter().take(SHOWN) {
        table.push(row(timeline, one));
    }
    for line in table.lines() {
        screen.line(line)?;
    }
    let rest = total.saturating_sub(u64::try_from(SHOWN).unwrap_or(u64::MAX));
    if rest > 0 {
        screen.line(format!("and {} more: -o json", number(rest)))?;
    }
    Ok(())
}

fn row(timeline: &Timeline, found: &Found) -> Vec<String> {
    let (time, place) = match &found.place {
        Place::Object { at, object, .. } => (timeline.written(*at), object.clone()),
        Place::Name { object } => (String::new(), format!("name of {object}")),
        Place::Note { seq, at } => (timeline.written(*at), format!("note {}", seq.0)),
        Place::Kept { seq, at } => (timeline.written(*at), format!("content of note {}", seq.0)),
        _ => (String::new(), format!("the file, byte {}", found.offset)),
    };
    let rule = if found.form.is_empty() {
        found.rule.clone()
    } else {
        format!("{} ({})", found.rule, found.form)
    };
    let secret = format!(
        "{}… {}",
        found.begin,
        count(u64::try_from(found.len).unwrap_or(u64::MAX), "byte")
    );
    let texts = [time, place, found.path.clone(), rule, secret];
    texts
        .iter()
        .map(|text| harmless(text).into_owned())
        .collect()
}

/// Prints one JSON object.
pub(super) fn json(report: &Report, screen: &mut Screen) -> Result<(), CommandError> {
    let found: Vec<Value> = report.found.iter().map(written).collect();
    let random: Vec<Value> = report.high_entropy.iter().map(written).collect();
    let verdict = match (report.total, report.unread.is_empty()) {
        (0, true) => "no-known-secret",
        (0, false) => "unknown",
        _ => "secrets",
    };
    let whole = json!({
        "verdict": verdict,
        "total": report.total,
        "found": found,
        "high_entropy_total": report.high_entropy_total,
        "high_entropy": random,
        "unread": report.unread,
        "objects": report.objects,
        "decompressed_bytes": report.decompressed_bytes,
        "file_bytes": report.file_bytes,
        "canaries": report.canaries,
    });
    screen.line(format!("{whole:#}"))
}

fn written(found: &Found) -> Value {
    let (place, seq, at, object) = match &found.place {
        Place::Object { seq, at, object } => ("object", Some(*seq), Some(*at), Some(object)),
        Place::Name { object } => ("name", None, None, Some(object)),
        Place::Note { seq, at } => ("note", Some(*seq), Some(*at), None),
        Place::Kept { seq, at } => ("kept", Some(*seq), Some(*at), None),
        _ => ("file", None, None, None),
    };
    json!({
        "rule": found.rule,
        "form": found.form,
        "place": place,
        "seq": seq.map(|seq| seq.0),
        "at": at.map(timetext::rfc3339),
        "object": object,
        "path": found.path,
        "offset": found.offset,
        "bytes": found.len,
        "begin": found.begin,
    })
}
