//! Owns a watch: where it starts, the lines it has to send, when it bookmarks and when it is over.
//! Refuses sockets, chunks and faults.

use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::answer::{Answer, Line};
use super::fault::status_object;
use super::list::{self, Refusal, Scope};
use super::log::Asked;
use super::model::Model;
use super::oracle::Change;
use super::settings::{InitialEnd, Settings, WatchList};
use super::storage::{Storage, Version};

/// How many lines and bytes one look at the history takes at most.
const TAKEN_LINES_MAX: usize = 4096;
const TAKEN_BYTES_MAX: usize = 64 * 1024 * 1024;

/// How long before its end a watch gets a last bookmark.
const LAST_BOOKMARK: Duration = Duration::from_secs(2);

/// The longest a watch lives when the client does not say.
const UNASKED_LIMIT: Duration = Duration::from_mins(30);

/// A watch that was let in.
#[derive(Debug)]
pub(crate) struct Stream {
    scope: Scope,
    /// Nothing up to here is sent: a watch from a revision that is still to come is silent until then.
    after: u128,
    position: usize,
    generation: u64,
    lineage: u64,
    bookmark_round: u64,
    bookmarks: bool,
    bookmark_interval: Option<Duration>,
    next_bookmark: Option<Instant>,
    last_bookmark: Option<Instant>,
    deadline: Instant,
    changed: watch::Receiver<()>,
}

/// What became of a request to watch.
#[derive(Debug)]
pub(crate) enum Opened {
    Refused(Refusal),
    /// The lines it starts with, and the stream unless these were all.
    Lines(Vec<Line>, Option<Box<Stream>>),
}

/// What a look at the history gave.
#[derive(Debug)]
pub(crate) enum Taken {
    Lines(Vec<Line>),
    Nothing,
    Over,
}

impl Stream {
    pub(crate) fn open(
        scope: Scope,
        asked: &Asked,
        model: &Model,
        storage: &Storage,
        settings: &Settings,
    ) -> Opened {
        let revision = match list::revision_asked(asked) {
            Ok(revision) => revision,
            Err(refusal) => return Opened::Refused(refusal),
        };
        let initial = match sends_initial_events(asked, settings) {
            Ok(initial) => initial,
            Err(refusal) => return Opened::Refused(refusal),
        };
        if let Some(revision) = revision.filter(|revision| initial && *revision > model.revision) {
            let wait = settings.future_list_wait;
            return Opened::Refused(Box::new(list::too_large(revision, model.revision, wait)));
        }
        let from_now = initial || revision.is_none_or(|revision| revision == 0);
        let start = revision.filter(|_| !from_now).unwrap_or(model.revision);
        if start < storage.watch_floor {
            return Opened::Lines(vec![too_old(start, storage.watch_floor)], None);
        }
        let bookmarks = asked.parameter("allowWatchBookmarks") == Some("true");
        let mut lines = Vec::new();
        if from_now {
            lines = initial_events(&scope, storage, settings.initial_lag);
        }
        if initial && bookmarks {
            let end = bookmark(&scope, Some(model.revision), true);
            match settings.initial_end {
                InitialEnd::AfterEvents => lines.push(end),
                InitialEnd::BeforeEvents => lines.insert(0, end),
                InitialEnd::WithoutRevision => lines.push(bookmark(&scope, None, true)),
                InitialEnd::Missing => {}
            }
        }
        let now = Instant::now();
        let deadline = now + lifetime(asked, settings);
        let periodic = bookmarks && scope.resource.periodic_bookmarks;
        let bookmark_interval = settings.bookmark_interval.filter(|_| periodic);
        let stream = Self {
            after: start,
            position: storage.position_after(start),
            generation: storage.generation,
            lineage: storage.lineage,
            bookmark_round: storage.bookmark_round,
            bookmarks,
            bookmark_interval,
            next_bookmark: bookmark_interval.map(|interval| now + interval),
            last_bookmark: bookmark_interval.and_then(|_| deadline.checked_sub(LAST_BOOKMARK)),
            deadline,
            changed: storage.subscribe(),
            scope,
        };
        Opened::Lines(lines, Some(Box::new(stream)))
    }

    /// The lines that wait.
    pub(crate) fn take(&mut self, model: &Model) -> Taken {
        let Some(storage) = model.storage_of(&self.scope.resource) else {
            return Taken::Over;
        };
        self.changed.mark_unchanged();
        if storage.lineage != self.lineage {
            return Taken::Over;
        }
        // A reader so slow that its history is gone is closed, with nothing skipped.
        let Some(steps) = storage.steps_from(self.position) else {
            return Taken::Over;
        };
        let type_members = self.scope.type_members();
        let mut lines = Vec::new();
        let mut bytes = 0;
        for step in steps {
            if lines.len() >= TAKEN_LINES_MAX || bytes >= TAKEN_BYTES_MAX {
                break;
            }
            self.position += 1;
            if step.version.revision > self.after && self.scope.holds(&step.key) {
                let line = event(step.change, &step.version, &type_members);
                bytes += line.bytes.len();
                lines.push(line);
            }
        }
        if !lines.is_empty() {
            return Taken::Lines(lines);
        }
        if storage.generation != self.generation || Instant::now() >= self.deadline {
            return Taken::Over;
        }
        if self.bookmark_due(storage) {
            return Taken::Lines(vec![bookmark(&self.scope, Some(model.revision), false)]);
        }
        Taken::Nothing
    }

