//! Probes: every two seconds one consistent list of at most one object returns the current revision
//! of the cluster. The responses bound the time of every change from both sides: a revision above a
//! response was committed after its request, a revision up to it before its arrival. Without a
//! response, the API is out.
//!
//! Invariants:
//! * A probe is never repeated and never waits for room in the queue: a late one proves less than
//!   the next.
//! * An outage loses no events by itself: it is noted beside the gaps, never as one.

use crate::queue::QueueEntry;
use crate::server::{ApiServer, Failure, FailureKind, Get};
use crate::version::ResourceVersion;
use crate::watch::context::WatchContext;
use crate::wire::ListSplitter;
use kubereel_format::{Elapsed, EpochId, Note, OutageClass, Stamp};
use serde::Deserialize;
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// The interval of the probes, and so the resolution of every change's time.
const EVERY_MILLIS: u64 = 2_000;

/// The interval during an outage: it bounds the end of the outage.
const RETRY_MILLIS: u64 = 1_000;

/// A process that wakes up this much later was paused, in microseconds.
const PAUSED_MICROS: u64 = 3_000_000;
/// How many notes of outages may wait for room in the queue; further outages are not noted.
const MAX_WAITING: usize = 64;

/// Sends probes.
pub(crate) struct Prober {
    shared: Arc<WatchContext>,
    question: ProbeQuestion,
    /// The client of the last probe.
    generation: u64,
    telling: OutageTracker,
    waiting: VecDeque<(Stamp, Note)>,
    /// The current outage is not noted, so its end must not be noted either.
    is_unnoted: bool,
    /// Becomes true with the first probe, answered or not.
    probed: watch::Sender<bool>,
}

impl Prober {
    /// Creates a prober.
    pub(crate) fn new(shared: Arc<WatchContext>, probed: watch::Sender<bool>) -> Self {
        Self {
            shared,
            probed,
            question: ProbeQuestion::default(),
            generation: 0,
            telling: OutageTracker::default(),
            waiting: VecDeque::new(),
            is_unnoted: false,
        }
    }

    /// Sends probes until it is dropped.
    pub(crate) async fn run(mut self) {
        let mut clients = self.shared.clients.clone();
        loop {
            let server = clients.wait_for(Option::is_some).await.ok();
            let Some(server) = server.and_then(|server| server.clone()) else {
                return;
            };
            let probed = self.shared.clock.elapsed();
            self.round(&server, probed).await;
            self.flush();
            self.probed.send_replace(true);
            self.shared.health.set_out(self.telling.is_failing());
            let every = if self.telling.is_failing() {
                RETRY_MILLIS
            } else {
                EVERY_MILLIS
            };
            let spent = self
                .shared
                .clock
                .elapsed()
                .micros
                .saturating_sub(probed.micros);
            let pause_micros = (every * 1_000).saturating_sub(spent);
            let asleep = self.shared.clock.elapsed().micros;
            tokio::time::sleep(Duration::from_micros(pause_micros)).await;
            let slept = self.shared.clock.elapsed().micros.saturating_sub(asleep);
            self.paused(slept.saturating_sub(pause_micros));
        }
    }

    /// Notes a time in which no probe was sent because this process did not run: the changes of that time are
    /// received, and dated, later.
    fn paused(&mut self, late_micros: u64) {
        if late_micros < PAUSED_MICROS {
            return;
        }
        let stamp = self.shared.now();
        for note in self.telling.paused(late_micros).into_iter().flatten() {
            self.outage(stamp, Some(note));
        }
    }

    async fn round(&mut self, server: &ApiServer, sent: Elapsed) {
        if self.generation != server.generation {
            self.generation = server.generation;
            // Another user may be allowed to list other resources.
            self.question = ProbeQuestion::default();
        }
        let left = self.telling.ask(&server.endpoint);
        self.outage(self.shared.now(), left);
        let epoch = *self.shared.epoch.borrow();
        let found = self.question.ask(server).await;
        let stamp = self.shared.now();
        match found {
            ProbeResult::Failed(class, error) => {
                let note = self.telling.failed(class, &error, sent, stamp.elapsed);
                if note.is_some() {
                    let endpoint = &server.endpoint;
                    tracing::debug!(endpoint, class = class.as_str(), "the API is out");
                }
                self.outage(stamp, note);
            }
            ProbeResult::Answered(revision) => {
                let note = self.telling.answered();
                if note.is_some() {
                    tracing::debug!(endpoint = server.endpoint, "the API answers again");
                }
                self.outage(stamp, note);
                self.shared.health.probed(stamp.elapsed);
                if let Some((revision, path)) = revision {
                    self.revision(epoch, revision, path, sent, stamp);
                }
            }
        }
    }

