//! The control plane as a test holds it.
//!
//! What a control plane is to consist of, and its start.

use crate::control_plane::certificates::Certificates;
use crate::control_plane::component;
use crate::control_plane::component::{ApiServer, Component, Controller, Etcd};
use crate::control_plane::process::Guard;
use crate::oracle::Oracle;
use crate::ports::PortBlock;
use crate::proxy::Proxy;
use crate::skipped::say_skipped;
use anyhow::{Context as _, bail, ensure};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::{Api, Client};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};
use std::time::Duration;

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
    /// One API server and etcd, nothing else, unless the builder adds it.
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

    /// The authority that signs for proxies which send a user's name: an aggregated server trusts
    /// it.
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

/// Collects what a control plane is to consist of; see [`ControlPlane::builder`].
#[derive(Debug, Clone)]
#[must_use = "nothing runs before `start`"]
pub struct Builder {
    api_servers: usize,
    events_etcd: bool,
    controllers: bool,
    scheduler: bool,
    api_flags: Vec<String>,
    controller_flags: Vec<String>,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            api_servers: 1,
            events_etcd: false,
            controllers: false,
            scheduler: false,
            api_flags: Vec::new(),
            controller_flags: Vec::new(),
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

    /// Adds a flag to the controller manager; it wins over the harness's own.
    pub fn controller_flag(mut self, flag: impl Into<String>) -> Self {
        self.controller_flags.push(flag.into());
        self
    }

    /// Starts everything and waits until it is ready: about 3 s for etcd and one API server.
    ///
    /// # Errors
    /// When there is no binary (see [`skipped`]), or a component does not become ready;
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
        let etcd = Etcd::new("etcd", &around, &mut ports)?;
        let events_etcd = self
            .events_etcd
            .then(|| Etcd::new("etcd-events", &around, &mut ports))
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
            .then(|| Controller::scheduler(&around, &mut ports, api_port))
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
            component::until(
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

#[derive(Debug)]
pub(crate) struct Surroundings {
    pub(crate) binary: PathBuf,
    pub(crate) dir: PathBuf,
    pub(crate) certificates: Certificates,
    pub(crate) guard: Arc<Guard>,
}

impl Surroundings {
    /// Describes a component; `role` is the word by which the binary knows it.
    /// `extra` comes last, because of two equal flags the last one counts.
    pub(crate) fn component(
        &self,
        name: &str,
        role: &str,
        mut flags: Vec<OsString>,
        extra: &[String],
    ) -> Component {
        flags.extend(extra.iter().map(OsString::from));
        let log = self.dir.join(format!("{name}.log"));
        Component::new(name, &self.binary, role, flags, log, &self.guard)
    }
}

/// `--flag=path`, whatever bytes the path is made of.
pub(crate) fn path_flag(flag: &str, path: &Path) -> OsString {
    let mut argument = OsString::from(flag);
    argument.push("=");
    argument.push(path);
    argument
}

/// Names the binary itself; set it to what `tests/control-plane/build.sh` prints.
const BINARY: &str = "KUBEREEL_CONTROL_PLANE";
/// Where `build.sh` keeps its binaries, if not in the user's cache folder.
const CACHE: &str = "KUBEREEL_CACHE";
/// With the value 1 a missing binary fails the tests that would else be skipped.
const REQUIRE: &str = "KUBEREEL_REQUIRE_CONTROL_PLANE";

const MISSING: &str =
    "no control plane binary; build it with tests/control-plane/build.sh (6 minutes)";

static SAID: Once = Once::new();

/// Finds the binary that `tests/control-plane/build.sh` made.
///
/// # Errors
/// When there is none, or the one named by `KUBEREEL_CONTROL_PLANE` does not exist.
pub fn find_binary() -> anyhow::Result<PathBuf> {
    if let Some(named) = std::env::var_os(BINARY) {
        let named = PathBuf::from(named);
        if !named.is_file() {
            bail!(
                "no such control plane binary, though {BINARY} names it: {}",
                named.display()
            );
        }
        return Ok(named);
    }
    let cache = std::env::var_os(CACHE).map(PathBuf::from).or_else(|| {
        std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache/kubereel"))
    });
    // The link is followed once, so that a rebuild cannot change a running control plane's binary.
    match cache.map(|cache| cache.join("control-plane/current").canonicalize()) {
        Some(Ok(binary)) => Ok(binary),
        _ => bail!(MISSING),
    }
}

/// Returns whether a test must return because there is no binary, and reports it, once and loudly.
///
/// # Panics
/// When there is no binary and `KUBEREEL_REQUIRE_CONTROL_PLANE` is 1, as in CI.
#[must_use]
pub fn skipped() -> bool {
    let Err(error) = find_binary() else {
        return false;
    };
    let required = std::env::var_os(REQUIRE).is_some_and(|value| value == "1");
    assert!(!required, "{error} ({REQUIRE} is set)");
    SAID.call_once(|| say_skipped(&error.to_string()));
    true
}
