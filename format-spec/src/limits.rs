//! The bounds that a writer keeps and a reader checks before it allocates, each with its reason;
//! and the version of the format, which decides whether this program can read a file.

use bincode::{Decode, Encode};
use std::fmt;

/// The longest body, in bytes: 32 MiB.
///
/// It is one constant for the recorder, the writer and every reader. etcd refuses values above
/// about 1.5 MB by default, so only a misbehaving or misconfigured server comes near; longer lines
/// are stored in chunks of this size and marked.
pub const MAX_BODY: usize = 32 * 1024 * 1024;

/// The interval of commits, in milliseconds.
///
/// With the queue before the writer, it limits the loss of a kill to half a second.
pub const COMMIT_EVERY_MILLIS: u64 = 250;

/// The largest page of a list, in objects.
///
/// 500 is the limit of kubectl and informers; the recorder reduces it when pages become large.
pub const MAX_LIST_PAGE: u32 = 500;

/// The records of a block, events and notes, at which it is sealed.
pub(crate) const BLOCK_RECORDS: usize = 1024;

/// The bytes of a block's columns at which it is sealed: decoding one object must stay cheap.
pub(crate) const BLOCK_RAW: usize = 512 * 1024;

/// The largest columns of a block, in bytes: a full block and one more body at its end.
pub(crate) const MAX_BLOCK_RAW: usize = BLOCK_RAW + MAX_BODY + 1024 * 1024;

/// How many blocks use the text of the first one as their compression prefix.
///
/// If the first block is lost, the others are lost too, so the group is small.
pub(crate) const BLOCK_GROUP: u32 = 16;

/// The bytes of the first block's columns that are the prefix.
pub(crate) const MAX_PREFIX: usize = 1024 * 1024;

/// The number of records between two checkpoints.
pub(crate) const CHECKPOINT_RECORDS: u64 = 65_536;

/// The number of records between two commits when a reel is written at once.
pub(crate) const COMMIT_RECORDS: u64 = 16_384;

/// The bytes of one row of the extent table: the unit in which sealed frames are stored.
///
/// The database rounds values up to powers of two of its page: 32,700 bytes waste 1 %, 40,000 waste
/// 64 %.
pub(crate) const EXTENT: usize = 32_700;

/// How many extents of the bodies share a parity row in a finished file: the rows cost a sixteenth
/// of the extents.
pub(crate) const PARITY_GROUP: u64 = 16;

/// The records at which a block of a sealed file is full, unless it reaches [`BLOCK_RAW`] before.
pub(crate) const SEALED_BLOCK_RECORDS: usize = 4096;

/// How many blocks of a large sealed file are a group, whose bodies lie by object and share a text.
pub(crate) const SEALED_GROUP: usize = 32;

/// The bytes of its blocks' columns at which such a group is full.
pub(crate) const SEALED_GROUP_RAW: usize = SEALED_GROUP * BLOCK_RAW;

/// The largest columns of bodies that lie by object, in bytes: those of one object may be all of a full group's, with
/// one more block at its end.
pub(crate) const MAX_OBJECT_FRAME: usize = SEALED_GROUP_RAW + MAX_BLOCK_RAW;

/// After this many groups since its last whole version, an object is written whole.
pub(crate) const KEYFRAME_GROUPS: u8 = 4;

/// A new object is encoded against a similar one only if that one needs at most this many groups.
pub(crate) const REFERENCE_GROUPS: u8 = 2;

/// A recording with at most this many records is sealed with a model: what was decoded of it stays in a reader's
/// memory. Of a larger one each question would decode a group anew, for a tenth of a second and longer.
pub(crate) const MODELLED_RECORDS: u64 = 32_768;

/// A block that a model codes is full with this many records.
pub(crate) const MODELLED_BLOCK_RECORDS: usize = 2048;

/// A block that a model codes is full once its columns hold this many bytes.
pub(crate) const MODELLED_BLOCK_RAW: usize = 1024 * 1024;