    fn bookmark_due(&mut self, storage: &Storage) -> bool {
        let now = Instant::now();
        let asked_for = storage.bookmark_round != self.bookmark_round;
        self.bookmark_round = storage.bookmark_round;
        let periodic = self.next_bookmark.is_some_and(|due| now >= due);
        if periodic {
            self.next_bookmark = self.bookmark_interval.map(|interval| now + interval);
        }
        let last = self.last_bookmark.is_some_and(|due| now >= due);
        if last {
            self.last_bookmark = None;
            self.next_bookmark = None;
        }
        self.bookmarks && (asked_for || periodic || last)
    }

    /// Waits until another look may find something.
    pub(crate) async fn changed(&mut self) {
        let due = [self.next_bookmark, self.last_bookmark]
            .into_iter()
            .flatten()
            .fold(self.deadline, Instant::min);
        tokio::select! {
            // An error says that the storage is gone; `take` finds out.
            _ = self.changed.changed() => {}
            () = tokio::time::sleep_until(due.into()) => {}
        }
    }
}

fn sends_initial_events(asked: &Asked, settings: &Settings) -> Result<bool, Refusal> {
    let Some(wanted) = asked.parameter("sendInitialEvents") else {
        return Ok(false);
    };
    let invalid = |message: &str| Err(Box::new(Answer::status(422, "Invalid", message)));
    match settings.watch_list {
        WatchList::Ignored => Ok(false),
        WatchList::Refused => invalid(
            "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
        ),
        WatchList::Served if asked.parameter("resourceVersionMatch") != Some("NotOlderThan") => {
            invalid(
                "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
            )
        }
        WatchList::Served => Ok(wanted == "true"),
    }
}

fn lifetime(asked: &Asked, settings: &Settings) -> Duration {
    let asked_for = asked
        .parameter("timeoutSeconds")
        .and_then(|secs| secs.parse().ok())
        .map_or(UNASKED_LIMIT, Duration::from_secs)
        .min(Duration::from_hours(24));
    settings
        .watch_limit
        .map_or(asked_for, |limit| limit.min(asked_for))
}

fn initial_events(scope: &Scope, storage: &Storage, lag: usize) -> Vec<Line> {
    let type_members = scope.type_members();
    let base = storage.revision_before(lag).unwrap_or(u128::MAX);
    let objects = storage.objects_at(base);
    let initial =
        list::current(scope, &objects).map(|version| event(Change::Added, version, &type_members));
    let since = storage
        .steps_from(storage.position_after(base))
        .into_iter()
        .flatten()
        .filter(|step| scope.holds(&step.key))
        .map(|step| event(step.change, &step.version, &type_members));
    initial.chain(since).collect()
}

fn event(change: Change, version: &Version, type_members: &str) -> Line {
    let revision = version.revision.to_string();
    let object = version
        .template
        .render(type_members, &version.uid, &revision);
    Line {
        kind: change.as_str(),
        revision: Some(version.revision),
        bytes: wrap(change.as_str(), &object),
        commits: vec![version.commit],
    }
}

fn bookmark(scope: &Scope, revision: Option<u128>, ends_initial_events: bool) -> Line {
    let mut metadata = revision.map_or_else(String::new, |revision| {
        format!(r#""resourceVersion":"{revision}","#)
    });
    metadata.push_str(r#""creationTimestamp":null"#);
    if ends_initial_events {
        metadata.push_str(r#","annotations":{"k8s.io/initial-events-end":"true"}"#);
    }
    let object = format!(r#"{{{}"metadata":{{{metadata}}}}}"#, scope.type_members());
    Line {
        kind: "BOOKMARK",
        revision,
        bytes: wrap("BOOKMARK", object.as_bytes()),
        commits: Vec::new(),
    }
}

fn too_old(start: u128, floor: u128) -> Line {
    let message = format!("too old resource version: {start} ({floor})");
    Line {
        kind: "ERROR",
        revision: None,
        bytes: wrap("ERROR", &status_object(410, "Expired", &message, None)),
        commits: Vec::new(),
    }
}

fn wrap(kind: &str, object: &[u8]) -> Vec<u8> {
    let mut bytes = format!(r#"{{"type":"{kind}","object":"#).into_bytes();
    bytes.extend_from_slice(object);
    bytes.extend_from_slice(b"}\n");
    bytes
}
