//! What of an object may not reach a reel, and what stands there instead.
//!
//! The policy is one for whoever writes a reel: the recorder, and an import that is asked to; and
//! for whoever proves it, the scan. It knows no reel and no cluster: bytes come in, bytes without
//! secrets go out.
//!
//! Three things are looked for. Fields that hold secrets by their place in a kind (`table`'s
//! rows); fields, variables and flags that hold secrets by their name, in every kind; and what looks
//! like a secret, in every text, also inside base64, percent encoding and JSON within strings.
//!
//! In texts, the values of the credentials that this process has read are looked for as well.
//!
//! What is found is replaced by a mark that tells its length and a hash under a key of this run,
//! which is never written down: that a value changed, and that two are equal, stays visible; the value
//! cannot be guessed. Every other byte stays as it is.

mod base64;
mod credentials;
mod decoded;
mod extra;
mod forms;
mod mark;
mod memo;
mod names;
mod path;
mod policy;
mod random;
mod search;
mod secret_fields;
mod text;
mod yaml;

pub use credentials::KnownCredentials;
pub use extra::{Extra, ExtraError};
pub use policy::{Count, NoRandomness, POLICY, RedactionFinding, Redactor};
pub use random::RandomStrings;
pub use secret_fields::{ResourceType, has_values};
pub use yaml::YamlMistake;
