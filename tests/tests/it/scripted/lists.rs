//! Lists: consistent, paged, exact, too old, too new, and single objects.

use anyhow::{Context as _, Result};
use kubereel_tests::scripted::{Resource, ScriptedCluster};

use crate::scripted::{get, json, with_configmaps};

#[test]
fn a_list_is_the_committed_bytes_without_types() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    let odd = br#"{$TYPE"metadata": {"uid":"$UID" ,"name":"a","namespace":"default","resourceVersion":"$RV"},"n":1e3,"e":"\u00e9"}"#;
    let revision = cluster.put_template("configmaps", "default", "a", odd)?;
    let list = get(&cluster, "/api/v1/configmaps")?;
    let committed = cluster.committed();
    let uid = &committed.last().context("one was committed")?.uid;
    assert_eq!(
        String::from_utf8(list.body())?,
        format!(
            "{{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{{\"resourceVersion\":\"{revision}\"}},\"items\":[{{\"metadata\": {{\"uid\":\"{uid}\" ,\"name\":\"a\",\"namespace\":\"default\",\"resourceVersion\":\"{revision}\"}},\"n\":1e3,\"e\":\"\\u00e9\"}}]}}\n"
        )
    );
    for header in ["date", "audit-id", "content-length"] {
        assert!(list.header(header).is_some(), "no {header}");
    }
    Ok(())
}

#[test]
fn a_list_of_custom_resources_has_types_and_its_metadata_last() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    cluster.install_crd(&Resource::custom("example.com", "v1", "widgets", "Widget"))?;
    cluster.put("widgets.example.com", "default", "w", "")?;
    let body = String::from_utf8(get(&cluster, "/apis/example.com/v1/widgets")?.body())?;
    assert!(
        body.starts_with(
            r#"{"apiVersion":"example.com/v1","items":[{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w""#
        ),
        "{body}"
    );
    assert!(
        body.contains(r#"],"kind":"WidgetList","metadata":{"resourceVersion":""#),
        "{body}"
    );
    Ok(())
}

#[test]
fn pages_are_one_snapshot_and_their_token_dies_with_compaction() -> Result<()> {
    let (cluster, _) = with_configmaps(5)?;
    let snapshot = cluster.revision();
    let first = json(&get(&cluster, "/api/v1/configmaps?limit=2")?.body())?;
    assert_eq!(first["items"].as_array().map(Vec::len), Some(2));
    assert_eq!(first["metadata"]["remainingItemCount"], 3);
    let token = first["metadata"]["continue"]
        .as_str()
        .context("there is more")?;
    let next = format!("/api/v1/configmaps?limit=10&continue={token}");

    cluster.put("configmaps", "default", "later", "")?;
    cluster.delete("configmaps", "default", "c4")?;
    let second = json(&get(&cluster, &next)?.body())?;
    assert_eq!(second["metadata"]["resourceVersion"], snapshot.to_string());
    assert_eq!(second["metadata"]["continue"], serde_json::Value::Null);
    let names: Vec<_> = second["items"]
        .as_array()
        .context("items")?
        .iter()
        .map(|item| item["metadata"]["name"].clone())
        .collect();
    assert_eq!(names, ["c2", "c3", "c4"]);

    cluster.compact(cluster.revision());
    let expired = get(&cluster, &next)?;
    assert_eq!(expired.status, 410);
    let expired = json(&expired.body())?;
    assert_eq!(expired["reason"], "Expired");
    let token = expired["metadata"]["continue"]
        .as_str()
        .context("a way on")?;
    let on = get(&cluster, &format!("/api/v1/configmaps?continue={token}"))?;
    let on = json(&on.body())?;
    assert_eq!(on["items"][2]["metadata"]["name"], "later");
    Ok(())
}

#[test]
fn exact_lists_tell_every_version_until_compaction() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    let added = cluster.put("configmaps", "default", "a", r#""data":{"v":"1"}"#)?;
    cluster.put("configmaps", "default", "a", r#""data":{"v":"2"}"#)?;
    let deleted = cluster.delete("configmaps", "default", "a")?;
    let at = |revision: u128| {
        get(
            &cluster,
            &format!(
                "/api/v1/configmaps?resourceVersion={revision}&resourceVersionMatch=Exact&fieldSelector=metadata.name%3Da"
            ),
        )
    };
    let versions: Vec<_> = (added - 1..=deleted)
        .map(|revision| Ok(json(&at(revision)?.body())?["items"][0]["data"]["v"].clone()))
        .collect::<Result<_>>()?;
    let nothing = serde_json::Value::Null;
    assert_eq!(versions, [nothing.clone(), "1".into(), "2".into(), nothing]);

    cluster.compact(added + 1);
    assert_eq!(at(added)?.status, 410);
    assert_eq!(at(added + 1)?.status, 200);
    Ok(())
}

#[test]
fn a_list_of_the_future_waits_and_answers_504() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    let wait = std::time::Duration::from_millis(50);
    cluster.set(|settings| settings.future_list_wait = wait);
    let asked = std::time::Instant::now();
    let future = cluster.revision() + 1;
    let answer = get(&cluster, &format!("/api/v1/pods?resourceVersion={future}"))?;
    assert!(asked.elapsed() >= wait);
    assert_eq!(answer.status, 504);
    assert_eq!(answer.header("retry-after"), Some("1"));
    let body = json(&answer.body())?;
    assert_eq!(
        body["details"]["causes"][0]["reason"],
        "ResourceVersionTooLarge"
    );
    Ok(())
}

#[test]
fn namespaces_select_and_single_objects_answer() -> Result<()> {
    let (cluster, _) = with_configmaps(1)?;
    cluster.put("configmaps", "kube-system", "other", "")?;
    let list = json(&get(&cluster, "/api/v1/namespaces/kube-system/configmaps")?.body())?;
    assert_eq!(list["items"].as_array().map(Vec::len), Some(1));
    let namespace = json(&get(&cluster, "/api/v1/namespaces/kube-system")?.body())?;
    assert_eq!(namespace["kind"], "Namespace");
    assert_eq!(
        namespace["metadata"]["uid"],
        "00000001-0000-4000-8000-000000000004"
    );
    assert_eq!(get(&cluster, "/api/v1/namespaces/nowhere")?.status, 404);
    assert_eq!(
        get(&cluster, "/api/v1/nonsense")?.body(),
        b"404 page not found\n"
    );
    assert_eq!(get(&cluster, "/api/v1/bindings")?.status, 405);
    Ok(())
}

#[test]
fn requests_in_turn_share_a_connection() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    let mut client = crate::scripted::client(&cluster)?;
    for path in ["/readyz", "/version", "/api/v1/pods"] {
        assert_eq!(client.get(path, &[])?.status, 200, "{path}");
    }
    let connections: Vec<usize> = cluster
        .requests()
        .iter()
        .map(|one| one.connection)
        .collect();
    assert_eq!(connections, [0, 0, 0]);
    Ok(())
}

#[test]
fn revisions_go_up_to_39_digits() -> Result<()> {
    let far = 10_u128.pow(38);
    let cluster = ScriptedCluster::start_as(7, far)?;
    let list = json(&get(&cluster, "/api/v1/namespaces")?.body())?;
    assert_eq!(list["metadata"]["resourceVersion"], (far + 4).to_string());
    assert_eq!(cluster.revision().to_string().len(), 39);
    Ok(())
}
