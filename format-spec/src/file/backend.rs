//! The two ways in which the database uses the file: exclusively for writing, or read-only with all
//! writes kept in memory. It is the only module of the format that makes system calls.
//!
//! Invariants:
//! * A reader never changes the file: repairs of the database are written to an overlay of pages.
//! * The overlay grows with the length of the file only, whatever a damaged header requests.
//! * A bounded file refuses to grow as a full disk does, so that the database rolls back cleanly.
//! * The database may panic on a damaged file, also when it is dropped: every use is fenced, and
//!   the panic becomes an error.

use crate::error::OpenError;
use crate::limits::len64;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::{Deref, DerefMut};
#[cfg(unix)]
use std::os::unix::fs::{MetadataExt as _, PermissionsExt, chown};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn io_error(path: &Path) -> impl Fn(io::Error) -> OpenError {
    move |source| OpenError::Io {
        path: path.to_owned(),
        source,
    }
}

/// Which file is open. Its path may name another one later, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    #[cfg(unix)]
    device: u64,
    #[cfg(unix)]
    inode: u64,
    /// Other systems give no number; two files of one name differ in when they were made.
    #[cfg(not(unix))]
    created: Option<std::time::SystemTime>,
}

impl FileIdentity {
    /// Returns that of a file. It stays the file's own as long as the file is open.
    pub(crate) fn of(facts: &Metadata) -> Self {
        #[cfg(unix)]
        return Self {
            device: facts.dev(),
            inode: facts.ino(),
        };
        #[cfg(not(unix))]
        return Self {
            created: facts.created().ok(),
        };
    }

    /// Returns whether an open file has no name any more: it is gone when it is closed.
    pub(crate) fn is_deleted(facts: &Metadata) -> bool {
        #[cfg(unix)]
        return facts.nlink() == 0;
        // There, an open file cannot be deleted.
        #[cfg(not(unix))]
        return false;
    }

    /// Returns whether a path still names the file.
    pub(crate) fn has_name(self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|facts| Self::of(&facts) == self)
    }
}

/// Gives a new file the permissions of the one whose place it takes, and as far as the system allows it, its owner
/// and its group.
pub(crate) fn keep_access(new: &Path, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        // Only root gives files away, and others only to groups of theirs.
        drop(chown(new, None, Some(old.gid())));
        drop(chown(new, Some(old.uid()), None));
    }
    // Some file systems have one mode for all files, and refuse to set it.
    if fs::metadata(new)?.permissions() == old.permissions() {
        return Ok(());
    }
    fs::set_permissions(new, old.permissions())
}

/// Takes from the group and from others what they cannot do with the file that a new one is made of.
pub(crate) fn restrict_access(new: &Path, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        let mode = fs::metadata(new)?.permissions().mode();
        let kept = mode & (old.permissions().mode() | 0o700);
        if kept != mode {
            fs::set_permissions(new, PermissionsExt::from_mode(kept))?;
        }
    }
    Ok(())
}

/// A file that only this program writes: the lock is kept as long as any clone exists.
#[derive(Clone, Debug)]
pub(crate) struct Exclusive {
    file: Arc<Mutex<File>>,
    bound: Arc<SizeBound>,
}

/// The length limit, and whether the limit was hit.
#[derive(Debug)]
struct SizeBound {
    max: AtomicU64,
    was_refused: AtomicBool,
}

