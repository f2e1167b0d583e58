//! Finds rows in the raw bytes of a file, without its database, by their headers.
//!
//! Invariants, because the file is damaged and may be forged:
//! * One pass over the file; memory is bounded by the length of the file ([`most_rows`]), and
//!   hashing of changed rows by [`VAIN_READS`] times that length.
//! * Only rows of one recording are returned: of the one that the database names, else of the one
//!   with most bytes.
//! * The database copies rows before it changes them, so old copies remain in the file. Of several
//!   rows of one number the longest whole one of the last writer comes first. Rows that the next
//!   writer did not find, because they were never committed, are not returned: the numbers of a
//!   later writer begin where it resumed.
//! * Damaged extents are restored from parity if only one of a group is damaged, and damaged bytes
//!   of a sealed file from the recovery shards of their stripe; the result is compared with its
//!   checksum.
//! * A row is not trusted: its content is a frame, or contains frames, which have checksums of
//!   their own.

use crate::codec::stripe::{RecoveryShard, Stripe, shard_row};
use crate::file::backend::Overlay;
use crate::file::parity::{self, ParityMember};
use crate::file::row::{ROW_HEADER, ROW_MAGIC, RowHeader, RowKind};
use crate::limits::{EXTENT, FormatVersion, MAX_BLOCK_RAW, MAX_RECORD, len64, place32};
use memchr::memmem;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::Range;

/// How many bytes are searched at once.
const PIECE: usize = 1 << 20;
/// How many rows of one number are kept.
const COPIES: usize = 4;
/// How many times the length of the file is hashed for rows that turn out to be changed.
const VAIN_READS: u64 = 4;
/// In how many stripes of a file shards are doubted whose checks are right: each of them takes some decodings.
const DOUBTED_STRIPES: u32 = 4;
/// For how many recordings rows are counted.
const RECORDINGS: usize = 64;

/// Returns how many rows are kept for a file of a length: more than a file that was not forged has.
fn most_rows(file_len: u64) -> usize {
    usize::try_from(file_len / 1024).map_or(usize::MAX, |rows| rows.saturating_add(1 << 16))
}

/// A row in the raw bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FoundRow {
    /// The offset of its content.
    at: u64,
    /// The expected length of its content, in bytes.
    pub(crate) len: u32,
    pub(crate) writer: u32,
    /// Whether its content is unchanged.
    pub(crate) is_whole: bool,
    /// Whether it was restored from parity: then `at` is its index among the restored ones.
    is_healed: bool,
}

impl FoundRow {
    /// The order of rows of the same number; the better one is greater.
    fn rank(&self) -> (bool, u32, u32) {
        (self.is_whole, self.writer, self.len)
    }
}

/// The rows of one recording in the raw bytes of a file.
#[derive(Debug)]
pub(crate) struct Salvage {
    file: Overlay,
    rows: BTreeMap<(RowKind, u64), Vec<FoundRow>>,
    /// The newest version of the format among the rows.
    pub(crate) format: Option<FormatVersion>,
    /// The bytes of rows of other recordings.
    pub(crate) foreign_bytes: u64,
    /// The bytes of whole rows, with their headers.
    whole_bytes: u64,
    /// The bytes of the file that were restored from recovery shards.
    repaired_bytes: u64,
    /// The number of writers.
    writers: usize,
    last_writer: u32,
    /// Extents that were restored from parity.
    healed: Vec<Vec<u8>>,
}

impl Salvage {
    /// Searches a file for rows, up to `most` bytes; `file` is the recording that the database
    /// names.
    pub(crate) fn search(overlay: Overlay, most: u64, file: Option<u64>) -> io::Result<Self> {
        let mut found = Self::pass(overlay, most, file)?;
        // A whole file is passed over once: recovery shards are read only if something is damaged.
        if !found.is_unbroken() {
            let repaired_bytes = found.repair()?;
            if repaired_bytes > 0 {
                // Repaired bytes may contain rows that the first pass did not find.
                found = Self::pass(found.file, most, file)?;
                found.repaired_bytes = repaired_bytes;
            }
        }
        found.heal();
        Ok(found)
    }

    /// Searches the same file for the rows of another recording.
    pub(crate) fn search_again(self, most: u64, file: Option<u64>) -> io::Result<Self> {
        Self::search(self.file, most, file)
    }

    /// Returns the bytes of whole rows from a place of the file on that are not of the recording `own`.
    pub(crate) fn count_foreign(file: &Overlay, from: u64, own: Option<u64>) -> io::Result<u64> {
        let mut search = RowSearch::new(file.file_len());
        let mut at = from;
        while at < file.file_len() {
            at = search.piece(file, at)?;
        }
        let others = search.recordings.iter().filter(|(id, _)| Some(**id) != own);
        Ok(others.fold(0, |sum, (_, bytes)| sum.saturating_add(*bytes)))
    }

