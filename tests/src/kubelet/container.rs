//! One container as a kubelet reports it.

use serde_json::{Value, json};

/// How far a container is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ContainerState {
    /// Not running, for this reason.
    Waiting {
        reason: String,
        message: Option<String>,
    },
    /// Running since this time.
    Running { started_at: String },
    /// Over.
    Terminated(Ended),
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) exit_code: i32,
    pub(crate) reason: String,
    pub(crate) message: Option<String>,
    pub(crate) started_at: Option<String>,
    pub(crate) finished_at: Option<String>,
    pub(crate) container_id: Option<String>,
}

/// One container of a Pod.
#[derive(Debug, Clone)]
pub(crate) struct Container {
    pub(crate) name: String,
    pub(crate) image: String,
    pub(crate) has_readiness_probe: bool,
    pub(crate) state: ContainerState,
    pub(crate) last: Option<Ended>,
    pub(crate) ready: bool,
    pub(crate) restart_count: u32,
    pub(crate) runtime_id: Option<String>,
}

impl Container {
    /// Reads a container of a Pod's spec; it waits with this reason.
    pub(crate) fn of(spec: &Value, waiting: &str) -> Self {
        Self {
            name: spec["name"].as_str().unwrap_or_default().to_owned(),
            image: spec["image"].as_str().unwrap_or_default().to_owned(),
            has_readiness_probe: spec["readinessProbe"].is_object(),
            state: ContainerState::Waiting {
                reason: waiting.to_owned(),
                message: None,
            },
            last: None,
            ready: false,
            restart_count: 0,
            runtime_id: None,
        }
    }

    /// Whether it runs now.
    pub(crate) fn is_running(&self) -> bool {
        matches!(self.state, ContainerState::Running { .. })
    }

    /// Its exit code, when it is over.
    pub(crate) fn exit_code(&self) -> Option<i32> {
        match &self.state {
            ContainerState::Terminated(ended) => Some(ended.exit_code),
            _ => None,
        }
    }

    /// Ends the run there is; one that never ran ends as lost.
    pub(crate) fn end(&mut self, exit_code: i32, reason: &str, now: &str) {
        let started_at = match &self.state {
            ContainerState::Running { started_at } => Some(started_at.clone()),
            ContainerState::Terminated(_) => return,
            ContainerState::Waiting { .. } => None,
        };
        self.ready = false;
        self.state = ContainerState::Terminated(match started_at {
            Some(started_at) => Ended {
                exit_code,
                reason: reason.to_owned(),
                message: None,
                started_at: Some(started_at),
                finished_at: Some(now.to_owned()),
                container_id: self.runtime_id.clone(),
            },
            None => Ended {
                exit_code: 137,
                reason: "ContainerStatusUnknown".to_owned(),
                message: Some(
                    "The container could not be located when the pod was terminated".to_owned(),
                ),
                started_at: None,
                finished_at: None,
                container_id: None,
            },
        });
    }

    /// Its `containerStatuses[]` entry.
    pub(crate) fn to_status(&self) -> Value {
        let ran = self.runtime_id.is_some();
        let mut status = json!({
            "name": self.name,
            "state": self.state.to_json(),
            "lastState": self.last.as_ref().map_or_else(|| json!({}), |ended| json!({"terminated": ended.to_json()})),
            "ready": self.ready,
            "restartCount": self.restart_count,
            "image": self.image,
            "imageID": if ran { self.image.as_str() } else { "" },
            "started": self.is_running(),
        });
        if let Some(id) = &self.runtime_id {
            status["containerID"] = json!(id);
        }
        status
    }
}

impl ContainerState {
    fn to_json(&self) -> Value {
        match self {
            Self::Waiting { reason, message } => match message {
                Some(message) => json!({"waiting": {"reason": reason, "message": message}}),
                None => json!({"waiting": {"reason": reason}}),
            },
            Self::Running { started_at } => json!({"running": {"startedAt": started_at}}),
            Self::Terminated(ended) => json!({"terminated": ended.to_json()}),
        }
    }
}

impl Ended {
    fn to_json(&self) -> Value {
        let mut value = json!({
            "exitCode": self.exit_code,
            "reason": self.reason,
            "startedAt": self.started_at,
            "finishedAt": self.finished_at,
        });
        if let Some(message) = &self.message {
            value["message"] = json!(message);
        }
        if let Some(id) = &self.container_id {
            value["containerID"] = json!(id);
        }
        value
    }
}
