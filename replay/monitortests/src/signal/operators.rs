//! Owns the operators that look for spans of time. Refuses to find what is not certain: an unknown time
//! is neither true nor false, and what hangs on it is doubtful.

use super::truth::{Signal, Spell, Truth};

/// The life of a thing, as far as it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Life {
    /// When it appeared, in microseconds.
    pub(crate) from: i64,
    /// When it went, or the end of the run.
    pub(crate) to: i64,
    /// Whether it went.
    pub(crate) is_gone: bool,
}

/// Something found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// When it began.
    pub(crate) from: i64,
    /// When it ended; `None` if it did not.
    pub(crate) to: Option<i64>,
    /// The evidence, by number.
    pub(crate) evidence: Option<usize>,
}

/// What an operator found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Judged {
    /// What is certain.
    pub(crate) found: Vec<Found>,
    /// The unknown times for which it is not certain that nothing else is to be found.
    pub(crate) doubts: Vec<(i64, i64)>,
}

impl Judged {
    fn find(&mut self, from: i64, to: i64, life: Life, evidence: Option<usize>) {
        let is_open = to >= life.to && !life.is_gone && from < to;
        self.found.push(Found {
            from,
            to: (!is_open).then_some(to),
            evidence,
        });
    }

    fn doubt(&mut self, spells: impl IntoIterator<Item = Spell>) {
        let unknown = spells
            .into_iter()
            .filter(|spell| spell.truth == Truth::Unknown);
        self.doubts
            .extend(unknown.map(|spell| (spell.from, spell.to)));
    }
}

fn during(signal: &Signal, from: i64, to: i64) -> impl Iterator<Item = Spell> + '_ {
    let spells = signal.spells().iter().copied();
    spells.filter(move |spell| {
        let is_touching = spell.from <= to && spell.to >= from;
        // A spell that ends where the time begins is over, unless it is an instant.
        is_touching && (spell.to > from || spell.from == spell.to)
    })
}

/// Finds spans in which a predicate was true for long enough.
pub(crate) fn never(signal: &Signal, at_least: i64, life: Life) -> Judged {
    let mut judged = Judged::default();
    // Spells that are true or may have been, one after the other.
    let mut chain: Vec<Spell> = Vec::new();
    for spell in signal.spells() {
        if spell.truth == Truth::True && spell.to - spell.from >= at_least {
            judged.find(spell.from, spell.to, life, spell.evidence);
        }
        match spell.truth {
            Truth::True | Truth::Unknown => chain.push(*spell),
            Truth::False | Truth::Silent => doubt_chain(&mut judged, &mut chain, at_least),
        }
    }
    doubt_chain(&mut judged, &mut chain, at_least);
    judged
}

fn doubt_chain(judged: &mut Judged, chain: &mut Vec<Spell>, at_least: i64) {
    let length = match (chain.first(), chain.last()) {
        (Some(first), Some(last)) => last.to - first.from,
        _ => return,
    };
    let spells = std::mem::take(chain);
    if length >= at_least {
        judged.doubt(spells);
    }
}

/// Finds spans in which a predicate was false for long enough.
pub(crate) fn always(signal: &Signal, at_least: i64, life: Life) -> Judged {
    never(&signal.not(), at_least, life)
}

/// Finds whether a predicate was false at the end of the run.
pub(crate) fn at_end(signal: &Signal, life: Life) -> Judged {
    let mut judged = Judged::default();
    if life.is_gone {
        return judged;
    }
    let Some(last) = signal.spells().last() else {
        return judged;
    };
    match last.truth {
        Truth::False => judged.find(last.from, last.to, life, last.evidence),
        Truth::Unknown => judged.doubt([*last]),
        Truth::True | Truth::Silent => {}
    }
    judged
}

/// Finds whether a predicate did not become true in time.
pub(crate) fn eventually(signal: &Signal, since: i64, within: Option<i64>, life: Life) -> Judged {
    let mut judged = Judged::default();
    let deadline = within.map_or(life.to, |within| since.saturating_add(within));
    if deadline > life.to || since > life.to {
        // It went, or the run ended, before the time was over.
        return judged;
    }
    let spells: Vec<Spell> = during(signal, since, deadline).collect();
    if spells.iter().any(|spell| spell.truth == Truth::True) || spells.is_empty() {
        return judged;
    }
    if spells.iter().all(|spell| spell.truth == Truth::Silent) {
        return judged;
    }
    if spells.iter().any(|spell| spell.truth == Truth::Unknown) {
        judged.doubt(spells);
        return judged;
    }
    let became = signal
        .spells()
        .iter()
        .find(|spell| spell.truth == Truth::True && spell.from >= deadline);
    let evidence = spells.iter().find_map(|spell| spell.evidence);
    let to = became.map_or(life.to, |spell| spell.from);
    judged.find(since, to, life, evidence);
    judged
}

