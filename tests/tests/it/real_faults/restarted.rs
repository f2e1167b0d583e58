//! The only API server killed and started again while it is written to.

use std::time::Duration;

use anyhow::{Result, ensure};
use kubereel_tests::control_plane::skipped;

use crate::plane::{PLAIN, Turn};
use crate::real_faults::SURE;
use crate::real_faults::scene::Scene;
use crate::real_faults::writers::Writers;

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
    // What the killed server alone had told of is read back in part at least.
    ensure!(told.tally.reconstructed > 0, "nothing was read back");
    Ok(())
}
