//! The seed's dice: every choice of a scenario comes from here, so that a seed repeats it.

use std::fmt::Write as _;

/// Throws that depend on the seed and on what the throw is for, not on the order of throws.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dice {
    seed: u64,
}

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self { seed }
    }

    fn throw(self, purpose: &[&str]) -> u64 {
        let mut hash = self.seed ^ 0xcbf2_9ce4_8422_2325;
        for byte in purpose.iter().flat_map(|part| part.bytes().chain([0xff])) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        let mut word = hash.wrapping_add(0x9e37_79b9_7f4a_7c15);
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number of seconds from 0 up to `below`, in milliseconds' steps.
    pub(super) fn secs(self, below: f64, purpose: &[&str]) -> f64 {
        let share = u32::try_from(self.throw(purpose) % 10_000).unwrap_or_default();
        below * f64::from(share) / 10_000.0
    }

    /// A number from 0 up to `limit`; 0 when that is 0.
    pub(super) fn below(self, limit: u32, purpose: &[&str]) -> u32 {
        let limit = u64::from(limit.max(1));
        u32::try_from(self.throw(purpose) % limit).unwrap_or_default()
    }

    /// Lower-case hex of so many digits.
    pub(super) fn hex(self, digits: usize, purpose: &[&str]) -> String {
        let mut text = String::new();
        let mut round = 0_u32;
        while text.len() < digits {
            let mut parts = purpose.to_vec();
            let counter = round.to_string();
            parts.push(&counter);
            // Writing to a String cannot fail.
            write!(text, "{:016x}", self.throw(&parts)).unwrap_or_default();
            round += 1;
        }
        text.truncate(digits);
        text
    }

    /// The five characters at the end of a generated name: no vowels, as Kubernetes draws them.
    pub(super) fn suffix(self, purpose: &[&str]) -> String {
        const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        let mut word = self.throw(purpose);
        let mut text = String::new();
        for _ in 0..5 {
            let letters = u64::try_from(LETTERS.len()).unwrap_or(1);
            let index = usize::try_from(word % letters).unwrap_or_default();
            text.push(char::from(LETTERS.get(index).copied().unwrap_or(b'x')));
            word /= letters;
        }
        text
    }

    /// A UUID, version 4 by its looks.
    pub(super) fn uuid(self, purpose: &[&str]) -> String {
        let digits = self.hex(30, purpose);
        let piece = |from: usize, to: usize| digits.get(from..to).unwrap_or_default().to_owned();
        format!(
            "{}-{}-4{}-b{}-{}",
            piece(0, 8),
            piece(8, 12),
            piece(12, 15),
            piece(15, 18),
            piece(18, 30)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throws_repeat_by_seed_and_purpose() {
        let dice = Dice::new(7);
        assert_eq!(dice.suffix(&["a"]), Dice::new(7).suffix(&["a"]));
        assert_ne!(dice.suffix(&["a"]), dice.suffix(&["b"]));
        assert_ne!(dice.suffix(&["a"]), Dice::new(8).suffix(&["a"]));
        assert_eq!(dice.uuid(&["a"]).len(), 36);
        assert!((0.0..3.0).contains(&dice.secs(3.0, &["a"])));
    }
}
