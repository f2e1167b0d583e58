//! Each fault is seen by a plain TCP client of an echo server.

use std::io::ErrorKind;
use std::net::Ipv4Addr;
use std::num::NonZeroU64;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::{ConnectionEnd, CutEvery, PortBlock, Proxy};

/// Answers every byte with itself and a FIN with a FIN, until it is dropped.
struct Echo {
    port: u16,
    server: JoinHandle<()>,
}

impl Echo {
    async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                connections.spawn(async move {
                    let (mut from, mut to) = stream.split();
                    drop(tokio::io::copy(&mut from, &mut to).await);
                });
            }
        });
        Self { port, server }
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn connect(proxy: &Proxy) -> TcpStream {
    TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port()))
        .await
        .unwrap()
}

async fn echo(stream: &mut TcpStream, text: &str) {
    stream.write_all(text.as_bytes()).await.unwrap();
    assert_eq!(read_exactly(stream, text.len()).await, text.as_bytes());
}

async fn read_exactly(stream: &mut TcpStream, length: usize) -> Vec<u8> {
    let mut answer = vec![0; length];
    stream.read_exact(&mut answer).await.unwrap();
    answer
}

/// What a read says about the end of a connection: clean, or the kind of error.
async fn end_of(stream: &mut TcpStream) -> Result<usize, ErrorKind> {
    stream
        .read(&mut [0; 16])
        .await
        .map_err(|error| error.kind())
}

/// How a new connection ends; a quick reset is seen by connecting already.
async fn end_of_new(proxy: &Proxy) -> Result<usize, ErrorKind> {
    match TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port())).await {
        Ok(mut stream) => end_of(&mut stream).await,
        Err(error) => Err(error.kind()),
    }
}

#[tokio::test]
async fn bytes_and_ends_pass_through_in_turn() {
    let (one, other) = (Echo::start().await, Echo::start().await);
    let proxy = Proxy::start(&[one.port, other.port]).unwrap();
    for _ in 0..4 {
        let mut stream = connect(&proxy).await;
        echo(&mut stream, "hello").await;
        stream.shutdown().await.unwrap();
        assert_eq!(end_of(&mut stream).await, Ok(0));
    }
    let counts = proxy.until(|counts| counts.closed == 4).await.unwrap();
    assert_eq!(counts.per_backend, [2, 2]);
    assert_eq!((counts.to_client_bytes, counts.to_backend_bytes), (20, 20));
    assert_eq!(
        (counts.cut, counts.without_backend, counts.open()),
        (0, 0, 0)
    );
}

#[tokio::test]
async fn a_dead_backend_is_passed_over_and_without_any_clients_are_reset() {
    let (dead, alive) = (Echo::start().await, Echo::start().await);
    let proxy = Proxy::start(&[dead.port, alive.port]).unwrap();
    let dead_server = &dead.server;
    dead_server.abort();
    while !dead_server.is_finished() {
        tokio::task::yield_now().await;
    }
    for _ in 0..3 {
        echo(&mut connect(&proxy).await, "still here").await;
    }
    assert_eq!(proxy.counts().per_backend, [0, 3]);

    let nowhere = Proxy::start(&[dead.port]).unwrap();
    assert_eq!(end_of_new(&nowhere).await, Err(ErrorKind::ConnectionReset));
    assert_eq!(
        nowhere
            .until(|counts| counts.closed == 1)
            .await
            .unwrap()
            .without_backend,
        1
    );
}

#[tokio::test]
async fn a_cut_is_a_reset_or_a_clean_end() {
    let server = Echo::start().await;
    let proxy = Proxy::start(&[server.port]).unwrap();
    let ends = [
        (ConnectionEnd::Reset, Err(ErrorKind::ConnectionReset)),
        (ConnectionEnd::Fin, Ok(0)),
    ];
    for (how, expected) in ends {
        let mut stream = connect(&proxy).await;
        echo(&mut stream, "before").await;
        let (cut, end) = tokio::join!(proxy.cut(how), async {
            let end = end_of(&mut stream).await;
            drop(stream);
            end
        });
        cut.unwrap();
        assert_eq!(end, expected, "{how:?}");
    }
    assert_eq!(proxy.counts().cut, 2);
    echo(&mut connect(&proxy).await, "after").await;
}

#[tokio::test]
async fn a_stalled_connection_is_silent_and_goes_on() {
    let server = Echo::start().await;
    let proxy = Proxy::start(&[server.port]).unwrap();
    let mut stream = connect(&proxy).await;
    echo(&mut stream, "before").await;

    proxy.change(|faults| faults.stalled = true);
    stream.write_all(b"during").await.unwrap();
    let mut newcomer = connect(&proxy).await;
    newcomer.write_all(b"new").await.unwrap();
    proxy.until(|counts| counts.accepted == 2).await.unwrap();
    // Silence is the one thing that can only be seen by waiting for it to be broken.
    let silence = tokio::time::timeout(Duration::from_millis(200), end_of(&mut stream)).await;
    assert!(silence.is_err(), "a stalled connection said {silence:?}");
    assert_eq!(proxy.counts().to_backend_bytes, 6);

    proxy.change(|faults| faults.stalled = false);
    assert_eq!(read_exactly(&mut stream, 6).await, b"during");
    assert_eq!(read_exactly(&mut newcomer, 3).await, b"new");
}

