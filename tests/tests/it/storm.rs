//! The recorder in a storm: a real control plane that forgets its history every ten seconds, two
//! servers that roll in turn, definitions that come, change and go, and writers that write as fast
//! as they can. Of every revision that etcd made, the reel says where it is.
//!
//! Definitions in a loop: each comes, gets objects at once, changes while they are written to, and
//! goes with them; a few rounds later it comes again under the same name.
//!
//! What a storm was and the outcome of its revisions, in the words of a report.
//!
//! What `verify` claims of the reel, compared with what etcd says.

use crate::plane::{Kind, Turn};
use crate::scene::{Scene, SceneResult};
use anyhow::{Context as _, Result, anyhow, ensure};
use http::StatusCode;
use kubereel_format::{Evidence, Note, Seq};
use kubereel_history::Proof;
use kubereel_tests::claims::Claims;
use kubereel_tests::control_plane::skipped;
use kubereel_tests::footprint::{Footprint, Footprints, NamedProcess};
use kubereel_tests::oracle::{Change, EtcdKey};
use kubereel_tests::rest::{Body, Rest, RestError, Verb};
use kubereel_tests::shaken::{
    Make, Objects, Stopped, Writers, config_map, definition, event, secret, send, try_once,
};
use kubereel_tests::skipped::say_skipped;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// For how many seconds the storm rages; the test takes about half a minute more. Without it there is none.
const SECS: &str = "KUBEREEL_STORM_SECS";

/// A storm that lasts so long has servers roll more than once.
const ROLLS_FROM_SECS: u64 = 180;

/// The time between two rolls: a server that is up again learns what the other one knows.
const BETWEEN: Duration = Duration::from_secs(6);

/// How often the API servers let etcd compact, and how much history stays.
const FORGETS: &str = "--etcd-compaction-interval=10s";

/// Fewer changes than this show nothing, on whatever machine.
const CHANGES_LEAST: usize = 3000;

/// Writers of each kind.
const WRITERS: [(&str, &str, Make); 4] = [
    ("/api/v1/namespaces/default/configmaps", "map", config_map),
    ("/api/v1/namespaces/default/configmaps", "plan", config_map),
    ("/api/v1/namespaces/kube-system/secrets", "secret", secret),
    ("/api/v1/namespaces/default/events", "event", event),
];

/// For how long it is to rage; none if nobody asked for it, which is said.
fn secs() -> Result<Option<u64>> {
    let Ok(text) = std::env::var(SECS) else {
        say_skipped(&format!(
            "a storm: set {SECS}=180, or run `just soak storm`"
        ));
        return Ok(None);
    };
    let secs = text.parse().with_context(|| format!("{SECS}={text}"))?;
    Ok(Some(secs))
}

/// Looks at the recorder, every API server and etcd.
fn footprints(scene: &Scene<'_>) -> Result<Footprints> {
    let control_plane = Arc::clone(scene.control_plane);
    let recorder = scene.recording.id();
    let running = move || {
        let mut running: Vec<NamedProcess> = vec![("recorder".to_owned(), recorder)];
        for index in 0..control_plane.api_servers() {
            let pid = control_plane.api(index).component().pid();
            running.extend(pid.map(|pid| (format!("kube-apiserver {index}"), pid)));
        }
        let etcd = control_plane.etcd().component().pid();
        running.extend(etcd.map(|pid| ("etcd".to_owned(), pid)));
        running
    };
    Ok(Footprints::start(running)?)
}

