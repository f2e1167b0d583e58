//! The control plane as a test holds it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use kube::Client;

use super::builder::Surroundings;
use super::builder::{Builder, balance};
use super::component;
use super::component::ApiServer;
use super::component::Component;
use super::component::Controller;
use super::component::Etcd;
use crate::ports::PortBlock;
use crate::proxy::Proxy;

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
    pub(crate) events_etcd: Option<Etcd>,
    /// Between the controllers and the API servers; no test's faults reach it.
    pub(crate) _balancer: Proxy,
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

    /// The one etcd, or that of everything but Events.
    pub fn etcd(&self) -> &Etcd {
        &self.etcd
    }

    /// The etcd of Events, if it was asked for.
    pub fn events_etcd(&self) -> Option<&Etcd> {
        self.events_etcd.as_ref()
    }

    /// The authority that signs for whoever asks in a user's name: an aggregated server trusts it.
    pub fn front_proxy_ca(&self) -> &Path {
        &self.around.certificates.front_proxy_ca
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

    /// Starts a fault proxy in front of all API servers, in turn.
    ///
    /// # Errors
    /// When the proxy cannot be started.
    pub fn proxy(&self) -> anyhow::Result<Proxy> {
        balance(&self.api_servers)
    }

    /// Writes an administrator's kubeconfig by way of a proxy.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn kubeconfig_through(&self, proxy: &Proxy) -> anyhow::Result<PathBuf> {
        let Surroundings {
            dir, certificates, ..
        } = &self.around;
        let path = dir.join(format!("proxy-{}.kubeconfig", proxy.port()));
        let admin = &certificates.admin;
        component::write(&path, proxy.port(), &certificates.ca_pem, admin)?;
        Ok(path)
    }

    /// Writes a kubeconfig by way of a proxy, of an administrator whose certificate is over after so long.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn kubeconfig_expiring(&self, proxy: &Proxy, after: Duration) -> anyhow::Result<PathBuf> {
        let Surroundings {
            dir, certificates, ..
        } = &self.around;
        let path = dir.join(format!("expiring-{}.kubeconfig", proxy.port()));
        let admin = certificates.expiring_admin(after)?;
        component::write(&path, proxy.port(), &certificates.ca_pem, &admin)?;
        Ok(path)
    }

    /// Has the servers present a certificate of a new authority, as soon as they look at their files, and
    /// gives that authority's certificate. Connections that run go on.
    ///
    /// # Errors
    /// When it cannot be made or written.
    pub fn renew_authority(&self) -> anyhow::Result<String> {
        self.around.certificates.renew_serving()
    }

    /// Writes the kubeconfig of an administrator who trusts an authority.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_kubeconfig(&self, path: &Path, port: u16, ca_pem: &str) -> anyhow::Result<()> {
        component::write(path, port, ca_pem, &self.around.certificates.admin)
    }

    /// The client of a kubeconfig, without hidden retries.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn client_by(&self, kubeconfig: &Path) -> anyhow::Result<Client> {
        component::client(kubeconfig).await
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
            .chain(self.events_etcd().map(Etcd::component))
            .chain(controllers.into_iter().flatten())
            .filter_map(Component::pid)
            .collect()
    }
}
