//! Owns what a running watch brings: events, bookmarks, and how far they prove the chain. Refuses
//! to believe in an order that the versions do not show: an oddity is recorded as such.

use super::{Output, Position, Stream};
use crate::watch::head::Head;
use crate::watch::known::{KnownObject, Uid};
use crate::watch::version::Version;
use kubereel_format::{AnomalyKind, EventType, Evidence, Stamp};
use std::cmp::Ordering;

impl Stream {
    /// An event came.
    pub(crate) fn event(
        &mut self,
        kind: EventType,
        head: &Head<'_>,
        at: Stamp,
        out: &mut Vec<Output>,
    ) {
        let is_listing = self.listing.is_some();
        if is_listing && kind == EventType::Added {
            return self.item(head, at, out);
        }
        self.hear(at, out);
        let version = Version::parse(&head.version);
        let number = version.as_ref().and_then(Version::number);
        self.has_unusable |= number.is_none();
        if self.is_on_successor && number.is_none() {
            // Nobody could tell it from the same on the other connection, which brings it too.
            return;
        }
        let old = self.known.get(&head.namespace, &head.name).cloned();
        if is_listing {
            self.remember(&head.namespace, &head.name, old.as_ref());
        }
        if kind != EventType::Deleted {
            self.known.mark(&head.namespace, &head.name);
        }
        if self.is_recorded(kind, head, version.as_ref(), old.as_ref()) {
            return self.reach_unless(is_listing, version.as_ref());
        }
        self.check_order(head, version.as_ref(), out);
        let is_current = old.as_ref().is_none_or(|old| {
            old.uid.text() == head.uid || head.uid.is_empty() || is_later(version.as_ref(), old)
        });
        let mut uid = None;
        match (kind, old) {
            (EventType::Deleted, Some(old)) if is_current => {
                if head.uid.is_empty() {
                    uid = Some(old.uid.text());
                }
                infer_replaced(head, old, out);
                self.known.remove(&head.namespace, &head.name);
            }
            (EventType::Added | EventType::Modified, Some(old)) if is_current => {
                let keeps = old.uid.text() == head.uid && !is_later(version.as_ref(), &old);
                if !keeps {
                    infer_replaced(head, old, out);
                    self.keep(head, version.clone());
                }
            }
            (EventType::Added | EventType::Modified, None) => self.keep(head, version.clone()),
            // A late word about an object that another one has replaced, or that is unknown.
            (EventType::Deleted | EventType::Added | EventType::Modified, _) => {}
        }
        out.push(Output::Write {
            kind,
            evidence: Evidence::Live,
            uid,
        });
        if let (false, Some(version)) = (is_listing, version) {
            if let Some(number) = number {
                self.remember_seen(head, number, kind == EventType::Deleted);
            }
            let deleted = (kind == EventType::Deleted).then(|| Uid::new(&head.uid));
            self.advance(version.clone(), deleted, at);
            self.reach(&version);
        }
    }

    fn reach_unless(&mut self, is_listing: bool, version: Option<&Version>) {
        if let (false, Some(version)) = (is_listing, version) {
            self.reach(version);
        }
    }

    fn keep(&mut self, head: &Head<'_>, version: Option<Version>) {
        let uid = Uid::new(&head.uid);
        self.known.put(&head.namespace, &head.name, uid, version);
    }

    /// Tells whether exactly this version of the object is in the file already.
    fn is_recorded(
        &self,
        kind: EventType,
        head: &Head<'_>,
        version: Option<&Version>,
        old: Option<&KnownObject>,
    ) -> bool {
        let Some(version) = version else {
            return false;
        };
        if let (Some(seen), Some(number)) = (&self.seen, version.number())
            && seen.has(head, number, kind == EventType::Deleted)
        {
            return true;
        }
        if kind == EventType::Deleted {
            let is_here = self
                .position
                .as_ref()
                .is_some_and(|position| position.version == *version);
            return is_here && self.deleted_here.contains(&Uid::new(&head.uid));
        }
        old.is_some_and(|old| old.uid.text() == head.uid && old.version.as_ref() == Some(version))
    }