impl Exclusive {
    /// Creates a file.
    pub(crate) fn create(path: &Path) -> Result<Self, OpenError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)
            .map_err(|source| match source.kind() {
                io::ErrorKind::AlreadyExists => OpenError::Exists {
                    path: path.to_owned(),
                },
                _ => io_error(path)(source),
            })?;
        Self::lock(file, path)
    }

    /// Opens an existing file.
    pub(crate) fn open(path: &Path) -> Result<Self, OpenError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(io_error(path))?;
        Self::lock(file, path)
    }

    fn lock(file: File, path: &Path) -> Result<Self, OpenError> {
        taken(|| file.try_lock(), path)?;
        Ok(Self {
            file: Arc::new(Mutex::new(file)),
            bound: Arc::new(SizeBound {
                max: AtomicU64::new(u64::MAX),
                was_refused: AtomicBool::new(false),
            }),
        })
    }

    /// Limits the length of the file: a write beyond `max` bytes fails as on a full disk. A file
    /// that is longer already does not grow.
    pub(crate) fn bounded(self, max: Option<u64>) -> Self {
        self.bound
            .max
            // Without a limit every length is allowed.
            .store(max.unwrap_or(u64::MAX), Ordering::Relaxed);
        self
    }

    /// Returns whether an operation failed because of the limit since the last call.
    pub(crate) fn take_refusal(&self) -> bool {
        self.bound.was_refused.swap(false, Ordering::Relaxed)
    }

    fn check_bound(&self, file: &File, end: u64) -> io::Result<()> {
        if end <= self.bound.max.load(Ordering::Relaxed) || end <= file.metadata()?.len() {
            return Ok(());
        }
        self.bound.was_refused.store(true, Ordering::Relaxed);
        Err(io::Error::new(
            io::ErrorKind::StorageFull,
            "the file would become longer than it may",
        ))
    }

    /// Returns what the system knows of the file.
    pub(crate) fn facts(&self) -> io::Result<Metadata> {
        locked(&self.file).metadata()
    }

    /// Returns whether the file was deleted.
    pub(crate) fn is_deleted(&self) -> bool {
        self.facts()
            .is_ok_and(|facts| FileIdentity::is_deleted(&facts))
    }

    /// Returns the file's length, in bytes.
    pub(crate) fn file_bytes(&self) -> u64 {
        locked(&self.file).metadata().map_or(0, |facts| facts.len())
    }
}

/// Between `fork` and `exec` a program that another thread of this process starts holds every open file, and
/// its lock, a little longer than this process does.
const LOCK_WAITS: u32 = 8;
const LOCK_WAIT: Duration = Duration::from_millis(5);

fn taken(try_lock: impl Fn() -> Result<(), TryLockError>, path: &Path) -> Result<(), OpenError> {
    let mut outcome = try_lock();
    for _ in 0..LOCK_WAITS {
        if !matches!(outcome, Err(TryLockError::WouldBlock)) {
            break;
        }
        std::thread::sleep(LOCK_WAIT);
        outcome = try_lock();
    }
    match outcome {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse {
            path: path.to_owned(),
        }),
        // A file system without locks must not prevent a recording.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
        Err(TryLockError::Error(source)) => Err(io_error(path)(source)),
    }
}

