//! Discovery: aggregated and legacy, tags, and everything it can get wrong.

use anyhow::{Context as _, Result};
use kubereel_tests::scripted::{Aggregation, Fetched, Resource, ScriptedCluster};

use crate::scripted::{client, get, json};

const V2: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const BOTH: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

fn aggregated(cluster: &ScriptedCluster, path: &str, more: &[(&str, &str)]) -> Result<Fetched> {
    let headers = [&[("Accept", BOTH)], more].concat();
    client(cluster)?.get(path, &headers)
}

fn groups(fetched: &Fetched) -> Result<Vec<String>> {
    let document = json(&fetched.body())?;
    let items = document.get("items").and_then(|items| items.as_array());
    let name = |item: &serde_json::Value| {
        let name = item.pointer("/metadata/name");
        name.and_then(|name| name.as_str())
            .unwrap_or_default()
            .to_owned()
    };
    Ok(items.context("items")?.iter().map(name).collect())
}

#[test]
fn aggregated_documents_tell_groups_and_resources() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    let answer = aggregated(&cluster, "/apis", &[])?;
    assert_eq!(answer.header("content-type"), Some(V2));
    let names = groups(&answer)?;
    assert!(
        names.contains(&"coordination.k8s.io".to_owned()),
        "{names:?}"
    );
    let core = json(&aggregated(&cluster, "/api", &[])?.body())?;
    let resources = core["items"][0]["versions"][0]["resources"]
        .as_array()
        .context("resources")?;
    let pods = resources
        .iter()
        .find(|one| one["resource"] == "pods")
        .context("pods")?;
    assert_eq!(pods["responseKind"]["kind"], "Pod");
    assert_eq!(pods["scope"], "Namespaced");
    assert_eq!(pods["subresources"][0]["subresource"], "log");
    assert!(pods.get("storageVersionHash").is_none());
    Ok(())
}

#[test]
fn a_known_tag_is_answered_304_until_something_changes() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    let tag = aggregated(&cluster, "/apis", &[])?
        .header("etag")
        .context("a tag")?
        .to_owned();
    let same = aggregated(&cluster, "/apis", &[("If-None-Match", &tag)])?;
    assert_eq!((same.status, same.raw.len()), (304, 0));
    cluster.install_crd(&Resource::custom("example.com", "v1", "widgets", "Widget"))?;
    let changed = aggregated(&cluster, "/apis", &[("If-None-Match", &tag)])?;
    assert_eq!(changed.status, 200);
    assert!(groups(&changed)?.contains(&"example.com".to_owned()));
    cluster.set(|settings| settings.etags = false);
    assert_eq!(
        aggregated(&cluster, "/apis", &[("If-None-Match", &tag)])?.header("etag"),
        None
    );
    Ok(())
}

#[test]
fn older_servers_speak_older_forms() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    cluster.set(|settings| settings.aggregation = Aggregation::V2Beta1);
    let beta = aggregated(&cluster, "/apis", &[])?;
    assert!(
        beta.header("content-type")
            .is_some_and(|kind| kind.contains("v=v2beta1"))
    );
    cluster.set(|settings| settings.aggregation = Aggregation::Off);
    let legacy = aggregated(&cluster, "/apis", &[])?;
    assert_eq!(legacy.header("content-type"), Some("application/json"));
    assert_eq!(json(&legacy.body())?["kind"], "APIGroupList");
    Ok(())
}

#[test]
fn legacy_documents_tell_which_resources_share_a_storage() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    assert_eq!(json(&get(&cluster, "/api")?.body())?["versions"][0], "v1");
    assert_eq!(
        json(&get(&cluster, "/apis/apps")?.body())?["preferredVersion"]["version"],
        "v1"
    );
    let hash = |path: &str, name: &str| -> Result<String> {
        let document = json(&get(&cluster, path)?.body())?;
        let resources = document["resources"].as_array().context("resources")?;
        let found = resources
            .iter()
            .find(|one| one["name"] == name)
            .context("the resource")?;
        Ok(found["storageVersionHash"]
            .as_str()
            .context("a hash")?
            .to_owned())
    };
    let events = hash("/api/v1", "events")?;
    assert_eq!(events, hash("/apis/events.k8s.io/v1", "events")?);
    assert_ne!(events, hash("/api/v1", "pods")?);
    Ok(())
}

#[test]
fn groups_hide_flap_go_stale_and_vanish() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    let apps = "apps".to_owned();
    let told =
        || -> Result<bool> { Ok(groups(&aggregated(&cluster, "/apis", &[])?)?.contains(&apps)) };
    cluster.set(|settings| _ = settings.hidden_groups.insert(apps.clone()));
    assert!(!told()?);
    assert_eq!(
        get(&cluster, "/apis/apps/v1")?.status,
        200,
        "it is still served"
    );

    cluster.set(|settings| {
        settings.hidden_groups.clear();
        settings.flapping_groups.insert(apps.clone());
    });
    let answers = [told()?, told()?, told()?, told()?];
    assert_eq!(answers.iter().filter(|there| **there).count(), 2);
    assert_ne!(answers[0], answers[1]);

    cluster.set(|settings| {
        settings.flapping_groups.clear();
        settings.stale_groups.insert(apps.clone());
    });
    let document = json(&aggregated(&cluster, "/apis", &[])?.body())?;
    let items = document["items"].as_array().context("items")?;
    let stale = items
        .iter()
        .find(|item| item["metadata"]["name"] == "apps")
        .context("apps")?;
    assert_eq!(stale["versions"][0]["freshness"], "Stale");
    assert_eq!(
        stale["versions"][0]["resources"].as_array().map(Vec::len),
        Some(0)
    );

    cluster.set(|settings| settings.empty_discovery = true);
    assert!(groups(&aggregated(&cluster, "/apis", &[])?)?.is_empty());
    Ok(())
}

#[test]
fn the_version_is_told_in_numbers_too() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    cluster.set(|settings| "v1.33.2".clone_into(&mut settings.version));
    let version = json(&get(&cluster, "/version")?.body())?;
    assert_eq!(
        (&version["major"], &version["minor"]),
        (&"1".into(), &"33".into())
    );
    assert_eq!(version["gitVersion"], "v1.33.2");
    Ok(())
}
