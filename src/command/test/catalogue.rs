//! Owns what is said about rules without running them: `--list` and `--explain`.

use super::Output;
use super::suite::Suite;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::screen::Screen;
use crate::spans::{Line, Style};
use crate::table::Table;
use kubereel_monitortests::{About, MonitorTest, WrittenIn};
use serde_json::json;

const LANGUAGE: [(WrittenIn, &str); 2] = [(WrittenIn::Yaml, "yaml"), (WrittenIn::Rust, "rust")];

fn language(about: &About) -> &'static str {
    let found = LANGUAGE.iter().find(|(way, _)| *way == about.written_in);
    found.map_or("", |(_, word)| word)
}

const fn severity(about: &About) -> &'static str {
    if about.is_flake_only { "flake" } else { "fail" }
}

/// Lists the chosen rules.
pub(super) fn list(
    suite: &Suite,
    form: Option<Output>,
    screen: &mut Screen,
) -> Result<Exit, CommandError> {
    let tests = suite.tests();
    if form == Some(Output::Json) {
        let rules = tests.iter().map(|test| value(test.as_ref()));
        let rules: Vec<_> = rules.collect();
        screen.line(json!({"rules": rules}))?;
        return Ok(Exit::Yes);
    }
    let is_wide = form.is_some();
    let mut table = if is_wide {
        Table::with_headers(["RULE", "AT WORST", "IN", "OWNER", "NEEDS", "NAME"])
    } else {
        Table::with_headers(["RULE", "AT WORST", "NAME"])
    };
    for test in &tests {
        let about = test.about();
        let mut row = vec![about.id.clone(), severity(about).to_owned()];
        if is_wide {
            row.extend([language(about).to_owned(), about.owner.clone()]);
            row.push(needs(test.as_ref()).join(","));
        }
        row.push(about.junit.clone());
        table.push(row);
    }
    table
        .lines()
        .iter()
        .try_for_each(|line| screen.line(line))?;
    Ok(Exit::Yes)
}

fn needs(test: &dyn MonitorTest) -> Vec<String> {
    let needs = test.needs();
    let mut all = needs.objects;
    for resource in needs.seen {
        if !all.contains(&resource) {
            all.push(resource);
        }
    }
    all
}

fn value(test: &dyn MonitorTest) -> serde_json::Value {
    let about = test.about();
    json!({
        "rule": about.id,
        "monitor": about.monitor,
        "name": about.junit,
        "description": about.description,
        "owner": about.owner,
        "origin": about.origin,
        "at_worst": severity(about),
        "written_in": language(about),
        "needs": needs(test),
        "in_words": test.in_words(),
    })
}

/// Says in words what a rule does.
pub(super) fn explain(
    suite: &Suite,
    rule: &str,
    screen: &mut Screen,
) -> Result<Exit, CommandError> {
    let tests = suite.every_test();
    let Some(test) = tests.iter().find(|test| test.about().id == rule) else {
        return Err(unknown(rule, &tests));
    };
    let about = test.about();
    let mut head = Line::default();
    head.push(Style::Strong, &about.id);
    head.push(
        Style::Plain,
        format!(" · {} · {}", about.owner, language(about)),
    );
    show(screen, &head, 0)?;
    for text in [&about.junit, &about.description] {
        let mut line = Line::default();
        line.push(Style::Plain, text);
        show(screen, &line, 0)?;
    }
    screen.line("")?;
    for words in test.in_words() {
        let mut line = Line::default();
        line.push(Style::Plain, words);
        show(screen, &line, 2)?;
    }
    let at_worst = if about.is_flake_only {
        "flakes at worst, never fails a run"
    } else {
        "fails a run"
    };
    let needs = needs(test.as_ref());
    let needs = if needs.is_empty() {
        "intervals only".to_owned()
    } else {
        needs.join(", ")
    };
    for (name, text) in [
        ("at worst", at_worst),
        ("needs", &needs),
        ("monitor", &about.monitor),
        ("from", &about.origin),
    ] {
        let mut line = Line::default();
        line.push(Style::Faint, format!("{name:<9}"));
        line.push(Style::Plain, text);
        show(screen, &line, 9)?;
    }
    Ok(Exit::Yes)
}

fn unknown(rule: &str, tests: &[Box<dyn MonitorTest>]) -> CommandError {
    let failed = CommandError::new(Exit::Usage, format!("unknown rule {rule:?}"));
    let ids = tests.iter().map(|test| test.about().id.as_str());
    let near: Vec<&str> = ids
        .filter(|id| !rule.is_empty() && (id.contains(rule) || rule.contains(id)))
        .take(3)
        .collect();
    if near.is_empty() {
        failed.hint("to list all rules: kubereel test --list")
    } else {
        failed.hint(format!("did you mean {}?", near.join(" or ")))
    }
}

fn show(screen: &mut Screen, line: &Line, hang: usize) -> Result<(), CommandError> {
    let rows = line.rows(screen.width(), hang, screen.paint());
    rows.iter().try_for_each(|row| screen.line(row))
}
