//! The requests that read a gap back, and their budget. A response of another revision than the
//! requested one is refused: some servers ignore the revision and respond with the present.

use crate::backfill::plan::{HistoryReply, PastObject, ServerHistory};
use crate::resource::WatchTarget;
use crate::server::{ApiServer, Get, HttpAnswer};
use crate::wire::{self, ListPiece, ListSplitter};
use kubereel_redact::Redactor;
use std::time::Duration;
use tokio::time::Instant;

/// How long reading one gap back may take, including the wait for its turn, in seconds.
///
/// The watch after the list is not read meanwhile. A server keeps at least 75 s of history for it.
pub(crate) const BACKFILL_SECS: u64 = 20;

/// The number of requests for one gap.
const MAX_REQUESTS: u32 = 256;

/// The bytes of responses for one gap: 32 MiB.
const MAX_READ_BYTES: usize = 32 * 1024 * 1024;

/// The longest response that is read, in bytes: 8 MiB.
const MAX_ANSWER_BYTES: usize = 8 * 1024 * 1024;

/// The longest time for a response, in seconds.
const PATIENCE_SECS: u64 = 5;

/// How often a request is repeated if a server is busy, behind, or out of reach.
const MAX_TRIES: u32 = 4;

/// The delay before a repetition, in milliseconds; it doubles.
const PAUSE_MILLIS: u64 = 100;

/// The history of one resource on a server.
#[derive(Debug)]
pub(crate) struct Asker<'a> {
    server: &'a ApiServer,
    target: &'a WatchTarget,
    redactor: &'a Redactor,
    until: Instant,
    requests: u32,
    read_bytes: usize,
}

/// The result of one request.
enum BackfillReply {
    Done(HistoryReply),
    /// The same request may be repeated.
    Again(String),
}

impl<'a> Asker<'a> {
    /// Creates a history that is queried until the deadline.
    pub(crate) const fn new(
        server: &'a ApiServer,
        target: &'a WatchTarget,
        redactor: &'a Redactor,
        until: Instant,
    ) -> Self {
        Self {
            server,
            target,
            redactor,
            until,
            requests: 0,
            read_bytes: 0,
        }
    }

    /// Returns the number of requests.
    pub(crate) const fn requests(&self) -> u32 {
        self.requests
    }

    async fn ask(&mut self, path: &str, at: u128) -> HistoryReply {
        let mut tries = 0;
        let mut pause_millis = PAUSE_MILLIS;
        loop {
            if self.requests >= MAX_REQUESTS {
                return HistoryReply::Spent("the requests that one gap is worth were made");
            }
            if self.read_bytes >= MAX_READ_BYTES {
                return HistoryReply::Spent("the bytes that one gap is worth were read");
            }
            self.requests += 1;
            tries += 1;
            let once = tokio::time::timeout_at(self.until, self.once(path, at)).await;
            match once {
                Err(_) => return HistoryReply::Spent("the time that one gap is worth is over"),
                Ok(BackfillReply::Done(reply)) => return reply,
                Ok(BackfillReply::Again(words)) if tries >= MAX_TRIES => {
                    return HistoryReply::Refused(words);
                }
                Ok(BackfillReply::Again(_)) => {
                    tokio::time::sleep(Duration::from_millis(pause_millis)).await;
                    pause_millis = pause_millis.saturating_mul(2);
                }
            }
        }
    }

    async fn once(&mut self, path: &str, at: u128) -> BackfillReply {
        let answer = match self.server.get(Get::json(path, PATIENCE_SECS)).await {
            Ok(answer) => answer,
            Err(failure) => return BackfillReply::Again(failure.words),
        };
        match answer.status {
            200 if answer.is_json() => self.read(answer, at).await,
            410 => BackfillReply::Done(HistoryReply::Lost),
            code => {
                let words = wire::status(&answer.read_error().await).message;
                let words = format!("the server answered {code} {words}");
                match code {
                    // Busy, or behind: another server may not be.
                    429 | 500..=599 => BackfillReply::Again(words),
                    _ => BackfillReply::Done(HistoryReply::Refused(words)),
                }
            }
        }
    }

