//! A run as an observer: the reel and the reports, from their names to the last digest. The reports
//! state the outcome, whatever happens. Only listed public properties of the job go from the
//! environment into the reel: other variables may contain credentials.

use crate::clock::Clock;
use crate::error::RecordError;
use crate::health::{RecorderStatus, RunAccount};
use crate::lifecycle::{Recorder, RecordingSummary, StatusHandle, WholeReel};
use crate::observer::output::ObserverFolder;
use crate::observer::report::{CompletenessSummary, ObserverReport, ReportStage};
use crate::options::RecorderOptions;
use kubereel_format::SessionEnd;
use kubereel_redact::Redactor;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How many bytes a slow disk packs in a second. The guess is low, because a digest follows.
const PACKED_BYTES_PER_SEC: u64 = 10 * 1024 * 1024;

/// The shortest time for packing, in seconds.
const PACKING_SECS: u64 = 1;

/// How often the reports of a running observer are written: what kills it leaves the last ones.
const REPORTED_EVERY: Duration = Duration::from_mins(1);

/// The message for a file that is not packed.
const NOT_PACKED: &str = "not packed: the file is whole, and larger than it need be";

/// The part of the grace period, as a divisor, that reading the ended recording may take.
const SHARE_OF_GRACE: u32 = 6;

/// What to observe, and where to write it.
#[derive(Clone, Debug)]
pub struct Observation {
    /// The output folder.
    pub folder: PathBuf,
    /// How to record; the observer chooses the path of the reel and the file of marks.
    pub options: RecorderOptions,
    /// Reads what an ended recording says; `None` if it cannot be read.
    pub read: fn(&Path) -> Option<CompletenessSummary>,
}

/// The outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObserverOutcome {
    /// In short.
    pub words: String,
    /// The reel, if there is one.
    pub reel: Option<PathBuf>,
    /// Outputs that could not be written.
    pub failed: Vec<String>,
}

/// Observes until a signal arrives or the time is up. `begun` gets a handle as soon as there is
/// one.
///
/// Every result is an outcome: an observer never fails a job.
pub async fn observe(
    observation: Observation,
    begun: impl FnOnce(StatusHandle),
) -> ObserverOutcome {
    let clock = Clock::start();
    let Observation {
        folder,
        options,
        read,
    } = observation;
    let not_begun = |words: String| ObserverOutcome {
        words: "not begun".to_owned(),
        reel: None,
        failed: vec![words],
    };
    let redactor = match Redactor::new(options.redact_extra.clone()) {
        Ok(redactor) => redactor,
        Err(error) => return not_begun(error.to_string()),
    };
    let output = match ObserverFolder::claim(&folder, clock.stamp().wall) {
        Ok(output) => output,
        Err(error) => {
            return not_begun(format!("cannot write: {error}: {}", folder.display()));
        }
    };
    let mut options = options;
    options.output = output.reel();
    options
        .marks
        .get_or_insert_with(|| ObserverFolder::marks(&folder));
    let observer = Observer {
        output,
        redactor,
        clock,
        failed: Mutex::default(),
        last_report: Mutex::default(),
        read,
    };
    observer.run(options, begun).await
}

struct Observer {
    output: ObserverFolder,
    redactor: Redactor,
    clock: Clock,
    failed: Mutex<Vec<String>>,
    /// The last report.
    last_report: Mutex<Option<ObserverReport>>,
    read: fn(&Path) -> Option<CompletenessSummary>,
}

