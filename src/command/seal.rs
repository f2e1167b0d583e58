//! `kubereel seal`: a finished reel in its tightest form, which holds the same recording.

use crate::arguments::{JsonOutput, output_file};
use crate::command::info;
use crate::command_error::{CommandError, Exit};
use crate::files;
use crate::files::LocalReel;
use crate::outputs::outputs;
use crate::progress::ProgressReporter;
use crate::screen::Console;
use crate::shell_words::shell_word;
use crate::words::bytes;
use kubereel_format::{OpenError, SealDensity, SealError, is_in_use, seal};
use kubereel_history::{Timeline, harmless};
use std::path::{Path, PathBuf};

/// Rewrite a finished reel in its smallest form
///
/// A sealed reel holds the same recording in fewer bytes: the same digest, and the same answer to
/// every question. It also has recovery data, which repairs small damage by itself. Seal a reel that
/// is kept, uploaded or sent. Every command reads it; `record` rewrites it before it resumes it, and
/// only import --append refuses it.
///
/// The new file is complete, on disk and compared with the old one, record by record, before it takes
/// the old one's place. Until then the old file stays as it is, also when the command is killed: a
/// file REEL.….part may then be left, which can be removed. A damaged reel and one that is being
/// recorded are refused.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubereel seal run.reel                           rewrite it in its place
  kubereel seal run.reel small.reel                write another file, keep this one
  kubereel seal artifacts.tar.gz run.reel          seal the reel of an archive
  kubereel seal --smallest run.reel archive.reel   for a large reel that is rarely opened
  kubereel seal run.reel -o json | jq .bytes_after
  kubereel recover sealed.reel run.reel            make a reel to append imports to

Exit codes: 0 the reel is sealed; 3 it is damaged or being recorded, and stays as it is.")]
pub(crate) struct Args {
    /// The reel: a file or a folder, with DST also an archive or a URL; default: $KUBEREEL, or the only
    /// one here
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    /// The file to write, which must not exist; default: REEL itself
    #[arg(value_name = "DST", value_parser = output_file())]
    destination: Option<PathBuf>,
    /// Make a recording of more than 32,768 records as small as possible, by a third or more; the first question
    /// to each part of the file then takes seconds
    #[arg(long)]
    smallest: bool,
    #[command(flatten)]
    output: JsonOutput,
}

outputs! {
/// A reel that is sealed.
struct SealOutput(file: &Path, sealed: &SealedReel) {
    /// The sealed file.
    file: String = file.display().to_string(),
    /// Whether it was sealed before, so that nothing was written.
    already_sealed: bool = sealed.was_sealed,
    /// The bytes of the reel before.
    bytes_before: u64 = sealed.bytes_before,
    /// The bytes of the sealed file.
    bytes_after: u64 = sealed.bytes_after,
    /// The digest of the recording, which is that of both.
    digest: String = sealed.digest.clone(),
}
}

/// The outcome of a reel.
pub(crate) struct SealedReel {
    was_sealed: bool,
    bytes_before: u64,
    bytes_after: u64,
    digest: String,
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    refuse_growing(is_in_use(&args.reel), &args.reel)?;
    let local = files::locate_reel(&args.reel)?;
    refuse_growing(local.is_growing(), local.path())?;
    let target = match &args.destination {
        Some(destination) => destination.clone(),
        None => in_place(&args.reel, &local)?,
    };
    let timeline = files::open_located(&args.reel, &local)?;
    let named = files::named_path(&args.reel, local.path());
    let sealed = if timeline.reel().is_sealed() && args.destination.is_none() {
        let file_bytes = timeline.reel().sizes().file;
        SealedReel {
            was_sealed: true,
            bytes_before: file_bytes,
            bytes_after: file_bytes,
            digest: info::read_digest(&timeline, screen)?,
        }
    } else {
        let density = if args.smallest {
            SealDensity::Smallest
        } else {
            SealDensity::Usual
        };
        write((&timeline, &named), &target, density, screen)?
    };
    if args.output.is_json() {
        screen.json(&SealOutput::of(&target, &sealed))?;
        return Ok(Exit::Yes);
    }
    let name = harmless(&target.display().to_string()).into_owned();
    let SealedReel {
        bytes_before,
        bytes_after,
        ..
    } = sealed;
    screen.line(if sealed.was_sealed {
        format!("{name}: already sealed, {}", bytes(bytes_after))
    } else {
        let saved = percent_less(bytes_before, bytes_after);
        let (before, after) = (bytes(bytes_before), bytes(bytes_after));
        format!("{name}: sealed, {after} instead of {before}{saved}")
    })?;
    screen.line(format!("digest {}, as before", sealed.digest))?;
    if sealed.was_sealed && args.smallest {
        // Of a file that is the smallest already it makes an equal one.
        screen.aside(
            "hint: to make it smaller, write a new file: kubereel seal --smallest REEL NEW.reel",
        )?;
    }
    Ok(Exit::Yes)
}

