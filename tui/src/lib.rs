//! The terminal UI of kubereel: a reel is moved through like a film.
//!
//! The screen is a function of four things: a cursor, a window of time, a selection and a filter.
//! `model` holds them, `msg` says what can happen, `update` is the only place that changes the model
//! and `effect` is what it asks of the world; `view` draws the model. These four are pure: no clock,
//! no terminal, no file. `answer` reads the reel for them, `lane` makes states over time of it,
//! `keep` holds what outlasts a run, `findings` is what the monitortests say, which a process of its
//! own runs, `problem` lists what looks wrong by all of these, `keymap` is the one table of keys and
//! `theme` the one of colours. `runtime` alone knows the
//! terminal and threads.

mod answer;
mod effect;
mod filter;
mod findings;
mod keep;
mod keymap;
mod lane;
mod layout;
mod model;
mod msg;
mod picture;
mod problem;
mod runtime;
mod subject;
#[cfg(test)]
mod tests;
mod theme;
mod time;
mod update;
mod view;

pub use filter::{ScreenFilterError, check_filter};
pub use keymap::keys_help;
pub use model::TuiRequest;
pub use runtime::{Executable, TuiError, headless, run};
pub use theme::{Depth, Palette, Theme};
