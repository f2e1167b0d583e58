//! What a secret looks like in a text: each module finds one family. How texts within texts are searched is in
//! `search`.

pub(crate) mod assignments;
pub(crate) mod binary;
pub(crate) mod patterns;
pub(crate) mod tokens;
mod triggers;

pub(crate) use patterns::userinfo;
pub(crate) use triggers::{DEPTH_MOST, SuspectPlaces, places, suspects};
