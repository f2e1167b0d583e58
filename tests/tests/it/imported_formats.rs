//! Other tools' recordings as they really are: k8shark captures, SimKube traces, a must-gather, a repository of
//! resource-watch, an audit log of a real API server.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what helps a test may fail it"
)]

use anyhow::{Context as _, ensure};
use kubereel_format::{EventType, Evidence, Note, RecordedAt, Reel};
use kubereel_import::{
    ImportContent, ImportError, ImportInput, ImportOptions, Imported, import as import_stream,
    import_all,
};
use kubereel_tests::control_plane::{ControlPlane, skipped};
use kubereel_tests::shared_data::shared_data;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// An event as the reel has it.
#[derive(Clone, Debug, PartialEq)]
struct KeptEvent {
    at: RecordedAt,
    kind: EventType,
    evidence: Evidence,
    resource: String,
    name: String,
    body: Value,
}

struct Import {
    imported: Imported,
    events: Vec<KeptEvent>,
    marks: Vec<String>,
}

fn input(path: &Path) -> ImportInput<'static> {
    let content = if path.is_dir() {
        ImportContent::Folder(path.to_owned())
    } else {
        ImportContent::File(File::open(path).unwrap())
    };
    ImportInput {
        name: path.file_name().unwrap().to_string_lossy().into_owned(),
        content,
        at: None,
        changed_at: None,
    }
}

fn attempt(path: &Path, reel: &Path) -> Result<Imported, ImportError> {
    import_all(
        vec![input(path)],
        reel,
        &ImportOptions::new("test", "a test"),
        |_| {},
    )
}

fn read(reel: &Path, imported: Imported) -> Import {
    let reel = Reel::open(reel).unwrap();
    assert!(reel.is_finished() && reel.damage().is_empty());
    let mut resources = BTreeMap::new();
    let mut marks = Vec::new();
    for entry in reel.notes() {
        match &entry.note {
            Note::Resource(info) => {
                resources.insert(info.id, info.qualified());
            }
            Note::Mark { text } => marks.push(text.clone()),
            _ => {}
        }
    }
    let events = reel.scan().map(|event| {
        let event = event.unwrap();
        let key = reel.key(event.head.object).unwrap();
        KeptEvent {
            at: event.head.stamp.wall,
            kind: event.head.kind,
            evidence: event.head.evidence,
            resource: resources[&key.resource].clone(),
            name: format!("{}/{}", key.namespace, key.name),
            body: serde_json::from_slice(&event.body).unwrap(),
        }
    });
    Import {
        events: events.collect(),
        marks,
        imported,
    }
}

fn imported(path: &Path) -> Import {
    let folder = tempfile::tempdir().unwrap();
    let reel = folder.path().join("test.reel");
    let imported = attempt(path, &reel).unwrap();
    read(&reel, imported)
}

/// Imports the first part of a file, as a broken download leaves it.
fn cut_off(path: &Path, bytes: usize) -> (TempDir, Result<Imported, ImportError>) {
    let folder = tempfile::tempdir().unwrap();
    let short = folder.path().join("short");
    let whole = std::fs::read(path).unwrap();
    std::fs::write(&short, &whole[..bytes]).unwrap();
    let outcome = attempt(&short, &folder.path().join("test.reel"));
    (folder, outcome)
}

fn count(events: &[KeptEvent], resource: &str, kind: EventType, evidence: Evidence) -> usize {
    events
        .iter()
        .filter(|one| (one.resource.as_str(), one.kind, one.evidence) == (resource, kind, evidence))
        .count()
}

