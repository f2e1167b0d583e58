//! What `kubereel verify` finds of the signature of a recording.

use crate::command_error::{CommandError, Exit};
use crate::files::{self, LocalReel};
use kubereel_share::{
    AllowedSigners, NAMESPACE, RecordingSignature, SignatureError, VerifiedSigner, statement,
};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The most bytes of a signature and of a list of signers.
const SIGNATURE_BYTES: u64 = 64 * 1024;
const SIGNERS_BYTES: u64 = 16 << 20;

/// Who has to have signed, and where the signature is.
#[derive(Debug, clap::Args)]
pub(crate) struct SignerArgs {
    /// Check that one of these signed: a file of allowed signers, a public key file, or a public key
    #[arg(long, value_name = "ALLOWED_SIGNERS|PUBKEY")]
    signer: Option<String>,
    /// The identity that has to have signed, such as ann@example.com; default: any in the file
    #[arg(long, value_name = "IDENTITY", requires = "signer")]
    identity: Option<String>,
    /// The file with the signature; default: REEL.sig
    #[arg(long, value_name = "FILE", requires = "signer")]
    signature: Option<PathBuf>,
}

/// What a signature is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SignatureState {
    /// An allowed signer signed this recording.
    Good,
    /// The signature is of another recording, damaged, or of another signer.
    Bad,
    /// There is no signature.
    Unsigned,
}

/// The signature of a recording, as it was checked.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SignatureCheck {
    /// What it is worth.
    pub(crate) state: SignatureState,
    /// The file with the signature.
    pub(crate) file: String,
    /// Why it is not good.
    reason: Option<String>,
    /// The identities that the list of allowed signers gives the key; null for a public key alone.
    identities: Option<String>,
    /// The algorithm of the key that signed.
    algorithm: Option<String>,
    /// The fingerprint of the key that signed.
    fingerprint: Option<String>,
}

/// A question about the signature of a recording, read before the recording is.
pub(crate) struct SignatureQuestion {
    signers: AllowedSigners,
    identity: Option<String>,
    place: PathBuf,
    armored: Option<String>,
}

impl SignerArgs {
    /// Reads the signers and the signature; `None` if none was requested.
    pub(crate) fn read(
        &self,
        reel: &Path,
        local: &LocalReel,
    ) -> Result<Option<SignatureQuestion>, CommandError> {
        let Some(signer) = &self.signer else {
            return Ok(None);
        };
        let is_key = ["ssh-", "ecdsa-", "sk-"]
            .iter()
            .any(|start| signer.starts_with(start))
            && signer.contains(' ');
        let text = if is_key {
            signer.clone()
        } else {
            files::read_text(Path::new(signer), SIGNERS_BYTES)?
        };
        let shown = if is_key { "--signer" } else { signer };
        let signers = AllowedSigners::parse(&text)
            .map_err(|error| CommandError::usage(format!("{shown}: {error}")))?;
        if signers.is_empty() {
            return Err(CommandError::usage(format!("no key in {shown}")));
        }
        let place = self
            .signature
            .clone()
            .or_else(|| local.signature_path(reel));
        let place = place.ok_or_else(|| {
            CommandError::usage("no file beside a reel at an address")
                .hint("download the signature, and give --signature FILE")
        })?;
        // What cannot be looked at is an error of reading it.
        let is_there = place.try_exists().unwrap_or(true);
        let armored = is_there
            .then(|| files::read_text(&place, SIGNATURE_BYTES))
            .transpose()?;
        Ok(Some(SignatureQuestion {
            signers,
            identity: self.identity.clone(),
            place,
            armored,
        }))
    }
}

impl SignatureQuestion {
    /// Answers for the recording with a digest; without one, no signature can be good.
    pub(crate) fn answer(&self, digest: Option<&str>) -> Result<SignatureCheck, CommandError> {
        let file = self.place.display().to_string();
        let Some(armored) = &self.armored else {
            return Ok(found(
                SignatureState::Unsigned,
                file,
                Some("no such file".to_owned()),
            ));
        };
        let Some(digest) = digest else {
            let reason = "records are lost or unreadable, so that there is no digest".to_owned();
            return Ok(found(SignatureState::Bad, file, Some(reason)));
        };
        let checked = RecordingSignature::parse(armored).and_then(|signature| {
            signature.check(&statement(digest), &self.signers, self.identity.as_deref())
        });
        match checked {
            Ok(signer) => Ok(good(file, signer)),
            Err(error @ SignatureError::Algorithm { .. }) => {
                Err(CommandError::usage(format!("{file}: {error}")).hint(format!(
                    "let OpenSSH check it: kubereel sign REEL --statement | ssh-keygen -Y verify -f ALLOWED_SIGNERS -I IDENTITY -n {NAMESPACE} -s {file}"
                )))
            }
            Err(error) => Ok(found(SignatureState::Bad, file, Some(error.to_string()))),
        }
    }
}

fn found(state: SignatureState, file: String, reason: Option<String>) -> SignatureCheck {
    SignatureCheck {
        state,
        file,
        reason,
        identities: None,
        algorithm: None,
        fingerprint: None,
    }
}

fn good(file: String, signer: VerifiedSigner) -> SignatureCheck {
    SignatureCheck {
        identities: signer.identities,
        algorithm: Some(signer.algorithm),
        fingerprint: Some(signer.fingerprint),
        ..found(SignatureState::Good, file, None)
    }
}

impl SignatureCheck {
    /// Writes it as a line.
    pub(crate) fn words(&self) -> String {
        let reason = self.reason.as_deref().unwrap_or_default();
        let part = |part: &Option<String>| part.clone().unwrap_or_default();
        match self.state {
            SignatureState::Good => {
                let who = self.identities.as_deref().unwrap_or("the given key");
                let (algorithm, key) = (part(&self.algorithm), part(&self.fingerprint));
                format!("good: signed by {who} · {algorithm} {key}")
            }
            SignatureState::Bad => format!("bad: {reason} · {}", self.file),
            SignatureState::Unsigned => format!("unsigned: {reason} · {}", self.file),
        }
    }

    /// Gives the exit code that a verdict has with it.
    pub(crate) fn exit(&self, verdict: Exit) -> Exit {
        verdict.worse(match self.state {
            SignatureState::Good => Exit::Yes,
            SignatureState::Bad => Exit::Reel,
            SignatureState::Unsigned => Exit::No,
        })
    }
}
