//! Owns the recorder's status page, as a monitor reads it. Refuses to judge what it says.

use std::time::{Duration, Instant};

use super::run::Recording;
use anyhow::{Context as _, Result, bail, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// How often a page is asked for while something is awaited.
const EVERY: Duration = Duration::from_millis(100);

/// The status page of a recorder.
#[derive(Debug)]
pub struct Page {
    address: String,
}

impl Page {
    /// Finds the address in what the recorder says.
    ///
    /// # Errors
    ///
    /// When it does not say one in time.
    pub async fn of(recording: &Recording, patience: Duration) -> Result<Self> {
        let deadline = Instant::now() + patience;
        let already = recording.lines_before();
        loop {
            let log = recording.log();
            // Earlier runs on the same reel said theirs before.
            let said = log
                .lines()
                .skip(already)
                .find_map(|line| line.split_once("serving the status page address="));
            if let Some((_, address)) = said {
                let address = address.trim().to_owned();
                return Ok(Self { address });
            }
            if Instant::now() > deadline {
                bail!("no status page: {log}");
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    async fn get(&self, path: &str) -> Result<(String, String)> {
        let mut stream = TcpStream::connect(&self.address).await?;
        stream
            .write_all(format!("GET {path} HTTP/1.1\r\n\r\n").as_bytes())
            .await?;
        let mut text = String::new();
        stream.read_to_string(&mut text).await?;
        let (head, body) = text.split_once("\r\n\r\n").context("no HTTP answer")?;
        let status = head.lines().next().unwrap_or_default().to_owned();
        Ok((status, body.to_owned()))
    }

    /// Waits until every resource is complete.
    ///
    /// # Errors
    ///
    /// When that takes too long.
    pub async fn until_ready(&self, patience: Duration) -> Result<()> {
        let deadline = Instant::now() + patience;
        loop {
            let (status, body) = self.get("/readyz").await?;
            if status.contains("200") {
                return Ok(());
            }
            if Instant::now() > deadline {
                bail!("not ready: {body}");
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    /// Reads all that it says: counters, and what is not well.
    ///
    /// # Errors
    ///
    /// When it does not answer.
    pub async fn text(&self) -> Result<String> {
        let (_, metrics) = self.get("/metrics").await?;
        let (_, ready) = self.get("/readyz").await?;
        ensure!(!metrics.is_empty(), "the page is empty");
        Ok(metrics + &ready)
    }

    /// Reads one number of the metrics.
    ///
    /// # Errors
    ///
    /// When there is none of that name.
    pub async fn number(&self, name: &str) -> Result<u64> {
        let (_, body) = self.get("/metrics").await?;
        let line = body.lines().find_map(|line| line.strip_prefix(name));
        Ok(line.context("no such metric")?.trim().parse()?)
    }
}
