//! Owns one run of `kubereel observe`, as a pod of a CI job starts it: its surroundings, its signals, its
//! files. Refuses to leave it running.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use kubereel_format::{Note, Reel};
use rustix::process::{Pid, Signal, kill_process};

use super::program::program;

/// How often something that tells nobody is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// An observer at work; killed when it is dropped.
#[derive(Debug)]
pub struct Observing {
    child: Child,
    log: PathBuf,
    folder: PathBuf,
}

/// What an observer left.
#[derive(Debug)]
pub struct Observed {
    /// How it ended.
    pub status: ExitStatus,
    /// How long that took after the signal.
    pub took: Duration,
    /// Everything it said on stderr.
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

    /// Everything said on stderr so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Waits until it has said something.
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
            // A log is no event; this is as near as it comes.
            std::thread::sleep(LOOK_EVERY);
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
