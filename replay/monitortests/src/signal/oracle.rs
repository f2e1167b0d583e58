//! The operators against a slow oracle: time is ticks, every tick is looked at, and every way in which
//! the unknown ticks may have been is tried.
//!
//! What an operator finds must be found whichever way they were; where it finds nothing and doubts
//! nothing, nothing may be found in any.

use super::operators::{
    Lifetime, SignalResult, always, at_end, eventually, leads_to, never, stays, total, until,
};
use super::operators::{clusters, flaps, risings};
use super::truth::{ChangeTime, Signal, SignalTruth};
use proptest::prelude::*;

/// How long a tick is; not one, so that what is compared with a tick is not by chance a number.
const TICK: i64 = 10;

fn length(of: usize) -> i64 {
    i64::try_from(of).expect("short") * TICK
}

fn signal(ticks: &[SignalTruth]) -> Signal {
    let mut signal = Signal::default();
    for (tick, truth) in ticks.iter().enumerate() {
        signal.turn(length(tick).into(), *truth, None);
    }
    signal.end(length(ticks.len()));
    signal
}

fn life(ticks: &[SignalTruth]) -> Lifetime {
    Lifetime {
        from: 0,
        to: length(ticks.len()),
        is_gone: false,
        is_end_known: true,
        observed: 0,
        created: None,
        watched: None,
    }
}

/// Returns every way in which the unknown ticks of some signals may have been.
fn ways(signals: &[&[SignalTruth]]) -> Vec<Vec<Vec<bool>>> {
    let mut ways = vec![Vec::new()];
    for ticks in signals {
        let mut own = vec![Vec::new()];
        for truth in *ticks {
            let values: &[bool] = match truth {
                SignalTruth::True => &[true],
                SignalTruth::False => &[false],
                SignalTruth::Unknown | SignalTruth::Silent => &[true, false],
            };
            let longer = own.iter().flat_map(|way: &Vec<bool>| {
                values.iter().map(|value| {
                    let mut way = way.clone();
                    way.push(*value);
                    way
                })
            });
            own = longer.collect();
        }
        let more = ways.iter().flat_map(|way: &Vec<Vec<bool>>| {
            own.iter().map(|one| {
                let mut way = way.clone();
                way.push(one.clone());
                way
            })
        });
        ways = more.collect();
    }
    ways
}

/// Compares what was found with every way.
fn hold(
    judged: &SignalResult,
    signals: &[&[SignalTruth]],
    is_found: impl Fn(&[Vec<bool>]) -> bool,
) -> Result<(), TestCaseError> {
    for way in ways(signals) {
        let really = is_found(&way);
        if !judged.found.is_empty() {
            prop_assert!(really, "{judged:?} is not found in {way:?}");
        } else if judged.doubts.is_empty() {
            prop_assert!(!really, "nothing is found or doubted, but {way:?}");
        }
    }
    // Without unknown ticks there is nothing to doubt.
    if !signals
        .iter()
        .any(|ticks| ticks.contains(&SignalTruth::Unknown))
    {
        prop_assert!(judged.doubts.is_empty(), "{judged:?}");
    }
    Ok(())
}

fn rises(ticks: &[bool]) -> Vec<usize> {
    let before = std::iter::once(false).chain(ticks.iter().copied());
    let rises = ticks.iter().zip(before).enumerate();
    let rises = rises.filter(|(_, (now, before))| **now && !before);
    rises.map(|(tick, _)| tick).collect()
}

fn longest(ticks: &[bool]) -> usize {
    let runs = ticks.split(|tick| !tick).map(<[bool]>::len);
    runs.max().unwrap_or(0)
}

fn ticks() -> impl Strategy<Value = Vec<SignalTruth>> {
    let truth = prop_oneof![
        3 => Just(SignalTruth::True),
        3 => Just(SignalTruth::False),
        1 => Just(SignalTruth::Unknown),
    ];
    proptest::collection::vec(truth, 1..10)
}

fn two() -> impl Strategy<Value = (Vec<SignalTruth>, Vec<SignalTruth>)> {
    (ticks(), ticks()).prop_map(|(mut one, mut other)| {
        let both = one.len().min(other.len());
        one.truncate(both);
        other.truncate(both);
        (one, other)
    })
}

