//! Reads the indexes of the sealed blocks in the order of their numbers, most of them ahead on other threads.
//!
//! Invariants:
//! * Each block is taken exactly once and in order, whichever thread read it.
//! * What is read ahead is bounded: an index that is larger than a usual one, or cannot be read, is read when it is
//!   its turn.
//! * Where no thread can be started, everything is read when it is its turn.

use crate::codec::index::IndexColumns;
use crate::codec::packed_index;
use crate::file::rows::RowSource;
use crate::file::segment::BlockPlace;
use crate::limits::{MAX_BLOCK_RAW, MAX_RECORD, place32};
use std::ops::Range;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;

/// The most threads that read ahead.
const THREADS: usize = 4;
/// How many blocks in a row a thread reads.
const BATCH: u32 = 16;
/// The largest index that is read ahead, in bytes; what a thread hands over is not much more than that.
const AHEAD_RAW: usize = 512 * 1024;
/// How many times a thread hands over more than was taken.
const AHEAD: usize = 1;
/// With fewer blocks, starting a thread takes longer than reading.
const WORTH: u32 = 8;

/// What was read of a block.
pub(crate) struct BlockRead {
    pub(crate) block: Result<BlockIndex, String>,
    /// The rows that were read for it.
    pub(crate) rows: u64,
    /// The bytes of its index in the file.
    pub(crate) index_bytes: u64,
}

/// The index of a block.
pub(crate) struct BlockIndex {
    pub(crate) at: BlockPlace,
    /// The writer of its row, in a damaged file.
    pub(crate) writer: u32,
    pub(crate) index: IndexColumns,
}

/// Reads the blocks below `end`, and gives them to `take` in order.
pub(crate) fn read_in_order(rows: &RowSource, end: u32, mut take: impl FnMut(u32, BlockRead)) {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let threads = if end < WORTH {
        0
    } else {
        processors.min(THREADS)
    };
    let batches = (0..end)
        .step_by(place32(BATCH))
        .map(|first| first..end.min(first.saturating_add(BATCH)));
    thread::scope(|scope| {
        let mut queues: Vec<Receiver<BlockBatch>> = Vec::new();
        for nth in 0..threads {
            let (sender, receiver) = mpsc::sync_channel(AHEAD);
            let own = batches.clone().skip(nth).step_by(threads);
            let run = move || read_ahead(rows, own, &sender);
            let named = thread::Builder::new().name("reel-index".to_owned());
            if named.spawn_scoped(scope, run).is_err() {
                break;
            }
            queues.push(receiver);
        }
        for (nth, batch) in batches.enumerate() {
            let queue = nth.checked_rem(threads).and_then(|nth| queues.get(nth));
            let mut ahead = Vec::new().into_iter();
            for number in batch {
                if ahead.len() == 0
                    && let Some(read) = queue.and_then(|queue| queue.recv().ok())
                {
                    ahead = read.into_iter();
                }
                let read = ahead.next().flatten();
                let most = MAX_BLOCK_RAW + MAX_RECORD;
                take(
                    number,
                    read.unwrap_or_else(|| read_block(rows, number, most)),
                );
            }
        }
    });
}

/// Blocks that follow each other; `None` is one that must be read when it is its turn.
type BlockBatch = Vec<Option<BlockRead>>;

/// Reads batches and hands them over, each at once or in parts.
fn read_ahead(
    rows: &RowSource,
    batches: impl Iterator<Item = Range<u32>>,
    sender: &SyncSender<BlockBatch>,
) {
    for mut batch in batches {
        while !batch.is_empty() {
            let mut bytes = 0;
            let within = batch.by_ref().map(|number| {
                let read = read_block(rows, number, AHEAD_RAW);
                let index = read.block.as_ref().map(|block| block.index.len());
                bytes += index.unwrap_or(0);
                (read.block.is_ok().then_some(read), bytes < AHEAD_RAW)
            });
            let mut reads = Vec::new();
            for (read, has_room) in within {
                reads.push(read);
                if !has_room {
                    break;
                }
            }
            // The queue is closed early only if the taker panicked.
            if sender.send(reads).is_err() {
                return;
            }
        }
    }
}

/// Reads one block whose index has at most `most` bytes.
fn read_block(rows: &RowSource, number: u32, most: usize) -> BlockRead {
    let mut read = BlockRead {
        block: Err("the row is missing".to_owned()),
        rows: 1,
        index_bytes: 0,
    };
    let row = match rows.directory(number) {
        Ok(Some(row)) => row,
        Ok(None) => return read,
        Err(cause) => {
            read.block = Err(cause);
            return read;
        }
    };
    let at = BlockPlace::decode(&row.content).map_err(|error| error.to_string());
    read.block = at.and_then(|at| {
        read.index_bytes = u64::from(at.index.len);
        let writer = row.writer;
        let unpack = |packed: &[u8]| {
            packed_index::unpack(packed, most)
                .and_then(IndexColumns::decode)
                .map_err(|error| error.to_string())
        };
        let packed = rows.index_frame(at.index, writer, || read.rows += 1);
        let index = packed.and_then(|packed| unpack(&packed));
        // In a damaged file there may be a copy, if one was written with the same row.
        let copy = || {
            let (row, packed) = rows.block_copy(number)?;
            // A copy of an earlier writer can describe another block of the same number.
            let is_same = row.writer == writer && BlockPlace::decode(&row.content) == Ok(at);
            is_same.then(|| unpack(&packed).ok())?
        };
        let index = index.or_else(|cause| copy().ok_or(cause))?;
        Ok(BlockIndex { at, writer, index })
    });
    read
}
