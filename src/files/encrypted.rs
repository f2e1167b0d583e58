//! Encrypted reels: the identities that open them, and their content in a private file while a command runs.

use crate::command_error::CommandError;
use crate::files;
use crate::progress::ProgressReporter;
use kubereel_share::{AgeIdentities, DecryptionError, is_encrypted};
use std::fs::File;
use std::io::{self, BufReader, IsTerminal as _, Read as _, Seek as _, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempPath;

/// The variable that names a file of identities.
const VARIABLE: &str = "KUBEREEL_AGE_IDENTITY";

/// The most bytes of a file of identities or recipients.
pub(crate) const KEY_BYTES: u64 = 1 << 20;

/// The number of bytes that show whether a file is encrypted.
const HEAD: u64 = 64;

/// How much is decrypted at once.
const PIECE: usize = 64 * 1024;

/// The file of identities that `--age-identity` names.
static IDENTITY: OnceLock<PathBuf> = OnceLock::new();

/// Takes what `--age-identity` names.
pub(crate) fn take_identity(named: Option<PathBuf>) {
    if let Some(path) = named {
        IDENTITY.get_or_init(|| path);
    }
}

/// Gives the file of identities that the user names for all commands.
pub(crate) fn identity_file() -> Option<PathBuf> {
    let says = || std::env::var_os(VARIABLE).filter(|value| !value.is_empty());
    let named = IDENTITY.get().cloned();
    named.or_else(|| says().map(PathBuf::from))
}

/// The content of an encrypted file.
pub(crate) struct DecryptedFile {
    /// A private temporary file, which no cache keeps.
    pub(crate) file: TempPath,
    /// Why it is not all of it. What is there is authentic.
    pub(crate) damage: Option<String>,
}

/// Decrypts a reel or other file; `None` for a file that is not encrypted.
///
/// Of a damaged one the begin is given.
pub(crate) fn decrypted(path: &Path) -> Result<Option<DecryptedFile>, CommandError> {
    let Some(input) = encrypted_file(path) else {
        return Ok(None);
    };
    let identities = identities(None, path)?;
    let file = tempfile::Builder::new()
        .prefix("decrypted-")
        .suffix(".reel")
        .tempfile()
        .map_err(|error| CommandError::io(format!("cannot make a temporary file: {error}")))?;
    let (output, file) = file.into_parts();
    let ended = decrypt(&identities, (input, path), (output, &file))?;
    let damage = match ended.damage {
        Some(damage) if ended.bytes == 0 => return Err(explain_damage(&damage, path)),
        damage => damage,
    };
    Ok(Some(DecryptedFile { file, damage }))
}

/// Tells whether a file is encrypted.
pub(crate) fn is_encrypted_file(path: &Path) -> bool {
    encrypted_file(path).is_some()
}

/// Tells whether a file is encrypted, or cannot be looked at without taking bytes from it.
pub(crate) fn may_be_encrypted(path: &Path) -> bool {
    !path.is_file() || encrypted_file(path).is_some()
}

/// Opens a file if it is encrypted. An unreadable file is left to the caller.
fn encrypted_file(path: &Path) -> Option<File> {
    // Opening a pipe waits for its writer, and the bytes that are read here would be lost to its reader.
    if !path.is_file() {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let mut head = Vec::new();
    (&mut file).take(HEAD).read_to_end(&mut head).ok()?;
    file.rewind().ok()?;
    is_encrypted(&head).then_some(file)
}

/// How far a file was decrypted.
pub(crate) struct DecryptedPart {
    /// The bytes that were decrypted.
    pub(crate) bytes: u64,
    /// Why that is not all.
    pub(crate) damage: Option<String>,
}

/// Decrypts a file into another.
pub(crate) fn decrypt(
    identities: &AgeIdentities,
    (input, path): (File, &Path),
    (mut output, output_path): (impl Write, &Path),
) -> Result<DecryptedPart, CommandError> {
    let mut reader = identities
        .decrypt(BufReader::with_capacity(PIECE, input))
        .map_err(|error| explain(&error, path))?;
    let is_terminal = io::stderr().is_terminal();
    let mut progress = ProgressReporter::begin("decrypting, bytes", 0_u64, is_terminal);
    let mut piece = vec![0; PIECE];
    let mut bytes = 0_u64;
    loop {
        let read = match reader.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                let damage = format!("damaged or cut off after {bytes} decrypted bytes: {error}");
                let damage = Some(damage);
                return Ok(DecryptedPart { bytes, damage });
            }
        };
        let read = piece.get(..read).unwrap_or_default();
        let failed = |error| files::cannot_write(&error, output_path);
        output.write_all(read).map_err(failed)?;
        bytes = bytes.saturating_add(u64::try_from(read.len()).unwrap_or(u64::MAX));
        progress.reached(bytes);
    }
    let damage = None;
    Ok(DecryptedPart { bytes, damage })
}

/// Makes the error of an encrypted file that is damaged.
pub(crate) fn explain_damage(damage: &str, path: &Path) -> CommandError {
    CommandError::reel(format!("{damage}: {}", files::shown(path)))
}

/// Reads the identities of a file, or of the one that the user names for all commands, to decrypt `path`.
pub(crate) fn identities(file: Option<&Path>, path: &Path) -> Result<AgeIdentities, CommandError> {
    let Some(file) = file.map(Path::to_owned).or_else(identity_file) else {
        let name = files::shown(path);
        return Err(
            CommandError::usage(format!("encrypted, and no identity is given: {name}")).hint(
                format!("name a file of age identities: --age-identity FILE, or ${VARIABLE}"),
            ),
        );
    };
    let text = files::read(&file, KEY_BYTES)?;
    AgeIdentities::parse(&text).map_err(|error| {
        CommandError::usage(format!("{}: {error}", file.display()))
            .hint("age-keygen -o FILE makes an identity")
    })
}

fn explain(error: &DecryptionError, path: &Path) -> CommandError {
    let name = files::shown(path);
    let message = format!("cannot decrypt: {error}: {name}");
    match error {
        DecryptionError::OtherRecipients => CommandError::usage(message)
            .hint("let it be encrypted for the recipient of your identity: age-keygen -y FILE"),
        DecryptionError::Passphrase => {
            CommandError::usage(message).hint(format!("decrypt it first: age -d {name}"))
        }
        _ => CommandError::reel(message),
    }
}
