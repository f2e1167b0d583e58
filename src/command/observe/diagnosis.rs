//! What an observer says of the cluster when the recording is done: problems, the story, the rules' JUnit.
//!
//! Each is made by a process of its own, which has the rest of the grace period: one that takes too long or
//! too much memory is ended, and the recording, which is whole by then, stays as it is.

use crate::redaction::public;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often a process is asked whether it has ended.
const POLL: Duration = Duration::from_millis(20);

/// Where the JUnit of the rules is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum RulesReport {
    /// Beside the reel, where the tests of the job are not looked for
    Informing,
    /// Into the folder of the job's JUnit files: failed rules count as failed tests
    Blocking,
    /// Not at all
    Off,
}

/// Writes problems, story and JUnit beside a finished reel; gives what could not be done.
pub(super) fn diagnose(
    reel: &Path,
    rules: RulesReport,
    output: &Path,
    budget: Duration,
) -> Vec<String> {
    let until = Instant::now() + budget;
    let stem = reel.with_extension("");
    let beside = |ending: &str| {
        let mut name = stem.clone().into_os_string();
        name.push(ending);
        PathBuf::from(name)
    };
    let run = Children {
        reel,
        until,
        failed: Vec::new(),
    };
    let run = run.write("story", &[], &beside("-story.txt")).write(
        "problems",
        &["-o", "json"],
        &beside("-problems.jsonl"),
    );
    let folder = match rules {
        RulesReport::Off => return run.failed,
        RulesReport::Informing => beside("-rules"),
        RulesReport::Blocking => output.join("junit"),
    };
    run.judge(&folder).failed
}

struct Children<'a> {
    reel: &'a Path,
    until: Instant,
    failed: Vec<String>,
}

impl Children<'_> {
    /// Runs a command and keeps what it prints, if it comes to its end.
    fn write(mut self, command: &str, more: &[&str], target: &Path) -> Self {
        let part = target.with_extension("part");
        let printed = File::create(&part).and_then(|file| {
            let mut child = Command::new(std::env::current_exe()?);
            child.arg(command).arg(self.reel).args(more).stdout(file);
            self.ended(child)
        });
        let kept = printed.and_then(|status| {
            // Of a reel that is damaged (3) or misses changes (4), what was read is an answer, too.
            let is_answer = matches!(status.code(), Some(0 | 3 | 4));
            if is_answer && std::fs::metadata(&part)?.len() == 0 {
                // No problem: the story says so, and what was looked at.
                std::fs::remove_file(&part)
            } else if is_answer {
                std::fs::rename(&part, target)
            } else {
                Err(io::Error::other(format!("{status}")))
            }
        });
        if let Err(error) = kept {
            // What is not whole is not left; a file that was never made cannot be removed.
            drop(std::fs::remove_file(&part));
            self.failed
                .push(public(&format!("kubereel {command}: {error}")));
        }
        self
    }

    /// Runs the rules; their verdict is in the files, and never an error.
    fn judge(mut self, folder: &Path) -> Self {
        let judged = std::env::current_exe().and_then(|program| {
            let mut child = Command::new(program);
            child.arg("test").arg(self.reel).arg("--junit").arg(folder);
            child.stdout(Stdio::null());
            self.ended(child)
        });
        match judged {
            Ok(status) if matches!(status.code(), Some(0 | 1 | 3 | 4)) => {}
            Ok(status) => self.failed.push(format!("kubereel test: {status}")),
            Err(error) => self.failed.push(public(&format!("kubereel test: {error}"))),
        }
        self
    }

    /// Waits for a process as long as there is time.
    fn ended(&self, mut child: Command) -> io::Result<ExitStatus> {
        let mut child = child.stdin(Stdio::null()).stderr(Stdio::null()).spawn()?;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            if Instant::now() >= self.until {
                child.kill()?;
                child.wait()?;
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "the grace period was over",
                ));
            }
            sleep(POLL);
        }
    }
}
