//! The bytes of a test's reel: notes and events in the order of their times, as the recorder or an
//! import writes them.

use super::kinds;
use super::plan::{Blindness, Happening, Reel};
use kubereel_format::{
    Appender, ConnectionId, Elapsed, EndCause, EpochId, Evidence, Gap, GapCause, GapId, ListMethod,
    NewBody, NewEvent, NotCoveredReason, Note, OutageClass, REDACTION_NONE, RecordedAt,
    ResourceInfo, SessionEnd, SessionId, Stamp,
};
use kubereel_history::Timeline;
use std::collections::BTreeMap;
use std::path::Path;
use tempfile::TempDir;

const MINUTE_MICROS: i64 = 60_000_000;

/// A reel, written and opened.
pub struct OpenedReel {
    pub timeline: Timeline,
    pub folder: TempDir,
}

impl OpenedReel {
    /// The reel's name in its folder.
    pub const NAME: &'static str = "test.reel";
}

impl Reel {
    /// Writes the reel into a folder of its own and opens it.
    pub fn written(self) -> OpenedReel {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(OpenedReel::NAME);
        self.write_to(&path);
        let timeline = Timeline::open(&path).expect("a reel");
        assert!(timeline.reel().damage().is_empty());
        OpenedReel { timeline, folder }
    }

    /// Writes the reel under a name.
    pub fn write_to(mut self, path: &Path) {
        let end = self
            .end
            .unwrap_or(RecordedAt::from_micros(self.now.micros + MINUTE_MICROS));
        assert!(end >= self.now, "it ends before what happened last");
        let resources: Vec<ResourceInfo> = kinds::all()
            .into_iter()
            .filter(|info| !self.left_out.contains(&info.kind))
            .collect();
        let happenings = std::mem::take(&mut self.happenings);
        let happenings = happenings
            .into_iter()
            .filter(|one| !self.left_out.contains(&one.info.kind));
        let (initial, later): (Vec<_>, Vec<_>) = happenings.partition(|one| one.is_initial);
        let mut file = File {
            appender: Appender::create(path).expect("a new file"),
            start: self.start,
            connections: BTreeMap::new(),
            last_connection: 0,
        };
        file.begin();
        for kind in &self.left_out {
            file.leave_out(&kinds::of_kind(kind));
        }
        for info in &resources {
            let of = initial.iter().filter(|one| one.info.id == info.id);
            file.list(info, of, &self);
        }
        file.live(&later, &self);
        file.end(end, &self);
    }
}

struct File {
    appender: Appender,
    start: RecordedAt,
    /// The open connection of each kind.
    connections: BTreeMap<String, ConnectionId>,
    last_connection: u32,
}

impl File {
    fn stamp(&self, at: RecordedAt) -> Stamp {
        let micros = u64::try_from(at.micros_since(self.start)).expect("after the start");
        Stamp {
            wall: at,
            elapsed: Elapsed { micros },
        }
    }

    fn note(&mut self, at: RecordedAt, note: Note) {
        let stamp = self.stamp(at);
        self.appender.append_note(stamp, note).expect("a note");
    }

    fn begin(&mut self) {
        let at = self.start;
        let started = Note::SessionStarted {
            session: SessionId(0),
            recorder: "0.1.0".to_owned(),
            at,
            redaction_policy: REDACTION_NONE,
        };
        self.note(at, started);
        let cluster = Note::Cluster {
            epoch: EpochId(0),
            uid: "c".to_owned(),
            version: "v1.36.3".to_owned(),
        };
        self.note(at, cluster);
    }

    /// Says that the cluster has a resource which is not recorded.
    fn leave_out(&mut self, info: &ResourceInfo) {
        let note = Note::NotCovered {
            group: info.group.clone(),
            version: info.version.clone(),
            plural: info.plural.clone(),
            reason: NotCoveredReason::Forbidden,
            detail: String::new(),
        };
        self.note(self.start, note);
    }

