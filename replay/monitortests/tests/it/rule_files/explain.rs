//! Rules as text.

use crate::rule_files::reference::examples;
use kubereel_monitortests::{RuleSet, builtin_rule_files};

#[test]
fn a_rule_is_told_in_words() {
    let texts = examples();
    let text = texts.iter().find(|text| text.contains("operator-degraded"));
    let rules = RuleSet::read([("example", *text.expect("the example"))]).expect("rules");
    let told = rules.explain("operator-degraded").expect("a rule");
    let expected = [
        "It looks at intervals of OperatorState, if `interval.annotations.condition == \"Degraded\"`.",
        "It is skipped unless `facts.topology != \"SingleReplica\"` (\"single-node clusters are not judged\").",
        "There is a case for each operator (`interval.keys.clusteroperator`).",
        "Every known operator has one in each run, as operator; others have one if they are seen.",
        "The component is that of the operator, if it is known.",
        "It fails for each of them for which `interval.annotations.status == \"True\"`; it only flakes if \
         `interval.inUpgrade && interval.duration < duration(\"10m\")`. Message: \"${place.operator} was degraded for \
         ${interval.duration}: ${interval.message}\".",
    ];
    assert_eq!(told, expected);
    assert_eq!(rules.explain("no-such-rule"), None);
}

#[test]
fn every_built_in_rule_is_told_in_words_each_time_the_same() {
    let read = || RuleSet::read(builtin_rule_files()).expect("rules");
    let (rules, again) = (read(), read());
    for id in rules.ids() {
        let told = rules.explain(id).expect("a rule");
        // What is watched, which cases there are, and what is expected.
        assert!(told.len() >= 3, "{id}: {told:#?}");
        assert!(
            told.iter()
                .all(|line| line.starts_with(char::is_uppercase) && line.ends_with('.')),
            "{told:#?}"
        );
        assert_eq!(again.explain(id).as_ref(), Some(&told));
    }
}
