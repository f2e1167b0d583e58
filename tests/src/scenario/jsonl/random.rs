//! Chance by the seed: the same seed, the same numbers in the same order.

use std::fmt::Write as _;

/// A stream of numbers.
#[derive(Debug)]
pub(super) struct Random {
    state: u64,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            state: seed ^ 0x5851_f42d_4c95_7f2d,
        }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number from `least` up to, but without, `end`.
    pub(super) fn between(&mut self, least: u64, end: u64) -> u64 {
        least + self.next() % end.saturating_sub(least).max(1)
    }

    /// Seconds between two numbers of milliseconds.
    pub(super) fn millis(&mut self, least: u64, end: u64) -> f64 {
        std::time::Duration::from_millis(self.between(least, end)).as_secs_f64()
    }

    /// Lower-case hex of so many digits.
    pub(super) fn hex(&mut self, digits: usize) -> String {
        let mut text = String::new();
        while text.len() < digits {
            // Writing to a String cannot fail.
            write!(text, "{:016x}", self.next()).unwrap_or_default();
        }
        text.truncate(digits);
        text
    }

    /// A UUID, version 4 by its looks.
    pub(super) fn uuid(&mut self) -> String {
        let (high, low) = (self.next(), self.next());
        let time = high >> 32;
        let (mid, version) = ((high >> 16) & 0xffff, high & 0x0fff);
        let (variant, node) = (0x8000 | ((low >> 48) & 0x3fff), low & 0xffff_ffff_ffff);
        format!("{time:08x}-{mid:04x}-4{version:03x}-{variant:04x}-{node:012x}")
    }

    /// The characters at the end of a generated name: no vowels, as Kubernetes draws them.
    pub(super) fn suffix(&mut self, length: usize) -> String {
        const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        let letters = u64::try_from(LETTERS.len()).unwrap_or(1);
        (0..length)
            .filter_map(|_| {
                let place = usize::try_from(self.between(0, letters)).ok()?;
                LETTERS.get(place).copied().map(char::from)
            })
            .collect()
    }
}
