//! Conversions of numbers that cannot fail on any platform that Rust supports.

/// Converts a length.
#[expect(clippy::expect_used, reason = "the platform's width is checked below")]
pub(crate) fn len64(len: usize) -> u64 {
    u64::try_from(len).expect("a length has at most 64 bits")
}

const _: () = assert!(usize::BITS <= u64::BITS);
