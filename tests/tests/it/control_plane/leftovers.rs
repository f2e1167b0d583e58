//! Nothing remains of a control plane, however its test ended.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use kubereel_tests::control_plane::{ControlPlane, skipped};
use tokio::time::Instant;

/// Whether a process is there and is not only waiting to be reaped.
fn lives(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .unwrap_or("")
            .trim_start()
            .starts_with('Z')
    })
}

/// Waits for what no event tells; the limit only ends a test that has failed.
async fn until(what: &str, mut there: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !there() {
        assert!(Instant::now() < deadline, "{what}: not within 30 s");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn what_does_not_start_says_why_and_leaves_nothing() {
    if skipped() {
        return;
    }
    let started = ControlPlane::builder()
        .api_flag("--no-such-flag=1")
        .start()
        .await;
    let error = format!("{:#}", started.expect_err("an unknown flag was taken"));
    assert!(
        error.contains("api-0") && error.contains("unknown flag: --no-such-flag"),
        "{error}"
    );
    let log = error
        .split_whitespace()
        .find_map(|word| word.strip_suffix("/api-0.log:"));
    let dir = Path::new(log.expect("the message names the log"));
    assert!(!dir.exists(), "{} is left", dir.display());
}

#[tokio::test]
async fn a_panic_leaves_nothing() -> anyhow::Result<()> {
    if skipped() {
        return Ok(());
    }
    let control_plane = ControlPlane::builder().start().await?;
    let (pids, dir) = (control_plane.pids(), control_plane.dir().to_owned());
    assert!(
        pids.len() == 2 && pids.iter().all(|pid| lives(*pid)),
        "{pids:?}"
    );
    let panicked = tokio::spawn(async move {
        let _held = control_plane;
        panic!("this panic is part of the test");
    });
    assert!(panicked.await.is_err());
    assert!(
        !pids.iter().any(|pid| lives(*pid)),
        "one of {pids:?} is left"
    );
    assert!(!dir.exists(), "{} is left", dir.display());
    Ok(())
}

#[tokio::test]
async fn a_killed_test_process_leaves_nothing() -> anyhow::Result<()> {
    if skipped() {
        return Ok(());
    }
    let mut holder = Command::new(env!("CARGO_BIN_EXE_control-plane"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut about = String::new();
    BufReader::new(holder.stdout.take().context("no stdout")?).read_line(&mut about)?;
    let about: serde_json::Value = serde_json::from_str(&about)?;
    let pids: Vec<u32> = serde_json::from_value(about["pids"].clone())?;
    let dir: PathBuf = serde_json::from_value(about["dir"].clone())?;
    assert!(
        pids.len() == 2 && pids.iter().all(|pid| lives(*pid)),
        "{pids:?}"
    );

    holder.kill()?;
    holder.wait()?;
    until("every process is gone", || {
        !pids.iter().any(|pid| lives(*pid))
    })
    .await;
    until("the folder is gone", || !dir.exists()).await;
    Ok(())
}
