//! A component of the control plane: how it is started, again and again on the same port, and
//! the process it is at the moment, if any.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::rt::TokioExecutor;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use rustix::process::Signal;
use tokio::time::Instant;

use super::certificates::{Certificates, FRONT_PROXY, Identity};
use super::process::Guard;
use super::process::Process;
use super::running::{Surroundings, path_flag};
use crate::ports::PortBlock;

/// More than any component needs to end by itself; an API server with a long
/// `--shutdown-delay-duration` needs most.
const STOP_LIMIT: Duration = Duration::from_mins(2);

/// How many lines of a log an error message carries.
const TAIL_LINES: usize = 30;

/// One process of a control plane that can be killed, stopped, paused and started again.
///
/// Dropping it kills the process and reaps it.
#[derive(Debug)]
pub struct Component {
    name: String,
    program: PathBuf,
    args: Vec<OsString>,
    log: PathBuf,
    guard: Arc<Guard>,
    process: Mutex<Option<Process>>,
}

impl Component {
    /// Describes a component; `role` is the word by which the control plane's binary knows it.
    pub(crate) fn new(
        name: &str,
        binary: &Path,
        role: &str,
        flags: Vec<OsString>,
        log: PathBuf,
        guard: &Arc<Guard>,
    ) -> Self {
        let mut args = vec![OsString::from(role)];
        args.extend(flags);
        Self {
            name: name.to_owned(),
            program: binary.to_owned(),
            args,
            log,
            guard: Arc::clone(guard),
            process: Mutex::new(None),
        }
    }

    /// Starts the process and does not wait for it to be ready.
    ///
    /// # Errors
    /// When it runs already or cannot be started.
    pub fn spawn(&self) -> anyhow::Result<()> {
        let mut process = self.lock();
        if process.as_ref().is_some_and(|process| !process.has_ended()) {
            bail!("{} is running already", self.name);
        }
        let started = Process::spawn(
            &self.program,
            &self.args,
            &self.log,
            Arc::clone(&self.guard),
        )
        .with_context(|| format!("cannot start {}", self.name))?;
        *process = Some(started);
        Ok(())
    }

    /// Ends the process with SIGKILL and waits until it is gone.
    ///
    /// # Errors
    /// When it does not run.
    pub async fn kill(&self) -> anyhow::Result<()> {
        self.end_by(Signal::KILL).await.map(drop)
    }

    /// Ends the process with SIGTERM and waits until it is gone, as long as its shutdown takes.
    ///
    /// # Errors
    /// When it does not run, or ignores the signal for two minutes; it is killed then.
    pub async fn stop(&self) -> anyhow::Result<ExitStatus> {
        self.end_by(Signal::TERM).await
    }

    /// Halts the process with SIGSTOP and returns when it stands still: its port stays open, its connections fall silent.
    ///
    /// # Errors
    /// When it does not run.
    pub fn pause(&self) -> anyhow::Result<()> {
        self.running(Process::pause)
    }

    /// Lets a paused process go on.
    ///
    /// # Errors
    /// When it does not run.
    pub fn resume(&self) -> anyhow::Result<()> {
        self.running(|process| process.signal(Signal::CONT))
    }

    /// The process at the moment; none while it is down.
    pub fn pid(&self) -> Option<u32> {
        self.lock()
            .as_ref()
            .filter(|process| !process.has_ended())
            .map(Process::pid)
    }

    /// Where the output of all its processes goes, one after the other.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// What messages call it: `etcd`, `api-0`, …
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Fails when the process has ended, with the end of its log.
    pub(crate) fn check_alive(&self) -> anyhow::Result<()> {
        match self.pid() {
            Some(_) => Ok(()),
            None => bail!("{} ended by itself\n{}", self.name, self.log_tail()),
        }
    }

