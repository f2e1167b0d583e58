//! What makes a recording fit for sharing: signatures over its digest.
//!
//! [`SigningKey`] signs a [`statement`] as `ssh-keygen -Y sign` does, [`RecordingSignature`] is checked against the
//! [`AllowedSigners`] of a verifier.
//!
//! Invariants:
//!
//! * No error and no `Debug` output holds a key or a passphrase.
//! * What a signature says of itself is believed only after its check.
//!
//! The crate knows neither reels nor files: bytes and texts go in, bytes and texts come out.

mod short_key;
mod signature;
mod signers;

pub use signature::{
    NAMESPACE, RecordingSignature, SignatureError, SigningError, SigningKey, VerifiedSigner,
    statement,
};
pub use signers::{AllowedSigners, SignersError};
