//! The shape of the command line: its subcommands and its help. What they do is in `command`.

use crate::arguments;
use crate::command::{
    api_resources, blame, completion, demo, describe, diff, encrypt, events, explain, export, get,
    grep, history, import, info, install, intervals, man, mark, observe, problems, record, recover,
    rollout, scan, schema, seal, sign, story, test, top_writers, topic, tui, upgrade, verify,
    version, wait,
};
use crate::command_error::{CommandError, Exit};
use crate::{default_reel, shell_words};
use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use jiff::tz::TimeZone;
use kubereel_history::nearest;
use std::ffi::OsString;
use std::path::PathBuf;

/// A flight recorder for Kubernetes and OpenShift clusters
///
/// It records every watch event of a cluster into one file, a reel, and answers what the cluster
/// looked like at any moment of the recording.
#[derive(Debug, clap::Parser)]
#[command(
    name = "kubereel",
    version,
    long_version = version::long_version(),
    arg_required_else_help = true,
    after_help = EXAMPLES,
    after_long_help = after_long_help()
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Subcommand,
    /// Zone of times without an offset: local, or a name such as Europe/Berlin; default: UTC
    #[arg(long, global = true, value_name = "ZONE", value_parser = arguments::read_zone)]
    tz: Option<TimeZone>,
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        help = "File of age identities that opens encrypted reels; default: $KUBEREEL_AGE_IDENTITY"
    )]
    pub(crate) age_identity: Option<PathBuf>,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Subcommand {
    Record(record::Args),
    Observe(observe::Args),
    Mark(mark::Args),
    Tui(tui::Args),
    Story(story::Args),
    Problems(problems::Args),
    Info(info::Args),
    Get(get::Args),
    Grep(grep::Args),
    History(history::Args),
    Diff(diff::Args),
    Blame(blame::Args),
    Describe(describe::Args),
    Events(events::Args),
    Explain(explain::Args),
    ApiResources(api_resources::Args),
    ApiVersions(api_resources::VersionArgs),
    Rollout(rollout::Args),
    TopWriters(top_writers::Args),
    Intervals(intervals::Args),
    Wait(wait::Args),
    Upgrade(upgrade::Args),
    Install(install::Args),
    Test(test::Args),
    Verify(verify::Args),
    Sign(sign::Args),
    Encrypt(encrypt::Args),
    Decrypt(encrypt::DecryptArgs),
    Recover(recover::Args),
    Seal(seal::Args),
    Scan(scan::Args),
    Export(export::Args),
    Import(import::Args),
    Demo(demo::Args),
    Completion(completion::Args),
    Man(man::Args),
    Schema(schema::Args),
    Topic(topic::Args),
    Version(version::Args),
}

const EXAMPLES: &str = "\
Examples:
  kubereel demo                                    explore an included recording
  kubereel record -o run.reel                      record the cluster of your kubeconfig
  kubereel observe                                 record as an observer of a CI job
  kubereel run.reel                                browse it in the terminal
  kubereel story https://prow.ci.openshift.org/view/gs/BUCKET/logs/JOB/1
                                                   the reel of a job, or any reel at a URL
  kubereel story run.reel                          tell what happened on one page
  kubereel problems run.reel                       show what went wrong, and why
  kubereel info run.reel                           show its contents and integrity
  kubereel get run.reel pods -n web --at 14:02     list the pods of a moment
  kubereel grep run.reel 10.0.143.7                search the values of all objects
  kubereel history run.reel co/etcd                list every version and its writers
  kubereel diff run.reel --from 14:02 --to 14:05   list created, deleted and changed objects
  kubereel describe run.reel pod/web-0 --at 14:02  show everything about an object
  kubereel events run.reel -A --types Warning      list the cluster's Events
  kubereel intervals run.reel --lasting=30s        list states over time
  kubereel wait run.reel pod/web-0 --for=delete    find when a condition was met
  kubereel upgrade run.reel                        show the course of an OpenShift upgrade
  kubereel test run.reel --junit artifacts         run rules over time, write JUnit
  kubereel verify run.reel                         check integrity and completeness
  kubereel sign run.reel -k ~/.ssh/id_ed25519      sign the recording with an SSH key
  kubereel verify run.reel --signer allowed_signers
                                                   check who signed it
  kubereel encrypt run.reel -r age1...             write run.reel.age, for one recipient
  kubereel recover broken.reel whole.reel          write what can be read of a damaged reel
  kubereel seal run.reel                           rewrite it in its smallest form
  kubereel scan run.reel                           search it for secrets
  kubereel export run.reel -o jsonl events.jsonl   write every event, byte for byte
  kubereel import events.jsonl -o run.reel         convert another tool's recording

