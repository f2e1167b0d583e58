//! The one reading of a container's status as a state.

use crate::pod::WaitingTrouble;
use crate::state_health::StateHealth;
use kubereel_history::counttext::count;
use kubereel_history::field::{at, is_true, items, number, text};
use serde_json::Value;

/// The state of a container of a Pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContainerHealth<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// Its health.
    pub(crate) health: StateHealth,
    /// The reason in a few words; empty while it is healthy and was never restarted.
    pub(crate) word: String,
}

impl<'a> ContainerHealth<'a> {
    /// Reads the containers of a Pod, init containers first.
    pub(crate) fn all(pod: &'a Value) -> Vec<Self> {
        let lists = ["/status/initContainerStatuses", "/status/containerStatuses"];
        let all = lists.iter().flat_map(|list| items(pod, list));
        all.map(Self::of).collect()
    }

    fn of(status: &'a Value) -> Self {
        let (health, word) = if let Some(ended) = at(status, "/state/terminated") {
            let reason = text(ended, "/reason");
            match number(ended, "/exitCode") {
                Some(0) => (StateHealth::Good, "Completed".to_owned()),
                Some(code) => (StateHealth::Down, format!("{reason} exit {code}")),
                None => (StateHealth::Down, reason.to_owned()),
            }
        } else if at(status, "/state/running").is_some() {
            if is_true(status, "/ready") {
                (StateHealth::Good, String::new())
            } else {
                (StateHealth::Changing, "running, not ready".to_owned())
            }
        } else {
            let reason = text(status, "/state/waiting/reason");
            let health = match WaitingTrouble::of(reason) {
                Some(_) => StateHealth::Bad,
                None => StateHealth::Changing,
            };
            (health, reason.to_owned())
        };
        let restarts = match at(status, "/restartCount").and_then(Value::as_u64) {
            None | Some(0) => String::new(),
            Some(restarts) => count(restarts, "restart"),
        };
        let words = [word.trim(), &restarts].map(str::to_owned).into_iter();
        let words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
        Self {
            name: text(status, "/name"),
            health,
            word: words.join(", "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_container_says_how_it_ended_and_how_often_it_was_restarted() {
        let pod = json!({"status": {
        "initContainerStatuses": [{"name": "setup", "ready": true,
            "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}],
        "containerStatuses": [
            {"name": "web", "ready": false, "restartCount": 2,
                "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}},
            {"name": "proxy", "ready": true, "state": {"running": {}}},
            {"name": "log", "state": {"waiting": {"reason": "ErrImagePull"}}},
        ]}});
        let read = ContainerHealth::all(&pod);
        let read: Vec<_> = read
            .iter()
            .map(|one| (one.name, one.health, one.word.as_str()))
            .collect();
        assert_eq!(
            read,
            [
                ("setup", StateHealth::Good, "Completed"),
                ("web", StateHealth::Down, "OOMKilled exit 137, 2 restarts"),
                ("proxy", StateHealth::Good, ""),
                ("log", StateHealth::Bad, "ErrImagePull"),
            ]
        );
    }
}