proptest! {
    #[test]
    fn never_and_always(ticks in ticks(), least in 1_usize..5) {
        let judged = never(&signal(&ticks), length(least), life(&ticks));
        hold(&judged, &[&ticks], |way| longest(&way[0]) >= least)?;
        let judged = always(&signal(&ticks), length(least), life(&ticks));
        hold(&judged, &[&ticks], |way| {
            let not: Vec<bool> = way[0].iter().map(|tick| !tick).collect();
            longest(&not) >= least
        })?;
    }

    #[test]
    fn the_end(ticks in ticks()) {
        let judged = at_end(&signal(&ticks), life(&ticks));
        hold(&judged, &[&ticks], |way| way[0].last() == Some(&false))?;
        let gone = Lifetime { is_gone: true, ..life(&ticks) };
        prop_assert_eq!(at_end(&signal(&ticks), gone), SignalResult::default());
    }

    #[test]
    fn eventually_in_time(ticks in ticks(), since in 0_usize..4, within in proptest::option::of(0_usize..12)) {
        let span = within.map(length);
        let judged = eventually(&signal(&ticks), length(since), span, life(&ticks));
        hold(&judged, &[&ticks], |way| {
            let last = within.map_or(ticks.len(), |within| since + within);
            last <= ticks.len() && since <= ticks.len() && since < ticks.len()
                && !way[0].iter().enumerate().any(|(tick, value)| *value && tick >= since && tick <= last)
        })?;
    }

    #[test]
    fn one_leads_to_the_other((from, to) in two(), within in 0_usize..6) {
        let judged = leads_to(&signal(&from), &signal(&to), length(within), life(&from));
        hold(&judged, &[&from, &to], |way| {
            rises(&way[0]).into_iter().any(|tick| {
                tick + within <= from.len()
                    && !way[1].iter().enumerate().any(|(at, value)| *value && at >= tick && at <= tick + within)
            })
        })?;
    }

    #[test]
    fn one_holds_until_the_other((one, other) in two()) {
        let judged = until(&signal(&one), &signal(&other), life(&one));
        hold(&judged, &[&one, &other], |way| {
            let met = way[1].iter().position(|value| *value).unwrap_or(one.len());
            way[0].iter().take(met).any(|value| !value)
        })?;
    }

    #[test]
    fn one_stays_after_the_other((after, kept) in two(), span in proptest::option::of(0_usize..6)) {
        let judged = stays(&signal(&after), &signal(&kept), span.map(length), life(&after));
        hold(&judged, &[&after, &kept], |way| {
            rises(&way[0]).into_iter().any(|tick| {
                let last = span.map_or(after.len(), |span| tick + span);
                way[1].iter().enumerate().any(|(at, value)| !*value && at >= tick && at <= last)
            })
        })?;
    }

    #[test]
    fn the_total(ticks in ticks(), above in 0_usize..8) {
        let judged = total(&signal(&ticks), length(above), life(&ticks));
        hold(&judged, &[&ticks], |way| way[0].iter().filter(|tick| **tick).count() > above)?;
    }

    #[test]
    fn counts(ticks in ticks(), most in 0_usize..4, span in proptest::option::of(0_usize..6)) {
        let signal = signal(&ticks);
        let most_times = u64::try_from(most).expect("small");
        let is_found = |times: &[usize]| {
            times.iter().enumerate().any(|(place, from)| {
                times.get(place + most).is_some_and(|to| span.is_none_or(|span| to - from <= span))
            })
        };
        let at: Vec<i64> = risings(&signal, span.is_some()).iter().map(|one| one.at).collect();
        let found = !clusters(&at, most_times, span.map(length)).is_empty();
        let changed: Vec<i64> = flaps(&signal, span.is_some()).iter().map(|one| one.at).collect();
        let flapped = !clusters(&changed, most_times, span.map(length)).is_empty();
        for way in ways(&[&ticks]) {
            let rises = rises(&way[0]);
            let is_known = !ticks.contains(&SignalTruth::Unknown);
            if found || is_known {
                prop_assert_eq!(found, is_found(&rises), "{:?}", way);
            }
            let turns: Vec<usize> = (1..way[0].len()).filter(|at| way[0][*at] != way[0][at - 1]).collect();
            if flapped || is_known {
                prop_assert_eq!(flapped, is_found(&turns), "{:?}", way);
            }
        }
    }
}

/// Returns every way in which changes that were received late may have been made: in their order, each up to when it
/// was received.
fn late_ways(turns: &[(i64, i64)]) -> Vec<Vec<i64>> {
    let mut ways = vec![Vec::new()];
    for (earliest, received) in turns {
        let longer = ways.iter().flat_map(|way: &Vec<i64>| {
            let first = way.last().map_or(*earliest, |last| *earliest.max(last));
            (first..=*received).map(|at| way.iter().copied().chain([at]).collect())
        });
        ways = longer.collect();
    }
    ways
}

proptest! {
    #[test]
    fn late_changes_are_found_whenever_they_were_made(
        steps in proptest::collection::vec((1i64..5, 0i64..5), 1..6),
        at_least in 0i64..8,
    ) {
        let mut signal = Signal::default();
        let mut turns = Vec::new();
        let mut received = 0;
        for (number, (later, late)) in steps.iter().enumerate() {
            received += later;
            let earliest = (received - late).max(0);
            let time = ChangeTime { received, earliest };
            signal.turn(time, SignalTruth::of(number % 2 == 0), None);
            turns.push((earliest, received));
        }
        let end = received + 3;
        signal.end(end);
        let judged = never(&signal, at_least, life(&[]));
        let ways = late_ways(&turns).into_iter().map(|way| {
            let ends = way.iter().skip(1).copied().chain([end]);
            let spans = way.iter().zip(ends).step_by(2);
            spans.map(|(from, to)| to - from).any(|length| length >= at_least)
        });
        let ways: Vec<bool> = ways.collect();
        if !judged.found.is_empty() {
            prop_assert!(ways.iter().all(|is_found| *is_found), "{judged:?} {turns:?}");
        } else if judged.doubts.is_empty() {
            prop_assert!(ways.iter().all(|is_found| !is_found), "{turns:?}");
        }
    }
}

#[test]
fn what_lies_in_the_dark_is_unknown() {
    let mut lit = Signal::default();
    lit.turn(0.into(), SignalTruth::True, Some(1));
    lit.turn(50.into(), SignalTruth::False, Some(2));
    lit.instant(70, SignalTruth::True, Some(3));
    lit.end(100);
    let dark = lit.darkened(&[(10, 20), (40, 60), (90, 200)]);
    let spells: Vec<_> = dark
        .spells()
        .iter()
        .map(|spell| (spell.from, spell.to, spell.truth))
        .collect();
    let (yes, no, unknown) = (SignalTruth::True, SignalTruth::False, SignalTruth::Unknown);
    assert_eq!(
        spells,
        [
            (0, 10, yes),
            (10, 20, unknown),
            (20, 40, yes),
            (40, 50, unknown),
            (50, 60, unknown),
            (60, 70, no),
            (70, 70, yes),
            (70, 100, SignalTruth::Silent),
        ]
    );
}
