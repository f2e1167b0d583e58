//! The borders between crates and modules: which crate may use which, checked with cargo and in the
//! sources.
//!
//! Top modules of a crate have no import cycles: a lower module can be read, tested and moved
//! without a higher one.
//!
//! Product code as the architecture tests see it: the words of each file, without comments, texts
//! and test code.
//!
//! This reads Rust's words, not its grammar: enough to find paths that begin at the crate's root,
//! and declarations.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what helps a test may fail it"
)]

use serde_json::Value;
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

/// The crates of the workspace, and which of them each may know.
const PLAN: &[(&str, &[&str])] = &[
    ("kubereel-format", &[]),
    ("kubereel-redact", &[]),
    ("kubereel-recorder", &["kubereel-format", "kubereel-redact"]),
    ("kubereel-history", &["kubereel-format"]),
    ("kubereel-cluster", &["kubereel-format", "kubereel-history"]),
    ("kubereel-share", &[]),
    ("kubereel-unpack", &["kubereel-format"]),
    ("kubereel-fetch", &[]),
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
            "kubereel-fetch",
            "kubereel-format",
            "kubereel-import",
            "kubereel-monitortests",
            "kubereel-problems",
            "kubereel-recorder",
            "kubereel-redact",
            "kubereel-history",
            "kubereel-scan",
            "kubereel-share",
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
];

#[test]
fn the_rooms_know_each_other_as_planned() {
    let allowed: BTreeMap<&str, &[&str]> = PLAN.iter().copied().collect();
    for (package, needs) in edges() {
        let allowed = allowed
            .get(package.as_str())
            .unwrap_or_else(|| panic!("{package} is not in the plan: add it here and there"));
        for need in needs.iter().filter(|need| need.starts_with("kubereel")) {
            let is_allowed = allowed.contains(&need.as_str());
            assert!(is_allowed, "{package} must not know {need}");
        }
    }
}

#[test]
fn each_library_has_its_room() {
    let rooms: &[(&str, &[&str])] = &[
        ("redb", &["kubereel-format"]),
        ("sha2", &["kubereel-format"]),
        ("bincode", &["kubereel-format"]),
        ("reed-solomon-simd", &["kubereel-format"]),
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
        ("ureq", &["kubereel-fetch"]),
        ("age", &["kubereel-share"]),
        ("ssh-encoding", &["kubereel-share"]),
        ("ssh-key", &["kubereel-share"]),
        ("rpassword", &["kubereel"]),
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

/// Which module imports which.
type Imports = BTreeMap<String, BTreeSet<String>>;

fn imports(files: &[SourceFile]) -> Imports {
    let tops: BTreeSet<&str> = files.iter().filter_map(SourceFile::top_module).collect();
    let mut imports = Imports::new();
    for file in files {
        let Some(from) = file.top_module() else {
            continue;
        };
        let names = file.names_below_root();
        let others = names
            .intersection(&tops)
            .filter(|to| **to != from)
            .map(|to| (*to).to_owned());
        imports.entry(from.to_owned()).or_default().extend(others);
    }
    imports
}

/// Everything that a module imports, directly or through others.
fn reached<'i>(imports: &'i Imports, from: &str) -> BTreeSet<&'i str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = vec![from];
    while let Some(module) = next.pop() {
        for to in imports.get(module).into_iter().flatten() {
            if reached.insert(to.as_str()) {
                next.push(to);
            }
        }
    }
    reached
}

fn in_cycles(imports: &Imports) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    for (from, tos) in imports {
        for to in tos {
            if reached(imports, to).contains(from.as_str()) {
                found.push((from.as_str(), to.as_str()));
            }
        }
    }
    found
}

#[test]
fn no_import_cycle_joins_top_modules_of_a_crate() {
    let mut found = Vec::new();
    for (package, src) in crates() {
        let imports = imports(&SourceFile::all(&src));
        let cycles = in_cycles(&imports);
        found.extend(
            cycles
                .iter()
                .map(|(from, to)| format!("{package}: {from} -> {to}")),
        );
    }
    assert!(found.is_empty(), "imports in a cycle: {found:#?}");
}

