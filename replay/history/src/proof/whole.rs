//! Owns the verdict on a reel. Refuses to call one complete for which a single resource speaks against
//! it, and to weigh an outage as a loss: what streams missed in it they were told afterwards, or there
//! is a gap.

use super::accounted::AccountSummary;
use super::integrity::Integrity;
use super::resource::{ResourceProof, ResourceState};
use crate::summary::{NotCoveredSummary, OutageSummary};
use crate::timeline::Timeline;
use serde::Serialize;

/// What is to be said of a reel in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Verdict {
    /// Every byte is as it was written, and every change of every recorded resource is there.
    Complete,
    /// Every byte is as it was written; changes may be missing.
    Incomplete,
    /// Something cannot be read.
    Damaged,
}

/// What a reel proves.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Proof {
    /// The file.
    pub file: String,
    /// The version of its format.
    pub format: String,
    /// Whether its recorder finished it.
    pub finished: bool,
    /// The verdict.
    pub verdict: Verdict,
    /// Why it is not `complete`; empty if it is.
    pub reasons: Vec<String>,
    /// What reading every byte showed.
    pub integrity: Integrity,
    /// What is proven of each recorded resource.
    pub resources: Vec<ResourceProof>,
    /// What of the cluster was not recorded, and why.
    pub not_covered: Vec<NotCoveredSummary>,
    /// What became of the revisions of the cluster's storage, an account an epoch.
    pub accounts: Vec<AccountSummary>,
    /// Why there is no account, if there is none.
    pub no_account: Option<String>,
    /// The times without the API.
    pub outages: OutageSum,
}

/// The times without the API: most cost no event.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OutageSum {
    /// How many there were, those before the first answer not counted.
    pub count: u64,
    /// How long they lasted in all.
    pub total_secs: f64,
    /// Each of them, also those before the first answer.
    pub each: Vec<OutageSummary>,
}

impl Timeline {
    /// Says what the reel proves, given what reading it showed.
    pub fn proof(&self, integrity: Integrity) -> Proof {
        let infos = self.resources().iter();
        let resources: Vec<ResourceProof> = infos.map(|info| self.resource_proof(info)).collect();
        let not_covered = self.not_covered_summaries();
        let reasons = self.reasons(&integrity, &resources);
        let verdict = if !integrity.whole {
            Verdict::Damaged
        } else if reasons.is_empty() {
            Verdict::Complete
        } else {
            Verdict::Incomplete
        };
        Proof {
            file: self.reel().path().display().to_string(),
            format: self.reel().format().to_string(),
            finished: self.reel().is_finished(),
            verdict,
            reasons,
            integrity,
            resources,
            not_covered,
            accounts: self.account_summaries(),
            no_account: self.accounts().err().map(|error| error.as_str().to_owned()),
            outages: self.outage_sum(),
        }
    }

    fn outage_sum(&self) -> OutageSum {
        let each = self.outage_summaries();
        let real = || each.iter().filter(|outage| !outage.before_first_answer);
        OutageSum {
            count: real().fold(0, |count, _| count + 1),
            total_secs: real().map(|outage| outage.span_secs).sum(),
            each,
        }
    }

    /// Says why a reel is not complete.
    fn reasons(&self, integrity: &Integrity, resources: &[ResourceProof]) -> Vec<String> {
        let mut reasons = Vec::new();
        if !integrity.whole {
            reasons.push(counted(integrity.damaged_places, "damaged place", ""));
        }
        if resources.is_empty() {
            reasons.push("nothing was recorded".to_owned());
        }
        for (state, words) in [
            (ResourceState::Incomplete, "in which changes may be missing"),
            (ResourceState::NeverListed, "never listed completely"),
            (
                ResourceState::Imported,
                "of another tool's recording, which does not tell what it leaves out",
            ),
        ] {
            let found = resources.iter().filter(|one| one.state == state);
            let count = u64::try_from(found.count()).unwrap_or(u64::MAX);
            if count > 0 {
                reasons.push(counted(count, "resource", words));
            }
        }
        let refused = self.refused();
        if refused > 0 {
            reasons.push(counted(refused, "resource", "that could not be recorded"));
        }
        reasons
    }

    /// Counts what was never recorded, and not because it cannot or need not be.
    fn refused(&self) -> u64 {
        let known = |group: &str, plural: &str| {
            let mut infos = self.resources().iter();
            infos.any(|info| info.group == group && info.plural == plural)
        };
        let excluded = self.resources().excluded().iter();
        let refused = excluded.filter(|one| one.is_loss() && !known(&one.group, &one.plural));
        u64::try_from(refused.count()).unwrap_or(u64::MAX)
    }
}

/// Writes how many there are of something, and what of them.
fn counted(count: u64, one: &str, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {one}{plural} {what}")
        .trim_end()
        .to_owned()
}
