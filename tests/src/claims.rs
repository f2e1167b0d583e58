//! Compares the claims of a reel, as `kubereel verify` prints them, with what the servers' own
//! oracle knows: recorded, read back and declared missing changes are all changes, and no claim is
//! false.
//!
//! The comparison works for the scripted server and for etcd, and never asks the recorder. The only
//! valid excuse for a missing change is a gap or a time that the reel itself declares.

use crate::faults::Measured;
use crate::oracle::{self, ChangeKind, EtcdKey};
use crate::recording::recorded_as;
use crate::scripted::{self, ScriptedCluster};
use anyhow::{Context as _, Result, bail, ensure};
use kubereel_format::{EpochId, EventType, Evidence, Note, Reel, ResourceInfo, Seq};
use kubereel_history::{
    Coverage, GapOutcome, Integrity, Proof, RecordedGap, ResourceProof, Timeline, UnobservedReason,
    UnobservedSpan,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

/// Everything that a reel claims.
pub struct Claims {
    timeline: Timeline,
    proof: Proof,
    /// From which record on which epoch is recorded.
    epochs: Vec<(Seq, EpochId, String)>,
    resources: Vec<ResourceClaims>,
}

/// The report about one resource.
#[derive(Debug)]
struct ResourceClaims {
    info: ResourceInfo,
    /// Whether `verify` calls it complete.
    is_complete: bool,
    /// Namespace, name and revision, whether it is a deletion; and whether it was read back.
    has: BTreeMap<(EpochId, String, String, u128, bool), bool>,
    /// The spans in which every change is claimed.
    spans: Vec<Stretch>,
    /// The gaps in which changes may be missing, with the most that may be.
    gaps: Vec<(Stretch, Option<u64>)>,
    /// The gaps in which none is missing, they say.
    closed: Vec<Stretch>,
    /// Whether the reel says that it was not recorded for a time.
    is_excluded: bool,
    /// How many lines are kept that are not events; each reports a change that is not in the state.
    unread: u64,
}

/// The revisions after the first bound, up to and including the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stretch {
    epoch: EpochId,
    after: u128,
    to: u128,
}

impl Stretch {
    fn holds(&self, epoch: EpochId, revision: u128) -> bool {
        self.epoch == epoch && self.after < revision && revision <= self.to
    }
}

impl fmt::Debug for Claims {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reel = self.reel().path();
        out.debug_struct("Claims")
            .field("reel", &reel)
            .finish_non_exhaustive()
    }
}

impl Claims {
    /// Reads them.
    ///
    /// # Errors
    /// When the reel cannot be opened, or is damaged.
    pub fn read(reel: &Path) -> Result<Self> {
        let timeline = Timeline::open(reel)?;
        let damage = timeline.reel().damage();
        ensure!(damage.is_empty(), "damaged: {damage:?}");
        let proof = Proof::of(&timeline, Integrity::read(&timeline, |_| {}));
        let epochs = epochs(timeline.reel());
        let mut claims = Self {
            resources: Vec::new(),
            timeline,
            proof,
            epochs,
        };
        let infos: Vec<ResourceInfo> = claims.timeline.resources().iter().cloned().collect();
        for info in infos {
            let said = claims.said(info)?;
            claims.resources.push(said);
        }
        Ok(claims)
    }

    /// The reel.
    pub fn reel(&self) -> &Reel {
        self.timeline.reel()
    }

    /// The timeline.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// What `verify` says in full.
    pub fn proof(&self) -> &Proof {
        &self.proof
    }

    /// The first epoch of the cluster with this uid.
    pub fn epoch_of_cluster(&self, uid: &str) -> Option<EpochId> {
        let mut epochs = self.epochs.iter();
        epochs
            .find(|(_, _, named)| named == uid)
            .map(|(_, epoch, _)| *epoch)
    }

    fn epoch_at(&self, seq: Seq) -> EpochId {
        let known = self.epochs.partition_point(|(from, ..)| *from <= seq);
        let last = known.checked_sub(1).and_then(|last| self.epochs.get(last));
        last.map_or_else(EpochId::default, |(_, epoch, _)| *epoch)
    }

