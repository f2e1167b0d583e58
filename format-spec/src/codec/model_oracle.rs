//! A second decoder of modelled blocks, written from section 6.1 of SPEC.md: slow, with other numbers and other
//! tables, and without a shared line but frames, varints and times. What the writer made must read alike in both.

use super::frame;
use super::model::{BlockFacts, BodyModel, ModelSize};
use super::piece::{Number, PieceTime};
use super::varint::{FieldReader, put, put_len};
use crate::limits::MAX_PREFIX;
use std::collections::BTreeMap;

type Contexts = Vec<u64>;

fn hash(numbers: &[u64]) -> u64 {
    let mut hash = 0x1234_5678u64;
    for number in numbers {
        let product = ((hash ^ (number % (1 << 32))) * 0x9E37_79B1) % (1 << 32);
        hash = ((product << 15) % (1 << 32)) | (product >> 17);
    }
    hash ^ hash >> 16
}

fn squash(x: i64) -> i64 {
    const T: [i64; 33] = [
        1, 2, 3, 6, 10, 16, 27, 45, 73, 120, 194, 310, 488, 747, 1101, 1546, 2048, 2550, 2995,
        3349, 3608, 3786, 3902, 3976, 4023, 4051, 4069, 4080, 4086, 4090, 4093, 4094, 4095,
    ];
    let (i, r) = ((x + 2048) / 128, (x + 2048) % 128);
    let i = usize::try_from(i).unwrap();
    (T[i] * (128 - r) + T[i + 1] * r + 64) / 128
}

fn logit(chance: i64) -> i64 {
    (-2047..=2047)
        .find(|x| squash(*x) >= chance)
        .unwrap_or(2047)
}

/// A piece: its key, its value, its end.
type PieceRange = (u64, u64, u64);

#[derive(Default)]
struct Oracle {
    low: u64,
    high: u64,
    number: u64,
    bytes: std::collections::VecDeque<u8>,
    /// Probability and count.
    chances: BTreeMap<u64, (u64, u64)>,
    weights: BTreeMap<u64, Vec<i64>>,
    logits: Vec<i64>,
    texts: Vec<Vec<u8>>,
    /// The text of each key, its values and the keys behind it.
    keys: Vec<(u64, Vec<u64>, Vec<u64>)>,
    candidates: BTreeMap<u64, (Vec<PieceRange>, u64)>,
    guesses: BTreeMap<u64, (u64, u64)>,
    shapes: BTreeMap<u64, u64>,
    resources: BTreeMap<u64, u64>,
    newest: BTreeMap<u64, u64>,
    bases: BTreeMap<u64, u64>,
    first: Option<u64>,
    objects: Vec<(u64, Option<u128>)>,
    newest_place: usize,
    uuids: Vec<u128>,
    t: i64,
    last_blob: i64,
    newest_blob: i64,
    literals: [Vec<u8>; 3],
    history: Vec<u8>,
    /// By how many bits contexts are shifted to the place of a chance, and of a candidate or guess.
    chance_shift: u32,
    table_shift: u32,
}

impl Oracle {
    fn new(form: u8) -> Self {
        let (chance_shift, table_shift) = if form == 2 { (14, 16) } else { (10, 14) };
        Self {
            chance_shift,
            table_shift,
            texts: vec![vec![]],
            keys: vec![(0, vec![], vec![])],
            logits: (0..4096).map(logit).collect(),
            ..Self::default()
        }
    }

    fn decide(&mut self, chance: u64) -> bool {
        let width = self.high - self.low;
        let s = self.low + width / 4096 * chance + width % 4096 * chance / 4096;
        let yes = self.number <= s;
        if yes {
            self.high = s;
        } else {
            self.low = s + 1;
        }
        while self.low >> 24 == self.high >> 24 {
            self.low = (self.low << 8) % (1 << 32);
            self.high = (self.high << 8) % (1 << 32) + 255;
            let next = u64::from(self.bytes.pop_front().unwrap_or(0));
            self.number = (self.number << 8) % (1 << 32) + next;
        }
        yes
    }

    fn chance(&self, context: u64) -> u64 {
        self.chances
            .get(&(context >> self.chance_shift))
            .map_or(1 << 11, |(p, _)| p >> 10)
    }

    fn learn(&mut self, context: u64, yes: bool) {
        let (p, count) = self
            .chances
            .entry(context >> self.chance_shift)
            .or_insert((1 << 21, 0));
        let rate = (1 << 17) / (2 * *count + 3);
        *p = if yes {
            *p + ((((1 << 22) - 1 - *p) * rate) >> 16)
        } else {
            *p - ((*p * rate) >> 16)
        };
        *count = (*count + 1).min(127);
    }

