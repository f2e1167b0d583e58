//! Virtual time: milliseconds since a scenario begins.

use std::fmt;
use std::fmt::Write as _;
use std::ops::Add;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A moment of a scenario. A player decides which wall-clock time it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Moment {
    millis: u64,
}

impl Moment {
    /// So many milliseconds after the beginning.
    pub const fn from_millis(millis: u64) -> Self {
        Self { millis }
    }

    /// So many seconds after the beginning, to the millisecond.
    pub fn from_secs(secs: f64) -> Self {
        Self::default() + secs
    }

    /// Milliseconds since the beginning.
    pub const fn millis(self) -> u64 {
        self.millis
    }

    /// Time since the beginning.
    pub const fn since_start(self) -> Duration {
        Duration::from_millis(self.millis)
    }

    /// The moment as `metav1.Time`, to be filled in by the player.
    pub fn stamp(self) -> String {
        format!("{{{{secs {}}}}}", self.millis)
    }

    /// The moment as `metav1.MicroTime`, to be filled in by the player.
    pub fn stamp_micros(self) -> String {
        format!("{{{{micros {}}}}}", self.millis)
    }
}

impl Add<f64> for Moment {
    type Output = Self;

    /// So many seconds later.
    #[expect(
        clippy::as_conversions,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float to an integer has no other way; `as` saturates, and scenarios are short"
    )]
    fn add(self, secs: f64) -> Self {
        Self {
            millis: self.millis + (secs * 1000.0).round() as u64,
        }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "+{}.{:03}s", self.millis / 1000, self.millis % 1000)
    }
}

/// Throws that depend on the seed and on what the throw is for, not on the order of throws.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dice {
    seed: u64,
}

impl Dice {
    pub(crate) const fn new(seed: u64) -> Self {
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
    pub(crate) fn below(self, limit: u32, purpose: &[&str]) -> u32 {
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
    pub(crate) fn suffix(self, purpose: &[&str]) -> String {
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

/// Why a scenario cannot be read or laid out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// The file is not what a scenario looks like.
    #[error("cannot read a scenario: {message}")]
    Unreadable {
        /// What the parser says, with the place.
        message: String,
    },
    /// A fault names an operator that is not there.
    #[error("no operator named {name}")]
    NoSuchOperator {
        /// The name.
        name: String,
    },
    /// The story does not fit.
    #[error("scenario {name} ends at {end}, its update only at {completed}")]
    TooShort {
        /// The scenario.
        name: String,
        /// When the update is complete.
        completed: Moment,
        /// When the scenario ends.
        end: Moment,
    },
}

#[cfg(test)]
mod moment_tests {
    use super::*;

    #[test]
    fn seconds_add_up_to_the_millisecond() {
        let moment = Moment::from_secs(1.5) + 0.1;
        assert_eq!(moment.millis(), 1600);
        assert_eq!(moment.to_string(), "+1.600s");
        assert_eq!(moment.stamp(), "{{secs 1600}}");
    }
}

#[cfg(test)]
mod dice_tests {
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
