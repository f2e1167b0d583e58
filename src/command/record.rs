//! Owns `kubereel record`: flags in, a running recorder, an exit code out.

use super::recording::{self, Recording};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::reel;
use kubereel_format::OpenError;
use kubereel_recorder::{KubeconfigSource, RecordError, Recorder};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// Records a cluster into a reel
///
/// It need not be there yet: the recorder waits for the kubeconfig and for the cluster, follows both
/// as they change, and marks whatever it may have missed. SIGINT (Ctrl-C) and SIGTERM finish the reel.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The reel to write; an existing one is gone on with
    #[arg(short, long, value_name = "REEL")]
    output: PathBuf,
    /// The kubeconfig, instead of $KUBECONFIG, ~/.kube/config or a pod's own; it may come later
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig; its current one unless given
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// The file whose lines become marks as it grows; REEL.marks unless given
    #[arg(long, value_name = "FILE")]
    marks: Option<PathBuf>,
    #[command(flatten)]
    recording: Recording,
}

fn kubeconfig_source(flag: Option<&PathBuf>, variable: Option<&OsString>) -> KubeconfigSource {
    if let Some(path) = flag {
        return KubeconfigSource::Files(vec![path.clone()]);
    }
    let files: Vec<PathBuf> = variable
        .iter()
        .flat_map(std::env::split_paths)
        .filter(|path| !path.as_os_str().is_empty())
        .collect();
    if files.is_empty() {
        KubeconfigSource::Usual
    } else {
        KubeconfigSource::Files(files)
    }
}

/// Gives the file of marks beside a reel.
fn marks_of(reel: &Path) -> PathBuf {
    let mut name = reel.as_os_str().to_owned();
    name.push(".marks");
    name.into()
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<Exit, CommandError> {
    let mut options = args.recording.begin()?;
    options.output.clone_from(&args.output);
    let variable = std::env::var_os("KUBECONFIG");
    options.kubeconfig = kubeconfig_source(args.kubeconfig.as_ref(), variable.as_ref());
    options.context.clone_from(&args.context);
    options.marks = Some(args.marks.clone().unwrap_or_else(|| marks_of(&args.output)));
    let recorder = Recorder::open(options).map_err(|error| explain(&error))?;
    let runtime = recording::runtime()?;
    let status = recorder.status_handle();
    let summary = runtime.block_on(async {
        let telling = tokio::spawn(recording::tell(status));
        let summary = recorder.run().await;
        telling.abort();
        // Whether it was stopped or broke, the line must be gone before the last word.
        drop(telling.await);
        summary
    });
    let summary = summary.map_err(|error| explain(&error))?;
    recording::last_word(&args.output, &summary);
    Ok(Exit::Yes)
}

fn explain(error: &RecordError) -> CommandError {
    match error {
        RecordError::Open(OpenError::Io { path, source }) => {
            let failed = CommandError::new(
                Exit::Surroundings,
                format!("cannot write: {source}: {}", path.display()),
            );
            match source.kind() {
                io::ErrorKind::NotFound => {
                    failed.hint("make the folder first, or name another file")
                }
                _ => failed.hint("name a file in a folder that you may write to"),
            }
        }
        RecordError::Open(OpenError::NotAReel { .. }) => CommandError::new(Exit::Reel, error)
            .hint("name a file that does not exist yet, or a reel to go on with"),
        RecordError::Open(open) => reel::explain(open),
        RecordError::Past { .. } => CommandError::new(Exit::Reel, error).hint(
            "record into another file; kubereel info shows what can still be read of this one",
        ),
        RecordError::Full { .. } => CommandError::new(Exit::Surroundings, error)
            .hint("give it more with --max-size, or record into another file"),
        RecordError::Listen { .. } => CommandError::new(Exit::Surroundings, error)
            .hint("choose another port with --listen, or leave it out"),
        RecordError::Write { .. } | RecordError::Finish(_) => {
            CommandError::new(Exit::Surroundings, error).hint(
                "what was recorded until then can be read, and gone on with by the same command",
            )
        }
        _ => CommandError::new(Exit::Surroundings, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_goes_before_the_variable() {
        let flag = PathBuf::from("a");
        let files =
            |names: &[&str]| KubeconfigSource::Files(names.iter().map(PathBuf::from).collect());
        let variable = std::env::join_paths(["b", "c"]).expect("joined");
        assert_eq!(
            kubeconfig_source(Some(&flag), Some(&variable)),
            files(&["a"])
        );
        assert_eq!(kubeconfig_source(None, Some(&variable)), files(&["b", "c"]));
        assert_eq!(
            kubeconfig_source(None, Some(&OsString::new())),
            KubeconfigSource::Usual
        );
        assert_eq!(kubeconfig_source(None, None), KubeconfigSource::Usual);
    }
}
