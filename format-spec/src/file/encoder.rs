//! Chooses the base of each body, and keeps the last body of every live object for that.
//!
//! A body is a delta against its object's previous version while few blocks and versions lie behind that
//! one; a new object against a live object of a similar name; all others against a seed.
//!
//! Bodies that take more memory than allowed move to a temporary file, all at once: each is written once, in
//! one sequence, and the memory is free for those that change next.
//!
//! Texts of the blob log are known by two keyed 64-bit hashes with keys drawn at each start: the author of
//! an object cannot aim at a collision.

use crate::codec::bodies::{Base, BlobColumn, HunkUnit};
use crate::codec::frame::{PackedBody, Packer};
use crate::codec::splice::Blobs;
use crate::codec::varint::FieldReader;
use crate::codec::{CodecError, splice, varint};
use crate::event::{EventType, ObjectKey};
use crate::file::segment::Segment;
use crate::file::spill::{SpillFile, SpillPlace};
use crate::id::{BlobId, ObjectId, ResourceId};
use crate::limits::{
    KEYFRAME_BLOCKS, KEYFRAME_GROUPS, KEYFRAME_VERSIONS, MAX_NAME, REFERENCE_BLOCKS,
    REFERENCE_DEPTH, REFERENCE_GROUPS, len64,
};
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};

/// How many fingerprints of names are kept. They only improve compression, so that all are dropped
/// when a cluster has more.
const MOST_ALIKE: usize = 1 << 16;

/// How many bytes of bodies are kept as they are before they are compressed: most versions follow the one before
/// them soon.
const RECENT_BYTES: u64 = 16 * 1024 * 1024;

/// How many recent versions are noted before those that were replaced are removed.
const RECENT_LEAST: usize = 4096;

/// The memory that a live object takes beside names and body: its row, and the boxes around the rest.
const ROW_BYTES: u64 = 96;
const BOX_BYTES: u64 = 192;

/// A live object: its last body, and what a reader needs for that.
#[derive(Debug)]
struct LiveObject {
    place: BodyPlace,
    reach: DeltaReach,
    /// The record that brought it.
    seq: u64,
    /// Whether its body is one of the recent ones, which are not compressed yet.
    is_recent: bool,
    resource: ResourceId,
    name_bytes: u16,
}

/// The places of an object's identity and of its last body.
#[derive(Debug)]
enum BodyPlace {
    Memory(Box<(ObjectKey, PackedBody)>),
    File(SpillPlace),
}

impl LiveObject {
    /// Counts the bytes that it takes in memory beside its row.
    fn boxed_bytes(&self) -> u64 {
        match &self.place {
            BodyPlace::Memory(kept) => BOX_BYTES
                .saturating_add(u64::from(self.name_bytes))
                .saturating_add(len64(kept.1.len())),
            BodyPlace::File(_) => 0,
        }
    }

    fn body_bytes(&self) -> u64 {
        match &self.place {
            BodyPlace::Memory(kept) => len64(kept.1.len()),
            BodyPlace::File(place) => u64::from(place.len),
        }
    }

    /// Counts the bytes of its body if it is a recent one.
    fn recent_bytes(&self) -> u64 {
        if self.is_recent { self.body_bytes() } else { 0 }
    }
}

/// What the live objects of a resource take in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LiveMemory {
    pub(crate) objects: u64,
    pub(crate) name_bytes: u64,
    pub(crate) boxed_bytes: u64,
}

impl LiveMemory {
    /// Returns how many bytes that is.
    pub(crate) const fn bytes(&self) -> u64 {
        self.boxed_bytes
            .saturating_add(self.objects.saturating_mul(ROW_BYTES))
    }
}

/// What a reader needs for one version.
#[derive(Clone, Copy, Debug)]
struct DeltaReach {
    /// How many blocks, and the newest of them.
    blocks: u8,
    block: u32,
    /// How many versions behind it.
    versions: u16,
    /// How many changes from one object to another.
    depth: u8,
}

