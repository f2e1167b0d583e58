//! What the reel says of its gaps, held against what etcd says of them.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use kubereel_format::{Evidence, Gap, GapId, GapVerdict, Note, Reel, ResourceId, Seq};
use kubereel_tests::oracle::{Account, EtcdKey};

/// A gap and its judgement.
#[derive(Debug)]
pub(crate) struct Told {
    resource: String,
    gap: Gap,
    verdict: Option<GapVerdict>,
    reconstructed: u64,
    missing_at_most: Option<u64>,
    requests: u32,
    detail: String,
    /// How many events stand in the reel as read back, of the resource and within the gap.
    stands: u64,
}

/// Gives the gaps of a reel.
pub(crate) fn of(reel: &Reel) -> Vec<Told> {
    let mut names: BTreeMap<ResourceId, String> = BTreeMap::new();
    let mut gaps: BTreeMap<GapId, Told> = BTreeMap::new();
    for entry in reel.notes() {
        match &entry.note {
            Note::Resource(info) => {
                names.insert(info.id, info.qualified());
            }
            Note::Gap(gap) => {
                let told = Told {
                    resource: names.get(&gap.resource).cloned().unwrap_or_default(),
                    stands: stands(reel, gap),
                    gap: gap.clone(),
                    verdict: None,
                    reconstructed: 0,
                    missing_at_most: gap.missing_at_most,
                    requests: 0,
                    detail: String::new(),
                };
                gaps.insert(gap.id, told);
            }
            Note::GapJudged {
                gap,
                verdict,
                reconstructed,
                missing_at_most,
                requests,
                detail,
            } => {
                if let Some(told) = gaps.get_mut(gap) {
                    told.verdict = Some(*verdict);
                    told.reconstructed = *reconstructed;
                    told.missing_at_most = *missing_at_most;
                    told.requests = *requests;
                    told.detail.clone_from(detail);
                }
            }
            _ => {}
        }
    }
    gaps.into_values().collect()
}

fn within(gap: &Gap, revision: u128) -> bool {
    let number = |text: &str| text.parse::<u128>().ok();
    let from = gap.from_rv.as_deref().and_then(number).unwrap_or(0);
    from < revision && number(&gap.to_rv).is_some_and(|to| revision <= to)
}

fn stands(reel: &Reel, gap: &Gap) -> u64 {
    let objects = reel.objects().iter();
    let of_resource = objects.filter(|object| object.key.resource == gap.resource);
    let seqs = of_resource.flat_map(|object| reel.versions(object.id).iter().copied());
    let is_read_back = |seq: &Seq| {
        let head = reel.head(*seq);
        let rv = reel.rv_of(*seq);
        head.is_some_and(|head| head.evidence == Evidence::Reconstructed)
            && rv.is_some_and(|rv| within(gap, rv))
    };
    u64::try_from(seqs.filter(is_read_back).count()).unwrap_or(u64::MAX)
}

/// No gap hides more than it says, and much was read back.
pub(crate) fn check(told: &[Told], account: &Account) -> Result<()> {
    for one in told {
        let plural = one.resource.split('.').next().unwrap_or_default();
        let missing = account.in_gaps.iter().filter(|change| {
            let EtcdKey::Object(key) = change.etcd_key() else {
                return false;
            };
            key.resource == plural && within(&one.gap, u128::from(change.revision))
        });
        let missing = u64::try_from(missing.count())?;
        ensure!(
            one.missing_at_most.is_none_or(|most| missing <= most),
            "{missing} changes are missing: {one:?}"
        );
        if one.verdict == Some(GapVerdict::Reconstructed) {
            ensure!(missing == 0, "{missing} changes are missing: {one:?}");
        }
        ensure!(one.stands == one.reconstructed, "not as told: {one:?}");
    }
    let total: u64 = told.iter().map(|one| one.reconstructed).sum();
    ensure!(total > 0, "nothing was read back: {told:#?}");
    let written = ["configmaps", "secrets"];
    // Whether one is closed in full depends on how much others wrote meanwhile.
    let narrowed = told.iter().filter(|one| {
        written.contains(&one.resource.as_str()) && one.missing_at_most < one.gap.missing_at_most
    });
    ensure!(
        narrowed.count() > 0,
        "no gap of what was written was narrowed: {told:#?}"
    );
    Ok(())
}

/// One line a gap that is more than silence.
pub(crate) fn summary(told: &[Told]) -> String {
    let mut lines = Vec::new();
    let closed = told.iter();
    let closed = closed.filter(|one| one.verdict == Some(GapVerdict::Reconstructed));
    lines.push(format!(
        "{} of {} gaps closed, {} requests in all",
        closed.count(),
        told.len(),
        told.iter().map(|one| one.requests).sum::<u32>()
    ));
    for one in told {
        let verdict = one.verdict.map_or("not judged", GapVerdict::as_str);
        if one.reconstructed > 0 || one.verdict != Some(GapVerdict::Reconstructed) {
            lines.push(format!(
                "{} ({:?}, {}]: {verdict}, {} read back, at most {:?} missing, {} requests {}",
                one.resource,
                one.gap.from_rv,
                one.gap.to_rv,
                one.reconstructed,
                one.missing_at_most,
                one.requests,
                one.detail
            ));
        }
    }
    lines.join("\n")
}
