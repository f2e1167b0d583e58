//! Owns what an update is: what was asked for, what was accepted, how it ended. Refuses to find it:
//! `find` does.

use super::mark::Mark;
use kubereel_format::RecordedAt;

/// A release as `ClusterVersion` names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Release {
    /// Its version; may be empty where only an image was given.
    pub version: String,
    /// Its image.
    pub image: String,
}

/// What brings a cluster to a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateKind {
    /// The first installation.
    Install,
    /// Any later change of the release.
    Upgrade,
}

impl UpdateKind {
    /// Gives the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Install => "install",
            Self::Upgrade => "upgrade",
        }
    }
}

/// One installation or upgrade, from the first request to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// What it is.
    pub kind: UpdateKind,
    /// The release before; `None` for an installation.
    pub from: Option<Release>,
    /// Whether the release before was never reached completely.
    pub is_from_partial: bool,
    /// The release that was accepted; `None` until one is.
    pub target: Option<Release>,
    /// What was asked for, in order; empty if it was asked for before the recording.
    pub requests: Vec<Request>,
    /// The first moment that the recording knows of it.
    pub first: Mark,
    /// Whether it ran already when the recording began to see `ClusterVersion`.
    pub is_older: bool,
    /// When the cluster-version operator took it up: a new entry of its history.
    pub accepted: Option<Mark>,
    /// The start that its history gives, on its own clock.
    pub started: Option<RecordedAt>,
    /// Whether the release's signature was verified.
    pub is_verified: Option<bool>,
    /// The risks that were accepted with it, in the operator's words.
    pub accepted_risks: String,
    /// How it ended; `None` if it still ran.
    pub end: Option<UpdateEnd>,
}

/// What somebody asked for, by a change of `spec.desiredUpdate`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The first version with the new generation: nothing else says when it was.
    pub asked: Mark,
    /// The generation.
    pub generation: u64,
    /// The release.
    pub release: Release,
    /// Whether it was forced.
    pub is_forced: bool,
    /// How it ended; `None` if it was still waiting.
    pub end: Option<RequestEnd>,
}

/// The end of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestEnd {
    /// When it was seen.
    pub mark: Mark,
    /// How.
    pub how: HowRequestEnded,
}

/// How a request ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HowRequestEnded {
    /// It was accepted.
    Accepted,
    /// Another took its place.
    Replaced,
    /// It was taken back.
    Withdrawn,
}

impl HowRequestEnded {
    /// Gives the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Replaced => "replaced",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// The end of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpdateEnd {
    /// When it was seen.
    pub mark: Mark,
    /// How.
    pub how: HowUpdateEnded,
    /// The completion that the history gives, on its own clock.
    pub completed: Option<RecordedAt>,
}

/// How an update ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HowUpdateEnded {
    /// The control plane has the release.
    Completed,
    /// Another update was accepted before it was complete.
    Superseded,
    /// It was taken back before it was accepted.
    Withdrawn,
    /// The cluster behind the recording became another one.
    OtherCluster,
}

impl HowUpdateEnded {
    /// Gives the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Superseded => "superseded",
            Self::Withdrawn => "withdrawn",
            Self::OtherCluster => "other cluster",
        }
    }
}

impl Update {
    /// Tells whether the control plane reached the release.
    pub fn is_completed(&self) -> bool {
        self.end
            .is_some_and(|end| end.how == HowUpdateEnded::Completed)
    }

    /// Gives when it was asked for first, as far as that was seen.
    pub fn asked(&self) -> Option<Mark> {
        self.requests.first().map(|request| request.asked)
    }

    /// Gives the version that it goes to: the accepted one, else the one asked for last; may be empty.
    pub fn target_version(&self) -> &str {
        let asked = self.requests.last().map(|request| &request.release);
        let release = self.target.as_ref().or(asked);
        release.map_or("", |release| release.version.as_str())
    }

    /// Tells whether only the image differs from the release before.
    pub fn is_of_one_version(&self) -> bool {
        match (&self.from, &self.target) {
            (Some(from), Some(target)) => {
                !target.version.is_empty()
                    && from.version == target.version
                    && from.image != target.image
            }
            _ => false,
        }
    }
}
