//! The move of an operator to a release: its begin, the change of its version `operator`, the
//! duration, and when `ClusterVersion` reported that it waits for it.

use crate::condition::StatusCondition;
use crate::history::ParsedVersion;
use crate::mark::{MarkSpan, MarkSpans, RecordMark, micros_between};
use crate::objects::{OperatorObject, VersionObject};
use kubereel_format::RecordedAt;

const MINUTE_MICROS: u64 = 60 * 1_000_000;

/// The move of one operator to a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorMove {
    /// Its name.
    pub name: String,
    /// Whether it comes from the payload: `oc` counts only those.
    pub is_of_payload: bool,
    /// The version that it reported before; empty if none.
    pub from_version: String,
    /// When it was first observed Progressing within the update, before its version changed.
    pub began: Option<RecordMark>,
    /// Whether it was Progressing already when it was first observed: it began at that time or earlier.
    pub is_older: bool,
    /// When it reported the new version.
    pub moved: Option<RecordMark>,
    /// Whether it reported the version already at the begin of the update, or when the recording
    /// first observed it.
    pub was_there: bool,
    /// When it was first observed available, if it had reported no version before: in an
    /// installation.
    pub available: Option<RecordMark>,
    /// When it was Progressing, also after its version changed.
    pub progressing: Vec<MarkSpan>,
    /// When `ClusterVersion` reported that it waits for it; the message is written at intervals of
    /// up to 15 s.
    pub waited_for: Vec<MarkSpan>,
    /// When the update ended without completion, or the next one began; `None` if it was not over.
    pub given_up: Option<RecordMark>,
}

impl OperatorMove {
    /// Returns how long an operator may take before the cluster-version operator reports it as
    /// slow: 20 minutes, 90 for machine-config.
    pub fn budget_micros(&self) -> u64 {
        let minutes = if self.name == "machine-config" {
            90
        } else {
            20
        };
        minutes * MINUTE_MICROS
    }

    /// Returns when it arrived: it reported the version, and was available.
    pub fn arrived(&self) -> Option<RecordMark> {
        if self.from_version.is_empty() {
            Some(self.moved?.max(self.available?))
        } else {
            self.moved
        }
    }

    /// Returns when it arrived, or when it had no update any more to arrive in.
    pub fn over(&self) -> Option<RecordMark> {
        self.arrived().or(self.given_up)
    }

    /// Returns the duration from its begin to its arrival or the end of the update, or to `now`.
    pub fn took_micros(&self, now: RecordedAt) -> Option<u64> {
        let began = self.began?;
        let to = self.over().map_or(now, |over| over.at);
        Some(micros_between(began.at, to))
    }

    /// Returns whether it was being moved or rolled out at a moment: from its begin to its arrival,
    /// and while it was Progressing later.
    pub fn is_under_way(&self, at: RecordMark) -> bool {
        let is_before = |to: Option<RecordMark>| to.is_none_or(|to| at <= to);
        let moves = self
            .began
            .is_some_and(|began| began <= at && is_before(self.over()));
        let mut later = self.progressing.iter();
        moves || later.any(|span| span.from <= at && is_before(span.to))
    }

    /// Returns whether it took longer than its budget.
    pub fn is_over_budget(&self, now: RecordedAt) -> bool {
        self.took_micros(now)
            .is_some_and(|took| took > self.budget_micros())
    }
}

/// The context of a move.
pub(super) struct MoveGoal<'a> {
    /// The target version.
    pub(super) version: &'a str,
    /// When the update was accepted.
    pub(super) from: RecordMark,
    /// The last record of the update.
    pub(super) to: Option<RecordMark>,
}

