//! One run of `kubereel record`: its start, its signals, its end, its words. It does not leave it
//! running.
//!
//! Where the `kubereel` program under test comes from. It does not handle a stale one.
//!
//! The recorder's status page, as a monitor reads it. It does not judge what it says.
//!
//! One run of `kubereel observe`, as a pod of a CI job starts it: its surroundings, its signals,
//! its files. It does not leave it running.

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use kubereel_format::{Note, Reel};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// How often a process that is ending is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A recorder at work; killed when it is dropped.
#[derive(Debug)]
pub struct Recording {
    child: Child,
    log: PathBuf,
    reel: PathBuf,
    /// The number of log lines of earlier runs on the same reel.
    lines_before: usize,
}

/// How a recorder ended.
#[derive(Debug, Clone)]
pub struct RecorderExit {
    /// Its exit status.
    pub status: ExitStatus,
    /// Everything that it wrote to stderr.
    pub log: String,
}

impl Recording {
    /// Starts `kubereel record` on a reel; its stderr goes to a file beside it.
    ///
    /// # Errors
    ///
    /// When the program is not there or cannot be started.
    pub fn start(reel: &Path, kubeconfig: &Path, more: &[&str]) -> Result<Self> {
        Self::start_under(&[], reel, kubeconfig, more)
    }

    /// As [`Self::start`], under a program that becomes it, such as `prlimit --nofile=64`.
    ///
    /// # Errors
    ///
    /// When one of both is not there or cannot be started.
    pub fn start_under(
        under: &[&str],
        reel: &Path,
        kubeconfig: &Path,
        more: &[&str],
    ) -> Result<Self> {
        let log = reel.with_extension("log");
        let lines_before = std::fs::read_to_string(&log).map_or(0, |said| said.lines().count());
        let stderr = File::options().create(true).append(true).open(&log)?;
        let mut line: Vec<OsString> = under.iter().map(OsString::from).collect();
        line.push(program()?.into());
        line.extend(["record".into(), "-o".into(), reel.into()]);
        line.extend(["--kubeconfig".into(), kubeconfig.into()]);
        line.extend(more.iter().map(OsString::from));
        let (program, args) = line.split_first().context("a program")?;
        let child = Command::new(program)
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(stderr)
            .spawn()
            .with_context(|| format!("start {}", program.display()))?;
        Ok(Self {
            child,
            log,
            reel: reel.to_owned(),
            lines_before,
        })
    }

    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the number of log lines of earlier runs on the same reel.
    pub fn lines_before(&self) -> usize {
        self.lines_before
    }

    /// The reel it writes.
    pub fn reel(&self) -> &Path {
        &self.reel
    }

    /// Returns everything written to stderr so far, also by earlier runs on the same reel.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Asks it to finish and waits until it has.
    ///
    /// # Errors
    ///
    /// When it is still running after `timeout`; then it is killed.
    pub fn finish(mut self, timeout: Duration) -> Result<RecorderExit> {
        self.signal(Signal::TERM)?;
        let Some(status) = self.wait(timeout)? else {
            let log = self.log();
            bail!("the recorder did not end within {timeout:?}: {log}");
        };
        Ok(RecorderExit {
            status,
            log: self.log(),
        })
    }

    /// Interrupts it as Ctrl-C does.
    ///
    /// # Errors
    ///
    /// When it has ended.
    pub fn interrupt(&self) -> Result<()> {
        self.signal(Signal::INT)
    }

    /// Sends it what a terminal sends that is closed.
    ///
    /// # Errors
    ///
    /// When it has ended.
    pub fn hang_up(&self) -> Result<()> {
        self.signal(Signal::HUP)
    }

