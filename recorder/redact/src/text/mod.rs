//! What looks like a secret in a text, whichever way it is encoded.

mod authority;
mod coarse;
mod find;
mod pattern;
mod private_key;
mod said;

pub(crate) use authority::userinfo;
pub(crate) use coarse::suspects_object;
pub(crate) use find::{Context, find};
