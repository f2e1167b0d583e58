//! The bodies of a sealed block in their tightest form: pieces of JSON text as references to texts that were there
//! before, coded with probabilities that learn from what came before.
//!
//! A group of blocks is one sequence: the model that has coded one block codes the next. What it knows is in
//! [`BodyModel`]; [`pack`](BodyModel::pack) and [`unpack`](BodyModel::unpack) walk the same code, which makes each
//! decision through a [`PieceCoder`] that writes or reads it.
//!
//! Hunks count pieces here, not bytes (see [`splice::in_pieces`](super::splice::in_pieces)): how long a value was
//! says nothing.
//!
//! Invariants, because the bytes may be damaged or forged:
//! * Every decision is valid or an error; nothing is looked up that was not checked.
//! * Each step of the walk appends at least a byte to the block's columns, and these are bounded before it.
//! * Arithmetic is that of integers: what one machine writes, every other reads.

use super::CodecError;
use super::arithmetic::{Chances, DecisionCoder, DecisionReader, DecisionWriter, context};
use super::literals::{LiteralReader, LiteralWriter, UuidLog};
use super::piece::{ENDS, Number, PieceTime, parts};
use super::splice::pieces;
use super::varint::{self, FieldReader};
use crate::codec::frame;
use crate::limits::{MAX_PREFIX, len64, place32};
use std::collections::HashMap;
use std::num::NonZeroU8;
use std::sync::Arc;

/// What a block's index says of its bodies: a reader has it before it reads them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BlockFacts {
    /// The number of the first new object.
    pub(crate) first_object: u32,
    /// The resource and the uid, if it is a UUID, of each new object.
    pub(crate) objects: Vec<(u32, Option<u128>)>,
    /// The events, in their order.
    pub(crate) events: Vec<EventFacts>,
}

/// What an index says of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventFacts {
    pub(crate) object: u32,
    /// The object's resource. A reader that does not know it takes what the block says.
    pub(crate) resource: u32,
    /// The resourceVersion, if it is a number.
    pub(crate) version: Option<u64>,
    /// The wall time, in microseconds.
    pub(crate) wall: i64,
}

/// Codes decisions and new texts.
trait PieceCoder: DecisionCoder {
    /// Codes a text that was not there before, of at most `most` bytes.
    fn literal(
        &mut self,
        wanted: &[u8],
        most: usize,
        uuids: &mut UuidLog,
    ) -> Result<Vec<u8>, CodecError>;
}

struct Writer {
    decisions: DecisionWriter,
    literals: LiteralWriter,
}

impl DecisionCoder for Writer {
    fn decide(&mut self, wanted: bool, chance: u32) -> bool {
        self.decisions.decide(wanted, chance)
    }
}

impl PieceCoder for Writer {
    fn literal(
        &mut self,
        wanted: &[u8],
        _most: usize,
        uuids: &mut UuidLog,
    ) -> Result<Vec<u8>, CodecError> {
        self.literals.push(wanted, uuids);
        Ok(wanted.to_vec())
    }
}

struct Reader<'a> {
    decisions: DecisionReader<'a>,
    literals: LiteralReader<'a>,
}

impl DecisionCoder for Reader<'_> {
    fn decide(&mut self, wanted: bool, chance: u32) -> bool {
        self.decisions.decide(wanted, chance)
    }
}

impl PieceCoder for Reader<'_> {
    fn literal(
        &mut self,
        _wanted: &[u8],
        most: usize,
        uuids: &mut UuidLog,
    ) -> Result<Vec<u8>, CodecError> {
        self.literals.next(most, uuids)
    }
}

/// A piece: numbers of a key and of a text, and its end's place in [`ENDS`] plus one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    key: u32,
    value: u32,
    end: NonZeroU8,
}

impl Piece {
    fn print(self) -> u32 {
        context([self.key, self.value, u32::from(self.end.get()) - 1])
    }
}

/// The two pieces that stood in a context last, and how often in a row the first of them did.
#[derive(Clone, Copy, Debug, Default)]
struct Candidates {
    pieces: [Option<Piece>; 2],
    repeats: u8,
}

/// A number that stood in a context last, and how often in a row it did.
#[derive(Clone, Copy, Debug, Default)]
struct Guess {
    number: Option<u64>,
    repeats: u8,
}

const TABLE_BITS: u32 = 16;
const MOST_REPEATS: u8 = 7;
/// How many values of a key, and keys behind a key, are remembered.
const RECENT_VALUES: usize = 12;
const RECENT_KEYS: usize = 16;
/// How many candidates are tried for a piece.
const MOST_TRIED: usize = 6;

/// The sets of weights, by what is decided.
mod set {
    pub(super) const CANDIDATE: usize = 0;
    pub(super) const KEY: usize = 32;
    pub(super) const KIND: usize = 45;
    pub(super) const RECENT: usize = 46;
    pub(super) const END: usize = 60;
    pub(super) const BASE: usize = 61;
    pub(super) const HUNK: usize = 62;
    pub(super) const INSERT: usize = 63;
    pub(super) const TEXT: usize = 64;
    pub(super) const COPY: usize = 65;
    pub(super) const SKIP: usize = 71;
    pub(super) const COUNT: usize = 77;
}

