//! Tests of the writer with a disk that fails on request.

use super::sink::{ReelShelf, Sink, WholeFile};
use super::*;
use crate::clock::Clock;
use crate::health::Health;
use crate::queue::{EventEntry, QUEUE_BYTES, Queue, QueueEntry};
use kubereel_format::{
    AppendError, CommitStats, ConnectionId, EventType, Evidence, FinishError, FinishStats, Note,
    ObjectMemory, OpenError, ResourceId, Seq, Stamp, Usage,
};
use std::sync::{Arc, Mutex, MutexGuard};

/// The content and the behaviour of the disk.
#[derive(Debug, Default)]
struct Disk {
    durable: Vec<String>,
    appends_until_failure: Option<usize>,
    commit_fails: u32,
    commit_lies: bool,
    reopen_fails: u32,
    end: DiskEnd,
    is_deleted: bool,
}

/// How far the file was ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum DiskEnd {
    #[default]
    Open,
    Finished,
    Packed,
}

fn locked(disk: &Mutex<Disk>) -> MutexGuard<'_, Disk> {
    disk.lock().expect("nobody panics with it")
}

/// The written entries without the notes about failures, and whether there are such notes.
fn written(disk: &Disk) -> (Vec<&str>, bool) {
    let texts = disk.durable.iter().map(String::as_str);
    let (failures, texts): (Vec<&str>, Vec<&str>) =
        texts.partition(|text| text.starts_with("the reel could not be written for "));
    (texts, failures.len() == 1)
}

fn count(disk: &Disk) -> u64 {
    u64::try_from(disk.durable.len()).expect("small")
}

struct FakeSink {
    disk: Arc<Mutex<Disk>>,
    pending: Vec<String>,
}

fn full() -> AppendError {
    AppendError::Storage {
        path: "x.reel".into(),
        cause: "no space left".into(),
    }
}

fn words(entry: &QueueEntry) -> String {
    match entry {
        QueueEntry::Note {
            note: Note::Mark { text },
            ..
        } => text.clone(),
        QueueEntry::Event(event) => format!("event {}", event.name),
        QueueEntry::Blob { bytes, .. } => format!("blob {}", String::from_utf8_lossy(bytes)),
        QueueEntry::Note { .. } => panic!("no other note"),
    }
}

impl Sink for FakeSink {
    fn next_seq(&self) -> Seq {
        let durable = locked(&self.disk).durable.len();
        Seq(u64::try_from(durable + self.pending.len()).expect("small"))
    }

    fn append(&mut self, entry: &QueueEntry) -> Result<(), AppendError> {
        let mut disk = locked(&self.disk);
        if let Some(left) = &mut disk.appends_until_failure {
            if *left == 0 {
                disk.appends_until_failure = None;
                return Err(full());
            }
            *left -= 1;
        }
        if let QueueEntry::Event(event) = entry
            && event.body.is_none()
        {
            return Err(AppendError::NoLastBody);
        }
        self.pending.push(words(entry));
        Ok(())
    }

    fn commit(&mut self) -> Result<CommitStats, AppendError> {
        let mut disk = locked(&self.disk);
        if disk.commit_fails > 0 {
            disk.commit_fails -= 1;
            if disk.commit_lies {
                disk.durable.append(&mut self.pending);
            }
            return Err(full());
        }
        disk.durable.append(&mut self.pending);
        Ok(CommitStats {
            file_bytes: 7,
            records: count(&disk),
            is_deleted: disk.is_deleted,
        })
    }

    fn usage(&mut self) -> Usage {
        Usage::default()
    }

    fn appended_bytes(&self) -> u64 {
        0
    }

    fn object_memory(&self) -> Vec<ObjectMemory> {
        Vec::new()
    }

    fn forget_objects(&mut self, _resource: ResourceId) {}

    fn end(self: Box<Self>) -> Result<Box<dyn WholeFile>, AppendError> {
        assert!(self.pending.is_empty(), "finished with records pending");
        locked(&self.disk).end = DiskEnd::Finished;
        Ok(self)
    }
}

impl WholeFile for FakeSink {
    fn stats(&self) -> FinishStats {
        FinishStats {
            file_bytes: 7,
            records: count(&locked(&self.disk)),
        }
    }

    fn check_kept(&self) -> Result<(), FinishError> {
        let path = "x.reel".into();
        let is_deleted = locked(&self.disk).is_deleted;
        (!is_deleted)
            .then_some(())
            .ok_or(FinishError::Deleted { path })
    }

    fn pack(self: Box<Self>) -> Result<FinishStats, FinishError> {
        let stats = self.stats();
        locked(&self.disk).end = DiskEnd::Packed;
        Ok(stats)
    }
}

struct FakeShelf(Arc<Mutex<Disk>>);

impl ReelShelf for FakeShelf {
    fn reopen(&mut self) -> Result<Box<dyn Sink>, OpenError> {
        let mut disk = locked(&self.0);
        if disk.reopen_fails > 0 {
            disk.reopen_fails -= 1;
            return Err(OpenError::InUse {
                path: "x.reel".into(),
            });
        }
        Ok(Box::new(FakeSink {
            disk: Arc::clone(&self.0),
            pending: Vec::new(),
        }))
    }
}

