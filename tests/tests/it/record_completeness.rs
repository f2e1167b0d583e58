//! The recorder against a real control plane that is shaken while it is written to: what etcd says
//! was changed is in the reel, or inside a gap that the reel declares.
//!
//! Writers that change the cluster through its API while it is shaken: objects that come, change
//! and go, Secrets with a word that must not be recorded, and definitions with objects right behind
//! them.
//!
//! Words that must not be recorded, planted on the real server in every kind of place: by kind, by
//! name and in texts, in several encodings, and in the look-alikes of kinds that the server does
//! not have.
//!
//! What the reel says of its gaps, compared with what etcd says of them.

#![expect(clippy::print_stderr, reason = "says how hard each run was")]

use crate::plane::{Kind, Turn};
use crate::scene::Scene;
use anyhow::{Context as _, Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kubereel_format::{
    Evidence, Gap, GapCause, GapId, GapVerdict, ListMethod, NotCoveredReason, Note, Reel,
    ResourceId, Seq,
};
use kubereel_redact::Extra;
use kubereel_scan::Canaries;
use kubereel_tests::control_plane::skipped;
use kubereel_tests::oracle::{Account, Change, EtcdKey};
use kubereel_tests::proxy::{ConnectionEnd, CutEvery};
use kubereel_tests::rest::{Body, Call, Patience, Rest, Verb};
use kubereel_tests::shaken::{
    CANARY, CANARY_BASE64, Make, Objects, Stopped, Writers, config_map, definition, event, secret,
    send,
};
use kubereel_tests::skipped::{skipped_as_slow, slow_tests_requested};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::sync::watch;

/// Anything that must come comes within this time, also on a busy machine.
const SURE: Duration = Duration::from_mins(2);

/// The time between two faults: as long as a server needs to learn what the other one knows.
const BETWEEN: Duration = Duration::from_secs(5);

/// No other test hands on one like this: it begins empty.
const fn kind(api_servers: usize, flags: &'static [&'static str]) -> Kind {
    Kind {
        api_servers,
        events_etcd: false,
        flags,
    }
}

