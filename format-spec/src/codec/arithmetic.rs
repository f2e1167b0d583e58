//! Arithmetic coding of binary decisions, and the adaptive probabilities that it codes them with.
//!
//! Everything is integer arithmetic, so that each platform reads the same decisions from the same bytes. A decoder
//! reads zeros behind the end of its bytes: any bytes decode to some decisions, and the checksum of the result
//! shows whether they are the right ones.

use crate::limits::place32;

/// Probabilities that a decision is "yes" are given in parts of this.
const WHOLE: u32 = 1 << 12;

/// Codes decisions one after another: writes the given ones, or reads them.
pub(crate) trait DecisionCoder {
    /// Codes a decision whose probability of "yes" is `chance` in 4096, at least 1 and at most 4095. A writer writes
    /// `wanted` and returns it, a reader returns the written decision.
    fn decide(&mut self, wanted: bool, chance: u32) -> bool;
}

/// The part of the number range that the decisions so far have left, both ends inclusive.
#[derive(Clone, Copy, Debug)]
struct CodeInterval {
    low: u32,
    high: u32,
}

impl CodeInterval {
    const ALL: Self = Self {
        low: 0,
        high: u32::MAX,
    };

    /// Returns the last number of the part that "yes" gets.
    const fn split(self, chance: u32) -> u32 {
        let width = self.high - self.low;
        // Below `high`, because `chance` is below `WHOLE`; so that "no" has a part as well.
        self.low + (width / WHOLE) * chance + (width % WHOLE) * chance / WHOLE
    }

    const fn take(&mut self, decision: bool, split: u32) {
        if decision {
            self.high = split;
        } else {
            self.low = split + 1;
        }
    }

    /// Returns the byte that all numbers of the interval begin with, if they do, and takes it off.
    const fn settled_byte(&mut self) -> Option<u8> {
        let [low, ..] = self.low.to_be_bytes();
        let [high, ..] = self.high.to_be_bytes();
        if low != high {
            return None;
        }
        self.low <<= 8;
        self.high = self.high << 8 | 0xff;
        Some(low)
    }
}

/// Writes decisions.
#[derive(Debug)]
pub(crate) struct DecisionWriter {
    interval: CodeInterval,
    out: Vec<u8>,
}

impl DecisionWriter {
    pub(crate) const fn new() -> Self {
        Self {
            interval: CodeInterval::ALL,
            out: Vec::new(),
        }
    }

    /// Returns the bytes of all decisions.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        // Any number of the interval will do: the one that has the most zeros at its end, which need not be written.
        let CodeInterval { low, high } = self.interval;
        let number = (0..=24)
            .rev()
            .step_by(8)
            .map(|bits| {
                let step = 1u32 << bits;
                low.div_ceil(step).saturating_mul(step)
            })
            .find(|number| (low..=high).contains(number))
            .unwrap_or(low);
        self.out.extend_from_slice(&number.to_be_bytes());
        let used = self
            .out
            .iter()
            .rposition(|byte| *byte != 0)
            .map_or(0, |last| last.saturating_add(1));
        self.out.truncate(used);
        self.out
    }
}

impl DecisionCoder for DecisionWriter {
    fn decide(&mut self, wanted: bool, chance: u32) -> bool {
        let split = self.interval.split(chance);
        self.interval.take(wanted, split);
        while let Some(byte) = self.interval.settled_byte() {
            self.out.push(byte);
        }
        wanted
    }
}

/// Reads decisions.
#[derive(Debug)]
pub(crate) struct DecisionReader<'a> {
    interval: CodeInterval,
    number: u32,
    rest: std::slice::Iter<'a, u8>,
}

impl<'a> DecisionReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        let mut reader = Self {
            interval: CodeInterval::ALL,
            number: 0,
            rest: bytes.iter(),
        };
        for _ in 0..4 {
            reader.shift();
        }
        reader
    }

    fn shift(&mut self) {
        let next = self.rest.next().copied().unwrap_or(0);
        self.number = self.number << 8 | u32::from(next);
    }
}

