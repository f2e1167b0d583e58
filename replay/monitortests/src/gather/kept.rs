//! Which intervals of a run are kept until they are judged.

use crate::interval::Interval;
use crate::interval_needs::{IntervalChoice, IntervalNeeds, NeededWord};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The intervals that are held: all, or those that somebody looks at.
#[derive(Clone, Debug, Default)]
pub(crate) struct WantedIntervals(Option<Arc<Looks>>);

/// Who looks at what, so that few are asked about one interval: each choice lies in one place, by what narrows it
/// most.
#[derive(Debug, Default)]
struct Looks {
    any: Vec<IntervalNeeds>,
    by_reason: BTreeMap<String, Vec<IntervalChoice>>,
    by_source: BTreeMap<String, Vec<IntervalChoice>>,
    /// Many rules look for the same words.
    worded: Vec<(Vec<NeededWord>, Vec<IntervalChoice>)>,
}

impl WantedIntervals {
    /// Holds what some monitortests look at.
    pub(crate) fn of(all: impl IntoIterator<Item = IntervalNeeds>) -> Self {
        let mut looks = Looks::default();
        for looked_at in all {
            match &looked_at {
                IntervalNeeds::All => return Self::default(),
                IntervalNeeds::None => {}
                IntervalNeeds::Those(_) => looks.any.push(looked_at),
                IntervalNeeds::Choices(choices) => {
                    choices.iter().for_each(|choice| looks.add_choice(choice));
                }
            }
        }
        Self(Some(Arc::new(looks)))
    }

    /// Returns whether an interval is held.
    pub(crate) fn has(&self, interval: &Interval) -> bool {
        let looks = self.0.as_deref();
        looks.is_none_or(|looks| looks.has(interval))
    }

    /// Returns whether all are held.
    pub(super) const fn is_all(&self) -> bool {
        self.0.is_none()
    }
}

impl Looks {
    fn add_choice(&mut self, choice: &IntervalChoice) {
        let (names, places) = if choice.reasons.is_empty() {
            (&choice.sources, &mut self.by_source)
        } else {
            (&choice.reasons, &mut self.by_reason)
        };
        for name in names {
            let choices = places.entry(name.clone()).or_default();
            choices.push(choice.clone());
        }
        if !names.is_empty() {
            return;
        }
        let mut same = self.worded.iter_mut();
        match same.find(|(words, _)| *words == choice.words) {
            Some((_, choices)) => choices.push(choice.clone()),
            None => self
                .worded
                .push((choice.words.clone(), vec![choice.clone()])),
        }
    }

    fn has(&self, interval: &Interval) -> bool {
        let of_reason = self.by_reason.get(&*interval.message.reason);
        let of_source = self.by_source.get(interval.source.as_str());
        let mut named = of_reason.into_iter().chain(of_source).flatten();
        let mut any = self.any.iter();
        let mut worded = self.worded.iter();
        named.any(|choice| NeededWord::one_is_in(&choice.words, interval) && choice.takes(interval))
            || worded.any(|(words, choices)| {
                NeededWord::one_is_in(words, interval)
                    && choices.iter().any(|choice| choice.takes(interval))
            })
            || any.any(|looked_at| looked_at.has(interval))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::Source;
    use crate::interval_needs::WordPlace;
    use proptest::prelude::*;

    fn texts() -> impl Strategy<Value = Vec<String>> {
        proptest::collection::vec("[abc]", 0..3)
    }

    fn choices() -> impl Strategy<Value = Vec<IntervalChoice>> {
        let place = prop_oneof![
            Just(WordPlace::Reason),
            Just(WordPlace::Cause),
            Just(WordPlace::Message)
        ];
        let word = (place, "[ab]{1,2}").prop_map(|(place, word)| NeededWord { place, word });
        let words = proptest::collection::vec(word, 0..3);
        let choice = (texts(), texts(), words, "[ab]?");
        let choice = choice.prop_map(|(sources, reasons, words, part)| IntervalChoice {
            sources,
            reasons,
            words,
            looks_at: Arc::new(move |interval| interval.message.human.contains(&part)),
        });
        proptest::collection::vec(choice, 0..6)
    }

    proptest! {
        /// An interval is held exactly if one of the choices takes it, asked one by one.
        #[test]
        fn what_a_choice_takes_is_held(
            choices in choices(),
            source in "[abc]",
            reason in "[abc]?",
            cause in "[ab]{0,2}",
            human in "[abc]{0,4}",
        ) {
            let mut interval = Interval {
                source: Source::new(&source),
                ..Interval::default()
            };
            interval.message.reason = reason.into();
            interval.message.cause = cause.into();
            interval.message.human = human.into();
            let needs = IntervalNeeds::Choices(choices.into());
            prop_assert_eq!(WantedIntervals::of([needs.clone()]).has(&interval), needs.has(&interval));
        }
    }
}
