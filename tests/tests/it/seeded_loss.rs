//! A recorder with a known fault: it loses every 500th event after it arrived. The checks of
//! recordings must find the loss, or their other results mean nothing. Etcd's oracle names exactly
//! the lost revisions; so does a healthy recorder beside it; and `verify` does not call the
//! recording complete.

#![expect(clippy::print_stderr, reason = "says what was lost")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use kubereel_format::{EpochId, Evidence, Note, Reel, ResourceId, Seq};
use kubereel_history::{ReelVerdict, ResourceCompleteness, Timeline};
use kubereel_tests::claims::{Claims, Fact};
use kubereel_tests::control_plane::{ControlPlane, skipped};
use kubereel_tests::oracle::{Account, Change, EtcdKey, Oracle};
use kubereel_tests::recording::{Page, Recording, accounted};
use kubereel_tests::rest::{Body, Call, Patience, Rest, Verb};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

/// Which events are lost.
const EVERY: usize = 500;

/// How long anything that is sure to come may take on a busy machine.
const SURE: Duration = Duration::from_mins(1);

/// A recorder that loses events; killed when it is dropped.
struct Losing(Child);

impl Losing {
    /// Starts it, and waits until it says that it records everything live.
    fn start(reel: &Path, kubeconfig: &Path) -> Result<Self> {
        let child = Command::new(env!("CARGO_BIN_EXE_losing-recorder"))
            .args([reel, kubeconfig])
            .arg(EVERY.to_string())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut losing = Self(child);
        let out = losing.0.stdout.take().context("its words")?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        ensure!(line == "ready\n", "it said {line:?}");
        Ok(losing)
    }

    fn finish(mut self) -> Result<()> {
        kill_process(Pid::from_child(&self.0), Signal::TERM)?;
        let status = self.0.wait()?;
        ensure!(status.success(), "{status}");
        Ok(())
    }
}

