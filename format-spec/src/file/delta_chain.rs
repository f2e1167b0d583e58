//! The way from an event back to a version that is a delta against nothing, is in a checkpoint, or is cached, and
//! the bodies along it.
//!
//! Invariants, because the file may be damaged or forged:
//! * The way is bounded in versions and in decompressed bytes, and leads to earlier records only.
//! * A way that crosses lost records is an error: the version before might be the lost one.

use crate::codec::bodies::{Base, Bodies, BodySlot};
use crate::codec::splice;
use crate::error::ReadError;
use crate::file::body::BodyReader;
use crate::file::checkpoint;
use crate::file::checkpoint::Checkpoint;
use crate::file::load::Slot;
use crate::file::reel::Reel;
use crate::id::{ObjectId, Seq};
use crate::limits::{MAX_CHAIN, MAX_CHAIN_RAW, place32};
use std::borrow::Cow;
use std::sync::Arc;

/// One step of the way back: an event's delta and its base.
struct DeltaStep {
    seq: Seq,
    object: ObjectId,
    bodies: Arc<Bodies>,
    slot: BodySlot,
    base: Base,
}

/// Returns the body of an event; with `at`, of one that is the last of its object before `at`.
///
/// What damage took may be in a checkpoint: in the last one before the event, or before the object's next one.
pub(crate) fn body_of(
    reel: &Reel,
    reader: &BodyReader,
    seq: Seq,
    at: Option<Seq>,
) -> Result<Arc<[u8]>, ReadError> {
    let error = match (body_along(reel, reader, seq, at), reel.object_of(seq)) {
        (Err(error), Some(_)) if reel.has_losses() => error,
        (body, _) => return body.map_err(Arc::unwrap_or_clone),
    };
    let versions = reel
        .object_of(seq)
        .map_or(&[][..], |object| reel.versions(object));
    let next = versions.get(versions.partition_point(|known| *known <= seq));
    let next = next.copied().unwrap_or(reel.end());
    let mut others = [Seq(seq.0.saturating_add(1)), next].into_iter();
    if reader.loss(seq).is_none()
        && let Some(body) = others.find_map(|at| body_along(reel, reader, seq, Some(at)).ok())
    {
        return Ok(body);
    }
    reader.lose(seq, &error);
    Err(Arc::unwrap_or_clone(error))
}

/// Returns the body of an event along one way back.
fn body_along(
    reel: &Reel,
    reader: &BodyReader,
    seq: Seq,
    at: Option<Seq>,
) -> Result<Arc<[u8]>, Arc<ReadError>> {
    let mut object = reel.object_of(seq).ok_or_else(|| no_event(reel, seq))?;
    let ladder = at.map_or_else(Vec::new, |at| ladder(reel, at));
    let mut steps: Vec<DeltaStep> = Vec::new();
    let mut raw_bytes = 0;
    let mut here = seq;
    let mut body = loop {
        if let Some(known) = reader.known(here) {
            break Some(known);
        }
        if let Some(body) = stored(reel, reader, &ladder, here, object) {
            break Some(body);
        }
        if let Some(error) = reader.loss(here) {
            return Err(error);
        }
        if steps.len() >= MAX_CHAIN {
            let cause = format!("more than {MAX_CHAIN} versions lie behind it");
            return Err(ReadError::Event { seq, cause }.into());
        }
        let step = step(reel, reader, here, object)?;
        let base = step.base;
        // The steps keep their blocks in memory until the body is put together.
        let is_same_block = steps
            .last()
            .is_some_and(|last| Arc::ptr_eq(&last.bodies, &step.bodies));
        if !is_same_block {
            raw_bytes = step.bodies.raw().len().saturating_add(raw_bytes);
        }
        if raw_bytes > MAX_CHAIN_RAW {
            let cause = format!("blocks of more than {MAX_CHAIN_RAW} bytes lie behind it");
            return Err(ReadError::Event { seq, cause }.into());
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
        let against = against(reel, step.object, step.base, body.as_deref());
        let against = against.ok_or_else(|| lost(step.seq))?;
        let (_, delta) = step.bodies.delta(step.slot).ok_or_else(|| lost(step.seq))?;
        let built = reader.splice(reel, step.seq, &against, delta)?;
        reader.keep(step.seq, &built);
        body = Some(built);
    }
    body.ok_or_else(|| lost(seq).into())
}

/// Returns the text that a body is encoded against; `before` is the version that its base names.
pub(crate) fn against<'a>(
    reel: &Reel,
    object: ObjectId,
    base: Base,
    before: Option<&'a [u8]>,
) -> Option<Cow<'a, [u8]>> {
    let key = reel.key(object)?;
    Some(match (before, base) {
        (None, _) => Cow::Owned(splice::seed_of(key)),
        (Some(before), Base::Other(other)) => {
            Cow::Owned(splice::seed_from_other(before, reel.key(other)?, key))
        }
        (Some(before), _) => Cow::Borrowed(before),
    })
}

