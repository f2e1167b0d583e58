//! Plays the scenario *small* on a control plane of its own, with a command beside it.
//!
//! `play_scenario [--large [--until SECS]] [--journal FILE] [-- COMMAND ARG…]`: with `--large` the
//! scenario *large* instead, to its end or to a virtual second before. The command runs from before the first write
//! with `KUBECONFIG` set, gets SIGINT when the scenario is over, and its exit code is passed on.
//! At the end it is told what the command and each component cost in memory and processor time.
//! As in a real cluster it sees the API servers through one address: those that restart are passed
//! over.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use kubereel_tests::control_plane::{ApiServer, ControlPlane};
use kubereel_tests::footprint::{Footprints, Named};
use kubereel_tests::proxy::Proxy;
use kubereel_tests::scenario::{self, ApiPlayer, ApiServers, Plan, PlayError};
use tokio::process::{Child, Command};

/// Of so many steps of the large scenario one may fail.
const STEPS_PER_FAILURE: usize = 500;
/// How many failures are told.
const FAILURES_TOLD: usize = 5;

struct Asked {
    is_large: bool,
    until_secs: Option<f64>,
    journal: Option<PathBuf>,
    command: Vec<String>,
}

fn asked() -> anyhow::Result<Asked> {
    let mut asked = Asked {
        is_large: false,
        until_secs: None,
        journal: None,
        command: Vec::new(),
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--large" => asked.is_large = true,
            "--until" => {
                asked.until_secs = Some(args.next().context("--until needs seconds")?.parse()?);
            }
            "--journal" => {
                asked.journal = Some(args.next().context("--journal needs a file")?.into());
            }
            "--" => {
                asked.command = args.collect();
                break;
            }
            other => bail!(
                "unknown argument {other}; usage: play_scenario [--large [--until SECS]] [--journal FILE] [-- COMMAND ARG…]"
            ),
        }
    }
    Ok(asked)
}

fn plan(asked: &Asked) -> anyhow::Result<Plan> {
    if !asked.is_large {
        return Ok(scenario::small()?.plan()?);
    }
    let mut growth = scenario::large()?;
    growth.end_secs = asked.until_secs.unwrap_or(growth.end_secs);
    Ok(scenario::small()?.grown(&growth).plan_with(&growth)?)
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let asked = asked()?;
    let plan = plan(&asked)?;
    let control_plane = Arc::new(scenario::control_plane().start().await?);
    let ports = [control_plane.api(0).port(), control_plane.api(1).port()];
    let balancer = Proxy::start(&ports)?;
    let kubeconfig = control_plane.kubeconfig_through(&balancer)?;
    let mut beside = match asked.command.split_first() {
        Some((program, args)) => Some(
            Command::new(program)
                .args(args)
                .env("KUBECONFIG", &kubeconfig)
                .kill_on_drop(true)
                .spawn()
                .with_context(|| format!("cannot run {program}"))?,
        ),
        None => None,
    };
    let footprints = footprints(&control_plane, beside.as_ref().and_then(Child::id))?;
    let clients = vec![
        control_plane.client(0).await?,
        control_plane.client(1).await?,
    ];
    let servers: Arc<dyn ApiServers> = Arc::<ControlPlane>::clone(&control_plane);
    let player = ApiPlayer::new(clients, plan.speed, Some(servers));
    let outcome = player.play(&plan).await;
    if let Some(path) = &asked.journal {
        std::fs::write(path, player.journal().to_json_lines())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    // A process that has ended cannot be looked at any more.
    let costs = footprints.told();
    drop(footprints);
    // Whatever became of the play, what was recorded of it is finished in order.
    let ended = match &mut beside {
        Some(child) => end(child).await,
        None => Ok(ExitCode::SUCCESS),
    };
    let journal = match outcome {
        Ok(journal) => journal,
        Err(PlayError::Failed { failures }) if asked.is_large => {
            let journal = player.journal();
            forgive(&failures, journal.entries.len())?;
            journal
        }
        Err(error) => return Err(error.into()),
    };
    let mut out = std::io::stderr().lock();
    writeln!(
        out,
        "played {} steps; time stood still for {} ms",
        journal.entries.len(),
        journal.held_millis
    )?;
    for (name, cost) in costs {
        writeln!(out, "cost of {name}: {cost}")?;
    }
    ended
}

/// Looks at every component, and at the command.
fn footprints(
    control_plane: &Arc<ControlPlane>,
    command: Option<u32>,
) -> std::io::Result<Footprints> {
    let control_plane = Arc::clone(control_plane);
    Footprints::start(move || {
        let mut running: Vec<Named> = Vec::new();
        running.extend(command.map(|pid| ("the command".to_owned(), pid)));
        let servers = (0..control_plane.api_servers()).map(|index| control_plane.api(index));
        let components = servers
            .map(ApiServer::component)
            .chain([control_plane.etcd().component()])
            .chain(control_plane.controller_manager())
            .chain(control_plane.scheduler());
        for component in components {
            let pid = component.pid();
            running.extend(pid.map(|pid| (component.name().to_owned(), pid)));
        }
        running
    })
}

/// In hours of play a busy machine may lose a few steps: they are told, and no more than one in
/// [`STEPS_PER_FAILURE`] may fail.
fn forgive(failures: &[String], steps: usize) -> anyhow::Result<()> {
    let mut out = std::io::stderr().lock();
    writeln!(out, "{} of {steps} steps failed:", failures.len())?;
    for failure in failures.iter().take(FAILURES_TOLD) {
        writeln!(out, "  {failure}")?;
    }
    anyhow::ensure!(
        failures.len() * STEPS_PER_FAILURE <= steps,
        "too many steps failed"
    );
    Ok(())
}

/// Asks the command to end, and passes its exit code on.
async fn end(child: &mut Child) -> anyhow::Result<ExitCode> {
    if let Some(pid) = child.id() {
        let told = Command::new("kill")
            .args(["-INT", &pid.to_string()])
            .status()
            .await?;
        anyhow::ensure!(told.success(), "cannot interrupt process {pid}");
    }
    let status = child.wait().await?;
    Ok(status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .map_or(ExitCode::FAILURE, ExitCode::from))
}
