//! A watch: where it starts, the lines it has to send, when it bookmarks and when it is over. It
//! does not handle sockets, chunks and faults.

use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::cluster::{Chunking, InitialEnd, Settings, WatchList};
use super::fault::{AnswerCut, Edit, End, Fault, Pick, Place, status_object};
use super::list::{self, Refusal, Scope};
use super::log::{Altered, Change};
use super::log::{Ending, RequestHead};
use super::model::{Model, Storage, Version};
use super::wire;
use super::wire::{Answer, Line, Orders, Wire};

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

/// The outcome of a request to watch.
#[derive(Debug)]
pub(crate) enum WatchOpening {
    Refused(Refusal),
    /// The lines it starts with, and the stream unless these were all.
    Lines(Vec<Line>, Option<Box<Stream>>),
}

/// What a look at the history gave.
#[derive(Debug)]
pub(crate) enum StreamPoll {
    Lines(Vec<Line>),
    Nothing,
    Over,
}

impl Stream {
    pub(crate) fn open(
        scope: Scope,
        asked: &RequestHead,
        model: &Model,
        storage: &Storage,
        settings: &Settings,
    ) -> WatchOpening {
        let revision = match list::revision_asked(asked) {
            Ok(revision) => revision,
            Err(refusal) => return WatchOpening::Refused(refusal),
        };
        let initial = match sends_initial_events(asked, settings) {
            Ok(initial) => initial,
            Err(refusal) => return WatchOpening::Refused(refusal),
        };
        if let Some(revision) = revision.filter(|revision| initial && *revision > model.revision) {
            let refusal = list::too_large(revision, model.revision, list::FUTURE_LIST_WAIT);
            return WatchOpening::Refused(Box::new(refusal));
        }
        let from_now = initial || revision.is_none_or(|revision| revision == 0);
        let start = revision.filter(|_| !from_now).unwrap_or(model.revision);
        if start < storage.watch_floor {
            return WatchOpening::Lines(vec![too_old(start, storage.watch_floor)], None);
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
        let deadline = now + lifetime(asked);
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
        WatchOpening::Lines(lines, Some(Box::new(stream)))
    }

    /// The lines that wait.
    pub(crate) fn take(&mut self, model: &Model) -> StreamPoll {
        let Some(storage) = model.storage_of(&self.scope.resource) else {
            return StreamPoll::Over;
        };
        self.changed.mark_unchanged();
        if storage.lineage != self.lineage {
            return StreamPoll::Over;
        }
        // A reader so slow that its history is gone is closed, with nothing skipped.
        let Some(steps) = storage.steps_from(self.position) else {
            return StreamPoll::Over;
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
            return StreamPoll::Lines(lines);
        }
        if storage.generation != self.generation || Instant::now() >= self.deadline {
            return StreamPoll::Over;
        }
        if self.bookmark_due(storage) {
            return StreamPoll::Lines(vec![bookmark(&self.scope, Some(model.revision), false)]);
        }
        StreamPoll::Nothing
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

fn sends_initial_events(asked: &RequestHead, settings: &Settings) -> Result<bool, Refusal> {
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

fn lifetime(asked: &RequestHead) -> Duration {
    asked
        .parameter("timeoutSeconds")
        .and_then(|secs| secs.parse().ok())
        .map_or(UNASKED_LIMIT, Duration::from_secs)
        .min(Duration::from_hours(24))
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

/// Chunks that wait together are written once they are this many bytes.
const WRITE_BYTES: usize = 64 * 1024;

/// Writes the body of one answer.
#[derive(Debug)]
pub(crate) struct Delivery {
    chunked: bool,
    chunking: Chunking,
    gzip: bool,
    edits: Vec<(Pick, Edit)>,
    cuts: Vec<AnswerCut>,
    next_line: usize,
}

/// What one of the server's lines became.
#[derive(Debug)]
struct Edited {
    bytes: Vec<u8>,
    /// Where the line proper starts, behind what was put before it.
    start: usize,
    commits: Vec<usize>,
    /// The commits that it should have reported.
    withheld: Vec<usize>,
    cut: Option<AnswerCut>,
}

/// Lines edited and not yet written.
#[derive(Debug, Default)]
struct Waiting {
    bytes: Vec<u8>,
    commits: Vec<usize>,
    altered: Vec<Altered>,
    lines: usize,
}

/// A write that came to its end, with what is whole on the wire by then.
#[derive(Debug, Default)]
pub(crate) struct Delivered {
    pub(crate) commits: Vec<usize>,
    pub(crate) altered: Vec<Altered>,
    pub(crate) lines: usize,
    pub(crate) stopped: Option<Ending>,
}

impl Delivery {
    pub(crate) fn new(chunked: bool, gzip: bool, faults: Vec<Fault>) -> Self {
        let mut delivery = Self {
            chunked,
            chunking: Chunking::PerLine,
            gzip,
            edits: Vec::new(),
            cuts: Vec::new(),
            next_line: 0,
        };
        for fault in faults {
            match fault {
                Fault::Edit(pick, edit) => delivery.edits.push((pick, edit)),
                Fault::Cut(cut) => delivery.cuts.push(cut),
                Fault::Chunking(chunking) => delivery.chunking = chunking,
                Fault::Answer(_)
                | Fault::Raw(..)
                | Fault::LongList(_)
                | Fault::Head(..)
                | Fault::Delay(_) => {}
            }
        }
        delivery
    }

    /// Whether some cut or edit may change the length of a document.
    pub(crate) fn alters(&self) -> bool {
        !self.edits.is_empty() || self.cuts.iter().any(|cut| cut.end == End::Finished)
    }

    /// Chooses between chunks and an announced length.
    pub(crate) fn set_chunked(&mut self, chunked: bool) {
        self.chunked = chunked;
    }

    /// How long an unaltered document is on the wire.
    pub(crate) fn document_len(&self, document: &[u8]) -> usize {
        if self.gzip {
            wire::member(document).len()
        } else {
            document.len()
        }
    }

    /// Sends lines that wait together.
    pub(crate) async fn send(
        &mut self,
        lines: Vec<Line>,
        wire: &mut Wire,
        orders: &mut Orders,
    ) -> Delivered {
        let mut delivered = Delivered::default();
        let mut waiting = Waiting::default();
        for line in lines {
            let edited = self.edit(line);
            if let Some(cut) = &edited.cut {
                let flushed = self.flush(waiting, &mut delivered, wire, orders).await;
                let stopped = match flushed {
                    Ok(()) => {
                        self.send_cut(&edited, cut, &mut delivered, wire, orders)
                            .await
                    }
                    Err(ending) => ending,
                };
                delivered.stopped = Some(stopped);
                return delivered;
            }
            waiting.lines += 1;
            waiting.altered.extend(edited.altered());
            waiting.commits.extend(&edited.commits);
            if self.chunking != Chunking::PerLine {
                waiting.bytes.extend_from_slice(&edited.bytes);
                continue;
            }
            if !edited.bytes.is_empty() {
                waiting.bytes.extend_from_slice(&self.frame(&edited.bytes));
            }
            if waiting.bytes.len() >= WRITE_BYTES {
                let full = std::mem::take(&mut waiting);
                if let Err(ending) = self.flush(full, &mut delivered, wire, orders).await {
                    delivered.stopped = Some(ending);
                    return delivered;
                }
            }
        }
        if let Err(ending) = self.flush(waiting, &mut delivered, wire, orders).await {
            delivered.stopped = Some(ending);
        }
        delivered
    }

    /// The bytes that end the body.
    pub(crate) fn terminator(&self) -> &'static [u8] {
        if self.chunked { b"0\r\n\r\n" } else { b"" }
    }

    async fn flush(
        &self,
        waiting: Waiting,
        delivered: &mut Delivered,
        wire: &mut Wire,
        orders: &mut Orders,
    ) -> Result<(), Ending> {
        let bytes = &waiting.bytes;
        let framed = match self.chunking {
            Chunking::Bytes(size) if self.chunked => bytes
                .chunks(size.max(1))
                .flat_map(|piece| self.frame(piece))
                .collect(),
            Chunking::Together if !bytes.is_empty() => self.frame(bytes),
            _ => waiting.bytes,
        };
        wire.send(&framed, orders).await?;
        delivered.commits.extend(waiting.commits);
        delivered.altered.extend(waiting.altered);
        delivered.lines += waiting.lines;
        Ok(())
    }

    async fn send_cut(
        &self,
        edited: &Edited,
        cut: &AnswerCut,
        delivered: &mut Delivered,
        wire: &mut Wire,
        orders: &mut Orders,
    ) -> Ending {
        let (bytes, whole) = self.cut_bytes(&edited.bytes, edited.start, cut);
        if let Err(ending) = wire.send(&bytes, orders).await {
            return ending;
        }
        if whole {
            delivered.commits.extend(&edited.commits);
            delivered.altered.extend(edited.altered());
            delivered.lines += 1;
        }
        Ending::Server(cut.end)
    }

    /// The bytes up to a cut, and whether the line proper is whole in them.
    fn cut_bytes(&self, bytes: &[u8], start: usize, cut: &AnswerCut) -> (Vec<u8>, bool) {
        let (before, line) = bytes.split_at(start.min(bytes.len()));
        let mut sent = if before.is_empty() {
            Vec::new()
        } else {
            self.frame(before)
        };
        let framed = self.frame(line);
        let header = if self.chunked {
            framed
                .iter()
                .position(|byte| *byte == b'\n')
                .map_or(0, |end| end + 1)
        } else {
            0
        };
        let kept = match cut.place {
            Place::ChunkHeader(count) => count.min(header),
            Place::Line(count) if cut.end == End::Finished && self.chunked => {
                let short = line.get(..count.min(line.len())).unwrap_or_default();
                if !short.is_empty() {
                    sent.extend_from_slice(&self.frame(short));
                }
                return (sent, false);
            }
            Place::Line(count) => header + count.min(line.len()),
            Place::After => framed.len(),
        };
        sent.extend_from_slice(framed.get(..kept).unwrap_or(&framed));
        (sent, kept == framed.len())
    }

    /// One chunk, or the bytes themselves when the length was announced; a gzip member when so asked.
    fn frame(&self, content: &[u8]) -> Vec<u8> {
        let compressed = self.gzip.then(|| wire::member(content));
        let content = compressed.as_deref().unwrap_or(content);
        if !self.chunked {
            return content.to_vec();
        }
        let mut chunk = format!("{:x}\r\n", content.len()).into_bytes();
        chunk.extend_from_slice(content);
        chunk.extend_from_slice(b"\r\n");
        chunk
    }

    fn edit(&mut self, line: Line) -> Edited {
        let number = self.next_line;
        self.next_line += 1;
        let picks = |pick: &Pick| match pick {
            Pick::Line(nth) => *nth == number,
            Pick::Revision(revision) => line.revision == Some(*revision),
            Pick::Type(kind) => *kind == line.kind,
            Pick::Every => true,
        };
        let cut = self.cuts.iter().find(|cut| picks(&cut.line)).cloned();
        let chosen: Vec<Edit> = self
            .edits
            .iter()
            .filter(|(pick, _)| picks(pick))
            .map(|(_, edit)| edit.clone())
            .collect();
        let mut before = Vec::new();
        let mut after = Vec::new();
        let mut bytes = line.bytes;
        let mut commits = line.commits;
        let mut withheld = Vec::new();
        for edit in chosen {
            let altered = match edit {
                Edit::Before(more) => {
                    before.extend(more);
                    continue;
                }
                Edit::Twice => {
                    after.extend_from_slice(&bytes);
                    continue;
                }
                Edit::Replace(instead) => instead,
                Edit::ResourceVersion(other) => {
                    with_resource_version(&bytes, line.revision, other.as_deref())
                }
                Edit::Type(kind) => replaced_once(
                    &bytes,
                    format!(r#""type":"{}""#, line.kind).as_bytes(),
                    format!(r#""type":"{kind}""#).as_bytes(),
                ),
            };
            withheld.append(&mut commits);
            bytes = altered;
        }
        let start = before.len();
        before.append(&mut bytes);
        before.append(&mut after);
        Edited {
            bytes: before,
            start,
            commits,
            withheld,
            cut,
        }
    }
}

impl Edited {
    fn altered(&self) -> impl Iterator<Item = Altered> {
        self.withheld.iter().map(|&sequence| Altered {
            sequence,
            bytes: self.bytes.clone(),
        })
    }
}

fn with_resource_version(bytes: &[u8], old: Option<u128>, new: Option<&str>) -> Vec<u8> {
    let Some(old) = old else {
        return bytes.to_vec();
    };
    let member = format!(r#""resourceVersion":"{old}""#);
    let other = new.map(|new| format!(r#""resourceVersion":"{new}""#));
    if let Some(other) = other {
        return replaced_once(bytes, member.as_bytes(), other.as_bytes());
    }
    let without = replaced_once(bytes, format!("{member},").as_bytes(), b"");
    if without.len() < bytes.len() {
        return without;
    }
    replaced_once(bytes, format!(",{member}").as_bytes(), b"")
}

fn replaced_once(bytes: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let found = bytes
        .windows(old.len().max(1))
        .position(|window| window == old);
    let Some(start) = found else {
        return bytes.to_vec();
    };
    let (before, rest) = bytes.split_at(start);
    let after = rest.get(old.len()..).unwrap_or_default();
    [before, new, after].concat()
}

#[cfg(test)]
mod deliver_tests {
    use super::with_resource_version;

    #[test]
    fn resource_versions_are_swapped_and_taken_out() {
        let line = br#"{"metadata":{"resourceVersion":"7","a":1}}"#;
        let expected = br#"{"metadata":{"resourceVersion":"x","a":1}}"#;
        assert_eq!(with_resource_version(line, Some(7), Some("x")), expected);
        let expected = br#"{"metadata":{"a":1}}"#;
        assert_eq!(with_resource_version(line, Some(7), None), expected);
        assert_eq!(
            with_resource_version(br#"{"a":1,"resourceVersion":"7"}"#, Some(7), None),
            br#"{"a":1}"#
        );
    }
}
