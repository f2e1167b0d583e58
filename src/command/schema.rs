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
  kubereel schema test --list")]
pub(crate) struct Args {
    /// The command
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
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
pub(crate) const SCHEMAS: [(&str, &str); 28] = schemas![
    "api-resources",
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
    "rollout",
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

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let Some(command) = &args.command else {
        for (name, _) in SCHEMAS {
            screen.line(name.replace("-list", " --list"))?;
        }
        return Ok(Exit::Yes);
    };
    let name = if args.list {
        format!("{command}-list")
    } else {
        command.clone()
    };
    let found = SCHEMAS.into_iter().find(|(known, _)| *known == name);
    let Some((_, schema)) = found else {
        let error = CommandError::usage(format!("no schema of {name:?}"));
        if name == "get" {
            return Err(error.hint(
                "get prints Kubernetes objects; to see their fields: kubereel explain REEL RESOURCE",
            ));
        }
        let near = nearest(&name, SCHEMAS.into_iter().map(|(known, _)| known));
        return Err(match near.first() {
            Some(near) => error.hint(format!("did you mean {near}?")),
            None => error.hint("to list them: kubereel schema"),
        });
    };
    screen.line(schema.trim_end())?;
    Ok(Exit::Yes)
}
