//! The house's walls: who may know whom, asked of cargo and of the sources themselves.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what helps a test may fail it"
)]

mod cycles;
mod source;

use serde_json::Value;
use source::SourceFile;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// The workspace as cargo describes it.
fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "cargo metadata failed");
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Every package of the workspace with what it is built with, tests and benchmarks left out.
fn edges() -> BTreeMap<String, BTreeSet<String>> {
    let edges = packages().into_iter().map(|package| {
        let needs = package["dependencies"].as_array().unwrap();
        let needs = needs
            .iter()
            .filter(|need| need["kind"].is_null())
            .map(|need| text(&need["name"]))
            .collect();
        (text(&package["name"]), needs)
    });
    edges.collect()
}

/// Every package that is built, with its features.
fn features(edges: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--workspace", "--offline", "--no-dedupe"])
        .args(["--prefix=none", "--format={p} {f}", "--edges", edges])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "cargo tree failed");
    let tree = String::from_utf8(output.stdout).unwrap();
    tree.lines().map(str::to_owned).collect()
}

#[test]
fn tests_and_program_are_compiled_with_the_same_features() {
    let (without, with) = (features("normal,build"), features("normal,build,dev"));
    let different: Vec<&String> = without.difference(&with).collect();
    assert!(
        different.is_empty(),
        "tests ask for more features of these, so that they and all above them are compiled twice; \
         ask for the features in tests/Cargo.toml too: {different:#?}"
    );
}

/// The product's crates, without the tests': name and `src` folder.
fn crates() -> Vec<(String, PathBuf)> {
    let packages = packages().into_iter().map(|package| {
        let manifest = PathBuf::from(text(&package["manifest_path"]));
        let src = manifest.with_file_name("src");
        (text(&package["name"]), src)
    });
    let mut crates: Vec<_> = packages
        .filter(|(name, _)| name != "kubereel-tests")
        .collect();
    crates.sort();
    crates
}

#[test]
fn the_rooms_know_each_other_as_planned() {
    let allowed: BTreeMap<&str, &[&str]> = [
        ("kubereel-format", &[][..]),
        ("kubereel-redact", &[][..]),
        ("kubereel-recorder", &["kubereel-format", "kubereel-redact"]),
        ("kubereel-history", &["kubereel-format"]),
        ("kubereel-cluster", &["kubereel-format", "kubereel-history"]),
        ("kubereel-unpack", &["kubereel-format"]),
        (
            "kubereel-import",
            &["kubereel-format", "kubereel-redact", "kubereel-unpack"],
        ),
        ("kubereel-scan", &["kubereel-format", "kubereel-redact"]),
        (
            "kubereel-monitortests",
            &["kubereel-cluster", "kubereel-format", "kubereel-history"],
        ),
        (
            "kubereel-problems",
            &[
                "kubereel-cluster",
                "kubereel-format",
                "kubereel-history",
                "kubereel-monitortests",
            ],
        ),
        (
            "kubereel",
            &[
                "kubereel-cluster",
                "kubereel-format",
                "kubereel-import",
                "kubereel-monitortests",
                "kubereel-problems",
                "kubereel-recorder",
                "kubereel-redact",
                "kubereel-history",
                "kubereel-scan",
                "kubereel-tui",
                "kubereel-unpack",
            ],
        ),
        (
            "kubereel-tui",
            &[
                "kubereel-cluster",
                "kubereel-format",
                "kubereel-monitortests",
                "kubereel-history",
                "kubereel-problems",
            ],
        ),
        (
            "kubereel-tests",
            &[
                "kubereel-cluster",
                "kubereel-format",
                "kubereel-import",
                "kubereel-monitortests",
                "kubereel-problems",
                "kubereel-recorder",
                "kubereel-redact",
                "kubereel-history",
                "kubereel-scan",
                "kubereel-tui",
            ],
        ),
    ]
    .into();
    for (package, needs) in edges() {
        let allowed = allowed
            .get(package.as_str())
            .unwrap_or_else(|| panic!("{package} is not in the plan: add it here and there"));
        for need in needs.iter().filter(|need| need.starts_with("kubereel")) {
            assert!(
                allowed.contains(&need.as_str()),
                "{package} must not know {need}"
            );
        }
    }
}

