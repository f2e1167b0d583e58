//! Decides about each line and object of an import: an event in the reel, a count, or a broken
//! part.
//!
//! Invariants:
//!
//! * An object's bytes are not changed, unless secrets must be redacted or the input is not JSON.
//! * A broken part is counted and the rest continues; only a reel that cannot be written ends an
//!   import early.
//! * An unobserved deletion is written only for objects that a later list covers and lacks.

use crate::audit::{AuditRecord, AuditRequest, AuditTarget};
use crate::capture::CapturedGroup;
use crate::document::{
    self, EventLine, ImportedHead, Leaf, ListType, leaves, leaves_before_damage,
};
use crate::error::{BrokenPart, BrokenParts, BrokenReason, BrokenUnit, ImportError};
use crate::existing_objects::{
    ExistingKey, ExistingObject, ExistingObjects, ListConflict, ListScope, Observed, fingerprint,
};
use crate::input::YamlPart;
use crate::outcome::{DroppedMembers, ListCounts};
use crate::resources::{ImportedDefinition, InputResources, ResourceQuery};
use crate::secrets::SecretRedaction;
use crate::writer::{ImportWriter, ImportedEvent};
use kubereel_format::{AppendError, EventType, Evidence, MAX_BODY, RecordedAt, ResourceId};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The longest user name in a mark.
const MAX_MARK: usize = 1024;

/// How an object arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// In an event, which is written unconditionally.
    Told(EventType),
    /// In an event that may repeat a known state.
    Watched(EventType),
    /// As it was at a moment.
    Listed(Listing),
}

/// How an object of a moment stands in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listing {
    /// In a list.
    Item,
    /// On a line of its own.
    Line,
    /// As a document of its own.
    Document,
}

/// The current list.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CurrentList {
    /// Whether an object or a list preceded it.
    pub(crate) is_later: bool,
    /// The number of broken parts before it.
    pub(crate) broken_before: u64,
    /// Whether an input of it was cut off, or is one page of a list.
    pub(crate) is_partial: bool,
    /// Why it cannot be the list of its time.
    pub(crate) conflict: Option<ListConflict>,
    pub(crate) content: ListContent,
}

/// What the inputs of a moment have so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ListContent {
    #[default]
    Nothing,
    /// Events only, which have times of their own.
    Events,
    /// An object, or a list that may be empty.
    Objects,
}

/// The state of one import.
pub(crate) struct Importer {
    pub(crate) writer: ImportWriter,
    pub(crate) resources: InputResources,
    pub(crate) secrets: SecretRedaction,
    pub(crate) broken: BrokenParts,
    pub(crate) dropped: DroppedMembers,
    pub(crate) lists: ListCounts,
    pub(crate) bookmarks: u64,
    pub(crate) errors: u64,
    pub(crate) live: ExistingObjects,
    /// For each kind, the number of the list with the newest version, and that version.
    pub(crate) list_versions: BTreeMap<(String, String), (u64, u128)>,
    /// Whether lists are compared with known objects.
    pub(crate) is_tracking: bool,
    /// The current list.
    pub(crate) current: CurrentList,
    /// The time of lines without one.
    pub(crate) at: Option<RecordedAt>,
    /// The time of objects outside of events.
    pub(crate) listed_at: Option<RecordedAt>,
    /// Whether an object used that time.
    pub(crate) has_listed: bool,
    /// The end of the reel to which the import appends.
    pub(crate) end: Option<RecordedAt>,
    /// The current input, for broken parts; empty if it is the only one.
    pub(crate) input: String,
    /// The number of objects so far, for inputs without lines.
    pub(crate) objects: u64,
    /// The item of the list that is read from a line, from 1; 0 outside of such a list.
    pub(crate) item: u64,
    /// The line of the document of YAML that is read, from 1; 0 of other text.
    pub(crate) yaml_line: u64,
}

