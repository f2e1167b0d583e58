//! Owns what is wrong with the containers of a Pod, in the words of its status. Refuses to remember.

use serde_json::Value;

/// Reasons to wait that are no failures.
const NORMAL: [&str; 2] = ["PodInitializing", "ContainerCreating"];

/// What a container says.
pub(super) struct Told {
    /// `initcontainer cleanup`.
    pub(super) who: String,
    /// What is wrong; empty if nothing is.
    pub(super) text: String,
    /// The reason in a word; empty if nothing is wrong.
    pub(super) reason: String,
}

/// Reads the containers of a Pod's status, those that run first in front.
pub(super) fn told(status: &Value) -> Vec<Told> {
    let lists = [
        ("initContainerStatuses", "initcontainer"),
        ("containerStatuses", "container"),
    ];
    let mut all = Vec::new();
    for (list, kind) in lists {
        let containers = status.get(list).and_then(Value::as_array);
        for container in containers.into_iter().flatten() {
            let name = text(container, "name");
            let (reason, text) = state(container);
            all.push(Told {
                who: format!("{kind} {name}"),
                text,
                reason,
            });
        }
    }
    all
}

fn state(container: &Value) -> (String, String) {
    let state = container.get("state");
    let part = |name: &str| {
        state
            .and_then(|state| state.get(name))
            .filter(|part| part.is_object())
    };
    if let Some(waiting) = part("waiting") {
        let reason = text(waiting, "reason");
        if reason.is_empty() || NORMAL.contains(&reason) {
            return Default::default();
        }
        return (reason.to_owned(), said("is waiting", waiting));
    }
    if let Some(ended) = part("terminated") {
        let code = ended.get("exitCode").and_then(Value::as_i64).unwrap_or(0);
        if code == 0 {
            return Default::default();
        }
        let reason = match text(ended, "reason") {
            "" => "Error",
            reason => reason,
        };
        return (
            reason.to_owned(),
            said(&format!("ended with code {code}"), ended),
        );
    }
    Default::default()
}

fn said(what: &str, state: &Value) -> String {
    match text(state, "message") {
        "" => format!("{what}: {}", text(state, "reason")),
        message => format!("{what}: {}: {}", text(state, "reason"), message.trim_end()),
    }
}

/// Gives a text of a document; empty if there is none.
pub(super) fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
