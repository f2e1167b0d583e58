//! The file names of a series and its index: which reels it has written, their order, and how each
//! ended. Only files that the index lists are ever removed.
//!
//! `cluster.reel` becomes `cluster-20261122T060000Z.reel`, and the index `cluster.series.json`.

use jiff::Timestamp;
use kubereel_format::RecordedAt;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// The type of the file.
const KIND: &str = "kubereel-series";

/// The version of its format.
const VERSION: u32 = 1;

/// The longest index that is read, in bytes: about fifty thousand reels.
const READ_BYTES: u64 = 16 * 1024 * 1024;

/// The end of a reel whose writer was killed.
const KILLED: &str = "killed";

/// The reels of a series, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SeriesIndex {
    kind: String,
    version: u32,
    reels: Vec<SeriesRow>,
}

/// One reel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SeriesRow {
    /// Its name, beside the index.
    pub(super) name: String,
    /// When it began.
    pub(super) began: Timestamp,
    /// The reel that it continues, if any.
    pub(super) continues: Option<String>,
    /// When the previous reel was requested to end; `None` until then.
    pub(super) took_over: Option<Timestamp>,
    /// How the two overlap, as text.
    pub(super) overlap: Option<String>,
    /// How it ended; `None` while it is written.
    pub(super) ended: Option<String>,
}

impl SeriesRow {
    /// Returns whether it is one of the reels that together have everything: the first, or one that
    /// has taken over.
    const fn is_in_chain(&self) -> bool {
        self.took_over.is_some() || self.continues.is_none()
    }
}

/// Why no index can be resumed.
#[derive(Debug)]
pub(super) enum NoIndex {
    /// There is no index.
    Missing,
    /// The index cannot be parsed; the error.
    Unread(String),
}

impl SeriesIndex {
    /// Creates an index.
    pub(super) fn new() -> Self {
        Self {
            kind: KIND.to_owned(),
            version: VERSION,
            reels: Vec::new(),
        }
    }

    /// Reads an index, and forgets reels that no longer exist.
    pub(super) fn read(names: &SeriesNames) -> Result<Self, NoIndex> {
        let unread = |error: &dyn std::fmt::Display| NoIndex::Unread(error.to_string());
        let file = match fs::File::open(names.index()) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(NoIndex::Missing),
            Err(error) => return Err(unread(&error)),
        };
        let mut bytes = Vec::new();
        file.take(READ_BYTES)
            .read_to_end(&mut bytes)
            .map_err(|error| unread(&error))?;
        let mut index: Self = serde_json::from_slice(&bytes).map_err(|error| unread(&error))?;
        if index.kind != KIND || index.version != VERSION {
            return Err(unread(&format!("{} {}", index.kind, index.version)));
        }
        index
            .reels
            .retain(|row| names.are_like(&row.name) && is_file(&names.path(&row.name)));
        Ok(index)
    }

    /// Writes it atomically: a kill leaves the old one or the new one.
    pub(super) fn write(&self, names: &SeriesNames) -> io::Result<()> {
        let path = names.index();
        let fresh = path.with_extension("json.tmp");
        let mut file = fs::File::create(&fresh)?;
        file.write_all(&serde_json::to_vec_pretty(self)?)?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        drop(file);
        fs::rename(&fresh, &path)
    }

    /// Returns the reel that a new run resumes: the newest that had taken over.
    ///
    /// A reel that had not taken over begins later than the reel that it was to continue: resuming
    /// it would lose the time between.
    pub(super) fn newest(&self) -> Option<&SeriesRow> {
        self.reels.iter().rfind(|row| row.is_in_chain())
    }

    /// Adds a reel.
    pub(super) fn begin(&mut self, name: &str, at: RecordedAt, continues: Option<&str>) {
        self.reels.push(SeriesRow {
            name: name.to_owned(),
            began: time(at),
            continues: continues.map(str::to_owned),
            took_over: None,
            overlap: None,
            ended: None,
        });
    }

    /// A reel took over from the previous one.
    pub(super) fn took_over(&mut self, name: &str, at: RecordedAt, overlap: &str) {
        if let Some(row) = self.row(name) {
            row.took_over = Some(time(at));
            row.overlap = Some(overlap.to_owned());
        }
    }

    /// A reel is resumed.
    pub(super) fn goes_on(&mut self, name: &str) {
        for row in &mut self.reels {
            if row.name == name {
                row.ended = None;
            } else if row.ended.is_none() {
                // The lock on the series excludes another writer: their writer was killed.
                row.ended = Some(KILLED.to_owned());
            }
        }
    }

    /// A reel has ended.
    pub(super) fn ended(&mut self, name: &str, how: &str) {
        if let Some(row) = self.row(name) {
            row.ended = Some(how.to_owned());
        }
    }

    /// Takes out the oldest finished reels, so that `keep` of them stay besides the current one;
    /// returns their paths.
    ///
    /// The current one is the newest that has taken over, also after it has ended. A reel that ended
    /// before it took over is not counted: it may be empty, and the reel that it was to continue has
    /// what it has. It goes with the reels before it.
    pub(super) fn take_old(&mut self, keep: usize, names: &SeriesNames) -> Vec<PathBuf> {
        let current = self.newest().map(|row| row.name.clone());
        let is_current = |row: &SeriesRow| Some(&row.name) == current.as_ref();
        let mut stays = 0;
        let mut oldest = self.reels.len();
        for (place, row) in self.reels.iter().enumerate().rev() {
            if is_current(row) {
                oldest = place;
            } else if row.is_in_chain() && row.ended.is_some() && stays < keep {
                stays += 1;
                oldest = place;
            }
        }
        if stays < keep {
            return Vec::new();
        }
        let mut taken = Vec::new();
        let mut place = 0;
        self.reels.retain(|row| {
            let goes = place < oldest && row.ended.is_some();
            place += 1;
            if goes {
                taken.push(names.path(&row.name));
            }
            !goes
        });
        taken
    }

    fn row(&mut self, name: &str) -> Option<&mut SeriesRow> {
        self.reels.iter_mut().find(|row| row.name == name)
    }
}

