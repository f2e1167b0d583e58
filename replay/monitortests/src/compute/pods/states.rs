//! The spans between a pod's instants: created, scheduled, being deleted; a container's: waiting,
//! running; ready or not. It does not handle gaps between them: what was not seen to begin is said
//! to be missed.

use super::bounds::PodBounds;
use super::{CONSTRUCTED, locator, pod_of};
use crate::compute::SpanScope;
use crate::gather::{Mode, PodName};
use crate::interval::{
    Display, Interval, IntervalMessage, Level, Locator, Pair, SharedTexts, Source, source,
};
use kubereel_format::{RecordedAt, Seq};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How long a failed probe is drawn.
const PROBE_MICROS: i64 = 1_000_000;

/// The instants of one pod, by what they tell about.
#[derive(Default)]
struct PodStory<'a> {
    first: Option<RecordedAt>,
    pod: Vec<&'a Interval>,
    /// When its phase became `Failed`, after which none of its containers runs.
    failed: Option<RecordedAt>,
    containers: BTreeMap<&'a Arc<str>, Container<'a>>,
}

#[derive(Default)]
struct Container<'a> {
    life: Vec<&'a Interval>,
    ready: Vec<&'a Interval>,
    probes: Vec<&'a Interval>,
}

/// Computes the spans.
pub(crate) fn states(
    raw: &[Interval],
    run: &SpanScope<'_>,
    words: &mut SharedTexts,
) -> Vec<Interval> {
    let mut pods: BTreeMap<PodName, Vec<&Interval>> = BTreeMap::new();
    for now in raw {
        if let Some(pod) = pod_of(now) {
            pods.entry(pod).or_default().push(now);
        }
    }
    let mut made = Vec::new();
    for (pod, mut instants) in pods {
        let first_of_pod = made.len();
        instants.sort_by(|one, other| order(one, other, run.mode));
        let told = told(&instants, run.mode);
        let bounds = PodBounds {
            run,
            pod: &pod,
            first: told.first,
            changes: &told.pod,
            failed: told.failed,
        };
        let category = Category {
            locator: locator(&pod, None, words),
            begins: "Created",
            ends: Some("Deleted"),
            start: bounds.start(),
            end: bounds.end(),
            is_exact: run.mode.is_exact(),
        };
        category.spans(&told.pod, words, &mut made);
        for (name, container) in &told.containers {
            let life = &container.life;
            let category = Category {
                locator: locator(&pod, Some(name), words),
                begins: "ContainerWait",
                ends: Some("ContainerExit"),
                start: bounds.container_start(life),
                end: bounds.container_end(name, life, &container.ready),
                is_exact: category.is_exact,
            };
            category.spans(life, words, &mut made);
            let category = Category {
                begins: "NotReady",
                ends: None,
                start: bounds.ready_start(life),
                ..category
            };
            // What has ended is neither ready nor not; upstream draws that as a moment.
            let is_there = |now: &&&Interval| {
                !run.mode.is_exact() || category.end.is_none_or(|end| now.from < end)
            };
            let ready: Vec<&Interval> = container.ready.iter().filter(is_there).copied().collect();
            category.spans(&ready, words, &mut made);
            for probe in &container.probes {
                made.push(failed_probe(probe, &category.locator));
            }
        }
        let of_pod = made.split_off(first_of_pod);
        made.extend(of_pod.into_iter().filter(|span| run.kept.has(span)));
    }
    made
}

/// Sorts a pod's instants: by time, then by what must come first. In exact mode those of an earlier
/// record come before those of a later one of the same time.
fn order(one: &Interval, other: &Interval, mode: Mode) -> Ordering {
    let seq = |interval: &Interval| interval.seq.filter(|_| mode.is_exact());
    let rank = |interval: &Interval| match interval.message.reason.as_ref() {
        "Created" => 0,
        "Scheduled" => 1,
        // Of one change, the end of a container comes before what it does next.
        "ContainerExit" => 2,
        "ContainerWait" => 3,
        "ContainerStart" => 4,
        "Deleted" => 6,
        _ => 5,
    };
    let end = |interval: &Interval| interval.to.unwrap_or(RecordedAt { micros: i64::MAX });
    one.from
        .cmp(&other.from)
        .then_with(|| seq(one).cmp(&seq(other)))
        .then_with(|| rank(one).cmp(&rank(other)))
        .then_with(|| end(one).cmp(&end(other)))
        .then_with(|| one.message.reason.cmp(&other.message.reason))
}

