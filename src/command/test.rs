//! `kubereel test`: rules over time, run on recordings. The judgement is that of `monitortests`.

use crate::arguments::{self, WideFormat};
use crate::command_error::{CommandError, Exit};
use crate::screen::Console;
use kubereel_format::RecordedAt;
use kubereel_monitortests::{CaseVerdict, Glob};
use run::{TestFiles, TestRun};
use std::path::PathBuf;
use suite::Suite;

pub(crate) mod json;
mod report;
mod run;
pub(crate) mod suite;

/// Run rules over time (monitortests) on recordings
///
/// Every rule is evaluated on every recording, with the same result each time. A case passes, flakes,
/// fails, or is unknown where the recording has a gap, which never counts as a pass; a case that needs
/// a resource that was not recorded is skipped. Known problems (--exceptions, and the exceptions of the
/// OpenShift monitor) make a flake instead of a failure.
///
/// Exit codes: 0 all passed or flaked, 1 a case failed, 2 invalid usage or an invalid file of rules or
/// exceptions, 3 a recording cannot be read or is damaged (the others are tested), 4 no case failed but
/// one is unknown or could not be evaluated.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The reels; a .json is read as a file of intervals, such as e2e-events….json of a CI run
    #[arg(value_name = "REEL", required_unless_present_any = ["list", "explain"])]
    reels: Vec<PathBuf>,
    #[command(flatten)]
    rules: RuleArgs,
    #[command(flatten)]
    outputs: OutputArgs,
    /// List the rules instead of running them
    #[arg(long, conflicts_with = "explain")]
    list: bool,
    /// Explain a rule instead of running the rules
    #[arg(long, value_name = "RULE")]
    explain: Option<String>,
    /// Report progress on stderr as lines of JSON; the run stops when stderr is closed
    #[arg(long, value_name = "FORM")]
    progress: Option<ProgressFormat>,
    /// Output format; `wide` shows all findings and the names of passed cases
    #[arg(short, long, value_name = "FORM")]
    output: Option<WideFormat>,
}

/// Which rules are run, and with what.
#[derive(Debug, clap::Args)]
struct RuleArgs {
    /// Also run the rules of this folder's YAML files; a rule with the id of a built-in rule replaces it
    #[arg(long = "rules", value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Apply the exceptions of this file first
    #[arg(long, value_name = "FILE")]
    exceptions: Option<PathBuf>,
    /// Run only rules whose id, monitor or name in JUnit matches; * and ? are wildcards
    #[arg(long, value_name = "GLOB", value_parser = glob)]
    only: Vec<Glob>,
    /// Skip rules whose id, monitor or name in JUnit matches
    #[arg(long, value_name = "GLOB", value_parser = glob)]
    skip: Vec<Glob>,
    /// Describe the cluster of a file of intervals: topology=HighlyAvailable; also platform, network,
    /// architecture, version, from-version
    #[arg(long = "fact", value_name = "NAME=VALUE", value_parser = fact)]
    facts: Vec<(FactName, String)>,
    /// Compare ends of exceptions with this time instead of the end of each recording (RFC 3339)
    #[arg(long, value_name = "TIME", value_parser = arguments::read_time)]
    now: Option<RecordedAt>,
}

/// A property of a cluster.
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
struct OutputArgs {
    /// Write JUnit into this folder; a folder below it for each of several reels
    #[arg(long, value_name = "DIR")]
    junit: Option<PathBuf>,
    /// Write the evaluated intervals into this folder, as files of the OpenShift monitor
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
    /// Write draft exceptions for the current failures
    #[arg(long, value_name = "FILE")]
    propose_exceptions: Option<PathBuf>,
    /// Overwrite existing files
    #[arg(long)]
    force: bool,
}

/// The form of progress reports.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ProgressFormat {
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
                "unknown fact {name:?}: expected topology, platform, network, architecture, version or from-version"
            ));
        }
    };
    if value.is_empty() {
        return Err(format!(
            "no value in {text:?}: expected NAME=VALUE, for example topology=HighlyAvailable"
        ));
    }
    Ok((name, value.to_owned()))
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let suite = Suite::read(&args.rules, screen)?;
    if args.list {
        return suite::list(&suite, args.output, screen);
    }
    if let Some(rule) = &args.explain {
        return suite::explain(&suite, rule, screen);
    }
    suite.refuse_empty()?;
    let targets = TestFiles::prepare(args)?;
    let all = run::all(args, &suite, &targets, screen)?;
    targets.write(args, &all)?;
    match args.output {
        Some(WideFormat::Json) => screen.json_line(&json::TestOutput::of(&suite, &all))?,
        form => {
            report::print(&all, form.is_some(), screen)?;
            if all.len() > 1 {
                report::print_matrix(&all, screen)?;
            }
            report::print_idle(&suite, &all, screen)?;
        }
    }
    screen.finish()?;
    ended(all)
}

/// Gives how it ends: what cannot be read comes before what failed, for more may be wrong there.
fn ended(all: Vec<TestRun>) -> Result<Exit, CommandError> {
    // A file that could not be written is no fault of a recording.
    let (failed, all): (Vec<TestRun>, Vec<TestRun>) =
        all.into_iter().partition(TestRun::is_failed_elsewhere);
    if let Some(error) = failed.into_iter().find_map(|ran| ran.report.err()) {
        return Err(error);
    }
    let count = all.len();
    let (unread, all): (Vec<TestRun>, Vec<TestRun>) = all.into_iter().partition(TestRun::is_unread);
    let unread_count = unread.len();
    if let Some(first) = unread.into_iter().next() {
        let name = first.name();
        return Err(match first.report {
            Err(error) if count == 1 => error,
            _ if count == 1 => CommandError::reel(format!("the reel is damaged: {name}"))
                .hint("to see where: kubereel info REEL"),
            _ => CommandError::reel(format!(
                "{unread_count} of {count} recordings cannot be read completely, the first: {name}"
            ))
            .hint("the others were tested; to see the damage: kubereel info REEL"),
        });
    }
    let has = |verdict: CaseVerdict| {
        let reports = all.iter().filter_map(|ran| ran.report.as_ref().ok());
        reports.into_iter().any(|report| report.count(verdict) > 0)
    };
    Ok(if has(CaseVerdict::Fail) {
        Exit::No
    } else if has(CaseVerdict::Unknown) || has(CaseVerdict::Error) {
        Exit::Unknown
    } else {
        Exit::Yes
    })
}