    /// Tells whether it has not ended yet.
    ///
    /// # Errors
    ///
    /// When the system does not report it.
    pub fn is_running(&self) -> Result<bool> {
        let id = WaitId::Pid(Pid::from_child(&self.child));
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(id, ended)?.is_none())
    }

    /// Waits until this run has printed something.
    ///
    /// # Errors
    ///
    /// When it does not in time.
    pub fn until_said_since_start(&self, words: &str, patience: Duration) -> Result<()> {
        let deadline = Instant::now() + patience;
        loop {
            let log = self.log();
            if log
                .lines()
                .skip(self.lines_before)
                .any(|line| line.contains(words))
            {
                return Ok(());
            }
            ensure!(Instant::now() < deadline, "nobody said {words:?}: {log}");
            // A log cannot be awaited.
            std::thread::sleep(LOOK_AT_LOG_EVERY);
        }
    }

    /// Waits for an end of its own.
    ///
    /// # Errors
    ///
    /// When it is still running after `timeout`; then it is killed.
    pub fn ended(mut self, timeout: Duration) -> Result<RecorderExit> {
        let Some(status) = self.wait(timeout)? else {
            let log = self.log();
            bail!("the recorder still runs after {timeout:?}: {log}");
        };
        Ok(RecorderExit {
            status,
            log: self.log(),
        })
    }

    /// Kills it with SIGKILL; returns once it is gone.
    ///
    /// # Errors
    ///
    /// When it had ended before.
    pub fn kill(mut self) -> Result<()> {
        if let Some(status) = self.child.try_wait()? {
            bail!("the recorder ended by itself, {status}: {}", self.log());
        }
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Kills it with SIGKILL unless it has ended; returns once it is gone.
    ///
    /// # Errors
    ///
    /// When the system does not let it be waited for.
    pub fn kill_if_running(mut self) -> Result<()> {
        if self.child.try_wait()?.is_none() {
            self.child.kill()?;
            self.child.wait()?;
        }
        Ok(())
    }

    /// Stops it with SIGSTOP; returns once it stands.
    ///
    /// # Errors
    ///
    /// When it has ended.
    pub fn pause(&self) -> Result<()> {
        self.signal(Signal::STOP)?;
        let changes = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(Pid::from_child(&self.child)), changes)?;
        Ok(())
    }

    /// Lets it go on.
    ///
    /// # Errors
    ///
    /// When it has ended.
    pub fn resume(&self) -> Result<()> {
        self.signal(Signal::CONT)
    }

    /// The most memory it has had at once, in KiB.
    ///
    /// # Errors
    ///
    /// When the system does not report it.
    pub fn peak_memory_kib(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let text = line.context("no VmHWM")?.trim().trim_end_matches(" kB");
        Ok(text.parse()?)
    }

    /// Whether it keeps bodies in its temporary file, which has no name any more.
    ///
    /// # Errors
    ///
    /// When the system does not report it.
    pub fn has_body_file(&self) -> Result<bool> {
        for file in std::fs::read_dir(format!("/proc/{}/fd", self.child.id()))? {
            // One that was closed meanwhile has no target.
            let target = std::fs::read_link(file?.path()).unwrap_or_default();
            let name = target.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with(".kubereel-") && name.ends_with(".tmp (deleted)") {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        kill_process(Pid::from_child(&self.child), signal)
            .with_context(|| format!("the recorder has ended: {}", self.log()))
    }

    fn wait(&mut self, timeout: Duration) -> Result<Option<ExitStatus>> {
        let deadline = Instant::now() + timeout;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Some(status));
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            // The end of a child cannot be awaited with a limit without a thread for it.
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        // Both fail only when it is gone already, which is all that is wanted here.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Names another program to test.
const PROGRAM: &str = "KUBEREEL_BIN";

static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();

/// The program: the one `KUBEREEL_BIN` names, else the workspace's, built first.
///
/// Cargo builds the binary of another package for its own tests only, so that what lies beside
/// these tests may be old. It is built with the features of the whole workspace, as
/// `cargo test --workspace` has built it already.
///
/// # Errors
///
/// When it cannot be built.
pub fn program() -> Result<PathBuf> {
    BUILT
        .get_or_init(|| build().map_err(|error| format!("{error:#}")))
        .clone()
        .map_err(|error| anyhow!(error))
}

fn build() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os(PROGRAM) {
        return Ok(path.into());
    }
    let test = std::env::current_exe()?;
    let folder = test
        .ancestors()
        .find(|folder| folder.join("deps").is_dir())
        .context("the tests lie in no target folder")?;
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .args(["build", "--quiet", "--workspace", "--bin", "kubereel"]);
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    // What cargo says to this test is not what it says at a shell; dependencies whose build scripts
    // look at it would be built anew, each time.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(&*name);
        }
    }
    let output = cargo.output().context("cargo build")?;
    ensure!(
        output.status.success(),
        "cargo build: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(folder.join(format!("kubereel{}", std::env::consts::EXE_SUFFIX)))
}

/// How often a page is asked for while something is awaited.
const EVERY: Duration = Duration::from_millis(100);

/// The status page of a recorder.
#[derive(Debug)]
pub struct Page {
    address: String,
}

