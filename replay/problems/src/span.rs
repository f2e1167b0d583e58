//! A span: a time in which an object showed a sign.

use crate::lookup::read;
use crate::sign::{Sign, SignKind};
use kubereel_cluster::RecordMark;
use kubereel_format::{EventType, Evidence, ObjectId, RecordedAt, Seq};
use kubereel_history::field::text;
use kubereel_history::{Timeline, timetext};
use std::time::Duration;

/// A sign that comes and goes lasts while it is shown for more than one part in this many of the time: what is
/// shown for a moment at every change of its object is normal however often the object is changed.
const PARTS: u32 = 10;
/// A failure that the object itself reports is normal no longer than this.
const FAILURE: Duration = Duration::from_secs(10);
/// A step of what is under way is normal at least this long.
const STEP: Duration = Duration::from_mins(10);
/// What does not start for this long before it is deleted is a problem.
const TAKEN_BACK: Duration = Duration::from_secs(5);

/// What explains another problem may be noticed this much later than it.
pub(crate) const SLACK: Duration = Duration::from_mins(1);
/// An object that is shown later than this after its creation was there before.
const CREATED_WITHIN: Duration = Duration::from_secs(10);
/// More reasons of one sign are not kept.
const MOST_REASONS: usize = 50;

/// How a span ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignEnd {
    /// It did not.
    Open,
    /// The object no longer shows the sign.
    Recovered(RecordedAt),
    /// The object was deleted, or its deletion requested.
    Deleted(RecordedAt),
    /// It is not known: from then on the object showed neither the sign nor that it is well.
    Unreported(RecordedAt),
    /// It is not known: from then on the object was not observed, and was gone when it was again.
    Unobserved(RecordedAt),
}

impl SignEnd {
    /// Returns the time of the end, if it is known that it ended.
    pub(crate) const fn at(self) -> Option<RecordedAt> {
        match self {
            Self::Open | Self::Unreported(_) | Self::Unobserved(_) => None,
            Self::Recovered(at) | Self::Deleted(at) => Some(at),
        }
    }
}

/// For how long a sign was shown that comes and goes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ShownTime {
    /// The times in which it was shown, less a part of those between.
    net: Duration,
    /// The most that this was.
    most: Duration,
}

impl ShownTime {
    /// Returns the time of a sign that did not go in between.
    pub(crate) const fn of(lasted: Duration) -> Self {
        Self {
            net: lasted,
            most: lasted,
        }
    }

    fn add(&mut self, shown: Duration) {
        self.net += shown;
        self.most = self.most.max(self.net);
    }

    /// Takes back the last part of what was added last.
    fn take_back(&mut self, shown: Duration) {
        if self.most == self.net {
            self.most = self.most.saturating_sub(shown);
        }
        self.net = self.net.saturating_sub(shown);
    }
}

/// A time in which an object showed a sign.
#[derive(Clone, Debug)]
pub(crate) struct SignSpan {
    pub(crate) object: ObjectId,
    pub(crate) sign: Sign,
    pub(crate) from: RecordMark,
    /// Whether the first version was there when the recorder first looked: it may be older.
    pub(crate) is_older: bool,
    pub(crate) end: SignEnd,
    /// How long the object showed it; of one that it still shows, until `run_from`.
    pub(crate) shown: ShownTime,
    /// When it appeared last.
    pub(crate) run_from: RecordedAt,
    /// When the last version was received that showed it.
    pub(crate) seen: RecordedAt,
    /// Whether the object had been well before, or was no longer new.
    pub(crate) was_well: bool,
    /// How often the sign appeared.
    pub(crate) count: u64,
    /// The Node of a Pod; may be empty.
    pub(crate) node: String,
    /// Each reason that the sign gave, with the version that gave it first; empty while it gave only one.
    pub(crate) reasons: Vec<(String, RecordMark)>,
    /// The version that gave the message, if the span began with other words.
    pub(crate) message_from: Option<RecordMark>,
    /// The words of a `ClusterVersion` that it began with, if later ones differ.
    pub(crate) began: Option<String>,
    /// The version of the object that ended it.
    pub(crate) closed_by: Option<Seq>,
}

