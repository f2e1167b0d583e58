//! One direction of a connection: reads, waits as the faults say, writes.
//!
//! Reading and writing are joined by a bounded queue with the time each piece is due, so a delay
//! costs no throughput. Ends and resets wait in the same queue: a silenced connection hides them.

use std::io;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::sync::{mpsc, watch};
use tokio::time::{Duration, Instant};

use super::faults::Faults;

const PIECE_BYTES: usize = 16 * 1024;
const QUEUED_PIECES: usize = 64;
/// A throttled connection writes in pieces of this fraction of a second, not in one burst.
const PIECES_PER_SEC: u64 = 50;

enum Piece {
    Bytes(Bytes),
    /// The other end closed its direction.
    End,
    /// The other end reset the connection.
    Reset,
}

/// Moves bytes until the end of the direction; an error means that either side was reset.
pub(super) async fn pump(
    from: ReadHalf<'_>,
    to: WriteHalf<'_>,
    faults: watch::Receiver<Faults>,
    moved: impl Fn(u64),
) -> io::Result<()> {
    let (queue, due) = mpsc::channel(QUEUED_PIECES);
    let (reading, writing) = (read(from, queue), write(to, due, faults, moved));
    tokio::pin!(reading, writing);
    tokio::select! {
        // The side written to is gone: no use in waiting for more to read.
        written = &mut writing => written,
        () = &mut reading => writing.await,
    }
}

async fn read(mut from: ReadHalf<'_>, queue: mpsc::Sender<(Instant, Piece)>) {
    loop {
        let mut buffer = BytesMut::with_capacity(PIECE_BYTES);
        let piece = match from.read_buf(&mut buffer).await {
            Ok(0) => Piece::End,
            Ok(_length) => Piece::Bytes(buffer.freeze()),
            Err(_reset) => Piece::Reset,
        };
        let last = !matches!(piece, Piece::Bytes(_));
        if queue.send((Instant::now(), piece)).await.is_err() || last {
            return;
        }
    }
}

async fn write(
    mut to: WriteHalf<'_>,
    mut due: mpsc::Receiver<(Instant, Piece)>,
    mut faults: watch::Receiver<Faults>,
    moved: impl Fn(u64),
) -> io::Result<()> {
    while let Some((read_at, piece)) = due.recv().await {
        let delay = faults.borrow().delay;
        tokio::time::sleep_until(read_at + delay).await;
        while_stalled(&mut faults).await;
        match piece {
            Piece::Bytes(bytes) => write_throttled(&mut to, bytes, &mut faults, &moved).await?,
            Piece::End => return to.shutdown().await,
            Piece::Reset => return Err(io::ErrorKind::ConnectionReset.into()),
        }
    }
    Ok(())
}

async fn write_throttled(
    to: &mut WriteHalf<'_>,
    mut bytes: Bytes,
    faults: &mut watch::Receiver<Faults>,
    moved: &impl Fn(u64),
) -> io::Result<()> {
    while !bytes.is_empty() {
        while_stalled(faults).await;
        let limit = faults.borrow().bytes_per_sec;
        let Some(limit) = limit else {
            to.write_all(&bytes).await?;
            moved(bytes.len().try_into().unwrap_or(u64::MAX));
            return Ok(());
        };
        let share = (limit.get() / PIECES_PER_SEC).max(1);
        let length = usize::try_from(share)
            .unwrap_or(usize::MAX)
            .min(bytes.len());
        let part = bytes.split_to(length);
        to.write_all(&part).await?;
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        moved(length);
        tokio::time::sleep(Duration::from_micros(
            length.saturating_mul(1_000_000) / limit,
        ))
        .await;
    }
    Ok(())
}

async fn while_stalled(faults: &mut watch::Receiver<Faults>) {
    // Closed only when the proxy ends, and then this connection ends with it.
    let _closed = faults.wait_for(|faults| !faults.stalled).await;
}
