//! Puts the writes of an object in an audit log into the order of their resourceVersions.
//!
//! The API server logs a request when it has answered it. Of two concurrent writes the later one may
//! be answered, and logged, first, and the clocks of two API servers differ.
//!
//! Invariants:
//!
//! * A write was done before a later version of its object was answered: that is its latest time.
//! * Other lines keep their order.
//! * What waits is bounded, in time and in bytes. A write that comes later than that stays where it
//!   is.

use crate::audit::StoredVersion;
use kubereel_format::RecordedAt;
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

/// For how long a line waits for earlier versions, by the times of the lines, in microseconds.
const MAX_WAIT: i64 = 5_000_000;

/// The bytes of lines that wait.
const MAX_BYTES: usize = 32 << 20;

/// A line that waits for earlier versions.
#[derive(Debug)]
pub(crate) struct WaitingLine<S> {
    pub(crate) source: Rc<S>,
    pub(crate) number: u64,
    pub(crate) bytes: Vec<u8>,
    /// Its time, or that of a later version if that is earlier.
    pub(crate) at: RecordedAt,
    /// The version that it wrote.
    pub(crate) version: Option<StoredVersion>,
}

/// The lines that wait, and their order.
#[derive(Debug)]
pub(crate) struct ReorderWindow<S> {
    lines: VecDeque<Option<WaitingLine<S>>>,
    /// The number of the first of them.
    first: usize,
    /// Their versions, with their numbers.
    versions: BTreeSet<(StoredVersion, usize)>,
    bytes: usize,
    newest: RecordedAt,
}

impl<S> Default for ReorderWindow<S> {
    fn default() -> Self {
        Self {
            lines: VecDeque::new(),
            first: 0,
            versions: BTreeSet::new(),
            bytes: 0,
            newest: RecordedAt::from_micros(i64::MIN),
        }
    }
}

impl<S> ReorderWindow<S> {
    /// Adds a line.
    pub(crate) fn push(&mut self, line: WaitingLine<S>) {
        self.newest = self.newest.max(line.at);
        self.bytes = self.bytes.saturating_add(line.bytes.len());
        if let Some(version) = &line.version {
            let number = self.first.saturating_add(self.lines.len());
            self.versions.insert((version.clone(), number));
        }
        self.lines.push_back(Some(line));
    }

    /// Takes the next line that has waited long enough, or any if no more lines come.
    pub(crate) fn pop(&mut self, is_end: bool) -> Option<WaitingLine<S>> {
        while self.lines.front().is_some_and(Option::is_none) {
            self.lines.pop_front();
            self.first = self.first.saturating_add(1);
        }
        let line = self.lines.front()?.as_ref()?;
        let waits = self.newest.micros.saturating_sub(line.at.micros) <= MAX_WAIT;
        if !is_end && waits && self.bytes <= MAX_BYTES {
            return None;
        }
        let latest = line.at;
        let oldest = line.version.as_ref().and_then(|version| {
            let mut earlier = self
                .versions
                .range((version.first(), 0)..(version.clone(), 0));
            earlier.next().map(|(_, number)| *number)
        });
        let place = oldest.map_or(0, |number| number.saturating_sub(self.first));
        let mut line = self.lines.get_mut(place)?.take()?;
        line.at = line.at.min(latest);
        self.bytes = self.bytes.saturating_sub(line.bytes.len());
        if let Some(version) = &line.version {
            let number = self.first.saturating_add(place);
            self.versions.remove(&(version.clone(), number));
        }
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the numbers and times in which lines come out: seconds, uid, version.
    fn order(lines: &[(i64, &str, u128)]) -> Vec<(u64, i64)> {
        let mut window = ReorderWindow::default();
        let source = Rc::new(());
        let mut out = Vec::new();
        let mut keep = |line: WaitingLine<()>| out.push((line.number, line.at.micros / 1_000_000));
        for (number, (secs, uid, version)) in (1..).zip(lines) {
            let version = (!uid.is_empty()).then(|| StoredVersion {
                uid: (*uid).to_owned(),
                version: *version,
            });
            window.push(WaitingLine {
                source: Rc::clone(&source),
                number,
                bytes: vec![0; 10],
                at: RecordedAt::from_micros(secs * 1_000_000),
                version,
            });
            while let Some(line) = window.pop(false) {
                keep(line);
            }
        }
        while let Some(line) = window.pop(true) {
            keep(line);
        }
        assert_eq!((window.bytes, window.versions.len()), (0, 0));
        out
    }

    #[test]
    fn versions_of_an_object_come_in_their_order() {
        let lines = [
            (1, "a", 10),
            (2, "a", 13),
            (2, "b", 1),
            (3, "", 0),
            (4, "a", 12),
            (4, "a", 11),
            (5, "a", 14),
        ];
        let expected = [(1, 1), (6, 2), (5, 2), (2, 2), (3, 2), (4, 3), (7, 5)];
        assert_eq!(order(&lines), expected);
    }

    #[test]
    fn a_version_that_comes_too_late_stays_where_it_is() {
        let lines = [(1, "a", 13), (7, "b", 1), (9, "a", 12)];
        assert_eq!(order(&lines), [(1, 1), (2, 7), (3, 9)]);
    }
}
