//! Owns `kubereel record`: flags in, a running recorder, an exit code out.

mod live_line;
pub(super) mod log;

use crate::byte_size::{self, MaxSize};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::redact_extra;
use crate::reel;
use kubereel_format::OpenError;
use kubereel_recorder::{KubeconfigSource, Options, RecordError, Recorder, StatusHandle};
use live_line::LiveLine;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How many threads read sockets. The recorder is to leave the machine to others.
pub(super) const WORKERS: usize = 2;

/// How often the live line is drawn.
const LIVE_MILLIS: u64 = 500;

/// How often a line of the log says how the recording stands, in seconds.
const LOG_SECS: u64 = 20;

/// Records a cluster into a reel
///
/// It need not be there yet: the recorder waits for the kubeconfig and for the cluster, follows both
/// as they change, and marks whatever it may have missed. SIGINT (Ctrl-C) and SIGTERM finish the reel.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The reel to write; an existing one is gone on with
    #[arg(short, long, value_name = "REEL")]
    output: PathBuf,
    /// The kubeconfig, instead of $KUBECONFIG, ~/.kube/config or a pod's own; it may come later
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig; its current one unless given
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// Serve /metrics, /healthz and /readyz on this port, of loopback unless an address is given
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = parse_listen)]
    listen: Option<SocketAddr>,
    /// Hide more than the policy does: rules in a file, see `kubereel help scan`
    #[arg(long, value_name = "FILE")]
    redact_extra: Option<PathBuf>,
    /// How large the reel may become on disk, such as 250MB; `none` for no limit
    ///
    /// Near the limit less and less is recorded, and the reel says what and when: first no Leases,
    /// then no Events, then whatever writes most, at last only pods, nodes, cluster operators and
    /// the cluster version, and then no objects at all. The file is never larger at any moment; packing it
    /// at the end needs as much again for that moment, or is left out.
    #[arg(long, value_name = "SIZE", default_value = "100MB", value_parser = byte_size::parse)]
    max_size: MaxSize,
    /// The file whose lines become marks as it grows; REEL.marks unless given
    #[arg(long, value_name = "FILE")]
    marks: Option<PathBuf>,
    /// Sample these metrics of the API servers every 30 s; when they moved is in `info -o json`
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    metrics: Vec<String>,
    /// Stop after this long, for example 90m
    #[arg(long = "for", value_name = "DURATION", value_parser = parse_duration)]
    duration: Option<Duration>,
    /// Which log lines to print, for example info or `kubereel_recorder=debug`
    #[arg(long, value_name = "FILTER", env = "RUST_LOG")]
    log: Option<String>,
}

pub(super) fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix(':').unwrap_or(text);
    if let Ok(port) = port.parse::<u16>() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    text.parse().map_err(|_neither| {
        "neither a port nor an address and a port, such as 9090 or 0.0.0.0:9090".to_owned()
    })
}

pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    let duration: jiff::SignedDuration = text
        .parse()
        .map_err(|_unread| "not a duration, such as 45s, 90m or 1h30m".to_owned())?;
    Duration::try_from(duration)
        .map_err(|_negative| "a recording cannot last less than no time".to_owned())
}

fn kubeconfig_source(flag: Option<&PathBuf>, variable: Option<&OsString>) -> KubeconfigSource {
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
    let is_terminal = io::stderr().is_terminal();
    let extra = redact_extra::read(args.redact_extra.as_deref())?;
    log::begin(args.log.as_deref(), extra.clone(), is_terminal)?;
    let mut options = Options::new(&args.output);
    let variable = std::env::var_os("KUBECONFIG");
    options.kubeconfig = kubeconfig_source(args.kubeconfig.as_ref(), variable.as_ref());
    options.context.clone_from(&args.context);
    options.redact_extra = extra;
    options.listen = args.listen;
    options.duration = args.duration;
    options.metrics.clone_from(&args.metrics);
    options.max_bytes = args.max_size.0;
    options.marks = Some(args.marks.clone().unwrap_or_else(|| marks_of(&args.output)));
    let recorder = Recorder::open(options).map_err(|error| explain(&error))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .thread_name("kubereel")
        .enable_all()
        .build()
        .map_err(|error| {
            CommandError::new(Exit::Surroundings, format!("cannot start threads: {error}"))
        })?;
    let status = recorder.status_handle();
    let summary = runtime.block_on(async {
        let telling = tokio::spawn(tell(status, is_terminal));
        let summary = recorder.run().await;
        telling.abort();
        // Whether it was stopped or broke, the line must be gone before the last word.
        drop(telling.await);
        summary
    });
    let summary = summary.map_err(|error| explain(&error))?;
    live_line::last_word(&args.output, &summary, is_terminal);
    Ok(Exit::Yes)
}

/// Tells how the recording stands until it is stopped.
#[expect(clippy::infinite_loop, reason = "its caller ends it")]
pub(super) async fn tell(status: StatusHandle, is_terminal: bool) {
    let mut line = LiveLine::begin(is_terminal);
    let every = if is_terminal {
        Duration::from_millis(LIVE_MILLIS)
    } else {
        Duration::from_secs(LOG_SECS)
    };
    let mut ticks = tokio::time::interval(every);
    loop {
        ticks.tick().await;
        line.tell(&status.status());
    }
}

fn explain(error: &RecordError) -> CommandError {
    match error {
        RecordError::Open(OpenError::Io { path, source }) => {
            let failed = CommandError::new(
                Exit::Surroundings,
                format!("cannot write: {source}: {}", path.display()),
            );
            match source.kind() {
                io::ErrorKind::NotFound => {
                    failed.hint("make the folder first, or name another file")
                }
                _ => failed.hint("name a file in a folder that you may write to"),
            }
        }
        RecordError::Open(OpenError::NotAReel { .. }) => CommandError::new(Exit::Reel, error)
            .hint("name a file that does not exist yet, or a reel to go on with"),
        RecordError::Open(open) => reel::explain(open),
        RecordError::Past { .. } => CommandError::new(Exit::Reel, error).hint(
            "record into another file; kubereel info shows what can still be read of this one",
        ),
        RecordError::Full { .. } => CommandError::new(Exit::Surroundings, error)
            .hint("give it more with --max-size, or record into another file"),
        RecordError::Listen { .. } => CommandError::new(Exit::Surroundings, error)
            .hint("choose another port with --listen, or leave it out"),
        RecordError::Write { .. } | RecordError::Finish(_) => {
            CommandError::new(Exit::Surroundings, error).hint(
                "what was recorded until then can be read, and gone on with by the same command",
            )
        }
        _ => CommandError::new(Exit::Surroundings, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_one_of_loopback() {
        for text in ["9090", ":9090", "127.0.0.1:9090"] {
            let address = parse_listen(text).expect("an address");
            assert_eq!(address.to_string(), "127.0.0.1:9090");
        }
        assert_eq!(
            parse_listen("[::]:1").expect("an address").to_string(),
            "[::]:1"
        );
        for text in ["", "99999", "localhost", "1.2.3.4"] {
            assert!(parse_listen(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_are_spelt_as_people_do() {
        assert_eq!(parse_duration("90m"), Ok(Duration::from_mins(90)));
        assert_eq!(parse_duration("1h30m"), Ok(Duration::from_mins(90)));
        assert!(parse_duration("-1s").is_err());
        assert!(parse_duration("soon").is_err());
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
        assert_eq!(
            kubeconfig_source(None, Some(&OsString::new())),
            KubeconfigSource::Usual
        );
        assert_eq!(kubeconfig_source(None, None), KubeconfigSource::Usual);
    }
}
