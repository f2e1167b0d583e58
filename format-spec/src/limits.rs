//! Every bound that a writer keeps and a reader checks before it allocates, each with its reason; and the
//! format's version, which decides whether this program can read a file.

use bincode::{Decode, Encode};
use std::fmt;

/// The longest object body, in bytes, that is kept as one body: 32 MiB.
///
/// One constant for recorder, writer and every reader. etcd refuses values above some 1.5 MB by
/// default, so that only a misbehaving or misconfigured server comes near; longer lines are kept in
/// chunks of this size and marked.
pub const MAX_BODY: usize = 32 * 1024 * 1024;

/// How often the writer makes what it holds durable, in milliseconds.
///
/// With the queue in front of it this bounds what a kill can lose to half a second.
pub const COMMIT_EVERY_MILLIS: u64 = 250;

/// The largest page of a list that the recorder asks for, in objects.
///
/// 500 is what kubectl and informers ask for; the recorder goes lower when pages grow large.
pub const MAX_LIST_PAGE: u32 = 500;

/// A block is sealed once it holds this many records, in events and notes.
pub(crate) const BLOCK_RECORDS: usize = 1024;

/// A block is sealed once its columns hold this many bytes: decoding one object must stay cheap.
pub(crate) const BLOCK_RAW: usize = 512 * 1024;

/// The most bytes that a block's columns can hold: a full block and one more body at its end.
pub(crate) const MAX_BLOCK_RAW: usize = BLOCK_RAW + MAX_BODY + 1024 * 1024;

/// How many blocks share the text of the first one as a compression prefix.
///
/// Losing the first loses the others, so that the group is small.
pub(crate) const BLOCK_GROUP: u32 = 16;

/// How many bytes of the first block's columns serve as the prefix.
pub(crate) const MAX_PREFIX: usize = 1024 * 1024;

/// The live objects are written once more after this many records.
pub(crate) const CHECKPOINT_RECORDS: u64 = 65_536;

/// How many records are written before a commit when a reel is written at once.
pub(crate) const COMMIT_RECORDS: u64 = 16_384;

/// The bytes of one row of the extent table, and so the unit in which sealed frames are stored.
///
/// The database rounds values up to powers of two of its page: 32,700 bytes waste 1 %, 40,000 waste
/// 64 %.
pub(crate) const EXTENT: usize = 32_700;

/// How many extents of the bodies share a parity row in a finished file: it costs a sixteenth of them.
pub(crate) const PARITY_GROUP: u64 = 16;

/// A block of a sealed file is full with this many records, or with [`BLOCK_RAW`].
pub(crate) const SEALED_BLOCK_RECORDS: usize = 4096;

/// How many blocks of a sealed file share a text.
pub(crate) const SEALED_GROUP: usize = 16;

/// After this many records of a sealed file the live objects are written once more.
pub(crate) const SEALED_CHECKPOINT_RECORDS: u64 = 131_072;

/// A stripe of a sealed file ends behind the row with which it reaches this length.
pub(crate) const STRIPE_BYTES: usize = 8 << 20;

/// The longest stripe: one with a long row at its end.
pub(crate) const MAX_STRIPE: usize = STRIPE_BYTES + (1 << 20);

/// A sealed file with fewer bytes than this has no recovery shards: they would cost too large a part of it.
pub(crate) const LEAST_STRIPE: usize = 32 << 10;

/// How many shards of a stripe share a recovery shard.
pub(crate) const SHARDS_PER_RECOVERY: usize = 32;

/// A file with fewer extents than this has no parity: it would cost too large a part of it.
pub(crate) const PARITY_LEAST: u64 = 4;

/// An object that is touched in this many blocks since its last whole version is written whole.
pub(crate) const KEYFRAME_BLOCKS: u8 = 8;

/// An object that has this many versions since its last whole version is written whole.
pub(crate) const KEYFRAME_VERSIONS: u16 = 64;

