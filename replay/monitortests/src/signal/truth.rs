//! A predicate's truth over the life of one thing.
//!
//! The spans of a [`Signal`] follow one another without holes, in order of time; only the last one may be
//! open. A time that was not observed is unknown, never true or false.

/// What is known of a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SignalTruth {
    /// It held.
    True,
    /// It did not hold.
    False,
    /// It had no known value: not recorded, or a field was absent.
    Unknown,
    /// It was not evaluated: the thing was not watched, or the predicate is of changes.
    Silent,
}

impl SignalTruth {
    pub(crate) const fn of(value: bool) -> Self {
        if value { Self::True } else { Self::False }
    }

    pub(crate) const fn not(self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
            other => other,
        }
    }
}

/// When something changed, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChangeTime {
    /// When the change was received.
    pub(crate) received: i64,
    /// When it may have been made: earlier if it was received late.
    pub(crate) earliest: i64,
}

impl From<i64> for ChangeTime {
    fn from(at: i64) -> Self {
        Self {
            received: at,
            earliest: at,
        }
    }
}

impl TruthSpan {
    /// Returns the times in which it is not known whether it had begun, and whether it had ended; `next` is the span
    /// after it.
    pub(crate) fn bounds(&self, next: Option<&Self>) -> [(i64, i64); 2] {
        let end = next.map_or(self.to, |next| next.earliest.clamp(self.from, self.to));
        [(self.earliest, self.from), (end, self.to)]
    }
}

/// The end of a span that is still open.
const OPEN: i64 = i64::MAX;

/// A time in which a predicate's truth was the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TruthSpan {
    /// When it began, in microseconds.
    pub(crate) from: i64,
    /// When it may have begun: earlier than `from` if what began it was received late.
    pub(crate) earliest: i64,
    /// When it ended; the same moment for an instant.
    pub(crate) to: i64,
    /// What held.
    pub(crate) truth: SignalTruth,
    /// The evidence of its begin, by number.
    pub(crate) evidence: Option<usize>,
}

/// A predicate's truth over a life, without holes: the spells follow one another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Signal {
    spells: Vec<TruthSpan>,
}

impl Signal {
    /// Sets what holds from a moment on, or from one in a time if the change was received late.
    pub(crate) fn turn(&mut self, time: ChangeTime, truth: SignalTruth, evidence: Option<usize>) {
        let at = time.received;
        if let Some(last) = self.spells.last_mut() {
            if last.truth == truth && last.to == OPEN {
                return;
            }
            if last.to == OPEN {
                last.to = at.max(last.from);
            }
        }
        let last = self.spells.last();
        let at = last.map_or(at, |last| at.max(last.to));
        let earliest = time.earliest.min(at);
        self.spells.push(TruthSpan {
            from: at,
            // The changes of one thing are received in their order.
            earliest: last.map_or(earliest, |last| earliest.max(last.earliest)),
            to: OPEN,
            truth,
            evidence,
        });
    }

    /// Sets what held at a moment only; before and after it the predicate is silent.
    pub(crate) fn instant(&mut self, at: i64, truth: SignalTruth, evidence: Option<usize>) {
        if let Some(last) = self.spells.last_mut()
            && last.to == OPEN
        {
            last.to = at.max(last.from);
        }
        let at = self.spells.last().map_or(at, |last| at.max(last.to));
        self.spells.push(TruthSpan {
            from: at,
            earliest: at,
            to: at,
            truth,
            evidence,
        });
        self.spells.push(TruthSpan {
            from: at,
            earliest: at,
            to: OPEN,
            truth: SignalTruth::Silent,
            evidence: None,
        });
    }

    /// Returns what holds now.
    pub(crate) fn now(&self) -> Option<SignalTruth> {
        self.spells.last().map(|last| last.truth)
    }

    /// Ends the last spell.
    pub(crate) fn end(&mut self, at: i64) {
        if let Some(last) = self.spells.last_mut()
            && last.to == OPEN
        {
            last.to = at.max(last.from);
        }
    }

    /// Returns the spells.
    pub(crate) fn spells(&self) -> &[TruthSpan] {
        &self.spells
    }

    /// Returns the same with true and false exchanged.
    pub(crate) fn not(&self) -> Self {
        let turned = self.spells.iter().map(|spell| TruthSpan {
            truth: spell.truth.not(),
            ..*spell
        });
        Self {
            spells: turned.collect(),
        }
    }

    fn true_spells(&self) -> impl Iterator<Item = &TruthSpan> {
        let spells = self.spells.iter();
        spells.filter(|spell| spell.truth == SignalTruth::True)
    }

    /// Returns how long it was true in all.
    pub(crate) fn true_micros(&self) -> i64 {
        self.true_spells().map(|spell| spell.to - spell.from).sum()
    }

    /// Returns when it was true last.
    pub(crate) fn true_until(&self) -> Option<i64> {
        self.true_spells().map(|spell| spell.to).max()
    }

    /// Returns the same without the spells that began at other moments than those that count.
    pub(crate) fn begun(&self, counts: impl Fn(i64) -> bool) -> Self {
        let kept = self.spells.iter().map(|spell| TruthSpan {
            truth: if counts(spell.from) {
                spell.truth
            } else {
                SignalTruth::Silent
            },
            ..*spell
        });
        Self {
            spells: kept.collect(),
        }
    }

    /// Returns the same without what lies in times that were not seen.
    pub(crate) fn darkened(&self, dark: &[(i64, i64)]) -> Self {
        let mut spells = Vec::with_capacity(self.spells.len());
        for spell in &self.spells {
            let mut rest = *spell;
            if spell.truth != SignalTruth::Silent && spell.from < spell.to {
                for (begin, end) in dark {
                    let (begin, end) = ((*begin).max(rest.from), (*end).min(rest.to));
                    if begin >= end {
                        continue;
                    }
                    if begin > rest.from {
                        spells.push(TruthSpan { to: begin, ..rest });
                    }
                    spells.push(TruthSpan {
                        from: begin,
                        earliest: begin,
                        to: end,
                        truth: SignalTruth::Unknown,
                        evidence: None,
                    });
                    (rest.from, rest.earliest) = (end, end);
                }
            }
            if rest.from < rest.to || spell.from == spell.to {
                spells.push(rest);
            }
        }
        Self { spells }
    }
}
