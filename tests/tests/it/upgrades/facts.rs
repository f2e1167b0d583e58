//! Owns the facts that both `oc adm upgrade status` and kubereel state, in the words of the former.

use kubereel_cluster::{Assessment, NodePhase, PoolState, UpdateOrigin, UpdateStatus};
use kubereel_format::RecordedAt;
use kubereel_history::timetext;
use std::collections::BTreeSet;

const MINUTE: i64 = 60;

/// Facts, each with what it is about.
#[derive(Debug, Default)]
pub struct Facts {
    pub all: BTreeSet<String>,
}

impl Facts {
    pub fn say(&mut self, about: &str, fact: &str) {
        self.all.insert(format!("{about}: {fact}"));
    }
}

/// States the facts of a status.
pub fn of(status: &UpdateStatus) -> Facts {
    let mut facts = Facts::default();
    if !status.is_updating {
        facts.say("updating", "no");
        return facts;
    }
    facts.say("updating", "yes");
    if status.assessment == Assessment::Completed {
        let at = status.completed.map(timetext::rfc3339).unwrap_or_default();
        let at = at.replace(".000Z", "Z");
        let took = rounded(status.elapsed_micros);
        facts.say(
            "completed",
            &format!(
                "Update to {} successfully completed at {at} (duration: {took})",
                status.target
            ),
        );
    } else {
        control_plane(status, &mut facts);
    }
    let has_workers = status
        .pools
        .iter()
        .any(|pool| pool.name != "master" && !pool.nodes.is_empty());
    for pool in &status.pools {
        let is_control_plane = pool.name == "master";
        if !is_control_plane && has_workers {
            facts.say("pool", &pool_text(pool));
        }
        // Of a control plane whose nodes are done only that is said.
        if is_control_plane && pool.assessment == Assessment::Completed {
            continue;
        }
        for node in &pool.nodes {
            let version = if node.version.is_empty() {
                "?"
            } else {
                &node.version
            };
            let text = format!(
                "{} {} {} {version}",
                node.name,
                node.assessment.as_str(),
                node.phase.as_str()
            );
            facts.say("node", &text);
        }
    }
    for insight in &status.insights {
        let since = insight
            .since
            .map_or_else(|| "-".to_owned(), |since| age(status.now, since));
        facts.say(
            "insight",
            &format!(
                "{} · {} · {} · {since}",
                insight.level.as_str(),
                insight.impact.as_str(),
                insight.summary
            ),
        );
    }
    facts
}

fn control_plane(status: &UpdateStatus, facts: &mut Facts) {
    facts.say("assessment", status.assessment.as_str());
    let origin = match &status.origin {
        UpdateOrigin::Nothing => "(a new install)".to_owned(),
        UpdateOrigin::Version(version) => format!("(from {version})"),
        UpdateOrigin::Partial(version) => format!("(from incomplete {version})"),
        UpdateOrigin::SameVersion => "to Multi-Architecture".to_owned(),
    };
    facts.say("target version", &format!("{} {origin}", status.target));
    let counts = &status.operators;
    if !counts.updating.is_empty() {
        facts.say("updating", &counts.updating.join(", "));
    }
    facts.say(
        "completion",
        &format!(
            "{:.0}% ({} operators updated, {} updating, {} waiting)",
            counts.completion() * 100.0,
            counts.updated,
            counts.updating.len(),
            counts.waiting.len()
        ),
    );
    let left = match status.estimate {
        None => "N/A for Multi-Architecture Migration".to_owned(),
        Some(estimate) if estimate.remaining_secs < -10 * MINUTE => {
            format!("N/A; estimate duration was {}", short(estimate.total_secs))
        }
        Some(estimate) if estimate.remaining_secs < 10 * MINUTE => "<10m".to_owned(),
        Some(estimate) => short(estimate.remaining_secs),
    };
    let took = rounded(status.elapsed_micros);
    facts.say("duration", &format!("{took} (Est. Time Remaining: {left})"));
    let mut health = format!("{} Healthy", counts.healthy());
    for (names, words) in [
        (&counts.unavailable, "Unavailable"),
        (&counts.degraded, "Available but degraded"),
    ] {
        if !names.is_empty() {
            health = format!("{health}, {} {words}", names.len());
        }
    }
    facts.say("operators", &health);
}

fn pool_text(pool: &PoolState) -> String {
    let all = pool.nodes.len();
    if all == 0 {
        return format!("{} Empty", pool.name);
    }
    let updated = pool.updated();
    let mut text = format!(
        "{} {} {}% ({updated}/{all}) {} Available, {} Progressing, {} Draining",
        pool.name,
        pool.assessment.as_str(),
        updated * 100 / all,
        pool.count(|node| node.is_available),
        pool.progressing(),
        pool.count(|node| node.phase == NodePhase::Draining)
    );
    for (count, word) in [
        (
            pool.count(|node| node.phase == NodePhase::Paused),
            "Excluded",
        ),
        (pool.count(|node| node.is_degraded), "Degraded"),
    ] {
        if count > 0 {
            text = format!("{text}, {count} {word}");
        }
    }
    text
}

fn age(now: RecordedAt, since: RecordedAt) -> String {
    short(now.micros_since(since) / 1_000_000)
}

/// Rounds as `oc` does: to minutes from 10 minutes on.
fn rounded(micros: i64) -> String {
    let secs = (micros + 500_000) / 1_000_000;
    if micros > 10 * MINUTE * 1_000_000 {
        short((secs + MINUTE / 2) / MINUTE * MINUTE)
    } else {
        short(secs)
    }
}

/// Writes a length as `oc` does, without what is nought at its end.
fn short(secs: i64) -> String {
    let (hours, minutes, rest) = (secs / 3600, secs / 60 % 60, secs % 60);
    match (hours, minutes, rest) {
        (0, 0, 0) => "now".to_owned(),
        (0, 0, rest) => format!("{rest}s"),
        (0, minutes, 0) => format!("{minutes}m"),
        (0, minutes, rest) => format!("{minutes}m{rest}s"),
        (hours, 0, 0) => format!("{hours}h"),
        (hours, minutes, 0) => format!("{hours}h{minutes}m"),
        (hours, minutes, rest) => format!("{hours}h{minutes}m{rest}s"),
    }
}
