//! Owns the runs of a command over many recordings: side by side, and told in the order in which they
//! were named. Refuses to stop at one that cannot be read.

use super::files::Targets;
use super::suite::Suite;
use super::{Args, Told};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::reel;
use crate::screen::Screen;
use kubereel_format::RecordedAt;
use kubereel_monitortests::{
    RunName, RunReport, RunTrust, read_intervals, run_intervals, run_reel_while,
};
use std::fs::File;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How many records are done between two looks at the common count.
const RECORDS_PER_COUNT: u64 = 64;

/// What became of one recording.
pub(super) struct Ran {
    path: PathBuf,
    pub(super) report: Result<RunReport, CommandError>,
}

impl Ran {
    /// Gives the recording as it was named.
    pub(super) fn name(&self) -> String {
        self.path.display().to_string()
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
    let name = path.file_name().unwrap_or(path.as_os_str());
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
struct Shared<'a> {
    args: &'a Args,
    suite: &'a Suite,
    targets: &'a Targets,
    next: AtomicUsize,
    records: AtomicU64,
    progress: Mutex<Progress>,
    done: Mutex<Vec<Option<Ran>>>,
}

/// Runs the suite over every recording.
pub(super) fn all(
    args: &Args,
    suite: &Suite,
    targets: &Targets,
    screen: &Screen,
) -> Result<Vec<Ran>, CommandError> {
    let progress = match args.progress {
        Some(Told::Json) => Progress::json(),
        None => Progress::begin("testing, records", 0, screen.is_err_terminal()),
    };
    let shared = Shared {
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
    let all: Vec<Ran> = done.into_iter().flatten().collect();
    if all.len() == args.reels.len() {
        Ok(all)
    } else {
        let message = "a worker thread ended before its recording was tested";
        Err(CommandError::new(Exit::Io, message))
    }
}

/// Takes one recording after the other, until none is left.
fn work(shared: &Shared<'_>) {
    loop {
        let place = shared.next.fetch_add(1, Ordering::Relaxed);
        let Some(path) = shared.args.reels.get(place) else {
            return;
        };
        let report = one(shared, place, path);
        let ran = Ran {
            path: path.clone(),
            report,
        };
        let mut done = shared.done.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = done.get_mut(place) {
            *slot = Some(ran);
        }
    }
}

/// Runs the suite over one recording, and writes the files that are its own.
fn one(shared: &Shared<'_>, place: usize, path: &Path) -> Result<RunReport, CommandError> {
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

fn over_reel(shared: &Shared<'_>, path: &Path) -> Result<RunReport, CommandError> {
    let timeline = reel::open(path)?;
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
    report.ok_or_else(|| {
        CommandError::new(
            Exit::Io,
            "stopped: stderr was closed, progress cannot be reported",
        )
    })
}

/// Tells a file of intervals by its name: reels have any name but this.
fn is_intervals(path: &Path) -> bool {
    let ending = path.extension();
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case("json"))
}

fn over_intervals(shared: &Shared<'_>, path: &Path) -> Result<RunReport, CommandError> {
    let name = path.display();
    let file = File::open(path)
        .map_err(|error| CommandError::new(Exit::Reel, format!("cannot read: {error}: {name}")))?;
    let intervals = read_intervals(file).map_err(|error| {
        CommandError::new(Exit::Reel, format!("{error}: {name}"))
            .hint("a .json is read as a file of intervals, such as e2e-events….json of a CI run")
            .hint("kubereel import makes a reel of other recordings")
    })?;
    let (tests, asked) = (shared.suite.tests(), shared.suite.asked());
    Ok(run_intervals(intervals, &shared.suite.told, tests, &asked))
}
