//! Row 16.

use crate::verdicts::judged::judged;
use crate::verdicts::reel::Reel;
use serde_json::json;

const STORED: &str =
    "[sig-api-machinery] CRDs with new API versions should not change storage version immediately";

fn definition(versions: &[(&str, bool)]) -> serde_json::Value {
    let versions: Vec<_> = versions
        .iter()
        .map(|(name, storage)| json!({"name": name, "storage": storage, "served": true}))
        .collect();
    json!({
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "oxen.a.example.org"},
        "spec": {"group": "a.example.org", "versions": versions},
    })
}

#[test]
fn a_new_version_is_not_stored_at_once() {
    let id = "crd-new-version-not-stored";
    let began = || Reel::cluster().put(definition(&[("v1", true), ("v2", false)]));
    let added = began()
        .at("10:05:00")
        .put(definition(&[("v1", true), ("v2", false), ("v3", false)]))
        .at("10:06:00")
        .put(definition(&[("v1", false), ("v2", true), ("v3", false)]));
    judged(added.clone(), id).passes(STORED);
    let at_once =
        began()
            .at("10:05:00")
            .put(definition(&[("v1", false), ("v2", false), ("v3", true)]));
    let verdicts = judged(at_once, id);
    assert_eq!(verdicts.names_of_failed(), [STORED]);
    verdicts.fails(
        STORED,
        "10:05:00",
        "the new version v3 of oxen.a.example.org",
    );
    let later = added
        .at("10:07:00")
        .put(definition(&[("v1", false), ("v2", false), ("v3", true)]));
    judged(later, id).fails(STORED, "10:07:00", "before it was v1");
    let itself_new = Reel::cluster()
        .at("10:05:00")
        .put(definition(&[("v1", true)]));
    judged(itself_new, id).passes(STORED);
}

#[test]
fn what_was_not_recorded_is_not_judged() {
    let id = "crd-new-version-not-stored";
    let without = Reel::cluster()
        .at("10:05:00")
        .without("CustomResourceDefinition");
    let verdicts = judged(without, id);
    verdicts.is(STORED, "skipped");
    assert_eq!((verdicts.count(), verdicts.count_of("skipped")), (1, 1));
    let why = verdicts.why();
    assert!(why.contains("customresourcedefinitions"), "{why}");
    // A gap within hides nothing: the list after it shows what is stored.
    let gap = Reel::cluster().at("10:05:00").until("11:00:00");
    let gap = gap.gap("CustomResourceDefinition", "10:10:00", "10:20:00");
    judged(gap, id).passes(STORED);
}
