//! Arguments that several commands have: moments and spans of time, durations, the output format. The grammar
//! of moments is `kubereel_history::Moment`, which screens and rules read as well.

use crate::command_error::{CommandError, Exit};
use crate::progress::ProgressReporter;
use clap::builder::{PathBufValueParser, TypedValueParser};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use kubereel_cluster::{ClusterHistory, UnreadVersions};
use kubereel_format::RecordedAt;
use kubereel_history::{
    Cut, MOMENT_FORMS, Moment, MomentError, ResolveError, Timeline, named, nearest, timetext,
};
use kubereel_problems::problems;
use kubereel_tui::{NamedBookmark, named_bookmarks};
use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The zone of times without an offset, as `--tz` names it; UTC without it.
static ZONE: OnceLock<TimeZone> = OnceLock::new();

/// Reads `--tz` from the words of a command line. It is needed before the other words are read, so that these can be
/// read in any order.
pub(crate) fn take_zone(words: &[OsString]) {
    let mut words = words.iter().skip(1).map(|word| word.to_string_lossy());
    let mut zone = None;
    while let Some(word) = words.next() {
        match word.as_ref() {
            "--" => break,
            "--tz" => zone = words.next(),
            word => {
                if let Some(name) = word.strip_prefix("--tz=") {
                    zone = Some(name.to_owned().into());
                }
            }
        }
    }
    // What is not a zone is reported where the option is read.
    if let Some(zone) = zone.and_then(|name| read_zone(&name).ok()) {
        ZONE.get_or_init(|| zone);
    }
}

/// Gives that zone; `None` is UTC.
pub(crate) fn zone() -> Option<&'static TimeZone> {
    ZONE.get()
}

/// The zone of this machine.
static LOCAL_ZONE: OnceLock<Option<TimeZone>> = OnceLock::new();

/// Gives the zone of this machine, where it has one.
pub(crate) fn local_zone() -> Option<&'static TimeZone> {
    let zone = LOCAL_ZONE.get_or_init(|| TimeZone::try_system().ok());
    zone.as_ref()
}

/// The reel that was opened first, as bookmarks know it.
static REEL: OnceLock<PathBuf> = OnceLock::new();

/// Says which reel was opened, so that its bookmarks can be named.
pub(crate) fn name_reel(path: PathBuf) {
    REEL.get_or_init(|| path);
}

/// Gives the user's folder for what outlasts a run, as the desktop's rules say.
pub(crate) fn state_folder() -> Option<PathBuf> {
    let says = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let own = says("XDG_STATE_HOME").map(PathBuf::from);
    let own = own.filter(|folder| folder.is_absolute());
    let home = || Some(PathBuf::from(says("HOME")?).join(".local/state"));
    own.or_else(home).map(|folder| folder.join("kubereel"))
}

/// Gives the bookmarks of the reel that have names.
pub(crate) fn bookmarks(timeline: &Timeline) -> Vec<NamedBookmark> {
    let folder = state_folder();
    let path = REEL.get().map(PathBuf::as_path);
    path.map_or_else(Vec::new, |path| {
        named_bookmarks(timeline, path, folder.as_deref())
    })
}

/// Reads the name of a time zone.
pub(crate) fn read_zone(name: &str) -> Result<TimeZone, String> {
    match name {
        "local" => TimeZone::try_system().map_err(|error| error.to_string()),
        "UTC" | "Z" => Ok(TimeZone::UTC),
        name => TimeZone::get(name).map_err(|error| {
            format!("{error}; expected local, UTC or a name such as Europe/Berlin")
        }),
    }
}

/// The help text that lists every form of TIME.
pub(crate) fn forms_help() -> String {
    let forms = MOMENT_FORMS.map(|(form, meaning)| format!("  {form:<26}{meaning}\n"));
    format!("TIME is one of:\n{}", forms.concat())
}

/// The exit codes of commands that show the state of a moment.
pub(crate) const STATE_EXITS: &str = "\
Exit codes:
  0  the state is shown; it was observed, or imported
  1  not found: it did not exist
  3  the reel is damaged; what can be read is shown
  4  unknown: not observed, or not found in an import, which does not prove that it did not exist

Errors: kubereel --help
";

/// Reads the name of a namespace: an empty one is that of a variable that is not set.
///
/// # Errors
/// When it is empty.
pub(crate) fn namespace(text: &str) -> Result<String, &'static str> {
    if text.is_empty() {
        return Err("a namespace has a name; without -n it is the default of the command");
    }
    Ok(text.to_owned())
}

/// Reads a TIME argument.
pub(crate) fn read_moment(text: &str) -> Result<Moment, String> {
    Moment::parse_in(text, ZONE.get()).map_err(|error| {
        if matches!(error, MomentError::Ambiguous { .. }) {
            return error.to_string();
        }
        let forms: Vec<&str> = MOMENT_FORMS.iter().map(|(form, _)| *form).collect();
        format!("{error}; expected one of: {}", forms.join(", "))
    })
}

