//! Accounts for the growth of a bounded file: the used part, the length that it can reach within
//! its limit, and the compactions that let it come near the limit. `backend` enforces the limit.
//!
//! The database doubles its file whenever the file is full. A file at two thirds of its limit could
//! therefore never grow again. If it is compacted when a little less than half of the limit is
//! used, it doubles to a little less than the limit.
//!
//! Invariant: between two measurements the used bytes are estimated from above.

use super::backend::Exclusive;
use crate::file::backend::{PanicFence, fenced};
use crate::limits::len64;
use redb::Database;

/// The unit in which the database allocates space, in bytes.
const PAGE: u64 = 4096;

/// The pages that a commit rewrites besides its rows: the path to each row, and what it replaces.
const COMMIT_PAGES: u64 = 24;

/// The share of the limit, in percent, that a file compacted in time reaches at least, and the
/// share that is sufficient.
const REACH_PERCENT: u64 = 85;
const GOOD_PERCENT: u64 = 90;

/// The room for the end: the open segment becomes a block while its rows still exist.
const END_BYTES: u64 = 768 * 1024;

/// The shares of the limit, in percent, between which a file is compacted.
const COMPACT_FROM_PERCENT: u64 = 40;
const COMPACT_TO_PERCENT: u64 = 48;

/// The share at which compaction should have succeeded.
const COMPACTED_PERCENT: u64 = 45;

/// The fill level of a bounded file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The file's length, in bytes.
    pub file_bytes: u64,
    /// The used part, in bytes; at most a little less.
    pub used_bytes: u64,
    /// How much can be used within the limit, in bytes, without the room for the end.
    pub reach_bytes: u64,
}

/// The state of a file's growth.
#[derive(Debug)]
pub(crate) struct FileGrowth {
    max: Option<u64>,
    /// The used bytes at the last measurement, if there was one.
    counted: Option<u64>,
    /// The bytes that were written since, at most.
    since: u64,
    reach: u64,
    sealed_bytes: u64,
}

impl FileGrowth {
    pub(crate) fn new(max: Option<u64>) -> Self {
        Self {
            max,
            counted: None,
            since: 0,
            // Without a limit every length can be reached.
            reach: max.unwrap_or(u64::MAX),
            sealed_bytes: 0,
        }
    }

    pub(crate) const fn max(&self) -> Option<u64> {
        self.max
    }

    /// A segment of `bytes` bytes was sealed.
    pub(crate) const fn sealed(&mut self, bytes: u64) {
        self.sealed_bytes = self.sealed_bytes.saturating_add(bytes);
    }

    pub(crate) const fn sealed_bytes(&self) -> u64 {
        self.sealed_bytes
    }

    /// Rows of these lengths will be written.
    pub(crate) fn writes(&mut self, rows: impl Iterator<Item = usize>) {
        let bytes: u64 = rows.map(room_of).fold(0, u64::saturating_add);
        self.since = self
            .since
            .saturating_add(bytes)
            .saturating_add(COMMIT_PAGES * PAGE);
    }

    fn used(&self) -> u64 {
        self.counted.unwrap_or(0).saturating_add(self.since)
    }

    /// Returns whether `bytes` more are a small part of the free room.
    pub(crate) fn has_room_for(&self, bytes: u64) -> bool {
        self.max.is_none() || bytes <= self.reach.saturating_sub(self.used()) / 8
    }

    /// Returns whether at most a quarter of the room is used, so that copies may be written.
    pub(crate) fn is_roomy(&self) -> bool {
        self.max.is_none() || self.used() <= self.reach / 4
    }

    pub(crate) fn usage(&self, file_bytes: u64) -> Usage {
        Usage {
            file_bytes,
            used_bytes: self.used().min(file_bytes),
            reach_bytes: self.reach.saturating_sub(END_BYTES),
        }
    }

    /// Measures the used bytes of the database if enough was written since the last time, and
    /// compacts it if that is due. Measuring walks over the whole file, so it happens some hundred
    /// times in the life of a file.
    pub(crate) fn look(&mut self, database: &mut PanicFence<Database>, backend: &Exclusive) {
        let Some(max) = self.max else {
            return;
        };
        if self.counted.is_some() && self.since < max / 128 {
            return;
        }
        self.count(database);
        let share = percent(self.used(), max);
        let is_time = (COMPACT_FROM_PERCENT..COMPACT_TO_PERCENT).contains(&share);
        if is_time && doubled(backend.file_bytes(), max) < max / 100 * GOOD_PERCENT {
            // A database that cannot be compacted stays usable.
            drop(fenced(|| database.compact()));
            self.count(database);
        }
        let reach = doubled(backend.file_bytes(), max);
        self.reach = if share < COMPACTED_PERCENT {
            reach.max(max / 100 * REACH_PERCENT)
        } else {
            reach
        };
    }