    fn said(&self, info: ResourceInfo) -> Result<ResourceClaims> {
        let proof = ResourceProof::of(&self.timeline, &info);
        let told = self.timeline.coverage(info.id);
        let mut said = ResourceClaims {
            is_complete: proof.state.is_complete(),
            has: self.has(&info),
            spans: Vec::new(),
            gaps: Vec::new(),
            closed: Vec::new(),
            is_excluded: told.is_some_and(is_excluded),
            unread: told.map_or(0, unparsed_lines),
            info,
        };
        let Some(told) = told else {
            return Ok(said);
        };
        for span in told.spans() {
            let covered = &span.covered;
            let number = |text: &str| text.parse::<u128>().with_context(|| format!("{covered:?}"));
            said.spans.push(Stretch {
                epoch: self.epoch_at(span.begun_by),
                after: number(&covered.from_rv)?,
                to: number(&covered.to_rv)?,
            });
        }
        for hole in told.gaps(GapOutcome::MayMiss) {
            let most = hole
                .missing_at_most()
                .map(|most| most.saturating_add(hole.gap.differences));
            said.gaps
                .extend(self.stretches(hole).into_iter().map(|one| (one, most)));
        }
        let closed = told
            .gaps(GapOutcome::ReadBack)
            .chain(told.gaps(GapOutcome::ProvenEmpty));
        for hole in closed {
            said.closed.extend(self.stretches(hole));
        }
        Ok(said)
    }

    /// A gap between two lives has the end of the one and the begin of the other.
    fn stretches(&self, hole: &RecordedGap) -> Vec<Stretch> {
        let number = |text: &str| text.parse::<u128>().ok();
        let after = hole.gap.from_rv.as_deref().and_then(number);
        let to = number(&hole.gap.to_rv).unwrap_or(u128::MAX);
        let now = self.epoch_at(hole.closed_by);
        if hole.gap.cause != kubereel_format::GapCause::NewEpoch {
            let after = after.unwrap_or(0);
            return vec![Stretch {
                epoch: now,
                after,
                to,
            }];
        }
        let before = EpochId(now.0.saturating_sub(1));
        let ended = Stretch {
            epoch: before,
            after: after.unwrap_or(0),
            to: u128::MAX,
        };
        let begun = Stretch {
            epoch: now,
            after: 0,
            to,
        };
        vec![ended, begun]
    }

    fn has(&self, info: &ResourceInfo) -> BTreeMap<(EpochId, String, String, u128, bool), bool> {
        let reel = self.timeline.reel();
        let mut has = BTreeMap::new();
        for &object in self.timeline.objects_of(info.id) {
            let Some(key) = self.timeline.key_of(object) else {
                continue;
            };
            for &seq in reel.versions(object) {
                let (Some(head), Some(rv)) = (reel.head(seq), reel.rv_of(seq)) else {
                    continue;
                };
                // Nobody told its revision: it is the list's.
                if head.evidence == Evidence::Inferred {
                    continue;
                }
                let is_deletion = head.kind == EventType::Deleted;
                let epoch = self.epoch_at(seq);
                let place = (
                    epoch,
                    key.namespace.to_owned(),
                    key.name.to_owned(),
                    rv,
                    is_deletion,
                );
                let is_read_back = head.evidence == Evidence::Reconstructed;
                // What came live as well was not missing.
                let known = has.entry(place).or_insert(is_read_back);
                *known &= is_read_back;
            }
        }
        has
    }
}

impl ResourceClaims {
    /// Whether a change is in the reel, and then whether it was read back.
    fn has(
        &self,
        epoch: EpochId,
        namespace: &str,
        name: &str,
        revision: u128,
        is_deletion: bool,
    ) -> Option<bool> {
        let (namespace, name) = (namespace.to_owned(), name.to_owned());
        let place = (epoch, namespace, name, revision, is_deletion);
        self.has.get(&place).copied()
    }

