//! Finds and runs the kubectl programs of this machine. It downloads none: a test that needs one
//! and finds none reports that it is skipped.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, bail};
use tokio::process::Command;

/// One kubectl; other minors than the one on PATH are found beside it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kubectl {
    program: PathBuf,
}

impl Kubectl {
    /// The one that PATH names, if there is any.
    pub fn on_path() -> Option<Self> {
        let path = std::env::var_os("PATH")?;
        let program = std::env::split_paths(&path)
            .map(|dir| dir.join("kubectl"))
            .find(|path| path.is_file());
        program.map(|program| Self { program })
    }

    /// The one on PATH and every `kubectl.MAJOR.MINOR` in the folder it really lies in.
    ///
    /// # Errors
    /// When that folder cannot be read.
    pub fn all() -> anyhow::Result<Vec<Self>> {
        let Some(on_path) = Self::on_path() else {
            return Ok(Vec::new());
        };
        let program = on_path.program.canonicalize()?;
        let dir = program.parent().context("a program lies in a folder")?;
        // Sorted, so that runs are alike.
        let mut minors = BTreeSet::new();
        for entry in dir
            .read_dir()
            .with_context(|| format!("cannot read {}", dir.display()))?
        {
            let path = entry?.path();
            if path.file_name().is_some_and(names_a_minor) && path.is_file() {
                minors.insert(Self { program: path });
            }
        }
        Ok([on_path].into_iter().chain(minors).collect())
    }

    /// Where it lies.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Runs it and returns what it printed on stdout.
    ///
    /// Its discovery cache lies beside the kubeconfig, so runs do not see each other's.
    ///
    /// # Errors
    /// When it fails; the message holds what it printed on stderr.
    pub async fn run(&self, kubeconfig: &Path, args: &[&str]) -> anyhow::Result<String> {
        let output = Command::new(&self.program)
            .args(args)
            .arg("--cache-dir")
            .arg(kubeconfig.with_extension("kubectl-cache"))
            .env("KUBECONFIG", kubeconfig)
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await
            .with_context(|| format!("cannot run {}", self.program.display()))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            bail!(
                "{} {}: {}\n{said}",
                self.program.display(),
                args.join(" "),
                output.status
            );
        }
        String::from_utf8(output.stdout).context("kubectl printed no UTF-8")
    }
}

/// Whether a file is called `kubectl.1.30` or the like.
fn names_a_minor(name: &OsStr) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    name.to_str()
        .and_then(|name| name.strip_prefix("kubectl."))
        .and_then(|version| version.split_once('.'))
        .is_some_and(|(major, minor)| digits(major) && digits(minor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_minors_count() {
        for (name, is_one) in [
            ("kubectl.1.30", true),
            ("kubectl", false),
            ("kubectl.exe", false),
            ("kubectl.1.30.bak", false),
            ("kubectl.1.", false),
            ("kubectl-ns.1.2", false),
        ] {
            assert_eq!(names_a_minor(OsStr::new(name)), is_one, "{name}");
        }
    }
}
