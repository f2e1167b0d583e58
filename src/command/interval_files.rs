//! Files of intervals, those that openshift-tests and its tools read: they are recognized by their content, and written
//! with the names of a run of the OpenShift monitor.

use crate::command_error::CommandError;
use crate::files;
use kubereel_format::RecordedAt;
use kubereel_monitortests::{
    Interval, IntervalFileError, Intervals, TimelineFile, file_suffix, read_intervals,
    write_intervals,
};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The number of bytes from which the kind of a file is detected.
const SNIFFED_BYTES: u64 = 64;

/// Tells whether a file begins like JSON, as no reel does.
pub(super) fn is_json(path: &Path) -> bool {
    if !path.is_file() {
        return false;
    }
    let Ok(file) = File::open(path) else {
        return false;
    };
    let mut begin = Vec::new();
    if file.take(SNIFFED_BYTES).read_to_end(&mut begin).is_err() {
        return false;
    }
    matches!(begin.trim_ascii_start().first(), Some(b'{' | b'['))
}

/// Reads a file of intervals.
pub(super) fn read(path: &Path) -> Result<Intervals, CommandError> {
    let name = path.display();
    let file = File::open(path).map_err(|error| CommandError::reel(format!("{name}: {error}")))?;
    read_intervals(file).map_err(|error| {
        let failed = CommandError::reel(format!("{name}: {error}"));
        match error {
            IntervalFileError::Json { .. } | IntervalFileError::NoItems => failed.hint(
                "of files of JSON, those of intervals are read: e2e-events and e2e-timelines; kubereel import makes reels of JSON lines and lists of objects",
            ),
            _ => failed,
        }
    })
}

/// Writes the files of a run that began at `start`, if that is known, into a folder, and calls `written` for each.
pub(super) fn write(
    folder: &Path,
    intervals: &[&Interval],
    start: Option<RecordedAt>,
    replaces: bool,
    mut written: impl FnMut(&Path) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let suffix = start.map(file_suffix).unwrap_or_default();
    let mut file = |path: PathBuf, is_held: &dyn Fn(&Interval) -> bool| {
        let held = intervals.iter().copied().filter(|one| is_held(one));
        files::write_for_group(&path, replaces, |out| write_intervals(held, out))?;
        written(&path)
    };
    file(folder.join(format!("e2e-events{suffix}.json")), &|_| true)?;
    TimelineFile::ALL.into_iter().try_for_each(|timeline| {
        let path = folder.join(timeline.name(&suffix));
        file(path, &|one| timeline.holds(one))
    })
}
