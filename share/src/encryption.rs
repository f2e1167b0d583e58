//! Files in the age format, for the identities of age and rage.
//!
//! Only keys of age are supported: recipients that are SSH keys would need an RSA implementation
//! with a known timing leak.

use age::armor::ArmoredReader;
use age::{DecryptError, Decryptor, Encryptor, Identity, IdentityFile, Recipient, x25519};
use std::fmt::{self, Formatter};
use std::io::{self, BufRead, BufReader, Cursor, Read, Write};
use thiserror::Error;

/// The first bytes of an encrypted file.
const HEAD: &[u8] = b"age-encryption.org/v1\n";

/// The first bytes of an armored file.
const ARMORED_HEAD: &[u8] = b"-----BEGIN AGE ENCRYPTED FILE-----";

/// The end of the header of an encrypted file.
const HEADER_END: &[u8] = b"\n--- ";

/// The longest header, in bytes: it has room for thousands of recipients.
const HEADER_BYTES: u64 = 1 << 20;

/// How many bytes are encrypted at once.
const PIECE: usize = 64 * 1024;

/// Returns whether a file is encrypted, by its first bytes.
pub fn is_encrypted(head: &[u8]) -> bool {
    head.starts_with(HEAD) || head.starts_with(ARMORED_HEAD)
}

/// A text is not a recipient.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecipientError {
    /// It is a private key; the error does not contain it.
    #[error("an age identity is given as a recipient")]
    Identity,
    /// It is an SSH key.
    #[error("SSH keys are not supported as recipients")]
    Ssh,
    /// It is anything else.
    #[error("not an age recipient: {word:?}")]
    Unknown {
        /// The text.
        word: String,
    },
}

/// The recipients of a file.
#[derive(Default)]
pub struct AgeRecipients {
    recipients: Vec<x25519::Recipient>,
}

impl fmt::Debug for AgeRecipients {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let names = self.recipients.iter().map(ToString::to_string);
        out.debug_list().entries(names).finish()
    }
}

impl AgeRecipients {
    /// Adds a recipient such as `age1…`.
    ///
    /// # Errors
    /// When it is not one.
    pub fn add(&mut self, word: &str) -> Result<(), RecipientError> {
        let recipient = word.parse().map_err(|_library| {
            if word.to_ascii_uppercase().starts_with("AGE-SECRET-KEY-") {
                RecipientError::Identity
            } else if word.starts_with("ssh-") || word.starts_with("ecdsa-") {
                RecipientError::Ssh
            } else {
                let word = word.to_owned();
                RecipientError::Unknown { word }
            }
        })?;
        self.recipients.push(recipient);
        Ok(())
    }

    /// Adds the recipients of a file: one a line; empty lines and comments are skipped.
    ///
    /// # Errors
    /// When a line is not a recipient; its number comes first.
    pub fn add_lines(&mut self, text: &str) -> Result<(), (usize, RecipientError)> {
        for (number, line) in text.lines().enumerate() {
            let line = line.trim_ascii();
            if !line.is_empty() && !line.starts_with('#') {
                let failed = |error| (number.saturating_add(1), error);
                self.add(line).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Returns the number of recipients.
    pub fn len(&self) -> usize {
        self.recipients.len()
    }

    /// Returns whether there are no recipients.
    pub fn is_empty(&self) -> bool {
        self.recipients.is_empty()
    }

    /// Encrypts a stream to its end, and returns the output and the number of bytes read.
    /// `progress` receives the number of processed bytes.
    ///
    /// # Errors
    /// When there is no recipient, and when the input or the output fails.
    pub fn encrypt<W: Write>(
        &self,
        mut input: impl Read,
        output: W,
        mut progress: impl FnMut(u64),
    ) -> Result<(W, u64), EncryptionError> {
        let recipients = self.recipients.iter().map(|one| {
            let one: &dyn Recipient = one;
            one
        });
        let encryptor = Encryptor::with_recipients(recipients)
            .map_err(|_library| EncryptionError::NoRecipient)?;
        let mut output = encryptor
            .wrap_output(output)
            .map_err(EncryptionError::Write)?;
        let mut piece = vec![0; PIECE];
        let mut done = 0_u64;
        loop {
            let read = match input.read(&mut piece) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read.map_err(EncryptionError::Read)?,
            };
            let Some(bytes) = piece.get(..read).filter(|bytes| !bytes.is_empty()) else {
                break;
            };
            output.write_all(bytes).map_err(EncryptionError::Write)?;
            done = done.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
            progress(done);
        }
        let output = output.finish().map_err(EncryptionError::Write)?;
        Ok((output, done))
    }
}

/// A file cannot be encrypted.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EncryptionError {
    /// There is no recipient, so it could not be decrypted.
    #[error("no recipient")]
    NoRecipient,
    /// The input fails.
    #[error("cannot read: {0}")]
    Read(#[source] io::Error),
    /// The output fails.
    #[error("cannot write: {0}")]
    Write(#[source] io::Error),
}

/// A file does not contain usable identities; the error does not quote the file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// It is encrypted itself.
    #[error("the identity file is encrypted with a passphrase")]
    Encrypted,
    /// It is an SSH key.
    #[error("SSH keys are not supported as identities")]
    Ssh,
    /// It has a line that is not an identity.
    #[error("not a file of age identities")]
    Unknown,
    /// It has only comments.
    #[error("no identity in the file")]
    Empty,
}

/// The private keys of age that open files.
pub struct AgeIdentities {
    identities: Vec<Box<dyn Identity + Send + Sync>>,
}

impl fmt::Debug for AgeIdentities {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "AgeIdentities({})", self.identities.len())
    }
}

