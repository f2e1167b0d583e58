//! The control plane as a test holds it.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use kube::Client;

use super::api_server::ApiServer;
use super::builder::Builder;
use super::component::Component;
use super::controllers::Controller;
use super::etcd::Etcd;
use super::kubeconfig;
use super::surroundings::Surroundings;
use crate::ports::PortBlock;

/// A running control plane; dropping it ends and removes everything of it.
///
/// Every method takes `&self`, so that tests can share one through an `Arc`.
/// It does not depend on the runtime it was started in, except for clients made from it.
#[derive(Debug)]
pub struct ControlPlane {
    // Dropped in this order: clients of a server before the server.
    pub(crate) scheduler: Option<Controller>,
    pub(crate) controller_manager: Option<Controller>,
    pub(crate) api_servers: Vec<ApiServer>,
    pub(crate) etcd: Etcd,
    pub(crate) around: Surroundings,
    pub(crate) _ports: PortBlock,
}

impl ControlPlane {
    /// One API server and etcd, nothing else, unless the builder is told so.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The API server number `index`, from 0.
    ///
    /// # Panics
    /// When there are not that many.
    #[track_caller]
    #[expect(
        clippy::indexing_slicing,
        reason = "a wrong number is a mistake in the test"
    )]
    pub fn api(&self, index: usize) -> &ApiServer {
        &self.api_servers[index]
    }

    /// How many API servers there are, running or not.
    pub fn api_servers(&self) -> usize {
        self.api_servers.len()
    }

    /// The one etcd.
    pub fn etcd(&self) -> &Etcd {
        &self.etcd
    }

    /// The controller manager, if it was asked for.
    pub fn controller_manager(&self) -> Option<&Component> {
        self.controller_manager
            .as_ref()
            .map(|controller| &controller.component)
    }

    /// The scheduler, if it was asked for.
    pub fn scheduler(&self) -> Option<&Component> {
        self.scheduler
            .as_ref()
            .map(|controller| &controller.component)
    }

    /// An administrator's kubeconfig for one API server.
    ///
    /// # Panics
    /// When there are not that many.
    #[track_caller]
    pub fn kubeconfig(&self, index: usize) -> &Path {
        self.api(index).kubeconfig()
    }

    /// An administrator's client of one API server, without hidden retries.
    ///
    /// # Errors
    /// When the kubeconfig cannot be read.
    ///
    /// # Panics
    /// When there are not that many.
    pub async fn client(&self, index: usize) -> anyhow::Result<Client> {
        self.api(index)
            .client()
            .await
            .with_context(|| format!("client of API server {index}"))
    }

    /// Writes a kubeconfig of an administrator for another port, a proxy's for instance.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn kubeconfig_at(&self, port: u16) -> anyhow::Result<PathBuf> {
        let Surroundings {
            dir, certificates, ..
        } = &self.around;
        let path = dir.join(format!("port-{port}.kubeconfig"));
        kubeconfig::write(&path, port, &certificates.ca_pem, &certificates.admin)?;
        Ok(path)
    }

    /// The temporary folder with data, logs, certificates and kubeconfigs.
    pub fn dir(&self) -> &Path {
        &self.around.dir
    }

    /// The processes that run at this moment.
    pub fn pids(&self) -> Vec<u32> {
        let api_servers = self.api_servers.iter().map(ApiServer::component);
        let controllers = [self.controller_manager(), self.scheduler()];
        api_servers
            .chain([self.etcd.component()])
            .chain(controllers.into_iter().flatten())
            .filter_map(Component::pid)
            .collect()
    }
}
