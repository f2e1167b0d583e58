//! The program as a user meets it: words in, words and an exit code out, on reels that the tests
//! write.

#![expect(
    clippy::expect_used,
    reason = "a test whose surroundings fail has failed"
)]

#[path = "../replay/history/tests/it/script.rs"]
#[expect(
    dead_code,
    reason = "shared with the tests of the library, which use all of it"
)]
mod script;

#[path = "../fetch/tests/it/object_store.rs"]
#[expect(
    dead_code,
    reason = "shared with the tests of the library, which use all of it"
)]
mod object_store;

/// Runs the program with a line, in which values are named as in `format!`.
macro_rules! kubereel {
    ($($line:tt)+) => { crate::cli::run::kubereel_line(&format!($($line)+)) };
}

mod cli {
    mod bad_input;
    mod blame;
    mod demo;
    mod describe;
    mod diff;
    mod encrypt;
    mod events;
    mod export;
    mod get;
    mod grep;
    mod history;
    mod hostile_texts;
    mod import;
    mod info;
    mod intervals;
    mod kubectl_words;
    mod one_moment;
    mod opening;
    mod recover;
    pub(crate) mod run;
    mod scan;
    mod seal;
    mod sign;
    mod story;
    mod test;
    mod test_progress;
    mod tui;
    mod upgrade;
    mod verify;
    mod versions;
    mod wait;
}
