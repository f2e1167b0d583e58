//! Reels that are opened where they are: while a real control plane is recorded, and behind a real server's TLS.

use crate::plane::{PLAIN, Turn};
use anyhow::{Context as _, Result, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use kubereel_tests::control_plane::skipped;
use kubereel_tests::recording::{Page, Recording, program};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// How long anything that is sure to come may take on a busy machine.
const SURE: Duration = Duration::from_mins(1);

/// Runs the program with a cache of its own, and without the proxies of this machine.
fn kubereel(folder: &Path, authority: Option<&Path>, args: &[&str]) -> Result<Output> {
    let mut command = Command::new(program()?);
    for name in [
        "HTTPS_PROXY",
        "https_proxy",
        "ALL_PROXY",
        "all_proxy",
        "SSL_CERT_DIR",
    ] {
        command.env_remove(name);
    }
    command.env("XDG_CACHE_HOME", folder.join("cache"));
    if let Some(authority) = authority {
        command.env("SSL_CERT_FILE", authority);
    }
    Ok(command.args(args).output()?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_command_reads_the_reel_that_is_being_recorded() -> Result<()> {
    if skipped() {
        return Ok(());
    }
    let turn = Turn::on(&PLAIN).await?;
    let kubeconfig = turn.control_plane()?.kubeconfig(0);
    let folder = tempfile::tempdir()?;
    let reel = folder.path().join("run.reel");
    let recording = Recording::start(&reel, kubeconfig, &["--listen", "127.0.0.1:0"])?;
    Page::of(&recording, SURE).await?.until_ready(SURE).await?;
    let name = reel.to_str().context("a path")?;
    let deadline = Instant::now() + SURE;
    loop {
        let output = kubereel(
            folder.path(),
            None,
            &["get", name, "namespaces", "-o", "name"],
        )?;
        if String::from_utf8(output.stdout)?.contains("namespace/kube-system\n") {
            break;
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(Instant::now() < deadline, "{said}");
        // What was received is committed soon.
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    for args in [
        &["info", name][..],
        &["verify", name],
        &["problems", name],
        &["export", name],
    ] {
        let output = kubereel(folder.path(), None, args)?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        // Watches have only just begun: changes of a resource may be missing, which is code 4.
        ensure!(
            matches!(output.status.code(), Some(0 | 1 | 4)),
            "{args:?}: {said}"
        );
        ensure!(
            said.contains("is being recorded: this is a copy"),
            "{args:?}: {said}"
        );
    }
    let ended = recording.finish(SURE)?;
    ensure!(ended.status.success(), "{}", ended.log);
    let output = kubereel(folder.path(), None, &["verify", name])?;
    ensure!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    turn.hand_on();
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_trusted_by_the_systems_authorities_only() -> Result<()> {
    if skipped() {
        return Ok(());
    }
    let turn = Turn::on(&PLAIN).await?;
    let plane = turn.control_plane()?;
    let config: Value = serde_saphyr::from_str(&std::fs::read_to_string(plane.kubeconfig(0))?)?;
    let data = config.pointer("/clusters/0/cluster/certificate-authority-data");
    let data = data.and_then(Value::as_str).context("an authority")?;
    let folder = tempfile::tempdir()?;
    let authority = folder.path().join("ca.pem");
    std::fs::write(&authority, BASE64_STANDARD.decode(data)?)?;
    let url = format!("https://127.0.0.1:{}/no/such.reel", plane.api(0).port());
    let said = |authority| -> Result<String> {
        let output = kubereel(folder.path(), authority, &["info", &url])?;
        ensure!(!output.status.success(), "there is a reel");
        Ok(String::from_utf8(output.stderr)?)
    };
    // The server knows nobody by that name, and reports it behind its TLS.
    let trusted = said(Some(authority.as_path()))?;
    ensure!(trusted.contains("HTTP status 40"), "{trusted}");
    let other = said(None)?;
    ensure!(
        other.contains("cannot download: ") && other.contains("certificate"),
        "{other}"
    );
    ensure!(!other.contains("HTTP status"), "{other}");
    turn.hand_on();
    Ok(())
}
