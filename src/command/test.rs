//! `kubereel test`: rules over time, run on recordings. The judgement is that of `monitortests`.

use crate::arguments::{self, WideFormat};
use crate::command_error::{CommandError, Exit};
use crate::screen::Console;
use crate::shell_words::shell_word;
use kubereel_format::RecordedAt;
use kubereel_monitortests::{CaseVerdict, Facts, Glob, RuleClass, RunTrust};
use run::{TestFiles, TestRun};
use std::ffi::OsStr;
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
/// OpenShift monitor) make a flake instead of a failure. A rule that does not apply to the cluster, by its
/// release, kind or topology, has no case and is counted.
///
/// The rules are of four classes. By default the rules about what happened are run: fault, disruption and
/// upgrade. Rules of the class policy, about how objects are written, are run with --all or --class policy.
///
/// Exit codes: 0 all passed or flaked, 1 a case failed, 2 invalid usage or an invalid file of rules or
/// exceptions, 3 a recording cannot be read or is damaged (the others are tested), 4 no case failed but
/// one is unknown or could not be evaluated.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The reels; a file of JSON is read as one of intervals, such as e2e-events….json of a CI run
    #[arg(value_name = "REEL", required_unless_present_any = ["list", "explain", "guide", "schema", "new_rule"])]
    reels: Vec<PathBuf>,
    #[command(flatten)]
    rules: RuleArgs,
    #[command(flatten)]
    outputs: OutputArgs,
    /// List the rules instead of running them
    #[arg(long, conflicts_with = "explain")]
    list: bool,
    /// Explain a rule instead of running the rules; with -o yaml, print its definition as a starting point
    #[arg(long, value_name = "RULE")]
    explain: Option<String>,
    #[command(flatten)]
    texts: RuleTextArgs,
    /// Report progress on stderr as lines of JSON; the run stops when stderr is closed
    #[arg(long, value_name = "FORM")]
    progress: Option<ProgressFormat>,
    /// Output format; `wide` shows all findings and the names of passed cases, `yaml` goes with --explain
    #[arg(short, long, value_name = "FORM")]
    output: Option<TestFormat>,
}

/// What is printed for authors of rules, instead of running them.
#[derive(Debug, clap::Args)]
struct RuleTextArgs {
    /// Print the guide to writing rules; the same as `kubereel help rules`
    #[arg(long, exclusive = true)]
    guide: bool,
    /// Print the JSON schema of rule files, for editors
    #[arg(long, exclusive = true)]
    schema: bool,
    /// Print a commented rule file to start from
    #[arg(long, exclusive = true)]
    new_rule: bool,
}

/// Which rules are run, and with what.
#[derive(Debug, clap::Args)]
struct RuleArgs {
    /// Also run the rules of this YAML file, or of all YAML files of this folder; can be repeated. A rule with the id
    /// of a built-in rule replaces it
    #[arg(long = "rules", value_name = "PATH")]
    own: Vec<PathBuf>,
    /// Run only rules of these classes: fault, disruption, upgrade, policy; default: all but policy, and all with --only
    #[arg(long = "class", value_name = "CLASS", value_delimiter = ',', value_parser = class, conflicts_with = "all")]
    classes: Vec<RuleClass>,
    /// Run the rules of all classes, and list the rules that do not apply
    #[arg(long)]
    all: bool,
    /// Apply the exceptions of this file first
    #[arg(long, value_name = "FILE")]
    exceptions: Option<PathBuf>,
    /// Run only rules whose id, monitor or name in JUnit matches; * and ? are wildcards
    #[arg(long, value_name = "GLOB", value_parser = glob)]
    only: Vec<Glob>,
    /// Skip rules whose id, monitor or name in JUnit matches
    #[arg(long, value_name = "GLOB", value_parser = glob)]
    skip: Vec<Glob>,
    /// Describe the cluster of a file of intervals: topology=HighlyAvailable, platform=aws, network=ovn,
    /// architecture=amd64, version=4.21.9, from-version=4.20.3
    #[arg(long = "fact", value_name = "NAME=VALUE", value_parser = fact)]
    facts: Vec<(String, String)>,
    /// Compare ends of exceptions with this time instead of the end of each recording (RFC 3339)
    #[arg(long, value_name = "TIME", value_parser = arguments::read_time)]
    now: Option<RecordedAt>,
}

/// What is written besides the report.
#[derive(Debug, clap::Args)]
struct OutputArgs {
    /// Write JUnit into this folder; a folder below it for each of several reels
    #[arg(long, value_name = "DIR")]
    junit: Option<PathBuf>,
    /// Write intervals into this folder: the files of kubereel intervals --export
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

/// The output format of `kubereel test`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum TestFormat {
    Json,
    Wide,
    Yaml,
}