/// Gives when a predicate became true: certain ones, those that may have been, and their evidence.
fn begins(signal: &Signal) -> impl Iterator<Item = (Spell, bool)> + '_ {
    let spells = signal.spells();
    let before = std::iter::once(None).chain(spells.iter().map(Some));
    spells
        .iter()
        .zip(before)
        .filter(|(spell, before)| {
            spell.truth == Truth::True && before.is_none_or(|before| before.truth != Truth::True)
        })
        .map(|(spell, before)| {
            let is_sure = before.is_none_or(|before| before.truth != Truth::Unknown);
            (*spell, is_sure)
        })
}

/// Finds where one thing was not followed by another in time.
pub(crate) fn leads_to(from: &Signal, to: &Signal, within: i64, life: Life) -> Judged {
    let mut judged = Judged::default();
    judged.doubt(from.spells().iter().copied());
    for (begin, is_sure) in begins(from) {
        let deadline = begin.from.saturating_add(within);
        if deadline > life.to {
            continue;
        }
        let spells: Vec<Spell> = during(to, begin.from, deadline).collect();
        if spells.iter().any(|spell| spell.truth == Truth::True) {
            continue;
        }
        if !is_sure || spells.iter().any(|spell| spell.truth == Truth::Unknown) {
            judged.doubt(spells);
            continue;
        }
        let came = to
            .spells()
            .iter()
            .find(|spell| spell.truth == Truth::True && spell.from > deadline);
        let end = came.map_or(life.to, |spell| spell.from);
        judged.find(begin.from, end, life, begin.evidence);
    }
    judged
}

/// Finds where one thing did not hold before another began.
pub(crate) fn until(hold: &Signal, until: &Signal, life: Life) -> Judged {
    let mut judged = Judged::default();
    let first = |truth| {
        let mut spells = until.spells().iter();
        spells.find(move |spell| spell.truth == truth)
    };
    let met = first(Truth::True).map_or(i64::MAX, |spell| spell.from);
    let doubtful = first(Truth::Unknown).map_or(i64::MAX, |spell| spell.from);
    for spell in hold.spells() {
        if spell.from >= met {
            break;
        }
        match spell.truth {
            Truth::False if spell.from < doubtful => {
                judged.find(spell.from, spell.to.min(met), life, spell.evidence);
            }
            Truth::False => judged.doubt(until.spells().iter().copied()),
            Truth::Unknown => judged.doubt([*spell]),
            Truth::True | Truth::Silent => {}
        }
    }
    judged
}

/// Finds where one thing did not hold for long enough after another began.
pub(crate) fn stays(after: &Signal, hold: &Signal, span: Option<i64>, life: Life) -> Judged {
    let mut judged = Judged::default();
    judged.doubt(after.spells().iter().copied());
    for (begin, is_sure) in begins(after) {
        let end = span.map_or(life.to, |span| begin.from.saturating_add(span));
        let end = end.min(life.to);
        for spell in during(hold, begin.from, end) {
            match spell.truth {
                Truth::False if is_sure => {
                    let from = spell.from.max(begin.from);
                    let evidence = spell.evidence.or(begin.evidence);
                    judged.find(from, spell.to, life, evidence);
                    break;
                }
                Truth::Unknown => judged.doubt([spell]),
                Truth::False | Truth::True | Truth::Silent => {}
            }
        }
    }
    judged
}

/// Finds whether a predicate was true for longer than that in sum.
pub(crate) fn total(signal: &Signal, above: i64, life: Life) -> Judged {
    let mut judged = Judged::default();
    let spells = signal.spells();
    let sum = |truth: Truth| -> i64 {
        let them = spells.iter().filter(|spell| spell.truth == truth);
        them.map(|spell| spell.to - spell.from).sum()
    };
    let known = sum(Truth::True);
    if known > above {
        let mut them = spells.iter().filter(|spell| spell.truth == Truth::True);
        if let Some(first) = them.next() {
            let last = them.next_back().unwrap_or(first);
            judged.find(first.from, last.to, life, first.evidence);
        }
    } else if known.saturating_add(sum(Truth::Unknown)) > above {
        judged.doubt(spells.iter().copied());
    }
    judged
}
