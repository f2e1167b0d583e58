//! Owns the moment between a list that ended a gap and the first event behind it: the server's history
//! is asked what happened, and the gap is settled. Refuses to make the watch wait for long: its server
//! keeps what happens meanwhile only for so long.

use super::Drive;
use crate::backfill::{Asker, BACKFILL_SECS, Found, read_back};
use crate::watch::intake::ReadBack;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

impl Drive {
    /// Settles the gap that has just ended, if one has. Others may read lists meanwhile.
    pub(super) async fn settle_gap(&mut self, list_turn: &mut Option<OwnedSemaphorePermit>) {
        let Some(open) = self.intake.take_open_gap() else {
            return;
        };
        *list_turn = None;
        let read = match &open.work {
            Ok(work) => self.read_back(work).await,
            Err(_) => None,
        };
        let at = self.shared.now();
        self.intake.settle(open, read, at);
    }

    async fn read_back(&mut self, work: &crate::backfill::Work) -> Option<ReadBack> {
        let until = Instant::now() + Duration::from_secs(BACKFILL_SECS);
        let server = self.server().await?;
        let shared = std::sync::Arc::clone(&self.shared);
        let mut found = Found::default();
        let since = shared.now();
        let target = &self.intake.target;
        let mut asker = Asker::new(&server, target, &shared.redactor, until);
        let reading = async {
            let turn = tokio::time::timeout_at(until, shared.backfills.acquire());
            if let Ok(Ok(_turn)) = turn.await {
                let known = self.intake.stream.known();
                read_back(&mut asker, work, known, &mut found).await;
            } else {
                found.given_up("other gaps were read back meanwhile");
            }
        };
        // Whatever was found until an interruption is kept.
        self.unless_interrupted(reading).await;
        Some(ReadBack {
            connection: shared.numbers.connection(),
            since,
            requests: asker.requests(),
            found,
        })
    }
}
