//! What a test can have done to single requests: which requests, how often, and what. It does not
//! do it; `answer`, `stream` and `wire` carry it out.

use std::time::{Duration, Instant};

use super::cluster::Chunking;
use super::log::{Exchange, RequestHead};

/// How a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The body ends as HTTP wants it; the connection stays usable.
    Finished,
    /// FIN, wherever the body is.
    Closed,
    /// RST.
    Reset,
    /// Nothing more is sent and the socket stays open, until the client goes.
    Silent,
}

/// A line of one answer. Lines count from zero; bookmarks and errors count, lines put in by an [`Edit`] do not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pick {
    /// The nth line.
    Line(usize),
    /// The line of this revision.
    Revision(u128),
    /// Lines of this type, such as `BOOKMARK`.
    Type(&'static str),
    /// Every line.
    Every,
}

/// Where in a line's chunk the bytes stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// After this many bytes of the chunk's own header.
    ChunkHeader(usize),
    /// After this many bytes of the line; the chunk's header has announced all of it, except before
    /// [`End::Finished`], where a short chunk is finished properly.
    Line(usize),
    /// After the whole chunk.
    After,
}

/// Ends an answer at a chosen byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerCut {
    /// In which line.
    pub line: Pick,
    /// Where in it.
    pub place: Place,
    /// How.
    pub end: End,
}

/// Alters a line. The oracle counts a line so altered that its content did not arrive as not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Sends these bytes instead; a newline is not added.
    Replace(Vec<u8>),
    /// Sends these bytes first; a newline is not added.
    Before(Vec<u8>),
    /// Sends it twice.
    Twice,
    /// Writes another resource version into it, or takes the member out.
    ResourceVersion(Option<String>),
    /// Writes another type into it.
    Type(String),
}

/// An answer made by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canned {
    /// The status code.
    pub status: u16,
    /// Headers beside `Date` and `Content-Length`.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Canned {
    /// An answer with a JSON `Status`, as an API server makes it.
    pub fn status(code: u16, reason: &str, message: &str) -> Self {
        Self {
            status: code,
            headers: vec![json_type()],
            body: status_object(code, reason, message, None),
        }
    }

    /// An answer in plain text, as the aggregator and the front of a server make it.
    pub fn text(code: u16, text: &str) -> Self {
        Self {
            status: code,
            headers: vec![(
                "Content-Type".to_owned(),
                "text/plain; charset=utf-8".to_owned(),
            )],
            body: text.as_bytes().to_vec(),
        }
    }

    /// A page in HTML, as a proxy or a login portal makes it.
    pub fn html(code: u16, page: &str) -> Self {
        Self {
            status: code,
            headers: vec![(
                "Content-Type".to_owned(),
                "text/html; charset=utf-8".to_owned(),
            )],
            body: page.as_bytes().to_vec(),
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// A list that the server does not keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongList {
    /// An item, in which each `#` stands for its number in nine digits.
    pub item: String,
    /// How many there are; `None` for a list without an end.
    pub count: Option<u64>,
}

/// What is done to a request that a rule matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Sends this answer.
    Answer(Canned),
    /// Sends these bytes, whatever they are, and ends so.
    Raw(Vec<u8>, End),
    /// Sends this many bytes of the answer's head, and ends so.
    Head(usize, End),
    /// Sends a list whose items are made while it is sent, so that it can be longer than memory.
    LongList(LongList),
    /// Waits before answering.
    Delay(Duration),
    /// Ends the answer early.
    Cut(AnswerCut),
    /// Alters lines of it.
    Edit(Pick, Edit),
    /// Cuts it into chunks differently.
    Chunking(Chunking),
}

/// What kind of request a rule is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Any,
    Watch,
    List,
}

/// Which requests a rule is for: a path with `*` for any bytes, and how many of them.
#[derive(Debug, Clone)]
pub struct On {
    path: String,
    kind: Kind,
    query: Option<String>,
    skip: usize,
    times: Option<usize>,
    lasting: Option<Duration>,
}

