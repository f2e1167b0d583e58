//! The few verbs the players need, over a [`kube::Client`]: objects are plain JSON.
//!
//! Owns paths, retries and watch lines. Refuses to hide anything: a retry is counted in the
//! answer, and a refusal comes back with the server's own reason.
#![expect(
    clippy::indexing_slicing,
    reason = "reading a field of a JSON value never panics, and only documents made here are written to"
)]

mod request;
mod target;

pub use request::Patience;
pub use request::{Answer, Body, Call, Rest, RestError, Verb};
pub use request::{Notice, Watching};
pub use request::{micros, now, seconds};
pub use target::Target;
pub use target::{Kind, kind_named, kind_of};