/// Removes a reel and the copies of it that a killed recorder left, unless the path now leads to another file.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    if is_file(path) {
        kubereel_format::remove_interrupted_copies(path);
        fs::remove_file(path)?;
    }
    Ok(())
}

/// Renames an index that cannot be read: the reels that it lists are not removed from here on.
pub(super) fn set_aside(names: &SeriesNames) -> io::Result<()> {
    let path = names.index();
    fs::rename(&path, path.with_extension("json.unread"))
}

/// A link is not removed: it leads to another user's file.
fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_file())
}

pub(super) fn time(at: RecordedAt) -> Timestamp {
    Timestamp::from_microsecond(at.micros).unwrap_or_default()
}

/// The format of the start time in the name of a reel.
const BEGAN: &str = "%Y%m%dT%H%M%SZ";

/// The names of one series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SeriesNames {
    folder: PathBuf,
    stem: String,
    /// The extension with its dot; empty if there is none.
    ending: String,
}

impl SeriesNames {
    /// Takes the path from which all names are made.
    pub(super) fn of(output: &Path) -> Option<Self> {
        let stem = output.file_stem()?.to_str()?.to_owned();
        let ending = match output.extension().map(OsStr::to_str) {
            None => String::new(),
            Some(ending) => format!(".{}", ending?),
        };
        Some(Self {
            folder: output.parent().unwrap_or(Path::new("")).to_owned(),
            stem,
            ending,
        })
    }

    /// Returns the name of the series.
    pub(super) fn stem(&self) -> &str {
        &self.stem
    }

    /// Returns the name of a reel that begins then; of several in one second, later ones sort
    /// behind.
    pub(super) fn reel(&self, at: RecordedAt, number: u32) -> String {
        let began = Timestamp::from_microsecond(at.micros).unwrap_or_default();
        let (stem, ending) = (&self.stem, &self.ending);
        let began = began.strftime(BEGAN);
        match number {
            0 | 1 => format!("{stem}-{began}{ending}"),
            number => format!("{stem}-{began}_{number}{ending}"),
        }
    }