    fn revision(
        &mut self,
        epoch: u32,
        revision: ResourceVersion,
        path: &'static str,
        sent: Elapsed,
        stamp: Stamp,
    ) {
        // Another cluster may have been found while the response was in transit.
        if *self.shared.epoch.borrow() != epoch {
            return;
        }
        let answer = ProbeAnswer {
            epoch,
            revision,
            sent,
            stamp,
        };
        if self.telling.has_fallen(&answer) {
            self.shared.discovery.ask();
            return;
        }
        let revisions = self.shared.discovery.revisions();
        revisions.reached(epoch, &answer.revision, || path.to_owned());
        if let Some(note) = self.telling.probed(&answer)
            && self.waiting.is_empty()
            && self.shared.queue.try_push(QueueEntry::Note { stamp, note })
        {
            self.telling.noted(answer);
        }
    }

    /// Queues the note of an outage.
    fn outage(&mut self, stamp: Stamp, note: Option<Note>) {
        let Some(note) = note else {
            return;
        };
        if matches!(note, Note::OutageBegan { .. }) {
            self.is_unnoted = self.waiting.len() >= MAX_WAITING;
        }
        if !self.is_unnoted {
            self.waiting.push_back((stamp, note));
        }
        self.flush();
    }

    fn flush(&mut self) {
        while let Some((stamp, note)) = self.waiting.front() {
            let entry = QueueEntry::Note {
                stamp: *stamp,
                note: note.clone(),
            };
            if !self.shared.queue.try_push(entry) {
                return;
            }
            self.waiting.pop_front();
        }
    }
}

/// The candidate resources; the first that may be listed is used. Hardly any cluster has pod
/// templates, so that response is the shortest; every cluster has namespaces.
const PATHS: [&str; 2] = ["/api/v1/podtemplates", "/api/v1/namespaces"];

/// The longest time for the head of a response, in seconds, and again for its body.
const PATIENCE_SECS: u64 = 5;

/// The longest answer that is read, in bytes: it holds one object.
const MAX_ANSWER: usize = 8 * 1024 * 1024;

/// The longest noted error message, in characters.
const MAX_WORDS: usize = 300;

/// The result of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ProbeResult {
    /// The revision of the list, and the path of the request; no revision if the list has none.
    Answered(Option<(ResourceVersion, &'static str)>),
    /// Why there was no list.
    Failed(OutageClass, String),
}

/// Sends one probe, and remembers which resource may be listed.
#[derive(Clone, Copy, Debug, Default)]
struct ProbeQuestion {
    place: usize,
    is_proven: bool,
}

impl ProbeQuestion {
    /// Probes once. A path that is refused gives way to the next.
    async fn ask(&mut self, server: &ApiServer) -> ProbeResult {
        let mut refused = 0;
        loop {
            let path = PATHS.get(self.place).copied().unwrap_or(PATHS[0]);
            let (found, refusal) = probe(server, path).await;
            let Some(refusal) = refusal else {
                self.is_proven |= matches!(found, ProbeResult::Answered(_));
                return found;
            };
            self.is_proven |= refusal == ProbeRefusal::ByApiServer;
            self.place = (self.place + 1) % PATHS.len();
            refused += 1;
            if refused < PATHS.len() {
                continue;
            }
            // A right that was taken away is not an outage: an API server judged the request.
            return match found {
                ProbeResult::Failed(OutageClass::Credentials, _) if self.is_proven => {
                    ProbeResult::Answered(None)
                }
                found => found,
            };
        }
    }
}

/// The response to this path is for authenticated users only.
const AUTHENTICATED_PATH: &str = "/apis";

/// Tries a server once, within a bounded time: whether it answers, and accepts the credentials.
///
/// # Errors
///
/// Returns the failure as text.
pub(crate) async fn try_server(server: &ApiServer) -> Result<(), String> {
    let patience = Duration::from_secs(PATIENCE_SECS);
    match tokio::time::timeout(patience, try_patiently(server)).await {
        Ok(found) => found,
        Err(_) => Err(Failure::timeout(PATIENCE_SECS).words),
    }
}

async fn try_patiently(server: &ApiServer) -> Result<(), String> {
    match ProbeQuestion::default().ask(server).await {
        // A server that is busy has accepted the credentials.
        ProbeResult::Answered(Some(_)) | ProbeResult::Failed(OutageClass::Busy, _) => Ok(()),
        ProbeResult::Failed(_, words) => Err(words),
        // It may have judged a request without credentials.
        ProbeResult::Answered(None) => {
            let get = Get::json(AUTHENTICATED_PATH, PATIENCE_SECS);
            let answer = server.get(get).await.map_err(|failure| failure.words)?;
            match answer.status {
                200 | 429 => Ok(()),
                status => Err(words(status, &answer.read_error().await)),
            }
        }
    }
}

/// Who refused the path of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProbeRefusal {
    /// An API server, which judged the request: it answers.
    ByApiServer,
    /// Perhaps a proxy before it.
    Unknown,
}

