//! The subcommands: one file each, every one a `clap` argument struct and a `run`.

pub(crate) mod blame;
pub(crate) mod completion;
pub(crate) mod demo;
pub(crate) mod describe;
pub(crate) mod diff;
pub(crate) mod events;
pub(crate) mod export;
pub(crate) mod get;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod info;
pub(crate) mod install;
pub(crate) mod intervals;
mod live_line;
pub(crate) mod man;
pub(crate) mod mark;
pub(crate) mod object_query;
pub(crate) mod observe;
pub(crate) mod record;
mod recording;
pub(crate) mod scan;
pub(crate) mod test;
pub(crate) mod tui;
pub(crate) mod upgrade;
pub(crate) mod verify;
pub(crate) mod wait;
