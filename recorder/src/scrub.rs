//! Owns what may be a secret in what the recorder says itself: words of servers, of the system and of
//! users in notes, and documents. Refuses objects: the intake has seen to those.

use crate::entry::Entry;
use kubereel_format::{BlobNote, Lifecycle, Note, SessionEnd};
use kubereel_redact::{Redactor, ResourceType};
use std::borrow::Cow;

/// Takes secrets out of the words of a note, and of a document.
pub(crate) fn scrub(entry: &mut Entry, redactor: &Redactor) {
    match entry {
        Entry::Note { note, .. } => {
            if let Some(words) = words(note)
                && let Cow::Owned(scrubbed) = redactor.words(words)
            {
                *words = scrubbed;
            }
        }
        Entry::Blob {
            note: BlobNote::Document { .. },
            bytes,
            ..
        } => {
            let document = redactor.object(&ResourceType::default(), bytes);
            if let Some(Cow::Owned(scrubbed)) = document {
                *bytes = scrubbed;
            }
        }
        // The intake has redacted them, as objects where they are such.
        Entry::Event(_) | Entry::Blob { .. } => {}
    }
}

/// Gives the words of a note that others chose.
fn words(note: &mut Note) -> Option<&mut String> {
    match note {
        Note::SessionEnded {
            end: SessionEnd::Failed(words),
            ..
        }
        | Note::Lifecycle(
            Lifecycle::KubeconfigUnusable { error: words, .. }
            | Lifecycle::Unreachable { error: words },
        )
        | Note::NotCovered { detail: words, .. }
        | Note::Disconnected { detail: words, .. }
        | Note::Anomaly { detail: words, .. }
        | Note::OutageBegan { error: words, .. }
        | Note::GapJudged { detail: words, .. }
        | Note::Label { value: words, .. }
        | Note::Sampled { labels: words, .. }
        | Note::Mark { text: words }
        | Note::Provenance { text: words } => Some(words),
        _ => None,
    }
}

/// Gives a redactor for tests.
#[cfg(test)]
pub(crate) fn redactor() -> Redactor {
    Redactor::new(kubereel_redact::Extra::default()).expect("random bytes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_format::{ConnectionId, DocumentKind, EndCause, Stamp};

    #[test]
    fn words_of_others_hold_no_secrets() {
        let token = "sha256~canarycanarycanarycanary";
        let note = |note| Entry::Note {
            stamp: Stamp::default(),
            note,
        };
        for mut entry in [
            note(Note::Disconnected {
                connection: ConnectionId(1),
                cause: EndCause::Unreachable,
                last_rv: None,
                detail: format!("who is {token}?"),
            }),
            note(Note::Lifecycle(Lifecycle::Unreachable {
                error: "proxy http://user:canary@proxy refuses".to_owned(),
            })),
            note(Note::Mark {
                text: token.to_owned(),
            }),
            Entry::Blob {
                stamp: Stamp::default(),
                note: BlobNote::Document {
                    kind: DocumentKind::Version,
                    path: "/version".to_owned(),
                },
                bytes: format!(r#"{{"gitVersion":"v1","note":"{token}"}}"#).into_bytes(),
            },
        ] {
            scrub(&mut entry, &redactor());
            let text = match &entry {
                Entry::Blob { bytes, .. } => String::from_utf8_lossy(bytes).into_owned(),
                entry => format!("{entry:?}"),
            };
            assert!(!text.contains("canary"), "{text}");
            assert!(text.contains("redacted-by-kubereel-"), "{text}");
        }
    }
}
