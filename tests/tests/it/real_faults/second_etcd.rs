//! Events in an etcd of their own: two sequences of revisions, whose numbers are the same.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use kubereel_tests::control_plane::skipped;
use kubereel_tests::oracle::{Change, Oracle};
use kubereel_tests::rest::Rest;
use kubereel_tests::skipped::skipped_as_slow;

use crate::plane::{Kind, Turn};
use crate::real_faults::SURE;
use crate::real_faults::scene::{Scene, Told};
use crate::real_faults::writers::{Objects, Writers, event};

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
fn is_not_mixed(told: &Told) -> Result<()> {
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
