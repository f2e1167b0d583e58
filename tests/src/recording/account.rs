//! Owns the accounting: everything a scripted cluster committed against everything a reel holds.
//! Refuses every excuse but a gap that the reel itself declares.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use kubereel_format::{Event, EventType, Evidence, Gap, Reel};

use super::kept::{Kept, contains, recorded_as};
use crate::scripted::{Altered, Change, Committed, Resource, ScriptedCluster, Standing};

/// What of a cluster's commits is in a reel.
#[derive(Debug, Default)]
pub struct Account {
    /// Commits that are in the reel, byte for byte.
    pub recorded: usize,
    /// Commits whose line was sent altered, or was no event, and is in the reel so.
    pub altered: usize,
    /// Commits that are not, and lie inside a gap.
    pub in_gaps: usize,
    /// Commits that are not, and need not be.
    pub excused: usize,
    /// Commits from before the first list, which nobody promised.
    pub before: usize,
    /// The gaps of the recorded resources.
    pub gaps: Vec<Gap>,
    /// What is wrong, in words.
    pub wrong: Vec<String>,
}

impl Account {
    /// Opens a reel and accounts for everything the cluster committed to these storages, and for
    /// what stands there now.
    ///
    /// # Errors
    ///
    /// When the reel cannot be opened or read.
    pub fn of(reel: &Path, cluster: &ScriptedCluster, storages: &[&str]) -> Result<Self> {
        let commits = cluster.committed();
        let mut account = Self::of_required(reel, cluster, storages, &commits, |_| true)?;
        let reel = Reel::open(reel)?;
        for storage in storages {
            account.compare_ends(&reel, cluster, storage)?;
        }
        Ok(account)
    }

    /// As [`Self::of`], but only what is required must be there, and whatever stands at the end.
    ///
    /// # Errors
    ///
    /// When the reel cannot be opened or read.
    pub fn of_required(
        reel: &Path,
        cluster: &ScriptedCluster,
        storages: &[&str],
        commits: &[Committed],
        required: impl Fn(&Committed) -> bool,
    ) -> Result<Self> {
        let reel = Reel::open(reel)?;
        ensure!(reel.damage().is_empty(), "damaged: {:?}", reel.damage());
        let altered = cluster.altered();
        let mut account = Self::default();
        for storage in storages {
            let commits = commits.iter().filter(|commit| commit.storage == *storage);
            let Some(info) = recorded_as(&reel, cluster, storage) else {
                account.wrong.extend(
                    commits
                        .filter(|commit| required(commit))
                        .map(|commit| format!("{storage} is not in the reel: {commit:?}")),
                );
                continue;
            };
            let mut kept = Kept::read(&reel, info.id)?;
            let resource = cluster.resource(&info.qualified())?;
            let sums = Sums {
                resource: &resource,
                version: &info.version,
                altered: &altered,
            };
            for commit in commits {
                account.add(&sums, &mut kept, commit, required(commit));
            }
            account.add_inventions(&sums, &kept);
            account.gaps.append(&mut kept.gaps);
        }
        Ok(account)
    }

    /// Fails with everything that is wrong.
    ///
    /// # Errors
    ///
    /// When anything is.
    pub fn check(self) -> Result<Self> {
        if self.wrong.is_empty() {
            return Ok(self);
        }
        let first: Vec<&String> = self.wrong.iter().take(20).collect();
        bail!("{} things are wrong, first {first:#?}", self.wrong.len())
    }

    /// As [`Self::check`], and no gap may have been declared.
    ///
    /// # Errors
    ///
    /// When anything is wrong or there is a gap.
    pub fn check_whole(self) -> Result<Self> {
        ensure!(self.gaps.is_empty(), "gaps: {:#?}", self.gaps);
        self.check()
    }