    fn single(&mut self, context: &[u64]) -> bool {
        let context = hash(context);
        let yes = self.decide(self.chance(context).max(1));
        self.learn(context, yes);
        yes
    }

    fn mixed(&mut self, set: u64, contexts: &[u64]) -> bool {
        let logits: Vec<i64> = contexts
            .iter()
            .map(|context| self.logits[usize::try_from(self.chance(*context)).unwrap()])
            .collect();
        let weights = self
            .weights
            .entry(set)
            .or_insert_with(|| vec![22_000; 4])
            .clone();
        let sum: i64 = logits.iter().zip(&weights).map(|(x, w)| x * w).sum();
        let chance = squash((sum / 65_536).clamp(-2047, 2047)).clamp(1, 4095);
        let yes = self.decide(u64::try_from(chance).unwrap());
        let e = (if yes { 4096 } else { 0 } - chance) * 10;
        for (weight, x) in self.weights.get_mut(&set).unwrap().iter_mut().zip(&logits) {
            *weight += (x * e + 8192).div_euclid(16_384);
        }
        for context in contexts {
            self.learn(*context, yes);
        }
        yes
    }

    fn mix(&mut self, set: u64, contexts: &[&[u64]]) -> bool {
        let contexts: Contexts = contexts.iter().map(|context| hash(context)).collect();
        self.mixed(set, &contexts)
    }

    fn symbol(&mut self, set: u64, bits: u32, contexts: &[&[u64]]) -> u64 {
        let mut path = 1;
        for _ in 0..bits {
            let contexts: Contexts = contexts
                .iter()
                .map(|context| hash(&[hash(context), path]))
                .collect();
            path = path * 2 + u64::from(self.mixed(set, &contexts));
        }
        path - (1 << bits)
    }

    fn number_at(&mut self, at: &[u64]) -> u64 {
        let c = hash(at);
        let mut bits = 0;
        while bits < 63 && self.single(&[c, 1, bits]) {
            bits += 1;
        }
        let mut m = 1u64;
        for j in (0..bits).rev() {
            let yes = if bits - j <= 3 {
                self.single(&[c, 2, bits, m % 256])
            } else {
                self.single(&[c, 3, bits, j])
            };
            m = m * 2 + u64::from(yes);
        }
        m - 1
    }

    fn signed_at(&mut self, at: &[u64]) -> i64 {
        let folded = self.number_at(at);
        let half = i64::try_from(folded / 2).unwrap();
        if folded % 2 == 1 { -half - 1 } else { half }
    }

    fn count(&mut self, column: u64, first: u64, contexts: [&[u64]; 3]) -> u64 {
        let contexts = contexts.map(hash);
        let mut tried = Vec::new();
        let mut found = None;
        for (i, c) in (0..).zip(contexts) {
            let Some((g, repeats)) = self.guesses.get(&(c >> self.table_shift)).copied() else {
                continue;
            };
            if tried.contains(&g) {
                continue;
            }
            let set = first + 2 * i + u64::from(repeats > 1);
            if self.mix(
                set,
                &[&[91, i, repeats, column], &[92, c], &[93, i, g, column]],
            ) {
                found = Some(g);
                break;
            }
            tried.push(g);
        }
        let number = match found {
            Some(number) => number,
            None => self.number_at(&[94, column]),
        };
        for c in contexts {
            let guess = self
                .guesses
                .entry(c >> self.table_shift)
                .or_insert((number, u64::MAX));
            *guess = if guess.0 == number && guess.1 != u64::MAX {
                (number, (guess.1 + 1).min(7))
            } else {
                (number, 0)
            };
        }
        number
    }

    fn literal(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        let hex = |bytes: &[u8]| {
            bytes.iter().fold(String::new(), |digits, byte| {
                digits + &format!("{byte:02x}")
            })
        };
        loop {
            match self.literals[0].remove(0) {
                0 => return out,
                1 => {
                    let bytes: Vec<u8> = self.literals[1].drain(..16).collect();
                    let uuid = u128::from_str_radix(&hex(&bytes), 16).unwrap();
                    self.uuids.push(uuid);
                    out.extend(crate::uid::uuid_text(uuid).bytes());
                }
                2 => {
                    let digits = usize::from(self.literals[0].remove(0));
                    let bytes: Vec<u8> = self.literals[1].drain(..digits / 2).collect();
                    out.extend(hex(&bytes).bytes());
                }
                which @ (3 | 4) => {
                    let rest = self.literals[2].clone();
                    let mut fields = FieldReader::new(&rest, "a number");
                    let uuid = if which == 3 {
                        let ago = usize::try_from(fields.number().unwrap()).unwrap();
                        self.uuids[self.uuids.len() - 1 - ago]
                    } else {
                        let step = isize::try_from(fields.signed().unwrap()).unwrap();
                        let place = self.newest_place.checked_add_signed(-step).unwrap();
                        self.objects[place].1.unwrap()
                    };
                    self.literals[2] = fields.rest().to_vec();
                    out.extend(crate::uid::uuid_text(uuid).bytes());
                }
                5 => out.push(self.literals[0].remove(0)),
                byte => out.push(byte),
            }
        }
    }

