//! The intervals that a watcher makes, with their texts shared. It does not know why they are made.

use crate::interval::{Display, Interval, IntervalMessage, Level, Locator, SharedTexts, Source};
use kubereel_format::{RecordedAt, Seq};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::sync::Arc;

/// An interval under construction: an instant, until it is extended.
#[derive(Clone, Debug)]
pub(crate) struct Draft<'a> {
    source: &'a str,
    level: Level,
    display: Display,
    kind: &'a str,
    keys: Vec<(&'a str, &'a str)>,
    reason: Cow<'a, str>,
    cause: Cow<'a, str>,
    human: Cow<'a, str>,
    annotations: Vec<(&'a str, Cow<'a, str>)>,
    from: RecordedAt,
    to: Option<RecordedAt>,
    seq: Option<Seq>,
}

impl<'a> Draft<'a> {
    /// Begins an instant.
    pub(crate) fn new(source: &'a str, level: Level, at: RecordedAt) -> Self {
        Self {
            source,
            level,
            display: Display::Hidden,
            kind: "",
            keys: Vec::new(),
            reason: Cow::Borrowed(""),
            cause: Cow::Borrowed(""),
            human: Cow::Borrowed(""),
            annotations: Vec::new(),
            from: at,
            to: Some(at),
            seq: None,
        }
    }

    /// Says what it is about; keys without a value are left out.
    pub(crate) fn about(
        mut self,
        kind: &'a str,
        keys: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        self.kind = kind;
        self.keys = keys
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .collect();
        self
    }

    /// Says which record showed it.
    pub(crate) const fn shown_by(mut self, seq: Seq) -> Self {
        self.seq = Some(seq);
        self
    }

    /// Sets the reason, and the annotation of that name.
    pub(crate) fn reason(mut self, reason: impl Into<Cow<'a, str>>) -> Self {
        self.reason = reason.into();
        let annotation = self.reason.clone();
        self.with("reason", annotation)
    }

    /// Sets the cause, and the annotation of that name.
    pub(crate) fn cause(mut self, cause: impl Into<Cow<'a, str>>) -> Self {
        self.cause = cause.into();
        let annotation = self.cause.clone();
        self.with("cause", annotation)
    }

    /// Sets the words for people.
    pub(crate) fn human(mut self, human: impl Into<Cow<'a, str>>) -> Self {
        self.human = human.into();
        self
    }

    /// Sets an annotation.
    pub(crate) fn with(mut self, name: &'a str, value: impl Into<Cow<'a, str>>) -> Self {
        self.annotations.push((name, value.into()));
        self
    }

    /// Puts the time that the writer gives to the change beside it.
    pub(crate) fn own_time(self, said: Option<String>) -> Self {
        self.own_time_of("lastTransitionTime", said)
    }

    /// Puts the time that a field gives to the change beside it, under the field's name.
    pub(crate) fn own_time_of(self, field: &'a str, said: Option<String>) -> Self {
        match said {
            Some(said) => self.with(field, said),
            None => self,
        }
    }

    /// Lets timelines draw it.
    pub(crate) const fn drawn(mut self) -> Self {
        self.display = Display::Drawn;
        self
    }

    /// Returns the interval, with texts of its own.
    pub(crate) fn interval(&self) -> Interval {
        let annotations = self.annotations.iter();
        let annotations = annotations.map(|(name, value)| (Arc::from(*name), Arc::from(&**value)));
        Interval {
            level: self.level,
            source: Source::new(self.source),
            display: self.display,
            locator: Locator::new(self.kind, self.keys.iter().copied()),
            message: IntervalMessage {
                reason: Arc::from(&*self.reason),
                cause: Arc::from(&*self.cause),
                human: Arc::from(&*self.human),
                annotations: annotations.collect(),
            },
            from: self.from,
            to: self.to,
            seq: self.seq,
        }
    }

    /// Lets it last until a moment, or for ever.
    pub(crate) const fn until(mut self, to: Option<RecordedAt>) -> Self {
        self.to = to;
        self
    }
}

/// What many intervals say alike.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct LedgerText {
    source: Source,
    level: Level,
    display: Display,
    message: IntervalMessage,
}

/// Things, each with a number.
#[derive(Clone, Debug)]
struct Numbered<T> {
    all: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            numbers: HashMap::new(),
        }
    }
}

impl<T: Clone + Hash + Eq> Numbered<T> {
    /// Returns the number of a thing.
    fn number(&mut self, of: T) -> u32 {
        if let Some(number) = self.numbers.get(&of) {
            return *number;
        }
        // A reel has fewer records than that.
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(of.clone());
        self.numbers.insert(of, number);
        number
    }
}

/// An interval as a ledger holds it.
#[derive(Clone, Copy, Debug)]
struct LedgerLine {
    about: u32,
    said: u32,
    from: RecordedAt,
    /// [`OPEN`] for what has no end.
    to: RecordedAt,
    /// [`UNSHOWN`] for what no record showed.
    seq: Seq,
}