    fn pass(overlay: Overlay, most: u64, file: Option<u64>) -> io::Result<Self> {
        let len = overlay.file_len().min(most);
        let mut search = RowSearch::new(len);
        let mut at = 0;
        while at < len {
            at = search.piece(&overlay, at)?;
        }
        Ok(search.end(overlay, file))
    }

    /// Restores damaged bytes of a sealed file in the overlay, as far as the recovery shards
    /// suffice, and returns their number.
    fn repair(&self) -> io::Result<u64> {
        // Stripes do not overlap; a forged file must not cost more than one pass.
        let mut budget = self.file.file_len().saturating_add(1 << 24);
        let doubted = Cell::new(0);
        let mut repaired: u64 = 0;
        for number in self.numbers(RowKind::Stripe) {
            let rows = self.rows(RowKind::Stripe, number).iter();
            for row in rows.filter(|row| row.is_whole) {
                let left = self.repair_stripe(number, *row, &mut budget, &doubted)?;
                repaired = repaired.saturating_add(left.unwrap_or(0));
                // Each stripe has two equal rows; one of them is sufficient.
                if left.is_some() {
                    break;
                }
            }
        }
        Ok(repaired)
    }

    /// Repairs one stripe that a row describes. Returns the number of changed bytes; `None` if the
    /// stripe is not where the row says, or too much of it is damaged.
    fn repair_stripe(
        &self,
        number: u64,
        row: FoundRow,
        budget: &mut u64,
        doubted: &Cell<u32>,
    ) -> io::Result<Option<u64>> {
        let content = self.read(row, 0, usize::MAX).map_err(io::Error::other)?;
        let Ok((back, stripe)) = Stripe::decode(&content) else {
            return Ok(None);
        };
        let start = row.at.checked_sub(len64(ROW_HEADER));
        let start = start.and_then(|start| start.checked_sub(back));
        // Forged rows can describe many stripes over the same bytes.
        let left = budget.checked_sub(len64(stripe.len()));
        let (Some(start), Some(left)) = (start, left) else {
            return Ok(None);
        };
        *budget = left;
        let bytes = self.file.bytes(start, len64(stripe.len()))?;
        if stripe.fits(&bytes) {
            return Ok(Some(0));
        }
        let recovery: Vec<RecoveryShard> = (0..stripe.recovery())
            .filter_map(|place| {
                let rows = self.rows(RowKind::Shard, shard_row(number, place));
                let row = rows.first().filter(|row| row.is_whole)?;
                Some((place, self.read(*row, 0, usize::MAX).ok()?))
            })
            .collect();
        let proven = || {
            doubted.set(doubted.get().saturating_add(1));
            if doubted.get() > DOUBTED_STRIPES {
                std::iter::once(0..stripe.len()).collect()
            } else {
                self.whole_parts(start, stripe.len())
            }
        };
        let Some(shards) = stripe.repair(&bytes, &recovery, proven) else {
            return Ok(None);
        };
        let mut changed = 0;
        for (at, shard) in shards {
            changed += len64(shard.len());
            self.file.patch(start.saturating_add(len64(at)), &shard)?;
        }
        Ok(Some(changed))
    }

    /// Returns the parts of a stretch of the file that whole rows cover, in order.
    fn whole_parts(&self, start: u64, len: usize) -> Vec<Range<usize>> {
        let within =
            |at: u64| usize::try_from(at.saturating_sub(start)).map_or(len, |at| at.min(len));
        let whole = self.rows.values().flatten().filter(|row| row.is_whole);
        let mut parts: Vec<Range<usize>> = whole
            .map(|row| {
                let from = row.at.saturating_sub(len64(ROW_HEADER));
                within(from)..within(row.at.saturating_add(u64::from(row.len)))
            })
            .filter(|part| !part.is_empty())
            .collect();
        parts.sort_by_key(|part| part.start);
        parts
    }

    /// Returns whether the file consists of rows without a database, and is whole.
    pub(crate) fn is_unbroken(&self) -> bool {
        let len = self.file.file_len();
        let is_last = |row: &FoundRow| row.at.saturating_add(u64::from(row.len)) == len;
        let mut states = self.rows(RowKind::State, 0).iter();
        self.whole_bytes == len
            && self.repaired_bytes == 0
            && self.foreign_bytes == 0
            && self.writers == 1
            && !self.has_repeated_rows()
            && states.any(|row| row.is_whole && is_last(row))
    }

