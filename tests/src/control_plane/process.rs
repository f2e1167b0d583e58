//! One running process of a component: signals to it, and its end.
//!
//! A thread waits for the end without reaping, then reaps under the same lock that sending a
//! signal takes: a signal can therefore never reach a stranger who got the pid next.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::thread::JoinHandle;

use anyhow::{Context as _, anyhow, bail};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::sync::watch;

/// Waits for a word on stdin before it becomes the program, so that there is no moment in which
/// the program runs and the guard does not know it.
const GATE: &str = r#"read -r word && exec "$0" "$@" </dev/null"#;

#[derive(Debug)]
pub(crate) struct Process {
    pid: u32,
    child: Arc<Mutex<Running>>,
    ended: watch::Receiver<Option<ExitStatus>>,
    reaper: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Running {
    child: Child,
    reaped: bool,
}

impl Process {
    /// Starts `program` in a process group of its own, its output appended to `log`.
    pub(crate) fn spawn(
        program: &Path,
        args: &[OsString],
        log: &Path,
        guard: Arc<Guard>,
    ) -> anyhow::Result<Self> {
        let output = File::options()
            .create(true)
            .append(true)
            .open(log)
            .with_context(|| format!("cannot open {}", log.display()))?;
        let mut child = Command::new("sh")
            .args(["-c", GATE])
            .arg(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(output.try_clone()?)
            .stderr(output)
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let pid = child.id();
        let mut gate = child.stdin.take().context("no pipe to the process")?;
        guard.started(pid)?;
        writeln!(gate, "go").context("the process ended before it began")?;
        drop(gate);

        let child = Arc::new(Mutex::new(Running {
            child,
            reaped: false,
        }));
        let (sender, ended) = watch::channel(None);
        let reaper = thread::Builder::new()
            .name(format!("reaper-{pid}"))
            .spawn({
                let child = Arc::clone(&child);
                move || {
                    await_change(pid, WaitIdOptions::EXITED);
                    let status = {
                        let mut running = child.lock().unwrap_or_else(PoisonError::into_inner);
                        running.reaped = true;
                        running.child.wait()
                    };
                    // Fails only when the guard is gone, and then there is nobody to tell.
                    drop(guard.reaped(pid));
                    drop(guard);
                    sender.send_replace(status.ok());
                }
            })?;
        Ok(Self {
            pid,
            child,
            ended,
            reaper: Some(reaper),
        })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.reaper.as_ref().is_none_or(JoinHandle::is_finished) || self.ended.borrow().is_some()
    }

    /// Waits for the end, however it comes.
    pub(crate) async fn end(&self) -> anyhow::Result<ExitStatus> {
        let mut ended = self.ended.clone();
        let status = *ended
            .wait_for(Option::is_some)
            .await
            .map_err(|_closed| anyhow!("the end of process {} could not be read", self.pid))?;
        status.context("a process that ended has no status")
    }

    pub(crate) fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let running = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        if running.reaped {
            bail!("process {} has already ended", self.pid);
        }
        kill_process_group(Pid::from_child(&running.child), signal)
            .with_context(|| format!("cannot signal process {}", self.pid))
    }

    /// Sends SIGSTOP and returns when every thread has halted, which takes a moment:
    /// until then a request could still be answered.
    pub(crate) fn pause(&self) -> anyhow::Result<()> {
        self.signal(Signal::STOP)?;
        await_change(self.pid, WaitIdOptions::STOPPED | WaitIdOptions::EXITED);
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // An error means that it has ended already, which is all that is wanted here.
        drop(self.signal(Signal::KILL));
        if let Some(reaper) = self.reaper.take() {
            drop(reaper.join());
        }
    }
}

/// Blocks until the child has changed as told; leaves it for `Child::wait` to reap.
fn await_change(pid: u32, changes: WaitIdOptions) {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return;
    };
    let changes = changes | WaitIdOptions::NOWAIT;
    while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(pid), changes) {}
}

/// With any value, folders and logs stay; their path is in every error message.
const KEEP: &str = "KUBEREEL_KEEP";

/// `$1` is the folder to remove, empty to keep it. The removal is repeated because a process that
/// was just killed may still be ending.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
pids=
while read -r change pid; do
    if [ "$change" = started ]; then
        pids="$pids $pid"
    else
        left=
        for other in $pids; do [ "$other" = "$pid" ] || left="$left $other"; done
        pids=$left
    fi
done
for pid in $pids; do kill -s KILL -- "-$pid"; done
[ -n "$1" ] || exit 0
for attempt in 1 2 3 4 5; do
    rm -rf -- "$1" && exit 0
    sleep 0.2
done
"#;

/// The last resort: a shell beside the test process that ends what a killed test process left.
///
/// It reads the pids that live from a pipe. When the pipe closes, because the control plane was
/// dropped or because the test process is gone, even by SIGKILL, it kills the process groups that
/// are left and removes the folder. So it is also the one owner of the folder's removal.
/// A parent-death signal would not do: it follows the thread that forked, and tests share a
/// control plane across threads.
#[derive(Debug)]
pub(crate) struct Guard {
    shell: Mutex<Child>,
    pipe: Mutex<Option<ChildStdin>>,
}

impl Guard {
    /// Starts the shell; from now on `dir` disappears with this process.
    pub(crate) fn over(dir: &Path) -> anyhow::Result<Self> {
        let removed = if std::env::var_os(KEEP).is_some() {
            Path::new("")
        } else {
            dir
        };
        let mut shell = Command::new("sh")
            .args(["-c", SCRIPT, "control-plane-guard"])
            .arg(removed)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0) // out of reach of an interrupt at the terminal
            .spawn()
            .context("cannot start the guard's shell")?;
        let pipe = shell.stdin.take();
        Ok(Self {
            shell: Mutex::new(shell),
            pipe: Mutex::new(pipe),
        })
    }

    pub(crate) fn started(&self, pid: u32) -> anyhow::Result<()> {
        self.tell("started", pid)
    }

    pub(crate) fn reaped(&self, pid: u32) -> anyhow::Result<()> {
        self.tell("reaped", pid)
    }

    fn tell(&self, change: &str, pid: u32) -> anyhow::Result<()> {
        let mut pipe = self.pipe.lock().unwrap_or_else(PoisonError::into_inner);
        let pipe = pipe.as_mut().context("the guard has no pipe")?;
        writeln!(pipe, "{change} {pid}").context("the guard of the control plane is gone")
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(
            self.pipe
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
        // Waited for, so that a test that looks afterwards finds nothing; an error means it is gone.
        drop(
            self.shell
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .wait(),
        );
    }
}
