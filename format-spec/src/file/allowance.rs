//! Owns how much may be decoded for a body that nobody asked for yet. Refuses to decode.

/// How much may be decoded ahead of a question.
///
/// What lies behind a body can be eight blocks and more. Whoever knows that the body will be asked for
/// soon can have them decoded one by one, each in a moment of its own. See
/// [`Reel::read_ahead`](crate::Reel::read_ahead).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadAllowance {
    /// Frames that may be decompressed.
    pub frames: u32,
    /// Bytes of bodies that may be put together; the last body may go beyond.
    pub body_bytes: u64,
}

impl ReadAllowance {
    /// Enough for all that lies behind any body.
    pub(crate) const ALL: Self = Self {
        frames: u32::MAX,
        body_bytes: u64::MAX,
    };

    /// Takes one frame off, if one is left.
    pub(crate) fn take_frame(&mut self) -> bool {
        let left = self.frames.checked_sub(1);
        self.frames = left.unwrap_or(0);
        left.is_some()
    }

    /// Tells whether one more body may be put together.
    pub(crate) fn has_body(&self) -> bool {
        self.body_bytes > 0
    }

    /// Takes off what a body took.
    pub(crate) fn take_body(&mut self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.body_bytes = self.body_bytes.saturating_sub(bytes);
    }
}