/// Finds the place of the moment that a question is about; refuses a time outside the recording.
pub(crate) fn resolve_at(timeline: &Timeline, moment: Moment) -> Result<Cut, CommandError> {
    resolve_within(timeline, moment, "--at")
}

/// Finds the place of the moment of a flag; refuses a time outside the recording.
pub(crate) fn resolve_within(
    timeline: &Timeline,
    moment: Moment,
    flag: &str,
) -> Result<Cut, CommandError> {
    let (asked, moment) = (moment, recorded(timeline, moment, flag)?);
    // Of what was found by its first sign, the whole state is asked for.
    if let (Moment::Problem(_) | Moment::UpgradeStart | Moment::UpgradeEnd, Moment::Record(seq)) =
        (asked, moment)
    {
        return Ok(timeline.shown_by(seq));
    }
    let cut = timeline.resolve_within(moment);
    cut.map_err(|error| match error {
        ResolveError::OutsideRecording { at, start, .. } => {
            let failed = CommandError::usage(format!("{flag}: {error}"));
            outside(timeline, moment, failed, (flag, at < start))
        }
        error => unresolved(timeline, error, flag),
    })
}

/// Adds the hints to the error of a time outside the recording.
fn outside(
    timeline: &Timeline,
    moment: Moment,
    mut error: CommandError,
    (flag, is_before): (&str, bool),
) -> CommandError {
    let local = local_zone().filter(|_| zone().is_none());
    if let (Moment::TimeOfDay(time), Some(zone)) = (moment, local) {
        let local = timeline.resolve(Moment::LocalTimeOfDay { time, zone });
        if local.is_ok_and(|cut| !timeline.reaches_outside(Some(cut), None)) {
            error =
                error.hint("times are in UTC; of a time of this machine's zone, add --tz local");
        }
    }
    // Of two moments, each end of the recording is of use to one of them only.
    let is_start = match flag {
        "--from" => true,
        "--to" => false,
        _ => is_before,
    };
    error.hint(format!("{flag} {}", if is_start { "start" } else { "end" }))
}

/// Finds the place of the moment of a flag in a reel.
pub(crate) fn resolve(
    timeline: &Timeline,
    moment: Moment,
    flag: &str,
) -> Result<Cut, CommandError> {
    let moment = recorded(timeline, moment, flag)?;
    timeline
        .resolve(moment)
        .map_err(|error| unresolved(timeline, error, flag))
}

/// Finds the record of a moment that the reel alone does not name.
fn recorded(timeline: &Timeline, moment: Moment, flag: &str) -> Result<Moment, CommandError> {
    match moment {
        Moment::Problem(rank) => problem(timeline, rank, flag),
        Moment::Bookmark(name) => bookmark(timeline, name.as_str(), flag),
        Moment::UpgradeStart | Moment::UpgradeEnd => upgrade(timeline, moment, flag),
        moment => Ok(moment),
    }
}

/// Makes the error of a moment without a place.
fn unresolved(timeline: &Timeline, error: ResolveError, flag: &str) -> CommandError {
    let failed = CommandError::usage(format!("{flag}: {error}"));
    match error {
        ResolveError::Ambiguous { candidates } => {
            let dates: Vec<String> = candidates.into_iter().map(timetext::rfc3339).collect();
            failed.hint(format!("give one of them: {}", flagged(flag, &dates)))
        }
        ResolveError::ClockSetBack { records, .. } => {
            let records: Vec<String> = records.iter().map(|seq| format!("seq:{seq}")).collect();
            if records.is_empty() {
                failed.hint(format!("give a resourceVersion: {flag} rv:12345"))
            } else {
                failed.hint(format!("give a record: {}", flagged(flag, &records)))
            }
        }
        ResolveError::AmbiguousMark { candidates, .. } => {
            let dates: Vec<String> = candidates.into_iter().map(timetext::rfc3339).collect();
            failed.hint(format!(
                "give one of their times: {}",
                flagged(flag, &dates)
            ))
        }
        ResolveError::NoSuchMark { nearest, .. } => match nearest.first() {
            Some(near) => failed.hint(format!("did you mean mark:{near}?")),
            None => failed.hint("to list the marks: kubereel info REEL"),
        },
        ResolveError::NoSuchRecord { .. } | ResolveError::AfterLastRevision { .. } => {
            failed.hint(format!("{flag} end is the last record"))
        }
        ResolveError::StartLost { first: known } | ResolveError::EndLost { last: known } => {
            let exit = Exit::of_loss(timeline).unwrap_or(Exit::Unknown);
            let date = timetext::rfc3339(known);
            CommandError::new(exit, failed.message()).hint(format!("give a time: {flag} {date}"))
        }
        ResolveError::EmptyReel => CommandError::unknown(error.to_string()),
        _ => failed,
    }
}

