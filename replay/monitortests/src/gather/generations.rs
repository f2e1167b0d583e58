//! The instants of workloads whose specification was written often, or whose generation fell. It
//! does not handle other kinds: upstream looks at deployments, daemon sets and stateful sets.

use super::ledger::{Draft, Ledger};
use crate::feed::{Action, Interest, WatchedEvent, Watcher};
use crate::interval::{Interval, Level, source};
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

/// Watches generations.
#[derive(Debug, Default)]
pub(crate) struct Generations {
    ledger: Ledger,
}

impl Generations {
    /// Returns what was made.
    pub(crate) fn into_intervals(self) -> Vec<Interval> {
        self.ledger.into_intervals().collect()
    }
}

impl Watcher for Generations {
    fn interests(&self) -> Vec<Interest> {
        let paths = ["metadata.generation"];
        KINDS
            .iter()
            .map(|(plural, ..)| Interest::new("apps", plural, paths))
            .collect()
    }

    fn seen(&mut self, seen: &WatchedEvent<'_>) {
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
            self.ledger
                .add(&draft().reason("GenerationViolation").human(words));
        }
        if now > USUAL_MOST && before != Some(now) {
            let words = format!("{kind} generation too high: {now}");
            self.ledger
                .add(&draft().reason("HighGeneration").human(words));
        }
    }
}
