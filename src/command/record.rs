//! `kubereel record`: maps flags to a recorder, and its errors to exit codes.

use super::live_line;
use super::recording::{self, RecordingArgs, SealWhen, parse_duration};
use crate::arguments::output_file;
use crate::command_error::{CommandError, Exit};
use crate::files;
use kubereel_format::{FinishError, OpenError};
use kubereel_recorder::{
    KubeconfigSource, RecordError, Recorder, RecorderOptions, ReelSeries, Rotation, SealPolicy,
};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The shortest time that a reel may have before the next follows.
const LEAST_EVERY: Duration = Duration::from_secs(1);

/// How long `--seal auto` may take: as long as a user waits after Ctrl-C.
const SEAL_WITHIN: Duration = Duration::from_secs(10);

/// Record a cluster into a reel
///
/// The cluster does not have to exist yet: the recorder waits for the kubeconfig and for the cluster,
/// follows both as they change, and marks every time in which it may have missed changes. SIGINT (Ctrl-C),
/// SIGTERM and SIGHUP (a closed terminal, unless below nohup) finish the reel.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubereel record -o run.reel                       until Ctrl-C
  kubereel record -o run.reel --for 90m --max-size 250MB
  kubereel record -o /reels/cluster.reel --rotate 24h --keep 7
                                                    /reels/cluster-20261122T060000Z.reel and so on")]
pub(crate) struct Args {
    /// Output reel; resumed if it exists
    #[arg(short, long, value_name = "REEL", value_parser = output_file())]
    output: PathBuf,
    /// Begin a new reel at this interval, for example 24h; each is complete by itself, see docs/rotation.md
    ///
    /// The start time of each reel is added to the name given by -o: cluster.reel becomes
    /// cluster-20261122T060000Z.reel. The next reel lists everything before the current one ends, so that
    /// changes in the overlap are in both. A reel that reaches 35 % of --max-size is replaced early,
    /// before resources are left out, unless it reaches that in less than ten minutes.
    #[arg(long, value_name = "EVERY", value_parser = parse_every)]
    rotate: Option<Duration>,
    /// Keep the newest N finished reels of the series and remove older ones
    #[arg(long, value_name = "REELS", requires = "rotate", value_parser = clap::value_parser!(u32).range(1..))]
    keep: Option<u32>,
    /// Path to the kubeconfig, instead of $KUBECONFIG, ~/.kube/config or the pod's service account; may be
    /// created later
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig to use; default: the current context
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// File to follow for marks, one per line; default: REEL.marks
    #[arg(long, value_name = "FILE")]
    marks: Option<PathBuf>,
    /// When to rewrite the finished reel in its smallest form; Ctrl-C skips it
    ///
    /// The finished reel is unchanged until the sealed one takes its place in one step. A sealed reel is resumed as any
    /// other: it is rewritten first. With --rotate, `auto` seals nothing, and `always` seals each reel of the series
    /// as it ends. See docs/sealing.md.
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    seal: SealWhen,
    /// How long a watch lasts at least before a new connection takes its place, in seconds
    #[arg(long, value_name = "SECONDS", hide = true, value_parser = clap::value_parser!(u32).range(3..))]
    watch_secs: Option<u32>,
    #[command(flatten)]
    recording: RecordingArgs,
}

fn parse_every(text: &str) -> Result<Duration, String> {
    let every = parse_duration(text)?;
    if every < LEAST_EVERY {
        return Err("expected at least 1s".to_owned());
    }
    Ok(every)
}

/// Finds the kubeconfig: that of the flag, else those of `$KUBECONFIG`, else the usual file.
pub(crate) fn kubeconfig_source(
    flag: Option<&PathBuf>,
    variable: Option<&OsString>,
) -> KubeconfigSource {
    if let Some(path) = flag {
        return KubeconfigSource::Files(vec![path.clone()]);
    }
    let files: Vec<PathBuf> = variable
        .iter()
        .flat_map(std::env::split_paths)
        .filter(|path| !path.as_os_str().is_empty())
        .collect();
    if files.is_empty() {
        KubeconfigSource::Usual
    } else {
        KubeconfigSource::Files(files)
    }
}

