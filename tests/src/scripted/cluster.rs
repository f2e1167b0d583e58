//! Owns the handle of a running server: its threads, its listener, its settings, its faults.
//! Refuses writes and questions; they are in `writes` and `questions`.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use tokio::net::TcpSocket;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use super::fault::{End, Fault, FaultId, On};
use super::log::locked;
use super::model::{Content, Model};
use super::resource::Resource;
use super::respond;
use super::settings::Settings;
use super::state::State;
use super::storage::ObjectKey;

/// The kernel's send buffer of each connection; small, so that a client that stops reading is soon felt.
const SEND_BUFFER_BYTES: u32 = 256 * 1024;

const BACKLOG: u32 = 1024;

/// A cluster in memory behind an API server on loopback that says exactly what it is told to.
///
/// It runs on threads of its own until it is dropped, so tests may block.
#[derive(Debug)]
pub struct ScriptedCluster {
    pub(crate) state: Arc<State>,
    address: SocketAddr,
    listening: Option<Listening>,
    /// Keeps the port while nobody listens, so that connections are refused and nobody else gets it.
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
        self.reserved = Some(socket(self.address)?);
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
        self.cut_open(&On::path("*"), End::Reset);
        Ok(())
    }

    /// Changes how the server behaves, from the next request on.
    pub fn set(&self, change: impl FnOnce(&mut Settings)) {
        let mut settings = locked(&self.state.settings);
        change(&mut settings);
        locked(&self.state.model).history_limit = settings.history_limit;
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
    pub fn hold(&self) -> Held {
        self.state.hold(true);
        Held {
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
pub struct Held {
    state: Arc<State>,
}

impl Drop for Held {
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
