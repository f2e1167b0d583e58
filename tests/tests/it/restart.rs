//! The recorder copied from and killed at random moments beside a real control plane: every file opens, nothing that
//! came to it more than half a second before is lost, and a new start goes on where the old one
//! stopped.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use kubereel_format::{Note, Reel, copy_in_use};
use kubereel_tests::control_plane::{ControlPlane, skipped};
use kubereel_tests::oracle::{Account, Oracle};
use kubereel_tests::recording::{Page, Recording, accounted};
use kubereel_tests::rest::{Body, Call, Patience, Rest};
use serde_json::json;

/// How many kills there are.
const CRASHES: &str = "KUBEREEL_CRASHES";
const CRASHES_UNASKED: u32 = 5;

/// What a kill may cost, and what a change may need from etcd to the recorder on a busy machine.
const LOSS: Duration = Duration::from_millis(500);
const WAY: Duration = Duration::from_secs(1);

/// How long anything that is sure to come may take on a busy machine.
const SURE: Duration = Duration::from_mins(1);

/// Between two writes.
const PACE: Duration = Duration::from_millis(10);

/// The times at which etcd was seen to hold this many changes.
type ChangeTimes = Arc<Mutex<Vec<(Instant, usize)>>>;

/// Changes config maps until it is dropped.
async fn write(rest: Rest) -> Result<()> {
    let path = "/api/v1/namespaces/default/configmaps";
    let patience = Patience::until_found(SURE);
    let map = |number: u64, round: u64| {
        json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": format!("restart-{number}")}, "data": {"round": round.to_string()}})
    };
    for number in 0.. {
        let post = Call::post(path.to_owned(), map(number, 0));
        rest.send(&post, patience).await?;
        for round in 1..9 {
            let change = Call::patch(
                format!("{path}/restart-{number}"),
                Body::Merge(map(number, round)),
            );
            rest.send(&change, patience).await?;
            tokio::time::sleep(PACE).await;
        }
    }
    Ok(())
}

/// Notes again and again how many changes etcd has told, until it is dropped.
#[expect(clippy::infinite_loop, reason = "its task is aborted")]
async fn look(oracle: Arc<Oracle>, seen: ChangeTimes) {
    loop {
        let count = oracle.changes().len();
        seen.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((Instant::now(), count));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// How many changes etcd held at a moment at the least.
fn held_at(seen: &ChangeTimes, moment: Instant) -> usize {
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    let before = seen.iter().rev().find(|(at, _)| *at <= moment);
    before.map_or(0, |(_, count)| *count)
}

/// Everything that etcd told up to `safe` is in the reel or lies before its first lists.
fn holds(reel: &Path, oracle: &Oracle, safe: usize) -> Result<Account> {
    let reel = Reel::open(reel)?;
    let changes = oracle.changes();
    let account = Account::of(&reel, changes.get(..safe).unwrap_or_default())?;
    account.check()?;
    ensure!(
        account.in_gaps.is_empty(),
        "a gap though the server kept its history: {:?}",
        account.in_gaps.first()
    );
    Ok(account)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_cost_half_a_second_at_most_and_the_next_start_goes_on() -> Result<()> {
    if skipped() {
        return Ok(());
    }
    let crashes: u32 = match std::env::var(CRASHES) {
        Ok(count) => count
            .parse()
            .with_context(|| format!("{CRASHES}={count}"))?,
        Err(_) => CRASHES_UNASKED,
    };
    let (control_plane, oracle) = ControlPlane::builder().start_with_oracle().await?;
    let oracle = Arc::new(oracle);
    let seen = ChangeTimes::default();
    let looking = tokio::spawn(look(Arc::clone(&oracle), Arc::clone(&seen)));
    let writing = tokio::spawn(write(Rest::new(vec![control_plane.client(0).await?])));
    let folder = tempfile::tempdir()?;
    let reel = folder.path().join("run.reel");
    let kubeconfig = control_plane.kubeconfig(0);
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    // The last run ends in order; of the others those count that were old enough to have committed.
    let mut sure_runs = 1;
    for nth in 0..crashes {
        let started = Instant::now();
        let recording = Recording::start(&reel, kubeconfig, &["--listen", "127.0.0.1:0"])?;
        let page = Page::of(&recording, SURE).await?;
        let is_ready = page.until_ready(SURE).await;
        is_ready.with_context(|| recording.log())?;
        let ready = Instant::now();
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        // The moment of a kill is meant to be any, so that there is nothing to wait for.
        tokio::time::sleep(Duration::from_millis(random % 3_000)).await;
        // What came while it was not ready yet may still have been on its way.
        let safe_at = |now: Instant| match now.checked_sub(LOSS + WAY) {
            Some(moment) if moment > ready => held_at(&seen, moment),
            _ => 0,
        };
        // Who reads meanwhile sees no less than after a kill.
        let safe = safe_at(Instant::now());
        let copy = reel.with_extension("copy");
        copy_in_use(&reel, &copy)?;
        holds(&copy, &oracle, safe).with_context(|| format!("copy {nth}, {safe} changes"))?;
        let killed = Instant::now();
        recording.kill()?;
        sure_runs += usize::from(killed.duration_since(started) > LOSS + WAY);
        let safe = safe_at(killed);
        holds(&reel, &oracle, safe).with_context(|| format!("kill {nth}, {safe} changes"))?;
    }
    writing.abort();
    looking.abort();
    let last = Recording::start(&reel, kubeconfig, &["--listen", "127.0.0.1:0"])?;
    Page::of(&last, SURE).await?.until_ready(SURE).await?;
    let changes = oracle.changes_up_to_now().await?;
    accounted(&last, &changes, SURE).await?;
    let changes = changes.len();
    let ended = last.finish(SURE)?;
    ensure!(ended.status.success(), "{}: {}", ended.status, ended.log);
    let account = holds(&reel, &oracle, changes)?;
    ensure!(
        account.recorded.len() > 50,
        "only {} changes",
        account.recorded.len()
    );
    let reel = Reel::open(&reel)?;
    let notes = |wanted: fn(&Note) -> bool| {
        let notes = reel.notes().iter();
        notes.filter(|entry| wanted(&entry.note)).count()
    };
    let runs = usize::try_from(crashes)? + 1;
    let started = notes(|note| matches!(note, Note::SessionStarted { .. }));
    ensure!(
        (sure_runs..=runs).contains(&started),
        "{started} runs of {sure_runs} to {runs}"
    );
    ensure!(notes(|note| matches!(note, Note::SessionEnded { .. })) == 1);
    Ok(())
}
