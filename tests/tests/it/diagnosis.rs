//! Some of the faults that `just diagnosis` plays, on every run: on the real control plane each is found
//! with its cause, and where nothing fails nothing is found.

use anyhow::{Result, ensure};
use kubereel_tests::control_plane::skipped;
use kubereel_tests::diagnosis::{Book, Judgement, Stage};

use crate::plane;

const SCENARIOS: [&str; 3] = ["config-value", "service-selector", "healthy-rollout"];
const SEED: u64 = 5;
/// Less than in the long run: long enough for a sign to stay.
const HOLD_SECS: f64 = 6.0;

#[tokio::test(flavor = "multi_thread")]
async fn problems_names_what_fails_and_why_and_nothing_else() -> Result<()> {
    if skipped() {
        return Ok(());
    }
    let _turn = plane::alone().await;
    let folder = tempfile::tempdir()?;
    let book = Book::read()?;
    let stage = Stage::open().await?;
    let mut wrong = Vec::new();
    for name in SCENARIOS {
        let play = book.play(name, SEED)?.held_for(HOLD_SECS);
        let played = stage.play(&play, folder.path()).await?;
        let judgement = Judgement::of(&played.reel, &played.truth)?;
        eprintln!("{}", judgement.line());
        if !judgement.is_right() {
            wrong.push(judgement.line());
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}
