//! The watch over Events: which become intervals, where, when and with which words. It does not
//! judge how many are too many, but for upstream's mark.

use super::said::{EventTimes, PATHS};
use crate::feed::{Action, Interest, WatchedEvent, Watcher};
use crate::gather::kept::WantedIntervals;
use crate::gather::ledger::{Draft, Ledger};
use crate::gather::mode::{Mode, moment};
use crate::interval::{Interval, Level, source};
use crate::reading;
use kubereel_format::{Evidence, RecordedAt};
use kubereel_history::{EventText, timetext};
use ring::digest::{SHA256, digest};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

/// Events that were reported longer than this before the run began do not belong to the run.
const OLD_MICROS: i64 = 15 * 60 * 1_000_000;
/// Said more often than this, upstream marks it.
const TOO_OFTEN: u64 = 20;
/// Upstream lengthens repeated Events, so that they are drawn.
const DRAWN_MICROS: i64 = 1_000_000;
/// How Go writes no time.
const NO_TIME: &str = "0001-01-01T00:00:00Z";
/// Reasons that upstream finds interesting whatever was said.
const CERTIFICATES: [&str; 11] = [
    "CABundleUpdateRequired",
    "SignerUpdateRequired",
    "TargetUpdateRequired",
    "CertificateUpdated",
    "CertificateRemoved",
    "CertificateUpdateFailed",
    "CSRCreated",
    "CSRApproved",
    "CertificateRotationStarted",
    "ClientCertificateCreated",
    "NoValidCertificateFound",
];

/// Watches Events.
#[derive(Debug)]
pub(crate) struct Events {
    mode: Mode,
    start: RecordedAt,
    group: &'static str,
    roles: BTreeMap<String, String>,
    noted: EventIntervals,
}

impl Events {
    /// Begins to watch a run that began at `start`; the same Events lie in both groups, and are read
    /// from one of them.
    pub(crate) fn new(mode: Mode, start: RecordedAt, group: &'static str) -> Self {
        Self {
            mode,
            start,
            group,
            roles: BTreeMap::new(),
            noted: EventIntervals::default(),
        }
    }

    /// Lets it hold some intervals only.
    ///
    /// `is_needed` reports the others which are held for now, because spans are computed from them.
    pub(crate) fn keep(&mut self, kept: WantedIntervals, is_needed: fn(&Interval) -> bool) {
        self.noted.kept = kept;
        self.noted.is_needed = Some(is_needed);
    }

    /// Returns the intervals, and the nodes of others that were not kept.
    pub(crate) fn into_parts(self) -> (Ledger, BTreeSet<Arc<str>>) {
        (self.noted.ledger, self.noted.nodes)
    }

    fn said(&mut self, seen: &WatchedEvent<'_>) {
        let said = EventText::of(seen.now);
        let times = EventTimes::of(seen.now);
        let at = if self.mode.is_exact() {
            moment(times.last_observed(), None, seen.at)
        } else {
            times.at().unwrap_or(seen.at)
        };
        if self.start.micros_since(at) > OLD_MICROS {
            return;
        }
        let level = if said.is_warning() {
            Level::Warning
        } else {
            Level::Info
        };
        let hash = short_hash(said.message());
        let key = said.kind().to_lowercase();
        let is_kubelet = said.component() == "kubelet";
        let node = if is_kubelet { said.host() } else { "" };
        let draft = Draft::new(source::KUBE_EVENT, level, at).shown_by(seen.seq);
        let mut draft = match said.kind() {
            "Namespace" => draft.about("", [("hmsg", &*hash), ("namespace", said.name())]),
            "Node" => draft.about("Node", [("hmsg", &*hash), ("node", said.name())]),
            _ => draft.about(
                "Kind",
                [
                    ("hmsg", &*hash),
                    (&*key, said.name()),
                    ("node", node),
                    ("namespace", said.namespace()),
                ],
            ),
        };
        draft = draft.human(said.message());
        if said.count() > 1 {
            draft = draft.with("count", said.count().to_string());
        }
        if said.kind() == "Node"
            && let Some(roles) = self.roles.get(said.name())
        {
            draft = draft.with("roles", roles.as_str());
        }
        if !said.reason().is_empty() {
            draft = draft.reason(said.reason());
        }
        draft = notes(draft, said);
        let time =
            |at: Option<RecordedAt>| at.map_or_else(|| NO_TIME.into(), timetext::rfc3339_secs);
        draft = draft.with("firstTimestamp", time(times.first()));
        draft = draft.with("lastTimestamp", time(times.last()));
        if said.count() > 1 {
            if said.count() > TOO_OFTEN {
                draft = draft.with("pathological", "true").drawn();
            }
            if !self.mode.is_exact() {
                let to = at.micros.saturating_add(DRAWN_MICROS);
                draft = draft.until(Some(RecordedAt::from_micros(to)));
            }
        }
        self.noted.add(&draft);
    }
}

