//! Known failures do not fail, and are reported.

use crate::running::labels::{Change, Labels, RULE, reel, run, run_with, second};
use kubereel_monitortests::{CaseVerdict, ExceptionError, ExceptionSet, proposed};

const BAD: &[Change] = &[(5, "a", "bad"), (9, "a", "good"), (20, "b-7xk2", "bad")];

fn verdict(fields: &str) -> CaseVerdict {
    let file = format!("exceptions:\n- rule: pod-*\n  state: permanent\n  why: known\n{fields}");
    run(BAD, &file, vec![Labels::new()]).outcomes[0].verdict
}

#[test]
fn all_that_is_given_must_match() {
    for (fields, is_covered) in [
        ("", true),
        ("  namespace: sh?p\n", true),
        ("  namespace: web\n", false),
        ("  name: [a, b-*]\n", true),
        ("  name: a\n", false),
        ("  container: main\n  resource: pods\n", true),
        ("  resource: pods.example.org\n", true),
        ("  resource: pod\n", false),
        ("  condition: Ready\n", true),
        ("  condition: Ready=False\n", true),
        ("  condition: Ready=True\n", false),
        ("  reason: Wrong.*\n", true),
        ("  reason: Wrong\n", false),
        ("  message: wrong\n", true),
        ("  message: ^wrong\n", false),
        ("  test: '*good labels'\n", true),
        ("  test: '*bad labels'\n", false),
        ("  run: [stable]\n", true),
        ("  run: [upgrade]\n", false),
        ("  run: stable\n", true),
        ("  phase: upgrade\n", false),
        ("  phase: [upgrade]\n", false),
        ("  topology: HighlyAvailable\n", false),
        ("  release: '>=4.18'\n", false),
        ("  keys: {container: main}\n", true),
        ("  keys: {zone: a}\n", false),
        ("  shorter_than: 81s\n", true),
        ("  shorter_than: 4s\n", false),
    ] {
        let expected = if is_covered {
            CaseVerdict::FlakePermanent
        } else {
            CaseVerdict::Fail
        };
        assert_eq!(verdict(fields), expected, "{fields}");
    }
}

#[test]
fn pending_ones_win_over_permanent_ones_and_uncovered_failures_over_both() {
    let file = "exceptions:
- {rule: pod-labels, name: a, state: permanent, why: known}
- {rule: pod-labels, name: b-*, state: jira, link: BUG-1}";
    let report = run(BAD, file, vec![Labels::new()]);
    assert_eq!(report.outcomes[0].verdict, CaseVerdict::FlakeJira);
    assert_eq!(report.uses.covered, [1, 1]);
    let excuse = report.outcomes[0].findings[1].excuse.clone().expect("one");
    assert_eq!(
        (excuse.link.as_str(), excuse.written_at.as_str()),
        ("BUG-1", "known.yaml:3")
    );
    let more = &[BAD, &[(30, "c", "bad")]].concat();
    let report = run(more, file, vec![Labels::new()]);
    assert_eq!(report.outcomes[0].verdict, CaseVerdict::Fail);
    assert_eq!(report.outcomes[0].evidence().count(), 1);
}

#[test]
fn an_end_is_compared_with_the_recording_not_with_the_wall_clock() {
    // The recording is of 2026-11-21.
    let at = |expires: &str, now: Option<i64>| {
        let file =
            format!("exceptions:\n- {{rule: '*', state: jira, link: BUG-1, expires: {expires}}}");
        let (_folder, timeline) = reel(BAD, false);
        let report = run_with(&timeline, &file, now.map(second), vec![Labels::new()]);
        (
            report.outcomes[0].verdict,
            report.uses.covered,
            report.uses.too_late,
        )
    };
    let expected = (CaseVerdict::FlakeJira, vec![2], vec![0]);
    assert_eq!(at("2026-11-21", None), expected);
    let expected = (CaseVerdict::Fail, vec![0], vec![2]);
    assert_eq!(at("2026-11-20", None), expected);
    assert_eq!(at("2026-11-20", Some(-86_400)).0, CaseVerdict::FlakeJira);
    assert_eq!(at("'2026-11-21T14:01:00Z'", None).0, CaseVerdict::Fail);
}

