//! Owns where the intervals of a command come from: made of a reel, or read from a file. Refuses to
//! trust names: the first byte tells which it is.

use crate::at;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::reel;
use crate::screen::Screen;
use kubereel_format::{RecordedAt, Seq};
use kubereel_history::{Cut, Moment, ResolveError, Timeline};
use kubereel_monitortests::{
    Gathering, Interest, IntervalFileError, IntervalFilter, Intervals, Mode, feed, read_intervals,
};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// So much of a file tells what it is.
const SNIFFED_BYTES: u64 = 64;

/// Intervals, and how far they can be trusted.
pub(super) struct Opened {
    pub(super) intervals: Intervals,
    pub(super) trust: Trust,
}

/// How far the intervals can be taken for all that there were.
pub(super) enum Trust {
    Complete,
    /// A file holds what its writer saw.
    File,
    Imported,
    /// So many gaps lie in what was read.
    Gaps(usize),
    Damaged(String),
}

/// Opens a reel or a file, and puts the bounds of time into the filter.
pub(super) fn open(
    path: &Path,
    mode: Mode,
    filter: &mut IntervalFilter,
    bounds: (Option<Moment>, Option<Moment>),
    screen: &Screen,
) -> Result<Opened, CommandError> {
    if is_json(path) {
        let file = File::open(path).map_err(|source| {
            let path = path.display();
            CommandError::new(Exit::Reel, format!("cannot read: {source}: {path}"))
        })?;
        let intervals = read_intervals(file).map_err(|error| explain(path, &error))?;
        let (start, end) = (intervals.start(), intervals.end());
        let resolve = |moment: Option<Moment>| {
            let found = moment.map(|moment| moment.within(start, end));
            found.transpose().map_err(|error| at_error(&error))
        };
        set_bounds(filter, resolve(bounds.0)?, resolve(bounds.1)?)?;
        return Ok(Opened {
            intervals,
            trust: Trust::File,
        });
    }
    let timeline = reel::open(path)?;
    let resolve = |moment: Option<Moment>| {
        let found = moment.map(|moment| wall(&timeline, moment));
        found.transpose()
    };
    set_bounds(filter, resolve(bounds.0)?, resolve(bounds.1)?)?;
    Ok(gathered(&timeline, mode, filter, screen))
}

fn gathered(timeline: &Timeline, mode: Mode, filter: &IntervalFilter, screen: &Screen) -> Opened {
    let mut gathering = Gathering::only(timeline, mode, |source| filter.has_source(source));
    let interests: Vec<Interest> = gathering
        .watchers()
        .iter()
        .flat_map(|watcher| watcher.interests())
        .collect();
    let total = timeline.reel().end().0;
    let mut progress = Progress::begin("reading", total, screen.is_err_terminal());
    let fed = feed(timeline, &mut gathering.watchers(), |Seq(done)| {
        progress.reached(done);
    });
    drop(progress);
    let intervals = gathering.finish(timeline).intervals;
    let damage = timeline.reel().damage().iter();
    let damage = damage.map(|one| format!("{}: {}", one.place, one.cause));
    let mut unread = fed.unread.iter().map(ToString::to_string).chain(damage);
    let trust = unread
        .next()
        .map_or_else(|| trust(timeline, &interests), Trust::Damaged);
    Opened { intervals, trust }
}

/// Finds the gaps in what was read.
fn trust(timeline: &Timeline, interests: &[Interest]) -> Trust {
    let read: BTreeSet<(&str, &str)> = interests
        .iter()
        .map(|interest| (&*interest.group, &*interest.plural))
        .collect();
    let resources = timeline.resources().iter();
    let read = resources.filter(|info| read.contains(&(&*info.group, &*info.plural)));
    let read: Vec<_> = read.map(|info| info.id).collect();
    let gaps = read.iter().map(|id| timeline.unobserved(*id).count()).sum();
    let mut coverages = read.iter().filter_map(|id| timeline.coverage(*id));
    if gaps > 0 {
        Trust::Gaps(gaps)
    } else if coverages.any(|one| one.imported().is_some()) {
        Trust::Imported
    } else {
        Trust::Complete
    }
}

fn wall(timeline: &Timeline, moment: Moment) -> Result<RecordedAt, CommandError> {
    match at::resolve(timeline, moment)? {
        Cut::Arrival { wall, .. } => Ok(wall),
        Cut::Revision(_) => Err(CommandError::new(
            Exit::Usage,
            "a resourceVersion cannot limit intervals: expected a time",
        )
        .hint("to see when it was written: kubereel history REEL RESOURCE/NAME")),
    }
}

fn at_error(error: &ResolveError) -> CommandError {
    CommandError::new(Exit::Usage, format!("moment not in the file: {error}"))
}

fn set_bounds(
    filter: &mut IntervalFilter,
    from: Option<RecordedAt>,
    to: Option<RecordedAt>,
) -> Result<(), CommandError> {
    if let (Some(from), Some(to)) = (from, to)
        && from > to
    {
        return Err(CommandError::new(Exit::Usage, "--from is after --to")
            .hint("give the earlier moment to --from"));
    }
    filter.from = from;
    filter.to = to;
    Ok(())
}

/// Tells whether a file begins like JSON.
fn is_json(path: &Path) -> bool {
    if !path.is_file() {
        return false;
    }
    let Ok(file) = File::open(path) else {
        return false;
    };
    let mut begin = Vec::new();
    if file.take(SNIFFED_BYTES).read_to_end(&mut begin).is_err() {
        return false;
    }
    matches!(begin.trim_ascii_start().first(), Some(b'{' | b'['))
}

fn explain(path: &Path, error: &IntervalFileError) -> CommandError {
    let failed = CommandError::new(Exit::Reel, format!("{error}: {}", path.display()));
    match error {
        IntervalFileError::Json { .. } | IntervalFileError::NoItems => failed.hint(
            "kubereel intervals reads reels, and e2e-events and e2e-timelines files; kubereel import reads JSON lines and lists of objects",
        ),
        _ => failed,
    }
}
