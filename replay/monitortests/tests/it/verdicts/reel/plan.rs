//! What a test's reel is to hold: objects as they are now, and what happened to them so far. It
//! does not handle bytes: `write` makes them.

use super::clock::time;
use super::kinds;
use super::merge::merge;
use kubereel_format::{EventType, RecordedAt, ResourceInfo};
use kubereel_history::timetext;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Something that happened to an object.
#[derive(Clone, Debug)]
pub struct Happening {
    pub at: RecordedAt,
    /// Whether it was there when the recorder came.
    pub is_initial: bool,
    pub kind: EventType,
    pub info: ResourceInfo,
    pub namespace: String,
    pub name: String,
    pub uid: String,
    pub rv: u64,
    pub body: Vec<u8>,
}

/// A time in which a resource was not seen.
#[derive(Clone, Debug)]
pub struct Blindness {
    pub kind: String,
    pub from: RecordedAt,
    pub to: RecordedAt,
}

/// A reel in the making.
#[derive(Clone, Debug)]
pub struct Reel {
    pub(super) start: RecordedAt,
    pub(super) now: RecordedAt,
    pub(super) end: Option<RecordedAt>,
    pub(super) is_imported: bool,
    pub(super) happenings: Vec<Happening>,
    pub(super) blindnesses: Vec<Blindness>,
    /// The times in which the recorder was paused.
    pub(super) pauses: Vec<(RecordedAt, RecordedAt)>,
    pub(super) left_out: BTreeSet<String>,
    /// The kinds whose watch ends at the end of the recording.
    pub(super) torn: BTreeSet<String>,
    has_begun: bool,
    last_rv: u64,
    objects: BTreeMap<(String, String), Value>,
}

impl Reel {
    /// Begins an empty reel at 10:00:00.
    pub fn new() -> Self {
        Self::beginning("10:00:00")
    }

    /// Begins an empty reel at a time of day.
    pub fn beginning(at: &str) -> Self {
        let start = time(at);
        Self {
            start,
            now: start,
            end: None,
            is_imported: false,
            happenings: Vec::new(),
            blindnesses: Vec::new(),
            pauses: Vec::new(),
            left_out: BTreeSet::new(),
            torn: BTreeSet::new(),
            has_begun: false,
            last_rv: 1000,
            objects: BTreeMap::new(),
        }
    }

    /// Goes on at a time of day; never back.
    pub fn at(mut self, text: &str) -> Self {
        let at = time(text);
        assert!(at >= self.now, "{text} is before what happened last");
        self.now = at;
        self.has_begun = true;
        self
    }

    /// Says when the recording ends; without it, a minute after what happened last.
    pub fn until(mut self, text: &str) -> Self {
        self.end = Some(time(text));
        self
    }

    /// Lets it be another tool's recording, which claims no completeness.
    pub fn imported(mut self) -> Self {
        self.is_imported = true;
        self
    }

    /// Lets a kind not be recorded.
    pub fn without(mut self, kind: &str) -> Self {
        self.left_out.insert(kinds::of_kind(kind).kind);
        self
    }

    /// Lets a kind not be seen from one time of day to another.
    pub fn gap(mut self, kind: &str, from: &str, to: &str) -> Self {
        self.blindnesses.push(Blindness {
            kind: kinds::of_kind(kind).kind,
            from: time(from),
            to: time(to),
        });
        self
    }

    /// Lets the recorder be paused from one time of day to another.
    pub fn pause(mut self, from: &str, to: &str) -> Self {
        self.pauses.push((time(from), time(to)));
        self
    }

    /// Lets the watch of a kind end at the end of the recording.
    pub fn torn(mut self, kind: &str) -> Self {
        self.torn.insert(kinds::of_kind(kind).kind);
        self
    }

    /// Lets the resourceVersions go on from a number, as no server does.
    pub fn versions_from(mut self, last_rv: u64) -> Self {
        self.last_rv = last_rv;
        self
    }

