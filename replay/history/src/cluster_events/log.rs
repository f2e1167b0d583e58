//! Owns the Events of a time, in the order in which they were received. Refuses those that only
//! expired: a deletion is no word of a component. Each body is read when its turn comes.

use super::said::{Regarding, Said};
use crate::moment::Cut;
use crate::query_error::QueryError;
use crate::timeline::Timeline;
use kubereel_format::{EventType, Evidence, RecordedAt, ResourceId, Seq};

/// Which Events are asked for.
#[derive(Clone, Debug, Default)]
pub struct EventQuestion {
    /// Only those of this namespace.
    pub namespace: Option<String>,
    /// Only those received after this moment.
    pub from: Option<Cut>,
    /// Only those received up to this moment.
    pub to: Option<Cut>,
    /// Only those about this object; an empty kind or uid stands for any.
    pub about: Option<Regarding>,
    /// Only those of this severity, `Warning` for example.
    pub severity: Option<String>,
}

/// An Event, as it was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// The record that brought it.
    pub seq: Seq,
    /// When that was received.
    pub at: RecordedAt,
    /// How it is known: what was there when the recorder first looked was said earlier.
    pub evidence: Evidence,
    /// The Event's namespace.
    pub namespace: String,
    /// The Event's name.
    pub name: String,
    /// What it says.
    pub said: Said,
}

/// The Events of a time; see [`Timeline::event_log`].
pub struct EventLog<'a> {
    timeline: &'a Timeline,
    question: EventQuestion,
    seqs: std::vec::IntoIter<Seq>,
}

impl Timeline {
    /// Gives the resources that hold Events: one, unless a recording knows them by both groups.
    pub fn event_resources(&self) -> Vec<ResourceId> {
        let are_events = |group: &str, plural: &str| {
            plural == "events" && (group.is_empty() || group == "events.k8s.io")
        };
        self.resources()
            .iter()
            .filter(|info| are_events(&info.group, &info.plural))
            .map(|info| info.id)
            .collect()
    }

    /// Gives the Events of a time.
    ///
    /// Which ones these are is known without reading a body; whom they are about is not.
    pub fn event_log(&self, question: EventQuestion) -> EventLog<'_> {
        let reel = self.reel();
        let wanted = |seq: Seq| {
            reel.kind_of(seq) != Some(EventType::Deleted)
                && question.from.is_none_or(|cut| !cut.includes(reel, seq))
                && question.to.is_none_or(|cut| cut.includes(reel, seq))
        };
        let mut seqs = Vec::new();
        for resource in self.event_resources() {
            for &object in self.objects_of(resource) {
                let is_asked = self
                    .key_of(object)
                    .is_some_and(|key| question.may_take(&key.namespace));
                if is_asked {
                    seqs.extend(
                        reel.versions(object)
                            .iter()
                            .copied()
                            .filter(|seq| wanted(*seq)),
                    );
                }
            }
        }
        seqs.sort_unstable();
        EventLog {
            timeline: self,
            question,
            seqs: seqs.into_iter(),
        }
    }
}

impl EventLog<'_> {
    /// Tells how many there are at most: those about other objects are among them.
    pub fn at_most(&self) -> usize {
        self.seqs.len()
    }

    fn read(&self, seq: Seq) -> Result<Option<Logged>, QueryError> {
        let reel = self.timeline.reel();
        let body = reel.body(seq)?;
        let said = Said::of(&body).map_err(|source| QueryError::Body { seq, source })?;
        if !self.question.takes(&said) {
            return Ok(None);
        }
        let Some(head) = reel.head(seq) else {
            return Ok(None);
        };
        let Some(key) = self.timeline.key_of(head.object) else {
            return Ok(None);
        };
        Ok(Some(Logged {
            seq,
            at: head.stamp.wall,
            evidence: head.evidence,
            namespace: key.namespace.clone(),
            name: key.name.clone(),
            said,
        }))
    }
}

/// Where Events about objects without a namespace may lie: the API server refuses any other place
/// (`ValidateEventCreate` of Kubernetes), and those before it had a rule kept them in none.
const OF_CLUSTER: [&str; 3] = ["default", "kube-system", ""];

impl EventQuestion {
    /// Tells whether Events of a namespace can be asked for, before any is read. The API server
    /// accepts an Event only in the namespace of what it is about.
    fn may_take(&self, namespace: &str) -> bool {
        let is_of = |about: &Regarding| match about.namespace.as_str() {
            "" => OF_CLUSTER.contains(&namespace),
            own => own == namespace,
        };
        self.namespace.as_ref().is_none_or(|only| only == namespace)
            && self.about.as_ref().is_none_or(is_of)
    }

    fn takes(&self, said: &Said) -> bool {
        let severity = self
            .severity
            .as_ref()
            .is_none_or(|only| said.severity.eq_ignore_ascii_case(only));
        let about = self.about.as_ref().is_none_or(|about| {
            let found = &said.regarding;
            let fits =
                |asked: &str, found: &str| asked.is_empty() || found.is_empty() || asked == found;
            found.name == about.name
                && fits(&about.kind, &found.kind)
                && fits(&about.uid, &found.uid)
                && found.namespace == about.namespace
        });
        severity && about
    }
}

impl Iterator for EventLog<'_> {
    type Item = Result<Logged, QueryError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let seq = self.seqs.next()?;
            match self.read(seq) {
                Ok(None) => {}
                Ok(Some(logged)) => return Some(Ok(logged)),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
