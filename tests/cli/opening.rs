//! The reel as it is named: an address, a variable, the only one in the folder, one that is being recorded.

use super::run::{DEMO, Ran, assert_has, program, run};
use crate::object_store::{ObjectStore, StoredFile};
use kubereel_format::{Appender, Note, SessionId, Stamp};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A folder, a cache and a server.
struct World {
    store: ObjectStore,
    folder: TempDir,
}

impl World {
    fn new() -> Self {
        Self {
            store: ObjectStore::start(),
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn program(&self, args: &[&str]) -> Command {
        let mut program = program();
        for proxy in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
            program.env_remove(proxy);
        }
        program
            .args(args)
            .current_dir(self.path())
            .env("XDG_CACHE_HOME", self.path().join("cache"))
            .env("STORAGE_EMULATOR_HOST", &self.store.base);
        program
    }

    fn run(&self, args: &[&str]) -> Ran {
        run(&mut self.program(args))
    }
}

fn demo() -> Vec<u8> {
    fs::read(DEMO).expect("the demo")
}

#[test]
fn a_reel_at_an_address_answers_as_the_file_does() {
    let world = World::new();
    let job = "/results/logs/job/1";
    let mut file = StoredFile::of(demo());
    file.cuts = vec![50_000];
    world.store.put(
        &format!("{job}/artifacts/e2e/observe/artifacts/run.reel"),
        file,
    );
    world
        .store
        .put(&format!("{job}/build-log.txt"), StoredFile::of("x"));
    world.store.put("/files/run.reel", StoredFile::of(demo()));
    let expected = world.run(&["get", DEMO, "nodes"]).ok();
    let url = format!("{}/files/run.reel?signature=s3cret", world.store.base);
    for address in [
        "https://prow.ci.openshift.org/view/gs/results/logs/job/1",
        "gs://results/logs/job/1/artifacts",
        &url,
    ] {
        let ran = world.run(&["get", address, "nodes"]);
        assert!(!ran.err.contains("downloading"), "{ran:#?}");
        assert_eq!(ran.ok(), expected, "{address}");
    }
    // Info names the reel as it was named, without the signature.
    let info = world.run(&["info", &url]).ok();
    assert!(
        info.contains("run.reel?…") && !info.contains("s3cret"),
        "{info}"
    );
    let _ran = world.run(&["tui", &url]).code(5).says("needs a terminal");
    let _ran = world
        .run(&[&url, "--at", "+10s"])
        .code(5)
        .says("needs a terminal");
}

#[test]
fn no_message_prints_the_credentials_and_the_query_of_an_address() {
    let world = World::new();
    world.store.put("/files/run.reel", StoredFile::of(demo()));
    let base = world.store.base.replace("://", "://usr:s3cret@");
    let url = format!("{base}/files/run.reel?X-Amz-Signature=s3cret");
    let joined = format!("--at={url}");
    for args in [
        &["problems", &url][..],
        &["story", &url],
        &["export", &url],
        &["get", &url, "nothing"],
        &["frob", &url],
        &["help", &url],
        &[&joined],
        &["get", &url, "pods", "--at", &url],
        &["completion", &url],
    ] {
        let ran = world.run(args);
        assert!(!ran.err.contains("s3cret"), "{args:?}: {ran:#?}");
    }
}

#[test]
fn recordings_of_other_tools_are_imported_from_addresses() {
    let world = World::new();
    let pods = r#"{"apiVersion":"v1","kind":"PodList","metadata":{"resourceVersion":"9"},"items":[
        {"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-1","namespace":"shop","uid":"u1","resourceVersion":"7"}}]}"#;
    world
        .store
        .put("/results/job/pods.json", StoredFile::of(pods));
    let at = ["--at", "2026-11-21T14:02:31Z"];
    let url = format!(
        "{}/results/job/pods.json?signature=s3cret",
        world.store.base
    );
    for (number, address) in ["gs://results/job/pods.json", &url].into_iter().enumerate() {
        let reel = format!("{number}.reel");
        let ran = world.run(&["import", address, "-o", &reel, at[0], at[1]]);
        assert!(!ran.err.contains("s3cret"), "{ran:#?}");
        ran.ok();
        let names = world.run(&["get", &reel, "pods", "-A", "-o", "name"]).ok();
        assert_eq!(names, "pod/web-1\n");
        let about = world.run(&["info", &reel]).ok();
        assert!(!about.contains("s3cret"), "{about}");
    }
    let ran = world.run(&["import", "gs://results/job/none.json", "-o", "n.reel"]);
    assert_eq!(ran.code, Some(3), "{ran:#?}");
    assert!(
        ran.err
            .contains("hint: give the address of the file itself"),
        "{ran:#?}"
    );
    assert!(!world.path().join("n.reel").exists());
}

