//! The bodies of a sealed block in their tightest form: pieces of JSON text as references to texts that were there
//! before, coded with probabilities that learn from what came before.
//!
//! A group of blocks is one sequence: the model that has coded one block codes the next. [`BodyModel`] is its state; [`pack`](BodyModel::pack) and [`unpack`](BodyModel::unpack) walk the same code, which makes each
//! decision through a [`PieceCoder`] that writes or reads it.
//!
//! Hunks count pieces here, not bytes (see [`splice::in_pieces`](super::splice::in_pieces)): the length of a value
//! does not help to predict the next one.
//!
//! Invariants, because the bytes may be damaged or forged:
//! * Every decision is valid or an error; every number is checked before a lookup.
//! * Each step of the walk appends at least a byte to the block's columns, and these are bounded before it.
//! * Arithmetic is that of integers: what one machine writes, every other reads.

mod hunk_model;
mod piece_model;

use self::hunk_model::{Columns, EntryToEncode, HunkModel};
use super::CodecError;
use super::arithmetic::{Chances, DecisionCoder, DecisionReader, DecisionWriter};
use super::literals::{LiteralReader, LiteralWriter, UuidLog};
use super::varint::{self, FieldReader};
use crate::codec::frame;
use crate::limits::{MAX_GROUP, MAX_MODEL_RAW, MAX_PREFIX, place32};

/// The part of a block's index that its bodies are coded with: a reader has it before it reads them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BlockFacts {
    /// The number of the first new object.
    pub(crate) first_object: u32,
    /// The resource and the uid, if it is a UUID, of each new object.
    pub(crate) objects: Vec<(u32, Option<u128>)>,
    /// The events, in their order.
    pub(crate) events: Vec<EventFacts>,
}

/// An event's entry in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventFacts {
    pub(crate) object: u32,
    /// The object's resource. A reader that does not know it reads it from the block.
    pub(crate) resource: u32,
    /// The resourceVersion, if it is a number.
    pub(crate) version: Option<u64>,
    /// The wall time, in microseconds.
    pub(crate) wall: i64,
}

/// Codes decisions and new texts.
trait PieceCoder: DecisionCoder {
    /// Whether it knows what is wanted.
    const WRITES: bool;

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
    const WRITES: bool = true;

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
    const WRITES: bool = false;

    fn literal(
        &mut self,
        _wanted: &[u8],
        most: usize,
        uuids: &mut UuidLog,
    ) -> Result<Vec<u8>, CodecError> {
        self.literals.next(most, uuids)
    }
}

/// A coder with what its group has learned.
struct GroupCoder<'a, C> {
    coder: &'a mut C,
    chances: &'a mut Chances,
    uuids: &'a mut UuidLog,
}

impl<C: PieceCoder> GroupCoder<'_, C> {
    fn single(&mut self, context: u32, wanted: bool) -> bool {
        self.chances.single(self.coder, context, wanted)
    }

    fn mixed<const N: usize>(&mut self, set: usize, contexts: [u32; N], wanted: bool) -> bool {
        self.chances.mixed(self.coder, set, contexts, wanted)
    }

    fn symbol<const N: usize>(
        &mut self,
        set_and_bits: (usize, u32),
        contexts: [u32; N],
        wanted: u32,
    ) -> u32 {
        self.chances
            .symbol(self.coder, set_and_bits, contexts, wanted)
    }

    fn number(&mut self, context: u32, wanted: u64) -> u64 {
        self.chances.number(self.coder, context, wanted)
    }

    fn signed(&mut self, context: u32, wanted: i64) -> i64 {
        self.chances.signed(self.coder, context, wanted)
    }

    fn literal(&mut self, wanted: &[u8], most: usize) -> Result<Vec<u8>, CodecError> {
        self.coder.literal(wanted, most, self.uuids)
    }
}

/// How large the tables of a model are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModelSize {
    /// As in format 0.6: 2 megabytes and more.
    Small,
    /// 30 megabytes.
    Large,
}

impl ModelSize {
    /// Returns the size of the model that codes frames of a form, if one does.
    pub(crate) const fn of(form: frame::Form) -> Option<Self> {
        match form {
            frame::Form::Model => Some(Self::Small),
            frame::Form::LargeModel => Some(Self::Large),
            _ => None,
        }
    }

    const fn form(self) -> frame::Form {
        match self {
            Self::Small => frame::Form::Model,
            Self::Large => frame::Form::LargeModel,
        }
    }

    /// Returns how many probabilities there are, as a power of two.
    const fn chance_bits(self) -> u32 {
        match self {
            Self::Small => 18,
            Self::Large => 22,
        }
    }

    /// Returns how many candidates and guesses there are, as a power of two.
    const fn table_bits(self) -> u32 {
        match self {
            Self::Small => 16,
            Self::Large => 18,
        }
    }
}

const MOST_REPEATS: u8 = 7;
/// The sets of weights, by kind of decision.
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

const fn meaningless(what: &'static str) -> CodecError {
    CodecError::Meaningless { what, found: 0 }
}

/// The state after the blocks of a group so far.
#[derive(Clone, Debug)]
pub(crate) struct BodyModel {
    size: ModelSize,
    chances: Chances,
    uuids: UuidLog,
    hunks: HunkModel,
    /// The literals of the blocks before: the prefix of the next one's.
    history: Vec<u8>,
}

#[expect(
    clippy::indexing_slicing,
    reason = "a table has as many entries as the bits of its places name: a power of two"
)]
fn entry<T>(table: &mut [T], at: u32) -> &mut T {
    let bits = table.len().trailing_zeros();
    &mut table[place32(at >> (32 - bits))]
}

