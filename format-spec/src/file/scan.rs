//! Reads events one after another and decodes each block once. Damage is returned as an error, and
//! reading continues after it.

use super::reel::Reel;
use crate::codec::bodies::{Base, Bodies};
use crate::codec::splice;
use crate::error::ReadError;
use crate::event::{EventHead, EventType, NewBody, NewEvent, ObjectKeyRef};
use crate::id::{ObjectId, Seq};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// The bytes of last bodies that are kept; others are decoded again when needed.
const MOST_BYTES: usize = 192 * 1024 * 1024;

/// An event with its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The head.
    pub head: EventHead,
    /// The body, as the server sent it.
    pub body: Arc<[u8]>,
}

impl Event {
    /// Returns the event as one to append to another reel. `uid` is the uid of `key` as text.
    pub fn copy<'a>(&'a self, key: ObjectKeyRef<'a>, uid: &'a str) -> NewEvent<'a> {
        NewEvent {
            stamp: self.head.stamp,
            connection: self.head.connection,
            kind: self.head.kind,
            evidence: self.head.evidence,
            resource: key.resource,
            namespace: key.namespace,
            name: key.name,
            uid,
            resource_version: &self.head.resource_version,
            body: NewBody::Bytes(&self.body),
        }
    }
}

/// Reads events in their order. See [`Reel::scan`].
#[derive(Debug)]
pub struct Scan<'a> {
    reel: &'a Reel,
    next: Seq,
    /// The current block: its end, its bodies, and the index of the next event in it.
    block: Option<(u64, Arc<Bodies>, usize)>,
    lasts: HashMap<ObjectId, Arc<[u8]>>,
    bytes: usize,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(reel: &'a Reel, from: Seq) -> Self {
        Self {
            reel,
            next: from,
            block: None,
            lasts: HashMap::new(),
            bytes: 0,
        }
    }

    fn enter(&mut self) -> Result<(), ReadError> {
        let blocks = &self.reel.loaded.blocks;
        let count = blocks.partition_point(|block| block.start.record <= self.next.0);
        let block = count
            .checked_sub(1)
            .and_then(|place| blocks.get(place))
            .filter(|block| self.next.0 < block.end());
        let Some(block) = block else {
            // A hole: records that damage lost.
            let end = blocks
                .get(count)
                .map_or(self.reel.end().0, |next| next.start.record);
            let first = self.next;
            self.next = Seq(end.max(first.0.saturating_add(1)));
            self.forget();
            return Err(ReadError::Event {
                seq: first,
                cause: format!("events up to {} lie where the reel is damaged", self.next),
            });
        };
        let place = (block.start.record..self.next.0)
            .filter(|seq| self.reel.object_of(Seq(*seq)).is_some())
            .count();
        match self.reel.reader().bodies(self.reel, block) {
            Ok(bodies) => {
                self.block = Some((block.end(), bodies, place));
                Ok(())
            }
            Err(error) => {
                self.next = Seq(block.end());
                self.forget();
                Err(error)
            }
        }
    }

    fn forget(&mut self) {
        self.lasts.clear();
        self.bytes = 0;
    }

    fn read(&mut self, head: EventHead, bodies: &Bodies, place: usize) -> Result<Event, ReadError> {
        let body = self.put_together(&head, bodies, place);
        match &body {
            Ok(body) if head.kind != EventType::Deleted => {
                self.bytes = self.bytes.saturating_add(body.len());
                if self.bytes > MOST_BYTES {
                    self.forget();
                    self.bytes = body.len();
                }
                if let Some(old) = self.lasts.insert(head.object, Arc::clone(body)) {
                    self.bytes = self.bytes.saturating_sub(old.len());
                }
            }
            _ => {
                if let Some(old) = self.lasts.remove(&head.object) {
                    self.bytes = self.bytes.saturating_sub(old.len());
                }
            }
        }
        Ok(Event { head, body: body? })
    }

    fn put_together(
        &self,
        head: &EventHead,
        bodies: &Bodies,
        place: usize,
    ) -> Result<Arc<[u8]>, ReadError> {
        let reel = self.reel;
        let Some((base, delta)) = bodies.delta(place) else {
            return reel.body(head.seq);
        };
        let key = |object: ObjectId| reel.key(object);
        let against = match (base, key(head.object)) {
            (Base::Whole, Some(own)) => Some(Cow::Owned(splice::seed_of(own))),
            (Base::Previous, Some(_)) => {
                let last = self.lasts.get(&head.object);
                last.map(|last| Cow::Borrowed(&**last))
            }
            (Base::Other(other), Some(own)) => self
                .lasts
                .get(&other)
                .zip(key(other))
                .map(|(last, other)| Cow::Owned(splice::seed_from_other(last, other, own))),
            (_, None) => None,
        };
        match against {
            Some(against) => reel.reader().splice(reel, head.seq, &against, delta),
            None => reel.body(head.seq),
        }
    }
}

impl Iterator for Scan<'_> {
    type Item = Result<Event, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.next < self.reel.end() {
            let Some((end, bodies, place)) =
                self.block.take().filter(|(end, ..)| self.next.0 < *end)
            else {
                if let Err(error) = self.enter() {
                    return Some(Err(error));
                }
                continue;
            };
            let seq = self.next;
            self.next = Seq(seq.0.saturating_add(1));
            match self.reel.head(seq) {
                None => self.block = Some((end, bodies, place)),
                Some(head) => {
                    let event = self.read(head, &bodies, place);
                    self.block = Some((end, bodies, place.saturating_add(1)));
                    return Some(event);
                }
            }
        }
        None
    }
}