impl AgeIdentities {
    /// Reads a file of identities in the format of `age-keygen`.
    ///
    /// # Errors
    /// When it contains anything else, or no identity.
    pub fn parse(text: &[u8]) -> Result<Self, IdentityError> {
        if is_encrypted(text) {
            return Err(IdentityError::Encrypted);
        }
        if text.starts_with(b"-----BEGIN") {
            return Err(IdentityError::Ssh);
        }
        let identities = IdentityFile::from_buffer(text)
            .map_err(|_library| IdentityError::Unknown)?
            .into_identities()
            .map_err(|_library| IdentityError::Unknown)?;
        if identities.is_empty() {
            return Err(IdentityError::Empty);
        }
        Ok(Self { identities })
    }

    /// Decrypts a stream while it is read.
    ///
    /// # Errors
    /// When the file is encrypted for other recipients, or its header is damaged. Later damage
    /// becomes an error of the reader, which returns authenticated bytes only.
    pub fn decrypt<'a>(
        &self,
        input: impl BufRead + 'a,
    ) -> Result<Box<dyn Read + 'a>, DecryptionError> {
        let mut input = ArmoredReader::new(input);
        // The library reads a header of any length, so the length is limited here.
        let mut head = Vec::new();
        (&mut input)
            .take(HEADER_BYTES)
            .read_to_end(&mut head)
            .map_err(|source| DecryptionError::of(DecryptError::Io(source)))?;
        let has_end = |bytes: &[u8]| {
            bytes
                .windows(HEADER_END.len())
                .any(|some| some == HEADER_END)
        };
        if !has_end(&head) {
            return Err(DecryptionError::Header);
        }
        let whole = BufReader::with_capacity(PIECE, Cursor::new(head).chain(input));
        let decryptor = Decryptor::new_buffered(whole).map_err(DecryptionError::of)?;
        if decryptor.is_scrypt() {
            return Err(DecryptionError::Passphrase);
        }
        let identities = self.identities.iter().map(|one| {
            let one: &dyn Identity = &**one;
            one
        });
        let reader = decryptor.decrypt(identities).map_err(DecryptionError::of)?;
        Ok(Box::new(reader))
    }
}

/// An encrypted file cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DecryptionError {
    /// It is encrypted for other recipients.
    #[error("it is encrypted for other recipients")]
    OtherRecipients,
    /// It is encrypted with a passphrase.
    #[error("it is encrypted with a passphrase")]
    Passphrase,
    /// Its header is damaged, or of a newer version.
    #[error("the header of the age format is damaged or unknown")]
    Header,
    /// It cannot be read.
    #[error("cannot read: {0}")]
    Read(#[source] io::Error),
}