/// Rolls the servers in turn, by SIGKILL and in order, until the time is over; tells how often.
async fn roll(scene: &Scene<'_>, until: Instant) -> Result<usize> {
    let mut rolls = 0;
    while Instant::now() + BETWEEN < until {
        tokio::time::sleep(BETWEEN).await;
        let server = scene.control_plane.api(rolls % 2);
        if rolls % 4 < 2 {
            server.kill().await?;
        } else {
            server.stop().await?;
        }
        server.start().await?;
        rolls += 1;
    }
    tokio::time::sleep(until.saturating_duration_since(Instant::now())).await;
    Ok(rolls)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_revision_of_a_storm_is_accounted_for() -> Result<()> {
    if skipped() {
        return Ok(());
    }
    let Some(secs) = secs()? else {
        return Ok(());
    };
    let kind = Kind {
        api_servers: 2,
        events_etcd: false,
        flags: &[FORGETS],
    };
    let turn = Turn::on(&kind).await?;
    let scene = Scene::start("storm", turn.control_plane()?).await?;
    let rest = scene.rest().await?;
    let footprints = footprints(&scene)?;
    let began = Instant::now();
    let before = scene.oracle().changes_up_to_now().await?.len();
    let mut writers = Writers::each(0);
    for (path, word, make) in WRITERS {
        let objects = Objects {
            rest: rest.clone(),
            path: path.to_owned(),
            prefix: word.to_owned(),
            make,
            pace: Duration::ZERO,
        };
        writers.begin(|stopped| objects.write(stopped));
    }
    let definitions = Definitions::default();
    writers.begin(|stopped| definitions.clone().storm(rest.clone(), stopped));
    let rolls = roll(&scene, began + Duration::from_secs(secs)).await?;
    writers.stop().await?;
    let raged = began.elapsed();
    let expired = scene.page.number("kubereel_expired_total").await?;
    let costs = footprints.told();
    drop(footprints);
    let settled = scene.settle().await?;
    let claims = &settled.claims;
    let told = Report {
        settled: &settled,
        before,
        raged,
        rolls,
        rounds: definitions.rounds(),
        expired,
        costs,
    };
    eprintln!("{told}");
    eprintln!("{}", words(claims));
    let whole = &claims.proof().integrity;
    ensure!(whole.whole, "{whole:?}");
    revisions_hold(&settled).await?;
    let tally = &settled.tally;
    eprintln!(
        "storm: held against etcd, {} of {} changes are recorded, {} reconstructed, {} declared missing, {} outside what is claimed, {} of resources never listed; {} claims are false",
        tally.recorded,
        tally.all(),
        tally.reconstructed,
        tally.declared,
        tally.outside,
        tally.unlisted,
        tally.false_claims.len()
    );
    let made = settled.changes.len() - before;
    ensure!(made >= CHANGES_LEAST, "only {made} changes");
    ensure!(definitions.rounds() > 0, "no definition came and went");
    ensure!(expired > 0, "no server ever lost its history");
    // A storm too short for a roll is somebody's own choice.
    ensure!(rolls > 1 || secs < ROLLS_FROM_SECS, "only {rolls} rolls");
    Ok(())
}

const PATH: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// How many names there are.
const NAMES: u64 = 3;

/// Longer than a server takes to come back and to learn of a definition.
const PATIENCE: Duration = Duration::from_mins(1);

/// Between two looks at whether a definition is gone.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The loop, and how far it has come.
#[derive(Clone, Default)]
pub(crate) struct Definitions {
    rounds: Arc<AtomicUsize>,
}

impl Definitions {
    /// How many definitions came and went.
    pub(crate) fn rounds(&self) -> usize {
        self.rounds.load(Ordering::SeqCst)
    }

    pub(crate) async fn storm(self, rest: Rest, stopped: Stopped) -> Result<u64> {
        let mut number = 0;
        while !stopped.after(number) {
            round(&rest, number % NAMES).await?;
            self.rounds.fetch_add(1, Ordering::SeqCst);
            number += 1;
        }
        Ok(number)
    }
}

/// One life of a definition.
async fn round(rest: &Rest, number: u64) -> Result<()> {
    let name = format!("storm{number}s");
    let path = format!("/apis/churn.kubereel.dev/v1/namespaces/default/{name}");
    let defined = Body::Json(definition("storm", number));
    send(rest, Verb::Post, PATH, defined).await?;
    let object = |object: u64, round: u64| {
        json!({
            "apiVersion": "churn.kubereel.dev/v1", "kind": format!("Storm{number}"),
            "metadata": {"name": format!("object-{object}")}, "spec": {"round": round},
        })
    };
    for nth in 0..4 {
        write(rest, Verb::Post, &path, Body::Json(object(nth, 0))).await?;
    }
    for again in 1..4 {
        let changed = json!({"spec": {"versions": [{
            "name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                "description": format!("changed {again} times"),
            }},
        }]}});
        let definition = format!("{PATH}/{name}.churn.kubereel.dev");
        send(rest, Verb::Patch, &definition, Body::Merge(changed)).await?;
        // Its storage is torn down and made anew about a second later: they are written before,
        // meanwhile and after.
        for round in 0..40 {
            for nth in 0..4 {
                let body = Body::Merge(object(nth, again * 1000 + round));
                write(rest, Verb::Patch, &format!("{path}/object-{nth}"), body).await?;
            }
        }
    }
    send(rest, Verb::Delete, &format!("{path}/object-0"), Body::Empty).await?;
    remove(rest, &format!("{PATH}/{name}.churn.kubereel.dev")).await
}

