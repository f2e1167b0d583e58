//! The proxy's port: takes connections, refuses them while told to, and keeps the cutting clock.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::link::{Shared, carry};

/// A change of the port itself, answered when it is done.
#[derive(Debug)]
pub(super) struct Listening {
    pub(super) wanted: bool,
    pub(super) done: oneshot::Sender<io::Result<()>>,
}

/// Runs the proxy until the sender of `changes` is dropped; every connection ends with it.
pub(super) async fn serve(
    listener: TcpListener,
    port: u16,
    shared: Arc<Shared>,
    mut changes: mpsc::Receiver<Listening>,
) {
    let mut links = JoinSet::new();
    let mut listener = Some(listener);
    let mut turn = 0;
    links.spawn(cut_by_the_clock(Arc::clone(&shared)));
    loop {
        tokio::select! {
            change = changes.recv() => {
                let Some(Listening { wanted, done }) = change else { return };
                let result = listen(&mut listener, wanted, port).await;
                // Nobody waits for the answer when the test gave up meanwhile.
                drop(done.send(result));
            }
            client = accept(listener.as_ref()) => {
                // Subscribed before it is counted: whoever cuts after seeing the count cuts it.
                let cuts = shared.cuts.subscribe();
                shared.counts.send_modify(|counts| counts.accepted += 1);
                links.spawn(carry(client, turn, Arc::clone(&shared), cuts));
                turn = (turn + 1) % shared.backends.len().max(1);
            }
            Some(_ended) = links.join_next() => {}
        }
    }
}

async fn listen(listener: &mut Option<TcpListener>, wanted: bool, port: u16) -> io::Result<()> {
    if !wanted {
        *listener = None;
    } else if listener.is_none() {
        *listener = Some(TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?);
    }
    Ok(())
}

/// The next connection; never one while the port is closed.
async fn accept(listener: Option<&TcpListener>) -> TcpStream {
    let Some(listener) = listener else {
        return std::future::pending().await;
    };
    loop {
        // An error is of one connection that was gone before it was taken.
        if let Ok((stream, _peer)) = listener.accept().await {
            return stream;
        }
        // Or the process is out of file descriptors: then asking again at once would spin.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Cuts all connections in the period that the faults name, until it is dropped with the proxy.
async fn cut_by_the_clock(shared: Arc<Shared>) {
    let mut faults = shared.faults.subscribe();
    loop {
        let Some(cut) = faults.borrow_and_update().cut_every else {
            if faults.changed().await.is_err() {
                return;
            }
            continue;
        };
        tokio::select! {
            () = tokio::time::sleep(cut.period.max(Duration::from_millis(1))) => {
                shared.cuts.send_replace(cut.how);
            }
            // Any change starts the period anew.
            _changed = faults.changed() => {}
        }
    }
}