/// The ways in which a value is given.
mod kind {
    pub(super) const RECENT: u32 = 0;
    pub(super) const VERSION: u32 = 1;
    pub(super) const SECONDS: u32 = 2;
    pub(super) const STEP: u32 = 3;
    pub(super) const KNOWN: u32 = 4;
    pub(super) const NEW: u32 = 5;
    pub(super) const MICROS: u32 = 6;
}

/// Texts by number, in the order of their first use.
#[derive(Clone, Debug, Default)]
struct Texts {
    all: Vec<Arc<[u8]>>,
    numbers: HashMap<Arc<[u8]>, u32>,
}

impl Texts {
    fn number(&self, text: &[u8]) -> Option<u32> {
        self.numbers.get(text).copied()
    }

    fn text(&self, number: u32) -> &[u8] {
        self.all.get(place32(number)).map_or(&[], |text| &**text)
    }

    fn len(&self) -> u32 {
        // A text takes a byte of a block; blocks of a group are bounded.
        u32::try_from(self.all.len()).unwrap_or(u32::MAX)
    }

    fn intern(&mut self, text: &[u8]) -> u32 {
        if let Some(number) = self.number(text) {
            return number;
        }
        let number = self.len();
        let text: Arc<[u8]> = text.into();
        self.all.push(Arc::clone(&text));
        self.numbers.insert(text, number);
        number
    }
}

/// A key: its text, the values that it had, and the keys that stood behind it, the last one first.
#[derive(Clone, Debug)]
struct Key {
    text: u32,
    values: Vec<u32>,
    next: Vec<u32>,
}

