//! The accounting: everything a scripted cluster committed against everything a reel holds. The
//! only valid excuse is a gap that the reel itself declares.
//!
//! Waiting until versions of a real cluster's objects are in a reel that is being written. It does
//! not know how they came there.
//!
//! What a reel keeps of one resource, in a form to compare: events by identity, odd lines, gaps,
//! the first complete list. It does not compare.
//!
//! The proof that a recorder has received everything: the revision it resumes from. It does not
//! wait a while and hope.

use crate::oracle;
use crate::recording::run::Recording;
use crate::scripted::{Altered, Change, Committed, End, On, Resource, ScriptedCluster, Standing};
use anyhow::{Context as _, Result, bail, ensure};
use kubereel_format::{
    ConnectionId, Event, EventType, Evidence, Gap, GapId, GapVerdict, Note, OddLineProblem, Reel,
    ResourceId, ResourceInfo,
};
use kubereel_history::{Certainty, Moment, Timeline};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

/// The part of a cluster's commits that is in a reel.
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
    /// The errors, as text.
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
            let mut kept = ResourceAccount::read(&reel, info.id)?;
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

    fn add(
        &mut self,
        sums: &Sums<'_>,
        kept: &mut ResourceAccount,
        commit: &Committed,
        required: bool,
    ) {
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
    fn add_inventions(&mut self, sums: &Sums<'_>, kept: &ResourceAccount) {
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
            .filter(|object| object.key.resource == info.id)
            .filter_map(|object| {
                let head = reel.head(*reel.versions(object.id).last()?)?;
                (head.kind != EventType::Deleted).then(|| Standing {
                    namespace: object.key.namespace.to_owned(),
                    name: object.key.name.to_owned(),
                    uid: object.key.uid.text().into_owned(),
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
    fn is_kept_altered(
        &self,
        kept: &ResourceAccount,
        commit: &Committed,
        bodies: &[Vec<u8>],
    ) -> bool {
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

const LOOK_EVERY: Duration = Duration::from_millis(200);

/// A resource and a resourceVersion of it that must have arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Awaited {
    /// The resource, as kubectl spells it.
    pub resource: String,
    /// The version.
    pub rv: u128,
    /// Whether the state at that version must be known, not only a later one.
    pub is_exact: bool,
}

/// Waits until versions have arrived, as a copy of the running reel shows.
///
/// # Errors
///
/// When one has not in time.
pub async fn arrived(recording: &Recording, awaited: &[Awaited], limit: Duration) -> Result<()> {
    let copy = recording.reel().with_extension("copy");
    let deadline = Instant::now() + limit;
    loop {
        let missing = match copied(recording.reel(), &copy) {
            Ok(timeline) => awaited.iter().find(|one| !has(&timeline, one)),
            // A copy that is made while the file is written need not open.
            Err(_) => awaited.first(),
        };
        let Some(missing) = missing else {
            return Ok(());
        };
        if Instant::now() >= deadline {
            let (resource, rv, log) = (&missing.resource, missing.rv, recording.log());
            bail!("{resource} rv {rv} did not arrive: {log}");
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Waits until a copy of the running reel accounts for every one of etcd's changes.
///
/// Streams of different resources arrive at their own pace: that the last change of one has arrived
/// says nothing of a Lease written just before it.
///
/// # Errors
///
/// With what is missing still, when that takes longer than `limit`.
pub async fn accounted(
    recording: &Recording,
    changes: &[oracle::Change],
    limit: Duration,
) -> Result<()> {
    let copy = recording.reel().with_extension("copy");
    let deadline = Instant::now() + limit;
    loop {
        let accounted = std::fs::copy(recording.reel(), &copy)
            .context("a copy")
            .and_then(|_| Ok(Reel::open(&copy)?))
            .and_then(|reel| oracle::Account::of(&reel, changes)?.check());
        let Err(missing) = accounted else {
            return Ok(());
        };
        if Instant::now() >= deadline {
            return Err(missing.context(recording.log()));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

fn copied(reel: &Path, copy: &Path) -> Result<Timeline> {
    std::fs::copy(reel, copy).context("a copy")?;
    Ok(Timeline::open(copy)?)
}

fn has(timeline: &Timeline, awaited: &Awaited) -> bool {
    let Ok(info) = timeline.resources().find(&awaited.resource) else {
        return false;
    };
    let cut = timeline.resolve(Moment::Revision(awaited.rv));
    cut.is_ok_and(|cut| match timeline.certainty(info.id, cut) {
        // The first list was later.
        Certainty::BeforeFirst { first: Some(_) } => !awaited.is_exact,
        certainty => certainty.is_known(),
    })
}

/// What a reel keeps of one resource.
#[derive(Debug)]
pub(crate) struct ResourceAccount {
    events: BTreeMap<EventKey, Vec<Event>>,
    odd_lines: Vec<Vec<u8>>,
    pub(crate) gaps: Vec<Gap>,
    /// The gaps that the reel says were read back whole: nothing may be missing in them.
    closed: BTreeSet<GapId>,
    /// The revision of the first complete list.
    pub(crate) first_list: Option<u128>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct EventKey {
    namespace: String,
    name: String,
    uid: String,
    revision: String,
}

impl ResourceAccount {
    pub(crate) fn read(reel: &Reel, resource: ResourceId) -> Result<Self> {
        let mut kept = Self {
            events: BTreeMap::new(),
            odd_lines: Vec::new(),
            gaps: Vec::new(),
            closed: BTreeSet::new(),
            first_list: None,
        };
        for event in reel.scan() {
            let event = event?;
            let object = reel
                .key(event.head.object)
                .context("an event of no object")?;
            if object.resource == resource {
                let key = EventKey {
                    namespace: object.namespace.to_owned(),
                    name: object.name.to_owned(),
                    uid: object.uid.text().into_owned(),
                    revision: event.head.resource_version.clone(),
                };
                kept.events.entry(key).or_default().push(event);
            }
        }
        // Lines too long to be kept as one come in pieces, each with the length up to its end.
        let mut pieces: BTreeMap<ConnectionId, Vec<u8>> = BTreeMap::new();
        for entry in reel.notes() {
            match &entry.note {
                Note::Gap(gap) if gap.resource == resource => kept.gaps.push(gap.clone()),
                Note::GapJudged {
                    gap,
                    verdict: GapVerdict::Reconstructed,
                    ..
                } => {
                    kept.closed.insert(*gap);
                }
                Note::Synced {
                    resource: synced,
                    rv,
                    ..
                } if *synced == resource && kept.first_list.is_none() => {
                    kept.first_list = rv.parse().ok();
                }
                Note::OddLine {
                    blobs,
                    problem,
                    connection,
                    len,
                } => {
                    let mut line = Vec::new();
                    for blob in blobs {
                        line.extend_from_slice(&reel.blob(*blob)?);
                    }
                    if *problem == OddLineProblem::TooLong {
                        let whole = pieces.entry(*connection).or_default();
                        if u64::try_from(line.len()) == Ok(*len) {
                            kept.odd_lines.push(std::mem::take(whole));
                        }
                        whole.append(&mut line);
                    } else {
                        kept.odd_lines.push(line);
                    }
                }
                _ => {}
            }
        }
        kept.odd_lines.extend(pieces.into_values());
        Ok(kept)
    }

    /// Takes one event of the commit's identity that fits; each is there for one commit.
    pub(crate) fn take(&mut self, commit: &Committed, fits: impl Fn(&Event) -> bool) -> bool {
        let key = EventKey {
            namespace: commit.namespace.clone(),
            name: commit.name.clone(),
            uid: commit.uid.to_string(),
            revision: commit.revision.to_string(),
        };
        let Some(events) = self.events.get_mut(&key) else {
            return false;
        };
        let place = events.iter().position(fits);
        place.is_some_and(|place| {
            events.swap_remove(place);
            true
        })
    }

    /// The gaps in which something may be missing.
    pub(crate) fn open_gaps(&self) -> impl Iterator<Item = &Gap> {
        let is_open = |gap: &&Gap| !self.closed.contains(&gap.id);
        self.gaps.iter().filter(is_open)
    }

    /// The events nobody took.
    pub(crate) fn events(&self) -> impl Iterator<Item = &Event> {
        self.events.values().flatten()
    }

    /// Whether a line, as it was sent, is there: as an event or as an odd line.
    pub(crate) fn keeps(&self, sent: &[u8]) -> bool {
        let line = sent.strip_suffix(b"\n").unwrap_or(sent);
        !line.is_empty() && self.keeps_in_odd_line(line)
            || self.events().any(|event| contains(sent, &event.body))
    }

    /// Whether an odd line holds these bytes.
    pub(crate) fn keeps_in_odd_line(&self, bytes: &[u8]) -> bool {
        self.odd_lines.iter().any(|line| contains(line, bytes))
    }
}

/// The name under which a storage is recorded.
pub(crate) fn recorded_as<'a>(
    reel: &'a Reel,
    cluster: &ScriptedCluster,
    storage: &str,
) -> Option<&'a ResourceInfo> {
    reel.notes()
        .iter()
        .rev()
        .find_map(|entry| match &entry.note {
            Note::Resource(info) => {
                let resource = cluster.resource(&info.qualified()).ok()?;
                (resource.storage == storage).then_some(info)
            }
            _ => None,
        })
}

/// Whether a text holds a part; fast enough because texts that begin alike are few.
pub(crate) fn contains(text: &[u8], part: &[u8]) -> bool {
    let starts = text.len().checked_sub(part.len());
    starts.is_some_and(|last| {
        (0..=last).any(|start| {
            text.get(start) == part.first() && text.split_at(start).1.starts_with(part)
        })
    })
}

/// Brings the recorder to where it has received everything committed to a storage, and proves it:
/// its streams are ended in order until it resumes one from the last revision or beyond.
///
/// The last commit must not be a deletion among Events: after those a recorder rightly resumes one
/// revision earlier.
///
/// # Errors
///
/// When it does not come so far in time.
pub fn settle(cluster: &ScriptedCluster, storage: &str, timeout: Duration) -> Result<()> {
    let commits = cluster.committed();
    let Some(last) = commits.iter().rfind(|commit| commit.storage == storage) else {
        return Ok(());
    };
    let paths = paths_of(cluster, storage)?;
    let mut seen = cluster.requests().len();
    let deadline = Instant::now() + timeout;
    loop {
        for path in &paths {
            cluster.cut_open(&On::watch(path), End::Finished);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let what = format!("a watch of {storage} to go on from {}", last.revision);
        let watch = cluster.wait_until(&what, left, |cluster| {
            let requests = cluster.requests();
            let mut new = requests.into_iter().skip(seen);
            new.find(|one| one.asked.is_watch() && paths.contains(&one.asked.path))
        })?;
        let from = watch.asked.parameter("resourceVersion");
        let from: Option<u128> = from.and_then(|from| from.parse().ok());
        if from.is_some_and(|from| from >= last.revision) {
            return Ok(());
        }
        seen = watch.number + 1;
        // It is behind: let the stream it has just opened bring what there is.
        cluster.wait_until("the stream to catch up", left, |_| {
            let progress = watch.progress();
            (progress.ended.is_some() || progress.lines > 0).then_some(())
        })?;
    }
}

fn paths_of(cluster: &ScriptedCluster, storage: &str) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    for resource in cluster.resources() {
        if resource.storage == storage {
            let versions = resource.versions.iter();
            paths.extend(versions.map(|version| resource.path_in(version)));
        }
    }
    ensure!(!paths.is_empty(), "nothing is stored as {storage}");
    Ok(paths)
}
