//! Events and their hunks: against which text a body is encoded, which of its pieces are copied and skipped, and what
//! is inserted between them.

use super::piece_model::{PieceContext, PieceModel};
use super::{
    EventFacts, GroupCoder, MOST_REPEATS, PieceCoder, count32, entry, low32, meaningless, set,
};
use crate::codec::arithmetic::context;
use crate::codec::splice::pieces;
use crate::codec::varint::{self, FieldReader};
use crate::codec::{CodecError, frame};
use crate::limits::{len64, place32};
use std::collections::HashMap;

/// The last number in a context, and how many times in a row it occurred.
#[derive(Clone, Copy, Debug, Default)]
struct Guess {
    number: Option<u64>,
    repeats: u8,
}

/// What the hunks of one event have been so far.
#[derive(Clone, Copy)]
struct HunkWalk {
    resource: u32,
    /// Prints of all hunks so far, of the last one and of the one before it.
    shape: u32,
    last: u32,
    before: u32,
    /// The print of all hunks of the object's last event.
    last_shape: u32,
    object: u32,
    /// The copy and the skip of the hunk that is read.
    copy: u32,
    skip: u32,
}

impl HunkWalk {
    /// Returns the contexts of a piece: of an insertion's first one the hunks, of any other one the pieces before.
    fn piece_contexts(&self, [first, second, third]: [u32; 3], is_first: bool) -> [u32; 4] {
        if is_first {
            [
                context([4, self.object, self.shape]),
                context([5, self.resource, self.shape]),
                context([6, self.resource, self.last, first]),
                context([7, self.resource, self.copy, self.skip]),
            ]
        } else {
            [
                context([8, self.object, self.shape, first]),
                context([1, first, second, third]),
                context([2, first, second]),
                context([3, first]),
            ]
        }
    }
}

/// The columns of a block, as they grow.
pub(super) struct Columns {
    entries: Vec<u8>,
    ops: Vec<u8>,
    text: Vec<u8>,
    most: usize,
}

impl Columns {
    /// Makes columns of at most `most` bytes.
    pub(super) const fn new(most: usize) -> Self {
        Self {
            entries: Vec::new(),
            ops: Vec::new(),
            text: Vec::new(),
            most,
        }
    }

    /// Returns the columns of a block with some blobs.
    pub(super) fn join(&self, blobs: &[u8]) -> Vec<u8> {
        frame::join_columns([&self.entries, &self.ops, &self.text, blobs])
    }

    /// Returns how many bytes they may still take.
    fn room(&self) -> Result<usize, CodecError> {
        let used = self.entries.len() + self.ops.len() + self.text.len();
        self.most.checked_sub(used).ok_or(CodecError::Bound {
            what: "a block's length",
            found: u128::from(len64(used)),
            bound: u128::from(len64(self.most)),
        })
    }
}

/// A hunk: pieces to copy and to skip, and what is inserted then.
#[derive(Clone, Copy, Debug, Default)]
struct Hunk<'a> {
    copy: u64,
    skip: u64,
    insert: Insert<'a>,
}

/// What a hunk inserts. A reader learns the text later.
#[derive(Clone, Copy, Debug, Default)]
enum Insert<'a> {
    #[default]
    Nothing,
    Text(&'a [u8]),
    Blob(u64),
}

/// A body's entry, as it is wanted; empty for a reader.
#[derive(Debug, Default)]
pub(super) struct EntryToEncode<'a> {
    base: u64,
    hunks: Vec<Hunk<'a>>,
}

impl<'a> EntryToEncode<'a> {
    pub(super) fn new(base: u64, ops: &[u8], text: &'a [u8]) -> Result<Self, CodecError> {
        let mut ops = FieldReader::new(ops, "a delta");
        let mut text = FieldReader::new(text, "a delta's own text");
        let mut hunks = Vec::new();
        while !ops.is_empty() {
            let (copy, skip) = (ops.at_most(u64::MAX / 2)?, ops.at_most(u64::MAX / 2)?);
            let insert = ops.at_most(u64::MAX / 2)?;
            let insert = match (insert & 1, insert >> 1) {
                (0, 0) => Insert::Nothing,
                (0, len) => Insert::Text(text.bytes(usize::try_from(len).map_err(too_long)?)?),
                (_, blob) => Insert::Blob(blob),
            };
            hunks.push(Hunk { copy, skip, insert });
        }
        text.end()?;
        Ok(Self { base, hunks })
    }
}

