//! The discovery documents, aggregated and legacy, and the ways the settings spoil them. It does
//! not handle `OpenAPI`: its paths are not served.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::cluster::{Aggregation, Settings};
use super::log::RequestHead;
use super::model::Model;
use super::resource::Page;
use super::resource::Resource;
use super::wire;
use super::wire::Answer;

/// Group, then version, then the resources served there.
type Groups<'a> = BTreeMap<&'a str, BTreeMap<&'a str, Vec<&'a Resource>>>;

/// The document of a discovery path, in the form the client asked for and the settings leave.
pub(crate) fn answer(
    page: &Page,
    asked: &RequestHead,
    model: &Model,
    settings: &Settings,
    flap: bool,
) -> Answer {
    let groups = groups(model, settings);
    let aggregated = aggregated_version(asked.header("accept").unwrap_or_default(), settings);
    match page {
        Page::Core | Page::Groups => {
            let mut told = groups;
            told.retain(|group, _| group.is_empty() == (*page == Page::Core));
            let flapping = if flap {
                Some(&settings.flapping_groups)
            } else {
                None
            };
            told.retain(|group, _| {
                !settings.empty_discovery
                    && !settings.hidden_groups.contains(*group)
                    && !flapping.is_some_and(|groups| groups.contains(*group))
            });
            match aggregated {
                Some(version) => aggregated_answer(version, &told, asked, settings),
                None => legacy_root(page, &told),
            }
        }
        Page::Group(name) => match groups.get(name.as_str()) {
            Some(versions) if !name.is_empty() => {
                let mut document = legacy_group(name, versions);
                if let Some(members) = document.as_object_mut() {
                    members.insert("kind".to_owned(), json!("APIGroup"));
                    members.insert("apiVersion".to_owned(), json!("v1"));
                }
                Answer::document(200, text(&document))
            }
            _ => Answer::no_such_path(),
        },
        Page::Version { group, version } => {
            match groups
                .get(group.as_str())
                .and_then(|versions| versions.get(version.as_str()))
            {
                Some(resources) => legacy_resources(group, version, resources),
                None => Answer::no_such_path(),
            }
        }
    }
}

/// The document of `/version`.
pub(crate) fn version(settings: &Settings) -> Vec<u8> {
    let mut numbers = settings.version.trim_start_matches('v').split('.');
    text(&json!({
        "major": numbers.next().unwrap_or_default(),
        "minor": numbers.next().unwrap_or_default(),
        "gitVersion": settings.version,
        "gitCommit": "0000000000000000000000000000000000000000",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "go1.26.0",
        "compiler": "gc",
        "platform": "linux/amd64",
    }))
}

fn groups<'a>(model: &'a Model, settings: &'a Settings) -> Groups<'a> {
    let mut groups = Groups::new();
    for resource in model.resources.values() {
        for version in &resource.versions {
            groups
                .entry(&resource.group)
                .or_default()
                .entry(version)
                .or_default()
                .push(resource);
        }
    }
    // A stale group that no resource belongs to is still told: its server is away.
    for stale in &settings.stale_groups {
        groups.entry(stale).or_default();
    }
    groups
}

/// The newest form that both sides speak; nothing for the legacy documents.
fn aggregated_version(accept: &str, settings: &Settings) -> Option<&'static str> {
    let speaks: &[&'static str] = match settings.aggregation {
        Aggregation::V2 => &["v2", "v2beta1"],
        Aggregation::V2Beta1 => &["v2beta1"],
        Aggregation::Off => &[],
    };
    accept.split(',').find_map(|range| {
        let parameters: BTreeSet<&str> = range.split(';').map(str::trim).collect();
        let aggregated = parameters.contains("as=APIGroupDiscoveryList")
            && parameters.contains("g=apidiscovery.k8s.io");
        speaks
            .iter()
            .find(|version| aggregated && parameters.contains(format!("v={version}").as_str()))
            .copied()
    })
}

fn aggregated_answer(
    version: &'static str,
    groups: &Groups<'_>,
    asked: &RequestHead,
    settings: &Settings,
) -> Answer {
    let items: Vec<Value> = groups
        .iter()
        .map(|(name, versions)| aggregated_group(name, versions, settings))
        .collect();
    let document = text(&json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": format!("apidiscovery.k8s.io/{version}"),
        "metadata": {},
        "items": items,
    }));
    let tag = wire::of(&document);
    let mut answer = Answer::document(200, document);
    if settings.etags && asked.header("if-none-match") == Some(tag.as_str()) {
        answer = Answer::document(304, Vec::new());
    }
    answer.headers = vec![
        (
            "Content-Type".to_owned(),
            format!("application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"),
        ),
        ("Vary".to_owned(), "Accept".to_owned()),
    ];
    if settings.etags {
        answer.headers.push(("Etag".to_owned(), tag));
    }
    answer
}

