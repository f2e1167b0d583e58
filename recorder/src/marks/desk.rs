//! Owns how a word becomes a note: one line, bounded, as many as a timeline bears. Refuses secrets: the
//! queue's mouth takes them out, as of all words of others.

use crate::clock::Clock;
use crate::entry::Entry;
use crate::quota::Queue;
use kubereel_format::Note;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The longest mark, in bytes.
pub(crate) const MARK_BYTES: usize = 512;

/// How many marks one run takes.
const MARKS: u32 = 10_000;

/// Takes marks.
#[derive(Debug)]
pub(crate) struct Desk {
    queue: Arc<Queue>,
    clock: Clock,
    taken: AtomicU32,
}

/// A mark was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotTaken {
    /// There is no word in it.
    Empty,
    /// It is longer than [`MARK_BYTES`].
    TooLong,
    /// The run has all the marks that it takes.
    TooMany,
}

impl NotTaken {
    /// Says it in words.
    pub(crate) fn words(self) -> String {
        match self {
            Self::Empty => "a mark is a word or more".to_owned(),
            Self::TooLong => format!("a mark is at most {MARK_BYTES} bytes"),
            Self::TooMany => format!("a run takes at most {MARKS} marks"),
        }
    }
}

impl Desk {
    /// Makes one.
    pub(crate) fn new(queue: Arc<Queue>, clock: Clock) -> Self {
        Self {
            queue,
            clock,
            taken: AtomicU32::new(0),
        }
    }

    /// Takes a mark.
    pub(crate) async fn take(&self, bytes: &[u8]) -> Result<(), NotTaken> {
        let text = one_line(bytes)?;
        let taken = self.taken.fetch_add(1, Ordering::Relaxed);
        if taken >= MARKS {
            // Not further up: it must not come round to zero.
            self.taken.store(MARKS, Ordering::Relaxed);
            return Err(NotTaken::TooMany);
        }
        tracing::info!(mark = text, "a mark");
        let entry = Entry::Note {
            stamp: self.clock.stamp(),
            note: Note::Mark { text },
        };
        self.queue.push(entry).await;
        Ok(())
    }
}

/// Makes one line of what was said.
fn one_line(bytes: &[u8]) -> Result<String, NotTaken> {
    if bytes.len() > MARK_BYTES {
        return Err(NotTaken::TooLong);
    }
    let text = String::from_utf8_lossy(bytes);
    let spaced: String = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    match spaced.trim() {
        "" => Err(NotTaken::Empty),
        words => Ok(words.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_one_short_line() {
        assert_eq!(
            one_line(b" tests\tstarted\r\n"),
            Ok("tests started".to_owned())
        );
        assert_eq!(one_line(b" \n"), Err(NotTaken::Empty));
        assert_eq!(one_line(&[b'x'; 513]), Err(NotTaken::TooLong));
        assert_eq!(one_line(b"\xff"), Ok("\u{fffd}".to_owned()));
    }

    #[tokio::test]
    async fn a_run_takes_so_many_and_no_more() {
        let clock = Clock::start();
        let queue = Arc::new(Queue::new(
            64 * 1024 * 1024,
            clock,
            crate::scrub::redactor(),
        ));
        let desk = Desk::new(Arc::clone(&queue), clock);
        for _ in 0..MARKS {
            desk.take(b"x").await.expect("room");
        }
        assert_eq!(desk.take(b"x").await, Err(NotTaken::TooMany));
        assert_eq!(desk.take(b"x").await, Err(NotTaken::TooMany));
    }
}
