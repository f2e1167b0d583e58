//! Owns the page that people read: first what came of it, then each part under a title of its own.

use super::{nodes, operators, payload, rest, status, trouble};
use crate::command_error::CommandError;
use crate::screen::Screen;
use crate::spans::{Line, Style};
use kubereel_format::RecordedAt;
use kubereel_history::{
    HowUpdateEnded, Mark, Release, Timeline, UpdateKind, UpdateStatus, UpgradeStory, timetext,
};

/// How many letters of a message are shown; JSON has all.
const SHOWN_LETTERS: usize = 240;

/// What was asked for besides the story.
pub(super) struct Asked {
    /// Which of its kind it is.
    pub(super) number: usize,
    /// How many there are of its kind.
    pub(super) of: usize,
    /// How the cluster stood at that moment, if that is told too.
    pub(super) status: Option<UpdateStatus>,
}

/// Prints the page.
pub(super) fn print(
    timeline: &Timeline,
    story: &UpgradeStory,
    asked: &Asked,
    screen: &mut Screen,
) -> Result<(), CommandError> {
    let mut page = Page { timeline, screen };
    summary(&mut page, story, asked)?;
    payload::requests(&mut page, story)?;
    payload::attempts(&mut page, story)?;
    operators::print(&mut page, story)?;
    trouble::print(&mut page, story)?;
    nodes::print(&mut page, story)?;
    rest::print(&mut page, story)?;
    if let Some(state) = &asked.status {
        page.screen.line("")?;
        status::print(timeline, state, page.screen)?;
    }
    Ok(())
}

/// A page in the making.
pub(super) struct Page<'a> {
    pub(super) timeline: &'a Timeline,
    pub(super) screen: &'a mut Screen,
}

impl Page<'_> {
    /// Prints a line, broken where the screen ends and indented so far then.
    pub(super) fn line(&mut self, line: &Line, hang: usize) -> Result<(), CommandError> {
        let rows = line.rows(self.screen.width(), hang, self.screen.paint());
        rows.iter().try_for_each(|row| self.screen.line(row))
    }

    /// Begins a part.
    pub(super) fn title(&mut self, title: &str, more: &str) -> Result<(), CommandError> {
        self.screen.line("")?;
        let mut line = Line::default();
        line.push(Style::Strong, title);
        if !more.is_empty() {
            line.push(Style::Plain, format!(" · {more}"));
        }
        self.line(&line, 2)
    }

    /// Gives the names of columns.
    pub(super) fn headers(&mut self, text: &str) -> Result<(), CommandError> {
        let mut line = Line::default();
        line.push(Style::Faint, text);
        self.line(&line, 2)
    }

    /// Writes a moment so that it can be pasted after `--at`, in a column of one width.
    pub(super) fn at(&self, mark: Mark) -> String {
        self.time(mark.at)
    }

    pub(super) fn time(&self, at: RecordedAt) -> String {
        let width = self.time_width();
        format!("{:<width$}", self.timeline.written(at))
    }

    /// Gives the width of the column of times.
    pub(super) fn time_width(&self) -> usize {
        let far = RecordedAt::from_micros(self.timeline.start().micros | 1);
        self.timeline.written(far).len()
    }
}

/// Writes a length of time.
pub(super) fn span(micros: u64) -> String {
    timetext::span(micros)
}

/// Writes the length of something that may still last.
pub(super) fn lasting(micros: u64, is_over: bool) -> String {
    if is_over {
        span(micros)
    } else {
        format!("{}+", span(micros))
    }
}

/// Writes the time between two moments.
pub(super) fn between(from: Mark, to: RecordedAt) -> String {
    span(u64::try_from(to.micros_since(from.at)).unwrap_or_default())
}

/// Shortens a message to what can be taken in.
pub(super) fn shortened(message: &str) -> String {
    let message = message.trim().replace('\n', " ");
    let mut letters = message.char_indices();
    match letters.nth(SHOWN_LETTERS) {
        Some((end, _)) => format!("{}…", message.split_at(end).0),
        None => message,
    }
}

/// Names a release in short: its version, and its image where there is none.
pub(super) fn release(release: &Release) -> String {
    if release.version.is_empty() {
        image(&release.image)
    } else {
        release.version.clone()
    }
}

/// Shortens the digest of an image.
pub(super) fn image(image: &str) -> String {
    const DIGITS: usize = 8;
    let short = |(name, digest): (&str, &str)| {
        let digest: String = digest.chars().take(DIGITS).collect();
        let name = name.rsplit('/').next().unwrap_or(name);
        format!("{name}@sha256:{digest}…")
    };
    image
        .split_once("@sha256:")
        .map_or_else(|| image.to_owned(), short)
}