/// Follows one operator; `None` if it did not exist in that time.
pub(super) fn follow(
    name: &str,
    versions: &[ParsedVersion<OperatorObject>],
    waits: &ReportedWaits,
    goal: &MoveGoal<'_>,
) -> Option<OperatorMove> {
    let is_before = |seen: &&ParsedVersion<OperatorObject>| seen.mark.seq <= goal.from.seq;
    let is_within = |mark: RecordMark| goal.to.is_none_or(|to| mark.seq <= to.seq);
    let before = versions.iter().take_while(is_before).last();
    let before = before.filter(|seen| !seen.is_gone);
    let mut within = versions
        .iter()
        .skip_while(is_before)
        .take_while(|seen| is_within(seen.mark))
        .peekable();
    if before.is_none() && within.peek().is_none() {
        return None;
    }
    // What existed before the recording did not change when the recording began.
    let first = within.peek().filter(|seen| seen.is_first_look);
    let before = before.or(first.copied());
    let from_version = before.map_or("", |seen| seen.body.version());
    let mut found = OperatorMove {
        name: name.to_owned(),
        is_of_payload: before.is_some_and(|seen| seen.body.is_of_payload()),
        from_version: from_version.to_owned(),
        began: None,
        is_older: false,
        moved: None,
        was_there: !goal.version.is_empty() && from_version == goal.version,
        available: None,
        progressing: Vec::new(),
        waited_for: waits.of_operator(name, goal),
        given_up: goal.to,
    };
    let mut progressing = MarkSpans::default();
    let mut is_gone = false;
    for seen in within {
        is_gone = seen.is_gone;
        if seen.is_gone {
            progressing.note(seen.mark, false);
            continue;
        }
        let body = &seen.body;
        found.is_of_payload |= body.is_of_payload();
        let is_progressing = body.is("Progressing", "True");
        progressing.note(seen.mark, is_progressing);
        if from_version.is_empty() && body.is("Available", "True") {
            found.available.get_or_insert(seen.mark);
        }
        let has_version = !goal.version.is_empty() && body.version() == goal.version;
        if found.moved.is_none() && !found.was_there {
            if is_progressing && found.began.is_none() {
                found.began = Some(seen.mark);
                found.is_older = seen.is_first_look;
            }
            if has_version {
                found.moved = Some(seen.mark);
            }
        }
    }
    found.progressing = progressing.all();
    (!is_gone || found.moved.is_some()).then_some(found)
}

/// The operators that each version of `ClusterVersion` waits for.
pub(super) struct ReportedWaits(Vec<(RecordMark, Vec<String>)>);

impl ReportedWaits {
    /// Reads them from the messages.
    pub(super) fn of(versions: &[ParsedVersion<VersionObject>]) -> Self {
        let all = versions.iter().map(|seen| {
            let progressing = StatusCondition::find(&seen.body.status.conditions, "Progressing");
            let message = progressing.map_or("", |condition| condition.message);
            (seen.mark, waited(message).map(str::to_owned).collect())
        });
        Self(all.collect())
    }

    /// Returns the times in which one operator was waited for.
    fn of_operator(&self, name: &str, goal: &MoveGoal<'_>) -> Vec<MarkSpan> {
        let mut spans = MarkSpans::default();
        let is_within = |mark: RecordMark| {
            mark.seq >= goal.from.seq && goal.to.is_none_or(|to| mark.seq <= to.seq)
        };
        for (mark, waited) in self.0.iter().filter(|(mark, _)| is_within(*mark)) {
            spans.note(*mark, waited.iter().any(|waited| waited == name));
        }
        spans.all()
    }
}

/// Returns the operators that a message waits for.
fn waited(message: &str) -> impl Iterator<Item = &str> {
    const BEGINNINGS: [&str; 3] = [
        "waiting on ",
        "waiting up to 40 minutes on ",
        "wait has exceeded 40 minutes for these operators: ",
    ];
    let found = BEGINNINGS
        .iter()
        .find_map(|begin| message.split_once(begin));
    let list = found.map_or("", |(_, list)| list);
    // Commas, "and" and durations separate the names.
    list.split([',', ' '])
        .filter(|word| word.starts_with(|first: char| first.is_ascii_alphabetic()))
        .take_while(|word| *word != "which")
        .filter(|word| !matches!(*word, "and" | "over" | "minutes"))
}

/// Returns the operators in the order in which they moved; those that did not arrive last, in the
/// order in which they began.
pub(super) fn in_order(mut moves: Vec<OperatorMove>) -> Vec<OperatorMove> {
    moves.sort_by(|a, b| {
        let key = |one: &OperatorMove| {
            let last = one.moved.or(one.began);
            (one.moved.is_none(), last.is_none(), last)
        };
        key(a).cmp(&key(b)).then_with(|| a.name.cmp(&b.name))
    });
    moves
}

#[cfg(test)]
mod tests {
    use super::waited;

    #[test]
    fn names_are_read_out_of_every_form_of_the_message() {
        for (message, names) in [
            (
                "Working towards 4.22.0: 1 of 9 done (1% complete), waiting on a, b",
                &["a", "b"][..],
            ),
            (
                "Working towards 4.22.0: 1 of 9 done, waiting up to 40 minutes on a",
                &["a"],
            ),
            (
                "Working towards 4.22.0: wait has exceeded 40 minutes for these operators: a, b",
                &["a", "b"],
            ),
            (
                "Working towards 4.22.0: waiting on a over 30 minutes and machine-config over 90 minutes which is longer than expected",
                &["a", "machine-config"],
            ),
            ("Working towards 4.22.0", &[]),
        ] {
            let found: Vec<&str> = waited(message).collect();
            assert_eq!(found, names, "{message}");
        }
    }
}