/// A group that a model codes is full with this many records: reading one body decodes its group up to it.
pub(crate) const MODELLED_GROUP_RECORDS: usize = 8192;

/// The same for a large recording of which the smallest file is wanted.
pub(crate) const SMALLEST_GROUP_RECORDS: usize = 32_768;

/// A block of a sealed file whose columns are longer than this is compressed by itself, without a model: a model takes
/// a microsecond for a few bytes, so that a forged frame must not stand for many.
pub(crate) const MAX_MODEL_RAW: usize = 2 * 1024 * 1024;

/// The most blocks of a group that a reader decodes for one.
pub(crate) const MAX_GROUP: usize = 16;

/// The number of records between two checkpoints of a sealed file.
pub(crate) const SEALED_CHECKPOINT_RECORDS: u64 = 131_072;

/// The length at which a stripe of a sealed file ends, behind the row that reaches it.
pub(crate) const STRIPE_BYTES: usize = 8 << 20;

/// The longest stripe: one with a long row at its end.
pub(crate) const MAX_STRIPE: usize = STRIPE_BYTES + (1 << 20);

/// The smallest sealed file with recovery shards, in bytes: in a smaller one they would be too
/// large a part.
pub(crate) const LEAST_STRIPE: usize = 32 << 10;

/// How many shards of a stripe share a recovery shard.
pub(crate) const SHARDS_PER_RECOVERY: usize = 64;

/// The fewest recovery shards of a stripe: a page of 4 KiB, the unit in which disks lose data, lies in 17 of the
/// shortest shards.
pub(crate) const LEAST_RECOVERY: usize = 17;

/// The fewest extents of a file with parity: in a smaller one it would be too large a part.
pub(crate) const PARITY_LEAST: u64 = 4;

/// After this many blocks since its last whole version, an object is written whole.
pub(crate) const KEYFRAME_BLOCKS: u8 = 8;

/// After this many versions since its last whole version, an object is written whole.
pub(crate) const KEYFRAME_VERSIONS: u16 = 64;

/// A new object is encoded against a similar one only if that one needs at most this many blocks.
pub(crate) const REFERENCE_BLOCKS: u8 = 4;

/// A new object is encoded against a similar one only if fewer references than this lie behind it.
pub(crate) const REFERENCE_DEPTH: u8 = 12;

/// The largest number of versions that a reader follows for one body. A writer stays below
/// [`KEYFRAME_VERSIONS`].
pub(crate) const MAX_CHAIN: usize = 256;

/// The largest bytes of decompressed blocks that a reader keeps for one body.
///
/// A writer starts over after [`KEYFRAME_BLOCKS`]; twice as many of the largest blocks fit. Without
/// this bound a forged file of 1 MB makes a reader allocate 9 GB: [`MAX_CHAIN`] blocks of a few
/// kilobytes each that decompress to [`MAX_BLOCK_RAW`].
pub(crate) const MAX_CHAIN_RAW: usize = 2 * 8 * MAX_BLOCK_RAW;

/// The shortest piece of text that goes to the blob log once and is referred to afterwards, in
/// bytes.
pub(crate) const BLOB_MIN: usize = 200;

/// The longest name, namespace, uid, resourceVersion or resource name, in bytes.
///
/// Kubernetes allows 253 for names; this bound only keeps hostile input small.
pub const MAX_NAME: usize = 4096;

/// The largest decoded record (a note, a directory row), in bytes.
pub(crate) const MAX_RECORD: usize = 64 * 1024 * 1024;

/// The largest number of objects, versions or blobs in one reel: their ids have 32 bits.
pub(crate) const MAX_ITEMS: u64 = 1 << 31;

/// The bytes of decoded blocks that a reader caches of a recording that a model codes: to decode a group of a large one
/// takes a second, and what lies behind one body can be eight groups.
pub(crate) const MODELLED_CACHE: usize = 192 * 1024 * 1024;

