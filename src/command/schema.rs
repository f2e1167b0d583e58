//! `kubereel schema`: the JSON schemas of what the commands print, which are generated from the types.

use crate::command_error::{CommandError, Exit};
use crate::screen::Console;
use kubereel_history::nearest;

/// Print the JSON schema of a command's -o json, or list the commands that have one
///
/// Commands that print many values, such as events, print one object a line: the schema is that of a line.
/// get prints Kubernetes objects, whose schema is that of the API server.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubereel schema
  kubereel schema problems
  kubereel schema rollout status
  kubereel schema test --list")]
pub(crate) struct Args {
    /// The command, such as test or rollout history
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// The schema of COMMAND --list
    #[arg(long, requires = "command")]
    list: bool,
}

/// Gives the schemas in `docs/schemas`, by the name of their command.
macro_rules! schemas {
    ($($name:literal),+ $(,)?) => {
        [$(($name, include_str!(concat!("../../docs/schemas/", $name, ".json")))),+]
    };
}

/// All of them; a test compares the names with the folder.
pub(crate) const SCHEMAS: [(&str, &str); 30] = schemas![
    "api-resources",
    "api-versions",
    "blame",
    "decrypt",
    "describe",
    "diff",
    "encrypt",
    "events",
    "explain",
    "grep",
    "history",
    "info",
    "install",
    "intervals",
    "problems",
    "recover",
    "rollout-history",
    "rollout-status",
    "scan",
    "seal",
    "sign",
    "story",
    "test",
    "test-list",
    "top-writers",
    "upgrade",
    "upgrade-list",
    "verify",
    "version",
    "wait",
];

/// Gives the words of the command that prints what a schema describes.
pub(crate) fn command_of(name: &str) -> String {
    let name = name.replace("-list", " --list");
    match name.strip_prefix("rollout-") {
        Some(action) => format!("rollout {action}"),
        None => name,
    }
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    if args.command.is_empty() {
        for (name, _) in SCHEMAS {
            screen.line(command_of(name))?;
        }
        return Ok(Exit::Yes);
    }
    let list = args.list.then_some("--list");
    let words = args.command.iter().map(String::as_str).chain(list);
    let name = words.collect::<Vec<&str>>().join(" ");
    let mut schemas = SCHEMAS.into_iter();
    let Some((_, schema)) = schemas.find(|(known, _)| command_of(known) == name) else {
        let error = CommandError::usage(format!("no schema of {name:?}"));
        if name == "get" {
            return Err(error.hint(
                "get prints Kubernetes objects; to see their fields: kubereel explain REEL RESOURCE",
            ));
        }
        let known = SCHEMAS.map(|(known, _)| command_of(known));
        let near = nearest(&name, known.iter().map(String::as_str));
        return Err(match near.first() {
            Some(near) => error.hint(format!("did you mean {near}?")),
            None => error.hint("to list them: kubereel schema"),
        });
    };
    screen.line(schema.trim_end())?;
    Ok(Exit::Yes)
}