    /// Puts an object there, or another content of it: `metadata` needs a name alone.
    pub fn put(self, object: Value) -> Self {
        let kind = text(&object, "/kind");
        let namespace = text(&object, "/metadata/namespace");
        let name = text(&object, "/metadata/name");
        assert!(!kind.is_empty() && !name.is_empty(), "who is {object}?");
        let path = if namespace.is_empty() {
            name
        } else {
            format!("{namespace}/{name}")
        };
        self.write(&kind, &path, object)
    }

    /// Changes members of an object, as a merge patch does; `name` or `namespace/name`.
    pub fn change(self, kind: &str, whose: &str, patch: Value) -> Self {
        let mut object = self.object(kind, whose).clone();
        merge(&mut object, patch);
        self.write(kind, whose, object)
    }

    /// Takes an object away.
    pub fn gone(mut self, kind: &str, path: &str) -> Self {
        let key = (kind.to_owned(), path.to_owned());
        let object = self.objects.remove(&key);
        let object = object.unwrap_or_else(|| panic!("there is no {kind} {path}"));
        self.happened(EventType::Deleted, kind, object);
        self
    }

    /// Returns an object as it is now.
    pub fn object(&self, kind: &str, path: &str) -> &Value {
        let key = (kind.to_owned(), path.to_owned());
        let found = self.objects.get(&key);
        found.unwrap_or_else(|| panic!("there is no {kind} {path}"))
    }

    /// Returns whether an object is there now.
    pub fn has(&self, kind: &str, path: &str) -> bool {
        let key = (kind.to_owned(), path.to_owned());
        self.objects.contains_key(&key)
    }

    /// Returns the time of now as objects write it.
    pub fn stamp(&self) -> String {
        let text = timetext::rfc3339(self.now);
        let whole = text.split('.').next().unwrap_or_default();
        format!("{whole}Z")
    }

    fn write(mut self, kind: &str, path: &str, object: Value) -> Self {
        let info = kinds::of_kind(kind);
        let (namespace, name) = path.split_once('/').unwrap_or(("", path));
        let key = (kind.to_owned(), path.to_owned());
        let former = self.objects.get(&key);
        let mut whole = json!({
            "apiVersion": info.api_version(),
            "kind": kind,
            "metadata": {
                "name": name,
                "uid": format!("uid-{}", self.last_rv + 1),
                "creationTimestamp": self.stamp(),
            },
        });
        if !namespace.is_empty() {
            merge(&mut whole, json!({"metadata": {"namespace": namespace}}));
        }
        if let Some(former) = former {
            let kept = json!({"metadata": {
                "uid": former.pointer("/metadata/uid"),
                "creationTimestamp": former.pointer("/metadata/creationTimestamp"),
            }});
            merge(&mut whole, kept);
        }
        let is_new = former.is_none();
        merge(&mut whole, object);
        self.objects.insert(key, whole.clone());
        let happened = if is_new {
            EventType::Added
        } else {
            EventType::Modified
        };
        self.happened(happened, kind, whole);
        self
    }

    fn happened(&mut self, kind: EventType, of: &str, mut object: Value) {
        self.last_rv += 1;
        let rv = json!({"metadata": {"resourceVersion": self.last_rv.to_string()}});
        merge(&mut object, rv);
        self.happenings.push(Happening {
            at: self.now,
            is_initial: !self.has_begun,
            kind,
            info: kinds::of_kind(of),
            namespace: text(&object, "/metadata/namespace"),
            name: text(&object, "/metadata/name"),
            uid: text(&object, "/metadata/uid"),
            rv: self.last_rv,
            body: object.to_string().into_bytes(),
        });
    }
}

fn text(object: &Value, pointer: &str) -> String {
    let found = object.pointer(pointer).and_then(Value::as_str);
    found.unwrap_or_default().to_owned()
}