impl DecisionCoder for DecisionReader<'_> {
    fn decide(&mut self, _wanted: bool, chance: u32) -> bool {
        let split = self.interval.split(chance);
        let decision = self.number <= split;
        self.interval.take(decision, split);
        while self.interval.settled_byte().is_some() {
            self.shift();
        }
        decision
    }
}

/// The logistic function at -8, -7.5, … 8, in parts of [`WHOLE`]; between them lie straight lines.
const LOGISTIC: [i32; 33] = [
    1, 2, 3, 6, 10, 16, 27, 45, 73, 120, 194, 310, 488, 747, 1101, 1546, 2048, 2550, 2995, 3349,
    3608, 3786, 3902, 3976, 4023, 4051, 4069, 4080, 4086, 4090, 4093, 4094, 4095,
];

/// The bound of a logit: odds of e to the 8th, in parts of 256 of the exponent.
const MOST_LOGIT: i16 = 2047;

/// Returns the point of the line behind a place of [`LOGISTIC`], in parts of 128 of its length.
#[expect(clippy::indexing_slicing, reason = "logits are between two of the 33")]
const fn between(place: usize, part: i32) -> i32 {
    (LOGISTIC[place] * (128 - part) + LOGISTIC[place + 1] * part + 64) / 128
}

/// Returns the probability of a logit.
fn squash(logit: i32) -> i32 {
    let shifted = (logit.clamp(-i32::from(MOST_LOGIT), MOST_LOGIT.into()) + 2048).unsigned_abs();
    between(place32(shifted / 128), (shifted % 128).cast_signed())
}

/// The logit of each probability: the least whose [`squash`] is not below it.
#[expect(clippy::indexing_slicing, reason = "computed when this is compiled")]
static LOGITS: [i16; 4096] = {
    let mut logits = [MOST_LOGIT; 4096];
    let (mut place, mut part, mut logit) = (0, 1, -MOST_LOGIT);
    let (mut next, mut chance) = (0, 0);
    while logit < MOST_LOGIT {
        while chance <= between(place, part) {
            logits[next] = logit;
            next += 1;
            chance += 1;
        }
        logit += 1;
        part += 1;
        if part == 128 {
            place += 1;
            part = 0;
        }
    }
    logits
};

/// A probability moves by at least 1 in this many of what it was wrong.
const SLOWEST: u32 = 127;
/// The share of its error by which a probability moves, in parts of 65,536, by the number of its earlier uses.
#[expect(clippy::indexing_slicing, reason = "computed when this is compiled")]
const RATES: [u32; 128] = {
    let mut rates = [0; 128];
    let mut used = 0;
    let mut divisor = 3;
    while used < 128 {
        rates[used] = (1 << 17) / divisor;
        used += 1;
        divisor += 2;
    }
    rates
};
/// How many probabilities are mixed at most.
pub(crate) const MOST_MIXED: usize = 4;
/// A weight of one, and the weight that each input begins with.
const WEIGHT_ONE: i32 = 1 << 16;
const FIRST_WEIGHT: i32 = 22_000;

/// A probability in the making: 22 bits of it, and how often it was used.
#[derive(Clone, Copy, Debug)]
struct Chance(u32);

impl Chance {
    const EVEN: Self = Self(1 << 31);

    /// Returns its 12 bits.
    const fn twelve_bits(self) -> u32 {
        self.0 >> 20
    }

    fn learn(&mut self, decision: bool) {
        let used = self.0 & 0x3ff;
        let chance = self.0 >> 10;
        // Below one half of 2^17, times 22 bits: 38 bits.
        let rate = RATES.get(place32(used)).copied().map_or(0, widen);
        let moved = if decision {
            chance + shift16(widen((1 << 22) - 1 - chance) * rate)
        } else {
            chance - shift16(widen(chance) * rate)
        };
        let used = if used < SLOWEST { used + 1 } else { used };
        self.0 = moved << 10 | used;
    }
}

