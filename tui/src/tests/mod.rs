//! Tests of the whole UI: messages in, screens out.

mod all_screens;
mod bytes;
mod commands;
pub(crate) mod every;
mod filters;
mod following;
mod hostile;
mod judged;
mod lanes;
mod lists;
mod marking;
mod panels;
mod problems;
mod random;
mod returning;
mod screens;
#[path = "../../../replay/history/tests/it/script.rs"]
#[expect(
    dead_code,
    reason = "shared with the tests of replay, which use all of it"
)]
mod script;
mod stage;
mod terminal;
mod time;
