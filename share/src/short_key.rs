//! ECDSA keys whose secret number begins with zeros.
//!
//! OpenSSH writes the number without the zeros: every fourth P-521 key and every 512th key of the
//! other curves is shorter than its curve, and `ssh-key` 0.6 refuses those. They are padded here
//! and then parsed by the library.

use ssh_encoding::base64::{Base64, Encoding as _};
use ssh_encoding::{Decode as _, Encode as _};
use ssh_key::private::KeypairData;
use ssh_key::{Cipher, Kdf, PrivateKey};
use zeroize::Zeroizing;

const MAGIC: &[u8] = b"openssh-key-v1\0";

/// Reads the text of an ECDSA key file, which must not be encrypted.
pub(crate) fn parse(text: &str) -> Option<PrivateKey> {
    let lines = text.lines().filter(|line| !line.starts_with("-----"));
    let digits = Zeroizing::new(lines.map(str::trim).collect::<String>());
    read(&Zeroizing::new(Base64::decode_vec(&digits).ok()?), "")
}

/// Decrypts an ECDSA key.
pub(crate) fn decrypt(key: &PrivateKey, passphrase: &str) -> Option<PrivateKey> {
    read(&key.to_bytes().ok()?, passphrase)
}

/// Reads the bytes of a key file with one key.
fn read(bytes: &[u8], passphrase: &str) -> Option<PrivateKey> {
    let mut rest = bytes.strip_prefix(MAGIC)?;
    let cipher = Cipher::new(&text(&mut rest)?).ok()?;
    let kdf = Kdf::decode(&mut rest).ok()?;
    let keys = u32::decode(&mut rest).ok()?;
    let _public = Vec::<u8>::decode(&mut rest).ok()?;
    let mut secret = Zeroizing::new(Vec::<u8>::decode(&mut rest).ok()?);
    if keys != 1 {
        return None;
    }
    if cipher.is_some() {
        let (secret_key, start) = kdf.derive_key_and_iv(cipher, passphrase).ok()?;
        let tag = match rest {
            [] => None,
            tag => Some(tag.try_into().ok()?),
        };
        cipher.decrypt(&secret_key, &start, &mut secret, tag).ok()?;
    }
    PrivateKey::new(pair(&secret)?, "").ok()
}

/// Reads the decrypted part, up to the comment.
fn pair(mut rest: &[u8]) -> Option<KeypairData> {
    let checks = [u32::decode(&mut rest).ok()?, u32::decode(&mut rest).ok()?];
    if checks[0] != checks[1] {
        return None;
    }
    let algorithm = text(&mut rest)?;
    let curve = text(&mut rest)?;
    let width: usize = match curve.as_str() {
        "nistp256" => 32,
        "nistp384" => 48,
        "nistp521" => 66,
        _ => return None,
    };
    let point = Vec::<u8>::decode(&mut rest).ok()?;
    let number = Zeroizing::new(Vec::<u8>::decode(&mut rest).ok()?);
    let mut padded = Zeroizing::new(vec![0; width.checked_sub(number.len())?]);
    padded.extend_from_slice(&number);
    let mut whole = Zeroizing::new(Vec::new());
    algorithm.encode(&mut *whole).ok()?;
    curve.encode(&mut *whole).ok()?;
    point.encode(&mut *whole).ok()?;
    padded.as_slice().encode(&mut *whole).ok()?;
    KeypairData::decode(&mut whole.as_slice()).ok()
}

fn text(rest: &mut &[u8]) -> Option<String> {
    String::decode(rest).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signature::{RecordingSignature, SigningError, SigningKey, statement};
    use crate::signers::AllowedSigners;
    use ssh_key::private::EcdsaKeypair;

    /// A key file as OpenSSH writes it: no number has zeros before it.
    fn file(cipher: Cipher, passphrase: &str) -> (String, PrivateKey) {
        let mut number = [0; 66];
        number[65] = 7;
        let number = p521::SecretKey::from_slice(&number).expect("a number");
        let pair = EcdsaKeypair::NistP521 {
            public: number.public_key().into(),
            private: number.into(),
        };
        let key = PrivateKey::from(pair);
        let (mut public, mut secret) = (Vec::new(), Vec::new());
        let data = key.public_key().key_data();
        data.encode(&mut public).expect("bytes");
        5_u32.encode(&mut secret).expect("bytes");
        5_u32.encode(&mut secret).expect("bytes");
        secret.extend_from_slice(&public);
        [7_u8].as_slice().encode(&mut secret).expect("bytes");
        "ann@example.com".encode(&mut secret).expect("bytes");
        for pad in 1..=cipher.padding_len(secret.len()) {
            secret.push(u8::try_from(pad).expect("short"));
        }
        let mut kdf = Kdf::None;
        let mut tag = None;
        if cipher.is_some() {
            let salt = vec![3; 16];
            kdf = Kdf::Bcrypt { salt, rounds: 1 };
            let (word, start) = kdf.derive_key_and_iv(cipher, passphrase).expect("a key");
            tag = cipher.encrypt(&word, &start, &mut secret).expect("locked");
        }
        let mut whole = MAGIC.to_vec();
        cipher.as_str().encode(&mut whole).expect("bytes");
        kdf.encode(&mut whole).expect("bytes");
        1_u32.encode(&mut whole).expect("bytes");
        public.as_slice().encode(&mut whole).expect("bytes");
        secret.as_slice().encode(&mut whole).expect("bytes");
        whole.extend(tag.iter().flatten());
        let digits = Base64::encode_string(&whole);
        let lines: Vec<_> = digits.as_bytes().chunks(70).collect();
        let lines = String::from_utf8(lines.join(&b'\n')).expect("text");
        let kind = "OPENSSH PRIVATE KEY";
        let file = format!("-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----\n");
        (file, key)
    }

    fn signs(key: &SigningKey, known: &PrivateKey) {
        let words = statement("sha256:00");
        let armored = key.sign(&words).expect("signed");
        let signature = RecordingSignature::parse(&armored).expect("a signature");
        let public = known.public_key().to_openssh().expect("text");
        let signers = AllowedSigners::parse(&public).expect("a public key");
        let signer = signature.check(&words, &signers, None).expect("good");
        assert_eq!(signer.algorithm, "ecdsa-sha2-nistp521");
    }

    #[test]
    fn a_key_whose_number_is_short_signs() {
        let (text, known) = file(Cipher::None, "");
        let refused = PrivateKey::from_openssh(&text);
        assert!(refused.is_err(), "the library reads it: delete this module");
        signs(&SigningKey::parse(&text).expect("a key"), &known);
    }

    #[test]
    fn it_may_be_encrypted_by_each_cipher() {
        for cipher in [
            Cipher::Aes256Ctr,
            Cipher::Aes256Cbc,
            Cipher::Aes256Gcm,
            Cipher::ChaCha20Poly1305,
        ] {
            let (text, known) = file(cipher, "secret");
            let key = SigningKey::parse(&text).expect("a key");
            assert!(key.is_encrypted());
            let wrong = key.unlock("wrong");
            assert!(matches!(wrong, Err(SigningError::Passphrase)), "{wrong:?}");
            signs(&key.unlock("secret").expect("unlocked"), &known);
        }
    }

    #[test]
    fn a_cut_file_is_no_key() {
        let (text, _) = file(Cipher::None, "");
        for lines in 0..text.lines().count() - 3 {
            let cut: Vec<_> = text.lines().take(lines).collect();
            assert!(parse(&cut.join("\n")).is_none(), "{lines} lines");
        }
    }
}