    /// The last lines of the log, under the log's path, for error messages.
    pub(crate) fn log_tail(&self) -> String {
        let text = match std::fs::read(&self.log) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => format!("(cannot be read: {error})"),
        };
        let lines: Vec<&str> = text.lines().collect();
        let tail = lines.iter().skip(lines.len().saturating_sub(TAIL_LINES));
        let tail: String = tail.flat_map(|line| ["\n    ", line]).collect();
        format!("  end of {}:{tail}", self.log.display())
    }

    async fn end_by(&self, signal: Signal) -> anyhow::Result<ExitStatus> {
        let process = self
            .lock()
            .take()
            .with_context(|| format!("{} is not running", self.name))?;
        process.signal(signal).with_context(|| self.name.clone())?;
        match tokio::time::timeout(STOP_LIMIT, process.end()).await {
            Ok(status) => status,
            Err(_elapsed) => bail!(
                "{} did not end within {STOP_LIMIT:?} of {signal:?}\n{}",
                self.name,
                self.log_tail()
            ),
        }
    }

    fn running(&self, act: impl FnOnce(&Process) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let process = self.lock();
        let process = process
            .as_ref()
            .with_context(|| format!("{} is not running", self.name))?;
        act(process).with_context(|| self.name.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Option<Process>> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

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
        write(&kubeconfig, port, &certificates.ca_pem, &certificates.admin)?;
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
        until_healthy(&self.component, &self.client().await?, "/readyz").await
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
        client(&self.kubeconfig).await
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

/// A running etcd; its data outlives a kill and a start.
#[derive(Debug)]
pub struct Etcd {
    component: Component,
    endpoint: String,
    data: PathBuf,
}

impl Etcd {
    pub(crate) fn new(
        name: &str,
        around: &Surroundings,
        ports: &mut PortBlock,
    ) -> anyhow::Result<Self> {
        let endpoint = format!("http://127.0.0.1:{}", ports.take()?);
        let peer = format!("http://127.0.0.1:{}", ports.take()?);
        let mut flags: Vec<OsString> = [
            format!("--listen-client-urls={endpoint}"),
            format!("--advertise-client-urls={endpoint}"),
            format!("--listen-peer-urls={peer}"),
            format!("--initial-advertise-peer-urls={peer}"),
            format!("--initial-cluster=default={peer}"),
            "--unsafe-no-fsync".to_owned(), // the data dies with the test; the machine's disk does not matter
            "--watch-progress-notify-interval=5s".to_owned(),
            "--log-level=warn".to_owned(),
        ]
        .into_iter()
        .map(OsString::from)
        .collect();
        let data = around.dir.join(name);
        flags.push(path_flag("--data-dir", &data));
        let component = around.component(name, "etcd", flags, &[]);
        Ok(Self {
            component,
            endpoint,
            data,
        })
    }

    /// Base address of its plain HTTP gateway, `http://127.0.0.1:PORT`.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// The process, to kill, stop or pause it.
    pub fn component(&self) -> &Component {
        &self.component
    }

    /// Starts the process and waits until it serves.
    ///
    /// # Errors
    /// When it runs already or does not become healthy; the message ends with its log.
    pub async fn start(&self) -> anyhow::Result<()> {
        self.component.spawn()?;
        let client = HttpClient::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
        let health: http::Uri = format!("{}/health", self.endpoint).parse()?;
        until(&self.component, "become healthy", || async {
            let answer = client.get(health.clone()).await?;
            let status = answer.status();
            let body = answer.into_body().collect().await?.to_bytes();
            ensure!(
                status.is_success(),
                "{status}: {}",
                String::from_utf8_lossy(&body)
            );
            Ok(())
        })
        .await
    }

    /// Copies its data into a folder that is not there yet, while it stands still: what it would find
    /// had it been killed now.
    ///
    /// # Errors
    /// When it does not run, or the copy cannot be made.
    pub fn back_up(&self, to: &Path) -> anyhow::Result<()> {
        self.component.pause()?;
        let copied = copy_folder(&self.data, to);
        self.component.resume()?;
        copied
    }

    /// Puts an earlier copy in the place of its data: the next start goes on from there.
    ///
    /// # Errors
    /// When it runs, or the copy cannot be read.
    pub fn put_back(&self, from: &Path) -> anyhow::Result<()> {
        ensure!(
            self.component.pid().is_none(),
            "data is put back only while nobody writes it"
        );
        std::fs::remove_dir_all(&self.data)?;
        copy_folder(from, &self.data)
    }
}

fn copy_folder(from: &Path, to: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy_folder(&from, &to)?;
        } else {
            std::fs::copy(&from, &to).with_context(|| format!("cannot copy {}", from.display()))?;
        }
    }
    Ok(())
}

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
    ) -> anyhow::Result<Self> {
        let identity = &around.certificates.scheduler;
        Self::new(
            "kube-scheduler",
            around,
            ports,
            api_port,
            identity,
            Vec::new(),
            &[],
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
        write(&kubeconfig, api_port, &certificates.ca_pem, identity)?;
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
        until_healthy(&self.component, &client, "/healthz").await
    }
}

