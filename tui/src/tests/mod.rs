//! Tests of the whole UI: messages in, screens out.

mod commands;
mod lanes;
mod lists;
mod live;
mod marking;
mod panels;
mod plain;
mod problems;
mod robustness;
mod screens;
#[path = "../../../replay/history/tests/it/script.rs"]
#[expect(
    dead_code,
    reason = "shared with the tests of replay, which use all of it"
)]
pub(crate) mod script;
pub(crate) mod stage;
mod story;
mod terminal;
mod time;
