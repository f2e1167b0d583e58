//! The page of an upgrade or installation that people read: first its outcome, then requests, attempts to retrieve the
//! payload, operators, problems, nodes, leaders, stalls, the slowest parts, and what was not observed.

use super::{nodes, status};
use crate::command_error::CommandError;
use crate::screen::{Console, Style, StyledLine};
use crate::words::{count, duration};
use kubereel_cluster::{
    ClusterRelease, HowRequestEnded, HowUpdateEnded, LeaderHandover, MarkedMessage, OperatorMove,
    PartKind, RecordMark, Retrieval, SpellKind, SpellLevel, UnhealthySpell, UpdateKind,
    UpdateStatus, UpgradeStory, VersionPod,
};
use kubereel_format::RecordedAt;
use kubereel_history::{Timeline, timetext};

/// How many letters of a message are shown; JSON has all.
const SHOWN_LETTERS: usize = 240;

/// The resource of operators, as a story names it.
const OPERATORS: &str = "clusteroperators";

/// What is added to something whose end was not observed.
pub(super) const END_NOT_OBSERVED: &str = ", end not observed";

/// What is shown besides the story.
pub(crate) struct StoryContext {
    /// Which of its kind it is.
    pub(super) number: usize,
    /// How many there are of its kind.
    pub(super) of: usize,
    /// Whether the last version of `ClusterVersion` is known.
    pub(super) is_known: bool,
    /// The state of the cluster at that moment, if it is printed too.
    pub(super) status: Option<UpdateStatus>,
}

/// Prints the page.
pub(super) fn print(
    timeline: &Timeline,
    story: &UpgradeStory,
    context: &StoryContext,
    screen: &mut Console,
) -> Result<(), CommandError> {
    let mut page = UpgradePage { timeline, screen };
    summary(&mut page, story, context)?;
    print_requests(&mut page, story)?;
    print_attempts(&mut page, story)?;
    print_operators(&mut page, story)?;
    print_problems(&mut page, story)?;
    nodes::print(&mut page, story)?;
    print_rest(&mut page, story)?;
    if let Some(state) = &context.status {
        page.screen.line("")?;
        status::print(timeline, state, Some(status::SHOWN_NODES), page.screen)?;
    }
    Ok(())
}

/// A page in the making.
pub(super) struct UpgradePage<'a> {
    pub(super) timeline: &'a Timeline,
    pub(super) screen: &'a mut Console,
}

