//! Mistakes in rule files: each is reported with file, line, column, the line, and what to do.

use kubereel_monitortests::{RuleErrors, RuleSet};

/// A rule over pods around what is tried.
fn objects(rest: &str) -> String {
    format!("{HEAD}  objects:\n    resource: pods\n{rest}")
}

/// A rule over intervals around what is tried.
fn intervals(rest: &str) -> String {
    format!("{HEAD}  intervals:\n    sources: [KubeEvent]\n{rest}")
}

const HEAD: &str = "monitortests:
- id: x
  monitor: m
  junit: a name
  description: d
  owner: o
  origin: p
";

fn errors(text: &str) -> RuleErrors {
    RuleSet::read([("r.yaml", text)]).expect_err(text)
}

/// Reads a file with one mistake and gives its first line, the marked characters, and the hint.
fn mistake(text: &str) -> (String, String, String) {
    let errors = errors(text);
    assert_eq!(errors.mistakes.len(), 1, "{errors}");
    let found = &errors.mistakes[0];
    let marked = found.text.chars().skip(found.column - 1);
    let marked = marked.take(found.width).collect();
    let first = errors.to_string();
    let first = first.lines().next().expect("a line").to_owned();
    (first, marked, found.hint.clone())
}

#[track_caller]
fn expect(text: &str, line: &str, marked: &str, hint: &str) {
    let found = mistake(text);
    let expected = (line.to_owned(), marked.to_owned(), hint.to_owned());
    assert_eq!(found, expected, "in\n{text}");
}

#[test]
fn a_mistake_shows_its_line_and_what_to_do() {
    let text = objects("  expect:\n  - never: objct.spec == 1\n    message: m\n");
    let expected = "\
r.yaml:11:12: unknown variable `objct`
  11 |   - never: objct.spec == 1
     |            ^^^^^
     = did you mean `object`?";
    assert_eq!(errors(&text).to_string(), expected);
}

#[test]
fn all_mistakes_are_told_at_once() {
    let text = objects(
        "  when:\n  - cel: factz.topology\n    otherwise: o\n  expect:\n  - never: a && b\n    forAtLeast: soon\n    message: ${c}\n",
    );
    let errors = errors(&text);
    let lines: Vec<_> = errors.mistakes.iter().map(|one| one.line).collect();
    assert_eq!(lines, [11, 15, 14, 16], "{errors}");
}

#[test]
fn names_are_found_in_every_kind_of_yaml_text() {
    let written = [
        ("  - never: \"true || \\\"a\\\" == nix\"\n", 11, 30),
        ("  - never: 'true || ''a'' == nix'\n", 11, 30),
        ("  - never: |\n      true\n      || nix\n", 13, 10),
        (
            "  - never: >-\n      true ||\n      \"a\" ==\n      nix\n",
            14,
            7,
        ),
        ("  - never: true ||\n      nix\n", 12, 7),
    ];
    for (check, line, column) in written {
        let text = objects(&format!("  expect:\n{check}    message: m\n"));
        let errors = errors(&text);
        let found: Vec<_> = errors
            .mistakes
            .iter()
            .map(|one| (one.line, one.column, one.what.as_str()))
            .collect();
        assert_eq!(found, [(line, column, "unknown variable `nix`")], "{check}");
    }
}

#[test]
fn a_misspelt_source_is_told_and_another_tools_is_taken() {
    let rest = |source: &str| {
        format!(
            "{HEAD}  intervals:\n    sources: [{source}]\n  expect:\n  - never: 'true'\n    message: m\n"
        )
    };
    expect(
        &rest("OperatorStat"),
        "r.yaml:9:15: unknown source `OperatorStat`",
        "OperatorStat",
        "did you mean `OperatorState`?",
    );
    for known in [
        "LeaseState",
        "AuditLog",
        "E2ETest",
        "Disruption",
        "KubeletLog",
        "PodLog",
        "Alert",
    ] {
        let read = RuleSet::read([("r.yaml", rest(known).as_str())]);
        assert!(read.is_ok(), "{known}");
    }
}

#[test]
fn an_unknown_fact_is_told_with_the_nearest() {
    expect(
        &objects(
            "  when:\n  - cel: facts.topolgy == \"x\"\n    otherwise: o\n  expect:\n  - never: 'true'\n    message: m\n",
        ),
        "r.yaml:11:16: unknown fact `topolgy`",
        "topolgy",
        "did you mean `topology`?",
    );
}

