//! Signatures over the digest of a recording, in the format of `ssh-keygen -Y sign`.
//!
//! The signed text is the [`statement`], a line that can be made again from the digest. The
//! namespace keeps a signature made for another purpose from being taken for one of a recording.

use crate::short_key;
use crate::signers::{AllowedSigners, SignerRefusal};
use ssh_key::{Algorithm, HashAlg, LineEnding, PrivateKey, PublicKey, SshSig};
use std::fmt::{self, Display, Formatter};
use thiserror::Error;

/// The namespace of signatures of recordings.
pub const NAMESPACE: &str = "recording@kubereel";

/// Returns the signed text for a recording with a digest.
pub fn statement(digest: impl Display) -> String {
    format!("kubereel recording {digest}\n")
}

/// Returns whether signatures of an algorithm can be made and verified here.
fn is_supported(algorithm: &Algorithm) -> bool {
    matches!(algorithm, Algorithm::Ed25519 | Algorithm::Ecdsa { .. })
}

/// A key cannot sign.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SigningError {
    /// It is not a private key in the format of OpenSSH.
    #[error("not an OpenSSH private key")]
    NotAKey,
    /// Its algorithm is not supported.
    #[error("{algorithm} keys are not supported")]
    Algorithm {
        /// Its name, as in public keys.
        algorithm: String,
    },
    /// The passphrase is wrong.
    #[error("wrong passphrase")]
    Passphrase,
    /// The library refused.
    #[error("cannot sign: {source}")]
    Library {
        /// The cause.
        source: ssh_key::Error,
    },
}

/// A private SSH key.
pub struct SigningKey {
    key: PrivateKey,
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.debug_tuple("SigningKey")
            .field(&self.fingerprint())
            .finish()
    }
}

impl SigningKey {
    /// Reads a key file.
    ///
    /// # Errors
    /// When it is not a key in the format of OpenSSH, or one of an algorithm that is not supported.
    pub fn parse(text: &str) -> Result<Self, SigningError> {
        let key = match PrivateKey::from_openssh(text) {
            Ok(key) => key,
            Err(ssh_key::Error::AlgorithmUnsupported { algorithm }) => {
                let algorithm = algorithm.to_string();
                return Err(SigningError::Algorithm { algorithm });
            }
            Err(_library) => short_key::parse(text).ok_or(SigningError::NotAKey)?,
        };
        let algorithm = key.public_key().algorithm();
        if !is_supported(&algorithm) {
            let algorithm = algorithm.to_string();
            return Err(SigningError::Algorithm { algorithm });
        }
        Ok(Self { key })
    }

    /// Returns whether a passphrase is needed.
    pub fn is_encrypted(&self) -> bool {
        self.key.is_encrypted()
    }

    /// Decrypts the key.
    ///
    /// # Errors
    /// When the passphrase is wrong, or the key is not encrypted.
    pub fn unlock(&self, passphrase: &str) -> Result<Self, SigningError> {
        let key = self.key.decrypt(passphrase).ok();
        key.or_else(|| short_key::decrypt(&self.key, passphrase))
            .map(|key| Self { key })
            .ok_or(SigningError::Passphrase)
    }

    /// Returns the name of the key's algorithm, as in public keys.
    pub fn algorithm(&self) -> String {
        self.key.public_key().algorithm().to_string()
    }

    /// Returns the fingerprint, as `ssh-keygen -l` prints it.
    pub fn fingerprint(&self) -> String {
        self.key.fingerprint(HashAlg::Sha256).to_string()
    }

    /// Signs a statement, and returns the armored signature.
    ///
    /// # Errors
    /// When the key is still encrypted.
    pub fn sign(&self, statement: &str) -> Result<String, SigningError> {
        let failed = |source| SigningError::Library { source };
        let signature = self
            .key
            .sign(NAMESPACE, HashAlg::Sha512, statement.as_bytes())
            .map_err(failed)?;
        signature.to_pem(LineEnding::LF).map_err(failed)
    }
}

/// A signature that is not valid for a recording.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// It is not a signature of `ssh-keygen -Y sign`.
    #[error("not an SSH signature")]
    Malformed,
    /// It was made for another purpose.
    #[error("made for the namespace {found:?}, not for {NAMESPACE}")]
    Namespace {
        /// The purpose.
        found: String,
    },
    /// Its algorithm is not supported.
    #[error("signatures of {algorithm} keys are not supported")]
    Algorithm {
        /// The key's algorithm.
        algorithm: String,
    },
    /// It does not match the statement.
    #[error("it does not fit this recording: one of the two was changed")]
    Mismatch,
    /// It matches, and the key is not among the allowed ones.
    #[error("made with the key {fingerprint}, which is not among the allowed signers")]
    UnknownKey {
        /// The key.
        fingerprint: String,
    },
    /// It matches, and the key is not allowed for this use.
    #[error("made with the key {fingerprint}, which is not accepted: {reason}")]
    Refused {
        /// The key.
        fingerprint: String,
        /// The cause.
        reason: String,
    },
}

/// The signer of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedSigner {
    /// The identities of the key in the list of allowed signers; none if the list has a bare public
    /// key.
    pub identities: Option<String>,
    /// The key's algorithm, as in public keys.
    pub algorithm: String,
    /// The key's fingerprint, as `ssh-keygen -l` prints it.
    pub fingerprint: String,
}