    /// Whether a revision lies before everything or behind everything that is claimed in its epoch.
    fn is_outside(&self, epoch: EpochId, revision: u128) -> bool {
        let mut spans = self.spans.iter().filter(|span| span.epoch == epoch);
        let bounds: BTreeSet<u128> = spans
            .by_ref()
            .flat_map(|span| [span.after, span.to])
            .collect();
        let (Some(first), Some(last)) = (bounds.first(), bounds.last()) else {
            return true;
        };
        revision <= *first || *last < revision
    }
}

/// The epochs in the order in which they were met.
fn epochs(reel: &Reel) -> Vec<(Seq, EpochId, String)> {
    let named = reel.notes().iter().filter_map(|entry| match &entry.note {
        Note::Cluster { epoch, uid, .. } => Some((entry.seq, *epoch, uid.clone())),
        _ => None,
    });
    named.collect()
}

fn is_excluded(told: &Coverage) -> bool {
    let is_it = |span: &UnobservedSpan| matches!(span.reason, UnobservedReason::NotRecorded { .. });
    told.unobserved_spans().iter().any(is_it)
}

fn unparsed_lines(told: &Coverage) -> u64 {
    let lines = told
        .unobserved_spans()
        .iter()
        .map(|span| match span.reason {
            UnobservedReason::Unparsed { lines, .. } => lines,
            _ => 0,
        });
    lines.sum()
}

impl Claims {
    /// Reads a reel and holds its claims against what a scripted cluster committed to these storages.
    ///
    /// # Errors
    /// When the reel cannot be read, when a change is lost unsaid, or when a claim is false.
    pub fn hold(reel: &Path, cluster: &ScriptedCluster, storages: &[&str]) -> Result<Tally> {
        let claims = Self::read(reel)?;
        let facts = Fact::of_scripted(&claims, cluster, storages)?;
        claims.against(&facts).check()
    }

    /// Holds the claims against facts; of each change exactly one thing is true.
    pub fn against(&self, facts: &[Fact]) -> Tally {
        let mut tally = Tally::default();
        let mut missing = Missing::new();
        for fact in facts {
            let of_it: Vec<(usize, &ResourceClaims)> = self
                .resources
                .iter()
                .enumerate()
                .filter(|(_, said)| is_of(said, fact))
                .collect();
            judge(fact, &of_it, &mut tally, &mut missing);
        }
        for ((resource, place), count) in missing {
            let said = self.resources.get(resource);
            let words = said.and_then(|said| too_few(said, place, count));
            tally.false_claims.extend(words);
        }
        tally.wrong_revisions.sort_unstable();
        tally.wrong_revisions.dedup();
        tally
    }
}

/// How many changes are missing, of which resource, and where the reel says so.
type Missing = BTreeMap<(usize, Declared), u64>;

/// Where a reel says that something is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Declared {
    /// In the gap of this number.
    Gap(usize),
    /// In a line that is kept and is not an event.
    Line,
}

/// Says so if more is missing than is declared.
fn too_few(said: &ResourceClaims, place: Declared, count: u64) -> Option<String> {
    let name = said.info.qualified();
    match place {
        Declared::Gap(gap) => {
            let (stretch, most) = said.gaps.get(gap)?;
            let (after, to) = (stretch.after, stretch.to);
            let most = (*most).filter(|most| count > *most)?;
            Some(format!(
                "{name}: {count} changes are missing after {after} up to {to}, at most {most} claimed"
            ))
        }
        Declared::Line => (count > said.unread).then(|| {
            format!(
                "{name}: {count} changes are missing, {} lines kept",
                said.unread
            )
        }),
    }
}

fn is_of(said: &ResourceClaims, fact: &Fact) -> bool {
    let group = fact.group.as_ref();
    said.info.plural == fact.plural && group.is_none_or(|group| *group == said.info.group)
}