/// Requests one list, and returns who refused its path, if it was refused.
async fn probe(server: &ApiServer, path: &'static str) -> (ProbeResult, Option<ProbeRefusal>) {
    // Without a resourceVersion the list is consistent: its revision is that of the storage, not of
    // a cache.
    let target = format!("{path}?limit=1");
    let answer = match server.get(Get::json(&target, PATIENCE_SECS)).await {
        Ok(answer) => answer,
        Err(failure) => return (failed(&failure), None),
    };
    let status = answer.status;
    if let Some(class) = of_status(status) {
        let body = answer.read_error().await;
        let words = words(status, &body);
        let refusal = matches!(status, 403 | 404).then(|| refusal(status, &body));
        return (ProbeResult::Failed(class, words), refusal);
    }
    let found = match answer.read(MAX_ANSWER, PATIENCE_SECS).await {
        Ok(bytes) => revision(&bytes, path),
        Err(failure) => failed(&failure),
    };
    (found, None)
}

/// Reads who refused a path. With a right to neither of the paths, a recorder still has to notice outages.
fn refusal(status: u16, body: &[u8]) -> ProbeRefusal {
    #[derive(Deserialize)]
    struct ServerStatus {
        kind: String,
        code: u16,
    }
    match serde_json::from_slice::<ServerStatus>(body) {
        Ok(said) if said.kind == "Status" && status == 403 && said.code == 403 => {
            ProbeRefusal::ByApiServer
        }
        _ => ProbeRefusal::Unknown,
    }
}

fn failed(failure: &Failure) -> ProbeResult {
    ProbeResult::Failed(of_failure(failure), shortened(&failure.words))
}

/// Reads the revision of a list. A response that is not a list comes from a proxy, for example.
fn revision(bytes: &[u8], path: &'static str) -> ProbeResult {
    let mut splitter = ListSplitter::new();
    splitter.push(bytes, &mut Vec::new());
    match splitter.finish() {
        Some(list) => ProbeResult::Answered(
            ResourceVersion::parse(&list.version)
                .filter(|version| version.number().is_some())
                .map(|version| (version, path)),
        ),
        None => ProbeResult::Failed(
            OutageClass::Other,
            "the answer is not a list of an API server".to_owned(),
        ),
    }
}

/// Returns the message of an error response.
fn words(status: u16, body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct ServerMessage {
        #[serde(default)]
        message: String,
    }
    let said = serde_json::from_slice::<ServerMessage>(body).map_or_else(
        |_| String::from_utf8_lossy(body).trim().to_owned(),
        |said| said.message,
    );
    let text = format!("HTTP {status}: {said}");
    shortened(text.trim_end_matches([':', ' ']))
}

fn shortened(words: &str) -> String {
    words.chars().take(MAX_WORDS).collect()
}

/// Error texts of the client for a name without an address.
const NAME_WORDS: [&str; 2] = ["dns error", "failed to lookup address"];

/// Error texts of the client for a failed connection.
const CONNECT_WORDS: [&str; 3] = ["(Connect)", "tcp connect error", "tunnel error"];