/// Writes an object; bears with a server that does not yet know that its definition is here again.
async fn write(rest: &Rest, verb: Verb, path: &str, body: Body) -> Result<Value> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let error = match send(rest, verb, path, body.clone()).await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let status = error
            .downcast_ref::<RestError>()
            .and_then(RestError::status);
        if status != Some(StatusCode::METHOD_NOT_ALLOWED) || Instant::now() > deadline {
            return Err(error);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Deletes a definition and waits until it is gone with all of its objects.
async fn remove(rest: &Rest, path: &str) -> Result<()> {
    send(rest, Verb::Delete, path, Body::Empty).await?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        match try_once(rest, Verb::Get, path, Body::Empty).await {
            Err(error) if error.is_not_found() => return Ok(()),
            Err(error) if !error.is_outage() => return Err(error.into()),
            _ => {}
        }
        ensure!(Instant::now() < deadline, "{path} does not go");
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// The storm, and the result. Each line begins with `storm: `, by which a report finds it.
pub(crate) struct Report<'a> {
    pub(crate) settled: &'a SceneResult,
    /// How many changes there were before it.
    pub(crate) before: usize,
    pub(crate) raged: Duration,
    pub(crate) rolls: usize,
    pub(crate) rounds: usize,
    pub(crate) expired: u64,
    pub(crate) costs: BTreeMap<String, Footprint>,
}

impl Report<'_> {
    /// How many events were read back from the server's history.
    fn reconstructed(&self) -> usize {
        let reel = &self.settled.claims.reel();
        let heads = (0..reel.end().0).filter_map(|seq| reel.head(Seq(seq)));
        heads
            .filter(|head| head.evidence == Evidence::Reconstructed)
            .count()
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let account = &self.settled.account;
        let changes = self.settled.changes.iter().skip(self.before);
        let revisions: BTreeSet<u64> = changes.map(|change| change.revision).collect();
        let millis = u64::try_from(self.raged.as_millis()).unwrap_or(u64::MAX);
        let rate = u64::try_from(revisions.len()).unwrap_or(0) * 1000 / millis.max(1);
        let notes = self.settled.claims.reel().notes().iter();
        let gaps = notes.filter(|entry| matches!(entry.note, Note::Gap(_)));
        let bytes =
            std::fs::metadata(self.settled.claims.reel().path()).map_or(0, |facts| facts.len());
        writeln!(
            f,
            "storm: {} s, {} revisions, {rate} a second; {} rolls, {} definitions came, changed and went, {} answers of 410",
            self.raged.as_secs(),
            revisions.len(),
            self.rolls,
            self.rounds,
            self.expired,
        )?;
        writeln!(
            f,
            "storm: {} changes recorded, {} of them reconstructed; {} in {} declared gaps, {} before the first list of their resource, {} of resources never listed, {} without API, {} lost",
            account.recorded.len(),
            self.reconstructed(),
            account.in_gaps.len(),
            gaps.count(),
            account.before,
            account.unlisted.len(),
            account.without_api,
            account.lost.len(),
        )?;
        writeln!(f, "storm: the reel has {bytes} bytes")?;
        for (name, cost) in &self.costs {
            writeln!(f, "storm: {name}: {cost}")?;
        }
        Ok(())
    }
}

/// What it says, in one line.
pub(crate) fn words(claims: &Claims) -> String {
    let Proof {
        verdict,
        reasons,
        accounts,
        outages,
        ..
    } = claims.proof();
    let accounts: Vec<String> = accounts
        .iter()
        .map(|one| {
            let (all, explained) = (one.revisions, one.explained);
            format!("events explain {explained} of {all} revisions")
        })
        .collect();
    format!(
        "storm: verify says {verdict:?} ({}); {}; {} outages",
        reasons.join(", "),
        accounts.join(", "),
        outages.count
    )
}

/// The account counts as etcd does, and what it cannot explain is not in the reel.
async fn revisions_hold(settled: &SceneResult) -> Result<()> {
    let accounts = settled
        .timeline()
        .accounts()
        .map_err(|why| anyhow!("no account: {why:?}"))?;
    let account = accounts.last().context("an account")?;
    let revisions = |changes: &[Change], is_meant: fn(&Change) -> bool| -> BTreeSet<u64> {
        let meant = changes.iter().filter(|change| is_meant(change));
        let numbers = meant.map(|change| change.revision);
        numbers
            .filter(|number| account.from_rv < *number && *number <= account.to_rv)
            .collect()
    };
    let all = revisions(&settled.oracle.changes_up_to_now().await?, |_| true).len();
    ensure!(
        u64::try_from(all)? == account.total(),
        "etcd counts {all} revisions, the account {}",
        account.total()
    );
    let ranges = account.unexplained.iter();
    let unexplained: BTreeSet<u64> = ranges.flat_map(|range| range.first..=range.last).collect();
    let recorded = revisions(&settled.account.recorded, |_| true);
    let both: Vec<&u64> = unexplained.intersection(&recorded).take(5).collect();
    ensure!(both.is_empty(), "recorded and not explained: {both:?}");
    let hidden = revisions(&settled.changes, |change| {
        change.etcd_key() == EtcdKey::WithoutApi
    });
    // The account names this many runs and counts the rest.
    let is_all = u64::try_from(account.unexplained.len())? == account.ranges;
    let named = match account.unexplained.last() {
        Some(range) if !is_all => range.last,
        _ => account.to_rv,
    };
    let invented: Vec<&u64> = hidden
        .range(..=named)
        .filter(|revision| !unexplained.contains(*revision))
        .take(5)
        .collect();
    ensure!(
        invented.is_empty(),
        "explained, though no API shows them: {invented:?}"
    );
    Ok(())
}
