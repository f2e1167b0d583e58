//! The handle of a running server: its threads, its listener, its settings, its faults. It does not
//! handle writes and questions; they are in `writes` and `questions`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use jiff::Timestamp;
use tokio::net::TcpSocket;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{oneshot, watch};

use super::fault::{End, Fault, FaultId, On, Rules};
use super::log::{Exchange, Log, Pulse, RequestHead, locked};
use super::model::ObjectKey;
use super::model::{Content, Model};
use super::resource::Resource;
use super::respond;
use super::stream::Delivered;

/// The kernel's send buffer of each connection; small, so that a client that stops reading is soon felt.
const SEND_BUFFER_BYTES: u32 = 256 * 1024;

const BACKLOG: u32 = 1024;

/// A cluster in memory behind an API server on loopback that serves exactly the configured bytes.
///
/// It runs on threads of its own until it is dropped, so tests may block.
#[derive(Debug)]
pub struct ScriptedCluster {
    pub(crate) state: Arc<State>,
    address: SocketAddr,
    listening: Option<Listening>,
    /// Keeps the port while no server listens, so that connections are refused and no other process
    /// gets it.
    reserved: Option<TcpSocket>,
    runtime: Option<Runtime>,
}

#[derive(Debug)]
struct Listening {
    stop: oneshot::Sender<()>,
    closed: std::sync::mpsc::Receiver<()>,
}

impl ScriptedCluster {
    /// Starts a cluster with the built-in resources and the usual four namespaces.
    ///
    /// # Errors
    ///
    /// When no port or no thread is to be had.
    pub fn start() -> Result<Self> {
        Self::start_as(1, 100)
    }

    /// Starts a cluster whose uids begin with `identity` and whose revisions begin behind `first_revision`.
    ///
    /// # Errors
    ///
    /// When no port or no thread is to be had.
    pub fn start_as(identity: u32, first_revision: u128) -> Result<Self> {
        let mut model = Model::new(identity, first_revision);
        for resource in Resource::catalogue() {
            model.serve(resource);
        }
        for name in ["default", "kube-node-lease", "kube-public", "kube-system"] {
            let key = ObjectKey {
                namespace: String::new(),
                name: name.to_owned(),
            };
            let members = br#""spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}"#;
            let metadata = "";
            model.put("namespaces", key, Content::Members { metadata, members })?;
        }
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("scripted-cluster")
            .enable_all()
            .build()
            .context("start the threads of the scripted cluster")?;
        let socket = socket((Ipv4Addr::LOCALHOST, 0).into())?;
        let mut cluster = Self {
            state: Arc::new(State::new(model)),
            address: socket.local_addr()?,
            listening: None,
            reserved: Some(socket),
            runtime: Some(runtime),
        };
        cluster.accept()?;
        Ok(cluster)
    }

    /// Where it listens; the same over its whole life.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Closes the listener: new connections are refused, running answers go on.
    ///
    /// # Errors
    ///
    /// When the port cannot be kept.
    pub fn refuse(&mut self) -> Result<()> {
        let Some(listening) = self.listening.take() else {
            return Ok(());
        };
        // Both fail only when the accepting task is gone, and then the listener is closed.
        listening.stop.send(()).ok();
        listening.closed.recv().ok();
        self.reserved = Some(socket_again(self.address)?);
        Ok(())
    }

    /// Listens again, on the same port.
    ///
    /// # Errors
    ///
    /// When the port cannot be listened on.
    pub fn accept(&mut self) -> Result<()> {
        let Some(socket) = self.reserved.take() else {
            return Ok(());
        };
        let runtime = self.runtime.as_ref().context("the server was stopped")?;
        let _entered = runtime.enter();
        let listener = socket.listen(BACKLOG)?;
        let (stop, stopped) = oneshot::channel();
        let (close, closed) = std::sync::mpsc::sync_channel(1);
        runtime.spawn(respond::accept(
            Arc::clone(&self.state),
            listener,
            stopped,
            close,
        ));
        self.listening = Some(Listening { stop, closed });
        Ok(())
    }

    /// Dies as a killed server does: every connection is reset, new ones are refused.
    ///
    /// # Errors
    ///
    /// When the port cannot be kept.
    pub fn go_down(&mut self) -> Result<()> {
        self.refuse()?;
        self.state.reset_all();
        Ok(())
    }

