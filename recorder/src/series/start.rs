//! Owns how a series begins: it goes on with its newest reel, so that the server's history closes the time
//! since; or with a new reel where that cannot be. Refuses a series that somebody else writes.

use super::index::{Index, NoIndex, set_aside};
use super::names::Names;
use crate::clock::Clock;
use crate::error::RecordError;
use crate::lifecycle::Recorder;
use crate::options::Options;
use kubereel_format::{OpenError, RecordedAt};
use kubereel_redact::Redactor;
use std::io;
use std::time::Duration;

/// How many reels may begin in one second.
const NAMES: u32 = 100;

/// When a reel is followed by the next, and how many are kept.
#[derive(Clone, Copy, Debug)]
pub struct Rotation {
    /// How long a reel is recorded. One that comes near its size is followed earlier.
    pub every: Duration,
    /// How many reels that have ended are kept; all of them if not limited.
    pub keep: Option<u32>,
}

/// The first reel of a run.
pub(super) struct Started {
    pub(super) name: String,
    pub(super) recorder: Recorder,
    /// How long ago the reel began.
    pub(super) age: Duration,
}

/// Begins, and changes the index accordingly.
pub(super) fn start(
    options: &Options,
    names: &Names,
    redactor: &Redactor,
) -> Result<(Started, Index), RecordError> {
    let mut index = match Index::read(names) {
        Ok(index) => index,
        Err(NoIndex::Missing) => Index::new(),
        Err(NoIndex::Unread(why)) => {
            tracing::warn!(why, "the index of the series cannot be read: put aside");
            set_aside(names).map_err(|source| RecordError::System {
                what: "put the index of the series aside",
                source,
            })?;
            Index::new()
        }
    };
    let now = Clock::start().stamp().wall;
    let Some(newest) = index.newest().cloned() else {
        let (name, recorder) = create(options, names, redactor, now, None)?;
        index.begin(&name, now, None);
        let age = Duration::ZERO;
        return Ok((
            Started {
                name,
                recorder,
                age,
            },
            index,
        ));
    };
    let mut again = options.clone();
    again.output = names.path(&newest.name);
    match Recorder::open_with(again, redactor.next()) {
        Ok(recorder) => {
            tracing::info!(
                reel = newest.name,
                "going on with the newest reel of the series"
            );
            index.goes_on(&newest.name);
            let micros = now.micros.saturating_sub(newest.began.as_microsecond());
            let age = Duration::from_micros(u64::try_from(micros).unwrap_or(0));
            let name = newest.name;
            Ok((
                Started {
                    name,
                    recorder,
                    age,
                },
                index,
            ))
        }
        Err(error @ RecordError::Open(OpenError::InUse { .. })) => Err(error),
        Err(error) => {
            tracing::warn!(%error, "cannot resume the newest reel: a new one begins");
            let before = newest.name.as_str();
            let (name, recorder) = create(options, names, redactor, now, Some(before))?;
            index.begin(&name, now, Some(before));
            index.took_over(&name, now, "none: the reel before had ended");
            index.goes_on(&name);
            let age = Duration::ZERO;
            Ok((
                Started {
                    name,
                    recorder,
                    age,
                },
                index,
            ))
        }
    }
}

/// Opens a reel under a name that nobody has.
pub(super) fn create(
    options: &Options,
    names: &Names,
    redactor: &Redactor,
    at: RecordedAt,
    continues: Option<&str>,
) -> Result<(String, Recorder), RecordError> {
    let mut options = options.clone();
    options.only_new = true;
    let label = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    options.labels.push(label("series", names.stem()));
    options
        .labels
        .extend(continues.map(|before| label("continues", before)));
    for number in 1..=NAMES {
        let name = names.reel(at, number);
        options.output = names.path(&name);
        match Recorder::open_with(options.clone(), redactor.next()) {
            Ok(recorder) => return Ok((name, recorder)),
            Err(RecordError::Open(OpenError::Exists { .. })) => {}
            Err(error) => return Err(error),
        }
    }
    let words = format!("{NAMES} reels began in this second");
    Err(RecordError::System {
        what: "name another reel",
        source: io::Error::new(io::ErrorKind::AlreadyExists, words),
    })
}
