//! The list of faults is true: every test it names exists, and the page in the docs is made of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use kubereel_tests::faults::{Measured, PARTS, Row, counts, is_test, page};

/// Set it to have the page written.
const UPDATE: &str = "UPDATE";

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn rows() -> impl Iterator<Item = &'static Row> {
    PARTS.iter().flat_map(|part| &part.rows)
}

#[test]
fn every_test_of_the_list_exists() -> Result<()> {
    let mut missing = Vec::new();
    for test in rows().flat_map(|row| &row.tests) {
        let path = workspace().join(&test.file);
        let source = std::fs::read_to_string(&path).with_context(|| test.file.clone())?;
        if !is_test(&source, &test.name) {
            missing.push(format!("{}: {}", test.file, test.name));
        }
    }
    ensure!(missing.is_empty(), "no such tests: {missing:#?}");
    Ok(())
}

#[test]
fn every_fault_is_listed_once_and_an_open_one_says_why() {
    let mut seen = BTreeSet::new();
    for row in rows() {
        assert!(seen.insert(&row.fault), "{} is there twice", row.fault);
        let is_open = row.tests.is_empty();
        assert_eq!(is_open, row.expected.is_none(), "{}", row.fault);
        assert!(!is_open || !row.remark.is_empty(), "{}", row.fault);
    }
    assert!(seen.len() > 60, "only {} faults", seen.len());
}

/// Faults of one name for two tests would hide which of them counted what.
#[test]
fn a_name_stands_for_one_test() {
    let tests: BTreeSet<(&str, &str)> = rows()
        .flat_map(|row| &row.tests)
        .map(|test| (test.name.as_str(), test.file.as_str()))
        .collect();
    let names: BTreeSet<&str> = tests.iter().map(|(name, _)| *name).collect();
    assert_eq!(tests.len(), names.len(), "{tests:#?}");
}

#[test]
fn the_page_is_made_of_the_list() -> Result<()> {
    let path = workspace().join("docs/faults.md");
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    // The counts are those of the page: a test counts differently each time.
    let mut measured = counts(&known);
    let is_update = std::env::var_os(UPDATE).is_some();
    if is_update {
        measured.extend(Measured::all()?);
    }
    let made = page(&measured);
    if is_update {
        std::fs::write(&path, &made)?;
    }
    let differing = made
        .lines()
        .zip(known.lines())
        .find(|(made, known)| made != known);
    ensure!(
        made == known || is_update,
        "docs/faults.md is not what the list makes; {UPDATE}=1 writes it: {differing:#?}"
    );
    let lost = counts(&made).into_iter().filter(|(_, one)| one.lost > 0);
    let lost: Vec<_> = lost.collect();
    ensure!(lost.is_empty(), "a page that shows losses: {lost:?}");
    Ok(())
}