impl DeltaReach {
    /// What is needed for a version in `block` that is encoded against this one.
    fn next(self, block: u32) -> Self {
        Self {
            blocks: self.blocks.saturating_add(u8::from(self.block != block)),
            block,
            versions: self.versions.saturating_add(1),
            depth: self.depth,
        }
    }
}

/// How many blocks, or groups of blocks, may lie behind a version.
#[derive(Clone, Copy, Debug)]
struct ReachLimits {
    keyframe: u8,
    /// Behind the first version of an object.
    reference: u8,
}

impl ReachLimits {
    const BLOCKS: Self = Self {
        keyframe: KEYFRAME_BLOCKS,
        reference: REFERENCE_BLOCKS,
    };
    const GROUPS: Self = Self {
        keyframe: KEYFRAME_GROUPS,
        reference: REFERENCE_GROUPS,
    };

    fn fits(self, reach: DeltaReach) -> bool {
        reach.blocks <= self.keyframe && reach.versions <= KEYFRAME_VERSIONS
    }

    fn fits_new_object(self, reach: DeltaReach) -> bool {
        self.fits(reach) && reach.blocks <= self.reference && reach.depth <= REFERENCE_DEPTH
    }
}

/// Codes bodies.
pub(crate) struct Encoder {
    live: HashMap<ObjectId, LiveObject>,
    /// The newest live object of a like name, by fingerprint.
    alike: HashMap<(u64, u64), ObjectId>,
    /// The newest live object of a resource.
    newest: HashMap<ResourceId, ObjectId>,
    prints: Fingerprints,
    pub(crate) blobs: BlobTexts,
    packer: Packer,
    /// The recent versions, the oldest first: the object and the record of each. The last of an object counts.
    recent: VecDeque<(ObjectId, u64)>,
    recent_bytes: u64,
    /// With more recent versions, those that were replaced are removed.
    most_recent: usize,
    memory: HashMap<ResourceId, LiveMemory>,
    boxed_bytes: u64,
    body_bytes: u64,
    /// How many bytes bodies and names may take in memory.
    max_boxed_bytes: u64,
    spill: Option<SpillFile>,
    folder: PathBuf,
    unit: HunkUnit,
    limits: ReachLimits,
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encoder")
            .field("live", &self.live.len())
            .finish_non_exhaustive()
    }
}

fn spilled(what: &'static str) -> impl Fn(std::io::Error) -> CodecError {
    move |cause| CodecError::Library {
        what,
        cause: cause.to_string(),
    }
}

impl Encoder {
    /// Makes an encoder. Bodies beyond `max_bytes` of memory move to a temporary file in the folder.
    pub(crate) fn new(folder: &Path, max_bytes: Option<u64>) -> Self {
        Self {
            live: HashMap::new(),
            alike: HashMap::new(),
            newest: HashMap::new(),
            prints: Fingerprints::default(),
            blobs: BlobTexts::default(),
            packer: Packer::new(),
            recent: VecDeque::new(),
            recent_bytes: 0,
            most_recent: RECENT_LEAST,
            memory: HashMap::new(),
            boxed_bytes: 0,
            body_bytes: 0,
            // Without a bound nothing is too much.
            max_boxed_bytes: max_bytes.unwrap_or(u64::MAX),
            spill: None,
            folder: folder.to_owned(),
            unit: HunkUnit::Bytes,
            limits: ReachLimits::BLOCKS,
        }
    }

    /// Encodes bodies that will lie by object in groups of blocks, the numbers of which are given from now on.
    pub(crate) fn by_groups(self) -> Self {
        Self {
            limits: ReachLimits::GROUPS,
            ..self
        }
    }

    /// Counts pieces in hunks from now on.
    pub(crate) fn counting_pieces(self) -> Self {
        Self {
            unit: HunkUnit::Pieces,
            ..self
        }
    }

    /// Returns whether an object's last version is not its deletion.
    pub(crate) fn is_live(&self, object: ObjectId) -> bool {
        self.live.contains_key(&object)
    }

