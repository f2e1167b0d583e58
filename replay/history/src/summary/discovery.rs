//! Owns what the server's discovery named before anything was recorded. Refuses to be the list of
//! resources: the notes are that.

use crate::timeline::Timeline;
use kubereel_format::{DocumentKind, Note};
use serde::Deserialize;
use std::collections::BTreeSet;

/// Group and plural name of a resource.
pub(super) type Named = (String, String);

#[derive(Deserialize)]
struct Document {
    /// Of an aggregated document: its groups.
    items: Option<Vec<Group>>,
    /// Of a document for one version: that version.
    #[serde(rename = "groupVersion")]
    group_version: Option<String>,
    resources: Option<Vec<Legacy>>,
}

#[derive(Deserialize)]
struct Group {
    #[serde(default)]
    metadata: Metadata,
    #[serde(default)]
    versions: Vec<Version>,
}

#[derive(Default, Deserialize)]
struct Metadata {
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct Version {
    #[serde(default)]
    resources: Vec<Aggregated>,
}

#[derive(Deserialize)]
struct Aggregated {
    resource: String,
}

#[derive(Deserialize)]
struct Legacy {
    name: String,
}

impl Timeline {
    /// Gives the resources that the server had before the first list was complete; `None` if its
    /// documents are not in the reel.
    pub(super) fn discovered_first(&self) -> Option<BTreeSet<Named>> {
        let complete = self.first_complete()?;
        let mut names = None;
        let before = |entry: &&kubereel_format::NoteEntry| entry.seq < complete;
        for entry in self.reel().notes().iter().take_while(before) {
            let Note::Document {
                kind: DocumentKind::Discovery,
                blobs,
                ..
            } = &entry.note
            else {
                continue;
            };
            let mut bytes = Vec::new();
            for blob in blobs {
                bytes.extend_from_slice(&self.reel().blob(*blob).ok()?);
            }
            let document: Document = serde_json::from_slice(&bytes).ok()?;
            document.name_all(names.get_or_insert_with(BTreeSet::new));
        }
        names
    }
}

impl Document {
    fn name_all(self, names: &mut BTreeSet<Named>) {
        for group in self.items.into_iter().flatten() {
            for resource in group.versions.into_iter().flat_map(|one| one.resources) {
                names.insert((group.metadata.name.clone(), resource.resource));
            }
        }
        let version = self.group_version.unwrap_or_default();
        let group = version.split_once('/').map_or("", |(group, _)| group);
        for resource in self.resources.into_iter().flatten() {
            names.insert((group.to_owned(), resource.name));
        }
    }
}
