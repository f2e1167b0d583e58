//! Plays faults of plain Kubernetes on a control plane of its own, each recorded by itself, and says what
//! `kubereel problems` finds in each.
//!
//! `diagnosis [--scenarios FILE] [--seed N] [--keep DIR] [--only-record | --only-judge] [--report FILE --date
//! DATE --commit COMMIT] [SCENARIO…]`: without names all scenarios are played, and only then the report is
//! written. `--scenarios` plays those of another file than the project's.
//! Those that take minutes are played beside the others.
//! `--keep` leaves the reels in a folder, each with what is true of it as `NAME.truth.json`;
//! `--only-record` asks the program nothing, `--only-judge` asks it again about the reels that are in the
//! folder. The exit code is 1 when a verdict is wrong or a scenario could not be played.

use std::collections::VecDeque;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use kubereel_tests::diagnosis::{Book, Judgement, RecordedScenario, Stage, Truth, page};

const SEED: u64 = 17;

struct DiagnosisArgs {
    book: Book,
    seed: u64,
    keep: Option<PathBuf>,
    records: bool,
    judges: bool,
    report: Option<PathBuf>,
    date: String,
    commit: String,
    /// All of them when there are none.
    scenarios: Vec<String>,
}

fn asked() -> Result<DiagnosisArgs> {
    let mut asked = DiagnosisArgs {
        book: Book::read()?,
        seed: SEED,
        keep: None,
        records: true,
        judges: true,
        report: None,
        date: "an unknown day".to_owned(),
        commit: "unknown".to_owned(),
        scenarios: Vec::new(),
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().with_context(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--scenarios" => asked.book = asked.book.with_scenarios_of(value()?.as_ref())?,
            "--seed" => asked.seed = value()?.parse()?,
            "--keep" => asked.keep = Some(value()?.into()),
            "--only-record" => asked.judges = false,
            "--only-judge" => asked.records = false,
            "--report" => asked.report = Some(value()?.into()),
            "--date" => asked.date = value()?,
            "--commit" => asked.commit = value()?,
            flag if flag.starts_with('-') => bail!("unknown argument {flag}"),
            _ => asked.scenarios.push(arg),
        }
    }
    if asked.keep.is_none() && !(asked.records && asked.judges) {
        bail!("--only-record and --only-judge need --keep DIR");
    }
    Ok(asked)
}

#[tokio::main]
async fn main() -> Result<ExitCode> {
    let asked = asked()?;
    let book = &asked.book;
    let temporary = tempfile::tempdir()?;
    let folder = asked.keep.as_deref().unwrap_or(temporary.path());
    std::fs::create_dir_all(folder)?;
    let all = book.names();
    let names = if asked.scenarios.is_empty() {
        all.clone()
    } else {
        asked.scenarios.clone()
    };
    let (long, short): (VecDeque<_>, VecDeque<_>) =
        names.into_iter().partition(|name| book.is_long(name));
    let (long, short) = (Mutex::new(long), Mutex::new(short));
    // The longest takes an hour; all others together do not take much less.
    let ends = tokio::try_join!(
        play_lane(&asked, book, &short, folder),
        play_lane(&asked, book, &long, folder),
        play_lane(&asked, book, &long, folder),
    )?;
    let mut ends: Vec<End> = [ends.0, ends.1, ends.2].into_iter().flatten().collect();
    ends.sort_by_key(|end| all.iter().position(|name| *name == end.scenario));
    let is_right = ends.iter().all(|end| end.is_right);
    let judgements: Vec<Judgement> = ends.into_iter().filter_map(|end| end.judgement).collect();
    if let Some(report) = &asked.report
        && judgements.len() == all.len()
    {
        let text = page(&judgements, &asked.date, &asked.commit);
        std::fs::write(report, text)?;
    }
    Ok(if is_right {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// How a scenario ended.
struct End {
    scenario: String,
    judgement: Option<Judgement>,
    /// Whether it was played and, if it was judged, the verdict is right.
    is_right: bool,
}

/// Plays scenarios one after the other, on a control plane of their own, until none is left.
async fn play_lane(
    asked: &DiagnosisArgs,
    book: &Book,
    names: &Mutex<VecDeque<String>>,
    folder: &Path,
) -> Result<Vec<End>> {
    let take = || {
        let mut names = names.lock().unwrap_or_else(PoisonError::into_inner);
        names.pop_front()
    };
    let mut ends = Vec::new();
    let mut stage = None;
    while let Some(name) = take() {
        if asked.records && stage.is_none() {
            stage = Some(Stage::open().await?);
        }
        let began = Instant::now();
        let played = match &stage {
            Some(stage) => record(stage, book, &name, asked.seed, folder).await,
            None => kept(&name, folder),
        };
        let judged = played.and_then(|played| {
            let judged = asked
                .judges
                .then(|| Judgement::of(&played.reel, &played.truth));
            judged.transpose()
        });
        let took = began.elapsed().as_secs();
        let mut out = std::io::stdout().lock();
        let (judgement, is_right) = match judged {
            Ok(Some(judgement)) => {
                writeln!(out, "{} ({took} s)", judgement.line())?;
                let is_right = judgement.is_right();
                (Some(judgement), is_right)
            }
            Ok(None) => {
                writeln!(out, "{name} recorded ({took} s)")?;
                (None, true)
            }
            Err(error) => {
                writeln!(out, "{name} FAILED after {took} s: {error:#}")?;
                (None, false)
            }
        };
        ends.push(End {
            scenario: name,
            judgement,
            is_right,
        });
    }
    Ok(ends)
}

/// Plays a scenario, and leaves what is true of it beside its reel.
async fn record(
    stage: &Stage,
    book: &Book,
    name: &str,
    seed: u64,
    folder: &Path,
) -> Result<RecordedScenario> {
    let played = stage.play(&book.play(name, seed)?, folder).await?;
    let truth = serde_json::to_string_pretty(&played.truth)?;
    std::fs::write(played.reel.with_extension("truth.json"), truth)?;
    Ok(played)
}

/// What an earlier run has left.
fn kept(name: &str, folder: &Path) -> Result<RecordedScenario> {
    let reel = folder.join(format!("{name}.reel"));
    let path = reel.with_extension("truth.json");
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let truth: Truth = serde_json::from_str(&text)?;
    Ok(RecordedScenario { reel, truth })
}
