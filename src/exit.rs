//! Owns the exit codes: one table for every command. Refuses messages: errors carry those.

use std::process::ExitCode;

/// How a command ends, as a program that called it sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done; the answer is yes.
    Yes,
    /// Done; the answer is no.
    No,
    /// The command was called wrongly.
    Usage,
    /// The reel cannot be read or is damaged.
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

    /// Gives the meaning that the help and the reference print.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Yes => "success; a positive answer",
            Self::No => "success; a negative answer",
            Self::Usage => "invalid usage",
            Self::Reel => "the reel cannot be read or is damaged",
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
