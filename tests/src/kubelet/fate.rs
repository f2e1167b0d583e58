//! What a test or a scenario has in store for a Pod.

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a Pod meets on its node. Times are virtual: the kubelet's speed shortens them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fate", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Fate {
    /// Starts, and runs until it is deleted or, in a Job, until it is done.
    #[default]
    Runs,
    /// Starts, and becomes ready late.
    StartsSlowly {
        /// From the start of the container to ready.
        ready_after_secs: f64,
    },
    /// The image cannot be pulled: `ErrImagePull` and `ImagePullBackOff` in turn.
    PullFails {
        /// What the runtime says.
        message: String,
        /// Tries that fail before one goes well; for ever when absent.
        failures: Option<u32>,
    },
    /// The image is refused for its signature; never starts.
    SignatureRefused {
        /// What the runtime says.
        message: String,
    },
    /// The first container ends soon after each start: `CrashLoopBackOff`.
    CrashLoops {
        /// How it ends.
        exit_code: i32,
        /// How long each run lasts.
        runs_secs: f64,
        /// Runs that end so before one stays up; for ever when absent.
        crashes: Option<u32>,
    },
    /// The node runs short, and the kubelet puts the Pod out.
    Evicted {
        /// From ready to eviction.
        after_secs: f64,
        /// The resource that ran short.
        resource: String,
    },
    /// The sandbox is never made: waits until it is deleted or its deadline is over.
    Hangs,
}

/// Which Pods a fate is for: all that is given must match.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PodMatcher {
    /// The Pod's namespace.
    pub namespace: String,
    /// How its name begins.
    #[serde(default)]
    pub name_prefix: Option<String>,
    /// A label, key and value.
    #[serde(default)]
    pub label: Option<(String, String)>,
    /// Matches so many Pods only, the first to come; any number when absent.
    #[serde(default)]
    pub first: Option<u32>,
}

impl PodMatcher {
    fn matches(&self, pod: &Value) -> bool {
        let meta = &pod["metadata"];
        let name = meta["name"].as_str().unwrap_or_default();
        meta["namespace"] == self.namespace.as_str()
            && self
                .name_prefix
                .as_ref()
                .is_none_or(|prefix| name.starts_with(prefix.as_str()))
            && self
                .label
                .as_ref()
                .is_none_or(|(key, value)| meta["labels"][key] == value.as_str())
    }
}

/// The fates in store, asked once per Pod.
#[derive(Debug, Default)]
pub(crate) struct FateBook {
    entries: Mutex<Vec<(PodMatcher, Fate)>>,
}

impl FateBook {
    /// Puts a fate in store, before those already there.
    pub(crate) fn script(&self, matcher: PodMatcher, fate: Fate) {
        self.entries
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(0, (matcher, fate));
    }

    /// Takes the fate of a Pod that has come to a node.
    pub(crate) fn take(&self, pod: &Value) -> Fate {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let found = entries
            .iter_mut()
            .find(|(matcher, _)| matcher.first != Some(0) && matcher.matches(pod));
        let Some((matcher, fate)) = found else {
            return Fate::Runs;
        };
        if let Some(left) = &mut matcher.first {
            *left -= 1;
        }
        fate.clone()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_pods_only_and_the_newest_script_first() {
        let book = FateBook::default();
        let matcher = PodMatcher {
            namespace: "shop".to_owned(),
            name_prefix: Some("web-".to_owned()),
            first: Some(1),
            ..PodMatcher::default()
        };
        book.script(matcher, Fate::Hangs);
        let web = json!({"metadata": {"namespace": "shop", "name": "web-1"}});
        let other = json!({"metadata": {"namespace": "mail", "name": "web-1"}});
        assert_eq!(book.take(&other), Fate::Runs);
        assert_eq!(book.take(&web), Fate::Hangs);
        assert_eq!(book.take(&web), Fate::Runs, "spent");
    }

    #[test]
    fn labels_match_by_value() {
        let book = FateBook::default();
        let matcher = PodMatcher {
            namespace: "shop".to_owned(),
            label: Some(("app".to_owned(), "web".to_owned())),
            ..PodMatcher::default()
        };
        book.script(matcher, Fate::Hangs);
        let pod = |app: &str| json!({"metadata": {"namespace": "shop", "name": "p", "labels": {"app": app}}});
        assert_eq!(book.take(&pod("web")), Fate::Hangs);
        assert_eq!(book.take(&pod("mail")), Fate::Runs);
    }
}
