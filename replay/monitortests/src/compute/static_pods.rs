//! Owns the times in which installer pods of static pods ran, and static pods were not ready. Refuses
//! the kubelet's log, from which upstream takes them: the pods themselves tell.

use crate::interval::{Display, Interval, IntervalMessage, Level, Locator, Source, source};
use kubereel_format::RecordedAt;
use std::collections::BTreeMap;

/// A time in which a pod did something on a node.
struct Window<'a> {
    node: &'a str,
    pod: &'a str,
    kind: &'static str,
    reason: &'static str,
    words: &'static str,
    from: RecordedAt,
    to: Option<RecordedAt>,
    shown_by: &'a Interval,
}

/// Computes the spans.
pub(super) fn spans(raw: &[Interval]) -> Vec<Interval> {
    let mut open: BTreeMap<(&str, &str), Window<'_>> = BTreeMap::new();
    let mut windows = Vec::new();
    for now in raw {
        let key = |key| now.locator.get(key).unwrap_or_default();
        let (pod, container) = (key("pod"), key("container"));
        let is_static = !key("mirror-uid").is_empty();
        let is_installer = key("namespace").starts_with("openshift-")
            && (pod.starts_with("installer-") && container == "installer");
        if now.source.as_str() != source::POD_MONITOR
            || container.is_empty()
            || !(is_static || is_installer)
        {
            continue;
        }
        let place = (key("uid"), container);
        let (kind, reason, words) = if is_installer {
            ("installer", "InstallerPodCompleted", "installer pod ran")
        } else {
            ("static", "StaticPodUnready", "static pod was not ready")
        };
        let begins = match now.message.reason.as_ref() {
            "ContainerStart" if is_installer => true,
            "ContainerExit" if is_installer => false,
            "NotReady" if !is_installer => true,
            "Ready" if !is_installer => false,
            _ => continue,
        };
        if begins {
            open.entry(place).or_insert(Window {
                node: key("node"),
                pod,
                kind,
                reason,
                words,
                from: now.from,
                to: None,
                shown_by: now,
            });
        } else if let Some(mut window) = open.remove(&place) {
            window.to = Some(now.from);
            windows.push(window);
        }
    }
    windows.extend(open.into_values());
    windows.sort_by_key(|window| window.from);
    let spans = windows.iter().enumerate();
    spans
        .map(|(place, window)| span(window, windows.get(place + 1..).unwrap_or_default()))
        .collect()
}

/// Gives a window's span: an error where another node did the same before it ended, or where it did not
/// end.
fn span(window: &Window<'_>, later: &[Window<'_>]) -> Interval {
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