    /// Returns the last body of a live object.
    pub(crate) fn last(&mut self, object: ObjectId) -> Option<Result<Vec<u8>, CodecError>> {
        let kept = self.kept(object).transpose()?;
        Some(kept.map(|(_, body)| body))
    }

    /// Returns the identity of a live object, and its last body.
    fn kept(&mut self, object: ObjectId) -> Result<Option<(ObjectKey, Vec<u8>)>, CodecError> {
        let Some(last) = self.live.get(&object) else {
            return Ok(None);
        };
        let place = match &last.place {
            BodyPlace::Memory(kept) => {
                let body = self.packer.unpack(&kept.1)?;
                return Ok(Some((kept.0.clone(), body)));
            }
            BodyPlace::File(place) => *place,
        };
        let refused = spilled("cannot read a body in a temporary file");
        let file = self.spill.as_mut();
        let file = file.ok_or_else(|| refused(std::io::ErrorKind::NotFound.into()))?;
        let text = file.read(place).map_err(refused)?;
        let (names, body) = PackedBody::decode(&text)?;
        let mut names = FieldReader::new(names, "a name in a temporary file");
        let key = ObjectKey {
            resource: last.resource,
            namespace: names.text(MAX_NAME)?.to_owned(),
            name: names.text(MAX_NAME)?.to_owned(),
            uid: names.text(MAX_NAME)?.to_owned(),
        };
        Ok(Some((key, self.packer.unpack(&body)?)))
    }