/// Writes a flag with each of some times: `--at A or --at B`.
fn flagged(flag: &str, dates: &[String]) -> String {
    let each = dates.iter().map(|date| format!("{flag} {date}"));
    each.collect::<Vec<_>>().join(" or ")
}

/// Makes the error of something that the recording does not have, with the exit code where nothing of it is lost.
fn absent(timeline: &Timeline, message: String, whole: Exit) -> CommandError {
    match Exit::of_loss(timeline) {
        Some(exit) => CommandError::new(exit, format!("{message}, as far as it can be read")),
        None => CommandError::new(whole, message),
    }
}

/// Finds the record that shows a problem first.
fn problem(timeline: &Timeline, rank: NonZero<usize>, flag: &str) -> Result<Moment, CommandError> {
    let is_terminal = std::io::stderr().is_terminal();
    let end = timeline.reel().end().0;
    let mut progress = ProgressReporter::begin("reading problems", end, is_terminal);
    let list = problems(timeline, |seq| progress.reached(seq.0));
    let found = list.problems.get(rank.get() - 1);
    found
        .map(|problem| Moment::Record(problem.from.seq))
        .ok_or_else(|| {
            let why = match list.problems.len() {
                0 => "none was found".to_owned(),
                most => format!("the list ends with problem {most}"),
            };
            let message = format!("{flag}: no problem {rank}: {why}");
            absent(timeline, message, Exit::Usage).hint("to list them: kubereel problems REEL")
        })
}

/// Finds the bookmark of a name.
fn bookmark(timeline: &Timeline, name: &str, flag: &str) -> Result<Moment, CommandError> {
    let all = bookmarks(timeline);
    let places = named(name, all.iter().map(|one| one.name.as_str()));
    let found: Vec<&NamedBookmark> = places.iter().filter_map(|at| all.get(*at)).collect();
    match found.as_slice() {
        [one] => Ok(one.moment),
        [] => {
            let failed = CommandError::usage(format!("{flag}: no bookmark {name:?} of this reel"));
            let near = nearest(name, all.iter().map(|one| one.name.as_str()));
            Err(match near.first() {
                Some(near) => failed.hint(format!("did you mean bookmark:{near}?")),
                None => failed.hint("to set one: key m on the screen, kubereel REEL"),
            })
        }
        several => {
            let dates = several.iter().map(|one| timetext::rfc3339(one.at));
            let dates: Vec<String> = dates.collect();
            let message = format!("{flag}: {} bookmarks have {name:?}", several.len());
            let hint = format!("give one of their times: {}", flagged(flag, &dates));
            Err(CommandError::usage(message).hint(hint))
        }
    }
}

/// Finds the record with which the first upgrade begins or ends.
fn upgrade(timeline: &Timeline, moment: Moment, flag: &str) -> Result<Moment, CommandError> {
    let end = resolve(timeline, Moment::End, flag)?;
    let unread = UnreadVersions::default();
    let updates = ClusterHistory::of_readable(timeline, &unread)
        .updates(end)
        .map_err(CommandError::reel)?;
    let Some(upgrade) = updates.first_upgrade() else {
        let message = format!("{flag}: no upgrade was recorded");
        return Err(
            absent(timeline, message, Exit::Unknown).hint("to see what was: kubereel story REEL")
        );
    };
    if moment == Moment::UpgradeStart {
        return Ok(Moment::Record(upgrade.first));
    }
    upgrade.last.map(Moment::Record).ok_or_else(|| {
        let message = format!("{flag}: {}", upgrade.words_without_end());
        let exit = Exit::of_loss(timeline).unwrap_or(Exit::Unknown);
        CommandError::new(exit, message).hint(format!("{flag} end is the last record"))
    })
}

/// Finds the bounds of a time, of which either may be open; refuses those that hold nothing between.
pub(crate) fn bounds(
    timeline: &Timeline,
    from: Option<Moment>,
    to: Option<Moment>,
) -> Result<(Option<Cut>, Option<Cut>), CommandError> {
    let resolve = |moment: Option<Moment>, flag| {
        let cut = moment.map(|at| resolve(timeline, at, flag));
        cut.transpose()
    };
    let bounds = (resolve(from, "--from")?, resolve(to, "--to")?);
    refuse_backward(timeline, bounds)?;
    Ok(bounds)
}

/// Finds where a list of changes begins: those of the first moment itself are among them, as its printed time is that
/// of a change.
pub(crate) fn first_change(
    timeline: &Timeline,
    asked: Option<Moment>,
    from: Option<Cut>,
) -> Option<Cut> {
    // Behind the last record nothing follows, and of it nothing is asked.
    from.map(|from| match asked {
        Some(Moment::End) => from,
        _ => timeline.in_front_of(from),
    })
}