#[test]
fn each_library_has_its_room() {
    let rooms: &[(&str, &[&str])] = &[
        ("redb", &["kubereel-format"]),
        ("bincode", &["kubereel-format"]),
        ("zstd", &["kubereel-format"]),
        ("imara-diff", &["kubereel-format", "kubereel-history"]),
        ("kube", &["kubereel-recorder", "kubereel-tests"]),
        (
            "tokio",
            &["kubereel-recorder", "kubereel", "kubereel-tests"],
        ),
        ("hyper", &["kubereel-recorder", "kubereel-tests"]),
        ("clap", &["kubereel"]),
        ("anyhow", &["kubereel-tests"]),
        ("ratatui", &["kubereel-tui"]),
        ("crossterm", &["kubereel-tui"]),
        ("signal-hook", &["kubereel-tui"]),
        ("flate2", &["kubereel-unpack"]),
        ("lzma-rust2", &["kubereel-unpack"]),
        ("tar", &["kubereel-unpack"]),
        ("zip", &["kubereel-unpack"]),
        ("rmp-serde", &["kubereel-import"]),
        ("gix-odb", &["kubereel-import"]),
    ];
    let edges = edges();
    for (library, homes) in rooms {
        for (package, needs) in &edges {
            assert!(
                !needs.contains(*library) || homes.contains(&package.as_str()),
                "{package} must not use {library}"
            );
        }
    }
}

/// Every source file of the product's crates: its path from the root, and its text.
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = crates().into_iter().map(|(_, src)| src).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let name = path.strip_prefix(root()).unwrap().display().to_string();
                found.push((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(found.len() > 40, "the sources moved: mend this test");
    found
}

#[test]
fn one_file_each_names_the_compressor_the_record_codec_and_the_clock() {
    let homes: &[(&str, &str)] = &[
        ("zstd::", "format-spec/src/codec/frame.rs"),
        ("xxh3_128(", "format-spec/src/codec/frame.rs"),
        ("bincode::encode", "format-spec/src/codec/record.rs"),
        ("bincode::decode", "format-spec/src/codec/record.rs"),
        ("SystemTime::now()", "recorder/src/clock.rs"),
        ("Timestamp::now()", "recorder/src/clock.rs"),
    ];
    for (path, text) in sources() {
        for (word, home) in homes {
            assert!(
                path == *home || !text.contains(word),
                "{path} says {word}, which belongs to {home}"
            );
        }
        let is_database_room =
            path.starts_with("format-spec/src/file/") || path == "format-spec/src/spec_text.rs";
        assert!(
            is_database_room || !text.contains("redb::"),
            "{path} names the database"
        );
    }
}

#[test]
fn one_room_of_the_ui_knows_the_terminal_threads_and_time() {
    let mut is_seen = false;
    for (path, text) in sources() {
        let is_room = path.starts_with("tui/src/runtime/");
        is_seen |= is_room;
        for word in ["crossterm::", "thread::", "Instant", "std::io"] {
            let is_ui = path.starts_with("tui/src/");
            let is_mentioned = is_ui && !is_room && text.contains(word);
            // A test looks at the bytes that the terminal gets.
            let is_test = path == "tui/src/tests/terminal.rs";
            // What outlasts a run is kept in files, which the threads of `runtime` ask for.
            let is_keep = path.starts_with("tui/src/keep/") && word == "std::io";
            assert!(!is_mentioned || is_test || is_keep, "{path} says {word}");
        }
    }
    assert!(is_seen, "the room moved: mend this test");
}

#[test]
fn every_module_begins_with_what_it_owns_and_lists_hold_no_code() {
    for (path, text) in sources() {
        assert!(
            text.starts_with("//! "),
            "{path} does not begin with its docs"
        );
        if path.ends_with("/lib.rs") || path.ends_with("/mod.rs") {
            let code = text.lines().find(|line| {
                ["fn ", "pub fn ", "pub(crate) fn ", "impl ", "impl<"]
                    .iter()
                    .any(|start| line.starts_with(start))
            });
            assert_eq!(code, None, "{path} holds code");
        }
        for word in ["util", "common", "helper", "helpers", "manager"] {
            let file = Path::new(&path).file_stem().unwrap().to_string_lossy();
            assert_ne!(file, word, "{path} is a room for everything");
        }
    }
}

/// Names that every module or command may have once for itself.
const SHARED: [&str; 2] = ["Args", "Error"];

/// A search for a type finds one answer in all product code.
#[test]
fn no_type_name_is_used_twice() {
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (package, src) in crates() {
        for file in SourceFile::all(&src) {
            for name in file.types() {
                let place = format!("{package}: {}", file.path);
                places.entry(name.to_owned()).or_default().insert(place);
            }
        }
    }
    assert!(places.len() > 400, "the types moved: mend this test");
    places.retain(|name, places| places.len() > 1 && !SHARED.contains(&name.as_str()));
    assert!(
        places.is_empty(),
        "names of more than one type: {places:#?}"
    );
}
