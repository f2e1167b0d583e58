//! A group that another server answers for: down at first, then up, down, and up again.
//!
//! The other server is an API server with an etcd of its own, so that its revisions count something
//! else; a proxy in front of it makes it come and go.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use kubereel_format::{Note, Reel};
use kubereel_history::ResourceCompleteness;
use kubereel_tests::control_plane::{ControlPlane, skipped};
use kubereel_tests::oracle::Oracle;
use kubereel_tests::proxy::{ConnectionEnd, Proxy};
use kubereel_tests::rest::{Body, Rest, Verb};
use kubereel_tests::shaken::{Objects, Writers, send};
use serde_json::{Value, json};

use crate::plane::{PLAIN, Turn};
use crate::real_faults::SURE;
use crate::real_faults::definitions::DEFINITIONS;
use crate::scene::Scene;

const GROUP: &str = "elsewhere.kubereel.dev";
const PLURAL: &str = "flunders";
const SERVICES: &str = "/api/v1/namespaces/default/services";
const API_SERVICES: &str = "/apis/apiregistration.k8s.io/v1/apiservices";

const PACE: Duration = Duration::from_millis(20);

/// How long it is up or down.
const FOR: Duration = Duration::from_millis(1_300);

fn flunder(name: &str, round: u64) -> Value {
    json!({"apiVersion": format!("{GROUP}/v1"), "kind": "Flunder",
        "metadata": {"name": name}, "spec": {"round": round}})
}

/// A server that trusts the front proxy of `main`, and defines a resource.
async fn elsewhere(main: &ControlPlane) -> Result<ControlPlane> {
    let trusted = main.front_proxy_ca().display();
    let other = ControlPlane::builder()
        .api_flag("--etcd-compaction-interval=0")
        .api_flag(format!("--requestheader-client-ca-file={trusted}"))
        .start()
        .await?;
    let rest = Rest::new(vec![other.client(0).await?]);
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{PLURAL}.{GROUP}")},
        "spec": {
            "group": GROUP, "scope": "Cluster",
            "names": {"plural": PLURAL, "singular": "flunder", "kind": "Flunder"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true}}}],
        },
    });
    send(&rest, Verb::Post, DEFINITIONS, Body::Json(definition)).await?;
    let first = Body::Json(flunder("first", 0));
    send(
        &rest,
        Verb::Post,
        &format!("/apis/{GROUP}/v1/{PLURAL}"),
        first,
    )
    .await?;
    Ok(other)
}

/// Says to the main server where the group is answered for.
async fn register(rest: &Rest, door: &Proxy) -> Result<()> {
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "elsewhere"},
        "spec": {"type": "ExternalName", "externalName": "localhost"}});
    send(rest, Verb::Post, SERVICES, Body::Json(service)).await?;
    let api_service = json!({
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "metadata": {"name": format!("v1.{GROUP}")},
        "spec": {
            "group": GROUP, "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 15,
            "insecureSkipTLSVerify": true,
            "service": {"namespace": "default", "name": "elsewhere", "port": door.port()},
        },
    });
    send(rest, Verb::Post, API_SERVICES, Body::Json(api_service)).await?;
    Ok(())
}

/// Waits until the main server has found out. It looks each half minute, and whenever the object
/// changes: so it is changed.
async fn until_available(rest: &Rest, wanted: bool) -> Result<()> {
    let path = format!("{API_SERVICES}/v1.{GROUP}");
    let wanted = if wanted { "True" } else { "False" };
    let deadline = Instant::now() + SURE;
    for turn in 0_u64.. {
        let poke = json!({"metadata": {"annotations": {"kubereel.dev/poked": turn.to_string()}}});
        let object = send(rest, Verb::Patch, &path, Body::Merge(poke)).await?;
        let conditions = object
            .pointer("/status/conditions")
            .and_then(Value::as_array);
        let is_so = conditions.into_iter().flatten().any(|condition| {
            let text = |name: &str| condition.get(name).and_then(Value::as_str);
            text("type") == Some("Available") && text("status") == Some(wanted)
        });
        if is_so {
            break;
        }
        ensure!(Instant::now() < deadline, "never {wanted}: {object}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}

async fn shut(door: &Proxy) -> Result<()> {
    door.refuse().await?;
    door.cut(ConnectionEnd::Reset).await
}

fn is_listed(reel: &Reel) -> bool {
    let notes = || reel.notes().iter();
    let id = notes().find_map(|entry| match &entry.note {
        Note::Resource(info) if info.plural == PLURAL => Some(info.id),
        _ => None,
    });
    notes()
        .any(|entry| matches!(&entry.note, Note::Synced { resource, .. } if Some(*resource) == id))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_api_service_that_goes_down_and_up_costs_nothing() -> Result<()> {
    if skipped() {
        return Ok(());
    }
    let turn = Turn::on(&PLAIN).await?;
    let control_plane = turn.control_plane()?;
    let other = elsewhere(control_plane).await?;
    let door = other.proxy()?;
    shut(&door).await?;
    let mut scene = Scene::start("API service down and up", control_plane).await?;
    let oracle = Oracle::open(other.etcd().endpoint(), 1).await?;
    scene.also(oracle, "/registry/elsewhere.kubereel.dev/");
    let rest = scene.rest().await?;
    register(&rest, &door).await?;
    let mut writers = Writers::each(60);
    writers.maps(&rest, "beside", 1, PACE);
    let flunders = Objects {
        rest: Rest::new(vec![other.client(0).await?]),
        path: format!("/apis/{GROUP}/v1/{PLURAL}"),
        prefix: "flunder".to_owned(),
        make: flunder,
        pace: PACE,
    };
    writers.begin(|stopped| flunders.write(stopped));
    until_available(&rest, false).await?;
    tokio::time::sleep(FOR).await;

    door.accept().await?;
    until_available(&rest, true).await?;
    scene
        .until("the other server's resource", is_listed)
        .await?;
    tokio::time::sleep(FOR).await;

    shut(&door).await?;
    until_available(&rest, false).await?;
    tokio::time::sleep(FOR).await;

    door.accept().await?;
    until_available(&rest, true).await?;
    scene.page.until_ready(SURE).await?;
    tokio::time::sleep(FOR).await;
    let written = writers.stop().await?;
    scene.catch_up().await?;
    for path in [
        format!("{API_SERVICES}/v1.{GROUP}"),
        format!("{SERVICES}/elsewhere"),
    ] {
        send(&rest, Verb::Delete, &path, Body::Empty).await?;
    }
    let told = scene.settle().await?;
    turn.hand_on();
    ensure!(written > 100, "only {written} writes");
    let dark_secs = told.longest_dark_secs(PLURAL);
    ensure!(dark_secs > 1.0, "it was dark for {dark_secs} s only");
    told.nothing_missing(|_| true)?;
    let proof = told.proof_of(&format!("{PLURAL}.{GROUP}"))?;
    eprintln!(
        "{written} writes; {PLURAL}: {:?}, dark for {dark_secs:.1} s",
        proof.state
    );
    ensure!(proof.state != ResourceCompleteness::NeverListed);
    // Its revisions count something else: either that is seen, or numbers that belong to two objects
    // take the account its force.
    let account = told.proof().accounts.first().context("an account")?;
    let mut left_out = account.left_out.iter();
    ensure!(
        account.shared_revisions > 0 || left_out.any(|one| one.resource.starts_with(PLURAL)),
        "{account:#?}"
    );
    Ok(())
}