impl Watcher for Events {
    fn interests(&self) -> Vec<Interest> {
        vec![
            Interest::new(self.group, "events", PATHS).without_ends(),
            Interest::new("", "nodes", ["metadata.labels"]),
        ]
    }

    fn seen(&mut self, seen: &WatchedEvent<'_>) {
        if seen.resource.plural == "nodes" {
            let roles = reading::roles(seen.now);
            self.roles.insert(seen.key.name.to_owned(), roles);
            return;
        }
        // What was there before the recorder looked is no news, and an Event that expires is none.
        if seen.action != Action::Gone && seen.evidence != Evidence::Initial {
            self.said(seen);
        }
    }
}

/// What was made.
#[derive(Debug, Default)]
struct EventIntervals {
    kept: WantedIntervals,
    is_needed: Option<fn(&Interval) -> bool>,
    ledger: Ledger,
    /// The nodes of intervals that are not kept.
    nodes: BTreeSet<Arc<str>>,
}

impl EventIntervals {
    fn add(&mut self, draft: &Draft<'_>) {
        if self.kept.is_all() {
            return self.ledger.add(draft);
        }
        let event = draft.interval();
        if self.kept.has(&event) || self.is_needed.is_some_and(|is_needed| is_needed(&event)) {
            self.ledger.add(draft);
        } else if let Some(node) = event.locator.keys.get("node")
            && !self.nodes.contains(node)
        {
            self.nodes.insert(Arc::clone(node));
        }
    }
}

/// Notes what upstream takes out of some frequent messages.
fn notes<'a>(draft: Draft<'a>, said: EventText<'a>) -> Draft<'a> {
    let is_pod = said.kind() == "Pod";
    match (said.reason(), said.container()) {
        ("Killing", Some(container)) if is_pod => draft.with("container", container),
        ("Pulling" | "Pulled", Some(container)) if is_pod => match quoted(said.message()) {
            Some(image) => draft.with("container", container).with("image", image),
            None => draft,
        },
        (reason, _) if CERTIFICATES.contains(&reason) => draft.with("interesting", "true"),
        _ => draft,
    }
}

/// Returns the first words in quotes.
fn quoted(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once('"')?;
    let (words, _) = rest.split_once('"')?;
    (!words.is_empty()).then_some(words)
}

/// Returns the first ten digits of a message's SHA-256: repeats of it lie on one line of a
/// timeline.
fn short_hash(message: &str) -> String {
    let hash = digest(&SHA256, message.as_bytes());
    let mut text = String::with_capacity(10);
    for byte in hash.as_ref().iter().take(5) {
        // A text takes what is written to it.
        if write!(text, "{byte:02x}").is_err() {
            break;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_upstreams_short_hash() {
        assert_eq!(short_hash("Draining node to update config."), "502676ccb6");
        assert_eq!(short_hash("Cordoned node to apply update"), "94b2a62d8a");
    }

    #[test]
    fn an_image_stands_in_quotes() {
        let words = "Successfully pulled image \"a/b@sha256:0\" in 2.5s";
        assert_eq!(quoted(words), Some("a/b@sha256:0"));
        assert_eq!(quoted("\"\" none"), None);
    }
}
