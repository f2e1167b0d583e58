//! Owns writers that change a cluster through its API until they are told to stop. Refuses to give up
//! while a server is down: a call is tried again for as long as a restart takes.

use std::future::Future;
use std::time::Duration;

use anyhow::Result;
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::objects::Make;
use crate::rest::{Body, Call, Patience, Rest, Verb};

/// Longer than any restart takes.
const PATIENCE: Duration = Duration::from_mins(1);

/// Writers at work; they end when this is dropped.
#[derive(Debug)]
pub struct Writers {
    stop: watch::Sender<bool>,
    tasks: JoinSet<Result<()>>,
    pace: Duration,
}

/// One of them.
#[derive(Clone)]
pub struct Writer {
    rest: Rest,
    stopped: watch::Receiver<bool>,
    pace: Duration,
}

impl Writers {
    /// Makes none yet; each will wait so long between two writes.
    pub fn new(pace: Duration) -> Self {
        Self {
            stop: watch::channel(false).0,
            tasks: JoinSet::new(),
            pace,
        }
    }

    /// Lets one more begin.
    pub fn add<F>(&mut self, rest: &Rest, write: impl FnOnce(Writer) -> F)
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        let writer = Writer {
            rest: rest.clone(),
            stopped: self.stop.subscribe(),
            pace: self.pace,
        };
        self.tasks.spawn(write(writer));
    }

    /// Lets every writer end what it is at.
    ///
    /// # Errors
    ///
    /// When one failed.
    pub async fn stop(mut self) -> Result<()> {
        self.stop.send_replace(true);
        while let Some(ended) = self.tasks.join_next().await {
            ended??;
        }
        Ok(())
    }
}

impl Writer {
    /// Whether it shall end.
    pub fn is_stopped(&self) -> bool {
        *self.stopped.borrow()
    }

    /// Its way to the cluster.
    pub fn rest(&self) -> &Rest {
        &self.rest
    }

    /// Makes one call, and waits as its pace wants.
    ///
    /// # Errors
    ///
    /// When the cluster refuses it, or is not there for a minute.
    pub async fn call(&self, verb: Verb, path: String, body: Body) -> Result<Value> {
        let call = Call { verb, path, body };
        let patience = Patience::until_found(PATIENCE);
        let answer = self.rest.send(&call, patience).await?;
        if !self.pace.is_zero() {
            tokio::time::sleep(self.pace).await;
        }
        Ok(answer.body)
    }

    /// Objects named `{word}-0`, `{word}-1`, … that are created, changed twice, and every other one deleted.
    ///
    /// # Errors
    ///
    /// As [`Self::call`].
    pub async fn objects(self, path: &str, word: &str, make: Make) -> Result<()> {
        let mut number = 0_u64;
        while !self.is_stopped() {
            let name = format!("{word}-{number}");
            self.life(path, &name, make, number.is_multiple_of(2))
                .await?;
            number += 1;
        }
        Ok(())
    }

    async fn life(&self, path: &str, name: &str, make: Make, dies: bool) -> Result<()> {
        self.call(Verb::Post, path.to_owned(), Body::Json(make(name, 0)))
            .await?;
        for round in 1..3 {
            let body = Body::Merge(make(name, round));
            self.call(Verb::Patch, format!("{path}/{name}"), body)
                .await?;
        }
        if dies {
            self.call(Verb::Delete, format!("{path}/{name}"), Body::Empty)
                .await?;
        }
        Ok(())
    }
}
