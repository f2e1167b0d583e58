//! `kubereel version`: which program this is, and which reels it reads and writes.

use crate::command_error::{CommandError, Exit};
use crate::outputs::outputs;
use crate::screen::Console;
use kubereel_format::FORMAT;
use kubereel_history::write_folded_yaml;
use std::sync::LazyLock;

/// The version with its commit, date, target and formats, as `--version` prints it.
pub(crate) fn long_version() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let version = VersionOutput::of(BuiltFrom::here());
        format!("{}\n{}", version.version, details(&version).join("\n"))
    });
    &TEXT
}

/// Print the version: commit, date, target and the format of reels
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubereel version
  kubereel version -o json | jq -r .commit")]
pub(crate) struct Args {
    /// Output format; default: text
    #[arg(short, long, value_name = "FORM")]
    output: Option<VersionFormat>,
    /// kubectl's; there is no server.
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    client: Option<bool>,
}

/// The forms of the version, with those of kubectl.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum VersionFormat {
    Json,
    Yaml,
}

outputs! {
/// The version of the program.
struct VersionOutput(built: BuiltFrom) {
    version: &'static str = env!("CARGO_PKG_VERSION"),
    /// The commit of the sources; null if the build did not know it.
    commit: Option<&'static str> = built.commit,
    /// The date of the commit.
    date: Option<&'static str> = built.date,
    target: &'static str = built.target,
    /// The version of the format that is written; every earlier version is read.
    format: String = FORMAT.to_string(),
}
}

/// What the build knew.
pub(crate) struct BuiltFrom {
    commit: Option<&'static str>,
    date: Option<&'static str>,
    target: &'static str,
}

impl BuiltFrom {
    fn here() -> Self {
        let known = |text: &'static str| (!text.is_empty()).then_some(text);
        Self {
            commit: known(env!("KUBEREEL_BUILT_COMMIT")),
            date: known(env!("KUBEREEL_BUILT_DATE")),
            target: env!("KUBEREEL_BUILT_TARGET"),
        }
    }
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let version = VersionOutput::of(BuiltFrom::here());
    match args.output {
        Some(VersionFormat::Json) => {
            screen.json(&version)?;
            return Ok(Exit::Yes);
        }
        Some(VersionFormat::Yaml) => {
            let value = serde_json::to_value(&version).map_err(CommandError::io)?;
            let mut text = String::new();
            write_folded_yaml(&mut text, &value).map_err(CommandError::io)?;
            screen.line(text.trim_end())?;
            return Ok(Exit::Yes);
        }
        None => {}
    }
    screen.line(format!("kubereel {}", version.version))?;
    for line in details(&version) {
        screen.line(line)?;
    }
    Ok(Exit::Yes)
}

/// Writes all but the version itself, a line each.
fn details(version: &VersionOutput) -> [String; 4] {
    let known = |text: Option<&'static str>| text.unwrap_or("unknown");
    let format = &version.format;
    [
        format!("commit   {}", known(version.commit)),
        format!("date     {}", known(version.date)),
        format!("target   {}", version.target),
        format!("format   writes {format}, reads 0.1 to {format}"),
    ]
}
