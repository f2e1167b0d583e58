//! Owns what an appender takes over from an earlier session: who was seen, what is live, and the
//! segment that was open. Refuses to write.

use super::body::key_of;
use super::encoder::Encoder;
use super::load::Source;
use super::reel::Reel;
use super::segment::{Segment, Start};
use crate::codec::index::{Content, Record, Rv};
use crate::codec::record;
use crate::event::{EventType, ObjectKey};
use crate::id::{ObjectId, ResourceId, Seq};
use crate::note::Note;

/// What an appender takes over from an earlier session.
pub(crate) struct Carried {
    pub(crate) objects: Vec<ObjectKey>,
    pub(crate) resources: Vec<ResourceId>,
    /// What knows the live objects' last bodies.
    pub(crate) encoder: Encoder,
    /// The resources that checkpoints leave out.
    pub(crate) left_out: Vec<ResourceId>,
    /// For each checkpoint how many records lie before it.
    pub(crate) checkpoints: Vec<u64>,
    pub(crate) blocks: u32,
    pub(crate) next_commit: u64,
    /// What was committed and not sealed.
    pub(crate) segment: Segment,
}

impl Carried {
    /// Reads it, with an encoder that knows nothing yet.
    pub(crate) fn read(reel: &Reel, mut encoder: Encoder) -> Result<Self, String> {
        let mut live: Vec<(Seq, ObjectId)> = reel
            .objects()
            .iter()
            .filter_map(|object| live_version(reel, object.id).map(|seq| (seq, object.id)))
            .collect();
        // In the order of the file, so that each block is decoded once.
        live.sort_unstable();
        for (seq, object) in live {
            let key = key_of(reel, object).ok_or("an object's name is missing")?;
            let body = reel.body(seq).map_err(|error| error.to_string())?;
            encoder.restore(object, key, &body, seq.0);
            encoder.make_room().map_err(|error| error.to_string())?;
        }
        let resources = reel
            .notes()
            .iter()
            .filter_map(|entry| match &entry.note {
                Note::Resource(resource) => Some(resource.id),
                _ => None,
            })
            .collect();
        Ok(Self {
            objects: reel
                .objects()
                .iter()
                .map(|object| object.key.clone())
                .collect(),
            resources,
            encoder,
            left_out: reel.left_out().iter().copied().collect(),
            checkpoints: reel.loaded.checkpoints.iter().map(|at| at.seq).collect(),
            blocks: reel.loaded.next_block,
            next_commit: reel.loaded.next_commit,
            segment: open_segment(reel)?,
        })
    }
}

/// Gives the last event of an object that is still there at the end.
fn live_version(reel: &Reel, object: ObjectId) -> Option<Seq> {
    let last = reel.versions(object).last().copied()?;
    (reel.kind_of(last)? != EventType::Deleted).then_some(last)
}

/// Puts the segment together that was open when the recorder stopped.
fn open_segment(reel: &Reel) -> Result<Segment, String> {
    let told = |error: crate::codec::CodecError| error.to_string();
    let blocks = &reel.loaded.blocks;
    let sealed = blocks.partition_point(|block| matches!(block.source, Source::Sealed(_)));
    let (sealed, tail) = blocks.split_at_checked(sealed).unwrap_or((blocks, &[]));
    let start = match (tail.first(), sealed.last()) {
        (Some(first), _) => first.start,
        (None, Some(last)) => Start {
            record: reel.end().0,
            object: u32::try_from(reel.objects().len()).unwrap_or(u32::MAX),
            blob: last.start.blob.saturating_add(last.blobs),
        },
        (None, None) => Start::default(),
    };
    let first_object = usize::try_from(start.object).unwrap_or(usize::MAX);
    let new = reel.objects().get(first_object..).unwrap_or_default();
    let mut segment = Segment::begin(start);
    segment.objects = new.iter().map(|object| object.key.clone()).collect();
    for block in tail {
        if let Source::Tail(bodies) = &block.source {
            segment.blobs = segment.blobs.saturating_add(block.blobs);
            segment.bodies.append(bodies.raw()).map_err(told)?;
        }
    }
    let notes = reel.notes();
    let first_note = notes.partition_point(|entry| entry.seq.0 < start.record);
    let mut notes = notes.get(first_note..).unwrap_or_default().iter();
    for seq in (start.record..reel.end().0).map(Seq) {
        let content = if let Some(head) = reel.head(seq) {
            Content::Event {
                kind: head.kind,
                evidence: head.evidence,
                object: head.object,
                connection: head.connection,
                version: Rv::new(&head.resource_version),
            }
        } else {
            let entry = notes.next().ok_or("a note is missing")?;
            Content::Note(record::encode(&entry.note).map_err(told)?)
        };
        let stamp = reel.stamp(seq).ok_or("a time is missing")?;
        segment.records.push(Record { stamp, content });
    }
    Ok(segment)
}