impl LedgerLine {
    fn interval(&self, about: &[Locator], said: &[LedgerText]) -> Option<Interval> {
        let said = said.get(usize::try_from(self.said).ok()?)?;
        Some(Interval {
            level: said.level,
            source: said.source.clone(),
            display: said.display,
            locator: about.get(usize::try_from(self.about).ok()?)?.clone(),
            message: said.message.clone(),
            from: self.from,
            to: (self.to != OPEN).then_some(self.to),
            seq: (self.seq != UNSHOWN).then_some(self.seq),
        })
    }
}

/// Later than any end.
const OPEN: RecordedAt = RecordedAt { micros: i64::MAX };
/// Later than any record.
const UNSHOWN: Seq = Seq(u64::MAX);

/// The intervals made so far: what they are about and what they say is held once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    words: SharedTexts,
    about: Numbered<Locator>,
    said: Numbered<LedgerText>,
    lines: Vec<LedgerLine>,
}

impl Ledger {
    /// Takes an interval.
    pub(crate) fn add(&mut self, draft: &Draft<'_>) {
        let words = &mut self.words;
        let locator = Locator {
            kind: words.kept(draft.kind),
            keys: words.pairs(draft.keys.iter().copied()),
        };
        let annotations = draft.annotations.iter();
        let message = IntervalMessage {
            reason: words.kept(&draft.reason),
            cause: words.kept(&draft.cause),
            human: words.kept(&draft.human),
            annotations: words.pairs(annotations.map(|(name, value)| (*name, value.as_ref()))),
        };
        let said = LedgerText {
            source: Source(words.kept(draft.source)),
            level: draft.level,
            display: draft.display,
            message,
        };
        self.lines.push(LedgerLine {
            about: self.about.number(locator),
            said: self.said.number(said),
            from: draft.from,
            to: draft.to.unwrap_or(OPEN),
            seq: draft.seq.unwrap_or(UNSHOWN),
        });
    }

    /// Returns the intervals, in the order in which they were made.
    pub(crate) fn into_intervals(self) -> impl Iterator<Item = Interval> {
        let lines = self.lines.into_iter();
        lines.filter_map(move |line| line.interval(&self.about.all, &self.said.all))
    }

    /// Returns the intervals in groups: those whose locators have the same key, in the order in
    /// which they were made. A group is made when it is asked for, so that not all of them take
    /// memory at once.
    pub(crate) fn into_groups<K: Ord>(
        self,
        key: impl Fn(&Locator) -> K,
    ) -> impl Iterator<Item = Vec<Interval>> {
        let mut known: BTreeMap<K, usize> = BTreeMap::new();
        let about = self.about.all.iter();
        let group_of = about.map(|about| {
            let next = known.len();
            *known.entry(key(about)).or_insert(next)
        });
        let group_of: Vec<usize> = group_of.collect();
        let mut groups: Vec<Vec<usize>> = vec![Vec::new(); known.len()];
        for (place, line) in self.lines.iter().enumerate() {
            let group = usize::try_from(line.about).ok();
            let group = group.and_then(|about| group_of.get(about));
            if let Some(group) = group.and_then(|group| groups.get_mut(*group)) {
                group.push(place);
            }
        }
        groups.into_iter().map(move |places| {
            let lines = places.into_iter().filter_map(|place| self.lines.get(place));
            lines
                .filter_map(|line| line.interval(&self.about.all, &self.said.all))
                .collect()
        })
    }

    /// Returns how many there are.
    pub(crate) const fn len(&self) -> usize {
        self.lines.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_come_back_as_they_were_made() {
        let at = |secs: i64| RecordedAt::from_micros(secs * 1_000_000);
        let mut ledger = Ledger::default();
        let mut made = Vec::new();
        for secs in 0..6 {
            let pod = format!("web-{}", secs % 2);
            let keys = [("namespace", "web"), ("pod", pod.as_str()), ("node", "")];
            let instant = Draft::new("PodMonitor", Level::Info, at(secs)).about("Pod", keys);
            let draft = match secs % 3 {
                0 => instant.reason("Created").shown_by(Seq(7)),
                1 => instant.cause("why").human("words").drawn().until(None),
                _ => instant.with("count", "2").until(Some(at(secs + 1))),
            };
            ledger.add(&draft);
            made.push(draft.interval());
        }
        assert_eq!((ledger.about.all.len(), ledger.said.all.len()), (2, 3));
        assert_eq!(ledger.len(), 6);
        let (odd, even): (Vec<_>, Vec<_>) = made.iter().cloned().partition(|interval| {
            interval
                .locator
                .get("pod")
                .is_some_and(|pod| pod == "web-1")
        });
        let grouped = ledger
            .clone()
            .into_groups(|about| about.get("pod").map(str::to_owned));
        assert_eq!(grouped.collect::<Vec<_>>(), [even, odd]);
        assert_eq!(ledger.into_intervals().collect::<Vec<_>>(), made);
    }
}
