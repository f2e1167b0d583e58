//! Folders, and formats that are not supported.

use super::journey::{at, journey, refused};
use gix_object::Write as _;
use kubereel_format::RecordedAt;
use kubereel_import::{
    ImportContent, ImportError, ImportInput, ImportOptions, Imported, import_all,
};
use serde_json::json;
use std::path::Path;

fn folder_import(path: &Path, reel: &Path) -> Result<Imported, ImportError> {
    let input = ImportInput {
        name: "gathered".to_owned(),
        content: ImportContent::Folder(path.to_owned()),
        at: None,
        changed_at: None,
    };
    import_all(
        vec![input],
        reel,
        &ImportOptions::new("test", "a test"),
        |_| {},
    )
}

#[test]
fn a_folder_is_one_moment_and_its_broken_files_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let gathered = folder.path().join("gathered");
    let pods = gathered.join("namespaces/a/core");
    std::fs::create_dir_all(&pods).expect("made");
    std::fs::write(pods.join("pods.yaml"), "kind: PodList\napiVersion: v1\nitems:\n- metadata: {name: p, namespace: a, creationTimestamp: '2026-11-23T10:00:00Z'}\n").expect("written");
    std::fs::write(pods.join("broken.yaml"), "kind: [\n").expect("written");
    std::fs::write(gathered.join("current.log"), "hello\n").expect("written");
    let reel = folder.path().join("a.reel");
    let imported = folder_import(&gathered, &reel).expect("an import");
    assert_eq!((imported.events, imported.broken.count), (1, 1));
    let one = imported.broken.first.first().expect("one");
    assert_eq!(one.file, "namespaces/a/core/broken.yaml");
    assert_eq!(
        imported.files.map(|files| (files.with_objects, files.logs)),
        Some((1, 1))
    );
    assert_eq!(imported.gathered_at, Some(imported.from));
}

#[test]
fn a_folder_and_an_archive_without_a_time_inside_need_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let object = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"x"}}"#;
    let archive = folder.path().join("a.zip");
    std::fs::write(&archive, zip(&[("pod.json".to_owned(), object.to_owned())])).expect("written");
    let import = |at| {
        let input = ImportInput {
            name: "a.zip".to_owned(),
            content: ImportContent::File(std::fs::File::open(&archive).expect("written")),
            at,
            // That of a download.
            changed_at: Some(RecordedAt::from_micros(9)),
        };
        let options = ImportOptions::new("test", "a test");
        import_all(vec![input], &folder.path().join("a.reel"), &options, |_| {})
    };
    let error = import(None).expect_err("no time");
    assert!(matches!(error, ImportError::NoTime), "{error}");
    let at = RecordedAt::from_micros(7);
    assert_eq!(import(Some(at)).expect("an import").from, at);
}

#[test]
fn a_folder_without_objects_says_what_it_holds() {
    let folder = tempfile::tempdir().expect("a folder");
    let gathered = folder.path().join("gathered");
    std::fs::create_dir_all(&gathered).expect("made");
    let reel = folder.path().join("a.reel");
    std::fs::write(gathered.join("build-log.txt"), "hello\n").expect("written");
    let error = folder_import(&gathered, &reel).expect_err("nothing");
    assert_eq!(error.to_string(), "no objects in 1 file (0 of them logs)");
    std::fs::write(gathered.join("run"), b"redb\x1a\x0a and more").expect("written");
    let error = folder_import(&gathered, &reel).expect_err("a reel");
    assert_eq!(error.to_string(), "there is a reel among the files: run");
    assert!(!reel.exists());
}

#[test]
fn a_folder_of_a_repository_without_commits_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let git = folder.path().join("watch/.git");
    std::fs::create_dir_all(git.join("objects")).expect("made");
    for head in [
        "ref: refs/heads/main\n",
        "ref: ../../../etc/passwd\n",
        "nonsense",
    ] {
        std::fs::write(git.join("HEAD"), head).expect("written");
        let error = folder_import(&folder.path().join("watch"), &folder.path().join("a.reel"))
            .expect_err("none");
        assert!(
            error
                .to_string()
                .starts_with("HEAD of the git repository is damaged: "),
            "{error}"
        );
    }
}

