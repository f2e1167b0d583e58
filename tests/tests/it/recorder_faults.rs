//! The real recorder against a server that misbehaves in every way we know: whatever was committed is
//! in the reel, byte for byte, or inside a gap that the reel declares.
//!
//! The accounting itself, which must be able to fail, and the way out through the command line.
//!
//! Another cluster behind the same kubeconfig, and the same one put back in time.
//!
//! A recorder that may not write to its output path.
//!
//! Faults that only patience finds out: silence of half a minute and more. They run side by side, and
//! only when asked for.
//!
//! Kubeconfigs and credentials that are missing, broken or replaced; secrets.
//!
//! Answers that are refusals, pages of proxies, or nothing.

use crate::recorder_faults::read_back::{before_the_gap, change_unseen, come_back, judged};
use anyhow::{Context as _, Result, anyhow, bail, ensure};
use kubereel_format::{
    EndCause, EpochId, GapCause, GapVerdict, Lifecycle, NotCoveredReason, Note, Reel,
};
use kubereel_tests::claims::{Claims, Tally};
use kubereel_tests::recording::{Account, RecorderExit, Recording, program, settle};
use kubereel_tests::scripted::{
    AnswerCut, Canned, End, Fault, FaultId, Gzip, InitialEnd, Kubeconfig, On, Pick, Place,
    Resource, ScriptedCluster, Settings, WatchList,
};
use kubereel_tests::skipped::skipped_as_slow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

mod discovering;
mod lists;
mod read_back;
mod streams;

/// How long anything that is sure to come may take on a busy machine.
pub(crate) const SURE: Duration = Duration::from_mins(1);

/// An outage that probes meet, which come every two seconds.
pub(crate) const OUTAGE: Duration = Duration::from_secs(5);

pub(crate) const ENDPOINTS: &str = "/api/v1/endpoints";

/// A scripted cluster, and a recorder that records it.
pub(crate) struct Scene {
    pub(crate) cluster: ScriptedCluster,
    pub(crate) recorder: Option<Recording>,
    pub(crate) folder: TempDir,
    written: usize,
}

