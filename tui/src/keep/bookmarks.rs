//! The bookmarks of a reel and the file beside it. A file that another program changed is never overwritten
//! unread.

use super::file;
use super::file::KeepError;
use super::session::identity;
use crate::time::CursorPlace;
use kubereel_format::{RecordedAt, Seq};
use kubereel_history::{Moment, Timeline, timetext};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// A file of bookmarks is at most so large.
const MOST_BYTES: u64 = 1 << 20;
/// How many unreadable files are passed over.
const MOST_NAMES: usize = 9;

/// Where the bookmarks of a reel lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BookmarkStore {
    /// The file beside the reel.
    beside: PathBuf,
    /// The file in the user's folder, if there is such a folder.
    own: Option<PathBuf>,
}

/// What becomes of the bookmarks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BookmarkChange {
    /// One comes.
    Add(Bookmark),
    /// One goes.
    Remove(Bookmark),
    /// One gets another note.
    Note(Bookmark, String),
}

/// The bookmarks of a reel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bookmarks {
    /// Them, in the order of records.
    pub(crate) all: Vec<Bookmark>,
    /// What one should know of their files.
    pub(crate) words: Option<String>,
}

/// What was found under a name and those that stand for it.
struct ChosenFile {
    /// The file that can be read, with what it holds.
    read: Option<(PathBuf, Vec<Bookmark>)>,
    /// The first name that is free, if nothing can be read.
    free: Option<PathBuf>,
    /// What cannot be read.
    broken: Vec<KeepError>,
}

impl BookmarkStore {
    /// Says where the bookmarks of a reel lie; `id` is what the reel is known by.
    pub(crate) fn of(reel: &Path, id: &str, folder: Option<&Path>) -> Self {
        let mut name = reel.file_name().unwrap_or_default().to_owned();
        name.push(".bookmarks.json");
        let own = folder.map(|folder| folder.join("bookmarks").join(format!("{id}.json")));
        Self {
            beside: reel.with_file_name(name),
            own,
        }
    }

    /// Reads the bookmarks.
    pub(crate) fn load(&self) -> Bookmarks {
        let (at, all, broken) = self.current();
        let words = match at {
            Some(_) => said(&broken, None),
            None => said(&broken, Some("bookmarks cannot be saved")),
        };
        Bookmarks { all, words }
    }

    /// Changes the bookmarks as they are in the file now, and gives them.
    ///
    /// # Errors
    /// When nothing can be written; then nothing has changed.
    pub(crate) fn change(&self, change: &BookmarkChange) -> Result<Bookmarks, KeepError> {
        let (at, mut all, broken) = self.current();
        let at = at.ok_or_else(|| KeepError::NoName {
            path: self.beside.clone(),
        })?;
        apply(&mut all, change);
        let text = bookmarks_json(&all).map_err(|source| KeepError::Malformed {
            path: at.clone(),
            source,
        })?;
        let failed = |path: &Path, source| KeepError::Io {
            path: path.to_owned(),
            source,
        };
        let place = match (file::replace(&at, &text), &self.own) {
            (Ok(()), _) => at,
            (Err(error), Some(own)) if is_closed(&error) && !at.starts_with(own) => {
                let free = picked(own)
                    .free
                    .ok_or(KeepError::NoName { path: own.clone() })?;
                if let Some(folder) = free.parent() {
                    fs::create_dir_all(folder).map_err(|source| failed(folder, source))?;
                }
                file::replace(&free, &text).map_err(|source| failed(&free, source))?;
                free
            }
            (Err(error), _) => return Err(failed(&at, error)),
        };
        let is_away = place.parent() != self.beside.parent();
        let away = is_away.then(|| {
            format!(
                "reel directory not writable: bookmarks are in {}",
                place.display()
            )
        });
        Ok(Bookmarks {
            all,
            words: said(&broken, away.as_deref()),
        })
    }

    /// Gives where bookmarks are written, those there are, and what cannot be read.
    ///
    /// What was once put into the user's folder is there for good: it is what was seen last.
    fn current(&self) -> (Option<PathBuf>, Vec<Bookmark>, Vec<KeepError>) {
        let mut broken = Vec::new();
        if let Some(own) = &self.own {
            let picked = picked(own);
            broken.extend(picked.broken);
            if let Some((path, all)) = picked.read {
                return (Some(path), all, broken);
            }
        }
        let picked = picked(&self.beside);
        broken.extend(picked.broken);
        match picked.read {
            Some((path, all)) => (Some(path), all, broken),
            None => (picked.free, Vec::new(), broken),
        }
    }
}

fn picked(path: &Path) -> ChosenFile {
    let mut broken = Vec::new();
    for number in 1..=MOST_NAMES {
        let path = numbered(path, number);
        let read = file::read(&path, MOST_BYTES);
        match read.and_then(|text| text.map(|text| parse_bookmarks(&text, &path)).transpose()) {
            Ok(Some(all)) => {
                return ChosenFile {
                    read: Some((path, all)),
                    free: None,
                    broken,
                };
            }
            Ok(None) => {
                return ChosenFile {
                    read: None,
                    free: Some(path),
                    broken,
                };
            }
            Err(error) => broken.push(error),
        }
    }
    ChosenFile {
        read: None,
        free: None,
        broken,
    }
}