#[test]
fn wrong_files_are_refused_with_line_and_column() {
    let entry =
        |rest: &str| format!("exceptions:\n- {{rule: a, state: permanent, why: x, {rest}}}\n");
    for (text, at, words) in [
        (
            "exceptions:\n- rule: a\n  stat: jira\n".to_owned(),
            "stat",
            "stat",
        ),
        (
            "exceptions:\n- rule: a\n  state: maybe\n".to_owned(),
            "maybe",
            "permanent",
        ),
        (
            "exceptions:\n- rule: a\n  state: jira\n".to_owned(),
            "rule",
            "link",
        ),
        (
            "exceptions:\n- rule: a\n  state: permanent\n".to_owned(),
            "rule",
            "why",
        ),
        (
            "exceptions:\n- state: permanent\n  why: x\n".to_owned(),
            "state",
            "rule",
        ),
        (entry("reason: 'a('"), "'a('", "regex: unclosed"),
        (entry("message: '(a{1000}){1000}'"), "'(a{", "regex"),
        (entry("release: new"), "new", "release"),
        (entry("phase: [night]"), "night", "install"),
        (entry("run: [night]"), "night", "failed-upgrade"),
        (entry("shorter_than: long"), "long", "length of time"),
        (entry("expires: soon"), "soon", "2026-12-31"),
        (entry("platform: 4.20"), "platform", "text"),
        (entry("name: []"), "[]", "empty"),
        (entry("topology: [SNO]"), "SNO", "SingleReplica"),
        (entry("topology: SNO"), "SNO", "SingleReplica"),
        (entry("platform: [aws, asw]"), "asw", "metal"),
    ] {
        let refused = ExceptionSet::read("known.yaml", &text);
        let Err(ExceptionError::Wrong {
            file,
            line,
            column,
            message,
        }) = refused
        else {
            panic!("{text} was taken");
        };
        assert_eq!(file, "known.yaml");
        let before = text.split(at).next().unwrap_or_default();
        let last = before.lines().last().filter(|_| !before.ends_with('\n'));
        let place = last.map_or(0, |last| last.chars().count()) + 1;
        let number = |count: usize| u64::try_from(count).expect("a small number");
        let expected = (number(before.matches('\n').count() + 1), number(place));
        assert_eq!((line, column), expected, "{text}: {message}");
        assert!(message.contains(words), "{message}");
    }
    for text in ["exceptions: [\n", "", "- a", "\u{0}"] {
        let refused = ExceptionSet::read("known.yaml", text);
        assert!(
            matches!(refused, Err(ExceptionError::Wrong { .. })),
            "{text:?}: {refused:?}"
        );
    }
    let long = " ".repeat(5 << 20);
    let refused = ExceptionSet::read("known.yaml", &long);
    assert!(
        matches!(refused, Err(ExceptionError::TooLong { .. })),
        "{refused:?}"
    );
}

#[test]
fn proposed_entries_make_flakes_of_the_failures() {
    let report = run(BAD, "", vec![Labels::new()]);
    let text = proposed([("one.reel", report.outcomes.as_slice())]);
    assert!(text.contains(&format!("- rule: {RULE}\n")), "{text}");
    let again = run(BAD, &text, vec![Labels::new()]);
    assert_eq!(again.outcomes[0].verdict, CaseVerdict::FlakeJira, "{text}");
    let entries = ExceptionSet::read("proposed.yaml", &text).expect("valid");
    assert_eq!(entries.all().len(), 2);
    // What failed otherwise is not covered.
    let other = run(&[(5, "z", "bad")], &text, vec![Labels::new()]);
    assert_eq!(other.outcomes[0].verdict, CaseVerdict::Fail);
    let none = proposed([("one.reel", &[][..])]);
    let none = ExceptionSet::read("proposed.yaml", &none).expect("valid");
    assert_eq!(none.all().len(), 0);
}

#[test]
fn the_built_in_exceptions_are_sound_and_have_links() {
    let builtin = ExceptionSet::builtin().expect("they can be read");
    assert!(builtin.all().len() > 40, "{}", builtin.all().len());
    for exception in builtin.all() {
        assert!(
            exception
                .link
                .starts_with("https://issues.redhat.com/browse/OCPBUGS-")
                || !exception.why.is_empty(),
            "{exception:?}"
        );
    }
}