    /// Returns whether there are more copies of a row than a sealed file has: it, or a part of it, is there twice.
    fn has_repeated_rows(&self) -> bool {
        self.rows.iter().any(|((kind, _), copies)| {
            let written = match kind {
                RowKind::State | RowKind::Directory | RowKind::Stripe => 2,
                _ => 1,
            };
            copies.len() > written
        })
    }

    /// Returns the place behind the last whole row.
    fn end_of_rows(&self) -> u64 {
        let whole = self.rows.values().flatten().filter(|row| row.is_whole);
        let ends = whole.map(|row| row.at.saturating_add(u64::from(row.len)));
        ends.max().unwrap_or(0)
    }

    /// Returns whether the last row of a sealed file is whole: the second copy of the state.
    fn has_last_row(&self) -> bool {
        let states = self.rows(RowKind::State, 0).iter();
        states.filter(|row| row.is_whole && !row.is_healed).count() > 1
    }

    /// Describes the damage of a file.
    pub(crate) fn breakage(&self) -> String {
        let len = self.file.file_len();
        // One wrong byte makes a row unreadable: how many are wrong is not known.
        let rest = len.saturating_sub(self.whole_bytes);
        let broken = match (rest, self.foreign_bytes) {
            (0, 0) if self.repaired_bytes > 0 => {
                let bytes = self.repaired_bytes;
                return format!("{bytes} of {len} bytes were damaged, and put together again");
            }
            (0, 0) if self.has_repeated_rows() => "its rows are there more than once".to_owned(),
            (0, 0) => "its end is cut off".to_owned(),
            (rest, 0) if self.end_of_rows().saturating_add(rest) == len => {
                if self.has_last_row() {
                    format!("{rest} bytes behind its end are not its own")
                } else {
                    "its end is cut off".to_owned()
                }
            }
            (0, foreign) => format!("{foreign} bytes of another reel's rows are in it"),
            (rest, 0) => format!("{rest} of {len} bytes are not in whole rows"),
            (rest, foreign) => format!(
                "{rest} of {len} bytes are not in whole rows; {foreign} bytes of another reel's rows are in it"
            ),
        };
        match self.repaired_bytes {
            0 => broken,
            repaired => format!("{broken}; {repaired} others were put together again"),
        }
    }

    /// Returns whether no row was found.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns whether all rows were written without a resumption between them.
    pub(crate) fn has_one_writer(&self) -> bool {
        self.writers == 1
    }

    /// Returns the last writer.
    pub(crate) fn last_writer(&self) -> u32 {
        self.last_writer
    }

    /// Returns the rows of a kind and a number, the best one first.
    pub(crate) fn rows(&self, kind: RowKind, number: u64) -> &[FoundRow] {
        self.rows.get(&(kind, number)).map_or(&[], Vec::as_slice)
    }

    /// Returns the numbers of a kind's whole rows, in order.
    pub(crate) fn numbers(&self, kind: RowKind) -> impl DoubleEndedIterator<Item = u64> {
        let all = self.rows.range((kind, 0)..=(kind, u64::MAX));
        all.filter(|(_, rows)| rows.iter().any(|row| row.is_whole))
            .map(|((_, number), _)| *number)
    }

    /// Reads a part of a row's content, as far as it lies in the file.
    pub(crate) fn read(&self, row: FoundRow, from: usize, to: usize) -> Result<Vec<u8>, String> {
        let to = to.min(place32(row.len));
        if row.is_healed {
            let place = usize::try_from(row.at).ok();
            let content = place.and_then(|place| self.healed.get(place));
            let part = content.and_then(|content| content.get(from..to));
            return Ok(part.unwrap_or_default().to_vec());
        }
        let at = row.at.saturating_add(len64(from));
        self.file
            .bytes(at, len64(to.saturating_sub(from)))
            .map_err(|error| error.to_string())
    }
}

impl Salvage {
    /// Restores damaged extents from parity, if only one of a group is damaged.
    fn heal(&mut self) {
        // Each extent is read once if every group has a damaged one; a forged file must not cost
        // more.
        let mut budget = self
            .file
            .file_len()
            .saturating_mul(2)
            .saturating_add(1 << 24);
        let groups: Vec<u64> = self.numbers(RowKind::Members).collect();
        for group in groups {
            let Some((member, content)) = self.missing_of(group, &mut budget) else {
                continue;
            };
            let rows = self.rows.entry((member.kind, member.number)).or_default();
            rows.push(FoundRow {
                at: len64(self.healed.len()),
                len: member.len,
                writer: member.writer,
                is_whole: true,
                is_healed: true,
            });
            rows.sort_by_key(|row| std::cmp::Reverse(row.rank()));
            self.healed.push(content);
        }
    }

