//! Reads the contents of an input: each format has its own reader, and the importer takes what it
//! returns.

use crate::capture::{ApiPath, Capture, CaptureStep};
use crate::document::{JsonPart, ListMetadata, json_error, json_parts};
use crate::error::{BrokenReason, BrokenUnit, GatheredFiles, ImportError};
use crate::existing_objects::number;
use crate::gather::GatheredObjects;
use crate::importer::{Arrival, Importer, Listing, event_type};
use crate::input::{InputForm, InputLine, InputLines, MAX_JSON, MAX_YAML, unread, whole, yaml};
use crate::meter::{CountedRead, Meter};
use crate::repository::{Repository, RepositoryStep};
use crate::resources::ResourceQuery;
use crate::trace::read_trace;
use crate::yaml_prefix::YamlDocuments;
use kubereel_format::RecordedAt;
use kubereel_unpack::PlainInput;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::cell::Cell;
use std::collections::btree_map::{BTreeMap, Entry};
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

/// The byte order mark, with which some editors begin a text.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Sums over all inputs.
#[derive(Debug, Default)]
pub(crate) struct InputFacts {
    pub(crate) is_converted: bool,
    pub(crate) is_time_assumed: bool,
    pub(crate) assumed_at: Option<RecordedAt>,
    pub(crate) gathered_at: Option<RecordedAt>,
    pub(crate) files: Option<GatheredFiles>,
    pub(crate) formats: Vec<&'static str>,
}

pub(crate) fn skip_byte_order_mark(plain: &mut PlainInput<'_>) {
    if plain.start().starts_with(BYTE_ORDER_MARK) {
        plain.consume(BYTE_ORDER_MARK.len());
    }
}

/// Takes an input of text, or a trace.
pub(crate) fn take_text(
    form: InputForm,
    mut plain: PlainInput<'_>,
    importer: &mut Importer,
    facts: &mut InputFacts,
    meter: &mut Meter<'_>,
) -> Result<(), ImportError> {
    skip_byte_order_mark(&mut plain);
    match form {
        InputForm::Objects => all_lines(plain, importer, meter),
        InputForm::Json => all_json(plain, importer, meter),
        InputForm::Yaml => {
            facts.is_converted = true;
            all_yaml(plain, importer, meter)
        }
        InputForm::TraceJson | InputForm::TracePacked => {
            facts.formats.push("a SimKube trace");
            facts.is_converted = true;
            take_simkube(form, plain, importer, meter)
        }
        // These formats are handled before.
        InputForm::Events
        | InputForm::Audit
        | InputForm::Tar
        | InputForm::Zip
        | InputForm::GitBundle => Ok(()),
    }
}

/// Takes objects and lists line by line.
fn all_lines(
    input: impl BufRead,
    importer: &mut Importer,
    meter: &mut Meter<'_>,
) -> Result<(), ImportError> {
    let mut lines = InputLines::new(input);
    while let Some((number, cut)) = lines.next_line().map_err(unread)? {
        match cut {
            InputLine::Whole(line) if line.trim_ascii().is_empty() => {}
            InputLine::Whole(line) => importer.document(number, line)?,
            InputLine::TooLong => importer.broken(number, BrokenReason::TooLong),
        }
        meter.tick();
    }
    Ok(())
}

/// Takes JSON documents, one after another.
fn all_json(
    input: impl Read,
    importer: &mut Importer,
    meter: &mut Meter<'_>,
) -> Result<(), ImportError> {
    count_objects(importer);
    let bytes = whole(input, MAX_JSON)?;
    for part in json_parts(&bytes) {
        match part {
            JsonPart::Document(document) => importer.document(0, document)?,
            JsonPart::Damaged(rest, reason) => {
                importer.document_before_damage(rest)?;
                let number = importer.objects.saturating_add(1);
                importer.broken(number, reason);
            }
        }
        meter.tick();
    }
    Ok(())
}

/// Takes YAML documents, as JSON.
fn all_yaml(
    input: impl Read,
    importer: &mut Importer,
    meter: &mut Meter<'_>,
) -> Result<(), ImportError> {
    count_objects(importer);
    let bytes = whole(input, MAX_YAML)?;
    let YamlDocuments { documents, damage } = YamlDocuments::read(&bytes)?;
    let has_objects = documents
        .iter()
        .any(|(one, _)| one.value.is_object() || one.value.is_array());
    if !has_objects && damage.is_empty() {
        return Err(ImportError::NotRecognised);
    }
    for (document, damaged_before) in documents {
        importer.yaml_document(&document, damaged_before)?;
        meter.tick();
    }
    let is_only = damage.len() == 1;
    for damage in damage {
        // The number of an object is known if nothing behind it was read; the text names the line.
        let number = match damage {
            BrokenReason::Cut(_) if is_only => importer.objects.saturating_add(1),
            _ => 0,
        };
        importer.broken(number, damage);
    }
    Ok(())
}

