//! What is generated from the definitions and compared with the files in `docs`: the command reference `cli.md` and a
//! JSON schema of each command's output. Also the test of the language of help, pages and errors.

use crate::cli::Cli;
use crate::command::recover;
use crate::command::schema::{self, SCHEMAS};
use crate::command::seal;
use crate::command::test::{json, suite};
use crate::command::upgrade::json::{StoryOutput, UpdateListOutput};
use crate::command::{
    api_resources, blame, describe, diff, encrypt, events, explain, grep, history, intervals, man,
    problems, rollout, scan, sign, story, top_writers, verify, version, wait,
};
use crate::command_error::Exit;
use clap::CommandFactory as _;
use kubereel_history::ReelSummary;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Set to write the reference anew.
const UPDATE: &str = "UPDATE";

fn reference() -> String {
    let mut text = String::from(
        "# Command reference\n\n\
         Made from the program's own definitions; `UPDATE=1 cargo test --bin kubereel reference` writes it anew.\n\n",
    );
    text.push_str("## Exit codes\n\n| code | meaning |\n|---|---|\n");
    text.extend(Exit::ALL.map(|exit| format!("| {} | {} |\n", exit.code(), exit.meaning())));
    let mut root = Cli::command().term_width(100).disable_help_subcommand(true);
    root.build();
    for (names, command) in man::with_subcommands(&root) {
        let name = names.join(" ");
        // What this machine's environment holds is nobody's reference.
        let mut command = command.mut_args(|arg| arg.hide_env_values(true));
        let help = command.render_long_help().to_string();
        let help: Vec<&str> = help.lines().map(str::trim_end).collect();
        let help = help.join("\n");
        let section = format!("\n## {name}\n\n```text\n{}\n```\n", help.trim_end());
        text.push_str(&section);
    }
    text
}

#[test]
fn the_reference_is_what_the_definitions_say() {
    compare("docs/cli.md", &reference());
}

/// Compares a generated file with the one in the repository, or writes it.
fn compare(name: &str, generated: &str) {
    let path = root().join(name);
    if std::env::var_os(UPDATE).is_some() {
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(&path, generated).expect("written");
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == generated,
        "{name} differs from the definitions: run this test with {UPDATE}=1"
    );
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
}

/// Gives the schema of one JSON object.
fn object<Output: JsonSchema>() -> Value {
    generator().into_root_schema_for::<Output>().to_value()
}

/// Gives the schema of a JSON object that ends in a list.
fn list<Head: JsonSchema, Item: JsonSchema>(name: &str) -> Value {
    let mut generator = generator();
    let items = generator.subschema_for::<Vec<Item>>().to_value();
    let mut schema = generator.into_root_schema_for::<Head>().to_value();
    let members = schema.as_object_mut().expect("an object");
    let mut insert = |key: &str, empty: Value| {
        let member = members.entry(key).or_insert(empty);
        match member {
            Value::Object(all) => drop(all.insert(name.to_owned(), items.clone())),
            Value::Array(all) => all.push(name.into()),
            _ => {}
        }
    };
    insert("properties", json!({}));
    insert("required", json!([]));
    schema
}

