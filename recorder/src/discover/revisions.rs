//! Owns how far the cluster's revisions have come in the present epoch, told by the streams.
//! Refuses what a stream of an earlier epoch says, and to compare two resources with each other:
//! each may have a storage of its own.

use crate::watch::version::Version;
use std::cmp::Ordering;
use std::sync::{Mutex, PoisonError};

/// The highest revision of an epoch, and who saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Highest {
    /// The revision.
    pub(crate) version: Version,
    /// The path of the resource whose stream came to it.
    pub(crate) path: String,
}

/// How far the revisions have come.
#[derive(Debug)]
pub(crate) struct Revisions(Mutex<Reached>);

#[derive(Debug)]
struct Reached {
    epoch: u32,
    highest: Option<Highest>,
}

impl Revisions {
    /// Begins with an epoch.
    pub(super) fn new(epoch: u32) -> Self {
        Self(Mutex::new(Reached {
            epoch,
            highest: None,
        }))
    }

    /// A stream that lives in `epoch` has come to `version`.
    pub(crate) fn reached(&self, epoch: u32, version: &Version, path: impl FnOnce() -> String) {
        let mut reached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if reached.epoch != epoch || version.number().is_none() {
            return;
        }
        let is_higher = reached
            .highest
            .as_ref()
            .is_none_or(|highest| version.order(&highest.version) == Some(Ordering::Greater));
        if is_higher {
            reached.highest = Some(Highest {
                version: version.clone(),
                path: path(),
            });
        }
    }

    /// Gives the epoch and how far its revisions have come.
    pub(super) fn highest(&self) -> (u32, Option<Highest>) {
        let reached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (reached.epoch, reached.highest.clone())
    }

    /// Begins another epoch: what follows is another history.
    pub(crate) fn begin(&self, epoch: u32) {
        let mut reached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *reached = Reached {
            epoch,
            highest: None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(number: u64) -> Version {
        Version::Number(number)
    }

    #[test]
    fn keeps_the_highest_and_who_saw_it() {
        let revisions = Revisions::new(0);
        revisions.reached(0, &at(7), || "/api/v1/pods".into());
        revisions.reached(0, &at(5), || "/api/v1/nodes".into());
        revisions.reached(0, &Version::Text("x".into()), || "/apis/odd".into());
        let highest = Highest {
            version: at(7),
            path: "/api/v1/pods".into(),
        };
        assert_eq!(revisions.highest(), (0, Some(highest)));
    }

    #[test]
    fn a_stream_of_an_earlier_epoch_is_not_heard() {
        let revisions = Revisions::new(0);
        revisions.reached(0, &at(7), String::new);
        revisions.begin(1);
        assert_eq!(revisions.highest(), (1, None));
        revisions.reached(0, &at(8), String::new);
        assert_eq!(revisions.highest(), (1, None));
        revisions.reached(1, &at(3), String::new);
        let (_, highest) = revisions.highest();
        assert_eq!(highest.map(|highest| highest.version), Some(at(3)));
    }
}
