//! Writes the reel: one session, a connection for each resource, every event with its own time, in
//! a file that gets its name when it is complete.
//!
//! Invariants:
//!
//! * An import never claims completeness. It writes no list, no bookmark and no gap.
//! * The source of a resource's events is noted before the first of them, and behind each list that
//!   has all objects of the resource, also if nothing changed: a change that a later list shows is
//!   not older than that, and what only lists show is not known after the last of them.

use crate::error::ImportError;
use kubereel_format::{
    AppendError, Appender, ConnectionId, Elapsed, EpochId, EventType, Evidence, FinishStats,
    ListMethod, NewBody, NewEvent, Note, OpenError, REDACTION_NONE, RecordedAt, Reel, ResourceId,
    ResourceInfo, SessionEnd, SessionId, Stamp, is_in_use,
};
use kubereel_redact::POLICY;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The bytes of bodies between two commits.
const COMMIT_BYTES: usize = 16 * 1024 * 1024;

/// The least step back that is noted, in microseconds: 10 s. Smaller ones are within the order in
/// which servers log.
const LEAST_STEP_MICROS: i64 = 10_000_000;

/// The memory of a record besides its body, approximately.
const RECORD_BYTES: usize = 64;

/// The contents of the first notes.
#[derive(Debug)]
pub(crate) struct ReelStart {
    /// The version of the program that imports.
    pub(crate) program: String,
    /// Whether values of Secrets are redacted.
    pub(crate) is_redacted: bool,
    /// The source of the events.
    pub(crate) provenance: String,
}

/// An event's object and its names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImportedEvent<'a> {
    pub(crate) at: RecordedAt,
    pub(crate) kind: EventType,
    pub(crate) resource: ResourceId,
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
    pub(crate) uid: &'a str,
    pub(crate) resource_version: &'a str,
    pub(crate) body: &'a [u8],
    pub(crate) evidence: Evidence,
}

/// The ids that the reel to which the import appends has used.
#[derive(Clone, Debug, Default)]
pub(crate) struct UsedNumbers {
    pub(crate) session: SessionId,
    pub(crate) first_connection: ConnectionId,
    pub(crate) cluster: Option<(EpochId, String)>,
}

/// The reel that is being written.
pub(crate) struct ImportWriter {
    appender: Appender,
    start: Option<ReelStart>,
    span: Option<(RecordedAt, RecordedAt)>,
    /// The latest time since the times last stepped back.
    newest: Option<RecordedAt>,
    steps_back: u64,
    /// The resources that have a connection.
    connected: BTreeSet<ResourceId>,
    /// The moment of the last list with all objects of a resource.
    listed: BTreeMap<ResourceId, RecordedAt>,
    session: SessionId,
    /// The connection of resource 0; that of another resource is higher by its id.
    first_connection: ConnectionId,
    cluster: Option<(EpochId, String)>,
    events: u64,
    pending: usize,
}

impl ImportWriter {
    /// Creates the file. The reel begins with its first event.
    pub(crate) fn create(part: &mut PartFile, start: ReelStart) -> Result<Self, ImportError> {
        Ok(Self {
            appender: part.create()?,
            start: Some(start),
            span: None,
            newest: None,
            steps_back: 0,
            connected: BTreeSet::new(),
            listed: BTreeMap::new(),
            session: SessionId(0),
            first_connection: ConnectionId(0),
            cluster: None,
            events: 0,
            pending: 0,
        })
    }

    /// Continues a reel, in a new session.
    pub(crate) fn resume(
        part: &mut PartFile,
        start: ReelStart,
        used: UsedNumbers,
    ) -> Result<Self, ImportError> {
        Ok(Self {
            appender: part.resume()?,
            start: Some(start),
            span: None,
            newest: None,
            steps_back: 0,
            connected: BTreeSet::new(),
            listed: BTreeMap::new(),
            session: used.session,
            first_connection: used.first_connection,
            cluster: used.cluster,
            events: 0,
            pending: 0,
        })
    }

    fn connection(&self, resource: ResourceId) -> ConnectionId {
        ConnectionId(self.first_connection.0.saturating_add(resource.0))
    }

    /// Describes a resource, for the first time or again.
    pub(crate) fn announce(
        &mut self,
        at: RecordedAt,
        info: ResourceInfo,
    ) -> Result<(), AppendError> {
        let resource = info.id;
        self.note(at, Note::Resource(info))?;
        self.connect(at, resource)
    }

