//! Owns what `record` and `observe` have in common: flags, log, threads, and how a recording tells how it
//! stands. Refuses to record, and to choose where: the commands do.

mod live_line;
mod log;

use crate::byte_size::{self, MaxSize};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::{redact_extra, user_file};
use kubereel_recorder::{Options, StatusAccess, StatusHandle, StatusToken};
use kubereel_redact::KnownCredentials;
use live_line::LiveLine;
pub(super) use live_line::last_word;
use std::io::{self, IsTerminal as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How many threads read sockets. The recorder is to leave the machine to others.
const WORKERS: usize = 2;

/// The most bytes of a file with a token.
const TOKEN_FILE_BYTES: u64 = 64 * 1024;

/// How often the live line is drawn.
const LIVE_MILLIS: u64 = 500;

/// How often a line of the log says how the recording stands, in seconds.
const LOG_SECS: u64 = 20;

#[derive(Debug, clap::Args)]
pub(super) struct Recording {
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
    /// Maximum size of the reel on disk, such as 250MB; `none` for no limit
    ///
    /// Near the limit, resources are left out step by step, and the reel notes each step: Leases first,
    /// then Events, then the resource with the most data, until only pods, nodes, cluster operators and
    /// the cluster version are recorded, and finally no objects. The file never exceeds the limit. Packing
    /// it at the end temporarily needs the same space again, or is skipped.
    #[arg(long, value_name = "SIZE", default_value = "100MB", value_parser = byte_size::parse)]
    max_size: MaxSize,
    /// Memory limit of the recorder, such as 512MB; `auto` is 75 % of the cgroup limit, `none` is no limit
    ///
    /// Near the limit, the last bodies of objects move to an unnamed temporary file in the reel's folder.
    /// If that is not enough, the resource whose objects take the most memory is no longer recorded, then
    /// the next; the reel notes which and when, and `verify` reports them as incomplete.
    #[arg(long, value_name = "SIZE", default_value = "auto", value_parser = byte_size::parse_memory)]
    max_memory: MaxSize,
    /// Sample these metrics of the API servers every 30 s; `info -o json` shows when they changed
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    metrics: Vec<String>,
    /// Stop after this time, for example 90m
    #[arg(long = "for", value_name = "DURATION", value_parser = parse_duration)]
    duration: Option<Duration>,
    /// Log filter, for example info or `kubereel_recorder=debug`
    #[arg(long, value_name = "FILTER", env = "RUST_LOG")]
    log: Option<String>,
}

impl Recording {
    /// Begins to log, and gives the options that the flags ask for; the reel's path is the caller's.
    pub(super) fn begin(&self) -> Result<Options, CommandError> {
        let extra = redact_extra::read(self.redact_extra.as_deref())?;
        log::begin(self.log.as_deref(), extra.clone(), is_watched())?;
        let mut options = Options::new("");
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

/// Tells whether somebody watches the recording.
pub(super) fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// Starts the threads that record.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, CommandError> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .thread_name("kubereel")
        .enable_all()
        .build()
        .map_err(|error| CommandError::new(Exit::Io, format!("cannot start threads: {error}")))
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
    let text = user_file::read_text(path, TOKEN_FILE_BYTES)?;
    KnownCredentials::of_process().remember(text.as_bytes());
    let token = StatusToken::parse(&text)
        .map_err(|error| CommandError::new(Exit::Usage, format!("{error}: {}", path.display())))?;
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
    let duration: jiff::SignedDuration = text
        .parse()
        .map_err(|_unread| "expected a duration such as 45s, 90m or 1h30m".to_owned())?;
    Duration::try_from(duration)
        .map_err(|_negative| "expected a duration that is not negative".to_owned())
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
}
