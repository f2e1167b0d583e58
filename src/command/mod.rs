//! The subcommands: one file each, every one a `clap` argument struct and a `run`.

pub(crate) mod record;