/// The text of an object.
fn config_map(version: usize) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c, namespace: d, uid: u, resourceVersion: '{version}', creationTimestamp: '2026-11-21T14:00:00Z'}}\n"
    )
}

/// Writes a repository of two commits, which change one object.
fn write_repository(folder: &Path) {
    write_commits(folder, &[config_map(1), config_map(2)]);
}

/// Writes a repository with the contents that a file had, one commit for each.
fn write_commits(folder: &Path, contents: &[String]) {
    let git = folder.join(".git");
    std::fs::create_dir_all(git.join("objects")).expect("made");
    let store = gix_odb::loose::Store::at(git.join("objects"), gix_hash::Kind::Sha1);
    let write = |kind, bytes: &[u8]| store.write_buf(kind, bytes).expect("an object");
    let mut parent = String::new();
    for (secs, object) in (1..).zip(contents) {
        std::fs::write(folder.join("c.yaml"), object).expect("written");
        let blob = write(gix_object::Kind::Blob, object.as_bytes());
        let tree = [&b"100644 c.yaml\0"[..], blob.as_slice()].concat();
        let tree = write(gix_object::Kind::Tree, &tree);
        let who = format!("w <w@example.com> {} +0000", 1_795_269_600 + secs);
        let commit = format!("tree {tree}\n{parent}author {who}\ncommitter {who}\n\nm\n");
        let commit = write(gix_object::Kind::Commit, commit.as_bytes());
        parent = format!("parent {commit}\n");
        std::fs::create_dir_all(git.join("refs/heads")).expect("made");
        std::fs::write(git.join("refs/heads/main"), format!("{commit}\n")).expect("written");
    }
    std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").expect("written");
    std::fs::write(git.join("config"), "[core]\n").expect("written");
}

#[test]
fn a_repository_among_artifacts_is_its_commits_and_not_its_last_state() {
    let folder = tempfile::tempdir().expect("a folder");
    let artifacts = folder.path().join("artifacts");
    write_repository(&artifacts.join("watch"));
    std::fs::write(artifacts.join("build-log.txt"), "hello\n").expect("written");
    let import = |name: &str| folder_import(&artifacts, &folder.path().join(name)).expect(name);
    let imported = import("commits.reel");
    assert_eq!((imported.events, imported.broken.count), (2, 0));
    assert!(imported.gathered_at.is_none());
    assert_eq!(imported.to.micros - imported.from.micros, 1_000_000);

    // Of several repositories it is not known which one is meant.
    write_repository(&artifacts.join("other"));
    let imported = import("several.reel");
    assert_eq!((imported.events, imported.broken.count), (1, 2));
    let mut names: Vec<&str> = imported
        .broken
        .first
        .iter()
        .map(|one| one.file.as_str())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["other/", "watch/"]);
    std::fs::remove_dir_all(artifacts.join("other")).expect("removed");

    // A dump of objects that has a repository in it is a dump.
    let object = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: d}\n";
    std::fs::write(artifacts.join("secret.yaml"), object).expect("written");
    let imported = import("dump.reel");
    assert_eq!((imported.events, imported.broken.count), (2, 0));
    assert_eq!(imported.gathered_at, Some(imported.from));
}

/// The checksum of zip archives.
fn crc(bytes: &[u8]) -> u32 {
    let of_byte = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 * (crc & 1))
        })
    };
    !bytes.iter().fold(u32::MAX, of_byte)
}