    /// Announces a resource and lists what was there.
    fn list<'a>(
        &mut self,
        info: &ResourceInfo,
        initial: impl Iterator<Item = &'a Happening>,
        reel: &Reel,
    ) {
        let at = self.start;
        self.note(at, Note::Resource(info.clone()));
        self.connect(info, at, reel);
        // A list has each object once, as it was then.
        let mut last: BTreeMap<(&str, &str), &Happening> = BTreeMap::new();
        for one in initial {
            last.insert((&one.namespace, &one.name), one);
        }
        for one in last.values() {
            let evidence = if reel.is_imported {
                Evidence::Imported
            } else {
                Evidence::Initial
            };
            self.event(one, evidence);
        }
        if !reel.is_imported {
            self.synced(info, at, "1000");
        }
    }

    fn connect(&mut self, info: &ResourceInfo, at: RecordedAt, reel: &Reel) {
        let connection = ConnectionId(self.last_connection);
        self.last_connection += 1;
        self.connections.insert(info.kind.clone(), connection);
        let method = if reel.is_imported {
            ListMethod::Import
        } else {
            ListMethod::WatchList
        };
        let connected = Note::Connected {
            connection,
            resource: info.id,
            from_rv: None,
            method,
        };
        self.note(at, connected);
    }

    fn synced(&mut self, info: &ResourceInfo, at: RecordedAt, rv: &str) {
        let connection = self.connection(&info.kind);
        let synced = Note::Synced {
            resource: info.id,
            connection,
            rv: rv.to_owned(),
            method: ListMethod::WatchList,
            objects: 0,
        };
        self.note(at, synced);
    }

    fn connection(&self, kind: &str) -> ConnectionId {
        *self.connections.get(kind).expect("a recorded kind")
    }

    fn event(&mut self, one: &Happening, evidence: Evidence) {
        let stamp = self.stamp(one.at);
        let resource_version = one.rv.to_string();
        let event = NewEvent {
            stamp,
            connection: self.connection(&one.info.kind),
            kind: one.kind,
            evidence,
            resource: one.info.id,
            namespace: &one.namespace,
            name: &one.name,
            uid: &one.uid,
            resource_version: &resource_version,
            body: NewBody::Bytes(&one.body),
        };
        self.appender.append_event(&event).expect("an event");
    }

    /// Writes what happened, and the gaps where they end.
    fn live(&mut self, later: &[Happening], reel: &Reel) {
        let mut gaps = reel.blindnesses.clone();
        gaps.sort_by_key(|gap| gap.to);
        let mut gaps = gaps.into_iter().zip(0..).peekable();
        let mut pauses = reel.pauses.iter().peekable();
        for one in later {
            while let Some((from, to)) = pauses.next_if(|(_, to)| *to <= one.at) {
                self.pause(*from, *to);
            }
            while let Some((gap, number)) = gaps.next_if(|(gap, _)| gap.to <= one.at) {
                self.gap(&gap, number, one.rv, reel);
            }
            let is_unseen = reel
                .blindnesses
                .iter()
                .any(|gap| gap.kind == one.info.kind && gap.from < one.at && one.at < gap.to);
            assert!(
                !is_unseen,
                "{} {} happens in a gap",
                one.info.kind, one.name
            );
            let evidence = if reel.is_imported {
                Evidence::Imported
            } else {
                Evidence::Live
            };
            self.event(one, evidence);
        }
        let last = later.last().map_or(1000, |one| one.rv);
        for (gap, number) in gaps {
            self.gap(&gap, number, last + 1, reel);
        }
    }

    fn pause(&mut self, from: RecordedAt, to: RecordedAt) {
        let endpoint = "https://a:6443".to_owned();
        let began = Note::OutageBegan {
            endpoint: endpoint.clone(),
            class: OutageClass::Other,
            error: "the recorder was paused".to_owned(),
            since_micros: u64::try_from(to.micros_since(from)).expect("later"),
        };
        self.note(to, began);
        self.note(
            to,
            Note::OutageEnded {
                endpoint,
                failed: 0,
            },
        );
    }

    fn gap(&mut self, gap: &Blindness, number: u32, rv: u64, reel: &Reel) {
        let info = kinds::of_kind(&gap.kind);
        let ended = Note::Disconnected {
            connection: self.connection(&gap.kind),
            cause: EndCause::Expired,
            last_rv: None,
            detail: String::new(),
        };
        self.note(gap.to, ended);
        self.connect(&info, gap.to, reel);
        let noted = Note::Gap(Gap {
            id: GapId(number),
            resource: info.id,
            from_rv: Some((rv - 1).to_string()),
            to_rv: rv.to_string(),
            from_time: gap.from,
            to_time: gap.to,
            cause: GapCause::Expired,
            missing_at_most: None,
            differences: 0,
        });
        self.note(gap.to, noted);
        self.synced(&info, gap.to, &rv.to_string());
    }

    /// Proves that all was seen up to the end, and ends.
    fn end(mut self, at: RecordedAt, reel: &Reel) {
        if !reel.is_imported {
            let connections: Vec<ConnectionId> = self.connections.values().copied().collect();
            for kind in &reel.torn {
                let ended = Note::Disconnected {
                    connection: self.connection(kind),
                    cause: EndCause::Expired,
                    last_rv: None,
                    detail: String::new(),
                };
                self.note(at, ended);
            }
            for connection in connections {
                let bookmark = Note::Bookmark {
                    connection,
                    rv: "1000000".to_owned(),
                };
                self.note(at, bookmark);
            }
        }
        let ended = Note::SessionEnded {
            session: SessionId(0),
            end: SessionEnd::Finished,
        };
        self.note(at, ended);
        self.appender.finish().expect("room on the disk");
    }
}
