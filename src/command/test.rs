//! Owns `kubereel test`: rules over time, run on recordings. Refuses to judge: `monitortests` does.

use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::screen::Screen;
use jiff::Timestamp;
use kubereel_format::RecordedAt;
use kubereel_monitortests::{CaseVerdict as Verdict, Glob};
use std::path::PathBuf;

mod catalogue;
mod files;
mod json;
mod known;
mod lines;
mod matrix;
mod runs;
mod suite;

use runs::Ran;
use suite::Suite;

/// Run rules over time on recordings: monitortests, as often as you like
///
/// Every rule is asked of every recording, the same way each time. A case passes, flakes, fails, or is
/// unknown where the recording has a gap, which is never taken for a pass; what needs a resource that
/// was not recorded is skipped. What is known to go wrong (--exceptions, and what the OpenShift monitor
/// excepts) makes a flake instead of a failure.
///
/// Exit codes: 0 all passed or flaked, 1 something failed, 2 wrong usage or a wrong file of rules or
/// exceptions, 3 a recording cannot be read or is damaged (the others are judged all the same), 4
/// nothing failed but something is unknown or could not be evaluated.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The reels; a .json is read as a file of intervals, such as e2e-events….json of a CI run
    #[arg(value_name = "REEL", required_unless_present_any = ["list", "explain"])]
    reels: Vec<PathBuf>,
    #[command(flatten)]
    rules: Rules,
    #[command(flatten)]
    outputs: Outputs,
    /// List the rules instead of running them
    #[arg(long, conflicts_with = "explain")]
    list: bool,
    /// Say in words what a rule does, instead of running any
    #[arg(long, value_name = "RULE")]
    explain: Option<String>,
    /// Report progress on stderr as lines of JSON; the run stops when stderr is closed
    #[arg(long, value_name = "FORM")]
    progress: Option<Told>,
    /// Output format; `wide` shows all findings and the names of passed cases
    #[arg(short, long, value_name = "FORM")]
    output: Option<Output>,
}

/// What is run.
#[derive(Debug, clap::Args)]
struct Rules {
    /// Run the rules of this folder's YAML files as well; one with the id of a built-in rule takes its
    /// place
    #[arg(long = "rules", value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Hold findings against this file of exceptions first
    #[arg(long, value_name = "FILE")]
    exceptions: Option<PathBuf>,
    /// Run only rules whose id, monitor or name in JUnit matches; * and ? stand for letters
    #[arg(long, value_name = "GLOB", value_parser = glob)]
    only: Vec<Glob>,
    /// Leave out rules whose id, monitor or name in JUnit matches
    #[arg(long, value_name = "GLOB", value_parser = glob)]
    skip: Vec<Glob>,
    /// Say what cluster it was, for files of intervals, which do not: topology=HighlyAvailable; also
    /// platform, network, architecture, version, from-version
    #[arg(long = "fact", value_name = "NAME=VALUE", value_parser = fact)]
    facts: Vec<(FactName, String)>,
    /// Compare ends of exceptions with this time instead of the end of each recording (RFC 3339)
    #[arg(long, value_name = "TIME", value_parser = time)]
    now: Option<RecordedAt>,
}

/// Something that can be told of a cluster.
#[derive(Clone, Copy, Debug)]
enum FactName {
    Topology,
    Platform,
    Network,
    Architecture,
    Version,
    FromVersion,
}

/// What is written besides the report.
#[derive(Debug, clap::Args)]
struct Outputs {
    /// Write JUnit into this folder; a folder below it for each of several reels
    #[arg(long, value_name = "DIR")]
    junit: Option<PathBuf>,
    /// Write the intervals that were judged into this folder, as files of the OpenShift monitor
    #[arg(long, value_name = "DIR")]
    intervals: Option<PathBuf>,
    /// Write one line of JSON for each run and case
    #[arg(long, value_name = "FILE")]
    rows: Option<PathBuf>,
    /// The CI job to name in rows
    #[arg(long, value_name = "NAME", env = "JOB_NAME")]
    job: Option<String>,
    /// The build to name in rows
    #[arg(long, value_name = "ID", env = "BUILD_ID")]
    build: Option<String>,
    /// Write exceptions for what fails now, to be edited
    #[arg(long, value_name = "FILE")]
    propose_exceptions: Option<PathBuf>,
    /// Replace files that are there already
    #[arg(long)]
    force: bool,
}