fn step(
    reel: &Reel,
    reader: &BodyReader,
    seq: Seq,
    object: ObjectId,
) -> Result<DeltaStep, ReadError> {
    let (block, slot) = reader.slot_of(reel, seq, object)?;
    let bodies = reader.bodies(reel, block)?;
    let Some((base, _)) = bodies.delta(slot) else {
        return Err(ReadError::Event {
            seq,
            cause: "its block holds no body for it".to_owned(),
        });
    };
    Ok(DeltaStep {
        seq,
        object,
        bodies,
        slot,
        base,
    })
}

/// Returns the last checkpoint before `at`, its parent, and so on.
#[expect(clippy::expect_used, reason = "as many as there are keys")]
pub(crate) fn ladder(reel: &Reel, at: Seq) -> Vec<&Checkpoint> {
    let all = &reel.loaded.checkpoints;
    let mut number = all.partition_point(|checkpoint| checkpoint.seq <= at.0);
    let mut ladder = Vec::new();
    while let Some(checkpoint) = number.checked_sub(1).and_then(|place| all.get(place)) {
        ladder.push(checkpoint);
        let number32 = u32::try_from(number).expect("the keys of checkpoints have 32 bits");
        number = place32(checkpoint::parent(number32));
    }
    ladder
}

/// Returns a body that a checkpoint of the ladder contains.
///
/// An event before the ladder's top is its object's last before that: the first one by the caller's
/// promise, an earlier one because the version after it lies behind the top, or is encoded against it there.
fn stored(
    reel: &Reel,
    reader: &BodyReader,
    ladder: &[&Checkpoint],
    seq: Seq,
    object: ObjectId,
) -> Option<Arc<[u8]>> {
    let holder = holder(reel, ladder, seq, object)?;
    let body = reader.stored_body(reel, holder, seq, object)?;
    reader.keep(seq, &body);
    Some(body)
}

/// Returns the checkpoint of the ladder that holds an object's version.
pub(crate) fn holder<'a>(
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
        || reel.left_out().contains(&reel.key(object)?.resource)
    {
        return None;
    }
    ladder.iter().find(|at| seq.0 >= at.parent_seq).copied()
}

/// Returns the version of an object before `seq`, if none between them may be lost.
pub(crate) fn before(reel: &Reel, object: ObjectId, seq: Seq) -> Result<Seq, ReadError> {
    let before = reel.versions.before(object, seq).ok_or_else(|| lost(seq))?;
    if hidden(reel, before, seq) {
        Err(lost(seq))
    } else {
        Ok(before)
    }
}

/// Returns whether damage took records between two.
pub(crate) fn hidden(reel: &Reel, from: Seq, to: Seq) -> bool {
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
        cause: "it, or the body that it is encoded against, lies where the reel is damaged"
            .to_owned(),
    }
}