    /// Moves what takes more memory than it may to the file.
    pub(crate) fn make_room(&mut self) -> Result<(), CodecError> {
        if self.boxed_bytes <= self.max_boxed_bytes {
            return Ok(());
        }
        let refused = spilled("cannot write bodies to a temporary file");
        let file = match self.spill.take() {
            None => SpillFile::create(&self.folder),
            Some(file) if file.is_mostly_garbage() => self.rewrite(file),
            Some(file) => Ok(file),
        };
        let file = self.spill.insert(file.map_err(&refused)?);
        #[expect(
            clippy::iter_over_hash_type,
            reason = "the order within a temporary file means nothing"
        )]
        for last in self.live.values_mut() {
            let BodyPlace::Memory(kept) = &last.place else {
                continue;
            };
            let (key, body) = &**kept;
            let mut names = Vec::new();
            for name in [&key.namespace, &key.name, &key.uid] {
                varint::put_len(&mut names, name.len());
                names.extend_from_slice(name.as_bytes());
            }
            last.place = BodyPlace::File(file.push(&body.encode(&names)).map_err(&refused)?);
            last.is_recent = false;
        }
        file.flush().map_err(&refused)?;
        self.recent.clear();
        self.recent_bytes = 0;
        self.boxed_bytes = 0;
        self.memory
            .values_mut()
            .for_each(|memory| memory.boxed_bytes = 0);
        Ok(())
    }

    /// Copies what is live of a file into a new one, in the order of the old one.
    fn rewrite(&mut self, mut old: SpillFile) -> std::io::Result<SpillFile> {
        let mut new = old.successor()?;
        let mut places: Vec<&mut SpillPlace> = self
            .live
            .values_mut()
            .filter_map(|last| match &mut last.place {
                BodyPlace::File(place) => Some(place),
                BodyPlace::Memory(_) => None,
            })
            .collect();
        places.sort_unstable_by_key(|place| place.offset);
        for place in places {
            *place = new.push(&old.read(*place)?)?;
        }
        Ok(new)
    }

    /// Returns what the live objects of each resource take in memory.
    pub(crate) fn memory(&self) -> &HashMap<ResourceId, LiveMemory> {
        &self.memory
    }

    /// Forgets the live objects of a resource: their next versions are encoded against nothing.
    pub(crate) fn forget(&mut self, resource: ResourceId) {
        let gone: Vec<LiveObject> = self
            .live
            .extract_if(|_, last| last.resource == resource)
            .map(|(_, last)| last)
            .collect();
        for last in &gone {
            self.uncount(last);
        }
        self.live.shrink_to_fit();
        self.newest.remove(&resource);
    }

    fn count(&mut self, last: &LiveObject) {
        let boxed = last.boxed_bytes();
        let memory = self.memory.entry(last.resource).or_default();
        memory.objects = memory.objects.saturating_add(1);
        memory.name_bytes = memory.name_bytes.saturating_add(u64::from(last.name_bytes));
        memory.boxed_bytes = memory.boxed_bytes.saturating_add(boxed);
        self.boxed_bytes = self.boxed_bytes.saturating_add(boxed);
        self.body_bytes = self.body_bytes.saturating_add(last.body_bytes());
        self.recent_bytes = self.recent_bytes.saturating_add(last.recent_bytes());
    }

    fn uncount(&mut self, last: &LiveObject) {
        let boxed = last.boxed_bytes();
        let memory = self.memory.entry(last.resource).or_default();
        memory.objects = memory.objects.saturating_sub(1);
        memory.name_bytes = memory.name_bytes.saturating_sub(u64::from(last.name_bytes));
        memory.boxed_bytes = memory.boxed_bytes.saturating_sub(boxed);
        self.boxed_bytes = self.boxed_bytes.saturating_sub(boxed);
        self.body_bytes = self.body_bytes.saturating_sub(last.body_bytes());
        self.recent_bytes = self.recent_bytes.saturating_sub(last.recent_bytes());
        if let (BodyPlace::File(place), Some(file)) = (&last.place, &mut self.spill) {
            file.forget(*place);
        }
    }

    /// Takes an object over from an earlier session. Its next version is encoded against nothing.
    pub(crate) fn restore(&mut self, object: ObjectId, key: &ObjectKey, body: &[u8], seq: u64) {
        let reach = DeltaReach {
            blocks: KEYFRAME_BLOCKS,
            block: u32::MAX,
            versions: 0,
            depth: 0,
        };
        self.keep(object, key, body, reach, seq);
    }

    /// Counts the bytes of the live objects' bodies, compressed one by one.
    pub(crate) const fn live_bytes(&self) -> u64 {
        self.body_bytes
    }

    /// Returns whether all live objects' bodies fit into memory.
    pub(crate) const fn fits_memory(&self) -> bool {
        self.body_bytes <= self.max_boxed_bytes
    }

    /// Returns the live objects that changed in a record from `seq` on, in the order of their numbers.
    pub(crate) fn changed_since(&self, seq: u64, but: &HashSet<ResourceId>) -> Vec<ObjectId> {
        let mut changed: Vec<ObjectId> = self
            .live
            .iter()
            .filter(|(_, last)| last.seq >= seq && !but.contains(&last.resource))
            .map(|(object, _)| *object)
            .collect();
        changed.sort_unstable();
        changed
    }

    /// Returns the identity of a live object, and its last body.
    pub(crate) fn live_body(
        &mut self,
        object: ObjectId,
    ) -> Result<Option<(ObjectKey, Vec<u8>)>, CodecError> {
        self.kept(object)
    }

    /// Codes a body into the segment that will be `block`.
    pub(crate) fn push(
        &mut self,
        segment: &mut Segment,
        block: u32,
        object: ObjectId,
        key: &ObjectKey,
        kind: EventType,
        body: &[u8],
    ) -> Result<(), CodecError> {
        let (base, against, reach) = self.choose(object, key, block)?;
        self.write(segment, &against, body)?;
        let poor = segment.bodies.open_text() > body.len() / 4 * 3;
        let (base, reach) = if poor && matches!(base, Base::Other(_)) {
            segment.bodies.undo_entry();
            self.write(segment, &splice::seed_of(key.view()), body)?;
            (Base::Whole, whole(block))
        } else {
            (base, reach)
        };
        segment.bodies.end_entry(base);
        if kind == EventType::Deleted {
            if let Some(last) = self.live.remove(&object) {
                self.uncount(&last);
            }
        } else {
            self.keep(object, key, body, reach, segment.end());
        }
        Ok(())
    }

    fn write(
        &mut self,
        segment: &mut Segment,
        against: &[u8],
        body: &[u8],
    ) -> Result<(), CodecError> {
        let bodies = &mut segment.bodies;
        let start = bodies.ops.len();
        let mut log = self
            .blobs
            .log(&mut bodies.blobs, segment.start.blob, &mut segment.blobs);
        splice::encode(against, body, &mut log, &mut bodies.ops, &mut bodies.text);
        if self.unit == HunkUnit::Pieces {
            let hunks = bodies.ops.split_off(start);
            bodies.ops.extend(splice::in_pieces(against, &hunks)?);
        }
        Ok(())
    }

    fn choose(
        &mut self,
        object: ObjectId,
        key: &ObjectKey,
        block: u32,
    ) -> Result<(Base, Vec<u8>, DeltaReach), CodecError> {
        if let Some(last) = self.live.get(&object) {
            let reach = last.reach.next(block);
            if self.limits.fits(reach)
                && let Some((_, body)) = self.kept(object)?
            {
                return Ok((Base::Previous, body, reach));
            }
        } else if let Some(other) = self.like(key)
            && let Some(last) = self.live.get(&other)
        {
            let mut reach = last.reach.next(block);
            reach.depth = reach.depth.saturating_add(1);
            if self.limits.fits_new_object(reach)
                && let Some((other_key, body)) = self.kept(other)?
            {
                let against = splice::seed_from_other(&body, other_key.view(), key.view());
                return Ok((Base::Other(other), against, reach));
            }
        }
        Ok((Base::Whole, splice::seed_of(key.view()), whole(block)))
    }

    /// Returns a live object that may look like a new one.
    fn like(&self, key: &ObjectKey) -> Option<ObjectId> {
        let live = |id: &&ObjectId| self.live.contains_key(*id);
        self.alike
            .get(&self.print(key))
            .filter(live)
            .or_else(|| self.newest.get(&key.resource).filter(live))
            .copied()
    }

    #[expect(clippy::expect_used, reason = "writer and reader bound every name")]
    fn keep(
        &mut self,
        object: ObjectId,
        key: &ObjectKey,
        body: &[u8],
        reach: DeltaReach,
        seq: u64,
    ) {
        let name_bytes = [&key.namespace, &key.name, &key.uid]
            .into_iter()
            .fold(0, |sum: usize, name| sum.saturating_add(name.len()));
        let last = LiveObject {
            place: BodyPlace::Memory(Box::new((key.clone(), PackedBody::of(body)))),
            reach,
            seq,
            is_recent: true,
            resource: key.resource,
            name_bytes: u16::try_from(name_bytes).expect("three names of at most MAX_NAME bytes"),
        };
        self.count(&last);
        if let Some(old) = self.live.insert(object, last) {
            self.uncount(&old);
        } else {
            if self.alike.len() >= MOST_ALIKE {
                self.alike.clear();
            }
            self.alike.insert(self.print(key), object);
            self.newest.insert(key.resource, object);
        }
        self.recent.push_back((object, seq));
        if self.recent.len() > self.most_recent {
            let live = &self.live;
            self.recent.retain(|(object, seq)| {
                let last = live.get(object);
                last.is_some_and(|last| last.is_recent && last.seq == *seq)
            });
            self.most_recent = self.recent.len().saturating_mul(2).max(RECENT_LEAST);
        }
        self.pack_recent();
    }

    /// Compresses the oldest of the recent versions, those that are still the last of their objects.
    fn pack_recent(&mut self) {
        while self.recent_bytes > RECENT_BYTES
            && let Some((object, seq)) = self.recent.pop_front()
        {
            let Some(mut last) = self.live.remove(&object) else {
                continue;
            };
            if last.is_recent && last.seq == seq {
                self.uncount(&last);
                last.is_recent = false;
                if let BodyPlace::Memory(kept) = &mut last.place
                    && let Some(raw) = kept.1.plain()
                {
                    kept.1 = self.packer.pack(raw);
                }
                self.count(&last);
            }
            self.live.insert(object, last);
        }
    }

    fn print(&self, key: &ObjectKey) -> (u64, u64) {
        let kind = [
            key.resource.0.to_string().as_str(),
            &key.namespace,
            &stem(&key.name),
        ]
        .join("/");
        self.prints.of(kind.as_bytes())
    }
}