/// Gives the name that a file takes where those before it cannot be read.
fn numbered(path: &Path, number: usize) -> PathBuf {
    if number == 1 {
        return path.to_owned();
    }
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{number}.json"));
    path.with_file_name(name)
}

fn apply(all: &mut Vec<Bookmark>, change: &BookmarkChange) {
    match change {
        BookmarkChange::Add(one) => {
            if !all.contains(one) {
                all.push(one.clone());
            }
        }
        BookmarkChange::Remove(one) => all.retain(|own| own != one),
        BookmarkChange::Note(one, note) => {
            for own in all.iter_mut().filter(|own| *own == one) {
                own.note.clone_from(note);
            }
        }
    }
    all.sort();
}

/// Tells whether a folder does not let one write.
fn is_closed(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
    )
}

fn said(broken: &[KeepError], more: Option<&str>) -> Option<String> {
    let broken = broken.iter().map(|error| {
        let name = error.path().file_name().unwrap_or_default();
        let name = name.to_string_lossy();
        format!("{name} cannot be read, left unchanged: {error}")
    });
    let all: Vec<String> = more.map(str::to_owned).into_iter().chain(broken).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// What the file says that it is.
const BOOKMARKS_KIND: &str = "kubereel-bookmarks";
/// The version of what is written here.
const BOOKMARKS_VERSION: u32 = 1;

/// A place that the user marked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Bookmark {
    /// The last record that had happened; `None` before the first.
    pub(crate) seq: Option<Seq>,
    /// The time.
    pub(crate) at: RecordedAt,
    /// The user's note; may be empty.
    pub(crate) note: String,
    /// What was selected, as `--select` takes it; may be empty.
    pub(crate) select: String,
    /// The namespace of that.
    pub(crate) namespace: String,
}

impl Bookmark {
    /// Finds its place in a reel: by its record, or by its time where that has none.
    pub(crate) fn place(&self, timeline: &Timeline) -> CursorPlace {
        let at = self
            .at
            .clamp(timeline.start(), timeline.end().max(timeline.start()));
        let by_time = CursorPlace::at(timeline, at);
        match self.seq {
            Some(seq) if seq < timeline.reel().end() && by_time.below.0 != seq.0 + 1 => {
                CursorPlace::behind(timeline, seq)
            }
            _ => by_time,
        }
    }
}

/// A bookmark of the screen that has a name, for commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedBookmark {
    /// Its note.
    pub name: String,
    /// Where it stands.
    pub moment: Moment,
    /// When that is.
    pub at: RecordedAt,
}

/// Gives the bookmarks of a reel that have notes, in the order of records: those beside the reel, as the user names
/// it, else those in the user's folder.
pub fn named_bookmarks(
    timeline: &Timeline,
    path: &Path,
    state_folder: Option<&Path>,
) -> Vec<NamedBookmark> {
    let store = BookmarkStore::of(path, &identity(timeline), state_folder);
    let all = store.load().all.into_iter();
    let named = all.filter(|one| !one.note.is_empty());
    named
        .map(|one| {
            let place = one.place(timeline);
            let last = place.below.0.checked_sub(1);
            NamedBookmark {
                moment: last.map_or(Moment::Start, |last| Moment::Record(Seq(last))),
                at: place.at,
                name: one.note,
            }
        })
        .collect()
}

#[derive(Serialize, Deserialize)]
struct BookmarksFile {
    kind: String,
    version: u32,
    #[serde(default)]
    bookmarks: Vec<BookmarkRecord>,
}

