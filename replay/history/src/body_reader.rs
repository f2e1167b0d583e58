//! Many bodies read at once, on threads.

use crate::object_version::ObjectVersion;
use kubereel_format::{BodyBuffer, GatheredBodies, ReadError, Seq};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use thiserror::Error;

/// The largest number of threads: more only wait for each other's blocks.
const MOST_THREADS: usize = 4;

/// The fewest versions that are worth a thread of their own.
const LEAST_EACH: usize = 128;

/// The results of one thread, each with its index in the request.
type IndexedResults<T> = Vec<(usize, Result<T, QueryError>)>;

/// Reads each of some versions with a function, and returns the results in order. `progress` receives the number of
/// versions at intervals.
pub(crate) fn read_on_threads<T: Send>(
    bodies: &GatheredBodies<'_>,
    held: &[ObjectVersion],
    progress: &mut dyn FnMut(u64),
    read: impl Fn(&ObjectVersion, &[u8]) -> Result<T, QueryError> + Sync,
) -> Vec<Result<T, QueryError>> {
    let mut order: Vec<(usize, &ObjectVersion)> = held.iter().enumerate().collect();
    order.sort_unstable_by_key(|(_, held)| held.seq);
    let done = AtomicU64::new(0);
    let run = |part: &[(usize, &ObjectVersion)], tell: &mut dyn FnMut(u64)| -> IndexedResults<T> {
        let mut made = Vec::with_capacity(part.len());
        let mut buffer = BodyBuffer::default();
        for (place, held) in part {
            let one = bodies
                .body(held.seq, &mut buffer)
                .map_err(QueryError::from)
                .and_then(|body| read(held, body));
            made.push((*place, one));
            tell(done.fetch_add(1, Ordering::Relaxed) + 1);
        }
        made
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let threads = threads
        .min(MOST_THREADS)
        .min(held.len() / LEAST_EACH)
        .max(1);
    let mut parts = order.chunks(order.len().div_ceil(threads).max(1));
    let first = parts.next().unwrap_or_default();
    let made: Vec<IndexedResults<T>> = thread::scope(|scope| {
        let others: Vec<_> = parts
            .map(|part| {
                let spawned = thread::Builder::new()
                    .name("reading".to_owned())
                    .spawn_scoped(scope, || run(part, &mut |_| {}));
                (part, spawned)
            })
            .collect();
        let mut made = vec![run(first, progress)];
        for (part, spawned) in others {
            // Without a thread of its own, the part is read here.
            let joined = spawned.ok().and_then(|thread| thread.join().ok());
            made.push(joined.unwrap_or_else(|| run(part, progress)));
        }
        made
    });
    let mut all: IndexedResults<T> = made.into_iter().flatten().collect();
    all.sort_unstable_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, made)| made).collect()
}

/// A query could not be answered.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The reel cannot be read there.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A body is not an object.
    #[error("record {seq} is not a readable object: {source}")]
    Body {
        /// The record.
        seq: Seq,
        /// The cause.
        source: serde_json::Error,
    },
    /// An object has too many fields.
    #[error("record {seq} is an object of {fields} fields, more than {most}")]
    TooManyFields {
        /// The record.
        seq: Seq,
        /// The number of its fields.
        fields: usize,
        /// The limit.
        most: usize,
    },
}
