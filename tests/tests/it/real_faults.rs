//! What happens to real control planes, done to one while the recorder runs: whatever etcd says was
//! changed is in the reel or inside a gap that the reel declares, and nothing that the reel claims
//! to be complete lacks anything.
//!
//! Each fault is one test. What two servers that roll in turn show lies in `record_completeness`.
//!
//! Who writes to the cluster while it is shaken. It does not hide what a server refuses.
//!
//! As many writes as the machine carries.
//!
//! Three API servers on one etcd, rolled one after the other.
//!
//! The only API server killed and started again while it is written to.
//!
//! etcd put back from a backup: what was written after it never happened, and its revisions are
//! given out again.
//!
//! Objects deleted and created again under one name, in a tight loop, while connections are cut.
//!
//! Events in an etcd of their own: two sequences of revisions, whose numbers are the same.

#![expect(clippy::print_stderr, reason = "says how hard each run was")]

use crate::plane::{Kind, PLAIN, Turn};
use crate::scene::{Scene, SceneResult};
use anyhow::{Context as _, Result, ensure};
use kubereel_format::{EpochId, EventType, GapCause, Note, Reel, Seq};
use kubereel_history::{GapOutcome, ReelVerdict, Timeline};
use kubereel_tests::claims::{Claims, Fact};
use kubereel_tests::control_plane::skipped;
use kubereel_tests::oracle::{Change, Oracle};
use kubereel_tests::proxy::{ConnectionEnd, CutEvery};
use kubereel_tests::rest::{Body, Rest, Verb};
use kubereel_tests::shaken::{MAPS, Objects, Stopped, Writers, config_map, event, send};
use kubereel_tests::skipped::skipped_as_slow;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

mod aggregated;
mod conversions;
mod definitions;
mod expiring;

/// Anything that must come comes within this time, also on a busy machine.
const SURE: Duration = Duration::from_mins(2);

const FOR: Duration = Duration::from_secs(3);

/// At once: two cores are busy with fewer.
const WRITERS: u32 = 32;

/// A machine whose every core is taken by others still does this.
const LEAST_A_SECOND: f64 = 50.0;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_under_as_many_writes_as_the_machine_carries() -> Result<()> {
    if skipped() || skipped_as_slow("as many writes as the machine carries") {
        return Ok(());
    }
    let turn = Turn::on(&PLAIN).await?;
    let scene = Scene::start("as many writes as possible", turn.control_plane()?).await?;
    let mut writers = Writers::each(10);
    let began = Instant::now();
    writers.maps(&scene.rest().await?, "load", WRITERS, Duration::ZERO);
    tokio::time::sleep(FOR).await;
    let written = writers.stop().await?;
    let rate = f64::from(u32::try_from(written)?) / began.elapsed().as_secs_f64();
    let told = scene.settle().await?;
    turn.hand_on();
    eprintln!("{written} writes, {rate:.0}/s, the recorder beside them");
    ensure!(rate > LEAST_A_SECOND, "only {rate:.0} writes a second");
    told.nothing_missing(|_| true)?;
    ensure!(
        told.proof().verdict == ReelVerdict::Complete,
        "{:?}",
        told.proof().reasons
    );
    Ok(())
}

const THREE: Kind = Kind {
    api_servers: 3,
    events_etcd: false,
    flags: &[],
};

/// What an installer waits between two servers, shortened as all else here is.
const DELAY: Duration = Duration::from_secs(2);

/// Between two writes of one writer.
const PACE: Duration = Duration::from_millis(20);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_servers_rolled_with_and_without_delay_cost_nothing() -> Result<()> {
    if skipped() || skipped_as_slow("three servers rolled") {
        return Ok(());
    }
    let turn = Turn::on(&THREE).await?;
    let control_plane = turn.control_plane()?;
    let scene = Scene::start("three servers rolled", control_plane).await?;
    let rest = scene.rest().await?;
    let mut writers = Writers::each(120);
    writers.maps(&rest, "rolled", 2, PACE);
    let events = Objects {
        rest: rest.clone(),
        path: "/api/v1/namespaces/default/events".to_owned(),
        prefix: "rolled".to_owned(),
        make: event,
        pace: PACE,
    };
    writers.begin(|stopped| events.write(stopped));
    for index in 0..control_plane.api_servers() {
        tokio::time::sleep(DELAY).await;
        control_plane.api(index).kill().await?;
        control_plane.api(index).start().await?;
    }
    // Each goes as soon as the one before it is back: after the third nobody has been up for long.
    for index in 0..control_plane.api_servers() {
        control_plane.api(index).stop().await?;
        control_plane.api(index).start().await?;
    }
    scene.page.until_ready(SURE).await?;
    let written = writers.stop().await?;
    let expired = scene.page.number("kubereel_expired_total").await?;
    let told = scene.settle().await?;
    eprintln!("{written} writes, {expired} answers of 410");
    ensure!(written > 300, "only {written} writes");
    told.nothing_missing(|_| true)
}