    fn add(&mut self, sums: &Sums<'_>, kept: &mut Kept, commit: &Committed, required: bool) {
        let bodies = sums.bodies(commit);
        let fits = |event: &Event| {
            // A deletion that was read back has no bytes of its own.
            let is_found_deletion = event.head.evidence == Evidence::Reconstructed
                && event.head.kind == EventType::Deleted;
            kind_fits(event, commit.change)
                && (is_found_deletion || bodies.iter().any(|body| **body == *event.body))
        };
        if kept.take(commit, fits) {
            self.recorded += 1;
        } else if sums.is_kept_altered(kept, commit, &bodies) {
            self.altered += 1;
        } else if kept.first_list.is_none_or(|first| commit.revision <= first) {
            self.before += 1;
        } else if kept.open_gaps().any(|gap| spans(gap, commit.revision)) {
            self.in_gaps += 1;
        } else if required {
            self.wrong.push(format!(
                "missing: {} {} {}/{} at {}, first sent {:?} ago",
                commit.change.as_str(),
                commit.storage,
                commit.namespace,
                commit.name,
                commit.revision,
                commit.first_sent().map(|sent| sent.elapsed())
            ));
        } else {
            self.excused += 1;
        }
    }

    /// What is left was never committed; only what was sent altered, or inferred and said to be, may be.
    fn add_inventions(&mut self, sums: &Sums<'_>, kept: &Kept) {
        for event in kept.events() {
            let sent = || {
                let mut lines = sums.altered.iter();
                lines.any(|line| contains(&line.bytes, &event.body))
            };
            if event.head.evidence != Evidence::Inferred && !sent() {
                self.wrong.push(format!(
                    "never sent so: {:?}: {}",
                    event.head,
                    String::from_utf8_lossy(&event.body)
                ));
            }
        }
    }

    /// What the reel takes for alive at its end must be what stands in the cluster.
    fn compare_ends(
        &mut self,
        reel: &Reel,
        cluster: &ScriptedCluster,
        storage: &str,
    ) -> Result<()> {
        let info = recorded_as(reel, cluster, storage).context("it is recorded")?;
        let stands: BTreeSet<Standing> = cluster.standing(&info.qualified())?.into_iter().collect();
        let told: BTreeSet<Standing> = reel
            .objects()
            .iter()
            .filter(|object| object.key.resource == info.id)
            .filter_map(|object| {
                let head = reel.head(*reel.versions(object.id).last()?)?;
                (head.kind != EventType::Deleted).then(|| Standing {
                    namespace: object.key.namespace.clone(),
                    name: object.key.name.clone(),
                    uid: object.key.uid.clone(),
                    revision: head.resource_version.parse().unwrap_or(0),
                })
            })
            .collect();
        for object in stands.difference(&told) {
            let words = format!("at the end the reel does not know {object:?}");
            self.wrong.push(words);
        }
        for object in told.difference(&stands) {
            let words = format!("at the end only the reel knows {object:?}");
            self.wrong.push(words);
        }
        Ok(())
    }
}

/// What a commit is compared with.
struct Sums<'a> {
    resource: &'a Resource,
    version: &'a str,
    altered: &'a [Altered],
}

impl Sums<'_> {
    /// The two forms in which the server may have sent it.
    fn bodies(&self, commit: &Committed) -> [Vec<u8>; 2] {
        [
            commit.watch_body(self.resource, self.version),
            commit.list_body(self.resource, self.version),
        ]
    }

    /// Whether its line was sent altered, or was refused as an event, and was kept all the same.
    fn is_kept_altered(&self, kept: &Kept, commit: &Committed, bodies: &[Vec<u8>]) -> bool {
        let mut sent = self
            .altered
            .iter()
            .filter(|altered| altered.sequence == commit.sequence);
        sent.any(|altered| kept.keeps(&altered.bytes))
            || bodies.iter().any(|body| kept.keeps_in_odd_line(body))
    }
}

fn kind_fits(event: &Event, change: Change) -> bool {
    match event.head.evidence {
        // A list shows what is there, not how it came to be.
        Evidence::Initial | Evidence::Listed => change != Change::Deleted,
        Evidence::Inferred => false,
        // It is called a creation only where the history proves that.
        Evidence::Reconstructed if event.head.kind == EventType::Modified => {
            change != Change::Deleted
        }
        _ => event.head.kind.as_str() == change.as_str(),
    }
}

fn spans(gap: &Gap, revision: u128) -> bool {
    let from = gap.from_rv.as_ref().and_then(|from| from.parse().ok());
    let to: Option<u128> = gap.to_rv.parse().ok();
    from.is_none_or(|from: u128| from < revision) && to.is_none_or(|to| revision <= to)
}
