//! Owns one accepted socket: reading heads, writing bytes under orders, and ending it in every way TCP knows.
//! Refuses to know what the bytes mean.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use tokio::sync::watch;

use super::fault::End;
use super::http::{HEAD_BYTES_MAX, head_end, parse_head};
use super::log::{Asked, Ending, Exchange, Pulse};

/// A socket with a client at its other end.
#[derive(Debug)]
pub(crate) struct Wire {
    stream: TcpStream,
    unread: Vec<u8>,
}

/// What a write happens under: whose answer it is, who may end it, how long the client may not read.
#[derive(Debug)]
pub(crate) struct Orders {
    pub(crate) exchange: Arc<Exchange>,
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) ordered: watch::Receiver<Option<End>>,
    pub(crate) stall_limit: Option<Duration>,
}

impl Orders {
    /// An order that was given and not yet obeyed.
    pub(crate) fn given(&self) -> Option<End> {
        *self.ordered.borrow()
    }

    /// Waits for any order.
    pub(crate) async fn awaited(&mut self) -> End {
        self.one_of(&[End::Finished, End::Closed, End::Reset, End::Silent])
            .await
    }

    /// Waits for an order that does not even let the line end.
    async fn abrupt(&mut self) -> End {
        self.one_of(&[End::Closed, End::Reset, End::Silent]).await
    }

    /// Waits for one of these orders; others are as good as none.
    async fn one_of(&mut self, ends: &[End]) -> End {
        loop {
            let given = *self.ordered.borrow_and_update();
            if let Some(end) = given.filter(|end| ends.contains(end)) {
                return end;
            }
            if self.ordered.changed().await.is_err() {
                // The server is being dropped; so is the socket.
                return End::Reset;
            }
        }
    }
}

impl Wire {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            unread: Vec::new(),
        }
    }

    /// The next request, its body skipped; nothing when the client is gone or talks nonsense.
    pub(crate) async fn request(&mut self) -> Option<Asked> {
        let end = loop {
            if let Some(end) = head_end(&self.unread) {
                break end;
            }
            if self.unread.len() > HEAD_BYTES_MAX || !self.read_more().await {
                return None;
            }
        };
        let head: Vec<u8> = self.unread.drain(..end).collect();
        let asked = parse_head(&head)?;
        let body: usize = match asked.header("content-length") {
            Some(length) => length.parse().ok()?,
            None => 0,
        };
        while self.unread.len() < body {
            if !self.read_more().await {
                return None;
            }
        }
        self.unread.drain(..body);
        Some(asked)
    }

    async fn read_more(&mut self) -> bool {
        let mut bytes = [0; 4096];
        loop {
            if self.stream.readable().await.is_err() {
                return false;
            }
            match self.stream.try_read(&mut bytes) {
                Ok(count) => {
                    self.unread
                        .extend_from_slice(bytes.get(..count).unwrap_or_default());
                    return count > 0;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => return false,
            }
        }
    }

    /// Waits until the client is gone; what it sends meanwhile is kept for later.
    pub(crate) async fn client_gone(&mut self) {
        while self.read_more().await {}
    }

    /// Writes all the bytes, or says what kept it from doing so.
    pub(crate) async fn send(&mut self, bytes: &[u8], orders: &mut Orders) -> Result<(), Ending> {
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.stream.try_write(rest) {
                Ok(count) => {
                    rest = rest.get(count..).unwrap_or_default();
                    orders.exchange.note(|progress| {
                        progress.bytes_accepted += count;
                        progress.stalled_since = None;
                    });
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.writable(orders).await?;
                }
                Err(_) => return Err(Ending::Client),
            }
        }
        Ok(())
    }

    /// Waits for room in the socket.
    async fn writable(&mut self, orders: &mut Orders) -> Result<(), Ending> {
        let stalled_since = Instant::now();
        orders.exchange.note(|progress| {
            progress.stalled_since.get_or_insert(stalled_since);
        });
        orders.pulse.beat();
        let patience = orders.stall_limit;
        let stalled = async {
            match patience {
                Some(limit) => tokio::time::sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            end = orders.abrupt() => Err(Ending::Server(end)),
            room = self.stream.writable() => room.or(Err(Ending::Client)),
            () = stalled => Err(Ending::Server(End::Closed)),
        }
    }

    /// Carries an ending out by giving the socket up; says what it came to.
    pub(crate) async fn end(mut self, end: End, orders: &mut Orders) -> Ending {
        let mut end = end;
        if end == End::Silent {
            let now = Instant::now();
            orders
                .exchange
                .note(|progress| progress.silent_since = Some(now));
            orders.pulse.beat();
            tokio::select! {
                () = self.client_gone() => return Ending::Client,
                ordered = orders.one_of(&[End::Closed, End::Reset]) => end = ordered,
            }
        }
        if end == End::Reset {
            // Failing means that the socket is already gone, which is as good.
            self.stream.set_zero_linger().ok();
        }
        Ending::Server(end)
    }
}
