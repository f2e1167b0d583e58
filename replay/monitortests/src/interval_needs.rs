//! The intervals that a monitor test reads: others need not be kept until it judges.
//!
//! A yes too many costs memory; a wrong no loses a finding.

use crate::interval::Interval;
use std::fmt;
use std::sync::Arc;

/// Returns whether an interval is looked at.
type LooksAt = Arc<dyn Fn(&Interval) -> bool + Send + Sync>;

/// Which intervals a monitor test looks at.
#[derive(Clone, Default)]
pub enum IntervalNeeds {
    /// Any, as far as is known.
    #[default]
    All,
    /// None.
    None,
    /// Those for which this returns true. It is called while the run is read: what cluster it was and when the
    /// run ends is not known then, and where that matters it must say yes.
    Those(LooksAt),
    /// Those of some sources for which this returns true: it is not called for others.
    OfSources(Arc<[String]>, LooksAt),
}

impl IntervalNeeds {
    /// Makes it of a question.
    pub fn those(looks_at: impl Fn(&Interval) -> bool + Send + Sync + 'static) -> Self {
        Self::Those(Arc::new(looks_at))
    }

    /// Makes it of a question about the intervals of some sources.
    pub fn of_sources(
        sources: impl IntoIterator<Item = String>,
        looks_at: impl Fn(&Interval) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self::OfSources(sources.into_iter().collect(), Arc::new(looks_at))
    }

    /// Returns whether an interval is looked at.
    pub fn has(&self, interval: &Interval) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Those(looks_at) => looks_at(interval),
            Self::OfSources(sources, looks_at) => {
                let source = interval.source.as_str();
                sources.iter().any(|known| known == source) && looks_at(interval)
            }
        }
    }
}

impl fmt::Debug for IntervalNeeds {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::All => "All",
            Self::None => "None",
            Self::Those(_) => "Those(..)",
            Self::OfSources(..) => "OfSources(..)",
        })
    }
}
