//! The outcome of an import, as values; the binary formats them.

use crate::error::{BrokenParts, GatheredFiles};
use crate::input::len_u64;
use crate::secrets::SecretCounts;
use kubereel_format::RecordedAt;
use std::collections::BTreeMap;

/// The number of unknown members that are named; others are only counted.
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
    /// The assumed time of objects without an event, unless it was given.
    pub assumed_at: Option<RecordedAt>,
    /// The newest time inside the objects of a folder or an archive, which is their assumed time.
    pub gathered_at: Option<RecordedAt>,
    /// The formats of other tools that were read.
    pub formats: Vec<&'static str>,
    /// Whether the objects were YAML, so that their bytes are not those of the input.
    pub converted: bool,
    /// The parts that could not be imported.
    pub broken: BrokenParts,
    /// The kinds of files in folders and archives; `None` without any.
    pub files: Option<GatheredFiles>,
    /// The counts of lists and audit logs.
    pub lists: ListCounts,
    /// Bookmark lines.
    pub bookmarks: u64,
    /// Lines with the error of a server's watch.
    pub errors: u64,
    /// Members of lines that are not stored in a reel.
    pub dropped: DroppedMembers,
    /// The Secrets.
    pub secrets: SecretCounts,
    /// Resources whose names were made from their kinds: `plural.group`.
    pub guessed: Vec<String>,
    /// Resources in more than one version; each version is a resource of its own.
    pub several_versions: Vec<String>,
    /// How often the times stepped back by more than 10 s: such times are at several places.
    pub steps_back: u64,
    /// The file's bytes.
    pub file_bytes: u64,
}

/// The counts of lists and audit logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListCounts {
    /// Lists of a moment.
    pub lists: u64,
    /// Empty lists.
    pub empty: u64,
    /// Unchanged objects of later lists.
    pub unchanged: u64,
    /// Objects of later lists that are older than their known states.
    pub older: u64,
    /// Events that repeated a known state.
    pub repeated: u64,
    /// Lists of a state before that of an earlier list.
    pub outdated: u64,
    /// Objects that a later list lacks.
    pub deleted: u64,
    /// Objects that a later list lacks, and may not cover.
    pub uncertain: u64,
    /// Records of a capture and files of a repository that are not objects.
    pub others: u64,
    /// Whether an empty list without a kind was assigned to the kind of the lists before it.
    pub is_kind_assumed: bool,
    /// The events of audit logs.
    pub audit: AuditCounts,
    /// Whether the current list is a folder or an archive.
    pub(crate) is_gathering: bool,
}

/// The events of audit logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditCounts {
    /// Changes with the object.
    pub with_bodies: u64,
    /// Changes without the object, which became marks.
    pub marks: u64,
    /// Requests that changed nothing.
    pub reads: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Requests that were tried and not carried out.
    pub dry_runs: u64,
    /// Earlier stages of requests.
    pub stages: u64,
    /// Changes of Leases and Events without their bodies.
    pub routine: u64,
}

/// Members of lines that are not stored in a reel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DroppedMembers {
    /// Their number, in all lines.
    pub count: u64,
    /// The number of each name.
    pub names: BTreeMap<String, u64>,
}

impl DroppedMembers {
    /// Counts a member.
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
    /// Returns the notes of the import for the reel.
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
        if self.steps_back > 0 {
            notes.push(format!("times that step back: {}", self.steps_back));
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
