//! The harness's own control plane, as scenarios need it.

use std::future::Future;
use std::pin::Pin;

use anyhow::ensure;

use super::stage::ApiServers;
use crate::control_plane::{Builder, ControlPlane};

/// A control plane that scenarios can be played on: two API servers, controllers and a scheduler.
pub fn control_plane() -> Builder {
    // Version Pods are privileged.
    ControlPlane::builder()
        .api_servers(2)
        .controllers(true)
        .scheduler(true)
        .api_flag("--allow-privileged=true")
}

impl ApiServers for ControlPlane {
    fn restart(
        &self,
        server: usize,
    ) -> Pin<Box<dyn Future<Output = anyhow::Result<()>> + Send + '_>> {
        Box::pin(async move {
            ensure!(
                server < self.api_servers(),
                "there is no API server {server}"
            );
            let server = self.api(server);
            // A graceful end waits up to a minute for its clients; a bootstrap does not.
            server.kill().await?;
            server.start().await
        })
    }
}
