//! What happens to a Pod, and what is said about it. Pure data.

use std::time::Duration;

/// Which container of a Pod: init containers first, in the order of the spec.
pub(crate) type ContainerIndex = usize;

/// What happens to a Pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// The kubelet takes the Pod on.
    Admitted,
    /// The sandbox and its network are there.
    SandboxReady,
    /// A container has to wait.
    Waits {
        container: ContainerIndex,
        reason: &'static str,
        message: String,
    },
    /// A container starts, or starts again.
    Starts { container: ContainerIndex },
    /// A container is ready to serve.
    Ready { container: ContainerIndex },
    /// A container ends by itself.
    Exits {
        container: ContainerIndex,
        exit_code: i32,
    },
    /// The Pod is over, whatever its containers are.
    Fails {
        reason: &'static str,
        message: String,
    },
    /// The kubelet puts the Pod out.
    Evicted { message: String },
    /// The Pod is being deleted and everything in it ends.
    Stopped,
    /// The node came up again: nothing of the Pod is left.
    Rebooted,
}

/// A kubelet Event about a Pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) container: Option<ContainerIndex>,
    pub(crate) is_warning: bool,
    pub(crate) reason: &'static str,
    pub(crate) message: String,
}

/// What comes next in a Pod's life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Beat {
    /// Virtual time since the beat before.
    pub(crate) after: Duration,
    pub(crate) changes: Vec<Change>,
    pub(crate) notes: Vec<Note>,
}

impl Beat {
    /// So many virtual seconds after the beat before.
    pub(crate) fn after(after_secs: f64, changes: Vec<Change>, notes: Vec<Note>) -> Self {
        Self {
            after: secs(after_secs),
            changes,
            notes,
        }
    }
}

impl Note {
    /// Says that all goes well with a container.
    pub(crate) fn normal(container: ContainerIndex, reason: &'static str, message: String) -> Self {
        Self {
            container: Some(container),
            is_warning: false,
            reason,
            message,
        }
    }

    /// Says that something is wrong with a container.
    pub(crate) fn warning(
        container: ContainerIndex,
        reason: &'static str,
        message: String,
    ) -> Self {
        Self {
            is_warning: true,
            ..Self::normal(container, reason, message)
        }
    }
}

/// So many seconds, to the millisecond.
pub(crate) const fn secs(secs: f64) -> Duration {
    Duration::from_millis(millis_of(secs))
}

#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float to an integer has no other way; `as` saturates, and scripted times are small"
)]
const fn millis_of(secs: f64) -> u64 {
    (secs * 1000.0) as u64
}