#[test]
fn a_k8shark_capture_of_a_rollout_keeps_its_watch_events_and_what_only_lists_showed() {
    let Some(path) = shared_data("k8shark/rolling-update/capture.kshrk") else {
        return;
    };
    let import = imported(&path);
    assert_eq!(import.imported.broken.count, 0);
    assert_eq!(import.imported.formats, ["a k8shark capture"]);
    let events = &import.events;
    // The capture's README counts 15 watch events of Deployments and 24 of ReplicaSets; one object of each was
    // listed before.
    let of = |resource: &str| events.iter().filter(|one| one.resource == resource).count();
    assert_eq!(of("deployments.apps"), 1 + 15);
    assert_eq!(of("replicasets.apps"), 1 + 24);
    let generations: Vec<&Value> = events
        .iter()
        .filter(|one| one.resource == "deployments.apps")
        .map(|one| &one.body["metadata"]["generation"])
        .collect();
    assert_eq!(
        (generations.first(), generations.last()),
        (Some(&&json!(1)), Some(&&json!(2)))
    );
    // Events were polled only, so that new ones come from later lists.
    assert!(count(events, "events", EventType::Added, Evidence::Listed) > 5);
    assert_eq!(
        count(events, "pods", EventType::Deleted, Evidence::Imported),
        3
    );
    assert!(events.is_sorted_by_key(|one| one.at));
}

#[test]
fn every_k8shark_capture_is_read_and_a_damaged_one_says_where() {
    let Some(folder) = shared_data("k8shark") else {
        return;
    };
    let widgets = imported(&folder.join("auto-discovery/capture.kshrk"));
    let widgets = widgets
        .events
        .iter()
        .filter(|one| one.resource == "widgets.demo.k8shark.io");
    assert_eq!(widgets.count(), 2, "discovery names the custom resource");
    let crash = imported(&folder.join("crash-loop/capture.kshrk"));
    assert!(crash.events.iter().any(|one| one.resource == "pods"));
    for golden in ["golden-v1.kshrk", "golden-v2.kshrk"] {
        let path = folder.join("golden").join(golden);
        let target = tempfile::tempdir().unwrap();
        let mut one = input(&path);
        one.at = Some(RecordedAt::from_micros(7));
        let options = ImportOptions::new("test", "a test");
        let outcome =
            import_all(vec![one], &target.path().join("a.reel"), &options, |_| {}).unwrap();
        assert_eq!(
            (outcome.events, outcome.lists.lists),
            (0, 1),
            "{golden}: one empty list"
        );
    }
    // The directory of the archive lies at its end: what is whole in front of the cut is imported all the same.
    let (_folder, outcome) = cut_off(&folder.join("rolling-update/capture.kshrk"), 1_300_000);
    let outcome = outcome.expect("a part");
    assert!(outcome.events > 0, "{outcome:?}");
    let words = outcome.broken.first[0].problem.to_string();
    assert!(
        words.contains("zip archive is damaged behind k8shark-capture/records/"),
        "{words}"
    );
    let (_folder, outcome) = cut_off(&folder.join("crash-loop/capture.kshrk"), 100);
    let Err(ImportError::Nothing { broken }) = outcome else {
        panic!("a capture without a whole record");
    };
    let words = broken.first[0].problem.to_string();
    assert!(
        words.contains("zip archive is damaged") && words.contains("directory"),
        "{words}"
    );
}

#[test]
fn simkube_traces_in_both_encodings_are_what_was_applied_and_deleted() {
    let Some(folder) = shared_data("simkube") else {
        return;
    };
    for (file, events, resource) in [
        ("dsb-scaling.sktrace", 46, "deployments.apps"),
        ("bare-pods.sktrace", 4, "pods"),
        ("cronjob.sktrace", 2, "cronjobs.batch"),
        ("trace.json", 2, "deployments.apps"),
        ("validation_trace.json", 1, "deployments.apps"),
    ] {
        let import = imported(&folder.join(file));
        assert_eq!(import.imported.broken.count, 0, "{file}");
        assert_eq!(import.events.len(), events, "{file}");
        assert!(
            import.events.iter().all(|one| one.resource == resource),
            "{file}"
        );
    }
    let deleted = |file: &str| {
        let events = imported(&folder.join(file)).events;
        events
            .iter()
            .filter(|one| one.kind == EventType::Deleted)
            .count()
    };
    assert_eq!((deleted("cronjob.sktrace"), deleted("trace.json")), (1, 1));
    let whole = imported(&folder.join("bare-pods.sktrace")).events;
    let (folder, outcome) = cut_off(&folder.join("bare-pods.sktrace"), 3000);
    let outcome = outcome.unwrap();
    let words = outcome.broken.first[0].problem.to_string();
    assert!(
        words.contains("damaged before byte 3000, after 2 objects"),
        "{words}"
    );
    let part = read(&folder.path().join("test.reel"), outcome);
    assert_eq!(
        part.events,
        whole[..2],
        "what stands before the damage is in the reel"
    );
}