    /// Changes how the server behaves, from the next request on.
    pub fn set(&self, change: impl FnOnce(&mut Settings)) {
        change(&mut locked(&self.state.settings));
    }

    /// Puts a rule in force for the requests to come.
    pub fn fault(&self, on: On, fault: Fault) -> FaultId {
        locked(&self.state.rules).add(on, fault)
    }

    /// Ends a rule.
    pub fn lift(&self, id: FaultId) {
        locked(&self.state.rules).lift(id);
    }

    /// Ends all rules.
    pub fn lift_all(&self) {
        locked(&self.state.rules).lift_all();
    }

    /// How many requests met a rule.
    pub fn hits(&self, id: FaultId) -> usize {
        locked(&self.state.rules).hits(id)
    }

    /// Ends the answers that are being sent right now; returns how many there were.
    ///
    /// An end in order comes behind the lines that wait, every other one at once, whatever byte it is at.
    pub fn cut_open(&self, on: &On, end: End) -> usize {
        self.state.order(on, end)
    }

    /// Keeps every stream from sending anything new until the guard is dropped,
    /// so that what is written meanwhile waits together.
    #[must_use]
    pub fn hold(&self) -> StreamHold {
        self.state.hold(true);
        StreamHold {
            state: Arc::clone(&self.state),
        }
    }
}

impl Drop for ScriptedCluster {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Holds every stream while it lives.
#[derive(Debug)]
pub struct StreamHold {
    state: Arc<State>,
}

impl Drop for StreamHold {
    fn drop(&mut self) {
        self.state.hold(false);
    }
}

fn socket(address: SocketAddr) -> Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
    socket
        .bind(address)
        .with_context(|| format!("bind {address}"))?;
    let bound = socket.local_addr()?;
    ensure!(bound.port() != 0, "no port was given");
    Ok(socket)
}

/// How many times a port is asked for again, ten milliseconds apart.
const BINDS: u32 = 200;

/// Binds the port of a listener that was closed just now. A process that another test starts at this moment has a copy
/// of the listener, until it runs its own program.
fn socket_again(address: SocketAddr) -> Result<TcpSocket> {
    for _ in 0..BINDS {
        if let Ok(socket) = socket(address) {
            return Ok(socket);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    socket(address)
}

/// How the server treats `sendInitialEvents`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchList {
    /// Serves it, as 1.32 and 1.34 on.
    Served,
    /// Does not know the parameter, as before 1.27: the end bookmark never comes.
    Ignored,
    /// Answers 422, as with the feature gate off.
    Refused,
}

/// Where the bookmark that ends the initial events is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InitialEnd {
    /// Behind the last initial event, as it should be.
    AfterEvents,
    /// Nowhere.
    Missing,
    /// In front of the first initial event.
    BeforeEvents,
    /// Behind the last one, without a resource version.
    WithoutRevision,
}

/// How much of the newer discovery the server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregation {
    /// `v2` and `v2beta1`.
    V2,
    /// `v2beta1` only, as 1.26 to 1.29.
    V2Beta1,
    /// None: the legacy documents whatever is asked.
    Off,
}

/// When bodies are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gzip {
    /// Never.
    Never,
    /// When the client accepts it: one member a flush.
    WhenAccepted,
    /// Always, as a careless proxy might.
    Always,
}

/// How lines become chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chunking {
    /// One line a chunk, as real servers mostly do.
    PerLine,
    /// Everything that waits in one chunk.
    Together,
    /// Chunks of this many bytes, wherever the lines end.
    Bytes(usize),
}

