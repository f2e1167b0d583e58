//! `kubereel observe`: maps the environment of a CI job to an observer. The exit code is always 0.

mod completeness;
mod diagnosis;

use super::recording::{self, RecordingArgs, SealWhen, parse_duration};
use crate::command_error::{CommandError, Exit};
use crate::redaction::public;
use diagnosis::{RulesReport, diagnose};
use kubereel_recorder::{
    JobPlaces, KubeconfigSource, Observation, ObserverOutcome, RecorderOptions, SealPolicy,
    job_labels, observe,
};
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where the original proposal for observers wanted their output.
const OBSERVER_FOLDER: &str = "/var/e2e-observer";

/// The least that an observer's pod has between the signal and the kill.
const GRACE: &str = "15s";

/// The part of the grace period, as a divisor, that problems, story and rules may take after the recording
/// has ended, and sealing the reel before that.
const SHARE_OF_GRACE: u32 = 3;

/// Record a cluster as an observer of a CI job
///
/// The observer can start before the cluster exists: it waits for the kubeconfigs that the job delivers,
/// starts with the minimal one and switches to the full one without losing its position. On SIGINT,
/// SIGTERM or SIGHUP it finishes within its grace period. It exits with 0, except 2 for an invalid command line; the
/// outcome is in the reel, in metadata.json, in a JUnit file that never fails the job, and in a summary. If
/// the port of --listen is in use, another port is chosen.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  exec kubereel observe                            the last line of an observer's commands
  exec kubereel observe --grace 10m                with the grace_period of the observer
  kubereel observe --output-dir /tmp/o --kubeconfig late.kubeconfig
  kubereel mark --file $ARTIFACT_DIR/artifacts/kubereel.marks 'tests started'

Files, below the output folder:
  metadata.json                                    the outcome; Prow adds it to the job's own
  artifacts/kubereel-TIME.reel, .reel.sha256       the recording
  artifacts/kubereel-TIME-summary.txt              for people
  artifacts/custom-link-kubereel-TIME.html         the same, for Spyglass
  artifacts/kubereel.marks                         followed for marks, one per line
  artifacts/kubereel-TIME-story.txt                what happened, on one page
  artifacts/kubereel-TIME-problems.jsonl           what kubereel problems -o json prints
  artifacts/kubereel-TIME-rules/                   JUnit of kubereel test
  junit/junit_kubereel_TIME_NN.xml                 findings on the recording, as flakes")]
pub(crate) struct Args {
    /// Path to the full kubeconfig, instead of $KUBECONFIG; may be created later or never
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Path to the first, minimal kubeconfig, instead of $KUBECONFIGMINIMAL; its folder is searched too
    #[arg(long, value_name = "FILE")]
    kubeconfig_minimal: Option<PathBuf>,
    /// Output directory; default: `$ARTIFACT_DIR`, /var/e2e-observer if it exists, or the current directory
    #[arg(long, value_name = "FOLDER")]
    output_dir: Option<PathBuf>,
    /// Time between SIGINT or SIGTERM and SIGKILL
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = GRACE)]
    grace: Duration,
    /// Where to write the JUnit of kubereel test: beside the reel, or where failures count for the job
    #[arg(long, value_enum, value_name = "WHERE", default_value = "informing")]
    rules: RulesReport,
    /// When to rewrite the finished reel in its smallest form; it stands until the sealed one takes its place
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    seal: SealWhen,
    #[command(flatten)]
    recording: RecordingArgs,
}

/// Runs the command. It never fails once it has begun: a job is not to be red for its observer. An invalid command
/// line would record nothing in any run, so that it fails in the first one.
pub(crate) fn run(args: &Args) -> Exit {
    if let Err(error) = recording::catch_signals() {
        print_error(&error);
    }
    let options = match args.recording.begin() {
        Ok(options) => options,
        Err(error) => {
            print_error(&error);
            return Exit::Usage;
        }
    };
    match observed(args, options) {
        Ok(outcome) => last_words(&outcome),
        Err(error) => print_error(&error),
    }
    Exit::Yes
}

fn print_error(error: &CommandError) {
    for (word, line) in error.lines() {
        // A closed stderr leaves no place for an error.
        let line = public(&format!("{word}: {line}\n"));
        drop(io::stderr().lock().write_all(line.as_bytes()));
    }
}

fn observed(args: &Args, mut options: RecorderOptions) -> Result<ObserverOutcome, CommandError> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    options.kubeconfig = KubeconfigSource::Preferred(places(
        args.kubeconfig.as_deref(),
        args.kubeconfig_minimal.as_deref(),
        variable,
    ));
    options.any_port = true;
    options.only_new = true;
    options.grace = Some(args.grace.max(Duration::from_secs(1)));
    options.seal = seal_policy(args.seal, args.grace);
    options.labels = job_labels(|name| std::env::var(name).ok());
    let is_there = Path::new(OBSERVER_FOLDER).is_dir();
    let folder = folder(
        args.output_dir.as_deref(),
        variable("ARTIFACT_DIR"),
        is_there,
    );
    let output = folder.clone();
    let runtime = recording::runtime()?;
    let mut outcome = runtime.block_on(async {
        let mut telling = None;
        let observation = Observation {
            folder,
            options,
            read: completeness::completeness,
        };
        let outcome = Box::pin(observe(observation, |status| {
            telling = Some(tokio::spawn(recording::tell(status)));
        }))
        .await;
        if let Some(telling) = telling {
            telling.abort();
            drop(telling.await);
        }
        outcome
    });
    // A file that hangs, and a disk, must not hold up the end.
    runtime.shutdown_background();
    if let Some(reel) = &outcome.reel {
        let budget = args.grace / SHARE_OF_GRACE;
        let failed = diagnose(reel, args.rules, &output, budget);
        outcome.failed.extend(failed);
    }
    Ok(outcome)
}