    /// Returns the only damaged member of a group.
    fn missing_of(&self, group: u64, budget: &mut u64) -> Option<(ParityMember, Vec<u8>)> {
        let first = |kind, number| self.rows(kind, number).first().copied();
        let members = self
            .read(first(RowKind::Members, group)?, 0, usize::MAX)
            .ok()?;
        let members = parity::decode(&members).ok()?;
        let is_there = |member: &&ParityMember| {
            let mut rows = self.rows(member.kind, member.number).iter();
            rows.any(|row| row.is_whole && row.len == member.len && row.writer == member.writer)
        };
        let mut missing = members.iter().filter(|member| !is_there(member));
        let (wanted, None) = (missing.next()?, missing.next()) else {
            return None;
        };
        let mut content = self
            .read(first(RowKind::Parity, group)?, 0, usize::MAX)
            .ok()?;
        for member in members.iter().filter(|member| *member != wanted) {
            *budget = budget.checked_sub(u64::from(member.len))?;
            let mut rows = self.rows(member.kind, member.number).iter();
            let other = rows.find_map(|row| {
                let is_like = row.is_whole && row.len == member.len;
                let content = is_like.then(|| self.read(*row, 0, usize::MAX))?.ok()?;
                member.fits(&content).then_some(content)
            });
            parity::add(&mut content, &other?);
        }
        content.truncate(place32(wanted.len));
        wanted.fits(&content).then_some((*wanted, content))
    }
}

/// A pass over the file.
#[derive(Debug, Default)]
struct RowSearch {
    rows: BTreeMap<(u64, RowKind, u64), Vec<FoundRow>>,
    whole_bytes: u64,
    /// For each recording, the bytes of its whole rows.
    recordings: HashMap<u64, u64>,
    /// For each writer of each recording, its first block.
    writers: BTreeMap<(u64, u32), u32>,
    formats: HashMap<u64, FormatVersion>,
    budget: u64,
    most_rows: usize,
}

impl RowSearch {
    fn new(file_len: u64) -> Self {
        Self {
            budget: file_len.saturating_mul(VAIN_READS).saturating_add(1 << 24),
            most_rows: most_rows(file_len),
            ..Self::default()
        }
    }

    /// Searches one piece of the file, and returns the begin of the next one.
    fn piece(&mut self, file: &Overlay, start: u64) -> io::Result<u64> {
        let bytes = file.bytes(start, len64(PIECE))?;
        // The magic number may also occur inside content: the header has a checksum of its own.
        let finder = memmem::Finder::new(&ROW_MAGIC);
        let mut place = 0;
        while let Some(found) = bytes.get(place..).and_then(|rest| finder.find(rest)) {
            let here = place.saturating_add(found);
            let rest = bytes.get(here..).unwrap_or_default();
            if rest.len() < ROW_HEADER && here > 0 && bytes.len() == PIECE {
                // It continues in the next piece.
                return Ok(start.saturating_add(len64(here)));
            }
            place = here.saturating_add(ROW_MAGIC.len());
            let Some(header) = RowHeader::read(rest).filter(is_sane) else {
                continue;
            };
            let at = start.saturating_add(len64(here.saturating_add(ROW_HEADER)));
            let behind = here.saturating_add(ROW_HEADER);
            let end = behind.saturating_add(place32(header.len));
            let is_there = at.saturating_add(u64::from(header.len)) <= file.file_len();
            let is_whole = match bytes.get(behind..end) {
                // The budget bounds the hashing for forged headers whose content never matches.
                _ if self.budget == 0 || !is_there => false,
                Some(content) => header.fits(content),
                None => header.fits(&file.bytes(at, u64::from(header.len))?),
            };
            self.take(header, at, is_whole);
            if is_whole {
                // Rows are not nested.
                if end >= bytes.len() {
                    return Ok(at.saturating_add(u64::from(header.len)));
                }
                place = end;
            } else {
                self.budget = self.budget.saturating_sub(u64::from(header.len));
            }
        }
        // A header may begin in the last bytes.
        let kept = if bytes.len() == PIECE {
            ROW_MAGIC.len() - 1
        } else {
            0
        };
        Ok(start.saturating_add(len64(bytes.len().max(kept.saturating_add(1)) - kept)))
    }

