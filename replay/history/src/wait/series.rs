//! The states of a goal over time, and when it was met as often and as long as requested. Unknown
//! times before the answer are returned with it.

use super::answer::{MissedReason, MissedTime, ReelInstant};
use super::goal::WaitTruth;
use kubereel_format::{RecordedAt, Seq};

/// The state from a moment on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TruthPiece {
    pub(super) from: ReelInstant,
    /// Since when it may have been so, if the version was received late.
    pub(super) not_before: Option<RecordedAt>,
    /// The version with that state, if there is one.
    pub(super) seq: Option<Seq>,
    pub(super) truth: WaitTruth,
}

impl TruthPiece {
    /// Returns how long it lasted at least and at most, in microseconds.
    fn lengths(&self, end: &TruthEnd) -> (u64, u64) {
        let micros = |from: RecordedAt, to: RecordedAt| {
            // Zero after a clock stepped back.
            u64::try_from(to.micros_since(from)).unwrap_or_default()
        };
        let (from, to) = (self.from.at, end.place.at);
        (
            micros(from, end.not_before.unwrap_or(to)),
            micros(self.not_before.unwrap_or(from), to),
        )
    }
}

/// The end of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TruthEnd {
    place: ReelInstant,
    /// Since when it may have been over, if the version that ended it was received late.
    not_before: Option<RecordedAt>,
}

/// The states over a whole time, without a hole: each lasts until the next.
#[derive(Clone, Debug)]
pub(super) struct TruthSeries {
    pieces: Vec<TruthPiece>,
    end: ReelInstant,
}

impl TruthSeries {
    /// Creates an empty series that ends there.
    pub(super) const fn until(end: ReelInstant) -> Self {
        Self {
            pieces: Vec::new(),
            end,
        }
    }

    /// Adds the next state; a repetition extends the previous one.
    pub(super) fn push(&mut self, piece: TruthPiece) {
        if self
            .pieces
            .last()
            .is_none_or(|last| last.truth != piece.truth)
        {
            self.pieces.push(piece);
        }
    }

    /// Returns the pieces, in order.
    pub(super) fn pieces(&self) -> &[TruthPiece] {
        &self.pieces
    }

    /// Returns whether it became met at a moment, even for no time.
    pub(super) fn has_met_at(&self, moment: ReelInstant) -> bool {
        let met = self
            .pieces
            .iter()
            .filter(|piece| piece.truth == WaitTruth::Met);
        met.map(|piece| piece.from).any(|from| from == moment)
    }

    /// Returns the pieces after a moment, the first one clipped, each with its end.
    pub(super) fn after(
        &self,
        moment: ReelInstant,
    ) -> impl Iterator<Item = (TruthPiece, TruthEnd)> {
        let ends = self.pieces.iter().skip(1).map(|next| TruthEnd {
            place: next.from,
            not_before: next.not_before,
        });
        let ends = ends.chain([TruthEnd {
            place: self.end,
            not_before: None,
        }]);
        let last = self.pieces.len().saturating_sub(1);
        let pieces = self.pieces.iter().zip(ends).enumerate();
        pieces.filter_map(move |(place, (piece, end))| {
            if end.place <= moment && place < last {
                return None;
            }
            let mut piece = piece.clone();
            if piece.from < moment {
                (piece.from, piece.not_before) = (moment, None);
            }
            Some((piece, end))
        })
    }

    /// Returns whether a part of the time is not known, or when a state began.
    pub(super) fn has_unknown(&self) -> bool {
        let mut pieces = self.pieces.iter();
        pieces
            .any(|piece| matches!(piece.truth, WaitTruth::Unknown(_)) || piece.not_before.is_some())
    }

    /// Returns how long it is known to have been met in total and at the longest, in microseconds.
    pub(super) fn lengths(&self) -> (u64, u64) {
        let start = self.pieces.first().map_or(self.end, |first| first.from);
        let met = self
            .after(start)
            .filter(|(piece, _)| piece.truth == WaitTruth::Met);
        met.fold((0, 0), |(total, longest), (piece, end)| {
            let (micros, _) = piece.lengths(&end);
            (total + micros, longest.max(micros))
        })
    }
}