fn count_objects(importer: &mut Importer) {
    if importer.broken.counted == BrokenUnit::Lines {
        importer.broken.counted = BrokenUnit::Objects;
    }
}

/// Takes the objects of a folder or an archive.
pub(crate) fn take_gathered(
    mut gathered: GatheredObjects,
    importer: &mut Importer,
    facts: &mut InputFacts,
    at: RecordedAt,
    meter: &mut Meter<'_>,
) -> Result<(), ImportError> {
    facts.is_converted |= gathered.is_converted;
    facts.files = Some(sum(facts.files, gathered.files));
    importer.current.is_partial |= gathered.is_partial;
    importer.broken.counted = BrokenUnit::Parts;
    importer.broken.extend(std::mem::take(&mut gathered.broken));
    gathered.each(|object, listed| {
        importer.objects += 1;
        let number = importer.objects;
        let outcome = match listed {
            Some(listed) => importer.listed_object(at, object, listed),
            None => importer.single_object(at, object, Listing::Document),
        };
        meter.tick();
        importer.settle(number, outcome)
    })
}

fn sum(one: Option<GatheredFiles>, other: GatheredFiles) -> GatheredFiles {
    let one = one.unwrap_or_default();
    GatheredFiles {
        with_objects: one.with_objects + other.with_objects,
        logs: one.logs + other.logs,
        others: one.others + other.others,
        copies: one.copies + other.copies,
        replaced: one.replaced + other.replaced,
        skipped: one.skipped + other.skipped,
    }
}

/// The fields of a list that describe its items.
#[derive(Deserialize)]
struct ListBody<'a> {
    #[serde(default)]
    kind: String,
    #[serde(default, rename = "apiVersion")]
    api_version: String,
    #[serde(default)]
    metadata: ListMetadata,
    #[serde(borrow, default)]
    items: Option<Vec<&'a RawValue>>,
}

/// Takes the polls and the watch events of a k8shark capture.
pub(crate) fn take_capture(
    mut capture: Capture,
    importer: &mut Importer,
    facts: &mut InputFacts,
    meter: &mut Meter<'_>,
) -> Result<(), ImportError> {
    facts.formats.push("a k8shark capture");
    importer.broken.counted = BrokenUnit::Parts;
    for (place, reason) in std::mem::take(&mut capture.broken) {
        importer.broken.push_in(&place, 0, reason);
    }
    let mut others: u64 = 0;
    let mut polls = Polls::new();
    let mut discovered = Vec::new();
    capture.each(|place, step| {
        meter.tick();
        match step {
            CaptureStep::Other => others += 1,
            CaptureStep::Discovery(document) => discovered.push(document.to_owned()),
            CaptureStep::Event {
                at,
                path,
                kind,
                object,
            } => {
                for document in discovered.drain(..) {
                    importer.discover(at, &document)?;
                }
                if kind == "BOOKMARK" {
                    importer.bookmarks += 1;
                    return Ok(());
                }
                let named = ResourceQuery {
                    group: Some(&path.group),
                    version: Some(&path.version),
                    plural: Some(&path.plural),
                    ..ResourceQuery::default()
                };
                let outcome = event_type(kind).map_err(Into::into).and_then(|kind| {
                    let object = object.get().as_bytes();
                    importer.object(at, Arrival::Watched(kind), &named, object)
                });
                importer.settle_in(place, outcome)?;
            }
            CaptureStep::List { at, path, body } => {
                for document in discovered.drain(..) {
                    importer.discover(at, &document)?;
                }
                let is_list = take_poll(importer, &mut polls, place, (at, path, body))?;
                others += u64::from(!is_list);
            }
        }
        Ok(())
    })?;
    importer.lists.others += others;
    Ok(())
}

/// The polled resources and namespaces, with the newest resourceVersion of a list of each.
type Polls = BTreeMap<(String, Option<String>), Option<u128>>;

