//! Owns the substitute for bookmarks where none come: a list of one object, read while the watch is
//! running, names a version; a watch that runs on long after that has delivered everything up to it.
//! Refuses to prove anything for a watch that ends too soon.

use super::HEAD_SECS;
use crate::server::{Get, Server};
use crate::watch::split::ListSplitter;
use crate::watch::target::{Role, Target};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// How long a watch runs before the list is read, in seconds: before the shortest of them ends.
const LIST_AFTER_SECS: u64 = 190;

/// How long it must run on, in seconds. Events arrive within milliseconds.
const OUTLIVE_SECS: u64 = 30;

/// The longest answer that is read, in bytes: it holds one object.
const MAX_ANSWER: usize = 8 * 1024 * 1024;

type Asking = Pin<Box<dyn Future<Output = Option<String>> + Send>>;

/// A probe for one watch.
pub(super) struct Probe(Option<Asking>);

impl Probe {
    /// Begins, for the resources that need it.
    pub(super) fn new(target: &Target, server: &Arc<Server>) -> Self {
        if target.role != Role::Events {
            return Self(None);
        }
        Self(Some(Box::pin(ask(Arc::clone(server), target.clone()))))
    }

    /// Waits until the watch has outlived the list, and gives the list's version, once.
    pub(super) async fn outlived(&mut self) -> String {
        if let Some(asking) = &mut self.0 {
            let version = asking.await;
            self.0 = None;
            if let Some(version) = version {
                return version;
            }
        }
        std::future::pending().await
    }
}

async fn ask(server: Arc<Server>, target: Target) -> Option<String> {
    tokio::time::sleep(Duration::from_secs(LIST_AFTER_SECS)).await;
    let version = present(&server, &target).await?;
    tokio::time::sleep(Duration::from_secs(OUTLIVE_SECS)).await;
    Some(version)
}

/// Reads the version of a list of one object.
pub(super) async fn present(server: &Server, target: &Target) -> Option<String> {
    let path = target.page(Some(1), None);
    let answer = server.get(Get::json(&path, HEAD_SECS)).await.ok()?;
    if answer.status != 200 {
        return None;
    }
    let bytes = answer.read(MAX_ANSWER, HEAD_SECS).await.ok()?;
    let mut splitter = ListSplitter::new();
    splitter.push(&bytes, &mut Vec::new());
    Some(splitter.finish()?.version)
}
