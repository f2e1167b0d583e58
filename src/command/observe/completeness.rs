//! What the history of an observer's reel says, for its reports: the same as `kubereel verify`, in the same words.

use crate::command::verify::{missing_lines, outage_line};
use crate::files;
use kubereel_history::{ExcludedResource, OutageSum, ResourceCompleteness, ResourceProof};
use kubereel_recorder::CompletenessSummary;
use std::path::Path;

/// Reads a reel; `None` if it cannot be opened.
pub(super) fn completeness(reel: &Path) -> Option<CompletenessSummary> {
    let timeline = files::open_reel(reel).ok()?;
    let mut read = CompletenessSummary {
        end: timeline.end(),
        events: timeline.reel().event_count(),
        ..CompletenessSummary::default()
    };
    let excluded = timeline.resources().excluded().iter();
    let excluded: Vec<_> = excluded.filter(|one| one.is_loss()).collect();
    read.not_recorded = words_of(&excluded);
    for info in timeline.resources().iter() {
        let proof = ResourceProof::of(&timeline, info);
        let name = &proof.resource;
        if proof.state == ResourceCompleteness::NeverListed {
            if !excluded.iter().any(|one| one.qualified() == *name) {
                let words = format!("{name} was never listed completely");
                read.not_recorded.push(words);
            }
            continue;
        }
        let mut missing = missing_lines(&timeline, &proof, usize::MAX);
        if missing.is_empty() && !proof.state.is_complete() {
            missing.push("may miss changes".to_owned());
        }
        // Without a colon behind the name: what follows `secrets:` is redacted.
        let missing = missing.iter().map(|line| format!("{name} {line}"));
        read.missing.extend(missing);
        read.resources += 1;
        let closed = proof.reconstructed.iter().chain(&proof.proven);
        read.closed_gaps += closed.fold(0, |count, _| count + 1);
    }
    let outages = OutageSum::of(&timeline);
    let outages = outages
        .counted()
        .map(|outage| outage_line(&timeline, outage));
    read.outages.extend(outages);
    Some(read)
}

fn words_of(excluded: &[&ExcludedResource]) -> Vec<String> {
    let words = excluded.iter().map(|one| {
        let (name, version, why) = (one.qualified(), &one.version, one.reason.as_str());
        format!("{name} ({version}): {why}: {}", one.detail)
    });
    words.collect()
}
