//! The proxy as a test holds it.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use tokio::sync::{mpsc, oneshot, watch};

use super::accept::{Listening, serve};
use super::counts::Counts;
use super::faults::{Cut, Faults};
use super::link::Shared;
use crate::ports::PortBlock;

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
    _ports: PortBlock,
}

impl Proxy {
    /// Starts a proxy without faults in front of loopback ports.
    ///
    /// # Errors
    /// When no port is free or the thread cannot be started.
    pub fn start(backends: &[u16]) -> anyhow::Result<Self> {
        let mut ports = PortBlock::claim()?;
        let port = ports.take()?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .with_context(|| format!("cannot listen on port {port}"))?;
        listener.set_nonblocking(true)?;
        let counts = Counts {
            per_backend: vec![0; backends.len()],
            ..Counts::default()
        };
        let shared = Arc::new(Shared {
            backends: backends.to_vec(),
            faults: watch::Sender::new(Faults::default()),
            cuts: watch::Sender::new(Cut::Reset),
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
                    if let Ok(listener) = tokio::net::TcpListener::from_std(listener) {
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
            _ports: ports,
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
    pub async fn cut(&self, how: Cut) -> anyhow::Result<()> {
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
