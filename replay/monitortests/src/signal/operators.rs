//! Temporal operators over signals. A finding is certain; a finding that depends on an unknown time is
//! reported as doubtful.

use super::truth::{Signal, SignalTruth, TruthSpan};

/// The life of a thing, as far as it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lifetime {
    /// When it appeared, in microseconds.
    pub(crate) from: i64,
    /// When it went, or the end of the run.
    pub(crate) to: i64,
    /// Whether it went.
    pub(crate) is_gone: bool,
    /// Whether changes at its end were observed: if not, what holds at the end is unknown.
    pub(crate) is_end_known: bool,
    /// When its object was first observed: not after `from`.
    pub(crate) observed: i64,
    /// When its object was created, if the object says so.
    pub(crate) created: Option<i64>,
    /// From when on no change of its object was missed, if it existed before.
    pub(crate) watched: Option<i64>,
}

impl Lifetime {
    /// Returns whether a time was over when the object was first observed.
    pub(crate) const fn is_before(self, (from, to): (i64, i64)) -> bool {
        from < self.observed && to <= self.observed
    }

    /// Returns the time from a moment on in which the object existed, and its changes were not observed.
    fn unwatched(self, since: i64) -> Option<(i64, i64)> {
        // Objects have the whole second of their creation.
        let watched = self.watched?.div_euclid(SECOND) * SECOND;
        let since = self.created.map_or(since, |created| since.max(created));
        (since < watched).then_some((since, watched))
    }
}

/// A second in microseconds.
const SECOND: i64 = 1_000_000;

/// Something found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SignalMatch {
    /// When it began.
    pub(crate) from: i64,
    /// When it ended; `None` if it did not.
    pub(crate) to: Option<i64>,
    /// The evidence, by number.
    pub(crate) evidence: Option<usize>,
}

/// What an operator found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SignalResult {
    /// What is certain.
    pub(crate) found: Vec<SignalMatch>,
    /// The unknown times for which it is not certain that nothing else is to be found.
    pub(crate) doubts: Vec<(i64, i64)>,
}

impl SignalResult {
    /// Adds something that lasted to a time, or with `None` to the end of the life.
    fn find(&mut self, from: i64, to: Option<i64>, life: Lifetime, evidence: Option<usize>) {
        let of_life = life.is_gone.then_some(life.to);
        self.found.push(SignalMatch {
            from,
            to: to.or(of_life),
            evidence,
        });
    }

    fn doubt(&mut self, spells: impl IntoIterator<Item = TruthSpan>) {
        let unknown = spells
            .into_iter()
            .filter(|spell| spell.truth == SignalTruth::Unknown);
        self.doubts
            .extend(unknown.map(|spell| (spell.from, spell.to)));
    }
}

/// Returns when a spell ended; `None` for the last one, which goes on. One that the last record ends is not the last.
fn end_of(signal: &Signal, spell: &TruthSpan) -> Option<i64> {
    (signal.spells().last() != Some(spell)).then_some(spell.to)
}

fn during(signal: &Signal, from: i64, to: i64) -> impl Iterator<Item = TruthSpan> + '_ {
    let spells = signal.spells().iter().copied();
    spells.filter(move |spell| {
        let is_touching = spell.from <= to && spell.to >= from;
        // A spell that ends where the time begins is over, unless it is an instant.
        is_touching && (spell.to > from || spell.from == spell.to)
    })
}

/// Finds spans in which a predicate was true for long enough.
pub(crate) fn never(signal: &Signal, at_least: i64, life: Lifetime) -> SignalResult {
    let mut judged = SignalResult::default();
    // Spells that are true or may have been, one after the other, each with its bounds.
    let mut chain: Vec<(TruthSpan, [(i64, i64); 2])> = Vec::new();
    let spells = signal.spells();
    let nexts = spells.iter().skip(1).map(Some).chain([None]);
    for (spell, next) in spells.iter().zip(nexts) {
        let bounds = spell.bounds(next);
        if spell.truth == SignalTruth::True && is_certain(bounds, at_least) {
            judged.find(spell.from, end_of(signal, spell), life, spell.evidence);
        }
        match spell.truth {
            SignalTruth::True | SignalTruth::Unknown => chain.push((*spell, bounds)),
            SignalTruth::False | SignalTruth::Silent => {
                doubt_chain(&mut judged, &mut chain, at_least);
            }
        }
    }
    doubt_chain(&mut judged, &mut chain, at_least);
    judged
}