/// The bytes of decoded blocks and blobs that a reader caches.
pub(crate) const READ_CACHE: usize = 48 * 1024 * 1024;

/// The bytes of deltas and texts that are taken out of blocks to put many bodies together.
pub(crate) const GATHERED: usize = 96 * 1024 * 1024;

/// Converts a length.
#[expect(clippy::expect_used, reason = "the platform's width is checked below")]
pub(crate) fn len64(len: usize) -> u64 {
    u64::try_from(len).expect("a length has at most 64 bits")
}

/// Converts a number of 32 bits to an index.
#[expect(clippy::expect_used, reason = "the platform's width is checked below")]
pub(crate) fn place32(number: u32) -> usize {
    usize::try_from(number).expect("a place in memory has at least 32 bits")
}

const _: () = {
    assert!(usize::BITS >= u32::BITS && usize::BITS <= u64::BITS);
    // Writer and reader must agree.
    assert!(MAX_CHAIN > 128 && KEYFRAME_VERSIONS < 128);
    assert!(REFERENCE_BLOCKS < KEYFRAME_BLOCKS && KEYFRAME_BLOCKS <= 8);
    assert!(MAX_PREFIX >= BLOCK_RAW);
    assert!(MAX_RECORD > MAX_BODY);
};

/// The version of the format: a new minor adds, a new major changes meaning.
///
/// A program reads every minor version of its major up to its own, and 0.1 to 0.7. From 1.0 on every later program
/// reads what an earlier one wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct FormatVersion {
    /// Changes of meaning.
    pub major: u16,
    /// Additions.
    pub minor: u16,
}

/// The version that this program writes. 0.3 adds the reason
/// [`NotCoveredReason::MemoryBudget`](crate::NotCoveredReason::MemoryBudget), which an older reader cannot
/// decode. 0.4 adds the headers of rows, which an older reader would take for content, and the note
/// [`Note::Unreadable`](crate::Note::Unreadable). 0.5 adds sealed files, which an older reader would not take
/// for a reel. 0.6 and 0.7 add forms of frames, in which sealed files keep bodies and indexes, and which an older
/// reader refuses. 1.0 has what 0.7 had, and is read by every later program.
pub const FORMAT: FormatVersion = FormatVersion { major: 1, minor: 0 };

/// The last version before 1.0.
const LAST_BEFORE_1: FormatVersion = FormatVersion { major: 0, minor: 7 };

/// The redaction policy that redacts nothing.
pub const REDACTION_NONE: u32 = 0;

/// The beginning of a note [`crate::Note::Provenance`] in which a session describes its redactions:
/// the policy, the user's own rules, and the number of values by rule.
pub const REDACTION_PREFIX: &str = "redaction: ";

/// The beginning of the text that replaces a secret value; its size and a digest follow.
pub const REDACTED: &str = "redacted by kubereel: ";

/// The beginning of the same text in base64, as the values of a Secret are.
pub const REDACTED_BASE64: &str = "cmVkYWN0ZWQgYnkga3ViZXJlZWw6";

impl fmt::Display for FormatVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FormatVersion {
    /// Returns whether this program reads files of that version.
    pub const fn is_readable(self) -> bool {
        let newest = match self.major {
            0 => LAST_BEFORE_1,
            _ => FORMAT,
        };
        self.major == newest.major && self.minor <= newest.minor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_came_before_and_nothing_that_comes_after() {
        let FormatVersion { major, minor } = FORMAT;
        let is_readable = |major, minor| FormatVersion { major, minor }.is_readable();
        assert!((0..=minor).all(|minor| is_readable(major, minor)));
        assert!((1..=7).all(|minor| is_readable(0, minor)));
        assert!(!is_readable(0, 8));
        assert!(!is_readable(major, minor + 1));
        assert!(!is_readable(major + 1, 0));
    }
}