/// Longer than the recorder waits between two probes.
const OUT: Duration = Duration::from_millis(2_500);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_only_server_killed_under_writes_costs_what_the_reel_says() -> Result<()> {
    if skipped() {
        return Ok(());
    }
    let turn = Turn::on(&PLAIN).await?;
    let scene = Scene::start("only server killed", turn.control_plane()?).await?;
    let server = scene.control_plane.api(0);
    let mut writers = Writers::each(40);
    writers.maps(&scene.rest().await?, "restarted", 4, Duration::ZERO);
    tokio::time::sleep(Duration::from_secs(1)).await;
    server.kill().await?;
    tokio::time::sleep(OUT).await;
    server.start().await?;
    scene.page.until_ready(SURE).await?;
    let written = writers.stop().await?;
    let told = scene.settle().await?;
    turn.hand_on();
    ensure!(written > 100, "only {written} writes");
    let outages = told.proof().outages.count;
    eprintln!("{written} writes, {outages} outages");
    ensure!(outages > 0, "nobody noticed that the server was away");
    // The changes that only the killed server had delivered are read back at least in part.
    ensure!(told.tally.reconstructed > 0, "nothing was read back");
    Ok(())
}

/// How many objects come after the restore.
const NEW: usize = 30;

async fn write(rest: &Rest, prefix: &str, count: usize) -> Result<()> {
    for number in 0..count {
        let made = config_map(&format!("{prefix}-{number}"), 0);
        send(rest, Verb::Post, MAPS, Body::Json(made)).await?;
    }
    Ok(())
}

