//! Rewrites a reel in its tightest form.
//!
//! Invariants:
//! * The new file is complete, durable and compared with the old one, record by record, before it has a name; until
//!   then the old one stands.
//! * The old file stays locked until the new one has its name: nobody resumes it meanwhile.
//! * Nothing of the recording changes: the digests of both are equal.

use crate::digest::{DigestBuilder, RecordingDigest};
use crate::error::SealError;
use crate::file::{Reel, SealWriter, publish, replace};
use crate::id::Seq;
use crate::limits::len64;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
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
/// If the reel is damaged, or the new file cannot be written. The old one stands then, and nothing is left behind.
pub fn seal(reel: &Reel, to: &Path, mut progress: impl FnMut(u64)) -> Result<SealStats, SealError> {
    if let Some(damage) = reel.damage().first() {
        return Err(SealError::Damaged {
            place: damage.place.clone(),
            cause: damage.cause.clone(),
        });
    }
    let is_in_place = to == reel.path();
    if !is_in_place && to.symlink_metadata().is_ok() {
        return Err(SealError::Exists {
            path: to.to_owned(),
        });
    }
    let failed = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::AlreadyExists if !is_in_place => SealError::Exists {
            path: to.to_owned(),
        },
        _ => SealError::Write {
            path: to.to_owned(),
            source,
        },
    };
    // What a link names is replaced, not the link.
    let target = if is_in_place {
        to.canonicalize().map_err(failed)?
    } else {
        to.to_owned()
    };
    let part = draw_part_path(&target);
    let outcome = write(reel, &part, &mut progress).and_then(|stats| {
        if is_in_place {
            replace(&part, &target).map_err(failed)?;
        } else {
            publish(&part, &target).map_err(failed)?;
        }
        Ok(stats)
    });
    // Gone already if all went well.
    drop(std::fs::remove_file(&part));
    outcome
}

/// Returns a path beside the file under which the new one is written until it is complete. It is drawn at random:
/// what an interrupted seal left is in nobody's way, and two at once do not share it.
fn draw_part_path(target: &Path) -> PathBuf {
    let mut name = target.file_name().unwrap_or_default().to_owned();
    let number = RandomState::new().hash_one(target);
    name.push(format!(".{number:016x}.part"));
    target.with_file_name(name)
}

fn write(reel: &Reel, part: &Path, progress: &mut impl FnMut(u64)) -> Result<SealStats, SealError> {
    let mut writer = SealWriter::create(reel, part)?;
    let mut digest = DigestBuilder::new(reel);
    let mut notes = reel.notes().iter().peekable();
    for event in reel.scan(Seq(0)) {
        let event = event?;
        let seq = event.head.seq;
        while let Some(note) = notes.next_if(|note| note.seq < seq) {
            writer.note(note)?;
        }
        writer.event(&event)?;
        digest.take(&event);
        progress(seq.0);
    }
    for note in notes {
        writer.note(note)?;
    }
    let file_bytes = writer.end()?;
    let digest = digest.finish()?;
    let sealed = Reel::open(part)?;
    let end = reel.end().0;
    let found = sealed.digest(|done| progress(end.saturating_add(done)))?;
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
