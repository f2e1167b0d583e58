//! Owns the page that people read: the object first, then its relatives, its conditions, what
//! changed, and what was said about it.

use super::Subject;
use crate::command::events;
use crate::command::history::lines::{item_lines, show};
use crate::command_error::CommandError;
use crate::field_text;
use crate::screen::Screen;
use crate::spans::{Line, Style};
use crate::table::Table;
use crate::words::{count, number};
use kubereel_format::Seq;
use kubereel_history::{Authors, OwnerRef};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The least width of what stands in front of values.
const LABEL: usize = 13;

/// How many letters of an annotation are shown; JSON has all.
const SHOWN_LETTERS: usize = 200;

/// How many children of a resource are named; JSON has all.
const SHOWN_CHILDREN: usize = 10;

/// Prints the page.
pub(super) fn print(subject: &Subject<'_>, screen: &mut Screen) -> Result<(), CommandError> {
    let told = subject.told;
    let widest = told
        .scalars
        .iter()
        .map(|scalar| scalar.path.chars().count());
    let mut page = Page {
        screen,
        label: widest.max().unwrap_or(0).max(LABEL),
    };
    let place = if subject.held.namespace.is_empty() {
        String::new()
    } else {
        format!(" in {}", subject.held.namespace)
    };
    page.line(
        Style::Strong,
        &format!("{}{place}", subject.named.written()),
    )?;
    page.value("uid", &told.uid)?;
    page.value("created", &told.created)?;
    page.value("deleting", &told.deletion_asked)?;
    page.value("version", &version(subject))?;
    page.map("labels", &told.labels)?;
    page.map("annotations", &told.annotations)?;
    for scalar in &told.scalars {
        page.value(&scalar.path, &field_text::plain(&scalar.value))?;
    }
    relatives(subject, &mut page)?;
    conditions(subject, &mut page)?;
    around(subject, &mut page)?;
    said(subject, &mut page)
}

struct Page<'a> {
    screen: &'a mut Screen,
    /// How wide the names of values are.
    label: usize,
}

impl Page<'_> {
    fn line(&mut self, style: Style, text: &str) -> Result<(), CommandError> {
        let mut line = Line::default();
        line.push(style, text);
        show(self.screen, &line)
    }

    fn title(&mut self, text: &str) -> Result<(), CommandError> {
        self.screen.line("")?;
        self.line(Style::Strong, text)
    }

    /// Prints a value behind its name; nothing if there is none.
    fn value(&mut self, name: &str, value: &str) -> Result<(), CommandError> {
        if value.is_empty() {
            return Ok(());
        }
        let label = self.label;
        let mut line = Line::default();
        line.push(Style::Faint, format!("{name:<label$} "));
        line.push(Style::Plain, value);
        show(self.screen, &line)
    }

    fn map(&mut self, name: &str, map: &Map<String, Value>) -> Result<(), CommandError> {
        for (place, (key, value)) in map.iter().enumerate() {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            let mut shown: String = text.chars().take(SHOWN_LETTERS).collect();
            if shown.len() < text.len() {
                shown.push('…');
            }
            let name = if place == 0 { name } else { "" };
            let label = self.label;
            let mut line = Line::default();
            line.push(Style::Faint, format!("{name:<label$} "));
            line.push(Style::Plain, format!("{key}={shown}"));
            show(self.screen, &line)?;
        }
        Ok(())
    }

    fn table(&mut self, table: &Table) -> Result<(), CommandError> {
        for line in table.lines() {
            self.line(Style::Plain, &format!("  {line}"))?;
        }
        Ok(())
    }
}

fn version(subject: &Subject<'_>) -> String {
    let told = subject.told;
    let versions = subject.timeline.reel().versions(subject.held.object);
    let place = versions.partition_point(|seq| *seq <= told.seq);
    let mut parts = vec![
        format!(
            "{} of {}",
            number(amount(place)),
            number(amount(versions.len()))
        ),
        format!("rv {}", told.rv),
        format!("received {}", subject.timeline.written(told.received)),
    ];
    match &told.authors {
        Authors::Named(writers) => {
            parts.push(format!("written by {}", field_text::managers(writers)));
        }
        Authors::Unknown => parts.push("writer unknown".to_owned()),
        Authors::Deletion => {}
    }
    parts.join(" · ")
}

