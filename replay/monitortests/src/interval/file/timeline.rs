//! Which intervals upstream's timeline files hold, and how those files are called. It does not draw
//! them.

use crate::interval::{Interval, Level, source};
use kubereel_format::{RecordedAt, worded};

/// Namespaces whose pods belong to the control plane's timeline.
const CONTROL_PLANE: [&str; 8] = [
    "openshift-etcd-operator",
    "openshift-etcd",
    "openshift-kube-apiserver-operator",
    "openshift-kube-apiserver",
    "openshift-apiserver-operator",
    "openshift-apiserver",
    "openshift-authentication-operator",
    "openshift-oauth-apiserver",
];

/// Alerts whose pending time is drawn.
const WORTH_PENDING: [&str; 8] = [
    "ExtremelyHighIndividualControlPlaneCPU",
    "HighOverallControlPlaneCPU",
    "HighOverallControlPlaneMemory",
    "SystemMemoryExceedsReservation",
    "etcdHighCommitDurations",
    "etcdGRPCRequestsSlow",
    "etcdHighFsyncDurations",
    "etcdDatabaseHighFragmentationRatio",
];

worded! {
/// One of upstream's timeline files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimelineFile {
    /// What a person looks at first.
    Spyglass = "spyglass",
    /// Everything that lasts.
    Everything = "everything",
    /// Operators, and the pods of the platform.
    Operators = "operators",
    /// The control plane.
    KubeControlPlane = "kube-control-plane",
}
}

impl TimelineFile {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Spyglass,
        Self::Everything,
        Self::Operators,
        Self::KubeControlPlane,
    ];

    /// Returns its name, with the suffix of a run.
    pub fn name(self, suffix: &str) -> String {
        format!("e2e-timelines_{}{suffix}.json", self.as_str())
    }

    /// Returns whether it holds an interval; instants are in none.
    pub fn holds(self, interval: &Interval) -> bool {
        if interval.is_instant() {
            return false;
        }
        match self {
            Self::Everything => true,
            Self::Spyglass => is_in_spyglass(interval),
            Self::Operators => !is_e2e_test(interval) && is_worth_its_pod(interval, |_| true),
            Self::KubeControlPlane => {
                !is_e2e_test(interval)
                    && !is_dull_alert(interval)
                    && is_worth_its_pod(interval, |namespace| CONTROL_PLANE.contains(&namespace))
            }
        }
    }
}

/// Returns the suffix of a run's files, by its first moment: `_20260123-040506`.
pub fn file_suffix(start: RecordedAt) -> String {
    let text = kubereel_history::timetext::rfc3339_secs(start);
    let digits = |part: &str| {
        part.chars()
            .filter(char::is_ascii_digit)
            .collect::<String>()
    };
    match text.split_once('T') {
        Some((day, time)) => format!("_{}-{}", digits(day), digits(time)),
        None => String::new(),
    }
}

fn is_in_spyglass(interval: &Interval) -> bool {
    if is_dull_alert(interval) || is_pod_life(interval) {
        return false;
    }
    match interval.source.as_str() {
        source::POD_STATE => false,
        source::KUBE_EVENT => {
            let is_marked = interval.message.annotation("pathological") == Some("true");
            let namespace = interval.locator.get("namespace").unwrap_or_default();
            is_marked && !namespace.contains("e2e")
        }
        _ => true,
    }
}

/// Pods are many: only those of the platform count, in some namespaces.
fn is_worth_its_pod(interval: &Interval, is_worth: impl Fn(&str) -> bool) -> bool {
    if !is_pod_life(interval) {
        return true;
    }
    let namespace = interval.locator.get("namespace").unwrap_or_default();
    let has_uid = interval
        .locator
        .get("uid")
        .is_some_and(|uid| !uid.is_empty());
    interval.source.as_str() == source::POD_STATE
        && has_uid
        && namespace.starts_with("openshift-")
        && is_worth(namespace)
}

fn is_pod_life(interval: &Interval) -> bool {
    interval.message.annotation("constructed") == Some("pod-lifecycle-constructor")
}

fn is_e2e_test(interval: &Interval) -> bool {
    interval.locator.keys.contains_key("e2e-test")
}

fn is_dull_alert(interval: &Interval) -> bool {
    if interval.source.as_str() != "Alert" {
        return false;
    }
    let alert = interval.locator.get("alert").unwrap_or_default();
    let is_pending = interval.message.annotation("alertstate") == Some("pending");
    if alert.is_empty() || is_pending && !WORTH_PENDING.contains(&alert) {
        return true;
    }
    interval.level == Level::Info && matches!(alert, "KubePodNotReady" | "KubeContainerWaiting")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::{IntervalMessage, Locator, Source};

    #[test]
    fn files_are_named_by_the_runs_begin() {
        let at = kubereel_history::timetext::parsed("2022-03-21T04:03:07.9Z").expect("a time");
        assert_eq!(file_suffix(at), "_20220321-040307");
        let name = TimelineFile::KubeControlPlane.name(&file_suffix(at));
        assert_eq!(
            name,
            "e2e-timelines_kube-control-plane_20220321-040307.json"
        );
    }

    #[test]
    fn pods_are_drawn_where_they_belong() {
        let pod = |namespace: &str| Interval {
            source: Source::new(source::POD_STATE),
            locator: Locator::new(
                "Pod",
                [("namespace", namespace), ("pod", "a"), ("uid", "1")],
            ),
            message: IntervalMessage::default().with("constructed", "pod-lifecycle-constructor"),
            ..Interval::default()
        };
        let held = |interval: &Interval| TimelineFile::ALL.map(|file| file.holds(interval));
        assert_eq!(held(&pod("openshift-etcd")), [false, true, true, true]);
        assert_eq!(held(&pod("openshift-dns")), [false, true, true, false]);
        assert_eq!(held(&pod("web")), [false, true, false, false]);
        let mut instant = pod("openshift-etcd");
        instant.to = Some(instant.from);
        assert_eq!(held(&instant), [false; 4]);
    }
}