/// Two servers, of which one is always up; every connection is cut again and again.
async fn nothing_is_lost_between_two_servers(
    flags: &'static [&'static str],
    method: ListMethod,
) -> Result<()> {
    let turn = Turn::on(&kind(2, flags)).await?;
    let scene = Scene::start("two servers rolled", turn.control_plane()?).await?;
    let mut churn = Churn::start(&scene.rest().await?);
    let cut_every = CutEvery {
        period: Duration::from_secs(4),
        how: ConnectionEnd::Reset,
    };
    scene
        .proxy
        .change(|faults| faults.cut_every = Some(cut_every));
    // Each server goes once, one killed and one stopped; in the long run each both ways.
    let rounds = if slow_tests_requested() { 4 } else { 2 };
    for round in 0..rounds {
        tokio::time::sleep(BETWEEN).await;
        // A server keeps the history of a custom resource from the first request for it on: what is
        // defined just before the only server goes away that was asked for it goes with it.
        churn.settle().await?;
        scene.page.until_ready(SURE).await?;
        tokio::time::sleep(BETWEEN).await;
        let server = scene.control_plane.api(round % 2);
        if round < rounds / 2 {
            server.kill().await?;
        } else {
            server.stop().await?;
        }
        server.start().await?;
        churn.go_on();
    }
    tokio::time::sleep(BETWEEN).await;
    churn.stop().await?;
    let expired = scene.page.number("kubereel_expired_total").await?;
    ensure!(
        expired > 0,
        "no server ever lost its history: the test shows nothing"
    );
    let cut = scene.proxy.counts().cut;
    ensure!(cut > 100, "only {cut} connections were cut");
    let settled = scene.settle().await?;
    let (account, reel) = (&settled.account, settled.claims.reel());
    let (custom, native): (Vec<&Change>, Vec<&Change>) =
        account.in_gaps.iter().partition(|change| is_custom(change));
    ensure!(
        native.is_empty(),
        "{} changes are inside gaps, though one server was always up: {:#?}",
        native.len(),
        native.iter().take(20).collect::<Vec<_>>()
    );
    // Each server is asked for a custom resource, but behind one address nobody can choose which.
    let all_custom = account.recorded.iter().filter(|change| is_custom(change));
    ensure!(
        custom.len() * 10 <= all_custom.count(),
        "{} changes of custom resources are inside gaps: {:#?}",
        custom.len(),
        custom.iter().take(20).collect::<Vec<_>>()
    );
    ensure!(
        account.unlisted.is_empty(),
        "resources that were never listed: {:#?}",
        account.unlisted.iter().take(5).collect::<Vec<_>>()
    );
    ensure!(
        account.recorded.len() > 800,
        "only {} changes",
        account.recorded.len()
    );
    says_how_it_listed(reel, method)?;
    definitions_end_cleanly(reel)?;
    keeps_no_secret(reel)?;
    eprintln!(
        "{} changes recorded, {} in gaps of custom resources, {} before the first list, {} without API, {expired} answers of 410, {cut} connections cut, {} gaps",
        account.recorded.len(),
        custom.len(),
        account.before,
        account.without_api,
        gaps(reel)
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_with_streamed_lists() -> Result<()> {
    if skipped() {
        return Ok(());
    }
    nothing_is_lost_between_two_servers(&[], ListMethod::WatchList).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_with_pages() -> Result<()> {
    if skipped() || skipped_as_slow("two servers rolled, read in pages") {
        return Ok(());
    }
    let flags = &["--feature-gates=WatchList=false"];
    nothing_is_lost_between_two_servers(flags, ListMethod::Pages).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_restarted_server_loses_is_read_back_or_lies_in_gaps() -> Result<()> {
    if skipped() {
        return Ok(());
    }
    let turn = Turn::on(&kind(1, &[])).await?;
    let scene = Scene::start("one server restarted", turn.control_plane()?).await?;
    let writers = scene.rest().await?;
    let planted = plant(&writers).await?;
    ensure!(planted > 12, "only {planted} objects with canaries");
    let churn = Churn::start(&writers);
    for _ in 0..3 {
        tokio::time::sleep(BETWEEN / 2).await;
        let server = scene.control_plane.api(0);
        server.kill().await?;
        server.start().await?;
    }
    tokio::time::sleep(BETWEEN).await;
    churn.stop().await?;
    let page = scene.page.text().await?;
    ensure!(!page.contains(CANARY), "the status page holds the canary");
    let log = scene.recording.log();
    ensure!(!log.contains(CANARY), "the log holds the canary: {log}");
    let settled = scene.settle().await?;
    let (account, reel) = (&settled.account, settled.claims.reel());
    ensure!(
        reel.objects().any(|object| {
            object.key.name == format!("redacted-by-kubereel-{}", object.key.uid)
        }),
        "no token has another name"
    );
    ensure!(
        reel.objects().any(|object| object.key.name == "planted"),
        "nothing was planted"
    );
    let expired = reel
        .notes()
        .iter()
        .filter(|entry| matches!(&entry.note, Note::Gap(gap) if gap.cause == GapCause::Expired));
    ensure!(
        expired.count() > 0,
        "a restarted server's lost history is no gap"
    );
    // A definition may come and go while its own list is in a gap: then nothing is promised.
    ensure!(
        account.unlisted.iter().all(is_custom),
        "{:#?}",
        account.unlisted
    );
    keeps_no_secret(reel)?;
    let told = of(reel);
    check(&told, account)?;
    eprintln!("{}", summary(&told));
    eprintln!(
        "{} changes recorded, {} in {} gaps, {} of resources that were never listed",
        account.recorded.len(),
        account.in_gaps.len(),
        gaps(reel),
        account.unlisted.len()
    );
    Ok(())
}

fn is_custom(change: &Change) -> bool {
    change.key.contains("/churned")
}

fn gaps(reel: &Reel) -> usize {
    let notes = reel.notes().iter();
    notes
        .filter(|entry| matches!(entry.note, Note::Gap(_)))
        .count()
}

fn says_how_it_listed(reel: &Reel, wanted: ListMethod) -> Result<()> {
    let methods: BTreeSet<String> = reel
        .notes()
        .iter()
        .filter_map(|entry| match &entry.note {
            Note::Synced { method, .. } => Some(format!("{method:?}")),
            _ => None,
        })
        .collect();
    ensure!(
        methods == BTreeSet::from([format!("{wanted:?}")]),
        "{methods:?}"
    );
    Ok(())
}

/// Definitions were deleted: their resources are gone, and nothing of them is left alive.
fn definitions_end_cleanly(reel: &Reel) -> Result<()> {
    let gone: BTreeSet<&String> = reel
        .notes()
        .iter()
        .filter_map(|entry| match &entry.note {
            Note::NotCovered {
                plural,
                reason: NotCoveredReason::Gone,
                ..
            } => Some(plural),
            _ => None,
        })
        .collect();
    ensure!(
        !gone.is_empty(),
        "no definition was deleted: the test shows nothing"
    );
    let churned = |plural: &&&String| plural.starts_with("churned");
    ensure!(gone.iter().all(|plural| churned(&plural)), "{gone:?}");
    Ok(())
}

fn keeps_no_secret(reel: &Reel) -> Result<()> {
    let is_clean = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        !text.contains(CANARY) && !text.contains(CANARY_BASE64)
    };
    let mut secrets = 0;
    for event in reel.scan() {
        let event = event?;
        ensure!(is_clean(&event.body), "{:?} holds the canary", event.head);
        secrets += usize::from(
            event
                .body
                .windows(13)
                .any(|part| part == b"\"kind\":\"Secre"),
        );
    }
    ensure!(
        secrets > 20,
        "only {secrets} Secrets: the test shows nothing"
    );
    for entry in reel.notes() {
        let blobs = match &entry.note {
            Note::OddLine { blobs, .. } | Note::Document { blobs, .. } => blobs.as_slice(),
            _ => &[],
        };
        for blob in blobs {
            ensure!(is_clean(&reel.blob(*blob)?), "{entry:?} holds the canary");
        }
    }
    let raw = std::fs::read(reel.path()).context("the reel itself")?;
    ensure!(is_clean(&raw), "the file holds the canary");
    // In every form, and everything else that the policy knows.
    let canaries = Canaries::new(vec![CANARY.as_bytes().to_vec()])?;
    let options = kubereel_scan::ScanOptions::new(canaries, Extra::default());
    let report = kubereel_scan::scan(reel, &options, |_| {})?;
    ensure!(
        report.total == 0 && report.unread.is_empty() && report.objects > 100,
        "the scan: {report:#?}"
    );
    Ok(())
}

/// Between two writes of one writer: together some hundred a second.
const PACE: Duration = Duration::from_millis(15);

/// The writers at work.
pub(crate) struct Churn {
    settled: watch::Sender<bool>,
    is_settled: watch::Receiver<bool>,
    writers: Writers,
}

impl Churn {
    pub(crate) fn start(rest: &Rest) -> Self {
        let (settled, wants_settled) = watch::channel(false);
        let (says_settled, is_settled) = watch::channel(false);
        let mut writers = Writers::each(0);
        let written: [(&'static str, Make); 3] = [
            ("/api/v1/namespaces/default/configmaps", config_map),
            ("/api/v1/namespaces/kube-system/secrets", secret),
            ("/api/v1/namespaces/default/events", event),
        ];
        for (path, make) in written {
            let objects = Objects {
                rest: rest.clone(),
                path: path.to_owned(),
                prefix: "churn".to_owned(),
                make,
                pace: PACE,
            };
            writers.begin(|stopped| objects.write(stopped));
        }
        writers.begin(|stopped| definitions(rest.clone(), stopped, wants_settled, says_settled));
        Self {
            settled,
            is_settled,
            writers,
        }
    }

    /// Lets no new definition come, and waits until the last one and its first objects are written.
    /// From then on its objects are changed again and again.
    pub(crate) async fn settle(&mut self) -> Result<()> {
        self.settled.send_replace(true);
        self.is_settled.wait_for(|is_settled| *is_settled).await?;
        Ok(())
    }

    /// Lets new definitions come again.
    pub(crate) fn go_on(&self) {
        self.settled.send_replace(false);
    }

    /// Lets every writer end what it is at.
    pub(crate) async fn stop(self) -> Result<()> {
        self.writers.stop().await.map(drop)
    }
}

/// Definitions, each with objects as soon as the server takes them.
async fn definitions(
    rest: Rest,
    stopped: Stopped,
    wants_settled: watch::Receiver<bool>,
    says_settled: watch::Sender<bool>,
) -> Result<u64> {
    const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let mut number = 0_u64;
    while !stopped.after(number) {
        let plural = format!("churned{number}s");
        let definition = definition("churned", number);
        paced(&rest, Verb::Post, DEFINITIONS, Body::Json(definition)).await?;
        let path = format!("/apis/churn.kubereel.dev/v1/namespaces/default/{plural}");
        for object in 0..6_u64 {
            let name = format!("object-{object}");
            let make = |round: u64| {
                json!({
                    "apiVersion": "churn.kubereel.dev/v1", "kind": format!("Churned{number}"),
                    "metadata": {"name": name}, "spec": {"round": round},
                })
            };
            paced(&rest, Verb::Post, &path, Body::Json(make(0))).await?;
            let own = format!("{path}/{name}");
            for round in 1..4 {
                paced(&rest, Verb::Patch, &own, Body::Merge(make(round))).await?;
            }
            if object == 0 {
                paced(&rest, Verb::Delete, &own, Body::Empty).await?;
            }
        }
        says_settled.send_replace(*wants_settled.borrow());
        let mut round = 4_u64;
        while *wants_settled.borrow() && !stopped.after(number) {
            let body = Body::Merge(json!({"spec": {"round": round}}));
            paced(&rest, Verb::Patch, &format!("{path}/object-1"), body).await?;
            round += 1;
        }
        says_settled.send_replace(false);
        // One in three goes again, with all that it defined.
        if number % 3 == 2 {
            let own = format!("{DEFINITIONS}/{plural}.churn.kubereel.dev");
            paced(&rest, Verb::Delete, &own, Body::Empty).await?;
        }
        number += 1;
        tokio::time::sleep(PACE * 50).await;
    }
    Ok(number)
}

async fn paced(rest: &Rest, verb: Verb, path: &str, body: Body) -> Result<()> {
    send(rest, verb, path, body).await?;
    tokio::time::sleep(PACE).await;
    Ok(())
}

/// Longer than a definition takes to be served.
const PATIENCE: Duration = Duration::from_mins(1);

/// Group, version, plural, kind, the name of the object, and its fields.
#[rustfmt::skip]
fn look_alikes() -> Vec<(&'static str, &'static str, &'static str, String, Value)> {
    let name = || "planted".to_owned();
    let url = format!("http://planted:{CANARY}@proxy.example:3128");
    vec![
        (
            "machineconfiguration.openshift.io",
            "machineconfigs",
            "MachineConfig",
            name(),
            json!({"spec": {"config": {"storage": {"files": [{"path": "/a", "contents": {"source": format!("data:,{CANARY}")}}]},
                "systemd": {"units": [{"name": "a.service", "contents": CANARY}]},
                "passwd": {"users": [{"name": "core", "passwordHash": CANARY, "sshAuthorizedKeys": [CANARY]}]}}}}),
        ),
        ("route.openshift.io", "routes", "Route", name(), json!({"spec": {"tls": {"key": CANARY}}})),
        ("config.openshift.io", "proxies", "Proxy", name(), json!({"spec": {"httpProxy": url}, "status": {"httpsProxy": url}})),
        (
            "oauth.openshift.io",
            "oauthaccesstokens",
            "OAuthAccessToken",
            format!("token-{CANARY}"),
            json!({"refreshToken": CANARY, "redirectURI": CANARY}),
        ),
        ("oauth.openshift.io", "oauthclients", "OAuthClient", name(), json!({"secret": CANARY, "redirectURIs": [CANARY]})),
        (
            "kubevirt.io",
            "virtualmachines",
            "VirtualMachine",
            name(),
            json!({"spec": {"volumes": [{"cloudInitNoCloud": {"userData": CANARY, "networkDataBase64": CANARY_BASE64}}]}}),
        ),
        (
            "build.openshift.io",
            "buildconfigs",
            "BuildConfig",
            name(),
            json!({"spec": {"triggers": [{"generic": {"secret": CANARY}}], "strategy": {"env": [{"name": "A_TOKEN", "value": CANARY}]}}}),
        ),
        (
            "template.openshift.io",
            "templates",
            "Template",
            name(),
            json!({"parameters": [{"name": "P", "value": CANARY}],
            "objects": [{"apiVersion": "v1", "kind": "Secret", "stringData": {"p": CANARY}}]}),
        ),
    ]
}

/// Objects of kinds that every server has.
#[rustfmt::skip]
fn native() -> Vec<(&'static str, Value)> {
    let message = |number: u32, text: String| {
        json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": format!("planted-{number}")},
            "involvedObject": {"kind": "ConfigMap", "namespace": "default", "name": "none"}, "message": text})
    };
    let events = "/api/v1/namespaces/default/events";
    vec![
        (
            "/api/v1/namespaces/default/configmaps",
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "planted"},
            "data": {"kubeconfig": CANARY, "a.conf": format!("password = {CANARY}")}, "binaryData": {"b": CANARY_BASE64}}),
        ),
        (
            "/api/v1/namespaces/default/secrets",
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "planted"},
            "data": {"k": CANARY_BASE64}, "stringData": {"p": CANARY}}),
        ),
        (
            "/apis/apps/v1/namespaces/default/deployments",
            json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "planted", "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": format!("{{\"a\":\"{CANARY}\"}}"),
                "openshift.io/token-secret.value": CANARY,
                "other.io/applied": json!({"kind": "Secret", "stringData": {"k": CANARY}}).to_string()}},
            "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "planted"}}, "template": {
                "metadata": {"labels": {"app": "planted"}},
                "spec": {"containers": [{"name": "c", "image": "none",
                    "env": [{"name": "DB_PASSWORD", "value": CANARY}, {"name": "HTTPS_PROXY", "value": format!("http://a:{CANARY}@proxy")}],
                    "args": [format!("--token={CANARY}"), "--password", CANARY],
                    "command": ["sh", "-c", format!("run --client-secret={CANARY}")]}]}}}}),
        ),
        (events, message(1, format!("got http://planted:{CANARY}@host/ and Authorization: Bearer {CANARY}"), )),
        (events, message(2, format!("GET /x?X-Amz-Signature={CANARY}&a=http%3A%2F%2Fa%3A{CANARY}%40host"), )),
        (events, message(3, format!("-----BEGIN PRIVATE KEY-----\n{CANARY}\n-----END PRIVATE KEY-----"), )),
        (events, message(4, format!("sha256~{CANARY}-{CANARY}"))),
        // password: and the canary, in base64.
        (events, message(5, format!("said {}", STANDARD.encode(format!("password: {CANARY}"))), )),
    ]
}

