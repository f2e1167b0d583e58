//! Owns what becomes of one line or object of the input: an event in the reel, a count, or a broken
//! line. Refuses to change an object, unless Secrets are to be redacted.

use crate::broken::{Broken, Problem};
use crate::error::ImportError;
use crate::head::Head;
use crate::line::Line;
use crate::outcome::Dropped;
use crate::resource::{Asked, Definition, Resources};
use crate::secrets::Secrets;
use crate::when;
use crate::write::{Item, Writer};
use kubereel_format::{AppendError, EventType, MAX_BODY, RecordedAt};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Everything that is known while the input is read.
pub(crate) struct Take {
    pub(crate) writer: Writer,
    pub(crate) resources: Resources,
    pub(crate) secrets: Secrets,
    pub(crate) broken: Broken,
    pub(crate) dropped: Dropped,
    pub(crate) bookmarks: u64,
    pub(crate) errors: u64,
    /// The time of lines that do not say their own.
    pub(crate) at: Option<RecordedAt>,
    /// The time of objects that stand there without an event.
    pub(crate) listed_at: Option<RecordedAt>,
    /// Whether there were such.
    pub(crate) has_listed: bool,
    /// How many objects were met where lines do not count.
    pub(crate) objects: u64,
}

/// Why something is not in the reel.
pub(crate) enum Refusal {
    /// It is broken; the rest may be well.
    Broken(Problem),
    /// Nothing more can be written.
    Fatal(AppendError),
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self::Broken(problem)
    }
}

impl From<AppendError> for Refusal {
    fn from(error: AppendError) -> Self {
        match error {
            AppendError::BodyTooLong { .. } => Self::Broken(Problem::TooLong),
            AppendError::NameTooLong { what, .. } => Self::Broken(Problem::LongName(what)),
            error => Self::Fatal(error),
        }
    }
}

impl Take {
    /// Takes a line of events.
    pub(crate) fn line(&mut self, number: u64, bytes: &[u8]) -> Result<(), ImportError> {
        let outcome = Line::parse(bytes)
            .map_err(Refusal::from)
            .and_then(|line| self.event(&line));
        self.settle(number, outcome)
    }

    /// Notes that a part of the input is broken.
    pub(crate) fn broken(&mut self, number: u64, problem: Problem) {
        self.broken.push(number, problem);
    }

    /// Notes what is broken; what is fatal ends the import.
    pub(crate) fn settle(
        &mut self,
        number: u64,
        outcome: Result<(), Refusal>,
    ) -> Result<(), ImportError> {
        match outcome {
            Ok(()) => Ok(()),
            Err(Refusal::Broken(problem)) => {
                self.broken(number, problem);
                Ok(())
            }
            Err(Refusal::Fatal(error)) => Err(error.into()),
        }
    }

    /// Takes an event.
    pub(crate) fn event(&mut self, line: &Line<'_>) -> Result<(), Refusal> {
        let kind = match line.kind.as_deref() {
            Some("ADDED") => EventType::Added,
            Some("MODIFIED") => EventType::Modified,
            Some("DELETED") => EventType::Deleted,
            Some("BOOKMARK") => {
                self.bookmarks += 1;
                return Ok(());
            }
            Some("ERROR") => {
                self.errors += 1;
                return Ok(());
            }
            Some(other) => return Err(Problem::UnknownType(other.to_owned()).into()),
            None => return Err(Problem::NoType.into()),
        };
        let object = line.object.ok_or(Problem::NoObject)?.get().as_bytes();
        let ts = line.ts.map(RawValue::get).filter(|ts| *ts != "null");
        let at = match ts {
            Some(ts) => when::time(ts).ok_or_else(|| Problem::BadTime(ts.to_owned()))?,
            None => self.at.ok_or(Problem::NoTime)?,
        };
        let named = Asked {
            group: line.group.as_deref(),
            version: line.version.as_deref(),
            plural: line.resource.as_deref(),
            ..Asked::default()
        };
        self.object(at, kind, &named, object)?;
        for name in &line.others {
            self.dropped.push(name);
        }
        Ok(())
    }

    /// Takes an object; `named` is what is known of its resource from elsewhere.
    pub(crate) fn object(
        &mut self,
        at: RecordedAt,
        kind: EventType,
        named: &Asked<'_>,
        object: &[u8],
    ) -> Result<(), Refusal> {
        if object.len() > MAX_BODY {
            return Err(Problem::TooLong.into());
        }
        let head = Head::parse(object)?;
        let or = |own: &Cow<'_, str>, other: &str| {
            if own.is_empty() {
                other.to_owned()
            } else {
                own.clone().into_owned()
            }
        };
        let api_version = or(&head.api_version, named.api_version);
        let kind_name = or(&head.kind, named.kind);
        let asked = Asked {
            api_version: &api_version,
            kind: &kind_name,
            namespaced: !head.namespace.is_empty(),
            ..*named
        };
        let info = self.resources.find(&asked)?;
        let id = info.id;
        let is_secret = Secrets::is_secret(info, &api_version, &kind_name);
        let is_definition = (info.group.as_str(), info.plural.as_str()) == Definition::RESOURCE;
        let names_cluster = info.group.is_empty() && info.plural == "namespaces";
        let secrets = &mut self.secrets;
        if is_secret {
            secrets.count(&head.namespace, &head.name, object);
        }
        let body = secrets
            .object(info, &api_version, &kind_name, object)
            .ok_or(Problem::UnreadableSecret)?;
        let name = secrets
            .name(info, &api_version, &kind_name, &head.name, &head.uid)
            .into_owned();
        if let Some(info) = self.resources.take_news(id) {
            self.writer.announce(at, info)?;
        }
        if names_cluster && head.name == "kube-system" && !head.uid.is_empty() {
            self.writer.cluster(at, &head.uid)?;
        }
        self.writer.event(&Item {
            at,
            kind,
            resource: id,
            namespace: &head.namespace,
            name: &name,
            uid: &head.uid,
            resource_version: &head.resource_version,
            body: &body,
        })?;
        if is_definition && kind != EventType::Deleted {
            self.learn(at, object)?;
        }
        Ok(())
    }

    fn learn(&mut self, at: RecordedAt, object: &[u8]) -> Result<(), Refusal> {
        let Some(definition) = Definition::read(object) else {
            return Ok(());
        };
        for id in self.resources.learn(definition) {
            if let Some(info) = self.resources.take_news(id) {
                self.writer.announce(at, info)?;
            }
        }
        Ok(())
    }
}