/// Where the reel says that another history begins.
fn other_history(reel: &Reel) -> Option<Seq> {
    reel.notes().iter().find_map(|entry| match entry.note {
        Note::Cluster { epoch, .. } if epoch != EpochId(0) => Some(entry.seq),
        _ => None,
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_etcd_put_back_from_a_backup_is_another_history() -> Result<()> {
    if skipped() {
        return Ok(());
    }
    let turn = Turn::on(&PLAIN).await?;
    let control_plane = turn.control_plane()?;
    let scene = Scene::start("etcd put back", control_plane).await?;
    let rest = scene.rest().await?;
    let backup = tempfile::tempdir()?;
    let backup = backup.path().join("etcd");
    write(&rest, "kept", 20).await?;
    control_plane.etcd().back_up(&backup)?;
    write(&rest, "undone", 150).await?;
    let first = scene.catch_up().await?;

    control_plane.api(0).kill().await?;
    control_plane.etcd().component().kill().await?;
    control_plane.etcd().put_back(&backup)?;
    control_plane.etcd().start().await?;
    let endpoint = control_plane.etcd().endpoint();
    let second = Oracle::open(endpoint, 1).await?;
    let restored = second.current_revision().await?;
    second.wait_for_revision(restored).await?;
    let known = second.changes().len();
    control_plane.api(0).start().await?;
    scene
        .until("another history", |reel| other_history(reel).is_some())
        .await?;
    scene.page.until_ready(SURE).await?;
    write(&rest, "new", NEW).await?;
    let changes = second.changes_up_to_now().await?;
    let later = changes.get(known..).unwrap_or_default();
    let later = Fact::of_etcd(later, EpochId(1))?;
    let deadline = Instant::now() + Duration::from_secs(20);
    while Instant::now() < deadline && recorded(&scene, &later) < NEW {
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    let told = scene.end(first, later.clone())?;
    let tally = told.claims.against(&later);
    eprintln!("put back at {restored}; of the new history {tally:?}");
    ensure!(tally.recorded >= NEW, "only {}", tally.recorded);
    nothing_is_claimed_across(&told)
}

/// How much of the later history is in the reel.
fn recorded(scene: &Scene<'_>, later: &[Fact]) -> usize {
    let tally = scene.look(|timeline| {
        let claims = Claims::read(timeline.reel().path())?;
        Ok(claims.against(later).recorded)
    });
    // A copy that was taken in the middle of a write may not open: the next one will.
    tally.unwrap_or(0)
}

fn nothing_is_claimed_across(told: &SceneResult) -> Result<()> {
    let reel = told.claims.reel();
    let begin = other_history(reel).context("another history")?;
    let mut gaps = 0;
    for info in told.timeline().resources().iter() {
        let Some(coverage) = told.timeline().coverage(info.id) else {
            continue;
        };
        for span in coverage.spans() {
            ensure!(
                span.begun_by >= begin || span.proven_by < begin,
                "{} is said to be whole across two histories: {span:?}",
                info.qualified()
            );
        }
        let holes = coverage.gaps(GapOutcome::MayMiss);
        gaps += holes
            .filter(|hole| hole.gap.cause == GapCause::NewEpoch)
            .count();
        let closed = coverage
            .gaps(GapOutcome::ProvenEmpty)
            .chain(coverage.gaps(GapOutcome::ReadBack));
        let closed: Vec<_> = closed.collect();
        ensure!(
            closed
                .iter()
                .all(|hole| hole.gap.cause != GapCause::NewEpoch),
            "a gap between histories is said to hide nothing: {closed:#?}"
        );
    }
    ensure!(gaps > 20, "only {gaps} resources have a gap");
    ensure!(
        told.proof().verdict == ReelVerdict::Incomplete,
        "{:?}",
        told.proof().verdict
    );
    let epochs: Vec<u32> = told.proof().accounts.iter().map(|one| one.epoch).collect();
    ensure!(matches!(epochs.as_slice(), [0] | [0, 1]), "{epochs:?}");
    let last = told.changes.last().map(|change| change.revision);
    let account = told.proof().accounts.first().context("an account")?;
    let to: u64 = account.to_rv.parse()?;
    ensure!(Some(to) <= last, "an account up to {to} of {last:?}");
    Ok(())
}

const SERVED_FOR: Duration = Duration::from_secs(4);

const CUT_EVERY: CutEvery = CutEvery {
    period: Duration::from_millis(250),
    how: ConnectionEnd::Reset,
};

/// The lives of each name, in order: uid and first version.
type Lives = Arc<Mutex<BTreeMap<String, Vec<(String, u128)>>>>;

async fn again_and_again(rest: Rest, name: String, lives: Lives, stopped: Stopped) -> Result<u64> {
    let path = format!("{MAPS}/{name}");
    let mut written = 0;
    while !stopped.after(written) {
        let object = send(
            &rest,
            Verb::Post,
            MAPS,
            Body::Json(config_map(&name, written)),
        )
        .await?;
        let text = |pointer: &str| {
            let text = object.pointer(pointer).and_then(Value::as_str);
            text.map(str::to_owned).context("the server's own fields")
        };
        let life = (
            text("/metadata/uid")?,
            text("/metadata/resourceVersion")?.parse()?,
        );
        lives
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(name.clone())
            .or_default()
            .push(life);
        send(&rest, Verb::Delete, &path, Body::Empty).await?;
        written += 2;
    }
    Ok(written)
}

/// Every life is an object of its own, from its creation to its deletion.
fn are_told_apart(
    timeline: &Timeline,
    lives: &BTreeMap<String, Vec<(String, u128)>>,
) -> Result<()> {
    let reel = timeline.reel();
    let mut ends: BTreeMap<(String, String), (EventType, u128, EventType)> = BTreeMap::new();
    for object in reel.objects() {
        let versions = reel.versions(object.id);
        let (Some(first), Some(last)) = (versions.first(), versions.last()) else {
            continue;
        };
        let kinds = reel.kind_of(*first).zip(reel.kind_of(*last));
        if let (Some((begin, end)), Some(rv)) = (kinds, reel.rv_of(*first)) {
            let key = (object.key.name.to_owned(), object.key.uid.to_string());
            ends.insert(key, (begin, rv, end));
        }
    }
    for (name, of_name) in lives {
        for (uid, rv) in of_name {
            let told = ends.get(&(name.clone(), uid.clone()));
            ensure!(
                told == Some(&(EventType::Added, *rv, EventType::Deleted)),
                "{name} {uid} of {rv}: {told:?}"
            );
        }
        let known: BTreeSet<&str> = of_name.iter().map(|(uid, _)| uid.as_str()).collect();
        let told = ends.keys().filter(|(told, _)| told == name).count();
        ensure!(known.len() == told, "{name}: {told} of {}", known.len());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_life_under_one_name_is_told_apart_while_connections_are_cut() -> Result<()> {
    if skipped() {
        return Ok(());
    }
    let turn = Turn::on(&PLAIN).await?;
    let scene = Scene::start("deleted and recreated", turn.control_plane()?).await?;
    let rest = scene.rest().await?;
    let lives = Lives::default();
    scene
        .proxy
        .change(|faults| faults.cut_every = Some(CUT_EVERY));
    let mut writers = Writers::each(80);
    for number in 0..3 {
        let (rest, lives) = (rest.clone(), Arc::clone(&lives));
        let name = format!("again-{number}");
        writers.begin(|stopped| again_and_again(rest, name, lives, stopped));
    }
    tokio::time::sleep(SERVED_FOR).await;
    let written = writers.stop().await?;
    let cut = scene.proxy.counts().cut;
    let told = scene.settle().await?;
    turn.hand_on();
    let lives = lives.lock().unwrap_or_else(PoisonError::into_inner);
    let count: usize = lives.values().map(Vec::len).sum();
    eprintln!("{written} writes, {count} lives of 3 names, {cut} connections cut");
    ensure!(count > 100, "only {count} lives");
    ensure!(cut > 100, "only {cut} connections were cut");
    told.nothing_missing(|_| true)?;
    ensure!(
        told.proof().verdict == ReelVerdict::Complete,
        "{:?}",
        told.proof().reasons
    );
    are_told_apart(told.timeline(), &lives)
}

const TWO_ETCDS: Kind = Kind {
    api_servers: 1,
    events_etcd: true,
    flags: &[],
};

const IS_EVENT: &str = "/registry/events/";

fn events(rest: &Rest, prefix: &str) -> Objects {
    Objects {
        rest: rest.clone(),
        path: "/api/v1/namespaces/default/events".to_owned(),
        prefix: prefix.to_owned(),
        make: event,
        pace: Duration::ZERO,
    }
}

/// Writes Events until their etcd has come as far as the other one: from now on a number says nothing of
/// whose it is.
async fn bring_together(rest: &Rest, events_etcd: &Oracle, main: &Oracle) -> Result<()> {
    let mut writers = Writers::each(1);
    for number in 0..4 {
        let objects = events(rest, &format!("early-{number}"));
        writers.begin(|stopped| objects.write(stopped));
    }
    while events_etcd.current_revision().await? < main.current_revision().await? {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    writers.stop().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_in_an_etcd_of_their_own_prove_nothing_of_the_rest() -> Result<()> {
    if skipped() || skipped_as_slow("a second etcd for Events") {
        return Ok(());
    }
    let turn = Turn::on(&TWO_ETCDS).await?;
    let control_plane = turn.control_plane()?;
    let second = control_plane.events_etcd().context("a second etcd")?;
    let oracle = Oracle::open(second.endpoint(), 1).await?;
    let main = Oracle::open(control_plane.etcd().endpoint(), 1).await?;
    let rest = Rest::new(vec![control_plane.client(0).await?]);
    bring_together(&rest, &oracle, &main).await?;
    let mut scene = Scene::start("second etcd for Events", control_plane).await?;
    scene.also(oracle, IS_EVENT);
    let mut writers = Writers::each(60);
    writers.maps(&rest, "main", 2, Duration::from_millis(2));
    let objects = events(&rest, "late");
    writers.begin(|stopped| objects.write(stopped));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let server = control_plane.api(0);
    server.kill().await?;
    server.start().await?;
    scene.page.until_ready(SURE).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let written = writers.stop().await?;
    let told = scene.settle().await?;
    ensure!(written > 100, "only {written} writes");
    is_not_mixed(&told)
}

/// The account of the main sequence explains no revision by an Event.
fn is_not_mixed(told: &SceneResult) -> Result<()> {
    let (of_events, of_main): (Vec<&Change>, Vec<&Change>) = told
        .changes
        .iter()
        .partition(|change| change.key.contains(IS_EVENT));
    let overlap = of_events.iter().map(|change| change.revision).max();
    let first = of_main.iter().map(|change| change.revision).min();
    ensure!(first < overlap, "the numbers are not the same ones");
    let accounts = told.timeline().accounts();
    let accounts = accounts.map_err(|error| anyhow::anyhow!("{error:?}"))?;
    let account = accounts.last().context("an account")?;
    let recorded: BTreeSet<u64> = told
        .account
        .recorded
        .iter()
        .filter(|change| !change.key.contains(IS_EVENT))
        .map(|change| change.revision)
        .filter(|revision| account.from_rv < *revision && *revision <= account.to_rv)
        .collect();
    eprintln!(
        "{} of {} revisions explained, {} recorded; {} shared; left out {:?}",
        account.explained,
        account.total(),
        recorded.len(),
        account.shared,
        account.left_out
    );
    ensure!(
        account.shared > 0 || account.explained <= u64::try_from(recorded.len())?,
        "Events explain revisions that are not theirs: {account:#?}"
    );
    Ok(())
}