/// Returns whether what began and ended in two times lasted long enough at any rate.
const fn is_certain([(_, begun), (ending, _)]: [(i64, i64); 2], at_least: i64) -> bool {
    ending - begun >= at_least
}

fn doubt_chain(
    judged: &mut SignalResult,
    chain: &mut Vec<(TruthSpan, [(i64, i64); 2])>,
    at_least: i64,
) {
    let length = match (chain.first(), chain.last()) {
        (Some((first, _)), Some((last, _))) => last.to - first.earliest,
        _ => return,
    };
    let spells = std::mem::take(chain);
    if length < at_least {
        return;
    }
    judged.doubt(spells.iter().map(|(spell, _)| *spell));
    let is_true = |(spell, _): &&(TruthSpan, _)| spell.truth == SignalTruth::True;
    let certain = spells.iter().filter(is_true);
    if !certain
        .clone()
        .any(|(_, bounds)| is_certain(*bounds, at_least))
    {
        let bounds = certain.flat_map(|(_, bounds)| bounds);
        judged.doubts.extend(bounds.filter(|(from, to)| from < to));
    }
}

/// Finds spans in which a predicate was false for long enough.
pub(crate) fn always(signal: &Signal, at_least: i64, life: Lifetime) -> SignalResult {
    never(&signal.not(), at_least, life)
}

/// Finds whether a predicate was false at the end of the run.
pub(crate) fn at_end(signal: &Signal, life: Lifetime) -> SignalResult {
    let mut judged = SignalResult::default();
    if life.is_gone {
        return judged;
    }
    let Some(last) = signal.spells().last() else {
        return judged;
    };
    match last.truth {
        SignalTruth::False if !life.is_end_known => judged.doubts.push((life.to, life.to)),
        SignalTruth::False => judged.find(last.from, None, life, last.evidence),
        SignalTruth::Unknown => judged.doubt([*last]),
        SignalTruth::True | SignalTruth::Silent => {}
    }
    judged
}

/// Finds whether a predicate did not become true in time.
pub(crate) fn eventually(
    signal: &Signal,
    since: i64,
    within: Option<i64>,
    life: Lifetime,
) -> SignalResult {
    let mut judged = SignalResult::default();
    let deadline = within.map_or(life.to, |within| since.saturating_add(within));
    if deadline > life.to || since > life.to {
        // It went, or the run ended, before the time was over.
        return judged;
    }
    let became = |since: i64| {
        let mut spells = signal.spells().iter();
        let became = spells.find(|spell| spell.truth == SignalTruth::True && spell.from >= since);
        became.map(|spell| spell.from)
    };
    if deadline < life.observed {
        // It may have come true unobserved, unless the object did not exist yet.
        if life.created.is_some_and(|created| created > deadline) {
            let evidence = signal.spells().iter().find_map(|spell| spell.evidence);
            judged.find(since, became(deadline), life, evidence);
        } else {
            judged.doubts.push((since, deadline));
        }
        return judged;
    }
    let spells: Vec<TruthSpan> = during(signal, since, deadline).collect();
    if spells.iter().any(|spell| spell.truth == SignalTruth::True) || spells.is_empty() {
        return judged;
    }
    if spells
        .iter()
        .all(|spell| spell.truth == SignalTruth::Silent)
    {
        return judged;
    }
    if spells
        .iter()
        .any(|spell| spell.truth == SignalTruth::Unknown)
    {
        judged.doubt(spells);
        return judged;
    }
    if deadline == life.to && !life.is_gone && !life.is_end_known {
        judged.doubts.push((life.to, life.to));
        return judged;
    }
    // It may have come true before the object was observed.
    if let Some(unwatched) = life.unwatched(since) {
        judged.doubts.push(unwatched);
        return judged;
    }
    let mut later = signal.spells().iter();
    let in_time = later.find(|spell| {
        let is_late = (spell.earliest..spell.from).contains(&deadline);
        spell.truth == SignalTruth::True && is_late
    });
    if let Some(in_time) = in_time {
        judged.doubts.push((in_time.earliest, in_time.from));
        return judged;
    }
    let evidence = spells.iter().find_map(|spell| spell.evidence);
    judged.find(since, became(deadline), life, evidence);
    judged
}

