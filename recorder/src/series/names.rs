//! Owns the names of a series: `cluster.reel` becomes `cluster-20261122T060000Z.reel`, and its index
//! `cluster.series.json`. Refuses names that are no text.

use jiff::Timestamp;
use kubereel_format::RecordedAt;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// How the beginning of a reel is written in its name.
const BEGAN: &str = "%Y%m%dT%H%M%SZ";

/// The names of one series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Names {
    folder: PathBuf,
    stem: String,
    /// With its dot; empty if there is none.
    ending: String,
}

impl Names {
    /// Takes the path of which all names are made.
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

    /// Gives the name of the series.
    pub(super) fn stem(&self) -> &str {
        &self.stem
    }

    /// Gives the name of a reel that begins then; of several in one second, the later ones sort behind.
    pub(super) fn reel(&self, at: RecordedAt, number: u32) -> String {
        let began = Timestamp::from_microsecond(at.micros).unwrap_or_default();
        let (stem, ending) = (&self.stem, &self.ending);
        let began = began.strftime(BEGAN);
        match number {
            0 | 1 => format!("{stem}-{began}{ending}"),
            number => format!("{stem}-{began}_{number}{ending}"),
        }
    }

    /// Tells whether a name has the form that this series gives its reels.
    pub(super) fn are_like(&self, name: &str) -> bool {
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

    /// Gives the path of a file of this series.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Gives the path of the index.
    pub(super) fn index(&self) -> PathBuf {
        self.path(&format!("{}.series.json", self.stem))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> RecordedAt {
        let at: Timestamp = text.parse().expect("a time");
        RecordedAt::from_micros(at.as_microsecond())
    }

    #[test]
    fn names_sort_as_their_reels_began() {
        let names = Names::of(Path::new("/reels/cluster.reel")).expect("names");
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
        let bare = Names::of(Path::new("a")).expect("names");
        let name = bare.reel(at("2026-11-22T06:00:00Z"), 1);
        assert_eq!(name, "a-20261122T060000Z");
        assert!(bare.are_like(&name));
        assert_eq!(Names::of(Path::new("/")), None);
    }

    #[test]
    fn other_names_are_not_like_those_of_the_series() {
        let names = Names::of(Path::new("cluster.reel")).expect("names");
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
