//! Pieces of JSON text: which one of those that were there before, or its key, its value and its end.

use super::{
    EventFacts, GroupCoder, MOST_REPEATS, PieceCoder, count32, entry, low32, meaningless, set,
};
use crate::codec::CodecError;
use crate::codec::arithmetic::context;
use crate::codec::piece::{ENDS, Number, PieceTime, parts};
use crate::limits::place32;
use std::collections::HashMap;
use std::num::NonZeroU8;
use std::sync::Arc;

/// How many values of a key, and keys behind a key, are remembered.
const RECENT_VALUES: usize = 12;
const RECENT_KEYS: usize = 16;
/// How many candidates are tried for a piece.
const MOST_TRIED: usize = 6;

/// A piece: numbers of a key and of a text, and its end's place in [`ENDS`] plus one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    key: u32,
    value: u32,
    end: NonZeroU8,
}

impl Piece {
    fn print(self) -> u32 {
        context([self.key, self.value, u32::from(self.end.get()) - 1])
    }
}

/// The last two pieces in a context, and how many times in a row the first of them occurred.
#[derive(Clone, Copy, Debug, Default)]
struct Candidates {
    pieces: [Option<Piece>; 2],
    repeats: u8,
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
    all: Vec<KnownText>,
    numbers: HashMap<Arc<[u8]>, u32>,
}

#[derive(Clone, Debug)]
struct KnownText {
    text: Arc<[u8]>,
    /// The time that it is, in seconds, if it is one.
    second: Option<i64>,
}

impl Texts {
    fn number(&self, text: &[u8]) -> Option<u32> {
        self.numbers.get(text).copied()
    }

    fn text(&self, number: u32) -> &[u8] {
        self.all
            .get(place32(number))
            .map_or(&[], |known| &*known.text)
    }

    fn second(&self, number: u32) -> Option<i64> {
        self.all.get(place32(number))?.second
    }

    fn len(&self) -> u32 {
        count32(self.all.len())
    }

    fn intern(&mut self, text: &[u8]) -> u32 {
        if let Some(number) = self.number(text) {
            return number;
        }
        let number = self.len();
        let second = match PieceTime::parse(text) {
            Some(PieceTime::Seconds(seconds)) => Some(seconds),
            _ => None,
        };
        let text: Arc<[u8]> = text.into();
        self.all.push(KnownText {
            text: Arc::clone(&text),
            second,
        });
        self.numbers.insert(text, number);
        number
    }
}

/// A key: its text, its recent values, and the keys that followed it, newest first.
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

/// The prints of the pieces before one, the nearest first, and the key of the nearest.
#[derive(Clone, Copy, Default)]
pub(super) struct PieceContext {
    prints: [u32; 3],
    key: u32,
}

impl PieceContext {
    pub(super) const fn prints(self) -> [u32; 3] {
        self.prints
    }

    pub(super) const fn key(self) -> u32 {
        self.key
    }

    /// Takes in the next piece.
    pub(super) fn push(&mut self, piece: Piece) {
        let [first, second, _] = self.prints;
        self.prints = [piece.print(), first, second];
        self.key = piece.key;
    }

    /// Replaces the nearest piece by an inserted blob.
    pub(super) fn replace_by_blob(&mut self) {
        let [_, second, third] = self.prints;
        self.prints = [context([999]), second, third];
        self.key = 0;
    }
}

/// A piece as it is wanted, with the numbers that it has so far; empty for a reader.
#[derive(Default)]
struct WantedPiece<'a> {
    key: Option<u32>,
    key_text: &'a [u8],
    value: Option<u32>,
    value_text: &'a [u8],
    end: u32,
}

