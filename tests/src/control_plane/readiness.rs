//! Waiting until a component answers, and saying why when it does not.
//!
//! Nothing announces readiness, so this asks again in short intervals; it gives up at once when
//! the process has ended.

use std::time::Duration;

use anyhow::{anyhow, bail};
use kube::Client;
use tokio::time::Instant;

use super::component::Component;

/// Ready takes 3 s on an idle machine; a loaded CI machine may be many times slower.
const READY_LIMIT: Duration = Duration::from_mins(2);
const PROBE_INTERVAL: Duration = Duration::from_millis(25);
/// A connection made just before the listener is up may never be answered.
const PROBE_LIMIT: Duration = Duration::from_secs(5);

/// Asks until `probe` answers; `what` completes "… did not ….".
pub(crate) async fn until<F, T>(
    component: &Component,
    what: &str,
    mut probe: impl FnMut() -> F,
) -> anyhow::Result<T>
where
    F: Future<Output = anyhow::Result<T>>,
{
    let deadline = Instant::now() + READY_LIMIT;
    loop {
        component.check_alive()?;
        let answer = tokio::time::timeout(PROBE_LIMIT, probe()).await;
        let reason = match answer {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => error,
            Err(_elapsed) => anyhow!("no answer within {PROBE_LIMIT:?}"),
        };
        if Instant::now() >= deadline {
            let (name, tail) = (component.name(), component.log_tail());
            bail!("{name} did not {what} within {READY_LIMIT:?}: {reason:#}\n{tail}");
        }
        tokio::time::sleep(PROBE_INTERVAL).await;
    }
}

/// Waits for a 200 from `path`.
pub(crate) async fn until_healthy(
    component: &Component,
    client: &Client,
    path: &str,
) -> anyhow::Result<()> {
    until(component, "become ready", || async {
        let request = http::Request::get(path).body(Vec::new())?;
        client.request_text(request).await?;
        Ok(())
    })
    .await
}
