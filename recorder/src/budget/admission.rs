//! Owns what each entry is about, and which of the recorder's own words are kept when objects no
//! longer are. Refuses to know how far it has come.

use crate::entry::Entry;
use kubereel_format::{BlobNote, ConnectionId, Note, ResourceId, ResourceInfo};

/// What becomes of an entry.
#[derive(Debug)]
pub(crate) enum Admission {
    /// It is written.
    Pass,
    /// It is not: what it is about is left out, and the reel says so.
    Drop,
    /// This is written in its place.
    Instead(Box<Entry>),
}

/// What an entry is about.
#[derive(Debug)]
pub(super) enum About<'a> {
    /// A resource begins, or is described anew.
    Announced(&'a ResourceInfo),
    /// A resource is said to be not covered.
    NotCovered(&'a str, &'a str),
    /// A connection begins.
    Opened(ConnectionId, ResourceId),
    /// A connection ends.
    Closed(ConnectionId),
    /// A resource, perhaps with the version that it reached on a connection.
    Resource(ResourceId, Option<(ConnectionId, &'a str)>),
    /// A connection, perhaps with the version that it reached.
    Connection(ConnectionId, Option<&'a str>),
    /// The recording itself.
    Recording(Weight),
}

/// How long the recorder's own words are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// To the very end.
    End,
    /// As long as anything is written.
    Said,
    /// As long as objects are.
    Detail,
}

/// Tells what an entry is about.
pub(super) fn about(entry: &Entry) -> About<'_> {
    match entry {
        Entry::Event(event) => {
            let version = Some(&*event.version).filter(|version| !version.is_empty());
            let reached = version.map(|version| (event.connection, version));
            About::Resource(event.resource, reached)
        }
        Entry::Blob { note, .. } => match note {
            BlobNote::OddLine { connection, .. } => About::Connection(*connection, None),
            BlobNote::Document { .. } => About::Recording(Weight::Detail),
        },
        Entry::Note { note, .. } => about_note(note),
    }
}

fn about_note(note: &Note) -> About<'_> {
    match note {
        Note::Resource(info) => About::Announced(info),
        Note::NotCovered { group, plural, .. } => About::NotCovered(group, plural),
        Note::Connected {
            connection,
            resource,
            ..
        } => About::Opened(*connection, *resource),
        Note::Disconnected { connection, .. } => About::Closed(*connection),
        Note::Synced {
            resource,
            connection,
            rv,
            ..
        } => About::Resource(*resource, Some((*connection, rv))),
        Note::Gap(gap) => About::Resource(gap.resource, None),
        Note::Bookmark { connection, rv } => About::Connection(*connection, Some(rv)),
        Note::OddLine { connection, .. } | Note::Anomaly { connection, .. } => {
            About::Connection(*connection, None)
        }
        Note::SessionStarted { .. } | Note::SessionEnded { .. } | Note::Provenance { .. } => {
            About::Recording(Weight::End)
        }
        Note::Lifecycle(_)
        | Note::Cluster { .. }
        | Note::ClockStepped { .. }
        | Note::Mark { .. }
        | Note::OutageBegan { .. }
        | Note::OutageEnded { .. }
        | Note::GapJudged { .. }
        | Note::Label { .. } => About::Recording(Weight::Said),
        Note::Document { .. } | Note::Probed { .. } | Note::Sampled { .. } => {
            About::Recording(Weight::Detail)
        }
    }
}