    fn check_order(&mut self, head: &Head<'_>, version: Option<&Version>, out: &mut Vec<Output>) {
        if head.name.is_empty() {
            out.push(Output::Anomaly {
                kind: AnomalyKind::Nameless,
                detail: format!("resourceVersion {}", head.version),
            });
        }
        let Some(number) = version.and_then(Version::number) else {
            // Some servers never send one; once for each connection is enough.
            if !self.connection.has_reported_unusable {
                self.connection.has_reported_unusable = true;
                out.push(Output::Anomaly {
                    kind: AnomalyKind::VersionUnusable,
                    detail: format!("{:?} of {}", head.version, head.name),
                });
            }
            return;
        };
        if self.listing.is_some() {
            return;
        }
        if let Some(highest) = self.connection.highest {
            let has_risen = number > highest || number == highest && !self.traits.is_cached;
            if !has_risen {
                out.push(Output::Anomaly {
                    kind: AnomalyKind::VersionNotRising,
                    detail: format!("{number} after {highest}"),
                });
            }
        }
        self.connection.highest = self.connection.highest.max(Some(number));
    }

    fn has_numbers(&self) -> bool {
        let position = self.position.as_ref();
        position.is_some_and(|position| position.version.number().is_some())
    }

    /// The object at hand could not be written: whatever shows it again is news.
    pub(crate) fn not_written(&mut self, head: &Head<'_>) {
        self.known.unwritten(&head.namespace, &head.name);
    }

    /// Moves the position to `version`, unless it is there or beyond.
    fn advance(&mut self, version: Version, deleted: Option<Uid>, at: Stamp) {
        let order = self
            .position
            .as_ref()
            .map(|position| version.order(&position.version));
        match order {
            Some(Some(Ordering::Less)) => return,
            // No watch can go on from what is no version.
            Some(None) if version.number().is_none() && self.has_numbers() => return,
            Some(Some(Ordering::Equal)) => {}
            Some(Some(Ordering::Greater) | None) | None => {
                self.deleted_here.clear();
                self.position = Some(Position {
                    version,
                    at: at.wall,
                });
            }
        }
        // Only where versions are shared can more of this one be missing.
        if let (Some(uid), false) = (deleted, self.traits.is_cached) {
            self.deleted_here.push(uid);
        }
    }

    /// A bookmark came.
    pub(crate) fn bookmark(
        &mut self,
        version: &str,
        ends_initial: bool,
        at: Stamp,
        out: &mut Vec<Output>,
    ) {
        self.hear(at, out);
        self.silent_idles = 0;
        let Some(version) = Version::parse(version) else {
            out.push(Output::Anomaly {
                kind: AnomalyKind::BookmarkWithoutVersion,
                detail: String::new(),
            });
            return;
        };
        if self.listing.is_some() {
            if ends_initial {
                self.finish_list(version, at, out);
            }
            return;
        }
        out.push(Output::Bookmark {
            version: version.to_string(),
        });
        self.advance(version.clone(), None, at);
        self.reach(&version);
    }

    /// A list read while the watch under way was running, and long enough before now, was at
    /// `version`: where no bookmarks come, this stands for one.
    pub(crate) fn outlived(&mut self, version: &str, at: Stamp) {
        if self.listing.is_some() || self.traits.is_cached {
            return;
        }
        if let Some(version) = Version::parse(version) {
            self.advance(version, None, at);
        }
    }
}

fn is_later(version: Option<&Version>, old: &KnownObject) -> bool {
    match (version, &old.version) {
        (Some(new), Some(old)) => new
            .order(old)
            .is_none_or(|order| order == Ordering::Greater),
        _ => true,
    }
}

/// An object that another one has replaced under its name is gone, also if nobody said so.
fn infer_replaced(head: &Head<'_>, old: KnownObject, out: &mut Vec<Output>) {
    if head.uid.is_empty() || old.uid.text() == head.uid {
        return;
    }
    out.push(Output::Infer {
        namespace: head.namespace.to_string(),
        name: head.name.to_string(),
        object: old,
        version: head.version.to_string(),
    });
}