#[test]
fn words_that_nothing_has_are_told() {
    let rest = |more: &str| {
        intervals(&format!(
            "{more}  expect:\n  - never: 'true'\n    message: m\n"
        ))
    };
    expect(
        &rest("    locators: [ClusterOperators]\n"),
        "r.yaml:10:16: unknown locator type `ClusterOperators`",
        "ClusterOperators",
        "did you mean `ClusterOperator`?",
    );
    expect(
        &rest("    where: interval.levl == \"Error\"\n"),
        "r.yaml:10:21: unknown member of `interval`: `levl`",
        "levl",
        "did you mean `level`?",
    );
    expect(
        &rest("    where: phase != \"upgrades\"\n"),
        "r.yaml:10:12: `phase` is never \"upgrades\"",
        "phase",
        "did you mean \"upgrade\"?",
    );
    expect(
        &objects("  expect:\n  - never: action == \"deleted\"\n    message: m\n"),
        "r.yaml:11:12: `action` is never \"deleted\"",
        "action",
        "it is one of appeared, changed, gone",
    );
    for (field, word) in [
        ("exceptTopologies", "SingleNode"),
        ("platforms", "AWS"),
        ("networks", "cilium"),
    ] {
        let (line, _, hint) = mistake(&rest(&format!("  appliesTo: {{{field}: [{word}]}}\n")));
        assert!(line.ends_with(&format!("unknown value `{word}`")), "{line}");
        assert!(hint.starts_with("available here: "), "{hint}");
    }
}

#[test]
fn a_misspelt_locator_key_is_told_and_the_kind_of_an_object_is_taken() {
    let rest = |key: &str| {
        intervals(&format!(
            "    keys: {{{key}: a}}\n  expect:\n  - never: 'true'\n    message: m\n"
        ))
    };
    expect(
        &rest("namespce"),
        "r.yaml:10:12: unknown locator key `namespce`",
        "namespce",
        "did you mean `namespace`?",
    );
    for known in ["podType", "e2e-test", "horizontalpodautoscaler", "ingress"] {
        let read = RuleSet::read([("r.yaml", rest(known).as_str())]);
        assert!(read.is_ok(), "{known}");
    }
}

#[test]
fn a_text_is_not_a_boolean() {
    let check = "  expect:\n  - never: 'true'\n    message: m\n";
    for (rule, place) in [
        (objects(&format!("  flakeOnly: 'true'\n{check}")), "10:14"),
        (
            objects(&format!(
                "  related:\n    owners: {{resource: jobs.batch, owner: \"true\"}}\n{check}"
            )),
            "11:43",
        ),
    ] {
        let (line, marked, _) = mistake(&rule);
        let expected = format!(
            "r.yaml:{place}: cannot be read: expected true or false, found the text \"true\""
        );
        assert!(line.starts_with(&expected), "{line}");
        assert!(marked.contains("true"), "{marked}");
    }
    let good = objects(&format!("  flakeOnly: true\n{check}"));
    assert!(RuleSet::read([("r.yaml", good.as_str())]).is_ok());
}

#[test]
fn only_checks_that_count_have_a_count() {
    let hint = "only atMost, flaps, highest and total count";
    let never = "  expect:\n  - never: 'true'\n    message: ${count} times\n";
    let line = "r.yaml:12:16: `count` is not available here";
    expect(&objects(never), line, "count", hint);
    expect(&intervals(never), line, "count", hint);
    let eventually = never.replace("never", "eventually");
    expect(&intervals(&eventually), line, "count", hint);
    for counted in [
        "atMost: {times: 1, of: 'true'}",
        "highest: {of: '2', above: 1}",
        "total: {of: 'true', above: 1m}",
    ] {
        let check = format!("  expect:\n  - {counted}\n    message: ${{count}} times\n");
        for text in [objects(&check), intervals(&check)] {
            let read = RuleSet::read([("r.yaml", text.as_str())]);
            assert!(read.is_ok(), "{counted}");
        }
    }
}

#[test]
fn broken_yaml_is_told() {
    let (line, _, _) = mistake("monitortests:\n- id: x\n  monitor: y: z\n");
    assert!(line.starts_with("r.yaml:3:13: "), "{line}");
    assert!(line.contains("cannot be read"), "{line}");
}

#[test]
fn an_unknown_field_is_told_at_its_place() {
    expect(
        &objects("  expct: []\n  expect:\n  - never: 'true'\n    message: m\n"),
        "r.yaml:10:3: unknown field `expct`",
        "expct",
        "did you mean `expect`?",
    );
    expect(
        &objects("  expect:\n  - never: 'true'\n    forAtleast: 1m\n    message: m\n"),
        "r.yaml:12:5: unknown field `forAtleast`",
        "forAtleast",
        "did you mean `forAtLeast`?",
    );
}