fn judge(
    fact: &Fact,
    of_it: &[(usize, &ResourceClaims)],
    tally: &mut Tally,
    missing: &mut Missing,
) {
    let (epoch, revision) = (fact.epoch, fact.revision);
    let has = |said: &ResourceClaims| {
        let (namespace, name) = (&fact.namespace, &fact.name);
        said.has(epoch, namespace, name, revision, fact.is_deletion)
    };
    if let Some(is_read_back) = of_it.iter().find_map(|(_, said)| has(said)) {
        if is_read_back {
            tally.reconstructed += 1;
        } else {
            tally.recorded += 1;
        }
        return;
    }
    if fact.is_altered {
        tally.altered += 1;
        return;
    }
    let known: Vec<&(usize, &ResourceClaims)> = of_it
        .iter()
        .filter(|(_, said)| !said.spans.is_empty())
        .collect();
    if known.is_empty() {
        tally.unlisted += 1;
        return;
    }
    let claimed = claims(fact, &known);
    let is_claimed = !claimed.is_empty();
    tally.false_claims.extend(claimed);
    if is_claimed {
        tally.wrong_revisions.push(revision);
    }
    let mut gaps = known.iter().flat_map(|(resource, said)| {
        let gaps = said.gaps.iter().enumerate();
        let holding = gaps.filter(|(_, (gap, _))| gap.holds(epoch, revision));
        holding.map(|(gap, _)| (*resource, gap))
    });
    if let Some(place) = gaps.next() {
        let (resource, gap) = place;
        *missing.entry((resource, Declared::Gap(gap))).or_default() += 1;
        tally.declared += 1;
    } else if let Some((resource, _)) = known.iter().find(|(_, said)| said.unread > 0) {
        *missing.entry((*resource, Declared::Line)).or_default() += 1;
        tally.declared += 1;
    } else if known
        .iter()
        .all(|(_, said)| said.is_outside(epoch, revision))
    {
        tally.outside += 1;
    } else if !is_claimed && known.iter().any(|(_, said)| said.is_excluded) {
        tally.declared += 1;
    } else {
        tally.lost.push(words(fact));
        tally.wrong_revisions.push(revision);
    }
}

/// What is claimed, though a change is missing.
fn claims(fact: &Fact, known: &[&(usize, &ResourceClaims)]) -> Vec<String> {
    let (epoch, revision) = (fact.epoch, fact.revision);
    let mut claims = Vec::new();
    for (_, said) in known {
        if said.unread > 0 && !said.is_complete {
            continue;
        }
        let what = [
            (&said.spans, "is claimed to be complete"),
            (&said.closed, "has a gap that is claimed to be closed"),
        ];
        for (stretches, claim) in what {
            if let Some(one) = stretches.iter().find(|one| one.holds(epoch, revision)) {
                claims.push(format!(
                    "{} {claim} after {} up to {}; missing: {}",
                    said.info.qualified(),
                    one.after,
                    one.to,
                    words(fact)
                ));
            }
        }
        if said.is_complete && !said.is_outside(epoch, revision) {
            let name = said.info.qualified();
            let words = words(fact);
            claims.push(format!("{name} is called complete; missing: {words}"));
        }
    }
    claims
}

fn words(fact: &Fact) -> String {
    let what = if fact.is_deletion {
        "deletion"
    } else {
        "change"
    };
    let place = [fact.namespace.as_str(), fact.name.as_str()].join("/");
    let (plural, revision) = (&fact.plural, fact.revision);
    format!("the {what} of {plural} {place} at {revision}")
}

/// A change that was made, as its server's own story tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Whose revisions these are: the number of the cluster's life in the reel.
    pub epoch: EpochId,
    /// The API group; none where etcd's key does not name it.
    pub group: Option<String>,
    /// The resource's plural name.
    pub plural: String,
    /// Empty for cluster-scoped objects.
    pub namespace: String,
    /// The object's name.
    pub name: String,
    /// The change's revision.
    pub revision: u128,
    /// Whether the object went away by it.
    pub is_deletion: bool,
    /// Whether the server sent it otherwise than it was committed: then a recorder cannot know it.
    pub is_altered: bool,
}

impl Fact {
    /// The changes of the API's objects according to etcd; keys that no API serves are left out.
    ///
    /// # Errors
    /// When a key has an unknown form.
    pub fn of_etcd(changes: &[oracle::Change], epoch: EpochId) -> Result<Vec<Self>> {
        let mut facts = Vec::new();
        for change in changes {
            let key = match change.etcd_key() {
                EtcdKey::Object(key) => key,
                EtcdKey::WithoutApi => continue,
                EtcdKey::Unknown => bail!("what is {}?", change.key),
            };
            facts.push(Self {
                epoch,
                group: key.group,
                plural: key.resource,
                namespace: key.namespace.unwrap_or_default(),
                name: key.name,
                revision: u128::from(change.revision),
                is_deletion: change.kind == ChangeKind::Deleted,
                is_altered: false,
            });
        }
        Ok(facts)
    }

