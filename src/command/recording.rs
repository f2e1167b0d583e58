//! What `record` and `observe` have in common: flags, the runtime, the log, and the status line.

use super::live_line::{self, LiveLine, is_watched};
use crate::command_error::CommandError;
use crate::{arguments, files, redaction};
use kubereel_recorder::{
    LEAST_MAX_BYTES, LEAST_MAX_MEMORY, RecorderOptions, StatusAccess, StatusHandle, StatusToken,
    default_max_memory,
};
use kubereel_redact::{Extra, KnownCredentials, Redactor};
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// How many threads read sockets. The recorder is to leave the machine to others.
const WORKERS: usize = 2;

/// The most bytes of a file with a token.
const TOKEN_FILE_BYTES: u64 = 64 * 1024;

/// How often the live line is drawn.
const LIVE_MILLIS: u64 = 500;

/// How often a line of the log says how the recording stands, in seconds.
const LOG_SECS: u64 = 20;

#[derive(Debug, clap::Args)]
pub(super) struct RecordingArgs {
    /// Serve /metrics, /healthz and /readyz and accept marks on this port; default address: loopback
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = parse_listen)]
    listen: Option<SocketAddr>,
    /// Require the bearer token in FILE for /metrics and marks; without it, marks are accepted from loopback only
    #[arg(long, value_name = "FILE", requires = "listen")]
    status_token_file: Option<PathBuf>,
    /// Accept requests for this host name; IP addresses and localhost are always accepted
    #[arg(long, value_name = "NAME", requires = "listen")]
    status_host: Vec<String>,
    /// File with additional redaction rules; see `kubereel help scan`
    #[arg(long, value_name = "FILE")]
    redact_extra: Option<PathBuf>,
    /// Maximum size of the reel on disk, such as 250MB, at least 8MB; `none` for no limit
    ///
    /// Near the limit, resources are left out step by step, and the reel notes each step: Leases first,
    /// then Events, then the resource with the most data, until only pods, nodes, cluster operators and
    /// the cluster version are recorded, and finally no objects. The file never exceeds the limit. Packing
    /// it at the end temporarily needs the same space again, or is skipped.
    #[arg(long, value_name = "SIZE", default_value = "100MB", value_parser = parse_size)]
    max_size: MaxSize,
    /// Memory limit of the recorder, such as 512MB, at least 128MB; `auto` is 75 % of the cgroup limit, `none` is no limit
    ///
    /// The last bodies of objects take at most 96 MB of memory, less near the limit; beyond that they move to an unnamed
    /// temporary file in the reel's folder.
    /// If that is not enough, the resource whose objects take the most memory is no longer recorded, then
    /// the next; the reel notes which and when, and `verify` reports them as incomplete.
    #[arg(long, value_name = "SIZE", default_value = "auto", value_parser = parse_memory_size)]
    max_memory: MaxSize,
    /// Sample these metrics of the API servers every 30 s; `info -o json` shows when they changed
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    metrics: Vec<String>,
    /// Stop after this time, in hours, minutes and seconds: 36h, 90m or 1h30m
    #[arg(long = "for", value_name = "DURATION", value_parser = parse_duration)]
    duration: Option<Duration>,
    /// Log filter, for example info or `kubereel_recorder=debug`
    #[arg(long, value_name = "FILTER", env = "RUST_LOG")]
    log: Option<String>,
}

/// When a finished reel is sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum SealWhen {
    /// If it is quick: within 10 s and not after SIGTERM or SIGHUP, for observers within a third of the grace period
    Auto,
    /// However long it takes, but within the grace period of an observer
    Always,
    /// Not at all
    Never,
}

impl RecordingArgs {
    /// Begins to log, and gives the options that the flags ask for; the reel's path is the caller's.
    pub(super) fn begin(&self) -> Result<RecorderOptions, CommandError> {
        let extra = redaction::read_rules(self.redact_extra.as_deref())?;
        begin_log(self.log.as_deref(), extra.clone(), is_watched())?;
        let mut options = RecorderOptions::new("");
        options.redact_extra = extra;
        options.listen = self.listen;
        options.status_access = StatusAccess {
            token: status_token(self.status_token_file.as_deref())?,
            hosts: self.status_host.clone(),
        };
        options.max_bytes = self.max_size.0;
        options.max_memory = self.max_memory.0;
        options.metrics.clone_from(&self.metrics);
        options.duration = self.duration;
        Ok(options)
    }
}

/// Makes a signal a request to finish the recording, and a file that reaches the size limit of the process an error
/// of it: before anything else, since until then a signal kills the process.
pub(super) fn catch_signals() -> Result<(), CommandError> {
    kubereel_recorder::catch_signals()
        .map_err(|error| CommandError::io(format!("cannot listen for signals: {error}")))
}

/// Starts the threads that record.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, CommandError> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .thread_name("kubereel")
        .enable_all()
        .build()
        .map_err(|error| CommandError::io(format!("cannot start threads: {error}")))
}

/// Records, and tells meanwhile how the recording stands.
pub(super) fn watched<T>(
    status: StatusHandle,
    recording: impl Future<Output = T>,
) -> Result<T, CommandError> {
    Ok(runtime()?.block_on(async {
        let telling = tokio::spawn(tell(status));
        let ended = recording.await;
        telling.abort();
        // Whether it was stopped or broke, the line must be gone before the last word.
        drop(telling.await);
        ended
    }))
}