/// The server's personality; change it with [`super::ScriptedCluster::set`].
#[derive(Debug, Clone)]
pub struct Settings {
    /// `gitVersion` in `/version`.
    pub version: String,
    /// What it makes of `sendInitialEvents`.
    pub watch_list: WatchList,
    /// Where the end of the initial events is announced.
    pub initial_end: InitialEnd,
    /// How many changes of the history the initial events of a watch lie back; these changes follow
    /// them, before the bookmark, as a busy watch cache sends them.
    pub initial_lag: usize,
    /// The pause between periodic bookmarks; none are sent without.
    pub bookmark_interval: Option<Duration>,
    /// When bodies are compressed.
    pub gzip: Gzip,
    /// How much of aggregated discovery is spoken.
    pub aggregation: Aggregation,
    /// Whether discovery documents carry an `ETag` and honour `If-None-Match`.
    pub etags: bool,
    /// Groups left out of `/apis` though they are served.
    pub hidden_groups: BTreeSet<String>,
    /// Groups left out of every second answer to `/apis`.
    pub flapping_groups: BTreeSet<String>,
    /// Groups told as `Stale`, without their resources.
    pub stale_groups: BTreeSet<String>,
    /// Discovery reports no group at all.
    pub empty_discovery: bool,
    /// The bearer token every request must carry; 401 without.
    pub token: Option<String>,
    /// How long a client may leave a full socket unread before its connection is closed.
    pub stall_limit: Option<Duration>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            version: "v1.36.3".to_owned(),
            watch_list: WatchList::Served,
            initial_end: InitialEnd::AfterEvents,
            initial_lag: 0,
            bookmark_interval: Some(Duration::from_mins(1)),
            gzip: Gzip::WhenAccepted,
            aggregation: Aggregation::V2,
            etags: true,
            hidden_groups: BTreeSet::new(),
            flapping_groups: BTreeSet::new(),
            stale_groups: BTreeSet::new(),
            empty_discovery: false,
            token: None,
            stall_limit: None,
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the module the wall clock is read in"
)]
fn now() -> Timestamp {
    Timestamp::now()
}

/// The value of a `Date` header.
pub(crate) fn http_date() -> String {
    now().strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

/// The value of a `creationTimestamp`, cut to whole seconds as API servers do.
pub(crate) fn creation_timestamp() -> String {
    now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Returns this many bytes of noise; the same seed gives the same.
pub fn noise(seed: u64, len: usize) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let letters = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        if state >> 61 == 0 {
            ' '
        } else {
            char::from(b'a' + (state % 26).to_le_bytes()[0])
        }
    });
    letters.take(len).collect()
}

/// An answer that is being sent.
#[derive(Debug)]
struct Live {
    exchange: Arc<Exchange>,
    order: watch::Sender<Option<End>>,
}

/// Everything shared.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) model: Mutex<Model>,
    pub(crate) settings: Mutex<Settings>,
    pub(crate) rules: Mutex<Rules>,
    pub(crate) log: Log,
    pub(crate) pulse: Arc<Pulse>,
    /// While true, streams send nothing new.
    held: watch::Sender<bool>,
    live: Mutex<BTreeMap<usize, Live>>,
    /// How often all connections were reset, those without a request too.
    resets: watch::Sender<usize>,
    connections: AtomicUsize,
    group_lists: AtomicUsize,
}

impl State {
    pub(crate) fn new(model: Model) -> Self {
        Self {
            model: Mutex::new(model),
            settings: Mutex::new(Settings::default()),
            rules: Mutex::new(Rules::default()),
            log: Log::default(),
            pulse: Arc::new(Pulse::default()),
            held: watch::Sender::new(false),
            live: Mutex::new(BTreeMap::new()),
            resets: watch::Sender::new(0),
            connections: AtomicUsize::new(0),
            group_lists: AtomicUsize::new(0),
        }
    }

    pub(crate) fn next_connection(&self) -> usize {
        self.connections.fetch_add(1, Ordering::Relaxed)
    }

    /// True for every second answer to `/apis`.
    pub(crate) fn flap(&self) -> bool {
        self.group_lists.fetch_add(1, Ordering::Relaxed) % 2 == 1
    }

    pub(crate) fn hold(&self, held: bool) {
        self.held.send_replace(held);
    }

    pub(crate) fn is_held(&self) -> bool {
        *self.held.borrow()
    }

    /// Waits until the streams are let go.
    pub(crate) async fn released(&self) {
        // The sender lives as long as `self`, so waiting cannot fail.
        self.held.subscribe().wait_for(|held| !held).await.ok();
    }

