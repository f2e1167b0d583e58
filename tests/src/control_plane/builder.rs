//! What a control plane is to consist of, and its start.

use std::sync::Arc;

use anyhow::{Context as _, ensure};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::Api;

use super::api_server::ApiServer;
use super::binary::find_binary;
use super::certificates::Certificates;
use super::controllers::Controller;
use super::etcd::Etcd;
use super::guard::Guard;
use super::readiness;
use super::running::ControlPlane;
use super::surroundings::Surroundings;
use crate::oracle::Oracle;
use crate::ports::PortBlock;
use crate::proxy::Proxy;

/// Collects what a control plane is to consist of; see [`ControlPlane::builder`].
#[derive(Debug, Clone)]
#[must_use = "nothing runs before `start`"]
pub struct Builder {
    api_servers: usize,
    events_etcd: bool,
    controllers: bool,
    scheduler: bool,
    api_flags: Vec<String>,
    etcd_flags: Vec<String>,
    controller_flags: Vec<String>,
    scheduler_flags: Vec<String>,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            api_servers: 1,
            events_etcd: false,
            controllers: false,
            scheduler: false,
            api_flags: Vec::new(),
            etcd_flags: Vec::new(),
            controller_flags: Vec::new(),
            scheduler_flags: Vec::new(),
        }
    }
}

impl Builder {
    /// How many API servers share the etcd; 1 by default, each takes about 300 MB.
    pub fn api_servers(mut self, count: usize) -> Self {
        self.api_servers = count;
        self
    }

    /// Whether Events have an etcd of their own, with revisions of its own; not by default.
    pub fn events_etcd(mut self, run: bool) -> Self {
        self.events_etcd = run;
        self
    }

    /// Whether the controller manager runs; not by default.
    /// With it, [`Builder::start`] waits for the default `ServiceAccount`, so that pods are admitted.
    pub fn controllers(mut self, run: bool) -> Self {
        self.controllers = run;
        self
    }

    /// Whether the scheduler runs; not by default.
    pub fn scheduler(mut self, run: bool) -> Self {
        self.scheduler = run;
        self
    }

    /// Adds a flag, `--name=value`, to every API server; it wins over the harness's own.
    pub fn api_flag(mut self, flag: impl Into<String>) -> Self {
        self.api_flags.push(flag.into());
        self
    }

    /// Adds a flag to etcd; it wins over the harness's own.
    pub fn etcd_flag(mut self, flag: impl Into<String>) -> Self {
        self.etcd_flags.push(flag.into());
        self
    }

    /// Adds a flag to the controller manager; it wins over the harness's own.
    pub fn controller_flag(mut self, flag: impl Into<String>) -> Self {
        self.controller_flags.push(flag.into());
        self
    }

    /// Adds a flag to the scheduler; it wins over the harness's own.
    pub fn scheduler_flag(mut self, flag: impl Into<String>) -> Self {
        self.scheduler_flags.push(flag.into());
        self
    }

    /// Starts everything and waits until it is ready: about 3 s for etcd and one API server.
    ///
    /// # Errors
    /// When there is no binary (see [`super::skipped`]), or a component does not become ready;
    /// the message ends with the component's log.
    pub async fn start(self) -> anyhow::Result<ControlPlane> {
        let control_plane = self.lay_out()?;
        control_plane.etcd.start().await?;
        control_plane.start_servers().await?;
        Ok(control_plane)
    }

    /// As [`Builder::start`], with an oracle that watches etcd from before the first server is there:
    /// no compaction can have forgotten what it has not seen.
    ///
    /// # Errors
    /// As [`Builder::start`], and when etcd does not take the watch.
    pub async fn start_with_oracle(self) -> anyhow::Result<(ControlPlane, Oracle)> {
        let control_plane = self.lay_out()?;
        control_plane.etcd.start().await?;
        let oracle = Oracle::open(control_plane.etcd.endpoint(), 1).await?;
        control_plane.start_servers().await?;
        Ok((control_plane, oracle))
    }

    /// Makes the folder, the certificates and the description of every process; starts none.
    fn lay_out(mut self) -> anyhow::Result<ControlPlane> {
        ensure!(
            self.api_servers > 0,
            "a control plane has at least one API server"
        );
        let binary = find_binary()?;
        let dir = tempfile::Builder::new()
            .prefix("kubereel-control-plane-")
            .tempdir()
            .context("cannot create a temporary folder")?;
        let certificates = Certificates::write(&dir.path().join("pki"))?;
        let guard = Arc::new(Guard::over(dir.path())?);
        // From here on the guard removes the folder: a destructor does not run on SIGKILL.
        let around = Surroundings {
            binary,
            dir: dir.keep(),
            certificates,
            guard,
        };

        let mut ports = PortBlock::claim()?;
        let etcd = Etcd::new("etcd", &around, &mut ports, &self.etcd_flags)?;
        let events_etcd = self
            .events_etcd
            .then(|| Etcd::new("etcd-events", &around, &mut ports, &self.etcd_flags))
            .transpose()?;
        if let Some(etcd) = &events_etcd {
            let flag = format!("--etcd-servers-overrides=/events#{}", etcd.endpoint());
            self.api_flags.insert(0, flag);
        }
        let api_servers = (0..self.api_servers)
            .map(|index| {
                ApiServer::new(index, &around, &mut ports, etcd.endpoint(), &self.api_flags)
            })
            .collect::<anyhow::Result<Vec<_>>>()?;
        // The controllers live through the loss of any one API server.
        let balancer = balance(&api_servers)?;
        let api_port = balancer.port();
        let controller_manager = self
            .controllers
            .then(|| {
                let flags = &self.controller_flags;
                Controller::controller_manager(&around, &mut ports, api_port, flags)
            })
            .transpose()?;
        let scheduler = self
            .scheduler
            .then(|| Controller::scheduler(&around, &mut ports, api_port, &self.scheduler_flags))
            .transpose()?;
        Ok(ControlPlane {
            scheduler,
            controller_manager,
            api_servers,
            etcd,
            events_etcd,
            _balancer: balancer,
            around,
            _ports: ports,
        })
    }
}

impl ControlPlane {
    /// Starts all but etcd, and waits until everything is ready.
    async fn start_servers(&self) -> anyhow::Result<()> {
        if let Some(etcd) = &self.events_etcd {
            etcd.start().await?;
        }
        start_all(&self.api_servers).await?;
        let controllers = [&self.controller_manager, &self.scheduler];
        for controller in controllers.into_iter().flatten() {
            controller.start().await?;
        }
        if let Some(controller_manager) = &self.controller_manager {
            let accounts: Api<ServiceAccount> = Api::namespaced(self.client(0).await?, "default");
            readiness::until(
                &controller_manager.component,
                "make the default ServiceAccount",
                || async { Ok(accounts.get("default").await?) },
            )
            .await?;
        }
        Ok(())
    }
}

/// A proxy in front of all API servers, whose turns it keeps.
pub(crate) fn balance(servers: &[ApiServer]) -> anyhow::Result<Proxy> {
    let ports: Vec<u16> = servers.iter().map(ApiServer::port).collect();
    Proxy::start(&ports)
}

/// Starts all at once: each spends most of its start waiting for its own post-start hooks.
async fn start_all(servers: &[ApiServer]) -> anyhow::Result<()> {
    for server in servers {
        server.spawn()?;
    }
    for server in servers {
        server.ready().await?;
    }
    Ok(())
}