fn widen(number: u32) -> u64 {
    u64::from(number)
}

/// Divides a product of at most 39 bits by 2 to the 16th.
fn shift16(product: u64) -> u32 {
    let [_, _, a, b, c, d, ..] = product.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// Hashes numbers to a context: what a decision depends on.
pub(crate) fn context<const N: usize>(numbers: [u32; N]) -> u32 {
    let mixed = numbers.iter().fold(0x1234_5678_u32, |hash, number| {
        (hash ^ number).wrapping_mul(0x9e37_79b1).rotate_left(15)
    });
    mixed ^ mixed >> 16
}

/// The adaptive probabilities of all contexts, and the weights with which those of one decision are mixed.
#[derive(Clone, Debug)]
pub(crate) struct Chances {
    table: Box<[Chance]>,
    /// How many there are, as a power of two.
    bits: u32,
    weights: Box<[[i32; MOST_MIXED]]>,
}

impl Chances {
    /// Makes even ones, 2 to the power of `bits` of them, with `sets` sets of weights. Contexts that share one disturb
    /// each other: more of them predict better, and take more memory.
    pub(crate) fn new(bits: u32, sets: usize) -> Self {
        Self {
            table: vec![Chance::EVEN; 1 << bits].into(),
            bits,
            weights: vec![[FIRST_WEIGHT; MOST_MIXED]; sets].into(),
        }
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "there are as many as the bits name"
    )]
    fn chance(&mut self, context: u32) -> &mut Chance {
        &mut self.table[place32(context >> (32 - self.bits))]
    }

    /// Codes a decision with the probability of one context.
    pub(crate) fn single(
        &mut self,
        coder: &mut impl DecisionCoder,
        context: u32,
        wanted: bool,
    ) -> bool {
        let chance = self.chance(context);
        let decision = coder.decide(wanted, chance.twelve_bits().clamp(1, WHOLE - 1));
        chance.learn(decision);
        decision
    }

    /// Codes a decision with the probabilities of some contexts, mixed by a set of weights: the weights move towards
    /// the contexts that were right.
    #[expect(
        clippy::expect_used,
        clippy::indexing_slicing,
        reason = "sets are constants; twelve bits have logits; the sum is clamped"
    )]
    pub(crate) fn mixed<const N: usize>(
        &mut self,
        coder: &mut impl DecisionCoder,
        set: usize,
        contexts: [u32; N],
        wanted: bool,
    ) -> bool {
        let logits =
            contexts.map(|context| i32::from(LOGITS[place32(self.chance(context).twelve_bits())]));
        let weights = &mut self.weights[set];
        let sum: i64 = logits
            .iter()
            .zip(weights.iter())
            .map(|(logit, weight)| i64::from(*logit) * i64::from(*weight))
            .sum();
        let logit = (sum / i64::from(WEIGHT_ONE)).clamp(-i64::from(MOST_LOGIT), MOST_LOGIT.into());
        let logit = i32::try_from(logit).expect("a clamped logit has 12 bits");
        let chance = squash(logit).clamp(1, 4095);
        let decision = coder.decide(wanted, chance.unsigned_abs());
        let error = (if decision { 4096 } else { 0 } - chance) * 10;
        for (logit, weight) in logits.iter().zip(weights.iter_mut()) {
            *weight = weight.saturating_add((logit * error + 0x2000) >> 14);
        }
        for context in contexts {
            self.chance(context).learn(decision);
        }
        decision
    }

    /// Codes a number below 2 to the power of `bits`, its highest bit first.
    pub(crate) fn symbol<const N: usize>(
        &mut self,
        coder: &mut impl DecisionCoder,
        (set, bits): (usize, u32),
        contexts: [u32; N],
        wanted: u32,
    ) -> u32 {
        let mut path = 1u32;
        for bit in (0..bits).rev() {
            let contexts = contexts.map(|at| context([at, path]));
            let decision = self.mixed(coder, set, contexts, wanted >> bit & 1 == 1);
            path = path << 1 | u32::from(decision);
        }
        path & !(1 << bits)
    }

    /// Codes any number: how many bits it has, then the bits below its highest.
    pub(crate) fn number(&mut self, coder: &mut impl DecisionCoder, at: u32, wanted: u64) -> u64 {
        let wanted = wanted.saturating_add(1);
        let mut bits = 0u32;
        while bits < 63 && self.single(coder, context([at, 1, bits]), bits < wanted.ilog2()) {
            bits += 1;
        }
        let mut number = 1u64;
        for bit in (0..bits).rev() {
            // The first bits depend on each other; those behind them are noise.
            let place = if bits - bit <= 3 {
                let [first, ..] = number.to_le_bytes();
                context([at, 2, bits, first.into()])
            } else {
                context([at, 3, bits, bit])
            };
            let decision = self.single(coder, place, wanted >> bit & 1 == 1);
            number = number << 1 | u64::from(decision);
        }
        number - 1
    }

    /// Codes a signed number.
    pub(crate) fn signed(&mut self, coder: &mut impl DecisionCoder, at: u32, wanted: i64) -> i64 {
        let folded = (wanted << 1 ^ wanted >> 63).cast_unsigned();
        let found = self.number(coder, at, folded);
        (found >> 1).cast_signed() ^ -(found & 1).cast_signed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_table_is_the_logistic_function() {
        for (place, value) in (-16i32..).zip(LOGISTIC) {
            let exact = 4096.0 / (1.0 + (-f64::from(place) / 2.0).exp());
            assert!((exact - f64::from(value)).abs() < 1.01, "{place}: {exact}");
        }
        assert!((-2047..2047).all(|logit| squash(logit) <= squash(logit + 1)));
        assert!((1..4095).all(|chance| {
            let logit = i32::from(LOGITS[usize::try_from(chance).unwrap()]);
            squash(logit) >= chance && squash(logit) <= chance + 9
        }));
    }

    proptest! {
        #[test]
        fn decisions_come_back(decisions in prop::collection::vec((any::<bool>(), 1u32..4096), 0..2000)) {
            let mut writer = DecisionWriter::new();
            for (decision, chance) in &decisions {
                writer.decide(*decision, *chance);
            }
            let bytes = writer.finish();
            let mut reader = DecisionReader::new(&bytes);
            for (decision, chance) in &decisions {
                prop_assert_eq!(reader.decide(false, *chance), *decision);
            }
        }

        #[test]
        fn numbers_come_back(numbers in prop::collection::vec((any::<u64>(), 0u32..64, any::<i64>()), 0..200)) {
            let mut writer = DecisionWriter::new();
            let mut chances = Chances::new(18, 1);
            let small = |number: u64, bits: u32| (number >> bits).min(u64::MAX - 1);
            for (number, bits, signed) in &numbers {
                chances.number(&mut writer, 7, small(*number, *bits));
                chances.signed(&mut writer, 8, *signed >> bits.min(&62));
                chances.symbol(&mut writer, (0, 3), [1, 2], *bits & 7);
            }
            let bytes = writer.finish();
            let mut reader = DecisionReader::new(&bytes);
            let mut chances = Chances::new(18, 1);
            for (number, bits, signed) in &numbers {
                prop_assert_eq!(chances.number(&mut reader, 7, 0), small(*number, *bits));
                prop_assert_eq!(chances.signed(&mut reader, 8, 0), *signed >> bits.min(&62));
                prop_assert_eq!(chances.symbol(&mut reader, (0, 3), [1, 2], 0), *bits & 7);
            }
        }
    }

    #[test]
    fn what_repeats_costs_little() {
        let mut writer = DecisionWriter::new();
        let mut chances = Chances::new(18, 1);
        for at in 0..10_000u32 {
            chances.mixed(
                &mut writer,
                0,
                [context([1]), context([2, at % 3])],
                at % 3 == 0,
            );
        }
        assert!(writer.finish().len() < 100);
    }
}
