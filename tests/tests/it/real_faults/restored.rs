//! etcd put back from a backup: what was written after it never happened, and its revisions are given
//! out again.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use kubereel_format::{EpochId, GapCause, Note, Reel, Seq};
use kubereel_history::{GapOutcome, ReelVerdict};
use kubereel_tests::claims::{Claims, Fact};
use kubereel_tests::control_plane::skipped;
use kubereel_tests::oracle::Oracle;
use kubereel_tests::rest::{Body, Rest, Verb};

use crate::plane::{PLAIN, Turn};
use crate::real_faults::SURE;
use crate::real_faults::scene::{Scene, Told};
use crate::real_faults::writers::{MAPS, config_map, send};

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

fn nothing_is_claimed_across(told: &Told) -> Result<()> {
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