/// Why a part of the input is not in the reel.
pub(crate) enum PartRefusal {
    /// It is broken; the rest may be valid.
    Broken(BrokenReason),
    /// The reel cannot be written any more.
    Fatal(AppendError),
}

impl From<BrokenReason> for PartRefusal {
    fn from(problem: BrokenReason) -> Self {
        Self::Broken(problem)
    }
}

impl From<AppendError> for PartRefusal {
    fn from(error: AppendError) -> Self {
        match error {
            AppendError::BodyTooLong { .. } => Self::Broken(BrokenReason::TooLong),
            AppendError::NameTooLong { what, .. } => Self::Broken(BrokenReason::LongName(what)),
            error => Self::Fatal(error),
        }
    }
}

impl Importer {
    /// Takes a line of events.
    pub(crate) fn line(&mut self, number: u64, bytes: &[u8]) -> Result<(), ImportError> {
        let outcome = EventLine::parse(bytes)
            .map_err(PartRefusal::from)
            .and_then(|line| self.event(&line));
        self.settle(number, outcome)
    }

    /// Notes the input that is being read, for broken parts.
    pub(crate) fn enter(&mut self, name: &str, is_several: bool) {
        let name = if is_several { name } else { "" };
        if self.input != name {
            name.clone_into(&mut self.input);
        }
    }

    /// Notes that a part of the input is broken.
    pub(crate) fn broken(&mut self, number: u64, problem: BrokenReason) {
        let problem = match self.yaml_line {
            0 => problem,
            _ => problem.without_byte(),
        };
        self.broken.push(BrokenPart {
            file: self.input.clone(),
            number,
            item: self.item,
            line: self.yaml_line,
            problem,
        });
    }

    /// Notes a broken part, or ends the import with a fatal error.
    pub(crate) fn settle(
        &mut self,
        number: u64,
        outcome: Result<(), PartRefusal>,
    ) -> Result<(), ImportError> {
        match outcome {
            Ok(()) => Ok(()),
            Err(PartRefusal::Broken(problem)) => {
                self.broken(number, problem);
                Ok(())
            }
            Err(PartRefusal::Fatal(error)) => Err(error.into()),
        }
    }

    /// Notes a broken part in a file of an archive.
    pub(crate) fn settle_in(
        &mut self,
        file: &str,
        outcome: Result<(), PartRefusal>,
    ) -> Result<(), ImportError> {
        match outcome {
            Ok(()) => Ok(()),
            Err(PartRefusal::Broken(problem)) => {
                self.broken.push_in(file, 0, problem);
                Ok(())
            }
            Err(PartRefusal::Fatal(error)) => Err(error.into()),
        }
    }

    /// Takes an event.
    fn event(&mut self, line: &EventLine<'_>) -> Result<(), PartRefusal> {
        let kind = match line.kind.as_deref() {
            Some("BOOKMARK") => {
                self.bookmarks += 1;
                return Ok(());
            }
            Some("ERROR") => {
                self.errors += 1;
                return Ok(());
            }
            Some(word) => event_type(word)?,
            None => return Err(BrokenReason::NoType.into()),
        };
        let object = line.object.ok_or(BrokenReason::NoObject)?.get().as_bytes();
        let ts = line.ts.map(RawValue::get).filter(|ts| *ts != "null");
        let at = match ts {
            Some(ts) => document::time(ts).ok_or_else(|| BrokenReason::BadTime(ts.to_owned()))?,
            None => self.at.ok_or(BrokenReason::NoTime)?,
        };
        let named = ResourceQuery {
            group: line.group.as_deref(),
            version: line.version.as_deref(),
            plural: line.resource.as_deref(),
            ..ResourceQuery::default()
        };
        self.object(at, Arrival::Told(kind), &named, object)?;
        for name in &line.others {
            self.dropped.push(name);
        }
        Ok(())
    }

