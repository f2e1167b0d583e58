//! Owns where the cursor stands, and where it stood before jumps. Refuses to move it: `update` does.

use kubereel_format::{RecordedAt, Seq};
use kubereel_history::{Cut, Timeline};

/// How many jumps can be undone.
const MOST_JUMPS: usize = 200;

/// Where the cursor stands: behind a record, as seen at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The first record that has not happened yet.
    pub(crate) below: Seq,
    /// The time.
    pub(crate) at: RecordedAt,
}

impl Place {
    /// Gives the place at a time: behind all that had been received by then.
    pub(crate) fn at(timeline: &Timeline, at: RecordedAt) -> Self {
        Self {
            below: timeline.reel().seq_after(at),
            at,
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

    /// Writes it for `--at`: a time, or a record where several share the time.
    pub(crate) fn written(self, timeline: &Timeline) -> String {
        match self.below.0.checked_sub(1) {
            Some(seq) if timeline.reel().seq_after(self.at) != self.below => format!("seq:{seq}"),
            _ => timeline.written(self.at),
        }
    }
}

/// Where the cursor stood before jumps, and after those that were undone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Jumps {
    back: Vec<Place>,
    forth: Vec<Place>,
}

impl Jumps {
    /// Remembers a place that is left.
    pub(crate) fn leave(&mut self, place: Place) {
        if self.back.last() != Some(&place) {
            self.back.push(place);
        }
        if self.back.len() > MOST_JUMPS {
            self.back.remove(0);
        }
        self.forth.clear();
    }

    /// Gives the place before the last jump.
    pub(crate) fn back(&mut self, here: Place) -> Option<Place> {
        let to = self.back.pop()?;
        self.forth.push(here);
        Some(to)
    }

    /// Gives the place after the jump that was undone last.
    pub(crate) fn forth(&mut self, here: Place) -> Option<Place> {
        let to = self.forth.pop()?;
        self.back.push(here);
        Some(to)
    }
}