#[test]
fn a_must_gather_is_one_moment_with_every_object_once() {
    let Some(path) = shared_data("must-gather-aws48/must-gather.tar.xz") else {
        return;
    };
    let import = imported(&path);
    assert_eq!(import.imported.broken.count, 0);
    let files = import.imported.files.context("files").unwrap();
    assert_eq!(files.with_objects + files.logs + files.others, 3_512);
    assert_eq!(files.logs, 1_339);
    // Dated by its newest Event, and not by the file.
    let newest: jiff::Timestamp = "2021-08-03T10:12:39Z".parse().unwrap();
    let newest = RecordedAt::from_micros(newest.as_microsecond());
    assert_eq!(import.imported.gathered_at, Some(newest));
    assert!(import.events.iter().all(|one| one.at == newest));
    // The same objects stand in the other form of this data, one a line.
    let Some(lines) = shared_data("must-gather-aws48/objects.jsonl.zst") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut options = ImportOptions::new("test", "lines");
    options.at = Some(newest);
    let reel = folder.path().join("lines.reel");
    let lines = std::io::BufReader::new(File::open(lines).unwrap());
    let outcome = import_stream(lines, &reel, &options, |_| {}).unwrap();
    let expected = read(&reel, outcome);
    let by_name = |events: Vec<KeptEvent>| -> BTreeMap<String, Value> {
        let named = events.into_iter();
        named
            .map(|one| {
                (
                    format!("{} {} {}", one.resource, one.name, one.body["apiVersion"]),
                    one.body,
                )
            })
            .collect()
    };
    let (found, expected) = (by_name(import.events), by_name(expected.events));
    assert_eq!(found.len(), 8_312);
    let names: Vec<&String> = found.keys().collect();
    assert_eq!(names, expected.keys().collect::<Vec<_>>());
    for (name, body) in found {
        assert_eq!(body, expected[&name], "{name}");
    }
}

#[test]
fn a_cut_off_must_gather_gives_what_stands_before_the_damage() {
    let Some(path) = shared_data("must-gather-aws48/must-gather.tar.xz") else {
        return;
    };
    let (_folder, outcome) = cut_off(&path, 500_000);
    let outcome = outcome.unwrap();
    assert!(outcome.events > 2_000, "{}", outcome.events);
    let one = &outcome.broken.first[0];
    let words = one.problem.to_string();
    assert_eq!((outcome.broken.count, one.file.as_str()), (1, "short"));
    for part in [
        "the tar archive is damaged behind must-gather-aws/",
        "the xz data is damaged after 14352",
        "decompressed bytes",
    ] {
        assert!(words.contains(part), "{words}");
    }
}

