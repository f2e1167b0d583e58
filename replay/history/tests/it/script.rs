//! Writes small reels for tests: a recorder's notes and events at times that the test chooses.

use kubereel_format::{
    Appender, BlobNote, ConnectionId, DocumentKind, Elapsed, EndCause, EpochId, EventType,
    Evidence, Gap, GapCause, GapId, GapVerdict, Lifecycle, ListMethod, NewBody, NewEvent,
    NotCoveredReason, Note, OddLineProblem, OutageClass, RecordedAt, ResourceId, ResourceInfo, Seq,
    SessionEnd, SessionId, Stamp,
};
use std::path::Path;

/// 2026-11-21T14:00:00Z, when every script begins.
pub const START_MICROS: i64 = 1_795_269_600_000_000;

/// One resource of a script and its open connection.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    pub resource: ResourceId,
    pub connection: ConnectionId,
}

/// What an event is about.
#[derive(Clone, Copy, Debug)]
pub struct Thing<'a> {
    pub namespace: &'a str,
    pub name: &'a str,
    pub uid: &'a str,
}

/// Names a thing.
pub const fn thing<'a>(namespace: &'a str, name: &'a str, uid: &'a str) -> Thing<'a> {
    Thing {
        namespace,
        name,
        uid,
    }
}

/// A reel in the making.
pub struct Script {
    appender: Appender,
    micros: i64,
    set_back_micros: i64,
    sessions: u32,
    resources: u32,
    connections: u32,
    gaps: u32,
}

impl Script {
    /// Begins a reel with a session and a reachable cluster.
    pub fn begin(path: &Path) -> Self {
        let mut script = Self {
            appender: Appender::create(path).expect("a new file"),
            micros: START_MICROS,
            set_back_micros: 0,
            sessions: 0,
            resources: 0,
            connections: 0,
            gaps: 0,
        };
        script.start_session();
        script.note(Note::Cluster {
            epoch: EpochId(0),
            uid: "7b1c".to_owned(),
            version: "v1.36.3".to_owned(),
        });
        script.note(Note::Lifecycle(Lifecycle::Reachable));
        script
    }

    /// Resumes a reel whose recorder was killed or stopped.
    pub fn resume(mut self, path: &Path) -> Self {
        self.commit();
        drop(self.appender);
        self.appender = Appender::resume(path).expect("a reel");
        self.start_session();
        self
    }

    fn start_session(&mut self) {
        let session = SessionId(self.sessions);
        self.sessions += 1;
        self.note(Note::SessionStarted {
            session,
            recorder: "0.1.0".to_owned(),
            at: self.now(),
            redaction_policy: 1,
        });
    }

    /// Ends the session in order.
    pub fn end_session(&mut self) {
        let session = SessionId(self.sessions - 1);
        let end = SessionEnd::Signal("SIGINT".to_owned());
        self.note(Note::SessionEnded { session, end });
    }

    /// Lets time pass.
    pub fn wait(&mut self, millis: i64) {
        self.micros += millis * 1000;
    }

    /// Sets the wall clock back; the steady clock goes on.
    pub fn set_back(&mut self, millis: i64) {
        self.micros -= millis * 1000;
        self.set_back_micros += millis * 1000;
    }

    /// Returns the script's time.
    pub fn now(&self) -> RecordedAt {
        RecordedAt::from_micros(self.micros)
    }

    pub fn stamp(&self) -> Stamp {
        let micros = u64::try_from(self.micros + self.set_back_micros - START_MICROS)
            .expect("after the start");
        Stamp {
            wall: self.now(),
            elapsed: Elapsed { micros },
        }
    }

    pub fn note(&mut self, note: Note) -> Seq {
        let stamp = self.stamp();
        self.appender.append_note(stamp, note).expect("a note")
    }

    /// Announces a resource.
    pub fn resource(&mut self, qualified: &str, kind: &str, shorts: &[&str]) -> ResourceId {
        let id = ResourceId(self.resources);
        self.resources += 1;
        self.announce(id, qualified, kind, shorts);
        id
    }

