//! The one reading of a Pod's phase, of the waits of its containers and of its deletion.

use crate::condition::StatusCondition;
use kubereel_history::field::{is_being_deleted, is_true, items, text};
use serde_json::Value;

/// Why a container waits and will not run by itself, by the reason of the kubelet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitingTrouble {
    /// Its image cannot be pulled.
    Image,
    /// It refers to an object that does not exist, or its configuration is invalid.
    Config,
    /// It cannot be started.
    Start,
    /// It ended repeatedly.
    CrashLoop,
}

impl WaitingTrouble {
    /// Classifies the reason of a waiting container; `None` if it will run by itself.
    pub fn of(reason: &str) -> Option<Self> {
        Some(match reason {
            "ErrImagePull"
            | "ImagePullBackOff"
            | "ErrImageNeverPull"
            | "InvalidImageName"
            | "ImageInspectError"
            | "RegistryUnavailable"
            | "SignatureValidationFailed" => Self::Image,
            "CreateContainerConfigError" | "CreateContainerError" => Self::Config,
            "RunContainerError" | "PreCreateHookError" | "PreStartHookError"
            | "PostStartHookError" => Self::Start,
            "CrashLoopBackOff" => Self::CrashLoop,
            _ => return None,
        })
    }
}

/// The stage of a Pod's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodStage<'a> {
    /// It is being deleted and did not succeed: how its containers end does not describe how it ran.
    Terminating,
    /// It succeeded.
    Succeeded,
    /// It failed; with its own reason, which may be empty.
    Failed(&'a str),
    /// A container waits for this reason, and will not run by itself.
    Stuck(&'a str),
    /// It runs and is ready: by its condition, or by its containers if it has none.
    Ready,
    /// It runs and is not ready.
    NotReady,
    /// A scheduling gate holds it back.
    Gated,
    /// The scheduler has no Node for it.
    Unschedulable(StatusCondition<'a>),
    /// It has not started yet.
    Pending,
    /// Its Node does not report.
    Unknown,
}

impl<'a> PodStage<'a> {
    /// Reads a Pod.
    pub fn of(pod: &'a Value) -> Self {
        let phase = text(pod, "/status/phase");
        match phase {
            "Succeeded" => return Self::Succeeded,
            // A deletion ends many containers with an error code: a failure then says nothing about how the Pod ran.
            _ if is_being_deleted(pod) => return Self::Terminating,
            "Failed" => return Self::Failed(text(pod, "/status/reason")),
            _ => {}
        }
        let lists = ["/status/initContainerStatuses", "/status/containerStatuses"];
        let containers = lists.iter().flat_map(|at| items(pod, at));
        let mut waits = containers.map(|one| text(one, "/state/waiting/reason"));
        if let Some(reason) = waits.find(|reason| WaitingTrouble::of(reason).is_some()) {
            return Self::Stuck(reason);
        }
        let condition = |kind| StatusCondition::all(pod).find(move |one| one.kind == kind);
        // Containers of a lost Node stay ready in its last report; the condition is that of the node controller.
        let is_ready = condition("Ready").map_or_else(
            || {
                let mut all = items(pod, "/status/containerStatuses").iter();
                all.all(|one| is_true(one, "/ready"))
            },
            |ready| ready.is("True"),
        );
        let unscheduled = condition("PodScheduled").filter(|one| one.is("False"));
        match (phase, unscheduled) {
            ("Running", _) if is_ready => Self::Ready,
            ("Running", _) => Self::NotReady,
            (_, Some(condition)) if condition.reason == "SchedulingGated" => Self::Gated,
            (_, Some(condition)) => Self::Unschedulable(condition),
            ("Unknown", None) => Self::Unknown,
            _ => Self::Pending,
        }
    }

    /// Returns whether it is or was healthy.
    pub const fn is_well(self) -> bool {
        matches!(self, Self::Ready | Self::Succeeded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_deletion_hides_how_the_containers_end() {
        let mut pod = json!({"status": {"phase": "Failed", "reason": "Error"}});
        assert_eq!(PodStage::of(&pod), PodStage::Failed("Error"));
        pod["metadata"] = json!({"deletionTimestamp": "2026-11-23T10:00:00Z"});
        assert_eq!(PodStage::of(&pod), PodStage::Terminating);
        pod["status"]["phase"] = json!("Succeeded");
        assert_eq!(PodStage::of(&pod), PodStage::Succeeded);
    }

    #[test]
    fn a_pod_of_a_lost_node_is_not_ready() {
        let mut pod = json!({"status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "False"}],
            "containerStatuses": [{"name": "main", "ready": true}],
        }});
        assert_eq!(PodStage::of(&pod), PodStage::NotReady);
        pod["status"]["conditions"] = json!([]);
        assert_eq!(PodStage::of(&pod), PodStage::Ready);
    }

    #[test]
    fn a_pod_that_is_gated_waits_on_purpose() {
        let of = |reason: &str| {
            let pod = json!({"status": {"phase": "Pending", "conditions": [
                {"type": "PodScheduled", "status": "False", "reason": reason}]}});
            matches!(PodStage::of(&pod), PodStage::Gated)
        };
        assert!(of("SchedulingGated") && !of("Unschedulable"));
    }

    #[test]
    fn a_wait_is_a_trouble_only_if_it_does_not_pass() {
        assert_eq!(
            WaitingTrouble::of("ErrImageNeverPull"),
            Some(WaitingTrouble::Image)
        );
        assert_eq!(
            WaitingTrouble::of("PostStartHookError"),
            Some(WaitingTrouble::Start)
        );
        assert_eq!(WaitingTrouble::of("ContainerCreating"), None);
        assert_eq!(WaitingTrouble::of(""), None);
    }
}
