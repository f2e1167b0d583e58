//! Owns `kubereel record`: flags in, a running recorder, an exit code out.

use crate::command_error::CommandError;
use crate::exit::Exit;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Records a cluster into a reel.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The reel to write; an existing one is gone on with
    #[arg(short, long, value_name = "REEL")]
    output: PathBuf,
    /// The kubeconfig; it may appear or change later
    #[arg(long, value_name = "FILE", env = "KUBECONFIG")]
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig; its current one unless given
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// Serve /metrics, /healthz and /readyz here
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Stop after this long, for example 90m
    #[arg(long = "for", value_name = "DURATION")]
    duration: Option<jiff::SignedDuration>,
    /// Which log lines to print, for example info or kubereel_recorder=debug
    #[arg(long, value_name = "FILTER")]
    log: Option<String>,
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<Exit, CommandError> {
    Err(CommandError::new(
        Exit::Surroundings,
        format!("no recorder in this build: {args:?}"),
    ))
}
