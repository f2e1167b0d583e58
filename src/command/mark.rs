//! `kubereel mark`: adds a mark to the timeline of a running recorder.

use super::recording::{parse_listen, status_token};
use crate::command_error::{CommandError, Exit};
use crate::screen::Console;
use kubereel_format::harmless;
use kubereel_recorder::{MarkError, MarkPlace, leave_mark};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Add a mark to the timeline of a running recorder
///
/// The recorder accepts it on its status page, from loopback unless a token is required, or from the
/// end of the file that it follows. Secrets in it are redacted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubereel mark --listen 9090 'tests started'          to a recorder with --listen 9090
  kubereel mark --file run.reel.marks 'tests started'  beside the reel of kubereel record
  kubereel mark --file $ARTIFACT_DIR/artifacts/kubereel.marks 'tests started'
  echo tests started >> run.reel.marks                 without this program")]
#[command(group = clap::ArgGroup::new("place").required(true))]
pub(crate) struct Args {
    /// Text of the mark, at most 512 bytes; line ends become spaces
    #[arg(value_name = "TEXT", required = true)]
    text: Vec<String>,
    /// The recorder's status page: a port of loopback, or an address and a port
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = parse_listen, group = "place")]
    listen: Option<SocketAddr>,
    /// The token of the status page, for a recorder with --status-token-file
    #[arg(long, value_name = "FILE", requires = "listen")]
    token_file: Option<PathBuf>,
    /// The file that the recorder follows
    #[arg(long, value_name = "FILE", group = "place")]
    file: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let place = match (args.listen, &args.file) {
        (Some(address), _) => MarkPlace::Page {
            address,
            token: status_token(args.token_file.as_deref())?,
        },
        (None, Some(path)) => MarkPlace::File(path.clone()),
        (None, None) => {
            return Err(
                CommandError::usage("no destination for the mark").hint("give --listen or --file")
            );
        }
    };
    let new = args.file.as_deref().filter(|path| !path.exists());
    leave_mark(&place, &args.text.join(" ")).map_err(|error| explain(&error))?;
    if let Some(path) = new {
        let path = path.display();
        screen.aside(harmless(&format!(
            "note: {path} was created: a recorder that follows this file records the mark"
        )))?;
    }
    Ok(Exit::Yes)
}

fn explain(error: &MarkError) -> CommandError {
    match error {
        MarkError::Length { .. } => CommandError::usage(error),
        MarkError::Unanswered { .. } => CommandError::io(error)
            .hint("start the recorder with --listen, or write the mark with --file"),
        MarkError::Reel { path } => CommandError::usage(error).hint(format!(
            "give the file that the recorder follows, for example {}.marks",
            path.display()
        )),
        MarkError::File { .. } => CommandError::io(error)
            .hint("give the file that the recorder follows, in an existing directory"),
        _ => CommandError::io(error),
    }
}
