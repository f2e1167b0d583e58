//! Owns the waking of other servers: a server begins to keep the history of a custom resource only
//! when it is first asked for it. So each is asked, before the one that has the history goes away.
//! Refuses to do so for what every server keeps by itself, or when nothing has happened.

use crate::server::{Get, Server};
use kubereel_format::EndCause;
use std::sync::Arc;
use tokio::task::JoinSet;

/// How many new connections are made. Behind one address with two servers, none of them and of the
/// watch itself reaches the other one in 3 of 100 cases.
const CONNECTIONS: usize = 4;

/// How long an answer may take, in seconds.
const PATIENCE_SECS: u64 = 10;

/// The waking for one resource.
#[derive(Debug)]
pub(super) struct Touch {
    is_custom: bool,
    /// Something has happened since the servers were last asked.
    is_due: bool,
    /// Ends with its stream.
    asking: JoinSet<()>,
}

impl Touch {
    /// Begins: the first connection is a reason by itself.
    pub(super) fn new(is_custom: bool) -> Self {
        Self {
            is_custom,
            is_due: true,
            asking: JoinSet::new(),
        }
    }

    /// Tells whether the resource is a custom one.
    pub(super) const fn is_custom(&self) -> bool {
        self.is_custom
    }

    /// A connection has ended; if not in order, a server may have begun anew.
    pub(super) fn ended(&mut self, cause: EndCause) {
        self.is_due |= cause != EndCause::Clean;
    }

    /// A request was answered: asks the same of others.
    pub(super) fn connected(&mut self, server: &Arc<Server>, target: &str) {
        while self.asking.try_join_next().is_some() {}
        if !self.is_custom || !std::mem::take(&mut self.is_due) {
            return;
        }
        // Whatever is answered, its body is not read: being asked is enough.
        let path = target.split('?').next().unwrap_or(target);
        let path = format!("{path}?watch=true&timeoutSeconds=1&resourceVersion=0");
        for _ in 0..CONNECTIONS {
            let server = Arc::clone(server);
            let path = path.clone();
            self.asking.spawn(async move {
                drop(server.get(Get::json(&path, PATIENCE_SECS)).await);
            });
        }
    }
}
