//! A TCP proxy that stands in for everything that goes wrong between a recorder and a cluster.
//!
//! It listens on one loopback port and spreads its connections over backends in turn, as a load balancer
//! does, passing over those that refuse. While it runs a test can delay, throttle, silence and cut
//! connections or have new ones refused, and await what happened by its counts. It looks at no
//! byte: TLS passes through, so it can never end a TLS stream politely. It runs on a thread of its
//! own, so neither a busy test nor the end of a test's runtime changes what its clients see.
//!
//! One connection through the proxy: its two pumps, and how it ends.

use crate::ports::PortBlock;
use anyhow::{Context as _, anyhow};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{Bytes, BytesMut};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

#[cfg(test)]
mod tests;

/// How long a side that got FIN may take to close; the socket is closed then.
const DRAIN_LIMIT: Duration = Duration::from_secs(5);
const CONNECT_LIMIT: Duration = Duration::from_secs(2);

/// What all connections of a proxy share.
#[derive(Debug)]
struct Shared {
    backends: Vec<u16>,
    faults: watch::Sender<Faults>,
    /// The last cut; every change of it is a cut of all connections.
    cuts: watch::Sender<ConnectionEnd>,
    counts: watch::Sender<Counts>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// Both directions ended by themselves.
    Finished,
    /// One side was reset, so the other is.
    Reset,
    Cut(ConnectionEnd),
    /// Every backend refused.
    WithoutBackend,
}

/// Carries one client's connection; `first` is the backend whose turn it is.
async fn carry(
    mut client: TcpStream,
    first: usize,
    shared: Arc<Shared>,
    mut cuts: watch::Receiver<ConnectionEnd>,
) {
    let mut backend = None;
    let end = tokio::select! {
        end = join(&mut client, &mut backend, first, &shared) => end,
        how = a_cut(&mut cuts) => End::Cut(how),
    };
    if end == End::Cut(ConnectionEnd::Fin) {
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

async fn a_cut(cuts: &mut watch::Receiver<ConnectionEnd>) -> ConnectionEnd {
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

/// Numbers since the start of the proxy; none ever falls.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts {
    /// Connections taken from clients.
    pub accepted: u64,
    /// Of those, the ones that are over, for whatever reason.
    pub closed: u64,
    /// Of those, the ones cut by [`Proxy::cut`] or [`Faults::cut_every`].
    pub cut: u64,
    /// Of those, the ones reset at once because no backend answered.
    pub without_backend: u64,
    /// Connections that each backend got, in the order of the backends.
    pub per_backend: Vec<u64>,
    /// Bytes handed to clients.
    pub to_client_bytes: u64,
    /// Bytes handed to backends.
    pub to_backend_bytes: u64,
}

impl Counts {
    /// Connections that are open now.
    pub fn open(&self) -> u64 {
        self.accepted - self.closed
    }
}

/// How a connection is ended, on both sides of the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionEnd {
    /// With RST, as when a machine restarts or a firewall rejects.
    Reset,
    /// With FIN, as when a load balancer ends an idle connection; what is still inside the proxy is lost.
    Fin,
}

/// Cuts that come by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutEvery {
    /// The time from one cut of all connections to the next; zero is taken as one millisecond.
    pub period: Duration,
    /// How they are cut.
    pub how: ConnectionEnd,
}

/// Faults of the connections there are and of those to come; none by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Faults {
    /// Added to the way of every byte, in each direction; order and throughput stay.
    pub delay: Duration,
    /// The most bytes a second that one connection carries in one direction.
    pub bytes_per_sec: Option<NonZeroU64>,
    /// Half-open silence: connections stay, new ones are accepted, no byte and no end arrives.
    /// What was sent meanwhile arrives when it is over.
    pub stalled: bool,
    /// Cuts all connections again and again.
    pub cut_every: Option<CutEvery>,
}