impl SignSpan {
    /// Takes a later reading of the sign, which may give another reason.
    pub(crate) fn update(&mut self, later: Sign, mark: RecordMark) {
        let is_other = !later.message.is_empty() && later.message != self.sign.message;
        if is_other && self.sign.kind == SignKind::VersionFailing && self.began.is_none() {
            self.began = Some(self.sign.message.clone());
        }
        let before = self.sign.reason.clone();
        let words_before = self.sign.message.clone();
        self.sign.update(later);
        if !is_same_but_for_numbers(&words_before, &self.sign.message) {
            self.message_from = Some(mark);
        }
        if self.sign.reason == before {
            return;
        }
        if self.reasons.is_empty() {
            self.reasons.push((before, self.from));
        }
        if self.reason_from(&self.sign.reason).is_none() && self.reasons.len() < MOST_REASONS {
            self.reasons.push((self.sign.reason.clone(), mark));
        }
    }

    /// Returns the version that first gave a reason; `None` if none is known.
    pub(crate) fn reason_from(&self, reason: &str) -> Option<RecordMark> {
        if self.reasons.is_empty() {
            return (self.sign.reason == reason).then_some(self.from);
        }
        let mut known = self.reasons.iter();
        let (_, mark) = known.find(|(known, _)| known == reason)?;
        Some(*mark)
    }

    /// Ends the span with a version that does not show the sign.
    pub(crate) fn close(&mut self, end: SignEnd) {
        use SignEnd::{Deleted, Open, Recovered, Unreported};
        match (self.end, end) {
            (Open, Recovered(at) | Deleted(at) | Unreported(at)) => {
                self.shown.add(between(self.run_from, at));
            }
            // Since when it is not reported stays.
            (Unreported(_), Unreported(_)) => return,
            _ => {}
        }
        self.end = end;
    }

    /// Begins the span later: what was shown until then was not wrong yet.
    pub(crate) fn begin_at(&mut self, mark: RecordMark) {
        (self.from, self.is_older) = (mark, false);
    }

    /// Ends the span where its object was last observed; that it was deleted after that shows no time.
    pub(crate) fn end_unobserved(&mut self, since: RecordedAt) {
        if let SignEnd::Deleted(at) = self.end
            && since < at
        {
            let since = since.max(self.run_from);
            self.shown.take_back(between(since, at));
            self.end = SignEnd::Unobserved(since);
        }
    }

    /// Takes the time since a moment back in which the object was not observed before the version that ended the span: the
    /// sign may have ended at once.
    pub(crate) fn doubt_since(&mut self, since: RecordedAt) {
        if let Some(at) = self.end.at() {
            self.shown.take_back(between(since.max(self.run_from), at));
        }
    }

    /// Takes the sign for the same one again, if it was shown for enough of the time since it came.
    ///
    /// Of a sign that is never normal all appearances belong together.
    pub(crate) fn reopen(&mut self, at: RecordedAt) -> bool {
        let Some(to) = self.end.at() else {
            if self.end != SignEnd::Open {
                self.run_from = at;
                self.end = SignEnd::Open;
            }
            return true;
        };
        let left = self.shown.net.checked_sub(between(to, at) / PARTS);
        if left.is_none() && !self.normal().is_zero() && !self.is_older {
            return false;
        }
        self.shown.net = left.unwrap_or_default();
        self.count += 1;
        self.run_from = at;
        self.end = SignEnd::Open;
        true
    }

    /// Returns how long the sign lasted, until a time if it has not ended.
    pub(crate) fn lasted(&self, until: RecordedAt) -> Duration {
        let mut shown = self.shown;
        if self.end == SignEnd::Open {
            shown.add(between(self.run_from, until));
        }
        shown.most
    }

    /// Returns how long the sign is normal.
    pub(crate) fn normal(&self) -> Duration {
        let grace = self.sign.kind.grace();
        let normal = if self.was_well {
            grace.was_well
        } else {
            grace.starting.max(self.sign.start.unwrap_or_default())
        };
        let normal = if self.sign.is_under_way {
            normal.max(STEP)
        } else {
            normal
        };
        // What was taken back while it did not start had no time to recover.
        let is_taken_back = matches!(
            self.sign.kind,
            SignKind::ImagePull | SignKind::ContainerConfig | SignKind::ContainerStart
        ) && matches!(self.end, SignEnd::Deleted(_));
        let most = [
            self.sign.is_failure.then_some(FAILURE),
            is_taken_back.then_some(TAKEN_BACK),
        ];
        most.into_iter().flatten().fold(normal, Duration::min)
    }