fn amount(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn relatives(subject: &Subject<'_>, page: &mut Page<'_>) -> Result<(), CommandError> {
    let relatives = &subject.told.relatives;
    let owner = |owner: &OwnerRef| {
        let was_there = match owner.exists {
            Some(true) => "",
            Some(false) => " (not there then)",
            None => " (not known whether it was there)",
        };
        format!("{}/{}{was_there}", owner.kind, owner.name)
    };
    let owners: Vec<String> = relatives.owners.iter().map(owner).collect();
    page.value("owned by", &owners.join(" ← "))?;
    let mut by_resource: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for child in &relatives.children {
        let info = subject
            .timeline
            .resources()
            .iter()
            .find(|info| info.id == child.resource);
        if let Some(info) = info {
            let names = by_resource.entry(info.qualified()).or_default();
            names.push(&child.held.name);
        }
    }
    for (place, (resource, names)) in by_resource.iter().enumerate() {
        let shown: Vec<&str> = names.iter().take(SHOWN_CHILDREN).copied().collect();
        let rest = names.len() - shown.len();
        let rest = if rest > 0 {
            format!(" and {} more", number(amount(rest)))
        } else {
            String::new()
        };
        let name = if place == 0 { "owns" } else { "" };
        page.value(name, &format!("{resource}: {}{rest}", shown.join(", ")))?;
    }
    if relatives.unsearched > 0 {
        let resources = count(amount(relatives.unsearched), "resource");
        page.value(
            "",
            &format!("what it owns among {resources} is not known: not recorded then"),
        )?;
    }
    Ok(())
}

fn conditions(subject: &Subject<'_>, page: &mut Page<'_>) -> Result<(), CommandError> {
    if subject.told.conditions.is_empty() {
        return Ok(());
    }
    page.title("Conditions")?;
    let mut table = Table::with_headers(["TYPE", "STATUS", "SINCE", "REASON", "MESSAGE"]);
    for condition in &subject.told.conditions {
        table.push(vec![
            condition.kind.clone(),
            condition.status.clone(),
            condition.since.clone(),
            condition.reason.clone(),
            condition.message.clone(),
        ]);
    }
    page.table(&table)
}

fn around(subject: &Subject<'_>, page: &mut Page<'_>) -> Result<(), CommandError> {
    let told = subject.told;
    let minutes = count(u64::from(subject.around_minutes), "minute");
    page.title(&format!(
        "Changes within {minutes} of {}",
        subject.timeline.written(subject.state.at)
    ))?;
    if told.around.is_empty() {
        return page.line(Style::Faint, "  none");
    }
    for item in &told.around {
        for line in item_lines(subject.timeline, item) {
            show(page.screen, &line)?;
        }
    }
    if told.left_out > 0 {
        let more = count(amount(told.left_out), "version");
        page.line(
            Style::Faint,
            &format!("  {more} further away: kubereel history shows all"),
        )?;
    }
    Ok(())
}

fn said(subject: &Subject<'_>, page: &mut Page<'_>) -> Result<(), CommandError> {
    page.title("Events of the hour before, and of the minutes after")?;
    let events = &subject.told.events;
    if subject.timeline.event_resources().is_empty() {
        return page.line(Style::Faint, "  not recorded");
    }
    if events.is_empty() {
        return page.line(Style::Faint, "  none");
    }
    // Of an Event that was repeated, the last word says it all.
    let mut last: BTreeMap<(&str, &str), Seq> = BTreeMap::new();
    for logged in events {
        last.insert((&logged.namespace, &logged.name), logged.seq);
    }
    for logged in events {
        if last.get(&(logged.namespace.as_str(), logged.name.as_str())) == Some(&logged.seq) {
            let line = events::line(subject.timeline, logged);
            show(page.screen, &line)?;
        }
    }
    Ok(())
}
