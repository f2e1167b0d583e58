//! The screen on a real terminal, driven by keys: what it shows, and what it leaves behind.

mod ending;
mod following;
mod shell;