impl TestFormat {
    /// Gives the format of a report; YAML is for definitions of rules alone.
    fn of_report(self) -> Result<WideFormat, CommandError> {
        match self {
            Self::Json => Ok(WideFormat::Json),
            Self::Wide => Ok(WideFormat::Wide),
            Self::Yaml => Err(
                CommandError::usage("-o yaml prints the definition of a rule only")
                    .hint("kubereel test --explain RULE -o yaml; reports: -o json or -o wide"),
            ),
        }
    }
}

/// The form of progress reports.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ProgressFormat {
    Json,
}

/// The guide to writing rules.
pub(crate) const GUIDE: &str = include_str!("../../docs/rules.md");
/// The schema of rule files.
const SCHEMA: &str = include_str!("../../docs/monitortests.schema.json");
/// A rule file to start from.
const NEW_RULE: &str = include_str!("test/new-rule.yaml");

const EXAMPLES: &str = "\
Examples:
  kubereel test run.reel
  kubereel test run.reel --only 'operator-*' -o wide
  kubereel test run.reel --all
  kubereel test run.reel --class upgrade,disruption
  kubereel test *.reel --rules my-rules --exceptions known.yaml --junit artifacts
  kubereel test run.reel --propose-exceptions known.yaml
  kubereel test *.reel -o json | jq '.runs[].cases[] | select(.verdict == \"fail\") | .name'
  kubereel test *.reel --rows rows.jsonl --job periodic-e2e --build 1234
  kubereel test --explain operator-degraded
  kubereel test --explain operator-degraded -o yaml > rules/mine.yaml
  kubereel test --new-rule > rules/mine.yaml
  kubereel test run.reel --rules rules/mine.yaml --rules more-rules

How to write rules: kubereel help rules. Their JSON schema, for editors: kubereel test --schema";

// clap wants a fallible reader.
#[expect(clippy::unnecessary_wraps, reason = "the form of a value parser")]
fn glob(text: &str) -> Result<Glob, String> {
    Ok(Glob::new(text))
}

fn class(text: &str) -> Result<RuleClass, String> {
    let mut all = RuleClass::ALL.into_iter();
    all.find(|class| class.as_str() == text)
        .ok_or_else(|| "expected fault, disruption, upgrade or policy".to_owned())
}

fn fact(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    Facts::default().set(name, value)?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    for (is_asked, text) in [
        (args.texts.guide, GUIDE),
        (args.texts.schema, SCHEMA),
        (args.texts.new_rule, NEW_RULE),
    ] {
        if is_asked {
            screen.line(text.trim_end())?;
            screen.finish()?;
            return Ok(Exit::Yes);
        }
    }
    let is_listing = args.list || args.explain.is_some();
    let suite = Suite::read(&args.rules, is_listing)?;
    if let Some(rule) = &args.explain {
        return match args.output {
            Some(TestFormat::Yaml) => suite::definition(&suite, rule, screen),
            None => suite::explain(&suite, rule, screen),
            Some(_) => Err(CommandError::usage(
                "--explain prints text, or the definition with -o yaml",
            )),
        };
    }
    let output = args.output.map(TestFormat::of_report).transpose()?;
    if args.list {
        return suite::list(&suite, output, screen);
    }
    suite.refuse_empty()?;
    let targets = TestFiles::prepare(args)?;
    let all = run::all(args, &suite, &targets, screen)?;
    targets.write(args, &all)?;
    let is_reel = |ran: &TestRun| {
        let report = ran.report.as_ref();
        report.is_ok_and(|report| report.trust != RunTrust::Intervals)
    };
    if !args.rules.facts.is_empty() && all.iter().any(is_reel) {
        screen.aside(
            "note: --fact describes files of intervals; a reel holds the facts of its cluster",
        )?;
    }
    match output {
        Some(WideFormat::Json) => screen.json_line(&json::TestOutput::of(&suite, &all))?,
        form => {
            let detail = report::ReportDetail {
                is_wide: form.is_some(),
                names_omitted: args.rules.all || form.is_some(),
            };
            report::print(&all, detail, screen)?;
            if all.len() > 1 {
                report::print_matrix(&all, screen)?;
            }
            report::print_unselected(&suite, screen)?;
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
        let pasted = shell_word(OsStr::new(&name));
        return Err(match first.report {
            Err(error) if count == 1 => error,
            _ if count == 1 => CommandError::reel(format!("{name}: the reel is damaged"))
                .hint(format!("to see where: kubereel info {pasted}")),
            _ => CommandError::reel(format!(
                "{unread_count} of {count} recordings cannot be read completely, the first: {name}"
            ))
            .hint(format!(
                "the others were tested; to see the damage: kubereel info {pasted}"
            )),
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