    /// Announces a resource under an id that it may have had before.
    pub fn announce(&mut self, id: ResourceId, qualified: &str, kind: &str, shorts: &[&str]) {
        let (plural, group) = qualified.split_once('.').unwrap_or((qualified, ""));
        let is_cluster_scoped = ["nodes", "clusteroperators", "clusterversions"].contains(&plural);
        self.note(Note::Resource(ResourceInfo {
            short_names: shorts.iter().map(|&short| short.to_owned()).collect(),
            namespaced: !is_cluster_scoped,
            verbs: vec!["list".to_owned(), "watch".to_owned()],
            ..ResourceInfo::new(id, &format!("{group}/v1"), plural, kind)
        }));
    }

    /// Keeps a discovery document.
    pub fn discovery(&mut self, path: &str, document: &str) {
        let stamp = self.stamp();
        let note = BlobNote::Document {
            kind: DocumentKind::Discovery,
            path: path.to_owned(),
        };
        self.appender
            .append_blob_note(stamp, note, document.as_bytes())
            .expect("a document");
    }

    /// A line that is kept and is not an event.
    pub fn odd_line(&mut self, stream: Stream, problem: OddLineProblem, line: &[u8]) {
        let note = BlobNote::OddLine {
            connection: stream.connection,
            problem,
            len: u64::try_from(line.len()).expect("short"),
        };
        let stamp = self.stamp();
        self.appender
            .append_blob_note(stamp, note, line)
            .expect("append");
    }

    /// Says that a resource is not recorded from here on.
    pub fn not_covered(&mut self, qualified: &str, reason: NotCoveredReason, detail: &str) {
        let (plural, group) = qualified.split_once('.').unwrap_or((qualified, ""));
        self.note(Note::NotCovered {
            group: group.to_owned(),
            version: "v1".to_owned(),
            plural: plural.to_owned(),
            reason,
            detail: detail.to_owned(),
        });
    }

    /// Announces a resource and watches it from a list on.
    pub fn watched(&mut self, qualified: &str, kind: &str, shorts: &[&str]) -> Stream {
        let resource = self.resource(qualified, kind, shorts);
        self.connect(resource, None)
    }

    /// Opens a connection: a streaming list without `from_rv`, else a watch.
    pub fn connect(&mut self, resource: ResourceId, from_rv: Option<u128>) -> Stream {
        let connection = ConnectionId(self.connections);
        self.connections += 1;
        let method = if from_rv.is_some() {
            ListMethod::Watch
        } else {
            ListMethod::WatchList
        };
        self.note(Note::Connected {
            connection,
            resource,
            from_rv: from_rv.map(|rv| rv.to_string()),
            method,
        });
        Stream {
            resource,
            connection,
        }
    }

    pub fn disconnect(&mut self, stream: Stream, cause: EndCause) {
        self.note(Note::Disconnected {
            connection: stream.connection,
            cause,
            last_rv: None,
            detail: String::new(),
        });
    }

    pub fn synced(&mut self, stream: Stream, rv: u128) {
        self.note(Note::Synced {
            resource: stream.resource,
            connection: stream.connection,
            rv: rv.to_string(),
            method: ListMethod::WatchList,
            objects: 0,
        });
    }

    pub fn bookmark(&mut self, stream: Stream, rv: u128) {
        self.note(Note::Bookmark {
            connection: stream.connection,
            rv: rv.to_string(),
        });
    }

    /// Notes a gap of a resource that began at a time and ends now.
    pub fn gap(&mut self, resource: ResourceId, from_rv: u128, to_rv: u128, from: RecordedAt) {
        self.gap_after(GapCause::Expired, resource, (from_rv, to_rv), from);
    }

    /// Notes a gap with a cause.
    pub fn gap_after(
        &mut self,
        cause: GapCause,
        resource: ResourceId,
        (from_rv, to_rv): (u128, u128),
        from: RecordedAt,
    ) {
        let id = GapId(self.gaps);
        self.gaps += 1;
        self.note(Note::Gap(Gap {
            id,
            resource,
            from_rv: Some(from_rv.to_string()),
            to_rv: to_rv.to_string(),
            from_time: from,
            to_time: self.now(),
            cause,
            missing_at_most: Some(4),
            differences: 1,
        }));
    }

