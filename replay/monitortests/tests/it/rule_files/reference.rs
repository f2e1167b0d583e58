//! The reference's examples are read.

use kubereel_monitortests::RuleSet;

const REFERENCE: &str = include_str!("../../../../../docs/rules.md");

/// Returns the examples of the reference.
pub(crate) fn examples() -> Vec<&'static str> {
    let fences = REFERENCE.split("```yaml\n").skip(1);
    fences
        .map(|rest| rest.split_once("```").expect("the example ends").0)
        .collect()
}

#[test]
fn every_example_of_the_reference_is_read() {
    let examples = examples();
    assert!(examples.len() >= 6, "the reference has examples");
    for (place, example) in examples.iter().enumerate() {
        let name = format!("example {place}");
        match RuleSet::read([(name.as_str(), *example)]) {
            Ok(set) => assert!(set.ids().count() > 0, "{name} has rules"),
            Err(errors) => panic!("{errors}"),
        }
    }
}
