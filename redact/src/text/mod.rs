//! What looks like a secret in a text, whichever way it is encoded.

mod assignments;
mod authority;
mod binary;
mod coarse;
mod find;
mod pattern;
mod private_key;
mod tokens;
mod triggers;

pub(crate) use authority::userinfo;
pub(crate) use coarse::{DEPTH_MOST, places};
pub(crate) use find::{Context, find};
pub(crate) use triggers::Places;