#[test]
fn an_import_is_in_a_cycle_if_it_leads_back() {
    let import = |from: &str, tos: &[&str]| {
        let tos = tos.iter().map(|to| (*to).to_owned()).collect();
        (from.to_owned(), tos)
    };
    let imports = Imports::from([
        import("a", &["b", "d"]),
        import("b", &["c"]),
        import("c", &["a"]),
        import("d", &["e"]),
    ]);
    assert_eq!(in_cycles(&imports), [("a", "b"), ("b", "c"), ("c", "a")]);
}

/// A file of product code.
struct SourceFile {
    /// From the crate's `src` on.
    path: String,
    /// Identifiers, keywords, `::`, and every other mark by itself.
    words: Vec<String>,
}

impl SourceFile {
    /// Reads every file of product code in a `src` folder.
    fn all(src: &Path) -> Vec<Self> {
        let mut files = Vec::new();
        let mut folders = vec![src.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_stem().unwrap().to_string_lossy().into_owned();
                if name == "tests" || name.ends_with("_tests") {
                    continue;
                }
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "rs") {
                    let text = std::fs::read_to_string(&path).unwrap();
                    let path = path.strip_prefix(src).unwrap().display().to_string();
                    files.push(Self::new(path, &text));
                }
            }
        }
        files
    }

    fn new(path: String, text: &str) -> Self {
        Self {
            path,
            words: without_tests(&words(text)),
        }
    }

    /// The crate's top module that the file belongs to; none for `lib.rs` and `main.rs`.
    fn top_module(&self) -> Option<&str> {
        let first = self.path.split('/').next()?;
        let module = first.strip_suffix(".rs").unwrap_or(first);
        (!["lib", "main"].contains(&module)).then_some(module)
    }

    /// What the file names right below the crate's root, with `crate::` or `crate::architecture::`.
    fn names_below_root(&self) -> BTreeSet<&str> {
        let is_mod = self.path.ends_with("/mod.rs");
        let depth = self.path.split('/').count() - usize::from(is_mod);
        let mut names = BTreeSet::new();
        let mut rest = self.words.as_slice();
        while let Some((word, after)) = rest.split_first() {
            rest = after;
            let mut path = match word.as_str() {
                "crate" => after,
                "super" => {
                    let mut path = after;
                    let mut supers = 1;
                    while let [colons, word, after @ ..] = path
                        && colons == "::"
                        && word == "super"
                    {
                        supers += 1;
                        path = after;
                    }
                    rest = path;
                    if supers != depth {
                        continue;
                    }
                    path
                }
                _ => continue,
            };
            if !take(&mut path, "::") {
                continue;
            }
            if take(&mut path, "{") {
                names.extend(group(path));
            } else {
                names.extend(path.first().map(String::as_str));
            }
        }
        names
    }

    /// The types and traits that the file declares.
    fn types(&self) -> BTreeSet<&str> {
        let mut types = BTreeSet::new();
        let mut depth = 0;
        for pair in self.words.windows(2) {
            let [word, name] = pair else { continue };
            match word.as_str() {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            let is_declared = match word.as_str() {
                "struct" | "enum" | "trait" | "union" => true,
                // Deeper ones belong to an impl or a trait.
                "type" => depth == 0,
                _ => false,
            };
            if is_declared && name.starts_with(|first: char| first.is_ascii_uppercase()) {
                types.insert(name.as_str());
            }
        }
        types
    }
}

fn take(words: &mut &[String], wanted: &str) -> bool {
    match words {
        [word, after @ ..] if word == wanted => {
            *words = after;
            true
        }
        _ => false,
    }
}

/// The first names of the paths in a group whose brace was taken.
fn group(words: &[String]) -> Vec<&str> {
    let mut names = Vec::new();
    let (mut depth, mut is_first) = (0, true);
    for word in words {
        match word.as_str() {
            "{" => depth += 1,
            "}" if depth == 0 => break,
            "}" => depth -= 1,
            "," if depth == 0 => is_first = true,
            name => {
                if depth == 0 && is_first {
                    names.push(name);
                }
                is_first = false;
            }
        }
    }
    names
}

