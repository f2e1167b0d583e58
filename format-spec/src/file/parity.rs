//! Redundancy of a finished file: parity rows, from which a damaged extent is restored, and second
//! copies of the directory rows.
//!
//! The extents are dealt to groups in turn, so that neighbours in the file are in different groups.
//! The exclusive or of a group's extents is one more row. A row beside it names the members with
//! their checksums: a restored extent is compared with them, so an outdated parity (the reel was
//! resumed) is useless but harmless.

use crate::codec::varint::FieldReader;
use crate::codec::{CodecError, varint};
use crate::file::row::{RowHeader, RowKind, RowOwner, content_of};
use crate::file::tables;
use crate::limits::{EXTENT, PARITY_GROUP, PARITY_LEAST, len64, place32};
use redb::{ReadTransaction, ReadableTable as _, WriteTransaction};
use xxhash_rust::xxh3::xxh3_64;

/// The largest number of members of a group.
const MOST_MEMBERS: usize = 256;
/// The bytes of directory rows that are copied into one row.
const COPY_BYTES: usize = 3 * 1024;
/// The key of the first row with copies.
const FIRST_COPY: u64 = 1 << 32;

/// An extent of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParityMember {
    pub(crate) kind: RowKind,
    pub(crate) number: u64,
    pub(crate) len: u32,
    pub(crate) writer: u32,
    sum: u64,
}

impl ParityMember {
    /// Returns whether bytes are the content of the extent.
    pub(crate) fn fits(&self, content: &[u8]) -> bool {
        content.len() == place32(self.len) && xxh3_64(content) == self.sum
    }
}

/// Writes the members of a group.
fn encode(members: &[ParityMember]) -> Vec<u8> {
    let mut out = Vec::new();
    for member in members {
        out.push(u8::from(member.kind == RowKind::Index));
        for number in [
            member.number,
            u64::from(member.len),
            u64::from(member.writer),
        ] {
            varint::put(&mut out, u128::from(number));
        }
        out.extend_from_slice(&member.sum.to_le_bytes());
    }
    out
}

/// Reads the members of a group.
pub(crate) fn decode(row: &[u8]) -> Result<Vec<ParityMember>, CodecError> {
    let mut fields = FieldReader::new(row, "a parity's member");
    let mut members = Vec::new();
    while !fields.is_empty() && members.len() < MOST_MEMBERS {
        let kind = match fields.byte()? {
            0 => RowKind::Bodies,
            _ => RowKind::Index,
        };
        let number = u64::from(fields.number32()?);
        let (len, writer) = (fields.number32()?, fields.number32()?);
        let mut sum = [0; 8];
        sum.copy_from_slice(fields.bytes(8)?);
        members.push(ParityMember {
            kind,
            number,
            len,
            writer,
            sum: u64::from_le_bytes(sum),
        });
    }
    Ok(members)
}

/// Adds a content to a parity.
pub(crate) fn add(parity: &mut Vec<u8>, content: &[u8]) {
    if parity.len() < content.len() {
        parity.resize(content.len(), 0);
    }
    for (sum, byte) in parity.iter_mut().zip(content) {
        *sum ^= byte;
    }
}

/// Returns the numbers of a stream's extents in a group.
fn members_of(group: u64, groups: u64, shift: u64, extents: u64) -> impl Iterator<Item = u64> {
    (0..extents).filter(move |number| number.wrapping_add(shift) % groups == group)
}