    /// Begins the answer to a request: a test that sees it in the log can order it to end.
    pub(crate) fn begin(
        &self,
        connection: usize,
        asked: RequestHead,
    ) -> (Arc<Exchange>, watch::Receiver<Option<End>>) {
        let (order, ordered) = watch::channel(None);
        // An order waits here until what the log already shows can be ordered.
        let mut all = locked(&self.live);
        let exchange = self.log.begin(connection, asked);
        let live = Live {
            exchange: Arc::clone(&exchange),
            order,
        };
        all.insert(exchange.number, live);
        drop(all);
        self.pulse.beat();
        (exchange, ordered)
    }

    /// Notes how an answer ended.
    pub(crate) fn finish(&self, exchange: &Exchange, ending: super::log::Ending) {
        locked(&self.live).remove(&exchange.number);
        exchange.note(|progress| progress.ended = Some((Instant::now(), ending)));
        self.pulse.beat();
    }

    /// Orders the live answers a pattern matches to end; returns how many there were.
    pub(crate) fn order(&self, on: &On, end: End) -> usize {
        let live = locked(&self.live);
        let mut ordered = 0;
        for live in live.values().filter(|live| on.matches(&live.exchange)) {
            live.order.send_replace(Some(end));
            ordered += 1;
        }
        ordered
    }

    /// Tells a connection when all are reset.
    pub(crate) fn resets(&self) -> watch::Receiver<usize> {
        self.resets.subscribe()
    }

    /// Resets every connection. An answer that begins at this moment is either ordered to end or sees the reset.
    fn reset_all(&self) {
        self.resets.send_modify(|resets| *resets += 1);
        self.order(&On::path("*"), End::Reset);
    }

    /// Notes what a client has been given.
    pub(crate) fn sent(&self, delivered: Delivered, watched: bool) {
        if delivered.commits.is_empty() && delivered.altered.is_empty() {
            return;
        }
        let now = Instant::now();
        let mut model = locked(&self.model);
        for commit in delivered.commits {
            if let Some(committed) = model.committed.get_mut(commit) {
                let first = if watched {
                    &mut committed.first_watched
                } else {
                    &mut committed.first_listed
                };
                first.get_or_insert(now);
            }
        }
        model.altered.extend(delivered.altered);
    }
}

/// What to write into a kubeconfig file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kubeconfig {
    /// Leads to the server.
    Good,
    /// Leads to the server, with a bearer token.
    WithToken(String),
    /// Leads elsewhere.
    Elsewhere(String),
    /// Nothing.
    Empty,
    /// The first half of a good one.
    HalfWritten,
    /// Not YAML.
    NotYaml,
    /// YAML whose current context does not exist.
    NoSuchContext,
}

impl ScriptedCluster {
    /// Writes a kubeconfig; whole files replace the old one in one step, half-written ones do not.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn write_kubeconfig(&self, path: &Path, what: &Kubeconfig) -> Result<()> {
        let url = self.url();
        let text = match what {
            Kubeconfig::Good => text(&url, None, "scripted"),
            Kubeconfig::WithToken(token) => text(&url, Some(token), "scripted"),
            Kubeconfig::Elsewhere(url) => text(url, None, "scripted"),
            Kubeconfig::NoSuchContext => text(&url, None, "nowhere"),
            Kubeconfig::Empty => String::new(),
            Kubeconfig::NotYaml => "{]: \"\n\t- nonsense".to_owned(),
            Kubeconfig::HalfWritten => {
                let whole = text(&url, None, "scripted");
                let half = whole.get(..whole.len() / 2).unwrap_or_default();
                return fs::write(path, half).with_context(|| format!("write {}", path.display()));
            }
        };
        let fresh = path.with_extension("new");
        fs::write(&fresh, text).with_context(|| format!("write {}", fresh.display()))?;
        fs::rename(&fresh, path).with_context(|| format!("replace {}", path.display()))
    }
}

fn text(url: &str, token: Option<&str>, context: &str) -> String {
    let user = token.map_or_else(|| "{}".to_owned(), |token| format!("{{token: {token}}}"));
    format!(
        "apiVersion: v1\n\
         kind: Config\n\
         clusters:\n\
         - name: scripted\n  cluster:\n    server: {url}\n\
         users:\n\
         - name: tester\n  user: {user}\n\
         contexts:\n\
         - name: scripted\n  context: {{cluster: scripted, user: tester}}\n\
         current-context: {context}\n"
    )
}
