//! A client certificate that ends while the recorder records a real control plane, then a new one:
//! nothing is lost, and the reel says what was wrong.
//!
//! The cluster's certificate authority is replaced while it is recorded: the servers change first, the
//! kubeconfig follows, and nothing is lost in between.

use anyhow::{Context as _, Result, ensure};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use kubereel_format::{EpochId, Note, OutageClass, Reel};
use kubereel_tests::claims::{Claims, Fact};
use kubereel_tests::control_plane::{ControlPlane, skipped};
use kubereel_tests::oracle::Account;
use kubereel_tests::proxy::{ConnectionEnd, Proxy};
use kubereel_tests::recording::{Awaited, Page, Recording, accounted, arrived};
use kubereel_tests::rest::{Call, Patience, Rest};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long anything that is sure to come may take on a busy machine.
const SURE: Duration = Duration::from_mins(1);

/// How long a certificate lasts: longer than a recorder takes to use it.
const LASTS: Duration = Duration::from_secs(8);

const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A control plane, its recorder behind a proxy, and the kubeconfig that the recorder reads.
struct Scene {
    control_plane: ControlPlane,
    proxy: Proxy,
    recording: Recording,
    page: Page,
    kubeconfig: PathBuf,
    written: u32,
}

impl Scene {
    /// Puts another kubeconfig in the place of the recorder's, at once.
    fn deliver(&self, kubeconfig: &Path) -> Result<()> {
        let fresh = self.kubeconfig.with_extension("fresh");
        std::fs::copy(kubeconfig, &fresh)?;
        Ok(std::fs::rename(&fresh, &self.kubeconfig)?)
    }

    async fn outages(&self) -> Result<u64> {
        self.page.number("kubereel_outages_total").await
    }

    /// Cuts every connection, and waits until the recorder has noted more outages than before.
    async fn cut_until_out(&self, before: u64) -> Result<()> {
        self.proxy.cut(ConnectionEnd::Reset).await?;
        let deadline = Instant::now() + SURE;
        while self.outages().await? <= before {
            ensure!(Instant::now() < deadline, "{}", self.recording.log());
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    /// Writes config maps; gives the last revision.
    async fn write(&mut self, client: &Client) -> Result<u128> {
        let rest = Rest::new(vec![client.clone()]);
        let mut last = 0;
        for _ in 0..10 {
            self.written += 1;
            let name = format!("trusted-{}", self.written);
            let post = Call::post(
                "/api/v1/namespaces/default/configmaps".to_owned(),
                json!({
                    "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name},
                }),
            );
            let answer = rest.send(&post, Patience::until_found(SURE)).await?;
            let revision = answer.body.pointer("/metadata/resourceVersion");
            let revision = revision.and_then(serde_json::Value::as_str);
            last = revision.context("a revision")?.parse()?;
        }
        Ok(last)
    }

    async fn has_arrived(&self, rv: u128) -> Result<()> {
        let awaited = Awaited {
            resource: "configmaps".to_owned(),
            rv,
            is_exact: true,
        };
        arrived(&self.recording, &[awaited], SURE).await
    }
}

/// A client without hidden retries.
async fn client_of(kubeconfig: &Path) -> Result<Client> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    let options = KubeConfigOptions::default();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options).await?;
    config.default_retry = false;
    config.proxy_url = None; // whatever the environment says: all is on loopback
    Ok(Client::try_from(config)?)
}