/// Returns when a predicate became true: certain ones, those that may have been, and their evidence.
fn begins(signal: &Signal) -> impl Iterator<Item = (TruthSpan, bool)> + '_ {
    let spells = signal.spells();
    let before = std::iter::once(None).chain(spells.iter().map(Some));
    spells
        .iter()
        .zip(before)
        .filter(|(spell, before)| {
            spell.truth == SignalTruth::True
                && before.is_none_or(|before| before.truth != SignalTruth::True)
        })
        .map(|(spell, before)| {
            let is_sure = before.is_none_or(|before| before.truth != SignalTruth::Unknown);
            (*spell, is_sure)
        })
}

/// Finds where one thing was not followed by another in time.
pub(crate) fn leads_to(from: &Signal, to: &Signal, within: i64, life: Lifetime) -> SignalResult {
    let mut judged = SignalResult::default();
    judged.doubt(from.spells().iter().copied());
    for (begin, is_sure) in begins(from) {
        let deadline = begin.from.saturating_add(within);
        if deadline > life.to {
            continue;
        }
        let spells: Vec<TruthSpan> = during(to, begin.from, deadline).collect();
        if spells.iter().any(|spell| spell.truth == SignalTruth::True) {
            continue;
        }
        if !is_sure
            || spells
                .iter()
                .any(|spell| spell.truth == SignalTruth::Unknown)
        {
            judged.doubt(spells);
            continue;
        }
        let came = to
            .spells()
            .iter()
            .find(|spell| spell.truth == SignalTruth::True && spell.from > deadline);
        let end = came.map(|spell| spell.from);
        judged.find(begin.from, end, life, begin.evidence);
    }
    judged
}

/// Finds where one thing did not hold before another began.
pub(crate) fn until(hold: &Signal, until: &Signal, life: Lifetime) -> SignalResult {
    let mut judged = SignalResult::default();
    let first = |truth| {
        let mut spells = until.spells().iter();
        spells.find(move |spell| spell.truth == truth)
    };
    // What never comes is later than everything.
    let met = first(SignalTruth::True).map_or(i64::MAX, |spell| spell.from);
    let doubtful = first(SignalTruth::Unknown).map_or(i64::MAX, |spell| spell.from);
    for spell in hold.spells() {
        if spell.from >= met {
            break;
        }
        match spell.truth {
            SignalTruth::False if spell.from < doubtful => {
                let to = end_of(hold, spell)
                    .map_or_else(|| (met <= life.to).then_some(met), |to| Some(to.min(met)));
                judged.find(spell.from, to, life, spell.evidence);
            }
            SignalTruth::False => judged.doubt(until.spells().iter().copied()),
            SignalTruth::Unknown => judged.doubt([*spell]),
            SignalTruth::True | SignalTruth::Silent => {}
        }
    }
    judged
}

/// Finds where one thing did not hold for long enough after another began.
pub(crate) fn stays(
    after: &Signal,
    hold: &Signal,
    span: Option<i64>,
    life: Lifetime,
) -> SignalResult {
    let mut judged = SignalResult::default();
    judged.doubt(after.spells().iter().copied());
    for (begin, is_sure) in begins(after) {
        let end = span.map_or(life.to, |span| begin.from.saturating_add(span));
        let end = end.min(life.to);
        // What began with the last record lasts no time, but what held before it goes on.
        let last = hold.spells().last().copied();
        let goes_on =
            last.filter(|last| !life.is_gone && last.from < begin.from && last.to == begin.from);
        for spell in goes_on.into_iter().chain(during(hold, begin.from, end)) {
            match spell.truth {
                SignalTruth::False if is_sure => {
                    let from = spell.from.max(begin.from);
                    let evidence = spell.evidence.or(begin.evidence);
                    judged.find(from, end_of(hold, &spell), life, evidence);
                    break;
                }
                SignalTruth::Unknown => judged.doubt([spell]),
                SignalTruth::False | SignalTruth::True | SignalTruth::Silent => {}
            }
        }
    }
    judged
}

