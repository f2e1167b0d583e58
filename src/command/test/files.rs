//! Owns the files that a run writes besides its report: JUnit, rows, proposed exceptions. Refuses to
//! write over what is there unless it is told to, and over a recording ever.

use super::Args;
use super::runs::{Ran, file_name, run_name};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::target_file;
use kubereel_monitortests::{
    JunitFile, Row, RowOrigin, RunReport, TimelineFile, file_suffix, proposed, write_intervals,
    write_junit,
};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// Where the files go.
pub(super) struct Targets {
    /// For each recording the folder for its JUnit.
    junit: Vec<PathBuf>,
    /// For each recording the folder for its intervals.
    intervals: Vec<PathBuf>,
    replaces: bool,
}

impl Targets {
    /// Chooses the folders, and refuses targets that are there before anything is run.
    pub(super) fn prepare(args: &Args) -> Result<Self, CommandError> {
        let outputs = &args.outputs;
        for target in [&outputs.rows, &outputs.propose_exceptions]
            .into_iter()
            .flatten()
        {
            for reel in &args.reels {
                target_file::refuse_input(reel, target)?;
            }
            if !outputs.force && target.is_file() {
                return Err(exists(target));
            }
        }
        let below = |root: &Option<PathBuf>| {
            let root = root.as_deref();
            root.map_or_else(Vec::new, |root| folders(root, &args.reels))
        };
        Ok(Self {
            junit: below(&outputs.junit),
            intervals: below(&outputs.intervals),
            replaces: outputs.force,
        })
    }

    /// Tells whether files of intervals are written.
    pub(super) const fn has_intervals(&self) -> bool {
        !self.intervals.is_empty()
    }

    /// Writes the files of one recording.
    pub(super) fn write_one(
        &self,
        place: usize,
        path: &Path,
        report: &RunReport,
    ) -> Result<(), CommandError> {
        if let Some(folder) = self.junit.get(place) {
            let name = file_name(path);
            let junit = JunitFile::of(&run_name(report, &name), report);
            let file = folder.join(JunitFile::name(report.start));
            self.write_file(&file, |out| write_junit(&junit, out))?;
        }
        if let Some(folder) = self.intervals.get(place) {
            let suffix = file_suffix(report.start);
            let all = report.intervals.all();
            let file = folder.join(format!("e2e-events{suffix}.json"));
            self.write_file(&file, |mut out| write_intervals(all, &mut out))?;
            for timeline in TimelineFile::ALL {
                let file = folder.join(timeline.name(&suffix));
                let held = all.iter().filter(|interval| timeline.holds(interval));
                self.write_file(&file, |mut out| write_intervals(held, &mut out))?;
            }
        }
        Ok(())
    }

    fn write_file(
        &self,
        path: &Path,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), CommandError> {
        if !self.replaces && path.is_file() {
            return Err(exists(path));
        }
        let folder = path.parent().unwrap_or(path);
        let written = fs::create_dir_all(folder)
            .and_then(|()| File::create(path))
            .and_then(|file| {
                readable_by_the_group(&file)?;
                let mut out = BufWriter::new(file);
                write(&mut out)?;
                out.flush()
            });
        written.map_err(|error| failed(&error, path))
    }

    /// Writes the files of all recordings.
    pub(super) fn write(&self, args: &Args, all: &[Ran]) -> Result<(), CommandError> {
        if let Some(path) = &args.outputs.rows {
            let file = target_file::create(path, self.replaces)?;
            rows(args, all, file).map_err(|error| failed(&error, path))?;
        }
        if let Some(path) = &args.outputs.propose_exceptions {
            let names: Vec<String> = all.iter().map(Ran::file_name).collect();
            let runs = names.iter().zip(all).filter_map(|(name, ran)| {
                let report = ran.report.as_ref().ok()?;
                Some((name.as_str(), report.outcomes.as_slice()))
            });
            let text = proposed(runs);
            let mut file = target_file::create(path, self.replaces)?;
            let written = file.write_all(text.as_bytes());
            written.map_err(|error| failed(&error, path))?;
        }
        Ok(())
    }
}

fn rows(args: &Args, all: &[Ran], file: File) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    for ran in all {
        let Ok(report) = &ran.report else {
            continue;
        };
        let name = ran.file_name();
        let origin = RowOrigin {
            run: &name,
            job: args.outputs.job.as_deref().filter(|job| !job.is_empty()),
            build: args
                .outputs
                .build
                .as_deref()
                .filter(|build| !build.is_empty()),
        };
        for row in Row::all(&origin, report) {
            serde_json::to_writer(&mut out, &row)?;
            out.write_all(b"\n")?;
        }
    }
    out.flush()
}

/// Gives the folder of each recording: the root itself for one, else one below it with its name, and a
/// number where names are the same.
fn folders(root: &Path, reels: &[PathBuf]) -> Vec<PathBuf> {
    if reels.len() == 1 {
        return vec![root.to_owned()];
    }
    let mut taken = BTreeSet::new();
    let folders = reels.iter().map(|reel| {
        let stem = reel.file_stem().unwrap_or(reel.as_os_str());
        let stem = stem.to_string_lossy().into_owned();
        let numbered = (2..).map(|number: u64| format!("{stem}-{number}"));
        let mut names = std::iter::once(stem.clone()).chain(numbered);
        let free = names
            .find(|name| !taken.contains(name))
            .unwrap_or(stem.clone());
        taken.insert(free.clone());
        root.join(free)
    });
    folders.collect()
}

/// CI's collectors read files by their group.
#[cfg(unix)]
fn readable_by_the_group(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(fs::Permissions::from_mode(0o640))
}

#[cfg(not(unix))]
fn readable_by_the_group(_file: &File) -> io::Result<()> {
    Ok(())
}

fn exists(path: &Path) -> CommandError {
    let path = path.display();
    CommandError::new(Exit::Usage, format!("file exists: {path}"))
        .hint("choose another file, or overwrite it with --force")
}

fn failed(error: &io::Error, path: &Path) -> CommandError {
    let path = path.display();
    CommandError::new(Exit::Io, format!("cannot write: {error}: {path}"))
}
