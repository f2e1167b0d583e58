//! Owns the lanes of tests that failed or flaked: when each found something. Refuses to judge.

use super::LaneState;
use super::line::{Lane, LaneGroup, LaneReading, LaneSpell, LaneSubject};
use super::spells::{StateSpan, overlaid};
use crate::findings::{FindingVerdict, Findings, ReportedFinding};
use kubereel_history::Timeline;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Makes the lanes, by the ids of their rules.
pub(crate) fn rule_lanes(timeline: &Timeline, findings: &Findings) -> Vec<Lane> {
    let mut rules: BTreeMap<&str, Vec<&ReportedFinding>> = BTreeMap::new();
    for finding in &findings.all {
        rules.entry(&finding.rule).or_default().push(finding);
    }
    let lane = |(rule, found): (&str, Vec<&ReportedFinding>)| {
        Lane::of(
            (LaneGroup::Rules, LaneSubject::Rule(rule.into()), None),
            LaneReading::State,
            spells(timeline, &found),
            Arc::new([]),
        )
    };
    rules.into_iter().map(lane).collect()
}

/// Gives the states of a test: bad while it found something, changing if that was a flake only.
fn spells(timeline: &Timeline, found: &[&ReportedFinding]) -> Vec<LaneSpell> {
    let spans = found.iter().map(|one| StateSpan {
        from: one.from,
        to: one.to.unwrap_or(timeline.end()),
        state: match one.verdict {
            FindingVerdict::Fail => LaneState::Bad,
            FindingVerdict::Flake => LaneState::Changing,
        },
        word: one.message.first().map_or("", String::as_str),
    });
    overlaid(timeline, spans.collect())
}
