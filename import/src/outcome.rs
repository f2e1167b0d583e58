//! The outcome of an import, as values; the program writes the text.

use crate::error::{BrokenParts, GatheredFiles};
use crate::input::len_u64;
use crate::secrets::SecretCounts;
use kubereel_format::RecordedAt;
use std::collections::BTreeMap;

/// How many unknown members are named; more are counted only.
const NAMED: usize = 16;

/// The summary of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// The events in the reel.
    pub events: u64,
    /// The resources in the reel.
    pub resources: u64,
    /// The time of the first event.
    pub from: RecordedAt,
    /// The latest time of an event.
    pub to: RecordedAt,
    /// The time that objects without an event were taken to be of, unless it was given.
    pub assumed_at: Option<RecordedAt>,
    /// The newest time inside the objects of a folder or an archive, which they were taken to be of.
    pub gathered_at: Option<RecordedAt>,
    /// The formats of other tools that were read, in words.
    pub formats: Vec<&'static str>,
    /// Whether the objects were YAML, so that their bytes are not those of the input.
    pub converted: bool,
    /// The parts that could not be imported.
    pub broken: BrokenParts,
    /// What the files of folders and archives were; `None` without any.
    pub files: Option<GatheredFiles>,
    /// What lists and audit logs came to.
    pub lists: ListCounts,
    /// Bookmark lines.
    pub bookmarks: u64,
    /// Lines with the error of a server's watch.
    pub errors: u64,
    /// Members of lines that a reel does not store.
    pub dropped: DroppedMembers,
    /// The Secrets.
    pub secrets: SecretCounts,
    /// Resources whose names were made from their kinds: `plural.group`.
    pub guessed: Vec<String>,
    /// Resources that came in more than one version; each is kept as a resource of its own.
    pub several_versions: Vec<String>,
    /// The file's bytes.
    pub file_bytes: u64,
}

/// What lists and audit logs came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListCounts {
    /// Lists of a moment.
    pub lists: u64,
    /// Lists without items.
    pub empty: u64,
    /// Objects that a later list had unchanged.
    pub unchanged: u64,
    /// Events that repeated what was known.
    pub repeated: u64,
    /// Objects that a later list no longer had.
    pub deleted: u64,
    /// Objects that a later list did not have, and may not have covered.
    pub uncertain: u64,
    /// Records of a capture and files of a repository that are no objects.
    pub others: u64,
    /// Whether an empty list without a kind was taken to be of the kind of the lists before it.
    pub is_kind_assumed: bool,
    /// The events of audit logs.
    pub audit: AuditCounts,
    /// Whether the list that is read is a folder or an archive.
    pub(crate) is_gathering: bool,
}

/// The events of audit logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditCounts {
    /// Changes with the object as it was then.
    pub with_bodies: u64,
    /// Changes without, which became marks.
    pub marks: u64,
    /// Requests that changed nothing.
    pub reads: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Earlier stages of requests.
    pub stages: u64,
    /// Changes of Leases and Events without their bodies.
    pub routine: u64,
}

/// Members of lines that a reel does not store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DroppedMembers {
    /// How many, in all lines together.
    pub count: u64,
    /// How many of each name.
    pub names: BTreeMap<String, u64>,
}

impl DroppedMembers {
    /// Counts one.
    pub(crate) fn push(&mut self, name: &str) {
        self.count = self.count.saturating_add(1);
        let name = crate::error::quoted(name);
        if let Some(count) = self.names.get_mut(name) {
            *count = count.saturating_add(1);
        } else if self.names.len() < NAMED {
            self.names.insert(name.to_owned(), 1);
        }
    }
}

impl Imported {
    /// Gives the notes of the import for the reel.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.converted {
            let from = if self.formats.is_empty() {
                "from YAML "
            } else {
                ""
            };
            notes.push(format!("objects were converted {from}to JSON"));
        }
        if self.assumed_at.is_some() {
            notes.push("object times are the modification time of the input file".to_owned());
        }
        if self.broken.count > 0 {
            let numbers =
                self.broken
                    .first
                    .iter()
                    .map(|one| match (one.file.as_str(), one.number) {
                        ("", number) => number.to_string(),
                        (file, 0) => file.to_owned(),
                        (file, number) => format!("{file}:{number}"),
                    });
            let numbers: Vec<String> = numbers.collect();
            let more = if self.broken.count > len_u64(numbers.len()) {
                ", …"
            } else {
                ""
            };
            notes.push(format!(
                "not in the reel: broken {}s {} ({}{more})",
                self.broken.counted.as_str(),
                self.broken.count,
                numbers.join(", ")
            ));
        }
        if self.lists.uncertain > 0 {
            notes.push(format!(
                "not in the reel: whether {} objects still existed that a later list did not have",
                self.lists.uncertain
            ));
        }
        if self.errors > 0 {
            notes.push(format!(
                "not in the reel: ERROR lines {}; changes may be missing at their places",
                self.errors
            ));
        }
        if self.secrets.with_data > 0 {
            let fate = if self.secrets.redacted {
                "their values are not in the reel"
            } else {
                "their values are in the reel"
            };
            notes.push(format!(
                "Secrets with data {}: {fate}",
                self.secrets.with_data
            ));
        }
        for (what, names) in [
            ("resource names guessed from kinds", &self.guessed),
            ("resources in several versions", &self.several_versions),
        ] {
            if !names.is_empty() {
                let more = if names.len() > NAMED { ", …" } else { "" };
                let named: Vec<String> = names.iter().take(NAMED).cloned().collect();
                notes.push(format!("{what}: {}{more}", named.join(", ")));
            }
        }
        notes
    }
}
