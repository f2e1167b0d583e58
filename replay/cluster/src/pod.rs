//! Where a Pod stands: the one reading of its phase, its containers' waits and its deletion.

use crate::condition::StatusCondition;
use kubereel_history::field::{is_true, items, text};
use serde_json::Value;

/// What keeps a container from running and does not pass by itself, by the reason for which it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitingTrouble {
    /// Its image cannot be pulled.
    Image,
    /// It refers to what does not exist, or cannot be created as it is described.
    Config,
    /// It cannot be started.
    Start,
    /// It ended again and again.
    CrashLoop,
}

impl WaitingTrouble {
    /// Reads the reason of a waiting container; `None` for one that is on its way.
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

/// Where a Pod stands in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodStage<'a> {
    /// It is being deleted: how it ends says nothing of how it ran.
    Terminating,
    /// It ended well.
    Succeeded,
    /// It ended badly; with its own reason, which may be empty.
    Failed(&'a str),
    /// A container waits for this reason, and will not run by itself.
    Stuck(&'a str),
    /// It runs, and all its containers are ready.
    Ready,
    /// It runs, and is not ready.
    NotReady,
    /// Somebody holds it back from the scheduler on purpose.
    Gated,
    /// The scheduler has no Node for it.
    Unschedulable(StatusCondition<'a>),
    /// It has not started yet.
    Pending,
    /// Its Node does not say.
    Unknown,
}

impl<'a> PodStage<'a> {
    /// Reads a Pod.
    pub fn of(pod: &'a Value) -> Self {
        if pod.pointer("/metadata/deletionTimestamp").is_some() {
            return Self::Terminating;
        }
        let phase = text(pod, "/status/phase");
        match phase {
            "Succeeded" => return Self::Succeeded,
            "Failed" => return Self::Failed(text(pod, "/status/reason")),
            _ => {}
        }
        let lists = ["/status/initContainerStatuses", "/status/containerStatuses"];
        let containers = lists.iter().flat_map(|at| items(pod, at));
        let mut waits = containers.map(|one| text(one, "/state/waiting/reason"));
        if let Some(reason) = waits.find(|reason| WaitingTrouble::of(reason).is_some()) {
            return Self::Stuck(reason);
        }
        let mut all = items(pod, "/status/containerStatuses").iter();
        let is_ready = all.all(|one| is_true(one, "/ready"));
        let unscheduled =
            StatusCondition::all(pod).find(|one| one.kind == "PodScheduled" && one.is("False"));
        match (phase, unscheduled) {
            ("Running", _) if is_ready => Self::Ready,
            ("Running", _) => Self::NotReady,
            (_, Some(condition)) if condition.reason == "SchedulingGated" => Self::Gated,
            (_, Some(condition)) => Self::Unschedulable(condition),
            ("Unknown", None) => Self::Unknown,
            _ => Self::Pending,
        }
    }

    /// Returns whether it runs as it should, or did.
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
