//! Owns the reading of many versions of one state: in the order in which they lie in the file, by
//! several threads. Refuses to hold the bodies: what is made of each is all that stays.

use crate::as_of::Held;
use crate::query_error::QueryError;
use crate::resolve::Cut;
use crate::timeline::Timeline;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// More threads than these only wait for each other's blocks.
const MOST_THREADS: usize = 4;

/// Fewer versions than these are not worth a thread of their own.
const LEAST_EACH: usize = 128;

/// What one thread made, each with its place among what was asked for.
type Made<T> = Result<Vec<(usize, T)>, QueryError>;

impl Timeline {
    /// Reads something of each of the versions that held at a moment, and gives it in their order.
    ///
    /// `progress` is told now and then how many were read.
    ///
    /// # Errors
    /// The first error of `read`, or of the reel.
    pub fn read_each<T: Send>(
        &self,
        held: &[Held],
        cut: Cut,
        progress: &mut dyn FnMut(u64),
        read: impl Fn(&Held, &[u8]) -> Result<T, QueryError> + Sync,
    ) -> Result<Vec<T>, QueryError> {
        let mut order: Vec<(usize, &Held)> = held.iter().enumerate().collect();
        order.sort_unstable_by_key(|(_, held)| held.seq);
        let (done, failed) = (AtomicU64::new(0), AtomicBool::new(false));
        let run = |part: &[(usize, &Held)], tell: &mut dyn FnMut(u64)| -> Made<T> {
            let mut made = Vec::with_capacity(part.len());
            for (place, held) in part {
                if failed.load(Ordering::Relaxed) {
                    break;
                }
                let one = self
                    .body_held(held.seq, cut)
                    .map_err(QueryError::from)
                    .and_then(|body| read(held, &body));
                made.push((
                    *place,
                    one.inspect_err(|_| failed.store(true, Ordering::Relaxed))?,
                ));
                tell(done.fetch_add(1, Ordering::Relaxed) + 1);
            }
            Ok(made)
        };
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let threads = threads
            .min(MOST_THREADS)
            .min(held.len() / LEAST_EACH)
            .max(1);
        let mut parts = order.chunks(order.len().div_ceil(threads).max(1));
        let first = parts.next().unwrap_or_default();
        let made: Vec<Made<T>> = thread::scope(|scope| {
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
        let mut all = Vec::with_capacity(held.len());
        for part in made {
            all.extend(part?);
        }
        all.sort_unstable_by_key(|(place, _)| *place);
        Ok(all.into_iter().map(|(_, made)| made).collect())
    }
}