fn summary(page: &mut Page<'_>, story: &UpgradeStory, asked: &Asked) -> Result<(), CommandError> {
    let update = &story.update;
    let mut line = Line::default();
    let target = update
        .target
        .as_ref()
        .or(update.requests.last().map(|request| &request.release));
    let target = target.map_or_else(|| "an unknown release".to_owned(), release);
    let title = match (update.kind, &update.from) {
        (UpdateKind::Install, _) => format!("Installation of {target}"),
        (UpdateKind::Upgrade, Some(from)) => {
            let partial = if update.is_from_partial {
                " (never complete)"
            } else {
                ""
            };
            format!("Upgrade {}{partial} → {target}", release(from))
        }
        (UpdateKind::Upgrade, None) => format!("Upgrade to {target}"),
    };
    line.push(Style::Strong, title);
    let (style, outcome) = outcome(story);
    line.push(Style::Plain, " · ");
    line.push(style, outcome);
    if asked.of > 1 {
        line.push(
            Style::Faint,
            format!(" · {} of {}: --list", asked.number, asked.of),
        );
    }
    page.line(&line, 2)?;
    milestones(page, story)
}

fn outcome(story: &UpgradeStory) -> (Style, &'static str) {
    match story.update.end.map(|end| end.how) {
        Some(HowUpdateEnded::Completed) if story.over.is_some() => (Style::Good, "completed"),
        Some(HowUpdateEnded::Completed) => (Style::Wary, "control plane completed, nodes pending"),
        Some(HowUpdateEnded::Superseded) => (Style::Wary, "superseded by another before its end"),
        Some(HowUpdateEnded::Withdrawn) => (Style::Wary, "withdrawn before it was accepted"),
        Some(HowUpdateEnded::OtherCluster) => (Style::Wary, "replaced by another cluster"),
        None if story.update.accepted.is_none() && !story.update.is_older => {
            (Style::Wary, "requested, not accepted")
        }
        None => (Style::Wary, "not complete"),
    }
}

/// Prints the moments that part an update, each with the time since the one before.
fn milestones(page: &mut Page<'_>, story: &UpgradeStory) -> Result<(), CommandError> {
    let update = &story.update;
    let mut moments: Vec<(&str, Mark)> = Vec::new();
    match update.asked() {
        Some(asked) => moments.push(("requested", asked)),
        None if update.is_older => {}
        None => moments.push(("begun", update.first)),
    }
    moments.extend(update.accepted.map(|mark| ("accepted", mark)));
    if let Some(end) = update.end {
        moments.push((end.how.as_str(), end.mark));
        let later = story.over.filter(|over| over.seq > end.mark.seq);
        moments.extend(later.map(|over| ("all nodes", over)));
    }
    if update.is_older {
        let mut line = Line::default();
        let started = update.started.map_or_else(
            || "before the recording".to_owned(),
            |at| {
                format!(
                    "before the recording, at {} by its own clock",
                    timetext::rfc3339(at)
                )
            },
        );
        line.push(Style::Plain, format!("  {:<11} {started}", "begun"));
        page.line(&line, 14)?;
    }
    let mut before: Option<Mark> = None;
    for (word, mark) in moments {
        let mut line = Line::default();
        line.push(Style::Plain, format!("  {word:<11} "));
        line.push(Style::Strong, page.at(mark));
        if let Some(before) = before.replace(mark) {
            line.push(
                Style::Plain,
                format!("  {} later", between(before, mark.at)),
            );
        }
        page.line(&line, 14)?;
    }
    if story.over.is_none()
        && let Some(last) = before
    {
        let mut line = Line::default();
        line.push(Style::Plain, format!("  {:<11} ", "as of"));
        line.push(Style::Strong, page.time(story.now));
        line.push(
            Style::Plain,
            format!("  {} later", between(last, story.now)),
        );
        page.line(&line, 14)?;
    }
    facts(page, story)
}

fn facts(page: &mut Page<'_>, story: &UpgradeStory) -> Result<(), CommandError> {
    let update = &story.update;
    let verified = match (update.kind, update.is_verified) {
        (UpdateKind::Upgrade, Some(true)) => Some((Style::Plain, "signature verified")),
        (UpdateKind::Upgrade, Some(false)) => Some((Style::Wary, "signature not verified")),
        // The release that installs is never verified by the cluster.
        _ => None,
    };
    if let Some((style, words)) = verified {
        let mut line = Line::default();
        line.push(style, format!("  {:<11} {words}", "release"));
        page.line(&line, 14)?;
    }
    if !update.accepted_risks.is_empty() {
        let mut line = Line::default();
        let risks = shortened(&update.accepted_risks);
        line.push(Style::Wary, format!("  {:<11} {risks}", "risks taken"));
        page.line(&line, 14)?;
    }
    Ok(())
}
