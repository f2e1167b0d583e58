//! Owns what is odd in a reel: times without knowledge, times without a server, and states that came
//! and went within seconds. Refuses to judge: what matters is another matter.

use super::LaneState;
use super::dark::DarkSpan;
use super::line::{Lane, LaneGroup, LaneSpell};
use crate::subject::NamedObject;
use kubereel_format::{RecordedAt, Seq};
use kubereel_history::{Timeline, harmless, timetext};
use std::sync::Arc;

/// A state that lasts longer than this is no flap, in microseconds: 10 s.
const LONGEST_FLAP_MICROS: i64 = 10_000_000;

/// Something odd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Anomaly {
    /// When it began.
    pub(crate) from: RecordedAt,
    /// The record that showed it; `None` where records are what is missing.
    pub(crate) seq: Option<Seq>,
    /// The lane that it is of, if it is a flap: its object and condition.
    pub(crate) lane: Option<(NamedObject, Option<Arc<str>>)>,
    /// What it is.
    pub(crate) words: String,
}

/// Gives what is odd, in order of time.
pub(crate) fn anomalies(timeline: &Timeline, lanes: &[Lane], dark: &[DarkSpan]) -> Vec<Anomaly> {
    let mut all: Vec<Anomaly> = Vec::new();
    for dark in dark {
        let of = dark.only.as_ref().map(|only| format!(" of {only}"));
        let how_long = if dark.is_behind_end(timeline) {
            "from here on".to_owned()
        } else {
            format!("for {}", long(dark.span.start, dark.span.end))
        };
        let of = of.unwrap_or_default();
        let words = format!("nothing is known{of} {how_long}: {}", dark.why);
        let from = dark.first_moment();
        // Resources that share a gap share its words.
        let is_told = all
            .last()
            .is_some_and(|last| last.from == from && last.words == words);
        if !is_told {
            all.push(Anomaly {
                from,
                seq: None,
                lane: None,
                words,
            });
        }
    }
    for outage in timeline.outages() {
        if !outage.is_before_first_answer {
            let error = harmless(&outage.error);
            all.push(Anomaly {
                from: outage.from,
                seq: None,
                lane: None,
                words: format!("no server for {}: {error}", long(outage.from, outage.to)),
            });
        }
    }
    for lane in lanes {
        all.extend(flaps(timeline, lane));
    }
    all.sort_by(|one, other| {
        (one.from, one.seq, &one.words).cmp(&(other.from, other.seq, &other.words))
    });
    all
}

fn flaps<'a>(timeline: &'a Timeline, lane: &'a Lane) -> impl Iterator<Item = Anomaly> + 'a {
    // Where conditions have lanes, each of them tells its own flaps.
    let has_own = lane.condition.is_some() || lane.group == LaneGroup::Pods;
    let least = if lane.group == LaneGroup::Pods {
        LaneState::Changing
    } else {
        LaneState::Unknown
    };
    let spells = merged(&lane.spells);
    let count = if has_own { spells.len() } else { 0 };
    (1..count.saturating_sub(1)).filter_map(move |at| {
        let (before, own, after) = (spells.get(at - 1)?, spells.get(at)?, spells.get(at + 1)?);
        let micros = after.from.micros_since(own.from);
        let is_flap = before.state == after.state
            && before.state != LaneState::Absent
            && own.state > before.state
            && own.state >= least
            && micros < LONGEST_FLAP_MICROS;
        let is_seen = !lane
            .dark
            .iter()
            .any(|dark| dark.span.start <= after.from && own.from < dark.span.end);
        (is_flap && is_seen).then(|| Anomaly {
            from: own.from,
            seq: Some(own.seq),
            lane: lane
                .subject
                .object()
                .map(|object| (object.clone(), lane.condition.clone())),
            words: format!(
                "flap: {} {} for {}, then {} again",
                lane.subject.written(timeline),
                own.word,
                long(own.from, after.from),
                after.state.word(),
            ),
        })
    })
}

/// Gives the spells of which each has another state than the one before.
fn merged(spells: &[LaneSpell]) -> Vec<&LaneSpell> {
    let mut all: Vec<&LaneSpell> = Vec::new();
    for spell in spells {
        if all.last().is_none_or(|last| last.state != spell.state) {
            all.push(spell);
        }
    }
    all
}

fn long(from: RecordedAt, to: RecordedAt) -> String {
    timetext::span(u64::try_from(to.micros_since(from)).unwrap_or(0))
}