impl UpgradePage<'_> {
    /// Prints a line, broken where the screen ends and indented so far then.
    pub(super) fn line(&mut self, line: &StyledLine, hang: usize) -> Result<(), CommandError> {
        self.screen.show(line, hang)
    }

    /// Begins a part.
    pub(super) fn title(&mut self, title: &str, more: &str) -> Result<(), CommandError> {
        self.screen.line("")?;
        let mut line = StyledLine::of(Style::Strong, title);
        if !more.is_empty() {
            line.push(Style::Plain, format!(" · {more}"));
        }
        self.line(&line, 2)
    }

    /// Gives the names of columns.
    pub(super) fn headers(&mut self, text: &str) -> Result<(), CommandError> {
        let line = StyledLine::of(Style::Faint, text);
        self.line(&line, 2)
    }

    /// Writes a moment so that it can be pasted after `--at`, in a column of one width.
    pub(super) fn at(&self, mark: RecordMark) -> String {
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

    /// Gives the width of a column of lengths of time, none of which is longer than the recording: with a plus
    /// sign for those that last, and a space.
    pub(super) fn length_width(&self) -> usize {
        let all = self.timeline.end().micros_since(self.timeline.start());
        let longest = span(u64::try_from(all).unwrap_or_default());
        (longest.len() + 2).max(8)
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
pub(super) fn between(from: RecordMark, to: RecordedAt) -> String {
    duration(to.micros_since(from.at))
}

/// Shortens a message to what can be taken in.
pub(super) fn shortened(message: &str) -> String {
    kubereel_problems::shortened_inside(message, SHOWN_LETTERS)
}

/// Names a release in short: its version, and its image where there is none.
pub(super) fn release(release: &ClusterRelease) -> String {
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

fn summary(
    page: &mut UpgradePage<'_>,
    story: &UpgradeStory,
    context: &StoryContext,
) -> Result<(), CommandError> {
    let update = &story.update;
    let mut line = StyledLine::default();
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
    if context.of > 1 {
        line.push(
            Style::Faint,
            format!(" · {} of {}: --list", context.number, context.of),
        );
    }
    page.line(&line, 2)?;
    milestones(page, story)
}

fn outcome(story: &UpgradeStory) -> (Style, &'static str) {
    match story.update.end.map(|end| end.how) {
        Some(HowUpdateEnded::Completed) if story.over.is_some() => (Style::Good, "completed"),
        Some(HowUpdateEnded::Completed) if !story.is_end_known => (
            Style::Wary,
            "control plane completed, end of the nodes not observed",
        ),
        Some(HowUpdateEnded::Completed) => (Style::Wary, "control plane completed, nodes pending"),
        Some(HowUpdateEnded::Superseded) => (Style::Wary, "superseded by another before its end"),
        Some(HowUpdateEnded::Withdrawn) => (Style::Wary, "withdrawn before it was accepted"),
        Some(HowUpdateEnded::OtherCluster) => (Style::Wary, "replaced by another cluster"),
        None if !story.is_end_known => (Style::Wary, "end not observed"),
        None if story.update.accepted.is_none() && !story.update.is_older => {
            (Style::Wary, "requested, not accepted")
        }
        None => (Style::Wary, "not complete"),
    }
}

/// Prints the moments that part an update, each with the time since the one before.
fn milestones(page: &mut UpgradePage<'_>, story: &UpgradeStory) -> Result<(), CommandError> {
    let update = &story.update;
    let mut moments: Vec<(&str, RecordMark)> = Vec::new();
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
        let mut line = StyledLine::default();
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
    let mut before: Option<RecordMark> = None;
    for (word, mark) in moments {
        let mut line = StyledLine::of(Style::Plain, format!("  {word:<11} "));
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
        let mut line = StyledLine::of(Style::Plain, format!("  {:<11} ", "as of"));
        line.push(Style::Strong, page.time(story.now));
        line.push(
            Style::Plain,
            format!("  {} later", between(last, story.now)),
        );
        page.line(&line, 14)?;
    }
    facts(page, story)
}

fn facts(page: &mut UpgradePage<'_>, story: &UpgradeStory) -> Result<(), CommandError> {
    let update = &story.update;
    let verified = match (update.kind, update.is_verified) {
        (UpdateKind::Upgrade, Some(true)) => Some((Style::Plain, "signature verified")),
        (UpdateKind::Upgrade, Some(false)) => Some((Style::Wary, "signature not verified")),
        // The release that installs is never verified by the cluster.
        _ => None,
    };
    if let Some((style, words)) = verified {
        let line = StyledLine::of(style, format!("  {:<11} {words}", "release"));
        page.line(&line, 14)?;
    }
    if !update.accepted_risks.is_empty() {
        let mut line = StyledLine::default();
        let risks = shortened(&update.accepted_risks);
        line.push(Style::Wary, format!("  {:<11} {risks}", "risks taken"));
        page.line(&line, 14)?;
    }
    Ok(())
}

/// How many attempts are shown one by one; JSON has all.
const SHOWN_ATTEMPTS: usize = 40;

/// Prints what was asked for.
fn print_requests(page: &mut UpgradePage<'_>, story: &UpgradeStory) -> Result<(), CommandError> {
    let requests = &story.update.requests;
    let Some(first) = requests.first() else {
        return Ok(());
    };
    // One request that was accepted needs no list.
    let is_plain = requests.len() == 1
        && first
            .end
            .is_some_and(|end| end.how == HowRequestEnded::Accepted)
        && !first.is_forced;
    if is_plain && story.retrievals.attempts.len() < 2 {
        return Ok(());
    }
    page.title("Requests", "")?;
    for request in requests {
        let mut line = StyledLine::of(Style::Strong, format!("  {}", page.at(request.asked)));
        let version = if request.release.version.is_empty() {
            "no version".to_owned()
        } else {
            request.release.version.clone()
        };
        line.push(Style::Plain, format!("  {version}"));
        if !request.release.image.is_empty() {
            line.push(Style::Plain, format!(", {}", image(&request.release.image)));
        }
        if request.is_forced {
            line.push(Style::Wary, ", forced");
        }
        line.push(Style::Faint, format!(", generation {}", request.generation));
        match request.end {
            Some(end) => {
                let style = match end.how {
                    HowRequestEnded::Accepted => Style::Good,
                    HowRequestEnded::Replaced | HowRequestEnded::Withdrawn => Style::Wary,
                };
                line.push(Style::Plain, " · ");
                line.push(style, end.how.as_str());
                line.push(
                    Style::Plain,
                    format!(" {}", page.timeline.written(end.mark.at)),
                );
            }
            None if !story.is_end_known => line.push(Style::Wary, " · acceptance not observed"),
            None => line.push(Style::Wary, " · not accepted"),
        }
        let hang = page.time_width() + 4;
        page.line(&line, hang)?;
    }
    Ok(())
}

/// Prints the attempts to fetch the payload, if there were any that tell something.
fn print_attempts(page: &mut UpgradePage<'_>, story: &UpgradeStory) -> Result<(), CommandError> {
    let retrievals = &story.retrievals;
    let attempts = &retrievals.attempts;
    let failed = attempts.iter().filter(|one| one.has_failed()).count();
    let risks = &story.update.accepted_risks;
    // Accepted risks are printed with the release.
    let is_new =
        |warning: &&MarkedMessage| risks.is_empty() || !warning.message.ends_with(risks.as_str());
    let warnings: Vec<&MarkedMessage> = retrievals.warnings.iter().filter(is_new).collect();
    let is_open = attempts.iter().any(|one| one.end.is_none());
    if failed == 0 && retrievals.counted_only() == 0 && warnings.is_empty() && !is_open {
        return Ok(());
    }
    let mut more = format!("{}, {failed} failed", count(attempts.len(), "attempt"));
    if retrievals.counted_only() > 0 {
        more.extend([format!(
            ", {} more known only from the count of an Event",
            retrievals.counted_only()
        )]);
    }
    page.title("Payload", &more)?;
    let pods = attempts.iter().filter_map(|one| one.pod.as_ref());
    let pod_width = pods.map(|pod| pod.name.len()).max().unwrap_or(6).min(24);
    let width = page.time_width();
    page.headers(&format!(
        "  {:<width$}  {:<7} {:<pod_width$} CAUSE · when ClusterVersion reported it",
        "BEGAN", "TOOK", "POD"
    ))?;
    let mut last: Option<(&str, &str)> = None;
    let skipped = attempts.len().saturating_sub(SHOWN_ATTEMPTS);
    for (place, attempt) in attempts.iter().enumerate() {
        // The first ones and the last tell most.
        if place >= SHOWN_ATTEMPTS - 1 && place + 1 < attempts.len() {
            continue;
        }
        if skipped > 0 && place + 1 == attempts.len() {
            let line = StyledLine::of(Style::Faint, format!("  … {skipped} more: -o json"));
            page.line(&line, 2)?;
        }
        let cause = attempt.cause();
        let is_again = cause.is_some() && cause == last;
        last = cause;
        // Its end is also reported by ClusterVersion.
        let now = story.until(SpellKind::Failing.plural(), "version");
        print_attempt(page, attempt, cause, is_again, now, pod_width)?;
    }
    for warning in warnings {
        let mut line = StyledLine::of(Style::Strong, format!("  {}", page.at(warning.mark)));
        line.push(Style::Wary, format!("  {}: ", warning.reason));
        line.push(Style::Plain, shortened(&warning.message));
        let hang = page.time_width() + 4;
        page.line(&line, hang)?;
    }
    Ok(())
}

fn print_attempt(
    page: &mut UpgradePage<'_>,
    attempt: &Retrieval,
    cause: Option<(&str, &str)>,
    is_again: bool,
    now: RecordedAt,
    pod_width: usize,
) -> Result<(), CommandError> {
    let mut line = StyledLine::default();
    let end = attempt.end.as_ref().map(|end| end.mark);
    let shown = attempt.began.or(end);
    let at = shown.map_or_else(String::new, |mark| page.at(mark));
    let sign = if attempt.began.is_none() { '≤' } else { ' ' };
    line.push(Style::Strong, format!("{sign} {at}"));
    let took = attempt.began.map_or_else(
        || "?".to_owned(),
        |began| {
            let to = end.map_or(now, |end| end.at);
            let micros = u64::try_from(to.micros_since(began.at)).unwrap_or_default();
            lasting(micros, end.is_some())
        },
    );
    let pod = attempt.pod.as_ref();
    let name = pod.map_or("no Pod", |pod| pod.name.as_str());
    line.push(Style::Plain, format!("  {took:<7} {name:<pod_width$}"));
    match (&attempt.end, cause) {
        (Some(_), Some(_)) if is_again => line.push(Style::Bad, " same cause"),
        (Some(_), Some((word, message))) => {
            line.push(Style::Bad, format!(" {word}: "));
            line.push(Style::Plain, shortened(message));
        }
        (Some(_), None) => line.push(Style::Good, " loaded"),
        (None, _) => line.push(Style::Wary, " end not observed"),
    }
    if attempt.has_failed() {
        match &attempt.reported {
            Some(told) => {
                let at = page.timeline.written(told.mark.at);
                line.push(Style::Faint, format!(" · reported {at}"));
            }
            None => line.push(Style::Faint, " · not reported"),
        }
    }
    let hang = page.time_width() + 4;
    page.line(&line, hang)?;
    pod.map_or(Ok(()), |pod| print_pod_states(page, pod, hang))
}

/// Prints what a Pod went through, each state once: how often, and when first.
fn print_pod_states(
    page: &mut UpgradePage<'_>,
    pod: &VersionPod,
    hang: usize,
) -> Result<(), CommandError> {
    let mut words: Vec<(&str, usize, RecordedAt)> = Vec::new();
    for state in &pod.states {
        match words.iter_mut().find(|(word, _, _)| *word == state.word) {
            Some((_, times, _)) => *times += 1,
            None => words.push((&state.word, 1, state.mark.at)),
        }
    }
    // The course of every Pod that fails at once follows from its cause.
    if words.iter().all(|(_, times, _)| *times == 1) {
        return Ok(());
    }
    let parts: Vec<String> = words
        .into_iter()
        .map(|(word, times, at)| {
            let at = page.timeline.written(at);
            if times > 1 {
                format!("{word} {times} times from {at}")
            } else {
                format!("{word} {at}")
            }
        })
        .collect();
    let mut line = StyledLine::default();
    let indent = " ".repeat(hang);
    line.push(Style::Faint, format!("{indent}{}", parts.join(", ")));
    page.line(&line, hang)
}

/// Prints the operators.
fn print_operators(page: &mut UpgradePage<'_>, story: &UpgradeStory) -> Result<(), CommandError> {
    let all = &story.operators;
    if all.is_empty() {
        return Ok(());
    }
    let is_install = story.update.kind == UpdateKind::Install;
    let there: Vec<&OperatorMove> = all.iter().filter(|one| one.was_there).collect();
    let moved = all.iter().filter(|one| one.moved.is_some()).count();
    let rest = all.len() - there.len();
    let moved = (rest > 0).then(|| {
        let verb = if is_install {
            "reported the version"
        } else {
            "moved"
        };
        format!("{moved} of {rest} {verb}")
    });
    let had = (!there.is_empty()).then(|| format!("{} already had the version", there.len()));
    let more: Vec<String> = moved.into_iter().chain(had).collect();
    page.title("Operators", &more.join(", "))?;
    if rest == 0 {
        return Ok(());
    }
    let (width, length) = (page.time_width(), page.length_width());
    if is_install {
        page.headers(&format!(
            "  {:<width$}  {:<width$}  OPERATOR",
            "REPORTED", "AVAILABLE"
        ))?;
    } else {
        page.headers(&format!(
            "  {:<width$}  {:<length$}{:<length$}OPERATOR",
            "MOVED", "WAITED", "TOOK"
        ))?;
    }
    let origin = story.update.accepted.unwrap_or(story.update.first);
    for one in all.iter().filter(|one| !one.was_there) {
        let mut line = StyledLine::default();
        let not_yet = if story.is_unknown(OPERATORS, &one.name) {
            "not observed"
        } else {
            "not yet"
        };
        let none = one.given_up.map_or(not_yet, |_| "not moved");
        let moved = one
            .moved
            .map_or_else(|| format!("{none:<width$}"), |moved| page.at(moved));
        let style = if one.moved.is_some() {
            Style::Strong
        } else {
            Style::Wary
        };
        line.push(style, format!("  {moved}  "));
        if is_install {
            let available = one.available.map_or_else(
                || format!("{not_yet:<width$}"),
                |available| page.at(available),
            );
            line.push(Style::Plain, format!("{available}  {}", one.name));
        } else {
            let now = story.until(OPERATORS, &one.name);
            let (waited, took) = waited_and_took(one, origin, now);
            line.push(
                Style::Plain,
                format!("{waited:<length$}{took:<length$}{}", one.name),
            );
        }
        push_notes(one, story, &mut line);
        page.line(&line, width + 20)?;
    }
    let is_unclear =
        |one: &&OperatorMove| one.is_older || (one.moved.is_some() && one.began.is_none());
    if !is_install && all.iter().any(|one| is_unclear(&one)) {
        page.headers("  ?: its begin was not observed")?;
    }
    Ok(())
}

/// Writes how long an operator waited for its begin, and how long it then took.
fn waited_and_took(one: &OperatorMove, origin: RecordMark, now: RecordedAt) -> (String, String) {
    // One that moved without being seen to begin is not one that waits.
    let none = if one.moved.is_some() { "?" } else { "-" };
    let waited = match one.began {
        Some(_) if one.is_older => "?".to_owned(),
        Some(began) => between(origin, began.at),
        None => none.to_owned(),
    };
    let took = one.took_micros(now).map_or_else(
        || none.to_owned(),
        |micros| lasting(micros, one.over().is_some() && !one.is_older),
    );
    (waited, took)
}

fn push_notes(one: &OperatorMove, story: &UpgradeStory, line: &mut StyledLine) {
    // An installation has no budget for one operator: all of them begin at once.
    if story.update.kind == UpdateKind::Upgrade
        && one.is_over_budget(story.until(OPERATORS, &one.name))
    {
        let budget = span(one.budget_micros());
        line.push(Style::Bad, format!(" · over its {budget}"));
    }
    if one.moved.is_none() && one.began.is_some() && one.given_up.is_none() {
        line.push(Style::Wary, " · updating");
        if story.is_unknown(OPERATORS, &one.name) {
            line.push(Style::Wary, END_NOT_OBSERVED);
        }
    }
    if !one.is_of_payload {
        line.push(Style::Faint, " · not of the payload");
    }
}

/// Prints what was not well.
fn print_problems(page: &mut UpgradePage<'_>, story: &UpgradeStory) -> Result<(), CommandError> {
    if story.spells.is_empty() {
        return Ok(());
    }
    let all = story.spells.len();
    let until = |spell: &UnhealthySpell| story.until(spell.ill.plural(), &spell.name);
    let is_silent = |spell: &&UnhealthySpell| spell.level(until(spell)) == SpellLevel::Silent;
    let silent = story.spells.iter().filter(is_silent).count();
    let more = format!(
        "{}; {silent} too short for oc adm upgrade status to report",
        count(all, "period")
    );
    page.title("Problems", &more)?;
    let (width, length) = (page.time_width(), page.length_width());
    page.headers(&format!(
        "  {:<width$}  {:<length$}{:<8}WHAT",
        "FROM", "LASTED", "OC"
    ))?;
    for spell in &story.spells {
        print_problem(page, story, spell)?;
    }
    Ok(())
}

fn print_problem(
    page: &mut UpgradePage<'_>,
    story: &UpgradeStory,
    spell: &UnhealthySpell,
) -> Result<(), CommandError> {
    let mut line = StyledLine::of(Style::Strong, format!("  {}  ", page.at(spell.from)));
    let is_whole = spell.to.is_some() && !spell.is_older;
    let plural = spell.ill.plural();
    let until = story.until(plural, &spell.name);
    let lasted = lasting(spell.micros(until), is_whole);
    let level = spell.level(until);
    let style = match level {
        SpellLevel::Silent => Style::Faint,
        SpellLevel::Warning => Style::Wary,
        SpellLevel::Error => Style::Bad,
    };
    let length = page.length_width();
    line.push(Style::Plain, format!("{lasted:<length$}"));
    line.push(style, format!("{:<8}", level.as_str()));
    let subject = match spell.ill {
        SpellKind::Failing => "ClusterVersion",
        _ => spell.name.as_str(),
    };
    line.push(Style::Plain, format!("{subject} "));
    line.push(Style::Bad, spell.ill.as_str());
    if spell.is_older {
        line.push(Style::Wary, ", since before the observation");
    } else if spell.from < story.update.first {
        line.push(Style::Wary, ", since before the update");
    }
    if spell.to.is_none() && story.is_unknown(plural, &spell.name) {
        line.push(Style::Wary, END_NOT_OBSERVED);
    } else if spell.has_gap {
        line.push(Style::Wary, ", across a gap");
    }
    let others = spell.texts.len().saturating_sub(1);
    if others > 0 {
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
    let mut line = StyledLine::of(Style::Plain, " ".repeat(hang));
    line.push(Style::Plain, shortened(&words.join(": ")));
    page.line(&line, hang)
}

/// Prints the rest.
fn print_rest(page: &mut UpgradePage<'_>, story: &UpgradeStory) -> Result<(), CommandError> {
    print_handovers(page, story)?;
    print_stalls(page, story)?;
    print_slowest(page, story)?;
    print_unobserved(page, story)
}

fn print_handovers(page: &mut UpgradePage<'_>, story: &UpgradeStory) -> Result<(), CommandError> {
    if story.handovers.is_empty() {
        return Ok(());
    }
    let all = story.handovers.len();
    page.title("Cluster-version operator", &count(all, "change of leader"))?;
    for handover in &story.handovers {
        let Some(mark) = handover.released.or(handover.taken) else {
            continue;
        };
        let mut line = StyledLine::of(Style::Strong, format!("  {}  ", page.at(mark)));
        line.push(Style::Plain, handover_text(page, handover));
        page.line(&line, page.time_width() + 4)?;
    }
    Ok(())
}

fn handover_text(page: &UpgradePage<'_>, handover: &LeaderHandover) -> String {
    let from = process(&handover.from);
    let to = process(&handover.to);
    match (handover.released, handover.taken) {
        (Some(released), Some(taken)) => format!(
            "{from} released the lease; {to} acquired it {} later, {}",
            between(released, taken.at),
            page.timeline.written(taken.at)
        ),
        (Some(_), None) => format!("{from} released the lease; not acquired again"),
        (None, _) if handover.from.is_empty() => format!("{to} acquired the lease"),
        (None, _) => format!("{to} acquired the lease, which {from} had not released"),
    }
}

/// Names a process by its node: the rest of its identity is random.
fn process(holder: &str) -> &str {
    holder.split_once('_').map_or(holder, |(node, _)| node)
}

fn print_stalls(page: &mut UpgradePage<'_>, story: &UpgradeStory) -> Result<(), CommandError> {
    if story.stalls.is_empty() {
        return Ok(());
    }
    page.title(
        "Stalls",
        "no operator and no node moved for 5 minutes or longer",
    )?;
    for stall in &story.stalls {
        let mut line = StyledLine::of(Style::Strong, format!("  {}  ", page.at(stall.from)));
        let to = stall.to.map_or(story.now, |to| to.at);
        let lasted = u64::try_from(to.micros_since(stall.from.at)).unwrap_or_default();
        let length = page.length_width();
        line.push(
            Style::Bad,
            format!("{:<length$}", lasting(lasted, stall.to.is_some())),
        );
        line.push(Style::Plain, shortened(&stall.last_message));
        page.line(&line, page.time_width() + 12)?;
    }
    Ok(())
}

fn print_slowest(page: &mut UpgradePage<'_>, story: &UpgradeStory) -> Result<(), CommandError> {
    if story.slowest.is_empty() {
        return Ok(());
    }
    page.title("Slowest", "")?;
    for part in &story.slowest {
        let mut line = StyledLine::of(Style::Strong, format!("  {}  ", page.at(part.from)));
        let took = lasting(part.micros, part.is_over);
        let what = match part.what {
            PartKind::Acceptance => "from the request to its acceptance".to_owned(),
            PartKind::Operator => format!("operator {}", part.name),
            PartKind::Drain => format!("drain of {}", part.name),
            PartKind::Reboot => format!("reboot of {}, until it was ready", part.name),
        };
        let length = page.length_width();
        line.push(Style::Plain, format!("{took:<length$}{what}"));
        if !part.is_over && story.is_unknown(part.what.plural(), &part.name) {
            line.push(Style::Wary, END_NOT_OBSERVED);
        }
        page.line(&line, page.time_width() + 12)?;
    }
    Ok(())
}

fn print_unobserved(page: &mut UpgradePage<'_>, story: &UpgradeStory) -> Result<(), CommandError> {
    if story.not_seen.is_empty() {
        return Ok(());
    }
    page.title("Not observed", "the story above may be incomplete")?;
    for one in &story.not_seen {
        let mut line = StyledLine::default();
        let when = one.unseen.as_ref().map_or_else(String::new, |unseen| {
            let [from, to] = [unseen.known_from(), unseen.known_to()];
            format!(
                "{}–{}  ",
                page.timeline.written_if_known(from),
                page.timeline.written_if_known(to)
            )
        });
        line.push(Style::Strong, format!("  {when}"));
        line.push(Style::Wary, format!("{} {}", one.resource, one.reason()));
        line.push(Style::Plain, format!(": {}", one.reports));
        page.line(&line, 4)?;
    }
    Ok(())
}
