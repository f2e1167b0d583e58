//! Owns a span of time that somebody selects. Refuses to move the cursor: an end that is not fixed
//! follows it.

use super::window::Window;
use kubereel_format::RecordedAt;

/// A span of time that somebody selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Picked {
    /// Where it began.
    anchor: RecordedAt,
    /// Its other end; the cursor, until it is fixed.
    fixed: Option<RecordedAt>,
}

/// What lies in a span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    /// The span.
    pub(crate) span: Window,
    /// How many events came in it.
    pub(crate) events: u64,
    /// How often an object that has a lane changed its state in it.
    pub(crate) changes: usize,
}

impl Picked {
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
    pub(crate) fn span(self, cursor: RecordedAt) -> Window {
        let other = self.fixed.unwrap_or(cursor);
        Window::whole(self.anchor.min(other), self.anchor.max(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_may_be_selected_backward() {
        let at = RecordedAt::from_micros;
        let picked = Picked::begin(at(9_000_000));
        assert!(!picked.is_fixed());
        let span = picked.span(at(4_000_000));
        assert_eq!((span.from, span.end()), (at(4_000_000), at(9_000_001)));
        let fixed = picked.to(at(10_000_000));
        assert_eq!(
            fixed.span(at(0)),
            Window::whole(at(9_000_000), at(10_000_000))
        );
        assert!(fixed.is_fixed());
    }
}