impl Observer {
    async fn run(
        self,
        options: RecorderOptions,
        begun: impl FnOnce(StatusHandle),
    ) -> ObserverOutcome {
        let patience = options.grace.map(|grace| grace / SHARE_OF_GRACE);
        let recorder = match Recorder::open(options) {
            Ok(recorder) => recorder,
            Err(error) => {
                let report = self.report(ReportStage::NotBegun(error.to_string()), None);
                self.write(report);
                self.failed_to(error.to_string());
                return self.outcome(None);
            }
        };
        let status = recorder.status_handle();
        begun(status.clone());
        self.write(self.report(ReportStage::Running, Some(&status)));
        let observer = Arc::new(self);
        let writing = Arc::clone(&observer);
        let asked = status.clone();
        let mut run =
            pin!(recorder.run_until_whole(Box::new(move |whole| writing.whole(whole, &asked))));
        let ended = loop {
            tokio::select! {
                ended = &mut run => break ended,
                () = tokio::time::sleep(REPORTED_EVERY) => {}
            }
            let (observer, status) = (Arc::clone(&observer), status.clone());
            // It writes files, and a disk may hang: the run goes on meanwhile.
            drop(tokio::task::spawn_blocking(move || {
                observer.report_running(&status);
            }));
        };
        let completeness = observer.read_reel(patience).await;
        observer.end(ended, completeness, &status)
    }

    /// Reads what the ended recording says. A disk may hang: that must not hold up the end.
    async fn read_reel(&self, patience: Option<Duration>) -> Option<CompletenessSummary> {
        let (read, path) = (self.read, self.output.reel());
        let reading = tokio::task::spawn_blocking(move || read(&path));
        let read = match patience {
            Some(patience) => tokio::time::timeout(patience, reading).await.ok()?,
            None => reading.await,
        };
        read.ok().flatten()
    }

    /// Writes the reports, unless the run has said how it ended.
    fn report_running(&self, status: &StatusHandle) {
        let mut last = lock(&self.last_report);
        if last.as_ref().is_none_or(ObserverReport::is_running) {
            let report = self.report(ReportStage::Running, Some(status));
            *last = Some(self.put(report));
        }
    }

    /// The file is complete: reports it, and decides whether there is time to pack it.
    fn whole(&self, whole: &WholeReel, status: &StatusHandle) -> bool {
        let cost = whole.file_bytes / PACKED_BYTES_PER_SEC + PACKING_SECS;
        let is_packed = whole
            .remaining
            .is_none_or(|remaining| remaining > Duration::from_secs(cost));
        let report = self.report_whole(whole, status, is_packed);
        self.write(report);
        is_packed
    }

    fn report_whole(
        &self,
        whole: &WholeReel,
        status: &StatusHandle,
        is_packed: bool,
    ) -> ObserverReport {
        let stage = match &whole.end {
            SessionEnd::Signal(name) => ReportStage::Ended(name.clone()),
            SessionEnd::Finished => ReportStage::Ended("its own limit of time".to_owned()),
            SessionEnd::Failed(words) => ReportStage::Failed(words.clone()),
        };
        let mut report = self.report(stage, Some(status));
        // The state before the streams ended; the sums are those of the end.
        let status = report.standing;
        report.standing = RecorderStatus {
            added: status.added,
            modified: status.modified,
            deleted: status.deleted,
            gaps: status.gaps,
            ..whole.standing.clone()
        };
        report.at = whole.at;
        report.reel_bytes = whole.file_bytes;
        if !is_packed {
            NOT_PACKED.clone_into(&mut report.file_words);
        }
        report
    }

    fn end(
        &self,
        ended: Result<RecordingSummary, RecordError>,
        completeness: Option<CompletenessSummary>,
        status: &StatusHandle,
    ) -> ObserverOutcome {
        let is_whole = match ended {
            Ok(summary) => {
                self.complete(Some(&summary), completeness);
                true
            }
            // The file is complete; only packing took too long.
            Err(error) if self.has_ended() => {
                self.failed_to(error.to_string());
                self.complete(None, completeness);
                false
            }
            Err(error) => {
                self.failed_to(error.to_string());
                let mut report = self.report(ReportStage::Failed(error.to_string()), Some(status));
                report.completeness = completeness;
                // The streams have ended: what was followed is what the last report said.
                if let Some(last) = lock(&self.last_report).as_ref()
                    && report.standing.resources == 0
                {
                    report.standing.resources = last.standing.resources;
                    report.standing.resources_complete = last.standing.resources_complete;
                }
                self.write(report);
                false
            }
        };
        if is_whole && let Err(error) = self.output.write_digest() {
            self.failed_to(format!("cannot write the digest of the reel: {error}"));
        }
        self.outcome(Some(self.output.reel()))
    }

