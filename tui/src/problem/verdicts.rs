//! Owns what findings of monitortests tell of problems. Refuses objects that the reel does not know:
//! their names are words only.

use super::entry::{Entry, Said, Spot};
use super::kind::Kind;
use super::making::Making;
use crate::findings::{Finding, Verdict};
use crate::lane::LaneState;
use crate::model::Subject;
use kubereel_history::harmless;

/// Takes one finding.
pub(super) fn take(making: &mut Making<'_>, finding: &Finding) {
    let kind = Kind::of_finding(finding);
    let subject = subject(making, finding);
    let about = match &subject {
        Some(subject) => subject.written(making.timeline),
        None => written(finding),
    };
    let words = finding.message.first().cloned().unwrap_or_default();
    let words = if words.is_empty() {
        finding.reason.clone()
    } else {
        words
    };
    let spot = Spot::of(making.timeline, finding.seq, finding.from, finding.to);
    let entry = Entry {
        kind,
        state: match (kind, finding.verdict) {
            (Kind::Gap, _) => LaneState::Unknown,
            (_, Verdict::Fail) | (Kind::Payload | Kind::Image | Kind::Event, _) => LaneState::Bad,
            (_, Verdict::Flake) => LaneState::Changing,
        },
        is_young: making.is_young(spot.place.at),
        subject,
        about,
        words,
        is_seen: false,
        spots: vec![spot],
        more_spots: 0,
        said: Vec::new(),
        others: Vec::new(),
        more_others: 0,
    };
    let said = Said {
        rule: finding.rule.clone(),
        test: finding.test.clone(),
        verdict: finding.verdict,
        lines: finding.message.clone(),
    };
    match kind {
        Kind::Written => making.write(entry, said),
        Kind::Gap => making.miss(entry, said),
        _ => making.say(entry, said),
    }
}

fn subject(making: &Making<'_>, finding: &Finding) -> Option<Subject> {
    let resource = *making.ids.get(&finding.resource)?;
    let subject = Subject {
        resource,
        namespace: finding.namespace.clone(),
        name: finding.name.clone(),
    };
    let lives = making
        .timeline
        .lives(resource, &subject.namespace, &subject.name);
    (!lives.is_empty()).then_some(subject)
}

fn written(finding: &Finding) -> String {
    let plural = finding.resource.split('.').next().unwrap_or_default();
    let parts = [plural, &finding.namespace, &finding.name];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let words = if parts.is_empty() {
        finding.rule.clone()
    } else {
        parts.join(" ")
    };
    harmless(&words).into_owned()
}
