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

#[test]
fn the_definitions_are_sound() {
    Cli::command().debug_assert();
}
