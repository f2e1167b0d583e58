//! The cluster's certificate authority is replaced while it is recorded: the servers change first, the
//! kubeconfig follows, and nothing is lost in between.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use kubereel_format::{Note, OutageClass, Reel};
use kubereel_tests::control_plane::{ControlPlane, skipped};
use kubereel_tests::oracle::Account;
use kubereel_tests::proxy::Cut;
use kubereel_tests::recording::{Page, Recording, accounted};
use kubereel_tests::rest::{Body, Call, Patience, Rest, Verb};
use serde_json::json;

/// How long anything that is sure to come may take on a busy machine.
const SURE: Duration = Duration::from_mins(1);

/// How often is looked at what tells nobody.
const LOOK: Duration = Duration::from_millis(50);

/// Creates config maps.
async fn write(rest: &Rest, stage: &str) -> Result<()> {
    for number in 0..20 {
        let post = Call {
            verb: Verb::Post,
            path: "/api/v1/namespaces/default/configmaps".to_owned(),
            body: Body::Json(json!({"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": format!("{stage}-{number}")}, "data": {"x": "y"}})),
        };
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
    // The servers change; whoever comes anew does not trust them.
    let authority = control_plane.renew_authority()?;
    let fresh = folder.path().join("kubeconfig.new");
    control_plane.write_kubeconfig(&fresh, proxy.port(), &authority)?;
    let rest = trusted(&control_plane, &fresh).await?;
    proxy.cut(Cut::Reset).await?;
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