/// Writes the redundancy of a packed file.
pub(crate) fn write(read: &ReadTransaction, to: &WriteTransaction) -> Result<(), redb::Error> {
    let meta = read.open_table(tables::META)?;
    let Some(owner) = meta.get(tables::OWNER_KEY)? else {
        return Ok(());
    };
    let Some(owner) = RowHeader::read(owner.value()).map(|header| header.owner) else {
        return Ok(());
    };
    let streams = [
        (RowKind::Bodies, read.open_table(tables::EXTENTS)?),
        (RowKind::Index, read.open_table(tables::INDEXES)?),
    ];
    let mut counts = [0; 2];
    for (count, (_, table)) in counts.iter_mut().zip(&streams) {
        *count = table
            .last()?
            .map_or(0, |(key, _)| key.value().saturating_add(1));
    }
    let [bodies, indexes] = counts;
    let mut table = to.open_table(tables::PARITY)?;
    if bodies.saturating_add(indexes) >= PARITY_LEAST {
        let groups = bodies.max(indexes).div_ceil(PARITY_GROUP).max(1);
        for group in 0..groups {
            let (mut parity, mut members) = (Vec::new(), Vec::new());
            // The streams are shifted against each other, because a block's index lies near its
            // bodies.
            for ((kind, extents), (count, shift)) in
                streams.iter().zip([(bodies, 0), (indexes, groups / 2)])
            {
                for number in members_of(group, groups, shift, count) {
                    let Some(row) = extents.get(number)? else {
                        continue;
                    };
                    let writer = RowHeader::read(row.value());
                    let content = content_of(row.value());
                    add(&mut parity, content);
                    members.push(member_of(*kind, number, writer, content));
                }
            }
            parity.truncate(EXTENT);
            put(&mut table, owner, (RowKind::Parity, group), &parity)?;
            put(
                &mut table,
                owner,
                (RowKind::Members, group),
                &encode(&members),
            )?;
        }
    }
    copy_rows(read, &mut table)
}

#[expect(clippy::expect_used, reason = "the database bounds its values")]
fn member_of(
    kind: RowKind,
    number: u64,
    header: Option<RowHeader>,
    content: &[u8],
) -> ParityMember {
    ParityMember {
        kind,
        number,
        len: u32::try_from(content.len()).expect("a row is far shorter than 4 GiB"),
        writer: header.map_or(0, |header| header.owner.writer),
        sum: xxh3_64(content),
    }
}

type ParityTable<'a> = redb::Table<'a, u64, &'static [u8]>;

fn put(
    table: &mut ParityTable<'_>,
    owner: RowOwner,
    (kind, group): (RowKind, u64),
    content: &[u8],
) -> Result<(), redb::Error> {
    let key = group
        .saturating_mul(2)
        .saturating_add(u64::from(kind == RowKind::Members));
    table.insert(key, owner.row(kind, group, content).as_slice())?;
    Ok(())
}

/// Writes the directory rows and the state once more, many in one row: their headers identify them.
fn copy_rows(read: &ReadTransaction, table: &mut ParityTable<'_>) -> Result<(), redb::Error> {
    let mut copies = Vec::new();
    if let Some(state) = read.open_table(tables::META)?.get(tables::STATE_KEY)? {
        copies.extend_from_slice(state.value());
    }
    let mut key = FIRST_COPY;
    for row in read.open_table(tables::DIRECTORY)?.iter()? {
        let (_, row) = row?;
        if RowHeader::read(row.value()).is_none() {
            continue;
        }
        copies.extend_from_slice(row.value());
        if len64(copies.len()) >= len64(COPY_BYTES) {
            table.insert(key, copies.as_slice())?;
            key = key.saturating_add(1);
            copies.clear();
        }
    }
    if !copies.is_empty() {
        table.insert(key, copies.as_slice())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_members_come_back_and_a_lost_one_is_what_the_others_leave() {
        let contents = [vec![1; 9], vec![2; 5], vec![7; 12]];
        let mut parity = Vec::new();
        let mut members = Vec::new();
        for (number, content) in (0..).zip(&contents) {
            add(&mut parity, content);
            members.push(member_of(RowKind::Bodies, number, None, content));
        }
        assert_eq!(decode(&encode(&members)).unwrap(), members);
        for content in &contents[1..] {
            add(&mut parity, content);
        }
        parity.truncate(contents[0].len());
        assert!(members[0].fits(&parity) && !members[1].fits(&parity));
        assert!(decode(&[0, 1]).is_err());
    }
}
