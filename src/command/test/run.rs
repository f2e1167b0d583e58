//! The runs of `kubereel test` over many recordings, several at once, reported in the order in which the recordings
//! were named, and the files that a run writes besides its report. A recording that cannot be read does not stop the
//! others; a file is not overwritten without `--force`, and a recording never.

use super::suite::{self, Suite};
use super::{Args, ProgressFormat};
use crate::command_error::{CommandError, Exit};
use crate::files;
use crate::progress::ProgressReporter;
use crate::screen::Console;
use kubereel_format::RecordedAt;
use kubereel_monitortests::{
    CaseRow, CaseRowOrigin, JunitFile, RunName, RunReport, RunTrust, TimelineFile, file_suffix,
    proposed, read_intervals, run_intervals, run_reel_while, write_intervals, write_junit,
};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How many records are done between two looks at the common count.
const RECORDS_PER_COUNT: u64 = 64;

/// The run over one recording.
pub(crate) struct TestRun {
    path: PathBuf,
    pub(super) report: Result<RunReport, CommandError>,
}

impl TestRun {
    /// Gives the recording as it was named.
    pub(super) fn name(&self) -> String {
        files::shown(&self.path)
    }

    /// Gives the name of its file, which is the same on every machine.
    pub(super) fn file_name(&self) -> String {
        file_name(&self.path)
    }

    /// Tells whether something else than the recording failed, such as a disk.
    pub(super) fn is_failed_elsewhere(&self) -> bool {
        let error = self.report.as_ref().err();
        error.is_some_and(|error| error.exit() != Exit::Reel)
    }

    /// Tells whether it could not be read, or not all of it.
    pub(super) fn is_unread(&self) -> bool {
        let report = self.report.as_ref();
        report.map_or(true, |report| report.trust == RunTrust::Damaged)
    }
}

pub(super) fn file_name(path: &Path) -> String {
    let shown = files::shown(path);
    let shown = Path::new(shown.trim_end_matches("?…"));
    let name = shown.file_name().unwrap_or(shown.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Gives how commands name a recording.
pub(super) fn run_name<'a>(report: &RunReport, reel: &'a str) -> RunName<'a> {
    let (start, end): (RecordedAt, RecordedAt) = (report.start, report.end);
    RunName {
        reel: (report.trust != RunTrust::Intervals).then_some(reel),
        start,
        end,
    }
}

/// What the threads share.
struct TestWork<'a> {
    args: &'a Args,
    suite: &'a Suite,
    targets: &'a TestFiles,
    next: AtomicUsize,
    records: AtomicU64,
    progress: Mutex<ProgressReporter>,
    done: Mutex<Vec<Option<TestRun>>>,
}

/// Runs the suite over every recording.
pub(super) fn all(
    args: &Args,
    suite: &Suite,
    targets: &TestFiles,
    screen: &Console,
) -> Result<Vec<TestRun>, CommandError> {
    let progress = match args.progress {
        Some(ProgressFormat::Json) => ProgressReporter::json(),
        None => ProgressReporter::begin("testing, records", 0_u64, screen.is_err_terminal()),
    };
    let shared = TestWork {
        args,
        suite,
        targets,
        next: AtomicUsize::new(0),
        records: AtomicU64::new(0),
        progress: Mutex::new(progress),
        done: Mutex::new(args.reels.iter().map(|_| None).collect()),
    };
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let others = cores.min(args.reels.len()).saturating_sub(1);
    thread::scope(|scope| {
        for number in 0..others {
            let name = format!("test-{number}");
            // Where no thread is to be had, this one does all of it.
            drop(
                thread::Builder::new()
                    .name(name)
                    .spawn_scoped(scope, || work(&shared)),
            );
        }
        work(&shared);
    });
    let done = shared
        .done
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let all: Vec<TestRun> = done.into_iter().flatten().collect();
    if all.len() == args.reels.len() {
        Ok(all)
    } else {
        let message = "a worker thread ended before its recording was tested";
        Err(CommandError::io(message))
    }
}

/// Takes one recording after the other, until none is left.
fn work(shared: &TestWork<'_>) {
    loop {
        let place = shared.next.fetch_add(1, Ordering::Relaxed);
        let Some(path) = shared.args.reels.get(place) else {
            return;
        };
        let report = one(shared, place, path);
        let ran = TestRun {
            path: files::public_path(path),
            report,
        };
        let mut done = shared.done.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = done.get_mut(place) {
            *slot = Some(ran);
        }
    }
}

/// Runs the suite over one recording, and writes the files that are its own.
fn one(shared: &TestWork<'_>, place: usize, path: &Path) -> Result<RunReport, CommandError> {
    let mut report = if is_intervals(path) {
        over_intervals(shared, path)?
    } else {
        over_reel(shared, path)?
    };
    shared.targets.write_one(place, path, &report)?;
    // Many runs are held until all are done; a million intervals each are not.
    report.forget_intervals();
    Ok(report)
}

