//! Replaces secrets in objects, texts and names before they reach a reel.
//!
//! The recorder, an import and a scan use one policy. The crate knows neither reels nor clusters:
//! bytes come in, bytes without secrets go out.
//!
//! The policy searches for three things: fields that contain secrets by their place in a kind;
//! fields, variables and flags that contain secrets by their name, in every kind; and forms of
//! secrets in every text, also inside base64, percent encoding and JSON within strings. In texts,
//! the values of the credentials that this process has read are replaced as well.
//!
//! A secret is replaced by a mark with its length and a hash under a key of this run, which is
//! never stored. A reader can see that a value changed, and that two values are equal, and cannot
//! guess the value. Every other byte stays as it is.
//!
//! ```
//! use kubereel_redact::{Extra, Redactor, ResourceType};
//!
//! let redactor = Redactor::new(Extra::default())?;
//! let secrets = ResourceType::new("", "secrets");
//! let object = br#"{"kind":"Secret","data":{"password":"aHVudGVyMg=="}}"#;
//! let kept = redactor.object(&secrets, object).expect("JSON");
//! assert!(!String::from_utf8_lossy(&kept).contains("aHVudGVyMg"));
//! # Ok::<(), kubereel_redact::NoRandomness>(())
//! ```

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
pub use decoded::Decoding;
pub use extra::{Extra, ExtraError};
pub use policy::{Count, NoRandomness, POLICY, RedactionFinding, Redactor};
pub use random::RandomStrings;
pub use secret_fields::{ResourceType, has_values};
pub use yaml::YamlMistake;
