//! Imports an input and reads the reel back.

use kubereel_format::{EventType, Note, RecordedAt, Reel};
use kubereel_import::{ImportError, ImportOptions, Imported, import};
use std::collections::BTreeMap;
use tempfile::TempDir;

const NAME: &str = "test.reel";

/// An event as the reel has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReelEvent {
    pub at: RecordedAt,
    pub kind: EventType,
    pub resource: String,
    pub namespace: String,
    pub name: String,
    pub body: String,
}

/// The result of an input.
#[derive(Debug)]
pub struct Journey {
    pub imported: Imported,
    pub events: Vec<ReelEvent>,
    pub said: Vec<String>,
    /// The resources that have a connection, in order.
    pub connected: Vec<String>,
}

/// `ImportOptions` with a time for inputs without one.
pub fn at(secs: i64) -> ImportOptions {
    let mut options = ImportOptions::new("test", "a test");
    options.at = Some(RecordedAt::from_micros(secs * 1_000_000));
    options
}

/// Imports an input into a folder of its own, and checks that a failure leaves no file.
fn attempt(input: &[u8], options: &ImportOptions) -> (TempDir, Result<Imported, ImportError>) {
    let folder = tempfile::tempdir().expect("a folder");
    let outcome = import(input, &folder.path().join(NAME), options, |_| {});
    let left = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, usize::from(outcome.is_ok()), "files left");
    (folder, outcome)
}

/// Imports any input.
pub fn whatever(input: &[u8], options: &ImportOptions) {
    drop(attempt(input, options));
}

/// Imports an input that cannot be imported.
pub fn refused(input: &[u8], options: &ImportOptions) -> ImportError {
    attempt(input, options).1.expect_err("refused")
}

/// Imports an input and reads the reel.
pub fn journey(input: &[u8], options: &ImportOptions) -> Journey {
    let (folder, outcome) = attempt(input, options);
    let imported = outcome.expect("an import");
    let path = folder.path().join(NAME);
    let reel = Reel::open(&path).expect("a reel");
    assert!(reel.is_finished() && reel.damage().is_empty());
    let mut resources = BTreeMap::new();
    let mut said = Vec::new();
    let mut connected = Vec::new();
    for entry in reel.notes() {
        match &entry.note {
            Note::Resource(info) => {
                resources.insert(
                    info.id,
                    format!("{} {}", info.qualified(), info.api_version()),
                );
            }
            Note::Provenance { text } => said.push(text.clone()),
            Note::Connected { resource, .. } => {
                let name: &String = resources.get(resource).expect("announced before");
                connected.push(name.clone());
            }
            _ => {}
        }
    }
    let events = reel.scan().map(|event| {
        let event = event.expect("an event");
        let key = reel.key(event.head.object).expect("an object");
        ReelEvent {
            at: event.head.stamp.wall,
            kind: event.head.kind,
            resource: resources.get(&key.resource).expect("announced").clone(),
            namespace: key.namespace.to_owned(),
            name: key.name.to_owned(),
            body: String::from_utf8(event.body.to_vec()).expect("text"),
        }
    });
    let events: Vec<ReelEvent> = events.collect();
    assert_eq!(
        imported.events,
        u64::try_from(events.len()).expect("a count")
    );
    Journey {
        imported,
        events,
        said,
        connected,
    }
}

impl Journey {
    /// Returns resource, namespace and name of each event.
    pub fn names(&self) -> Vec<String> {
        let events = self.events.iter();
        events
            .map(|one| format!("{} {}/{}", one.resource, one.namespace, one.name))
            .collect()
    }
}
