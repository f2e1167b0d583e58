//! Owns what a cursor prepares of the steps in front of it, so that none has to decode all that lies
//! behind its bodies at once. Refuses to move the cursor, and to tell of damage: the step that leads
//! there does.

use kubereel_format::{ReadAllowance, ReadCounts, Seq};

/// How many steps lie prepared in front of a cursor at most.
///
/// A body can need nine frames, and each step prepares one: so this is some three times as many.
const STEPS: u32 = 32;

/// What a step may take, with its own bodies: one frame, which takes some tenths of a millisecond.
const EACH: ReadAllowance = ReadAllowance {
    frames: 1,
    body_bytes: 128 * 1024,
};

/// What the first step from a place, or the first in the other direction, may take: nothing around it
/// was read before, and so it prepares for the next ones.
const FIRST: ReadAllowance = ReadAllowance {
    frames: 12,
    body_bytes: 2 * 1024 * 1024,
};

/// How often a step is gone on with before it is left as it is: one that needs more than is kept in
/// memory at a time must not be begun for ever.
const TRIES: u32 = 24;

/// Where a cursor goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Forward,
    Back,
}

/// What is prepared in front of a cursor.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ahead {
    direction: Option<Direction>,
    /// The place behind the last prepared step.
    below: Seq,
    /// How many steps lie between the cursor and there.
    steps: u32,
    tries: u32,
    /// Whether something was prepared since the cursor was put here, or turned.
    is_begun: bool,
}

impl Ahead {
    /// Follows a cursor's step, to a place.
    pub(crate) fn follow(&mut self, direction: Direction, below: Seq) {
        if self.direction != Some(direction) {
            *self = Self {
                direction: Some(direction),
                below,
                ..Self::default()
            };
        } else if let Some(left) = self.steps.checked_sub(1) {
            self.steps = left;
        } else {
            self.below = below;
            self.tries = 0;
        }
    }

    /// Gives what may be decoded, after a step that took so much itself.
    pub(crate) fn allowance(&mut self, before: ReadCounts, after: ReadCounts) -> ReadAllowance {
        let whole = if self.is_begun { EACH } else { FIRST };
        self.is_begun = true;
        let spent = after.frames.saturating_sub(before.frames);
        let spent = u32::try_from(spent).unwrap_or(u32::MAX);
        ReadAllowance {
            frames: whole.frames.saturating_sub(spent),
            ..whole
        }
    }

    /// Gives the place from which the next step is to be prepared, if one is.
    pub(crate) fn next(&self) -> Option<(Direction, Seq)> {
        let direction = self.direction.filter(|_| self.steps < STEPS)?;
        Some((direction, self.below))
    }

    /// Takes note of how far the step to a place was prepared, and tells whether to go on.
    pub(crate) fn prepared(&mut self, below: Seq, is_whole: bool) -> bool {
        self.tries = self.tries.saturating_add(1);
        let is_left = is_whole || self.tries >= TRIES;
        if is_left {
            self.below = below;
            self.steps = self.steps.saturating_add(1);
            self.tries = 0;
        }
        is_whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepare(ahead: &mut Ahead, count: u64) -> u64 {
        let mut done = 0;
        while done < count
            && let Some((_, Seq(below))) = ahead.next()
        {
            assert!(ahead.prepared(Seq(below + 1), true));
            done += 1;
        }
        done
    }

    #[test]
    fn only_so_many_steps_are_prepared() {
        let mut ahead = Ahead::default();
        assert_eq!(ahead.next(), None);
        ahead.follow(Direction::Forward, Seq(10));
        assert_eq!(prepare(&mut ahead, 1000), u64::from(STEPS));
        ahead.follow(Direction::Forward, Seq(11));
        assert_eq!(prepare(&mut ahead, 1000), 1);
        for below in 12..=100 {
            ahead.follow(Direction::Forward, Seq(below));
        }
        assert_eq!(ahead.next(), Some((Direction::Forward, Seq(100))));
    }

    #[test]
    fn who_turns_begins_anew() {
        let counts = ReadCounts::default();
        let mut ahead = Ahead::default();
        ahead.follow(Direction::Forward, Seq(10));
        assert_eq!(ahead.allowance(counts, counts), FIRST);
        prepare(&mut ahead, 5);
        ahead.follow(Direction::Forward, Seq(11));
        assert_eq!(ahead.allowance(counts, counts), EACH);
        ahead.follow(Direction::Back, Seq(10));
        assert_eq!(ahead.next(), Some((Direction::Back, Seq(10))));
        let spent = ReadCounts {
            frames: 5,
            ..counts
        };
        assert_eq!(ahead.allowance(counts, spent).frames, FIRST.frames - 5);
        assert_eq!(ahead.allowance(counts, spent).frames, 0);
    }

    #[test]
    fn a_step_that_never_gets_done_is_left() {
        let mut ahead = Ahead::default();
        ahead.follow(Direction::Forward, Seq(10));
        for _ in 1..TRIES {
            assert!(!ahead.prepared(Seq(11), false));
            assert_eq!(ahead.next(), Some((Direction::Forward, Seq(10))));
        }
        assert!(!ahead.prepared(Seq(11), false));
        assert_eq!(ahead.next(), Some((Direction::Forward, Seq(11))));
    }
}