    pub(crate) fn count(&mut self, database: &PanicFence<Database>) {
        let counted = fenced(|| -> Result<u64, redb::Error> {
            let transaction = database.begin_write()?;
            let stats = transaction.stats()?;
            transaction.abort()?;
            let page = u64::try_from(stats.page_size()).unwrap_or(PAGE);
            Ok(stats.allocated_pages().saturating_mul(page))
        });
        // Without a measurement the estimate from above stays.
        if let Ok(counted) = counted {
            self.counted = Some(counted);
            self.since = 0;
        }
    }
}

fn percent(part: u64, whole: u64) -> u64 {
    part.saturating_mul(100).checked_div(whole).unwrap_or(100)
}

/// Returns the length of a file that doubles while it may.
fn doubled(len: u64, max: u64) -> u64 {
    let mut reach = len.max(1);
    while reach.saturating_mul(2) <= max {
        reach = reach.saturating_mul(2);
    }
    reach
}

/// Returns the space of a row: the database rounds up to powers of two of its page.
#[expect(
    clippy::expect_used,
    reason = "a length in memory is far below 2^63 pages"
)]
fn room_of(len: usize) -> u64 {
    let pages = len64(len).div_ceil(PAGE).max(1);
    pages
        .checked_next_power_of_two()
        .expect("a row fits into memory")
        .saturating_mul(PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::AppendError;
    use crate::file::append::{Appender, Bounds};
    use crate::file::reel::Reel;
    use crate::id::Stamp;
    use crate::note::Note;

    /// Text that does not compress well.
    fn noise(seed: u64, len: usize) -> String {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        std::iter::repeat_with(|| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            char::from(b'!' + (state % 90).to_le_bytes()[0])
        })
        .take(len)
        .collect()
    }

    fn create(path: &std::path::Path, max: u64) -> Appender {
        let bounds = Bounds {
            file_bytes: Some(max),
            ..Bounds::default()
        };
        Appender::create_within(path, bounds).unwrap()
    }

    #[test]
    fn what_cannot_be_created_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.reel");
        let bounds = Bounds {
            file_bytes: Some(10_000),
            ..Bounds::default()
        };
        let failed = Appender::create_within(&path, bounds).unwrap_err();
        assert!(failed.to_string().contains("x.reel: "), "{failed}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        drop(create(&path, 8_000_000));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_comes_near_its_bound_and_never_beyond() {
        for max in [8_000_000_u64, 13_000_000] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("x.reel");
            let mut appender = create(&path, max);
            let mut durable = 0;
            let failed = loop {
                let text = noise(durable, 20_000);
                appender
                    .append_note(Stamp::default(), Note::Mark { text })
                    .unwrap();
                match appender.commit() {
                    Ok(stats) => durable = stats.records,
                    Err(error) => break error,
                }
                let usage = appender.usage();
                let len = std::fs::metadata(&path).unwrap().len();
                assert!(len <= max, "{len} of {max}");
                assert!(usage.used_bytes <= len && usage.reach_bytes <= max);
            };
            assert!(matches!(failed, AppendError::OverBound { .. }), "{failed}");
            assert!(std::fs::metadata(&path).unwrap().len() <= max);
            let used = percent(appender.usage().used_bytes, max);
            assert!(used >= 60, "full at {used} percent of {max}");
            drop(appender);
            let reel = Reel::open(&path).unwrap();
            assert_eq!(reel.end().0, durable);
            assert!(reel.damage().is_empty());
        }
    }

    #[test]
    fn what_the_database_counts_is_not_above_the_estimate() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.reel");
        let mut appender = create(&path, 1 << 30);
        appender.usage();
        let before = appender.usage().used_bytes;
        for round in 0..40 {
            let text = noise(round, 9_000);
            appender
                .append_note(Stamp::default(), Note::Mark { text })
                .unwrap();
            appender.commit().unwrap();
        }
        let estimated = appender.usage().used_bytes;
        assert!(estimated > before);
        let counted = appender.recount();
        assert!(
            counted > before && counted <= estimated,
            "{counted} > {estimated}"
        );
    }
}
