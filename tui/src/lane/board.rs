//! Owns all that one pass over a reel gives to the screen: lanes, stages of the cluster's life, and
//! what looks wrong. Refuses verdicts: those of rules are another matter.

use super::anomaly::{Anomaly, anomalies};
use super::dark::{all_dark, dark_of};
use super::line::{Group, Lane, Reading};
use super::stages::{Stage, stages};
use super::state::LaneState;
use super::watch::LaneWatcher;
use crate::model::Subject;
use kubereel_format::{RecordedAt, ResourceId, Seq};
use kubereel_monitortests::{FactsOverTime, Gathering, Mode, Phase, feed_while};
use kubereel_replay::{Timeline, harmless, timetext};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Something that looks wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// When it began.
    pub(crate) from: RecordedAt,
    /// The record that shows it; `None` where the recording itself is what is wrong.
    pub(crate) seq: Option<Seq>,
    /// How bad it is.
    pub(crate) state: LaneState,
    /// What it is about, where that is an object.
    pub(crate) subject: Option<Subject>,
    /// How much it matters: the less, the more.
    pub(crate) rank: u8,
    /// What it is about, in words.
    pub(crate) about: String,
    /// What is wrong, and how long.
    pub(crate) words: String,
}

/// All that one pass gives.
#[derive(Clone, Debug, Default)]
pub(crate) struct Board {
    /// The lanes, in groups.
    pub(crate) lanes: Vec<Lane>,
    /// The stages, in order.
    pub(crate) stages: Vec<Stage>,
    /// What looks wrong, in order of time.
    pub(crate) problems: Vec<Problem>,
    /// What is odd, in order of time.
    pub(crate) anomalies: Vec<Anomaly>,
    /// The releases of the cluster, in order; empty if it has none.
    pub(crate) releases: Vec<String>,
    /// How many events could not be read.
    pub(crate) unread: usize,
}

/// Reads a reel once; `go_on` ends it early, and then there is nothing.
pub(crate) fn gather(
    timeline: &Timeline,
    mut go_on: impl FnMut(Seq) -> ControlFlow<()>,
) -> Option<Board> {
    let mut watcher = LaneWatcher::default();
    let mut facts = Gathering::only(timeline, Mode::Exact, |_| false);
    let mut watchers = facts.watchers();
    watchers.push(&mut watcher);
    let mut is_ended = false;
    let fed = feed_while(timeline, &mut watchers, |seq| {
        let on = go_on(seq);
        is_ended |= on.is_break();
        on
    });
    drop(watchers);
    if is_ended {
        return None;
    }
    let facts = facts.finish(timeline).facts;
    let mut darks: BTreeMap<ResourceId, Arc<[_]>> = BTreeMap::new();
    let lanes = watcher
        .lanes
        .into_iter()
        .map(|((group, _, _, condition), grown)| {
            let resource = grown.subject.resource;
            let dark = darks
                .entry(resource)
                .or_insert_with(|| dark_of(timeline, resource).into());
            Lane::of(
                (group, grown.subject, condition.map(Arc::from)),
                Reading::State,
                grown.spells,
                Arc::clone(dark),
            )
        });
    let lanes: Vec<Lane> = lanes.collect();
    Some(Board {
        stages: stages(timeline, &facts),
        problems: problems(timeline, &lanes, &facts),
        anomalies: anomalies(timeline, &lanes, &all_dark(timeline)),
        releases: releases(&facts),
        unread: fed.unread.len(),
        lanes,
    })
}

fn releases(facts: &FactsOverTime) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for upgrade in facts.upgrades() {
        for version in [&upgrade.from_version, &upgrade.to_version] {
            let version = harmless(version).into_owned();
            if !version.is_empty() && all.last() != Some(&version) {
                all.push(version);
            }
        }
    }
    all
}

fn problems(timeline: &Timeline, lanes: &[Lane], facts: &FactsOverTime) -> Vec<Problem> {
    let mut all = gaps(timeline);
    for lane in lanes.iter().filter(|lane| lane.condition.is_none()) {
        let mut before = LaneState::Absent;
        for (at, spell) in lane.spells.iter().enumerate() {
            let is_new = spell.state >= LaneState::Bad && before != spell.state;
            before = spell.state;
            if !is_new {
                continue;
            }
            let later = lane.spells.iter().skip(at);
            let end = later.clone().find(|next| next.state != spell.state);
            let micros = end
                .map_or(timeline.end(), |end| end.from)
                .micros_since(spell.from);
            let long = timetext::span(u64::try_from(micros).unwrap_or(0));
            let until = if end.is_some() { "for" } else { "to the end," };
            let pods = u8::from(lane.group == Group::Pods) * 2;
            // What is being installed does not work yet: that matters less than what worked.
            let young = u8::from(facts.phase(spell.from) == Some(Phase::Install)) * 4;
            all.push(Problem {
                from: spell.from,
                seq: Some(spell.seq),
                state: spell.state,
                subject: Some(lane.subject.clone()),
                rank: young + pods + u8::from(spell.state == LaneState::Bad),
                about: lane.subject.written(timeline),
                words: format!("{} {until} {long}", spell.word),
            });
        }
    }
    all.sort_by(|one, other| {
        (one.from, one.rank, &one.about).cmp(&(other.from, other.rank, &other.about))
    });
    all
}

/// Gives the gaps of the recording: what happened in them cannot be looked at.
fn gaps(timeline: &Timeline) -> Vec<Problem> {
    let mut all = Vec::new();
    for info in timeline.resources().iter() {
        let holes = timeline
            .coverage(info.id)
            .map_or(&[][..], |coverage| coverage.holes());
        for hole in holes {
            let micros = hole.gap.to_time.micros_since(hole.gap.from_time);
            let long = timetext::span(u64::try_from(micros).unwrap_or(0));
            all.push(Problem {
                from: hole.gap.from_time,
                seq: None,
                state: LaneState::Unknown,
                subject: None,
                rank: 4,
                about: harmless(&info.qualified()).into_owned(),
                words: format!(
                    "gap of the recording for {long}: {}",
                    hole.gap.cause.as_str()
                ),
            });
        }
    }
    all
}
