//! The times in which installer pods of static pods ran, and static pods were not ready. It does
//! not handle the kubelet's log, from which upstream takes them: the pods themselves tell.

use crate::interval::{Display, Interval, IntervalMessage, Level, Locator, Source, source};
use kubereel_format::RecordedAt;
use std::collections::{BTreeMap, BTreeSet};

/// A time in which a pod did something on a node.
struct InstallWindow<'a> {
    node: &'a str,
    pod: &'a str,
    kind: &'static str,
    reason: &'static str,
    words: &'static str,
    from: RecordedAt,
    to: Option<RecordedAt>,
    shown_by: &'a Interval,
}

/// A pod, and what of it is not ready or still runs.
#[derive(Default)]
struct Busy<'a> {
    containers: BTreeSet<&'a str>,
    window: Option<InstallWindow<'a>>,
}

/// Returns whether an instant may turn the state of a container or end its Pod.
pub(super) fn reads(now: &Interval) -> bool {
    let is_of_pod = now.locator.get("container").unwrap_or_default().is_empty();
    now.source.as_str() == source::POD_MONITOR
        && if is_of_pod {
            &*now.message.reason == "Deleted"
        } else {
            begins(now).is_some()
        }
}

/// Computes the spans.
pub(super) fn spans(raw: &[Interval]) -> Vec<Interval> {
    let mut pods: BTreeMap<&str, Busy<'_>> = BTreeMap::new();
    let mut windows = Vec::new();
    for now in raw {
        if !reads(now) {
            continue;
        }
        let key = |key| now.locator.get(key).unwrap_or_default();
        let (uid, container) = (key("uid"), key("container"));
        if container.is_empty() {
            // What is gone is not unready.
            if let Some(busy) = pods.remove(uid) {
                windows.extend(busy.window.map(|window| window.ended(now.from)));
            }
            continue;
        }
        let Some(begins) = begins(now) else {
            continue;
        };
        let busy = pods.entry(uid).or_default();
        if begins {
            busy.containers.insert(container);
            busy.window.get_or_insert_with(|| InstallWindow::of(now));
        } else if busy.containers.remove(container)
            && busy.containers.is_empty()
            && let Some(window) = busy.window.take()
        {
            windows.push(window.ended(now.from));
        }
    }
    windows.extend(pods.into_values().filter_map(|busy| busy.window));
    windows.sort_by_key(|window| window.from);
    let spans = windows.iter().enumerate();
    spans
        .map(|(place, window)| span(window, windows.get(place + 1..).unwrap_or_default()))
        .collect()
}

/// Returns whether an instant of a container begins a window, or ends one; `None` if neither.
fn begins(now: &Interval) -> Option<bool> {
    let reason = now.message.reason.as_ref();
    if is_installer(now) {
        return match reason {
            "ContainerStart" => Some(true),
            "ContainerExit" => Some(false),
            _ => None,
        };
    }
    let is_static = now.locator.keys.contains_key("mirror-uid");
    match reason {
        "NotReady" if is_static => Some(true),
        "Ready" if is_static => Some(false),
        _ => None,
    }
}

fn is_installer(now: &Interval) -> bool {
    let key = |key| now.locator.get(key).unwrap_or_default();
    key("namespace").starts_with("openshift-")
        && key("pod").starts_with("installer-")
        && key("container") == "installer"
}

impl<'a> InstallWindow<'a> {
    fn of(now: &'a Interval) -> Self {
        let (kind, reason, words) = if is_installer(now) {
            ("installer", "InstallerPodCompleted", "installer pod ran")
        } else {
            ("static", "StaticPodUnready", "static pod was not ready")
        };
        Self {
            node: now.locator.get("node").unwrap_or_default(),
            pod: now.locator.get("pod").unwrap_or_default(),
            kind,
            reason,
            words,
            from: now.from,
            to: None,
            shown_by: now,
        }
    }

    const fn ended(mut self, at: RecordedAt) -> Self {
        self.to = Some(at);
        self
    }
}

/// Returns a window's span: an error where another node did the same before it ended, or where it
/// did not end.
fn span(window: &InstallWindow<'_>, later: &[InstallWindow<'_>]) -> Interval {
    let other = window.to.and_then(|to| {
        let within = later.iter().take_while(|other| other.from <= to);
        let mut same = within.filter(|other| other.kind == window.kind);
        same.find(|other| other.node != window.node && other.to.is_some())
    });
    let words = format!("{}: {}", window.words, window.pod);
    let mut message = IntervalMessage::new(&words).reason(window.reason);
    if let Some(other) = other {
        message = message
            .with("concurrent-node", other.node)
            .with("concurrent-pod", other.pod);
    }
    let level = if other.is_none() && window.to.is_some() {
        Level::Info
    } else {
        Level::Error
    };
    Interval {
        level,
        source: Source::new(source::STATIC_POD_INSTALL_MONITOR),
        display: Display::Drawn,
        locator: Locator::new(
            "StaticPodInstall",
            [
                ("node", window.node),
                ("podType", window.kind),
                ("pod", window.pod),
            ],
        ),
        message,
        from: window.from,
        to: window.to,
        seq: window.shown_by.seq,
    }
}
