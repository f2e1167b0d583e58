//! Virtual time: milliseconds since a scenario begins.

use std::fmt;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_add_up_to_the_millisecond() {
        let moment = Moment::from_secs(1.5) + 0.1;
        assert_eq!(moment.millis(), 1600);
        assert_eq!(moment.to_string(), "+1.600s");
        assert_eq!(moment.stamp(), "{{secs 1600}}");
    }
}