/// A new object is written against a similar one only while that one needs at most this many blocks.
pub(crate) const REFERENCE_BLOCKS: u8 = 4;

/// A new object is written against a similar one only while fewer references than this lie behind it.
pub(crate) const REFERENCE_DEPTH: u8 = 12;

/// The most versions that a reader follows back for one body. A writer stays below
/// [`KEYFRAME_VERSIONS`].
pub(crate) const MAX_CHAIN: usize = 256;

/// The most bytes of decompressed blocks that a reader holds for one body.
///
/// A writer starts anew after [`KEYFRAME_BLOCKS`]; twice as many of the largest blocks fit. Without
/// this bound a forged file of 1 MB makes a reader hold 9 GB: [`MAX_CHAIN`] blocks of a few kilobytes
/// each that decompress to [`MAX_BLOCK_RAW`].
pub(crate) const MAX_CHAIN_RAW: usize = 2 * 8 * MAX_BLOCK_RAW;

/// A piece of text of at least this many bytes goes to the blob log once and is named from then on.
pub(crate) const BLOB_MIN: usize = 200;

/// The most bytes of a name, namespace, uid, resourceVersion or resource name.
///
/// Kubernetes itself stops at 253 for names; the bound only keeps hostile input small.
pub const MAX_NAME: usize = 4096;

/// The most bytes that one record (a note, a directory row) can decode to.
pub(crate) const MAX_RECORD: usize = 64 * 1024 * 1024;

/// The most objects, versions or blobs in one reel: their numbers are 32 bits wide.
pub(crate) const MAX_ITEMS: u64 = 1 << 31;

/// How many bytes of decoded blocks and blobs a reader keeps.
pub(crate) const READ_CACHE: usize = 48 * 1024 * 1024;

/// Widens a length.
#[expect(clippy::expect_used, reason = "the platform's width is checked below")]
pub(crate) fn len64(len: usize) -> u64 {
    u64::try_from(len).expect("a length has at most 64 bits")
}

/// Returns the place in memory that a number of 32 bits names.
#[expect(clippy::expect_used, reason = "the platform's width is checked below")]
pub(crate) fn place32(number: u32) -> usize {
    usize::try_from(number).expect("a place in memory has at least 32 bits")
}

const _: () = {
    assert!(usize::BITS >= u32::BITS && usize::BITS <= u64::BITS);
    // A reader follows what a writer writes.
    assert!(MAX_CHAIN > 128 && KEYFRAME_VERSIONS < 128);
    assert!(REFERENCE_BLOCKS < KEYFRAME_BLOCKS && KEYFRAME_BLOCKS <= 8);
    assert!(MAX_PREFIX >= BLOCK_RAW);
    assert!(MAX_RECORD > MAX_BODY);
};

/// The version of the format: a new minor adds, a new major changes meaning.
///
/// A program reads every minor version of its major up to its own. Before 1.0 the format owes no more.
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
/// for a reel.
pub const FORMAT: FormatVersion = FormatVersion { major: 0, minor: 5 };

/// The redaction policy that keeps everything.
pub const REDACTION_NONE: u32 = 0;

/// The beginning of a note [`crate::Note::Provenance`] in which a session says what was redacted: the
/// policy, the user's own rules, how many values by which rule.
pub const REDACTION_SAYS: &str = "redaction: ";

impl fmt::Display for FormatVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FormatVersion {
    /// Returns whether this program reads files of that version.
    pub const fn is_readable(self) -> bool {
        self.major == FORMAT.major && self.minor <= FORMAT.minor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_came_before_and_nothing_that_comes_after() {
        let FormatVersion { major, minor } = FORMAT;
        let is_readable = |major, minor| FormatVersion { major, minor }.is_readable();
        assert!(is_readable(major, minor));
        assert!(is_readable(major, minor - 1));
        assert!(!is_readable(major, minor + 1));
        assert!(!is_readable(major + 1, 0));
    }
}
