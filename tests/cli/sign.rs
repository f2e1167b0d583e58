//! `kubereel sign` and `verify --signer`, compared with the `ssh-keygen` of this machine in both
//! directions.

use super::run::{DEMO, Ran, assert_has, program, run};
use serde_json::Value;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The demo in a folder, beside keys that ssh-keygen makes.
struct Desk {
    folder: TempDir,
}

impl Desk {
    /// `None` where there is no ssh-keygen, which it says.
    fn new() -> Option<Self> {
        if Command::new("ssh-keygen").arg("-?").output().is_err() {
            writeln!(std::io::stderr(), "skipped: no ssh-keygen").expect("stderr");
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let desk = Self { folder };
        fs::copy(DEMO, desk.path("run.reel")).expect("copied");
        Some(desk)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a text")
    }

    /// Runs the program in the folder.
    fn kubereel(&self, line: &str) -> Ran {
        run(program()
            .current_dir(self.folder.path())
            .args(line.split_whitespace()))
    }

    /// Runs ssh-keygen in the folder with an input, and returns whether it agrees.
    fn keygen(&self, line: &str, input: &str) -> (bool, String) {
        let mut child = Command::new("ssh-keygen")
            .current_dir(self.folder.path())
            .args(
                line.split(' ')
                    .map(|word| if word == "''" { "" } else { word }),
            )
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("ssh-keygen runs");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(input.as_bytes()).expect("written");
        drop(stdin);
        let output = child.wait_with_output().expect("it ends");
        let said = [output.stdout, output.stderr].concat();
        (
            output.status.success(),
            String::from_utf8(said).expect("text"),
        )
    }

    /// Makes a key, and a list of allowed signers with it.
    fn key(&self, name: &str, kind: &str, passphrase: &str) {
        let line = format!("-q -t {kind} -C {name}@example.com -N {passphrase} -f {name}");
        let (is_made, said) = self.keygen(&line, "");
        assert!(is_made, "{said}");
        let public = self.text(&format!("{name}.pub"));
        let line = format!("{name}@example.com namespaces=\"recording@kubereel\" {public}");
        fs::write(self.path(&format!("{name}.signers")), line).expect("written");
    }

    /// Checks the signature, and gives its JSON.
    fn check(&self, words: &str, code: i32) -> Value {
        let ran = self.kubereel(&format!("verify run.reel -o json {words}"));
        let proof: Value = serde_json::from_str(&ran.code(code).out).expect("JSON");
        proof.get("signature").expect("a signature").clone()
    }
}

#[test]
fn real_ssh_keygen_accepts_each_signature_and_each_of_its_own_is_accepted() {
    let Some(desk) = Desk::new() else { return };
    let statement = desk.kubereel("sign run.reel --statement").ok();
    let digest = desk.kubereel("info run.reel --digest -o json").ok();
    let digest: Value = serde_json::from_str(&digest).expect("JSON");
    let digest = digest["digest"].as_str().expect("a digest");
    assert_eq!(statement, format!("kubereel recording {digest}\n"));
    let code = kubereel!("verify {DEMO}").code.expect("a code");
    for (name, kind) in [
        ("ed", "ed25519"),
        ("p256", "ecdsa -b 256"),
        ("p384", "ecdsa -b 384"),
        ("p521", "ecdsa -b 521"),
    ] {
        desk.key(name, kind, "''");
        let who = format!("{name}@example.com");
        let page = desk
            .kubereel(&format!("sign run.reel -k {name} --force"))
            .ok();
        assert_has(&page, digest);
        let verify =
            format!("-Y verify -f {name}.signers -I {who} -n recording@kubereel -s run.reel.sig");
        let (is_good, said) = desk.keygen(&verify, &statement);
        assert!(is_good, "{kind}: {said}");
        let (is_good, _) = desk.keygen(&verify, &statement.replace("sha256:", "sha256:0"));
        assert!(!is_good, "{kind}: the signature fits another statement");
        let found = desk.check(&format!("--signer {name}.signers --identity {who}"), code);
        assert_eq!(found["state"], "good", "{found}");
        assert_eq!(found["identities"], who.as_str(), "{found}");
        // The same the other way round.
        let sign = format!("-q -Y sign -f {name} -n recording@kubereel");
        let (is_signed, armored) = desk.keygen(&sign, &statement);
        assert!(is_signed, "{armored}");
        fs::write(desk.path("other.sig"), armored).expect("written");
        let found = desk.check(&format!("--signature other.sig --signer {name}.pub"), code);
        assert_eq!(found["state"], "good", "{kind}: {found}");
        let (_, listed) = desk.keygen(&format!("-l -f {name}.pub"), "");
        let fingerprint = found["fingerprint"].as_str().expect("a fingerprint");
        assert!(
            listed.contains(fingerprint),
            "{fingerprint} not in {listed}"
        );
    }
}

#[test]
fn a_bad_signature_and_none_are_told_apart() {
    let Some(desk) = Desk::new() else { return };
    desk.key("ann", "ed25519", "''");
    desk.key("bob", "ed25519", "''");
    let code = kubereel!("verify {DEMO}").code.expect("a code");
    let found = desk.check("--signer ann.signers", code.max(1));
    assert_eq!(found["state"], "unsigned", "{found}");
    let found = desk.check("--signer ann.signers --signature other.sig", code.max(1));
    assert_eq!(found["state"], "unsigned", "{found}");
    assert_eq!(found["file"], "other.sig", "{found}");
    desk.kubereel("sign run.reel -k ann").ok();
    let again = desk.kubereel("sign run.reel -k ann").code(2);
    again.says("run.reel.sig: file exists");
    for (words, reason) in [
        ("--signer bob.pub", "which is not among the allowed signers"),
        (
            "--signer ann.signers --identity bob@example.com",
            "it belongs to ann@example.com",
        ),
        (
            "--signer ann.pub --identity ann@example.com",
            "a public key alone has no identity",
        ),
    ] {
        let found = desk.check(words, 3);
        assert_eq!(found["state"], "bad", "{found}");
        let said = found["reason"].as_str().expect("a reason");
        assert_has(said, reason);
    }
    let page = desk
        .kubereel("verify run.reel --signer ann.signers")
        .code(code)
        .out;
    let second = page.lines().nth(1).unwrap_or_default();
    assert!(
        second.starts_with("signature    good: signed by ann@example.com · ssh-ed25519 SHA256:"),
        "{page}"
    );
    // Of another recording, for another purpose, and damaged.
    let statement = desk.kubereel("sign run.reel --statement").ok();
    let other = desk
        .keygen("-q -Y sign -f ann -n recording@kubereel", "another\n")
        .1;
    let purpose = desk.keygen("-q -Y sign -f ann -n file", &statement).1;
    for (armored, reason) in [
        (other.as_str(), "does not fit this recording"),
        (purpose.as_str(), "made for the namespace \"file\""),
        ("nothing", "not an SSH signature"),
    ] {
        fs::write(desk.path("run.reel.sig"), armored).expect("written");
        let found = desk.check("--signer ann.signers", 3);
        let said = found["reason"].as_str().expect("a reason");
        assert_has(said, reason);
    }
}

#[test]
fn a_list_of_signers_that_ssh_keygen_refuses_is_refused() {
    let Some(desk) = Desk::new() else { return };
    desk.key("ed", "ed25519", "''");
    let statement = desk.kubereel("sign run.reel --statement").ok();
    desk.kubereel("sign run.reel -k ed --force").ok();
    let key = desk.text("ed.pub");
    for (option, is_read) in [
        ("namespaces=\"recording@kubereel\"", true),
        ("namespaces=recording@kubereel", false),
    ] {
        let list = format!("# people\ned@example.com {option} {key}");
        fs::write(desk.path("list"), list).expect("written");
        let verify = "-Y verify -f list -I ed@example.com -n recording@kubereel -s run.reel.sig";
        let (is_good, said) = desk.keygen(verify, &statement);
        assert_eq!(is_good, is_read, "{option}: {said}");
        let ran = desk.kubereel("verify run.reel --signer list --identity ed@example.com");
        assert_eq!(ran.out.contains("signature    good"), is_read, "{ran:?}");
        if !is_read {
            ran.code(2).says("line 2 is neither").says(option);
        }
    }
}

#[test]
fn a_signature_is_of_the_recording_and_not_of_the_file() {
    let Some(desk) = Desk::new() else { return };
    desk.key("ann", "ed25519", "''");
    desk.kubereel("sign run.reel -k ann").ok();
    let code = kubereel!("verify {DEMO}").code.expect("a code");
    let zipped = Command::new("gzip")
        .arg("-n")
        .arg(desk.path("run.reel"))
        .status();
    assert!(zipped.expect("gzip runs").success());
    let public = desk.text("ann.pub");
    let ran = run(program().current_dir(desk.folder.path()).args([
        "verify",
        "run.reel.gz",
        "--signer",
        public.trim(),
    ]));
    let page = ran.code(code).out;
    assert_has(&page, "signature    good: signed by the given key");
}

#[test]
fn an_encrypted_key_is_opened_as_the_tools_of_openssh_do() {
    let Some(desk) = Desk::new() else { return };
    desk.key("ann", "ed25519", "opensesame");
    fs::write(desk.path("right"), "opensesame\n").expect("written");
    fs::write(desk.path("wrong"), "opensesam\n").expect("written");
    let ran = desk.kubereel("sign run.reel -k ann").code(2);
    ran.says("error: no terminal to enter it: passphrase of ann")
        .says("SSH_ASKPASS");
    let ran = desk
        .kubereel("sign run.reel -k ann --passphrase-file wrong")
        .code(2);
    let ran = ran.says("error: ann: wrong passphrase\n");
    assert!(!ran.err.contains("opensesam"), "{}", ran.err);
    let ran = desk.kubereel("sign run.reel -k ann --passphrase-file right");
    assert!(!ran.ok().contains("opensesam"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::remove_file(desk.path("run.reel.sig")).expect("removed");
        let asker = desk.path("asker");
        fs::write(&asker, "#!/bin/sh\necho \"$1\" >asked\ncat right\n").expect("written");
        fs::set_permissions(&asker, fs::Permissions::from_mode(0o700)).expect("executable");
        let ran = run(program()
            .current_dir(desk.folder.path())
            .env("SSH_ASKPASS", &asker)
            .env("SSH_ASKPASS_REQUIRE", "force")
            .args(["sign", "run.reel", "-k", "ann"]));
        ran.ok();
        assert_eq!(desk.text("asked"), "passphrase of ann\n");
    }
    let found = desk.check(
        "--signer ann.signers",
        kubereel!("verify {DEMO}").code.expect("a code"),
    );
    assert_eq!(found["state"], "good", "{found}");
}

#[test]
fn a_signature_replaces_neither_the_key_nor_the_reel() {
    let Some(desk) = Desk::new() else { return };
    desk.key("ann", "ed25519", "''");
    for file in ["ann", "run.reel"] {
        let before = fs::read(desk.path(file)).expect("a file");
        let _ran = desk
            .kubereel(&format!("sign run.reel -k ann --signature {file} --force"))
            .code(2)
            .says(": the output is the input file");
        assert!(
            fs::read(desk.path(file)).expect("a file") == before,
            "{file}"
        );
    }
}

#[test]
fn keys_that_cannot_sign_say_what_to_use() {
    let Some(desk) = Desk::new() else { return };
    desk.key("rsa", "rsa -b 2048", "''");
    desk.kubereel("sign run.reel -k rsa")
        .code(2)
        .says("error: rsa: ssh-rsa keys are not supported\n")
        .says("hint: use an Ed25519 key: ssh-keygen -t ed25519\n")
        .says(
            "kubereel sign run.reel --statement | ssh-keygen -Y sign -f rsa -n recording@kubereel",
        );
    desk.kubereel("sign run.reel -k rsa.pub")
        .code(2)
        .says("error: rsa.pub: not an OpenSSH private key\n");
    desk.kubereel("sign run.reel -k rsa --signature -")
        .code(2)
        .says("cannot write to stdout; name a file");
    let statement = desk.kubereel("sign run.reel --statement").ok();
    let armored = desk
        .keygen("-q -Y sign -f rsa -n recording@kubereel", &statement)
        .1;
    fs::write(desk.path("run.reel.sig"), armored).expect("written");
    desk.kubereel("verify run.reel --signer rsa.signers")
        .code(2)
        .says("signatures of ssh-rsa keys are not supported")
        .says("ssh-keygen -Y verify");
    assert!(
        desk.keygen(
            "-Y verify -f rsa.signers -I rsa@example.com -n recording@kubereel -s run.reel.sig",
            &statement
        )
        .0
    );
}