fn too_long(_: std::num::TryFromIntError) -> CodecError {
    CodecError::Short {
        what: "a delta's own text",
    }
}

/// What a hunk inserts, as a symbol of two bits.
mod insert {
    pub(super) const NOTHING: u32 = 0;
    pub(super) const TEXT: u32 = 1;
    pub(super) const BLOB: u32 = 2;
}

/// The events of a group's blocks so far: their objects, bases and hunks.
#[derive(Clone, Debug)]
pub(super) struct HunkModel {
    pieces: PieceModel,
    guesses: Box<[Guess]>,
    /// The number of the group's first new object, and the resources of all new ones.
    first_object: Option<u32>,
    new_objects: Vec<u32>,
    /// The resources of older objects.
    old_objects: HashMap<u32, u32>,
    /// The last object of each resource that was new, and the last that was a base.
    newest: HashMap<u32, u32>,
    bases: HashMap<u32, u32>,
    shapes: HashMap<u32, u32>,
    last_blob: u64,
    newest_blob: u64,
}

impl HunkModel {
    /// Makes the model of a group's start.
    pub(super) fn new(table_bits: u32) -> Self {
        Self {
            pieces: PieceModel::new(table_bits),
            guesses: vec![Guess::default(); 1 << table_bits].into(),
            first_object: None,
            new_objects: Vec::new(),
            old_objects: HashMap::new(),
            newest: HashMap::new(),
            bases: HashMap::new(),
            shapes: HashMap::new(),
            last_blob: 0,
            newest_blob: 0,
        }
    }

    /// Takes in the resources of a block's new objects, of which the first has the number `first`.
    pub(super) fn new_objects(&mut self, first: u32, resources: impl Iterator<Item = u32>) {
        self.first_object.get_or_insert(first);
        self.new_objects.extend(resources);
    }

    /// Codes an event's body.
    pub(super) fn event(
        &mut self,
        coder: &mut GroupCoder<'_, impl PieceCoder>,
        facts: &EventFacts,
        wanted: &EntryToEncode<'_>,
        columns: &mut Columns,
    ) -> Result<(), CodecError> {
        let seen = self.seen(facts.object);
        let resource = self.resource(coder, facts)?;
        let base = self.base(coder, facts.object, (resource, seen), wanted.base)?;
        let start = context([low32(base.min(2)), seen]);
        let mut walk = HunkWalk {
            resource,
            shape: start,
            last: start,
            before: 0,
            last_shape: self.shapes.get(&facts.object).copied().unwrap_or(0),
            object: facts.object,
            copy: 0,
            skip: 0,
        };
        let mut behind = PieceContext::default();
        let (ops_start, text_start) = (columns.ops.len(), columns.text.len());
        let mut hunks = wanted.hunks.iter();
        loop {
            columns.room()?;
            let hunk = hunks.next();
            if Self::is_last(coder, &walk, &behind, hunk.is_none()) {
                break;
            }
            let wanted = hunk.copied().unwrap_or_default();
            self.hunk(coder, facts, (&mut walk, &mut behind), wanted, columns)?;
        }
        self.shapes.insert(facts.object, walk.shape);
        varint::put(&mut columns.entries, base.into());
        varint::put_len(&mut columns.entries, columns.ops.len() - ops_start);
        varint::put_len(&mut columns.entries, columns.text.len() - text_start);
        Ok(())
    }

    /// Returns 0 for an object that had an event in the group, else 1 for a new one and 2 for an older one.
    fn seen(&self, object: u32) -> u32 {
        if self.shapes.contains_key(&object) {
            0
        } else if self.place_of(object).is_some() {
            1
        } else {
            2
        }
    }

    /// Codes the resource of an event's object, unless the group knows it.
    fn resource(
        &mut self,
        coder: &mut GroupCoder<'_, impl PieceCoder>,
        facts: &EventFacts,
    ) -> Result<u32, CodecError> {
        if let Some(place) = self.place_of(facts.object) {
            coder.uuids.see_object(place);
            let resource = self.new_objects.get(place).copied();
            return resource.ok_or(meaningless("an object's number"));
        }
        if let Some(resource) = self.old_objects.get(&facts.object) {
            return Ok(*resource);
        }
        let wanted = u64::from(facts.resource);
        let resource = low32(coder.number(context([101]), wanted));
        self.old_objects.insert(facts.object, resource);
        Ok(resource)
    }