/// Classifies a probe without a response, or with a cut one.
fn of_failure(failure: &Failure) -> OutageClass {
    let has_phrase = |words: &[&str]| words.iter().any(|word| failure.words.contains(word));
    match failure.kind {
        FailureKind::Timeout => OutageClass::Timeout,
        FailureKind::Credentials => OutageClass::Credentials,
        FailureKind::Tls => OutageClass::Tls,
        FailureKind::Transport if has_phrase(&NAME_WORDS) => OutageClass::Name,
        FailureKind::Transport if has_phrase(&CONNECT_WORDS) => OutageClass::Connect,
        FailureKind::Transport => OutageClass::Cut,
    }
}

/// Classifies a response by its status code; `None` for a success.
const fn of_status(status: u16) -> Option<OutageClass> {
    match status {
        200 => None,
        401 | 403 => Some(OutageClass::Credentials),
        429 => Some(OutageClass::Busy),
        500..=599 => Some(OutageClass::Server),
        _ => Some(OutageClass::Other),
    }
}

/// How long an unchanged revision may go without a note, in microseconds: 30 s.
const SILENT_MICROS: u64 = 30_000_000;

/// A successful probe.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ProbeAnswer {
    /// The epoch of the revision.
    epoch: u32,
    /// The revision.
    revision: ResourceVersion,
    /// When the request was sent.
    sent: Elapsed,
    /// When the response was complete.
    stamp: Stamp,
}

/// The state of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndpointState {
    Answers,
    /// The number of failed probes.
    Fails(u64),
}

/// What was noted so far.
#[derive(Debug, Default)]
struct OutageTracker {
    last: Option<ProbeAnswer>,
    endpoint: String,
    /// Nothing ever responded: the recorder waits for a cluster, and that is not an outage.
    standing: Option<EndpointState>,
}

impl OutageTracker {
    /// Returns whether the endpoint currently fails.
    const fn is_failing(&self) -> bool {
        matches!(self.standing, Some(EndpointState::Fails(_)))
    }

    /// Sets the endpoint of the next probe; a failing endpoint that is no longer probed counts as
    /// recovered.
    fn ask(&mut self, endpoint: &str) -> Option<Note> {
        if self.endpoint == endpoint {
            return None;
        }
        let before = std::mem::replace(&mut self.endpoint, endpoint.to_owned());
        match self.standing {
            Some(EndpointState::Fails(failed)) => {
                self.standing = Some(EndpointState::Answers);
                Some(Note::OutageEnded {
                    endpoint: before,
                    failed,
                })
            }
            Some(EndpointState::Answers) | None => None,
        }
    }

    /// Takes a failed probe with the times of its request and its failure, and returns the note of
    /// an outage that begins.
    fn failed(
        &mut self,
        class: OutageClass,
        error: &str,
        sent: Elapsed,
        failed_at: Elapsed,
    ) -> Option<Note> {
        match &mut self.standing {
            None => None,
            Some(EndpointState::Fails(failed)) => {
                *failed = failed.saturating_add(1);
                None
            }
            Some(standing) => {
                *standing = EndpointState::Fails(1);
                Some(Note::OutageBegan {
                    endpoint: self.endpoint.clone(),
                    class,
                    error: error.to_owned(),
                    since_micros: failed_at.micros.saturating_sub(sent.micros),
                })
            }
        }
    }

    /// Takes a successful probe, and returns the note of an outage that it ends.
    fn answered(&mut self) -> Option<Note> {
        let before = self.standing.replace(EndpointState::Answers);
        let Some(EndpointState::Fails(failed)) = before else {
            return None;
        };
        Some(Note::OutageEnded {
            endpoint: self.endpoint.clone(),
            failed,
        })
    }

    /// Returns the notes of a time in which this process did not run, unless it is part of an outage.
    fn paused(&self, late_micros: u64) -> Option<[Note; 2]> {
        let endpoint = || self.endpoint.clone();
        (self.standing == Some(EndpointState::Answers)).then(|| {
            let began = Note::OutageBegan {
                endpoint: endpoint(),
                class: OutageClass::Other,
                error: "the recorder was paused".to_owned(),
                since_micros: late_micros,
            };
            let ended = Note::OutageEnded {
                endpoint: endpoint(),
                failed: 0,
            };
            [began, ended]
        })
    }