fn group_definition(group: &str, plural: &str, kind: &str) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group, "scope": "Cluster",
            "names": {"plural": plural, "singular": kind.to_ascii_lowercase(), "kind": kind},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            }}}],
        },
    })
}

async fn post(rest: &Rest, path: &str, object: Value) -> Result<()> {
    let call = Call::post(path.to_owned(), object);
    rest.send(&call, Patience::until_found(PATIENCE)).await?;
    Ok(())
}

/// Plants them all; returns how many objects that are.
pub(crate) async fn plant(rest: &Rest) -> Result<usize> {
    let mut planted = 0;
    for (path, object) in native() {
        post(rest, path, object).await?;
        planted += 1;
    }
    for (group, plural, kind, name, fields) in look_alikes() {
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        post(rest, definitions, group_definition(group, plural, kind)).await?;
        let mut object = json!({
            "apiVersion": format!("{group}/v1"), "kind": kind, "metadata": {"name": name},
        });
        if let (Some(object), Value::Object(fields)) = (object.as_object_mut(), fields) {
            object.extend(fields);
        }
        post(rest, &format!("/apis/{group}/v1/{plural}"), object).await?;
        planted += 1;
    }
    Ok(planted)
}

/// A gap and its judgement.
#[derive(Debug)]
pub(crate) struct GapReport {
    resource: String,
    gap: Gap,
    verdict: Option<GapVerdict>,
    reconstructed: u64,
    missing_at_most: Option<u64>,
    requests: u32,
    detail: String,
    /// How many events stand in the reel as read back, of the resource and within the gap.
    stands: u64,
}