/// A zip archive of files that are not compressed.
fn zip(files: &[(String, String)]) -> Vec<u8> {
    let small = |number: usize| u16::try_from(number).expect("small").to_le_bytes();
    let long = |number: usize| u32::try_from(number).expect("small").to_le_bytes();
    let (mut zip, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in files {
        let (size, sum) = (long(content.len()), crc(content.as_bytes()).to_le_bytes());
        // Version 2.0, no flags, stored, no time.
        let about = [&[20, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &sum, &size, &size].concat();
        let about = [&about[..], &small(name.len()), &[0, 0]].concat();
        let place = long(zip.len());
        zip.extend(
            [
                b"PK\x03\x04",
                &about[..],
                name.as_bytes(),
                content.as_bytes(),
            ]
            .concat(),
        );
        let entry = [
            b"PK\x01\x02\x14\0",
            &about[..],
            &[0; 10],
            &place,
            name.as_bytes(),
        ];
        directory.extend(entry.concat());
    }
    let (count, place) = (small(files.len()), long(zip.len()));
    zip.extend(&directory);
    let end = [
        b"PK\x05\x06\0\0\0\0",
        &count[..],
        &count,
        &long(directory.len()),
        &place,
        &[0, 0],
    ];
    zip.extend(end.concat());
    zip
}

#[test]
fn a_captured_list_that_is_older_than_the_one_before_it_revives_nothing() {
    let metadata = r#"{"format_version":2,"captured_at":"2026-01-01T10:00:00Z"}"#;
    let mut files = vec![(
        "k8shark-capture/metadata.json".to_owned(),
        metadata.to_owned(),
    )];
    let pod = |name: &str, version: u32| json!({"metadata": {"name": name, "namespace": "a", "uid": name, "resourceVersion": version.to_string()}});
    let list = |version: u32, items: &[serde_json::Value]| {
        let metadata = json!({"resourceVersion": version.to_string()});
        json!({"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": items})
    };
    let (a, b) = (pod("a", 5), pod("b", 6));
    for (secs, body) in [
        (0, list(10, &[a.clone(), b.clone()])),
        (5, list(30, std::slice::from_ref(&b))),
        // From a cache that is behind.
        (6, list(16, &[a, b.clone()])),
        (9, list(40, &[b])),
    ] {
        let record = json!({
            "captured_at": format!("2026-01-01T10:00:0{secs}Z"),
            "api_path": "/api/v1/namespaces/a/pods",
            "response_code": 200,
            "response_body": body,
        });
        let name = format!("k8shark-capture/records/0/{secs}.json");
        files.push((name, record.to_string()));
    }
    let options = ImportOptions::new("test", "a test");
    let journey = journey(&zip(&files), &options);
    let events: Vec<String> = journey
        .events
        .iter()
        .map(|one| format!("{:?} {}", one.kind, one.name))
        .collect();
    assert_eq!(events, ["Added a", "Added b", "Deleted a"]);
    let lists = journey.imported.lists;
    assert_eq!((lists.lists, lists.outdated, lists.deleted), (3, 1, 1));
}

#[test]
fn a_broken_object_of_a_repository_is_reported_with_its_commit() {
    let folder = tempfile::tempdir().expect("a folder");
    let watch = folder.path().join("watch");
    write_commits(
        &watch,
        &[
            "kind: [".to_owned(),
            "kind: Pod\n".to_owned(),
            config_map(3),
        ],
    );
    let imported = folder_import(&watch, &folder.path().join("a.reel")).expect("an import");
    assert_eq!((imported.events, imported.broken.count), (1, 2));
    for part in imported.broken.first {
        let commit = part
            .file
            .strip_prefix("commit ")
            .and_then(|rest| rest.split_once(", "));
        let (commit, path) = commit.expect("a commit");
        assert_eq!((commit.len(), path), (12, "c.yaml"), "{}", part.file);
    }
}

#[test]
fn formats_that_are_not_supported_are_named() {
    let mut etcd = vec![0; 4096];
    for (place, byte) in etcd.iter_mut().skip(16).zip([0xed, 0xda, 0x0c, 0xed]) {
        *place = byte;
    }
    for (bytes, words) in [
        (etcd.as_slice(), "this is an etcd snapshot: not supported"),
        (
            b"SQLite format 3\0",
            "this is an SQLite database, such as the state of k3s: not supported",
        ),
        (b"PACK\0\0\0\x02", "this is a git pack file: not supported"),
        (b"<html><body>", "this is an HTML page: not supported"),
    ] {
        assert_eq!(refused(bytes, &at(7)).to_string(), words);
    }
}
