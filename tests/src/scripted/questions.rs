//! Owns what a test asks of the server: what was requested, what was committed, what was sent.
//! Refuses to change anything.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;

use super::cluster::ScriptedCluster;
use super::log::{Exchange, locked};
use super::oracle::Committed;
use super::resource::Resource;

impl ScriptedCluster {
    /// Every request so far, in order of arrival.
    pub fn requests(&self) -> Vec<Arc<Exchange>> {
        self.state.log.all()
    }

    /// Every request so far to exactly this path, whatever its query.
    pub fn requests_to(&self, path: &str) -> Vec<Arc<Exchange>> {
        let mut requests = self.requests();
        requests.retain(|exchange| exchange.asked.path == path);
        requests
    }

    /// Waits for a request, past or coming, that `wanted` accepts; its progress may be part of that.
    ///
    /// # Errors
    ///
    /// When none comes in time.
    pub fn wait_for_request(
        &self,
        what: &str,
        timeout: Duration,
        wanted: impl Fn(&Exchange) -> bool,
    ) -> Result<Arc<Exchange>> {
        self.wait_until(what, timeout, |cluster| {
            cluster
                .requests()
                .into_iter()
                .find(|exchange| wanted(exchange))
        })
    }

    /// Waits until `look` finds something; it is asked again whenever anything happens here.
    ///
    /// # Errors
    ///
    /// When it finds nothing in time.
    pub fn wait_until<T>(
        &self,
        what: &str,
        timeout: Duration,
        look: impl Fn(&Self) -> Option<T>,
    ) -> Result<T> {
        self.state.pulse.wait(what, timeout, || look(self))
    }

    /// Waits until everything committed to a storage so far has been sent to somebody.
    ///
    /// # Errors
    ///
    /// When something is still unsent after `timeout`.
    pub fn wait_sent(&self, storage: &str, timeout: Duration) -> Result<()> {
        let end = locked(&self.state.model).committed.len();
        let what = format!("everything in {storage} to be sent");
        self.wait_until(&what, timeout, |cluster| {
            let model = locked(&cluster.state.model);
            let unsent = model
                .committed
                .iter()
                .take(end)
                .any(|commit| commit.storage == storage && commit.first_sent().is_none());
            (!unsent).then_some(())
        })
    }

    /// The current revision.
    pub fn revision(&self) -> u128 {
        locked(&self.state.model).revision
    }

    /// Everything ever committed, in order.
    pub fn committed(&self) -> Vec<Committed> {
        locked(&self.state.model).committed.clone()
    }

    /// A served resource.
    ///
    /// # Errors
    ///
    /// When it is not served.
    pub fn resource(&self, key: &str) -> Result<Resource> {
        locked(&self.state.model).resource(key).cloned()
    }
}