Topics:
  kubereel help time                               the forms of TIME
  kubereel help filter                             the grammar of filters
  kubereel help rules                              the language of rules
  kubereel help exit-codes                         the exit codes";

/// Gives the words of a command line; a reel alone means the screen.
pub(crate) fn words(given: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = given.collect();
    // Help about a topic that is not a command.
    if let [_, help, topic] = words.as_mut_slice()
        && *help == "help"
        && topic.to_str().is_some_and(|name| {
            let is_command = Cli::command().find_subcommand(name).is_some();
            // The parser of topics names the one that is meant.
            topic::is_topic(name) || (!is_command && topic::is_near_topic(name))
        })
    {
        *help = topic::COMMAND.into();
        return words;
    }
    let is_command = |word: &OsString| Cli::command().find_subcommand(word).is_some();
    if words
        .get(1)
        .is_some_and(|first| default_reel::is_reel(first) && !is_command(first))
    {
        words.insert(1, "tui".into());
    }
    words
}

/// Makes the error of a command line that names no resource; `None` of every other mistake.
pub(crate) fn missing_resource(error: &clap::Error) -> Option<CommandError> {
    if error.kind() != ErrorKind::MissingRequiredArgument {
        return None;
    }
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let is_resource = matches!(missing.as_slice(), [one] if one.starts_with("<RESOURCE"));
    is_resource.then(|| {
        CommandError::usage("no resource is named")
            .hint("to list the resources: kubereel api-resources REEL")
    })
}

/// Makes the error of a command that does not exist; `None` of every other mistake.
pub(crate) fn unknown_command(error: &clap::Error, words: &[OsString]) -> Option<CommandError> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let cli = Cli::command();
    let (command, _) = default_reel::subcommand(words, &cli);
    let known = command.get_subcommands().filter(|one| !one.is_hide_set());
    let known = known.map(clap::Command::get_name);
    Some(CommandError::unknown_command(name, known))
}

/// Makes the error of a flag that the command does not have; `None` of every other mistake.
///
/// The parser's own tips suggest flags that only share letters, and to pass the flag as a value.
pub(crate) fn unknown_flag(error: &clap::Error, words: &[OsString]) -> Option<CommandError> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let name = flag.strip_prefix('-')?.trim_start_matches('-');
    let cli = Cli::command();
    let (command, start) = default_reel::subcommand(words, &cli);
    let known: Vec<&str> = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set())
        .filter_map(clap::Arg::get_long)
        .collect();
    let failed = CommandError::usage(format!("unknown flag: {flag}"));
    if name == "at" && known.contains(&"from") && known.contains(&"to") {
        return Some(failed.hint("to limit the time: --from TIME --to TIME"));
    }
    Some(match nearest(name, known.into_iter()).as_slice() {
        [] => {
            let path = words.get(1..start).unwrap_or_default().iter();
            let path: Vec<_> = path.map(|word| word.to_string_lossy()).collect();
            failed.hint(format!(
                "to list the flags: kubereel {} --help",
                path.join(" ")
            ))
        }
        near => failed.hint(format!("did you mean --{}?", near.join(" or --"))),
    })
}

/// Makes the error of a value behind a flag that takes it with `=` only; `None` of every other mistake.
pub(crate) fn value_without_equals(
    error: &clap::Error,
    words: &[OsString],
) -> Option<CommandError> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(value)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let place = words.iter().position(|word| word.to_str() == Some(value))?;
    let flag = words.get(place.checked_sub(1)?)?.to_str()?;
    let name = flag.strip_prefix("--")?;
    let cli = Cli::command();
    let (command, _) = default_reel::subcommand(words, &cli);
    let mut flags = command.get_arguments();
    let takes_equals = flags.any(|arg| arg.get_long() == Some(name) && arg.is_require_equals_set());
    takes_equals.then(|| {
        CommandError::usage(format!("unexpected argument: {value}")).hint(format!(
            "write the value with an equals sign: {flag}={value}"
        ))
    })
}

