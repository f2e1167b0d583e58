//! Owns what held over time, from change to change. Refuses to ask when: `find` does.

use super::judge::Truth;
use super::span::Instant;
use kubereel_format::Seq;

/// What held from a moment on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) from: Instant,
    /// The version that says so, if one does.
    pub(super) seq: Option<Seq>,
    pub(super) truth: Truth,
}

/// What held over a whole time, without a hole: each piece lasts until the next.
#[derive(Clone, Debug)]
pub(super) struct Series {
    pieces: Vec<Piece>,
    end: Instant,
}

impl Series {
    /// Makes an empty one that ends there.
    pub(super) const fn until(end: Instant) -> Self {
        Self {
            pieces: Vec::new(),
            end,
        }
    }

    /// Adds what holds next; what goes on holding takes no room.
    pub(super) fn push(&mut self, piece: Piece) {
        if self
            .pieces
            .last()
            .is_none_or(|last| last.truth != piece.truth)
        {
            self.pieces.push(piece);
        }
    }

    /// Gives the pieces, in order.
    pub(super) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Tells whether it came to be met at a moment, be it for no time at all.
    pub(super) fn has_met_at(&self, moment: Instant) -> bool {
        let met = self.pieces.iter().filter(|piece| piece.truth == Truth::Met);
        met.map(|piece| piece.from).any(|from| from == moment)
    }

    /// Gives the pieces that reach beyond a moment, the first one cut to begin there, each with its end.
    pub(super) fn after(&self, moment: Instant) -> impl Iterator<Item = (Piece, Instant)> {
        let ends = self.pieces.iter().skip(1).map(|next| next.from);
        let ends = ends.chain([self.end]);
        let last = self.pieces.len().saturating_sub(1);
        let pieces = self.pieces.iter().zip(ends).enumerate();
        pieces.filter_map(move |(place, (piece, end))| {
            if end <= moment && place < last {
                return None;
            }
            let mut piece = piece.clone();
            if piece.from < moment {
                piece.from = moment;
            }
            Some((piece, end))
        })
    }

    /// Gives how long it is known to have held altogether and at the longest, in microseconds.
    pub(super) fn lengths(&self) -> (u64, u64) {
        let start = self.pieces.first().map_or(self.end, |first| first.from);
        let met = self
            .after(start)
            .filter(|(piece, _)| piece.truth == Truth::Met);
        met.fold((0, 0), |(total, longest), (piece, end)| {
            let micros = micros_between(piece.from, end);
            (total + micros, longest.max(micros))
        })
    }
}

/// Gives the time between two moments; none where a clock stepped back.
pub(super) fn micros_between(from: Instant, to: Instant) -> u64 {
    u64::try_from(to.at.micros_since(from.at)).unwrap_or_default()
}