/// A change of the port itself, answered when it is done.
#[derive(Debug)]
struct Listening {
    wanted: bool,
    done: oneshot::Sender<io::Result<()>>,
}

/// Runs the proxy until the sender of `changes` is dropped; every connection ends with it.
async fn serve(
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
                // Subscribed before it is counted: a test that cuts after seeing the count must
                // reach it.
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
///
/// Reading and writing are joined by a bounded queue with the time each piece is due, so a delay
/// costs no throughput. Ends and resets wait in the same queue: a silenced connection hides them.
async fn pump(
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

/// The most bytes of a request head.
const HEAD_BYTES: usize = 8 * 1024;

const FORBIDDEN: &[u8] = b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n";
const WHO: &[u8] = b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n";

/// A running proxy; dropping it closes its port and every tunnel.
#[derive(Debug)]
pub struct ConnectProxy {
    address: SocketAddr,
    tunnels: Arc<Mutex<Vec<String>>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ConnectProxy {
    /// Starts one before a backend, which asks for `user:password`.
    ///
    /// # Errors
    /// When no port is free or the thread cannot be started.
    pub fn start(backend: SocketAddr, credentials: &str) -> anyhow::Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("a port")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let wanted = format!("basic {}", STANDARD.encode(credentials));
        let tunnels = Arc::new(Mutex::new(Vec::new()));
        let (stop, mut stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let opened = Arc::clone(&tunnels);
        let serve = async move {
            let Ok(listener) = TcpListener::from_std(listener) else {
                return;
            };
            let mut links = JoinSet::new();
            loop {
                tokio::select! {
                    // Dropping the proxy ends it.
                    _dropped = &mut stopped => return,
                    Some(_ended) = links.join_next() => {}
                    accepted = listener.accept() => {
                        if let Ok((client, _)) = accepted {
                            links.spawn(tunnel(client, backend, wanted.clone(), Arc::clone(&opened)));
                        }
                    }
                }
            }
        };
        let thread = Builder::new()
            .name(format!("connect-{}", address.port()))
            .spawn(move || runtime.block_on(serve))?;
        Ok(Self {
            address,
            tunnels,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The `HOST:PORT` of every tunnel that was opened.
    pub fn tunnels(&self) -> Vec<String> {
        let tunnels = self.tunnels.lock().unwrap_or_else(PoisonError::into_inner);
        tunnels.clone()
    }
}

impl Drop for ConnectProxy {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has ended as well.
            thread.join().ok();
        }
    }
}

/// Carries one connection; an error ends it, and its client learns nothing else.
async fn tunnel(
    mut client: TcpStream,
    backend: SocketAddr,
    wanted: String,
    opened: Arc<Mutex<Vec<String>>>,
) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= HEAD_BYTES {
            return Ok(());
        }
        head.push(client.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let mut words = head.split(' ');
    let (method, target) = (words.next(), words.next().unwrap_or_default().to_owned());
    if method != Some("CONNECT") {
        return client.write_all(FORBIDDEN).await;
    }
    let said = head.lines().filter_map(|line| line.split_once(':'));
    let mut said = said.filter(|(name, _)| name.eq_ignore_ascii_case("proxy-authorization"));
    // The scheme's name may be spelt as one likes, the credentials may not.
    let is_known = said.next().is_some_and(|(_, value)| {
        let (scheme, rest) = value.trim().split_once(' ').unwrap_or_default();
        format!("{} {}", scheme.to_lowercase(), rest.trim()) == wanted
    });
    if !is_known {
        return client.write_all(WHO).await;
    }
    let mut server = TcpStream::connect(backend).await?;
    client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
    opened
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(target);
    copy_bidirectional(&mut client, &mut server).await?;
    Ok(())
}

/// Longer than anything a test awaits of a proxy.
const WAIT_LIMIT: Duration = Duration::from_mins(2);

/// A running fault proxy; dropping it closes its port and every connection.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
    changes: Option<mpsc::Sender<Listening>>,
    thread: Option<JoinHandle<()>>,
    /// Keeps the port ours while it refuses connections.
    #[cfg_attr(not(test), expect(dead_code, reason = "held until it is dropped"))]
    ports: PortBlock,
}

impl Proxy {
    /// Starts a proxy without faults in front of loopback ports.
    ///
    /// # Errors
    /// When no port is free or the thread cannot be started.
    pub fn start(backends: &[u16]) -> anyhow::Result<Self> {
        let mut ports = PortBlock::claim()?;
        let port = ports.take()?;
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .with_context(|| format!("cannot listen on port {port}"))?;
        listener.set_nonblocking(true)?;
        let counts = Counts {
            per_backend: vec![0; backends.len()],
            ..Counts::default()
        };
        let shared = Arc::new(Shared {
            backends: backends.to_vec(),
            faults: watch::Sender::new(Faults::default()),
            cuts: watch::Sender::new(ConnectionEnd::Reset),
            counts: watch::Sender::new(counts),
        });
        let (changes, receiver) = mpsc::channel(1);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let thread = Builder::new().name(format!("proxy-{port}")).spawn({
            let shared = Arc::clone(&shared);
            move || {
                runtime.block_on(async {
                    // Fails only outside a runtime.
                    if let Ok(listener) = TcpListener::from_std(listener) {
                        serve(listener, port, shared, receiver).await;
                    }
                });
            }
        })?;
        Ok(Self {
            port,
            shared,
            changes: Some(changes),
            thread: Some(thread),
            ports,
        })
    }

    /// The loopback port clients connect to.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Changes the faults of all connections, the present and the coming ones.
    pub fn change(&self, change: impl FnOnce(&mut Faults)) {
        self.shared.faults.send_modify(change);
    }

    /// Cuts every connection there is; returns when they are all cut.
    ///
    /// # Errors
    /// When one does not end.
    pub async fn cut(&self, how: ConnectionEnd) -> anyhow::Result<()> {
        let accepted = self.counts().accepted;
        self.shared.cuts.send_replace(how);
        self.until(|counts| counts.closed >= accepted)
            .await
            .map(drop)
    }

    /// Closes the port: from the return on, new connections are refused, while old ones live on.
    ///
    /// # Errors
    /// When the proxy's thread has ended.
    pub async fn refuse(&self) -> anyhow::Result<()> {
        self.listen(false).await
    }

    /// Opens the port again.
    ///
    /// # Errors
    /// When the port cannot be bound.
    pub async fn accept(&self) -> anyhow::Result<()> {
        self.listen(true).await
    }

    /// What happened so far.
    pub fn counts(&self) -> Counts {
        self.shared.counts.borrow().clone()
    }

    /// Waits until the counts are as wanted and returns them.
    ///
    /// # Errors
    /// When that does not happen within two minutes; the message tells the counts.
    pub async fn until(&self, wanted: impl FnMut(&Counts) -> bool) -> anyhow::Result<Counts> {
        let mut counts = self.shared.counts.subscribe();
        match tokio::time::timeout(WAIT_LIMIT, counts.wait_for(wanted)).await {
            Ok(counts) => Ok(counts?.clone()),
            Err(_elapsed) => Err(anyhow!("not so within {WAIT_LIMIT:?}: {:?}", self.counts())),
        }
    }

    async fn listen(&self, wanted: bool) -> anyhow::Result<()> {
        let ended = "the proxy's thread has ended";
        let (done, answer) = oneshot::channel();
        let changes = self.changes.as_ref().context(ended)?;
        changes
            .send(Listening { wanted, done })
            .await
            .context(ended)?;
        answer
            .await
            .context(ended)?
            .with_context(|| format!("cannot listen on port {}", self.port))
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.changes.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the proxy's thread has been printed by then.
            drop(thread.join());
        }
    }
}
