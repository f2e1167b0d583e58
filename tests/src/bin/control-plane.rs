//! A control plane to play with: starts one, says where it is, and ends it with stdin or Ctrl-C.
//!
//! Arguments: the number of API servers, `controllers`, `scheduler`, in any order. stdout gets one
//! JSON object on one line: `dir`, `kubeconfigs`, `pids`.

use std::io::Write as _;

use anyhow::{Context as _, bail};
use kubereel_tests::control_plane::ControlPlane;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut builder = ControlPlane::builder();
    for argument in std::env::args().skip(1) {
        builder = match argument.as_str() {
            "controllers" => builder.controllers(true),
            "scheduler" => builder.scheduler(true),
            number => match number.parse() {
                Ok(count) => builder.api_servers(count),
                Err(_) => bail!("usage: control-plane [API_SERVERS] [controllers] [scheduler]"),
            },
        };
    }
    let control_plane = builder.start().await?;
    let kubeconfigs: Vec<_> = (0..control_plane.api_servers())
        .map(|index| control_plane.kubeconfig(index))
        .collect();
    let about = serde_json::json!({
        "dir": control_plane.dir(), "kubeconfigs": kubeconfigs, "pids": control_plane.pids(),
    });
    writeln!(std::io::stdout(), "{about}").context("stdout is closed")?;
    // A thread of its own: the runtime's would hold up the end after Ctrl-C.
    let (ended, end_of_stdin) = tokio::sync::oneshot::channel();
    std::thread::Builder::new()
        .name("stdin".to_owned())
        .spawn(move || {
            let read = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
            // Nobody listens any more after Ctrl-C.
            drop(ended.send(read));
        })?;
    tokio::select! {
        read = end_of_stdin => drop(read??),
        interrupted = tokio::signal::ctrl_c() => interrupted?,
    }
    Ok(())
}