/// Makes the error of a command, or of what it takes, behind the reel of the screen; `None` of every other mistake.
pub(crate) fn command_behind_reel(error: &clap::Error, words: &[OsString]) -> Option<CommandError> {
    let Some(ContextValue::String(wrong)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let cli = Cli::command();
    let (command, start) = default_reel::subcommand(words, &cli);
    let is_behind = words.get(start + 1)?.to_str() == Some(wrong);
    if error.kind() != ErrorKind::UnknownArgument
        || command.get_name() != "tui"
        || !is_behind
        || wrong.starts_with('-')
    {
        return None;
    }
    let (first, rest) = match cli.find_subcommand(wrong) {
        Some(_) => (wrong.as_str(), start + 2),
        None => ("get", start + 1),
    };
    let mut right = vec![OsString::from("kubereel"), first.into()];
    right.push(words.get(start)?.clone());
    right.extend(words.iter().skip(rest).cloned());
    let failed = CommandError::usage(format!("unexpected argument: {wrong}"));
    Some(failed.hint(format!(
        "the command comes before the reel: {}",
        shell_words::shell_line(&right)
    )))
}

/// Gives the hint of a wrong command line that has no other one.
pub(crate) fn usage_hint(error: &clap::Error, words: &[OsString]) -> String {
    let is_time = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(arg)) => arg.ends_with("<TIME>"),
        _ => false,
    };
    let cause = std::error::Error::source(error).map(ToString::to_string);
    // There is no recording whose day or whose start a shorter form could mean.
    if is_time && cause.is_some_and(|cause| cause == arguments::ABSOLUTE_TIME) {
        return "give the date, the time and the zone: 2026-11-21T14:02:31Z or 2026-11-21T15:02:31+01:00"
            .to_owned();
    }
    if is_time {
        return "the forms of TIME: kubereel help time".to_owned();
    }
    let cli = Cli::command();
    let (_, start) = default_reel::subcommand(words, &cli);
    let path = words.get(..start).unwrap_or_default().iter();
    let path = path.filter_map(|word| word.to_str()).skip(1);
    let path = path.map(|word| format!("{word} ")).collect::<Vec<String>>();
    format!("usage and examples: kubereel {}--help", path.concat())
}

/// Makes the error of a flag whose number cannot be read; `None` of every other mistake.
pub(crate) fn no_whole_number(error: &clap::Error) -> Option<CommandError> {
    let cause = std::error::Error::source(error)?;
    let is_number =
        cause.is::<std::num::ParseIntError>() || cause.is::<std::num::TryFromIntError>();
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let flag = text(ContextKind::InvalidArg)?.split(' ').next()?;
    let value = text(ContextKind::InvalidValue)?;
    is_number.then(|| CommandError::usage(format!("{flag}: {value:?} is not a valid whole number")))
}

/// Makes the error of a command line that gives a file for the output format; `None` of every other mistake.
pub(crate) fn format_is_file(error: &clap::Error, words: &[OsString]) -> Option<CommandError> {
    if error.kind() != ErrorKind::InvalidValue {
        return None;
    }
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let is_output = text(ContextKind::InvalidArg)?.starts_with("--output ");
    let file = text(ContextKind::InvalidValue).filter(|value| value.contains(['.', '/']))?;
    let name = words.get(1)?.to_str()?;
    let named = Cli::command();
    let command = named.find_subcommand(name).filter(|_| is_output)?;
    let writes_file = command
        .get_positionals()
        .filter_map(clap::Arg::get_value_names)
        .any(|names| names.iter().any(|name| name.as_str() == "DST"));
    let hint = if writes_file {
        format!("to write another file, name it behind the reel: kubereel {name} REEL {file}")
    } else {
        format!("to write to a file: kubereel {name} ... > {file}")
    };
    Some(CommandError::usage(format!("-o is the output format, not a file: {file}")).hint(hint))
}

/// What the environment decides about opening reels.
const ENVIRONMENT: &str = "\
Environment:
  KUBEREEL               the reel of a command that names none; else the only one in the folder
  KUBEREEL_MAX_DOWNLOAD  size limit of a download, such as 16GB or none; default: 4GB
  XDG_CACHE_HOME         where downloads and decompressed reels are kept; default: ~/.cache
  HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY  how a cluster and a URL are reached";

fn after_long_help() -> String {
    let codes = Exit::ALL.map(|exit| format!("  {:>3}  {}\n", exit.code(), exit.meaning()));
    format!(
        "{EXAMPLES}\n\n{ENVIRONMENT}\n\nExit codes:\n{}",
        codes.concat()
    )
}