    /// Notes the source of a resource's events, once.
    pub(crate) fn connect(
        &mut self,
        at: RecordedAt,
        resource: ResourceId,
    ) -> Result<(), AppendError> {
        if !self.connected.insert(resource) {
            return Ok(());
        }
        self.source(at, resource)
    }

    /// Notes that a list had all objects of a resource, once for each moment.
    pub(crate) fn list(&mut self, at: RecordedAt, resource: ResourceId) -> Result<(), AppendError> {
        self.connected.insert(resource);
        if self.listed.insert(resource, at) == Some(at) {
            return Ok(());
        }
        self.source(at, resource)
    }

    fn source(&mut self, at: RecordedAt, resource: ResourceId) -> Result<(), AppendError> {
        let connected = Note::Connected {
            connection: self.connection(resource),
            resource,
            from_rv: None,
            method: ListMethod::Import,
        };
        self.note(at, connected)
    }

    /// Notes the cluster of the events, once for each cluster.
    pub(crate) fn cluster(&mut self, at: RecordedAt, uid: &str) -> Result<(), AppendError> {
        let epoch = match &self.cluster {
            Some((_, known)) if known == uid => return Ok(()),
            Some((epoch, _)) => EpochId(epoch.0.saturating_add(1)),
            None => EpochId(0),
        };
        self.cluster = Some((epoch, uid.to_owned()));
        let note = Note::Cluster {
            epoch,
            uid: uid.to_owned(),
            version: String::new(),
        };
        self.note(at, note)
    }

    /// Appends an event.
    pub(crate) fn event(&mut self, item: &ImportedEvent<'_>) -> Result<(), AppendError> {
        self.append(item, item.kind, NewBody::Bytes(item.body))?;
        self.written(item.body.len())
    }

    /// Appends the deletion of an object with its last body in the reel; `false` if the reel has
    /// none.
    pub(crate) fn deletion(&mut self, item: &ImportedEvent<'_>) -> Result<bool, AppendError> {
        match self.append(item, EventType::Deleted, NewBody::Last) {
            Err(AppendError::NoLastBody) => Ok(false),
            Err(error) => Err(error),
            Ok(()) => self.written(0).map(|()| true),
        }
    }

    fn append(
        &mut self,
        item: &ImportedEvent<'_>,
        kind: EventType,
        body: NewBody<'_>,
    ) -> Result<(), AppendError> {
        self.step_back(item.at)?;
        let stamp = self.stamp(item.at)?;
        self.appender.append_event(&NewEvent {
            stamp,
            connection: self.connection(item.resource),
            kind,
            evidence: item.evidence,
            resource: item.resource,
            namespace: item.namespace,
            name: item.name,
            uid: item.uid,
            resource_version: item.resource_version,
            body,
        })?;
        Ok(())
    }

    /// Notes that the times step back, as where several recordings are in one file: a time then has
    /// several places in the reel.
    fn step_back(&mut self, at: RecordedAt) -> Result<(), AppendError> {
        let micros = self.newest.map_or(0, |newest| at.micros_since(newest));
        if micros <= -LEAST_STEP_MICROS {
            self.steps_back += 1;
            self.newest = None;
            self.note(at, Note::ClockStepped { micros })?;
        }
        self.newest = self.newest.max(Some(at));
        Ok(())
    }

    /// Returns how often the times stepped back.
    pub(crate) const fn steps_back(&self) -> u64 {
        self.steps_back
    }

    /// Adds a mark.
    pub(crate) fn mark(&mut self, at: RecordedAt, text: String) -> Result<(), AppendError> {
        self.note(at, Note::Mark { text })?;
        self.written(0)?;
        self.events -= 1;
        Ok(())
    }

    fn written(&mut self, len: usize) -> Result<(), AppendError> {
        self.events += 1;
        // A record takes room besides its body.
        self.pending = self
            .pending
            .saturating_add(len)
            .saturating_add(RECORD_BYTES);
        if self.pending >= COMMIT_BYTES {
            self.pending = 0;
            self.appender.commit()?;
        }
        Ok(())
    }

    /// Returns the number of events.
    pub(crate) const fn events(&self) -> u64 {
        self.events
    }

    /// Extends the recording to a time.
    pub(crate) fn reach(&mut self, at: RecordedAt) -> Result<(), AppendError> {
        self.stamp(at).map(drop)
    }

    /// Returns how many resources there are.
    pub(crate) fn resources(&self) -> usize {
        self.connected.len()
    }

    /// Returns the times of the first event and of the latest.
    pub(crate) fn span(&self) -> (RecordedAt, RecordedAt) {
        self.span.unwrap_or_default()
    }

