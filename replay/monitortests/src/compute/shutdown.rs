//! The times in which an API server shut down, from what it said of itself. It does not know why.

use super::SpanScope;
use super::states::{Since, States};
use crate::interval::{Display, Interval, IntervalMessage, Level, Locator, Source, source};
use kubereel_format::RecordedAt;

/// Returns whether an instant ends a shutdown, or begins one; `None` if neither.
fn ends(now: &Interval) -> Option<bool> {
    match now.message.reason.as_ref() {
        "ShutdownInitiated" | "TerminationStart" => Some(false),
        "TerminationGracefulTerminationFinished" => Some(true),
        _ => None,
    }
}

/// Returns whether an instant is of a shutdown.
pub(super) fn reads(now: &Interval) -> bool {
    ends(now).is_some()
}

/// Computes the spans.
pub(super) fn spans(raw: &[Interval], run: &SpanScope<'_>) -> Vec<Interval> {
    let mut made = Vec::new();
    let mut states: States<(&str, &str, &str)> = States::new();
    for now in raw {
        let Some(is_end) = ends(now) else {
            continue;
        };
        let get = |key| now.locator.get(key).unwrap_or_default();
        let server = (get("namespace"), get("pod"), get("node"));
        let since = Since {
            from: now.from,
            seq: now.seq,
        };
        if is_end {
            // What was not seen to begin began before the run.
            let since = states.close(&server).unwrap_or(Since {
                from: run.start.min(now.from),
                ..since
            });
            let (level, reason) = (Level::Info, "GracefulAPIServerShutdown");
            made.push(span(server, level, reason, since, now.to));
        } else {
            states.open(server, since);
        }
    }
    for (server, since) in states.still_open() {
        let (level, reason) = (Level::Error, "IncompleteAPIServerShutdown");
        made.push(span(server, level, reason, since, None));
    }
    made
}

fn span(
    (namespace, pod, node): (&str, &str, &str),
    level: Level,
    reason: &str,
    since: Since,
    to: Option<RecordedAt>,
) -> Interval {
    let server = match namespace {
        "openshift-kube-apiserver" => "kube-apiserver",
        "openshift-apiserver" => "openshift-apiserver",
        "openshift-oauth-apiserver" => "oauth-apiserver",
        _ => "",
    };
    let keys = [
        ("namespace", namespace),
        ("node", node),
        ("pod", pod),
        ("server", server),
    ];
    Interval {
        level,
        source: Source::new(source::API_SERVER_GRACEFUL_SHUTDOWN),
        display: Display::Drawn,
        locator: Locator::new("", keys),
        message: IntervalMessage::default()
            .reason(reason)
            .with("constructed", "graceful-shutdown-analyzer"),
        from: since.from,
        to,
        seq: since.seq,
    }
}
