//! One connection through the proxy: its two pumps, and how it ends.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::counts::Counts;
use super::faults::{Cut, Faults};
use super::pump::pump;

/// How long a side that got FIN may take to close; the socket is closed then.
const DRAIN_LIMIT: Duration = Duration::from_secs(5);
const CONNECT_LIMIT: Duration = Duration::from_secs(2);

/// What all connections of a proxy share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) backends: Vec<u16>,
    pub(super) faults: watch::Sender<Faults>,
    /// The last cut; every change of it is a cut of all connections.
    pub(super) cuts: watch::Sender<Cut>,
    pub(super) counts: watch::Sender<Counts>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// Both directions ended by themselves.
    Finished,
    /// One side was reset, so the other is.
    Reset,
    Cut(Cut),
    /// Every backend refused.
    WithoutBackend,
}

/// Carries one client's connection; `first` is the backend whose turn it is.
pub(super) async fn carry(
    mut client: TcpStream,
    first: usize,
    shared: Arc<Shared>,
    mut cuts: watch::Receiver<Cut>,
) {
    let mut backend = None;
    let end = tokio::select! {
        end = join(&mut client, &mut backend, first, &shared) => end,
        how = a_cut(&mut cuts) => End::Cut(how),
    };
    if end == End::Cut(Cut::Fin) {
        tokio::join!(finish(&mut client), async {
            if let Some(backend) = &mut backend {
                finish(backend).await;
            }
        });
    } else if end != End::Finished {
        for stream in [Some(client), backend].into_iter().flatten() {
            // Fails on a connection that is reset already.
            drop(stream.set_zero_linger());
        }
    }
    shared.counts.send_modify(|counts| {
        counts.closed += 1;
        counts.cut += u64::from(matches!(end, End::Cut(_)));
        counts.without_backend += u64::from(end == End::WithoutBackend);
    });
}

/// Connects to a backend and moves bytes both ways; the backend is left in `slot`.
async fn join(
    client: &mut TcpStream,
    slot: &mut Option<TcpStream>,
    first: usize,
    shared: &Shared,
) -> End {
    let Some(connected) = connect(first, shared).await else {
        return End::WithoutBackend;
    };
    let backend = slot.insert(connected);
    // Fails only on a connection that is gone, which the pumps find out.
    drop((client.set_nodelay(true), backend.set_nodelay(true)));
    let (from_client, to_client) = client.split();
    let (from_backend, to_backend) = backend.split();
    let faults = || shared.faults.subscribe();
    let up = pump(from_client, to_backend, faults(), |bytes| {
        shared
            .counts
            .send_modify(|counts| counts.to_backend_bytes += bytes);
    });
    let down = pump(from_backend, to_client, faults(), |bytes| {
        shared
            .counts
            .send_modify(|counts| counts.to_client_bytes += bytes);
    });
    match tokio::try_join!(up, down) {
        Ok(((), ())) => End::Finished,
        Err(_reset) => End::Reset,
    }
}

/// Connects to the backend whose turn it is, or to the next that does not refuse.
async fn connect(first: usize, shared: &Shared) -> Option<TcpStream> {
    let turns = shared.backends.iter().enumerate().cycle().skip(first);
    for (index, port) in turns.take(shared.backends.len()) {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, *port));
        let connecting = tokio::time::timeout(CONNECT_LIMIT, TcpStream::connect(address));
        if let Ok(Ok(stream)) = connecting.await {
            shared.counts.send_modify(|counts| {
                if let Some(count) = counts.per_backend.get_mut(index) {
                    *count += 1;
                }
            });
            return Some(stream);
        }
    }
    None
}

async fn a_cut(cuts: &mut watch::Receiver<Cut>) -> Cut {
    // Closed only when the proxy ends; the connection is dropped with it.
    if cuts.changed().await.is_err() {
        return std::future::pending().await;
    }
    *cuts.borrow()
}

/// Sends FIN and reads what still comes: closing with unread bytes would send RST instead.
async fn finish(stream: &mut TcpStream) {
    // Either fails only on a connection that is gone already.
    drop(stream.shutdown().await);
    let mut unread = vec![0; 4096];
    let drain = async { while matches!(stream.read(&mut unread).await, Ok(1..)) {} };
    let _elapsed = tokio::time::timeout(DRAIN_LIMIT, drain).await;
}
