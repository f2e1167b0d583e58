//! The fault matrix: every fault that a recorder must survive, the tests that show it, and what they
//! measured last. `docs/faults.md` is made of it.
//!
//! # To add a row, or a test to a row
//!
//! 1. In `faults.yaml`, find the fault's row or write one. The place of a test is what it is played on; its
//!    file is named from the workspace on; `remark` says what the tests leave open. A row without
//!    expectation and tests is open, and the page says so, with its remark.
//! 2. Let the test call [`crate::claims::Claims::read`], `against` and `check`: it fails if anything is
//!    lost or claimed falsely, and leaves its counts for the table.
//! 3. `UPDATE=1 cargo test -p kubereel-tests --test it fault_matrix` writes `docs/faults.md`, with the
//!    counts of the tests that ran on this machine. Without `UPDATE` it says what is not as it should be.

use kubereel_format::worded;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

/// The whole list.
#[expect(
    clippy::expect_used,
    reason = "the list is compiled in, and every test of it reads it"
)]
pub static PARTS: LazyLock<Vec<Part>> = LazyLock::new(|| {
    serde_saphyr::from_str(include_str!("faults.yaml")).expect("the list of faults is well-formed")
});

/// A part of the list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its heading.
    pub title: String,
    /// Its rows.
    pub rows: Vec<Row>,
}

/// A fault of the list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The fault.
    pub fault: String,
    /// What must come of it; none for a row that is open.
    pub expected: Option<Expected>,
    /// The tests that show it; none for a row that is open.
    #[serde(default)]
    pub tests: Vec<Test>,
    /// Why it is open, or what its tests leave open; may be empty.
    #[serde(default)]
    pub remark: String,
}

worded! {
/// What a fault is played on.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// The scripted API server, or the harness's TCP proxy.
    Scripted = "scripted",
    /// Real API servers and a real etcd.
    Real = "real",
    /// A part of the recorder, with a clock or a file of the test's own.
    Unit = "unit",
}
}

/// A test.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Test {
    /// Where it is played.
    pub place: Place,
    /// Its file, from the workspace on.
    pub file: String,
    /// Its function.
    pub name: String,
}

worded! {
/// What a recorder must make of a fault.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expected {
    /// Everything is in the reel, as it came.
    Whole = "nothing is lost",
    /// Everything that the server's history still has is in the reel; the rest lies in a gap that says so.
    ReadBack = "nothing is lost that the server still has; the rest is a gap",
    /// What is missing lies in a gap that says so.
    Gap = "what is missing is a gap that says so",
    /// It is kept as it came, marked, and costs nothing else.
    Kept = "kept and marked; nothing else is lost",
    /// It is said by name, and costs nothing else.
    Said = "said by name; nothing else is lost",
    /// What follows is distinguished from what was before.
    ToldApart = "told apart; nothing is mixed up",
    /// Nothing that could not be read is claimed.
    NoClaim = "nothing is claimed",
    /// The oracle names each loss and no other.
    Noticed = "the oracle names each loss, and no other",
}
}

/// Whether a source text has a test function of this name.
pub fn is_test(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let begins = [format!("fn {name}("), format!("async fn {name}(")];
    let is_it = |line: &str| begins.iter().any(|begin| line.starts_with(begin.as_str()));
    let Some(place) = lines.iter().position(|line| is_it(line)) else {
        return false;
    };
    let above = lines.iter().take(place).rev();
    let mut attributes = above.take_while(|line| line.starts_with("#[") || line.starts_with("//"));
    attributes.any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"))
}

/// The outcome of the changes of one test.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// In the reel as they came.
    pub recorded: usize,
    /// In the reel, read back.
    pub reconstructed: usize,
    /// Missing, and declared so.
    pub declared: usize,
    /// Missing, and nothing says so.
    pub lost: usize,
}

/// What all tests measured, by their names.
pub type MeasuredAll = BTreeMap<String, Measured>;

impl Measured {
    /// Leaves the counts under the name of the test that runs on this thread.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn leave(self) -> Result<()> {
        let thread = std::thread::current();
        let name = thread.name().and_then(|path| path.rsplit("::").next());
        let Some(name) = name.filter(|name| *name != "main") else {
            return Ok(());
        };
        self.leave_as(name)
    }

    /// Leaves the counts under the name of a test.
    ///
    /// # Errors
    /// When they cannot be written.
    fn leave_as(self, name: &str) -> Result<()> {
        let folder = folder()?;
        std::fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{name}.json"));
        std::fs::write(&path, serde_json::to_vec(&self)?)
            .with_context(|| format!("write {}", path.display()))
    }

    /// Everything that tests left on this machine.
    ///
    /// # Errors
    /// When a file is none of ours.
    pub fn all() -> Result<MeasuredAll> {
        let mut all = MeasuredAll::new();
        let Ok(files) = std::fs::read_dir(folder()?) else {
            return Ok(all);
        };
        for file in files {
            let path = file?.path();
            let name = path
                .file_stem()
                .map(|name| name.to_string_lossy().into_owned());
            let bytes = std::fs::read(&path)?;
            let measured = serde_json::from_slice(&bytes)
                .with_context(|| format!("read {}", path.display()))?;
            all.insert(name.unwrap_or_default(), measured);
        }
        Ok(all)
    }
}