    /// Codes the base of a body, as in the column of entries.
    fn base(
        &mut self,
        coder: &mut GroupCoder<'_, impl PieceCoder>,
        object: u32,
        (resource, seen): (u32, u32),
        wanted: u64,
    ) -> Result<u64, CodecError> {
        let contexts = [context([102, seen]), context([103, resource, seen])];
        let symbol = low32(wanted.min(2));
        let symbol = coder.symbol((set::BASE, 2), contexts, symbol);
        let base = match symbol {
            0 | 1 => u64::from(symbol),
            2 => self.other(coder, (object, resource), wanted.saturating_sub(2))?,
            _ => return Err(meaningless("a body's base")),
        };
        if symbol == 2 || seen == 1 {
            self.newest.insert(resource, object);
        }
        Ok(base)
    }

    /// Codes the number of another object that is a base.
    fn other(
        &mut self,
        coder: &mut GroupCoder<'_, impl PieceCoder>,
        (object, resource): (u32, u32),
        wanted: u64,
    ) -> Result<u64, CodecError> {
        let newest = self.newest.get(&resource).copied().unwrap_or(0);
        let last = self.bases.get(&resource).copied().unwrap_or(0);
        let is = |known: u32| u64::from(known) == wanted;
        let other = if coder.single(context([104, resource]), is(newest)) {
            newest
        } else if coder.single(context([105, resource]), is(last)) {
            last
        } else {
            let step = i64::from(object) - i64::from(low32(wanted));
            let step = coder.signed(context([106]), step);
            let other = i64::from(object).checked_sub(step);
            other
                .and_then(|other| u32::try_from(other).ok())
                .ok_or(meaningless("a body's base"))?
        };
        self.bases.insert(resource, other);
        Ok(u64::from(other) + 2)
    }

    /// Codes whether the hunk before was the last.
    fn is_last(
        coder: &mut GroupCoder<'_, impl PieceCoder>,
        walk: &HunkWalk,
        behind: &PieceContext,
        wanted: bool,
    ) -> bool {
        let [print, ..] = behind.prints();
        let contexts = [
            context([111, walk.shape, walk.resource]),
            context([112, walk.last, walk.resource, print]),
            context([113, walk.last_shape, walk.last, walk.before]),
            context([114, behind.key(), walk.resource]),
        ];
        coder.mixed(set::HUNK, contexts, wanted)
    }

    /// Codes a hunk.
    fn hunk(
        &mut self,
        coder: &mut GroupCoder<'_, impl PieceCoder>,
        facts: &EventFacts,
        (walk, behind): (&mut HunkWalk, &mut PieceContext),
        wanted: Hunk<'_>,
        columns: &mut Columns,
    ) -> Result<(), CodecError> {
        let (resource, key) = (walk.resource, behind.key());
        let contexts = [
            context([121, walk.shape, walk.last_shape, resource]),
            context([122, walk.last, walk.before, resource]),
            context([123, resource, walk.last, key]),
        ];
        let copy = self.count(coder, (set::COPY, 3), contexts, wanted.copy);
        walk.copy = low32(copy);
        let contexts = [
            context([124, walk.shape, walk.copy, resource]),
            context([125, walk.last, walk.copy, resource]),
            context([126, resource, walk.copy, key]),
        ];
        let skip = self.count(coder, (set::SKIP, 4), contexts, wanted.skip);
        walk.skip = low32(skip);
        let symbol = match wanted.insert {
            Insert::Nothing => insert::NOTHING,
            Insert::Text(_) => insert::TEXT,
            Insert::Blob(_) => insert::BLOB,
        };
        let contexts = [
            context([127, walk.copy, walk.skip, resource]),
            context([128, walk.last, walk.copy, walk.skip]),
            context([129, walk.shape, walk.copy, resource]),
        ];
        let symbol = coder.symbol((set::INSERT, 2), contexts, symbol);
        walk.before = walk.last;
        walk.last = context([walk.copy, walk.skip, symbol]);
        walk.shape = context([walk.shape, walk.last]);
        let inserted = match (symbol, wanted.insert) {
            (insert::NOTHING, _) => 0,
            (insert::TEXT, wanted) => {
                let wanted = match wanted {
                    Insert::Text(text) => text,
                    _ => &[],
                };
                let len = self.text(coder, facts, (walk, behind), wanted, columns)?;
                u128::from(len64(len)) << 1
            }
            (insert::BLOB, wanted) => {
                let wanted = match wanted {
                    Insert::Blob(blob) => blob,
                    _ => 0,
                };
                behind.replace_by_blob();
                u128::from(self.blob(coder, wanted)?) << 1 | 1
            }
            _ => return Err(meaningless("what a hunk inserts")),
        };
        varint::put(&mut columns.ops, copy.into());
        varint::put(&mut columns.ops, skip.into());
        varint::put(&mut columns.ops, inserted);
        Ok(())
    }

