//! The accounting itself, which must be able to fail, and the way out through the command line.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use kubereel_tests::recording::{Account, program};
use kubereel_tests::scripted::ScriptedCluster;

use crate::recorder_faults::{ENDPOINTS, Scene};

fn wrong(scene: &Scene, cluster: &ScriptedCluster) -> Result<Vec<String>> {
    Ok(Account::of(&scene.reel(), cluster, &["endpoints"])?.wrong)
}

#[test]
fn what_is_missing_and_what_was_never_sent_is_found() -> Result<()> {
    let mut scene = Scene::live()?;
    scene.write()?;
    let account = scene.whole(&["endpoints"])?;
    assert_eq!((account.recorded, account.before), (2, 0), "{account:?}");

    // The same revisions with other bytes: both versions are missing, and nobody sent what is there.
    let other = ScriptedCluster::start()?;
    other.put("endpoints", "default", "written", r#""data":{"n": "0"}"#)?;
    other.put("endpoints", "default", "written", r#""data":{"n": "1"}"#)?;
    let found = wrong(&scene, &other)?;
    let count = |word: &str| found.iter().filter(|wrong| wrong.contains(word)).count();
    assert_eq!(
        (count("missing"), count("never sent so")),
        (1, 2),
        "{found:#?}"
    );

    // A change that nobody recorded.
    scene.delete("endpoints", "default", "written")?;
    let found = wrong(&scene, &scene.cluster)?;
    let [missing, end] = found.as_slice() else {
        panic!("two things are wrong: {found:#?}");
    };
    assert!(
        missing.starts_with("missing: DELETED endpoints default/written"),
        "{missing}"
    );
    assert!(end.starts_with("at the end only the reel knows"), "{end}");
    Ok(())
}

#[test]
fn exported_lines_carry_the_committed_bytes() -> Result<()> {
    let mut scene = Scene::new()?;
    let odd = br#"{$TYPE"metadata": {"uid":"$UID" ,"name":"odd","namespace":"default","resourceVersion":"$RV"},"n":1e3,"long":123456789012345678901234567890,"e":"\u00e9\/"}"#;
    scene.record()?;
    scene.await_live(ENDPOINTS)?;
    scene
        .cluster
        .put_template("endpoints", "default", "odd", odd)?;
    scene.delete("endpoints", "default", "odd")?;
    scene.write()?;
    scene.whole(&["endpoints"])?;
    let output = Command::new(program()?)
        .args(["export", "-o", "jsonl"])
        .arg(scene.reel())
        .output()?;
    ensure!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let exported = String::from_utf8(output.stdout)?;
    let endpoints = scene.cluster.resource("endpoints")?;
    for commit in scene.cluster.committed() {
        if commit.storage != "endpoints" || commit.first_watched.is_none() {
            continue;
        }
        let body = String::from_utf8(commit.watch_body(&endpoints, "v1"))?;
        let end = format!(
            r#","type":"{}","group":"","version":"v1","resource":"endpoints","object":{body}}}"#,
            commit.change.as_str()
        );
        let line = exported.lines().find(|line| line.ends_with(&end));
        line.with_context(|| format!("no line ends with {end}"))?;
    }
    Ok(())
}
