//! Owns what a bookmark is and how it is written: JSON, with times of RFC 3339. Refuses files: the
//! shelf has those.

use super::error::KeepError;
use kubereel_format::{RecordedAt, Seq};
use kubereel_history::timetext;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What the file says that it is.
const KIND: &str = "kubereel-bookmarks";
/// The version of what is written here.
const VERSION: u32 = 1;

/// A place that somebody marked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Bookmark {
    /// The last record that had happened; `None` before the first.
    pub(crate) seq: Option<Seq>,
    /// The time.
    pub(crate) at: RecordedAt,
    /// What somebody wrote about it; may be empty.
    pub(crate) note: String,
    /// What was selected, as `--select` takes it; may be empty.
    pub(crate) select: String,
    /// The namespace of that.
    pub(crate) namespace: String,
}

#[derive(Serialize, Deserialize)]
struct Written {
    kind: String,
    version: u32,
    #[serde(default)]
    bookmarks: Vec<WrittenBookmark>,
}

#[derive(Serialize, Deserialize)]
struct WrittenBookmark {
    time: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    #[serde(default)]
    note: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    select: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    namespace: String,
}

/// Reads a file's text; `path` is for what is said of it.
pub(super) fn read(text: &str, path: &Path) -> Result<Vec<Bookmark>, KeepError> {
    let written: Written = serde_json::from_str(text).map_err(|source| KeepError::Malformed {
        path: path.to_owned(),
        source,
    })?;
    if written.kind != KIND || written.version > VERSION {
        return Err(KeepError::OtherKind {
            path: path.to_owned(),
            kind: written.kind,
            version: written.version,
        });
    }
    let all = written.bookmarks.into_iter().map(|one| {
        let at = timetext::parsed(&one.time).ok_or_else(|| KeepError::NoTime {
            path: path.to_owned(),
            text: one.time.clone(),
        })?;
        Ok(Bookmark {
            seq: one.seq.map(Seq),
            at,
            note: one.note,
            select: one.select,
            namespace: one.namespace,
        })
    });
    let mut all: Vec<Bookmark> = all.collect::<Result<_, KeepError>>()?;
    all.sort();
    Ok(all)
}

/// Writes a file's text.
pub(super) fn written(bookmarks: &[Bookmark]) -> Result<String, serde_json::Error> {
    let all = bookmarks.iter().map(|one| WrittenBookmark {
        time: timetext::rfc3339_micros(one.at),
        seq: one.seq.map(|seq| seq.0),
        note: one.note.clone(),
        select: one.select.clone(),
        namespace: one.namespace.clone(),
    });
    let written = Written {
        kind: KIND.to_owned(),
        version: VERSION,
        bookmarks: all.collect(),
    };
    serde_json::to_string_pretty(&written).map(|text| text + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bookmark() -> impl Strategy<Value = Bookmark> {
        let seq = prop::option::of(any::<u64>().prop_map(Seq));
        (seq, 0_i64..4_000_000_000_000_000, ".*", ".*", ".*").prop_map(
            |(seq, micros, note, select, namespace)| Bookmark {
                seq,
                at: RecordedAt::from_micros(micros),
                note,
                select,
                namespace,
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(mut all in prop::collection::vec(bookmark(), 0..8)) {
            all.sort();
            let text = written(&all).expect("JSON");
            prop_assert_eq!(read(&text, Path::new("x")).expect("own"), all);
        }

        #[test]
        fn no_text_panics(text in ".*") {
            prop_assert!(read(&text, Path::new("x")).is_err());
        }
    }

    #[test]
    fn the_form_is_the_documented_one() {
        let one = Bookmark {
            seq: Some(Seq(12)),
            at: RecordedAt::from_micros(1_795_276_891_480_000),
            note: "etcd falls over".to_owned(),
            select: "clusteroperators.config.openshift.io/etcd".to_owned(),
            namespace: String::new(),
        };
        let text = written(&[one]).expect("JSON");
        assert_eq!(
            text,
            r#"{
  "kind": "kubereel-bookmarks",
  "version": 1,
  "bookmarks": [
    {
      "time": "2026-11-21T16:01:31.480000Z",
      "seq": 12,
      "note": "etcd falls over",
      "select": "clusteroperators.config.openshift.io/etcd"
    }
  ]
}
"#
        );
    }

    #[test]
    fn what_is_of_others_is_refused_in_words() {
        for (text, word) in [
            ("", "EOF"),
            ("[]", "expected"),
            (r#"{"kind":"x","version":1}"#, "\"x\" of version 1"),
            (r#"{"kind":"kubereel-bookmarks","version":2}"#, "version 2"),
            (
                r#"{"kind":"kubereel-bookmarks","version":1,"bookmarks":[{"time":"noon"}]}"#,
                "not a time: \"noon\"",
            ),
            (
                r#"{"kind":"kubereel-bookmarks","version":1,"bookmarks":[{"seq":-1,"time":""}]}"#,
                "invalid value",
            ),
        ] {
            let error = read(text, Path::new("x")).expect_err(text).to_string();
            assert!(error.contains(word) && error.ends_with(": x"), "{error}");
        }
    }
}
