//! Owns what is said of an import: what is in the reel now, and what is not.

use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::screen::Screen;
use crate::words::{bytes, count};
use kubereel_history::harmless;
use kubereel_history::timetext;
use kubereel_import::{Broken, Imported};
use std::path::Path;

/// Says what an import did, and whether all of the input is in the reel.
pub(super) fn outcome(
    reel: &Path,
    imported: &Imported,
    screen: &mut Screen,
) -> Result<Exit, CommandError> {
    let paint = screen.err_paint();
    broken(&imported.broken, screen)?;
    for (counted, what) in [
        (imported.bookmarks, "BOOKMARK line left out"),
        (
            imported.errors,
            "ERROR line left out: changes may be missing there",
        ),
    ] {
        if counted > 0 {
            screen.aside(count(counted, what))?;
        }
    }
    if imported.dropped.count > 0 {
        let names = imported.dropped.names.iter();
        let names: Vec<String> = names
            .map(|(name, times)| format!("{name:?} {times}"))
            .collect();
        let dropped = count(imported.dropped.count, "field");
        screen.aside(format!(
            "{dropped} not recognized and dropped: {}",
            names.join(", ")
        ))?;
    }
    for (what, names) in [
        ("resource names guessed from kinds", &imported.guessed),
        (
            "recorded in several versions, get shows one at a time",
            &imported.several_versions,
        ),
    ] {
        if !names.is_empty() {
            let names: Vec<String> = names.iter().map(|one| escaped(one)).collect();
            screen.aside(format!("{what}: {}", names.join(", ")))?;
        }
    }
    if imported.converted {
        screen.aside("the objects were converted from YAML to JSON")?;
    }
    if let Some(at) = imported.assumed_at {
        let at = timetext::rfc3339(at);
        let text = format!(
            "the time of the objects is the modification time of the file, {at}; override it with --at"
        );
        screen.aside(paint.wary(&text))?;
    }
    let secrets = imported.secrets;
    if secrets.with_data > 0 {
        let counted = count(secrets.with_data, "Secret with data");
        screen.aside(if secrets.redacted {
            format!("{counted}: their values are not in the reel")
        } else {
            paint.wary(&format!(
                "{counted}: their values are in the reel; --redact removes them"
            ))
        })?;
    }
    screen.aside(format!(
        "{}: {} of {} · {} – {} · {}",
        harmless(&reel.display().to_string()),
        count(imported.events, "event"),
        count(imported.resources, "resource"),
        timetext::rfc3339(imported.from),
        timetext::rfc3339(imported.to),
        bytes(imported.file_bytes)
    ))?;
    if imported.broken.count == 0 {
        return Ok(Exit::Yes);
    }
    let lines = count(imported.broken.count, imported.broken.counted.as_str());
    Err(CommandError::new(
        Exit::No,
        format!("{lines} could not be imported; the rest is in the reel"),
    ))
}

/// Names the lines that could not be taken.
pub(super) fn broken(broken: &Broken, screen: &mut Screen) -> Result<(), CommandError> {
    for one in &broken.first {
        let what = broken.counted.as_str();
        screen.aside(format!(
            "{what} {}: {}",
            one.number,
            harmless(&one.problem.to_string())
        ))?;
    }
    let named = u64::try_from(broken.first.len()).unwrap_or(u64::MAX);
    let rest = broken.count.saturating_sub(named);
    if rest > 0 {
        screen.aside(format!("and {} more", count(rest, broken.counted.as_str())))?;
    }
    Ok(())
}

fn escaped(word: &str) -> String {
    word.escape_debug().to_string()
}
