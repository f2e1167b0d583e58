//! Owns the digest of bytes that come piece by piece. Refuses secrets: it notices changes, not malice.

use xxhash_rust::xxh3::Xxh3Default;

/// A digest in the making: XXH3-128, as in frames.
#[derive(Default)]
pub(crate) struct Digest(Xxh3Default);

impl Digest {
    /// Takes in the next bytes.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Gives the digest of all bytes so far.
    pub(crate) fn value(&self) -> u128 {
        self.0.digest128()
    }
}