fn move_to_front(list: &mut Vec<u32>, number: u32, most: usize) {
    let at = list.iter().position(|known| *known == number);
    if let Some(at) = at {
        if let Some(front) = list.get_mut(..=at) {
            front.rotate_right(1);
        }
    } else {
        list.truncate(most - 1);
        list.insert(0, number);
    }
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

/// The prints of the pieces before one, the nearest first, and the key of the nearest.
#[derive(Clone, Copy)]
struct PieceContext {
    prints: [u32; 3],
    key: u32,
}

impl PieceContext {
    fn push(&mut self, piece: Piece) {
        let [first, second, _] = self.prints;
        self.prints = [piece.print(), first, second];
        self.key = piece.key;
    }
}

/// The columns of a block, as they grow.
struct Columns {
    entries: Vec<u8>,
    ops: Vec<u8>,
    text: Vec<u8>,
    most: usize,
}

impl Columns {
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
struct Wanted<'a> {
    base: u64,
    hunks: Vec<Hunk<'a>>,
}

impl<'a> Wanted<'a> {
    fn new(base: u64, ops: &[u8], text: &'a [u8]) -> Result<Self, CodecError> {
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

const fn meaningless(what: &'static str) -> CodecError {
    CodecError::Meaningless { what, found: 0 }
}

/// What a group's blocks have said so far.
#[derive(Clone, Debug)]
pub(crate) struct BodyModel {
    chances: Chances,
    candidates: Box<[Candidates]>,
    guesses: Box<[Guess]>,
    texts: Texts,
    keys: Vec<Key>,
    /// The key of each text that is one.
    key_numbers: HashMap<u32, u32>,
    uuids: UuidLog,
    /// The number of the group's first new object, and the resources of all new ones.
    first_object: Option<u32>,
    new_objects: Vec<u32>,
    /// The resources of older objects.
    old_objects: HashMap<u32, u32>,
    /// The last object of each resource that was new, and the last that was a base.
    newest: HashMap<u32, u32>,
    bases: HashMap<u32, u32>,
    shapes: HashMap<u32, u32>,
    /// The last time that a body named, in seconds.
    second: i64,
    last_blob: u64,
    newest_blob: u64,
    /// The literals of the blocks before: the prefix of the next one's.
    history: Vec<u8>,
}

#[expect(
    clippy::indexing_slicing,
    reason = "a table has as many entries as the bits of its places name"
)]
fn entry<T>(table: &mut [T], at: u32) -> &mut T {
    &mut table[place32(at >> (32 - TABLE_BITS))]
}

fn low32(number: u64) -> u32 {
    let [a, b, c, d, ..] = number.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// Narrows a count that is at most a few dozen.
fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl BodyModel {
    /// Makes a model that knows nothing: that of a group's start.
    pub(crate) fn new() -> Self {
        let mut model = Self {
            chances: Chances::new(set::COUNT),
            candidates: vec![Candidates::default(); 1 << TABLE_BITS].into(),
            guesses: vec![Guess::default(); 1 << TABLE_BITS].into(),
            texts: Texts::default(),
            keys: Vec::new(),
            key_numbers: HashMap::new(),
            uuids: UuidLog::default(),
            first_object: None,
            new_objects: Vec::new(),
            old_objects: HashMap::new(),
            newest: HashMap::new(),
            bases: HashMap::new(),
            shapes: HashMap::new(),
            second: 0,
            last_blob: 0,
            newest_blob: 0,
            history: Vec::new(),
        };
        model.intern_key(b"");
        model
    }

    /// Makes the frame of a block's columns. If it fails, the model is of no further use.
    pub(crate) fn pack(&mut self, raw: &[u8], facts: &BlockFacts) -> Result<Vec<u8>, CodecError> {
        let [entries, ops, text, blobs] = frame::split_columns(raw, "a block's bodies")?;
        let mut writer = Writer {
            decisions: DecisionWriter::new(),
            literals: LiteralWriter::default(),
        };
        let mut entries = FieldReader::new(entries, "a body's entry");
        let mut ops = FieldReader::new(ops, "a delta");
        let mut text = FieldReader::new(text, "a delta's own text");
        let mut columns = self.begin(facts, raw.len());
        for event in &facts.events {
            let base = entries.at_most(u64::from(u32::MAX) + 2)?;
            let ops = ops.bytes(entries.len_at_most(raw.len())?)?;
            let text = text.bytes(entries.len_at_most(raw.len())?)?;
            let wanted = Wanted::new(base, ops, text)?;
            self.event(&mut writer, event, &wanted, &mut columns)?;
        }
        let made = frame::join_columns([&columns.entries, &columns.ops, &columns.text, blobs]);
        if made != raw {
            return Err(meaningless("a block that its model gives back"));
        }
        let literals = writer.literals.columns(blobs);
        let packed = frame::compress(&literals, frame::LEVEL_SEALED, &self.history)?;
        let decisions = writer.decisions.finish();
        let mut payload = Vec::new();
        varint::put_len(&mut payload, decisions.len());
        payload.extend_from_slice(&decisions);
        varint::put_len(&mut payload, literals.len());
        payload.extend_from_slice(&packed);
        self.remember(&literals);
        frame::with_header(frame::Form::Model, raw, &payload)
    }

    /// Returns a block's columns, which must be at most `max_raw` bytes. If it fails, the model is of no further use.
    pub(crate) fn unpack(
        &mut self,
        packed: &[u8],
        facts: &BlockFacts,
        max_raw: usize,
    ) -> Result<Vec<u8>, CodecError> {
        let header = frame::Header::of(packed, max_raw)?;
        let mut fields = FieldReader::new(header.payload, "a block's decisions");
        let decisions = fields.sized(packed.len())?;
        // Texts are parts of the columns; UUIDs and escapes take a little more.
        let most = max_raw.saturating_mul(2).saturating_add(64);
        let literals = frame::inflate(fields.len_at_most(most)?, fields.rest(), &self.history)?;
        let mut reader = Reader {
            decisions: DecisionReader::new(decisions),
            literals: LiteralReader::new(&literals)?,
        };
        let mut columns = self.begin(facts, header.raw_len);
        for event in &facts.events {
            self.event(&mut reader, event, &Wanted::default(), &mut columns)?;
        }
        let blobs = reader.literals.end()?;
        let raw = frame::join_columns([&columns.entries, &columns.ops, &columns.text, blobs]);
        header.check(&raw)?;
        self.remember(&literals);
        Ok(raw)
    }

    fn remember(&mut self, literals: &[u8]) {
        self.history.extend_from_slice(literals);
        let surplus = self.history.len().saturating_sub(MAX_PREFIX);
        self.history.drain(..surplus);
    }

    fn begin(&mut self, facts: &BlockFacts, most: usize) -> Columns {
        self.first_object.get_or_insert(facts.first_object);
        for (resource, uid) in &facts.objects {
            self.new_objects.push(*resource);
            self.uuids.push_object(*uid);
        }
        Columns {
            entries: Vec::new(),
            ops: Vec::new(),
            text: Vec::new(),
            most,
        }
    }

    /// Returns the place of an object among the group's new ones.
    fn place_of(&self, object: u32) -> Option<usize> {
        object.checked_sub(self.first_object?).map(place32)
    }

    fn event(
        &mut self,
        coder: &mut impl PieceCoder,
        facts: &EventFacts,
        wanted: &Wanted<'_>,
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
        let mut behind = PieceContext {
            prints: [0; 3],
            key: 0,
        };
        let (ops_start, text_start) = (columns.ops.len(), columns.text.len());
        let mut hunks = wanted.hunks.iter();
        loop {
            columns.room()?;
            let hunk = hunks.next();
            if self.is_last(coder, &walk, &behind, hunk.is_none()) {
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
        coder: &mut impl PieceCoder,
        facts: &EventFacts,
    ) -> Result<u32, CodecError> {
        if let Some(place) = self.place_of(facts.object) {
            self.uuids.see_object(place);
            let resource = self.new_objects.get(place).copied();
            return resource.ok_or(meaningless("an object's number"));
        }
        if let Some(resource) = self.old_objects.get(&facts.object) {
            return Ok(*resource);
        }
        let wanted = u64::from(facts.resource);
        let resource = low32(self.chances.number(coder, context([101]), wanted));
        self.old_objects.insert(facts.object, resource);
        Ok(resource)
    }

    /// Codes the base of a body, as in the column of entries.
    fn base(
        &mut self,
        coder: &mut impl PieceCoder,
        object: u32,
        (resource, seen): (u32, u32),
        wanted: u64,
    ) -> Result<u64, CodecError> {
        let contexts = [context([102, seen]), context([103, resource, seen])];
        let symbol = low32(wanted.min(2));
        let symbol = self.chances.symbol(coder, (set::BASE, 2), contexts, symbol);
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
        coder: &mut impl PieceCoder,
        (object, resource): (u32, u32),
        wanted: u64,
    ) -> Result<u64, CodecError> {
        let newest = self.newest.get(&resource).copied().unwrap_or(0);
        let last = self.bases.get(&resource).copied().unwrap_or(0);
        let is = |known: u32| u64::from(known) == wanted;
        let chances = &mut self.chances;
        let other = if chances.single(coder, context([104, resource]), is(newest)) {
            newest
        } else if chances.single(coder, context([105, resource]), is(last)) {
            last
        } else {
            let step = i64::from(object) - i64::from(low32(wanted));
            let step = chances.signed(coder, context([106]), step);
            let other = i64::from(object).checked_sub(step);
            other
                .and_then(|other| u32::try_from(other).ok())
                .ok_or(meaningless("a body's base"))?
        };
        self.bases.insert(resource, other);
        Ok(u64::from(other) + 2)
    }

    /// Codes whether there is no further hunk.
    fn is_last(
        &mut self,
        coder: &mut impl PieceCoder,
        walk: &HunkWalk,
        behind: &PieceContext,
        wanted: bool,
    ) -> bool {
        let [print, ..] = behind.prints;
        let contexts = [
            context([111, walk.shape, walk.resource]),
            context([112, walk.last, walk.resource, print]),
            context([113, walk.last_shape, walk.last, walk.before]),
            context([114, behind.key, walk.resource]),
        ];
        self.chances.mixed(coder, set::HUNK, contexts, wanted)
    }

    /// Codes a hunk.
    fn hunk(
        &mut self,
        coder: &mut impl PieceCoder,
        facts: &EventFacts,
        (walk, behind): (&mut HunkWalk, &mut PieceContext),
        wanted: Hunk<'_>,
        columns: &mut Columns,
    ) -> Result<(), CodecError> {
        let (resource, key) = (walk.resource, behind.key);
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
        let symbol = self
            .chances
            .symbol(coder, (set::INSERT, 2), contexts, symbol);
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
                behind.key = 0;
                let [_, second, third] = behind.prints;
                behind.prints = [context([999]), second, third];
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
        coder: &mut impl PieceCoder,
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
            let order = small(place);
            let mixed = [
                context([91, order, guess.repeats.into(), column]),
                context([92, at]),
                context([93, order, low32(number), column]),
            ];
            let set = first_set + place * 2 + usize::from(guess.repeats > 1);
            if self.chances.mixed(coder, set, mixed, number == wanted) {
                found = Some(number);
                break;
            }
            if let Some(tried) = tried.get_mut(place) {
                *tried = Some(number);
            }
        }
        let number =
            found.unwrap_or_else(|| self.chances.number(coder, context([94, column]), wanted));
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
    fn blob(&mut self, coder: &mut impl PieceCoder, wanted: u64) -> Result<u64, CodecError> {
        let next = self.newest_blob.saturating_add(1);
        let blob = if self.chances.single(coder, context([131]), wanted == next) {
            next
        } else {
            let step = wanted
                .cast_signed()
                .wrapping_sub(self.last_blob.cast_signed());
            let step = self.chances.signed(coder, context([132]), step);
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
        coder: &mut impl PieceCoder,
        facts: &EventFacts,
        (walk, behind): (&HunkWalk, &mut PieceContext),
        wanted: &[u8],
        columns: &mut Columns,
    ) -> Result<usize, CodecError> {
        let start = columns.text.len();
        let mut wanted = pieces(wanted).peekable();
        let mut is_first = true;
        loop {
            let contexts = piece_contexts(walk, behind, is_first);
            let room = columns.room()?;
            let wanted_piece = wanted.next().unwrap_or_default();
            let piece = self.piece(
                coder,
                (facts, walk.resource, behind.key),
                contexts,
                wanted_piece,
                room,
            )?;
            behind.push(piece);
            self.append(piece, &mut columns.text)?;
            is_first = false;
            let [first, second, _] = behind.prints;
            let mixed = [
                context([141, first, second]),
                context([142, behind.key, walk.shape]),
                context([143, first]),
                context([144, walk.skip, walk.resource, behind.key]),
            ];
            let is_end = wanted.peek().is_none();
            if self.chances.mixed(coder, set::TEXT, mixed, is_end) {
                return Ok(columns.text.len() - start);
            }
        }
    }

    /// Appends the bytes of a piece.
    fn append(&self, piece: Piece, text: &mut Vec<u8>) -> Result<(), CodecError> {
        let start = text.len();
        let key = self.keys.get(place32(piece.key));
        text.extend_from_slice(key.map_or(&[], |key| self.texts.text(key.text)));
        text.extend_from_slice(self.texts.text(piece.value));
        let end = ENDS.get(usize::from(piece.end.get()) - 1).copied();
        text.extend(end.filter(|end| *end != 0));
        if text.len() == start {
            // It would take no room, so that nothing would bound their number.
            return Err(meaningless("a piece without bytes"));
        }
        Ok(())
    }

    /// Codes a piece.
    fn piece(
        &mut self,
        coder: &mut impl PieceCoder,
        (facts, resource, before): (&EventFacts, u32, u32),
        contexts: [u32; 4],
        wanted: &[u8],
        room: usize,
    ) -> Result<Piece, CodecError> {
        let (key, value, end) = parts(wanted);
        let wanted = WantedPiece {
            key: self
                .texts
                .number(key)
                .and_then(|text| self.key_numbers.get(&text))
                .copied(),
            key_text: key,
            value: self.texts.number(value),
            value_text: value,
            end,
        };
        let mut tried = Vec::with_capacity(MOST_TRIED);
        let found = self.candidate(coder, (contexts, before), &wanted, &mut tried);
        let piece = if let Some(piece) = found {
            piece
        } else {
            let key = self.key(coder, (contexts, before), &tried, &wanted, room)?;
            let (value, kind) = self.value(
                coder,
                (facts, resource, before),
                (contexts, key, &tried),
                &wanted,
                room,
            )?;
            let mixed = [
                context([81, key]),
                context([82, value]),
                context([83, contexts[2], key]),
                context([84, kind, key, before]),
            ];
            let end = self.chances.symbol(coder, (set::END, 3), mixed, wanted.end);
            let end = u8::try_from(end + 1).ok().filter(|end| *end <= 6);
            let end = end.and_then(NonZeroU8::new);
            Piece {
                key,
                value,
                end: end.ok_or(meaningless("the end of a piece"))?,
            }
        };
        self.learn(contexts, before, piece);
        Ok(piece)
    }

    /// Codes which piece that stood in one of the contexts stands here again, if one does.
    fn candidate(
        &mut self,
        coder: &mut impl PieceCoder,
        (contexts, before): ([u32; 4], u32),
        wanted: &WantedPiece<'_>,
        tried: &mut Vec<Piece>,
    ) -> Option<Piece> {
        for (order, at) in contexts.into_iter().enumerate() {
            let known = *entry(&mut self.candidates, at);
            for (place, piece) in known.pieces.into_iter().enumerate() {
                let Some(piece) = piece.filter(|piece| !tried.contains(piece)) else {
                    continue;
                };
                let rank = small(order * 2 + place);
                let repeats = u32::from(known.repeats);
                let count = small(tried.len());
                let mixed = [
                    context([31, rank, repeats, count]),
                    context([32, piece.key, rank, repeats.min(3)]),
                    context([33, piece.print(), before]),
                    context([34, contexts[1], count]),
                ];
                let set = set::CANDIDATE + place32(rank * 4 + repeats.min(3));
                if self.chances.mixed(coder, set, mixed, wanted.is(piece)) {
                    return Some(piece);
                }
                tried.push(piece);
                if tried.len() >= MOST_TRIED {
                    return None;
                }
            }
        }
        None
    }

    /// Codes a key: one of those tried, one that stood behind the same key, another one, a new one.
    fn key(
        &mut self,
        coder: &mut impl PieceCoder,
        (contexts, before): ([u32; 4], u32),
        tried: &[Piece],
        wanted: &WantedPiece<'_>,
        room: usize,
    ) -> Result<u32, CodecError> {
        let mut keys: Vec<u32> = Vec::with_capacity(MOST_TRIED + RECENT_KEYS);
        for piece in tried {
            if !keys.contains(&piece.key) {
                keys.push(piece.key);
            }
        }
        let count = keys.len();
        let next = self
            .keys
            .get(place32(before))
            .map_or(&[][..], |key| &key.next);
        for key in next {
            if !keys.contains(key) {
                keys.push(*key);
            }
        }
        for (place, key) in keys.into_iter().enumerate() {
            let rank = small(place.min(12)) | u32::from(place >= count) << 8;
            let mixed = [
                context([41, rank, small(count)]),
                context([42, key, before]),
                context([43, contexts[2], rank]),
                context([44, key, rank]),
            ];
            let set = set::KEY + place.min(12);
            if self
                .chances
                .mixed(coder, set, mixed, wanted.key == Some(key))
            {
                return Ok(key);
            }
        }
        if self
            .chances
            .single(coder, context([45]), wanted.key.is_some())
        {
            let newest = small(self.keys.len()).saturating_sub(1);
            let ago = u64::from(newest.saturating_sub(wanted.key.unwrap_or(0)));
            let ago = self.chances.number(coder, context([46]), ago);
            let key = u64::from(newest).checked_sub(ago).map(low32);
            return key.ok_or(meaningless("a key's number"));
        }
        let text = coder.literal(wanted.key_text, room, &mut self.uuids)?;
        Ok(self.intern_key(&text))
    }

    /// Returns the number of a key, new or old.
    fn intern_key(&mut self, text: &[u8]) -> u32 {
        let text = self.texts.intern(text);
        let next = small(self.keys.len());
        *self.key_numbers.entry(text).or_insert_with(|| {
            self.keys.push(Key {
                text,
                values: Vec::new(),
                next: Vec::new(),
            });
            next
        })
    }

    /// Codes a value, and returns its number and how it was given.
    fn value(
        &mut self,
        coder: &mut impl PieceCoder,
        (facts, resource, before): (&EventFacts, u32, u32),
        (contexts, key, tried): ([u32; 4], u32, &[Piece]),
        wanted: &WantedPiece<'_>,
        room: usize,
    ) -> Result<(u32, u32), CodecError> {
        let values = self
            .keys
            .get(place32(key))
            .map_or(&[][..], |key| &key.values);
        let last = values
            .first()
            .map_or(&[][..], |last| self.texts.text(*last));
        let number = Number::parse(last);
        let version = facts.version.map(|version| format!("\"{version}\""));
        let symbol = wanted.kind(version.as_deref(), values, number);
        let mixed = [
            context([51, key]),
            context([52, key, resource, small(tried.len())]),
            context([53, contexts[2]]),
            context([54, key, before]),
        ];
        let symbol = self.chances.symbol(coder, (set::KIND, 3), mixed, symbol);
        let text = match symbol {
            kind::RECENT => {
                let at = (contexts[2], key, before);
                return Ok((self.recent(coder, at, tried, wanted)?, symbol));
            }
            kind::KNOWN => {
                let newest = self.texts.len().saturating_sub(1);
                let ago = u64::from(newest.saturating_sub(wanted.value.unwrap_or(0)));
                let ago = self.chances.number(coder, context([74]), ago);
                let value = u64::from(newest).checked_sub(ago).map(low32);
                return Ok((value.ok_or(meaningless("a text's number"))?, symbol));
            }
            kind::VERSION => version.ok_or(meaningless("a version"))?.into_bytes(),
            kind::SECONDS => self.seconds(coder, facts, key, wanted)?,
            kind::MICROS => {
                let wanted = match PieceTime::parse(wanted.value_text) {
                    Some(PieceTime::Micros(micros)) => facts.wall.saturating_sub(micros),
                    _ => 0,
                };
                let ago = self.chances.signed(coder, context([75, key]), wanted);
                let micros = facts.wall.checked_sub(ago).ok_or(meaningless("a time"))?;
                PieceTime::Micros(micros).text()?
            }
            kind::STEP => {
                let number = number.ok_or(meaningless("a number's step"))?;
                let wanted = Number::parse(wanted.value_text);
                let wanted = wanted.and_then(|wanted| number.step_to(wanted));
                let step = self
                    .chances
                    .signed(coder, context([73, key]), wanted.unwrap_or(0));
                number.plus(step)?.text()
            }
            kind::NEW => coder.literal(wanted.value_text, room, &mut self.uuids)?,
            _ => return Err(meaningless("how a value is given")),
        };
        Ok((self.texts.intern(&text), symbol))
    }

    /// Codes which of a key's recent values it is.
    fn recent(
        &mut self,
        coder: &mut impl PieceCoder,
        (context2, key, before): (u32, u32, u32),
        tried: &[Piece],
        wanted: &WantedPiece<'_>,
    ) -> Result<u32, CodecError> {
        let values = self
            .keys
            .get(place32(key))
            .map_or(&[][..], |key| &key.values);
        let mut untried = 0u32;
        for (place, value) in values.iter().enumerate() {
            let was_tried = tried
                .iter()
                .any(|piece| piece.key == key && piece.value == *value);
            let was_tried = u32::from(was_tried);
            untried += 1 - was_tried;
            let mixed = [
                context([61, key, small(place) * 2 + was_tried]),
                context([62, untried, was_tried]),
                context([63, key, *value, before]),
                context([64, context2, *value]),
            ];
            let set = set::RECENT + place32(untried.min(6) * 2 + was_tried);
            if self
                .chances
                .mixed(coder, set, mixed, wanted.value == Some(*value))
            {
                return Ok(*value);
            }
        }
        Err(meaningless("which value it is"))
    }

    /// Codes a time in seconds: from the last one that a body named, or from the arrival.
    fn seconds(
        &mut self,
        coder: &mut impl PieceCoder,
        facts: &EventFacts,
        key: u32,
        wanted: &WantedPiece<'_>,
    ) -> Result<Vec<u8>, CodecError> {
        let wanted = match PieceTime::parse(wanted.value_text) {
            Some(PieceTime::Seconds(seconds)) => seconds,
            _ => 0,
        };
        let arrival = facts.wall.div_euclid(1_000_000);
        let is_near = wanted.abs_diff(self.second) <= wanted.abs_diff(arrival);
        let is_near = self.chances.single(coder, context([71, key]), is_near);
        let from = if is_near { self.second } else { arrival };
        let at = context([72, u32::from(is_near), key]);
        let step = self.chances.signed(coder, at, wanted.wrapping_sub(from));
        let seconds = from.checked_add(step).ok_or(meaningless("a time"))?;
        PieceTime::Seconds(seconds).text()
    }

    /// Remembers a piece in its contexts, its value with its key, and its key behind the one before.
    fn learn(&mut self, contexts: [u32; 4], before: u32, piece: Piece) {
        for at in contexts {
            let known = entry(&mut self.candidates, at);
            let [first, _] = known.pieces;
            if first == Some(piece) {
                known.repeats = (known.repeats + 1).min(MOST_REPEATS);
            } else {
                known.pieces = [Some(piece), first];
                known.repeats = 0;
            }
        }
        if let Some(key) = self.keys.get_mut(place32(piece.key)) {
            move_to_front(&mut key.values, piece.value, RECENT_VALUES);
        }
        if let Some(key) = self.keys.get_mut(place32(before)) {
            move_to_front(&mut key.next, piece.key, RECENT_KEYS);
        }
        if let Some(PieceTime::Seconds(seconds)) = PieceTime::parse(self.texts.text(piece.value)) {
            self.second = seconds;
        }
    }
}

/// A piece as it is wanted, with the numbers that it has so far; empty for a reader.
struct WantedPiece<'a> {
    key: Option<u32>,
    key_text: &'a [u8],
    value: Option<u32>,
    value_text: &'a [u8],
    end: u32,
}

impl WantedPiece<'_> {
    fn is(&self, piece: Piece) -> bool {
        self.key == Some(piece.key)
            && self.value == Some(piece.value)
            && self.end + 1 == u32::from(piece.end.get())
    }

    /// Chooses how the value is given.
    fn kind(&self, version: Option<&str>, recent: &[u32], last: Option<Number>) -> u32 {
        if version.is_some_and(|version| version.as_bytes() == self.value_text) {
            return kind::VERSION;
        }
        if self.value.is_some_and(|value| recent.contains(&value)) {
            return kind::RECENT;
        }
        let step = last
            .zip(Number::parse(self.value_text))
            .and_then(|(last, number)| last.step_to(number));
        match (PieceTime::parse(self.value_text), step, self.value) {
            (Some(PieceTime::Seconds(_)), ..) => kind::SECONDS,
            (_, Some(-1000..=1000), _) | (_, Some(_), None) => kind::STEP,
            (_, _, Some(_)) => kind::KNOWN,
            (Some(PieceTime::Micros(_)), ..) => kind::MICROS,
            _ => kind::NEW,
        }
    }
}

/// Returns the contexts of a piece: of an insertion's first one the hunks, of any other one the pieces before.
fn piece_contexts(walk: &HunkWalk, behind: &PieceContext, is_first: bool) -> [u32; 4] {
    let [first, second, third] = behind.prints;
    if is_first {
        [
            context([4, walk.object, walk.shape]),
            context([5, walk.resource, walk.shape]),
            context([6, walk.resource, walk.last, first]),
            context([7, walk.resource, walk.copy, walk.skip]),
        ]
    } else {
        [
            context([8, walk.object, walk.shape, first]),
            context([1, first, second, third]),
            context([2, first, second]),
            context([3, first]),
        ]
    }
}

/// Makes a frame of any decisions and literals, so that a fuzzer reaches what lies behind the checks of both.
#[cfg(feature = "fuzzing")]
pub(crate) fn forged(decisions: &[u8], literals: &[u8], raw_len: u32) -> Vec<u8> {
    let columns = frame::join_columns([literals, &[7; 64], &[1; 8], &[]]);
    let packed = frame::compress(&columns, frame::LEVEL_QUICK, &[]).unwrap_or_default();
    let mut payload = Vec::new();
    varint::put_len(&mut payload, decisions.len());
    payload.extend_from_slice(decisions);
    varint::put_len(&mut payload, columns.len());
    payload.extend_from_slice(&packed);
    let mut frame = frame::with_header(frame::Form::Model, &[], &payload).unwrap_or_default();
    if let Some(len) = frame.get_mut(1..5) {
        len.copy_from_slice(&raw_len.to_le_bytes());
    }
    frame
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::bodies::{Base, Bodies, BodyCounts, BodyMark, BodyWriter};
    use crate::codec::model_oracle::assert_alike;
    use crate::codec::splice;
    use crate::id::{BlobId, ObjectId};
    use proptest::prelude::*;

    struct NoBlobs;

    impl splice::Blobs for NoBlobs {
        fn intern(&mut self, _text: &[u8]) -> Option<BlobId> {
            None
        }
    }

    /// A body of an object: what a cluster says, with values that repeat, count and tell times.
    fn bodies() -> impl Strategy<Value = Vec<u8>> {
        let value = prop_oneof![
            (0u32..30).prop_map(|number| number.to_string()),
            (0i64..100).prop_map(|second| {
                let time = PieceTime::Seconds(1_700_000_000 + second).text().unwrap();
                String::from_utf8(time).unwrap()
            }),
            (0i64..1_000_000).prop_map(|micros| {
                let time = PieceTime::Micros(1_700_000_000_000_000 + micros)
                    .text()
                    .unwrap();
                String::from_utf8(time).unwrap()
            }),
            (0u32..9).prop_map(|version| format!("\"{version}\"")),
            (0u128..5).prop_map(|uid| format!("\"{}\"", crate::uid::uuid_text(uid << 70 | 9))),
            "[a-z\\-/ {}]{0,12}".prop_map(|text| format!("\"{text}\"")),
            Just("{}".to_owned()),
            Just("[1,2]".to_owned()),
        ];
        let field = ("[a-f]", value).prop_map(|(key, value)| format!("\"{key}\":{value}"));
        let object = prop::collection::vec(field, 0..8)
            .prop_map(|fields| format!("{{{}}}", fields.join(",")).into_bytes());
        prop_oneof![9 => object, 1 => prop::collection::vec(any::<u8>(), 0..20)]
    }

    /// The columns of a block of events, each against the object's body before.
    fn block(
        events: &[(u32, Vec<u8>)],
        last: &mut HashMap<u32, Vec<u8>>,
        first_object: u32,
    ) -> (Vec<u8>, BlockFacts) {
        let mut writer = BodyWriter::default();
        let mut facts = BlockFacts {
            first_object,
            ..BlockFacts::default()
        };
        for (at, (object, body)) in (0u64..).zip(events) {
            let new = u32::try_from(facts.objects.len()).unwrap();
            for object in first_object + new..=*object {
                facts.objects.push((
                    object % 3,
                    (object % 4 > 0).then_some(u128::from(object) << 70 | 9),
                ));
            }
            let other = object.saturating_sub(1);
            let base = match (last.get(object), last.get(&other)) {
                (Some(_), _) => Base::Previous,
                (None, Some(_)) => Base::Other(ObjectId(other)),
                (None, None) => Base::Whole,
            };
            let old = last
                .get(object)
                .or(last.get(&other))
                .cloned()
                .unwrap_or_default();
            let mut ops = Vec::new();
            splice::encode(&old, body, &mut NoBlobs, &mut ops, &mut writer.text);
            writer.ops.extend(splice::in_pieces(&old, &ops).unwrap());
            writer.end_entry(base);
            last.insert(*object, body.clone());
            facts.events.push(EventFacts {
                object: *object,
                resource: object % 3,
                version: (at % 5 > 0).then_some(at),
                wall: 1_700_000_000_000_000 + i64::try_from(at).unwrap() * 400_000,
            });
        }
        (writer.columns_since(BodyMark::default()), facts)
    }

    proptest! {
        #[test]
        fn blocks_of_a_group_come_back(
            blocks in prop::collection::vec(prop::collection::vec((0u32..12, bodies()), 0..30), 1..4),
            first: bool
        ) {
            let (mut last, mut first_object) = (HashMap::new(), if first { 0 } else { 5 });
            let (mut writer, mut reader) = (BodyModel::new(), BodyModel::new());
            let mut group = Vec::new();
            for events in blocks {
                let (raw, facts) = block(&events, &mut last, first_object);
                first_object += u32::try_from(facts.objects.len()).unwrap();
                let packed = writer.pack(&raw, &facts).unwrap();
                let back = reader.unpack(&packed, &facts, raw.len()).unwrap();
                prop_assert_eq!(&back, &raw);
                let counts = BodyCounts { entries: facts.events.len(), blobs: 0 };
                prop_assert_eq!(Bodies::decode(back, counts).unwrap().len(), events.len());
                group.push((packed, facts));
            }
            assert_alike(&group);
        }

        #[test]
        fn changed_bytes_are_noticed(
            events in prop::collection::vec((0u32..6, bodies()), 1..20),
            at: prop::sample::Index,
            change in 1u8..
        ) {
            let (raw, facts) = block(&events, &mut HashMap::new(), 0);
            let mut packed = BodyModel::new().pack(&raw, &facts).unwrap();
            let at = at.index(packed.len());
            packed[at] ^= change;
            if let Ok(read) = BodyModel::new().unpack(&packed, &facts, MAX_PREFIX) {
                prop_assert_eq!(read, raw);
            }
        }
    }

    #[test]
    fn a_few_bytes_do_not_stand_for_more_than_may_come_out() {
        let (raw, facts) = block(&[(0, vec![b','; 100_000])], &mut HashMap::new(), 0);
        let packed = BodyModel::new().pack(&raw, &facts).unwrap();
        assert!(packed.len() < 1_000, "{}", packed.len());
        assert!(
            BodyModel::new()
                .unpack(&packed, &facts, raw.len() - 1)
                .is_err()
        );
    }
}