    /// Ends the reel with the notes of the import.
    pub(crate) fn finish(mut self, notes: Vec<String>) -> Result<FinishStats, ImportError> {
        // Where the times stepped back, a later one would seem to pass once more.
        let last = self.newest.filter(|_| self.steps_back > 0);
        let last = last.unwrap_or(self.span().1);
        for text in notes {
            self.note(last, Note::Provenance { text })?;
        }
        let end = Note::SessionEnded {
            session: self.session,
            end: SessionEnd::Finished,
        };
        self.note(last, end)?;
        Ok(self.appender.finish()?)
    }

    fn note(&mut self, at: RecordedAt, note: Note) -> Result<(), AppendError> {
        let stamp = self.stamp(at)?;
        self.appender.append_note(stamp, note)?;
        Ok(())
    }

    /// Returns the stamp of a time. An input has no steady clock; it pauses where the times step
    /// back.
    fn stamp(&mut self, at: RecordedAt) -> Result<Stamp, AppendError> {
        let (first, last) = self.span.unwrap_or((at, at));
        let last = last.max(at);
        self.span = Some((first, last));
        let stamp = Stamp {
            wall: at,
            elapsed: Elapsed {
                micros: u64::try_from(last.micros_since(first)).unwrap_or(0),
            },
        };
        if let Some(start) = self.start.take() {
            let started = Note::SessionStarted {
                session: self.session,
                recorder: start.program,
                at,
                redaction_policy: if start.is_redacted {
                    POLICY
                } else {
                    REDACTION_NONE
                },
            };
            self.appender.append_note(stamp, started)?;
            let provenance = Note::Provenance {
                text: start.provenance,
            };
            self.appender.append_note(stamp, provenance)?;
        }
        Ok(stamp)
    }
}

/// A reel that is being written.
#[derive(Debug)]
pub(crate) struct PartFile {
    path: PathBuf,
    target: PathBuf,
    replaces: bool,
    /// Whether this import made the file: that of another one stays.
    is_own: bool,
    /// Held until the file is one that is being written.
    turn: Option<File>,
}

impl PartFile {
    /// Makes a copy of a reel to append to.
    pub(crate) fn copy_of(target: &Path) -> Result<Self, ImportError> {
        if !target.is_file() {
            return Err(ImportError::NoReel {
                path: target.to_owned(),
            });
        }
        // A reel that is being recorded, or a file that is not a reel, is refused before it is
        // copied.
        drop(Reel::open(target)?);
        let mut part = Self::begin(target, true)?;
        part.turn = turn(&part.path);
        remove_leftover(&part.path)?;
        part.is_own = true;
        std::fs::copy(target, &part.path).map_err(|source| ImportError::Place {
            path: part.path.clone(),
            source,
        })?;
        Ok(part)
    }

    /// Reserves the name of a reel.
    pub(crate) fn begin(target: &Path, replaces: bool) -> Result<Self, ImportError> {
        check_free(target, replaces)?;
        let path = with_ending(target, ".part");
        let _turn = turn(&path);
        remove_leftover(&path)?;
        Ok(Self {
            path,
            target: target.to_owned(),
            replaces,
            is_own: false,
            turn: None,
        })
    }

    fn create(&mut self) -> Result<Appender, ImportError> {
        let _turn = turn(&self.path);
        // Another import may have been killed since this one began.
        remove_leftover(&self.path)?;
        let created = Appender::create(&self.path);
        // On a full disk it may fail after it has made the file.
        self.is_own = !matches!(
            created,
            Err(OpenError::Exists { .. } | OpenError::InUse { .. })
        );
        Ok(created?)
    }

    fn resume(&mut self) -> Result<Appender, ImportError> {
        let appender = Appender::resume(&self.path)?;
        self.turn = None;
        Ok(appender)
    }

    /// Returns the name under which it is written.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Renames the finished file to its name.
    pub(crate) fn place(self) -> Result<(), ImportError> {
        check_free(&self.target, self.replaces)?;
        std::fs::rename(&self.path, &self.target).map_err(|source| ImportError::Place {
            path: self.target.clone(),
            source,
        })
    }
}

fn check_free(target: &Path, replaces: bool) -> Result<(), ImportError> {
    match target.metadata() {
        // A rename puts a file in the place of a device or a pipe, which is then gone for every program.
        Ok(about) if !about.is_file() => Err(ImportError::NotRegular {
            path: target.to_owned(),
        }),
        // A dangling link also occupies the name.
        _ if !replaces && target.symlink_metadata().is_ok() => Err(ImportError::Exists {
            path: target.to_owned(),
        }),
        // A recorder would go on writing to a file that no longer has a name.
        Ok(_) if is_in_use(target) => {
            let path = target.to_owned();
            Err(OpenError::InUse { path }.into())
        }
        _ => Ok(()),
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        // The file no longer exists if it was renamed.
        if self.is_own {
            drop(std::fs::remove_file(&self.path));
        }
    }
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path.file_name().unwrap_or_default());
    name.push(ending);
    path.with_file_name(name)
}