impl On {
    /// Every request to the path.
    pub fn path(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            kind: Kind::Any,
            query: None,
            skip: 0,
            times: None,
            lasting: None,
        }
    }

    /// Watches only.
    pub fn watch(path: &str) -> Self {
        Self {
            kind: Kind::Watch,
            ..Self::path(path)
        }
    }

    /// Everything but watches.
    pub fn list(path: &str) -> Self {
        Self {
            kind: Kind::List,
            ..Self::path(path)
        }
    }

    /// Only requests with this text in the query as sent.
    #[must_use]
    pub fn with_query(mut self, text: &str) -> Self {
        self.query = Some(text.to_owned());
        self
    }

    /// Lets the first `count` of them pass.
    #[must_use]
    pub fn skip(mut self, count: usize) -> Self {
        self.skip = count;
        self
    }

    /// Is over after `count` of them.
    #[must_use]
    pub fn times(mut self, count: usize) -> Self {
        self.times = Some(count);
        self
    }

    /// Only the first of them.
    #[must_use]
    pub fn once(self) -> Self {
        self.times(1)
    }

    /// Is over after this long.
    #[must_use]
    pub fn lasting(mut self, duration: Duration) -> Self {
        self.lasting = Some(duration);
        self
    }

    /// Whether an exchange is of this kind, however many there were.
    pub fn matches(&self, exchange: &Exchange) -> bool {
        self.matches_asked(&exchange.asked)
    }

    fn matches_asked(&self, asked: &RequestHead) -> bool {
        let kind = match self.kind {
            Kind::Any => true,
            Kind::Watch => asked.is_watch(),
            Kind::List => !asked.is_watch(),
        };
        let query = self
            .query
            .as_ref()
            .is_none_or(|text| asked.target.contains(text.as_str()));
        kind && query && matches_glob(self.path.as_bytes(), asked.path.as_bytes())
    }
}

fn matches_glob(pattern: &[u8], path: &[u8]) -> bool {
    match pattern.split_first() {
        None => path.is_empty(),
        Some((b'*', rest)) => (0..=path.len()).any(|skipped| {
            path.get(skipped..)
                .is_some_and(|tail| matches_glob(rest, tail))
        }),
        Some((byte, rest)) => path
            .split_first()
            .is_some_and(|(first, tail)| first == byte && matches_glob(rest, tail)),
    }
}

/// Names a rule that is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FaultId(usize);

#[derive(Debug)]
struct Rule {
    id: FaultId,
    on: On,
    fault: Fault,
    since: Instant,
    seen: usize,
    hits: usize,
    lifted: bool,
}

/// The rules in force.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    rules: Vec<Rule>,
}

impl Rules {
    pub(crate) fn add(&mut self, on: On, fault: Fault) -> FaultId {
        let id = FaultId(self.rules.len());
        self.rules.push(Rule {
            id,
            on,
            fault,
            since: Instant::now(),
            seen: 0,
            hits: 0,
            lifted: false,
        });
        id
    }

    pub(crate) fn lift(&mut self, id: FaultId) {
        if let Some(rule) = self.rules.iter_mut().find(|rule| rule.id == id) {
            rule.lifted = true;
        }
    }

    pub(crate) fn lift_all(&mut self) {
        for rule in &mut self.rules {
            rule.lifted = true;
        }
    }

    pub(crate) fn hits(&self, id: FaultId) -> usize {
        self.rules
            .iter()
            .find(|rule| rule.id == id)
            .map_or(0, |rule| rule.hits)
    }

    /// The faults this request meets, each counted as one hit of its rule.
    pub(crate) fn meet(&mut self, asked: &RequestHead) -> Vec<Fault> {
        let mut met = Vec::new();
        for rule in &mut self.rules {
            let over = rule.lifted
                || rule.on.times.is_some_and(|times| rule.hits >= times)
                || rule
                    .on
                    .lasting
                    .is_some_and(|lasting| rule.since.elapsed() > lasting);
            if over || !rule.on.matches_asked(asked) {
                continue;
            }
            rule.seen += 1;
            if rule.seen > rule.on.skip {
                rule.hits += 1;
                met.push(rule.fault.clone());
            }
        }
        met
    }
}

pub(crate) fn json_type() -> (String, String) {
    ("Content-Type".to_owned(), "application/json".to_owned())
}

/// A `Status` as API servers write it, with its members in their order.
pub(crate) fn status_object(
    code: u16,
    reason: &str,
    message: &str,
    details: Option<&str>,
) -> Vec<u8> {
    let message = serde_json::Value::from(message);
    let details = details.map_or_else(String::new, |details| format!(r#""details":{details},"#));
    format!(
        r#"{{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":{message},"reason":"{reason}",{details}"code":{code}}}"#
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::matches_glob;

    #[test]
    fn stars_stand_for_any_bytes() {
        assert!(matches_glob(b"/api/v1/*", b"/api/v1/pods"));
        assert!(matches_glob(b"*/pods", b"/api/v1/pods"));
        assert!(matches_glob(b"*", b""));
        assert!(!matches_glob(b"/api/v1/pods", b"/api/v1/pods/x"));
        assert!(!matches_glob(b"/apis/*", b"/apis"));
    }
}
