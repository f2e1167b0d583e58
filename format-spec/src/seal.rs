//! Rewrites a reel in its tightest form, and a sealed one in the form that takes more records.
//!
//! Invariants:
//! * The new file is complete, durable and compared with the old one, record by record, before it has a name; until
//!   then the old one is unchanged.
//! * The old file stays locked until the new one has its name: nobody resumes it meanwhile.
//! * Only the old file is replaced: another that took its name meanwhile stays.
//! * Nothing of the recording changes: the digests of both are equal.

use crate::digest::{DigestBuilder, RecordingDigest};
use crate::error::{AppendError, RecoverError, SealError};
use crate::file::{
    Bounds, FileIdentity, PART_DIGITS, Reel, Replacement, SealDensity, SealWriter, draw_part_path,
    keep_access, publish, replace, rewrite,
};
use crate::limits::len64;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// What a reel was before it was sealed, and what it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealStats {
    /// Events in it.
    pub events: u64,
    /// Notes in it.
    pub notes: u64,
    /// The old file's length, in bytes.
    pub bytes_before: u64,
    /// The new file's length, in bytes.
    pub file_bytes: u64,
    /// The digest of the recording, which is that of both.
    pub digest: RecordingDigest,
}

/// Writes a reel in its tightest form to `to`: its own path, or one where no file is. `progress` receives how many
/// of `2 * reel.end()` steps are done. Interrupted at any point it leaves the old file as it was, and beside it perhaps
/// a file `NAME.….part`.
///
/// # Errors
///
/// If the reel is damaged, or the new file cannot be written. The old one is unchanged then, and nothing is left behind.
pub fn seal(
    reel: &Reel,
    to: &Path,
    density: SealDensity,
    mut progress: impl FnMut(u64),
) -> Result<SealStats, SealError> {
    let is_in_place = to == reel.path();
    if !is_in_place && to.symlink_metadata().is_ok() {
        return Err(SealError::Exists {
            path: to.to_owned(),
        });
    }
    let go_on = |done| {
        progress(done);
        ControlFlow::Continue(())
    };
    if is_in_place {
        let target = target(reel.path()).map_err(|source| written(reel.path(), source))?;
        return SealedCopy::write_beside(reel, &target, density, go_on)?.replace(reel);
    }
    let copy = SealedCopy::write_beside(reel, to, density, go_on)?;
    publish(&copy.part, to).map_err(|source| match source.kind() {
        std::io::ErrorKind::AlreadyExists => SealError::Exists {
            path: to.to_owned(),
        },
        _ => written(to, source),
    })?;
    Ok(copy.stats)
}

fn written(path: &Path, source: std::io::Error) -> SealError {
    SealError::Write {
        path: path.to_owned(),
        source,
    }
}

/// A reel in its tightest form that is complete, durable and compared, beside the reel itself. It is removed when it is
/// dropped, unless it took the reel's place.
#[derive(Debug)]
pub struct SealedCopy {
    part: PathBuf,
    stats: SealStats,
}

