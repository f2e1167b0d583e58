//! Notes which sources the program is made of: the commit and its date, from the environment or from git where
//! there is one, so that the same sources give the same program.

use std::env;
use std::process::Command;

fn main() {
    let commit = env::var("KUBEREEL_COMMIT")
        .ok()
        .or_else(|| git(&["rev-parse", "HEAD"]));
    let date = env::var("KUBEREEL_COMMIT_DATE")
        .ok()
        .or_else(|| git(&["show", "--no-patch", "--format=%cs", "HEAD"]));
    for (name, value) in [
        ("KUBEREEL_BUILT_COMMIT", commit),
        ("KUBEREEL_BUILT_DATE", date),
        ("KUBEREEL_BUILT_TARGET", env::var("TARGET").ok()),
    ] {
        println!(
            "cargo::rustc-env={name}={}",
            value.unwrap_or_default().trim()
        );
    }
    println!("cargo::rerun-if-env-changed=KUBEREEL_COMMIT");
    println!("cargo::rerun-if-env-changed=KUBEREEL_COMMIT_DATE");
    println!("cargo::rerun-if-changed=build.rs");
    // It grows with each commit and each change of the branch.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={}", log.trim());
    }
}

/// Asks git about this repository; `None` without git or outside of one.
fn git(args: &[&str]) -> Option<String> {
    // A copy of the sources inside of another repository is not a commit of that one.
    let is_own = std::path::Path::new(".git").exists();
    let output = is_own.then(|| Command::new("git").args(args).output().ok())??;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then_some(text)
}