/// Takes a polled list of a capture; `false` if it is not a list.
fn take_poll(
    importer: &mut Importer,
    polls: &mut Polls,
    place: &str,
    (at, path, body): (RecordedAt, ApiPath, &RawValue),
) -> Result<bool, ImportError> {
    let list: ListBody<'_> = match serde_json::from_str(body.get()) {
        Ok(list) => list,
        Err(error) => {
            let reason = BrokenReason::NotJson(json_error(&error));
            importer.broken.push_in(place, 0, reason);
            return Ok(true);
        }
    };
    // Without items it is one object, or the response to another request.
    let Some(items) = list.items else {
        return Ok(false);
    };
    let named = ResourceQuery {
        group: Some(&path.group),
        version: Some(&path.version),
        plural: Some(&path.plural),
        api_version: &list.api_version,
        kind: list.kind.strip_suffix("List").unwrap_or_default(),
        namespaced: path.namespace.is_some(),
    };
    let resource = format!("{}/{}/{}", path.group, path.version, path.plural);
    let is_page = list.metadata.is_page();
    let version = list.metadata.resource_version.unwrap_or_default();
    let (is_first, newest) = match polls.entry((resource, path.namespace.clone())) {
        Entry::Vacant(vacant) => (true, vacant.insert(None)),
        Entry::Occupied(occupied) => (false, occupied.into_mut()),
    };
    // A server may answer from a cache that is behind: that state was before the one of an earlier list.
    let listed = number(&version);
    if listed.is_some() && listed < *newest {
        importer.lists.outdated += 1;
        return Ok(true);
    }
    *newest = listed.or(*newest);
    importer.begin_list(false);
    importer.listed_at = Some(at);
    importer.current.is_later = !is_first;
    importer.cover(&named, path.namespace.clone());
    let before = importer.broken.count;
    for item in items {
        let outcome = importer.object(
            at,
            Arrival::Listed(Listing::Item),
            &named,
            item.get().as_bytes(),
        );
        importer.settle_in(place, outcome)?;
    }
    let is_whole = importer.broken.count == before && !is_page;
    importer.end_list(at, &version, is_whole)?;
    Ok(true)
}

/// Takes the commits of a repository of resource-watch.
pub(crate) fn take_repository(
    repository: &Repository,
    importer: &mut Importer,
    meter: &mut Meter<'_>,
) -> Result<(), ImportError> {
    importer.broken.counted = BrokenUnit::Parts;
    repository.each(|step| {
        meter.tick();
        let change = match step {
            RepositoryStep::Broken(place, reason) => {
                importer.broken.push_in(&place, 0, reason);
                return Ok(());
            }
            RepositoryStep::Change(change) => change,
        };
        let is_object = [".yaml", ".yml", ".json"]
            .iter()
            .any(|ending| change.path.ends_with(ending));
        if !is_object {
            importer.lists.others += 1;
            return Ok(());
        }
        let mut documents = match yaml(&change.content) {
            Ok(documents) => documents,
            Err(error) => {
                let reason = BrokenReason::Unreadable(error.to_string());
                importer.broken.push_in(&change.place, 0, reason);
                return Ok(());
            }
        };
        let document = documents.pop().map(|one| one.value).unwrap_or_default();
        if !documents.is_empty() {
            let reason = BrokenReason::NotAnObject("several documents".to_owned());
            importer.broken.push_in(&change.place, 0, reason);
            return Ok(());
        }
        let outcome = importer.object(
            change.at,
            Arrival::Told(change.kind),
            &ResourceQuery::default(),
            document.to_string().as_bytes(),
        );
        importer.settle_in(&change.place, outcome)
    })
}

/// Takes a SimKube trace.
fn take_simkube(
    form: InputForm,
    plain: PlainInput<'_>,
    importer: &mut Importer,
    meter: &mut Meter<'_>,
) -> Result<(), ImportError> {
    importer.broken.counted = BrokenUnit::Parts;
    let name = importer.input.clone();
    let place = Rc::new(Cell::new(0));
    let mut counted = BufReader::new(CountedRead {
        inner: plain,
        read: Rc::clone(&place),
    });
    let mut failed = None;
    let mut number: u64 = 0;
    let mut take = |change: crate::trace::TraceChange| {
        meter.tick();
        number += 1;
        let arrival = Arrival::Watched(if change.is_deleted {
            kubereel_format::EventType::Deleted
        } else {
            kubereel_format::EventType::Added
        });
        let object = change.object.to_string();
        let outcome = importer.object(
            change.at,
            arrival,
            &ResourceQuery::default(),
            object.as_bytes(),
        );
        let settled = importer.settle(number, outcome);
        settled.map_err(|error| failed = Some(error)).is_ok()
    };
    let read = if form == InputForm::TraceJson {
        let mut json = serde_json::Deserializer::from_reader(&mut counted);
        read_trace(&mut json, &mut take).map_err(|error| error.to_string())
    } else {
        let mut packed = rmp_serde::Deserializer::new(&mut counted);
        read_trace(&mut packed, &mut take).map_err(|error| error.to_string())
    };
    if let Some(error) = failed {
        return Err(error);
    }
    match read {
        Ok(rest) => {
            // At its end a decompressor compares its checksum.
            io::copy(&mut counted, &mut io::sink()).map_err(unread)?;
            for _ in 0..rest.lifecycles {
                importer.dropped.push("pod_lifecycles");
            }
        }
        Err(cause) => {
            let place = place.get();
            let reason = BrokenReason::Cut(format!(
                "the trace is damaged before byte {place}, after {number} objects: {cause}"
            ));
            importer.broken.push_in(&name, 0, reason);
        }
    }
    Ok(())
}
