//! What a storm was and what became of its revisions, in the words of a report.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use kubereel_format::{Evidence, Note, Seq};
use kubereel_tests::footprint::Footprint;
use kubereel_tests::shaken::Settled;

/// The storm, and what came of it. Each line begins with `storm: `, by which a report finds it.
pub(crate) struct Told<'a> {
    pub(crate) settled: &'a Settled,
    /// How many changes there were before it.
    pub(crate) before: usize,
    pub(crate) raged: Duration,
    pub(crate) rolls: usize,
    pub(crate) rounds: usize,
    pub(crate) expired: u64,
    pub(crate) costs: BTreeMap<String, Footprint>,
}

impl Told<'_> {
    /// How many events were read back from the server's history.
    fn reconstructed(&self) -> usize {
        let reel = &self.settled.reel;
        let heads = (0..reel.end().0).filter_map(|seq| reel.head(Seq(seq)));
        heads
            .filter(|head| head.evidence == Evidence::Reconstructed)
            .count()
    }
}

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let account = &self.settled.account;
        let changes = self.settled.changes.iter().skip(self.before);
        let revisions: BTreeSet<u64> = changes.map(|change| change.revision).collect();
        let millis = u64::try_from(self.raged.as_millis()).unwrap_or(u64::MAX);
        let rate = u64::try_from(revisions.len()).unwrap_or(0) * 1000 / millis.max(1);
        let notes = self.settled.reel.notes().iter();
        let gaps = notes.filter(|entry| matches!(entry.note, Note::Gap(_)));
        let bytes = std::fs::metadata(self.settled.reel.path()).map_or(0, |facts| facts.len());
        writeln!(
            f,
            "storm: {} s, {} revisions, {rate} a second; {} rolls, {} definitions came, changed and went, {} answers of 410",
            self.raged.as_secs(),
            revisions.len(),
            self.rolls,
            self.rounds,
            self.expired,
        )?;
        writeln!(
            f,
            "storm: {} changes recorded, {} of them reconstructed; {} in {} declared gaps, {} before the first list of their resource, {} of resources never listed, {} without API, {} lost",
            account.recorded.len(),
            self.reconstructed(),
            account.in_gaps.len(),
            gaps.count(),
            account.before,
            account.unlisted.len(),
            account.without_api,
            account.lost.len(),
        )?;
        writeln!(f, "storm: the reel has {bytes} bytes")?;
        for (name, cost) in &self.costs {
            writeln!(f, "storm: {name}: {cost}")?;
        }
        Ok(())
    }
}
