//! Which monitortests are meant: names with `*` and `?` in them.

mod glob;

pub use glob::Glob;