    /// Returns whether nobody will ask for the span, because it ended and was normal.
    pub(crate) fn is_passing(&self) -> bool {
        // A cordon explains what a Node's Pods show, however short it was. What is older than the recording, and a
        // deletion, may have lasted longer than it was shown.
        self.end != SignEnd::Open
            && !self.is_older
            && self.sign.kind != SignKind::NodeCordoned
            && !self.sign.kind.is_deletion()
            && self.shown.most < self.normal()
    }
}

/// Returns whether two messages differ at most in numbers, such as those of restarts and Nodes.
pub(crate) fn is_same_but_for_numbers(one: &str, other: &str) -> bool {
    let parts = |text| str::split(text, |letter: char| letter.is_ascii_digit());
    let words = |text| parts(text).filter(|part| !part.is_empty());
    one == other || words(one).eq(words(other))
}

/// Tells how long it is from one time to another; nothing if that is earlier.
pub(crate) fn between(from: RecordedAt, to: RecordedAt) -> Duration {
    Duration::from_micros(u64::try_from(to.micros_since(from)).unwrap_or(0))
}

/// Returns whether an event shows that its object was created then. An import shows a creation as it shows an
/// object that it lists later than its beginning.
pub(crate) fn is_creation(timeline: &Timeline, seq: Seq) -> bool {
    let is_imported = || {
        let head = timeline.reel().head(seq)?;
        let at = head.stamp.wall;
        let is_added = head.evidence == Evidence::Imported
            && head.kind == EventType::Added
            && !head.evidence.is_first_look(at, timeline.start());
        // A watch begins with what is there, an object after the other.
        let object = read(timeline, seq).filter(|_| is_added)?;
        let created = timetext::parsed(text(&object, "/metadata/creationTimestamp"));
        Some(created.is_none_or(|created| between(created, at) <= CREATED_WITHIN))
    };
    timeline.is_creation(seq) || is_imported().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> RecordedAt {
        RecordedAt::from_micros(second * 1_000_000)
    }

    /// A span of some seconds, with its end.
    fn lasting(kind: SignKind, seconds: i64, end: fn(RecordedAt) -> SignEnd) -> SignSpan {
        let mut span = SignSpan {
            object: ObjectId(1),
            sign: Sign::new(kind, "", ""),
            from: RecordMark {
                seq: Seq(1),
                at: at(0),
            },
            is_older: false,
            end: SignEnd::Open,
            shown: ShownTime::default(),
            run_from: at(0),
            seen: at(0),
            was_well: false,
            count: 1,
            node: String::new(),
            reasons: Vec::new(),
            message_from: None,
            began: None,
            closed_by: None,
        };
        assert!(!span.is_passing(), "it is open");
        span.close(end(at(seconds)));
        span
    }

    #[test]
    fn what_ended_in_time_passes_unless_more_is_known_or_explained_by_it() {
        let recovered = |kind, seconds| lasting(kind, seconds, SignEnd::Recovered).is_passing();
        assert!(recovered(SignKind::PodPending, 299));
        assert!(!recovered(SignKind::PodPending, 300));
        // It explains what the Pods of the Node show.
        assert!(!recovered(SignKind::NodeCordoned, 1));
        // The object says since when.
        assert!(!recovered(SignKind::PodTerminating, 1));
        let mut older = lasting(SignKind::PodPending, 1, SignEnd::Recovered);
        older.is_older = true;
        assert!(!older.is_passing());
        // What was taken back while it did not start had no time to recover.
        assert!(recovered(SignKind::ImagePull, 6));
        assert!(!lasting(SignKind::ImagePull, 6, SignEnd::Deleted).is_passing());
        assert!(lasting(SignKind::ImagePull, 4, SignEnd::Deleted).is_passing());
    }
}
