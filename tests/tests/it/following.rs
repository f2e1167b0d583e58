//! A reel that is followed while a real control plane is recorded: what is printed is what the finished reel says, each
//! event once and in order, and the follower ends with the recorder, however that ends.

use crate::plane::{PLAIN, Turn};
use anyhow::{Context as _, Result, ensure};
use kubereel_tests::control_plane::skipped;
use kubereel_tests::kubectl::Kubectl;
use kubereel_tests::recording::{Page, Recording, program};
use kubereel_tests::scripted::{Kubeconfig, ScriptedCluster};
use kubereel_tests::skipped::say_skipped;
use kubereel_tests::tmux::Terminal;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long anything that is sure to come may take on a busy machine.
const SURE: Duration = Duration::from_mins(1);

/// How long a follower may need to see that its recorder was killed.
pub(crate) const NOTICED: Duration = Duration::from_secs(10);

/// How often a process is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// A folder, a cluster, and who writes to it and records it.
struct Stage {
    folder: TempDir,
    kubectl: Kubectl,
    kubeconfig: PathBuf,
    recording: Option<Recording>,
}

impl Stage {
    /// Records a cluster, once every resource is complete.
    async fn begin(turn: &Turn, kubectl: Kubectl) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let kubeconfig = turn.control_plane()?.kubeconfig(0).to_owned();
        let reel = folder.path().join("run.reel");
        let recording = Recording::start(&reel, &kubeconfig, &["--listen", "127.0.0.1:0"])?;
        let page = Page::of(&recording, SURE).await?;
        let is_ready = page.until_ready(SURE).await;
        is_ready.with_context(|| recording.log())?;
        Ok(Self {
            folder,
            kubectl,
            kubeconfig,
            recording: Some(recording),
        })
    }

    fn reel(&self) -> PathBuf {
        self.folder.path().join("run.reel")
    }

    /// Asks something of the reel.
    fn ask(&self, args: &[&str]) -> Result<Command> {
        asked(self.folder.path(), args)
    }

    /// Asks, and waits for the answer.
    fn answered(&self, args: &[&str]) -> Result<String> {
        let output = self.ask(args)?.output()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(
            output.status.success(),
            "{args:?}: {}: {said}",
            output.status
        );
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Asks, and lets the answer come.
    fn follow(&self, name: &str, args: &[&str]) -> Result<Follower> {
        Follower::start(self.folder.path(), name, args)
    }

    async fn kubectl(&self, args: &[&str]) -> Result<()> {
        self.kubectl.run(&self.kubeconfig, args).await.map(drop)
    }

    async fn create(&self, name: &str) -> Result<()> {
        self.kubectl(&["create", "configmap", name, "--from-literal=round=0"])
            .await
    }

    async fn change(&self, name: &str, round: usize) -> Result<()> {
        let patch = json!({"data": {"round": round.to_string()}}).to_string();
        self.kubectl(&["patch", "configmap", name, "-p", &patch])
            .await
    }

    /// Creates an Event about a config map.
    async fn event(&self, number: usize) -> Result<()> {
        let event = json!({"apiVersion": "v1", "kind": "Event", "type": "Warning",
            "metadata": {"name": format!("follow-{number}"), "namespace": "default"},
            "involvedObject": {"apiVersion": "v1", "kind": "ConfigMap",
                "name": "follow-0", "namespace": "default"},
            "reason": "Followed", "message": format!("number {number}")});
        let path = self.folder.path().join(format!("event-{number}.json"));
        std::fs::write(&path, event.to_string())?;
        let path = path.to_string_lossy();
        self.kubectl(&["create", "-f", &path]).await
    }

    /// Removes the created objects.
    async fn clear(&self, names: &[&str]) -> Result<()> {
        for name in names {
            self.kubectl(&["delete", "configmap", name]).await?;
        }
        self.kubectl(&["delete", "events", "--all"]).await
    }

    /// Ends the recorder in order.
    fn finish(&mut self) -> Result<()> {
        let ended = self.recording.take().context("a recorder")?.finish(SURE)?;
        ensure!(ended.status.success(), "{}: {}", ended.status, ended.log);
        Ok(())
    }

    /// No copy has a name.
    fn has_no_copy(&self) -> Result<()> {
        let folder = self.folder.path().join("cache/kubereel/reels");
        for entry in std::fs::read_dir(folder)? {
            let name = entry?.file_name();
            ensure!(false, "{} is left", name.to_string_lossy());
        }
        Ok(())
    }
}

