//! The tables that kubectl prints of a real control plane, `kubereel get` prints afterwards of the
//! reel, byte for byte: every kind with columns of its own, and custom ones.

mod ask;
mod stage;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use ask::{ASK_FOR_ALL, ASKS, Answer, ask};
use jiff::Timestamp;
use kubereel_tests::control_plane::{self, ControlPlane};
use kubereel_tests::kubectl::Kubectl;
use kubereel_tests::recording::{Recording, arrived, program};
use kubereel_tests::skipped::say_skipped;
use stage::{Stage, check};

/// How long anything that is sure to come may take on a busy machine.
const SURE: Duration = Duration::from_mins(2);

/// What the objects are there for; a table without them would compare nothing.
const WANTED: [&str; 24] = [
    "CrashLoopBackOff",
    "ErrImagePull",
    "Init:1/2",
    "Init:CrashLoopBackOff",
    "Init:Signal:15",
    "ExitCode:3",
    "Signal:9",
    "Evicted",
    "SchedulingGated",
    "Terminating",
    "Unknown",
    "NotReady",
    " ago)",
    "Ready,SchedulingDisabled",
    "control-plane,infra,worker",
    "80:30080/TCP,443:30443/TCP",
    "<pending>",
    "far.example.com",
    "1 of 3",
    "FailureTarget",
    "SuccessCriteriaMet",
    "Suspended",
    "first line...",
    "^[[31mred",
];

#[tokio::test(flavor = "multi_thread")]
async fn get_prints_kubectls_tables() -> Result<()> {
    if control_plane::skipped() {
        return Ok(());
    }
    let kubectls = Kubectl::all()?;
    let Some((kubectl, others)) = kubectls.split_first() else {
        say_skipped("no kubectl on PATH");
        return Ok(());
    };
    let control_plane = ControlPlane::builder().start().await?;
    let kubeconfig = control_plane.kubeconfig(0);
    let folder = tempfile::tempdir()?;
    let reel = folder.path().join("run.reel");
    let recording = Recording::start(&reel, kubeconfig, &[])?;
    let stage = Stage::new(control_plane.client(0).await?, SURE);
    stage.set().await?;
    arrived(&recording, &stage.versions().await?, SURE).await?;

    let mut answers = Vec::new();
    for words in ASKS {
        answers.push(ask(kubectl, kubeconfig, words).await?);
    }
    for other in others {
        answers.push(ask(other, kubeconfig, ASK_FOR_ALL).await?);
    }
    let ended = recording.finish(SURE)?;
    ensure!(ended.status.success(), "the recorder: {}", ended.log);

    let lines: Vec<String> = answers
        .iter()
        .flat_map(|answer| answer.said.lines().map(str::to_owned))
        .collect();
    check(&lines, &WANTED)?;
    let program = program()?;
    let differences: Vec<String> = answers
        .iter()
        .map(|answer| difference(&program, &reel, answer))
        .filter_map(Result::transpose)
        .collect::<Result<_>>()?;
    ensure!(differences.is_empty(), "{}", differences.join("\n\n"));
    Ok(())
}

/// Asks the reel what kubectl was asked, and says where it says otherwise.
fn difference(program: &Path, reel: &Path, answer: &Answer) -> Result<Option<String>> {
    let mut tables = Vec::new();
    for at in answer.moments() {
        let table = get(program, reel, answer.words, at)?;
        if table == answer.said {
            return Ok(None);
        }
        tables.push(table);
    }
    // The server may have reached the next second between two rows.
    let mut said = answer.said.lines().enumerate();
    let other = said.find(|(at, line)| {
        tables
            .iter()
            .all(|table| table.lines().nth(*at) != Some(*line))
    });
    let first = tables.first().context("a moment")?;
    if other.is_none() && first.lines().count() == answer.said.lines().count() {
        return Ok(None);
    }
    let line = other.map_or_else(String::new, |(at, line)| {
        let ours = first.lines().nth(at).unwrap_or_default();
        format!("line {}\nkubectl:  {line:?}\nkubereel: {ours:?}\n", at + 1)
    });
    let (by, words) = (answer.by.display(), answer.words.join(" "));
    Ok(Some(format!(
        "{by} get {words}: {line}{}\n-- or --\n{first}",
        answer.said
    )))
}

fn get(program: &Path, reel: &Path, words: &[&str], at: Timestamp) -> Result<String> {
    let output = Command::new(program)
        .arg("get")
        .arg(reel)
        .args(words)
        .args(["--at", &at.to_string()])
        .output()?;
    if !output.status.success() {
        let about = String::from_utf8_lossy(&output.stderr);
        bail!("get {} --at {at}: {about}", words.join(" "));
    }
    Ok(String::from_utf8(output.stdout)?)
}
