//! `kubereel encrypt` and `decrypt`, compared with the `age` of this machine in both directions,
//! and the commands that open what is encrypted.

use super::run::{DEMO, Ran, assert_has, program, run};
use serde_json::Value;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// A recipient whose identity is not on this machine.
const STRANGER: &str = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";

/// The demo in a folder, beside an identity that age-keygen makes.
struct Vault {
    folder: TempDir,
    recipient: String,
}

impl Vault {
    /// `None` where there is no age, which it says.
    fn new() -> Option<Self> {
        if Command::new("age-keygen")
            .arg("--version")
            .output()
            .is_err()
        {
            writeln!(std::io::stderr(), "skipped: no age").expect("stderr");
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let mut vault = Self {
            folder,
            recipient: String::new(),
        };
        fs::copy(DEMO, vault.path("run.reel")).expect("copied");
        vault.age("age-keygen", "-o key.txt");
        vault
            .age("age-keygen", "-y key.txt")
            .trim()
            .clone_into(&mut vault.recipient);
        Some(vault)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn age(&self, tool: &str, line: &str) -> String {
        let output = Command::new(tool)
            .current_dir(self.folder.path())
            .args(line.split_whitespace())
            .output()
            .expect("it runs");
        assert!(output.status.success(), "{tool} {line}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// Runs the program in the folder, `R` being the recipient.
    fn kubereel(&self, line: &str) -> Ran {
        let words = line.split_whitespace();
        run(program()
            .current_dir(self.folder.path())
            .env_remove("KUBEREEL_AGE_IDENTITY")
            .args(words.map(|word| if word == "R" { &self.recipient } else { word })))
    }

    fn is_demo(&self, name: &str) -> bool {
        fs::read(self.path(name)).expect("a file") == fs::read(DEMO).expect("the demo")
    }
}

#[test]
fn age_decrypts_what_is_encrypted_and_the_other_way_round() {
    let Some(vault) = Vault::new() else { return };
    let out = vault.kubereel("encrypt run.reel -r R -o json").ok();
    let made: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(made["file"], "run.reel.age");
    assert_eq!(made["recipients"], 1);
    vault.age("age", "-d -i key.txt -o by-age.reel run.reel.age");
    assert!(vault.is_demo("by-age.reel"));
    let line = format!(
        "-a -r {} -r {STRANGER} -o theirs.age run.reel",
        vault.recipient
    );
    vault.age("age", &line);
    vault
        .kubereel("decrypt theirs.age by-us.reel -i key.txt")
        .ok();
    assert!(vault.is_demo("by-us.reel"));
    // Several recipients of a file.
    let text = format!("# the team\n{STRANGER}\n\n{}\n", vault.recipient);
    fs::write(vault.path("team.txt"), text).expect("written");
    let out = vault.kubereel("encrypt run.reel team.age -R team.txt").ok();
    assert_has(&out, "encrypted for 2 recipients");
    vault
        .kubereel("decrypt team.age team.reel --age-identity key.txt")
        .ok();
    assert!(vault.is_demo("team.reel"));
}

#[test]
fn objects_are_imported_from_an_encrypted_file_and_nothing_is_encrypted_twice() {
    let Some(vault) = Vault::new() else { return };
    let list = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"n"}}"#;
    fs::write(vault.path("list.json"), list).expect("written");
    vault.kubereel("encrypt list.json -r R").ok();
    let import = "import list.json.age -o new.reel";
    vault
        .kubereel(&format!("{import} --age-identity key.txt"))
        .ok();
    let names = vault.kubereel("get new.reel pods -A -o name").ok();
    assert_eq!(names, "pod/a\n");
    let _ran = vault
        .kubereel("encrypt list.json.age -r R")
        .code(2)
        .says("error: it is encrypted already: list.json.age");
    assert!(!vault.path("list.json.age.age").exists());
}

#[test]
fn every_command_opens_it_with_an_identity_and_leaves_nothing_behind() {
    let Some(vault) = Vault::new() else { return };
    vault.kubereel("encrypt run.reel -r R").ok();
    let [temporary, cache] = ["temporary", "cache"].map(|name| vault.path(name));
    for folder in [&temporary, &cache] {
        fs::create_dir(folder).expect("made");
    }
    for line in [
        "get REEL nodes",
        "problems REEL",
        "events REEL -A",
        "test REEL",
        "scan REEL -o json",
    ] {
        let whole = vault.kubereel(&line.replace("REEL", "run.reel"));
        let line = line.replace("REEL", "run.reel.age");
        let opened = run(program()
            .current_dir(vault.folder.path())
            .env("KUBEREEL_AGE_IDENTITY", "key.txt")
            .env("TMPDIR", &temporary)
            .env("XDG_CACHE_HOME", &cache)
            .args(line.split_whitespace()));
        assert_eq!(
            opened.out.replace("run.reel.age", "run.reel"),
            whole.out,
            "{line}"
        );
        assert_eq!(opened.code, whole.code, "{line}");
    }
    for folder in [temporary, cache] {
        let mut left = fs::read_dir(folder).expect("a folder");
        assert!(left.next().is_none(), "something is left");
    }
}

#[test]
fn what_cannot_be_decrypted_says_why_and_writes_nothing() {
    let Some(vault) = Vault::new() else { return };
    vault
        .kubereel("decrypt run.reel plain.reel -i key.txt")
        .code(2)
        .says("error: run.reel: not encrypted");
    vault.kubereel("encrypt run.reel -r R").ok();
    vault
        .kubereel("info run.reel.age")
        .code(2)
        .says("encrypted, and no identity is given: run.reel.age")
        .says("--age-identity FILE");
    vault
        .kubereel(&format!("encrypt run.reel other.age -r {STRANGER}"))
        .ok();
    vault
        .kubereel("info other.age --age-identity key.txt")
        .code(2)
        .says("it is encrypted for other recipients: other.age");
    let whole = fs::read(vault.path("run.reel.age")).expect("a file");
    fs::write(vault.path("cut.age"), &whole[..whole.len() / 2]).expect("written");
    vault
        .kubereel("decrypt cut.age cut.reel -i key.txt")
        .code(3)
        .says("damaged or cut off after ");
    assert!(!vault.path("cut.reel").exists());
    fs::write(vault.path("head.age"), &whole[..60]).expect("written");
    vault
        .kubereel("info head.age --age-identity key.txt")
        .code(3)
        .says("the header of the age format is damaged");
    for (line, words) in [
        ("encrypt run.reel -r R", "run.reel.age: file exists"),
        ("encrypt run.reel x.age", "--recipient <RECIPIENT>"),
        ("encrypt run.reel x.age -r key.txt", "-R key.txt"),
        (
            "encrypt run.reel x.age -R key.txt",
            "an age identity is given as a recipient",
        ),
        ("encrypt . x.age -r R", "a folder, not a file"),
        ("decrypt run.reel.age -i key.txt", "run.reel: file exists"),
        (
            "decrypt run.reel.age x -i run.reel.age",
            "encrypted with a passphrase",
        ),
        ("decrypt run.reel.age x", "no identity is given"),
    ] {
        let ran = vault.kubereel(line).code(2).says(words);
        assert!(!ran.err.contains("AGE-SECRET-KEY"), "{line}: {ran:?}");
    }
    assert!(!vault.path("x.age").exists() && !vault.path("x").exists());
}