fn mark(text: &str) -> QueueEntry {
    QueueEntry::Note {
        stamp: Stamp::default(),
        note: Note::Mark { text: text.into() },
    }
}

/// Writes entries to a disk and returns the disk, with how the writer ended.
fn write(disk: Disk, entries: Vec<QueueEntry>) -> (Disk, Finished, Arc<Health>) {
    write_and_ask(disk, entries, None)
}

/// Writes; `is_packed` is the recorder's decision about packing, if it still listens.
fn write_and_ask(
    disk: Disk,
    entries: Vec<QueueEntry>,
    is_packed: Option<bool>,
) -> (Disk, Finished, Arc<Health>) {
    let disk = Arc::new(Mutex::new(disk));
    let clock = Clock::start();
    let health = Arc::new(Health::new(clock, crate::queue::redactor()));
    let queue = Arc::new(Queue::new(QUEUE_BYTES, clock, crate::queue::redactor()));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        for entry in entries {
            queue.push(entry).await;
        }
    });
    queue.close();
    let mut shelf = FakeShelf(Arc::clone(&disk));
    let sink = shelf.reopen().expect("the first time it opens");
    let (handover, taker) = handover();
    match is_packed {
        // The receiver of the question is gone.
        None => drop(taker),
        Some(is_packed) => taker.pack.send(is_packed).expect("the writer listens"),
    }
    let writer = ReelWriter::new(
        sink,
        Box::new(shelf),
        queue,
        Arc::clone(&health),
        clock,
        (None, handover),
    );
    let finished = writer.run();
    let disk = std::mem::take(&mut *locked(&disk));
    (disk, finished, health)
}

#[test]
fn writes_in_order_and_finishes() {
    let (disk, finished, _) = write(Disk::default(), vec![mark("a"), mark("b"), mark("c")]);
    assert_eq!(disk.durable, ["a", "b", "c"]);
    assert_eq!(disk.end, DiskEnd::Packed);
    assert_eq!(finished.expect("an end").records, 3);
}

#[test]
fn a_file_is_whole_before_anybody_is_asked_whether_to_pack_it() {
    for is_packed in [true, false] {
        let (disk, finished, _) = write_and_ask(Disk::default(), vec![mark("a")], Some(is_packed));
        assert_eq!(disk.durable, ["a"]);
        let end = if is_packed {
            DiskEnd::Packed
        } else {
            DiskEnd::Finished
        };
        assert_eq!(disk.end, end);
        assert_eq!(finished.expect("an end").records, 1);
    }
}

#[test]
fn a_failed_append_loses_and_doubles_nothing() {
    for left in 0..3 {
        let disk = Disk {
            appends_until_failure: Some(left),
            ..Disk::default()
        };
        let (disk, finished, health) = write(disk, vec![mark("a"), mark("b"), mark("c")]);
        assert_eq!(written(&disk), (vec!["a", "b", "c"], true), "after {left}");
        assert!(finished.is_ok());
        assert_eq!(health.status().write_trouble, "");
    }
}

#[test]
fn a_failed_commit_is_not_written_twice_even_if_it_happened() {
    for commit_lies in [false, true] {
        let disk = Disk {
            commit_fails: 1,
            commit_lies,
            ..Disk::default()
        };
        let (disk, finished, _) = write(disk, vec![mark("a"), mark("b")]);
        assert_eq!(
            written(&disk),
            (vec!["a", "b"], true),
            "commit lies: {commit_lies}"
        );
        assert!(finished.is_ok());
    }
}

#[test]
fn a_disk_that_stays_full_ends_as_an_error() {
    let disk = Disk {
        commit_fails: u32::MAX,
        ..Disk::default()
    };
    let (disk, finished, health) = write(disk, vec![mark("a")]);
    assert!(
        matches!(finished, Err(WriteError::Failing(_))),
        "{finished:?}"
    );
    assert_eq!(disk.end, DiskEnd::Open);
    assert!(health.status().write_trouble.contains("no space left"));
}

#[test]
fn a_reel_that_is_deleted_while_it_is_recorded_is_trouble_and_ends_as_an_error() {
    let disk = Disk {
        is_deleted: true,
        ..Disk::default()
    };
    let (disk, finished, health) = write(disk, vec![mark("a")]);
    assert!(
        matches!(
            finished,
            Err(WriteError::Finish(FinishError::Deleted { .. }))
        ),
        "{finished:?}"
    );
    assert_ne!(disk.end, DiskEnd::Packed);
    assert!(health.status().write_trouble.contains("was deleted"));
}

#[test]
fn a_record_that_the_format_refuses_is_kept_as_a_line() {
    let event = QueueEntry::Event(EventEntry {
        stamp: Stamp::default(),
        connection: ConnectionId(1),
        kind: EventType::Deleted,
        evidence: Evidence::Inferred,
        resource: ResourceId(0),
        namespace: "".into(),
        name: "x".into(),
        uid: "u".into(),
        version: "1".into(),
        body: None,
    });
    let (disk, finished, _) = write(Disk::default(), vec![mark("a"), event, mark("b")]);
    assert_eq!(disk.durable, ["a", "blob ", "b"]);
    assert!(finished.is_ok());
}