    /// Judges the last gap.
    pub fn judged(&mut self, verdict: GapVerdict, missing_at_most: Option<u64>) {
        self.note(Note::GapJudged {
            gap: GapId(self.gaps - 1),
            verdict,
            reconstructed: 2,
            missing_at_most,
            requests: 7,
            detail: String::new(),
        });
    }

    /// Notes an answered probe, asked so long ago.
    pub fn probed(&mut self, revision: u64, took_millis: u64) {
        self.note(Note::Probed {
            epoch: EpochId(0),
            revision: revision.to_string(),
            took_micros: took_millis * 1000,
        });
    }

    /// Lets an endpoint fail for so long, a probe each second.
    pub fn outage(&mut self, endpoint: &str, class: OutageClass, millis: i64) {
        self.begin_outage(endpoint, class);
        self.wait(millis);
        self.end_outage(endpoint, u64::try_from(millis / 1000).expect("later"));
    }

    /// A time in which the recorder does not run.
    pub fn pause(&mut self, millis: i64) {
        self.wait(millis);
        self.note(Note::OutageBegan {
            endpoint: "https://a:6443".to_owned(),
            class: OutageClass::Other,
            error: "the recorder was paused".to_owned(),
            since_micros: u64::try_from(millis * 1000).expect("later"),
        });
        self.end_outage("https://a:6443", 0);
    }

    fn end_outage(&mut self, endpoint: &str, failed: u64) {
        self.note(Note::OutageEnded {
            endpoint: endpoint.to_owned(),
            failed,
        });
    }

    pub fn begin_outage(&mut self, endpoint: &str, class: OutageClass) {
        self.note(Note::OutageBegan {
            endpoint: endpoint.to_owned(),
            class,
            error: "refused".to_owned(),
            since_micros: 0,
        });
    }

    pub fn event(
        &mut self,
        stream: Stream,
        kind: EventType,
        evidence: Evidence,
        thing: Thing<'_>,
        rv: u128,
        body: &[u8],
    ) -> Seq {
        let stamp = self.stamp();
        let resource_version = rv.to_string();
        self.appender
            .append_event(&NewEvent {
                stamp,
                connection: stream.connection,
                kind,
                evidence,
                resource: stream.resource,
                namespace: thing.namespace,
                name: thing.name,
                uid: thing.uid,
                resource_version: &resource_version,
                body: NewBody::Bytes(body),
            })
            .expect("an event")
    }

    /// Lists an object as it was when the recorder came.
    pub fn initial(&mut self, stream: Stream, thing: Thing<'_>, rv: u128, body: &[u8]) -> Seq {
        self.event(stream, EventType::Added, Evidence::Initial, thing, rv, body)
    }

    pub fn added(&mut self, stream: Stream, thing: Thing<'_>, rv: u128, body: &[u8]) -> Seq {
        self.event(stream, EventType::Added, Evidence::Live, thing, rv, body)
    }

    pub fn modified(&mut self, stream: Stream, thing: Thing<'_>, rv: u128, body: &[u8]) -> Seq {
        self.event(stream, EventType::Modified, Evidence::Live, thing, rv, body)
    }

    pub fn deleted(&mut self, stream: Stream, thing: Thing<'_>, rv: u128, body: &[u8]) -> Seq {
        self.event(stream, EventType::Deleted, Evidence::Live, thing, rv, body)
    }

    /// Makes everything durable and goes on.
    pub fn commit(&mut self) {
        self.appender.commit().expect("room on the disk");
    }

    /// Ends the session and finishes the file.
    pub fn finish(mut self) {
        self.end_session();
        self.appender.finish().expect("room on the disk");
    }
}

/// Writes a pod as an API server would.
pub fn pod(thing: Thing<'_>, rv: u128, app: &str) -> Vec<u8> {
    let Thing {
        namespace,
        name,
        uid,
    } = thing;
    format!(
        r#"{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"{name}","namespace":"{namespace}","uid":"{uid}","resourceVersion":"{rv}","creationTimestamp":"2026-11-21T13:00:00Z","labels":{{"app":"{app}"}},"managedFields":[{{"manager":"kubelet"}}]}},"spec":{{"z":1.0,"a":"<b>"}}}}"#
    )
    .into_bytes()
}