fn seal_policy(when: SealWhen, grace: Duration) -> SealPolicy {
    match when {
        SealWhen::Auto => SealPolicy::Within {
            within: grace / SHARE_OF_GRACE,
        },
        SealWhen::Always => SealPolicy::Always,
        SealWhen::Never => SealPolicy::Never,
    }
}

/// Gives the places of kubeconfigs, best first. The folder of the minimal one is a live view of what the
/// job has delivered so far, where the full one is a copy that is made once.
fn places(
    full: Option<&Path>,
    minimal: Option<&Path>,
    variable: impl Fn(&str) -> Option<OsString>,
) -> JobPlaces {
    let from_variable = |name| {
        let files = variable(name).map(|list| std::env::split_paths(&list).collect::<Vec<_>>());
        let mut files = files.unwrap_or_default();
        files.retain(|path| !path.as_os_str().is_empty());
        files
    };
    let given = |path: &Path| vec![path.to_owned()];
    let copied = full.map_or_else(|| from_variable("KUBECONFIG"), given);
    let first = minimal.map_or_else(|| from_variable("KUBECONFIGMINIMAL"), given);
    let live = first.first().and_then(|path| path.parent());
    let live = live.filter(|folder| !folder.as_os_str().is_empty());
    let beside = |name: &str| live.map(|folder| folder.join(name));
    let live_full: Vec<PathBuf> = beside("kubeconfig").into_iter().collect();
    let mut kubeconfigs = if full.is_some() {
        vec![copied, live_full]
    } else {
        vec![live_full, copied]
    };
    kubeconfigs.push(first.clone());
    kubeconfigs.push(beside("kubeconfig-minimal").into_iter().collect());
    let mut known: Vec<Vec<PathBuf>> = Vec::new();
    for files in kubeconfigs {
        if !files.is_empty() && !known.contains(&files) {
            known.push(files);
        }
    }
    if known.is_empty() {
        // Never the pod's own account: in CI that is the cluster of the CI.
        let home = std::env::home_dir().unwrap_or_default();
        known.push(vec![home.join(".kube").join("config")]);
    }
    JobPlaces {
        kubeconfigs: known,
        proxy_conf: beside("proxy-conf.sh"),
    }
}

fn folder(given: Option<&Path>, artifacts: Option<OsString>, is_there: bool) -> PathBuf {
    if let Some(folder) = given {
        return folder.to_owned();
    }
    match artifacts {
        Some(folder) => folder.into(),
        None if is_there => OBSERVER_FOLDER.into(),
        None => ".".into(),
    }
}

fn last_words(outcome: &ObserverOutcome) {
    for words in &outcome.failed {
        tracing::error!("{words}");
    }
    let reel = outcome.reel.as_ref().map(|reel| reel.display().to_string());
    tracing::info!(outcome = outcome.words, reel, "the observer is done");
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "/var/run/secrets/ci.openshift.io/multi-stage";

    fn paths(places: &JobPlaces) -> Vec<String> {
        let files = places.kubeconfigs.iter().flatten();
        files.map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn the_live_view_goes_before_the_copy_and_the_full_one_before_the_minimal() {
        let minimal = format!("{SECRET}/kubeconfig-minimal");
        let found = places(None, None, |name| match name {
            "KUBECONFIG" => Some("/tmp/kubeconfig-1".into()),
            "KUBECONFIGMINIMAL" => Some(minimal.clone().into()),
            _ => None,
        });
        let live = format!("{SECRET}/kubeconfig");
        let expected = [live.as_str(), "/tmp/kubeconfig-1", minimal.as_str()];
        assert_eq!(paths(&found), expected);
        let script = format!("{SECRET}/proxy-conf.sh");
        assert_eq!(found.proxy_conf, Some(script.into()));
    }

    #[test]
    fn what_is_given_goes_first() {
        let found = places(Some(Path::new("f")), Some(Path::new("d/m")), |_| {
            Some("elsewhere".into())
        });
        let expected = ["f", "d/kubeconfig", "d/m", "d/kubeconfig-minimal"];
        assert_eq!(paths(&found), expected);
        let usual = places(None, None, |_| None);
        assert!(paths(&usual)[0].ends_with(".kube/config"));
        assert_eq!(usual.proxy_conf, None);
    }

    #[test]
    fn the_output_folder_is_the_first_that_is_named() {
        let given = Path::new("given");
        assert_eq!(folder(Some(given), Some("a".into()), true), given);
        assert_eq!(folder(None, Some("a".into()), true), Path::new("a"));
        assert_eq!(folder(None, None, true), Path::new(OBSERVER_FOLDER));
        assert_eq!(folder(None, None, false), Path::new("."));
    }
}
