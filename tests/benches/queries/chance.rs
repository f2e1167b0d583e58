//! Owns which questions are asked: the same in every run.

/// A stream of numbers.
#[derive(Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) const fn new() -> Self {
        Self(0x2545_f491_4f6c_dd1d)
    }

    /// A number from `least` up to, but without, `end`.
    pub(crate) fn between(&mut self, least: u64, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        least + self.0 % end.saturating_sub(least).max(1)
    }
}
