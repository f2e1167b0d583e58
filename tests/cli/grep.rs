//! Tests of `kubereel grep`: values over all objects and all time, and the output when nothing is
//! found.

use super::run::{DEMO, assert_has, kubereel, pods_with_gap};
use serde_json::Value;

#[test]
fn a_value_stands_from_the_version_that_brought_it_to_the_one_that_replaced_it() {
    let reel = pods_with_gap();
    let ran = kubereel!("grep {reel} ^x$").code(0);
    assert_eq!(
        ran.out,
        "FROM            TO              NAMESPACE   OBJECT   FIELD                 VALUE\n\
         14:00:01.000Z   14:00:05.000Z   default     pod/a    metadata.labels.app   x\n"
    );
    ran.says("1 value in 5 versions");
    let out = kubereel!("grep {reel} -i ^Y$ pods -n web -o json").ok();
    let found: Value = serde_json::from_str(&out).expect("one line");
    assert_eq!(found["name"], "b");
    assert_eq!(found["to"], "2026-11-21T14:00:07.000Z");
    assert_eq!(kubereel!("grep {reel} ^z$ pod/a").ok().lines().count(), 2);
    let ran = kubereel!("grep {reel} ^x$ --from 14:00:06").code(4);
    assert_eq!(ran.out, "");
    // What is beyond the searched time is not its end.
    let ran = kubereel!("grep {reel} ^x$ --to 14:00:03").code(0);
    ran.prints("≥ 14:00:03.000Z");
    // Nor is it known up to a moment at which it was not observed.
    let args = ["grep", reel.path(), "^y$", "pod/a", "--to", "14:00:10"];
    let ran = kubereel(&args).code(0);
    ran.prints("≥ 14:00:07.000Z");
    let out = kubereel(&[&args[..], &["-o", "json"]].concat()).ok();
    let found: Value = serde_json::from_str(&out).expect("one line");
    let end = [&found["to"], &found["end_unknown_since"]];
    assert_eq!(end, [&Value::Null, &"2026-11-21T14:00:07.000Z".into()]);
}

#[test]
fn all_namespaces_can_be_named_as_in_other_commands() {
    for asked in [
        &["grep", DEMO, "shop"][..],
        &["top-writers", DEMO],
        &["intervals", DEMO],
    ] {
        let plain = kubereel(asked);
        let all = kubereel(&[asked, &["-A", "-n", "shop"]].concat());
        assert_eq!((plain.out, plain.code), (all.out, all.code), "{asked:?}");
    }
}

#[test]
fn a_gap_ends_a_value_and_begins_the_next_one() {
    let reel = pods_with_gap();
    let ran = kubereel!("grep {reel} ^[yz]$ pod/a").code(0);
    assert_eq!(
        ran.out,
        "FROM              TO                NAMESPACE   OBJECT   FIELD                 VALUE\n\
         14:00:05.000Z     ≥ 14:00:07.000Z   default     pod/a    metadata.labels.app   y\n\
         ≤ 14:00:12.000Z   end               default     pod/a    metadata.labels.app   z\n"
    );
    let out = kubereel!("grep {reel} ^z$ pod/a -o json").ok();
    let found: Value = serde_json::from_str(&out).expect("one line");
    assert_eq!(found["begin_unknown_since"], "2026-11-21T14:00:07.000Z");
}

#[test]
fn a_search_from_a_moment_on_finds_the_values_of_that_moment_since_they_began() {
    let reel = pods_with_gap();
    let value = |from: &str, to: &str| {
        kubereel!("grep {reel} ^x$ --from {from} --to {to}")
            .code(0)
            .out
    };
    let all = value("start", "14:00:06");
    assert_has(&all, "\n14:00:01.000Z   14:00:05.000Z ");
    assert_eq!(value("14:00:03", "14:00:06"), all);
    let standing = value("14:00:03", "14:00:04");
    assert_has(&standing, "\n14:00:01.000Z   ≥ 14:00:04.000Z ");
}

#[test]
fn what_is_not_found_is_known_only_where_everything_was_seen() {
    kubereel!("grep {DEMO} -F no.such[value").code(1);
    kubereel(&["grep", pods_with_gap().path(), "nothing"]).code(4);
    kubereel!("grep {DEMO} no.such[value")
        .code(2)
        .says("error: invalid regular expression: unclosed character class: \"no.such[value\"\n")
        .says("hint: -F treats the pattern as a literal string");
}

#[test]
fn of_more_values_than_the_limit_the_number_of_all_is_said() {
    let reel = pods_with_gap();
    let values = |limit: &str| kubereel!("grep {reel} ^[xyz]$ --limit {limit}");
    let json = |limit: &str| {
        let out = kubereel!("grep {reel} ^[xyz]$ --limit {limit} -o json").ok();
        let lines = out.lines();
        lines
            .map(|line| serde_json::from_str(line).expect("a line"))
            .collect::<Vec<Value>>()
    };
    let all = json("0");
    let total = all.len();
    assert!(total > 2, "{all:?}");
    let ran = values("0").code(0);
    assert!(!ran.err.contains("--limit"), "{ran:#?}");
    let ran = values("2").code(0).says(&format!(
        "{total} values in 5 versions; showing the first 2, all with --limit 0"
    ));
    assert_eq!(ran.out.lines().count(), 3);
    let first = json("2");
    assert_eq!(first, all[..2]);
    assert_eq!(first[0]["total"], total);
}
