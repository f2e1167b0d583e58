//! The wall clock of the recorder steps forth and back. Nobody may step the clock of the machine for a
//! test, so a library stands between the program and the clock, where one is installed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use kubereel_format::{Note, Reel, Seq};
use kubereel_tests::skipped::say_skipped;

use crate::recorder_faults::{ENDPOINTS, SURE, Scene};

/// Names the library when it lies elsewhere.
const LIBRARY: &str = "KUBEREEL_FAKETIME";

/// Where the package `libfaketime` of Debian puts it.
const PLACES: [&str; 2] = [
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
];

fn library() -> Option<PathBuf> {
    let named = std::env::var_os(LIBRARY).map(PathBuf::from);
    let mut places = named.into_iter().chain(PLACES.iter().map(PathBuf::from));
    places.find(|place| place.is_file())
}

/// Steps the clock of whoever reads it through the file; in one rename, so that none reads half of it.
fn step(file: &Path, offset: &str) -> Result<()> {
    let new = file.with_extension("new");
    std::fs::write(&new, offset)?;
    std::fs::rename(&new, file)?;
    Ok(())
}

fn steps(reel: &Reel) -> Vec<i64> {
    let notes = reel.notes().iter();
    notes
        .filter_map(|entry| match entry.note {
            Note::ClockStepped { micros } => Some(micros),
            _ => None,
        })
        .collect()
}

#[test]
fn a_clock_that_steps_forth_and_back_is_told_and_loses_nothing() -> Result<()> {
    let Some(library) = library() else {
        say_skipped("no libfaketime, which steps the clock of one program");
        return Ok(());
    };
    let mut scene = Scene::stalling()?;
    let file = scene.folder.path().join("offset");
    step(&file, "+0")?;
    let library = format!("LD_PRELOAD={}", library.display());
    let offset = format!("FAKETIME_TIMESTAMP_FILE={}", file.display());
    scene.record_under(&[
        "env",
        &library,
        &offset,
        "FAKETIME_NO_CACHE=1",
        "FAKETIME_DONT_FAKE_MONOTONIC=1",
    ])?;
    scene.await_live(ENDPOINTS)?;
    let loads = scene.load(&["endpoints", "events"], 20)?;
    for (said, offset) in ["+3600", "-3600", "+0"].iter().enumerate() {
        step(&file, offset)?;
        let told = |log: &str| log.matches("the wall clock stepped").count() > said;
        scene
            .cluster
            .wait_until("the step to be told", SURE, |_| {
                told(&scene.log()).then_some(())
            })
            .with_context(|| scene.log())?;
        scene.await_writes(40)?;
    }
    for load in loads {
        load.stop()?;
    }
    scene
        .account_after(&["endpoints", "events"])?
        .check_whole()?;

    let reel = Reel::open(&scene.reel())?;
    let steps = steps(&reel);
    let hours = [1_i64, -2, 1].map(|hours| hours * 3_600_000_000);
    let is_near = |(told, real): (&i64, &i64)| told.abs_diff(*real) < 5_000_000;
    ensure!(
        steps.len() == hours.len() && steps.iter().zip(&hours).all(is_near),
        "{steps:?}"
    );
    // The order and the distance of records are those of the steady clock.
    let stamps: Vec<_> = (0..reel.end().0)
        .filter_map(|seq| reel.stamp(Seq(seq)))
        .collect();
    let late = Duration::from_secs(5).as_micros();
    for (earlier, later) in stamps.iter().zip(stamps.iter().skip(1)) {
        let back = earlier.elapsed.micros.saturating_sub(later.elapsed.micros);
        ensure!(u128::from(back) < late, "{earlier:?} before {later:?}");
    }
    let back = stamps
        .iter()
        .zip(stamps.iter().skip(1))
        .filter(|(earlier, later)| later.wall < earlier.wall)
        .count();
    ensure!(back > 0, "the wall clock never stepped back");
    Ok(())
}