impl DecryptionError {
    fn of(error: DecryptError) -> Self {
        match error {
            DecryptError::NoMatchingKeys => Self::OtherRecipients,
            DecryptError::Io(source) if source.kind() != io::ErrorKind::UnexpectedEof => {
                Self::Read(source)
            }
            _ => Self::Header,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use age::secrecy::ExposeSecret as _;

    fn pair() -> (AgeRecipients, AgeIdentities) {
        let identity = x25519::Identity::generate();
        let mut recipients = AgeRecipients::default();
        let word = identity.to_public().to_string();
        recipients.add(&word).expect("a recipient");
        let text = format!("# key\n{}\n", identity.to_string().expose_secret());
        let identities = AgeIdentities::parse(text.as_bytes()).expect("an identity");
        (recipients, identities)
    }

    fn encrypted(recipients: &AgeRecipients, bytes: &[u8]) -> Vec<u8> {
        let made = recipients.encrypt(bytes, Vec::new(), |_| {});
        let (made, read) = made.expect("encrypted");
        assert_eq!(usize::try_from(read).expect("small"), bytes.len());
        made
    }

    #[test]
    fn what_is_encrypted_comes_back_for_its_recipients_only() {
        let (recipients, identities) = pair();
        for len in [0, 1, PIECE - 1, PIECE, 3 * PIECE + 5] {
            let bytes: Vec<u8> = (0..=250).cycle().take(len).collect();
            let made = encrypted(&recipients, &bytes);
            assert!(is_encrypted(&made));
            let mut back = Vec::new();
            let mut reader = identities.decrypt(made.as_slice()).expect("opened");
            reader.read_to_end(&mut back).expect("read");
            assert_eq!(back, bytes);
            let other = pair().1.decrypt(made.as_slice()).err();
            assert!(
                matches!(other, Some(DecryptionError::OtherRecipients)),
                "{other:?}"
            );
        }
    }

    #[test]
    fn a_changed_or_cut_file_gives_no_byte_that_is_not_authentic() {
        let (recipients, identities) = pair();
        let bytes: Vec<u8> = (0..=250).cycle().take(3 * PIECE).collect();
        let made = encrypted(&recipients, &bytes);
        let read = |made: &[u8]| -> Option<Vec<u8>> {
            let mut back = Vec::new();
            let mut reader = identities.decrypt(made).ok()?;
            let ended = reader.read_to_end(&mut back);
            ended.is_err().then_some(back)
        };
        for place in [made.len() - 1, made.len() / 2, made.len() - PIECE * 2] {
            let mut changed = made.clone();
            changed[place] ^= 1;
            let back = read(&changed).expect("opened, and an error");
            assert!(bytes.starts_with(&back) && back.len() < bytes.len());
            let back = read(&made[..place]).expect("opened, and an error");
            assert!(bytes.starts_with(&back) && back.len() < bytes.len());
        }
        assert_eq!(read(&made[..40]), None, "a header of half its length");
    }

    #[test]
    fn a_file_that_is_written_as_text_is_read() {
        let (recipients, identities) = pair();
        let format = age::armor::Format::AsciiArmor;
        let output = age::armor::ArmoredWriter::wrap_output(Vec::new(), format);
        let bytes = vec![7; 3 * PIECE];
        let made = recipients.encrypt(bytes.as_slice(), output.expect("an output"), |_| {});
        let text = made.expect("encrypted").0.finish().expect("text");
        assert!(is_encrypted(&text));
        let mut back = Vec::new();
        let mut reader = identities.decrypt(text.as_slice()).expect("opened");
        reader.read_to_end(&mut back).expect("read");
        assert_eq!(back, bytes);
    }

    #[test]
    fn a_header_without_an_end_is_read_up_to_a_bound() {
        let (_, identities) = pair();
        let endless = HEAD.chain(io::repeat(b'a'));
        let error = identities.decrypt(BufReader::new(endless)).err();
        assert!(matches!(error, Some(DecryptionError::Header)), "{error:?}");
    }

    #[test]
    fn words_that_are_not_keys_of_age_say_what_they_are_and_no_secret() {
        let identity = x25519::Identity::generate().to_string();
        let secret = identity.expose_secret();
        let mut recipients = AgeRecipients::default();
        for (word, said) in [
            (secret, "an age identity is given as a recipient"),
            (
                "ssh-ed25519 AAAA",
                "SSH keys are not supported as recipients",
            ),
            ("me", "not an age recipient: \"me\""),
        ] {
            let error = recipients.add(word).expect_err(said).to_string();
            assert_eq!(error, said);
        }
        let (line, error) = recipients.add_lines("# a\n\nme\n").expect_err("refused");
        assert_eq!(
            (line, error.to_string().as_str()),
            (3, "not an age recipient: \"me\"")
        );
        assert!(recipients.is_empty());
        for (text, said) in [
            ("# nothing\n", "no identity in the file"),
            ("AGE-SECRET-KEY-1QQQ\n", "not a file of age identities"),
            (
                "-----BEGIN OPENSSH PRIVATE KEY-----",
                "SSH keys are not supported as identities",
            ),
            (
                "age-encryption.org/v1\n",
                "the identity file is encrypted with a passphrase",
            ),
        ] {
            let error = AgeIdentities::parse(text.as_bytes())
                .expect_err(said)
                .to_string();
            assert_eq!(error, said);
        }
    }
}
