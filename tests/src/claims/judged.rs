//! Owns the judgement of each change, and of each claim. Refuses every excuse but a gap or a time that
//! the reel itself declares.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;

use super::fact::Fact;
use super::said::{Claims, Said};
use super::tally::Tally;
use crate::scripted::ScriptedCluster;

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
            let of_it: Vec<(usize, &Said)> = self
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
    /// In a line that is kept and is no event.
    Line,
}

/// Says so if more is missing than is declared.
fn too_few(said: &Said, place: Declared, count: u64) -> Option<String> {
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

fn is_of(said: &Said, fact: &Fact) -> bool {
    let group = fact.group.as_ref();
    said.info.plural == fact.plural && group.is_none_or(|group| *group == said.info.group)
}

fn judge(fact: &Fact, of_it: &[(usize, &Said)], tally: &mut Tally, missing: &mut Missing) {
    let (epoch, revision) = (fact.epoch, fact.revision);
    let has = |said: &Said| {
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
    let known: Vec<&(usize, &Said)> = of_it
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
fn claims(fact: &Fact, known: &[&(usize, &Said)]) -> Vec<String> {
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
