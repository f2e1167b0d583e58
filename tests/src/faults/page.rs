//! Owns the page that is made of the list: `docs/faults.md`. Refuses to invent a count: where a test
//! left none, there is none.

use super::measured::{Measured, MeasuredAll};
use super::row::{Row, Test};
use super::{PARTS, Part};

const HEAD: &str = "\
# Faults, and the tests that show them

Made by `UPDATE=1 cargo test -p kubereel-tests --test it fault_matrix` from the list in `tests/src/faults`; do not edit it.

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
    let rows = || PARTS.iter().flat_map(|part| part.rows);
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
    for part in &PARTS {
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
    let fault = row.fault;
    let Some(expected) = row.expected else {
        return format!("| {fault} | | **open**: {} | |", row.remark);
    };
    let each = |told: fn(&Test) -> String| {
        let told: Vec<String> = row.tests.iter().map(told).collect();
        told.join("<br>")
    };
    let tests = each(|test| format!("`{}`", test.name));
    let places = each(|test| test.place.as_str().to_owned());
    let remark = match row.remark {
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
    let tests = PARTS.iter().flat_map(|part| part.rows);
    for test in tests.flat_map(|row| row.tests) {
        let is_new = counted.iter().all(|(name, _)| *name != test.name);
        if let Some(measured) = measured.get(test.name)
            && is_new
        {
            counted.push((test.name, *measured));
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
