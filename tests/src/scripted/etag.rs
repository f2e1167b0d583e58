//! Owns the small hash behind `ETag` and `storageVersionHash`. Refuses any claim of strength:
//! the server only needs equal in, equal out, and different for documents a test can tell apart.

/// FNV-1a over 64 bits.
pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The quoted tag of a document.
pub(crate) fn of(document: &[u8]) -> String {
    format!("\"{:016X}\"", fnv1a(document))
}
