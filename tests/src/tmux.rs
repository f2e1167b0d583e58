//! A terminal that can be looked at: tmux, with a server of its own. It does not touch anybody
//! else's: each session has its own socket, and ends with it.

use crate::skipped::say_skipped;
use anyhow::{Context as _, Result, bail, ensure};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How often it is looked.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long anything may take to show: machines of CI are slow.
const PATIENCE: Duration = Duration::from_mins(1);

/// A terminal of a size, with a program in it.
#[derive(Debug)]
pub struct Terminal {
    folder: TempDir,
}

impl Terminal {
    /// Starts a program in a terminal of this many columns and rows; `None`, reported, without
    /// tmux.
    ///
    /// # Errors
    /// When tmux fails.
    pub fn start(size: (u16, u16), program: &str) -> Result<Option<Self>> {
        let found = Command::new("tmux")
            .arg("-V")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if found.is_err() {
            say_skipped("no tmux");
            return Ok(None);
        }
        let terminal = Self {
            folder: tempfile::tempdir()?,
        };
        let (columns, rows) = (size.0.to_string(), size.1.to_string());
        terminal.tmux(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            &columns,
            "-y",
            &rows,
            program,
        ])?;
        // Resizing follows what is asked for here, and a program that ended stays to be looked at.
        terminal.tmux(&["set-option", "-g", "window-size", "manual"])?;
        terminal.tmux(&["set-option", "-g", "remain-on-exit", "on"])?;
        terminal.tmux(&["set-option", "-s", "escape-time", "0"])?;
        Ok(Some(terminal))
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("tmux")
    }

    fn tmux(&self, args: &[&str]) -> Result<String> {
        let output = Command::new("tmux")
            .arg("-S")
            .arg(self.socket())
            .args(args)
            .env_remove("TMUX")
            .env("TERM", "xterm-256color")
            .env("LC_ALL", "C.UTF-8")
            .output()
            .context("tmux")?;
        ensure!(
            output.status.success(),
            "tmux {args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Presses keys, in the words of tmux: letters, `Enter`, `Escape`, `Down`.
    ///
    /// # Errors
    /// When tmux fails.
    pub fn press(&self, keys: &[&str]) -> Result<()> {
        let args: Vec<&str> = ["send-keys"]
            .into_iter()
            .chain(keys.iter().copied())
            .collect();
        self.tmux(&args).map(drop)
    }

    /// Writes a line, and Enter.
    ///
    /// # Errors
    /// When tmux fails.
    pub fn enter(&self, line: &str) -> Result<()> {
        self.tmux(&["send-keys", "-l", line])?;
        self.press(&["Enter"])
    }

    /// Makes the terminal another size.
    ///
    /// # Errors
    /// When tmux fails.
    pub fn resize(&self, columns: u16, rows: u16) -> Result<()> {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        self.tmux(&["resize-window", "-x", &columns, "-y", &rows])
            .map(drop)
    }

    /// Returns what shows.
    ///
    /// # Errors
    /// When tmux fails.
    pub fn screen(&self) -> Result<String> {
        self.tmux(&["capture-pane", "-p"])
    }

    /// Returns what tmux knows of the terminal, by a format such as `#{cursor_flag}`.
    ///
    /// # Errors
    /// When tmux fails.
    pub fn told(&self, format: &str) -> Result<String> {
        Ok(self
            .tmux(&["display-message", "-p", format])?
            .trim()
            .to_owned())
    }

    /// Returns the number of the process that was started in it.
    ///
    /// # Errors
    /// When tmux fails.
    pub fn process(&self) -> Result<u32> {
        Ok(self.told("#{pane_pid}")?.parse()?)
    }

    /// Waits until something shows, and returns the screen.
    ///
    /// # Errors
    /// When it does not show in time; the error has the last screen.
    pub fn until(&self, words: &str) -> Result<String> {
        self.until_so(words, |screen| screen.contains(words))
    }

    /// Waits until the screen is as it should be, and gives it.
    ///
    /// # Errors
    /// When it does not become so in time; the error has the last screen.
    pub fn until_so(&self, what: &str, is_so: impl Fn(&str) -> bool) -> Result<String> {
        let started = Instant::now();
        loop {
            let screen = self.screen()?;
            if is_so(&screen) {
                return Ok(screen);
            }
            if started.elapsed() > PATIENCE {
                bail!("{what:?} does not show:\n{screen}");
            }
            // A screen cannot be awaited.
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Waits until what tmux knows of the terminal is as it should be.
    ///
    /// # Errors
    /// When it does not become so in time.
    pub fn until_told(&self, format: &str, wanted: &str) -> Result<()> {
        let started = Instant::now();
        loop {
            let told = self.told(format)?;
            if told == wanted {
                return Ok(());
            }
            if started.elapsed() > PATIENCE {
                bail!("{format} is {told:?}, not {wanted:?}:\n{}", self.screen()?);
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Its own server, and nobody else's; it may be gone.
        drop(self.tmux(&["kill-server"]));
    }
}
