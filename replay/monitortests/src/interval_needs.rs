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
    /// Those that one of these choices takes.
    Choices(Arc<[IntervalChoice]>),
}

/// A choice of intervals with what all that it takes have in common: by that, few choices are asked about one
/// interval.
#[derive(Clone)]
pub struct IntervalChoice {
    /// The sources that it takes; any if it names none.
    pub(crate) sources: Vec<String>,
    /// The reasons that it takes; any if it names none.
    pub(crate) reasons: Vec<String>,
    /// Words of which each interval that it takes has one; any if it names none.
    pub(crate) words: Vec<NeededWord>,
    /// What else decides.
    pub(crate) looks_at: LooksAt,
}

/// A word in a text of an interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NeededWord {
    pub(crate) place: WordPlace,
    pub(crate) word: String,
}

/// The texts of an interval in which words are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordPlace {
    Reason,
    Cause,
    Message,
}

impl WordPlace {
    /// Returns the text that expressions know by a name.
    pub(crate) fn named(member: &str) -> Option<Self> {
        Some(match member {
            "reason" => Self::Reason,
            "cause" => Self::Cause,
            "message" => Self::Message,
            _ => return None,
        })
    }
}

impl NeededWord {
    fn is_in(&self, interval: &Interval) -> bool {
        let message = &interval.message;
        let text = match self.place {
            WordPlace::Reason => &message.reason,
            WordPlace::Cause => &message.cause,
            WordPlace::Message => &message.human,
        };
        text.contains(&self.word)
    }

    /// Returns whether an interval has one of some words; any has where none is named.
    pub(crate) fn one_is_in(words: &[Self], interval: &Interval) -> bool {
        words.is_empty() || words.iter().any(|word| word.is_in(interval))
    }
}

impl IntervalChoice {
    /// Returns whether it takes an interval of which it is known that it has one of the words.
    pub(crate) fn takes(&self, interval: &Interval) -> bool {
        let is_one = |words: &[String], word: &str| {
            words.is_empty() || words.iter().any(|known| known == word)
        };
        is_one(&self.reasons, &interval.message.reason)
            && is_one(&self.sources, interval.source.as_str())
            && (self.looks_at)(interval)
    }
}

impl IntervalNeeds {
    /// Makes it of a question.
    pub fn those(looks_at: impl Fn(&Interval) -> bool + Send + Sync + 'static) -> Self {
        Self::Those(Arc::new(looks_at))
    }

    /// Returns whether an interval is looked at.
    pub fn has(&self, interval: &Interval) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Those(looks_at) => looks_at(interval),
            Self::Choices(choices) => choices.iter().any(|choice| {
                NeededWord::one_is_in(&choice.words, interval) && choice.takes(interval)
            }),
        }
    }
}

impl fmt::Debug for IntervalNeeds {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::All => "All",
            Self::None => "None",
            Self::Those(_) => "Those(..)",
            Self::Choices(_) => "Choices(..)",
        })
    }
}

impl fmt::Debug for IntervalChoice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("IntervalChoice")
            .field("sources", &self.sources)
            .field("reasons", &self.reasons)
            .field("words", &self.words)
            .finish_non_exhaustive()
    }
}