    /// What a scripted cluster committed to these storages.
    ///
    /// A storage that the reel does not know is left out: nothing is claimed of it.
    ///
    /// # Errors
    /// When the reel knows nothing of the cluster.
    pub fn of_scripted(
        claims: &Claims,
        cluster: &ScriptedCluster,
        storages: &[&str],
    ) -> Result<Vec<Self>> {
        let life = first_life(claims, cluster)?;
        let altered = cluster.altered();
        let altered: BTreeSet<usize> = altered.iter().map(|line| line.sequence).collect();
        let commits = cluster.committed();
        let mut facts = Vec::new();
        for storage in storages {
            let Some(info) = recorded_as(claims.reel(), cluster, storage) else {
                continue;
            };
            let of_it = commits.iter().filter(|commit| commit.storage == *storage);
            facts.extend(of_it.map(|commit| Self {
                epoch: EpochId(life.saturating_add(commit.epoch)),
                group: Some(info.group.clone()),
                plural: info.plural.clone(),
                namespace: commit.namespace.clone(),
                name: commit.name.clone(),
                revision: commit.revision,
                is_deletion: commit.change == scripted::Change::Deleted,
                is_altered: altered.contains(&commit.sequence),
            }));
        }
        Ok(facts)
    }
}

/// The number under which the reel knows the first life of a cluster.
fn first_life(claims: &Claims, cluster: &ScriptedCluster) -> Result<u32> {
    let namespaces = cluster.standing("namespaces")?;
    let system = namespaces.iter().find(|one| one.name == "kube-system");
    let uid = &system.context("a namespace kube-system")?.uid;
    let life = claims.epoch_of_cluster(uid);
    Ok(life.context("the reel knows nothing of the cluster")?.0)
}

/// The outcome of all changes of an oracle.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// They are in the reel as they came.
    pub recorded: usize,
    /// They are in the reel, read back from the server's history.
    pub reconstructed: usize,
    /// They are not, and the reel says that changes are missing there.
    pub declared: usize,
    /// They are not, and lie before the first complete list or behind the last proof: nothing is
    /// claimed there.
    pub outside: usize,
    /// They are of resources that the reel does not know as recorded.
    pub unlisted: usize,
    /// They are not, because the server sent something else instead.
    pub altered: usize,
    /// They are not, and nothing says so.
    pub lost: Vec<String>,
    /// What the reel claims, and is not so.
    pub false_claims: Vec<String>,
    /// The revisions of what is lost or falsely claimed, in order.
    pub wrong_revisions: Vec<u128>,
}

impl Tally {
    /// All changes of an oracle.
    pub fn all(&self) -> usize {
        self.recorded
            + self.reconstructed
            + self.declared
            + self.outside
            + self.unlisted
            + self.altered
            + self.lost.len()
    }

    /// Fails with what is lost and with what is claimed falsely; leaves the counts for the table of
    /// faults.
    ///
    /// # Errors
    /// When anything is.
    pub fn check(self) -> Result<Self> {
        let first: Vec<&String> = self.lost.iter().take(20).collect();
        ensure!(
            first.is_empty(),
            "{} of {} changes are lost, first {first:#?}",
            self.lost.len(),
            self.all()
        );
        let first: Vec<&String> = self.false_claims.iter().take(20).collect();
        ensure!(
            first.is_empty(),
            "{} claims are false, first {first:#?}",
            self.false_claims.len()
        );
        self.measured().leave()?;
        Ok(self)
    }

    /// The counts.
    pub fn measured(&self) -> Measured {
        Measured {
            recorded: self.recorded,
            reconstructed: self.reconstructed,
            declared: self.declared,
            lost: self.lost.len(),
        }
    }
}