/// Gives the file of marks beside a reel.
fn marks_of(reel: &Path) -> PathBuf {
    let mut name = reel.as_os_str().to_owned();
    name.push(".marks");
    name.into()
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<Exit, CommandError> {
    recording::catch_signals()?;
    let mut options = args.recording.begin()?;
    options.output.clone_from(&args.output);
    let variable = std::env::var_os("KUBECONFIG");
    options.kubeconfig = kubeconfig_source(args.kubeconfig.as_ref(), variable.as_ref());
    options.context.clone_from(&args.context);
    options.watch_secs = args.watch_secs;
    options.marks = Some(args.marks.clone().unwrap_or_else(|| marks_of(&args.output)));
    options.seal = seal_policy(args.seal, args.rotate.is_some());
    if let Some(every) = args.rotate {
        let keep = args.keep;
        return series(options, Rotation { every, keep });
    }
    let recorder = Recorder::open(options).map_err(|error| explain(&error))?;
    let summary = recording::watched(recorder.status_handle(), recorder.run())?;
    let summary = summary.map_err(|error| explain(&error))?;
    live_line::last_word(&args.output, &summary);
    Ok(Exit::Yes)
}

const fn seal_policy(when: SealWhen, is_series: bool) -> SealPolicy {
    match when {
        SealWhen::Auto if !is_series => SealPolicy::UnlessTerminated {
            within: SEAL_WITHIN,
        },
        // Sealing takes memory and a processor from the recorder of the next reel.
        SealWhen::Auto | SealWhen::Never => SealPolicy::Never,
        SealWhen::Always => SealPolicy::Always,
    }
}

fn series(options: RecorderOptions, rotation: Rotation) -> Result<Exit, CommandError> {
    let series = ReelSeries::open(options, rotation).map_err(|error| explain(&error))?;
    let ended = recording::watched(series.status_handle(), series.run())?;
    let last = ended.map_err(|error| explain(&error))?;
    live_line::last_word(&last.path, &last.summary);
    Ok(Exit::Yes)
}

fn explain(error: &RecordError) -> CommandError {
    match error {
        RecordError::Open(OpenError::Io { path, source }) => {
            let failed = CommandError::io(format!("{}: cannot write: {source}", path.display()));
            match source.kind() {
                io::ErrorKind::NotFound => {
                    failed.hint("create the directory first, or choose another file")
                }
                _ => failed.hint("choose a file in a writable directory"),
            }
        }
        RecordError::Open(OpenError::Unwritten { .. }) => {
            CommandError::io(error).hint("make room, or choose a file on another disk")
        }
        RecordError::Open(OpenError::NotAReel { .. }) => CommandError::reel(error)
            .hint("choose a file that does not exist yet, or a reel to resume"),
        RecordError::Open(open) => files::explain_open(open),
        RecordError::Past { .. } => CommandError::reel(error)
            .hint("record into another file; kubereel info shows the readable part of this one"),
        RecordError::Unseal { .. } => CommandError::io(error)
            .hint("the sealed reel stays as it was; record into another file"),
        RecordError::Full { .. } => {
            CommandError::io(error).hint("increase --max-size, or record into another file")
        }
        RecordError::Listen { .. } => {
            CommandError::io(error).hint("choose another port with --listen, or omit it")
        }
        RecordError::Finish(FinishError::Deleted { .. }) => {
            CommandError::io(error).hint("record again; nothing of this recording is left")
        }
        RecordError::Write { .. } | RecordError::Finish(_) => CommandError::io(error)
            .hint("the data recorded so far is readable; run the same command to resume"),
        _ => CommandError::io(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reel_lasts_a_second_at_least() {
        assert_eq!(parse_every("24h"), Ok(Duration::from_hours(24)));
        assert!(parse_every("0s").is_err());
        assert!(parse_every("500ms").is_err());
    }

    #[test]
    fn a_series_is_sealed_only_on_request() {
        let auto = SealPolicy::UnlessTerminated {
            within: SEAL_WITHIN,
        };
        assert_eq!(seal_policy(SealWhen::Auto, false), auto);
        assert_eq!(seal_policy(SealWhen::Auto, true), SealPolicy::Never);
        assert_eq!(seal_policy(SealWhen::Always, true), SealPolicy::Always);
        assert_eq!(seal_policy(SealWhen::Never, false), SealPolicy::Never);
    }

    #[test]
    fn the_flag_goes_before_the_variable() {
        let flag = PathBuf::from("a");
        let files =
            |names: &[&str]| KubeconfigSource::Files(names.iter().map(PathBuf::from).collect());
        let variable = std::env::join_paths(["b", "c"]).expect("joined");
        assert_eq!(
            kubeconfig_source(Some(&flag), Some(&variable)),
            files(&["a"])
        );
        assert_eq!(kubeconfig_source(None, Some(&variable)), files(&["b", "c"]));
        let expected = KubeconfigSource::Usual;
        assert_eq!(kubeconfig_source(None, Some(&OsString::new())), expected);
        assert_eq!(kubeconfig_source(None, None), KubeconfigSource::Usual);
    }
}
