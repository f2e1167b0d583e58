//! Owns the definitions of the database's tables: built-in key and value types only. Refuses names
//! and texts in keys: keys are numbers, or fixed words of the format.

use redb::TableDefinition;

/// Facts of the whole file, by fixed words.
pub(crate) const META: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("meta");
/// Segments not yet sealed, one a commit, by commit number.
pub(crate) const TAIL: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("tail");
/// Sealed bodies: one stream of bytes in extents, by extent number.
pub(crate) const EXTENTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("ext");
/// The blocks' indexes: one stream of bytes in extents, by extent number.
pub(crate) const INDEXES: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("idx");
/// The directory: a row a sealed block, by block number.
pub(crate) const DIRECTORY: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("dir");

/// Checkpoints, by checkpoint number, from 1.
pub(crate) const CHECKPOINTS: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("cp");

/// The key of the format's version in [`META`]. Its value never changes its form: the word
/// `kubereel`, then major and minor as two bytes each.
pub(crate) const FORMAT_KEY: &str = "format";
/// The key of the file's state in [`META`].
pub(crate) const STATE_KEY: &str = "state";
/// What the value of [`FORMAT_KEY`] begins with.
pub(crate) const FORMAT_WORD: &[u8; 8] = b"kubereel";
