//! Points and spans of time: the cursor's place, the jumps to undo, the visible window, the selected span
//! and a direction. Nothing here knows the model or the screen.

use kubereel_format::{RecordedAt, Seq};
use kubereel_history::{Cut, Moment, Timeline, Track, timetext};
use std::ops::Range;

/// Which way in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeDirection {
    /// Later.
    Next,
    /// Earlier.
    Previous,
}

impl TimeDirection {
    /// Gives the word for what lies that way.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Next => "later",
            Self::Previous => "earlier",
        }
    }
}

/// How many jumps can be undone.
const MOST_JUMPS: usize = 200;

/// Writes a length of time. A negative one is written as none: the recorder's clock may have stepped back.
pub(crate) fn span_text(micros: i64) -> String {
    timetext::span(micros.max(0).unsigned_abs())
}

/// Formats a time as a clock shows it: the time of day, behind month and day where a recording spans several
/// days.
pub(crate) fn clock_text(timeline: &Timeline, at: RecordedAt) -> String {
    let time = timeline.zone().time_of_day(at);
    if spans_days(timeline, at) {
        let whole = timeline.zone().rfc3339(at);
        let date = whole.split_once('T').map_or("", |(date, _)| date);
        // A year may have more than four digits, and a sign.
        let day = date.len().checked_sub("MM-DD".len());
        let day = day.and_then(|from| date.get(from..)).unwrap_or_default();
        format!("{day} {time}")
    } else {
        time
    }
}

/// Formats the same in whole seconds, without the zone.
pub(crate) fn clock_secs(timeline: &Timeline, at: RecordedAt) -> String {
    let text = clock_text(timeline, at);
    let secs = text.split_once('.').map(|(secs, _)| secs.to_owned());
    secs.unwrap_or(text)
}

/// Tells whether a time of day does not say which moment of a recording is meant.
pub(crate) fn spans_days(timeline: &Timeline, at: RecordedAt) -> bool {
    timeline.written(at) != timeline.zone().time_of_day(at)
}

/// Gives the nearest time that the reel has.
fn recorded(timeline: &Timeline, at: RecordedAt) -> RecordedAt {
    at.clamp(timeline.start(), timeline.end().max(timeline.start()))
}

/// Where the cursor stands: behind a record, as seen at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CursorPlace {
    /// The first record that has not happened yet.
    pub(crate) below: Seq,
    /// The time.
    pub(crate) at: RecordedAt,
}

impl CursorPlace {
    /// Gives the place at a time: behind all that had been received by then.
    pub(crate) fn at(timeline: &Timeline, at: RecordedAt) -> Self {
        Self {
            below: timeline.reel().seq_after(at),
            at,
        }
    }

    /// Gives the place at the nearest time that the reel has.
    pub(crate) fn within(timeline: &Timeline, at: RecordedAt) -> Self {
        Self::at(timeline, recorded(timeline, at))
    }

    /// Gives the place of a moment; at a resourceVersion, behind the last event up to that version.
    pub(crate) fn of(timeline: &Timeline, cut: Cut) -> Self {
        match cut {
            Cut::Arrival { below, wall } => Self {
                below,
                at: recorded(timeline, wall),
            },
            Cut::Revision(_) => {
                let below = timeline.cursor(Track::Everything, cut).below();
                below.0.checked_sub(1).map_or_else(
                    || Self::at(timeline, timeline.start()),
                    |last| Self::behind(timeline, Seq(last)),
                )
            }
        }
    }

    /// Gives the place behind a record.
    pub(crate) fn behind(timeline: &Timeline, seq: Seq) -> Self {
        let stamp = timeline.reel().stamp(seq);
        Self {
            below: Seq(seq.0.saturating_add(1)),
            at: stamp.map_or(timeline.end(), |stamp| stamp.wall),
        }
    }

    /// Gives the moment to ask for the state at.
    pub(crate) const fn cut(self) -> Cut {
        Cut::Arrival {
            below: self.below,
            wall: self.at,
        }
    }

    /// Writes it for `--at`: a time, or a record where the time does not lead to it.
    pub(crate) fn written(self, timeline: &Timeline) -> String {
        match self.record(timeline) {
            Some(seq) => format!("seq:{seq}"),
            None => timeline.written(self.at),
        }
    }

    /// Gives the record that it is behind, where its time does not lead to it: several records share the time, or the
    /// clock was set back.
    pub(crate) fn record(self, timeline: &Timeline) -> Option<u64> {
        let of_time = timeline.resolve(Moment::Time(self.at)).ok();
        let last = self.below.0.checked_sub(1);
        last.filter(|_| of_time != Some(self.cut()))
    }
}

/// Where the cursor stood before jumps, and after those that were undone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct JumpHistory {
    back: Vec<CursorPlace>,
    forth: Vec<CursorPlace>,
}