/// The form of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    Json,
    Wide,
}

/// The form in which it is told how far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Told {
    Json,
}

const EXAMPLES: &str = "\
Examples:
  kubereel test run.reel
  kubereel test run.reel --only 'operator-*' -o wide
  kubereel test *.reel --rules my-rules --exceptions known.yaml --junit artifacts
  kubereel test run.reel --propose-exceptions known.yaml
  kubereel test *.reel -o json | jq '.runs[].cases[] | select(.verdict == \"fail\") | .name'
  kubereel test *.reel --rows rows.jsonl --job periodic-e2e --build 1234
  kubereel test --explain operator-degraded";

// clap wants a fallible reader.
#[expect(clippy::unnecessary_wraps, reason = "the form of a value parser")]
fn glob(text: &str) -> Result<Glob, String> {
    Ok(Glob::new(text))
}

fn fact(text: &str) -> Result<(FactName, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let name = match name {
        "topology" => FactName::Topology,
        "platform" => FactName::Platform,
        "network" => FactName::Network,
        "architecture" => FactName::Architecture,
        "version" => FactName::Version,
        "from-version" => FactName::FromVersion,
        _ => {
            return Err(format!(
                "no such fact: {name:?}; topology, platform, network, architecture, version and from-version can be told"
            ));
        }
    };
    if value.is_empty() {
        return Err(format!(
            "no value: {text:?}; for example topology=HighlyAvailable"
        ));
    }
    Ok((name, value.to_owned()))
}

fn time(text: &str) -> Result<RecordedAt, String> {
    text.parse::<Timestamp>()
        .map(|at| RecordedAt::from_micros(at.as_microsecond()))
        .map_err(|_unread| "not an RFC 3339 time, such as 2026-11-21T14:02:31Z".to_owned())
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, CommandError> {
    let suite = Suite::read(&args.rules, screen)?;
    if args.list {
        return catalogue::list(&suite, args.output, screen);
    }
    if let Some(rule) = &args.explain {
        return catalogue::explain(&suite, rule, screen);
    }
    suite.refuse_empty()?;
    let targets = files::Targets::prepare(args)?;
    let all = runs::all(args, &suite, &targets, screen)?;
    targets.write(args, &all)?;
    match args.output {
        Some(Output::Json) => json::print(&suite, &all, screen)?,
        form => {
            lines::print(&all, form.is_some(), screen)?;
            if all.len() > 1 {
                matrix::print(&all, screen)?;
            }
            known::print(&suite, &all, screen)?;
        }
    }
    screen.finish()?;
    ended(all)
}

/// Gives how it ends: what cannot be read comes before what failed, for more may be wrong there.
fn ended(all: Vec<Ran>) -> Result<Exit, CommandError> {
    // A file that could not be written is no fault of a recording.
    let (failed, all): (Vec<Ran>, Vec<Ran>) = all.into_iter().partition(Ran::is_failed_elsewhere);
    if let Some(error) = failed.into_iter().find_map(|ran| ran.report.err()) {
        return Err(error);
    }
    let count = all.len();
    let (unread, all): (Vec<Ran>, Vec<Ran>) = all.into_iter().partition(Ran::is_unread);
    let unread_count = unread.len();
    if let Some(first) = unread.into_iter().next() {
        let name = first.name();
        return Err(match first.report {
            Err(error) if count == 1 => error,
            _ if count == 1 => {
                CommandError::new(Exit::Reel, format!("the reel is damaged: {name}"))
                    .hint("kubereel info REEL says where")
            }
            _ => CommandError::new(
                Exit::Reel,
                format!(
                    "{unread_count} of {count} recordings cannot be read whole, {name} the first"
                ),
            )
            .hint("the others were judged; kubereel info REEL says what is wrong with one"),
        });
    }
    let has = |verdict: Verdict| {
        let reports = all.iter().filter_map(|ran| ran.report.as_ref().ok());
        reports.into_iter().any(|report| report.count(verdict) > 0)
    };
    Ok(if has(Verdict::Fail) {
        Exit::No
    } else if has(Verdict::Unknown) || has(Verdict::Error) {
        Exit::Unknown
    } else {
        Exit::Yes
    })
}