fn aggregated_group(
    name: &str,
    versions: &BTreeMap<&str, Vec<&Resource>>,
    settings: &Settings,
) -> Value {
    let stale = settings.stale_groups.contains(name);
    let versions: Vec<Value> = preferred_first(versions)
        .into_iter()
        .map(|(version, resources)| {
            let told: Vec<Value> = resources
                .iter()
                .filter(|_| !stale)
                .map(|resource| aggregated_resource(resource, version))
                .collect();
            json!({
                "version": version,
                "resources": told,
                "freshness": if stale { "Stale" } else { "Current" },
            })
        })
        .collect();
    let metadata = if name.is_empty() {
        json!({"creationTimestamp": null})
    } else {
        json!({"name": name, "creationTimestamp": null})
    };
    json!({"metadata": metadata, "versions": versions})
}

fn aggregated_resource(resource: &Resource, version: &str) -> Value {
    let kind = |name: &str| json!({"group": resource.group, "version": version, "kind": name});
    let subresources: Vec<Value> = resource
        .subresources
        .iter()
        .map(|name| {
            json!({
                "subresource": name,
                "responseKind": kind(&resource.kind),
                "verbs": ["get", "patch", "update"],
            })
        })
        .collect();
    json!({
        "resource": resource.plural,
        "responseKind": kind(&resource.kind),
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": resource.singular,
        "verbs": resource.verbs,
        "shortNames": resource.short_names,
        "categories": resource.categories,
        "subresources": subresources,
    })
}

fn legacy_root(page: &Page, groups: &Groups<'_>) -> Answer {
    let document = if *page == Page::Core {
        let versions: Vec<&str> = groups
            .values()
            .flat_map(|versions| versions.keys().copied())
            .collect();
        json!({
            "kind": "APIVersions",
            "versions": versions,
            "serverAddressByClientCIDRs": [],
        })
    } else {
        let groups: Vec<Value> = groups
            .iter()
            .map(|(name, versions)| legacy_group(name, versions))
            .collect();
        json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
    };
    Answer::document(200, text(&document))
}

fn legacy_group(name: &str, versions: &BTreeMap<&str, Vec<&Resource>>) -> Value {
    let versions: Vec<Value> = preferred_first(versions)
        .into_iter()
        .map(
            |(version, _)| json!({"groupVersion": format!("{name}/{version}"), "version": version}),
        )
        .collect();
    json!({
        "name": name,
        "preferredVersion": versions.first(),
        "versions": versions,
    })
}

fn legacy_resources(group: &str, version: &str, resources: &[&Resource]) -> Answer {
    let mut told = Vec::new();
    for resource in resources {
        told.push(json!({
            "name": resource.plural,
            "singularName": resource.singular,
            "namespaced": resource.namespaced,
            "kind": resource.kind,
            "verbs": resource.verbs,
            "shortNames": resource.short_names,
            "categories": resource.categories,
            "storageVersionHash": resource.storage_version_hash(),
        }));
        for subresource in &resource.subresources {
            told.push(json!({
                "name": format!("{}/{subresource}", resource.plural),
                "singularName": "",
                "namespaced": resource.namespaced,
                "kind": resource.kind,
                "verbs": ["get", "patch", "update"],
            }));
        }
    }
    let group_version = if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    };
    Answer::document(
        200,
        text(&json!({
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": group_version,
            "resources": told,
        })),
    )
}

/// Versions that some resource prefers come first.
fn preferred_first<'a, 'b>(
    versions: &'b BTreeMap<&'a str, Vec<&'a Resource>>,
) -> Vec<(&'a str, &'b Vec<&'a Resource>)> {
    let mut ordered: Vec<_> = versions
        .iter()
        .map(|(version, resources)| (*version, resources))
        .collect();
    ordered.sort_by_key(|(version, resources)| {
        !resources
            .iter()
            .any(|resource| resource.version() == *version)
    });
    ordered
}

fn text(document: &Value) -> Vec<u8> {
    document.to_string().into_bytes()
}
