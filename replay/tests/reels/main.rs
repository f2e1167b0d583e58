//! The questions, asked of reels that the tests write.

mod as_of;
mod oracle;
mod script;
mod summary;