fn told<'a>(instants: &[&'a Interval], mode: Mode) -> PodStory<'a> {
    let mut told = PodStory {
        first: instants.first().map(|now| now.from),
        ..PodStory::default()
    };
    for &now in instants {
        let reason = now.message.reason.as_ref();
        let Some(container) = now.locator.keys.get("container") else {
            match reason {
                "Created" | "Scheduled" | "GracefulDelete" | "Deleted" => told.pod.push(now),
                // Upstream draws no time between such a request and the end.
                "ForceDelete" if mode.is_exact() => told.pod.push(now),
                "Evicted" | "Preempted" | "Failed" => told.failed = told.failed.or(Some(now.from)),
                _ => {}
            }
            continue;
        };
        let container = match reason {
            "ContainerWait" | "ContainerStart" | "ContainerExit" | "Ready" | "NotReady"
            | "ReadinessFailed" | "ReadinessErrored" | "StartupProbeFailed" => {
                told.containers.entry(container).or_default()
            }
            _ => continue,
        };
        match reason {
            "Ready" | "NotReady" => container.ready.push(now),
            "ContainerWait" | "ContainerStart" | "ContainerExit" => container.life.push(now),
            _ => container.probes.push(now),
        }
    }
    told
}

/// One kind of state of one thing: its instants follow each other without a gap.
struct Category {
    locator: Locator,
    /// The reason that begins it.
    begins: &'static str,
    /// The reason after which it is in no state.
    ends: Option<&'static str>,
    start: RecordedAt,
    /// `None` if it did not end.
    end: Option<RecordedAt>,
    /// Whether only what was seen counts.
    is_exact: bool,
}

/// What the thing is in.
struct Now<'a> {
    message: Option<&'a IntervalMessage>,
    from: RecordedAt,
    seq: Option<Seq>,
}

impl Category {
    fn spans(&self, instants: &[&Interval], words: &mut SharedTexts, made: &mut Vec<Interval>) {
        let mut last = Now {
            message: None,
            from: self.start,
            seq: None,
        };
        for now in instants {
            let reason = now.message.reason.as_ref();
            let mut span = self.span(&last, Some(now.from), words);
            if last.message.is_none() {
                if reason == self.begins {
                    // It began before it was seen to begin, if the pod says so; behind an end, an observed
                    // wait is that of its own record.
                    let is_again = self.is_exact && last.seq.is_some();
                    last = Now {
                        message: Some(&now.message),
                        from: if is_again { now.from } else { span.from },
                        seq: now.seq,
                    };
                    continue;
                }
                let human = format!("missed real {:?}", self.begins);
                span.message = IntervalMessage {
                    reason: words.kept(self.begins),
                    human: words.kept(&human),
                    annotations: words
                        .pairs([("constructed", CONSTRUCTED), ("reason", self.begins)]),
                    ..IntervalMessage::default()
                };
                span.seq = now.seq;
            }
            // What would have been missed at the first sight of the Pod, within one version, or by a run that
            // only its exit shows, is not known to have been there.
            let is_known = !span.is_instant() && self.ends != Some(reason);
            let is_seen = last.message.is_some() || !self.is_exact || is_known;
            made.extend(is_seen.then_some(span));
            let message = (self.ends != Some(reason)).then_some(&now.message);
            last = Now {
                message,
                from: now.from,
                seq: now.seq,
            };
        }
        if last.message.is_some() {
            made.push(self.span(&last, self.end, words));
        }
    }

    /// Returns the span of a state, within the bounds.
    fn span(&self, last: &Now<'_>, to: Option<RecordedAt>, words: &mut SharedTexts) -> Interval {
        let said = last.message;
        let annotations = said.into_iter().flat_map(|said| said.annotations.iter());
        let annotations = annotations.map(|(name, value)| (Arc::clone(name), Arc::clone(value)));
        let mut annotations: Vec<Pair> = annotations.collect();
        annotations.push((words.kept("constructed"), words.kept(CONSTRUCTED)));
        let annotations = words.shared(annotations);
        // Only the annotations count upstream; reason and cause are made of them.
        let of = |name: &str| annotations.get(name).cloned().unwrap_or_default();
        let message = IntervalMessage {
            reason: of("reason"),
            cause: of("cause"),
            human: said.map(|said| Arc::clone(&said.human)).unwrap_or_default(),
            annotations,
        };
        let to = to.into_iter().chain(self.end).min();
        let from = last.from.max(self.start);
        let from = to.map_or(from, |to| from.min(to));
        Interval {
            level: Level::Info,
            source: Source(words.kept(source::POD_STATE)),
            display: Display::Hidden,
            locator: self.locator.clone(),
            message,
            from,
            to,
            seq: last.seq,
        }
    }
}

fn failed_probe(probe: &Interval, locator: &Locator) -> Interval {
    let to = probe.from.micros.saturating_add(PROBE_MICROS);
    Interval {
        level: Level::Info,
        source: Source::new(source::POD_STATE),
        display: Display::Hidden,
        locator: locator.clone(),
        message: probe.message.clone().with("constructed", CONSTRUCTED),
        from: probe.from,
        to: Some(RecordedAt::from_micros(to)),
        seq: probe.seq,
    }
}