/// A signature that is not verified yet.
#[derive(Debug)]
pub struct RecordingSignature {
    signature: SshSig,
}

impl RecordingSignature {
    /// Parses an armored signature.
    ///
    /// # Errors
    /// When it is not one.
    pub fn parse(armored: &str) -> Result<Self, SignatureError> {
        // OpenSSH accepts trailing blanks, the library does not.
        let signature = SshSig::from_pem(armored.trim_ascii());
        signature
            .map(|signature| Self { signature })
            .map_err(|_library| SignatureError::Malformed)
    }

    /// Verifies that an allowed signer, with the given identity if there is one, signed a
    /// statement.
    ///
    /// # Errors
    /// When the signature does not match the statement, or its key is not allowed.
    pub fn check(
        &self,
        statement: &str,
        signers: &AllowedSigners,
        identity: Option<&str>,
    ) -> Result<VerifiedSigner, SignatureError> {
        let key = PublicKey::from(self.signature.public_key().clone());
        let algorithm = key.algorithm();
        if !is_supported(&algorithm) {
            let algorithm = algorithm.to_string();
            return Err(SignatureError::Algorithm { algorithm });
        }
        if self.signature.namespace() != NAMESPACE {
            let found = self.signature.namespace().to_owned();
            return Err(SignatureError::Namespace { found });
        }
        key.verify(NAMESPACE, statement.as_bytes(), &self.signature)
            .map_err(|_library| SignatureError::Mismatch)?;
        let fingerprint = key.fingerprint(HashAlg::Sha256).to_string();
        let identities = signers.find(&key, NAMESPACE, identity).map_err(|refusal| {
            let fingerprint = fingerprint.clone();
            match refusal {
                SignerRefusal::NotListed => SignatureError::UnknownKey { fingerprint },
                SignerRefusal::NotAllowed(reason) => SignatureError::Refused {
                    fingerprint,
                    reason,
                },
            }
        })?;
        Ok(VerifiedSigner {
            identities,
            algorithm: algorithm.to_string(),
            fingerprint,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssh_key::private::Ed25519Keypair;
    use ssh_key::{Cipher, Kdf};

    fn key() -> PrivateKey {
        let pair = Ed25519Keypair::from_seed(&[7; 32]);
        PrivateKey::new(pair.into(), "a@example.com").expect("a key")
    }

    fn text(key: &PrivateKey) -> String {
        key.to_openssh(LineEnding::LF).expect("text").to_string()
    }

    fn public() -> String {
        key().public_key().to_openssh().expect("text")
    }

    fn signed(statement: &str) -> RecordingSignature {
        let key = SigningKey::parse(&text(&key())).expect("a key");
        let armored = key.sign(statement).expect("signed");
        RecordingSignature::parse(&armored).expect("a signature")
    }

    #[test]
    fn a_signature_fits_its_statement_and_no_other() {
        let words = statement("sha256:00");
        let signature = signed(&words);
        let signers = AllowedSigners::parse(&public()).expect("a public key");
        let signer = signature.check(&words, &signers, None).expect("good");
        assert_eq!(signer.algorithm, "ssh-ed25519");
        assert_eq!(signer.identities, None);
        let other = signature.check(&statement("sha256:01"), &signers, None);
        assert!(matches!(other, Err(SignatureError::Mismatch)), "{other:?}");
    }

    #[test]
    fn a_signature_for_another_purpose_is_none() {
        let words = statement("sha256:00");
        let made = key().sign("file", HashAlg::Sha512, words.as_bytes());
        let armored = made.expect("signed").to_pem(LineEnding::LF).expect("text");
        let signature = RecordingSignature::parse(&armored).expect("a signature");
        let signers = AllowedSigners::parse(&public()).expect("a public key");
        let checked = signature.check(&words, &signers, None);
        assert!(
            matches!(&checked, Err(SignatureError::Namespace { found }) if found == "file"),
            "{checked:?}"
        );
    }

    #[test]
    fn an_encrypted_key_needs_its_passphrase_and_shows_nothing() {
        let kdf = Kdf::Bcrypt {
            salt: vec![3; 16],
            rounds: 1,
        };
        let locked = key().encrypt_with(Cipher::Aes256Ctr, kdf, 5, "secret");
        let key = SigningKey::parse(&text(&locked.expect("encrypted"))).expect("a key");
        assert!(key.is_encrypted());
        assert!(key.sign("x").is_err(), "signed with an encrypted key");
        let wrong = key.unlock("wrong").expect_err("wrong").to_string();
        assert_eq!(wrong, "wrong passphrase");
        let unlocked = key.unlock("secret").expect("unlocked");
        assert!(unlocked.sign("x").is_ok());
        let shown = format!("{unlocked:?}");
        assert_eq!(shown, format!("SigningKey({:?})", key.fingerprint()));
    }

    #[test]
    fn what_is_not_a_private_key_is_refused() {
        for text in ["", &public(), "-----BEGIN RSA PRIVATE KEY-----\n"] {
            let refused = SigningKey::parse(text).expect_err("refused").to_string();
            assert_eq!(refused, "not an OpenSSH private key");
        }
        assert!(RecordingSignature::parse(&text(&key())).is_err());
    }
}
