//! The tables of `docs/monitortests.md`, the table of upstream's rows and the built-in monitortests say
//! the same, and every row that is judged has recordings that show it.

use crate::verdicts::events;
use crate::verdicts::fixture::Fixture;
use crate::verdicts::judged::{judged_all, tail};
use crate::verdicts::object_rows;
use crate::verdicts::reel::Reel;
use kubereel_monitortests::{
    MonitorTestInfo, RunKind, UpstreamMethod, UpstreamRow, WrittenIn, builtin, upstream_rows,
};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/monitortests.md");

/// What says by its presence that something happened, which in a quiet cluster it did not.
const SILENT: &str = "masters-updated";

/// What only files of intervals show; `events::files` does.
const OF_FILES: &str = "leases-are-acquired-soon";

fn abouts() -> Vec<MonitorTestInfo> {
    builtin().iter().map(|test| test.about().clone()).collect()
}

fn ids_of_rows() -> BTreeSet<&'static str> {
    let rows = upstream_rows().iter();
    rows.filter(|row| !matches!(row.way, UpstreamMethod::NotPossible { .. }))
        .map(|row| row.id.as_str())
        .collect()
}

fn fixtures() -> Vec<Fixture> {
    let mut all = events::fixtures();
    all.extend(object_rows::fixtures());
    all
}

#[test]
fn every_row_that_is_judged_is_built_in_as_the_table_says() {
    let abouts = abouts();
    let by_id: BTreeMap<&str, &MonitorTestInfo> =
        abouts.iter().map(|one| (one.id.as_str(), one)).collect();
    assert_eq!(by_id.len(), abouts.len(), "two monitortests have one id");
    for row in upstream_rows() {
        let about = by_id.get(row.id.as_str());
        let written_in = match row.way {
            UpstreamMethod::Yaml => WrittenIn::Yaml,
            UpstreamMethod::Rust { .. } => WrittenIn::Rust,
            UpstreamMethod::NotPossible { .. } => {
                assert!(about.is_none(), "{} is judged after all", row.id);
                continue;
            }
        };
        let about = about.unwrap_or_else(|| panic!("nobody judges row {}: {}", row.number, row.id));
        assert_eq!(about.written_in, written_in, "{}", row.id);
        assert_eq!(about.monitor, row.monitor, "{}", row.id);
    }
}

#[test]
fn every_number_has_its_row() {
    let numbers: BTreeSet<u8> = upstream_rows().iter().map(|row| row.number).collect();
    let missing: Vec<u8> = (1..=66)
        .filter(|number| !numbers.contains(number))
        .collect();
    assert_eq!((missing, numbers.len()), (Vec::new(), 66));
}

/// Returns a pattern for the names that a name with places stands for.
fn pattern(junit: &str) -> Regex {
    let places = Regex::new(r"\\\{[a-zA-Z]+\\\}").expect("a pattern");
    let escaped = regex::escape(junit);
    let text = places.replace_all(&escaped, ".+");
    Regex::new(&format!("^(\\[Jira:\"[^\"]+\"\\] )?{text}$")).expect("a pattern")
}

#[test]
fn a_run_emits_the_names_of_the_table_and_no_others() {
    let report = judged_all(Reel::cluster().at("10:05:00"));
    let emitted: BTreeSet<&str> = report.outcomes.iter().map(|one| tail(&one.name)).collect();
    let rows = upstream_rows();
    let of_rows = ids_of_rows();
    let judged = rows
        .iter()
        .filter(|row| of_rows.contains(row.id.as_str()))
        .map(|row| (row.id.as_str(), pattern(&row.junit)));
    let abouts = abouts();
    let own = abouts
        .iter()
        .filter(|about| !of_rows.contains(about.id.as_str()));
    let own = own.map(|about| (about.id.as_str(), pattern(&about.junit)));
    let known: Vec<(&str, Regex)> = judged.chain(own).collect();
    for name in &emitted {
        let is_known = known.iter().any(|(_, pattern)| pattern.is_match(name));
        assert!(is_known, "no table has {name}");
    }
    for (id, pattern) in &known {
        let is_emitted = emitted.iter().any(|name| pattern.is_match(name));
        assert!(
            is_emitted || *id == SILENT || !of_rows.contains(id),
            "{id}: {pattern}"
        );
    }
}

#[test]
fn every_row_that_is_judged_has_recordings_that_show_it() {
    let mut shown: BTreeSet<&str> = fixtures().iter().map(|fixture| fixture.id).collect();
    assert!(shown.insert(OF_FILES), "a reel shows it after all");
    assert_eq!(shown, ids_of_rows());
}

#[test]
fn the_page_has_the_tables() {
    let page = std::fs::read_to_string(PAGE).expect("the page");
    let told = with_table(&page, "upstream", &upstream_table(upstream_rows()));
    let told = with_table(&told, "own", &own_table(&abouts()));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(PAGE, &told).expect("a page");
        return;
    }
    assert!(
        page == told,
        "docs/monitortests.md is old: run this test again with UPDATE=1"
    );
}

fn with_table(page: &str, name: &str, table: &str) -> String {
    let (begin, end) = (
        format!("<!-- {name}: begin -->\n"),
        format!("<!-- {name}: end -->"),
    );
    let (before, rest) = page.split_once(&begin).expect("the begin of a table");
    let (_, after) = rest.split_once(&end).expect("the end of a table");
    format!("{before}{begin}{table}{end}{after}")
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn upstream_table(rows: &[UpstreamRow]) -> String {
    let mut table = String::from(
        "| # | name in JUnit | monitortest | how | what differs |\n|---|---|---|---|---|\n",
    );
    for row in rows {
        let (id, how) = match &row.way {
            UpstreamMethod::Yaml => (format!("`{}`", row.id), "YAML".to_owned()),
            UpstreamMethod::Rust { because } => {
                (format!("`{}`", row.id), format!("Rust: {because}"))
            }
            UpstreamMethod::NotPossible { because } => {
                (String::new(), format!("not possible: {because}"))
            }
        };
        writeln!(
            table,
            "| {} | `{}` | {id} | {} | {} |",
            row.number,
            cell(&row.junit),
            cell(&how),
            cell(&row.differs)
        )
        .expect("a text takes it");
    }
    table
}

fn own_table(abouts: &[MonitorTestInfo]) -> String {
    let of_rows = ids_of_rows();
    let mut table = String::from(
        "| name in JUnit | monitortest | how | what it looks for |\n|---|---|---|---|\n",
    );
    for about in abouts
        .iter()
        .filter(|about| !of_rows.contains(about.id.as_str()))
    {
        let how = match about.written_in {
            WrittenIn::Yaml => "YAML",
            WrittenIn::Rust => "Rust",
        };
        writeln!(
            table,
            "| `{}` | `{}` | {how} | {} |",
            cell(&about.junit),
            about.id,
            cell(&about.description)
        )
        .expect("a text takes it");
    }
    table
}

#[test]
fn a_failed_upgrade_is_reported_by_an_event_of_the_suite_alone() {
    let upgrading = || {
        Reel::cluster()
            .at("10:05:00")
            .upgrade_begins("5.1.0")
            .at("10:06:00")
    };
    let of_another = upgrading().event("Database", "shop/db", "UpgradeFailed", "no disk");
    assert_eq!(judged_all(of_another).kind, RunKind::Upgrade);
    let of_the_suite = upgrading().upgrade_event("UpgradeFailed");
    assert_eq!(judged_all(of_the_suite).kind, RunKind::FailedUpgrade);
}