/// Waits until no other import looks at the files of a folder or makes one: what it has made is locked then.
///
/// Without the folder the error of the file itself says more, and some network file systems have no locks.
fn turn(path: &Path) -> Option<File> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = File::open(folder.unwrap_or(Path::new("."))).ok()?;
    folder.lock().ok()?;
    Some(folder)
}

/// Removes the file of an import that was killed. A file that another import is writing, or that is
/// not a reel, stays and is an error.
fn remove_leftover(path: &Path) -> Result<(), ImportError> {
    let is_empty = |path: &Path| path.metadata().is_ok_and(|file| file.len() == 0);
    match Reel::open(path) {
        Err(OpenError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(OpenError::NotAReel { .. }) if !is_empty(path) => Err(ImportError::Exists {
            path: path.to_owned(),
        }),
        Err(error @ OpenError::InUse { .. }) => Err(error.into()),
        _ => std::fs::remove_file(path).map_err(|source| ImportError::Place {
            path: path.to_owned(),
            source,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_an_import_left_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("a.reel");
        let leftover = folder.path().join("a.reel.part");
        std::fs::write(&leftover, "").expect("written");
        drop(PartFile::begin(&target, false).expect("an empty file goes"));
        assert!(!leftover.exists());
        std::fs::write(&leftover, "mine").expect("written");
        let error = PartFile::begin(&target, false).expect_err("in the way");
        assert!(matches!(error, ImportError::Exists { path } if path == leftover));
        assert_eq!(std::fs::read(&leftover).expect("still there"), b"mine");
    }

    #[test]
    fn what_a_killed_import_left_goes_and_what_a_running_one_writes_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("a.reel");
        let leftover = folder.path().join("a.reel.part");
        let running = Appender::create(&leftover).expect("a reel");
        let error = PartFile::begin(&target, false).expect_err("in use");
        assert!(
            matches!(error, ImportError::Create(OpenError::InUse { .. })),
            "{error}"
        );
        assert!(leftover.exists());
        drop(running);
        drop(PartFile::begin(&target, false).expect("nobody writes it"));
        assert!(!leftover.exists());
    }

    #[test]
    fn an_import_that_came_too_late_leaves_the_file_of_the_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("a.reel");
        let begin = || PartFile::begin(&target, false).expect("free");
        let (mut first, mut second) = (begin(), begin());
        let running = first.create().expect("a reel");
        let error = second.create().expect_err("in use");
        assert!(
            matches!(error, ImportError::Create(OpenError::InUse { .. })),
            "{error}"
        );
        drop(second);
        drop(running);
        first.place().expect("placed");
        assert!(target.exists());
    }

    #[test]
    fn a_reel_that_is_being_recorded_is_never_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("a.reel");
        // A recorder that begins while an import runs counts as well.
        let mut part = PartFile::begin(&target, true).expect("free");
        drop(part.create().expect("a reel"));
        let recorder = Appender::create(&target).expect("a reel");
        let before = std::fs::read(&target).expect("a reel");
        for error in [part.place(), PartFile::begin(&target, true).map(drop)] {
            let error = error.expect_err("in use");
            let is_target = matches!(
                &error,
                ImportError::Create(OpenError::InUse { path }) if *path == target
            );
            assert!(is_target, "{error}");
        }
        assert_eq!(std::fs::read(&target).expect("a reel"), before);
        drop(recorder);
        drop(PartFile::begin(&target, true).expect("nobody writes it"));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_not_a_regular_file_is_never_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
        for target in [socket.as_path(), folder.path()] {
            let error = PartFile::begin(target, true).expect_err("refused");
            assert!(matches!(error, ImportError::NotRegular { .. }), "{error}");
        }
    }

    #[test]
    fn a_file_stays_unless_it_is_to_be_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("a.reel");
        std::fs::write(&target, "old").expect("written");
        assert!(PartFile::begin(&target, false).is_err());
        let part = PartFile::begin(&target, true).expect("told to");
        std::fs::write(part.path(), "new").expect("written");
        part.place().expect("placed");
        assert_eq!(std::fs::read(&target).expect("there"), b"new");
        assert!(!folder.path().join("a.reel.part").exists());
    }
}