    /// Takes an object; `named` is what other parts of the input say about its resource.
    pub(crate) fn object(
        &mut self,
        at: RecordedAt,
        arrival: Arrival,
        named: &ResourceQuery<'_>,
        object: &[u8],
    ) -> Result<(), PartRefusal> {
        if object.len() > MAX_BODY {
            return Err(BrokenReason::TooLong.into());
        }
        if self.end.is_some_and(|end| at < end) {
            return Err(BrokenReason::BeforeEnd.into());
        }
        let head = ImportedHead::parse(object)?;
        let or = |own: &Cow<'_, str>, other: &str| {
            if own.is_empty() {
                other.to_owned()
            } else {
                own.clone().into_owned()
            }
        };
        let api_version = or(&head.api_version, named.api_version);
        let kind_name = or(&head.kind, named.kind);
        let query = ResourceQuery {
            api_version: &api_version,
            kind: &kind_name,
            namespaced: !head.namespace.is_empty(),
            ..*named
        };
        let info = self.resources.find(&query)?;
        let id = info.id;
        let is_secret = SecretRedaction::is_secret(info, &api_version, &kind_name);
        let is_definition =
            (info.group.as_str(), info.plural.as_str()) == ImportedDefinition::RESOURCE;
        let names_cluster = info.group.is_empty() && info.plural == "namespaces";
        let secrets = &mut self.secrets;
        if is_secret {
            secrets.count(&head.namespace, &head.name, object);
        }
        let body = secrets
            .object(info, &api_version, &kind_name, object)
            .ok_or(BrokenReason::UnreadableSecret)?;
        // As it is stored: of a Secret, what is too deep is replaced.
        document::check_readable(&body)?;
        let name = secrets
            .name(info, &api_version, &kind_name, &head.name, &head.uid)
            .into_owned();
        let key = ExistingKey {
            resource: id,
            namespace: head.namespace.clone().into_owned(),
            name: name.clone(),
        };
        let Some((kind, evidence)) = self.judge(at, arrival, &key, &head, &body)? else {
            return Ok(());
        };
        if let Some(info) = self.resources.take_news(id) {
            self.writer.announce(at, info)?;
        }
        self.writer.connect(at, id)?;
        if names_cluster && head.name == "kube-system" && !head.uid.is_empty() {
            self.writer.cluster(at, &head.uid)?;
        }
        self.writer.event(&ImportedEvent {
            at,
            kind,
            resource: id,
            namespace: &head.namespace,
            name: &name,
            uid: &head.uid,
            resource_version: &head.resource_version,
            body: &body,
            evidence,
        })?;
        if is_definition && kind != EventType::Deleted {
            self.learn(at, object)?;
        }
        Ok(())
    }

    /// Decides which event an object makes; `None` if its state is known.
    fn judge(
        &mut self,
        at: RecordedAt,
        arrival: Arrival,
        key: &ExistingKey,
        head: &ImportedHead<'_>,
        body: &[u8],
    ) -> Result<Option<(EventType, Evidence)>, PartRefusal> {
        if !self.is_tracking {
            let kind = match arrival {
                Arrival::Told(kind) | Arrival::Watched(kind) => kind,
                Arrival::Listed(_) => EventType::Added,
            };
            return Ok(Some((kind, Evidence::Imported)));
        }
        let print = fingerprint(body);
        let listing = match arrival {
            Arrival::Listed(listing) => Some(listing),
            Arrival::Told(_) | Arrival::Watched(_) => None,
        };
        let observed = self
            .live
            .judge(key, &head.uid, &head.resource_version, print);
        if listing.is_some() {
            let conflict = self.live.conflict(key, &head.resource_version, &observed);
            self.conflict(conflict);
        }
        let evidence = if listing.is_some() && self.current.is_later {
            Evidence::Listed
        } else {
            Evidence::Imported
        };
        let kind = match (arrival, &observed) {
            (Arrival::Told(kind), _) => kind,
            (Arrival::Watched(EventType::Deleted), _)
                if self.live.uid(key).is_some() || !self.live.is_gone(&head.uid) =>
            {
                EventType::Deleted
            }
            (Arrival::Watched(_), Observed::Same | Observed::Outdated) => {
                self.lists.repeated += 1;
                return Ok(None);
            }
            (Arrival::Listed(listing), Observed::Same) => {
                self.live.note_listed(key, self.scope(listing), false);
                self.lists.unchanged += 1;
                return Ok(None);
            }
            (Arrival::Listed(listing), Observed::Outdated) => {
                self.live.note_listed(key, self.scope(listing), true);
                self.lists.older += 1;
                return Ok(None);
            }
            (_, Observed::Changed) => EventType::Modified,
            (Arrival::Watched(kind), Observed::New) => kind,
            (Arrival::Listed(_), Observed::New) => EventType::Added,
            (_, Observed::Replaces(uid)) => {
                let uid = uid.clone();
                self.live.remove(key, &uid, "");
                self.deletion(at, key, &uid, Evidence::Listed)?;
                EventType::Added
            }
        };
        if kind == EventType::Deleted {
            self.live.remove(key, &head.uid, &head.resource_version);
        } else {
            self.live
                .put(key.clone(), &head.uid, &head.resource_version, print);
        }
        if let Some(listing) = listing {
            self.live.note_listed(key, self.scope(listing), false);
        }
        Ok(Some((kind, evidence)))
    }

    /// Notes why the current list cannot be that of its time. The objects of a folder are of several times, up to that
    /// of the folder.
    fn conflict(&mut self, found: Option<ListConflict>) {
        let is_expected = self.lists.is_gathering && found != Some(ListConflict::Shared);
        let conflict = &mut self.current.conflict;
        *conflict = conflict.or(found.filter(|_| !is_expected));
    }

    /// Notes the version of a list.
    fn list_version(&mut self, listed: ListType<'_>, version: Option<u128>) {
        let Some(version) = version.filter(|_| !listed.kind.is_empty()) else {
            return;
        };
        let list = self.lists.lists;
        let key = (listed.api_version.to_owned(), listed.kind.to_owned());
        let (newest_list, newest) = self.list_versions.entry(key).or_insert((list, version));
        let before = *newest;
        let is_older = *newest_list < list && version < before;
        if version > before {
            (*newest_list, *newest) = (list, version);
        }
        self.conflict(is_older.then_some(ListConflict::Older { version, before }));
    }

    /// Returns the assumed scope of what an object is in.
    const fn scope(&self, listing: Listing) -> ListScope {
        match listing {
            Listing::Item if self.lists.is_gathering => ListScope::SeenOnly,
            Listing::Item => ListScope::Seen,
            Listing::Line => ListScope::Line,
            Listing::Document if self.lists.is_gathering => ListScope::File,
            Listing::Document => ListScope::Object,
        }
    }

    /// Writes the deletion of an object without a last body.
    fn deletion(
        &mut self,
        at: RecordedAt,
        key: &ExistingKey,
        uid: &str,
        evidence: Evidence,
    ) -> Result<bool, PartRefusal> {
        self.writer.connect(at, key.resource)?;
        let is_written = self.writer.deletion(&ImportedEvent {
            at,
            kind: EventType::Deleted,
            resource: key.resource,
            namespace: &key.namespace,
            name: &key.name,
            uid,
            resource_version: "",
            body: &[],
            evidence,
        })?;
        Ok(is_written)
    }

    fn learn(&mut self, at: RecordedAt, object: &[u8]) -> Result<(), PartRefusal> {
        let Some(definition) = ImportedDefinition::read(object) else {
            return Ok(());
        };
        self.define(at, definition)
    }

    fn define(
        &mut self,
        at: RecordedAt,
        definition: ImportedDefinition,
    ) -> Result<(), PartRefusal> {
        for id in self.resources.learn(definition) {
            if let Some(info) = self.resources.take_news(id) {
                self.writer.announce(at, info)?;
            }
        }
        Ok(())
    }

    /// Takes the names of resources from a discovery document.
    pub(crate) fn discover(
        &mut self,
        at: RecordedAt,
        document: &RawValue,
    ) -> Result<(), ImportError> {
        // Names that cannot be read are guessed.
        let Ok(found) = serde_json::from_str::<CapturedGroup>(document.get()) else {
            return Ok(());
        };
        let (group, _) = found.group_version.split_once('/').unwrap_or(("", ""));
        for one in found.resources {
            // A subresource is not a resource.
            if one.name.contains('/') || one.name.is_empty() || one.kind.is_empty() {
                continue;
            }
            let definition = ImportedDefinition {
                group: group.to_owned(),
                singular: if one.singular_name.is_empty() {
                    one.kind.to_lowercase()
                } else {
                    one.singular_name
                },
                kind: one.kind,
                plural: one.name,
                short_names: one.short_names.unwrap_or_default(),
                categories: one.categories.unwrap_or_default(),
                namespaced: one.namespaced,
            };
            let outcome = self.define(at, definition);
            self.settle(0, outcome)?;
        }
        Ok(())
    }

    /// Begins a list of a moment.
    pub(crate) fn begin_list(&mut self, is_gathering: bool) {
        self.lists.lists += 1;
        self.lists.is_gathering = is_gathering;
        self.current.broken_before = self.broken.count;
        self.current.is_partial = false;
        self.current.conflict = None;
        self.current.content = ListContent::Nothing;
        self.current.is_later = !self.live.is_empty() || self.lists.lists > 1;
        self.live.begin_list();
    }

    /// Ends a list: objects that it lacks are deleted, unless a part of it could not be read.
    pub(crate) fn end_list(
        &mut self,
        at: RecordedAt,
        list_version: &str,
        is_whole: bool,
    ) -> Result<(), ImportError> {
        self.writer.reach(at)?;
        if !self.is_tracking {
            return Ok(());
        }
        let vanished = self.live.end_list(list_version);
        self.lists.uncertain = self.lists.uncertain.saturating_add(vanished.uncertain);
        if !is_whole {
            let count = u64::try_from(vanished.gone.len()).unwrap_or(u64::MAX);
            self.lists.uncertain = self.lists.uncertain.saturating_add(count);
            for (key, object) in vanished.gone {
                self.live.carry(key, object);
            }
            return Ok(());
        }
        for (key, ExistingObject { uid, .. }) in vanished.gone {
            let outcome = self.deletion(at, &key, &uid, Evidence::Listed);
            self.lists.deleted += 1;
            self.settle(0, outcome.map(drop))?;
        }
        for id in vanished.complete {
            if let Some(info) = self.resources.take_news(id) {
                self.writer.announce(at, info)?;
            }
            self.writer.list(at, id)?;
        }
        Ok(())
    }

    /// Notes that the current list has no objects of a resource.
    pub(crate) fn empty_list(&mut self, listed: ListType<'_>) {
        self.lists.empty += 1;
        if listed.kind.is_empty() {
            // kubectl writes an empty list without its kind. The lists before it determine it.
            if let Some(resource) = self.live.only_resource() {
                self.live.cover(resource, ListScope::Seen);
                self.lists.is_kind_assumed = true;
            }
            return;
        }
        let query = ResourceQuery {
            api_version: listed.api_version,
            kind: listed.kind,
            ..ResourceQuery::default()
        };
        if let Ok(info) = self.resources.find(&query) {
            let id = info.id;
            self.live.cover(id, ListScope::Seen);
        }
    }

    /// Notes that the current list has all objects of a resource, in one namespace or in all.
    pub(crate) fn cover(
        &mut self,
        query: &ResourceQuery<'_>,
        namespace: Option<String>,
    ) -> Option<ResourceId> {
        let id = self.resources.find(query).ok()?.id;
        self.live.cover(id, ListScope::Exact(namespace));
        Some(id)
    }

    /// Takes a document: the content of one line, or of one place of a longer text.
    pub(crate) fn document(&mut self, number: u64, bytes: &[u8]) -> Result<(), ImportError> {
        let taken = leaves(bytes, &mut |item, leaf| {
            // Without lines, the number is that of the item.
            self.item = if number > 0 { item } else { 0 };
            self.leaf(number, leaf)
        });
        self.item = 0;
        taken
    }

    /// Takes a document of YAML, before which documents may be that cannot be read.
    pub(crate) fn yaml_document(
        &mut self,
        document: &YamlPart,
        damaged_before: u64,
    ) -> Result<(), ImportError> {
        self.objects = self.objects.saturating_add(damaged_before);
        self.yaml_line = document.line;
        let taken = self.document(0, document.value.to_string().as_bytes());
        self.yaml_line = 0;
        taken
    }

    /// Takes the items before the damage of a document that is a list.
    pub(crate) fn document_before_damage(&mut self, bytes: &[u8]) -> Result<(), ImportError> {
        leaves_before_damage(bytes, &mut |_, leaf| self.leaf(0, leaf))
    }

    fn leaf(&mut self, number: u64, leaf: Leaf<'_>) -> Result<(), ImportError> {
        let content = &mut self.current.content;
        match leaf {
            Leaf::Event(_) | Leaf::Audit(_) if *content == ListContent::Nothing => {
                *content = ListContent::Events;
            }
            Leaf::EmptyList(_) | Leaf::Object(..) | Leaf::Single(_) => {
                *content = ListContent::Objects;
            }
            Leaf::List(..) | Leaf::Event(_) | Leaf::Audit(_) | Leaf::Broken(_) => {}
        }
        match leaf {
            Leaf::List(listed, metadata) => {
                let version = metadata
                    .resource_version
                    .as_deref()
                    .and_then(|text| text.parse().ok());
                self.list_version(listed, version);
                self.current.is_partial |= metadata.is_page();
                self.live.begin_document();
                Ok(())
            }
            Leaf::EmptyList(listed) => {
                self.empty_list(listed);
                Ok(())
            }
            Leaf::Broken(problem) => {
                let number = self.count(number);
                self.broken(number, problem);
                Ok(())
            }
            Leaf::Event(bytes) => {
                let number = self.count(number);
                self.line(number, bytes)
            }
            Leaf::Audit(bytes) => {
                let number = self.count(number);
                self.audit_line(number, bytes)
            }
            Leaf::Object(bytes, listed) => {
                let number = self.count(number);
                let at = self.listed_at.ok_or(ImportError::NoTime)?;
                self.has_listed = true;
                let outcome = self.listed_object(at, bytes, listed);
                self.settle(number, outcome)
            }
            Leaf::Single(bytes) => {
                let listing = if number > 0 {
                    Listing::Line
                } else {
                    Listing::Document
                };
                let number = self.count(number);
                let at = self.listed_at.ok_or(ImportError::NoTime)?;
                self.has_listed = true;
                let outcome = self.single_object(at, bytes, listing);
                self.settle(number, outcome)
            }
        }
    }

    /// Takes an object of a list.
    pub(crate) fn listed_object(
        &mut self,
        at: RecordedAt,
        object: &[u8],
        listed: ListType<'_>,
    ) -> Result<(), PartRefusal> {
        let named = ResourceQuery {
            api_version: listed.api_version,
            kind: listed.kind,
            ..ResourceQuery::default()
        };
        self.object(at, Arrival::Listed(Listing::Item), &named, object)
    }

    /// Takes an object outside of a list.
    pub(crate) fn single_object(
        &mut self,
        at: RecordedAt,
        object: &[u8],
        listing: Listing,
    ) -> Result<(), PartRefusal> {
        let arrival = Arrival::Listed(listing);
        self.object(at, arrival, &ResourceQuery::default(), object)
    }

    /// Takes an event of an audit log.
    pub(crate) fn audit_line(&mut self, number: u64, bytes: &[u8]) -> Result<(), ImportError> {
        let outcome = AuditRecord::parse(bytes)
            .map_err(PartRefusal::from)
            .and_then(|record| self.audit(record));
        self.settle(number, outcome)
    }

    /// Takes an event of an audit log that was done at a time at the latest.
    pub(crate) fn audit_line_before(
        &mut self,
        number: u64,
        bytes: &[u8],
        latest: RecordedAt,
    ) -> Result<(), ImportError> {
        let outcome = AuditRecord::parse(bytes)
            .map_err(PartRefusal::from)
            .and_then(|record| self.audit(record.done_before(latest)));
        self.settle(number, outcome)
    }

    fn audit(&mut self, record: AuditRecord<'_>) -> Result<(), PartRefusal> {
        let counts = &mut self.lists.audit;
        match record {
            AuditRecord::Bodies { at, target, bodies } => {
                counts.with_bodies += 1;
                // The log names the requested version, which is that of the body.
                let named = target.query();
                for (kind, body) in bodies {
                    self.object(at, Arrival::Watched(kind), &named, body.get().as_bytes())?;
                }
            }
            AuditRecord::Gone { at, uid, request } => {
                if self.end.is_some_and(|end| at < end) {
                    return Err(BrokenReason::BeforeEnd.into());
                }
                let target = &request.target;
                let info = self.resources.find(&target.query())?;
                let api_version = format!("{}/{}", target.group, target.version);
                // As it is in the reel: the name may be a secret.
                let name = (self.secrets).name(info, &api_version, &info.kind, &target.name, &uid);
                let key = ExistingKey {
                    resource: info.id,
                    name: name.into_owned(),
                    namespace: target.namespace.clone(),
                };
                let Some(uid) = self.live.uid(&key) else {
                    return self.mark(at, &request);
                };
                self.lists.audit.with_bodies += 1;
                self.live.remove(&key, &uid, "");
                self.deletion(at, &key, &uid, Evidence::Imported)?;
            }
            AuditRecord::Words { at, request } => return self.mark(at, &request),
            AuditRecord::Read => counts.reads += 1,
            AuditRecord::Failed => counts.failed += 1,
            AuditRecord::DryRun => counts.dry_runs += 1,
            AuditRecord::Stage => counts.stages += 1,
            AuditRecord::Routine => counts.routine += 1,
        }
        Ok(())
    }

    fn mark(&mut self, at: RecordedAt, request: &AuditRequest) -> Result<(), PartRefusal> {
        if self.end.is_some_and(|end| at < end) {
            return Err(BrokenReason::BeforeEnd.into());
        }
        self.lists.audit.marks += 1;
        let words = request.words(&self.secrets.requested_name(&request.target));
        let words = words
            .get(..words.floor_char_boundary(MAX_MARK))
            .unwrap_or_default();
        let words = self.secrets.text(words);
        self.writer.mark(at, words)?;
        Ok(())
    }

    /// Returns the number of the current part: of its line, or of its own.
    const fn count(&mut self, line: u64) -> u64 {
        match self.broken.counted {
            BrokenUnit::Lines => line,
            _ if line > 0 => line,
            _ => {
                self.objects += 1;
                self.objects
            }
        }
    }
}

impl AuditTarget {
    fn query(&self) -> ResourceQuery<'_> {
        ResourceQuery {
            group: Some(&self.group),
            version: Some(&self.version),
            plural: Some(&self.plural),
            namespaced: !self.namespace.is_empty(),
            ..ResourceQuery::default()
        }
    }
}

/// Parses the type of an event.
pub(crate) fn event_type(word: &str) -> Result<EventType, BrokenReason> {
    match word {
        "ADDED" => Ok(EventType::Added),
        "MODIFIED" => Ok(EventType::Modified),
        "DELETED" => Ok(EventType::Deleted),
        other => Err(BrokenReason::UnknownType(other.to_owned())),
    }
}