/// Tells how the recording stands until it is stopped.
#[expect(clippy::infinite_loop, reason = "its caller ends it")]
pub(super) async fn tell(status: StatusHandle) {
    let is_watched = is_watched();
    let mut line = LiveLine::begin(is_watched);
    let every = if is_watched {
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

/// Reads the token of a status page, if a file is given.
pub(super) fn status_token(path: Option<&Path>) -> Result<Option<StatusToken>, CommandError> {
    let Some(path) = path else {
        return Ok(None);
    };
    let text = files::read_text(path, TOKEN_FILE_BYTES)?;
    KnownCredentials::of_process().remember(text.as_bytes());
    let token = StatusToken::parse(&text)
        .map_err(|error| CommandError::usage(format!("{}: {error}", path.display())))?;
    Ok(Some(token))
}

pub(super) fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix(':').unwrap_or(text);
    if let Ok(port) = port.parse::<u16>() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    text.parse().map_err(|_neither| {
        "expected a port, or an address and a port, such as 9090 or 0.0.0.0:9090".to_owned()
    })
}

pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    let duration: jiff::SignedDuration = text.parse().map_err(|_unread| {
        "expected a duration in h, m and s, such as 36h, 90m or 1h30m".to_owned()
    })?;
    Duration::try_from(duration)
        .map_err(|_negative| "expected a duration that is not negative".to_owned())
}

/// The filter without a terminal: a pod's log. The recorder logs each failure itself, with its context and once; the
/// client's library logs each attempt.
const UNWATCHED: &str = "info,kube_client=off";

/// The filter beside the live line, which more log lines would tear apart.
const WATCHED: &str = "warn,kube_client=off";

/// Gives each line a writer that takes secrets out.
struct RedactedLog(Redactor);

/// A line in the making.
struct LogLine<'a> {
    redactor: &'a Redactor,
    text: Vec<u8>,
}

impl<'a> MakeWriter<'a> for RedactedLog {
    type Writer = LogLine<'a>;

    fn make_writer(&'a self) -> LogLine<'a> {
        LogLine {
            redactor: &self.0,
            text: Vec::new(),
        }
    }
}

impl Write for LogLine<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LogLine<'_> {
    /// Writes the line: only a whole one can be searched.
    fn drop(&mut self) {
        let text = self.redactor.text(&self.text);
        // A log that cannot be written leaves no place for an error.
        let _written = live_line::write_instead(&text);
    }
}

/// Begins to log.
fn begin_log(filter: Option<&str>, extra: Extra, is_terminal: bool) -> Result<(), CommandError> {
    let usual = if is_terminal { WATCHED } else { UNWATCHED };
    let filter = filter.filter(|filter| !filter.is_empty()).unwrap_or(usual);
    let filter = EnvFilter::try_new(filter).map_err(|error| {
        CommandError::usage(format!("cannot read the log filter: {error}"))
            .hint("for example: --log info, or --log kubereel_recorder=debug")
    })?;
    let redactor = redaction::begin(extra).map_err(CommandError::io)?;
    let begun = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_target(false)
        .with_writer(RedactedLog(redactor))
        .try_init();
    begun.map_err(|error| CommandError::io(format!("cannot log: {error}")))
}

/// How large something may become, in bytes; `None` without a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MaxSize(Option<u64>);

/// Reads a limit of the reel's size.
fn parse_size(text: &str) -> Result<MaxSize, String> {
    at_least(text, "a reel", LEAST_MAX_BYTES)
}

/// Reads a limit of memory; `auto` takes the control group's.
fn parse_memory_size(text: &str) -> Result<MaxSize, String> {
    if text.trim().eq_ignore_ascii_case("auto") {
        // A smaller group's recorder is limited to the least that it can work with.
        let max = default_max_memory().map(|max| max.max(LEAST_MAX_MEMORY));
        return Ok(MaxSize(max));
    }
    at_least(text, "the memory of a recorder", LEAST_MAX_MEMORY)
}

fn at_least(text: &str, what: &str, least: u64) -> Result<MaxSize, String> {
    let Some(bytes) = arguments::read_bytes(text)? else {
        return Ok(MaxSize(None));
    };
    if bytes < least {
        let least = least / 1_000_000;
        return Err(format!("the limit of {what} must be at least {least}MB"));
    }
    Ok(MaxSize(Some(bytes)))
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
    fn a_limit_of_memory_has_a_least_of_its_own_and_may_be_automatic() {
        assert_eq!(parse_memory_size("256MB"), Ok(MaxSize(Some(256_000_000))));
        assert_eq!(parse_memory_size("none"), Ok(MaxSize(None)));
        assert!(parse_memory_size("100MB").is_err_and(|why| why.contains("at least 128MB")));
        let auto = parse_memory_size("auto").expect("always a limit or none");
        assert!(auto.0.is_none_or(|max| max >= LEAST_MAX_MEMORY));
        assert!(parse_size("auto").is_err());
    }

    #[test]
    fn sizes_are_spelt_as_people_do() {
        for (text, bytes) in [
            ("100MB", 100_000_000),
            ("100 mb", 100_000_000),
            ("64MiB", 64 << 20),
            ("64Mi", 64 << 20),
            ("1.5GB", 1_500_000_000),
            ("2g", 2_000_000_000),
            ("8000000", 8_000_000),
        ] {
            assert_eq!(parse_size(text), Ok(MaxSize(Some(bytes))), "{text}");
        }
        assert_eq!(parse_size("none"), Ok(MaxSize(None)));
        assert_eq!(parse_size("0"), Ok(MaxSize(None)));
        for text in [
            "",
            "MB",
            "-1MB",
            "1e9",
            "1.2345GB",
            "7MB",
            "99999999999GiB",
            "ten",
        ] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
