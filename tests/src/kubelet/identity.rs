//! Names that look as if a runtime had made them: container ids, boot ids, addresses.
//! The same question has the same answer, so that a played scenario repeats.

use std::fmt::Write as _;

/// Lower-case hex of `digits` digits that follows from the parts.
pub(crate) fn hex(parts: &[&str], digits: usize) -> String {
    let mut state = parts
        .iter()
        .flat_map(|part| part.bytes().chain([0]))
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    let mut text = String::with_capacity(digits + 16);
    while text.len() < digits {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^= word >> 31;
        // Writing to a String cannot fail.
        write!(text, "{word:016x}").unwrap_or_default();
    }
    text.truncate(digits);
    text
}

/// A UUID, version 4 by its looks, that follows from the parts.
pub(crate) fn uuid(parts: &[&str]) -> String {
    let digits = hex(parts, 30);
    let piece = |from: usize, to: usize| digits.get(from..to).unwrap_or_default().to_owned();
    format!(
        "{}-{}-4{}-a{}-{}",
        piece(0, 8),
        piece(8, 12),
        piece(12, 15),
        piece(15, 18),
        piece(18, 30)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_repeat_and_differ() {
        assert_eq!(hex(&["a", "b"], 64), hex(&["a", "b"], 64));
        assert_ne!(hex(&["a", "b"], 64), hex(&["ab", ""], 64));
        assert_eq!(hex(&["a"], 64).len(), 64);
        assert_eq!(uuid(&["x"]).len(), 36);
    }
}
