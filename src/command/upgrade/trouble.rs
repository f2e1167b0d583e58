//! Owns how that is printed which was not well, with what `oc adm upgrade status` would have made of it.

use super::page::{Page, lasting, shortened};
use crate::command_error::CommandError;
use crate::spans::{Line, Style};
use crate::words::count;
use kubereel_history::{Ill, Level, Spell, UpgradeStory};

/// Prints what was not well.
pub(super) fn print(page: &mut Page<'_>, story: &UpgradeStory) -> Result<(), CommandError> {
    if story.spells.is_empty() {
        return Ok(());
    }
    let all = u64::try_from(story.spells.len()).unwrap_or(u64::MAX);
    let is_silent = |spell: &&Spell| spell.level(story.now) == Level::Silent;
    let silent = story.spells.iter().filter(is_silent).count();
    let more = format!(
        "{}; {silent} too short for oc adm upgrade status to report",
        count(all, "period")
    );
    page.title("Problems", &more)?;
    let width = page.time_width();
    page.headers(&format!(
        "  {:<width$}  {:<8}{:<8}WHAT",
        "FROM", "LASTED", "OC"
    ))?;
    for spell in &story.spells {
        one(page, story, spell)?;
    }
    Ok(())
}

fn one(page: &mut Page<'_>, story: &UpgradeStory, spell: &Spell) -> Result<(), CommandError> {
    let mut line = Line::default();
    line.push(Style::Strong, format!("  {}  ", page.at(spell.from)));
    let lasted = lasting(spell.micros(story.now), spell.to.is_some());
    let level = spell.level(story.now);
    let style = match level {
        Level::Silent => Style::Faint,
        Level::Warning => Style::Wary,
        Level::Error => Style::Bad,
    };
    line.push(Style::Plain, format!("{lasted:<8}"));
    line.push(style, format!("{:<8}", level.as_str()));
    let subject = match spell.ill {
        Ill::Failing => "ClusterVersion",
        _ => spell.name.as_str(),
    };
    line.push(Style::Plain, format!("{subject} "));
    line.push(Style::Bad, spell.ill.as_str());
    if spell.is_older {
        line.push(Style::Wary, ", since before the observation");
    } else if spell.from < story.update.first {
        line.push(Style::Wary, ", since before the update");
    }
    if spell.has_gap {
        line.push(Style::Wary, ", across a gap");
    }
    let others = spell.texts.len().saturating_sub(1);
    if others > 0 {
        let others = u64::try_from(others).unwrap_or(u64::MAX);
        line.push(
            Style::Faint,
            format!(" · {}", count(others, "change of the message")),
        );
    }
    page.line(&line, page.time_width() + 20)?;
    let Some(text) = spell.texts.first() else {
        return Ok(());
    };
    let words: Vec<&str> = [text.reason.as_str(), text.message.as_str()]
        .into_iter()
        .filter(|word| !word.is_empty())
        .collect();
    if words.is_empty() {
        return Ok(());
    }
    // On a line of its own: beside the columns little room is left.
    let hang = page.time_width() + 4;
    let mut line = Line::default();
    line.push(Style::Plain, " ".repeat(hang));
    line.push(Style::Plain, shortened(&words.join(": ")));
    page.line(&line, hang)
}