impl Page {
    /// Finds the address in the recorder's log.
    ///
    /// # Errors
    ///
    /// When it does not log one in time.
    pub async fn of(recording: &Recording, patience: Duration) -> Result<Self> {
        let deadline = Instant::now() + patience;
        let already = recording.lines_before();
        loop {
            let log = recording.log();
            // Earlier runs on the same reel logged theirs before.
            let said = log
                .lines()
                .skip(already)
                .find_map(|line| line.split_once("serving the status page address="));
            if let Some((_, address)) = said {
                let address = address.trim().to_owned();
                return Ok(Self { address });
            }
            if Instant::now() > deadline {
                bail!("no status page: {log}");
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    async fn get(&self, path: &str) -> Result<(String, String)> {
        let mut stream = TcpStream::connect(&self.address).await?;
        stream
            .write_all(format!("GET {path} HTTP/1.1\r\n\r\n").as_bytes())
            .await?;
        let mut text = String::new();
        stream.read_to_string(&mut text).await?;
        let (head, body) = text.split_once("\r\n\r\n").context("no HTTP answer")?;
        let status = head.lines().next().unwrap_or_default().to_owned();
        Ok((status, body.to_owned()))
    }

    /// Waits until every resource is complete.
    ///
    /// # Errors
    ///
    /// When that takes too long.
    pub async fn until_ready(&self, patience: Duration) -> Result<()> {
        let deadline = Instant::now() + patience;
        loop {
            let (status, body) = self.get("/readyz").await?;
            if status.contains("200") {
                return Ok(());
            }
            if Instant::now() > deadline {
                bail!("not ready: {body}");
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    /// Reads all that it says: counters, and what is not well.
    ///
    /// # Errors
    ///
    /// When it does not answer.
    pub async fn text(&self) -> Result<String> {
        let (_, metrics) = self.get("/metrics").await?;
        let (_, ready) = self.get("/readyz").await?;
        ensure!(!metrics.is_empty(), "the page is empty");
        Ok(metrics + &ready)
    }

    /// Reads one number of the metrics.
    ///
    /// # Errors
    ///
    /// When there is none of that name.
    pub async fn number(&self, name: &str) -> Result<u64> {
        let (_, body) = self.get("/metrics").await?;
        let line = body.lines().find_map(|line| line.strip_prefix(name));
        Ok(line.context("no such metric")?.trim().parse()?)
    }
}

/// How often something that tells nobody is looked at.
const LOOK_AT_LOG_EVERY: Duration = Duration::from_millis(20);

/// An observer at work; killed when it is dropped.
#[derive(Debug)]
pub struct Observing {
    child: Child,
    log: PathBuf,
    folder: PathBuf,
}

/// Tells whether a process has a handler for a signal.
fn catches(pid: Pid, signal: Signal) -> Result<bool> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero()))?;
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigCgt:"));
    let mask = u64::from_str_radix(mask.context("no signals")?.trim(), 16)?;
    Ok(mask & (1 << (signal.as_raw() - 1)) != 0)
}

/// The outputs of an observer.
#[derive(Debug)]
pub struct Observed {
    /// How it ended.
    pub status: ExitStatus,
    /// How long that took after the signal.
    pub took: Duration,
    /// Everything that it wrote to stderr.
    pub log: String,
    /// Its output folder.
    pub folder: PathBuf,
}

impl Observing {
    /// Starts `kubereel observe` with an output folder and these variables, beside no other of a job.
    ///
    /// # Errors
    ///
    /// When the program is not there or cannot be started.
    pub fn start(folder: &Path, variables: &[(&str, &str)], more: &[&str]) -> Result<Self> {
        let log = folder.with_extension(format!("{}.log", more.join("_").replace('/', "")));
        let program = program()?;
        let child = Command::new(&program)
            .arg("observe")
            .arg("--output-dir")
            .arg(folder)
            .args(more)
            .env_remove("KUBECONFIG")
            .env_remove("KUBECONFIGMINIMAL")
            .env_remove("RUST_LOG")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log)?)
            .spawn()
            .with_context(|| format!("start {}", program.display()))?;
        Ok(Self {
            child,
            log,
            folder: folder.to_owned(),
        })
    }

    /// Returns everything written to stderr so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Waits until it has written a text.
    ///
    /// # Errors
    ///
    /// When it does not in time.
    pub fn until_said(&self, words: &str, patience: Duration) -> Result<()> {
        let deadline = Instant::now() + patience;
        while !self.log().contains(words) {
            if Instant::now() > deadline {
                bail!("nobody said {words:?}: {}", self.log());
            }
            // A log is not an event; this is as near as it comes.
            std::thread::sleep(LOOK_AT_LOG_EVERY);
        }
        Ok(())
    }

    /// The address of its status page, once it serves one.
    ///
    /// # Errors
    ///
    /// When it does not in time.
    pub fn page(&self, patience: Duration) -> Result<String> {
        const SAYS: &str = "serving the status page address=";
        self.until_said(SAYS, patience)?;
        let log = self.log();
        let said = log.lines().find_map(|line| line.split_once(SAYS));
        Ok(said.context("it was said")?.1.trim().to_owned())
    }

    /// Sends it SIGTERM as soon as that does not kill it.
    ///
    /// # Errors
    ///
    /// When it would still kill it after `patience`.
    pub fn terminate(&self, patience: Duration) -> Result<()> {
        let pid = Pid::from_child(&self.child);
        let deadline = Instant::now() + patience;
        while !catches(pid, Signal::TERM)? {
            ensure!(Instant::now() < deadline, "SIGTERM would kill it");
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(kill_process(pid, Signal::TERM)?)
    }

    /// Ends it as a pod's entrypoint does: SIGINT, and SIGTERM at once.
    ///
    /// # Errors
    ///
    /// When it still runs after `patience`; then it is killed.
    pub fn end(mut self, patience: Duration) -> Result<Observed> {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::INT)?;
        // It may have ended between the two.
        kill_process(pid, Signal::TERM).ok();
        self.ended(patience)
    }

    /// Waits for an end of its own.
    ///
    /// # Errors
    ///
    /// When it still runs after `patience`; then it is killed.
    pub fn ended(&mut self, patience: Duration) -> Result<Observed> {
        let began = Instant::now();
        while began.elapsed() < patience {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Observed {
                    status,
                    took: began.elapsed(),
                    log: self.log(),
                    folder: self.folder.clone(),
                });
            }
            // The end of a child cannot be awaited with a limit without a thread for it.
            std::thread::sleep(LOOK_EVERY);
        }
        bail!("it still runs after {patience:?}: {}", self.log())
    }

    /// Kills it with SIGKILL; returns once it is gone.
    ///
    /// # Errors
    ///
    /// When it had ended before.
    pub fn kill(mut self) -> Result<PathBuf> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(self.folder.clone())
    }
}

