//! The terminal UI of kubereel: moves through a reel like through a film.
//!
//! The screen is a function of four things: a cursor, a window of time, a selection and a filter.
//! The layers, each of which knows only those before it:
//!
//! 1. `time` and `subject`: the vocabulary of moments, spans, directions and objects;
//! 2. `lane`: states of objects over time; `filter`: the grammar of filters; `findings`: what the
//!    monitortests report; `keep`: what outlasts a run;
//! 3. `answer`: questions that need object bodies; `problem`: the ranked list of problems; `theme`:
//!    colours;
//! 4. `msg`: what can happen; `model`: the state; `effect`: requests to the runtime; `keymap`: the
//!    one table of keys; `layout`: where everything lies;
//! 5. `update`: the only code that changes the model; `view`: draws it. Both are pure: no clock, no
//!    terminal, no file;
//! 6. `runtime`: the only code that knows the terminal, threads, processes and time.

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
pub use keep::{NamedBookmark, named_bookmarks};
pub use keymap::keys_help;
pub use model::TuiRequest;
pub use runtime::{Executable, TuiError, headless, run};
pub use theme::{Depth, Palette, Theme};
