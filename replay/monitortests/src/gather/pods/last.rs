//! What a pod said of its own begin and end when it was last seen: spans are bounded by it. It does
//! not handle the rest of the pod.

use crate::interval::Locator;
use crate::reading;
use kubereel_format::RecordedAt;
use serde_json::Value;
use std::sync::Arc;

/// Which pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PodName {
    /// Its namespace.
    pub(crate) namespace: Arc<str>,
    /// Its name.
    pub(crate) name: Arc<str>,
    /// Its uid; may be empty in files of intervals.
    pub(crate) uid: Arc<str>,
}

impl PodName {
    /// Returns the pod that a locator names.
    pub(crate) fn of(locator: &Locator) -> Option<Self> {
        let key = |key: &str| locator.keys.get(key).cloned().unwrap_or_default();
        locator.keys.contains_key("pod").then(|| Self {
            namespace: key("namespace"),
            name: key("pod"),
            uid: key("uid"),
        })
    }
}

/// A pod's own times, as it was last seen; where upstream's rules count, they bound its spans.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LastPod {
    /// When it began: a static pod when the kubelet saw it, others when they were created.
    pub(crate) began: Option<RecordedAt>,
    /// When its grace ends, if its deletion was asked for. Upstream adds the grace to a
    /// deletionTimestamp that includes it already.
    pub(crate) gone_by: Option<RecordedAt>,
    /// When the last container of a pod that runs once ended.
    pub(crate) done: Option<RecordedAt>,
    /// When each ended container ended, unless it runs or waits again.
    pub(crate) ended: Vec<(Arc<str>, RecordedAt)>,
}

impl LastPod {
    /// Reads a pod.
    pub(crate) fn of(pod: &Value) -> Self {
        let seen = reading::time(pod, "/metadata/annotations/kubernetes.io~1config.seen");
        let created = reading::time(pod, "/metadata/creationTimestamp");
        let grace = reading::number(pod, "/spec/terminationGracePeriodSeconds").unwrap_or(0);
        let gone_by = reading::time(pod, "/metadata/deletionTimestamp").map(|asked| {
            let grace = grace.saturating_mul(1_000_000);
            RecordedAt::from_micros(asked.micros.saturating_add(grace))
        });
        let mut ended: Vec<(Arc<str>, RecordedAt)> = Vec::new();
        for list in ["/status/containerStatuses", "/status/initContainerStatuses"] {
            for status in reading::list(pod, list) {
                let name = reading::text(status, "/name");
                let is_known = ended.iter().any(|(known, _)| known.as_ref() == name);
                if let (false, Some(at)) = (is_known, ended_at(status)) {
                    ended.push((Arc::from(name), at));
                }
            }
        }
        Self {
            began: created.map(|created| seen.unwrap_or(created)),
            gone_by,
            done: done(pod),
            ended,
        }
    }
}

fn ended_at(status: &Value) -> Option<RecordedAt> {
    let is = |state: &str| reading::at(status, state).is_some();
    if is("/state/running") || is("/state/waiting") {
        return None;
    }
    reading::time(status, "/state/terminated/finishedAt")
}

/// Returns when the last container of a pod that runs once ended; `None` while one has not.
fn done(pod: &Value) -> Option<RecordedAt> {
    if reading::text(pod, "/spec/restartPolicy") != "Never" {
        return None;
    }
    let statuses = reading::list(pod, "/status/containerStatuses").iter();
    let ends = statuses.map(|status| reading::time(status, "/state/terminated/finishedAt"));
    ends.collect::<Option<Vec<_>>>()?.into_iter().max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn at(text: &str) -> Option<RecordedAt> {
        kubereel_history::timetext::parsed(text)
    }

    #[test]
    fn a_pod_that_runs_once_is_done_with_its_last_container() {
        let mut pod = json!({
            "metadata": {"creationTimestamp": "2026-01-01T10:00:00Z"},
            "spec": {"restartPolicy": "Never"},
            "status": {"containerStatuses": [
                {"name": "a", "state": {"terminated": {"finishedAt": "2026-01-01T10:00:05Z"}}},
                {"name": "b", "state": {"terminated": {"finishedAt": "2026-01-01T10:00:04Z"}}},
            ]}
        });
        let last = LastPod::of(&pod);
        assert_eq!(last.done, at("2026-01-01T10:00:05Z"));
        assert_eq!(last.ended.len(), 2);
        pod["status"]["containerStatuses"][1]["state"] = json!({"running": {}});
        let last = LastPod::of(&pod);
        assert_eq!((last.done, last.ended.len()), (None, 1));
    }

    #[test]
    fn a_static_pod_begins_when_the_kubelet_saw_it() {
        let pod = json!({"metadata": {
            "creationTimestamp": "2026-01-01T10:00:00Z",
            "deletionTimestamp": "2026-01-01T11:00:00Z",
            "annotations": {"kubernetes.io/config.seen": "2026-01-01T09:59:00.5Z"}},
            "spec": {"terminationGracePeriodSeconds": 30}});
        let last = LastPod::of(&pod);
        assert_eq!(last.began, at("2026-01-01T09:59:00.500Z"));
        assert_eq!(last.gone_by, at("2026-01-01T11:00:30Z"));
    }
}
