//! A rule in plain words. Expressions are quoted, not interpreted.

use super::model::{
    CheckOperator, Component, DuplicateItems, Expectation, IntervalSelector, ListedValues,
    MonitorRule, ObjectSelector, RelatedBy, RelatedObjects, RuleCheck, Unlisted, Watch,
};
use crate::cel::Program;
use crate::phase::Phase;
use crate::verdict::Severity;

/// Describes what a rule does, a line each.
pub(crate) fn explained(rule: &MonitorRule) -> Vec<String> {
    let mut lines = rule.about.applies_to.in_words(rule.about.class);
    match &rule.watch {
        Watch::Objects(objects) => objects_lines(rule, objects, &mut lines),
        Watch::Intervals(choice) => {
            lines.push(format!("It looks at intervals{}.", choice_words(choice)));
            if !choice.subject.is_empty() {
                let subject = choice.subject.iter();
                let subject: Vec<String> = subject.map(quoted).collect();
                lines.push(format!(
                    "Those with the same {} are about the same thing.",
                    listed(&subject, "and")
                ));
            }
        }
    }
    for (name, choice) in &rule.also {
        lines.push(format!(
            "It also reads intervals{}, as `also.{name}`.",
            choice_words(choice)
        ));
    }
    for when in &rule.when {
        lines.push(format!(
            "It is skipped unless {} (\"{}\").",
            quoted(&when.is_met),
            when.otherwise
        ));
    }
    case_lines(rule, &mut lines);
    for check in &rule.checks {
        lines.push(check_line(check, matches!(rule.watch, Watch::Objects(_))));
    }
    if rule.about.is_flake_only {
        lines.push("Its findings never fail a run: they only flake.".to_owned());
    }
    if rule.about.is_informing {
        lines.push("Its verdict informs and does not block.".to_owned());
    }
    lines
}

fn quoted(program: &Program) -> String {
    let words: Vec<&str> = program.text.split_whitespace().collect();
    format!("`{}`", words.join(" "))
}

fn listed(words: &[String], last: &str) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., end] => format!("{} {last} {end}", most.join(", ")),
    }
}

fn objects_lines(rule: &MonitorRule, objects: &ObjectSelector, lines: &mut Vec<String>) {
    let mut line = vec![format!("It watches {}", objects.resource.text())];
    if let Some(namespace) = &objects.namespace {
        line.push(format!(" in namespaces that match `{}`", inner(namespace)));
    }
    if let Some(name) = &objects.name {
        line.push(format!(" with names that match `{}`", inner(name)));
    }
    if let Some(chosen) = &objects.chosen {
        line.push(format!(", while {}", quoted(chosen)));
    }
    lines.push(format!("{}.", line.concat()));
    if let Some(items) = &objects.items {
        lines.push(format!(
            "Of each it watches every item of {}, identified by {}, as `{}`{}.",
            quoted(&items.list),
            quoted(&items.key),
            rule.scope.item,
            match items.duplicates {
                DuplicateItems::Error => "",
                DuplicateItems::First => ", the first of those with the same key",
            }
        ));
    }
    for related in &objects.related {
        lines.push(related_line(related));
    }
}

fn inner(regex: &regex::Regex) -> &str {
    let text = regex.as_str();
    let text = text.strip_prefix("^(?:").unwrap_or(text);
    text.strip_suffix(")$").unwrap_or(text)
}

fn related_line(related: &RelatedObjects) -> String {
    let how = match &related.by {
        RelatedBy::Owned => "that it owns".to_owned(),
        RelatedBy::Owner => "that own it".to_owned(),
        RelatedBy::Name(program) => format!("with the name {}", quoted(program)),
        RelatedBy::SelectedBy(program) => {
            format!("whose labels match the selector {}", quoted(program))
        }
        RelatedBy::Selecting(program) => {
            format!("whose selector matches the labels {}", quoted(program))
        }
        RelatedBy::Where(program) => format!("for which {}", quoted(program)),
    };
    let place = if related.is_anywhere {
        "of all namespaces"
    } else {
        "of the same namespace"
    };
    format!(
        "It reads {} {place} {how}, as `{}`.",
        related.resource.text(),
        related.name
    )
}

fn choice_words(choice: &IntervalSelector) -> String {
    let mut words = String::new();
    let mut add = |text: String| words.push_str(&text);
    let or = |values: &[String]| listed(values, "or");
    if !choice.sources.is_empty() {
        add(format!(" of {}", or(&choice.sources)));
    }
    if !choice.reasons.is_empty() {
        add(format!(" with reason {}", or(&choice.reasons)));
    }
    if !choice.locators.is_empty() {
        add(format!(" about a {}", or(&choice.locators)));
    }
    if !choice.levels.is_empty() {
        let levels = choice.levels.iter().map(|level| level.as_str().to_owned());
        add(format!(" of level {}", or(&levels.collect::<Vec<_>>())));
    }
    for (key, regex) in &choice.keys {
        add(format!(" whose {key} matches `{}`", inner(regex)));
    }
    add(phases(&choice.during));
    if let Some(chosen) = &choice.chosen {
        add(format!(", if {}", quoted(chosen)));
    }
    words
}

