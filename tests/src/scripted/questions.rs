//! Owns what a test asks of the server: what was requested, what was committed, what was sent.
//! Refuses to change anything.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;

use super::cluster::ScriptedCluster;
use super::log::{Exchange, locked};
use super::oracle::{Altered, Committed, Standing};
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

    /// Waits until a path is watched and its first list, streamed or not, was sent.
    ///
    /// # Errors
    ///
    /// When that does not happen in time.
    pub fn wait_live(&self, path: &str, timeout: Duration) -> Result<()> {
        self.wait_for_request(&format!("a watch of {path}"), timeout, |one| {
            let progress = one.progress();
            let is_streamed = one.asked.parameter("sendInitialEvents").is_some();
            one.asked.path == path
                && one.asked.is_watch()
                && progress.status == Some(200)
                && progress.ended.is_none()
                && (progress.lines > 0 || !is_streamed)
        })?;
        Ok(())
    }

    /// Waits until `look` finds something; it is asked again whenever anything happens here, and twice a
    /// second.
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

    /// Forgets what was sent when, so that what is sent from now on counts as first.
    pub fn forget_sends(&self) {
        for commit in &mut locked(&self.state.model).committed {
            commit.first_watched = None;
            commit.first_listed = None;
        }
    }

    /// The current revision.
    pub fn revision(&self) -> u128 {
        locked(&self.state.model).revision
    }

    /// Everything ever committed, in order.
    pub fn committed(&self) -> Vec<Committed> {
        locked(&self.state.model).committed.clone()
    }

    /// Every line of a commit that was sent altered, in order.
    pub fn altered(&self) -> Vec<Altered> {
        locked(&self.state.model).altered.clone()
    }

    /// The objects of a resource as they are now, ordered by namespace and name.
    ///
    /// # Errors
    ///
    /// When it is not served.
    pub fn standing(&self, resource: &str) -> Result<Vec<Standing>> {
        let mut model = locked(&self.state.model);
        let objects = model.storage_mut(resource)?.objects.iter();
        let standing = objects.map(|(key, version)| Standing {
            namespace: key.namespace.clone(),
            name: key.name.clone(),
            uid: version.uid.to_string(),
            revision: version.revision,
        });
        Ok(standing.collect())
    }

    /// Every served resource, ordered by key.
    pub fn resources(&self) -> Vec<Resource> {
        locked(&self.state.model)
            .resources
            .values()
            .cloned()
            .collect()
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