impl Scene {
    /// A cluster with one endpoints object, and nobody recording it yet.
    pub(crate) fn new() -> Result<Self> {
        let scene = Self {
            cluster: ScriptedCluster::start()?,
            recorder: None,
            folder: tempfile::tempdir()?,
            written: 0,
        };
        scene.put("endpoints", "default", "written", r#""data":{"n":"0"}"#)?;
        scene
            .cluster
            .write_kubeconfig(&scene.kubeconfig(), &Kubeconfig::Good)?;
        Ok(scene)
    }

    /// A cluster whose endpoints are being recorded live.
    fn live() -> Result<Self> {
        let mut scene = Self::new()?;
        scene.record()?;
        scene.await_live(ENDPOINTS)?;
        Ok(scene)
    }

    /// Changes how the server behaves.
    pub(crate) fn set(&self, change: impl FnOnce(&mut Settings)) {
        self.cluster.set(change);
    }

    fn fault(&self, on: On, fault: Fault) -> FaultId {
        self.cluster.fault(on, fault)
    }

    pub(crate) fn put(
        &self,
        resource: &str,
        namespace: &str,
        name: &str,
        members: &str,
    ) -> Result<u128> {
        self.cluster.put(resource, namespace, name, members)
    }

    fn delete(&self, resource: &str, namespace: &str, name: &str) -> Result<u128> {
        self.cluster.delete(resource, namespace, name)
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join("kubeconfig")
    }

    pub(crate) fn reel(&self) -> PathBuf {
        self.folder.path().join("run.reel")
    }

    fn record(&mut self) -> Result<()> {
        self.record_with(&[])
    }

    fn record_with(&mut self, more: &[&str]) -> Result<()> {
        self.recorder = Some(Recording::start(&self.reel(), &self.kubeconfig(), more)?);
        Ok(())
    }

    /// Waits until a path is watched and its first list, streamed or not, was sent.
    pub(crate) fn await_live(&self, path: &str) -> Result<()> {
        let live = self.cluster.wait_live(path, SURE);
        live.with_context(|| self.log())
    }

    pub(crate) fn log(&self) -> String {
        self.recorder
            .as_ref()
            .map(Recording::log)
            .unwrap_or_default()
    }

    /// Waits until the recorder has said something.
    pub(crate) fn await_word(&self, word: &str) -> Result<()> {
        let deadline = Instant::now() + SURE;
        while !self.log().contains(word) {
            ensure!(Instant::now() < deadline, "no {word:?}:\n{}", self.log());
            // A file cannot be awaited, and the cluster need not hear of it.
            thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    /// Writes one more version of the endpoints object.
    fn write(&mut self) -> Result<u128> {
        self.written += 1;
        let members = format!(
            r#""data":{{"n":"{}","padding":"{}"}}"#,
            self.written,
            "p".repeat(200)
        );
        self.cluster
            .put("endpoints", "default", "written", &members)
    }

    /// Ends the streams of a path in order, so that the recorder comes back; none of them is left.
    fn reconnect(&self, path: &str) -> Result<()> {
        let on = On::watch(path);
        let mut open = self.cluster.requests();
        open.retain(|one| on.matches(one) && one.progress().ended.is_none());
        self.cluster.cut_open(&on, End::Finished);
        self.cluster.wait_until("the streams to end", SURE, |_| {
            open.iter()
                .all(|one| one.progress().ended.is_some())
                .then_some(())
        })
    }

    /// Waits until the last stream of endpoints has brought this many lines, good or bad.
    fn await_lines(&self, lines: usize) -> Result<()> {
        let met = self.cluster.wait_until("the lines", SURE, |cluster| {
            let last = cluster.requests_to(ENDPOINTS).pop()?;
            (last.progress().lines >= lines).then_some(())
        });
        met.with_context(|| self.log())
    }

    /// Has the next watch of endpoints meet a fault, and waits until it has begun to.
    fn next_watch(&self, fault: Fault) -> Result<FaultId> {
        self.next(On::watch(ENDPOINTS).once(), fault)
    }

    fn next(&self, on: On, fault: Fault) -> Result<FaultId> {
        let rule = self.cluster.fault(on, fault);
        self.reconnect("*")?;
        self.await_hits(rule, 1)?;
        Ok(rule)
    }

    fn await_hits(&self, rule: FaultId, hits: usize) -> Result<()> {
        let enough = |cluster: &ScriptedCluster| (cluster.hits(rule) >= hits).then_some(());
        let met = self.cluster.wait_until("the fault to be met", SURE, enough);
        met.with_context(|| self.log())
    }

    /// Ends the recording once it has received everything, and accounts for it.
    pub(crate) fn account(&mut self, storages: &[&str]) -> Result<Account> {
        for storage in storages {
            settle(&self.cluster, storage, SURE).with_context(|| self.log())?;
        }
        self.finish()?;
        self.check_claims(storages)?;
        Account::of(&self.reel(), &self.cluster, storages)
    }

    /// Nothing of what was committed is missing unsaid, and nothing is claimed falsely.
    pub(crate) fn check_claims(&self, storages: &[&str]) -> Result<Tally> {
        Claims::hold(&self.reel(), &self.cluster, storages)
    }

    pub(crate) fn finish(&mut self) -> Result<()> {
        let recorder = self.recorder.take().context("somebody records")?;
        let ended = recorder.finish(SURE)?;
        ensure!(ended.status.success(), "{}: {}", ended.status, ended.log);
        Ok(())
    }

    /// Everything is in the reel, and no gap was declared.
    fn whole(&mut self, storages: &[&str]) -> Result<Account> {
        let account = self.account(storages)?.check_whole()?;
        ensure!(account.recorded > 0, "nothing was recorded");
        Ok(account)
    }

    /// Records; one version later everything is in the reel, and no gap was declared.
    fn recorded_whole(&mut self) -> Result<Account> {
        self.record()?;
        self.await_live(ENDPOINTS)?;
        self.write()?;
        self.whole(&["endpoints"])
    }

    /// After one more version everything is in the reel, and no gap was declared.
    fn written_whole(&mut self) -> Result<()> {
        self.write()?;
        self.whole(&["endpoints"]).map(drop)
    }

    fn notes(&self) -> Result<Vec<Note>> {
        let reel = Reel::open(&self.reel())?;
        Ok(reel
            .notes()
            .iter()
            .map(|entry| entry.note.clone())
            .collect())
    }
}

fn cut(line: Pick, place: Place, end: End) -> Fault {
    Fault::Cut(AnswerCut { line, place, end })
}

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

/// The epochs that the reel reports, in order.
fn epochs(scene: &Scene) -> Result<Vec<(EpochId, String)>> {
    let mut epochs = Vec::new();
    for note in scene.notes()? {
        if let Note::Cluster { epoch, uid, .. } = note {
            epochs.push((epoch, uid));
        }
    }
    epochs.dedup();
    Ok(epochs)
}

#[test]
fn a_restored_cluster_is_a_new_epoch() -> Result<()> {
    let mut scene = Scene::live()?;
    for _ in 0..10 {
        scene.write()?;
    }
    scene.put("endpoints", "default", "rolled-back", r#""data":{}"#)?;
    scene.cluster.wait_sent("endpoints", SURE)?;
    let committed = scene.cluster.committed();
    let before = scene.cluster.requests().len();
    scene.cluster.restore(scene.cluster.revision() - 5)?;
    scene.put("endpoints", "default", "new-life", r#""data":{}"#)?;
    scene
        .cluster
        .wait_for_request("a new list", SURE, |one| {
            // A list of one object only asks for the revision.
            let listed = one.asked.parameter("resourceVersion").is_none()
                && one.asked.parameter("limit") != Some("1");
            one.number >= before
                && one.asked.path == ENDPOINTS
                && listed
                && one.progress().lines > 0
        })
        .with_context(|| scene.log())?;
    scene.write()?;
    let all = scene.account(&["endpoints"])?;
    assert!(
        all.gaps.iter().any(|gap| gap.cause == GapCause::NewEpoch),
        "{:#?}",
        all.gaps
    );
    let ends: Vec<&String> = all
        .wrong
        .iter()
        .filter(|wrong| wrong.contains("at the end"))
        .collect();
    assert!(ends.is_empty(), "{ends:#?}");
    // The first life was recorded whole before it was undone.
    let first = Account::of_required(
        &scene.reel(),
        &scene.cluster,
        &["endpoints"],
        &committed,
        |_| true,
    )?;
    let missing: Vec<&String> = first
        .wrong
        .iter()
        .filter(|wrong| wrong.contains("missing"))
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
    let epochs = epochs(&scene)?;
    assert!(
        matches!(epochs.as_slice(), [(EpochId(0), one), (EpochId(1), other)] if one == other),
        "{epochs:?}"
    );
    Ok(())
}

#[test]
fn another_cluster_behind_the_same_file_is_told_apart() -> Result<()> {
    let mut scene = Scene::live()?;
    scene.write()?;
    scene.cluster.wait_sent("endpoints", SURE)?;
    let other = ScriptedCluster::start_as(2, 50)?;
    other.put("endpoints", "default", "elsewhere", r#""data":{}"#)?;
    other.write_kubeconfig(&scene.kubeconfig(), &Kubeconfig::Good)?;
    let first = std::mem::replace(&mut scene.cluster, other);
    drop(first);
    scene.await_live(ENDPOINTS)?;
    scene.write()?;
    let account = scene.account(&["endpoints"])?;
    assert!(
        account
            .gaps
            .iter()
            .any(|gap| gap.cause == GapCause::NewEpoch),
        "{:#?}",
        account.gaps
    );
    let ends: Vec<&String> = account
        .wrong
        .iter()
        .filter(|wrong| wrong.contains("at the end"))
        .collect();
    assert!(ends.is_empty(), "{ends:#?}");
    let epochs = epochs(&scene)?;
    assert!(
        matches!(epochs.as_slice(), [(EpochId(0), one), (EpochId(1), other)] if one != other),
        "{epochs:?}"
    );
    Ok(())
}

/// Starts a recorder that must give up at once, with a reason and a hint.
fn refused(scene: &Scene, reel: &Path) -> Result<RecorderExit> {
    let ended = Recording::start(reel, &scene.kubeconfig(), &[])?.ended(SURE)?;
    ensure!(!ended.status.success(), "it recorded: {}", ended.log);
    for word in ["error: ", "hint: "] {
        ensure!(ended.log.contains(word), "no {word:?} in {}", ended.log);
    }
    ensure!(!ended.log.contains("panicked"), "{}", ended.log);
    Ok(ended)
}

#[test]
fn an_output_that_cannot_be_written_is_said_at_once() -> Result<()> {
    let scene = Scene::new()?;
    let folder = tempfile::tempdir()?;
    let no_reel = folder.path().join("a.reel");
    std::fs::write(
        &no_reel,
        "PK\u{3}\u{4} this is not a reel, and it is somebody's".repeat(200),
    )?;
    let before = std::fs::read(&no_reel)?;
    assert_eq!(refused(&scene, &no_reel)?.status.code(), Some(3));
    assert!(
        before == std::fs::read(&no_reel)?,
        "somebody's file was touched"
    );

    let is_folder = folder.path().join("folder");
    std::fs::create_dir(&is_folder)?;
    refused(&scene, &is_folder)?;
    Ok(())
}

#[test]
fn a_reel_that_is_being_recorded_is_left_alone() -> Result<()> {
    let mut scene = Scene::live()?;
    let second = scene.folder.path().join("second.reel");
    std::os::unix::fs::symlink(scene.reel(), &second)?;
    refused(&scene, &second)?;
    scene.written_whole()
}

fn half_open() -> Result<()> {
    let mut scene = Scene::live()?;
    scene.cluster.cut_open(&On::watch(ENDPOINTS), End::Silent);
    scene.write()?;
    scene
        .cluster
        .wait_sent("endpoints", Duration::from_mins(3))?;
    scene.whole(&["endpoints"])?;
    let idle =
        |note: &Note| matches!(note, Note::Disconnected { cause, .. } if *cause == EndCause::Idle);
    assert!(scene.notes()?.iter().any(idle));
    Ok(())
}

fn no_end_of_the_list(settings: fn(&mut Settings)) -> Result<()> {
    let mut scene = Scene::new()?;
    scene.set(settings);
    scene.record()?;
    scene
        .cluster
        .wait_for_request("a list in pages", Duration::from_mins(3), |one| {
            one.asked.path == ENDPOINTS && one.asked.parameter("limit").is_some()
        })?;
    scene.await_live(ENDPOINTS)?;
    scene.write()?;
    scene.account(&["endpoints"])?.check()?;
    Ok(())
}

fn forbidden_for_a_while() -> Result<()> {
    let mut scene = Scene::live()?;
    let forbidden = Canned::status(403, "Forbidden", "endpoints is forbidden");
    scene.next_watch(Fault::Answer(forbidden))?;
    scene.write()?;
    scene
        .cluster
        .wait_sent("endpoints", Duration::from_mins(2))?;
    scene.whole(&["endpoints"])?;
    Ok(())
}

#[test]
fn patience_finds_out() -> Result<()> {
    if skipped_as_slow("faults that only patience finds out") {
        return Ok(());
    }
    let scenes: [fn() -> Result<()>; 5] = [
        half_open,
        || no_end_of_the_list(|settings| settings.initial_end = InitialEnd::Missing),
        || no_end_of_the_list(|settings| settings.initial_end = InitialEnd::WithoutRevision),
        || no_end_of_the_list(|settings| settings.watch_list = WatchList::Ignored),
        forbidden_for_a_while,
    ];
    let threads: Vec<_> = scenes
        .into_iter()
        .map(|scene| thread::Builder::new().name("scene".to_owned()).spawn(scene))
        .collect::<Result<_, _>>()?;
    for thread in threads {
        thread
            .join()
            .map_err(|_panic| anyhow!("a scene panicked"))??;
    }
    Ok(())
}

/// Waits until the recorder has said something new.
fn await_words(scene: &Scene, said: usize) -> Result<usize> {
    let deadline = Instant::now() + SURE;
    while Instant::now() < deadline {
        let log = scene.log();
        if log.len() > said {
            return Ok(log.len());
        }
        // A file is not an event; this is as near as it comes.
        thread::sleep(Duration::from_millis(20));
    }
    bail!("nothing more was said: {}", scene.log())
}

#[test]
fn a_kubeconfig_may_be_missing_and_broken_before_it_is_good() -> Result<()> {
    let mut scene = Scene::new()?;
    std::fs::remove_file(scene.kubeconfig())?;
    scene.record()?;
    let mut said = await_words(&scene, 0)?;
    for broken in [
        Kubeconfig::Empty,
        Kubeconfig::HalfWritten,
        Kubeconfig::NotYaml,
        Kubeconfig::NoSuchContext,
        Kubeconfig::Elsewhere("http://127.0.0.1:9".to_owned()),
    ] {
        scene
            .cluster
            .write_kubeconfig(&scene.kubeconfig(), &broken)?;
        said = await_words(&scene, said).with_context(|| format!("{broken:?}"))?;
    }
    scene
        .cluster
        .write_kubeconfig(&scene.kubeconfig(), &Kubeconfig::Good)?;
    scene.await_live(ENDPOINTS)?;
    scene.write()?;
    scene.whole(&["endpoints"])?;
    let notes = scene.notes()?;
    let lifecycle = |wanted: fn(&Lifecycle) -> bool| {
        notes
            .iter()
            .any(|note| matches!(note, Note::Lifecycle(state) if wanted(state)))
    };
    assert!(lifecycle(|state| matches!(
        state,
        Lifecycle::WaitingForKubeconfig { .. }
    )));
    assert!(lifecycle(|state| matches!(
        state,
        Lifecycle::KubeconfigUnusable { .. }
    )));
    assert!(lifecycle(|state| matches!(
        state,
        Lifecycle::Unreachable { .. }
    )));
    assert!(lifecycle(|state| matches!(state, Lifecycle::Reachable)));
    Ok(())
}

#[test]
fn a_token_that_expires_is_replaced_without_loss() -> Result<()> {
    let mut scene = Scene::new()?;
    let token = |token: &str| Kubeconfig::WithToken(token.to_owned());
    scene.set(|settings| settings.token = Some("first".to_owned()));
    scene
        .cluster
        .write_kubeconfig(&scene.kubeconfig(), &token("first"))?;
    scene.record()?;
    scene.await_live(ENDPOINTS)?;
    scene.set(|settings| settings.token = Some("second".to_owned()));
    scene.reconnect(ENDPOINTS)?;
    scene.cluster.wait_for_request("a 401", SURE, |one| {
        one.asked.path == ENDPOINTS && one.progress().status == Some(401)
    })?;
    scene.write()?;
    scene
        .cluster
        .write_kubeconfig(&scene.kubeconfig(), &token("second"))?;
    scene.await_live(ENDPOINTS)?;
    scene.written_whole()
}

/// Has the recorder open a stream anew with what the kubeconfig says now, and writes.
fn go_on_with(scene: &mut Scene, what: &Kubeconfig) -> Result<()> {
    let file = scene.kubeconfig();
    scene.cluster.write_kubeconfig(&file, what)?;
    scene.reconnect(ENDPOINTS)?;
    scene.write()?;
    scene.cluster.wait_sent("endpoints", SURE)?;
    scene.write()?;
    Ok(())
}

#[test]
fn a_kubeconfig_spoilt_while_recording_costs_nothing() -> Result<()> {
    let mut scene = Scene::live()?;
    let mut said = scene.log().len();
    for spoilt in [
        Kubeconfig::Empty,
        Kubeconfig::HalfWritten,
        Kubeconfig::NotYaml,
    ] {
        go_on_with(&mut scene, &spoilt).with_context(|| format!("{spoilt:?}"))?;
        said = await_words(&scene, said).with_context(|| format!("{spoilt:?}"))?;
    }
    std::fs::remove_file(scene.kubeconfig())?;
    scene.reconnect(ENDPOINTS)?;
    scene.write()?;
    scene.cluster.wait_sent("endpoints", SURE)?;
    go_on_with(&mut scene, &Kubeconfig::Good)?;
    // Another one that leads to the same cluster: the streams go on.
    scene.set(|settings| settings.token = Some("new".to_owned()));
    let replaced = Kubeconfig::WithToken("new".to_owned());
    let file = scene.kubeconfig();
    scene.cluster.write_kubeconfig(&file, &replaced)?;
    scene.reconnect(ENDPOINTS)?;
    scene.await_live(ENDPOINTS)?;
    scene.write()?;
    scene.whole(&["endpoints"])?;
    let unusable =
        |note: &Note| matches!(note, Note::Lifecycle(Lifecycle::KubeconfigUnusable { .. }));
    assert!(scene.notes()?.iter().any(unusable), "{:#?}", scene.notes()?);
    Ok(())
}

#[test]
fn secrets_never_reach_the_reel() -> Result<()> {
    let mut scene = Scene::new()?;
    let secret = |text: &str| {
        let applied = format!(
            r#""annotations":{{"kubectl.kubernetes.io/last-applied-configuration":"{{\"data\":\"{text}\"}}"}}"#
        );
        let members = format!(
            r#""data":{{"password":"{text}"}},"stringData":{{"also":"{text}"}},"type":"Opaque""#
        );
        (applied, members)
    };
    let (applied, members) = secret("aW5pdGlhbC1zZWNyZXQ");
    scene
        .cluster
        .put_with_metadata("secrets", "default", "s", &applied, &members)?;
    scene.record()?;
    scene.await_live("/api/v1/secrets")?;
    let (applied, members) = secret("bGl2ZS1zZWNyZXQ");
    scene
        .cluster
        .put_with_metadata("secrets", "default", "s", &applied, &members)?;
    scene.delete("secrets", "default", "s")?;
    settle(&scene.cluster, "secrets", SURE)?;
    scene.finish()?;
    let reel = Reel::open(&scene.reel())?;
    let mut seen = 0;
    for event in reel.scan() {
        let body = String::from_utf8_lossy(&event?.body).into_owned();
        seen += usize::from(body.contains("\"Opaque\""));
        for text in ["aW5pdGlhbC1zZWNyZXQ", "bGl2ZS1zZWNyZXQ"] {
            assert!(!body.contains(text), "{body}");
        }
    }
    assert_eq!(seen, 3, "all three events of the secret are there");
    let file = std::fs::read(scene.reel())?;
    for text in [b"aW5pdGlhbC1zZWNyZXQ".as_slice(), b"bGl2ZS1zZWNyZXQ"] {
        assert!(!file.windows(text.len()).any(|window| window == text));
    }
    Ok(())
}

#[test]
fn bodies_compressed_against_our_wish_are_not_taken_for_complete() -> Result<()> {
    let mut scene = Scene::new()?;
    scene.set(|settings| settings.gzip = Gzip::Always);
    scene.record()?;
    scene
        .cluster
        .wait_until("a second round", SURE, |cluster| {
            (cluster.requests().len() >= 4).then_some(())
        })?;
    let asked = scene.cluster.requests();
    let accepts_gzip =
        |encodings: Option<&str>| encodings.is_some_and(|text| text.contains("gzip"));
    assert!(
        !asked
            .iter()
            .any(|one| accepts_gzip(one.asked.header("accept-encoding")))
    );
    scene.finish()?;
    let synced = |note: &Note| matches!(note, Note::Synced { .. });
    assert!(!scene.notes()?.iter().any(synced), "nothing could be read");
    Ok(())
}

/// A stream that brings one ERROR event and ends in order, whatever was asked for.
fn error_event(code: u16, reason: &str, message: &str) -> Fault {
    let line = format!(
        "{{\"type\":\"ERROR\",\"object\":{{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{{}},\"status\":\"Failure\",\"message\":\"{message}\",\"reason\":\"{reason}\",\"code\":{code}}}}}\n"
    );
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    let answer = format!("{head}{:x}\r\n{line}\r\n0\r\n\r\n", line.len());
    Fault::Raw(answer.into_bytes(), End::Closed)
}

#[test]
fn a_watch_refused_in_any_way_goes_on_without_loss() -> Result<()> {
    let mut scene = Scene::live()?;
    let status = |code: u16, reason: &str| Fault::Answer(Canned::status(code, reason, "not now"));
    let faults = [
        status(401, "Unauthorized"),
        status(404, "NotFound"),
        status(409, "Conflict"),
        status(410, "Expired"),
        status(422, "Invalid"),
        status(500, "InternalError"),
        status(503, "ServiceUnavailable"),
        status(504, "Timeout"),
        Fault::Answer(Canned::status(429, "TooManyRequests", "slowly").header("Retry-After", "1")),
        Fault::Answer(
            Canned::status(
                504,
                "Timeout",
                "Too large resource version: 99999999, current: 7",
            )
            .header("Retry-After", "1"),
        ),
        Fault::Answer(Canned::status(
            429,
            "TooManyRequests",
            "storage is (re)initializing",
        )),
        Fault::Answer(Canned::text(503, "service unavailable")),
        Fault::Answer(Canned::html(502, "<html>Bad Gateway</html>")),
        Fault::Answer(Canned::html(200, "<html>Please log in</html>\n")),
        Fault::Answer(Canned::text(200, "")),
        error_event(410, "Expired", "too old resource version: 1 (2)"),
        error_event(500, "InternalError", "etcdserver: leader changed"),
        Fault::Raw(Vec::new(), End::Closed),
        Fault::Raw(Vec::new(), End::Reset),
        Fault::Raw(b"\x15\x03\x01\x00\x02\x02\x16".to_vec(), End::Closed),
        Fault::Head(20, End::Closed),
        Fault::Head(100, End::Reset),
    ];
    for fault in faults {
        scene.next_watch(fault)?;
        scene.write()?;
        scene.cluster.wait_sent("endpoints", SURE)?;
    }
    let account = scene.whole(&["endpoints"])?;
    assert!(account.recorded >= 21, "{account:?}");
    Ok(())
}

#[test]
fn a_history_that_comes_back_is_used() -> Result<()> {
    let mut scene = Scene::live()?;
    let rule = scene.fault(
        On::watch(ENDPOINTS).times(3),
        error_event(410, "Expired", "too old resource version: 1 (2)"),
    );
    scene.reconnect(ENDPOINTS)?;
    scene.write()?;
    scene.await_hits(rule, 3)?;
    scene.whole(&["endpoints"])?;
    Ok(())
}

#[test]
fn a_history_that_is_lost_leaves_a_gap_and_the_truth_behind_it() -> Result<()> {
    let mut scene = before_the_gap()?;
    let before = scene.cluster.revision();
    scene.cluster.go_down()?;
    change_unseen(&mut scene)?;
    scene.cluster.compact(scene.cluster.revision());
    let lost_until = scene.cluster.revision();
    come_back(&mut scene)?;
    let account = scene.account(&["endpoints"])?.check()?;
    let [gap] = account.gaps.as_slice() else {
        panic!("one gap is due: {:#?}", account.gaps);
    };
    assert_eq!(gap.cause, GapCause::Expired);
    let from: u128 = gap.from_rv.as_deref().unwrap_or_default().parse()?;
    let to: u128 = gap.to_rv.parse()?;
    assert!(
        from >= before - 1 && to >= lost_until,
        "{gap:?}, {before} to {lost_until}"
    );
    // Of eleven commits three are the last versions of what stands, which the list showed.
    assert_eq!(account.in_gaps, 8, "{account:?}");
    assert!(
        gap.missing_at_most.is_some_and(|bound| bound >= 8),
        "{gap:?}"
    );
    let judged = judged(&scene, gap)?;
    assert_eq!(judged.verdict, GapVerdict::Lost, "{judged:?}");
    assert_eq!(judged.reconstructed, 0, "{judged:?}");
    assert!((1..=6).contains(&judged.requests), "{judged:?}");
    Ok(())
}

#[test]
fn what_may_not_be_read_is_named_and_the_rest_goes_on() -> Result<()> {
    let mut scene = Scene::new()?;
    let message = "secrets is forbidden: User \"tester\" cannot list resource \"secrets\"";
    scene.fault(
        On::path("/api/v1/secrets"),
        Fault::Answer(Canned::status(403, "Forbidden", message)),
    );
    scene.recorded_whole()?;
    let told = scene.notes()?.into_iter().any(|note| {
        matches!(note, Note::NotCovered { plural, reason, detail, .. }
            if plural == "secrets" && reason == NotCoveredReason::Forbidden && detail.contains("cannot list"))
    });
    assert!(told, "{:#?}", scene.notes()?);
    Ok(())
}

#[test]
fn refused_resources_do_not_keep_others_from_being_listed() -> Result<()> {
    let mut scene = Scene::new()?;
    let plurals: Vec<String> = (0..50).map(|number| format!("refused{number}")).collect();
    for plural in &plurals {
        let resource = Resource::built_in("refused.io", "v1", plural, plural);
        scene.cluster.serve(resource);
    }
    let refusal = Canned::status(403, "Forbidden", "not for you");
    let refused = On::path("/apis/refused.io/v1/*");
    scene.fault(refused, Fault::Answer(refusal));
    scene.record()?;
    scene
        .cluster
        .wait_until("each was asked for", SURE, |cluster| {
            let is_asked = |plural: &String| {
                let path = format!("/apis/refused.io/v1/{plural}");
                !cluster.requests_to(&path).is_empty()
            };
            plurals.iter().all(is_asked).then_some(())
        })?;
    scene.await_live(ENDPOINTS)?;
    scene.written_whole()
}

#[test]
fn a_portal_in_front_of_the_server_is_told_and_outlived() -> Result<()> {
    let mut scene = Scene::new()?;
    let portal = scene.fault(
        On::path("*"),
        Fault::Answer(Canned::html(200, "<html>Please log in</html>")),
    );
    scene.record()?;
    scene.await_hits(portal, 2)?;
    scene.cluster.lift(portal);
    scene.await_live(ENDPOINTS)?;
    scene.write()?;
    scene.whole(&["endpoints"])?;
    let told = scene.notes()?.into_iter().any(|note| {
        matches!(note, Note::Lifecycle(Lifecycle::Unreachable { error }) if error.contains("html"))
    });
    assert!(told, "{:#?}", scene.notes()?);
    Ok(())
}
