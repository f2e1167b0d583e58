//! Owns a shell in a terminal, and what it says of the terminal before and after a program.

use anyhow::{Context as _, Result, ensure};
use kubereel_tests::recording::program;
use kubereel_tests::tmux::Terminal;
use std::path::PathBuf;

/// What tmux knows of the modes that a program may leave on.
const MODES: &str = "cursor #{cursor_flag} mouse #{mouse_any_flag} alternate #{alternate_on}";
/// What they are at a prompt.
const AT_A_PROMPT: &str = "cursor 1 mouse 0 alternate 0";

/// A shell in a terminal.
pub(crate) struct Shell {
    pub(crate) terminal: Terminal,
    settings: String,
    folder: tempfile::TempDir,
}

impl Shell {
    /// Starts one; `None`, said aloud, without tmux.
    pub(crate) fn start(size: (u16, u16)) -> Result<Option<Self>> {
        let Some(terminal) = Terminal::start(size, "env PS1='ready> ' ENV= HISTFILE= sh")? else {
            return Ok(None);
        };
        let mut shell = Self {
            terminal,
            settings: String::new(),
            folder: tempfile::tempdir()?,
        };
        shell.terminal.until("ready>")?;
        shell.settings = shell.stty()?;
        Ok(Some(shell))
    }

    /// Starts the program on a reel.
    pub(crate) fn open(&self, reel: &str) -> Result<()> {
        let program = program()?;
        let program = program.display();
        let home = self.folder.path().display();
        // Nothing of the user's own is read or written.
        self.terminal.enter(&format!(
            "clear; HOME={home} XDG_CACHE_HOME={home}/cache XDG_STATE_HOME={home}/state XDG_CONFIG_HOME={home}/config XDG_DATA_HOME={home}/data RUST_BACKTRACE=0 {program} tui {reel}; echo ended with $?"
        ))
    }

    /// Gives the number of the running program's process.
    pub(crate) fn child(&self) -> Result<u32> {
        let shell = self.terminal.process()?;
        let path = format!("/proc/{shell}/task/{shell}/children");
        let children = std::fs::read_to_string(path)?;
        let child = children.split_whitespace().next().context("no child")?;
        Ok(child.parse()?)
    }

    /// Waits until the program ended so, and checks that nothing of it is left on the terminal.
    pub(crate) fn ended(&self, code: u8) -> Result<String> {
        let screen = self
            .terminal
            .until_so(&format!("ended with {code}"), |screen| {
                screen.contains("ended with ") && screen.trim_end().ends_with("ready>")
            })?;
        ensure!(screen.contains(&format!("ended with {code}\n")), "{screen}");
        self.terminal.until_told(MODES, AT_A_PROMPT)?;
        let settings = self.stty()?;
        ensure!(
            settings == self.settings,
            "{} became {settings}",
            self.settings
        );
        Ok(screen)
    }

    /// Gives the modes of the line. Its size is not among them: tmux tells a program later than it
    /// draws.
    fn stty(&self) -> Result<String> {
        let path: PathBuf = self.folder.path().join("stty");
        let shown = path.display();
        self.terminal
            .enter(&format!("stty -g > {shown}; echo written here"))?;
        self.terminal.until("\nwritten here")?;
        let settings = std::fs::read_to_string(&path)?;
        self.terminal.enter("clear")?;
        self.terminal
            .until_so("a prompt", |screen| screen.trim_end() == "ready>")?;
        Ok(settings)
    }
}

/// The demo's path.
pub(crate) fn demo() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/demo.reel")
}