    async fn read(&mut self, mut answer: HttpAnswer, at: u128) -> BackfillReply {
        let mut bytes = Vec::new();
        let patience = Duration::from_secs(PATIENCE_SECS);
        loop {
            let chunk = match tokio::time::timeout(patience, answer.chunk()).await {
                Ok(Ok(None)) => break,
                Ok(Ok(Some(chunk))) => chunk,
                Ok(Err(failure)) => return BackfillReply::Again(failure.words),
                Err(_) => return BackfillReply::Again(format!("silent for {PATIENCE_SECS} s")),
            };
            self.read_bytes = self.read_bytes.saturating_add(chunk.len());
            bytes.extend_from_slice(&chunk);
            if bytes.len() > MAX_ANSWER_BYTES {
                return BackfillReply::Done(HistoryReply::Refused(
                    "an answer is too long".to_owned(),
                ));
            }
        }
        let sights = sights(&bytes, at);
        BackfillReply::Done(match sights {
            Ok(sights) if sights.iter().all(|sight| self.is_plain(sight)) => {
                HistoryReply::Sights(sights)
            }
            Ok(_) => HistoryReply::Refused("an object's name is a secret".to_owned()),
            Err(words) => HistoryReply::Refused(words.to_owned()),
        })
    }

    /// Returns whether the reel uses the object's own name.
    fn is_plain(&self, sight: &PastObject) -> bool {
        let subject = self.target.subject();
        self.redactor.name(&subject, &sight.name, &sight.uid) == sight.name
    }
}

impl ServerHistory for Asker<'_> {
    async fn object(&mut self, namespace: &str, name: &str, at: u128) -> HistoryReply {
        let path = self.target.object_at(namespace, name, at);
        self.ask(&path, at).await
    }

    async fn all(&mut self, at: u128) -> HistoryReply {
        let path = self.target.all_at(at);
        self.ask(&path, at).await
    }
}

/// Reads a list at a revision.
fn sights(bytes: &[u8], at: u128) -> Result<Vec<PastObject>, &'static str> {
    let mut splitter = ListSplitter::new();
    let mut pieces = Vec::new();
    splitter.push(bytes, &mut pieces);
    let meta = splitter
        .finish()
        .ok_or("an answer is not a complete list")?;
    if meta.version != at.to_string() {
        return Err("the server answered with another revision than requested");
    }
    if !meta.token.is_empty() {
        return Err("an answer is not a complete list");
    }
    let mut sights = Vec::new();
    for piece in pieces {
        let ListPiece::Item(body) = piece else {
            return Err("an object is too long");
        };
        let head = wire::head(&body).ok_or("an object cannot be read")?;
        let version: u128 = head
            .version
            .parse()
            .ok()
            .ok_or("a version is not a number")?;
        if version > at || head.uid.is_empty() || version.to_string() != head.version {
            return Err("an answer shows what was not there yet");
        }
        sights.push(PastObject {
            namespace: head.namespace.to_string(),
            name: head.name.to_string(),
            uid: head.uid.to_string(),
            version,
            body: body.clone(),
        });
    }
    Ok(sights)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(version: &str) -> String {
        format!(
            r#"{{"metadata":{{"name":"a","namespace":"n","uid":"u","resourceVersion":"{version}"}},"x":1e3}}"#
        )
    }

    fn list(version: &str, more: &str, items: &str) -> String {
        format!(
            r#"{{"kind":"L","metadata":{{"resourceVersion":"{version}"{more}}},"items":[{items}]}}"#
        )
    }

    #[test]
    fn an_object_keeps_its_bytes() {
        let text = list("12", "", &item("9"));
        let sights = sights(text.as_bytes(), 12).expect("a list of 12");
        let [sight] = sights.as_slice() else {
            panic!("{sights:?}");
        };
        assert_eq!((sight.version, sight.uid.as_str()), (9, "u"));
        assert_eq!(sight.body, item("9").as_bytes());
        let expected = Ok(Vec::new());
        assert_eq!(super::sights(list("7", "", "").as_bytes(), 7), expected);
    }

    #[test]
    fn whatever_does_not_fit_the_question_is_refused() {
        let fits = list("12", "", &item("12"));
        assert!(sights(fits.as_bytes(), 12).is_ok());
        for text in [
            list("13", "", &item("9")),
            list("12", "", &item("13")),
            list("12", "", &item("x9")),
            list("12", "", &item("09")),
            list("12", r#","continue":"abc""#, &item("9")),
            list("12", "", "7"),
            list("12", "", &item("9").replace(r#""uid":"u""#, r#""uid":"""#)),
            fits[..fits.len() - 2].to_owned(),
            "{}".to_owned(),
        ] {
            assert!(sights(text.as_bytes(), 12).is_err(), "{text}");
        }
    }
}
