//! Which pod an interval is about, and how computed intervals name it. It does not handle Events:
//! they do not say which pod of a name they mean.

use crate::gather::PodName;
use crate::interval::{Interval, Locator, SharedTexts, source};
use std::sync::Arc;

/// What computed intervals say of who computed them.
pub(super) const CONSTRUCTED: &str = "pod-lifecycle-constructor";

/// Returns the pod that an interval is about; Events do not say which pod of a name they mean, and
/// are no changes of a pod.
pub(super) fn pod_of(interval: &Interval) -> Option<PodName> {
    if interval.source.as_str() == source::KUBE_EVENT {
        return None;
    }
    PodName::of(&interval.locator)
}

/// Returns a pod's locator without its node: it had none at first.
pub(super) fn locator(
    pod: &PodName,
    container: Option<&Arc<str>>,
    words: &mut SharedTexts,
) -> Locator {
    let mut keys = vec![
        (words.kept("namespace"), Arc::clone(&pod.namespace)),
        (words.kept("pod"), Arc::clone(&pod.name)),
        (words.kept("uid"), Arc::clone(&pod.uid)),
    ];
    keys.extend(container.map(|name| (words.kept("container"), Arc::clone(name))));
    keys.retain(|(_, value)| !value.is_empty());
    let kind = if container.is_some() {
        "Container"
    } else {
        "Pod"
    };
    Locator {
        kind: words.kept(kind),
        keys: keys.into_iter().collect(),
    }
}