impl<'a> WantedPiece<'a> {
    fn new(model: &PieceModel, piece: &'a [u8]) -> Self {
        let (key, value, end) = parts(piece);
        let texts = &model.texts;
        let key_number = texts
            .number(key)
            .and_then(|text| model.key_numbers.get(&text));
        Self {
            key: key_number.copied(),
            key_text: key,
            value: texts.number(value),
            value_text: value,
            end,
        }
    }

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

/// The texts, keys and values of a group's blocks so far.
#[derive(Clone, Debug)]
pub(super) struct PieceModel {
    candidates: Box<[Candidates]>,
    texts: Texts,
    keys: Vec<Key>,
    /// The key of each text that is one.
    key_numbers: HashMap<u32, u32>,
    /// The last time that a body named, in seconds.
    second: i64,
    /// The memory of the pieces that were tried for one.
    tried: Vec<Piece>,
}

impl PieceModel {
    /// Makes the model of a group's start.
    pub(super) fn new(table_bits: u32) -> Self {
        let mut model = Self {
            candidates: vec![Candidates::default(); 1 << table_bits].into(),
            texts: Texts::default(),
            keys: Vec::new(),
            key_numbers: HashMap::new(),
            second: 0,
            tried: Vec::new(),
        };
        model.intern_key(b"");
        model
    }

    /// Appends the bytes of a piece.
    pub(super) fn append(&self, piece: Piece, text: &mut Vec<u8>) -> Result<(), CodecError> {
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
    pub(super) fn piece<C: PieceCoder>(
        &mut self,
        coder: &mut GroupCoder<'_, C>,
        (facts, resource, before): (&EventFacts, u32, u32),
        contexts: [u32; 4],
        wanted: &[u8],
        room: usize,
    ) -> Result<Piece, CodecError> {
        let wanted = if C::WRITES {
            WantedPiece::new(self, wanted)
        } else {
            WantedPiece::default()
        };
        let mut tried = std::mem::take(&mut self.tried);
        tried.clear();
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
            let end = coder.symbol((set::END, 3), mixed, wanted.end);
            let end = u8::try_from(end + 1).ok().filter(|end| *end <= 6);
            let end = end.and_then(NonZeroU8::new);
            Piece {
                key,
                value,
                end: end.ok_or(meaningless("the end of a piece"))?,
            }
        };
        self.tried = tried;
        self.learn(contexts, before, piece);
        Ok(piece)
    }

