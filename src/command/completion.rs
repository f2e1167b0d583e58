//! `kubereel completion`: shell completions. The shell asks this program for each word, so that resources, names,
//! namespaces, fields and moments come from the reel on the command line, or the one that it means without naming it.

use crate::command::events::EVENT_TYPES;
use crate::command::schema::SCHEMAS;
use crate::command::{get, record};
use crate::command_error::{CommandError, Exit};
use crate::default_reel::{ReelLookup, has_reel_name, positionals};
use crate::screen::Console;
use crate::{arguments, files};
use clap::builder::{Str, StyledStr};
use clap::{Arg, Command};
use clap_complete::Shell;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter};
use clap_complete::env::{CompleteEnv, Shells};
use kubereel_format::{Note, ResourceInfo};
use kubereel_history::{ObjectFilter, ResourceSchema, Timeline, harmless};
use kubereel_monitortests::builtin;
use kubereel_problems::problems;
use kubereel_recorder::context_names;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process;

/// Set by the shell that asks for words.
const VARIABLE: &str = "KUBEREEL_COMPLETE";

/// Which word of the line is completed, in the scripts of clap.
const INDEX: &str = "_CLAP_COMPLETE_INDEX";

/// Problems are looked for in reels of this many records at most: a shell waits for the answer.
const MOST_RECORDS: u64 = 200_000;

/// Generate shell completions
///
/// They complete resources, names, namespaces, fields, rules and moments from the reel on the command line, from
/// $KUBEREEL, or from the only reel of the folder.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  source <(kubereel completion bash)
  kubereel completion zsh > \"${fpath[1]}/_kubereel\"
  kubereel completion fish > ~/.config/fish/completions/kubereel.fish")]