/// Finds whether a predicate was true for longer than that in sum.
pub(crate) fn total(signal: &Signal, above: i64, life: Lifetime) -> SignalResult {
    let mut judged = SignalResult::default();
    let spells = signal.spells();
    let sum = |truth: SignalTruth| -> i64 {
        let them = spells.iter().filter(|spell| spell.truth == truth);
        them.map(|spell| spell.to - spell.from).sum()
    };
    let known = sum(SignalTruth::True);
    if known > above {
        let mut them = spells
            .iter()
            .filter(|spell| spell.truth == SignalTruth::True);
        if let Some(first) = them.next() {
            let last = them.next_back().unwrap_or(first);
            judged.find(first.from, end_of(signal, last), life, first.evidence);
        }
    } else if known.saturating_add(sum(SignalTruth::Unknown)) > above {
        judged.doubt(spells.iter().copied());
    }
    judged
}

/// Something that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CountedMoment {
    /// When.
    pub(crate) at: i64,
    /// Its evidence, by number.
    pub(crate) evidence: Option<usize>,
}

/// Returns when a predicate certainly became true. That it is true when a thing appears counts.
///
/// With `to_the_moment`, those of which it is only known that they were are left out.
pub(crate) fn risings(signal: &Signal, to_the_moment: bool) -> Vec<CountedMoment> {
    let mut before = SignalTruth::False;
    let mut risings = Vec::new();
    let mut is_exact = true;
    for spell in signal.spells() {
        let was_exact = is_exact;
        is_exact = spell.truth != SignalTruth::Unknown;
        if spell.truth == SignalTruth::True
            && matches!(before, SignalTruth::False | SignalTruth::Silent)
            && (was_exact || !to_the_moment)
        {
            risings.push(CountedMoment {
                at: spell.from,
                evidence: spell.evidence,
            });
        }
        // After an unknown time it may have gone on as it was before.
        if spell.truth != SignalTruth::Unknown {
            before = spell.truth;
        }
    }
    risings
}

/// Returns when a predicate certainly changed from true to false or back.
///
/// With `to_the_moment`, those of which it is only known that they were are left out.
pub(crate) fn flaps(signal: &Signal, to_the_moment: bool) -> Vec<CountedMoment> {
    let mut before = None;
    let mut flaps = Vec::new();
    let mut is_exact = true;
    for spell in signal.spells() {
        let was_exact = is_exact;
        is_exact = spell.truth != SignalTruth::Unknown;
        match spell.truth {
            SignalTruth::True | SignalTruth::False => {
                let is_other = before.is_some_and(|before| before != spell.truth);
                if is_other && (was_exact || !to_the_moment) {
                    flaps.push(CountedMoment {
                        at: spell.from,
                        evidence: spell.evidence,
                    });
                }
                before = Some(spell.truth);
            }
            SignalTruth::Silent => before = None,
            SignalTruth::Unknown => {}
        }
    }
    flaps
}

/// Finds where more than `most` things lie within a span; overlapping finds are one. Gives the first and
/// the last of each by place.
pub(crate) fn clusters(times: &[i64], most: u64, span: Option<i64>) -> Vec<(usize, usize)> {
    let Ok(most) = usize::try_from(most) else {
        return Vec::new();
    };
    let mut clusters: Vec<(usize, usize)> = Vec::new();
    for (first, from) in times.iter().enumerate() {
        let Some(last) = first.checked_add(most) else {
            break;
        };
        let Some(to) = times.get(last) else { break };
        if span.is_some_and(|span| to - from > span) {
            continue;
        }
        match clusters.last_mut() {
            // Without a span the whole run is one window.
            Some((_, end)) if span.is_none() || *end >= first => *end = last,
            _ => clusters.push((first, last)),
        }
    }
    clusters
}
