//! Owns the way to a body: the versions that it is told against, back to one that is told against
//! nothing, stands in a checkpoint, or is known already. Refuses a way that leads through damage.

use super::allowance::ReadAllowance;
use super::body::{Reader, Way, key_of};
use super::checkpoint::{self, Checkpoint};
use super::heads::Slot;
use super::reel::Reel;
use crate::codec::bodies::{Base, Bodies};
use crate::codec::seed;
use crate::error::ReadError;
use crate::id::{ObjectId, Seq};
use crate::limits::{MAX_CHAIN, MAX_CHAIN_RAW};
use std::borrow::Cow;
use std::sync::Arc;

/// One step of the way back: an event's delta, and whose body it is told against.
struct Step {
    seq: Seq,
    object: ObjectId,
    bodies: Arc<Bodies>,
    place: usize,
    base: Base,
}

/// Gives the body of an event; with `at`, of one that is the last of its object before `at`.
pub(crate) fn body(
    reel: &Reel,
    reader: &Reader,
    seq: Seq,
    at: Option<Seq>,
) -> Result<Arc<[u8]>, ReadError> {
    body_within(reel, reader, seq, at, &mut { ReadAllowance::ALL })?.ok_or_else(|| lost(seq))
}

/// Gives the same, if no more has to be decoded for it than may be. What was decoded is kept: the next
/// to ask for it has less to do.
pub(crate) fn body_within(
    reel: &Reel,
    reader: &Reader,
    seq: Seq,
    at: Option<Seq>,
    allowance: &mut ReadAllowance,
) -> Result<Option<Arc<[u8]>>, ReadError> {
    let mut object = reel.object_of(seq).ok_or_else(|| no_event(reel, seq))?;
    let ladder = at.map_or_else(Vec::new, |at| ladder(reel, at));
    let mut steps: Vec<Step> = Vec::new();
    let mut raw_bytes = 0;
    let mut here = seq;
    let mut body = loop {
        if let Some(known) = reader.known(here) {
            break Some(known);
        }
        match stored(reel, reader, &ladder, here, object, allowance) {
            Way::Here(body) => break Some(body),
            Way::Elsewhere => {}
            Way::Spent => return Ok(None),
        }
        if steps.len() >= MAX_CHAIN {
            return Err(ReadError::Event {
                seq,
                cause: format!("more than {MAX_CHAIN} versions lie behind it"),
            });
        }
        let Some(step) = step(reel, reader, here, object, allowance)? else {
            return Ok(None);
        };
        let base = step.base;
        // The steps keep their blocks in memory until the body is put together.
        let is_same_block = steps
            .last()
            .is_some_and(|last| Arc::ptr_eq(&last.bodies, &step.bodies));
        if !is_same_block {
            raw_bytes = step.bodies.raw().len().saturating_add(raw_bytes);
        }
        if raw_bytes > MAX_CHAIN_RAW {
            return Err(ReadError::Event {
                seq,
                cause: format!("blocks of more than {MAX_CHAIN_RAW} bytes lie behind it"),
            });
        }
        steps.push(step);
        match base {
            Base::Whole => break None,
            Base::Previous => {}
            Base::Other(other) => object = other,
        }
        here = before(reel, object, here)?;
    };
    for step in steps.into_iter().rev() {
        if !allowance.has_body() {
            return Ok(None);
        }
        let key = key_of(reel, step.object).ok_or_else(|| lost(step.seq))?;
        let against = match (&body, step.base) {
            (None, _) => Cow::Owned(seed::of(key)),
            (Some(before), Base::Other(other)) => {
                let other = key_of(reel, other).ok_or_else(|| lost(step.seq))?;
                Cow::Owned(seed::from_other(before, other, key))
            }
            (Some(before), _) => Cow::Borrowed(&**before),
        };
        let (_, ops, text) = step
            .bodies
            .delta(step.place)
            .ok_or_else(|| lost(step.seq))?;
        let built = reader.splice_within(reel, step.seq, &against, ops, text, allowance)?;
        let Some(built) = built else {
            return Ok(None);
        };
        reader.keep(step.seq, &built);
        body = Some(built);
    }
    body.map(Some).ok_or_else(|| lost(seq))
}

