//! What of an object may not reach a reel, and what stands there instead.
//!
//! The policy is one for whoever writes a reel: the recorder, and an import that is asked to.
//! It knows no reel and no cluster: bytes come in, bytes without secrets go out.

mod secret;

pub use secret::{POLICY, Redactor, has_values};
