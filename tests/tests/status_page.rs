//! The status page among callers that mean no good: a probe is answered all the same.
//!
//! A binary of its own: it raises the limit of descriptors of its process, which every recorder that
//! another test starts would inherit.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use kubereel_tests::recording::Observing;
use kubereel_tests::scripted::{Kubeconfig, ScriptedCluster};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// How long anything that is sure to come may take on a busy machine.
const SURE: Duration = Duration::from_mins(1);

/// The callers beside the probe.
const CALLERS: usize = 1_000;

/// Asks as a kubelet does; gives the status line and the body.
fn ask(address: &str, path: &str) -> Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(SURE))?;
    let head = "Connection: close\r\nUser-Agent: kube-probe/1.36";
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\n{head}\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// Opens a connection that will not end by itself.
fn open(address: &str, number: usize) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    // What the page does not read is not waited for.
    stream.set_write_timeout(Some(Duration::from_millis(50)))?;
    let sent = match number % 5 {
        0 | 1 => String::new(),
        2 => "GET /met".to_owned(),
        3 => format!("GET /metrics HTTP/1.1\r\nx: {}", "x".repeat(100_000)),
        _ => "GET /metrics HTTP/1.1\r\n\r\n".repeat(100),
    };
    // The page may have refused what it was sent, which is its right.
    drop(stream.write_all(sent.as_bytes()));
    Ok(stream)
}

#[test]
fn a_thousand_silent_slow_and_noisy_callers_do_not_delay_a_probe() -> Result<()> {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(
        Resource::Nofile,
        Rlimit {
            current: limit.maximum,
            ..limit
        },
    )?;
    let cluster = ScriptedCluster::start()?;
    let folder = tempfile::tempdir()?;
    let kubeconfig = folder.path().join("kubeconfig");
    cluster.write_kubeconfig(&kubeconfig, &Kubeconfig::Good)?;
    let kubeconfig = kubeconfig.to_str().context("a path in letters")?;
    let variables = [("KUBECONFIGMINIMAL", kubeconfig)];
    let listen = ["--listen", "0"];
    let observing = Observing::start(&folder.path().join("out"), &variables, &listen)?;
    let address = observing.page(SURE)?;
    let mut callers = Vec::new();
    for number in 0..CALLERS {
        callers.push(open(&address, number)?);
    }
    let answer = ask(&address, "/healthz")?;
    ensure!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    // Those that were there before send the rest of their heads, a letter at a time.
    for caller in &mut callers {
        drop(caller.write_all(b"r"));
    }
    let answer = ask(&address, "/metrics")?;
    ensure!(answer.contains("kubereel_writable 1"), "{answer}");
    drop(callers);
    let observed = observing.end(SURE)?;
    ensure!(observed.status.success(), "{}", observed.log);
    Ok(())
}