fn whole(block: u32) -> DeltaReach {
    DeltaReach {
        blocks: 1,
        block,
        versions: 0,
        depth: 0,
    }
}

/// Returns a name without what a generator put at its end, and with `#` for each number.
fn stem(name: &str) -> String {
    let parts: Vec<&str> = name.split_inclusive(['-', '.']).collect();
    let kept = parts
        .iter()
        .rposition(|part| !is_generated(part.trim_end_matches(['-', '.'])))
        .map_or(0, |last| last.saturating_add(1));
    let mut stem = String::with_capacity(name.len());
    for character in parts.iter().take(kept).flat_map(|part| part.chars()) {
        if !character.is_ascii_digit() {
            stem.push(character);
        } else if !stem.ends_with('#') {
            stem.push('#');
        }
    }
    stem
}

/// Returns whether a part of a name looks drawn by chance: the five or more letters and digits that
/// Kubernetes appends, which hold no vowel.
fn is_generated(part: &str) -> bool {
    part.len() >= 5
        && part
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b"abcdefbcdfghjklmnpqrstvwxz".contains(&byte))
        && (part.bytes().any(|byte| byte.is_ascii_digit())
            || !part.bytes().any(|byte| b"aeiou".contains(&byte)))
}

/// With this many texts no more are taken; they go into the blocks instead.
const MOST: usize = 1 << 20;