/// Returns the gaps of a reel.
pub(crate) fn of(reel: &Reel) -> Vec<GapReport> {
    let mut names: BTreeMap<ResourceId, String> = BTreeMap::new();
    let mut gaps: BTreeMap<GapId, GapReport> = BTreeMap::new();
    for entry in reel.notes() {
        match &entry.note {
            Note::Resource(info) => {
                names.insert(info.id, info.qualified());
            }
            Note::Gap(gap) => {
                let told = GapReport {
                    resource: names.get(&gap.resource).cloned().unwrap_or_default(),
                    stands: stands(reel, gap),
                    gap: gap.clone(),
                    verdict: None,
                    reconstructed: 0,
                    missing_at_most: gap.missing_at_most,
                    requests: 0,
                    detail: String::new(),
                };
                gaps.insert(gap.id, told);
            }
            Note::GapJudged {
                gap,
                verdict,
                reconstructed,
                missing_at_most,
                requests,
                detail,
            } => {
                if let Some(told) = gaps.get_mut(gap) {
                    told.verdict = Some(*verdict);
                    told.reconstructed = *reconstructed;
                    told.missing_at_most = *missing_at_most;
                    told.requests = *requests;
                    told.detail.clone_from(detail);
                }
            }
            _ => {}
        }
    }
    gaps.into_values().collect()
}