fn low32(number: u64) -> u32 {
    let [a, b, c, d, ..] = number.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// Converts a number of texts, of keys, or of candidates.
#[expect(clippy::expect_used, reason = "the bound is checked below")]
fn count32(count: usize) -> u32 {
    u32::try_from(count).expect("a piece takes a byte of a block, and has two texts at most")
}

const _: () = assert!(MAX_GROUP * MAX_MODEL_RAW <= 1 << 30);

impl BodyModel {
    /// Makes a model that knows nothing: that of a group's start.
    pub(crate) fn new(size: ModelSize) -> Self {
        Self {
            size,
            chances: Chances::new(size.chance_bits(), set::COUNT),
            uuids: UuidLog::default(),
            hunks: HunkModel::new(size.table_bits()),
            history: Vec::new(),
        }
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
        let mut columns = Columns::new(raw.len());
        self.new_objects(facts);
        let mut coder = GroupCoder {
            coder: &mut writer,
            chances: &mut self.chances,
            uuids: &mut self.uuids,
        };
        for event in &facts.events {
            let base = entries.at_most(u64::from(u32::MAX) + 2)?;
            let ops = ops.bytes(entries.len_at_most(raw.len())?)?;
            let text = text.bytes(entries.len_at_most(raw.len())?)?;
            let wanted = EntryToEncode::new(base, ops, text)?;
            self.hunks.event(&mut coder, event, &wanted, &mut columns)?;
        }
        let made = columns.join(blobs);
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
        frame::with_header(self.size.form(), raw, &payload)
    }

    /// Returns a block's columns, which must be at most `max_raw` bytes. If it fails, the model is of no further use.
    pub(crate) fn unpack(
        &mut self,
        packed: &[u8],
        facts: &BlockFacts,
        max_raw: usize,
    ) -> Result<Vec<u8>, CodecError> {
        let header = frame::Header::of(packed, max_raw)?;
        if header.form != self.size.form() {
            return Err(meaningless("a block of another model"));
        }
        let mut fields = FieldReader::new(header.payload, "a block's decisions");
        let decisions = fields.sized(packed.len())?;
        // Texts are parts of the columns; UUIDs and escapes take a little more.
        let most = max_raw.saturating_mul(2).saturating_add(64);
        let literals = frame::inflate(fields.len_at_most(most)?, fields.rest(), &self.history)?;
        let mut reader = Reader {
            decisions: DecisionReader::new(decisions),
            literals: LiteralReader::new(&literals)?,
        };
        let mut columns = Columns::new(header.raw_len);
        self.new_objects(facts);
        let mut coder = GroupCoder {
            coder: &mut reader,
            chances: &mut self.chances,
            uuids: &mut self.uuids,
        };
        for event in &facts.events {
            self.hunks
                .event(&mut coder, event, &EntryToEncode::default(), &mut columns)?;
        }
        let blobs = reader.literals.end()?;
        let raw = columns.join(blobs);
        header.check(&raw)?;
        self.remember(&literals);
        Ok(raw)
    }

    fn remember(&mut self, literals: &[u8]) {
        self.history.extend_from_slice(literals);
        let surplus = self.history.len().saturating_sub(MAX_PREFIX);
        self.history.drain(..surplus);
    }

    fn new_objects(&mut self, facts: &BlockFacts) {
        let resources = facts.objects.iter().map(|(resource, _)| *resource);
        self.hunks.new_objects(facts.first_object, resources);
        for (_, uid) in &facts.objects {
            self.uuids.push_object(*uid);
        }
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
    use crate::codec::piece::PieceTime;
    use crate::codec::splice;
    use crate::id::{BlobId, ObjectId};
    use proptest::prelude::*;
    use std::collections::HashMap;

    struct NoBlobs;

    impl splice::Blobs for NoBlobs {
        fn intern(&mut self, _text: &[u8]) -> Option<BlobId> {
            None
        }
    }

    /// A body of an object: values that repeat, count, or are times.
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
            first: bool,
            size in prop_oneof![3 => Just(ModelSize::Small), 1 => Just(ModelSize::Large)],
        ) {
            let (mut last, mut first_object) = (HashMap::new(), if first { 0 } else { 5 });
            let (mut writer, mut reader) = (BodyModel::new(size), BodyModel::new(size));
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
            let other = match size {
                ModelSize::Small => ModelSize::Large,
                ModelSize::Large => ModelSize::Small,
            };
            for (packed, facts) in group.iter().take(1) {
                prop_assert!(BodyModel::new(other).unpack(packed, facts, 1 << 20).is_err());
            }
        }

        #[test]
        fn changed_bytes_are_noticed(
            events in prop::collection::vec((0u32..6, bodies()), 1..20),
            at: prop::sample::Index,
            change in 1u8..
        ) {
            let (raw, facts) = block(&events, &mut HashMap::new(), 0);
            let mut packed = BodyModel::new(ModelSize::Small).pack(&raw, &facts).unwrap();
            let at = at.index(packed.len());
            packed[at] ^= change;
            if let Ok(read) = BodyModel::new(ModelSize::Small).unpack(&packed, &facts, MAX_PREFIX) {
                prop_assert_eq!(read, raw);
            }
        }
    }

    #[test]
    fn a_few_bytes_do_not_stand_for_more_than_may_come_out() {
        let (raw, facts) = block(&[(0, vec![b','; 100_000])], &mut HashMap::new(), 0);
        let packed = BodyModel::new(ModelSize::Small).pack(&raw, &facts).unwrap();
        assert!(packed.len() < 1_000, "{}", packed.len());
        assert!(
            BodyModel::new(ModelSize::Small)
                .unpack(&packed, &facts, raw.len() - 1)
                .is_err()
        );
    }
}
