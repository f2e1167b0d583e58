//! Plays faults of plain Kubernetes on a control plane of its own, each recorded by itself, and says what
//! `kubereel problems` finds in each.
//!
//! `diagnosis [--seed N] [--keep DIR] [--unjudged] [--report FILE --date DATE --commit COMMIT] [SCENARIO…]`:
//! without names all scenarios are played, and only then the report is written. `--keep` leaves the reels in a folder, each with what is true of
//! it as `NAME.truth.json`; `--unjudged` asks the program nothing. The exit code is 1 when a verdict is
//! wrong or a scenario could not be played.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use kubereel_tests::diagnosis::{Book, Judgement, Play, Stage, page};

const SEED: u64 = 17;

struct Asked {
    seed: u64,
    keep: Option<PathBuf>,
    is_unjudged: bool,
    report: Option<PathBuf>,
    date: String,
    commit: String,
    /// All of them when there are none.
    scenarios: Vec<String>,
}

fn asked() -> Result<Asked> {
    let mut asked = Asked {
        seed: SEED,
        keep: None,
        is_unjudged: false,
        report: None,
        date: "an unknown day".to_owned(),
        commit: "unknown".to_owned(),
        scenarios: Vec::new(),
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().with_context(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--seed" => asked.seed = value()?.parse()?,
            "--keep" => asked.keep = Some(value()?.into()),
            "--unjudged" => asked.is_unjudged = true,
            "--report" => asked.report = Some(value()?.into()),
            "--date" => asked.date = value()?,
            "--commit" => asked.commit = value()?,
            flag if flag.starts_with('-') => bail!("unknown argument {flag}"),
            _ => asked.scenarios.push(arg),
        }
    }
    Ok(asked)
}

#[tokio::main]
async fn main() -> Result<ExitCode> {
    let book = Book::read()?;
    let asked = asked()?;
    let temporary = tempfile::tempdir()?;
    let folder = asked.keep.as_deref().unwrap_or(temporary.path());
    std::fs::create_dir_all(folder)?;
    let all = book.names();
    let is_all = asked.scenarios.is_empty();
    let names = if is_all { &all } else { &asked.scenarios };
    let plays: Vec<Play> = names
        .iter()
        .map(|name| book.play(name, asked.seed))
        .collect::<Result<_>>()?;
    let stage = Stage::open().await?;
    let mut judgements = Vec::new();
    let mut is_right = true;
    for play in &plays {
        let began = Instant::now();
        let played = one(&stage, play, folder, asked.is_unjudged).await;
        let took = began.elapsed().as_secs();
        let mut out = std::io::stdout().lock();
        match played {
            Ok(Some(judgement)) => {
                is_right &= judgement.is_right();
                writeln!(out, "{} ({took} s)", judgement.line())?;
                judgements.push(judgement);
            }
            Ok(None) => writeln!(out, "{} recorded ({took} s)", play.name())?,
            Err(error) => {
                is_right = false;
                writeln!(out, "{} FAILED after {took} s: {error:#}", play.name())?;
            }
        }
    }
    // The page tells of all scenarios or of none.
    if let Some(report) = &asked.report
        && judgements.len() == all.len()
    {
        let text = page(&judgements, &asked.date, &asked.commit, asked.seed);
        std::fs::write(report, text)?;
    }
    Ok(if is_right {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Plays one scenario; judges it unless nobody asks.
async fn one(
    stage: &Stage,
    play: &Play,
    folder: &Path,
    is_unjudged: bool,
) -> Result<Option<Judgement>> {
    let played = stage.play(play, folder).await?;
    let truth = serde_json::to_string_pretty(&played.truth)?;
    std::fs::write(played.reel.with_extension("truth.json"), truth)?;
    if is_unjudged {
        return Ok(None);
    }
    Judgement::of(&played.reel, &played.truth).map(Some)
}