    /// Codes a number that contexts may have had last.
    fn count(
        &mut self,
        coder: &mut GroupCoder<'_, impl PieceCoder>,
        (first_set, column): (usize, u32),
        contexts: [u32; 3],
        wanted: u64,
    ) -> u64 {
        let mut tried = [None; 3];
        let mut found = None;
        for (place, at) in contexts.into_iter().enumerate() {
            let guess = *entry(&mut self.guesses, at);
            let Some(number) = guess.number.filter(|_| !tried.contains(&guess.number)) else {
                continue;
            };
            let order = count32(place);
            let mixed = [
                context([91, order, guess.repeats.into(), column]),
                context([92, at]),
                context([93, order, low32(number), column]),
            ];
            let set = first_set + place * 2 + usize::from(guess.repeats > 1);
            if coder.mixed(set, mixed, number == wanted) {
                found = Some(number);
                break;
            }
            if let Some(tried) = tried.get_mut(place) {
                *tried = Some(number);
            }
        }
        let number = found.unwrap_or_else(|| coder.number(context([94, column]), wanted));
        for at in contexts {
            let guess = entry(&mut self.guesses, at);
            if guess.number == Some(number) {
                guess.repeats = (guess.repeats + 1).min(MOST_REPEATS);
            } else {
                *guess = Guess {
                    number: Some(number),
                    repeats: 0,
                };
            }
        }
        number
    }

    /// Codes the number of a blob.
    fn blob(
        &mut self,
        coder: &mut GroupCoder<'_, impl PieceCoder>,
        wanted: u64,
    ) -> Result<u64, CodecError> {
        let next = self.newest_blob.saturating_add(1);
        let blob = if coder.single(context([131]), wanted == next) {
            next
        } else {
            let step = wanted
                .cast_signed()
                .wrapping_sub(self.last_blob.cast_signed());
            let step = coder.signed(context([132]), step);
            self.last_blob
                .checked_add_signed(step)
                .filter(|blob| u32::try_from(*blob).is_ok())
                .ok_or(meaningless("a blob's number"))?
        };
        self.last_blob = blob;
        self.newest_blob = self.newest_blob.max(blob);
        Ok(blob)
    }

    /// Codes an inserted text, piece by piece, and returns its length.
    fn text(
        &mut self,
        coder: &mut GroupCoder<'_, impl PieceCoder>,
        facts: &EventFacts,
        (walk, behind): (&HunkWalk, &mut PieceContext),
        wanted: &[u8],
        columns: &mut Columns,
    ) -> Result<usize, CodecError> {
        let start = columns.text.len();
        let mut wanted = pieces(wanted).peekable();
        let mut is_first = true;
        loop {
            let contexts = walk.piece_contexts(behind.prints(), is_first);
            let room = columns.room()?;
            let wanted_piece = wanted.next().unwrap_or_default();
            let piece = self.pieces.piece(
                coder,
                (facts, walk.resource, behind.key()),
                contexts,
                wanted_piece,
                room,
            )?;
            behind.push(piece);
            self.pieces.append(piece, &mut columns.text)?;
            is_first = false;
            let [first, second, _] = behind.prints();
            let mixed = [
                context([141, first, second]),
                context([142, behind.key(), walk.shape]),
                context([143, first]),
                context([144, walk.skip, walk.resource, behind.key()]),
            ];
            let is_end = wanted.peek().is_none();
            if coder.mixed(set::TEXT, mixed, is_end) {
                return Ok(columns.text.len() - start);
            }
        }
    }

    /// Returns the place of an object among the group's new ones.
    fn place_of(&self, object: u32) -> Option<usize> {
        object.checked_sub(self.first_object?).map(place32)
    }
}
