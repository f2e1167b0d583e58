//! What `verify` proves of recordings of a real control plane, compared with what etcd itself says:
//! the account of revisions to the last one, the bounds of gaps, the revision clock, and an outage.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use jiff::Timestamp;
use kubereel_format::OutageClass;
use kubereel_history::{GapOutcome, Integrity, Proof, ReelVerdict, RevisionAccount, Timeline};
use kubereel_tests::control_plane::{ControlPlane, skipped};
use kubereel_tests::oracle::{self, EtcdKey, Oracle};
use kubereel_tests::recording::{Page, Recording, accounted, program};
use kubereel_tests::rest::{Body, Call, Patience, Rest, now};
use serde_json::{Value, json};

/// How long anything that is sure to come may take on a busy machine.
const SURE: Duration = Duration::from_mins(1);

/// How long the API is out.
const OUT: Duration = Duration::from_secs(10);

/// Creates a config map and changes it this many times; returns when the last change was requested
/// and made, and its revision.
async fn write(rest: &Rest, name: &str, changes: u32) -> Result<(Timestamp, Timestamp, u64)> {
    let path = "/api/v1/namespaces/default/configmaps";
    let map = |round: u32| {
        json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name}, "data": {"round": round.to_string()}})
    };
    let patience = Patience::until_found(SURE);
    let post = Call::post(path.to_owned(), map(0));
    rest.send(&post, patience).await?;
    let mut last = None;
    for round in 1..=changes {
        let change = Call::patch(format!("{path}/{name}"), Body::Merge(map(round)));
        let asked = now();
        let answer = rest.send(&change, patience).await?;
        let object: &Value = &answer.body;
        let revision = object
            .pointer("/metadata/resourceVersion")
            .and_then(Value::as_str);
        let revision = revision.context("a revision")?.parse()?;
        last = Some((asked, now(), revision));
    }
    last.context("a change")
}

