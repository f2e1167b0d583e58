//! Owns what is read of a Pod: where it runs, whether it goes, and what holds it up.

use super::lenient::or_default;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A version of a Pod.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Pod {
    #[serde(deserialize_with = "or_default")]
    pub(crate) metadata: Metadata,
    #[serde(deserialize_with = "or_default")]
    pub(crate) spec: Spec,
    #[serde(deserialize_with = "or_default")]
    status: Status,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Metadata {
    #[serde(deserialize_with = "or_default")]
    pub(crate) labels: BTreeMap<String, String>,
    #[serde(deserialize_with = "or_default")]
    deletion_timestamp: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Spec {
    #[serde(deserialize_with = "or_default")]
    pub(crate) node_name: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) init_containers: Vec<Container>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Container {
    #[serde(deserialize_with = "or_default")]
    pub(crate) image: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    #[serde(deserialize_with = "or_default")]
    phase: String,
    #[serde(deserialize_with = "or_default")]
    reason: String,
    #[serde(deserialize_with = "or_default")]
    message: String,
    #[serde(deserialize_with = "or_default")]
    init_container_statuses: Vec<ContainerStatus>,
    #[serde(deserialize_with = "or_default")]
    container_statuses: Vec<ContainerStatus>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct ContainerStatus {
    #[serde(deserialize_with = "or_default")]
    state: State,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct State {
    waiting: Option<Why>,
    running: Option<serde::de::IgnoredAny>,
    terminated: Option<Ended>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Why {
    #[serde(deserialize_with = "or_default")]
    reason: String,
    #[serde(deserialize_with = "or_default")]
    message: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Ended {
    #[serde(deserialize_with = "or_default")]
    exit_code: i64,
    #[serde(deserialize_with = "or_default")]
    reason: String,
    #[serde(deserialize_with = "or_default")]
    message: String,
}

impl Pod {
    pub(crate) fn is_going(&self) -> bool {
        !self.metadata.deletion_timestamp.is_empty()
    }

    pub(crate) fn is_over(&self) -> bool {
        matches!(self.status.phase.as_str(), "Succeeded" | "Failed")
    }

    /// Gives the state as kubectl's STATUS column puts it, with the message behind it:
    /// `Init:ErrImagePull`.
    pub(crate) fn state(&self) -> (String, String) {
        let status = &self.status;
        if self.is_over() {
            let word = if status.reason.is_empty() {
                &status.phase
            } else {
                &status.reason
            };
            return (word.clone(), status.message.clone());
        }
        let total = self.spec.init_containers.len();
        for (done, container) in status.init_container_statuses.iter().enumerate() {
            match container.state.word() {
                Word::Done => {}
                Word::Running => return (format!("Init:{done}/{total}"), String::new()),
                Word::Waits(reason, message)
                    if reason.is_empty() || reason == "PodInitializing" =>
                {
                    return (format!("Init:{done}/{total}"), message.to_owned());
                }
                Word::Waits(reason, message) => {
                    return (format!("Init:{reason}"), message.to_owned());
                }
            }
        }
        for container in &status.container_statuses {
            if let Word::Waits(reason, message) = container.state.word()
                && !reason.is_empty()
            {
                return (reason.to_owned(), message.to_owned());
            }
        }
        (status.phase.clone(), status.message.clone())
    }
}

enum Word<'a> {
    Done,
    Running,
    Waits(&'a str, &'a str),
}

impl State {
    fn word(&self) -> Word<'_> {
        match self {
            Self {
                terminated: Some(ended),
                ..
            } if ended.exit_code == 0 => Word::Done,
            Self {
                terminated: Some(ended),
                ..
            } => Word::Waits(&ended.reason, &ended.message),
            Self {
                waiting: Some(why), ..
            } => Word::Waits(&why.reason, &why.message),
            Self {
                running: Some(_), ..
            } => Word::Running,
            _ => Word::Waits("", ""),
        }
    }
}