#[test]
fn a_missing_field_is_told() {
    let errors = errors("monitortests:\n- junit: y\n");
    let lines: Vec<&str> = errors
        .mistakes
        .iter()
        .map(|one| one.what.as_str())
        .collect();
    let expected = [
        "the field `id` is missing",
        "a rule watches either `objects` or `intervals`",
        "the field `expect` is missing",
    ];
    assert_eq!(lines, expected, "{errors}");
}

#[test]
fn unknown_functions_are_told_with_the_nearest() {
    expect(
        &objects("  expect:\n  - never: object.metadata.name.startWith('a')\n    message: m\n"),
        "r.yaml:11:33: unknown function `startWith`",
        "startWith",
        "did you mean `startsWith`?",
    );
}

#[test]
fn a_function_called_with_too_few_values_is_told() {
    expect(
        &objects("  expect:\n  - never: object.metadata.name.startsWith()\n    message: m\n"),
        "r.yaml:11:33: `startsWith` is called with 1 arguments",
        "startsWith",
        "it takes 2, including the target",
    );
}

#[test]
fn parts_of_times_are_of_no_other_zone() {
    expect(
        &objects(
            "  expect:\n  - never: timestamp(object.metadata.creationTimestamp).getHours('Europe/Berlin') > 1\n    message: m\n",
        ),
        "r.yaml:11:57: `getHours` takes no argument",
        "getHours",
        "parts of a time are those of UTC",
    );
}

#[test]
fn facts_are_not_read_by_predicates_over_objects() {
    expect(
        &objects("  expect:\n  - never: facts.topology == 'External'\n    message: m\n"),
        "r.yaml:11:12: `facts` is not available here",
        "facts",
        "predicates over objects cannot read it: use `when`, `during` or `flakeIf`",
    );
}

#[test]
fn broken_cel_is_told_where_it_breaks() {
    let (line, _, _) = mistake(&objects(
        "  expect:\n  - never: object.a == == 2\n    message: m\n",
    ));
    assert!(line.starts_with("r.yaml:11:24: invalid CEL"), "{line}");
}

#[test]
fn regexes_are_constant_and_bounded() {
    let with = |pattern: &str| {
        objects(&format!(
            "  expect:\n  - never: object.metadata.name.matches({pattern})\n    message: m\n"
        ))
    };
    expect(
        &with("object.spec.x"),
        "r.yaml:11:33: the regex of `matches` is not constant",
        "matches",
        "write it as a string literal: it is compiled once, when the file is read",
    );
    expect(
        &with("'(a{1000}){1000}'"),
        "r.yaml:11:33: the compiled regex would exceed 262144 bytes",
        "matches",
        "",
    );
    let (line, _, _) = mistake(&with("'(a'"));
    assert!(line.contains("11:33: invalid regex: "), "{line}");
    let bomb = objects("  expect:\n  - never: 'true'\n    message: m\n").replace(
        "resource: pods",
        "resource: pods\n    name: '((a{500}){500}){500}'",
    );
    let (line, _, _) = mistake(&bomb);
    assert!(
        line.starts_with("r.yaml:10:12: the compiled regex would exceed"),
        "{line}"
    );
}

#[test]
fn loops_that_multiply_are_refused() {
    let cel = "object.a.all(a, object.b.all(b, object.c.all(c, a == b && b == c)))";
    expect(
        &objects(&format!("  expect:\n  - never: {cel}\n    message: m\n")),
        "r.yaml:11:53: loops are nested deeper than 2",
        "all",
        "each nesting multiplies the time; watch `items`, or write two checks",
    );
    let long = "a".repeat(5000);
    let (line, _, _) = mistake(&objects(&format!(
        "  expect:\n  - never: \"'{long}' == ''\"\n    message: m\n"
    )));
    assert!(
        line.ends_with("the expression has 5008 characters"),
        "{line}"
    );
    let deep = format!("{}1{}", "(".repeat(500), ")".repeat(500));
    let (line, _, _) = mistake(&objects(&format!(
        "  expect:\n  - never: {deep} == 1\n    message: m\n"
    )));
    assert!(line.contains("invalid CEL"), "{line}");
}

#[test]
fn a_check_has_one_operator_and_the_fields_that_go_with_it() {
    let (line, _, _) = mistake(&objects("  expect:\n  - message: m\n"));
    assert_eq!(line, "r.yaml:11:5: the check has 0 operators");
    let (line, _, _) = mistake(&objects(
        "  expect:\n  - never: 'true'\n    always: 'true'\n    message: m\n",
    ));
    assert_eq!(line, "r.yaml:11:5: the check has 2 operators");
    expect(
        &objects("  expect:\n  - never: 'true'\n    within: 10m\n    message: m\n"),
        "r.yaml:12:13: `within` has no meaning with `never`",
        "10m",
        "it goes with eventually",
    );
    let (line, _, _) = mistake(&intervals(
        "  expect:\n  - flaps: {of: 'true', moreThan: 3}\n    message: m\n",
    ));
    assert_eq!(line, "r.yaml:11:5: `flaps` is for rules over objects");
    let (line, _, _) = mistake(&objects("  expect: []\n"));
    assert_eq!(line, "r.yaml:10:11: the rule has no checks");
}