    /// Returns whether the revision is below an earlier one of the same history.
    fn has_fallen(&self, answer: &ProbeAnswer) -> bool {
        self.last.as_ref().is_some_and(|last| {
            last.epoch == answer.epoch
                && answer.revision.order(&last.revision) == Some(Ordering::Less)
        })
    }

    /// Returns the note of a successful probe, if it has news.
    fn probed(&self, answer: &ProbeAnswer) -> Option<Note> {
        let says_nothing_new = self.last.as_ref().is_some_and(|last| {
            let silent = answer
                .stamp
                .elapsed
                .micros
                .saturating_sub(last.stamp.elapsed.micros);
            last.epoch == answer.epoch && last.revision == answer.revision && silent < SILENT_MICROS
        });
        if says_nothing_new || self.has_fallen(answer) {
            return None;
        }
        Some(Note::Probed {
            epoch: EpochId(answer.epoch),
            revision: answer.revision.to_string(),
            took_micros: answer
                .stamp
                .elapsed
                .micros
                .saturating_sub(answer.sent.micros),
        })
    }

    /// The note of this probe was queued.
    fn noted(&mut self, answer: ProbeAnswer) {
        self.last = Some(answer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_format::RecordedAt;

    #[test]
    fn only_a_list_tells_a_revision() {
        let list = br#"{"kind":"PodTemplateList","metadata":{"resourceVersion":"417"},"items":[]}"#;
        let expected = Some((ResourceVersion::Number(417), PATHS[0]));
        assert_eq!(revision(list, PATHS[0]), ProbeResult::Answered(expected));
        let odd = br#"{"metadata":{"resourceVersion":"x1"},"items":[]}"#;
        assert_eq!(revision(odd, PATHS[0]), ProbeResult::Answered(None));
        for other in [&b"<html>"[..], b"", b"{\"metadata\":{\"resourceVer"] {
            let found = revision(other, PATHS[0]);
            assert!(
                matches!(found, ProbeResult::Failed(OutageClass::Other, _)),
                "{found:?}"
            );
        }
    }

    #[test]
    fn an_api_server_that_forbids_a_path_answers() {
        let status = br#"{"kind":"Status","status":"Failure","reason":"Forbidden","code":403}"#;
        assert_eq!(refusal(403, status), ProbeRefusal::ByApiServer);
        for (code, body) in [(403, &b"<html>"[..]), (404, status), (403, b"{}")] {
            assert_eq!(refusal(code, body), ProbeRefusal::Unknown, "{code}");
        }
    }

    #[test]
    fn an_error_is_told_in_the_servers_words_and_not_at_length() {
        let status = br#"{"kind":"Status","message":"etcdserver: request timed out"}"#;
        let expected = "HTTP 500: etcdserver: request timed out";
        assert_eq!(words(500, status), expected);
        assert_eq!(words(503, b" no backend \n"), "HTTP 503: no backend");
        assert_eq!(words(502, b""), "HTTP 502");
        assert_eq!(words(502, &[b'x'; 5000]).len(), MAX_WORDS);
    }

    #[test]
    fn failures_fall_into_classes_by_what_the_client_says() {
        let class = |kind, words: &str| {
            of_failure(&Failure {
                kind,
                words: words.to_owned(),
            })
        };
        for (words, expected) in [
            (
                "client error (Connect): dns error: failed to lookup address information",
                OutageClass::Name,
            ),
            (
                "client error (Connect): tcp connect error: Connection refused (os error 111)",
                OutageClass::Connect,
            ),
            (
                "client error (SendRequest): connection closed before message completed",
                OutageClass::Cut,
            ),
            ("connection reset by peer", OutageClass::Cut),
        ] {
            assert_eq!(class(FailureKind::Transport, words), expected, "{words}");
        }
        assert_eq!(class(FailureKind::Tls, "(Connect)"), OutageClass::Tls);
        assert_eq!(class(FailureKind::Timeout, ""), OutageClass::Timeout);
        let expected = OutageClass::Credentials;
        assert_eq!(class(FailureKind::Credentials, ""), expected);
    }

    #[test]
    fn answers_fall_into_classes_by_their_status() {
        assert_eq!(of_status(200), None);
        for (status, expected) in [
            (401, OutageClass::Credentials),
            (403, OutageClass::Credentials),
            (429, OutageClass::Busy),
            (500, OutageClass::Server),
            (503, OutageClass::Server),
            (504, OutageClass::Server),
            (404, OutageClass::Other),
            (302, OutageClass::Other),
        ] {
            assert_eq!(of_status(status), Some(expected), "{status}");
        }
    }

    const fn at(secs: u64) -> Elapsed {
        Elapsed {
            micros: secs * 1_000_000,
        }
    }

    fn answer(epoch: u32, revision: u64, secs: u64) -> ProbeAnswer {
        ProbeAnswer {
            epoch,
            revision: ResourceVersion::Number(revision),
            sent: at(secs),
            stamp: Stamp {
                wall: RecordedAt::default(),
                elapsed: at(secs + 1),
            },
        }
    }

    #[test]
    fn a_revision_that_rests_is_told_every_half_minute() {
        let mut telling = OutageTracker::default();
        let mut noted_at = Vec::new();
        for secs in (0..100).step_by(2) {
            let answer = answer(0, if secs < 80 { 7 } else { secs }, secs);
            if let Some(note) = telling.probed(&answer) {
                let Note::Probed { took_micros, .. } = note else {
                    panic!("{note:?}");
                };
                assert_eq!(took_micros, 1_000_000);
                telling.noted(answer);
                noted_at.push(secs);
            }
        }
        let expected = [0, 30, 60, 80, 82, 84, 86, 88, 90, 92, 94, 96, 98];
        assert_eq!(noted_at, expected);
    }

    #[test]
    fn what_was_not_written_is_told_again() {
        let mut telling = OutageTracker::default();
        assert!(telling.probed(&answer(0, 7, 0)).is_some());
        assert!(
            telling.probed(&answer(0, 7, 2)).is_some(),
            "the queue was full"
        );
        telling.noted(answer(0, 7, 2));
        assert_eq!(telling.probed(&answer(0, 7, 4)), None);
    }

    #[test]
    fn a_fallen_revision_is_another_history_and_told_only_in_another_epoch() {
        let mut telling = OutageTracker::default();
        telling.noted(answer(0, 7, 0));
        assert!(telling.has_fallen(&answer(0, 6, 2)));
        assert_eq!(telling.probed(&answer(0, 6, 2)), None);
        assert!(!telling.has_fallen(&answer(1, 6, 4)));
        assert!(telling.probed(&answer(1, 6, 4)).is_some());
    }

    #[test]
    fn a_pause_of_the_recorder_is_noted_unless_the_server_is_out() {
        let mut telling = OutageTracker::default();
        assert_eq!(telling.ask("https://a:1"), None);
        let pause = 25_000_000;
        assert_eq!(telling.paused(pause), None, "nothing was ever answered");
        assert_eq!(telling.answered(), None);
        let [began, ended] = telling.paused(pause).expect("notes");
        assert!(matches!(
            began,
            Note::OutageBegan {
                since_micros: 25_000_000,
                ..
            }
        ));
        assert!(matches!(ended, Note::OutageEnded { failed: 0, .. }));
        telling.failed(OutageClass::Connect, "refused", at(2), at(5));
        assert_eq!(telling.paused(pause), None);
    }

    #[test]
    fn an_outage_begins_with_the_first_failure_and_ends_with_the_first_answer() {
        let mut telling = OutageTracker::default();
        assert_eq!(telling.ask("https://a:1"), None);
        let failed = |telling: &mut OutageTracker, secs| {
            telling.failed(OutageClass::Connect, "refused", at(secs), at(secs + 3))
        };
        assert_eq!(failed(&mut telling, 0), None, "nothing was ever answered");
        assert_eq!(telling.answered(), None);
        assert_eq!(
            failed(&mut telling, 2),
            Some(Note::OutageBegan {
                endpoint: "https://a:1".to_owned(),
                class: OutageClass::Connect,
                error: "refused".to_owned(),
                since_micros: 3_000_000,
            })
        );
        assert_eq!(failed(&mut telling, 3), None);
        assert!(telling.is_failing());
        let ended = |endpoint: &str, failed| {
            Some(Note::OutageEnded {
                endpoint: endpoint.to_owned(),
                failed,
            })
        };
        assert_eq!(telling.answered(), ended("https://a:1", 2));
        assert!(failed(&mut telling, 9).is_some());
        assert_eq!(telling.ask("https://b:1"), ended("https://a:1", 1));
        assert!(!telling.is_failing());
    }
}
