//! Owns letters that no compressor makes small, for tests that need a file to grow. Refuses rows of letters
//! so long that they might be taken for a key.

/// Gives so many bytes of noise; the same seed gives the same.
pub fn noise(seed: u64, len: usize) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let letters = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        if state >> 61 == 0 {
            ' '
        } else {
            char::from(b'a' + (state % 26).to_le_bytes()[0])
        }
    });
    letters.take(len).collect()
}
