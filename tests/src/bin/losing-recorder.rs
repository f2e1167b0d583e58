//! A recorder that drops every n-th event without a note: a fault that a test must find.
//!
//! Arguments: the reel, the kubeconfig, the number. It prints one line once everything is recorded
//! live, and ends by SIGTERM.

use std::io::Write as _;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use kubereel_recorder::{KubeconfigSource, Recorder, RecorderOptions, StatusHandle};

/// How often the recorder is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

#[tokio::main]
async fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [reel, kubeconfig, every] = args.as_slice() else {
        bail!("usage: losing-recorder REEL KUBECONFIG NUMBER");
    };
    let mut options = RecorderOptions::new(reel);
    options.kubeconfig = KubeconfigSource::Files(vec![kubeconfig.into()]);
    options.lose_every = Some(every.parse().context("a number above 0")?);
    let recorder = Recorder::open(options)?;
    let telling = tokio::spawn(tell(recorder.status_handle()));
    let summary = recorder.run().await;
    telling.abort();
    summary?;
    Ok(())
}

/// Says once that everything is recorded live.
async fn tell(handle: StatusHandle) -> Result<()> {
    loop {
        let status = handle.status();
        if status.resources > 0 && status.resources_complete == status.resources {
            break;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    let mut out = std::io::stdout();
    writeln!(out, "ready")?;
    out.flush()?;
    Ok(())
}