    /// Returns whether a name has the form of a reel of this series.
    fn are_like(&self, name: &str) -> bool {
        let began = name
            .strip_prefix(&self.stem)
            .and_then(|rest| rest.strip_prefix('-'))
            .and_then(|rest| rest.strip_suffix(&self.ending));
        let Some(began) = began else {
            return false;
        };
        let (began, number) = began.split_once('_').unwrap_or((began, "2"));
        let form: String = began
            .chars()
            .map(|letter| if letter.is_ascii_digit() { '0' } else { letter })
            .collect();
        form == "00000000T000000Z" && number.parse::<u32>().is_ok_and(|number| number > 1)
    }

    /// Returns the path of a file of this series.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns the path of the index.
    pub(super) fn index(&self) -> PathBuf {
        self.path(&format!("{}.series.json", self.stem))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "c-20261122T060000Z.reel";
    const SECOND: &str = "c-20261122T070000Z.reel";
    const THIRD: &str = "c-20261122T080000Z.reel";

    fn series() -> (tempfile::TempDir, SeriesNames, SeriesIndex) {
        let folder = tempfile::tempdir().expect("a folder");
        let names = SeriesNames::of(&folder.path().join("c.reel")).expect("names");
        let mut index = SeriesIndex::new();
        let at = RecordedAt::default();
        let mut before = None;
        for name in [FIRST, SECOND, THIRD] {
            fs::write(names.path(name), "x").expect("a file");
            index.begin(name, at, before);
            before = Some(name);
        }
        (folder, names, index)
    }

    #[test]
    fn what_was_written_is_read() {
        let (_folder, names, mut index) = series();
        assert!(matches!(SeriesIndex::read(&names), Err(NoIndex::Missing)));
        index.took_over(SECOND, RecordedAt::from_micros(7), "proven");
        index.write(&names).expect("written");
        assert_eq!(SeriesIndex::read(&names).expect("an index"), index);
        fs::remove_file(names.path(FIRST)).expect("removed");
        let left = SeriesIndex::read(&names).expect("an index");
        assert_eq!(left.reels, index.reels[1..]);
        for text in ["", "{}", r#"{"kind":"x","version":1,"reels":[]}"#] {
            fs::write(names.index(), text).expect("written");
            assert!(
                matches!(SeriesIndex::read(&names), Err(NoIndex::Unread(_))),
                "{text}"
            );
        }
        set_aside(&names).expect("put aside");
        assert!(matches!(SeriesIndex::read(&names), Err(NoIndex::Missing)));
    }

    #[test]
    fn a_reel_is_removed_with_its_unfinished_copies() {
        let (_folder, names, _) = series();
        let copy = |name: &str| names.path(&format!("{name}.0123456789abcdef.part"));
        for name in [FIRST, SECOND] {
            fs::write(copy(name), "x").expect("a file");
        }
        remove(&names.path(FIRST)).expect("removed");
        assert!(!copy(FIRST).exists() && !names.path(FIRST).exists());
        assert!(copy(SECOND).exists() && names.path(SECOND).exists());
    }

    #[test]
    fn a_run_goes_on_with_the_newest_that_had_taken_over() {
        let (_folder, _, mut index) = series();
        let newest = |index: &SeriesIndex| index.newest().map(|row| row.name.clone());
        assert_eq!(newest(&index).as_deref(), Some(FIRST));
        index.took_over(SECOND, RecordedAt::default(), "");
        assert_eq!(newest(&index).as_deref(), Some(SECOND));
        index.goes_on(SECOND);
        let ended: Vec<Option<&str>> = index.reels.iter().map(|row| row.ended.as_deref()).collect();
        assert_eq!(ended, [Some(KILLED), None, Some(KILLED)]);
        assert_eq!(newest(&SeriesIndex::new()), None);
    }

    #[test]
    fn only_what_is_listed_and_has_ended_is_taken_out() {
        let (folder, names, mut index) = series();
        let foreign = folder.path().join("c-20200101T000000Z.reel");
        fs::write(&foreign, "x").expect("a file");
        index.took_over(SECOND, RecordedAt::default(), "");
        index.took_over(THIRD, RecordedAt::default(), "");
        assert_eq!(index.take_old(0, &names), Vec::<PathBuf>::new());
        index.ended(SECOND, "finished");
        index.ended(FIRST, "finished");
        let taken = index.take_old(1, &names);
        assert_eq!(taken, [names.path(FIRST)]);
        for path in &taken {
            remove(path).expect("removed");
            remove(path).expect("nothing is there any more");
        }
        assert!(foreign.is_file() && names.path(SECOND).is_file());
        assert_eq!(index.reels.len(), 2);
    }

    #[test]
    fn a_reel_that_ends_before_it_takes_over_removes_no_other() {
        let (_folder, names, mut index) = series();
        index.took_over(SECOND, RecordedAt::default(), "");
        for name in [FIRST, THIRD, SECOND] {
            index.ended(name, "finished");
            assert_eq!(index.take_old(1, &names), Vec::<PathBuf>::new(), "{name}");
        }
        assert_eq!(index.take_old(2, &names), Vec::<PathBuf>::new());
        // It goes with the reel that it was to continue.
        index.goes_on(SECOND);
        for name in ["fourth", "fifth"] {
            index.begin(name, RecordedAt::default(), Some(SECOND));
            index.took_over(name, RecordedAt::default(), "");
        }
        index.ended(SECOND, "finished");
        assert_eq!(index.take_old(1, &names), [names.path(FIRST)]);
        index.ended("fourth", "finished");
        assert_eq!(index.take_old(3, &names), Vec::<PathBuf>::new());
        let taken = [names.path(SECOND), names.path(THIRD)];
        assert_eq!(index.take_old(1, &names), taken);
        assert_eq!(index.take_old(1, &names), Vec::<PathBuf>::new());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_left_alone() {
        let (folder, names, index) = series();
        let other = folder.path().join("other");
        fs::rename(names.path(FIRST), &other).expect("moved");
        std::os::unix::fs::symlink(&other, names.path(FIRST)).expect("a link");
        remove(&names.path(FIRST)).expect("nothing to do");
        assert!(other.is_file() && names.path(FIRST).exists());
        index.write(&names).expect("written");
        assert_eq!(SeriesIndex::read(&names).expect("an index").reels.len(), 2);
    }

    fn at(text: &str) -> RecordedAt {
        let at: Timestamp = text.parse().expect("a time");
        RecordedAt::from_micros(at.as_microsecond())
    }

    #[test]
    fn names_sort_as_their_reels_began() {
        let names = SeriesNames::of(Path::new("/reels/cluster.reel")).expect("names");
        let first = names.reel(at("2026-11-22T06:00:00.9Z"), 1);
        assert_eq!(first, "cluster-20261122T060000Z.reel");
        let second = names.reel(at("2026-11-22T06:00:00.9Z"), 2);
        let third = names.reel(at("2026-11-22T06:00:01Z"), 1);
        assert!(first < second && second < third, "{second}");
        for name in [&first, &second, &third] {
            assert!(names.are_like(name), "{name}");
        }
        let path = names.path(&first);
        assert_eq!(path, Path::new("/reels/cluster-20261122T060000Z.reel"));
        assert_eq!(names.index(), Path::new("/reels/cluster.series.json"));
        let bare = SeriesNames::of(Path::new("a")).expect("names");
        let name = bare.reel(at("2026-11-22T06:00:00Z"), 1);
        assert_eq!(name, "a-20261122T060000Z");
        assert!(bare.are_like(&name));
        assert_eq!(SeriesNames::of(Path::new("/")), None);
    }

    #[test]
    fn other_names_are_not_like_those_of_the_series() {
        let names = SeriesNames::of(Path::new("cluster.reel")).expect("names");
        for name in [
            "cluster.reel",
            "cluster-2026.reel",
            "cluster-20261122T060000Z.reel.marks",
            "cluster-20261122T060000Z_1.reel",
            "cluster-20261122T060000Z_x.reel",
            "other-20261122T060000Z.reel",
            "cluster-../20261122T060000Z.reel",
            "../cluster-20261122T060000Z.reel",
        ] {
            assert!(!names.are_like(name), "{name}");
        }
    }
}
