//! The instants of workloads whose specification was written often, or whose generation fell. It
//! does not handle other kinds: upstream looks at deployments, daemon sets and stateful sets.

use super::instants::{InstantNotes, InstantRules};
use super::ledger::Draft;
use crate::feed::{Action, WatchedEvent};
use crate::interval::{Level, source};
use crate::reading;
use serde_json::Value;

/// Up to this generation no change is reported.
const USUAL_MOST: i64 = 3;

/// Each plural, the kind as text, and the key of its locator.
const KINDS: [(&str, &str, &str); 3] = [
    ("deployments", "Deployment", "deployment"),
    ("daemonsets", "DaemonSet", "daemonset"),
    ("statefulsets", "StatefulSet", "statefulset"),
];

/// Generations of workloads.
pub(super) const RULES: InstantRules = InstantRules {
    sources: &[source::GENERATION_MONITOR],
    state: None,
    group: "apps",
    plurals: &["deployments", "daemonsets", "statefulsets"],
    paths: &["metadata.generation"],
    note,
};

fn note(notes: &mut InstantNotes, seen: &WatchedEvent<'_>) {
    let kind = KINDS
        .iter()
        .find(|(plural, ..)| *plural == seen.resource.plural);
    let Some((_, kind, key)) = kind else {
        return;
    };
    let generation = |object: &Value| reading::number(object, "/metadata/generation");
    let Some(now) = generation(seen.now).filter(|_| seen.action != Action::Gone) else {
        return;
    };
    let draft = || {
        let keys = [("namespace", seen.key.namespace), (*key, seen.key.name)];
        Draft::new(source::GENERATION_MONITOR, Level::Info, seen.at)
            .about(kind, keys)
            .shown_by(seen.seq)
    };
    let before = seen.before.and_then(generation);
    if before.is_some_and(|before| now < before) {
        let words = format!(
            "{kind} generation fell from {} to {now}",
            before.unwrap_or_default()
        );
        notes.add(&draft().reason("GenerationViolation").human(words));
    }
    if now > USUAL_MOST && before != Some(now) {
        let words = format!("{kind} generation too high: {now}");
        notes.add(&draft().reason("HighGeneration").human(words));
    }
}
