//! The recorder seals its reel at its end: the same recording in fewer bytes, which can be resumed. A kill or another
//! signal at any moment leaves a whole reel.

use anyhow::{Context as _, Result, ensure};
use kubereel_format::{Note, Reel};
use kubereel_tests::recording::{Recording, settle};
use kubereel_tests::scripted::{Kubeconfig, ScriptedCluster};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How many kills there are.
const KILLS: &str = "KUBEREEL_SEAL_KILLS";
const KILLS_UNASKED: u32 = 6;

/// Until when after the request to end a recorder is killed, in milliseconds: later than it takes to seal.
const KILL_MILLIS: u64 = 4_000;

/// How long anything that is sure to come may take on a busy machine.
const SURE: Duration = Duration::from_mins(2);

/// How often a folder is looked at.
const LOOK: Duration = Duration::from_millis(5);

fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/demo.reel")
}

fn has_ending(name: impl AsRef<Path>, ending: &str) -> bool {
    let found = name.as_ref().extension();
    found.is_some_and(|found| found == ending)
}

/// The files of a folder, without the log of its recorder.
fn files(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for file in std::fs::read_dir(folder)? {
        let name = file?.file_name();
        if !has_ending(&name, "log") && name != "kubeconfig" {
            names.push(name.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// A recorder that resumes a copy of the demo, and waits for a kubeconfig that never comes.
fn resume_demo(folder: &Path, more: &[&str]) -> Result<Recording> {
    let reel = folder.join("run.reel");
    if !reel.exists() {
        std::fs::copy(demo(), &reel)?;
    }
    let recording = Recording::start(&reel, &folder.join("none"), more)?;
    recording.until_said_since_start("waiting for a kubeconfig", SURE)?;
    Ok(recording)
}

/// Checks that a reel is whole and begins with all records of the demo.
fn check_holds_demo(path: &Path) -> Result<Reel> {
    let (old, new) = (Reel::open(&demo())?, Reel::open(path)?);
    ensure!(new.damage().is_empty(), "{:?}", new.damage());
    ensure!(new.end() >= old.end(), "{} of {}", new.end(), old.end());
    let mut again = new.scan();
    for event in old.scan() {
        let event = event?;
        let new = again.next().context("an event is missing")??;
        ensure!(new == event, "event {} differs", event.head.seq);
    }
    for (old, new) in old.notes().iter().zip(new.notes()) {
        ensure!((old.seq, old.stamp) == (new.seq, new.stamp));
    }
    Ok(new)
}

#[test]
fn the_last_words_about_a_reel_that_was_moved_do_not_name_another_file() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    let folder = tempfile::tempdir()?;
    let kubeconfig = folder.path().join("kubeconfig");
    cluster.write_kubeconfig(&kubeconfig, &Kubeconfig::Good)?;
    let reel = folder.path().join("run.reel");
    cluster.put("configmaps", "default", "c", r#""data":{"a":"1"}"#)?;
    let recorder = Recording::start(&reel, &kubeconfig, &[])?;
    settle(&cluster, "configmaps", SURE)?;
    let moved = folder.path().join("moved.reel");
    std::fs::rename(&reel, &moved)?;
    recorder.interrupt()?;
    let ended = recorder.ended(SURE)?;
    ensure!(ended.status.success(), "{}: {}", ended.status, ended.log);
    let log = &ended.log;
    ensure!(
        log.contains("moved or replaced while it was recorded"),
        "{log}"
    );
    let last = log.lines().last().unwrap_or_default();
    ensure!(last.contains("the reel is finished events="), "{log}");
    ensure!(!last.contains("open="), "{log}");
    ensure!(Reel::open(&moved)?.is_finished(), "{log}");
    Ok(())
}

#[test]
fn a_recording_that_ctrl_c_ends_is_sealed_and_resumed() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    let folder = tempfile::tempdir()?;
    let kubeconfig = folder.path().join("kubeconfig");
    cluster.write_kubeconfig(&kubeconfig, &Kubeconfig::Good)?;
    for number in 0..200 {
        let data = format!(r#""data":{{"number":"{number}"}}"#);
        cluster.put("configmaps", "default", &format!("c{number}"), &data)?;
    }
    let reel = folder.path().join("run.reel");
    let recorder = Recording::start(&reel, &kubeconfig, &[])?;
    settle(&cluster, "configmaps", SURE)?;
    recorder.interrupt()?;
    let ended = recorder.ended(SURE)?;
    ensure!(ended.status.success(), "{}: {}", ended.status, ended.log);
    let first = Reel::open(&reel)?;
    ensure!(first.is_sealed() && first.is_finished(), "{}", ended.log);
    let (end, count) = (first.end(), first.event_count());
    let events: Vec<_> = first.scan().collect::<Result<_, _>>()?;
    drop(first);
    assert_eq!(files(folder.path())?, ["run.reel"]);
    cluster.put("configmaps", "default", "c7", r#""data":{"new":"1"}"#)?;
    // A service manager ends it with SIGTERM, and starts it again: it stays as it is.
    let recorder = Recording::start(&reel, &kubeconfig, &[])?;
    settle(&cluster, "configmaps", SURE).with_context(|| recorder.log())?;
    let ended = recorder.finish(SURE)?;
    ensure!(ended.status.success(), "{}: {}", ended.status, ended.log);
    let second = Reel::open(&reel)?;
    ensure!(!second.is_sealed() && second.is_finished());
    ensure!(second.end() > end && second.event_count() > count);
    let again: Vec<_> = second.scan().take(events.len()).collect::<Result<_, _>>()?;
    ensure!(again == events, "what was sealed is not as before");
    let notes = second.notes().iter();
    let gaps = notes.filter(|entry| matches!(entry.note, Note::Gap(_)));
    assert_eq!(
        gaps.count(),
        0,
        "the server's history closed the time between"
    );
    assert_eq!(files(folder.path())?, ["run.reel"]);
    Ok(())
}

#[test]
fn a_kill_while_sealing_leaves_a_whole_reel() -> Result<()> {
    let kills = match std::env::var(KILLS) {
        Ok(count) => count.parse().with_context(|| format!("{KILLS}={count}"))?,
        Err(_) => KILLS_UNASKED,
    };
    let (mut sealed, mut cut) = (0, 0);
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for nth in 0..kills {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let folder = tempfile::tempdir()?;
        let recorder = resume_demo(folder.path(), &["--seal", "always"])?;
        let reel = recorder.reel().to_owned();
        recorder.interrupt()?;
        let until = Instant::now() + Duration::from_millis(random % KILL_MILLIS);
        // The moment of a kill is meant to be any, so that there is nothing to wait for.
        while Instant::now() < until && recorder.is_running()? {
            std::thread::sleep(LOOK);
        }
        recorder.kill_if_running()?;
        let left = check_holds_demo(&reel).with_context(|| format!("kill {nth}"))?;
        sealed += u32::from(left.is_sealed());
        cut += u32::from(files(folder.path())?.len() > 1);
        drop(left);
        // The next recorder resumes it, and removes what the kill left.
        let ended = resume_demo(folder.path(), &[])?.finish(SURE)?;
        ensure!(ended.status.success(), "{}: {}", ended.status, ended.log);
        ensure!(check_holds_demo(&reel)?.is_finished());
        assert_eq!(files(folder.path())?, ["run.reel"], "kill {nth}");
    }
    println!("{kills} kills: {sealed} reels were sealed, {cut} kills left an unfinished copy");
    Ok(())
}

#[test]
fn another_signal_while_sealing_leaves_the_finished_reel() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let recorder = resume_demo(folder.path(), &["--seal", "always"])?;
    let reel = recorder.reel().to_owned();
    recorder.interrupt()?;
    let until = Instant::now() + SURE;
    while !files(folder.path())?
        .iter()
        .any(|name| has_ending(name, "part"))
    {
        ensure!(
            recorder.is_running()?,
            "it was over too soon: {}",
            recorder.log()
        );
        ensure!(Instant::now() < until, "{}", recorder.log());
        // A file that appears cannot be awaited.
        std::thread::sleep(LOOK);
    }
    let ended = recorder.finish(SURE)?;
    ensure!(ended.status.success(), "{}: {}", ended.status, ended.log);
    ensure!(
        ended.log.contains("interrupted by SIGTERM"),
        "{}",
        ended.log
    );
    let left = check_holds_demo(&reel)?;
    ensure!(left.is_finished() && !left.is_sealed());
    assert_eq!(files(folder.path())?, ["run.reel"]);
    Ok(())
}
