//! Marks, by a file and by the status page, of both commands that record.

use std::path::Path;
use std::process::{Command, Output};

use anyhow::{Context as _, Result};
use kubereel_format::{Note, Reel};
use kubereel_tests::recording::{Page, Recording, program};
use kubereel_tests::scripted::Kubeconfig;

use crate::observing::{Job, SURE};

const SECRET: &str = "sha256~canarycanarycanarycanary";

fn mark(args: &[&str]) -> Result<Output> {
    Ok(Command::new(program()?).arg("mark").args(args).output()?)
}

fn marks(notes: impl IntoIterator<Item = Note>) -> Vec<String> {
    let marks = notes.into_iter().filter_map(|note| match note {
        Note::Mark { text } => Some(text),
        _ => None,
    });
    marks.collect()
}

fn letters(path: &Path) -> Result<&str> {
    path.to_str().context("a path in letters")
}

#[test]
fn marks_come_over_the_page_and_over_the_file_without_their_secrets() -> Result<()> {
    let job = Job::new()?;
    let observing = job.observe(&["--listen", "0"])?;
    let page = observing.page(SURE)?;
    let posted = mark(&["--listen", &page, "tests", "started", SECRET])?;
    assert!(posted.status.success(), "{posted:?}");
    let file = job.output().join("artifacts/kubereel.marks");
    let dropped = mark(&["--file", letters(&file)?, &format!("tests ended {SECRET}")])?;
    assert!(dropped.status.success(), "{dropped:?}");
    observing.until_said("tests ended", SURE)?;
    // The last one comes while the observer ends.
    std::fs::write(&file, std::fs::read_to_string(&file)? + "the end")?;
    let observed = observing.end(SURE)?;
    let marks = marks(observed.notes()?);
    assert_eq!(marks.len(), 3, "{marks:?}");
    assert!(
        marks[0].starts_with("tests started redacted-by-"),
        "{marks:?}"
    );
    assert!(
        marks[1].starts_with("tests ended redacted-by-"),
        "{marks:?}"
    );
    assert_eq!(marks[2], "the end");
    assert_eq!(observed.metadata("marks")?, "3");
    Ok(())
}

#[tokio::test]
async fn the_recorder_takes_marks_once_over_two_runs() -> Result<()> {
    let job = Job::new()?;
    job.deliver(&job.full(), &Kubeconfig::Good)?;
    let reel = job.folder.path().join("run.reel");
    let file = job.folder.path().join("run.reel.marks");
    for words in ["first", "second"] {
        let recording = Recording::start(&reel, &job.full(), &["--listen", "0"])?;
        Page::of(&recording, SURE).await?;
        let dropped = mark(&["--file", letters(&file)?, words])?;
        assert!(dropped.status.success(), "{dropped:?}");
        recording.finish(SURE)?;
    }
    let reel = Reel::open(&reel)?;
    let notes = reel.notes().iter().map(|entry| entry.note.clone());
    assert_eq!(marks(notes), ["first", "second"]);
    Ok(())
}

#[test]
fn a_mark_that_nobody_takes_is_an_error() -> Result<()> {
    let nobody = mark(&["--listen", "1", "x"])?;
    assert_eq!(nobody.status.code(), Some(5), "{nobody:?}");
    let empty = mark(&["--file", "x", " "])?;
    assert_eq!(empty.status.code(), Some(2), "{empty:?}");
    let nowhere = mark(&["x"])?;
    assert_eq!(nowhere.status.code(), Some(2), "{nowhere:?}");
    Ok(())
}
