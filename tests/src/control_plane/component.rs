//! A component of the control plane: how it is started, again and again on the same port, and
//! the process it is at the moment, if any.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail};
use rustix::process::Signal;

use super::guard::Guard;
use super::process::Process;

/// More than any component needs to end by itself; an API server with a long
/// `--shutdown-delay-duration` needs most.
const STOP_LIMIT: Duration = Duration::from_mins(2);

/// How many lines of a log an error message carries.
const TAIL_LINES: usize = 30;

/// One process of a control plane that can be killed, stopped, paused and started again.
///
/// Dropping it kills the process and reaps it.
#[derive(Debug)]
pub struct Component {
    name: String,
    program: PathBuf,
    args: Vec<OsString>,
    log: PathBuf,
    guard: Arc<Guard>,
    process: Mutex<Option<Process>>,
}

impl Component {
    /// Describes a component; `role` is the word by which the control plane's binary knows it.
    pub(crate) fn new(
        name: &str,
        binary: &Path,
        role: &str,
        flags: Vec<OsString>,
        log: PathBuf,
        guard: &Arc<Guard>,
    ) -> Self {
        let mut args = vec![OsString::from(role)];
        args.extend(flags);
        Self {
            name: name.to_owned(),
            program: binary.to_owned(),
            args,
            log,
            guard: Arc::clone(guard),
            process: Mutex::new(None),
        }
    }

    /// Starts the process and does not wait for it to be ready.
    ///
    /// # Errors
    /// When it runs already or cannot be started.
    pub fn spawn(&self) -> anyhow::Result<()> {
        let mut process = self.lock();
        if process.as_ref().is_some_and(|process| !process.has_ended()) {
            bail!("{} is running already", self.name);
        }
        let started = Process::spawn(
            &self.program,
            &self.args,
            &self.log,
            Arc::clone(&self.guard),
        )
        .with_context(|| format!("cannot start {}", self.name))?;
        *process = Some(started);
        Ok(())
    }

    /// Ends the process with SIGKILL and waits until it is gone.
    ///
    /// # Errors
    /// When it does not run.
    pub async fn kill(&self) -> anyhow::Result<()> {
        self.end_by(Signal::KILL).await.map(drop)
    }

    /// Ends the process with SIGTERM and waits until it is gone, as long as its shutdown takes.
    ///
    /// # Errors
    /// When it does not run, or ignores the signal for two minutes; it is killed then.
    pub async fn stop(&self) -> anyhow::Result<ExitStatus> {
        self.end_by(Signal::TERM).await
    }

    /// Halts the process with SIGSTOP and returns when it stands still: its port stays open, its connections fall silent.
    ///
    /// # Errors
    /// When it does not run.
    pub fn pause(&self) -> anyhow::Result<()> {
        self.running(Process::pause)
    }

    /// Lets a paused process go on.
    ///
    /// # Errors
    /// When it does not run.
    pub fn resume(&self) -> anyhow::Result<()> {
        self.running(|process| process.signal(Signal::CONT))
    }

    /// The process at the moment; none while it is down.
    pub fn pid(&self) -> Option<u32> {
        self.lock()
            .as_ref()
            .filter(|process| !process.has_ended())
            .map(Process::pid)
    }

    /// Where the output of all its processes goes, one after the other.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// What messages call it: `etcd`, `api-0`, …
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Fails when the process has ended, with the end of its log.
    pub(crate) fn check_alive(&self) -> anyhow::Result<()> {
        match self.pid() {
            Some(_) => Ok(()),
            None => bail!("{} ended by itself\n{}", self.name, self.log_tail()),
        }
    }

    /// The last lines of the log, under the log's path, for error messages.
    pub(crate) fn log_tail(&self) -> String {
        let text = match std::fs::read(&self.log) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => format!("(cannot be read: {error})"),
        };
        let lines: Vec<&str> = text.lines().collect();
        let tail = lines.iter().skip(lines.len().saturating_sub(TAIL_LINES));
        let tail: String = tail.flat_map(|line| ["\n    ", line]).collect();
        format!("  end of {}:{tail}", self.log.display())
    }

    async fn end_by(&self, signal: Signal) -> anyhow::Result<ExitStatus> {
        let process = self
            .lock()
            .take()
            .with_context(|| format!("{} is not running", self.name))?;
        process.signal(signal).with_context(|| self.name.clone())?;
        match tokio::time::timeout(STOP_LIMIT, process.end()).await {
            Ok(status) => status,
            Err(_elapsed) => bail!(
                "{} did not end within {STOP_LIMIT:?} of {signal:?}\n{}",
                self.name,
                self.log_tail()
            ),
        }
    }

    fn running(&self, act: impl FnOnce(&Process) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let process = self.lock();
        let process = process
            .as_ref()
            .with_context(|| format!("{} is not running", self.name))?;
        act(process).with_context(|| self.name.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Option<Process>> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