fn phases(phases: &[Phase]) -> String {
    if phases.is_empty() {
        return String::new();
    }
    let names = phases.iter().map(|phase| match phase {
        Phase::Install => "the installation".to_owned(),
        Phase::Upgrade => "an upgrade".to_owned(),
        Phase::Stable => "quiet times".to_owned(),
    });
    format!(
        " that begin during {}",
        listed(&names.collect::<Vec<_>>(), "or")
    )
}

fn case_lines(rule: &MonitorRule, lines: &mut Vec<String>) {
    let places = rule.per.iter();
    let places: Vec<String> = places
        .map(|(name, program)| format!("{name} ({})", quoted(program)))
        .collect();
    if places.is_empty() {
        lines.push("There is one case.".to_owned());
    } else {
        lines.push(format!(
            "There is a case for each {}.",
            listed(&places, "and")
        ));
    }
    for (place, each) in &rule.each {
        let values = match each {
            ListedValues::Operators => "known operator".to_owned(),
            ListedValues::Namespaces => "known namespace".to_owned(),
            ListedValues::Nodes => "node that was seen".to_owned(),
            ListedValues::Listed(values) => format!("of {}", listed(values, "and")),
        };
        let others = match &rule.unlisted {
            Unlisted::Keep => "others have one if they are seen".to_owned(),
            Unlisted::Drop => "others are left out".to_owned(),
            Unlisted::Junit(junit) => format!("all others share the case \"{junit}\""),
        };
        lines.push(format!(
            "Every {values} has one in each run, as {place}; {others}."
        ));
    }
    match &rule.component {
        Component::None => {}
        Component::Text(component) => lines.push(format!("Its component is {component}.")),
        Component::OfOperator => {
            lines.push("The component is that of the operator, if it is known.".to_owned());
        }
        Component::OfNamespace => {
            lines.push("The component is that of the namespace, if it is known.".to_owned());
        }
    }
}

fn check_line(check: &RuleCheck, is_of_objects: bool) -> String {
    let verb = match check.severity {
        Severity::Fail => "fails",
        Severity::Flake => "flakes",
    };
    let mut line = vec![format!(
        "It {verb} {}",
        expected(&check.expected, is_of_objects)
    )];
    if !check.during.is_empty() {
        let words = phases(&check.during);
        let words = words.replace(" that begin during ", "");
        line.push(format!(", counting only what began during {words}"));
    }
    if let Some(flake_if) = &check.flake_if {
        line.push(format!("; it only flakes if {}", quoted(flake_if)));
    }
    let says = check.message.text.trim();
    format!("{}. Message: \"{says}\".", line.concat())
}

/// Describes the operator of a check, after "fails" or "flakes".
fn expected(expected: &Expectation, is_of_objects: bool) -> String {
    let first = quoted(&expected.first);
    let second = expected.second.as_ref().map(quoted);
    let second = second.unwrap_or_default();
    let span = |lead: &str| {
        // No time at all is not worth a word, unless something must follow at once.
        let is_least = matches!(
            expected.operator,
            CheckOperator::Never | CheckOperator::Always
        );
        let span = expected.span.filter(|span| span.0 > 0 || !is_least);
        span.map_or_else(String::new, |span| format!(" {lead} {}", span.words()))
    };
    let times = expected.times;
    let whose = if expected.per_case {
        " over the whole case"
    } else {
        ""
    };
    match expected.operator {
        CheckOperator::Never if is_of_objects => {
            format!("when {first} is true{}", span("for at least"))
        }
        CheckOperator::Always if is_of_objects => {
            format!("when {first} is false{}", span("for at least"))
        }
        CheckOperator::Never => {
            format!(
                "for each of them{} for which {first}",
                span("that lasts at least")
            )
        }
        CheckOperator::Always => {
            format!(
                "for each of them{} for which not {first}",
                span("that lasts at least")
            )
        }
        CheckOperator::AtEnd => format!("if {first} is false at the end of the run"),
        CheckOperator::Eventually => {
            let since = expected.since.as_ref().map(quoted);
            let since = since.map_or_else(String::new, |since| format!(" of {since}"));
            format!("if {first} does not become true{}{since}", span("within"))
        }
        CheckOperator::LeadsTo => {
            format!(
                "when {first} becomes true and {second} does not{}",
                span("within")
            )
        }
        CheckOperator::Until => format!("when {first} is false before {second} is first true"),
        CheckOperator::Stays => {
            let span = span("within");
            format!("when {first} becomes true and {second} is false{span} afterwards")
        }
        CheckOperator::AtMost => {
            let becomes = if is_of_objects {
                "becomes true"
            } else {
                "is true"
            };
            format!(
                "when {first} {becomes} more than {times} times{}{whose}",
                span("within")
            )
        }
        CheckOperator::Flaps => {
            format!(
                "when {first} changes more than {times} times{}{whose}",
                span("within")
            )
        }
        CheckOperator::Highest => {
            format!(
                "if the highest value of {first} is above {}{whose}",
                expected.above
            )
        }
        CheckOperator::Total => {
            format!("if {first} is true{} in sum{whose}", span("for more than"))
        }
    }
}
