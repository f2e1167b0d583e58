//! Watches: from a revision, from now, as a list; bookmarks; what is too old, too new, restored or set up anew.

use std::time::Duration;

use anyhow::{Context as _, Result};
use kubereel_tests::scripted::{InitialEnd, Resource, ScriptedCluster, Tail, WatchList};

use crate::scripted::{WATCH_LIST, client, get, json, quiet, text, watch_lines, with_configmaps};

/// Type and revision of a line.
fn heads(lines: &[String]) -> Result<Vec<(String, String)>> {
    let at = |event: &serde_json::Value, pointer: &str| {
        let value = event.pointer(pointer).and_then(serde_json::Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    lines
        .iter()
        .map(|line| {
            let event = json(line.as_bytes())?;
            Ok((
                at(&event, "/type"),
                at(&event, "/object/metadata/resourceVersion"),
            ))
        })
        .collect()
}

fn pairs<const N: usize>(pairs: [(&str, u128); N]) -> Vec<(String, String)> {
    pairs
        .map(|(kind, revision)| (kind.to_owned(), revision.to_string()))
        .to_vec()
}

#[test]
fn list_then_watch_gives_every_event_in_the_committed_bytes() -> Result<()> {
    let (cluster, _) = with_configmaps(2)?;
    let listed = cluster.revision();
    let mut stream = client(&cluster)?;
    stream.ask(
        &format!("/api/v1/configmaps?watch=true&resourceVersion={listed}"),
        &[],
    )?;
    cluster.put("configmaps", "default", "c0", r#""data":{"a":"b"}"#)?;
    cluster.put("secrets", "default", "elsewhere", "")?;
    cluster.put("configmaps", "default", "new", "")?;
    cluster.delete("configmaps", "default", "c1")?;
    let lines = stream.lines(3)?;

    let resource = cluster.resource("configmaps")?;
    let expected: Vec<Vec<u8>> = cluster
        .committed()
        .iter()
        .filter(|commit| commit.storage == "configmaps" && commit.revision > listed)
        .map(|commit| {
            let kind = commit.change.as_str();
            let mut line = format!(r#"{{"type":"{kind}","object":"#).into_bytes();
            line.extend(commit.watch_body(&resource, "v1"));
            line.extend_from_slice(b"}\n");
            line
        })
        .collect();
    assert_eq!(lines, expected);
    assert_eq!(
        heads(&text(lines)?)?,
        pairs([
            ("MODIFIED", listed + 1),
            ("ADDED", listed + 3),
            ("DELETED", listed + 4)
        ])
    );
    Ok(())
}

#[test]
fn a_watch_list_ends_its_initial_events_with_the_bookmark() -> Result<()> {
    let (cluster, before) = with_configmaps(2)?;
    let lines = watch_lines(&cluster, WATCH_LIST, 3)?;
    assert_eq!(
        heads(&lines)?,
        pairs([
            ("ADDED", before + 1),
            ("ADDED", before + 2),
            ("BOOKMARK", before + 2)
        ])
    );
    let end = json(lines[2].as_bytes())?;
    assert_eq!(
        end["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"],
        "true"
    );
    assert_eq!(end["object"]["kind"], "ConfigMap");
    Ok(())
}

#[test]
fn the_end_of_the_initial_events_goes_wrong_on_request() -> Result<()> {
    let (cluster, before) = with_configmaps(1)?;
    cluster.set(|settings| settings.initial_end = InitialEnd::BeforeEvents);
    let early = watch_lines(&cluster, WATCH_LIST, 2)?;
    assert_eq!(
        heads(&early)?,
        pairs([("BOOKMARK", before + 1), ("ADDED", before + 1)])
    );

    cluster.set(|settings| settings.initial_end = InitialEnd::WithoutRevision);
    let bare = watch_lines(&cluster, WATCH_LIST, 2)?;
    assert!(bare[1].contains("initial-events-end") && !bare[1].contains("resourceVersion"));

    cluster.set(|settings| settings.initial_end = InitialEnd::Missing);
    let mut stream = client(&cluster)?;
    stream.ask(&format!("/api/v1/configmaps?{WATCH_LIST}"), &[])?;
    stream.lines(1)?;
    let (fetched, tail) = quiet(&mut stream)?;
    assert_eq!((fetched.lines().len(), tail), (1, Tail::Silent));
    Ok(())
}

#[test]
fn watch_lists_are_refused_or_ignored_as_older_servers_do() -> Result<()> {
    let (cluster, before) = with_configmaps(1)?;
    let without_match = get(
        &cluster,
        "/api/v1/configmaps?watch=true&sendInitialEvents=true",
    )?;
    assert_eq!(without_match.status, 422);
    cluster.set(|settings| settings.watch_list = WatchList::Refused);
    assert_eq!(
        get(&cluster, &format!("/api/v1/configmaps?{WATCH_LIST}"))?.status,
        422
    );
    cluster.set(|settings| settings.watch_list = WatchList::Ignored);
    let mut stream = client(&cluster)?;
    stream.ask(&format!("/api/v1/configmaps?{WATCH_LIST}"), &[])?;
    stream.lines(1)?;
    let (fetched, tail) = quiet(&mut stream)?;
    assert_eq!(
        heads(&text(fetched.lines())?)?,
        pairs([("ADDED", before + 1)])
    );
    assert_eq!(tail, Tail::Silent);
    Ok(())
}

#[test]
fn a_watch_from_before_compaction_is_an_error_in_a_stream_that_ends_well() -> Result<()> {
    let (cluster, before) = with_configmaps(3)?;
    cluster.compact(before + 2);
    let target =
        |revision: u128| format!("/api/v1/configmaps?watch=true&resourceVersion={revision}");
    let answer = get(&cluster, &target(before + 1))?;
    assert_eq!(answer.status, 200);
    let line = json(&answer.body())?;
    assert_eq!(line["type"], "ERROR");
    assert_eq!(line["object"]["code"], 410);
    assert_eq!(
        line["object"]["message"],
        format!("too old resource version: {} ({})", before + 1, before + 2)
    );
    let lines = watch_lines(
        &cluster,
        &format!("watch=true&resourceVersion={}", before + 2),
        1,
    )?;
    assert_eq!(heads(&lines)?, pairs([("ADDED", before + 3)]));
    Ok(())
}

#[test]
fn a_server_started_anew_forgets_its_cache_and_keeps_its_history() -> Result<()> {
    let (cluster, before) = with_configmaps(3)?;
    cluster.forget_watch_caches();
    let old = before + 1;
    let watch = get(
        &cluster,
        &format!("/api/v1/configmaps?watch=true&resourceVersion={old}"),
    )?;
    assert!(String::from_utf8(watch.body())?.contains("too old resource version"));
    let exact = format!("/api/v1/configmaps?resourceVersion={old}&resourceVersionMatch=Exact");
    assert_eq!(
        json(&get(&cluster, &exact)?.body())?["items"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    Ok(())
}

#[test]
fn a_bounded_history_forgets_by_itself() -> Result<()> {
    let (cluster, before) = with_configmaps(0)?;
    cluster.set(|settings| settings.history_limit = Some(2));
    for _ in 0..5 {
        cluster.put("configmaps", "default", "a", "")?;
    }
    let old = get(
        &cluster,
        &format!(
            "/api/v1/configmaps?watch=true&resourceVersion={}",
            before + 2
        ),
    )?;
    assert!(String::from_utf8(old.body())?.contains("ERROR"));
    let lines = watch_lines(
        &cluster,
        &format!("watch=true&resourceVersion={}", before + 3),
        2,
    )?;
    assert_eq!(
        heads(&lines)?,
        pairs([("MODIFIED", before + 4), ("MODIFIED", before + 5)])
    );
    Ok(())
}

#[test]
fn a_watch_from_the_future_is_silent_until_then() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    let start = cluster.revision() + 2;
    let mut stream = client(&cluster)?;
    stream.ask(
        &format!("/api/v1/configmaps?watch=true&resourceVersion={start}"),
        &[],
    )?;
    for name in ["a", "b", "c"] {
        cluster.put("configmaps", "default", name, "")?;
    }
    assert_eq!(
        heads(&text(stream.lines(1)?)?)?,
        pairs([("ADDED", start + 1)])
    );
    Ok(())
}

#[test]
fn bookmarks_come_when_asked_for_and_only_to_those_who_allow_them() -> Result<()> {
    let (cluster, _) = with_configmaps(0)?;
    let from = cluster.revision();
    let query = format!("watch=true&resourceVersion={from}");
    let mut with = client(&cluster)?;
    with.ask(
        &format!("/api/v1/configmaps?{query}&allowWatchBookmarks=true"),
        &[],
    )?;
    let mut without = client(&cluster)?;
    without.ask(&format!("/api/v1/configmaps?{query}"), &[])?;
    // Both streams stand once both have an answer.
    cluster.wait_until("both streams", crate::scripted::SURE, |cluster| {
        let open = cluster.requests_to("/api/v1/configmaps");
        (open
            .iter()
            .filter(|one| one.progress().status == Some(200))
            .count()
            == 2)
            .then_some(())
    })?;
    cluster.put("secrets", "default", "s", "")?;
    cluster.bookmark("configmaps")?;
    assert_eq!(
        heads(&text(with.lines(1)?)?)?,
        pairs([("BOOKMARK", from + 1)])
    );
    let (fetched, tail) = quiet(&mut without)?;
    assert_eq!((fetched.lines().len(), tail), (0, Tail::Silent));
    Ok(())
}

#[test]
fn periodic_bookmarks_pass_events_by() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    cluster.set(|settings| settings.bookmark_interval = Some(Duration::from_millis(20)));
    let query = format!(
        "watch=true&allowWatchBookmarks=true&resourceVersion={}",
        cluster.revision()
    );
    assert_eq!(watch_lines(&cluster, &query, 3)?.len(), 3);
    let mut events = client(&cluster)?;
    events.ask(&format!("/api/v1/events?{query}"), &[])?;
    cluster.wait_for_request("the second watch", crate::scripted::SURE, |one| {
        one.asked.path == "/api/v1/events" && one.progress().status == Some(200)
    })?;
    let (fetched, tail) = quiet(&mut events)?;
    assert_eq!((fetched.lines().len(), tail), (0, Tail::Silent));
    Ok(())
}

#[test]
fn a_watch_ends_well_when_its_time_is_up() -> Result<()> {
    let (cluster, before) = with_configmaps(1)?;
    let target = format!("/api/v1/configmaps?watch=true&resourceVersion={before}&timeoutSeconds=1");
    let asked = std::time::Instant::now();
    let answer = get(&cluster, &target)?;
    assert!(asked.elapsed() >= Duration::from_secs(1));
    assert_eq!(answer.lines().len(), 1);
    Ok(())
}

#[test]
fn deletions_of_one_revision_all_carry_it() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    for name in ["a", "b", "c"] {
        cluster.put("events", "default", name, r#""reason":"x""#)?;
    }
    let from = cluster.revision();
    cluster.delete_together(
        "events",
        &[("default", "a"), ("default", "b"), ("default", "c")],
    )?;
    // Both names of the storage tell the same, each with its own type.
    for (path, version) in [
        ("/api/v1", "v1"),
        ("/apis/events.k8s.io/v1", "events.k8s.io/v1"),
    ] {
        let mut stream = client(&cluster)?;
        stream.ask(
            &format!("{path}/events?watch=true&resourceVersion={from}"),
            &[],
        )?;
        let lines = text(stream.lines(3)?)?;
        let deleted = ("DELETED", from + 1);
        assert_eq!(heads(&lines)?, pairs([deleted, deleted, deleted]));
        assert_eq!(json(lines[0].as_bytes())?["object"]["apiVersion"], version);
    }
    Ok(())
}

#[test]
fn a_changed_definition_ends_streams_well_and_forgets() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    let widgets = Resource::custom("example.com", "v1", "widgets", "Widget");
    cluster.install_crd(&widgets)?;
    let before = cluster.put("widgets.example.com", "default", "w", "")?;
    let path = widgets.path();
    let mut stream = client(&cluster)?;
    stream.ask(&format!("{path}?watch=true&resourceVersion={before}"), &[])?;
    cluster.wait_for_request("the stream", crate::scripted::SURE, |one| {
        one.asked.path == path && one.progress().status == Some(200)
    })?;
    let changed = cluster.change_crd(&widgets.clone().also_version("v2"))?;
    let fetched = stream.get(&format!("{path}?watch=true&resourceVersion={before}"), &[])?;
    assert_eq!(
        fetched.lines().len(),
        0,
        "the first answer ended with nothing said"
    );
    let old = get(
        &cluster,
        &format!("{path}?watch=true&resourceVersion={before}"),
    )?;
    assert!(String::from_utf8(old.body())?.contains(&format!("({changed})")));

    cluster.remove_crd("widgets.example.com")?;
    assert_eq!(get(&cluster, &path)?.status, 404);
    let last = cluster.committed();
    let kinds: Vec<_> = last
        .iter()
        .rev()
        .take(2)
        .map(|commit| commit.change.as_str())
        .collect();
    assert_eq!(kinds, ["DELETED", "DELETED"]);
    Ok(())
}

#[test]
fn a_restore_gives_revisions_out_again() -> Result<()> {
    let (cluster, before) = with_configmaps(3)?;
    cluster.restore(before + 1)?;
    assert_eq!(cluster.revision(), before + 1);
    let list = json(&get(&cluster, "/api/v1/configmaps")?.body())?;
    assert_eq!(list["items"].as_array().map(Vec::len), Some(1));
    cluster.put("configmaps", "default", "other", "")?;
    let committed = cluster.committed();
    let newest = committed.last().context("something was committed")?;
    assert_eq!((newest.revision, newest.epoch), (before + 2, 1));
    Ok(())
}

#[test]
fn a_busy_cache_sends_changes_before_the_end_of_the_initial_events() -> Result<()> {
    let (cluster, before) = with_configmaps(2)?;
    cluster.put("configmaps", "default", "c0", r#""data":{"a":"b"}"#)?;
    cluster.delete("configmaps", "default", "c1")?;
    cluster.set(|settings| settings.initial_lag = 3);
    assert_eq!(
        heads(&watch_lines(&cluster, WATCH_LIST, 5)?)?,
        pairs([
            ("ADDED", before + 1),
            ("ADDED", before + 2),
            ("MODIFIED", before + 3),
            ("DELETED", before + 4),
            ("BOOKMARK", before + 4)
        ])
    );
    Ok(())
}
