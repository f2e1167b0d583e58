//! The scripted API server held to its word, byte for byte, before anything is held against it.

mod cuts;
mod discovery;
mod edits;
mod lists;
mod observing;
mod watches;

use std::time::Duration;

use anyhow::Result;
use kubereel_tests::scripted::{Fetched, RawClient, ScriptedCluster, Tail};

/// How long a client waits in silence before it calls a connection silent.
const PATIENCE: Duration = Duration::from_millis(300);

/// How long anything that is sure to come may take on a busy machine.
const SURE: Duration = Duration::from_secs(20);

const WATCH_LIST: &str =
    "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

fn client(cluster: &ScriptedCluster) -> Result<RawClient> {
    RawClient::connect(cluster.address(), SURE)
}

/// What else comes before a short silence; for answers that have stopped or have nothing more to say.
fn quiet(client: &mut RawClient) -> Result<(Fetched, Tail)> {
    client.set_patience(PATIENCE)?;
    client.rest()
}

/// Waits until the last request was given all it will ever get, then reads it.
fn stopped(cluster: &ScriptedCluster, client: &mut RawClient) -> Result<(Fetched, Tail)> {
    cluster.wait_until("the last answer to stop", SURE, |cluster| {
        let progress = cluster.requests().last()?.progress();
        (progress.ended.is_some() || progress.silent_since.is_some()).then_some(())
    })?;
    quiet(client)
}

fn get(cluster: &ScriptedCluster, target: &str) -> Result<Fetched> {
    client(cluster)?.get(target, &[])
}

/// Starts a watch of config maps and reads its first lines.
fn watch_lines(cluster: &ScriptedCluster, query: &str, count: usize) -> Result<Vec<String>> {
    let mut client = client(cluster)?;
    client.ask(&format!("/api/v1/configmaps?{query}"), &[])?;
    text(client.lines(count)?)
}

fn text(lines: Vec<Vec<u8>>) -> Result<Vec<String>> {
    let lines: Result<Vec<String>, _> = lines.into_iter().map(String::from_utf8).collect();
    Ok(lines?)
}

/// A cluster with `count` config maps, and the revision of the first of them less one.
fn with_configmaps(count: usize) -> Result<(ScriptedCluster, u128)> {
    let cluster = ScriptedCluster::start()?;
    let before = cluster.revision();
    for nth in 0..count {
        cluster.put("configmaps", "default", &format!("c{nth}"), r#""data":{}"#)?;
    }
    Ok((cluster, before))
}

fn json(bytes: &[u8]) -> Result<serde_json::Value> {
    Ok(serde_json::from_slice(bytes)?)
}