#[derive(Serialize, Deserialize)]
struct BookmarkRecord {
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

/// Reads a file's text; `path` is for errors.
fn parse_bookmarks(text: &str, path: &Path) -> Result<Vec<Bookmark>, KeepError> {
    let written: BookmarksFile =
        serde_json::from_str(text).map_err(|source| KeepError::Malformed {
            path: path.to_owned(),
            source,
        })?;
    if written.kind != BOOKMARKS_KIND || written.version > BOOKMARKS_VERSION {
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
fn bookmarks_json(bookmarks: &[Bookmark]) -> Result<String, serde_json::Error> {
    let all = bookmarks.iter().map(|one| BookmarkRecord {
        time: timetext::rfc3339_micros(one.at),
        seq: one.seq.map(|seq| seq.0),
        note: one.note.clone(),
        select: one.select.clone(),
        namespace: one.namespace.clone(),
    });
    let written = BookmarksFile {
        kind: BOOKMARKS_KIND.to_owned(),
        version: BOOKMARKS_VERSION,
        bookmarks: all.collect(),
    };
    serde_json::to_string_pretty(&written).map(|text| text + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_format::{RecordedAt, Seq};
    use proptest::prelude::*;

    fn bookmark(seq: u64, note: &str) -> Bookmark {
        Bookmark {
            seq: Some(Seq(seq)),
            at: RecordedAt::from_micros(1_795_276_891_480_000),
            note: note.to_owned(),
            select: String::new(),
            namespace: String::new(),
        }
    }

    fn shelf(folder: &Path) -> BookmarkStore {
        let state = folder.join("state");
        BookmarkStore::of(&folder.join("a.reel"), "0123", Some(&state))
    }

    fn notes(bookmarks: &Bookmarks) -> Vec<&str> {
        bookmarks.all.iter().map(|one| one.note.as_str()).collect()
    }

    #[test]
    fn bookmarks_lie_beside_the_reel_and_come_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let shelf = shelf(folder.path());
        assert_eq!(shelf.load(), Bookmarks::default());
        for change in [
            BookmarkChange::Add(bookmark(9, "late")),
            BookmarkChange::Add(bookmark(3, "early")),
            BookmarkChange::Add(bookmark(5, "gone")),
            BookmarkChange::Remove(bookmark(5, "gone")),
            BookmarkChange::Note(bookmark(3, "early"), "first".to_owned()),
        ] {
            let after = shelf.change(&change).expect("room");
            assert_eq!(after.words, None);
        }
        assert_eq!(notes(&shelf.load()), ["first", "late"]);
        let names: Vec<_> = fs::read_dir(folder.path())
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        assert_eq!(names, ["a.reel.bookmarks.json"], "nothing else is left");
    }

    #[test]
    fn another_program_may_write_meanwhile() {
        let folder = tempfile::tempdir().expect("a folder");
        let (one, other) = (shelf(folder.path()), shelf(folder.path()));
        one.change(&BookmarkChange::Add(bookmark(1, "one")))
            .expect("room");
        let both = other
            .change(&BookmarkChange::Add(bookmark(2, "other")))
            .expect("room");
        assert_eq!(notes(&both), ["one", "other"]);
    }

    #[test]
    fn what_cannot_be_read_is_left_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let beside = folder.path().join("a.reel.bookmarks.json");
        let large = " ".repeat(usize::try_from(MOST_BYTES).expect("small") + 1);
        for hostile in ["{", "\u{1b}[2J", r#"{"kind":"x","version":1}"#, &large] {
            fs::write(&beside, hostile).expect("room");
            let shelf = shelf(folder.path());
            let words = shelf.load().words.expect("words");
            assert!(words.contains("cannot be read"), "{words}");
            let after = shelf
                .change(&BookmarkChange::Add(bookmark(1, "kept")))
                .expect("room");
            assert_eq!(notes(&after), ["kept"]);
            assert_eq!(fs::read_to_string(&beside).expect("it"), hostile);
            assert_eq!(notes(&shelf.load()), ["kept"]);
            fs::remove_file(folder.path().join("a.reel.bookmarks-2.json")).expect("it");
        }
        fs::remove_file(&beside).expect("it");
        fs::create_dir(&beside).expect("room");
        assert!(shelf(folder.path()).load().words.is_some());
    }

    #[test]
    fn where_no_name_is_left_nothing_is_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let shelf = shelf(folder.path());
        for number in 1..=MOST_NAMES {
            fs::write(numbered(&shelf.beside, number), "{").expect("room");
        }
        assert!(
            shelf
                .load()
                .words
                .expect("words")
                .contains("cannot be saved")
        );
        let change = BookmarkChange::Add(bookmark(1, ""));
        assert!(matches!(
            shelf.change(&change),
            Err(KeepError::NoName { .. })
        ));
    }

    #[test]
    fn the_folder_of_the_user_takes_what_the_reels_does_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let shelf = shelf(folder.path());
        let own = shelf.own.clone().expect("one");
        fs::create_dir_all(own.parent().expect("one")).expect("room");
        let text = bookmarks_json(&[bookmark(4, "mine")]).expect("JSON");
        fs::write(&own, text).expect("room");
        let after = shelf
            .change(&BookmarkChange::Add(bookmark(5, "too")))
            .expect("room");
        assert_eq!(notes(&after), ["mine", "too"]);
        assert!(after.words.expect("words").contains("not writable"));
        assert!(!shelf.beside.exists());
        assert!(is_closed(&io::ErrorKind::PermissionDenied.into()));
    }

    fn any_bookmark() -> impl Strategy<Value = Bookmark> {
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
        fn what_is_written_is_read(mut all in prop::collection::vec(any_bookmark(), 0..8)) {
            all.sort();
            let text = bookmarks_json(&all).expect("JSON");
            prop_assert_eq!(parse_bookmarks(&text, Path::new("x")).expect("own"), all);
        }

        #[test]
        fn no_text_panics(text in ".*") {
            prop_assert!(parse_bookmarks(&text, Path::new("x")).is_err());
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
        let text = bookmarks_json(&[one]).expect("JSON");
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
            (r#"{"kind":"x","version":1}"#, "\"x\" version 1"),
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
            let error = parse_bookmarks(text, Path::new("x"))
                .expect_err(text)
                .to_string();
            assert!(error.contains(word) && error.ends_with(": x"), "{error}");
        }
    }
}
