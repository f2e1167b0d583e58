//! Prepares recordings for sharing: signatures over the digest, and encryption for recipients.
//!
//! [`SigningKey`] signs a [`statement`] as `ssh-keygen -Y sign` does, [`RecordingSignature`] is
//! checked against the [`AllowedSigners`] of a verifier. [`AgeRecipients`] encrypt a file in the
//! format of age, and [`AgeIdentities`] decrypt it.
//!
//! Invariants:
//!
//! * No error and no `Debug` output contains a key or a passphrase.
//! * The claims of a signature are trusted only after its verification.
//!
//! The crate knows neither reels nor files: bytes and texts go in, bytes and texts come out.

mod encryption;
mod short_key;
mod signature;
mod signers;

pub use encryption::{
    AgeIdentities, AgeRecipients, DecryptionError, EncryptionError, IdentityError, RecipientError,
    is_encrypted,
};
pub use signature::{
    NAMESPACE, RecordingSignature, SignatureError, SigningError, SigningKey, VerifiedSigner,
    statement,
};
pub use signers::{AllowedSigners, SignerLineError, SignersError};
