//! A proxy as CI jobs have one before their cluster: it takes CONNECT, asks for a password, and leads every
//! tunnel to one backend, whatever the name. Refuses everything else.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

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
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("a port")?;
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
            let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
                return;
            };
            let mut links = JoinSet::new();
            loop {
                tokio::select! {
                    // Whoever drops the proxy ends it.
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

/// Carries one connection; an error ends it, which is all that its client is told.
async fn tunnel(
    mut client: TcpStream,
    backend: SocketAddr,
    wanted: String,
    opened: Arc<Mutex<Vec<String>>>,
) -> std::io::Result<()> {
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