#[test]
fn an_address_without_one_reel_says_what_to_do() {
    let world = World::new();
    for name in ["a.reel", "b c.reel"] {
        world
            .store
            .put(&format!("/two/job/{name}"), StoredFile::of(demo()));
    }
    world
        .store
        .put("/none/job/finished.json", StoredFile::of("{}"));
    world
        .store
        .put("/files/json.reel", StoredFile::of("{\"type\":\"ADDED\"}\n"));
    let json = format!("{}/files/json.reel", world.store.base);
    let tls = StoredFile {
        redirect: Some("https://example.com/x.reel".to_owned()),
        ..StoredFile::default()
    };
    world.store.put("/files/tls.reel", tls);
    let redirected = format!("{}/files/tls.reel", world.store.base);
    for (args, code, words) in [
        (
            &["get", "gs://two/job", "pods", "-n", "web"][..],
            2,
            "hint: choose one: kubereel get gs://two/job/a.reel pods -n web\n\
             hint: choose one: kubereel get 'gs://two/job/b c.reel' pods -n web\n",
        ),
        (
            &["info", "gs://none/job"],
            3,
            "no reel among 1 file: gs://none/job",
        ),
        (
            &["info", "gs://nothing/job"],
            3,
            "nothing found: gs://nothing/job",
        ),
        (&["info", "gs://"], 2, "not an address: it has no bucket"),
        (
            &["info", &json],
            3,
            "hint: it was downloaded from http://127.0.0.1:",
        ),
        (
            &["info", &redirected],
            5,
            "hint: if that is what you mean, give this address: https://example.com/x.reel",
        ),
    ] {
        let _ran = world.run(args).code(code).says(words);
    }
}

#[test]
fn a_download_has_a_limit_that_a_variable_sets() {
    let world = World::new();
    world.store.put("/files/run.reel", StoredFile::of(demo()));
    let url = format!("{}/files/run.reel", world.store.base);
    let limited = |limit: &str| {
        run(world
            .program(&["info", &url])
            .env("KUBEREEL_MAX_DOWNLOAD", limit))
    };
    let ran = limited("10kB")
        .code(5)
        .says("larger than the limit of 10000 bytes: ");
    assert!(
        ran.err
            .contains("hint: to allow more: KUBEREEL_MAX_DOWNLOAD="),
        "{ran:#?}"
    );
    let _ran = limited("many")
        .code(2)
        .says("$KUBEREEL_MAX_DOWNLOAD: expected a size");
    let _ran = limited("none").ok();
}

#[test]
fn the_reel_of_the_variable_or_of_the_folder_needs_no_name() {
    let world = World::new();
    let expected = world.run(&["get", DEMO, "nodes"]).ok();
    let named = run(world.program(&["get", "nodes"]).env("KUBEREEL", DEMO));
    assert_eq!(named.ok(), expected);
    let _ran = world
        .run(&["get", "nodes"])
        .code(2)
        .says("hint: name it: kubereel get REEL nodes");
    let _ran = world.run(&["info"]).code(2).says("or set $KUBEREEL");
    fs::copy(DEMO, world.path().join("a.reel")).expect("copied");
    assert_eq!(world.run(&["get", "nodes"]).ok(), expected);
    assert_eq!(
        world.run(&["get", "-o", "name", "nodes"]).ok(),
        world.run(&["get", DEMO, "nodes", "-o", "name"]).ok()
    );
    // The program alone helps who has no terminal.
    let _ran = world.run(&[]).code(2).says("Usage: ");
    fs::copy(DEMO, world.path().join("b.reel")).expect("copied");
    let _ran = world
        .run(&["story"])
        .code(2)
        .says("hint: choose one: kubereel story b.reel");
    // A folder lists what is in it as commands.
    let _ran = world
        .run(&["info", "."])
        .code(2)
        .says("hint: choose one: kubereel info ./a.reel");
}

