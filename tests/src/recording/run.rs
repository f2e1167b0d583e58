//! Owns one run of `kubereel record`: its start, its signals, its end, its words.
//! Refuses to leave it running.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::program::program;

/// How often a process that is ending is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A recorder at work; killed when it is dropped.
#[derive(Debug)]
pub struct Recording {
    child: Child,
    log: PathBuf,
    reel: PathBuf,
    /// How many lines earlier runs on the same reel said.
    lines_before: usize,
}

/// How a recorder ended.
#[derive(Debug, Clone)]
pub struct Ended {
    /// Its exit status.
    pub status: ExitStatus,
    /// Everything it said on stderr.
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

    /// How many lines of the log earlier runs on the same reel said.
    pub fn lines_before(&self) -> usize {
        self.lines_before
    }

    /// The reel it writes.
    pub fn reel(&self) -> &Path {
        &self.reel
    }

    /// Everything said on stderr so far, by earlier runs on the same reel too.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Asks it to finish and waits until it has.
    ///
    /// # Errors
    ///
    /// When it is still running after `timeout`; then it is killed.
    pub fn finish(mut self, timeout: Duration) -> Result<Ended> {
        self.signal(Signal::TERM)?;
        let Some(status) = self.wait(timeout)? else {
            let log = self.log();
            bail!("the recorder did not end within {timeout:?}: {log}");
        };
        Ok(Ended {
            status,
            log: self.log(),
        })
    }

    /// Waits for an end of its own.
    ///
    /// # Errors
    ///
    /// When it is still running after `timeout`; then it is killed.
    pub fn ended(mut self, timeout: Duration) -> Result<Ended> {
        let Some(status) = self.wait(timeout)? else {
            let log = self.log();
            bail!("the recorder still runs after {timeout:?}: {log}");
        };
        Ok(Ended {
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
    /// When the system does not tell.
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
    /// When the system does not tell.
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