impl Drop for Losing {
    fn drop(&mut self) {
        // It has ended already if it could be waited for.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn config_map(name: &str, data: &str) -> serde_json::Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": data}})
}

/// Creates and deletes one config map again and again, then changes one: of a creation or a deletion
/// that is lost what follows tells, of a change nothing does.
async fn write(rest: &Rest, writer: u32) -> Result<()> {
    let path = "/api/v1/namespaces/default/configmaps";
    let name = format!("lost-{writer}");
    let send = async |verb, path: &str, body| {
        let call = Call {
            verb,
            path: path.to_owned(),
            body,
        };
        rest.send(&call, Patience::until_found(SURE)).await
    };
    let object = format!("{path}/{name}");
    for round in 0..300 {
        let body = Body::Json(config_map(&name, &round.to_string()));
        send(Verb::Post, path, body).await?;
        send(Verb::Delete, &object, Body::Empty).await?;
    }
    send(Verb::Post, path, Body::Json(config_map(&name, "last"))).await?;
    for round in 0..350 {
        let body = Body::Merge(config_map(&name, &round.to_string()));
        send(Verb::Patch, &object, body).await?;
    }
    Ok(())
}

/// Writes what only shows that the changes before it were delivered or lost.
async fn write_behind(rest: &Rest) -> Result<()> {
    for number in 0..3 {
        let post = Call::post(
            "/api/v1/namespaces/default/configmaps".to_owned(),
            config_map(&format!("behind-{number}"), ""),
        );
        rest.send(&post, Patience::until_found(SURE)).await?;
    }
    Ok(())
}

/// Waits until a change that a running reel lacks is lost for good: something later of the same resource is
/// there, and a stream has an order. Other resources' streams say nothing of it. The reel's own account has
/// come as far by then, too.
async fn decided(reel: &Path, oracle: &Oracle, until: u64) -> Result<()> {
    let copy = reel.with_extension("copy");
    let deadline = Instant::now() + SURE;
    let resource = |change: &Change| match change.etcd_key() {
        EtcdKey::Object(key) => Some(key.resource),
        EtcdKey::WithoutApi | EtcdKey::Unknown => None,
    };
    loop {
        let changes = oracle.changes_up_to_now().await?;
        std::fs::copy(reel, &copy)?;
        // A copy that is made while the file is written need not open.
        let account = Reel::open(&copy).ok().and_then(|reel| {
            let account = Account::of(&reel, &changes).ok()?;
            let timeline = Timeline::new(reel);
            let reached = timeline.accounts().ok()?.last()?.to_rv;
            (until <= reached).then_some(account)
        });
        let open: Option<Vec<Change>> = account.map(|account| {
            let mut last = BTreeMap::new();
            for change in &account.recorded {
                last.insert(resource(change), change.revision);
            }
            account
                .lost
                .into_iter()
                .filter(|change| change.revision <= until)
                .filter(|change| last.get(&resource(change)) < Some(&change.revision))
                .collect()
        });
        if open.as_ref().is_some_and(Vec::is_empty) {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "not decided: {open:#?}");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// The revisions that came live, behind the first list of their resource in this and in another reel.
fn live(reel: &Reel, first_lists: impl Fn(&str) -> Option<u128>) -> BTreeSet<u128> {
    let mut names = BTreeMap::new();
    for entry in reel.notes() {
        if let Note::Resource(info) = &entry.note {
            names.insert(info.id, info.qualified());
        }
    }
    let is_live = |seq: &Seq| reel.evidence_of(*seq) == Some(Evidence::Live);
    let seqs = (0..reel.end().0).map(Seq).filter(is_live);
    let revision = |seq: Seq| {
        let key = reel.key(reel.object_of(seq)?)?;
        let name = names.get(&key.resource)?;
        let first = first_lists(name)?;
        reel.rv_of(seq).filter(|rv| first < *rv)
    };
    seqs.filter_map(revision).collect()
}

/// The revision of a resource's first complete list.
fn first_list(reel: &Reel, name: &str) -> Option<u128> {
    let notes = || reel.notes().iter().map(|entry| &entry.note);
    let id: ResourceId = notes().find_map(|note| match note {
        Note::Resource(info) if info.qualified() == name => Some(info.id),
        _ => None,
    })?;
    notes().find_map(|note| match note {
        Note::Synced { resource, rv, .. } if *resource == id => rv.parse().ok(),
        _ => None,
    })
}

/// `verify` accounts for each lost revision as unexplained, and calls nothing complete in which the
/// life of an object shows that something is missing.
fn verify_notices(claims: &Claims, lost: &[Change]) -> Result<()> {
    let accounts = claims.timeline().accounts();
    let accounts = accounts.map_err(|error| anyhow::anyhow!("{error:?}"))?;
    let account = accounts.last().context("an account")?;
    for change in lost {
        let is_unexplained = account
            .unexplained
            .iter()
            .any(|range| (range.first..=range.last).contains(&change.revision));
        ensure!(is_unexplained, "{change:?} is explained");
    }
    let config_maps = claims.proof().resources.iter();
    let config_maps = config_maps.filter(|one| one.resource == "configmaps");
    for one in config_maps {
        ensure!(one.state == ResourceCompleteness::Incomplete, "{one:#?}");
        eprintln!("{:#?}", one.unseen);
    }
    let verdict = claims.proof().verdict;
    ensure!(verdict == ReelVerdict::Incomplete, "{verdict:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_event_that_a_recorder_loses_is_named() -> Result<()> {
    if skipped() {
        return Ok(());
    }
    let (control_plane, oracle) = ControlPlane::builder().start_with_oracle().await?;
    let folder = tempfile::tempdir()?;
    let kubeconfig = control_plane.kubeconfig(0);
    let whole = folder.path().join("whole.reel");
    let healthy = Recording::start(&whole, kubeconfig, &["--listen", "127.0.0.1:0"])?;
    Page::of(&healthy, SURE).await?.until_ready(SURE).await?;
    let holed = folder.path().join("holed.reel");
    let losing = Losing::start(&holed, kubeconfig)?;
    let rest = Rest::new(vec![control_plane.client(0).await?]);
    tokio::try_join!(write(&rest, 0), write(&rest, 1))?;
    let changes = oracle.changes_up_to_now().await?;
    let until = changes.last().context("a change")?.revision;
    accounted(&healthy, &changes, SURE).await?;
    // Of several changes behind the last that is judged one comes at least.
    write_behind(&rest).await?;
    decided(&holed, &oracle, until).await?;
    losing.finish()?;
    let ended = healthy.finish(SURE)?;
    ensure!(ended.status.success(), "{}", ended.log);

    // The oracle of etcd says what is lost.
    let reel = Reel::open(&holed)?;
    let account = Account::of(&reel, &changes)?;
    let lost: BTreeSet<u128> = account
        .lost
        .iter()
        .map(|change| u128::from(change.revision))
        .collect();
    ensure!(account.check().is_err(), "nothing is missed");

    // This many of what came, and exactly those that a healthy recorder has.
    let other = Reel::open(&whole)?;
    let recorded = live(&reel, |name| first_list(&reel, name));
    let until = u128::from(until);
    let mut truth = live(&other, |name| first_list(&reel, name));
    truth.retain(|revision| !recorded.contains(revision) && *revision <= until);
    ensure!(
        lost == truth,
        "{lost:?} are lost, the oracle says {truth:?}"
    );
    let due = recorded.len() / (EVERY - 1);
    ensure!(
        lost.len() >= 3 && (due.saturating_sub(1)..=due).contains(&lost.len()),
        "{} lost, {due} due",
        lost.len()
    );

    // What is claimed of the reel is found to be false at exactly these, and of the healthy one true.
    let claims = Claims::read(&holed)?;
    let facts = Fact::of_etcd(&changes, EpochId(0))?;
    let tally = claims.against(&facts);
    let wrong: BTreeSet<u128> = tally.wrong_revisions.iter().copied().collect();
    ensure!(
        wrong == lost,
        "{wrong:?} are found wrong, {lost:?} are lost"
    );
    ensure!(tally.check().is_err(), "no claim is false");
    verify_notices(&claims, &account.lost)?;
    let claims = Claims::read(&whole)?;
    ensure!(claims.proof().verdict == ReelVerdict::Complete);
    let tally = claims.against(&facts).check()?;
    eprintln!(
        "{} of {} changes lost and named: {lost:?}",
        lost.len(),
        tally.all()
    );
    Ok(())
}