impl Drop for Observing {
    fn drop(&mut self) {
        // Both fail only when it is gone already, which is all that is wanted here.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Observed {
    /// The one file of a folder of the output whose name ends so.
    ///
    /// # Errors
    ///
    /// When there is none, or more than one.
    pub fn file(&self, folder: &str, ending: &str) -> Result<PathBuf> {
        let mut found = files_in(&self.folder.join(folder))?;
        found.retain(|path| path.to_string_lossy().ends_with(ending));
        match found.as_slice() {
            [one] => Ok(one.clone()),
            other => bail!("{folder}/*{ending}: {other:?}: {}", self.log),
        }
    }

    /// A text of the output.
    ///
    /// # Errors
    ///
    /// When there is none, or more than one.
    pub fn text(&self, folder: &str, ending: &str) -> Result<String> {
        Ok(std::fs::read_to_string(self.file(folder, ending)?)?)
    }

    /// One value of `metadata.json`.
    ///
    /// # Errors
    ///
    /// When the file is none, or holds anything but texts.
    pub fn metadata(&self, name: &str) -> Result<String> {
        let text = std::fs::read_to_string(self.folder.join("metadata.json"))?;
        let rows: std::collections::BTreeMap<String, String> = serde_json::from_str(&text)?;
        let value = rows.get(&format!("kubereel-{name}"));
        value.cloned().with_context(|| format!("{name}: {text}"))
    }

    /// The notes of the reel, in order.
    ///
    /// # Errors
    ///
    /// When the reel cannot be read.
    pub fn notes(&self) -> Result<Vec<Note>> {
        let reel = Reel::open(&self.file("artifacts", ".reel")?)?;
        let notes = reel.notes().iter();
        Ok(notes.map(|entry| entry.note.clone()).collect())
    }

    /// Every file of the output, and the log beside it.
    ///
    /// # Errors
    ///
    /// When a folder cannot be read.
    pub fn files(&self) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for folder in ["", "artifacts", "junit"] {
            files.extend(files_in(&self.folder.join(folder))?);
        }
        files.retain(|path| path.is_file());
        Ok(files)
    }
}

fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        found.push(entry?.path());
    }
    found.sort();
    Ok(found)
}