fn read_at(file: &mut File, offset: u64, out: &mut [u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(out)
}

impl redb::StorageBackend for Exclusive {
    fn len(&self) -> io::Result<u64> {
        Ok(locked(&self.file).metadata()?.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        read_at(&mut locked(&self.file), offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let file = locked(&self.file);
        self.check_bound(&file, len)?;
        file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        locked(&self.file).sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut file = locked(&self.file);
        self.check_bound(&file, offset.saturating_add(len64(data.len())))?;
        file.seek(SeekFrom::Start(offset))?;
        file.write_all(data)
    }
}

/// The unit in which an [`Overlay`] stores writes, in bytes.
const PAGE: u64 = 4096;
const PAGE_LEN: usize = 4096;

/// How many bytes beyond the file's length the database may request while it repairs: a damaged
/// header may request any number.
const ROOM: u64 = 64 * 1024 * 1024;

/// A file that is read, with all writes of the database kept in memory: the file of a killed
/// recorder can be repaired for reading, and stays unchanged.
#[derive(Debug)]
pub(crate) struct Overlay {
    file: Arc<Mutex<File>>,
    file_len: u64,
    facts: Metadata,
    written: Mutex<OverlayPages>,
}

#[derive(Debug)]
struct OverlayPages {
    len: u64,
    /// Below this length, unwritten pages are those of the file.
    shown: u64,
    pages: BTreeMap<u64, Vec<u8>>,
}

impl OverlayPages {
    /// Returns whether any byte of a span was written.
    fn has_pages(&self, offset: u64, end: u64) -> bool {
        let pages = offset / PAGE..end.div_ceil(PAGE);
        !pages.is_empty() && self.pages.range(pages).next().is_some()
    }
}

impl Overlay {
    /// Opens a file for reading. No recorder may be writing it.
    pub(crate) fn open(path: &Path) -> Result<Self, OpenError> {
        // Checked before the file is opened: opening a pipe waits for a writer.
        let facts = fs::metadata(path).map_err(io_error(path))?;
        if facts.is_dir() {
            return Err(io_error(path)(io::ErrorKind::IsADirectory.into()));
        }
        if !facts.is_file() {
            return Err(OpenError::NotAReel {
                path: path.to_owned(),
                found: "a pipe or a device".to_owned(),
            });
        }
        let file = File::open(path).map_err(io_error(path))?;
        let facts = file.metadata().map_err(io_error(path))?;
        taken(|| file.try_lock_shared(), path)?;
        Ok(Self::new(Arc::new(Mutex::new(file)), facts))
    }

    /// Takes an open file that no other program changes. Its name may be removed already.
    pub(crate) fn of_file(file: &Arc<Mutex<File>>, path: &Path) -> Result<Self, OpenError> {
        let facts = locked(file).metadata().map_err(io_error(path))?;
        Ok(Self::new(Arc::clone(file), facts))
    }

    fn new(file: Arc<Mutex<File>>, facts: Metadata) -> Self {
        let file_len = facts.len();
        Self {
            file,
            file_len,
            facts,
            written: Mutex::new(OverlayPages {
                len: file_len,
                shown: file_len,
                pages: BTreeMap::new(),
            }),
        }
    }

    /// Returns bytes of the file, at most `most`, fewer at its end, with the writes of the overlay.
    pub(crate) fn bytes(&self, offset: u64, most: u64) -> io::Result<Vec<u8>> {
        let (is_written, len) = {
            let written = locked(&self.written);
            (!written.pages.is_empty(), written.len)
        };
        if is_written {
            let there = len.saturating_sub(offset).min(most);
            let there = usize::try_from(there).map_err(io::Error::other)?;
            let mut bytes = vec![0; there];
            redb::StorageBackend::read(self, offset, &mut bytes)?;
            return Ok(bytes);
        }
        let mut file = locked(&self.file);
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        (&mut *file).take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Overlays bytes at a place of the file.
    pub(crate) fn patch(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        redb::StorageBackend::write(self, offset, bytes)
    }

    /// Returns the file's length, in bytes.
    pub(crate) fn file_len(&self) -> u64 {
        self.file_len
    }

    /// Returns what the system knew of the file when it was opened.
    pub(crate) fn facts(&self) -> &Metadata {
        &self.facts
    }

    fn check_room(&self, len: u64) -> io::Result<()> {
        if len > self.file_len.saturating_mul(2).saturating_add(ROOM) {
            return Err(io::Error::other("a damaged header asks for too much room"));
        }
        Ok(())
    }

    /// Reads one page; zeros beyond the end of the file.
    fn page(&self, written: &OverlayPages, number: u64) -> io::Result<Vec<u8>> {
        let mut page = vec![0; PAGE_LEN];
        let offset = number.saturating_mul(PAGE);
        let there = written.shown.saturating_sub(offset);
        let there = usize::try_from(there).map_or(PAGE_LEN, |there| there.min(PAGE_LEN));
        if let Some(out) = page.get_mut(..there).filter(|out| !out.is_empty()) {
            read_at(&mut locked(&self.file), offset, out)?;
        }
        Ok(page)
    }
}

/// Returns the place within its page.
#[expect(clippy::expect_used, reason = "a remainder is below its divisor")]
fn within_page(at: u64) -> usize {
    usize::try_from(at % PAGE).expect("a page is short")
}

/// Splits a span of bytes at page borders: page number, offset within the page, length.
fn page_parts(offset: u64, len: usize) -> impl Iterator<Item = (u64, usize, usize)> {
    let mut at = offset;
    let mut left = len;
    std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let within = within_page(at);
        let room = PAGE_LEN - within;
        let part = (at / PAGE, within, room.min(left));
        at = at.saturating_add(len64(part.2));
        left -= part.2;
        Some(part)
    })
}

impl redb::StorageBackend for Overlay {
    fn len(&self) -> io::Result<u64> {
        Ok(locked(&self.written).len)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let written = locked(&self.written);
        let end = offset.saturating_add(len64(out.len()));
        if end > written.len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // Page by page, a file of a million events would take five times as many reads.
        if end <= written.shown && !written.has_pages(offset, end) {
            return read_at(&mut locked(&self.file), offset, out);
        }
        let mut rest = out;
        for (number, within, len) in page_parts(offset, rest.len()) {
            let (part, behind) = rest
                .split_at_mut_checked(len)
                .ok_or(io::ErrorKind::UnexpectedEof)?;
            let fresh;
            let page = if let Some(page) = written.pages.get(&number) {
                page
            } else {
                fresh = self.page(&written, number)?;
                &fresh
            };
            let from = page
                .get(within..within + len)
                .ok_or(io::ErrorKind::UnexpectedEof)?;
            part.copy_from_slice(from);
            rest = behind;
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut written = locked(&self.written);
        self.check_room(len)?;
        written.len = len;
        written.shown = written.shown.min(len);
        written
            .pages
            .retain(|number, _| number.saturating_mul(PAGE) < len);
        if let Some(last) = written.pages.get_mut(&(len / PAGE)) {
            let within = within_page(len);
            last.iter_mut().skip(within).for_each(|byte| *byte = 0);
        }
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut written = locked(&self.written);
        let end = offset.saturating_add(len64(data.len()));
        self.check_room(end)?;
        let mut rest = data;
        for (number, within, len) in page_parts(offset, data.len()) {
            let (part, behind) = rest
                .split_at_checked(len)
                .ok_or(io::ErrorKind::UnexpectedEof)?;
            let mut page = match written.pages.remove(&number) {
                Some(page) => page,
                None => self.page(&written, number)?,
            };
            if let Some(to) = page.get_mut(within..within + len) {
                to.copy_from_slice(part);
            }
            written.pages.insert(number, page);
            rest = behind;
        }
        written.len = written.len.max(end);
        Ok(())
    }
}

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Returns whether a panic on this thread would be caught and become an error: a panic hook can
/// stay silent then.
pub fn panic_is_caught() -> bool {
    DEPTH.get() > 0
}

/// Runs a use of the database, and returns its error or its panic as text.
pub(crate) fn fenced<T, E: std::fmt::Display>(
    what: impl FnOnce() -> Result<T, E>,
) -> Result<T, String> {
    DEPTH.set(DEPTH.get().saturating_add(1));
    let outcome = catch_unwind(AssertUnwindSafe(what));
    DEPTH.set(DEPTH.get().saturating_sub(1));
    match outcome {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.to_string()),
        Err(panic) => Err(panic_words(
            panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied()),
        )),
    }
}

/// What the database panics with where its pages cannot be as they are; it means nothing to a user.
const UNREACHABLE: &str = "internal error: entered unreachable code";

fn panic_words(panic: Option<&str>) -> String {
    match panic {
        None => "the database gave up".to_owned(),
        Some(text) if text.starts_with(UNREACHABLE) => {
            "the database's pages contradict each other".to_owned()
        }
        Some(text) => format!("the database gave up: {text}"),
    }
}

/// A value whose drop may panic: it is dropped inside the fence.
#[derive(Debug)]
pub(crate) struct PanicFence<T> {
    value: Option<T>,
    /// Whether nothing is to be written when it is dropped.
    is_abandoned: bool,
}

impl<T> PanicFence<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            value: Some(value),
            is_abandoned: false,
        }
    }

    /// Fences a database that is only read.
    pub(crate) fn of_reader(value: T) -> Self {
        Self {
            value: Some(value),
            is_abandoned: true,
        }
    }
}