/// Waits until a request is answered with success, or is not.
async fn until(client: &Client, is_wanted: bool) -> Result<()> {
    let deadline = Instant::now() + SURE;
    while client.apiserver_version().await.is_ok() != is_wanted {
        ensure!(Instant::now() < deadline, "wanted: {is_wanted}");
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_expired_client_certificate_is_replaced_without_loss() -> Result<()> {
    if skipped() {
        return Ok(());
    }
    let (control_plane, oracle) = ControlPlane::builder().start_with_oracle().await?;
    let proxy = control_plane.proxy()?;
    let good = control_plane.kubeconfig_through(&proxy)?;
    let folder = tempfile::tempdir()?;
    let kubeconfig = folder.path().join("kubeconfig");
    std::fs::copy(&good, &kubeconfig)?;
    let reel = folder.path().join("run.reel");
    let recording = Recording::start(&reel, &kubeconfig, &["--listen", "127.0.0.1:0"])?;
    let page = Page::of(&recording, SURE).await?;
    page.until_ready(SURE).await?;
    let mut scene = Scene {
        control_plane,
        proxy,
        recording,
        page,
        kubeconfig,
        written: 0,
    };
    let admin = scene.control_plane.client(0).await?;
    expired(&mut scene, &admin, &good).await?;

    let changes = oracle.changes_up_to_now().await?;
    accounted(&scene.recording, &changes, SURE).await?;
    let ended = scene.recording.finish(SURE)?;
    ensure!(ended.status.success(), "{}", ended.log);
    let reel_read = Reel::open(&reel)?;
    let account = Account::of(&reel_read, &changes)?;
    account.check()?;
    ensure!(account.in_gaps.is_empty(), "{:#?}", account.in_gaps);
    ensure!(account.recorded.len() >= 30, "{}", account.recorded.len());
    let claims = Claims::read(&reel)?;
    claims
        .against(&Fact::of_etcd(&changes, EpochId(0))?)
        .check()?;
    let notes = || reel_read.notes().iter().map(|entry| &entry.note);
    let gaps = notes().filter(|note| matches!(note, Note::Gap(_))).count();
    ensure!(gaps == 0, "{gaps} gaps");
    let is_told = |note: &Note| {
        matches!(
            note,
            Note::OutageBegan {
                class: OutageClass::Credentials,
                ..
            }
        )
    };
    ensure!(notes().any(is_told), "no outage is reported");
    Ok(())
}

/// The certificate of the recorder's client ends, and it gets another one.
async fn expired(scene: &mut Scene, admin: &Client, good: &Path) -> Result<()> {
    let expiring = scene
        .control_plane
        .kubeconfig_expiring(&scene.proxy, LASTS)?;
    let outages = scene.outages().await?;
    scene.deliver(&expiring)?;
    let last = scene.write(admin).await?;
    scene.has_arrived(last).await?;
    until(&client_of(&expiring).await?, false).await?;
    scene.cut_until_out(outages).await?;
    scene.write(admin).await?;
    scene.deliver(good)?;
    let last = scene.write(admin).await?;
    scene.has_arrived(last).await
}

/// How often is looked at what tells nobody.
const LOOK: Duration = Duration::from_millis(50);

/// Creates config maps.
async fn write(rest: &Rest, stage: &str) -> Result<()> {
    for number in 0..20 {
        let post = Call::post(
            "/api/v1/namespaces/default/configmaps".to_owned(),
            json!({"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": format!("{stage}-{number}")}, "data": {"x": "y"}}),
        );
        rest.send(&post, Patience::until_found(SURE)).await?;
    }
    Ok(())
}

/// Waits until the servers present what the kubeconfig trusts; they look at their files now and then.
async fn trusted(control_plane: &ControlPlane, kubeconfig: &Path) -> Result<Rest> {
    let deadline = Instant::now() + SURE * 2;
    loop {
        let client = control_plane.client_by(kubeconfig).await?;
        if client.apiserver_version().await.is_ok() {
            return Ok(Rest::new(vec![client]));
        }
        ensure!(
            Instant::now() < deadline,
            "the servers keep the old authority"
        );
        tokio::time::sleep(LOOK).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_authority_costs_an_outage_and_no_change() -> Result<()> {
    if skipped() {
        return Ok(());
    }
    let (control_plane, oracle) = ControlPlane::builder().start_with_oracle().await?;
    let folder = tempfile::tempdir()?;
    let proxy = control_plane.proxy()?;
    let kubeconfig = folder.path().join("kubeconfig");
    std::fs::copy(control_plane.kubeconfig_through(&proxy)?, &kubeconfig)?;
    let reel = folder.path().join("run.reel");
    let recording = Recording::start(&reel, &kubeconfig, &["--listen", "127.0.0.1:0"])?;
    let page = Page::of(&recording, SURE).await?;
    page.until_ready(SURE).await?;
    write(&Rest::new(vec![control_plane.client(0).await?]), "before").await?;
    // The servers change; new connections do not trust them.
    let authority = control_plane.renew_authority()?;
    let fresh = folder.path().join("kubeconfig.new");
    control_plane.write_kubeconfig(&fresh, proxy.port(), &authority)?;
    let rest = trusted(&control_plane, &fresh).await?;
    proxy.cut(ConnectionEnd::Reset).await?;
    let deadline = Instant::now() + SURE;
    while page.number("kubereel_api_out").await? == 0 {
        ensure!(Instant::now() < deadline, "no outage: {}", recording.log());
        tokio::time::sleep(LOOK).await;
    }
    write(&rest, "between").await?;
    std::fs::rename(&fresh, &kubeconfig)?;
    write(&rest, "after").await?;
    let changes = oracle.changes_up_to_now().await?;
    accounted(&recording, &changes, SURE).await?;
    let ended = recording.finish(SURE)?;
    ensure!(ended.status.success(), "{}", ended.log);
    let reel = Reel::open(&reel)?;
    let account = Account::of(&reel, &changes)?;
    account.check()?;
    ensure!(account.in_gaps.is_empty(), "{:?}", account.in_gaps.first());
    ensure!(account.recorded.len() >= 60, "{}", account.recorded.len());
    let outage = reel.notes().iter().find_map(|entry| match &entry.note {
        Note::OutageBegan { class, error, .. } => Some((*class, error.clone())),
        _ => None,
    });
    let (class, error) = outage.context("an outage")?;
    ensure!(class == OutageClass::Tls, "{class:?}: {error}");
    Ok(())
}