fn over_reel(shared: &TestWork<'_>, path: &Path) -> Result<RunReport, CommandError> {
    let timeline = files::open_reel(path)?;
    shared
        .suite
        .check(&timeline)
        .map_err(|errors| suite::misfit(&files::shown(path), &errors))?;
    let records = timeline.reel().end().0;
    let progress = || {
        shared
            .progress
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    };
    progress().grow(records);
    let mut since = 0;
    let go_on = |_| {
        since += 1;
        if since < RECORDS_PER_COUNT {
            return ControlFlow::Continue(());
        }
        since = 0;
        let before = shared
            .records
            .fetch_add(RECORDS_PER_COUNT, Ordering::Relaxed);
        let mut progress = progress();
        progress.reached(before + RECORDS_PER_COUNT);
        progress.go_on()
    };
    let (tests, asked) = (shared.suite.tests(), shared.suite.asked());
    let report = run_reel_while(
        &timeline,
        tests,
        &asked,
        shared.targets.has_intervals(),
        go_on,
    );
    let done = shared.records.load(Ordering::Relaxed);
    progress().ended(done);
    let report = report.filter(|_| progress().go_on().is_continue());
    report
        .ok_or_else(|| CommandError::io("stopped: stderr was closed, progress cannot be reported"))
}

/// Tells a file of intervals by its name: reels have any name but this.
fn is_intervals(path: &Path) -> bool {
    let ending = path.extension();
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case("json"))
}

fn over_intervals(shared: &TestWork<'_>, path: &Path) -> Result<RunReport, CommandError> {
    let name = path.display();
    let file = File::open(path).map_err(|error| CommandError::reel(format!("{name}: {error}")))?;
    let intervals = read_intervals(file).map_err(|error| {
        CommandError::reel(format!("{name}: {error}"))
            .hint("a .json is read as a file of intervals, such as e2e-events….json of a CI run")
            .hint("kubereel import makes a reel of other recordings")
    })?;
    let (tests, asked) = (shared.suite.tests(), shared.suite.asked());
    Ok(run_intervals(
        intervals,
        &shared.suite.cluster,
        tests,
        &asked,
    ))
}

/// Where the files go.
pub(super) struct TestFiles {
    /// For each recording the folder for its JUnit.
    junit: Vec<PathBuf>,
    /// For each recording the folder for its intervals.
    intervals: Vec<PathBuf>,
    replaces: bool,
}

impl TestFiles {
    /// Chooses the folders, and refuses targets that are there before anything is run.
    pub(super) fn prepare(args: &Args) -> Result<Self, CommandError> {
        let outputs = &args.outputs;
        for target in [&outputs.rows, &outputs.propose_exceptions]
            .into_iter()
            .flatten()
        {
            for reel in &args.reels {
                files::refuse_input(reel, target)?;
            }
            if !outputs.force && target.is_file() {
                return Err(files::exists(target));
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
            return Err(files::exists(path));
        }
        let folder = path.parent().unwrap_or(path);
        let written = fs::create_dir_all(folder)
            .and_then(|()| File::create(path))
            .and_then(|file| {
                let whole = readable_by_the_group(&file).and_then(|()| {
                    let mut out = BufWriter::new(file);
                    write(&mut out)?;
                    out.flush()
                });
                if whole.is_err() {
                    // On a full disk, an empty file would be taken for one without findings.
                    drop(fs::remove_file(path));
                }
                whole
            });
        written.map_err(|error| files::cannot_write(&error, path))
    }

    /// Writes the files of all recordings.
    pub(super) fn write(&self, args: &Args, all: &[TestRun]) -> Result<(), CommandError> {
        if let Some(path) = &args.outputs.rows {
            let mut file = files::create(path, self.replaces)?;
            rows(args, all, &mut file).map_err(|error| files::cannot_write(&error, path))?;
            file.persist()?;
        }
        if let Some(path) = &args.outputs.propose_exceptions {
            let names: Vec<String> = all.iter().map(TestRun::file_name).collect();
            let runs = names.iter().zip(all).filter_map(|(name, ran)| {
                let report = ran.report.as_ref().ok()?;
                Some((name.as_str(), report.outcomes.as_slice()))
            });
            let text = proposed(runs);
            let mut file = files::create(path, self.replaces)?;
            let written = file.write_all(text.as_bytes());
            written.map_err(|error| files::cannot_write(&error, path))?;
            file.persist()?;
        }
        Ok(())
    }
}

fn rows(args: &Args, all: &[TestRun], file: &mut impl Write) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    for ran in all {
        let Ok(report) = &ran.report else {
            continue;
        };
        let name = ran.file_name();
        let origin = CaseRowOrigin {
            run: &name,
            job: args.outputs.job.as_deref().filter(|job| !job.is_empty()),
            build: args
                .outputs
                .build
                .as_deref()
                .filter(|build| !build.is_empty()),
        };
        for row in CaseRow::all(&origin, report) {
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
