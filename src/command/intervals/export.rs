//! Owns the files of a run of openshift-tests, written into a folder. Refuses to replace one unless
//! told to.

use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::screen::Screen;
use crate::target_file;
use kubereel_format::RecordedAt;
use kubereel_monitortests::{Interval, TimelineFile, file_suffix, write_intervals};
use std::fs;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

/// Writes the files, named by the run's first moment.
pub(super) fn write(
    folder: &Path,
    asked: &[&Interval],
    start: RecordedAt,
    replaces: bool,
    screen: &mut Screen,
) -> Result<(), CommandError> {
    fs::create_dir_all(folder).map_err(|error| cannot(&error, folder))?;
    let suffix = file_suffix(start);
    let events = folder.join(format!("e2e-events{suffix}.json"));
    one(&events, asked.iter().copied(), replaces, screen)?;
    for file in TimelineFile::ALL {
        let path = folder.join(file.name(&suffix));
        let held = asked.iter().copied().filter(|one| file.holds(one));
        one(&path, held, replaces, screen)?;
    }
    Ok(())
}

fn one<'a>(
    path: &Path,
    intervals: impl Iterator<Item = &'a Interval>,
    replaces: bool,
    screen: &mut Screen,
) -> Result<(), CommandError> {
    let mut out = BufWriter::new(target_file::create(path, replaces)?);
    let written = write_intervals(intervals, &mut out).and_then(|()| out.flush());
    written.map_err(|error| cannot(&error, path))?;
    screen.line(path.display())
}

fn cannot(error: &io::Error, path: &Path) -> CommandError {
    let path = path.display();
    CommandError::new(Exit::Io, format!("cannot write: {error}: {path}"))
}
