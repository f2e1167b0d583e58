//! The entry of the fuzz target, with the feature `fuzzing` only.

use crate::document::{self, DocumentShape, EventLine, ImportedHead};
use crate::input::{self, InputLine, InputLines};
use crate::resources::{ImportedDefinition, InputResources, ResourceQuery};
use std::hint::black_box;

/// Reads bytes as an input of every form, up to the place where a reel would be written.
///
/// # Panics
///
/// If an object's bytes are not those of its line: what the fuzzer seeks. What is redacted has a
/// target of its own.
pub fn read(bytes: &[u8]) {
    let _form = black_box(input::form(bytes));
    let _documents = black_box(input::yaml(bytes));
    let mut resources = InputResources::default();
    let mut lines = InputLines::new(bytes);
    while let Ok(Some((_, cut))) = lines.next_line() {
        let InputLine::Whole(line) = cut else {
            continue;
        };
        let _shape = black_box(DocumentShape::of(line));
        let Ok(line) = EventLine::parse(line) else {
            continue;
        };
        let _at = line.ts.map(|ts| black_box(document::time(ts.get())));
        let Some(object) = line.object else { continue };
        let object = object.get().as_bytes();
        assert!(memchr::memmem::find(bytes, object).is_some(), "other bytes");
        take(&line, object, &mut resources);
    }
}

fn take(line: &EventLine<'_>, object: &[u8], resources: &mut InputResources) {
    if let Some(definition) = ImportedDefinition::read(object) {
        let _anew = black_box(resources.learn(definition));
    }
    let Ok(head) = ImportedHead::parse(object) else {
        return;
    };
    let query = ResourceQuery {
        group: line.group.as_deref(),
        version: line.version.as_deref(),
        plural: line.resource.as_deref(),
        api_version: &head.api_version,
        kind: &head.kind,
        namespaced: !head.namespace.is_empty(),
    };
    let id = resources.find(&query).map(|info| info.id);
    assert_eq!(
        resources.find(&query).map(|info| info.id),
        id,
        "two answers"
    );
}
