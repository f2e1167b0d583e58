//! Three API servers on one etcd, rolled one after the other.

use std::time::Duration;

use anyhow::{Result, ensure};
use kubereel_tests::control_plane::skipped;
use kubereel_tests::skipped::skipped_as_slow;

use crate::plane::{Kind, Turn};
use crate::real_faults::SURE;
use crate::real_faults::scene::Scene;
use crate::real_faults::writers::{Objects, Writers, event};

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
