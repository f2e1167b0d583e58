//! What tests of Events share: how often an Event happened, and whether the cluster was installed then.

use crate::interval::{Interval, IntervalMessage};
use crate::phase::Phase;
use crate::verdict::JudgeContext;

/// Returns how often an Event happened, by its own count; 0 if that is not a number.
pub(crate) fn times(message: &IntervalMessage) -> u64 {
    message
        .annotation("count")
        .map_or(1, |count| count.parse().unwrap_or(0))
}

/// Returns whether an Event is of the installation, which upstream's monitor does not see. What is found
/// where that is unknown goes to `TestCase::doubt_unknown_phases`.
pub(crate) fn is_installing(scene: &JudgeContext<'_>, event: &Interval) -> bool {
    scene.facts.phase(event.from) == Some(Phase::Install)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_says_itself_how_often_it_happened() {
        let said = |count: &str| times(&IntervalMessage::new("x").with("count", count));
        assert_eq!(times(&IntervalMessage::new("x")), 1);
        assert_eq!((said("42"), said("often"), said("-3")), (42, 0, 0));
    }
}
