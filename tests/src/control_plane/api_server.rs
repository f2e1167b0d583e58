//! One kube-apiserver of a control plane: flags, readiness, kubeconfig.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use kube::Client;

use super::certificates::{Certificates, FRONT_PROXY};
use super::component::Component;
use super::surroundings::{Surroundings, path_flag};
use super::{kubeconfig, readiness};
use crate::ports::PortBlock;

/// A kube-apiserver that keeps its port and its kubeconfig through kills and starts.
#[derive(Debug)]
pub struct ApiServer {
    component: Component,
    port: u16,
    kubeconfig: PathBuf,
}

impl ApiServer {
    pub(crate) fn new(
        index: usize,
        around: &Surroundings,
        ports: &mut PortBlock,
        etcd: &str,
        extra: &[String],
    ) -> anyhow::Result<Self> {
        let name = format!("api-{index}");
        let port = ports.take()?;
        let kubeconfig = around.dir.join(format!("{name}.kubeconfig"));
        let certificates = &around.certificates;
        kubeconfig::write(&kubeconfig, port, &certificates.ca_pem, &certificates.admin)?;
        let flags = flags(port, etcd, certificates);
        let component = around.component(&name, "kube-apiserver", flags, extra);
        Ok(Self {
            component,
            port,
            kubeconfig,
        })
    }

    /// Starts the process and waits until `/readyz` says so.
    ///
    /// # Errors
    /// When it runs already or does not become ready; the message ends with its log.
    pub async fn start(&self) -> anyhow::Result<()> {
        self.spawn()?;
        self.ready().await
    }

    /// Starts the process and does not wait.
    ///
    /// # Errors
    /// When it runs already.
    pub fn spawn(&self) -> anyhow::Result<()> {
        self.component.spawn()
    }

    /// Waits until `/readyz` answers 200.
    ///
    /// # Errors
    /// When it does not, or the process ends; the message ends with its log.
    pub async fn ready(&self) -> anyhow::Result<()> {
        readiness::until_healthy(&self.component, &self.client().await?, "/readyz").await
    }

    /// Ends it with SIGKILL; clients see their connections reset.
    ///
    /// # Errors
    /// When it does not run.
    pub async fn kill(&self) -> anyhow::Result<()> {
        self.component.kill().await
    }

    /// Ends it with SIGTERM, its graceful shutdown included.
    ///
    /// # Errors
    /// When it does not run or does not end.
    pub async fn stop(&self) -> anyhow::Result<ExitStatus> {
        self.component.stop().await
    }

    /// Halts it: connections stay open and silent.
    ///
    /// # Errors
    /// When it does not run.
    pub fn pause(&self) -> anyhow::Result<()> {
        self.component.pause()
    }

    /// Lets it go on after [`ApiServer::pause`].
    ///
    /// # Errors
    /// When it does not run.
    pub fn resume(&self) -> anyhow::Result<()> {
        self.component.resume()
    }

    /// An administrator's client, without hidden retries.
    ///
    /// # Errors
    /// When its kubeconfig cannot be read.
    pub async fn client(&self) -> anyhow::Result<Client> {
        kubeconfig::client(&self.kubeconfig).await
    }

    /// The kubeconfig of an administrator at this server.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// The loopback port, the same through its whole life.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The process, for its pid and log.
    pub fn component(&self) -> &Component {
        &self.component
    }
}

fn flags(port: u16, etcd: &str, certificates: &Certificates) -> Vec<OsString> {
    let mut flags = vec![
        path_flag("--tls-cert-file", &certificates.serving),
        path_flag("--tls-private-key-file", &certificates.serving_key),
        path_flag("--client-ca-file", &certificates.ca),
        path_flag("--service-account-key-file", &certificates.service_account),
        path_flag(
            "--service-account-signing-key-file",
            &certificates.service_account_key,
        ),
        path_flag(
            "--requestheader-client-ca-file",
            &certificates.front_proxy_ca,
        ),
        path_flag("--proxy-client-cert-file", &certificates.front_proxy),
        path_flag("--proxy-client-key-file", &certificates.front_proxy_key),
    ];
    let plain = [
        format!("--etcd-servers={etcd}"),
        format!("--secure-port={port}"),
        format!("--requestheader-allowed-names={FRONT_PROXY}"),
        "--bind-address=127.0.0.1".to_owned(),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        "--service-cluster-ip-range=10.96.0.0/16".to_owned(),
        "--authorization-mode=RBAC".to_owned(),
        // The lease reconciler refuses a loopback address and logs an error every 10 s.
        "--endpoint-reconciler-type=none".to_owned(),
        "--enable-aggregator-routing".to_owned(),
        "--requestheader-username-headers=X-Remote-User".to_owned(),
        "--requestheader-group-headers=X-Remote-Group".to_owned(),
        "--requestheader-extra-headers-prefix=X-Remote-Extra-".to_owned(),
    ];
    flags.extend(plain.into_iter().map(OsString::from));
    flags
}
