//! Other recordings go in, a reel comes out.
//!
//! [`import()`] reads JSON lines of watch events, as `kubereel export` and other recorders write them,
//! and lists of objects, in JSON or YAML, as one moment.
//! An object's bytes, its event's type and the order stay as they are in the input, unless it is YAML. What cannot be
//! read is named by line and left out, and the reel says of itself that it was imported: an input
//! does not tell what it leaves out.
//!
//! It knows no cluster, no network and no clock: times come from the input.

mod broken;
mod document;
mod error;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod head;
mod import;
mod line;
mod lines;
mod outcome;
mod part;
mod resource;
mod secrets;
mod sniff;
mod take;
mod when;
mod whole;
mod write;

pub use broken::{Broken, BrokenLine, Counted, Problem};
pub use error::ImportError;
pub use import::{Options, import};
pub use outcome::{Dropped, Imported};
pub use secrets::SecretCounts;
