//! The table of upstream's rows and the built-in monitortests say the same.

use crate::events;
use crate::fixture::Fixture;
use crate::judged::{judged_all, tail};
use crate::reel::Reel;
use kubereel_monitortests::{About, Way, builtin, upstream_rows};
use regex::Regex;
use std::collections::BTreeSet;

fn abouts() -> Vec<About> {
    builtin().iter().map(|test| test.about().clone()).collect()
}

fn ids_of_rows() -> BTreeSet<&'static str> {
    let rows = upstream_rows().into_iter();
    rows.filter(|row| !matches!(row.way, Way::NotPossible { .. }))
        .map(|row| row.id)
        .collect()
}

fn fixtures() -> Vec<Fixture> {
    events::fixtures()
}

#[test]
fn every_number_of_the_facts_has_its_row() {
    let numbers: BTreeSet<u8> = upstream_rows().iter().map(|row| row.number).collect();
    let missing: Vec<u8> = (1..=66)
        .filter(|number| !numbers.contains(number))
        .collect();
    assert_eq!((missing, numbers.len()), (Vec::new(), 66));
}

/// Gives a pattern for the names that a name with places stands for.
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
        .filter(|row| of_rows.contains(row.id))
        .map(|row| (row.id, pattern(row.junit)));
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
}

#[test]
fn recordings_are_of_rows() {
    let shown: BTreeSet<&str> = fixtures().iter().map(|fixture| fixture.id).collect();
    assert!(shown.is_subset(&ids_of_rows()), "{shown:?}");
}