/// Asks something of the reel in a folder.
pub(crate) fn asked(folder: &Path, args: &[&str]) -> Result<Command> {
    let mut command = Command::new(program()?);
    let (subcommand, rest) = args.split_first().context("a command")?;
    command.arg(subcommand).arg(folder.join("run.reel"));
    // Nothing of the user's own is read or written.
    command
        .args(rest)
        .env("XDG_CACHE_HOME", folder.join("cache"));
    command.env_remove("KUBEREEL");
    Ok(command)
}

/// A command that follows the reel; killed when it is dropped.
pub(crate) struct Follower {
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl Follower {
    /// Asks something of the reel in a folder, and lets the answer come.
    pub(crate) fn start(folder: &Path, name: &str, args: &[&str]) -> Result<Self> {
        let path = |ending| folder.join(format!("{name}.{ending}"));
        let mut command = asked(folder, args)?;
        let (out, err) = (path("out"), path("err"));
        command.stdin(Stdio::null()).stdout(File::create(&out)?);
        let child = command.stderr(File::create(&err)?).spawn()?;
        Ok(Self { child, out, err })
    }

    pub(crate) fn said(&self) -> Result<String> {
        Ok(std::fs::read_to_string(&self.out)?)
    }

    pub(crate) fn complained(&self) -> Result<String> {
        Ok(std::fs::read_to_string(&self.err)?)
    }

    /// Waits until it printed something, on stdout or on stderr.
    fn until_said(&mut self, what: &str) -> Result<()> {
        let deadline = Instant::now() + SURE;
        while !self.said()?.contains(what) && !self.complained()?.contains(what) {
            let status = self.child.try_wait()?;
            let words = || self.complained().unwrap_or_default();
            ensure!(status.is_none(), "ended without {what}: {}", words());
            ensure!(Instant::now() < deadline, "no {what}: {}", words());
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    /// Waits for its end.
    pub(crate) fn ended(&mut self, limit: Duration) -> Result<ExitStatus> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            let words = self.complained()?;
            ensure!(Instant::now() < deadline, "it goes on: {words}");
            std::thread::sleep(LOOK);
        }
    }

    /// Waits for a good end, and returns the output.
    fn ended_well(&mut self) -> Result<String> {
        let status = self.ended(SURE)?;
        ensure!(status.success(), "{status}: {}", self.complained()?);
        self.said()
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        Ok(kill_process(Pid::from_child(&self.child), signal)?)
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        // It may have ended.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The control plane's turn and a kubectl; `None`, reported, where there is none.
async fn setting() -> Result<Option<(Turn, Kubectl)>> {
    if skipped() {
        return Ok(None);
    }
    let Some(kubectl) = Kubectl::on_path() else {
        say_skipped("no kubectl on PATH");
        return Ok(None);
    };
    Ok(Some((Turn::on(&PLAIN).await?, kubectl)))
}

/// What followers print while the reel grows, and what is printed of it once it is whole.
const FOLLOWED: [(&str, &[&str]); 3] = [
    ("watch", &["get", "configmaps", "--watch", "-o", "json"]),
    (
        "names",
        &[
            "get", "cm", "-l", "!x", "-w", "-o", "name", "--from", "start",
        ],
    ),
    ("events", &["events", "-A", "--follow", "-o", "json"]),
];

/// The numbers of records in lines of JSON.
fn seqs(lines: &str) -> Result<Vec<u64>> {
    let seqs = lines.lines().map(|line| {
        let item: Value = serde_json::from_str(line).with_context(|| line.to_owned())?;
        item.pointer("/seq").and_then(Value::as_u64).context("seq")
    });
    seqs.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn followers_print_every_event_once_and_end_with_the_recorder() -> Result<()> {
    let Some((turn, kubectl)) = setting().await? else {
        return Ok(());
    };
    let mut stage = Stage::begin(&turn, kubectl).await?;
    let mut followers = Vec::new();
    for (name, args) in FOLLOWED {
        followers.push((args, stage.follow(name, args)?));
    }
    let history = ["history", "cm/follow-0", "--follow", "-o", "json"];
    let mut versions = stage.follow("history", &history)?;
    let met = [
        "wait",
        "cm/follow-0",
        "--for=jsonpath={.data.round}=3",
        "--follow",
    ];
    let mut met = stage.follow("met", &met)?;
    let unmet = [
        "wait",
        "cm/none",
        "--for=create",
        "--follow",
        "--timeout",
        "2s",
    ];
    stage.create("follow-0").await?;
    stage.create("follow-1").await?;
    for round in 1..=3 {
        stage.change("follow-0", round).await?;
        stage.event(round).await?;
    }
    // The recorder goes on when the condition is met, and when the time is over.
    let said = met.ended_well()?;
    ensure!(
        said.starts_with("configmap/follow-0 condition met at "),
        "{said}"
    );
    // Only now it is sure that ConfigMaps are observed: before, the object may have existed.
    let mut unmet = stage.follow("unmet", &unmet)?;
    let status = unmet.ended(SURE)?;
    ensure!(
        status.code() == Some(1),
        "{status}: {}",
        unmet.complained()?
    );
    for (_, follower) in &mut followers {
        follower.until_said("follow")?;
    }
    stage.clear(&["follow-0", "follow-1"]).await?;
    versions.until_said("\"DELETED\"")?;
    stage.finish()?;
    for (args, follower) in &mut followers {
        let said = follower.ended_well().with_context(|| format!("{args:?}"))?;
        let whole = stage.answered(args)?;
        ensure!(said == whole, "{args:?} said\n{said}\nand not\n{whole}");
        let words = follower.complained()?;
        ensure!(words.contains("note: the recording ended at "), "{words}");
    }
    let said = seqs(&versions.ended_well()?)?;
    let whole = stage.answered(&["history", "cm/follow-0", "-o", "json"])?;
    let whole: Value = serde_json::from_str(&whole)?;
    let items = whole.pointer("/items").and_then(Value::as_array);
    let items = items.context("items")?.iter();
    let whole: Vec<u64> = items
        .filter_map(|item| item.pointer("/seq")?.as_u64())
        .collect();
    ensure!(
        said == whole && said.len() == 5,
        "{said:?} and not {whole:?}"
    );
    stage.has_no_copy()?;
    turn.hand_on();
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_recorder_ends_its_followers_and_a_killed_follower_leaves_nothing() -> Result<()> {
    let Some((turn, kubectl)) = setting().await? else {
        return Ok(());
    };
    let mut stage = Stage::begin(&turn, kubectl).await?;
    let watch = ["get", "configmaps", "-w", "-o", "name"];
    let mut follower = stage.follow("watch", &watch)?;
    let mut ended = stage.follow("ended", &watch)?;
    // A reader that is gone ends it though nothing comes.
    let mut piped = stage.ask(&["events", "--follow"])?;
    let mut piped = piped.stdout(Stdio::piped()).spawn()?;
    stage.create("kept").await?;
    follower.until_said("configmap/kept")?;
    ended.until_said("configmap/kept")?;
    drop(piped.stdout.take());
    let deadline = Instant::now() + NOTICED;
    let status = loop {
        if let Some(status) = piped.try_wait()? {
            break status;
        }
        ensure!(Instant::now() < deadline, "nobody reads, and it goes on");
        std::thread::sleep(LOOK);
    };
    ensure!(status.success(), "{status}");
    // A shell lets what it runs in the background ignore interrupts.
    ended.signal(Signal::TERM)?;
    let status = ended.ended(NOTICED)?;
    ensure!(!status.success(), "{status}");
    stage.has_no_copy()?;
    stage.recording.take().context("a recorder")?.kill()?;
    let status = follower.ended(NOTICED)?;
    let words = follower.complained()?;
    ensure!(status.success(), "{status}: {words}");
    ensure!(
        words.contains(", unfinished: its recorder was killed"),
        "{words}"
    );
    ensure!(follower.said()? == stage.answered(&watch)?);
    // Nobody records it any more: what there is is printed at once.
    let events = stage.ask(&["events", "-A", "-f"])?.output()?;
    let words = String::from_utf8_lossy(&events.stderr).into_owned();
    ensure!(words.contains("note: the recording ends at "), "{words}");
    stage.clear(&["kept"]).await?;
    turn.hand_on();
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reel_that_is_removed_ends_its_followers_with_an_error() -> Result<()> {
    let Some((turn, kubectl)) = setting().await? else {
        return Ok(());
    };
    let stage = Stage::begin(&turn, kubectl).await?;
    let mut follower = stage.follow("watch", &["get", "namespaces", "-w"])?;
    follower.until_said("default")?;
    std::fs::remove_file(stage.reel())?;
    let status = follower.ended(NOTICED)?;
    let words = follower.complained()?;
    ensure!(status.code() == Some(3), "{status}: {words}");
    ensure!(words.contains("error: the reel was removed: "), "{words}");
    turn.hand_on();
    Ok(())
}

/// Where endpoints are watched.
const ENDPOINTS: &str = "/api/v1/endpoints";

#[test]
fn a_gap_is_told_once_it_is_over_and_once_only() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut cluster = ScriptedCluster::start()?;
    let put = |cluster: &ScriptedCluster, round: u32| {
        let data = format!(r#""data":{{"n":"{round}"}}"#);
        cluster.put("endpoints", "default", "written", &data)
    };
    put(&cluster, 0)?;
    let kubeconfig = folder.path().join("kubeconfig");
    cluster.write_kubeconfig(&kubeconfig, &Kubeconfig::Good)?;
    let recording = Recording::start(&folder.path().join("run.reel"), &kubeconfig, &[])?;
    let live = cluster.wait_live(ENDPOINTS, SURE);
    live.with_context(|| recording.log())?;
    let start = |name: &str, args: &[&str]| Follower::start(folder.path(), name, args);
    let mut watch = start("watch", &["get", "endpoints", "-w", "-o", "name"])?;
    let mut history = start("history", &["history", "endpoints/written", "-f"])?;
    watch.until_said("endpoints/written")?;
    history.until_said("existed when the recording started")?;
    cluster.go_down()?;
    for round in 1..9 {
        put(&cluster, round)?;
    }
    cluster.compact(cluster.revision());
    cluster.accept()?;
    watch.until_said("note: not observed ")?;
    history.until_said("── gap ")?;
    let lines = watch.said()?.lines().count();
    put(&cluster, 9)?;
    let deadline = Instant::now() + SURE;
    while watch.said()?.lines().count() <= lines {
        ensure!(Instant::now() < deadline, "{}", watch.complained()?);
        std::thread::sleep(LOOK);
    }
    let ended = recording.finish(SURE)?;
    ensure!(ended.status.success(), "{}: {}", ended.status, ended.log);
    // What is missing is unknown, as it is of the finished reel.
    let status = watch.ended(SURE)?;
    let words = watch.complained()?;
    ensure!(status.code() == Some(4), "{status}: {words}");
    ensure!(words.matches("note: not observed ").count() == 1, "{words}");
    ensure!(
        words.contains("changes may be missing: 1 span not observed"),
        "{words}"
    );
    let said = history.ended_well()?;
    ensure!(said.matches("── gap ").count() == 1, "{said}");
    Ok(())
}

#[test]
fn a_quiet_resource_is_current_soon_after_its_recorder_was_killed_and_started_again() -> Result<()>
{
    let folder = tempfile::tempdir()?;
    let cluster = ScriptedCluster::start()?;
    cluster.put("endpoints", "default", "written", r#""data":{}"#)?;
    let kubeconfig = folder.path().join("kubeconfig");
    cluster.write_kubeconfig(&kubeconfig, &Kubeconfig::Good)?;
    let reel = folder.path().join("run.reel");
    let recording = Recording::start(&reel, &kubeconfig, &[])?;
    let live = cluster.wait_live(ENDPOINTS, SURE);
    live.with_context(|| recording.log())?;
    let current = || -> Result<(bool, String)> {
        let args = ["get", "endpoints/written", "-n", "default"];
        let output = asked(folder.path(), &args)?.output()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        Ok((output.status.success(), said))
    };
    let until_current = || -> Result<()> {
        let deadline = Instant::now() + NOTICED;
        loop {
            let (is_current, said) = current()?;
            if is_current {
                return Ok(());
            }
            ensure!(Instant::now() < deadline, "{said}");
            std::thread::sleep(LOOK);
        }
    };
    until_current()?;
    recording.kill()?;
    // Nothing changes, and the server's next bookmark is a minute away.
    let recording = Recording::start(&reel, &kubeconfig, &[])?;
    let live = cluster.wait_live(ENDPOINTS, SURE);
    live.with_context(|| recording.log())?;
    until_current()?;
    let ended = recording.finish(SURE)?;
    ensure!(ended.status.success(), "{}: {}", ended.status, ended.log);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_screen_is_live_until_the_recorder_ends() -> Result<()> {
    let Some((turn, kubectl)) = setting().await? else {
        return Ok(());
    };
    let mut stage = Stage::begin(&turn, kubectl).await?;
    let home = stage.folder.path().display();
    let (program, reel) = (program()?, stage.reel());
    let command = format!(
        "env HOME={home} XDG_CACHE_HOME={home}/cache XDG_STATE_HOME={home}/state {} tui {} --select configmaps --filter 'ns:default follow'",
        program.display(),
        reel.display()
    );
    let Some(screen) = Terminal::start((120, 40), &command)? else {
        return Ok(());
    };
    screen.until("◉ live")?;
    screen.press(&["G"])?;
    // At the end, what is created shows by itself.
    stage.create("follow-0").await?;
    screen.until_so("the new one", |text| {
        text.contains("default") && text.contains("follow-0") && !text.contains("new: G")
    })?;
    // Elsewhere nothing moves, and what came is counted.
    screen.press(&["g"])?;
    screen.until_so("the start", |text| text.contains("+0s"))?;
    stage.create("follow-1").await?;
    screen.until_so("the count", |text| {
        text.contains("◉ live · ") && text.contains(" new: G") && text.contains("+0s")
    })?;
    screen.press(&["G"])?;
    screen.until_so("the newest", |text| {
        text.contains("follow-1") && !text.contains("new: G")
    })?;
    // The end of a killed recorder ends it, and a recorder that resumes the reel makes it live
    // again: the screen locks no recorder out.
    stage.recording.take().context("a recorder")?.kill()?;
    screen.until("■ ended, unfinished")?;
    stage.recording = Some(Recording::start(&reel, &stage.kubeconfig, &[])?);
    screen.until("◉ live")?;
    stage.create("follow-2").await?;
    screen.until("follow-2")?;
    stage.clear(&["follow-0", "follow-1", "follow-2"]).await?;
    stage.finish()?;
    screen.until_so("the end", |text| {
        text.contains("■ ended") && !text.contains("unfinished")
    })?;
    screen.press(&["q"])?;
    turn.hand_on();
    Ok(())
}