#[test]
fn the_schemas_are_those_of_the_outputs() {
    let schemas = [
        (
            "blame",
            list::<blame::BlameHead<'_>, blame::BlamedField<'_>>("fields"),
        ),
        (
            "api-resources",
            object::<api_resources::ApiResourceOutput<'_>>(),
        ),
        (
            "api-versions",
            object::<api_resources::ApiVersionOutput<'_>>(),
        ),
        ("describe", object::<describe::DescribeOutput<'_>>()),
        (
            "diff",
            list::<diff::DiffHead, diff::DiffEntry<'_>>("differences"),
        ),
        ("events", object::<events::EventOutput<'_>>()),
        ("explain", object::<explain::ExplainOutput<'_>>()),
        ("grep", object::<grep::FoundValueOutput<'_>>()),
        (
            "history",
            list::<history::HistoryHead<'_>, history::HistoryOutputItem>("items"),
        ),
        ("info", object::<ReelSummary>()),
        ("intervals", object::<intervals::IntervalOutput<'_>>()),
        ("install", object::<StoryOutput>()),
        ("problems", object::<problems::ProblemOutput>()),
        ("sign", object::<sign::SignOutput<'_>>()),
        ("encrypt", object::<encrypt::EncryptOutput<'_>>()),
        ("decrypt", object::<encrypt::DecryptOutput<'_>>()),
        ("recover", object::<recover::RecoverOutput<'_>>()),
        ("seal", object::<seal::SealOutput>()),
        ("rollout-history", object::<rollout::RevisionOutput<'_>>()),
        ("rollout-status", object::<rollout::StatusOutput<'_>>()),
        ("scan", object::<scan::ScanOutput<'_>>()),
        ("story", object::<story::ClusterStoryOutput>()),
        ("test", object::<json::TestOutput<'_>>()),
        ("test-list", object::<suite::RuleListOutput<'_>>()),
        ("top-writers", object::<top_writers::TopWritersOutput<'_>>()),
        ("upgrade", object::<StoryOutput>()),
        ("upgrade-list", object::<UpdateListOutput>()),
        ("verify", object::<verify::VerifyOutput<'_>>()),
        ("version", object::<version::VersionOutput>()),
        (
            "wait",
            list::<wait::WaitHead, wait::WaitOutput<'_>>("objects"),
        ),
    ];
    let mut names: Vec<&str> = schemas.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    let printed: Vec<&str> = SCHEMAS.iter().map(|(name, _)| *name).collect();
    assert_eq!(printed, names, "kubereel schema has others");
    for (name, mut schema) in schemas {
        let members = schema.as_object_mut().expect("an object");
        members.insert(
            "title".to_owned(),
            format!("kubereel {} -o json", schema::command_of(name)).into(),
        );
        let text = serde_json::to_string_pretty(&schema).expect("JSON");
        compare(&format!("docs/schemas/{name}.json"), &format!("{text}\n"));
    }
}

/// Phrases that no help, page or message uses: a reader who knows English from kubectl stumbles over
/// them.
const BANNED: [&str; 23] = [
    "gone on with",
    "go on with",
    "goes on where",
    "so many",
    "so often",
    "surroundings",
    "told against",
    "told of",
    "unless given",
    "unless told otherwise",
    "time to end in",
    "whoever",
    "any more how",
    "what is not well",
    "is asked of",
    "to whom",
    "of whom",
    "is no event",
    "of which nothing",
    "what became of",
    "what came of",
    "what there is to",
    "held against",
];

/// Phrases that no comment has, whatever it describes. The list is short on purpose: each of them is
/// wrong wherever it occurs.
const BANNED_IN_COMMENTS: [&str; 18] = [
    "whoever",
    "to whom",
    "for whom",
    "of whom",
    "told of",
    "tells of",
    "told against",
    "held against",
    "so many",
    "so often",
    "gone on with",
    "goes on with",
    "is no event",
    "of which nothing",
    "is asked of",
    "what became of",
    "what came of",
    "what there is to",
];

/// Words that errors and hints do not use besides. They are looked for as words.
const BANNED_IN_MESSAGES: [&str; 18] = [
    "told", "tell", "tells", "said", "say", "says", "held", "holds", "hold", "asked", "nobody",
    "somebody", "stands", "stand", "is no", "are no", "go on", "goes on",
];

/// The folders of all crates, tests included.
const CRATES: [&str; 12] = [
    "src",
    "fetch",
    "format-spec",
    "import",
    "recorder",
    "redact",
    "replay",
    "scan",
    "share",
    "tests",
    "tui",
    "unpack",
];

#[test]
fn help_pages_and_messages_use_no_banned_phrase() {
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a text");
        (path.display().to_string(), text)
    };
    let mut texts = vec![
        ("the help".to_owned(), reference()),
        read(root().join("README.md")),
    ];
    for file in fs::read_dir(root().join("docs")).expect("docs") {
        let path = file.expect("a file").path();
        let name = path.display().to_string();
        // Reports are dated, and stay as they were.
        let is_page = path.extension().is_some_and(|end| end == "md")
            && !["bench-", "soak-"].iter().any(|dated| name.contains(dated));
        if is_page {
            texts.push(read(path));
        }
    }
    assert!(texts.len() > 8, "{} texts", texts.len());
    let mut found = Vec::new();
    let mut search = |name: &str, text: &str, banned: &[&str]| {
        let lower = text.to_lowercase();
        let banned = banned.iter().filter(|phrase| has_words(&lower, phrase));
        found.extend(banned.map(|phrase| format!("{name}: {phrase:?} in {text:?}")));
    };
    for (name, text) in &texts {
        for (number, line) in (1..).zip(text.lines()) {
            search(&format!("{name}:{number}"), line, &BANNED);
        }
    }
    let mut messages = 0;
    for (name, text) in CRATES
        .iter()
        .flat_map(|folder| sources(&root().join(folder)))
    {
        for message in message_texts(&text) {
            messages += 1;
            search(&name, &message, &BANNED);
            search(&name, &message, &BANNED_IN_MESSAGES);
        }
    }
    assert!(messages > 200, "{messages} messages");
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn comments_use_no_banned_phrase() {
    let mut comments = 0;
    let mut found = Vec::new();
    for (name, text) in CRATES
        .iter()
        .flat_map(|folder| sources(&root().join(folder)))
    {
        for (line, comment) in comment_texts(&text) {
            comments += 1;
            let lower = comment.to_lowercase();
            let banned = BANNED_IN_COMMENTS.iter();
            let banned = banned.filter(|phrase| has_words(&lower, phrase));
            found.extend(banned.map(|phrase| format!("{name}:{line}: {phrase:?}")));
        }
    }
    assert!(comments > 5_000, "{comments} comments");
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn a_phrase_is_found_across_the_lines_of_a_comment() {
    let source = "fn a() {\n    // It is so\n    // many.\n    b();\n    /// So\n}\n";
    let comments = [(2, "It is so many.".to_owned()), (5, "So".to_owned())];
    assert_eq!(comment_texts(source), comments);
}

/// Returns the comments of a source with the numbers of their first lines; the lines of one comment
/// are joined, because a phrase may continue on the next line.
fn comment_texts(source: &str) -> Vec<(usize, String)> {
    let mut all: Vec<(usize, String)> = Vec::new();
    let mut last = 0;
    for (number, line) in (1..).zip(source.lines()) {
        let Some(text) = line.trim_start().strip_prefix("//") else {
            continue;
        };
        let text = text.trim_start_matches(['/', '!']).trim();
        match all.last_mut() {
            Some((_, comment)) if last + 1 == number => {
                comment.push(' ');
                comment.push_str(text);
            }
            _ => all.push((number, text.to_owned())),
        }
        last = number;
    }
    all
}

/// Returns whether a text has words, and not only as parts of longer ones.
fn has_words(text: &str, words: &str) -> bool {
    let is_end = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric());
    text.match_indices(words).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + words.len()..]);
        is_end(before.chars().next_back()) && is_end(after.chars().next())
    })
}

/// Returns the Rust files below a folder, without those of builds.
fn sources(folder: &Path) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            if path.file_name().is_none_or(|name| name != "target") {
                all.extend(sources(&path));
            }
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path).expect("a file");
            all.push((path.display().to_string(), text));
        }
    }
    all
}

/// Gives the texts of errors and hints in a source, without what is inserted into them.
fn message_texts(source: &str) -> Vec<String> {
    // An error of thiserror, a hint, an error of this program, each with a text or a format! of one.
    let begin = r"(?:#\[error|\.hint|CommandError::(?:usage|reel|unknown|io|damaged|new))";
    let pattern =
        format!(r#"{begin}\(\s*(?:exit,\s*|Exit::\w+,\s*)?&?(?:format!\(\s*)?"((?:[^"\\]|\\.)*)""#);
    let pattern = regex::Regex::new(&pattern).expect("a pattern");
    let inserted = regex::Regex::new(r"\{[^}]*\}").expect("a pattern");
    let texts = pattern.captures_iter(source).map(|found| {
        let text = found.get(1).map_or("", |text| text.as_str());
        inserted.replace_all(text, "…").into_owned()
    });
    texts.collect()
}

#[test]
fn the_definitions_are_sound() {
    Cli::command().debug_assert();
}