/// Waits until the running reel explains a revision, as a copy of it shows. That it accounts for it is not
/// enough: another resource's list may come so far while this one's stream is still away.
async fn explained(recording: &Recording, revision: u64) -> Result<()> {
    let copy = recording.reel().with_extension("copy");
    let deadline = Instant::now() + SURE;
    loop {
        std::fs::copy(recording.reel(), &copy)?;
        // A copy that is made while the file is written need not open.
        let account = Timeline::open(&copy)
            .ok()
            .and_then(|timeline| timeline.accounts().ok()?.last().cloned());
        let is_explained = account.as_ref().is_some_and(|account| {
            let mut unexplained = account.unexplained.iter();
            account.to_rv >= revision
                && !unexplained.any(|range| (range.first..=range.last).contains(&revision))
        });
        if is_explained {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "{revision} by {account:?}");
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
}

/// The account is exactly what etcd's own story makes of the reel. Behind `arrived` the servers' own writes
/// may be missing: the recording was ending.
fn agrees(timeline: &Timeline, oracle: &Oracle, arrived: u64) -> Result<RevisionAccount> {
    let accounts = timeline
        .accounts()
        .map_err(|error| anyhow::anyhow!("{error:?}"))?;
    let account = accounts.last().context("an account")?.clone();
    let changes = oracle.changes();
    let mut told = oracle::Account::of(timeline.reel(), &changes)?;
    told.lost.retain(|change| change.revision <= arrived);
    told.check()?;
    let is_within = |revision: &u64| account.from_rv < *revision && *revision <= account.to_rv;
    let all: BTreeSet<u64> = changes
        .iter()
        .map(|change| change.revision)
        .filter(is_within)
        .collect();
    ensure!(
        u64::try_from(all.len())? == account.total(),
        "etcd counts {} revisions, the account {}",
        all.len(),
        account.total()
    );
    let recorded: BTreeSet<u64> = told.recorded.iter().map(|change| change.revision).collect();
    let expected: Vec<u64> = all.difference(&recorded).copied().collect();
    let unexplained: Vec<u64> = account
        .unexplained
        .iter()
        .flat_map(|range| range.first..=range.last)
        .collect();
    ensure!(account.shared == 0, "{account:?}");
    // A list that ends a gap explains a revision that etcd's own kind of change does not fit.
    let invented: Vec<_> = unexplained
        .iter()
        .filter(|revision| !expected.contains(revision))
        .collect();
    ensure!(
        invented.is_empty(),
        "recorded, and not explained: {invented:?}"
    );
    for revision in expected {
        let is_listed = !unexplained.contains(&revision);
        let mut of_it = changes.iter().filter(|change| change.revision == revision);
        let in_gap = told
            .in_gaps
            .iter()
            .any(|change| change.revision == revision);
        ensure!(
            !is_listed || in_gap,
            "explained by nothing that etcd knows: {:?}",
            of_it.next()
        );
    }
    Ok(account)
}

/// No gap claims less than what etcd says is missing in it.
fn bounds_hold(timeline: &Timeline, oracle: &Oracle) -> Result<()> {
    let told = oracle::Account::of(timeline.reel(), &oracle.changes())?;
    for info in timeline.resources().iter() {
        let Some(coverage) = timeline.coverage(info.id) else {
            continue;
        };
        for hole in coverage
            .gaps(GapOutcome::MayMiss)
            .chain(coverage.gaps(GapOutcome::ProvenEmpty))
        {
            let within = |bound: &Option<String>| bound.as_ref().and_then(|rv| rv.parse().ok());
            let from: u64 = within(&hole.gap.from_rv).unwrap_or(0);
            let to: u64 = hole.gap.to_rv.parse()?;
            let missing = told.in_gaps.iter().filter(|change| {
                let is_of = matches!(change.etcd_key(), EtcdKey::Object(key)
                    if key.resource == info.plural);
                is_of && from < change.revision && change.revision <= to
            });
            let missing = u64::try_from(missing.count())?;
            if let Some(bound) = hole.missing_at_most() {
                // What the list after the gap shows is not missing.
                ensure!(
                    missing.saturating_sub(hole.gap.differences) <= bound,
                    "{}: {missing} missing, at most {bound} claimed",
                    info.qualified()
                );
            }
        }
    }
    Ok(())
}

fn proof(timeline: &Timeline) -> Proof {
    Proof::of(timeline, Integrity::read(timeline, |_| {}))
}

fn exit_code(reel: &Path) -> Result<Option<i32>> {
    let output = Command::new(program()?).arg("verify").arg(reel).output()?;
    Ok(output.status.code())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_verify_says_is_what_etcd_says() -> Result<()> {
    if skipped() {
        return Ok(());
    }
    let (control_plane, oracle) = ControlPlane::builder().start_with_oracle().await?;
    let rest = Rest::new(vec![control_plane.client(0).await?]);
    let folder = tempfile::tempdir()?;
    quiet(&control_plane, &oracle, &rest, folder.path()).await?;
    out(&control_plane, &oracle, &rest, folder.path()).await
}

/// Starts a recording of everything.
async fn record(control_plane: &ControlPlane, reel: &Path) -> Result<(Recording, Page)> {
    let kubeconfig = control_plane.kubeconfig(0);
    let recording = Recording::start(reel, kubeconfig, &["--listen", "127.0.0.1:0"])?;
    let page = Page::of(&recording, SURE).await?;
    page.until_ready(SURE).await?;
    Ok((recording, page))
}

/// Ends it once everything up to now has arrived, of whatever resource; gives the reel and the last revision
/// that must be in it. Then waits until the oracle has seen all that the reel may know of.
async fn end(recording: Recording, reel: &Path, oracle: &Oracle) -> Result<(Timeline, u64)> {
    let changes = oracle.changes_up_to_now().await?;
    accounted(&recording, &changes, SURE).await?;
    let ended = recording.finish(SURE)?;
    ensure!(ended.status.success(), "{}", ended.log);
    oracle.changes_up_to_now().await?;
    let arrived = changes.last().context("a change")?.revision;
    Ok((Timeline::open(reel)?, arrived))
}

/// Nothing happens to it: complete, and what is not explained has no API.
async fn quiet(
    control_plane: &ControlPlane,
    oracle: &Oracle,
    rest: &Rest,
    folder: &Path,
) -> Result<()> {
    let reel = folder.join("quiet.reel");
    let (recording, _) = record(control_plane, &reel).await?;
    let (asked, made, revision) = write(rest, "quiet", 40).await?;
    explained(&recording, revision).await?;
    let (timeline, arrived) = end(recording, &reel, oracle).await?;
    let account = agrees(&timeline, oracle, arrived)?;
    ensure!(account.left_out.is_empty(), "{:?}", account.left_out);
    ensure!(account.explained >= 30, "{account:?}");
    let changes = oracle.changes().into_iter();
    for change in changes.filter(|change| change.revision <= arrived) {
        let is_unexplained = account
            .unexplained
            .iter()
            .any(|range| (range.first..=range.last).contains(&change.revision));
        ensure!(
            !is_unexplained || matches!(change.etcd_key(), EtcdKey::WithoutApi),
            "{change:?}"
        );
    }
    let proof_of_quiet = proof(&timeline);
    ensure!(
        proof_of_quiet.verdict == ReelVerdict::Complete,
        "{:?}",
        proof_of_quiet.reasons
    );
    ensure!(proof_of_quiet.outages.count == 0);
    ensure!(exit_code(&reel)? == Some(0));
    is_dated(&timeline, revision, asked, made)
}

/// The only server is gone for ten seconds.
async fn out(
    control_plane: &ControlPlane,
    oracle: &Oracle,
    rest: &Rest,
    folder: &Path,
) -> Result<()> {
    let reel = folder.join("out.reel");
    let (recording, page) = record(control_plane, &reel).await?;
    let (_, _, revision) = write(rest, "out", 20).await?;
    explained(&recording, revision).await?;
    let killed = now();
    control_plane.api(0).kill().await?;
    // The length of the outage is what is measured.
    tokio::time::sleep(OUT).await;
    let starting = now();
    control_plane.api(0).start().await?;
    page.until_ready(SURE).await?;
    let (_, _, revision) = write(rest, "out-again", 20).await?;
    explained(&recording, revision).await?;
    let (timeline, arrived) = end(recording, &reel, oracle).await?;
    let account = agrees(&timeline, oracle, arrived)?;
    ensure!(account.explained >= 20, "{account:?}");
    bounds_hold(&timeline, oracle)?;
    let outages: Vec<_> = timeline
        .outages()
        .iter()
        .filter(|outage| outage.probed.is_some())
        .collect();
    let [outage] = outages.as_slice() else {
        anyhow::bail!("one outage: {outages:#?}");
    };
    let probed = outage.probed.as_ref().context("by probes")?;
    ensure!(probed.class == OutageClass::Connect, "{outage:?}");
    let port = control_plane.api(0).port();
    ensure!(
        probed.endpoint == format!("https://127.0.0.1:{port}"),
        "{outage:?}"
    );
    let micros = |at: Timestamp| at.as_microsecond();
    ensure!(
        micros(killed) <= outage.from.micros + 1_000_000
            && outage.from.micros <= micros(killed) + 4_000_000
            && outage.to.micros >= micros(starting),
        "{outage:?}, killed {killed}, started {starting}"
    );
    ensure!(proof(&timeline).outages.count == 1);
    Ok(())
}

/// The probes date a change that the test made, from both sides.
fn is_dated(timeline: &Timeline, revision: u64, asked: Timestamp, made: Timestamp) -> Result<()> {
    let reel = timeline.reel();
    let seq = (0..reel.end().0)
        .map(kubereel_format::Seq)
        .find(|&seq| reel.rv_of(seq) == Some(u128::from(revision)))
        .context("it is recorded")?;
    let bounds = timeline.committed(seq).context("it is dated")?;
    let after = bounds.after.context("from below")?;
    ensure!(
        after.micros <= made.as_microsecond() && asked.as_microsecond() <= bounds.before.micros,
        "{bounds:?}, asked {asked}, made {made}"
    );
    let width = bounds.before.micros_since(after);
    ensure!((0..=6_000_000).contains(&width), "{bounds:?}");
    Ok(())
}
