//! Owns what an answer is before it meets the wire, and the choice of who makes it from path and settings.
//! Refuses bytes and sockets.

use std::time::Duration;

use super::discovery;
use super::fault::{Canned, json_type, status_object};
use super::list;
use super::log::Asked;
use super::model::Model;
use super::route::{Route, Target};
use super::settings::Settings;
use super::stream::{Opened, Stream};

/// A line or a document, with the commits a client knows once it has it whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// The watch event's type; empty for documents.
    pub(crate) kind: &'static str,
    pub(crate) revision: Option<u128>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) commits: Vec<usize>,
}

/// What follows the head.
#[derive(Debug)]
pub(crate) enum Body {
    Document(Line),
    /// Lines that wait already, and where more come from unless it is over.
    Lines(Vec<Line>, Option<Box<Stream>>),
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Body,
    /// A wait the server itself makes before answering.
    pub(crate) wait: Duration,
}

impl Answer {
    pub(crate) fn document(status: u16, bytes: Vec<u8>) -> Self {
        Self {
            status,
            headers: vec![json_type()],
            body: Body::Document(Line {
                kind: "",
                revision: None,
                bytes,
                commits: Vec::new(),
            }),
            wait: Duration::ZERO,
        }
    }

    /// A JSON `Status`.
    pub(crate) fn status(code: u16, reason: &str, message: &str) -> Self {
        Self::document(code, status_object(code, reason, message, None))
    }

    /// Go's answer to a path nobody serves.
    pub(crate) fn no_such_path() -> Self {
        Canned::text(404, "404 page not found\n").into()
    }
}

impl From<Canned> for Answer {
    fn from(canned: Canned) -> Self {
        Self {
            headers: canned.headers,
            ..Self::document(canned.status, canned.body)
        }
    }
}

/// Answers a request as a healthy server would.
pub(crate) fn to(asked: &Asked, model: &Model, settings: &Settings, flap: bool) -> Answer {
    if let Some(token) = &settings.token
        && asked.header("authorization") != Some(format!("Bearer {token}").as_str())
    {
        return Answer::status(401, "Unauthorized", "Unauthorized");
    }
    if asked.method != "GET" {
        return Answer::status(
            405,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        );
    }
    match Route::of(&asked.path) {
        Some(Route::Health) => Canned::text(200, "ok").into(),
        Some(Route::Version) => Answer::document(200, discovery::version(settings)),
        Some(Route::Discovery(page)) => discovery::answer(&page, asked, model, settings, flap),
        Some(Route::Resource(target)) => resource(&target, asked, model, settings),
        None => Answer::no_such_path(),
    }
}

fn resource(target: &Target, asked: &Asked, model: &Model, settings: &Settings) -> Answer {
    let found = model.resources.get(&target.key).filter(|resource| {
        resource.versions.contains(&target.version)
            && (resource.namespaced || target.namespace.is_none())
    });
    let Some((resource, storage)) =
        found.and_then(|resource| Some((resource, model.storage_of(resource)?)))
    else {
        return Answer::no_such_path();
    };
    let verb = match (asked.is_watch(), target.name.is_some()) {
        (true, _) => "watch",
        (false, false) => "list",
        (false, true) => "get",
    };
    if !resource.allows(verb) {
        return Answer::status(
            405,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        );
    }
    let scope = match list::Scope::new(target, asked, resource) {
        Ok(scope) => scope,
        Err(refusal) => return *refusal,
    };
    match verb {
        "watch" => match Stream::open(scope, asked, model, storage, settings) {
            Opened::Refused(answer) => *answer,
            Opened::Lines(lines, stream) => Answer {
                body: Body::Lines(lines, stream),
                ..Answer::document(200, Vec::new())
            },
        },
        "list" => list::answer(&scope, asked, model, storage, settings),
        _ => list::single(&scope, storage),
    }
}
