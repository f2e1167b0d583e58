//! Owns when in a series something was met, as often and as long as asked. Refuses to trust what it
//! cannot see: what lies before the answer and is not known is given with it.

use super::answer::Missed;
use super::judge::Truth;
use super::series::{Piece, Series, micros_between};
use super::span::Instant;
use kubereel_format::RecordedAt;

/// How often and how long something must be met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Terms {
    /// Which time counts, from 1.
    pub(super) nth: u64,
    /// For how many microseconds it must hold without interruption.
    pub(super) at_least_micros: u64,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) what: What,
    /// The times before it of which nothing is known.
    pub(super) missed: Vec<Missed>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    Met {
        since: Piece,
        at: RecordedAt,
        /// When it was last seen not to hold, if it came to hold unseen.
        not_before: Option<RecordedAt>,
        until: Option<RecordedAt>,
        lasts_to_end: bool,
    },
    NotMet,
    Refused {
        at: Instant,
        problem: String,
    },
}

/// Finds when something was met from a moment on.
pub(super) fn find(series: &Series, from: Instant, terms: Terms) -> Found {
    let mut missed: Vec<Missed> = Vec::new();
    let mut pieces = series.after(from);
    let (mut times, mut is_counted) = (0, false);
    let mut seen_not: Option<RecordedAt> = None;
    let mut came_unseen = false;
    while let Some((piece, end)) = pieces.next() {
        match piece.truth.clone() {
            Truth::Unknown(why) => {
                let (from, to) = (piece.from.at, end.at);
                missed.push(Missed { from, to, why });
                seen_not = seen_not.map(|_| from);
                came_unseen = true;
                continue;
            }
            Truth::Refused(problem) => {
                let what = What::Refused {
                    at: piece.from,
                    problem,
                };
                return Found { what, missed };
            }
            Truth::NotMet => {
                is_counted = false;
                seen_not = Some(piece.from.at);
            }
            Truth::Met => {
                // After a gap it may be the same time as before, and no new one.
                if !is_counted && micros_between(piece.from, end) >= terms.at_least_micros {
                    is_counted = true;
                    times += 1;
                }
                if is_counted && times == terms.nth {
                    let at_least = i64::try_from(terms.at_least_micros).unwrap_or(i64::MAX);
                    let at = RecordedAt::from_micros(piece.from.at.micros.saturating_add(at_least));
                    let mut later = pieces.map(|(next, _)| next).peekable();
                    let lasts_to_end = later.peek().is_none();
                    let until = later.find(|next| next.truth == Truth::NotMet);
                    let what = What::Met {
                        at,
                        not_before: seen_not.filter(|_| came_unseen),
                        until: until.map(|next| next.from.at),
                        lasts_to_end,
                        since: piece,
                    };
                    return Found { what, missed };
                }
            }
        }
        came_unseen = false;
    }
    Found {
        what: What::NotMet,
        missed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wait::MissedWhy;
    use kubereel_format::Seq;

    const ONCE: Terms = Terms {
        nth: 1,
        at_least_micros: 0,
    };

    fn at(second: u64) -> Instant {
        Instant {
            below: Seq(second),
            at: RecordedAt::from_micros(i64::try_from(second).expect("small") * 1_000_000),
        }
    }

    /// One letter a second: `+` met, `-` not, `?` not known, `!` refused.
    fn series(letters: &str) -> Series {
        let end = u64::try_from(letters.len()).expect("short");
        let mut series = Series::until(at(end));
        for (second, letter) in (0..).zip(letters.chars()) {
            let truth = match letter {
                '+' => Truth::Met,
                '-' => Truth::NotMet,
                '?' => Truth::Unknown(MissedWhy::Gap),
                _ => Truth::Refused("no".to_owned()),
            };
            series.push(Piece {
                from: at(second),
                seq: Some(Seq(second)),
                truth,
            });
        }
        series
    }

    /// Gives when it was met, and since, not before and until when, in seconds.
    fn found(letters: &str, from: u64, terms: Terms) -> String {
        let secs = |at: RecordedAt| at.micros / 1_000_000;
        let found = find(&series(letters), at(from), terms);
        let missed: Vec<String> = found
            .missed
            .iter()
            .map(|missed| format!(" missed {}-{}", secs(missed.from), secs(missed.to)))
            .collect();
        let what = match found.what {
            What::NotMet => "no".to_owned(),
            What::Refused { at, .. } => format!("refused {}", secs(at.at)),
            What::Met {
                at,
                since,
                not_before,
                until,
                lasts_to_end,
            } => {
                assert!(!(lasts_to_end && until.is_some()), "{letters}");
                let after = not_before.map(|at| format!(" after {}", secs(at)));
                let until = until.map(|at| format!(" until {}", secs(at)));
                let rest = after.into_iter().chain(until).collect::<String>();
                let text = format!("{} since {}{rest}", secs(at), secs(since.from.at));
                text
            }
        };
        what + &missed.concat()
    }

    #[test]
    fn the_first_moment_counts_and_the_state_at_the_start() {
        for (letters, from, expected) in [
            ("--++-", 0, "2 since 2 until 4"),
            ("--++-", 3, "3 since 3 until 4"),
            ("--++-", 4, "no"),
            ("--++", 9, "9 since 9"),
            ("++", 0, "0 since 0"),
            ("-", 0, "no"),
            ("-!+", 0, "refused 1"),
            ("+!", 0, "0 since 0"),
        ] {
            assert_eq!(found(letters, from, ONCE), expected, "{letters} {from}");
        }
    }

    #[test]
    fn what_was_not_seen_is_given_and_bounds_the_answer() {
        for (letters, expected) in [
            ("--??++", "4 since 4 after 2 missed 2-4"),
            ("-?--+", "4 since 4 missed 1-2"),
            ("??+", "2 since 2 missed 0-2"),
            ("-?-?", "no missed 1-2 missed 3-4"),
            ("-+??+", "1 since 1"),
        ] {
            assert_eq!(found(letters, 0, ONCE), expected, "{letters}");
        }
    }

    #[test]
    fn times_are_counted_and_a_gap_does_not_make_two_of_one() {
        let nth = |nth| Terms { nth, ..ONCE };
        assert_eq!(found("+-++-+", 0, nth(2)), "2 since 2 until 4");
        assert_eq!(found("+-++-+", 0, nth(3)), "5 since 5");
        assert_eq!(found("+-++-+", 0, nth(4)), "no");
        assert_eq!(found("+??+-+", 0, nth(2)), "5 since 5 missed 1-3");
    }

    #[test]
    fn holding_is_measured_and_not_across_what_was_not_seen() {
        let held = |seconds: u64| Terms {
            at_least_micros: seconds * 1_000_000,
            ..ONCE
        };
        assert_eq!(found("-+-+++-", 0, held(3)), "6 since 3 until 6");
        assert_eq!(found("-+-+++-", 0, held(4)), "no");
        assert_eq!(found("++?++", 0, held(3)), "no missed 2-3");
        assert_eq!(found("--+++", 0, held(3)), "5 since 2");
        let second = Terms { nth: 2, ..held(2) };
        assert_eq!(found("++-+-++-", 0, second), "7 since 5 until 7");
    }
}
