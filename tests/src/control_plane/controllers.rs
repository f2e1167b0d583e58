//! The controller manager and the scheduler: flags and readiness.
//!
//! No leader election: there is one of each, and its leases would only be noise in a recording.

use std::ffi::OsString;

use kube::{Client, Config};

use super::certificates::Identity;
use super::component::Component;
use super::surroundings::{Surroundings, path_flag};
use super::{kubeconfig, readiness};
use crate::ports::PortBlock;

/// One of the two, with the port of its own health endpoint.
#[derive(Debug)]
pub(crate) struct Controller {
    pub(crate) component: Component,
    port: u16,
    ca_der: Vec<u8>,
}

impl Controller {
    pub(crate) fn controller_manager(
        around: &Surroundings,
        ports: &mut PortBlock,
        api_port: u16,
        extra: &[String],
    ) -> anyhow::Result<Self> {
        let certificates = &around.certificates;
        let own_flags = vec![
            path_flag(
                "--service-account-private-key-file",
                &certificates.service_account_key,
            ),
            path_flag("--root-ca-file", &certificates.ca),
            "--use-service-account-credentials=true".into(),
            "--controllers=*,bootstrapsigner,tokencleaner".into(),
        ];
        let identity = &certificates.controller_manager;
        let name = "kube-controller-manager";
        Self::new(name, around, ports, api_port, identity, own_flags, extra)
    }

    pub(crate) fn scheduler(
        around: &Surroundings,
        ports: &mut PortBlock,
        api_port: u16,
        extra: &[String],
    ) -> anyhow::Result<Self> {
        let identity = &around.certificates.scheduler;
        Self::new(
            "kube-scheduler",
            around,
            ports,
            api_port,
            identity,
            Vec::new(),
            extra,
        )
    }

    fn new(
        name: &str,
        around: &Surroundings,
        ports: &mut PortBlock,
        api_port: u16,
        identity: &Identity,
        own_flags: Vec<OsString>,
        extra: &[String],
    ) -> anyhow::Result<Self> {
        let certificates = &around.certificates;
        let kubeconfig = around.dir.join(format!("{name}.kubeconfig"));
        kubeconfig::write(&kubeconfig, api_port, &certificates.ca_pem, identity)?;
        let port = ports.take()?;
        let mut flags = vec![
            path_flag("--kubeconfig", &kubeconfig),
            path_flag("--authentication-kubeconfig", &kubeconfig),
            path_flag("--authorization-kubeconfig", &kubeconfig),
            path_flag("--tls-cert-file", &certificates.serving),
            path_flag("--tls-private-key-file", &certificates.serving_key),
            "--bind-address=127.0.0.1".into(),
            format!("--secure-port={port}").into(),
            "--leader-elect=false".into(),
            // The default client limits would throttle a scenario that runs faster than life.
            "--kube-api-qps=500".into(),
            "--kube-api-burst=1000".into(),
        ];
        flags.extend(own_flags);
        let component = around.component(name, name, flags, extra);
        Ok(Self {
            component,
            port,
            ca_der: certificates.ca_der.clone(),
        })
    }

    /// Starts the process and waits until it says that it is healthy.
    pub(crate) async fn start(&self) -> anyhow::Result<()> {
        self.component.spawn()?;
        let mut config = Config::new(format!("https://127.0.0.1:{}", self.port).parse()?);
        config.root_cert = Some(vec![self.ca_der.clone()]);
        config.default_retry = false;
        config.proxy_url = None; // whatever the environment says: all is on loopback
        config.proxy_url = None; // whatever the environment says: all is on loopback
        let client = Client::try_from(config)?;
        readiness::until_healthy(&self.component, &client, "/healthz").await
    }
}