/// Two independent keyed hashes.
#[derive(Debug, Default)]
pub(crate) struct Fingerprints(RandomState, RandomState);

impl Fingerprints {
    /// Returns the fingerprint of some bytes.
    pub(crate) fn of(&self, bytes: &[u8]) -> (u64, u64) {
        (self.0.hash_one(bytes), self.1.hash_one(bytes))
    }
}

/// The texts of the blob log.
#[derive(Debug, Default)]
pub(crate) struct BlobTexts {
    prints: Fingerprints,
    ids: HashMap<(u64, u64), BlobId>,
}

impl BlobTexts {
    /// Returns the log's writing end: texts enter it in `column` with numbers from `first + count` on.
    pub(crate) fn log<'a>(
        &'a mut self,
        column: &'a mut BlobColumn,
        first: u32,
        count: &'a mut u32,
    ) -> BlobLog<'a> {
        BlobLog {
            known: self,
            column,
            first,
            count,
        }
    }
}

/// The log as it is: nothing enters it.
pub(crate) struct BlobReader<'a>(&'a BlobTexts);

impl BlobTexts {
    /// Returns the log for looking texts up only.
    pub(crate) fn as_is(&self) -> BlobReader<'_> {
        BlobReader(self)
    }
}

impl Blobs for BlobReader<'_> {
    fn intern(&mut self, text: &[u8]) -> Option<BlobId> {
        self.0.ids.get(&self.0.prints.of(text)).copied()
    }
}

/// The blob log's writing end.
pub(crate) struct BlobLog<'a> {
    known: &'a mut BlobTexts,
    column: &'a mut BlobColumn,
    first: u32,
    count: &'a mut u32,
}

impl BlobLog<'_> {
    fn push(&mut self, text: &[u8]) -> Option<BlobId> {
        let id = self.first.checked_add(*self.count)?;
        *self.count = self.count.checked_add(1)?;
        self.column.push(text);
        Some(BlobId(id))
    }

    /// Returns the number of a text, new or old, for any length and any number of texts.
    pub(crate) fn always(&mut self, text: &[u8]) -> Option<BlobId> {
        self.intern(text).or_else(|| self.push(text))
    }
}

