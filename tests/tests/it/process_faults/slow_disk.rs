//! A disk that takes its time: every request to make bytes durable is held up.

use anyhow::{Context as _, Result, ensure};
use kubereel_tests::scripted::noise;
use kubereel_tests::skipped::say_skipped;

use crate::recorder_faults::{SURE, Scene};

/// Holds up every sync for three tenths of a second. The tracer stands aside, so
/// that the recorder is this test's own child.
const SLOW: [&str; 8] = [
    "strace",
    "-D",
    "-f",
    "-qq",
    "--seccomp-bpf",
    "-o/dev/null",
    "-etrace=fsync,fdatasync",
    "-einject=fsync,fdatasync:delay_enter=300000",
];

/// Bytes of one object.
const LARGE: usize = 512 * 1024;

#[test]
fn a_slow_disk_holds_up_the_streams_and_not_the_memory() -> Result<()> {
    let is_there = std::process::Command::new("strace").arg("-V").output();
    if !is_there.is_ok_and(|output| output.status.success()) {
        say_skipped("no strace, which makes a disk slow");
        return Ok(());
    }
    let mut scene = Scene::live_under(&SLOW)?;
    for nth in 0..120_u64 {
        let members = format!(r#""data":{{"n":"{nth}","noise":"{}"}}"#, noise(nth, LARGE));
        scene.put("endpoints", "default", &format!("o-{}", nth % 20), &members)?;
    }
    scene
        .cluster
        .wait_sent("endpoints", SURE)
        .with_context(|| scene.log())?;
    let peak = scene.recorder()?.peak_memory_kib()? / 1024;
    let account = scene.account_after(&["endpoints"])?.check_whole()?;
    ensure!(account.recorded >= 120, "{account:?}");
    eprintln!("a slow disk: {peak} MiB at most");
    ensure!(peak < 300, "{peak} MiB");
    Ok(())
}