fn write(
    (timeline, named): (&Timeline, &Path),
    target: &Path,
    density: SealDensity,
    screen: &Console,
) -> Result<SealedReel, CommandError> {
    let reel = timeline.reel();
    let total = reel.end().0.saturating_mul(2);
    let mut progress = ProgressReporter::begin("sealing", total, screen.is_err_terminal());
    let stats = seal(reel, target, density, |done| progress.reached(done));
    drop(progress);
    let stats = stats.map_err(|error| explain(&error, named))?;
    Ok(SealedReel {
        was_sealed: false,
        bytes_before: stats.bytes_before,
        bytes_after: stats.file_bytes,
        digest: stats.digest.to_string(),
    })
}

/// Gives the file to replace: what lies in an archive or at an address has none.
fn in_place(named: &Path, local: &LocalReel) -> Result<PathBuf, CommandError> {
    if local.path().starts_with(named) {
        return Ok(local.path().to_owned());
    }
    let name = files::shown(named);
    Err(
        CommandError::usage(format!("{name}: cannot replace the reel inside")).hint(format!(
            "name a file to write: kubereel seal {} NEW.reel",
            shell_word(named.as_os_str())
        )),
    )
}

fn refuse_growing(is_growing: bool, path: &Path) -> Result<(), CommandError> {
    if !is_growing {
        return Ok(());
    }
    let path = path.to_owned();
    Err(files::explain_open(&OpenError::InUse { path }))
}

/// Says by how much a file became smaller; nothing if it did not.
fn percent_less(before: u64, after: u64) -> String {
    let before = u128::from(before);
    let saved = before.saturating_sub(u128::from(after)).saturating_mul(100);
    match saved.saturating_add(before / 2).checked_div(before) {
        None | Some(0) => String::new(),
        Some(percent) => format!(" (-{percent} %)"),
    }
}

fn explain(error: &SealError, reel: &Path) -> CommandError {
    let (path, reel) = (reel.display(), shell_word(reel.as_os_str()));
    match error {
        SealError::Damaged { .. } => CommandError::reel(format!("{path}: {error}")).hint(format!(
            "write what can be read as a whole reel first: kubereel recover {reel} NEW.reel"
        )),
        SealError::Moved { .. } => CommandError::io(error)
            .hint("the reel and the file that has its name now stay as they were"),
        SealError::Exists { .. } => CommandError::usage(error)
            .hint("choose another file; seal overwrites none but the reel itself"),
        SealError::Read(_) => CommandError::reel(error)
            .hint(format!("to see what can be read: kubereel verify {reel}")),
        SealError::Write { .. } => CommandError::io(error)
            .hint("the reel stays as it was; check the directory and the disk"),
        _ => CommandError::io(error).hint("the reel stays as it was"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_saved_is_in_percent_of_before() {
        assert_eq!(percent_less(200, 150), " (-25 %)");
        assert_eq!(percent_less(1000, 824), " (-18 %)");
        assert_eq!(percent_less(1000, 996), "");
        assert_eq!(percent_less(200, 300), "");
        assert_eq!(percent_less(0, 0), "");
    }
}
