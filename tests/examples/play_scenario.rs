//! Plays the demo's steps on a control plane of its own, with a command beside it.
//!
//! `play_scenario COMMAND ARG…`: the command runs from before the first write with `KUBECONFIG` set, gets SIGINT
//! when the steps are over, and its exit code is passed on. As in a real cluster it sees the API servers through
//! one address: those that restart are passed over.

use anyhow::{Context as _, ensure};
use kubereel_tests::proxy::Proxy;
use kubereel_tests::scenario::{ApiPlayer, Plan, control_plane};
use std::process::ExitCode;
use std::sync::Arc;
use tokio::process::{Child, Command};

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    let program = args.next().context("usage: play_scenario COMMAND ARG…")?;
    let plan = Plan::demo()?;
    let control_plane = Arc::new(control_plane().start().await?);
    let ports = [control_plane.api(0).port(), control_plane.api(1).port()];
    let balancer = Proxy::start(&ports)?;
    let mut command = Command::new(&program)
        .args(args)
        .env("KUBECONFIG", control_plane.kubeconfig_through(&balancer)?)
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("cannot run {}", program.display()))?;
    let player = ApiPlayer::new(&control_plane, plan.speed).await?;
    let outcome = player.play(&plan).await;
    // Whatever became of the play, what was recorded of it is finished in order.
    let ended = end(&mut command).await;
    outcome.and(ended)
}

/// Asks the command to end, and passes its exit code on.
async fn end(child: &mut Child) -> anyhow::Result<ExitCode> {
    if let Some(pid) = child.id() {
        let told = Command::new("kill")
            .args(["-INT", &pid.to_string()])
            .status()
            .await?;
        ensure!(told.success(), "cannot interrupt process {pid}");
    }
    let status = child.wait().await?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
