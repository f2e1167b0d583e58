//! Tests of the whole UI: messages in, screens out.

mod bytes;
mod following;
mod random;
mod screens;
#[path = "../../../replay/tests/reels/script.rs"]
#[expect(
    dead_code,
    reason = "shared with the tests of replay, which use all of it"
)]
mod script;
mod stage;