#[tokio::test]
async fn a_stalled_connection_hides_that_its_server_is_gone() {
    let server = Echo::start().await;
    let proxy = Proxy::start(&[server.port]).unwrap();
    let mut stream = connect(&proxy).await;
    echo(&mut stream, "before").await;
    proxy.change(|faults| faults.stalled = true);
    drop(server);
    let silence = tokio::time::timeout(Duration::from_millis(200), end_of(&mut stream)).await;
    assert!(silence.is_err(), "a stalled connection said {silence:?}");
    proxy.change(|faults| faults.stalled = false);
    assert!(matches!(
        end_of(&mut stream).await,
        Ok(0) | Err(ErrorKind::ConnectionReset)
    ));
}

#[tokio::test]
async fn refused_is_refused_until_accepted_again() {
    let server = Echo::start().await;
    let proxy = Proxy::start(&[server.port]).unwrap();
    let mut old = connect(&proxy).await;
    echo(&mut old, "before").await;
    proxy.refuse().await.unwrap();
    let refused = TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port())).await;
    assert_eq!(
        refused.map_err(|error| error.kind()).err(),
        Some(ErrorKind::ConnectionRefused)
    );
    echo(&mut old, "old connections live on").await;
    proxy.accept().await.unwrap();
    echo(&mut connect(&proxy).await, "after").await;
}

#[tokio::test]
async fn connections_are_cut_by_the_clock() {
    let server = Echo::start().await;
    let proxy = Proxy::start(&[server.port]).unwrap();
    let every = CutEvery {
        period: Duration::from_millis(20),
        how: ConnectionEnd::Reset,
    };
    proxy.change(|faults| faults.cut_every = Some(every));
    for _ in 0..3 {
        assert_eq!(end_of_new(&proxy).await, Err(ErrorKind::ConnectionReset));
    }
    proxy.change(|faults| faults.cut_every = None);
    let cut = proxy.until(|counts| counts.closed == 3).await.unwrap().cut;
    assert_eq!(cut, 3);
    echo(&mut connect(&proxy).await, "after").await;
}

#[tokio::test]
async fn a_delay_comes_twice_on_a_round_trip_and_costs_no_throughput() {
    let server = Echo::start().await;
    let proxy = Proxy::start(&[server.port]).unwrap();
    proxy.change(|faults| faults.delay = Duration::from_millis(100));
    let mut stream = connect(&proxy).await;
    let begun = Instant::now();
    let sent = vec![7; 256 * 1024];
    let (mut from, mut to) = stream.split();
    let mut back = vec![0; sent.len()];
    let (written, read) = tokio::join!(to.write_all(&sent), from.read_exact(&mut back));
    written.unwrap();
    read.unwrap();
    assert_eq!(back, sent);
    let took = begun.elapsed();
    // 16 pieces of 16 KiB, one after the other, would take 3.2 s.
    assert!(
        (Duration::from_millis(200)..Duration::from_secs(2)).contains(&took),
        "{took:?}"
    );
}

#[tokio::test]
async fn a_limit_is_kept() {
    let server = Echo::start().await;
    let proxy = Proxy::start(&[server.port]).unwrap();
    proxy.change(|faults| faults.bytes_per_sec = NonZeroU64::new(10_000));
    let mut stream = connect(&proxy).await;
    let begun = Instant::now();
    echo(&mut stream, &"x".repeat(5000)).await;
    let took = begun.elapsed();
    assert!(
        took >= Duration::from_millis(400),
        "5000 bytes at 10000 a second took {took:?}"
    );
}

#[tokio::test]
async fn a_dropped_proxy_leaves_neither_port_nor_connections() {
    let server = Echo::start().await;
    let mut proxy = Proxy::start(&[server.port]).unwrap();
    let mut stream = connect(&proxy).await;
    echo(&mut stream, "before").await;
    let port = proxy.port();
    // Otherwise the next test that asks for ports may listen on this one.
    let _own_ports = std::mem::replace(&mut proxy.ports, PortBlock::claim().unwrap());
    drop(proxy);
    assert!(matches!(
        end_of(&mut stream).await,
        Ok(0) | Err(ErrorKind::ConnectionReset)
    ));
    assert!(
        TcpStream::connect((Ipv4Addr::LOCALHOST, port))
            .await
            .is_err()
    );
}
