//! The events from outside that end a wait of a watcher: the recorder stops, or the cluster changes.

use crate::watch::context::WatchContext;
use crate::watch::reading::WatchEnd;
use kubereel_format::EndCause;
use tokio::sync::watch;

/// An event from outside that interrupts a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interrupt {
    /// The recorder stops.
    Stop,
    /// The kubeconfig leads to another cluster.
    Epoch,
}

impl Interrupt {
    /// Returns the end of a watch that it interrupts.
    pub(super) fn end(self) -> WatchEnd {
        match self {
            Self::Stop => WatchEnd::ended(EndCause::Stopped, ""),
            Self::Epoch => WatchEnd::ended(EndCause::Stopped, "another cluster"),
        }
    }
}

/// Waits for interrupts. A change of the cluster interrupts every wait until it is taken.
#[derive(Clone, Debug)]
pub(super) struct Interrupts {
    stop: watch::Receiver<bool>,
    epoch: watch::Receiver<u32>,
    /// The epoch that was taken last.
    taken: u32,
}

impl Interrupts {
    pub(super) fn new(shared: &WatchContext) -> Self {
        let mut epoch = shared.epoch.clone();
        let taken = *epoch.borrow_and_update();
        Self {
            stop: shared.stop.clone(),
            epoch,
            taken,
        }
    }

    /// Returns whether the recorder stops.
    pub(super) fn is_stopping(&self) -> bool {
        *self.stop.borrow()
    }

    /// Returns the epoch that was taken last.
    pub(super) const fn epoch(&self) -> u32 {
        self.taken
    }

    /// Takes a new epoch; returns whether there is one.
    pub(super) fn take_epoch(&mut self) -> bool {
        let is_new = self.epoch.has_changed().unwrap_or(false);
        if is_new {
            self.taken = *self.epoch.borrow_and_update();
        }
        is_new
    }

    /// Waits for an event from outside. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Interrupt {
        tokio::select! {
            // The sender is gone: the recorder stops.
            _ = self.stop.wait_for(|stop| *stop) => Interrupt::Stop,
            changed = self.epoch.changed() => match changed {
                Ok(()) => Interrupt::Epoch,
                Err(_) => Interrupt::Stop,
            },
        }
    }

    /// Waits for a future, unless an event from outside is first.
    pub(super) async fn unless<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let mut interrupts = self.clone();
        tokio::select! {
            biased;
            _ = interrupts.next() => None,
            value = future => Some(value),
        }
    }
}