#[test]
fn times_and_places_are_checked() {
    expect(
        &objects("  expect:\n  - never: 'true'\n    forAtLeast: 10 min\n    message: m\n"),
        "r.yaml:12:17: `10 min` is not a duration",
        "10 min",
        "write `90s`, `10m`, `1h30m` or `250ms`",
    );
    expect(
        &objects(
            "  per:\n    namespace: object.metadata.namespace\n  expect:\n  - never: 'true'\n    message: m\n",
        ),
        "r.yaml:11:5: the name does not use the place `namespace`",
        "namespace",
        "cases of one name would be one case: add it to `junit`",
    );
    let text = objects("  expect:\n  - never: 'true'\n    message: m\n");
    expect(
        &text.replace("a name", "a {name}"),
        "r.yaml:4:10: `per` does not define the place `name` of the name",
        "a {name}",
        "add `name: CEL` to `per`",
    );
}

#[test]
fn a_message_that_reads_what_is_not_there_is_told_in_its_place() {
    expect(
        &intervals(
            "  expect:\n  - eventually: interval.open\n    message: nothing of ${interval.from} came\n",
        ),
        "r.yaml:12:27: `interval` is not available here",
        "interval",
        "a missing interval has no fields: read `place`, `from` or `facts`",
    );
    expect(
        &intervals("  expect:\n  - never: interval.open\n    message: it is ${interval.from\n"),
        "r.yaml:12:20: unclosed `${`",
        "${",
        "end the expression with `}`",
    );
}

#[test]
fn names_are_given_once() {
    let rule = objects("  expect:\n  - never: 'true'\n    message: m\n");
    let files = [("a.yaml", rule.as_str()), ("b.yaml", rule.as_str())];
    let errors = RuleSet::read(files).expect_err("twice");
    let told = errors.to_string();
    assert!(told.starts_with("b.yaml:2:7: duplicate id `x`"), "{told}");
    let errors = RuleSet::read([("a", "constants: {n: 1}"), ("b", "constants: {n: 2}")]);
    let told = errors.expect_err("twice").to_string();
    assert!(
        told.starts_with("b:1:13: constant `n` has two values"),
        "{told}"
    );
    RuleSet::read([("a", "constants: {n: 1}"), ("b", "constants: {n: 1}")]).expect("the same");
}

#[test]
fn a_very_long_file_is_refused() {
    let text = format!("# {}\n", "x".repeat(1 << 20));
    let told = errors(&text).to_string();
    assert!(
        told.starts_with("r.yaml:1:1: the file has 1048579 bytes"),
        "{told}"
    );
}

#[test]
fn bombs_of_aliases_are_refused() {
    let mut text = "constants:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..9 {
        let inside = format!("*a{}, ", level - 1).repeat(10);
        text = format!("{text}  a{level}: &a{level} [{inside}]\n");
    }
    let told = errors(&text).to_string();
    assert!(told.contains("cannot be read"), "{told}");
}

#[test]
fn a_word_that_is_not_known_is_marked() {
    let text = objects("  appliesTo: {platforms: [aws, asw]}\n  expect:\n  - never: 'true'\n");
    let (line, marked, hint) = mistake(&text);
    assert!(line.ends_with("unknown value `asw`"), "{line}");
    assert_eq!(marked, "asw");
    assert!(hint.contains("available here: aws, azure"), "{hint}");
    let during = |word: &str| {
        let rest = format!("  expect:\n  - never: 'true'\n    during: {word}\n");
        objects(&rest)
    };
    assert!(RuleSet::read([("r.yaml", during("upgrade").as_str())]).is_ok());
    let (line, marked, _) = mistake(&during("night"));
    assert!(
        line.contains("`night`") && line.contains("`upgrade`"),
        "{line}"
    );
    assert_eq!(marked, "night");
}

#[test]
fn numbers_and_names_that_mean_nothing_are_refused() {
    let count = "  expect:\n  - atMost: {times: -1, of: 'true'}\n";
    let (line, marked, _) = mistake(&objects(count));
    assert!(
        line.ends_with("expected a whole number, 0 or more and not too large"),
        "{line}"
    );
    assert_eq!(marked, "-1");
    let text = objects("  expect:\n  - never: 'true'\n").replace("a name", "''");
    let (line, _, hint) = mistake(&text);
    assert!(line.ends_with("the name is empty"), "{line}");
    assert_eq!(hint, "write a name, or leave `junit` out");
}
