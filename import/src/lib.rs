//! Imports recordings of other tools into a reel.
//!
//! [`import()`] reads JSON lines of watch events, as `kubereel export` and other recorders write them, and lists of
//! objects, in JSON or YAML, as one moment. An object's bytes, its event's type and the order stay as they are in the
//! input, unless it is YAML. A part that cannot be read is reported by its line and left out. The reel is marked as
//! imported: an input does not say what it leaves out.
//!
//! The crate knows no cluster, no network and no clock: times come from the input.

mod builtin_resources;
mod document;
mod error;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod import;
mod input;
mod outcome;
mod resources;
mod secrets;
mod writer;

pub use error::{BrokenPart, BrokenParts, BrokenReason, BrokenUnit, ImportError};
pub use import::{ImportOptions, import};
pub use outcome::{DroppedMembers, Imported};
pub use secrets::SecretCounts;
