//! Spells: the times in which an operator was unavailable or degraded, the installation or update
//! failing, or a node not ready. Every spell counts, also those shorter than any poll.

use crate::mark::{MarkSpan, MarkedCondition, RecordMark, micros_between};
use crate::state::{StateInterval, StateText, StateTrack};
use kubereel_format::worded;
use kubereel_format::{ObjectId, RecordedAt};

const MINUTE_MICROS: u64 = 60 * 1_000_000;

worded! {
/// The kind of problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SpellKind {
    /// An operator whose `Available` was not True, or was no longer reported.
    Unavailable = "Unavailable",
    /// An operator whose `Degraded` was True.
    Degraded = "Degraded",
    /// `ClusterVersion` whose `Failing` was True or Unknown.
    Failing = "Failing",
    /// A node whose `Ready` was not True, without an update of it.
    NotReady = "NotReady",
}
}

impl SpellKind {
    /// Returns the resource, in plural, of which an object has such spells.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Failing => "clusterversions",
            Self::NotReady => "nodes",
            Self::Unavailable | Self::Degraded => "clusteroperators",
        }
    }

    /// Returns after how long `oc adm upgrade status` warns, and after how long it reports an
    /// error; `None` if it has no such limit.
    pub const fn thresholds_micros(self) -> (Option<u64>, Option<u64>) {
        match self {
            Self::Unavailable => (Some(5 * MINUTE_MICROS), Some(20 * MINUTE_MICROS)),
            Self::Degraded => (Some(5 * MINUTE_MICROS), Some(40 * MINUTE_MICROS)),
            Self::Failing => (Some(0), None),
            Self::NotReady => (Some(5 * MINUTE_MICROS), None),
        }
    }
}

worded! {
/// The highest level that `oc adm upgrade status` would have reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SpellLevel {
    /// Nothing: it ended before.
    Silent = "silent",
    /// A warning.
    Warning = "warning",
    /// An error.
    Error = "error",
}
}

/// A time with a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnhealthySpell {
    /// The kind of problem.
    pub ill: SpellKind,
    /// The operator's or the node's name; `version` for `ClusterVersion`.
    pub name: String,
    /// The version that began it, or the first one observed.
    pub from: RecordMark,
    /// Whether it had begun before the observation.
    pub is_older: bool,
    /// Of one that had: `lastTransitionTime` of the condition, from which `oc adm upgrade status` counts.
    pub since: Option<RecordedAt>,
    /// The version that ended it; `None` if there is none up to the queried moment.
    pub to: Option<RecordMark>,
    /// The texts of the condition, in order; each only if it differs from the one before.
    pub texts: Vec<MarkedCondition>,
    /// Whether the recording has a gap in it: the problem may have been interrupted.
    pub has_gap: bool,
}

impl UnhealthySpell {
    /// Returns its length in microseconds; an open spell lasts until `now`.
    pub fn micros(&self, now: RecordedAt) -> u64 {
        micros_between(self.from.at, self.to.map_or(now, |to| to.at))
    }

    /// Returns the highest level that `oc adm upgrade status` would have reported.
    pub fn level(&self, now: RecordedAt) -> SpellLevel {
        let before = self
            .since
            .map_or(0, |since| micros_between(since, self.from.at));
        let lasted = self.micros(now).saturating_add(before);
        let (warning, error) = self.ill.thresholds_micros();
        // Without a limit it warns at once.
        let is_past = |limit: Option<u64>| limit.is_some_and(|limit| lasted > limit || limit == 0);
        if is_past(error) {
            SpellLevel::Error
        } else if is_past(warning) {
            SpellLevel::Warning
        } else {
            SpellLevel::Silent
        }
    }
}

impl SpellKind {
    const fn condition(self) -> &'static str {
        match self {
            Self::Unavailable => "Available",
            Self::Degraded => "Degraded",
            Self::Failing => "Failing",
            Self::NotReady => "Ready",
        }
    }

    /// Returns whether a status of its condition is a problem.
    pub(crate) fn is_status(self, status: &str) -> bool {
        match self {
            Self::Unavailable | Self::NotReady => status != "True",
            Self::Degraded => status == "True",
            Self::Failing => status != "False",
        }
    }
}

/// Returns the spells of an object. An object that was never healthy is starting, unless it was there when its
/// resource was first observed; one that reports that it is degraded is so from the first report on.
pub(super) fn spells(
    ill: SpellKind,
    tracks: &[StateTrack],
    was_there: bool,
) -> Vec<UnhealthySpell> {
    let mut own = tracks.iter();
    let Some(track) = own.find(|track| track.aspect().condition() == Some(ill.condition())) else {
        return Vec::new();
    };
    let reported = track.intervals().map(|interval| SpellPart {
        is_ill: ill.is_status(&interval.state.status),
        life: interval.life,
        span: MarkSpan {
            from: interval.from,
            to: interval.to,
        },
        reported: Some(interval),
    });
    let unreported = track.unreported().map(|(life, span)| SpellPart {
        is_ill: true,
        life,
        span,
        reported: None,
    });
    // Of other conditions nothing says what their absence means.
    let unreported = unreported.filter(|_| ill == SpellKind::Unavailable);
    let mut parts: Vec<SpellPart<'_>> = reported.chain(unreported).collect();
    parts.sort_by_key(|part| part.span.from);
    let mut has_been_well = false;
    let mut all = Vec::new();
    for run in parts.chunk_by(SpellPart::goes_on) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else {
            continue;
        };
        if !first.is_ill {
            has_been_well = true;
        } else if has_been_well || was_there || ill == SpellKind::Degraded {
            let is_older = was_there && !has_been_well;
            let since = first.reported.and_then(|interval| interval.since);
            all.push(UnhealthySpell {
                ill,
                name: track.object().name.clone(),
                from: first.span.from,
                is_older,
                since: since.filter(|_| is_older),
                to: last.span.to,
                texts: run.iter().map(|part| part.text(ill)).collect(),
                has_gap: false,
            });
        }
    }
    all
}

/// A time in which a condition was reported with one text, or no longer reported.
struct SpellPart<'a> {
    is_ill: bool,
    life: ObjectId,
    span: MarkSpan,
    reported: Option<StateInterval<'a>>,
}

impl SpellPart<'_> {
    fn goes_on(&self, next: &Self) -> bool {
        self.is_ill == next.is_ill && self.life == next.life && self.span.to == Some(next.span.from)
    }

    fn text(&self, ill: SpellKind) -> MarkedCondition {
        let state = self.reported.map(|interval| interval.state);
        let text = |of: fn(&StateText) -> &str| {
            state.map_or_else(String::new, |state| of(state).to_owned())
        };
        let unreported = || format!("{} is no longer reported", ill.condition());
        MarkedCondition {
            mark: self.span.from,
            status: text(|state| &state.status),
            reason: text(|state| &state.reason),
            message: state.map_or_else(unreported, |state| state.message.to_string()),
        }
    }
}