impl JumpHistory {
    /// Remembers a place that is left.
    pub(crate) fn leave(&mut self, place: CursorPlace) {
        if self.back.last() != Some(&place) {
            self.back.push(place);
        }
        if self.back.len() > MOST_JUMPS {
            self.back.remove(0);
        }
        self.forth.clear();
    }

    /// Gives the place before the last jump.
    pub(crate) fn back(&mut self, here: CursorPlace) -> Option<CursorPlace> {
        let to = self.back.pop()?;
        self.forth.push(here);
        Some(to)
    }

    /// Gives the place after the jump that was undone last.
    pub(crate) fn forth(&mut self, here: CursorPlace) -> Option<CursorPlace> {
        let to = self.forth.pop()?;
        self.back.push(here);
        Some(to)
    }
}

/// The shortest window, in microseconds: 1 ms.
const SHORTEST_MICROS: i64 = 1_000;

/// The visible span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ViewWindow {
    /// Its first moment.
    pub(crate) from: RecordedAt,
    /// Its length in microseconds; at least 1 ms.
    pub(crate) micros: i64,
}

impl ViewWindow {
    /// Makes a window of a whole span; one of no length becomes the shortest.
    pub(crate) fn whole(from: RecordedAt, to: RecordedAt) -> Self {
        Self {
            from,
            // The last moment is to lie on the last cell, not behind it.
            micros: to.micros_since(from).saturating_add(1).max(SHORTEST_MICROS),
        }
    }

    /// Gives the first moment behind it.
    pub(crate) const fn end(self) -> RecordedAt {
        RecordedAt::from_micros(self.from.micros.saturating_add(self.micros))
    }

    /// Gives the span of a cell, of `of` cells.
    pub(crate) fn cell(self, cell: u16, of: u16) -> Range<RecordedAt> {
        self.edge(cell, of)..self.edge(cell.saturating_add(1), of)
    }

    fn edge(self, cell: u16, of: u16) -> RecordedAt {
        let part = i128::from(self.micros) * i128::from(cell) / i128::from(of.max(1));
        // A cell far outside of the screen saturates: no moment lies there.
        let part = i64::try_from(part).unwrap_or(i64::MAX);
        RecordedAt::from_micros(self.from.micros.saturating_add(part))
    }

    /// Gives the cell in which a moment lies; `None` outside.
    pub(crate) fn cell_of(self, at: RecordedAt, of: u16) -> Option<u16> {
        if at < self.from || at >= self.end() {
            return None;
        }
        let part =
            i128::from(at.micros_since(self.from)) * i128::from(of) / i128::from(self.micros);
        let guess = u16::try_from(part).ok()?.min(of.saturating_sub(1));
        // Edges are rounded down: the moment may lie one cell further.
        let next = guess.saturating_add(1);
        Some(if next < of && self.edge(next, of) <= at {
            next
        } else {
            guess
        })
    }

    /// Gives the first cell in which a span shows, and in how many it does.
    #[expect(clippy::expect_used, reason = "the span is cut to the window")]
    pub(crate) fn cells_of(self, span: &Range<RecordedAt>, of: u16) -> (u16, u16) {
        let (from, to) = (span.start.max(self.from), span.end.min(self.end()));
        if from >= to {
            return (0, 0);
        }
        let last = RecordedAt::from_micros(to.micros.saturating_sub(1));
        let inside = "both lie in the window";
        let first = self.cell_of(from, of).expect(inside);
        let last = self.cell_of(last, of).expect(inside);
        (first, last.saturating_sub(first).saturating_add(1))
    }

    /// Gives the length of a cell in microseconds; at least 1.
    pub(crate) fn cell_micros(self, of: u16) -> i64 {
        (self.micros / i64::from(of.max(1))).max(1)
    }

    /// Gives a window of another length in which a moment keeps its place, within bounds.
    pub(crate) fn zoomed(self, at: RecordedAt, micros: i64, bounds: Self) -> Self {
        let micros = micros.clamp(SHORTEST_MICROS, bounds.micros);
        let left = i128::from(at.micros_since(self.from)) * i128::from(micros);
        // A moment too far outside to be computed begins the window.
        let left = i64::try_from(left / i128::from(self.micros)).unwrap_or(0);
        Self {
            from: RecordedAt::from_micros(at.micros.saturating_sub(left)),
            micros,
        }
        .within(bounds)
    }

    /// Gives the window moved by microseconds, within bounds.
    pub(crate) fn moved(self, micros: i64, bounds: Self) -> Self {
        Self {
            from: RecordedAt::from_micros(self.from.micros.saturating_add(micros)),
            ..self
        }
        .within(bounds)
    }

    /// Gives the window moved as little as makes a moment visible, with a tenth to spare.
    pub(crate) fn showing(self, at: RecordedAt, bounds: Self) -> Self {
        let spare = self.micros / 10;
        let first = self.from.micros.saturating_add(spare);
        let last = self.end().micros.saturating_sub(spare);
        let by = (at.micros - last).max(0) + (at.micros - first).min(0);
        if at >= self.from && at < self.end() {
            self
        } else {
            self.moved(by, bounds)
        }
    }

