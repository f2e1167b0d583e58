//! By which rules intervals are made, and what a change's own time is worth. It does not handle the
//! making.

use kubereel_format::RecordedAt;
use kubereel_history::timetext;

/// By which rules intervals are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// As the OpenShift monitor would have made them: a change counts when it is received, only a
    /// change of status counts, and what is open at the end is closed there.
    #[default]
    Upstream,
    /// By all that the reel knows: another reason or message is an instant of its own, the first sight
    /// counts, what is open stays open. A time that a writer gives stands beside the interval.
    Exact,
}

impl Mode {
    /// Returns whether all that is known is used.
    pub(crate) const fn is_exact(self) -> bool {
        matches!(self, Self::Exact)
    }

    /// Returns the time that a writer gives to a change, as text, where it says more than the time
    /// at which the change was received.
    pub(crate) fn own_time(self, said: Option<RecordedAt>, seen: RecordedAt) -> Option<String> {
        let said = said.filter(|_| self.is_exact())?;
        let is_earlier = seen.micros_since(said) > SAME_MICROS;
        is_earlier.then(|| timetext::rfc3339(said))
    }
}

/// Within this distance, a time in whole seconds says no more than the time of arrival.
const SAME_MICROS: i64 = 2_000_000;

/// Returns the moment of a change that was seen at `seen` and that its writer dates to `said`.
///
/// A writer's times have whole seconds and another clock: where they lie close to the arrival, or
/// after it, or before `not_before` (when the object was still as it had been), the arrival is the
/// better answer.
pub(crate) fn moment(
    said: Option<RecordedAt>,
    not_before: Option<RecordedAt>,
    seen: RecordedAt,
) -> RecordedAt {
    match said {
        Some(said)
            if seen.micros_since(said) > SAME_MICROS
                && not_before.is_none_or(|before| said >= before) =>
        {
            said
        }
        _ => seen,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writers_time_counts_only_where_it_says_more() {
        let at = |secs: i64| RecordedAt::from_micros(secs * 1_000_000);
        assert_eq!(moment(Some(at(5)), None, at(60)), at(5));
        assert_eq!(moment(Some(at(59)), None, at(60)), at(60));
        assert_eq!(moment(Some(at(61)), None, at(60)), at(60));
        assert_eq!(moment(Some(at(5)), Some(at(6)), at(60)), at(60));
        assert_eq!(moment(None, None, at(60)), at(60));
    }
}