/// Ready takes 3 s on an idle machine; a loaded CI machine may be many times slower.
const READY_LIMIT: Duration = Duration::from_mins(2);
const PROBE_INTERVAL: Duration = Duration::from_millis(25);
/// A connection made just before the listener is up may never be answered.
const PROBE_LIMIT: Duration = Duration::from_secs(5);

/// Asks until `probe` answers; `what` completes "… did not ….".
pub(crate) async fn until<F, T>(
    component: &Component,
    what: &str,
    mut probe: impl FnMut() -> F,
) -> anyhow::Result<T>
where
    F: Future<Output = anyhow::Result<T>>,
{
    let deadline = Instant::now() + READY_LIMIT;
    loop {
        component.check_alive()?;
        let answer = tokio::time::timeout(PROBE_LIMIT, probe()).await;
        let reason = match answer {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => error,
            Err(_elapsed) => anyhow!("no answer within {PROBE_LIMIT:?}"),
        };
        if Instant::now() >= deadline {
            let (name, tail) = (component.name(), component.log_tail());
            bail!("{name} did not {what} within {READY_LIMIT:?}: {reason:#}\n{tail}");
        }
        tokio::time::sleep(PROBE_INTERVAL).await;
    }
}

/// Waits for a 200 from `path`.
pub(crate) async fn until_healthy(
    component: &Component,
    client: &Client,
    path: &str,
) -> anyhow::Result<()> {
    until(component, "become ready", || async {
        let request = http::Request::get(path).body(Vec::new())?;
        client.request_text(request).await?;
        Ok(())
    })
    .await
}

/// Writes a kubeconfig of one cluster, one user and one context.
pub(crate) fn write(
    path: &Path,
    port: u16,
    ca_pem: &str,
    identity: &Identity,
) -> anyhow::Result<()> {
    let name = "control-plane";
    let kubeconfig = serde_json::json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {
            "server": format!("https://127.0.0.1:{port}"),
            "certificate-authority-data": STANDARD.encode(ca_pem),
        }}],
        "users": [{"name": name, "user": {
            "client-certificate-data": STANDARD.encode(&identity.certificate_pem),
            "client-key-data": STANDARD.encode(&identity.key_pem),
        }}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    });
    std::fs::write(path, serde_json::to_vec_pretty(&kubeconfig)?)
        .with_context(|| format!("cannot write {}", path.display()))
}

/// A client of what the kubeconfig names, without hidden retries: a test sees every error.
pub(crate) async fn client(path: &Path) -> anyhow::Result<Client> {
    let kubeconfig = Kubeconfig::read_from(path)?;
    let mut config =
        Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    config.default_retry = false;
    config.proxy_url = None; // whatever the environment says: all is on loopback
    config.proxy_url = None; // whatever the environment says: all is on loopback
    Ok(Client::try_from(config)?)
}
