//! Owns what others said into a recording: the labels of the job that recorded, and marks. Refuses to make
//! anything of the words.

use super::written::rfc3339;
use crate::timeline::Timeline;
use kubereel_format::{Note, RecordedAt};
use serde::Serialize;

/// A public property of the job that recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LabelSummary {
    /// Its name, for example `JOB_NAME`.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// A word of somebody outside, such as "tests started".
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MarkSummary {
    /// When the recorder took it.
    #[serde(serialize_with = "rfc3339")]
    pub time: RecordedAt,
    /// The word.
    pub text: String,
}

impl Timeline {
    /// Gives the labels, in order; what a later session repeats is given once.
    pub(super) fn label_summaries(&self) -> Vec<LabelSummary> {
        let mut labels: Vec<LabelSummary> = Vec::new();
        for entry in self.reel().notes() {
            let Note::Label { name, value } = &entry.note else {
                continue;
            };
            let is_known = |known: &LabelSummary| known.name == *name && known.value == *value;
            if !labels.iter().any(is_known) {
                labels.push(LabelSummary {
                    name: name.clone(),
                    value: value.clone(),
                });
            }
        }
        labels
    }

    /// Gives the marks, in order.
    pub(super) fn mark_summaries(&self) -> Vec<MarkSummary> {
        let notes = self.reel().notes().iter();
        let marks = notes.filter_map(|entry| match &entry.note {
            Note::Mark { text } => Some(MarkSummary {
                time: entry.stamp.wall,
                text: text.clone(),
            }),
            _ => None,
        });
        marks.collect()
    }
}