pub(crate) struct Args {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Bash parts words at colons and replaces only what stands behind the last one: `problem:1`, `bookmark:NAME` and
/// addresses are put together before the program is asked, and what stands before is taken from its answers.
const BASH_COLONS: &str = r#"
_kubereel_words_with_colons() {
    local -a joined=()
    local place last=-1 current=0
    for place in "${!COMP_WORDS[@]}"; do
        local word=${COMP_WORDS[place]}
        if [[ $last -gt 0 && -n $word && ($word == :* || ${joined[last]} == *:) ]]; then
            joined[last]+=$word
        else
            joined+=("$word")
            last=$((last + 1))
        fi
        [[ $place -le $COMP_CWORD ]] && current=$last
    done
    local word=${joined[current]}
    local -a COMP_WORDS=("${joined[@]}")
    local COMP_CWORD=$current
    _clap_complete_kubereel "$1" "$word" "${joined[current - 1]}"
    if [[ $word == *:* && $COMP_WORDBREAKS == *:* ]]; then
        local before=${word%"${word##*:}"}
        COMPREPLY=("${COMPREPLY[@]#"$before"}")
    fi
    # A name with blanks is one word.
    [[ $word == [\"\']* ]] && return
    for place in "${!COMPREPLY[@]}"; do
        local found=${COMPREPLY[place]% }
        COMPREPLY[place]=${found// /\\ }${COMPREPLY[place]#"$found"}
    done
}
complete -o nospace -o bashdefault -o nosort -F _kubereel_words_with_colons kubereel 2>/dev/null ||
    complete -o nospace -o bashdefault -F _kubereel_words_with_colons kubereel
"#;

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    // Into memory first: a pipe may be closed.
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let shell = shells.completer(&args.shell.to_string());
    let written = shell.map(|shell| {
        shell.write_registration(VARIABLE, "kubereel", "kubereel", "kubereel", &mut script)
    });
    written.transpose().map_err(CommandError::io)?;
    if args.shell == Shell::Bash {
        script.extend(BASH_COLONS.bytes());
    }
    screen
        .out()
        .write_all(&script)
        .map_err(|error| CommandError::output(&error))?;
    Ok(Exit::Yes)
}

/// Answers a shell that asks for words; `false` if none does.
pub(crate) fn answer(program: fn() -> Command, words: &[OsString]) -> clap::error::Result<bool> {
    if let Some(is_answered) = answer_with_reel(&program(), words) {
        return Ok(is_answered);
    }
    let complete = CompleteEnv::with_factory(move || program_with_values(program)).var(VARIABLE);
    complete.try_complete(words.iter().cloned(), None)
}

/// Asks this program once more with the reel named, where the line that is completed means one without naming it.
fn answer_with_reel(cli: &Command, words: &[OsString]) -> Option<bool> {
    std::env::var_os(VARIABLE)?;
    let index: usize = std::env::var(INDEX).ok()?.parse().ok()?;
    let begin = words.iter().position(|word| word == "--")?.checked_add(1)?;
    let (program, line) = words.split_at_checked(begin)?;
    let line = ReelLookup::of_process().name_for_completion(line, index, cli)?;
    let status = process::Command::new(std::env::current_exe().ok()?)
        .args(program.get(1..)?)
        .args(line)
        .env(INDEX, index.checked_add(1)?.to_string())
        .status();
    Some(status.is_ok_and(|status| status.success()))
}

/// Says of each argument where its values come from.
fn program_with_values(program: fn() -> Command) -> Command {
    with_values(program(), program)
}

fn with_values(command: Command, program: fn() -> Command) -> Command {
    let name = command.get_name().to_owned();
    let command = command.mut_args(|arg| match completer(&name, &arg, program) {
        Some(completer) => arg.add(completer),
        None => arg,
    });
    command.mut_subcommands(|below| with_values(below, program))
}

fn completer(command: &str, arg: &Arg, program: fn() -> Command) -> Option<ArgValueCompleter> {
    let from_reel = |words: fn(&CompletedLine, &OsStr) -> Vec<CompletionCandidate>| {
        ArgValueCompleter::new(move |current: &OsStr| {
            let line = CompletedLine::read(program);
            line.map_or_else(Vec::new, |line| words(&line, current))
        })
    };
    Some(match arg.get_id().as_str() {
        "reel" | "reels" => {
            let is_reel = |path: &Path| path.is_dir() || has_reel_name(path.as_os_str());
            ArgValueCompleter::new(PathCompleter::any().filter(is_reel))
        }
        "namespace" => from_reel(namespaces),
        "objects" | "resource" | "about" | "select" => from_reel(objects),
        "name" => from_reel(names),
        "path" if arg.get_long().is_none() => from_reel(explained),
        "field" | "fields" | "sort_by" => from_reel(fields),
        "context" => ArgValueCompleter::new(contexts),
        "at" | "from" | "to" => ArgValueCompleter::new(move |current: &OsStr| {
            moments(CompletedLine::read(program).as_ref(), current)
        }),
        "only" | "explain" => ArgValueCompleter::new(rules),
        "command" if command == "schema" => ArgValueCompleter::new(schemas),
        // Of kubereel man.
        "command" => ArgValueCompleter::new(move |current: &OsStr| {
            let program = program();
            let names = program.get_subcommands().map(Command::get_name);
            candidates(current, plain(names.map(str::to_owned)))
        }),
        "types" => ArgValueCompleter::new(event_types),
        // Of other commands it is a file, or one of a few forms that the parser knows.
        "output" if has_templates(arg) => ArgValueCompleter::new(formats),
        _ => return None,
    })
}

/// Tells whether an argument takes the forms of `get`.
fn has_templates(arg: &Arg) -> bool {
    let is_form = |names: &[Str]| names.iter().any(|name| name == "FORM");
    arg.get_value_names().is_some_and(is_form) && arg.get_possible_values().is_empty()
}

/// The words of the command line that is completed, as far as they matter here.
struct CompletedLine {
    timeline: Timeline,
    namespace: Option<String>,
    /// The words after the reel that are not options.
    words: Vec<String>,
}

impl CompletedLine {
    /// Reads it; `None` without a reel that can be read.
    fn read(program: fn() -> Command) -> Option<Self> {
        let words: Vec<OsString> = std::env::args_os()
            .skip_while(|word| word != "--")
            .skip(1)
            .collect();
        let mut timeline = None;
        let mut own = Vec::new();
        for place in positionals(&words, &program()) {
            let word = words.get(place)?;
            if timeline.is_none() && Path::new(word).is_file() {
                timeline = files::open_reel(Path::new(word)).ok();
            } else if timeline.is_some() {
                own.push(word.to_string_lossy().into_owned());
            }
        }
        let mut texts = words.iter().map(|word| word.to_string_lossy());
        let mut namespace = None;
        while let Some(word) = texts.next() {
            if matches!(&*word, "-n" | "--namespace") {
                namespace = texts.next().map(Cow::into_owned);
            } else if let Some(given) = word.strip_prefix("--namespace=") {
                namespace = Some(given.to_owned());
            }
        }
        Some(Self {
            timeline: timeline?,
            namespace,
            words: own,
        })
    }

    /// Gives the names of the objects of a resource at the end of the recording.
    fn names(&self, resource: &str) -> Vec<String> {
        let Ok(named) = self.timeline.resources().find(resource) else {
            return Vec::new();
        };
        let cut = self.timeline.last_cut();
        let resource = self.timeline.resource_at(named, cut);
        let namespace = self.namespace.as_deref().unwrap_or("default");
        let filter = ObjectFilter {
            namespace: resource.namespaced.then_some(namespace),
            names: &[],
        };
        let held = self.timeline.as_of(resource.id, cut, &filter).objects;
        held.into_iter().map(|held| held.name).collect()
    }
}

/// Makes candidates of the texts that begin like the word at hand.
fn candidates(
    current: &OsStr,
    texts: impl IntoIterator<Item = (String, Option<String>)>,
) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    // A word with control characters is not offered.
    let fitting = texts
        .into_iter()
        .filter(|(text, _)| text.starts_with(&*current) && harmless(text) == *text);
    fitting
        .map(|(text, help)| CompletionCandidate::new(text).help(help.map(StyledStr::from)))
        .collect()
}

fn plain(
    texts: impl IntoIterator<Item = String>,
) -> impl Iterator<Item = (String, Option<String>)> {
    texts.into_iter().map(|text| (text, None))
}

/// Completes the commands of `kubereel schema`.
fn schemas(current: &OsStr) -> Vec<CompletionCandidate> {
    let names = SCHEMAS.into_iter().map(|(name, _)| name);
    let commands = names.filter(|name| !name.ends_with("-list"));
    candidates(current, plain(commands.map(str::to_owned)))
}

fn event_types(current: &OsStr) -> Vec<CompletionCandidate> {
    candidates(current, plain(EVENT_TYPES.into_iter().map(str::to_owned)))
}

fn namespaces(line: &CompletedLine, current: &OsStr) -> Vec<CompletionCandidate> {
    let all = line.timeline.namespaces();
    candidates(current, plain(all.into_iter().map(str::to_owned)))
}

/// Completes `po`, `pods,no`, `pods/we`, and the names after a resource.
fn objects(line: &CompletedLine, current: &OsStr) -> Vec<CompletionCandidate> {
    let word = current.to_string_lossy();
    if let Some((resource, _)) = word.split_once('/') {
        let names = line.names(resource).into_iter();
        return candidates(
            current,
            plain(names.map(|name| format!("{resource}/{name}"))),
        );
    }
    // The word at hand is the last of them.
    let first = line
        .words
        .first()
        .filter(|first| **first != *word && !first.contains('/'));
    if let Some(resource) = first {
        return candidates(current, plain(line.names(resource)));
    }
    let before = word.rsplit_once(',').map_or("", |(before, _)| before);
    let comma = if before.is_empty() { "" } else { "," };
    let resources = line.timeline.resources();
    let names: BTreeSet<(String, Option<String>)> = resources
        .iter()
        .map(|info| {
            (
                format!("{before}{comma}{}", spelling(&line.timeline, info)),
                Some(info.kind.clone()),
            )
        })
        .collect();
    candidates(current, names)
}

/// Gives the shortest name that means a resource.
fn spelling(timeline: &Timeline, info: &ResourceInfo) -> String {
    let found = timeline.resources().find(&info.plural);
    if found.is_ok_and(|found| found.group == info.group) {
        info.plural.clone()
    } else {
        info.qualified()
    }
}

fn names(line: &CompletedLine, current: &OsStr) -> Vec<CompletionCandidate> {
    let names = line.words.first().map(|resource| line.names(resource));
    candidates(current, plain(names.unwrap_or_default()))
}

/// Completes `pods.sp`, `pods.spec.cont`.
fn explained(line: &CompletedLine, current: &OsStr) -> Vec<CompletionCandidate> {
    let word = current.to_string_lossy();
    match word.split_once('.') {
        Some((resource, path)) => {
            fields_below(line, current, (resource, &format!("{resource}."), path))
        }
        None => objects(line, current),
    }
}

/// Completes `.spec.cont` of the resource before it.
fn fields(line: &CompletedLine, current: &OsStr) -> Vec<CompletionCandidate> {
    let word = current.to_string_lossy();
    let resource = line.words.first().map_or("", String::as_str);
    let resource = resource
        .split_once('/')
        .map_or(resource, |(resource, _)| resource);
    fields_below(line, current, (resource, ".", word.trim_start_matches('.')))
}

fn fields_below(
    line: &CompletedLine,
    current: &OsStr,
    (resource, begin, path): (&str, &str, &str),
) -> Vec<CompletionCandidate> {
    let Ok(info) = line.timeline.resources().find(resource) else {
        return Vec::new();
    };
    let cut = line.timeline.last_cut();
    let info = line.timeline.resource_at(info, cut);
    let Ok(Some(schema)) = ResourceSchema::of(&line.timeline, info, cut) else {
        return Vec::new();
    };
    let (above, _) = path.rsplit_once('.').unwrap_or(("", ""));
    let steps: Vec<&str> = above.split('.').filter(|step| !step.is_empty()).collect();
    let Ok(field) = schema.field(&steps) else {
        return Vec::new();
    };
    let dot = if above.is_empty() { "" } else { "." };
    let members = field.members().into_iter();
    candidates(
        current,
        members.map(|(name, member)| {
            (
                format!("{begin}{above}{dot}{name}"),
                Some(member.type_name()),
            )
        }),
    )
}

fn moments(line: Option<&CompletedLine>, current: &OsStr) -> Vec<CompletionCandidate> {
    let fixed = ["start", "end", "now", "upgrade:start", "upgrade:end"];
    let mut all: Vec<(String, Option<String>)> = plain(fixed.map(str::to_owned)).collect();
    if let Some(line) = line {
        let timeline = &line.timeline;
        for entry in timeline.reel().notes() {
            if let Note::Mark { text } = &entry.note {
                all.push((
                    format!("mark:{text}"),
                    Some(timeline.written(entry.stamp.wall)),
                ));
            }
        }
        for one in arguments::bookmarks(timeline) {
            all.push((
                format!("bookmark:{}", one.name),
                Some(timeline.written(one.at)),
            ));
        }
        if timeline.reel().end().0 <= MOST_RECORDS {
            let list = problems(timeline, |_| {});
            for (rank, problem) in (1..).zip(&list.problems) {
                all.push((format!("problem:{rank}"), Some(problem.sentence())));
            }
        }
    }
    candidates(current, all)
}

/// Completes the contexts of the kubeconfig that the line names, or that it means without naming it.
fn contexts(current: &OsStr) -> Vec<CompletionCandidate> {
    const FLAG: &str = "--kubeconfig";
    let words: Vec<String> = std::env::args().collect();
    let after = words.iter().skip_while(|word| *word != FLAG).nth(1);
    let joined = words
        .iter()
        .find_map(|word| word.strip_prefix(FLAG)?.strip_prefix('='));
    let named = joined.or(after.map(String::as_str)).map(PathBuf::from);
    let variable = std::env::var_os("KUBECONFIG");
    let source = record::kubeconfig_source(named.as_ref(), variable.as_ref());
    candidates(current, plain(context_names(&source)))
}

fn formats(current: &OsStr) -> Vec<CompletionCandidate> {
    candidates(current, plain(get::COMPLETIONS.map(str::to_owned)))
}

fn rules(current: &OsStr) -> Vec<CompletionCandidate> {
    let rules = builtin().into_iter().map(|test| {
        let about = test.about();
        (about.id.clone(), Some(about.description.clone()))
    });
    candidates(current, rules)
}
