//! Entry points of the fuzz targets, with the feature `fuzzing` only.

use crate::audit::AuditRecord;
use crate::capture::Capture;
use crate::document::{self, DocumentShape, EventLine, ImportedHead};
use crate::gather::Gatherer;
use crate::input::{self, InputLine, InputLines};
use crate::repository::Repository;
use crate::resources::{ImportedDefinition, InputResources, ResourceQuery};
use crate::trace::read_trace;
use kubereel_unpack::{ArchiveFile, SkippedEntries};
use std::hint::black_box;
use std::io::Write as _;

/// Reads bytes as an input of every format, up to the place where a reel would be written.
///
/// # Panics
///
/// If the bytes of an object differ from those of its line, which is what the fuzzer searches for.
/// Redaction has a target of its own.
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

/// Reads bytes as each format of another tool, up to the place where its changes would go into a
/// reel.
///
/// # Panics
/// If temporary files cannot be written.
#[expect(
    clippy::expect_used,
    reason = "a fuzzer whose surroundings fail has failed"
)]
pub fn formats(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut zip = tempfile::tempfile_in(folder.path()).expect("a file");
    zip.write_all(bytes).expect("room");
    if let Ok(capture) = Capture::open(&zip, folder.path(), None) {
        let _ended = black_box(capture.each(|place, step| {
            black_box((place, &step));
            Ok(())
        }));
    }
    let mut take = |change| {
        black_box(&change);
        true
    };
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let _rest = black_box(read_trace(&mut json, &mut take).is_ok());
    let mut packed = rmp_serde::Deserializer::from_read_ref(bytes);
    let _rest = black_box(read_trace(&mut packed, &mut take).is_ok());
    for line in bytes.split(|byte| *byte == b'\n') {
        let _record = black_box(AuditRecord::parse(line).is_ok());
    }
    if let Ok(repository) = Repository::open_bundle(bytes, folder.path()) {
        let _ended = black_box(repository.each(|step| {
            black_box(&step);
            Ok(())
        }));
    }
}

/// Reads bytes as a folder of files, each with a name and a content, like an archive or a
/// must-gather.
///
/// # Panics
/// If temporary files cannot be written.
#[expect(
    clippy::expect_used,
    reason = "a fuzzer whose surroundings fail has failed"
)]
pub fn gathered(files: &[(String, Vec<u8>)]) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut gatherer = Gatherer::new(folder.path()).expect("a file");
    for (name, content) in files {
        let mut content = content.as_slice();
        let bytes = u64::try_from(content.len()).unwrap_or(u64::MAX);
        let mut file = ArchiveFile {
            name,
            bytes,
            content: &mut content,
        };
        let _taken = black_box(gatherer.take(&mut file).is_ok());
    }
    let gathered = gatherer.finish("", Ok(SkippedEntries::default()));
    let gathered = gathered.expect("a temporary file");
    let _ended = black_box(gathered.each(|object, listed| {
        black_box((object, listed));
        Ok(())
    }));
}
