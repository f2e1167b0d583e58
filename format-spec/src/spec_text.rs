//! Compares the tables of SPEC.md with the code.

use crate::file::tables;
use crate::limits;
use redb::TableHandle as _;

const SPEC: &str = include_str!("../SPEC.md");

/// Returns the cells of every table row whose first cell is in code font.
fn rows() -> Vec<Vec<String>> {
    SPEC.lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            line.trim_matches('|')
                .split('|')
                .map(|cell| cell.trim().trim_matches('`').to_owned())
                .collect()
        })
        .collect()
}

#[test]
fn every_bound_has_the_value_that_is_written() {
    let len = |value: usize| u64::try_from(value).unwrap();
    let bounds = [
        ("MAX_BODY", len(limits::MAX_BODY)),
        ("EXTENT", len(limits::EXTENT)),
        ("MAX_PREFIX", len(limits::MAX_PREFIX)),
        ("MAX_BLOCK_RAW", len(limits::MAX_BLOCK_RAW)),
        ("MAX_NAME", len(limits::MAX_NAME)),
        ("MAX_RECORD", len(limits::MAX_RECORD)),
        ("MAX_ITEMS", limits::MAX_ITEMS),
        ("MAX_CHAIN", len(limits::MAX_CHAIN)),
        ("MAX_CHAIN_RAW", len(limits::MAX_CHAIN_RAW)),
        ("MAX_STRIPE", len(limits::MAX_STRIPE)),
        ("MAX_MODEL_RAW", len(limits::MAX_MODEL_RAW)),
        ("MAX_GROUP", len(limits::MAX_GROUP)),
        ("SEALED_GROUP", len(limits::SEALED_GROUP)),
        ("MAX_OBJECT_FRAME", len(limits::MAX_OBJECT_FRAME)),
        ("BLOCK_RECORDS", len(limits::BLOCK_RECORDS)),
        ("BLOCK_RAW", len(limits::BLOCK_RAW)),
        ("BLOCK_GROUP", u64::from(limits::BLOCK_GROUP)),
        ("KEYFRAME_BLOCKS", u64::from(limits::KEYFRAME_BLOCKS)),
        ("KEYFRAME_VERSIONS", u64::from(limits::KEYFRAME_VERSIONS)),
        ("REFERENCE_BLOCKS", u64::from(limits::REFERENCE_BLOCKS)),
        ("REFERENCE_DEPTH", u64::from(limits::REFERENCE_DEPTH)),
        ("CHECKPOINT_RECORDS", limits::CHECKPOINT_RECORDS),
        ("BLOB_MIN", len(limits::BLOB_MIN)),
        ("PARITY_GROUP", limits::PARITY_GROUP),
        ("PARITY_LEAST", limits::PARITY_LEAST),
        ("SEALED_BLOCK_RECORDS", len(limits::SEALED_BLOCK_RECORDS)),
        ("SEALED_GROUP_RAW", len(limits::SEALED_GROUP_RAW)),
        ("KEYFRAME_GROUPS", u64::from(limits::KEYFRAME_GROUPS)),
        ("REFERENCE_GROUPS", u64::from(limits::REFERENCE_GROUPS)),
        ("MODELLED_RECORDS", limits::MODELLED_RECORDS),
        (
            "MODELLED_BLOCK_RECORDS",
            len(limits::MODELLED_BLOCK_RECORDS),
        ),
        ("MODELLED_BLOCK_RAW", len(limits::MODELLED_BLOCK_RAW)),
        (
            "MODELLED_GROUP_RECORDS",
            len(limits::MODELLED_GROUP_RECORDS),
        ),
        (
            "SMALLEST_GROUP_RECORDS",
            len(limits::SMALLEST_GROUP_RECORDS),
        ),
        (
            "SEALED_CHECKPOINT_RECORDS",
            limits::SEALED_CHECKPOINT_RECORDS,
        ),
        ("STRIPE_BYTES", len(limits::STRIPE_BYTES)),
        ("LEAST_STRIPE", len(limits::LEAST_STRIPE)),
        ("SHARDS_PER_RECOVERY", len(limits::SHARDS_PER_RECOVERY)),
        ("LEAST_RECOVERY", len(limits::LEAST_RECOVERY)),
    ];
    let written: Vec<(String, u64)> = rows()
        .into_iter()
        .filter(|row| row[0].chars().all(|c| c.is_ascii_uppercase() || c == '_'))
        .map(|row| (row[0].clone(), row[1].parse().unwrap()))
        .collect();
    let known: Vec<(String, u64)> = bounds
        .iter()
        .map(|(name, value)| ((*name).to_owned(), *value))
        .collect();
    assert_eq!(written, known);
}

#[test]
fn every_table_and_key_is_the_one_that_is_written() {
    let names: Vec<String> = rows().into_iter().map(|row| row[0].clone()).collect();
    for name in [
        tables::META.name(),
        tables::EXTENTS.name(),
        tables::INDEXES.name(),
        tables::DIRECTORY.name(),
        tables::CHECKPOINTS.name(),
        tables::TAIL.name(),
        tables::BLOCKS.name(),
        tables::PARITY.name(),
        tables::FORMAT_KEY,
        tables::STATE_KEY,
    ] {
        assert!(names.iter().any(|known| known == name), "{name}");
    }
    assert!(SPEC.contains(&format!("# The reel, format {}", crate::FORMAT)));
    assert!(SPEC.contains(&format!("this program reads 0.1 to {}.", crate::FORMAT)));
    let word = std::str::from_utf8(tables::FORMAT_WORD).unwrap();
    assert!(SPEC.contains(&format!("the word `{word}`")));
}
