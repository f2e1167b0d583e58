//! Owns the command reference: `docs/cli.md` is what the definitions say, and this test keeps it so.

use crate::cli::Cli;
use crate::exit::Exit;
use clap::CommandFactory as _;
use std::path::Path;

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
    let mut commands = vec![root.clone()];
    commands.extend(root.get_subcommands().cloned());
    for command in commands {
        let name = match command.get_name() {
            "kubereel" => "kubereel".to_owned(),
            name => format!("kubereel {name}"),
        };
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
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/cli.md");
    let made = reference();
    if std::env::var_os(UPDATE).is_some() {
        std::fs::create_dir_all(path.parent().expect("docs")).expect("a folder");
        std::fs::write(&path, &made).expect("docs/cli.md can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == made,
        "docs/cli.md is not what the definitions say: run this test with {UPDATE}=1"
    );
}

/// Words that no help and no page uses, because a reader who learnt English from kubectl stumbles over them.
const BANNED: [&str; 10] = [
    "gone on with",
    "go on with",
    "so many",
    "so often",
    "surroundings",
    "told against",
    "unless given",
    "unless told otherwise",
    "time to end in",
    "whoever",
];

#[test]
fn the_reference_and_the_docs_use_no_banned_phrase() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts = vec![
        ("the help".to_owned(), reference()),
        (
            "README.md".to_owned(),
            std::fs::read_to_string(root.join("README.md")).expect("README.md"),
        ),
    ];
    for file in std::fs::read_dir(root.join("docs")).expect("docs") {
        let path = file.expect("a file").path();
        let name = path.display().to_string();
        // Reports are dated, and stay as they were.
        let is_page = path.extension().is_some_and(|end| end == "md")
            && !["bench-", "soak-"].iter().any(|dated| name.contains(dated));
        if is_page {
            texts.push((name, std::fs::read_to_string(&path).expect("a page")));
        }
    }
    assert!(texts.len() > 8, "{} texts", texts.len());
    let mut found = Vec::new();
    for (name, text) in &texts {
        for (number, line) in text.lines().enumerate() {
            let lower = line.to_lowercase();
            let banned = BANNED.iter().filter(|phrase| lower.contains(**phrase));
            found.extend(banned.map(|phrase| format!("{name}:{}: {phrase}", number + 1)));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn the_definitions_are_sound() {
    Cli::command().debug_assert();
}