#[test]
fn a_reel_that_is_being_recorded_is_read_as_a_copy_that_leaves_nothing() {
    let world = World::new();
    let path = world.path().join("live.reel");
    let mut appender = Appender::create(&path).expect("a reel");
    let stamp = Stamp::from_micros(1_700_000_000_000_000, 0);
    let note = Note::Mark {
        text: "hello".to_owned(),
    };
    appender.append_note(stamp, note).expect("appended");
    appender.commit().expect("committed");
    let started = Note::SessionStarted {
        session: SessionId(0),
        recorder: "0.1".to_owned(),
        at: stamp.wall,
        redaction_policy: 1,
    };
    appender.append_note(stamp, started).expect("appended");
    appender.commit().expect("committed");
    let info = world.run(&["info", "live.reel"]).ok();
    assert_has(&info, " · still being recorded\n");
    assert!(!info.contains("killed"), "{info}");
    for command in ["info", "verify", "export", "scan"] {
        let ran = world.run(&[command, "live.reel"]);
        assert!(ran.code != Some(3), "{ran:#?}");
        let _ran =
            ran.says("note: live.reel is being recorded: this is a copy of it as it is now\n");
    }
    let left = fs::read_dir(world.path().join("cache/kubereel/reels")).expect("a cache");
    assert_eq!(left.count(), 0);
    appender.commit().expect("goes on");
}

#[test]
fn decrypt_takes_an_address() {
    let world = World::new();
    let identity = Command::new("age-keygen").output();
    let Ok(identity) = identity else {
        writeln!(std::io::stderr(), "skipped: no age").expect("stderr");
        return;
    };
    let identity = String::from_utf8(identity.stdout).expect("text");
    fs::write(world.path().join("key.txt"), &identity).expect("written");
    let comment = identity
        .lines()
        .find_map(|line| line.strip_prefix("# public key: "));
    let recipient = comment.expect("a recipient");
    let _out = world
        .run(&["encrypt", DEMO, "run.reel.age", "-r", recipient])
        .ok();
    let bytes = fs::read(world.path().join("run.reel.age")).expect("a file");
    world
        .store
        .put("/files/their.reel.age", StoredFile::of(bytes));
    let url = format!("{}/files/their.reel.age?signature=s3cret", world.store.base);
    for more in [&[][..], &["other.reel"]] {
        let args = [&["decrypt", &url][..], more, &["-i", "key.txt"]].concat();
        let _out = world.run(&args).ok();
        let name = more.first().unwrap_or(&"their.reel");
        assert_eq!(fs::read(world.path().join(name)).expect("a reel"), demo());
    }
}

#[test]
fn of_several_reels_in_an_archive_the_hint_extracts_one() {
    let world = World::new();
    let folder = world.path().join("art");
    fs::create_dir(&folder).expect("a folder");
    for name in ["a.reel", "b.reel"] {
        fs::write(folder.join(name), demo()).expect("a reel");
    }
    let packed = Command::new("tar")
        .args(["-cf", "two.tar", "art"])
        .current_dir(world.path())
        .status();
    assert!(packed.expect("tar").success());
    let bytes = fs::read(world.path().join("two.tar")).expect("a file");
    world
        .run(&["info", "two.tar"])
        .code(2)
        .says("error: 2 reels in two.tar\n")
        .says("hint: extract one: tar -xf two.tar art/a.reel\n");
    world.store.put("/two.tar", StoredFile::of(bytes));
    let address = format!("{}/two.tar", world.store.base);
    world
        .run(&["info", &address])
        .code(2)
        .says(&format!("error: 2 reels in {address}\n"))
        .says(&format!(
            "hint: download {address} and extract one of them: art/a.reel\n"
        ));
}
