//! Owns `kubereel intervals`: what held from when to when, in the words of the OpenShift monitor.

use crate::at;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::screen::Screen;
use crate::words::count;
use kubereel_history::Moment;
use kubereel_monitortests::{Interval, IntervalFilter, KeyPattern, Mode, write_intervals};
use std::path::PathBuf;

mod export;
mod lines;
mod opened;
mod value;

use opened::{Opened, Trust};

/// Show intervals: conditions, node and pod states, upgrades, Events, gaps
///
/// A line is an interval, with the names that the OpenShift monitor, its tools, timelines and tests
/// use. Takes a reel, or a file of intervals that openshift-tests wrote
/// (e2e-events_….json, e2e-timelines_….json, of any generation).
///
/// By default all records of a reel are used: an interval starts with the record that shows the
/// change, a new reason or message starts a new one, and an interval that has not ended stays open.
/// A lastTransitionTime that differs is an annotation (-o wide, -o json). With
/// --mode upstream the intervals are those that the monitor would have produced; this is the default
/// of -o upstream and --export.
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// The reel, or a file of intervals
    #[arg(value_name = "REEL|FILE")]
    input: PathBuf,
    /// Only intervals of this source, such as `OperatorState`; may be given more than once
    #[arg(long = "source", value_name = "SOURCE")]
    sources: Vec<String>,
    /// Only intervals whose locator has this key with a matching value; may be given more than once
    #[arg(long = "locator", value_name = "KEY=PATTERN")]
    keys: Vec<KeyPattern>,
    /// Only intervals about objects in this namespace
    #[arg(short, long, value_name = "NS")]
    namespace: Option<String>,
    /// Only intervals with this reason; may be given more than once
    #[arg(long = "reason", value_name = "REASON")]
    reasons: Vec<String>,
    /// Only intervals with a duration, no instants; with LENGTH, only those that last at least this long
    #[arg(
        long,
        value_name = "LENGTH",
        num_args = 0..=1,
        default_missing_value = "0s",
        require_equals = true,
        value_parser = read_length
    )]
    lasting: Option<i64>,
    /// Only intervals that had not ended before this moment
    #[arg(long, value_name = "TIME", value_parser = at::parse, allow_hyphen_values = true)]
    from: Option<Moment>,
    /// Only intervals that had begun by this moment
    #[arg(long, value_name = "TIME", value_parser = at::parse, allow_hyphen_values = true)]
    to: Option<Moment>,
    /// Rules by which intervals are derived from a reel
    #[arg(long, value_name = "MODE")]
    mode: Option<Rules>,
    /// Output format; default: text
    #[arg(short, long, value_name = "FORM")]
    output: Option<Output>,
    /// Write the files of a run of openshift-tests into this folder: e2e-events and e2e-timelines
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    export: Option<PathBuf>,
    /// Overwrite existing files
    #[arg(long, requires = "export")]
    force: bool,
}

/// By which rules intervals are made.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Rules {
    /// From all records of the reel
    Exact,
    /// As the OpenShift monitor would have made them
    Upstream,
}

/// The form of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    /// One JSON object a line, with fractions of seconds
    Json,
    /// A file as openshift-tests writes it, in whole seconds
    Upstream,
    /// Text with every key and annotation
    Wide,
}

fn after_help() -> String {
    format!(
        "\
Examples:
  kubereel intervals run.reel --source OperatorState
  kubereel intervals run.reel --lasting=30s --from 14:02 --to 14:10
  kubereel intervals run.reel -n web --locator pod=^web- --lasting
  kubereel intervals e2e-events_20260123-040506.json --source NodeState -o wide
  kubereel intervals run.reel -o json | jq 'select(.is_open) | .locator.text'
  kubereel intervals run.reel --export artifacts/junit

Exit codes: 0 complete; 4 the recording has gaps, intervals may be missing.

{}",
        at::forms_help()
    )
}

fn read_length(text: &str) -> Result<i64, String> {
    // The grammar of TIME has lengths: after a plus sign.
    match format!("+{text}").parse::<Moment>() {
        Ok(Moment::AfterStart { micros }) => i64::try_from(micros).ok(),
        _ => None,
    }
    .ok_or_else(|| format!("expected a duration such as 30s or 5m: {text:?}"))
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, CommandError> {
    let mut filter = IntervalFilter {
        sources: args.sources.clone(),
        keys: args.keys.clone(),
        namespace: args.namespace.clone(),
        reasons: args.reasons.clone(),
        lasting_micros: args.lasting,
        ..IntervalFilter::default()
    };
    let is_upstreams = args.export.is_some() || args.output == Some(Output::Upstream);
    let mode = match args.mode {
        Some(Rules::Upstream) => Mode::Upstream,
        None if is_upstreams => Mode::Upstream,
        Some(Rules::Exact) | None => Mode::Exact,
    };
    let opened = opened::open(&args.input, mode, &mut filter, (args.from, args.to), screen)?;
    let end = opened.intervals.end();
    let all = opened.intervals.all().iter();
    let asked: Vec<&Interval> = all.filter(|one| filter.has(one, end)).collect();
    if let Some(folder) = &args.export {
        export::write(folder, &asked, opened.intervals.start(), args.force, screen)?;
    } else {
        print(args.output, &opened, &asked, screen)?;
    }
    tell(&opened, &asked, screen)
}

fn print(
    output: Option<Output>,
    opened: &Opened,
    asked: &[&Interval],
    screen: &mut Screen,
) -> Result<(), CommandError> {
    match output {
        None => lines::print(opened, asked, false, screen),
        Some(Output::Wide) => lines::print(opened, asked, true, screen),
        Some(Output::Json) => asked
            .iter()
            .try_for_each(|one| screen.line(value::of(one, opened.intervals.end()))),
        Some(Output::Upstream) => {
            let written = write_intervals(asked.iter().copied(), screen.out());
            written.map_err(|error| CommandError::output(&error))?;
            screen.line("")
        }
    }
}

/// Says how many there were and how far they can be trusted.
fn tell(opened: &Opened, asked: &[&Interval], screen: &mut Screen) -> Result<Exit, CommandError> {
    let number = |of: usize| u64::try_from(of).unwrap_or(u64::MAX);
    let open = asked.iter().filter(|one| one.to.is_none()).count();
    let mut said = vec![count(number(asked.len()), "interval")];
    if open > 0 {
        said.push(format!("{open} open at the end"));
    }
    let paint = screen.err_paint();
    let exit = match &opened.trust {
        Trust::Complete => {
            said.push("complete".to_owned());
            Exit::Yes
        }
        Trust::File => {
            said.push("as in the file".to_owned());
            Exit::Yes
        }
        Trust::Imported => {
            said.push("as imported: completeness is unknown".to_owned());
            Exit::Yes
        }
        Trust::Gaps(gaps) => {
            let gaps = count(number(*gaps), "gap of the recording");
            said.push(paint.wary(&format!("{gaps}: some may be missing")));
            Exit::Unknown
        }
        Trust::Damaged(first) => {
            screen.aside(said.join(" · "))?;
            return Err(CommandError::new(
                Exit::Reel,
                format!("the reel is damaged, intervals are missing: {first}"),
            )
            .hint("to see where: kubereel info REEL"));
        }
    };
    screen.aside(said.join(" · "))?;
    Ok(exit)
}