/// Refuses bounds that hold nothing between; `None` for the ends of the recording.
pub(crate) fn refuse_backward(
    timeline: &Timeline,
    bounds: (Option<Cut>, Option<Cut>),
) -> Result<(), CommandError> {
    let (Some(from), Some(to)) = bounds else {
        return Ok(());
    };
    let is_backward = match (from, to) {
        (
            Cut::Arrival { below, wall },
            Cut::Arrival {
                below: to_below,
                wall: to_wall,
            },
        ) => below > to_below && wall > to_wall,
        (Cut::Revision(from), Cut::Revision(to)) => from > to,
        // A resourceVersion and a time of arrival have no order of their own.
        _ => false,
    };
    if is_backward {
        let written = |cut| match cut {
            Cut::Arrival { wall, .. } => timeline.written(wall),
            Cut::Revision(rv) => format!("rv:{rv}"),
        };
        return Err(backward(&written(from), &written(to)));
    }
    Ok(())
}

/// Makes the error of a time span whose end is before its start.
pub(crate) fn backward(from: &str, to: &str) -> CommandError {
    CommandError::usage(format!("--to {to} is before --from {from}"))
        .hint("give the earlier moment to --from")
}

/// Parses the name of a file that cannot be stdout, because the command reads in it, too, or replaces it as a whole.
pub(crate) fn output_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        if path.as_os_str() == "-" {
            return Err("cannot write to stdout; name a file (./- is a file of that name)");
        }
        Ok(path)
    })
}

/// The output format of a command that prints text by default.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct JsonOutput {
    /// Output format; default: text
    #[arg(short, long, value_name = "FORM")]
    output: Option<JsonFormat>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum JsonFormat {
    Json,
}

impl JsonOutput {
    /// Tells whether JSON is the format.
    pub(crate) const fn is_json(self) -> bool {
        self.output.is_some()
    }
}

/// The output format of a command that prints text by default, and values for programs each on a line.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct JsonLinesOutput {
    /// Output format; default: text. json has an object a line
    #[arg(short, long, value_name = "FORM")]
    output: Option<JsonFormat>,
}

impl JsonLinesOutput {
    /// Tells whether JSON is the format.
    pub(crate) const fn is_json(self) -> bool {
        self.output.is_some()
    }
}

/// The output format of a command that prints text, more text, or JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum WideFormat {
    Json,
    Wide,
}

/// Reads a duration such as `30s`, in microseconds. The grammar of TIME has it after a plus sign.
pub(crate) fn read_micros(text: &str) -> Result<i64, String> {
    match format!("+{text}").parse::<Moment>() {
        Ok(Moment::AfterStart { micros }) => i64::try_from(micros).ok(),
        _ => None,
    }
    .ok_or_else(|| format!("expected a duration in h, m and s, such as 30s, 5m or 36h: {text:?}"))
}

/// What a time is that is not relative to a recording.
pub(crate) const ABSOLUTE_TIME: &str = "expected an RFC 3339 time such as 2026-11-21T14:02:31Z";

/// Reads a time that is not relative to a recording.
pub(crate) fn read_time(text: &str) -> Result<RecordedAt, String> {
    text.parse::<Timestamp>()
        .map(|at| RecordedAt::from_micros(at.as_microsecond()))
        .map_err(|_unread| ABSOLUTE_TIME.to_owned())
}

/// The units, longest spelling first.
const UNITS: [(&str, u64); 11] = [
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("ki", 1 << 10),
    ("mi", 1 << 20),
    ("gi", 1 << 30),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("m", 1_000_000),
    ("g", 1_000_000_000),
];

/// Reads a number of bytes such as `100MB`; `None` for `none`: unlimited.
pub(crate) fn read_bytes(text: &str) -> Result<Option<u64>, String> {
    let spelt = text.trim().to_ascii_lowercase();
    if spelt == "none" || spelt == "0" {
        return Ok(None);
    }
    let (number, unit) = UNITS
        .iter()
        .find_map(|(name, unit)| spelt.strip_suffix(name).map(|number| (number, *unit)))
        .unwrap_or((&spelt, 1));
    let bytes = times(number.trim(), unit);
    bytes
        .map(Some)
        .ok_or_else(|| "expected a size such as 100MB, 64MiB, 2GB or none".to_owned())
}

/// Multiplies a decimal number, with at most three digits behind its point.
fn times(number: &str, unit: u64) -> Option<u64> {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || part.len() > 3 || !is_number(whole) || !is_number(part) {
        return None;
    }
    let thousandths: u64 = format!("{part:0<3}").parse().ok()?;
    let whole: u64 = whole.parse().ok()?;
    let part = unit.checked_mul(thousandths)? / 1_000;
    whole.checked_mul(unit)?.checked_add(part)
}