    fn has_ended(&self) -> bool {
        let last_report = lock(&self.last_report);
        last_report
            .as_ref()
            .is_some_and(|last_report| matches!(last_report.stage, ReportStage::Ended(_)))
    }

    /// Reports the ended file again: its size once it was packed, and what it says.
    fn complete(
        &self,
        packed: Option<&RecordingSummary>,
        completeness: Option<CompletenessSummary>,
    ) {
        let last_report = lock(&self.last_report).clone();
        let Some(mut report) = last_report else {
            return;
        };
        report.completeness = completeness;
        if let Some(summary) = packed {
            report.reel_bytes = summary.file_bytes;
            if let Some(why) = &summary.unpacked {
                report.file_words = format!("{NOT_PACKED}: {why}");
            }
        }
        self.write(report);
    }

    fn report(&self, stage: ReportStage, status: Option<&StatusHandle>) -> ObserverReport {
        let account = status.map_or_else(RunAccount::default, StatusHandle::account);
        let standing = status.map_or_else(RecorderStatus::default, StatusHandle::status);
        ObserverReport {
            stage,
            account,
            completeness: None,
            at: self.clock.stamp().wall,
            reel: self.output.reel_name(),
            // The failed step may have made it larger than the last commit.
            reel_bytes: std::fs::metadata(self.output.reel()).map_or(0, |facts| facts.len()),
            standing,
            file_words: String::new(),
        }
    }

    fn write(&self, report: ObserverReport) {
        let mut last = lock(&self.last_report);
        *last = Some(self.put(report));
    }

    /// Writes a report; the caller has locked the last one, so that none overtakes another.
    fn put(&self, report: ObserverReport) -> ObserverReport {
        let report = report.scrubbed(&self.redactor);
        for words in self.output.write(&report, &self.redactor) {
            self.failed_to(words);
        }
        report
    }

    fn failed_to(&self, words: String) {
        let mut failed = lock(&self.failed);
        if !failed.contains(&words) {
            failed.push(words);
        }
    }

    fn outcome(&self, reel: Option<PathBuf>) -> ObserverOutcome {
        let last_report = lock(&self.last_report);
        ObserverOutcome {
            words: last_report
                .as_ref()
                .map_or("", ObserverReport::outcome)
                .to_owned(),
            reel,
            failed: lock(&self.failed).clone(),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The recorded variables, in this order.
pub const LABELS: [&str; 11] = [
    "JOB_NAME",
    "JOB_NAME_SAFE",
    "JOB_TYPE",
    "BUILD_ID",
    "PROW_JOB_ID",
    "REPO_OWNER",
    "REPO_NAME",
    "PULL_NUMBER",
    "PULL_BASE_REF",
    "PULL_BASE_SHA",
    "PULL_PULL_SHA",
];

/// The longest value, in bytes. A longer value is not one of these properties.
const VALUE_BYTES: usize = 256;

/// Reads the labels of the job, by `variable`.
///
/// A value that is empty, long, or contains anything but visible ASCII is left out.
pub fn job_labels(variable: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let known = LABELS.iter().filter_map(|name| {
        let value = variable(name)?;
        let is_fit = !value.is_empty()
            && value.len() <= VALUE_BYTES
            && value.bytes().all(|byte| byte.is_ascii_graphic());
        is_fit.then(|| ((*name).to_owned(), value))
    });
    known.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_listed_and_fit_is_read() {
        let labels = job_labels(|name| match name {
            "JOB_NAME" => Some("periodic-e2e".to_owned()),
            "BUILD_ID" => Some(String::new()),
            "JOB_TYPE" => Some("two\nlines".to_owned()),
            "PULL_NUMBER" => Some("7".repeat(257)),
            "REPO_NAME" => Some("a b".to_owned()),
            "PULL_BASE_REF" | "AWS_SECRET_ACCESS_KEY" | "KUBECONFIG" => Some("main".to_owned()),
            _ => None,
        });
        let expected = [("JOB_NAME", "periodic-e2e"), ("PULL_BASE_REF", "main")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(labels, expected);
    }
}