/// Leaves out every item under `#[cfg(test)]`.
fn without_tests(words: &[String]) -> Vec<String> {
    const TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::new();
    let mut rest = words;
    while let [word, after @ ..] = rest {
        let is_test =
            rest.len() > TEST.len() && rest.iter().zip(TEST).all(|(word, test)| word == test);
        if is_test {
            rest = after_item(rest);
        } else {
            kept.push(word.clone());
            rest = after;
        }
    }
    kept
}

/// What comes after an item with its attributes: behind its `;`, or the end of its braces.
fn after_item(words: &[String]) -> &[String] {
    let (mut braces, mut brackets) = (0, 0);
    for (index, word) in words.iter().enumerate() {
        match word.as_str() {
            "(" | "[" => brackets += 1,
            ")" | "]" => brackets -= 1,
            "{" => braces += 1,
            "}" => braces -= 1,
            _ => {}
        }
        if brackets == 0 && braces == 0 && (word == ";" || word == "}") {
            return &words[index + 1..];
        }
    }
    &[]
}

/// Cuts a text into words.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first.is_whitespace() {
            rest = rest.trim_start();
        } else if rest.starts_with("//") {
            rest = rest.split_once('\n').map_or("", |(_, after)| after);
        } else if rest.starts_with("/*") {
            rest = rest.split_once("*/").map_or("", |(_, after)| after);
        } else if let Some(after) = after_raw_text(rest) {
            rest = after;
        } else if first == '"' {
            rest = after_text(&rest[1..]);
        } else if first == '\'' {
            rest = after_char_or_lifetime(&rest[1..]);
        } else if first.is_alphanumeric() || first == '_' {
            let end = rest
                .find(|next: char| !next.is_alphanumeric() && next != '_')
                .unwrap_or(rest.len());
            words.push(rest[..end].to_owned());
            rest = &rest[end..];
        } else if let Some(after) = rest.strip_prefix("::") {
            words.push("::".to_owned());
            rest = after;
        } else {
            words.push(first.to_string());
            rest = &rest[first.len_utf8()..];
        }
    }
    words
}

/// Behind `r"…"`, `br#"…"#` and their like, if one begins here.
fn after_raw_text(text: &str) -> Option<&str> {
    let raw = ["r", "br", "cr"]
        .iter()
        .find_map(|start| text.strip_prefix(start))?;
    let marks = raw.len() - raw.trim_start_matches('#').len();
    let inside = raw[marks..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(marks));
    Some(inside.split_once(&end).map_or("", |(_, after)| after))
}

/// Behind the quote that ends a text whose first quote was taken.
fn after_text(text: &str) -> &str {
    let mut is_escaped = false;
    for (index, letter) in text.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return &text[index + 1..],
            _ => {}
        }
    }
    ""
}

/// Behind a character, or the quote of a lifetime, whose first quote was taken.
fn after_char_or_lifetime(text: &str) -> &str {
    if let Some(escaped) = text.strip_prefix('\\') {
        let next = escaped.chars().next().map_or(0, char::len_utf8);
        return escaped[next..]
            .split_once('\'')
            .map_or("", |(_, after)| after);
    }
    let first = text.chars().next().map_or(0, char::len_utf8);
    text[first..].strip_prefix('\'').unwrap_or(text)
}

#[test]
fn comments_texts_and_test_code_are_left_out() {
    let text = r##"
        // crate::comment
        /* crate::block */
        use crate::{one::{Deep, deeper}, two};
        const A: &str = "crate::text \" crate::text";
        const B: &str = r#"crate::raw "quoted" crate::raw"#;
        const C: [char; 3] = ['"', '\'', '\\'];
        fn f<'a>(x: &'a crate::three::X) { near(); }
        #[cfg(test)]
        #[expect(clippy::panic, reason = "…")]
        mod tests { use crate::tested; struct InTest { x: [u8; 2] } }
        #[cfg(test)]
        use crate::tested;
        struct Last;
        type Alias = u8;
        impl Iterator for Last { type Item = crate::four::X; }
    "##;
    let file = SourceFile::new("top/file.rs".to_owned(), text);
    let names: Vec<&str> = file.names_below_root().into_iter().collect();
    assert_eq!(names, ["four", "one", "three", "two"]);
    let types: Vec<&str> = file.types().into_iter().collect();
    assert_eq!(types, ["Alias", "Last"]);
    assert_eq!(file.top_module(), Some("top"));
}
