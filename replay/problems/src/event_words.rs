//! Warning Events: evidence for words. An Event does not say when it stopped being true, so most only
//! word the problems of their object; a few are the only sign that there is.

use crate::sign::{Sign, SignKind};
use crate::span::{ShownTime, SignEnd, SignSpan, between};
use kubereel_cluster::RecordMark;
use kubereel_format::{Evidence, ObjectId, RecordedAt};
use kubereel_history::EventText;
use kubereel_monitortests::WatchedEvent;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// More different Events are not kept.
const MOST_EVENTS: usize = 20_000;
/// A higher count of one Event is not believed; sums of such counts stay far from overflow.
const MOST_COUNTED: u64 = 1_000_000_000;
/// An Event that was not repeated for this long may be over.
const QUIET: Duration = Duration::from_mins(1);
/// Events of one reason that lie further apart are of two troubles: the longest back-off is five minutes.
const APART: Duration = Duration::from_mins(15);
/// An Event that is repeated this often reports a problem even if nothing else does.
const REPEATED: u64 = 20;
/// A Service gets no load balancer. Its controller waits from try to try, up to five minutes.
const NO_LOAD_BALANCER: &str = "SyncLoadBalancerFailed";
/// After this number of tries, more than half a minute has passed.
const TRIES: u64 = 4;

/// The object that an Event is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RegardedObject {
    pub(crate) kind: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
}

/// Warning Events of one reason about one object.
#[derive(Clone, Debug)]
pub(crate) struct WarningEvent {
    pub(crate) reason: String,
    pub(crate) message: String,
    pub(crate) from: RecordMark,
    pub(crate) to: RecordMark,
    pub(crate) count: u64,
    /// The uid of the object; may be empty.
    uid: String,
    /// The first of the Events, as an object of the reel.
    event: ObjectId,
    is_older: bool,
}

/// All Warning Events of a reel, by object and reason.
#[derive(Debug, Default)]
pub(crate) struct WarningEvents {
    by_object: BTreeMap<RegardedObject, Vec<WarningEvent>>,
    /// The Pods for which the cluster autoscaler adds a Node.
    scaled_up: BTreeSet<RegardedObject>,
    len: usize,
}

impl WarningEvent {
    /// Makes a span of the time in which it was repeated, as of the end of the reel.
    pub(crate) fn span(&self, kind: SignKind, end: RecordedAt) -> SignSpan {
        let quiet = match self.reason.as_str() {
            NO_LOAD_BALANCER => APART,
            _ => QUIET,
        };
        let is_over = between(self.to.at, end) > quiet;
        SignSpan {
            object: self.event,
            sign: Sign::new(kind, &self.reason, &self.message),
            from: self.from,
            is_older: self.is_older,
            end: if is_over {
                SignEnd::Recovered(self.to.at)
            } else {
                SignEnd::Open
            },
            shown: ShownTime::of(between(self.from.at, self.to.at)),
            run_from: self.to.at,
            seen: self.to.at,
            was_well: true,
            count: self.count,
            node: String::new(),
            reasons: Vec::new(),
            message_from: None,
            began: None,
            closed_by: None,
        }
    }
}

impl WarningEvents {
    pub(crate) const PATHS: &'static [&'static str] = &[
        "type",
        "metadata.creationTimestamp",
        "reason",
        "message",
        "note",
        "count",
        "series.count",
        "deprecatedCount",
        "involvedObject",
        "regarding",
    ];

    /// Takes a version of an Event, which may be of the first look at Events.
    pub(crate) fn take(&mut self, seen: &WatchedEvent<'_>, is_first_look: bool) {
        let event = seen.now;
        let said = EventText::of(event);
        let regarded = || RegardedObject {
            kind: said.kind().to_owned(),
            namespace: said.namespace().to_owned(),
            name: said.name().to_owned(),
        };
        if said.reason() == "TriggeredScaleUp" && self.scaled_up.len() < MOST_EVENTS {
            self.scaled_up.insert(regarded());
        }
        if !said.is_warning() || seen.evidence == Evidence::Inferred {
            return;
        }
        let is_older = is_first_look && seen.before.is_none();
        let regarded = regarded();
        let message = said.message();
        let count = |event| EventText::of(event).count().min(MOST_COUNTED);
        // The count goes on from version to version of one Event.
        let more = match seen.before {
            Some(before) => count(event).saturating_sub(count(before)).max(1),
            // How often it occurred before the recording is no sign of what happened in it.
            None if is_older => 0,
            None => count(event),
        };
        let mark = seen.mark();
        let (reason, uid) = (said.reason(), said.uid());
        let known = self.by_object.entry(regarded).or_default();
        let mut later = known.iter_mut().rev();
        if let Some(own) = later.find(|own| {
            own.reason == reason && own.uid == uid && between(own.to.at, mark.at) <= APART
        }) {
            own.to = mark;
            own.count += more;
            if !message.is_empty() {
                message.clone_into(&mut own.message);
            }
        } else if self.len < MOST_EVENTS {
            self.len += 1;
            known.push(WarningEvent {
                reason: reason.to_owned(),
                message: message.to_owned(),
                from: mark,
                to: mark,
                count: more,
                uid: uid.to_owned(),
                event: seen.object,
                is_older,
            });
        }
    }

    /// Returns the Warning Events about an object.
    pub(crate) fn of(&self, kind: &str, namespace: &str, name: &str) -> &[WarningEvent] {
        let regarded = RegardedObject {
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        };
        self.by_object.get(&regarded).map_or(&[], Vec::as_slice)
    }

    /// Returns whether the cluster autoscaler added a Node for a Pod.
    pub(crate) fn has_scaled_up(&self, namespace: &str, name: &str) -> bool {
        self.scaled_up.contains(&RegardedObject {
            kind: "Pod".to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        })
    }

    /// Returns all Warning Events, with the object that each is about.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&RegardedObject, &WarningEvent)> {
        let all = self.by_object.iter();
        all.flat_map(|(regarded, events)| events.iter().map(move |event| (regarded, event)))
    }

    /// Makes spans of the Events that are the only sign of what they tell.
    pub(crate) fn spans(&self, end: RecordedAt) -> Vec<(RegardedObject, SignSpan)> {
        let mut spans = Vec::new();
        for (regarded, event) in self.all() {
            let kind = match event.reason.as_str() {
                "FailedCreate" if regarded.kind != "Pod" => SignKind::CreateFailed,
                "FailedMount" | "FailedAttachVolume" | "FailedMapVolume" => SignKind::VolumeMount,
                "FailedCreatePodSandBox" | "NetworkNotReady" => SignKind::Sandbox,
                // The controller of CronJobs says each of these where no run begins.
                "MissSchedule"
                | "TooManyMissedTimes"
                | "UnparseableSchedule"
                | "InvalidSchedule"
                | "UnknownTimeZone"
                    if regarded.kind == "CronJob" && event.count > 0 =>
                {
                    SignKind::RunMissed
                }
                // The kubelet counts them, and ends the container when they are too many.
                "Unhealthy" if event.message.starts_with("Startup probe failed") => continue,
                // No field of a Service says that it has none.
                NO_LOAD_BALANCER if event.count >= TRIES => SignKind::Events,
                _ if event.count >= REPEATED => SignKind::Events,
                _ => continue,
            };
            // Once may be a race that the next attempt won.
            if event.count < 2 && kind != SignKind::RunMissed {
                continue;
            }
            spans.push((regarded.clone(), event.span(kind, end)));
        }
        spans
    }
}
