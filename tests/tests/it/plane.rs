//! The control planes that tests shake: one at a time, for two of them are more than a small
//! machine can carry. One that a test left whole serves the next test that wants the same; one that
//! a test failed on is not handed on.

use anyhow::{Context as _, Result};
use kubereel_tests::control_plane::ControlPlane;
use std::sync::Arc;
use tokio::sync::{Mutex, MutexGuard};

static PLANE: Mutex<Option<Used>> = Mutex::const_new(None);

/// Waits until no other test shakes a control plane, for a test that brings its own.
pub(crate) async fn alone() -> MutexGuard<'static, Option<Used>> {
    let mut slot = PLANE.lock().await;
    *slot = None;
    slot
}

/// What a control plane is to be like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) api_servers: usize,
    pub(crate) events_etcd: bool,
    pub(crate) flags: &'static [&'static str],
}

/// One API server. A Service with an external name leads to where the name does: with the routing
/// that the harness asks for, only addresses that are not loopback would be led to.
pub(crate) const PLAIN: Kind = Kind {
    api_servers: 1,
    events_etcd: false,
    flags: &["--enable-aggregator-routing=false"],
};

pub(crate) struct Used {
    kind: Kind,
    control_plane: Arc<ControlPlane>,
}

/// A control plane that is this test's alone.
pub(crate) struct Turn {
    slot: MutexGuard<'static, Option<Used>>,
    used: Option<Used>,
}

impl Turn {
    /// Waits for its turn, then takes what is there or starts anew.
    pub(crate) async fn on(kind: &Kind) -> Result<Self> {
        let mut slot = PLANE.lock().await;
        let used = match slot.take() {
            Some(used) if used.kind == *kind => used,
            other => {
                drop(other);
                start(kind).await?
            }
        };
        Ok(Self {
            slot,
            used: Some(used),
        })
    }

    /// As [`Self::on`], but what the next test may want stays.
    pub(crate) async fn apart(kind: &Kind) -> Result<Self> {
        let slot = PLANE.lock().await;
        Ok(Self {
            used: Some(start(kind).await?),
            slot,
        })
    }

    /// Takes the control plane and the turn apart: who hardly does more than wait lets others have theirs.
    pub(crate) fn split(
        mut self,
    ) -> Result<(Arc<ControlPlane>, MutexGuard<'static, Option<Used>>)> {
        let used = self.used.take().context("it was handed on")?;
        Ok((used.control_plane, self.slot))
    }

    pub(crate) fn control_plane(&self) -> Result<&Arc<ControlPlane>> {
        let used = self.used.as_ref();
        Ok(&used.context("it was handed on")?.control_plane)
    }

    /// Leaves it to the next test.
    pub(crate) fn hand_on(mut self) {
        *self.slot = self.used.take();
    }
}

async fn start(kind: &Kind) -> Result<Used> {
    let mut builder = ControlPlane::builder()
        .api_servers(kind.api_servers)
        .events_etcd(kind.events_etcd)
        .api_flag("--etcd-compaction-interval=0");
    for flag in kind.flags {
        builder = builder.api_flag(*flag);
    }
    Ok(Used {
        kind: *kind,
        control_plane: Arc::new(builder.start().await?),
    })
}