    /// Codes which of the pieces remembered in the contexts occurs again, if one does.
    fn candidate(
        &mut self,
        coder: &mut GroupCoder<'_, impl PieceCoder>,
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
                let rank = count32(order * 2 + place);
                let repeats = u32::from(known.repeats);
                let count = count32(tried.len());
                let mixed = [
                    context([31, rank, repeats, count]),
                    context([32, piece.key, rank, repeats.min(3)]),
                    context([33, piece.print(), before]),
                    context([34, contexts[1], count]),
                ];
                let set = set::CANDIDATE + place32(rank * 4 + repeats.min(3));
                if coder.mixed(set, mixed, wanted.is(piece)) {
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

    /// Codes a key: one of those tried, one that followed the same key, another one, or a new one.
    fn key(
        &mut self,
        coder: &mut GroupCoder<'_, impl PieceCoder>,
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
            let rank = count32(place.min(12)) | u32::from(place >= count) << 8;
            let mixed = [
                context([41, rank, count32(count)]),
                context([42, key, before]),
                context([43, contexts[2], rank]),
                context([44, key, rank]),
            ];
            let set = set::KEY + place.min(12);
            if coder.mixed(set, mixed, wanted.key == Some(key)) {
                return Ok(key);
            }
        }
        if coder.single(context([45]), wanted.key.is_some()) {
            let newest = count32(self.keys.len()).saturating_sub(1);
            let ago = u64::from(newest.saturating_sub(wanted.key.unwrap_or(0)));
            let ago = coder.number(context([46]), ago);
            let key = u64::from(newest).checked_sub(ago).map(low32);
            return key.ok_or(meaningless("a key's number"));
        }
        let text = coder.literal(wanted.key_text, room)?;
        Ok(self.intern_key(&text))
    }

    /// Returns the number of a key, new or old.
    fn intern_key(&mut self, text: &[u8]) -> u32 {
        let text = self.texts.intern(text);
        let next = count32(self.keys.len());
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
    fn value<C: PieceCoder>(
        &mut self,
        coder: &mut GroupCoder<'_, C>,
        (facts, resource, before): (&EventFacts, u32, u32),
        (contexts, key, tried): ([u32; 4], u32, &[Piece]),
        wanted: &WantedPiece<'_>,
        room: usize,
    ) -> Result<(u32, u32), CodecError> {
        let values = self
            .keys
            .get(place32(key))
            .map_or(&[][..], |key| &key.values);
        let number = || Number::parse(self.texts.text(*values.first()?));
        let version = || Some(format!("\"{}\"", facts.version?));
        let symbol = if C::WRITES {
            wanted.kind(version().as_deref(), values, number())
        } else {
            0
        };
        let mixed = [
            context([51, key]),
            context([52, key, resource, count32(tried.len())]),
            context([53, contexts[2]]),
            context([54, key, before]),
        ];
        let symbol = coder.symbol((set::KIND, 3), mixed, symbol);
        let text = match symbol {
            kind::RECENT => {
                let at = (contexts[2], key, before);
                return Ok((self.recent(coder, at, tried, wanted)?, symbol));
            }
            kind::KNOWN => {
                let newest = self.texts.len().saturating_sub(1);
                let ago = u64::from(newest.saturating_sub(wanted.value.unwrap_or(0)));
                let ago = coder.number(context([74]), ago);
                let value = u64::from(newest).checked_sub(ago).map(low32);
                return Ok((value.ok_or(meaningless("a text's number"))?, symbol));
            }
            kind::VERSION => version().ok_or(meaningless("a version"))?.into_bytes(),
            kind::SECONDS => self.seconds(coder, facts, key, wanted)?,
            kind::MICROS => {
                let wanted = match PieceTime::parse(wanted.value_text) {
                    Some(PieceTime::Micros(micros)) => facts.wall.saturating_sub(micros),
                    _ => 0,
                };
                let ago = coder.signed(context([75, key]), wanted);
                let micros = facts.wall.checked_sub(ago).ok_or(meaningless("a time"))?;
                PieceTime::Micros(micros).text()?
            }
            kind::STEP => {
                let number = number().ok_or(meaningless("a number's step"))?;
                let wanted = Number::parse(wanted.value_text);
                let wanted = wanted.and_then(|wanted| number.step_to(wanted));
                let step = coder.signed(context([73, key]), wanted.unwrap_or(0));
                number.plus(step)?.text()
            }
            kind::NEW => coder.literal(wanted.value_text, room)?,
            _ => return Err(meaningless("how a value is given")),
        };
        Ok((self.texts.intern(&text), symbol))
    }

    /// Codes which of a key's recent values it is.
    fn recent(
        &mut self,
        coder: &mut GroupCoder<'_, impl PieceCoder>,
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
                context([61, key, count32(place) * 2 + was_tried]),
                context([62, untried, was_tried]),
                context([63, key, *value, before]),
                context([64, context2, *value]),
            ];
            let set = set::RECENT + place32(untried.min(6) * 2 + was_tried);
            if coder.mixed(set, mixed, wanted.value == Some(*value)) {
                return Ok(*value);
            }
        }
        Err(meaningless("which value it is"))
    }

    /// Codes a time in seconds: from the last one that a body named, or from the arrival.
    fn seconds(
        &mut self,
        coder: &mut GroupCoder<'_, impl PieceCoder>,
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
        let is_near = coder.single(context([71, key]), is_near);
        let from = if is_near { self.second } else { arrival };
        let at = context([72, u32::from(is_near), key]);
        let step = coder.signed(at, wanted.wrapping_sub(from));
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
        self.second = self.texts.second(piece.value).unwrap_or(self.second);
    }
}
