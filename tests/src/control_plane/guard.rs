//! The last resort: a shell beside the test process that ends what a killed test process left.
//!
//! It reads the pids that live from a pipe. When the pipe closes, because the control plane was
//! dropped or because the test process is gone, even by SIGKILL, it kills the process groups that
//! are left and removes the folder. So it is also the one owner of the folder's removal.
//! A parent-death signal would not do: it follows the thread that forked, and tests share a
//! control plane across threads.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;

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