/// How often and how long a goal must be met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WaitTerms {
    /// The number of the occurrence, from 1.
    pub(super) nth: u64,
    /// For how many microseconds it must be met without interruption.
    pub(super) at_least_micros: u64,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WaitFinding {
    pub(super) what: WaitOutcome,
    /// The unknown times before it.
    pub(super) missed: Vec<MissedTime>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WaitOutcome {
    Met {
        since: TruthPiece,
        at: RecordedAt,
        /// When it was last known not to be met, if it was met unobserved or received late.
        not_before: Option<RecordedAt>,
        until: Option<RecordedAt>,
        /// When it was last known to be met, if it ended unobserved or this was received late.
        until_not_before: Option<RecordedAt>,
        lasts_to_end: bool,
    },
    NotMet,
    Refused {
        at: ReelInstant,
        problem: String,
    },
}

/// Finds when a goal was met from a moment on.
pub(super) fn find(series: &TruthSeries, from: ReelInstant, terms: WaitTerms) -> WaitFinding {
    let mut missed: Vec<MissedTime> = Vec::new();
    let mut pieces = series.after(from);
    let (mut times, mut is_counted) = (0, false);
    let mut seen_not: Option<RecordedAt> = None;
    let mut came_unseen = false;
    while let Some((piece, end)) = pieces.next() {
        match piece.truth.clone() {
            WaitTruth::Unknown(why) => {
                let (from, to) = (piece.from.at, end.place.at);
                missed.push(MissedTime { from, to, why });
                seen_not = seen_not.map(|_| from);
                came_unseen = true;
                continue;
            }
            WaitTruth::Refused(problem) => {
                let what = WaitOutcome::Refused {
                    at: piece.from,
                    problem,
                };
                return WaitFinding { what, missed };
            }
            WaitTruth::NotMet => {
                is_counted = false;
                seen_not = Some(piece.from.at);
            }
            WaitTruth::Met => {
                // After a gap it may be the same occurrence, not a new one.
                let (least, most) = piece.lengths(&end);
                if !is_counted && least >= terms.at_least_micros {
                    is_counted = true;
                    times += 1;
                } else if !is_counted && most >= terms.at_least_micros {
                    missed.push(MissedTime {
                        from: piece.not_before.unwrap_or(piece.from.at),
                        to: end.place.at,
                        why: MissedReason::NotObserved,
                    });
                }
                if is_counted && times == terms.nth {
                    // The piece is at least this long: its end bounds the sum.
                    let at_least = i64::try_from(terms.at_least_micros).unwrap_or(i64::MAX);
                    let at = RecordedAt::from_micros(piece.from.at.micros.saturating_add(at_least));
                    let mut later = pieces.map(|(next, _)| next).peekable();
                    let lasts_to_end = later.peek().is_none();
                    let mut unknown = None;
                    let until = later.find(|next| {
                        match next.truth {
                            WaitTruth::Unknown(_) => unknown = unknown.or(Some(next.from.at)),
                            WaitTruth::Met => unknown = None,
                            _ => {}
                        }
                        next.truth == WaitTruth::NotMet
                    });
                    let what = WaitOutcome::Met {
                        at,
                        not_before: seen_not.filter(|_| came_unseen).or(piece.not_before),
                        until_not_before: until
                            .as_ref()
                            .and_then(|next| unknown.or(next.not_before)),
                        // Records order it: a clock that was set back does not end it before it began.
                        until: until.map(|next| next.from.at.max(at)),
                        lasts_to_end,
                        since: piece,
                    };
                    return WaitFinding { what, missed };
                }
            }
        }
        came_unseen = false;
    }
    WaitFinding {
        what: WaitOutcome::NotMet,
        missed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_format::Seq;

    const ONCE: WaitTerms = WaitTerms {
        nth: 1,
        at_least_micros: 0,
    };

    fn at(second: u64) -> ReelInstant {
        ReelInstant {
            below: Seq(second),
            at: RecordedAt::from_micros(i64::try_from(second).expect("small") * 1_000_000),
        }
    }

    /// One letter for each second: `+` met, `-` not met, `?` unknown, `!` refused.
    fn series(letters: &str) -> TruthSeries {
        let end = u64::try_from(letters.len()).expect("short");
        let mut series = TruthSeries::until(at(end));
        for (second, letter) in (0..).zip(letters.chars()) {
            let truth = match letter {
                '+' => WaitTruth::Met,
                '-' => WaitTruth::NotMet,
                '?' => WaitTruth::Unknown(MissedReason::Gap),
                _ => WaitTruth::Refused("no".to_owned()),
            };
            series.push(TruthPiece {
                from: at(second),
                not_before: None,
                seq: Some(Seq(second)),
                truth,
            });
        }
        series
    }

    /// Returns when it was met, its begin, its last known absence and its end, in seconds.
    fn found(letters: &str, from: u64, terms: WaitTerms) -> String {
        let secs = |at: RecordedAt| at.micros / 1_000_000;
        let found = find(&series(letters), at(from), terms);
        let missed: Vec<String> = found
            .missed
            .iter()
            .map(|missed| format!(" missed {}-{}", secs(missed.from), secs(missed.to)))
            .collect();
        let what = match found.what {
            WaitOutcome::NotMet => "no".to_owned(),
            WaitOutcome::Refused { at, .. } => format!("refused {}", secs(at.at)),
            WaitOutcome::Met {
                at,
                since,
                not_before,
                until,
                until_not_before,
                lasts_to_end,
            } => {
                assert!(!(lasts_to_end && until.is_some()), "{letters}");
                let after = not_before.map(|at| format!(" after {}", secs(at)));
                let ended = until_not_before.map(|at| format!("{}-", secs(at)));
                let ended = ended.unwrap_or_default();
                let until = until.map(|at| format!(" until {ended}{}", secs(at)));
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
    fn a_clock_that_was_set_back_ends_nothing_before_it_began() {
        let mut series = TruthSeries::until(at(9));
        for (record, second, truth) in [
            (0, 0, WaitTruth::NotMet),
            (1, 5, WaitTruth::Met),
            (2, 3, WaitTruth::NotMet),
        ] {
            series.push(TruthPiece {
                from: ReelInstant {
                    below: Seq(record),
                    ..at(second)
                },
                not_before: None,
                seq: Some(Seq(record)),
                truth,
            });
        }
        let found = find(&series, at(0), ONCE).what;
        let WaitOutcome::Met { at: met, until, .. } = found else {
            panic!("met");
        };
        assert_eq!((met, until), (at(5).at, Some(at(5).at)));
    }

    #[test]
    fn what_was_not_seen_is_given_and_bounds_the_answer() {
        for (letters, expected) in [
            ("--??++", "4 since 4 after 2 missed 2-4"),
            ("-?--+", "4 since 4 missed 1-2"),
            ("??+", "2 since 2 missed 0-2"),
            ("-?-?", "no missed 1-2 missed 3-4"),
            ("-+??+", "1 since 1"),
            ("-+??-", "1 since 1 until 2-4"),
            ("-+?+-", "1 since 1 until 4"),
        ] {
            assert_eq!(found(letters, 0, ONCE), expected, "{letters}");
        }
    }

    #[test]
    fn times_are_counted_and_a_gap_does_not_make_two_of_one() {
        let nth = |nth| WaitTerms { nth, ..ONCE };
        assert_eq!(found("+-++-+", 0, nth(2)), "2 since 2 until 4");
        assert_eq!(found("+-++-+", 0, nth(3)), "5 since 5");
        assert_eq!(found("+-++-+", 0, nth(4)), "no");
        assert_eq!(found("+??+-+", 0, nth(2)), "5 since 5 missed 1-3");
    }

    #[test]
    fn holding_is_measured_and_not_across_what_was_not_seen() {
        let held = |seconds: u64| WaitTerms {
            at_least_micros: seconds * 1_000_000,
            ..ONCE
        };
        assert_eq!(found("-+-+++-", 0, held(3)), "6 since 3 until 6");
        assert_eq!(found("-+-+++-", 0, held(4)), "no");
        assert_eq!(found("++?++", 0, held(3)), "no missed 2-3");
        assert_eq!(found("--+++", 0, held(3)), "5 since 2");
        let second = WaitTerms { nth: 2, ..held(2) };
        assert_eq!(found("++-+-++-", 0, second), "7 since 5 until 7");
    }
}