impl<T> Deref for PanicFence<T> {
    type Target = T;

    #[expect(clippy::expect_used, reason = "only the end takes the value out")]
    fn deref(&self) -> &T {
        self.value.as_ref().expect("it has not ended")
    }
}

impl<T> DerefMut for PanicFence<T> {
    #[expect(clippy::expect_used, reason = "only the end takes the value out")]
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_mut().expect("it has not ended")
    }
}

impl<T> Drop for PanicFence<T> {
    fn drop(&mut self) {
        let Some(value) = self.value.take() else {
            return;
        };
        let is_abandoned = self.is_abandoned;
        // What the database cannot write when it is closed is repaired at the next opening.
        let _ended = fenced(move || {
            let _value = value;
            if is_abandoned {
                // A database closes with a commit, and in that it panics twice over some damaged pages, which ends the
                // program. While a panic unwinds it closes without: so one unwinds.
                resume_unwind(Box::new(()));
            }
            Ok::<(), Infallible>(())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use redb::StorageBackend as _;

    #[test]
    fn an_overlay_shows_what_was_written_and_leaves_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let before: Vec<u8> = (0..10_000u32).map(|n| n.to_le_bytes()[0]).collect();
        fs::write(&path, &before).unwrap();
        let overlay = Overlay::open(&path).unwrap();
        let mut expected = before.clone();
        overlay.write(4_090, &[7; 20]).unwrap();
        expected[4_090..4_110].fill(7);
        overlay.set_len(9_000).unwrap();
        overlay.set_len(12_000).unwrap();
        expected.truncate(9_000);
        expected.resize(12_000, 0);
        overlay.write(11_999, &[9, 9]).unwrap();
        expected[11_999] = 9;
        expected.push(9);
        let mut seen = vec![0; expected.len()];
        assert_eq!(overlay.len().unwrap(), 12_001);
        overlay.read(0, &mut seen).unwrap();
        assert_eq!(seen, expected);
        assert!(overlay.read(12_000, &mut [0; 2]).is_err());
        assert_eq!(fs::read(&path).unwrap(), before);
    }

    #[test]
    fn a_lock_that_a_program_holds_while_it_starts_is_awaited() {
        let refusals = Cell::new(2);
        let try_lock = || match refusals.get() {
            0 => Ok(()),
            left => {
                refusals.set(left - 1);
                Err(TryLockError::WouldBlock)
            }
        };
        taken(try_lock, Path::new("x")).unwrap();
        assert_eq!(refusals.get(), 0);
    }

    #[test]
    fn a_file_that_is_written_is_in_use() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let writer = Exclusive::create(&path).unwrap();
        assert!(matches!(Overlay::open(&path), Err(OpenError::InUse { .. })));
        assert!(matches!(
            Exclusive::open(&path),
            Err(OpenError::InUse { .. })
        ));
        assert!(matches!(
            Exclusive::create(&path),
            Err(OpenError::Exists { .. })
        ));
        drop(writer);
        let reader = Overlay::open(&path).unwrap();
        Overlay::open(&path).unwrap();
        assert!(matches!(
            Exclusive::open(&path),
            Err(OpenError::InUse { .. })
        ));
        drop(reader);
    }

    struct Bad;

    impl Drop for Bad {
        fn drop(&mut self) {
            assert!(panic_is_caught());
            panic!("at the end");
        }
    }

    #[test]
    fn a_panic_becomes_words() {
        let text = fenced(|| -> Result<(), io::Error> { panic!("page {}", 7) });
        assert_eq!(text, Err("the database gave up: page 7".to_owned()));
        let text = fenced(|| -> Result<(), io::Error> { panic!("{UNREACHABLE}: page 7") });
        let words = "the database's pages contradict each other";
        assert_eq!(text, Err(words.to_owned()));
        assert!(!panic_is_caught());
    }

    #[test]
    fn a_panic_at_the_end_stays_inside() {
        drop(PanicFence::new(Bad));
    }

    struct Reader(std::rc::Rc<Cell<bool>>);

    impl Drop for Reader {
        fn drop(&mut self) {
            self.0.set(std::thread::panicking());
        }
    }

    /// The database looks at the same to know that it must not write.
    #[test]
    fn a_reader_is_dropped_as_while_a_panic_unwinds() {
        let was_panicking = std::rc::Rc::new(Cell::new(false));
        drop(PanicFence::of_reader(Reader(std::rc::Rc::clone(
            &was_panicking,
        ))));
        assert!(was_panicking.get());
        assert!(!std::thread::panicking());
        drop(PanicFence::new(Reader(std::rc::Rc::clone(&was_panicking))));
        assert!(!was_panicking.get());
    }
}
