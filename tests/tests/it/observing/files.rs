//! The files that others read: labels and nothing else of the environment, the digest, JUnit by its
//! schema, two observers in one folder.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use kubereel_format::Note;
use kubereel_tests::recording::{Observed, program};
use kubereel_tests::scripted::Kubeconfig;
use kubereel_tests::skipped::say_skipped;

use crate::observing::{Job, SURE};

const CANARY: &str = "canary-of-the-environment-7341";

/// Holds JUnit against the project's schema; says so if there is nothing to do it with.
fn check_schema(junit: &Path) -> Result<()> {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/junit.xsd");
    let checked = Command::new("xmllint")
        .args(["--noout", "--schema"])
        .arg(schema)
        .arg(junit)
        .output();
    match checked {
        Ok(output) => ensure!(output.status.success(), "{output:?}"),
        Err(error) => say_skipped(&format!("no xmllint to check JUnit with: {error}")),
    }
    Ok(())
}

fn check_digest(observed: &Observed) -> Result<()> {
    let line = observed.text("artifacts", ".reel.sha256")?;
    let reel = std::fs::read(observed.file("artifacts", ".reel")?)?;
    let digest = ring::digest::digest(&ring::digest::SHA256, &reel);
    let mut hex = String::new();
    for byte in digest.as_ref() {
        write!(hex, "{byte:02x}")?;
    }
    ensure!(line.starts_with(&hex), "{line} is not {hex}");
    Ok(())
}

#[test]
fn labels_go_into_the_reel_and_nothing_else_of_the_environment() -> Result<()> {
    let job = Job::new()?;
    job.deliver(&job.full(), &Kubeconfig::Good)?;
    let observing = job.observe_with(
        &[
            ("JOB_NAME", "periodic-ci-e2e"),
            ("BUILD_ID", "1234567890"),
            ("PULL_BASE_SHA", "0123456789abcdef0123456789abcdef01234567"),
            ("JOB_SPEC", CANARY),
            ("AWS_SECRET_ACCESS_KEY", CANARY),
            ("KUBEADMIN_PASSWORD_FILE", CANARY),
        ],
        &[],
    )?;
    job.await_live(&observing)?;
    let observed = observing.end(SURE)?;
    let labels = observed.notes()?.into_iter().filter_map(|note| match note {
        Note::Label { name, value } => Some(format!("{name}={value}")),
        _ => None,
    });
    let labels: Vec<String> = labels.collect();
    let expected = [
        "JOB_NAME=periodic-ci-e2e",
        "BUILD_ID=1234567890",
        "PULL_BASE_SHA=0123456789abcdef0123456789abcdef01234567",
    ];
    assert_eq!(labels, expected);
    for path in observed.files()? {
        let bytes = std::fs::read(&path)?;
        let found = bytes
            .windows(CANARY.len())
            .any(|part| part == CANARY.as_bytes());
        assert!(!found, "{}", path.display());
    }
    assert!(!observed.log.contains(CANARY));
    let canaries = job.folder.path().join("canaries");
    std::fs::write(&canaries, CANARY)?;
    let scan = Command::new(program()?)
        .arg("scan")
        .arg(observed.file("artifacts", ".reel")?)
        .arg("--canaries")
        .arg(&canaries)
        .output()?;
    assert_eq!(scan.status.code(), Some(0), "{scan:?}");
    Ok(())
}

#[test]
fn every_file_is_as_its_readers_want_it() -> Result<()> {
    let job = Job::new()?;
    job.deliver(&job.full(), &Kubeconfig::Good)?;
    let observing = job.observe(&[])?;
    job.await_live(&observing)?;
    let observed = observing.end(SURE)?;
    check_digest(&observed)?;
    let junit = observed.file("junit", ".xml")?;
    check_schema(&junit)?;
    let name = junit.file_name().context("a name")?.to_string_lossy();
    let parts: Vec<&str> = name.trim_end_matches(".xml").split('_').collect();
    assert_eq!(parts[..2], ["junit", "kubereel"], "{name}");
    assert_eq!((parts[2].len(), parts[3]), ("20261122-0330".len(), "01"));
    let page = observed.text("artifacts", ".html")?;
    assert!(page.contains("<title>kubereel: "), "{page}");
    assert!(!page.contains("href=") && !page.contains("src="), "{page}");
    assert!(
        observed
            .text("artifacts", "-summary.txt")?
            .contains("ended       by SIGINT")
    );
    Ok(())
}

#[test]
fn two_observers_of_one_cluster_in_one_folder_do_not_disturb_each_other() -> Result<()> {
    let job = Job::new()?;
    job.deliver(&job.full(), &Kubeconfig::Good)?;
    let first = job.observe(&["--listen", "0"])?;
    let page = first.page(SURE)?;
    // The same port: it is no failure that it is taken.
    let second = job.observe(&["--listen", &page])?;
    assert_ne!(second.page(SURE)?, page);
    first.until_said("the cluster answers", SURE)?;
    second.until_said("the cluster answers", SURE)?;
    let first = first.end(SURE)?;
    let second = second.end(SURE)?;
    assert_eq!(
        (first.status.code(), second.status.code()),
        (Some(0), Some(0))
    );
    let files = second.files()?;
    let count = |ending: &str| {
        let names = files.iter().map(|path| path.display().to_string());
        names.filter(|name| name.ends_with(ending)).count()
    };
    for ending in [
        ".reel",
        ".reel.sha256",
        "-summary.txt",
        ".html",
        ".xml",
        ".json",
    ] {
        assert_eq!(count(ending), 2, "{ending}: {files:?}");
    }
    assert_eq!(count(".tmp"), 0, "{files:?}");
    Ok(())
}
