//! What kubectl said during a recording, `kubereel get` says afterwards: the same bytes for the same
//! resourceVersion, while a real control plane went through changes.

mod ask;
mod life;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use ask::{ASKS, Answer, ask};
use kubereel_tests::control_plane::{self, ControlPlane};
use kubereel_tests::kubectl::Kubectl;
use kubereel_tests::recording::{Recording, arrived, program};
use kubereel_tests::skipped::say_skipped;
use life::Life;

/// How long anything that is sure to come may take on a busy machine.
const SURE: Duration = Duration::from_mins(2);

#[tokio::test(flavor = "multi_thread")]
async fn get_says_what_kubectl_said() -> Result<()> {
    if control_plane::skipped() {
        return Ok(());
    }
    let kubectls = Kubectl::all()?;
    let Some(kubectl) = kubectls.first() else {
        say_skipped("no kubectl on PATH");
        return Ok(());
    };
    let control_plane = ControlPlane::builder().controllers(true).start().await?;
    let kubeconfig = control_plane.kubeconfig(0);
    let folder = tempfile::tempdir()?;
    let reel = folder.path().join("run.reel");
    let recording = Recording::start(&reel, kubeconfig, &[])?;
    let life = Life::new(kubectl, kubeconfig, folder.path());
    life.define().await?;
    // The recorder has the first answers' versions behind its first list.
    arrived(&recording, &life.touch_all().await?, SURE).await?;

    let client = control_plane.client(0).await?;
    let mut answers = Vec::new();
    for round in 0..life::ROUNDS {
        life.go_on(round).await?;
        for one in ASKS {
            answers.push(ask(&client, kubectl, kubeconfig, one).await?);
        }
    }
    // Each kubectl prints the same; the others are asked a little only, a run of one takes long.
    for other in kubectls.iter().skip(1) {
        for one in ASKS.into_iter().filter(|one| one.is_for_all) {
            answers.push(ask(&client, other, kubeconfig, one).await?);
        }
    }
    arrived(&recording, &life.touch_all().await?, SURE).await?;
    let ended = recording.finish(SURE)?;
    ensure!(ended.status.success(), "the recorder: {}", ended.log);

    compare(&reel, &answers)
}

/// Asks the reel what kubectl was asked.
fn compare(reel: &Path, answers: &[Answer]) -> Result<()> {
    let program = program()?;
    let mut told = BTreeSet::new();
    for answer in answers {
        let output = Command::new(&program)
            .arg("get")
            .arg(reel)
            .args(answer.ask.words)
            .args(["-o", "json", "--at", &format!("rv:{}", answer.rv)])
            .output()?;
        let said = String::from_utf8(output.stdout)?;
        let about = String::from_utf8_lossy(&output.stderr);
        let what = format!(
            "get {} at rv {}: {about}",
            answer.ask.words.join(" "),
            answer.rv
        );
        ensure!(output.status.success(), "{what}");
        // Values of ConfigMaps and copies of what was applied are not recorded: there, and only there, a
        // mark stands.
        let (expected, told_of) = (hide_values(&answer.said), hide_values(&said));
        if expected != told_of {
            bail!("{what}\n{}", first_difference(&expected, &told_of));
        }
        // A few values of ConfigMaps are public, and kept.
        let (theirs, ours) = (values(&answer.said), values(&said));
        let are_right = theirs
            .iter()
            .zip(&ours)
            .all(|(theirs, ours)| theirs == ours || ours.starts_with("\"redacted by kubereel: "));
        ensure!(
            are_right && theirs.len() == ours.len(),
            "{what}\na value is neither kubectl's nor a mark: {ours:?}"
        );
        told.insert((answer.ask.words, said));
    }
    // Else nothing of the past was asked.
    for one in ASKS {
        let different = told.iter().filter(|(words, _)| *words == one.words).count();
        ensure!(different > 1, "{:?} has one answer only", one.words);
    }
    Ok(())
}

/// The line of the annotation with an object as it was last applied begins so.
const LAST_APPLIED: &str = "\"kubectl.kubernetes.io/last-applied-configuration\": ";

/// Splits a line of `data` into what names the value and the value.
fn named_value(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once("\": ")?;
    Some((name, value.strip_suffix(',').unwrap_or(value)))
}

/// Gives the lines of indented JSON, each with whether it is a value in `data`.
fn lines_of_data(text: &str) -> Vec<(&str, bool)> {
    let mut is_inside = false;
    text.lines()
        .map(|line| {
            let begins = line.trim() == "\"data\": {";
            is_inside &= !line.trim_start().starts_with('}');
            // kubectl's copy of an object is not recorded either, of any kind.
            let is_copy = line.trim_start().starts_with(LAST_APPLIED);
            let is_value = is_inside || is_copy;
            is_inside |= begins;
            (line, is_value)
        })
        .collect()
}

/// Gives the values of `data`.
fn values(text: &str) -> Vec<&str> {
    let lines = lines_of_data(text).into_iter();
    let of_data = lines.filter(|(_, is_value)| *is_value);
    of_data
        .filter_map(|(line, _)| Some(named_value(line)?.1))
        .collect()
}

/// Puts the same in the place of every value of `data`.
fn hide_values(text: &str) -> String {
    let mut hidden = String::new();
    for (line, is_value) in lines_of_data(text) {
        match named_value(line).filter(|_| is_value) {
            Some((name, _)) => hidden.push_str(name),
            None => hidden.push_str(line),
        }
        hidden.push('\n');
    }
    hidden
}

fn first_difference(expected: &str, found: &str) -> String {
    let mut pairs = (1..).zip(expected.lines().zip(found.lines()));
    pairs.find(|(_, (a, b))| a != b).map_or_else(
        || {
            format!(
                "{} bytes of kubectl, {} of kubereel",
                expected.len(),
                found.len()
            )
        },
        |(line, (a, b))| format!("line {line}\nkubectl:  {a}\nkubereel: {b}"),
    )
}
