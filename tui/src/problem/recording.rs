//! Owns what is missing: times without a server, gaps of the recording, damage. Refuses what came
//! before the first answer: a cluster that is not up yet is no outage.

use super::entry::{Entry, Spot};
use super::kind::Kind;
use super::making::Making;
use crate::lane::LaneState;
use kubereel_format::{RecordedAt, Seq};
use kubereel_history::{Timeline, UnobservedReason, harmless};

/// A gap that several resources may share.
struct Shared {
    from: RecordedAt,
    to: RecordedAt,
    why: String,
    names: Vec<String>,
}

/// Takes all that is missing.
pub(super) fn take(making: &mut Making<'_>) {
    let timeline = making.timeline;
    for outage in timeline.outages() {
        if !outage.is_before_first_answer {
            let about = "the API server".to_owned();
            let words = harmless(&outage.error).into_owned();
            let spot = Spot::of(timeline, None, outage.from, Some(outage.to));
            making.add(entry(Kind::Outage, LaneState::Down, about, words, spot));
        }
    }
    for shared in gaps(timeline) {
        let mut names = shared.names.into_iter();
        let first = names.next().unwrap_or_default();
        let others: Vec<String> = names.collect();
        let about = match others.len() {
            0 => first,
            count => format!("{first} and {count} more resources"),
        };
        let spot = Spot::of(timeline, None, shared.from, Some(shared.to));
        let words = format!("what happened is not known: {}", shared.why);
        let mut gap = entry(Kind::Gap, LaneState::Unknown, about, words, spot);
        gap.others = others;
        making.add(gap);
    }
    for damage in timeline.reel().damage() {
        let first = damage.first.unwrap_or(Seq(0));
        let stamp = timeline.reel().stamp(first);
        let at = stamp.map_or(timeline.start(), |stamp| stamp.wall);
        let about = harmless(&damage.place).into_owned();
        let spot = Spot::of(timeline, None, at, Some(at));
        let words = "a part of the reel cannot be read".to_owned();
        making.add(entry(Kind::Damage, LaneState::Unknown, about, words, spot));
    }
}

/// Gives the gaps: resources that share one are told together.
fn gaps(timeline: &Timeline) -> Vec<Shared> {
    let mut all: Vec<Shared> = Vec::new();
    for info in timeline.resources().iter() {
        let name = harmless(&info.qualified()).into_owned();
        for span in timeline.unobserved(info.id) {
            let why = match &span.reason {
                UnobservedReason::Gap { gap } => gap.gap.cause.as_str().to_owned(),
                // What was refused from the start, or came late, is not a trouble of the recording; damage
                // has an entry of its own.
                UnobservedReason::NotRecorded { .. }
                | UnobservedReason::NotListedYet
                | UnobservedReason::Damaged { .. } => continue,
                reason => reason.to_string(),
            };
            all.push(Shared {
                from: span.from,
                to: span.to,
                why,
                names: vec![name.clone()],
            });
        }
    }
    all.sort_by(|one, other| (one.from, &one.why).cmp(&(other.from, &other.why)));
    let mut told: Vec<Shared> = Vec::new();
    for gap in all {
        match told.last_mut() {
            Some(last) if last.why == gap.why && gap.from <= last.to => {
                last.to = last.to.max(gap.to);
                last.names.extend(gap.names);
            }
            _ => told.push(gap),
        }
    }
    for shared in &mut told {
        shared.names.sort();
        shared.names.dedup();
    }
    told
}

fn entry(kind: Kind, state: LaneState, about: String, words: String, spot: Spot) -> Entry {
    Entry {
        kind,
        state,
        is_young: false,
        subject: None,
        about,
        words,
        is_seen: true,
        spots: vec![spot],
        more_spots: 0,
        said: Vec::new(),
        others: Vec::new(),
        more_others: 0,
    }
}