fn step(
    reel: &Reel,
    reader: &Reader,
    seq: Seq,
    object: ObjectId,
    allowance: &mut ReadAllowance,
) -> Result<Option<Step>, ReadError> {
    let block = Reader::block_at(reel, seq)?;
    let Some(bodies) = reader.bodies_within(reel, block, allowance)? else {
        return Ok(None);
    };
    let place = Reader::place_in(reel, block, seq);
    let Some((base, _, _)) = bodies.delta(place) else {
        return Err(ReadError::Event {
            seq,
            cause: "its block holds no body for it".to_owned(),
        });
    };
    Ok(Some(Step {
        seq,
        object,
        bodies,
        place,
        base,
    }))
}

/// Gives the last checkpoint before `at`, its parent, and so on.
fn ladder(reel: &Reel, at: Seq) -> Vec<&Checkpoint> {
    let all = &reel.loaded.checkpoints;
    let mut number = all.partition_point(|checkpoint| checkpoint.seq <= at.0);
    let mut ladder = Vec::new();
    while let Some(checkpoint) = number.checked_sub(1).and_then(|place| all.get(place)) {
        ladder.push(checkpoint);
        let number32 = u32::try_from(number).unwrap_or(0);
        number = usize::try_from(checkpoint::parent(number32)).unwrap_or(0);
    }
    ladder
}

/// Gives a body that stands in a checkpoint of the ladder.
///
/// An event before the ladder's top is its object's last before that: the first one asked for because
/// the caller says so, one further back because the version after it lies behind the top, or is told
/// against it there.
fn stored(
    reel: &Reel,
    reader: &Reader,
    ladder: &[&Checkpoint],
    seq: Seq,
    object: ObjectId,
    allowance: &mut ReadAllowance,
) -> Way {
    let Some(holder) = holder(reel, ladder, seq, object) else {
        return Way::Elsewhere;
    };
    let way = reader.stored_body(reel, holder, seq, object, allowance);
    if let Way::Here(body) = &way {
        reader.keep(seq, body);
    }
    way
}

/// Gives the checkpoint of the ladder that holds an object's version.
fn holder<'a>(
    reel: &Reel,
    ladder: &[&'a Checkpoint],
    seq: Seq,
    object: ObjectId,
) -> Option<&'a Checkpoint> {
    let top = ladder.first()?;
    if seq.0 >= top.seq || hidden(reel, seq, Seq(top.seq)) {
        return None;
    }
    // Asked, not believed: a caller's mistake must not give another version's bytes.
    let next = reel.versions(object).partition_point(|known| *known <= seq);
    if reel
        .versions(object)
        .get(next)
        .is_some_and(|next| next.0 < top.seq)
        || reel.left_out().contains(&key_of(reel, object)?.resource)
    {
        return None;
    }
    ladder.iter().find(|at| seq.0 >= at.parent_seq).copied()
}

/// Gives the version of an object before `seq`, if none between them may be lost.
fn before(reel: &Reel, object: ObjectId, seq: Seq) -> Result<Seq, ReadError> {
    let before = reel.versions.before(object, seq).ok_or_else(|| lost(seq))?;
    if hidden(reel, before, seq) {
        Err(lost(seq))
    } else {
        Ok(before)
    }
}

/// Tells whether damage took records between two.
fn hidden(reel: &Reel, from: Seq, to: Seq) -> bool {
    let lost = &reel.loaded.heads.lost;
    lost.iter()
        .any(|(start, end)| *start < to.0 && *end > from.0)
}

fn no_event(reel: &Reel, seq: Seq) -> ReadError {
    match reel.loaded.heads.slot(seq) {
        Some(Slot::Note) => ReadError::NotAnEvent { seq },
        Some(_) => lost(seq),
        None => ReadError::NoSuchEvent {
            seq,
            end: reel.end(),
        },
    }
}

fn lost(seq: Seq) -> ReadError {
    ReadError::Event {
        seq,
        cause: "it, or what it is told against, lies where the reel is damaged".to_owned(),
    }
}