impl SealedCopy {
    /// Writes one of the usual density. `progress` receives how many of `2 * reel.end()` steps are done, and can end the work; it is asked
    /// at each record, but not while a group of blocks is compressed, which can take seconds.
    ///
    /// # Errors
    ///
    /// If the reel is damaged, the copy cannot be written, or `progress` ends it. Nothing is left behind then.
    pub fn write(
        reel: &Reel,
        progress: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Self, SealError> {
        let target = target(reel.path()).map_err(|source| written(reel.path(), source))?;
        Self::write_beside(reel, &target, SealDensity::Usual, progress)
    }

    fn write_beside(
        reel: &Reel,
        target: &Path,
        density: SealDensity,
        mut progress: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Self, SealError> {
        if let Some(damage) = reel.damage().first() {
            return Err(SealError::Damaged {
                place: damage.place.clone(),
                cause: damage.cause.clone(),
            });
        }
        let part = draw_part_path(target);
        match write(reel, &part, density, &mut progress) {
            Ok(stats) => Ok(Self { part, stats }),
            Err(error) => {
                // Perhaps it was never made.
                drop(std::fs::remove_file(&part));
                Err(error)
            }
        }
    }

    /// Returns what it is.
    pub const fn stats(&self) -> &SealStats {
        &self.stats
    }

    /// Puts it in the place of the reel that it was made of, in one step.
    ///
    /// # Errors
    ///
    /// If the file cannot be replaced, or the reel's path names another file by now. The reel is unchanged.
    pub fn replace(self, reel: &Reel) -> Result<SealStats, SealError> {
        let failed = |source| written(reel.path(), source);
        let replacement = match target(reel.path()) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Replacement::Moved,
            target => {
                keep_access(&self.part, reel.facts()).map_err(failed)?;
                let identity = FileIdentity::of(reel.facts());
                replace(&self.part, &target.map_err(failed)?, identity).map_err(failed)?
            }
        };
        match replacement {
            Replacement::Done => Ok(self.stats),
            Replacement::Moved => Err(SealError::Moved {
                path: reel.path().to_owned(),
            }),
        }
    }
}

impl Drop for SealedCopy {
    fn drop(&mut self) {
        // Gone already if it took the reel's place.
        drop(std::fs::remove_file(&self.part));
    }
}

/// Rewrites a sealed reel in its place as one that takes more records. `progress` receives the number of records that
/// are done.
///
/// # Errors
///
/// If the reel is damaged, the new file cannot be written, or a resumed one could not keep the bound of its length.
/// The sealed file is unchanged then, and nothing is left behind.
pub fn unseal(
    reel: &Reel,
    bounds: Bounds,
    progress: impl FnMut(u64),
) -> Result<SealStats, RecoverError> {
    if let Some(damage) = reel.damage().first() {
        return Err(RecoverError::Damaged {
            place: damage.place.clone(),
            cause: damage.cause.clone(),
        });
    }
    let named = |source| RecoverError::Name {
        path: reel.path().to_owned(),
        source,
    };
    let target = target(reel.path()).map_err(named)?;
    let part = draw_part_path(&target);
    let outcome = rewrite(reel, &part, bounds, progress).and_then(|stats| {
        // The database grows by doubling, and a packed file has no free page.
        if let Some(max) = bounds.file_bytes
            && stats.file_bytes.saturating_mul(2) > max
        {
            let path = target.clone();
            return Err(AppendError::OverBound { path, max }.into());
        }
        keep_access(&part, reel.facts()).map_err(named)?;
        let digest = reel.digest(|_done| {})?;
        if Reel::open(&part)?.digest(|_done| {})? != digest {
            return Err(RecoverError::Changed);
        }
        let identity = FileIdentity::of(reel.facts());
        match replace(&part, &target, identity).map_err(named)? {
            Replacement::Done => {}
            Replacement::Moved => {
                let path = target.clone();
                return Err(RecoverError::Moved { path });
            }
        }
        Ok(SealStats {
            events: stats.events,
            notes: stats.notes,
            bytes_before: reel.sizes().file,
            file_bytes: stats.file_bytes,
            digest,
        })
    });
    // Gone already if all went well.
    drop(std::fs::remove_file(&part));
    outcome
}

/// Removes what [`seal`], [`SealedCopy`] and [`unseal`] left beside a reel when they were killed.
///
/// The caller holds the reel's lock for writing, or knows that no other program works on it: the copy of one that is
/// at work would be removed, too, and its work fail.
pub fn remove_interrupted_copies(reel: &Path) {
    let Ok(target) = target(reel) else {
        return;
    };
    let (Some(folder), Some(name)) = (target.parent(), target.file_name()) else {
        return;
    };
    let Ok(files) = std::fs::read_dir(folder) else {
        return;
    };
    for file in files.filter_map(Result::ok) {
        let found = file.file_name();
        let middle = found
            .as_encoded_bytes()
            .strip_prefix(name.as_encoded_bytes())
            .and_then(|rest| rest.strip_prefix(b"."))
            .and_then(|rest| rest.strip_suffix(b".part"));
        let is_drawn =
            |digits: &[u8]| digits.len() == PART_DIGITS && digits.iter().all(u8::is_ascii_hexdigit);
        if middle.is_some_and(is_drawn) {
            // It is not in the way.
            drop(std::fs::remove_file(file.path()));
        }
    }
}

/// Returns the file that a path means: what a link names is replaced, not the link.
fn target(path: &Path) -> std::io::Result<PathBuf> {
    path.canonicalize()
}

fn write(
    reel: &Reel,
    part: &Path,
    density: SealDensity,
    progress: &mut impl FnMut(u64) -> ControlFlow<()>,
) -> Result<SealStats, SealError> {
    let mut writer = SealWriter::create(reel, part, density)?;
    let mut digest = DigestBuilder::new(reel);
    let mut notes = reel.notes().iter().peekable();
    for event in reel.scan() {
        let event = event?;
        let seq = event.head.seq;
        while let Some(note) = notes.next_if(|note| note.seq < seq) {
            writer.note(note)?;
        }
        writer.event(&event)?;
        digest.take(&event);
        if progress(seq.0).is_break() {
            return Err(SealError::Interrupted);
        }
    }
    for note in notes {
        writer.note(note)?;
    }
    let file_bytes = writer.end()?;
    let digest = digest.finish()?;
    let sealed = Reel::open(part)?;
    let end = reel.end().0;
    let mut flow = ControlFlow::Continue(());
    let found = sealed.digest(|done| {
        if flow.is_continue() {
            flow = progress(end.saturating_add(done));
        }
    })?;
    if flow.is_break() {
        return Err(SealError::Interrupted);
    }
    let is_same = found == digest
        && sealed.is_sealed()
        && sealed.is_finished() == reel.is_finished()
        && sealed.objects().eq(reel.objects());
    if !is_same {
        return Err(SealError::Changed);
    }
    Ok(SealStats {
        events: reel.event_count(),
        notes: len64(reel.notes().len()),
        bytes_before: reel.sizes().file,
        file_bytes,
        digest,
    })
}
