//! Owns the door through which the fuzz target reaches what reads an input. Refuses to be part of
//! the library: it exists with the feature `fuzzing` only.

use crate::document::Shape;
use crate::head::Head;
use crate::line::Line;
use crate::lines::{Cut, Lines};
use crate::resource::{Asked, Definition, Resources};
use crate::whole;
use crate::{sniff, when};
use std::hint::black_box;

/// Reads bytes as an input of every form, up to the place where a reel would be written.
///
/// # Panics
///
/// If an object's bytes are not those of its line: what the fuzzer seeks. What is redacted has a
/// target of its own.
pub fn read(bytes: &[u8]) {
    let _form = black_box(sniff::form(bytes));
    let _documents = black_box(whole::yaml(bytes));
    let mut resources = Resources::default();
    let mut lines = Lines::new(bytes);
    while let Ok(Some((_, cut))) = lines.next_line() {
        let Cut::Whole(line) = cut else { continue };
        let _shape = black_box(Shape::of(line));
        let Ok(line) = Line::parse(line) else {
            continue;
        };
        let _at = line.ts.map(|ts| black_box(when::time(ts.get())));
        let Some(object) = line.object else { continue };
        let object = object.get().as_bytes();
        assert!(memchr::memmem::find(bytes, object).is_some(), "other bytes");
        take(&line, object, &mut resources);
    }
}

fn take(line: &Line<'_>, object: &[u8], resources: &mut Resources) {
    if let Some(definition) = Definition::read(object) {
        let _anew = black_box(resources.learn(definition));
    }
    let Ok(head) = Head::parse(object) else {
        return;
    };
    let asked = Asked {
        group: line.group.as_deref(),
        version: line.version.as_deref(),
        plural: line.resource.as_deref(),
        api_version: &head.api_version,
        kind: &head.kind,
        namespaced: !head.namespace.is_empty(),
    };
    let id = resources.find(&asked).map(|info| info.id);
    assert_eq!(
        resources.find(&asked).map(|info| info.id),
        id,
        "two answers"
    );
}