/// Beside the tests' own programs.
fn folder() -> Result<PathBuf> {
    let test = std::env::current_exe()?;
    let target = test.ancestors().find(|folder| folder.join("deps").is_dir());
    let target = target.context("the tests lie in no target folder")?;
    Ok(target.join("fault-matrix"))
}

const HEAD: &str = "\
# Faults, and the tests that show them

Made by `UPDATE=1 cargo test -p kubereel-tests --test it fault_matrix` from the list in `tests/src/faults.yaml`; do not edit it.

Each line is a fault, what the recorder must make of it, and the tests that show it.
*real* tests run real API servers on a real etcd; *scripted* ones a server that misbehaves at will, or a proxy that does; *unit* ones a part of the recorder with a clock or a file of their own.
After each of the tests that count, the same is asked: are recorded, read back and declared missing together all changes that the server's own story has, and is any claim of `kubereel verify` false?
";

const COUNTS: &str = "\
## What the tests counted last

On the machine that generated this page last; a test that writes until something happens counts differently each time.
*Declared* changes are missing, and the reel says so. Changes before the first list and behind the last proof are not counted.

| test | recorded | read back | declared | lost |
|---|---:|---:|---:|---:|
";

/// Writes the page.
pub fn page(measured: &MeasuredAll) -> String {
    let rows = || PARTS.iter().flat_map(|part| &part.rows);
    let open = rows().filter(|row| row.tests.is_empty()).count();
    let all = rows().count();
    let words = match open {
        0 => format!("All {all} faults have a test."),
        open => format!(
            "{} of {all} faults have a test; {open} are open.",
            all - open
        ),
    };
    let mut lines = vec![HEAD.to_owned() + &words];
    for part in PARTS.iter() {
        add_part(&mut lines, part);
    }
    lines.push(String::new());
    lines.push(COUNTS.trim_end().to_owned());
    lines.extend(counted(measured).into_iter().map(|(name, measured)| {
        let Measured {
            recorded,
            reconstructed,
            declared,
            lost,
        } = measured;
        format!("| `{name}` | {recorded} | {reconstructed} | {declared} | {lost} |")
    }));
    lines.join("\n") + "\n"
}

fn add_part(lines: &mut Vec<String>, part: &Part) {
    lines.push(format!("\n## {}\n", part.title));
    lines.push("| fault | what must come of it | test | on |".to_owned());
    lines.push("|---|---|---|---|".to_owned());
    lines.extend(part.rows.iter().map(line));
}

fn line(row: &Row) -> String {
    let fault = &row.fault;
    let Some(expected) = row.expected else {
        return format!("| {fault} | | **open**: {} | |", row.remark);
    };
    let each = |told: fn(&Test) -> String| {
        let told: Vec<String> = row.tests.iter().map(told).collect();
        told.join("<br>")
    };
    let tests = each(|test| format!("`{}`", test.name));
    let places = each(|test| test.place.as_str().to_owned());
    let remark = match row.remark.as_str() {
        "" => String::new(),
        remark => format!("; {remark}"),
    };
    format!(
        "| {fault} | {}{remark} | {tests} | {places} |",
        expected.as_str()
    )
}

/// The tests of the list that have counts, in the list's order, each once.
fn counted(measured: &MeasuredAll) -> Vec<(&'static str, Measured)> {
    let mut counted: Vec<(&'static str, Measured)> = Vec::new();
    let tests = PARTS.iter().flat_map(|part| &part.rows);
    for test in tests.flat_map(|row| &row.tests) {
        let is_new = counted.iter().all(|(name, _)| *name != test.name);
        if let Some(measured) = measured.get(&test.name)
            && is_new
        {
            counted.push((&test.name, *measured));
        }
    }
    counted
}

/// Reads the counts of a page that was made before.
pub fn counts(page: &str) -> MeasuredAll {
    let rows = page.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let ["", name, recorded, reconstructed, declared, lost, ""] = cells.as_slice() else {
            return None;
        };
        let name = name.strip_prefix('`')?.strip_suffix('`')?;
        let measured = Measured {
            recorded: recorded.parse().ok()?,
            reconstructed: reconstructed.parse().ok()?,
            declared: declared.parse().ok()?,
            lost: lost.parse().ok()?,
        };
        Some((name.to_owned(), measured))
    });
    rows.collect()
}

#[cfg(test)]
mod source_tests {
    use super::is_test;

    #[test]
    fn tests_are_told_from_other_functions() {
        let source = "
            /// Words.
            #[test]
            fn one() {}

            fn two() {}

            #[tokio::test(flavor = \"multi_thread\")]
            async fn three() -> Result<()> {}

            // fn four()
        ";
        for (name, expected) in [
            ("one", true),
            ("two", false),
            ("three", true),
            ("four", false),
        ] {
            assert_eq!(is_test(source, name), expected, "{name}");
        }
        assert!(!is_test(source, "on"));
    }
}
