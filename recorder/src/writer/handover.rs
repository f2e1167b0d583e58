//! Owns the moment between a file that is whole and one that is packed: the writer tells what there is,
//! and hears whether there is time for the rest. Refuses to wait for somebody who has gone.

use kubereel_format::FinishStats;
use tokio::sync::oneshot;

/// The writer's end.
#[derive(Debug)]
pub(crate) struct Handover {
    whole: oneshot::Sender<FinishStats>,
    pack: oneshot::Receiver<bool>,
}

/// The recorder's end.
#[derive(Debug)]
pub(crate) struct Taker {
    /// What the file is once it is whole.
    pub(crate) whole: oneshot::Receiver<FinishStats>,
    /// Whether to pack it.
    pub(crate) pack: oneshot::Sender<bool>,
}

/// Makes both ends.
pub(crate) fn handover() -> (Handover, Taker) {
    let (whole_sent, whole) = oneshot::channel();
    let (pack, pack_heard) = oneshot::channel();
    let handover = Handover {
        whole: whole_sent,
        pack: pack_heard,
    };
    (handover, Taker { whole, pack })
}

impl Handover {
    /// Tells that the file is whole, and waits for the word whether to pack it.
    pub(super) fn ask(self, stats: FinishStats) -> bool {
        // Nobody who could say no listens any more.
        self.whole.send(stats).is_err() || self.pack.blocking_recv().unwrap_or(true)
    }
}