    fn take(&mut self, header: RowHeader, at: u64, is_whole: bool) {
        let file = header.owner.file;
        // Frames in a changed extent may still be whole; changed rows of other kinds are useless.
        if !is_whole && !matches!(header.kind, RowKind::Bodies | RowKind::Index) {
            return;
        }
        if is_whole {
            // Forged rows may each name another recording: the number of counted recordings is
            // bounded.
            let room = self.recordings.len() < RECORDINGS || self.recordings.contains_key(&file);
            if !room {
                return;
            }
            let bytes = self.recordings.entry(file).or_default();
            *bytes = bytes.saturating_add(u64::from(header.len));
            let row_bytes = u64::from(header.len).saturating_add(len64(ROW_HEADER));
            self.whole_bytes = self.whole_bytes.saturating_add(row_bytes);
            let format = self.formats.entry(file).or_insert(header.format);
            *format = header.format.max(*format);
            if self.writers.len() < self.most_rows {
                let writer = (file, header.owner.writer);
                self.writers.insert(writer, header.owner.first_block);
            }
        }
        let key = (file, header.kind, header.number);
        if self.rows.len() >= self.most_rows && !self.rows.contains_key(&key) {
            return;
        }
        let copies = self.rows.entry(key).or_default();
        copies.push(FoundRow {
            at,
            len: header.len,
            writer: header.owner.writer,
            is_whole,
            is_healed: false,
        });
        // The best copies are kept: whole before changed, later writers before earlier ones.
        copies.sort_by_key(|row| std::cmp::Reverse(row.rank()));
        copies.truncate(COPIES);
    }

    fn end(mut self, overlay: Overlay, named: Option<u64>) -> Salvage {
        // The recording that the database names decides; without one, that with most bytes.
        let named = named.filter(|file| self.recordings.contains_key(file));
        let most = self.recordings.iter().max_by_key(|(_, bytes)| **bytes);
        let file = named.or(most.map(|(file, _)| *file));
        let foreign = self.recordings.iter();
        let foreign_bytes = foreign
            .filter(|(other, _)| Some(**other) != file)
            .fold(0u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
        let format = file.and_then(|file| self.formats.remove(&file));
        let writers: Vec<(u32, u32)> = self
            .writers
            .iter()
            .filter(|((other, _), _)| Some(*other) == file)
            .map(|((_, writer), first)| (*writer, *first))
            .collect();
        let mut rows: BTreeMap<(RowKind, u64), Vec<FoundRow>> = self
            .rows
            .into_iter()
            .filter(|((other, ..), _)| Some(*other) == file)
            .map(|((_, kind, number), rows)| ((kind, number), rows))
            .collect();
        // Rows of a commit that a crash undid are still in the file. The next writer reused their
        // numbers.
        drop_uncommitted(&mut rows, &writers);
        Salvage {
            file: overlay,
            rows,
            format,
            foreign_bytes,
            whole_bytes: self.whole_bytes,
            repaired_bytes: 0,
            writers: writers.len(),
            last_writer: writers.last().map_or(0, |(writer, _)| *writer),
            healed: Vec::new(),
        }
    }
}

/// Returns whether the length in a header is plausible.
fn is_sane(header: &RowHeader) -> bool {
    let most = match header.kind {
        RowKind::Bodies | RowKind::Index | RowKind::Parity | RowKind::Shard => EXTENT,
        RowKind::Tail => MAX_BLOCK_RAW.saturating_add(MAX_RECORD),
        _ => MAX_RECORD,
    };
    place32(header.len) <= most
}

/// Drops rows that a later writer did not find.
fn drop_uncommitted(rows: &mut BTreeMap<(RowKind, u64), Vec<FoundRow>>, writers: &[(u32, u32)]) {
    let mut first_tails: BTreeMap<u32, u64> = BTreeMap::new();
    let mut last_sealer = 0;
    for ((kind, number), copies) in rows.iter() {
        for copy in copies {
            match kind {
                RowKind::Tail => {
                    let first = first_tails.entry(copy.writer).or_insert(*number);
                    *first = (*number).min(*first);
                }
                RowKind::Directory | RowKind::Block => {
                    last_sealer = copy.writer.max(last_sealer);
                }
                _ => {}
            }
        }
    }
    for ((kind, number), copies) in rows.iter_mut() {
        copies.retain(|copy| match kind {
            RowKind::Directory | RowKind::Block => !writers
                .iter()
                .any(|(writer, first)| *writer > copy.writer && u64::from(*first) <= *number),
            RowKind::Tail => {
                // A resuming writer seals the existing tail.
                copy.writer >= last_sealer
                    && !first_tails
                        .range(copy.writer.saturating_add(1)..)
                        .any(|(_, first)| first <= number)
            }
            _ => true,
        });
    }
    rows.retain(|_, copies| !copies.is_empty());
}
