//! The runs of `kubereel test` over many recordings, several at once, reported in the order in which the recordings
//! were named, and the files that a run writes besides its report. A recording that cannot be read does not stop the
//! others; a file is not overwritten without `--force`, and a recording never.

use super::suite::{self, Suite};
use super::{Args, ProgressFormat};
use crate::command::interval_files;
use crate::command_error::{CommandError, Exit};
use crate::files;
use crate::progress::ProgressReporter;
use crate::screen::Console;
use kubereel_monitortests::{
    CaseRow, CaseRowOrigin, Interval, JunitFile, RunName, RunReport, RunTrust, proposed,
    run_intervals, run_reel_while, write_junit,
};
use std::collections::BTreeSet;
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
    RunName {
        reel: (report.trust != RunTrust::Intervals).then_some(reel),
        span: report.span(),
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
    let mut report = if interval_files::is_json(path) {
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

fn over_intervals(shared: &TestWork<'_>, path: &Path) -> Result<RunReport, CommandError> {
    let intervals = interval_files::read(path)?;
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
        let start = report.span().map(|(start, _)| start);
        if let Some(folder) = self.junit.get(place) {
            let name = file_name(path);
            let junit = JunitFile::of(&run_name(report, &name), report);
            let file = folder.join(JunitFile::name(start));
            files::write_for_group(&file, self.replaces, |out| write_junit(&junit, out))?;
        }
        if let Some(folder) = self.intervals.get(place) {
            let intervals = report.upstream.as_ref().unwrap_or(&report.intervals);
            let all: Vec<&Interval> = intervals.all().iter().collect();
            interval_files::write(folder, &all, start, self.replaces, |_| Ok(()))?;
        }
        Ok(())
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