#[test]
fn the_repository_of_an_installation_is_its_events() {
    let Some(bundle) = shared_data("okd412-sno-install-run1/repository.bundle") else {
        return;
    };
    let found = imported(&bundle);
    assert_eq!(found.imported.broken.count, 0);
    let lines = shared_data("okd412-sno-install-run1/events.jsonl.zst").unwrap();
    let expected = imported(&lines);
    assert_eq!(found.events.len(), 7_584);
    for (number, (found, expected)) in found.events.iter().zip(&expected.events).enumerate() {
        assert_eq!(found, expected, "event {number}");
    }
    let (_folder, outcome) = cut_off(&bundle, 600_000);
    let words = outcome.err().context("half a bundle").unwrap().to_string();
    assert!(
        words.starts_with("the pack of the git bundle is damaged: before byte 600000: "),
        "{words}"
    );
    // One byte of a compressed object.
    let mut bytes = std::fs::read(&bundle).unwrap();
    bytes[900_000] ^= 0x10;
    let folder = tempfile::tempdir().unwrap();
    let flipped = folder.path().join("flipped.bundle");
    std::fs::write(&flipped, bytes).unwrap();
    let outcome = attempt(&flipped, &folder.path().join("test.reel"));
    let words = outcome.err().context("a flipped byte").unwrap().to_string();
    let place = words
        .split_once("is damaged: before byte ")
        .context("a place")
        .unwrap()
        .1;
    let place = place.split(':').next().unwrap_or_default();
    let place: u64 = place.parse().unwrap();
    assert!((900_000..1_100_000).contains(&place), "{words}");
}

const POLICY: &str = "apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  resources: [{group: '', resources: [secrets]}]
- level: RequestResponse
  resources: [{group: '', resources: [configmaps, namespaces]}]
- level: Metadata
";

#[tokio::test]
async fn an_audit_log_of_a_real_server_gives_versions_and_who_did_what() -> anyhow::Result<()> {
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};
    use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
    use kube::{Api, ResourceExt as _};

    if skipped() {
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let (policy, log): (PathBuf, PathBuf) = (
        folder.path().join("policy.yaml"),
        folder.path().join("audit.log"),
    );
    std::fs::write(&policy, POLICY)?;
    let plane = ControlPlane::builder()
        .api_flag(format!("--audit-policy-file={}", policy.display()))
        .api_flag(format!("--audit-log-path={}", log.display()))
        .start()
        .await?;
    let client = plane.client(0).await?;
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    let secrets: Api<Secret> = Api::namespaced(client, "default");
    let map: ConfigMap =
        serde_json::from_value(json!({"metadata": {"name": "settings"}, "data": {"a": "1"}}))?;
    let made = maps.create(&PostParams::default(), &map).await?;
    let patch = Patch::Merge(json!({"data": {"a": "2"}}));
    let patched = maps
        .patch("settings", &PatchParams::default(), &patch)
        .await?;
    let refused = maps.create(&PostParams::default(), &map).await;
    ensure!(refused.is_err(), "it exists");
    let secret: Secret =
        serde_json::from_value(json!({"metadata": {"name": "hidden"}, "stringData": {"k": "v"}}))?;
    secrets.create(&PostParams::default(), &secret).await?;
    maps.delete("settings", &DeleteParams::default()).await?;
    secrets.delete("hidden", &DeleteParams::default()).await?;
    // Ended in order, it has written all of its log.
    plane.api(0).component().stop().await?;

    let import = imported(&log);
    assert_eq!(
        import.imported.broken.count, 0,
        "{:?}",
        import.imported.broken
    );
    let settings: Vec<&KeptEvent> = import
        .events
        .iter()
        .filter(|one| one.name == "default/settings")
        .collect();
    let kinds: Vec<EventType> = settings.iter().map(|one| one.kind).collect();
    let expected = [EventType::Added, EventType::Modified, EventType::Deleted];
    assert_eq!(kinds, expected);
    let version = |event: &KeptEvent| {
        event.body["metadata"]["resourceVersion"]
            .as_str()
            .map(str::to_owned)
    };
    assert_eq!(version(settings[0]), made.resource_version());
    assert_eq!(version(settings[1]), patched.resource_version());
    assert_eq!(settings[1].body["data"]["a"], "2");
    assert!(
        import.imported.lists.audit.failed > 0,
        "the second creation failed"
    );
    let told: Vec<&String> = import
        .marks
        .iter()
        .filter(|mark| mark.contains("secrets/hidden"))
        .collect();
    assert!(
        told.iter()
            .any(|mark| mark.ends_with(": create secrets/hidden -n default"))
            && told
                .iter()
                .any(|mark| mark.ends_with(": delete secrets/hidden -n default")),
        "{told:?}"
    );
    Ok(())
}