impl Blobs for BlobLog<'_> {
    fn intern(&mut self, text: &[u8]) -> Option<BlobId> {
        let print = self.known.prints.of(text);
        if let Some(id) = self.known.ids.get(&print) {
            return Some(*id);
        }
        if self.known.ids.len() >= MOST {
            return None;
        }
        let id = self.push(text)?;
        self.known.ids.insert(print, id);
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_lose_what_was_drawn_by_chance() {
        for (name, expected) in [
            ("etcd-operator-7d9f8b6c5-x2k4p", "etcd-operator-"),
            ("node-12", "node-#"),
            ("web.17a5b3c2d4e6f801", "web."),
            ("kube-apiserver", "kube-apiserver"),
            ("x2k4p", ""),
        ] {
            assert_eq!(stem(name), expected, "{name}");
        }
    }

    fn key(number: u32) -> ObjectKey {
        ObjectKey {
            resource: ResourceId(number % 2),
            namespace: "n".to_owned(),
            name: format!("object-{number}"),
            uid: format!("uid-{number}"),
        }
    }

    #[test]
    fn bodies_beyond_their_memory_come_back_from_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut encoder = Encoder::new(folder.path(), Some(20_000));
        let body = |number: u32, round: u32| format!("{number} and {round} {}", "x".repeat(300));
        for round in 0..4 {
            for number in 0..500 {
                let text = body(number, round);
                encoder.restore(ObjectId(number), &key(number), text.as_bytes(), 0);
                encoder.make_room().unwrap();
                assert!(encoder.boxed_bytes <= 20_000);
            }
            for number in 0..500 {
                let (known, text) = encoder.kept(ObjectId(number)).unwrap().unwrap();
                assert_eq!(known, key(number));
                assert_eq!(text, body(number, round).as_bytes());
            }
        }
        let memory = encoder.memory().clone();
        assert_eq!(memory[&ResourceId(0)].objects, 250);
        encoder.forget(ResourceId(0));
        assert_eq!(encoder.memory()[&ResourceId(0)], LiveMemory::default());
        assert_eq!(encoder.memory()[&ResourceId(1)], memory[&ResourceId(1)]);
        assert!(encoder.kept(ObjectId(0)).unwrap().is_none());
        assert!(encoder.kept(ObjectId(1)).unwrap().is_some());
    }

    #[test]
    fn replaced_versions_leave_their_room_to_recent_ones() {
        let folder = tempfile::tempdir().unwrap();
        let mut encoder = Encoder::new(folder.path(), None);
        let long = vec![b'x'; 1 << 20];
        encoder.restore(ObjectId(0), &key(0), &long, 0);
        for seq in 1..40 {
            encoder.restore(ObjectId(1), &key(1), &long, seq);
        }
        assert_eq!(encoder.live_bytes(), 2 << 20, "both are as they are");
        for number in 2..40 {
            encoder.restore(ObjectId(number), &key(number), &long, 40);
        }
        assert_eq!(encoder.recent_bytes, RECENT_BYTES);
        assert!(encoder.live_bytes() < RECENT_BYTES + (1 << 20));
        for number in 0..40 {
            assert_eq!(encoder.last(ObjectId(number)), Some(Ok(long.clone())));
        }
        for seq in 50..50_000 {
            encoder.restore(ObjectId(0), &key(0), b"short", seq);
        }
        assert!(encoder.recent.len() <= RECENT_LEAST);
        assert_eq!(encoder.recent_bytes, RECENT_BYTES - (1 << 20) + 5);
    }

    #[test]
    fn a_chain_ends_after_its_blocks_and_its_versions() {
        let limits = ReachLimits::BLOCKS;
        let mut reach = whole(0);
        for block in 1..u32::from(KEYFRAME_BLOCKS) {
            reach = reach.next(block);
            assert!(limits.fits(reach), "{reach:?}");
        }
        assert!(limits.fits(reach.next(reach.block)));
        assert!(!limits.fits(reach.next(u32::from(KEYFRAME_BLOCKS))));
        let long = (0..KEYFRAME_VERSIONS).fold(whole(0), |reach, _| reach.next(0));
        assert!(limits.fits(long) && !limits.fits(long.next(0)));
    }
}
