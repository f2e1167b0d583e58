//! The place at which the user left a reel, in the user's state folder, by what was recorded; and what is
//! read before a reel shows.

use super::bookmarks::{BookmarkStore, Bookmarks};
use super::file;
use kubereel_history::Timeline;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// A file is at most so large.
const MOST_BYTES: u64 = 64 << 10;
/// How many sessions are kept; the oldest is removed first.
const MOST_FILES: usize = 200;
/// The version of what is written here.
const VERSION: u32 = 1;

/// Where one was in a reel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SavedSession {
    /// The version of the file; saving sets it.
    pub(crate) version: u32,
    /// The moment, as `--at` takes it.
    pub(crate) at: String,
    /// The first moment of the window, in microseconds since 1970.
    pub(crate) window_from_micros: i64,
    /// Its length in microseconds.
    pub(crate) window_micros: i64,
    /// What was selected, as `--select` takes it; empty for nothing.
    pub(crate) select: String,
    /// The namespace of that.
    pub(crate) namespace: String,
    /// The condition of the lane.
    pub(crate) condition: Option<String>,
    /// The filter.
    pub(crate) filter: String,
    /// The resource whose objects were listed; empty for lanes.
    pub(crate) list: String,
    /// The namespace that lists were narrowed to.
    pub(crate) only_namespace: Option<String>,
    /// Whether objects were sorted by what changed last.
    pub(crate) is_changed_first: bool,
    /// The share of the list in hundredths: of the rows, and of the columns.
    pub(crate) shares: Option<(u16, u16)>,
    /// What the panel showed.
    pub(crate) panel: String,
    /// How lanes were grouped.
    pub(crate) grouping: String,
    /// What was pinned, each as `--select` takes it, with its namespace.
    pub(crate) pins: Vec<(String, String)>,
    /// How fast time moved by itself.
    pub(crate) speed: i64,
    /// Whether it moved backward.
    pub(crate) is_reverse: bool,
    /// Whether times were shown in local time.
    pub(crate) is_local_time: bool,
}

/// Gives the file for a reel that is known by `id`.
fn path(folder: &Path, id: &str) -> PathBuf {
    folder.join("sessions").join(format!("{id}.json"))
}

impl SavedSession {
    /// Reads the last session; `None` if there is none, or it cannot be read.
    pub(crate) fn load(folder: &Path, id: &str) -> Option<Self> {
        let text = file::read(&path(folder, id), MOST_BYTES).ok()??;
        let session: Self = serde_json::from_str(&text).ok()?;
        (session.version == VERSION).then_some(session)
    }

    /// Writes it for the next time.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub(crate) fn save(&self, folder: &Path, id: &str) -> io::Result<()> {
        let own = Self {
            version: VERSION,
            ..self.clone()
        };
        let text = serde_json::to_string_pretty(&own)? + "\n";
        let path = path(folder, id);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
            make_room(folder, &path)?;
        }
        file::replace(&path, &text)
    }
}

/// Forgets what was left longest ago, so that one more fits.
fn make_room(folder: &Path, own: &Path) -> io::Result<()> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if path != own && path.extension().is_some_and(|end| end == "json") {
            all.push((entry.metadata()?.modified()?, path));
        }
    }
    all.sort();
    let over = (all.len() + 1).saturating_sub(MOST_FILES);
    for (_, path) in all.iter().take(over) {
        fs::remove_file(path)?;
    }
    Ok(())
}

/// What was kept of a reel.
#[derive(Clone, Debug)]
pub(crate) struct SavedState {
    /// What the reel is known by.
    pub(crate) id: String,
    /// Where its bookmarks lie.
    pub(crate) shelf: BookmarkStore,
    /// Its bookmarks.
    pub(crate) bookmarks: Bookmarks,
    /// Where one was.
    pub(crate) session: Option<SavedSession>,
}

impl SavedState {
    /// Reads what was kept of the reel at a path; `folder` is the user's state folder. The last session is
    /// left out if the user begins afresh.
    pub(crate) fn of(
        timeline: &Timeline,
        path: &Path,
        folder: Option<&Path>,
        is_fresh: bool,
    ) -> Self {
        let id = identity(timeline);
        let shelf = BookmarkStore::of(path, &id, folder);
        let session = folder.filter(|_| !is_fresh);
        Self {
            bookmarks: shelf.load(),
            session: session.and_then(|folder| SavedSession::load(folder, &id)),
            shelf,
            id,
        }
    }
}

/// Gives the number as 16 digits; a reel that was recorded further has another one.
pub(super) fn identity(timeline: &Timeline) -> String {
    let reel = timeline.reel();
    let mut words = vec![
        reel.end().0.to_string(),
        reel.event_count().to_string(),
        reel.object_count().to_string(),
        timeline.start().micros.to_string(),
        timeline.end().micros.to_string(),
    ];
    words.extend(
        timeline
            .clusters()
            .iter()
            .map(|cluster| cluster.uid.clone()),
    );
    let uids = reel.objects().map(|object| object.key.uid.to_string());
    words.extend(uids.take(64));
    format!("{:016x}", fnv(&words.join("\n")))
}

/// FNV-1a of 64 bits: it names files and guards nothing.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::{fnv, *};

    fn session() -> SavedSession {
        SavedSession {
            version: VERSION,
            at: "14:02:31.480Z".to_owned(),
            window_from_micros: 5,
            window_micros: 60_000_000,
            select: "pods/web-0".to_owned(),
            namespace: "shop".to_owned(),
            condition: Some("Ready".to_owned()),
            filter: "ns:shop bad".to_owned(),
            panel: "history".to_owned(),
            grouping: "conditions".to_owned(),
            pins: vec![("leases/version".to_owned(), "shop".to_owned())],
            speed: 30,
            ..SavedSession::default()
        }
    }

    #[test]
    fn what_is_left_is_found_again() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(SavedSession::load(folder.path(), "a"), None);
        session().save(folder.path(), "a").expect("room");
        assert_eq!(SavedSession::load(folder.path(), "a"), Some(session()));
        assert_eq!(SavedSession::load(folder.path(), "b"), None);
    }

    #[test]
    fn what_is_broken_or_of_another_version_is_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        session().save(folder.path(), "a").expect("room");
        let path = path(folder.path(), "a");
        let good = fs::read_to_string(&path).expect("it");
        let newer = good.replace("\"version\": 1", "\"version\": 2");
        assert_ne!(newer, good);
        let odd = good.replace("30", "\"fast\"");
        let half = good.get(..good.len() / 2).expect("half");
        for broken in ["", "[]", "{}", "\u{0}", half, &newer, &odd] {
            fs::write(&path, broken).expect("room");
            assert_eq!(SavedSession::load(folder.path(), "a"), None, "{broken}");
        }
    }

    #[test]
    fn the_folder_does_not_grow_for_ever() {
        let folder = tempfile::tempdir().expect("a folder");
        for number in 0..MOST_FILES + 3 {
            session()
                .save(folder.path(), &number.to_string())
                .expect("room");
        }
        let count = fs::read_dir(folder.path().join("sessions"))
            .expect("it")
            .count();
        assert_eq!(count, MOST_FILES);
    }

    #[test]
    fn the_hash_is_the_published_one() {
        for (text, hash) in [
            ("", 0xcbf2_9ce4_8422_2325),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8),
        ] {
            assert_eq!(fnv(text), hash);
        }
    }
}
