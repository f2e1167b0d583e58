//! How a command ends: the exit codes, one table for every command, and errors as `error:` and `hint:` lines.

use crate::words::without_os_codes;
use kubereel_history::{Timeline, harmless, nearest};
use std::fmt::Display;
use std::io;
use std::process::ExitCode;

/// How a command ends, as a program that called it sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done; the answer is yes.
    #[default]
    Yes,
    /// Done; the answer is no.
    No,
    /// The command was called wrongly, or a file that an option names is missing.
    Usage,
    /// The reel or the input is missing, cannot be read or is damaged.
    Reel,
    /// The question falls into a gap or into something not recorded.
    Unknown,
    /// The cluster, the disk or the network failed.
    Io,
    /// Ended by SIGINT before it was done.
    Interrupted,
    /// Ended by SIGTERM before it was done.
    Terminated,
}

impl Exit {
    /// Every way to end, in the order of the codes.
    pub(crate) const ALL: [Self; 8] = [
        Self::Yes,
        Self::No,
        Self::Usage,
        Self::Reel,
        Self::Unknown,
        Self::Io,
        Self::Interrupted,
        Self::Terminated,
    ];

    /// Gives the number that the shell sees.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Yes => 0,
            Self::No => 1,
            Self::Usage => 2,
            Self::Reel => 3,
            Self::Unknown => 4,
            Self::Io => 5,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }

    /// Gives, of the ends of two parts of an answer, the one that says more of what is missing.
    pub(crate) fn worse(self, other: Self) -> Self {
        let rank = |exit: Self| match exit {
            Self::Yes => 0,
            Self::No => 1,
            Self::Unknown => 2,
            Self::Reel => 3,
            _ => 4,
        };
        if rank(other) > rank(self) {
            other
        } else {
            self
        }
    }

    /// Gives the exit code of an answer that lost records may have: this file is damaged, or the one that it was
    /// recovered from was. `None` if none are lost.
    pub(crate) fn of_loss(timeline: &Timeline) -> Option<Self> {
        if timeline.reel().has_losses() {
            Some(Self::Reel)
        } else {
            timeline.has_lost_records().then_some(Self::Unknown)
        }
    }

    /// Gives the meaning that the help and the reference print.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Yes => "success; a positive answer",
            Self::No => "success; a negative answer",
            Self::Usage => "invalid usage; a file that an option names is missing",
            Self::Reel => "the reel or the input is missing, cannot be read or is damaged",
            Self::Unknown => "unknown: the answer lies in an unobserved span",
            Self::Io => "I/O error (cluster, disk or network)",
            Self::Interrupted => "interrupted by SIGINT",
            Self::Terminated => "interrupted by SIGTERM",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// A command failed.
#[derive(Debug)]
pub(crate) struct CommandError {
    exit: Exit,
    /// Lines that stand before the message, such as each mistake of a file.
    details: Vec<String>,
    message: String,
    hints: Vec<String>,
    is_quiet: bool,
    is_of_missing_resource: bool,
}

impl CommandError {
    /// Makes an error of a lower-case message without a full stop; it stays one line.
    pub(crate) fn new(exit: Exit, message: impl Display) -> Self {
        Self {
            exit,
            details: Vec::new(),
            message: harmless(&without_os_codes(&message.to_string())).into_owned(),
            hints: Vec::new(),
            is_quiet: false,
            is_of_missing_resource: false,
        }
    }

    /// Makes an error of a wrong call.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Makes the error of a name that is none of some commands.
    pub(crate) fn unknown_command<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Self {
        let error = Self::usage(format!("unknown command {name:?}"));
        match nearest(name, known).as_slice() {
            [] => error.hint("to list the commands: kubereel --help"),
            near => error.hint(format!("did you mean {}?", near.join(" or "))),
        }
    }

    /// Makes an error of a reel that cannot be read.
    pub(crate) fn reel(message: impl Display) -> Self {
        Self::new(Exit::Reel, message)
    }

    /// Makes an error of a question that the recording cannot answer.
    pub(crate) fn unknown(message: impl Display) -> Self {
        Self::new(Exit::Unknown, message)
    }

    /// Makes an error of a cluster, a disk or a network.
    pub(crate) fn io(message: impl Display) -> Self {
        Self::new(Exit::Io, message)
    }

    /// Makes the error of an answer from which damage of the reel takes something.
    pub(crate) fn damaged(consequence: &str) -> Self {
        Self::reel(format!("the reel is damaged, {consequence}"))
            .hint("to see where: kubereel info REEL")
    }

    /// Adds the lines of a text that stand before the message.
    #[must_use]
    pub(crate) fn details(mut self, text: impl Display) -> Self {
        let text = without_os_codes(&text.to_string());
        let lines = text.lines().map(|line| harmless(line).into_owned());
        self.details.extend(lines);
        self
    }

    /// Gives the lines that stand before the message.
    pub(crate) fn detail_lines(&self) -> &[String] {
        &self.details
    }

    /// Adds a line that says what to do next.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Display) -> Self {
        self.hints.push(harmless(&hint.to_string()).into_owned());
        self
    }

    /// Notes that a resource is not in the reel: a recorder may still add it.
    #[must_use]
    pub(crate) const fn of_missing_resource(mut self) -> Self {
        self.is_of_missing_resource = true;
        self
    }

    /// Tells whether a resource is not in the reel.
    pub(crate) const fn is_of_missing_resource(&self) -> bool {
        self.is_of_missing_resource
    }

    /// Gives what happened.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Gives the exit code.
    pub(crate) const fn exit(&self) -> Exit {
        self.exit
    }

    /// Gives the lines for stderr; none if the reader of our output simply went away.
    pub(crate) fn lines(&self) -> Vec<(&'static str, &str)> {
        if self.is_quiet {
            return Vec::new();
        }
        let mut lines = vec![("error", self.message.as_str())];
        lines.extend(self.hints.iter().map(|hint| ("hint", hint.as_str())));
        lines
    }

    /// Makes an error of a failed write to stdout; a closed pipe is no failure.
    pub(crate) fn output(source: &io::Error) -> Self {
        let is_quiet = source.kind() == io::ErrorKind::BrokenPipe;
        Self {
            exit: if is_quiet { Exit::Yes } else { Exit::Io },
            details: Vec::new(),
            message: without_os_codes(&format!("cannot write the output: {source}")),
            hints: Vec::new(),
            is_quiet,
            is_of_missing_resource: false,
        }
    }
}