    fn intern(&mut self, text: Vec<u8>) -> u64 {
        let at = self.texts.iter().position(|known| *known == text);
        let at = at.unwrap_or_else(|| {
            self.texts.push(text);
            self.texts.len() - 1
        });
        u64::try_from(at).unwrap()
    }

    fn piece(
        &mut self,
        contexts: [u64; 4],
        (r, k): (u64, u64),
        version: Option<u64>,
        wall: i64,
    ) -> PieceRange {
        let mut tried: Vec<PieceRange> = Vec::new();
        let mut found = None;
        'search: for (i, c) in (0u64..).zip(contexts) {
            let (known, repeats) = self
                .candidates
                .get(&(c >> self.table_shift))
                .cloned()
                .unwrap_or_default();
            for (s, piece) in (0u64..).zip(known) {
                if tried.contains(&piece) {
                    continue;
                }
                let (rank, count) = (2 * i + s, u64::try_from(tried.len()).unwrap());
                let print = hash(&[piece.0, piece.1, piece.2]);
                let mixed: [&[u64]; 4] = [
                    &[31, rank, repeats, count],
                    &[32, piece.0, rank, repeats.min(3)],
                    &[33, print, k],
                    &[34, contexts[1], count],
                ];
                if self.mix(4 * rank + repeats.min(3), &mixed) {
                    found = Some(piece);
                    break 'search;
                }
                tried.push(piece);
                if tried.len() == 6 {
                    break 'search;
                }
            }
        }
        let piece = if let Some(piece) = found {
            piece
        } else {
            let key = self.key(contexts[2], k, &tried);
            let (value, how) = self.value(contexts[2], (r, k, key), &tried, version, wall);
            let mixed: [&[u64]; 4] = [
                &[81, key],
                &[82, value],
                &[83, contexts[2], key],
                &[84, how, key, k],
            ];
            let end = self.symbol(60, 3, &mixed);
            (key, value, end)
        };
        for c in contexts {
            let (known, repeats) = self.candidates.entry(c >> self.table_shift).or_default();
            if known.first() == Some(&piece) {
                *repeats = (*repeats + 1).min(7);
            } else {
                known.insert(0, piece);
                known.truncate(2);
                *repeats = 0;
            }
        }
        let place = |key: u64| usize::try_from(key).unwrap();
        let front = |list: &mut Vec<u64>, number: u64, most: usize| {
            list.retain(|known| *known != number);
            list.insert(0, number);
            list.truncate(most);
        };
        front(&mut self.keys[place(piece.0)].1, piece.1, 12);
        front(&mut self.keys[place(k)].2, piece.0, 16);
        if let Some(PieceTime::Seconds(t)) = PieceTime::parse(&self.texts[place(piece.1)]) {
            self.t = t;
        }
        piece
    }

    fn key(&mut self, c2: u64, k: u64, tried: &[PieceRange]) -> u64 {
        let mut keys: Vec<u64> = Vec::new();
        for piece in tried {
            if !keys.contains(&piece.0) {
                keys.push(piece.0);
            }
        }
        let n = u64::try_from(keys.len()).unwrap();
        for key in self.keys[usize::try_from(k).unwrap()].2.clone() {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        for (j, key) in (0..).zip(keys) {
            let q = j.min(12) + if j >= n { 256 } else { 0 };
            let mixed: [&[u64]; 4] = [&[41, q, n], &[42, key, k], &[43, c2, q], &[44, key, q]];
            if self.mix(32 + j.min(12), &mixed) {
                return key;
            }
        }
        let newest = u64::try_from(self.keys.len()).unwrap() - 1;
        if self.single(&[45]) {
            return newest - self.number_at(&[46]);
        }
        let text = self.literal();
        let text = self.intern(text);
        let known = (0..).zip(&self.keys).find(|(_, key)| key.0 == text);
        let known = known.map(|(key, _)| key);
        known.unwrap_or_else(|| {
            self.keys.push((text, vec![], vec![]));
            newest + 1
        })
    }

    fn value(
        &mut self,
        c2: u64,
        (r, k, key): (u64, u64, u64),
        tried: &[PieceRange],
        version: Option<u64>,
        wall: i64,
    ) -> (u64, u64) {
        let count = u64::try_from(tried.len()).unwrap();
        let mixed: [&[u64]; 4] = [&[51, key], &[52, key, r, count], &[53, c2], &[54, key, k]];
        let how = self.symbol(45, 3, &mixed);
        let values = self.keys[usize::try_from(key).unwrap()].1.clone();
        let text = match how {
            0 => {
                let mut u = 0;
                for (place, v) in (0..).zip(values) {
                    let t = u64::from(tried.iter().any(|piece| (piece.0, piece.1) == (key, v)));
                    u += 1 - t;
                    let mixed: [&[u64]; 4] = [
                        &[61, key, 2 * place + t],
                        &[62, u, t],
                        &[63, key, v, k],
                        &[64, c2, v],
                    ];
                    if self.mix(46 + 2 * u.min(6) + t, &mixed) {
                        return (v, how);
                    }
                }
                panic!("none of a key's values");
            }
            1 => format!("\"{}\"", version.unwrap()).into_bytes(),
            2 => {
                let is_near = self.single(&[71, key]);
                let from = if is_near {
                    self.t
                } else {
                    wall.div_euclid(1_000_000)
                };
                let step = self.signed_at(&[72, u64::from(is_near), key]);
                PieceTime::Seconds(from + step).text().unwrap()
            }
            3 => {
                let last = &self.texts[usize::try_from(values[0]).unwrap()];
                let last = Number::parse(last).unwrap();
                last.plus(self.signed_at(&[73, key])).unwrap().text()
            }
            4 => {
                let newest = u64::try_from(self.texts.len()).unwrap() - 1;
                return (newest - self.number_at(&[74]), how);
            }
            5 => self.literal(),
            6 => PieceTime::Micros(wall - self.signed_at(&[75, key]))
                .text()
                .unwrap(),
            other => panic!("{other} is not a way to give a value"),
        };
        (self.intern(text), how)
    }

    fn block(&mut self, packed: &[u8], facts: &BlockFacts) -> Vec<u8> {
        let mut fields = FieldReader::new(&packed[frame::HEADER..], "a payload");
        self.bytes = fields
            .sized(packed.len())
            .unwrap()
            .iter()
            .copied()
            .collect();
        let len = fields.len_at_most(1 << 30).unwrap();
        let start = self.history.len().saturating_sub(MAX_PREFIX);
        let columns = frame::inflate(len, fields.rest(), &self.history[start..]).unwrap();
        self.history.extend_from_slice(&columns);
        let mut fields = FieldReader::new(&columns, "literals");
        self.literals = [(); 3].map(|()| fields.sized(len).unwrap().to_vec());
        let blobs = fields.sized(len).unwrap();
        (self.low, self.high, self.number) = (0, (1 << 32) - 1, 0);
        for _ in 0..4 {
            self.number = self.number << 8 | u64::from(self.bytes.pop_front().unwrap_or(0));
        }
        let first = *self.first.get_or_insert(facts.first_object.into());
        let objects = facts.objects.iter();
        self.objects
            .extend(objects.map(|(resource, uid)| (u64::from(*resource), *uid)));
        let [mut entries, mut ops, mut text] = [const { Vec::new() }; 3];
        for event in &facts.events {
            let place = u64::from(event.object).checked_sub(first);
            let facts = (u64::from(event.object), place, event.version, event.wall);
            let (hunks, own, base) = self.event(facts);
            put(&mut entries, base.into());
            put_len(&mut entries, hunks.len());
            put_len(&mut entries, own.len());
            ops.extend(hunks);
            text.extend(own);
        }
        let mut out = Vec::new();
        for column in [&entries[..], &ops, &text, blobs] {
            put_len(&mut out, column.len());
            out.extend_from_slice(column);
        }
        out
    }

    #[expect(
        clippy::too_many_lines,
        reason = "the steps of the specification, in their order"
    )]
    fn event(
        &mut self,
        (o, place, version, wall): (u64, Option<u64>, Option<u64>, i64),
    ) -> (Vec<u8>, Vec<u8>, u64) {
        let seen = match (self.shapes.contains_key(&o), place) {
            (true, _) => 0,
            (false, Some(_)) => 1,
            (false, None) => 2,
        };
        let r = if let Some(place) = place {
            let place = usize::try_from(place).unwrap();
            self.newest_place = self.newest_place.max(place);
            self.objects[place].0
        } else if let Some(r) = self.resources.get(&o) {
            *r
        } else {
            let r = self.number_at(&[101]);
            self.resources.insert(o, r);
            r
        };
        let symbol = self.symbol(61, 2, &[&[102, seen], &[103, r, seen]]);
        let mut base = symbol;
        if symbol == 2 {
            let newest = self.newest.get(&r).copied().unwrap_or(0);
            let last = self.bases.get(&r).copied().unwrap_or(0);
            let other = if self.single(&[104, r]) {
                newest
            } else if self.single(&[105, r]) {
                last
            } else {
                o.checked_add_signed(-self.signed_at(&[106])).unwrap()
            };
            self.bases.insert(r, other);
            base = other + 2;
        }
        if symbol == 2 || seen == 1 {
            self.newest.insert(r, o);
        }
        let (mut shape, mut before) = (hash(&[symbol, seen]), 0);
        let mut last = shape;
        let old = self.shapes.get(&o).copied().unwrap_or(0);
        let (mut p, mut k) = ([0u64; 3], 0);
        let (mut ops, mut text) = (Vec::new(), Vec::new());
        loop {
            let is_end: [&[u64]; 4] = [
                &[111, shape, r],
                &[112, last, r, p[0]],
                &[113, old, last, before],
                &[114, k, r],
            ];
            if self.mix(62, &is_end) {
                break;
            }
            let copy = self.count(
                3,
                65,
                [
                    &[121, shape, old, r],
                    &[122, last, before, r],
                    &[123, r, last, k],
                ],
            );
            let skip = self.count(
                4,
                71,
                [
                    &[124, shape, copy, r],
                    &[125, last, copy, r],
                    &[126, r, copy, k],
                ],
            );
            let insert: [&[u64]; 3] = [
                &[127, copy, skip, r],
                &[128, last, copy, skip],
                &[129, shape, copy, r],
            ];
            let what = self.symbol(63, 2, &insert);
            before = last;
            last = hash(&[copy, skip, what]);
            shape = hash(&[shape, last]);
            let start = text.len();
            let mut inserted = 0;
            if what == 2 {
                let blob = if self.single(&[131]) {
                    self.newest_blob + 1
                } else {
                    self.last_blob + self.signed_at(&[132])
                };
                self.last_blob = blob;
                self.newest_blob = self.newest_blob.max(blob);
                (k, p[0]) = (0, hash(&[999]));
                inserted = u64::try_from(blob).unwrap() * 2 + 1;
            }
            let mut is_text = what == 1;
            while is_text {
                let contexts: [&[u64]; 4] = if text.len() == start {
                    [
                        &[4, o, shape],
                        &[5, r, shape],
                        &[6, r, last, p[0]],
                        &[7, r, copy, skip],
                    ]
                } else {
                    [
                        &[8, o, shape, p[0]],
                        &[1, p[0], p[1], p[2]],
                        &[2, p[0], p[1]],
                        &[3, p[0]],
                    ]
                };
                let piece = self.piece(contexts.map(hash), (r, k), version, wall);
                let key = &self.keys[usize::try_from(piece.0).unwrap()];
                text.extend_from_slice(&self.texts[usize::try_from(key.0).unwrap()]);
                text.extend_from_slice(&self.texts[usize::try_from(piece.1).unwrap()]);
                text.extend(b",{}[]".get(usize::try_from(piece.2).unwrap()));
                p = [hash(&[piece.0, piece.1, piece.2]), p[0], p[1]];
                k = piece.0;
                inserted = 2 * u64::try_from(text.len() - start).unwrap();
                let is_end: [&[u64]; 4] = [
                    &[141, p[0], p[1]],
                    &[142, k, shape],
                    &[143, p[0]],
                    &[144, skip, r, k],
                ];
                is_text = !self.mix(64, &is_end);
            }
            for number in [copy, skip, inserted] {
                put(&mut ops, number.into());
            }
        }
        self.shapes.insert(o, shape);
        (ops, text, base)
    }
}

/// Compares both decoders on the blocks of a group.
pub(super) fn assert_alike(blocks: &[(Vec<u8>, BlockFacts)]) {
    let Some((first, _)) = blocks.first() else {
        return;
    };
    let size = ModelSize::of(frame::form_of(first).unwrap()).unwrap();
    let (mut model, mut oracle) = (BodyModel::new(size), Oracle::new(first[0]));
    for (packed, facts) in blocks {
        let raw = model.unpack(packed, facts, 1 << 24).unwrap();
        assert!(oracle.block(packed, facts) == raw, "the decoders disagree");
    }
}