    fn within(self, bounds: Self) -> Self {
        let micros = self.micros.min(bounds.micros);
        let last = bounds.end().micros.saturating_sub(micros);
        let from = self
            .from
            .micros
            .clamp(bounds.from.micros, last.max(bounds.from.micros));
        Self {
            from: RecordedAt::from_micros(from),
            micros,
        }
    }
}

/// A span of time that the user selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeSelection {
    /// Where it began.
    anchor: RecordedAt,
    /// Its other end; the cursor, until it is fixed.
    fixed: Option<RecordedAt>,
}

/// What lies in a span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SelectionCounts {
    /// The span.
    pub(crate) span: ViewWindow,
    /// How many events came in it.
    pub(crate) events: u64,
    /// How often an object that has a lane changed its state in it.
    pub(crate) changes: usize,
}

impl TimeSelection {
    /// Begins at a moment.
    pub(crate) const fn begin(anchor: RecordedAt) -> Self {
        Self {
            anchor,
            fixed: None,
        }
    }

    /// Puts the other end at a moment.
    pub(crate) const fn to(self, at: RecordedAt) -> Self {
        Self {
            fixed: Some(at),
            ..self
        }
    }

    /// Tells whether both ends are fixed.
    pub(crate) const fn is_fixed(self) -> bool {
        self.fixed.is_some()
    }

    /// Gives the span, from the earlier end to the later one.
    pub(crate) fn span(self, cursor: RecordedAt) -> ViewWindow {
        let other = self.fixed.unwrap_or(cursor);
        ViewWindow::whole(self.anchor.min(other), self.anchor.max(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::script::{Script, thing};
    use crate::tests::stage::node;
    use kubereel_format::Note;
    use proptest::prelude::*;

    fn at(micros: i64) -> RecordedAt {
        RecordedAt::from_micros(micros)
    }

    proptest! {
        #[test]
        fn every_moment_lies_in_the_cell_that_holds_it(from in -9_000_000i64..9_000_000, long in 0i64..99_999_999, cells in 1u16..300, part in 0u16..1000) {
            let window = ViewWindow::whole(at(from), at(from + long));
            let moment = at(from + window.micros * i64::from(part) / 1000);
            let cell = window.cell_of(moment, cells).expect("inside");
            prop_assert!(window.cell(cell, cells).contains(&moment));
        }

        #[test]
        fn no_window_leaves_the_reel(from in 0i64..9_000, micros in 1_000i64..50_000, by in -90_000i64..90_000, zoom in 0i64..90_000) {
            let bounds = ViewWindow::whole(at(0), at(60_000));
            let window = ViewWindow { from: at(from), micros };
            for window in [window.moved(by, bounds), window.zoomed(at(from + by), zoom, bounds), window.showing(at(by), bounds)] {
                prop_assert!(window.from >= bounds.from && window.end() <= bounds.end(), "{window:?}");
            }
        }
    }

    #[test]
    fn a_written_place_leads_back_where_a_clock_was_set_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("clock.reel");
        let mut script = Script::begin(&path);
        let stream = script.watched("nodes", "Node", &[]);
        for rv in 1..=6 {
            script.wait(20_000);
            if rv == 4 {
                script.set_back(50_000);
                script.note(Note::ClockStepped {
                    micros: -50_000_000,
                });
            }
            script.modified(
                stream,
                thing("", "m-0", "m-0"),
                rv,
                &node("m-0", "True", rv),
            );
        }
        script.finish();
        let timeline = Timeline::open(&path).expect("a reel");
        for seq in 0..timeline.reel().end().0 {
            let place = CursorPlace::behind(&timeline, Seq(seq));
            let written = place.written(&timeline);
            let moment: Moment = written.parse().expect("a moment");
            assert_eq!(
                timeline.resolve(moment).ok(),
                Some(place.cut()),
                "{written}"
            );
        }
    }

    #[test]
    fn zooming_keeps_the_cursor_where_it_is() {
        let bounds = ViewWindow::whole(at(0), at(999_999));
        let zoomed = bounds.zoomed(at(500_000), 500_000, bounds);
        assert_eq!(zoomed.from, at(250_000));
        assert_eq!(zoomed.zoomed(at(500_000), i64::MAX, bounds), bounds);
    }

    #[test]
    fn a_span_may_be_selected_backward() {
        let at = RecordedAt::from_micros;
        let picked = TimeSelection::begin(at(9_000_000));
        assert!(!picked.is_fixed());
        let span = picked.span(at(4_000_000));
        assert_eq!((span.from, span.end()), (at(4_000_000), at(9_000_001)));
        let fixed = picked.to(at(10_000_000));
        let expected = ViewWindow::whole(at(9_000_000), at(10_000_000));
        assert_eq!(fixed.span(at(0)), expected);
        assert!(fixed.is_fixed());
    }
}
