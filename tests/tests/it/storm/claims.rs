//! What `verify` claims of the reel, held against what etcd says.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, anyhow, ensure};
use kubereel_format::{EpochId, Note};
use kubereel_history::Proof;
use kubereel_tests::claims::{Claims, Fact, Tally};
use kubereel_tests::oracle::{Change, EtcdKey};
use kubereel_tests::shaken::Settled;

/// What it says, in one line.
pub(crate) fn words(claims: &Claims) -> String {
    let Proof {
        verdict,
        reasons,
        accounts,
        outages,
        ..
    } = claims.proof();
    let accounts: Vec<String> = accounts
        .iter()
        .map(|one| {
            let (all, explained) = (one.revisions, one.explained);
            format!("events explain {explained} of {all} revisions")
        })
        .collect();
    format!(
        "storm: verify says {verdict:?} ({}); {}; {} outages",
        reasons.join(", "),
        accounts.join(", "),
        outages.count
    )
}

/// Fails with what is lost and what is claimed falsely.
pub(crate) fn hold(claims: &Claims, settled: &Settled) -> Result<Tally> {
    let whole = &claims.proof().integrity;
    ensure!(whole.whole, "{whole:?}");
    let facts = Fact::of_etcd(&settled.changes, epoch(claims)?)?;
    let tally = claims.against(&facts).check()?;
    revisions_hold(claims, settled)?;
    Ok(tally)
}

/// The one life of the one cluster.
fn epoch(claims: &Claims) -> Result<EpochId> {
    let mut notes = claims.reel().notes().iter();
    let epoch = notes.find_map(|entry| match entry.note {
        Note::Cluster { epoch, .. } => Some(epoch),
        _ => None,
    });
    epoch.context("no cluster")
}

/// The account counts as etcd does, and what it cannot explain is not in the reel.
fn revisions_hold(claims: &Claims, settled: &Settled) -> Result<()> {
    let accounts = claims
        .timeline()
        .accounts()
        .map_err(|why| anyhow!("no account: {why:?}"))?;
    let account = accounts.last().context("an account")?;
    let revisions = |changes: &[Change], is_meant: fn(&Change) -> bool| -> BTreeSet<u64> {
        let meant = changes.iter().filter(|change| is_meant(change));
        let numbers = meant.map(|change| change.revision);
        numbers
            .filter(|number| account.from_rv < *number && *number <= account.to_rv)
            .collect()
    };
    let all = revisions(&settled.all_changes, |_| true).len();
    ensure!(
        u64::try_from(all)? == account.total(),
        "etcd counts {all} revisions, the account {}",
        account.total()
    );
    let ranges = account.unexplained.iter();
    let unexplained: BTreeSet<u64> = ranges.flat_map(|range| range.first..=range.last).collect();
    let recorded = revisions(&settled.account.recorded, |_| true);
    let both: Vec<&u64> = unexplained.intersection(&recorded).take(5).collect();
    ensure!(both.is_empty(), "recorded and not explained: {both:?}");
    let hidden = revisions(&settled.changes, |change| {
        change.etcd_key() == EtcdKey::WithoutApi
    });
    // The account names so many runs and counts the rest.
    let is_all = u64::try_from(account.unexplained.len())? == account.ranges;
    let named = match account.unexplained.last() {
        Some(range) if !is_all => range.last,
        _ => account.to_rv,
    };
    let invented: Vec<&u64> = hidden
        .range(..=named)
        .filter(|revision| !unexplained.contains(*revision))
        .take(5)
        .collect();
    ensure!(
        invented.is_empty(),
        "explained, though no API shows them: {invented:?}"
    );
    Ok(())
}
