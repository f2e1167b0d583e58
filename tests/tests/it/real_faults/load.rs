//! As many writes as the machine carries.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use kubereel_history::ReelVerdict;
use kubereel_tests::control_plane::skipped;
use kubereel_tests::skipped::skipped_as_slow;

use crate::plane::{PLAIN, Turn};
use crate::real_faults::scene::Scene;
use crate::real_faults::writers::Writers;

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
