//! The command line of `kubereel`: parses flags, calls a library, prints, chooses the exit code.
//!
//! A library, so that it is compiled while the crates that it calls are: a program waits until they are done.

mod arguments;
mod cli;
mod command;
mod command_error;
mod default_reel;
mod field_text;
mod files;
mod kubectl_flags;
mod outputs;
mod passphrase;
mod plugin;
mod program;
mod progress;
mod redaction;
#[cfg(test)]
mod reference;
mod screen;
mod shell_words;
mod table;
mod words;

pub use program::main;