fn within(gap: &Gap, revision: u128) -> bool {
    let number = |text: &str| text.parse::<u128>().ok();
    let from = gap.from_rv.as_deref().and_then(number).unwrap_or(0);
    from < revision && number(&gap.to_rv).is_some_and(|to| revision <= to)
}

fn stands(reel: &Reel, gap: &Gap) -> u64 {
    let objects = reel.objects();
    let of_resource = objects.filter(|object| object.key.resource == gap.resource);
    let seqs = of_resource.flat_map(|object| reel.versions(object.id).iter().copied());
    let is_read_back = |seq: &Seq| {
        let head = reel.head(*seq);
        let rv = reel.rv_of(*seq);
        head.is_some_and(|head| head.evidence == Evidence::Reconstructed)
            && rv.is_some_and(|rv| within(gap, rv))
    };
    u64::try_from(seqs.filter(is_read_back).count()).unwrap_or(u64::MAX)
}

/// No gap hides more than it says, and much was read back.
pub(crate) fn check(told: &[GapReport], account: &Account) -> Result<()> {
    for one in told {
        let plural = one.resource.split('.').next().unwrap_or_default();
        let missing = account.in_gaps.iter().filter(|change| {
            let EtcdKey::Object(key) = change.etcd_key() else {
                return false;
            };
            key.resource == plural && within(&one.gap, u128::from(change.revision))
        });
        let missing = u64::try_from(missing.count())?;
        ensure!(
            one.missing_at_most.is_none_or(|most| missing <= most),
            "{missing} changes are missing: {one:?}"
        );
        if one.verdict == Some(GapVerdict::Reconstructed) {
            ensure!(missing == 0, "{missing} changes are missing: {one:?}");
        }
        ensure!(one.stands == one.reconstructed, "not as told: {one:?}");
    }
    let total: u64 = told.iter().map(|one| one.reconstructed).sum();
    ensure!(total > 0, "nothing was read back: {told:#?}");
    let written = ["configmaps", "secrets"];
    // Whether one is closed in full depends on how much others wrote meanwhile.
    let narrowed = told.iter().filter(|one| {
        written.contains(&one.resource.as_str()) && one.missing_at_most < one.gap.missing_at_most
    });
    ensure!(
        narrowed.count() > 0,
        "no gap of what was written was narrowed: {told:#?}"
    );
    Ok(())
}

/// One line a gap that is more than silence.
pub(crate) fn summary(told: &[GapReport]) -> String {
    let mut lines = Vec::new();
    let closed = told.iter();
    let closed = closed.filter(|one| one.verdict == Some(GapVerdict::Reconstructed));
    lines.push(format!(
        "{} of {} gaps closed, {} requests in all",
        closed.count(),
        told.len(),
        told.iter().map(|one| one.requests).sum::<u32>()
    ));
    for one in told {
        let verdict = one.verdict.map_or("not judged", GapVerdict::as_str);
        if one.reconstructed > 0 || one.verdict != Some(GapVerdict::Reconstructed) {
            lines.push(format!(
                "{} ({:?}, {}]: {verdict}, {} read back, at most {:?} missing, {} requests {}",
                one.resource,
                one.gap.from_rv,
                one.gap.to_rv,
                one.reconstructed,
                one.missing_at_most,
                one.requests,
                one.detail
            ));
        }
    }
    lines.join("\n")
}
