//! Owns the operators that count: how often something began or changed within a time. Refuses to count
//! what an unknown time may hide.

use super::truth::{Signal, Truth};

/// Something that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    /// When.
    pub(crate) at: i64,
    /// Its evidence, by number.
    pub(crate) evidence: Option<usize>,
}

/// Gives when a predicate certainly became true. That it is true when a thing appears counts.
///
/// With `to_the_moment`, those of which it is only known that they were are left out.
pub(crate) fn risings(signal: &Signal, to_the_moment: bool) -> Vec<Counted> {
    let mut before = Truth::False;
    let mut risings = Vec::new();
    let mut is_exact = true;
    for spell in signal.spells() {
        let was_exact = is_exact;
        is_exact = spell.truth != Truth::Unknown;
        if spell.truth == Truth::True
            && matches!(before, Truth::False | Truth::Silent)
            && (was_exact || !to_the_moment)
        {
            risings.push(Counted {
                at: spell.from,
                evidence: spell.evidence,
            });
        }
        // After an unknown time it may have gone on as it was before.
        if spell.truth != Truth::Unknown {
            before = spell.truth;
        }
    }
    risings
}

/// Gives when a predicate certainly changed from true to false or back.
///
/// With `to_the_moment`, those of which it is only known that they were are left out.
pub(crate) fn flaps(signal: &Signal, to_the_moment: bool) -> Vec<Counted> {
    let mut before = None;
    let mut flaps = Vec::new();
    let mut is_exact = true;
    for spell in signal.spells() {
        let was_exact = is_exact;
        is_exact = spell.truth != Truth::Unknown;
        match spell.truth {
            Truth::True | Truth::False => {
                let is_other = before.is_some_and(|before| before != spell.truth);
                if is_other && (was_exact || !to_the_moment) {
                    flaps.push(Counted {
                        at: spell.from,
                        evidence: spell.evidence,
                    });
                }
                before = Some(spell.truth);
            }
            Truth::Silent => before = None,
            Truth::Unknown => {}
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
