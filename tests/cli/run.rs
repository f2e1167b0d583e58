//! Runs the program and keeps what it said.

use crate::script::{Script, Stream, Thing, pod, thing};
use kubereel_format::{EndCause, EventType, Evidence, NotCoveredReason};
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{PoisonError, RwLock};
use tempfile::TempDir;

/// The demo's reel.
pub(crate) const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/demo.reel");

/// What a run said, and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Checks the exit code and gives stdout.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        self.code(0).out
    }

    /// Checks the exit code and reads the JSON on stdout.
    #[track_caller]
    pub(crate) fn json(self) -> serde_json::Value {
        serde_json::from_str(&self.ok()).expect("JSON")
    }

    /// Checks the exit code and reads the lines on stdout, each of which is JSON.
    #[track_caller]
    pub(crate) fn json_lines(self) -> Vec<serde_json::Value> {
        let out = self.ok();
        let lines = out.lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().expect("JSON lines")
    }

    /// Checks the exit code.
    #[track_caller]
    pub(crate) fn code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Checks that stdout has words.
    #[track_caller]
    pub(crate) fn prints(&self, words: &str) -> &Self {
        assert!(self.out.contains(words), "{words:?} not in {self:#?}");
        self
    }

    /// Checks that stderr says something.
    #[track_caller]
    pub(crate) fn says(self, words: &str) -> Self {
        assert!(self.err.contains(words), "{words:?} not in {self:#?}");
        self
    }
}

/// Checks that a text has words.
#[track_caller]
pub(crate) fn assert_has(text: &str, words: &str) {
    assert!(text.contains(words), "{words:?} not in {text}");
}

/// Held to write reels by many, and to start a program alone: until a new process is another program,
/// it holds the files that are open here, and the locks on them.
static FORKING: RwLock<()> = RwLock::new(());

/// Returns the program, ready for arguments.
pub(crate) fn program() -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_kubereel"));
    program.env_remove("KUBECONFIG").env_remove("NO_COLOR");
    program.env_remove("JOB_NAME").env_remove("BUILD_ID");
    program.env_remove("KUBEREEL");
    program
}

/// Runs the program.
#[must_use]
pub(crate) fn kubereel(args: &[&str]) -> Ran {
    run(program().args(args))
}

/// Runs the program with the words of a line; a word with blanks stands in single quotes.
#[must_use]
pub(crate) fn kubereel_line(line: &str) -> Ran {
    let parts = line.split('\'').enumerate();
    let words = parts.flat_map(|(index, part)| {
        let is_quoted = index % 2 == 1;
        if is_quoted {
            vec![part]
        } else {
            part.split_whitespace().collect()
        }
    });
    run(program().args(words))
}

/// Runs a program that is ready.
#[must_use]
pub(crate) fn run(program: &mut Command) -> Ran {
    let child = {
        let _alone = FORKING.write().unwrap_or_else(PoisonError::into_inner);
        program
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs")
    };
    let output = child.wait_with_output().expect("it ends");
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("text"),
        err: String::from_utf8(output.stderr).expect("text"),
    }
}

/// A reel in a folder of its own.
pub(crate) struct Reel {
    _folder: TempDir,
    path: PathBuf,
}

impl Reel {
    /// Writes a reel.
    pub(crate) fn write(story: impl FnOnce(&Path)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("test.reel");
        let no_fork = FORKING.read().unwrap_or_else(PoisonError::into_inner);
        story(&path);
        drop(no_fork);
        Self {
            _folder: folder,
            path,
        }
    }

    /// Imports objects as a list of `kubectl get -o json`.
    pub(crate) fn import(objects: &[serde_json::Value]) -> Self {
        let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": objects});
        Self::import_text("list.json", &list.to_string())
    }

    /// Imports objects as they are at a time.
    pub(crate) fn import_at(time: &str, objects: &[serde_json::Value]) -> Self {
        let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": objects});
        Self::import_with("list.json", &list.to_string(), &["--at", time])
    }

    /// Imports a file.
    pub(crate) fn import_text(name: &str, text: &str) -> Self {
        Self::import_with(name, text, &[])
    }

    fn import_with(name: &str, text: &str, options: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, file) = (folder.path().join("test.reel"), folder.path().join(name));
        std::fs::write(&file, text).expect("a file");
        let reel = Self {
            _folder: folder,
            path,
        };
        let import = ["import", file.to_str().expect("text"), "-o", reel.path()];
        kubereel(&[&import, options].concat()).ok();
        reel
    }

    /// Copies the demo, with two bookmarks beside it, of which one has a note.
    pub(crate) fn bookmarked() -> Self {
        let reel = Self::write(|path| {
            std::fs::copy(DEMO, path).expect("room");
        });
        let bookmarks = serde_json::json!({"kind": "kubereel-bookmarks", "version": 1, "bookmarks": [
            {"time": "1970-01-01T00:00:00Z", "seq": 600, "note": "before the crash"},
            {"time": "1970-01-01T00:00:00Z", "seq": 700},
        ]});
        let beside = format!("{}.bookmarks.json", reel.path());
        std::fs::write(beside, bookmarks.to_string()).expect("room");
        reel
    }

    /// Returns its path.
    pub(crate) fn path(&self) -> &str {
        self.path.to_str().expect("text")
    }
}

/// Its path.
impl Display for Reel {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.path())
    }
}

pub(crate) const A: Thing<'static> = thing("default", "a", "uid-a");
pub(crate) const B: Thing<'static> = thing("web", "b", "uid-b");

/// Pods `a` (from rv 9, changed at 14, 14:00:05) and `b` (from 12, 14:00:03, to 16, 14:00:07), then a
/// gap (16, 30] from 14:00:07 to 14:00:12 in which `a` changed, then `a` at 31, 14:00:15.
pub(crate) fn pods_with_gap() -> Reel {
    Reel::write(|path| {
        let mut script = Script::begin(path);
        let pods = script.resource("pods", "Pod", &["po"]);
        script.resource("deployments.apps", "Deployment", &["deploy"]);
        script.not_covered(
            "events.events.k8s.io",
            NotCoveredReason::SameStorage,
            "events",
        );
        script.wait(1000);
        let stream = script.connect(pods, None);
        script.initial(stream, A, 9, &pod(A, 9, "x"));
        script.synced(stream, 10);
        script.wait(2000);
        script.added(stream, B, 12, &pod(B, 12, "y"));
        script.wait(2000);
        script.modified(stream, A, 14, &pod(A, 14, "y"));
        script.wait(2000);
        script.deleted(stream, B, 16, &pod(B, 16, "y"));
        let from = script.now();
        script.disconnect(stream, EndCause::Expired);
        script.wait(5000);
        let stream = script.connect(pods, None);
        script.gap(pods, 16, 30, from);
        let (modified, listed) = (EventType::Modified, Evidence::Listed);
        script.event(stream, modified, listed, A, 25, &pod(A, 25, "z"));
        script.synced(stream, 30);
        script.wait(3000);
        script.modified(stream, A, 31, &pod(A, 31, "z"));
        script.finish();
    })
}

/// When the demo's operator image-registry was degraded: the demo is recorded anew now and then.
pub(crate) struct Spell {
    /// The second in which it began, before it began.
    pub(crate) before: String,
    /// When it began.
    pub(crate) at: String,
    /// The version with which it began.
    pub(crate) rv: String,
    /// When it ended.
    pub(crate) ended: String,
}

/// Returns the values that a field of the demo's operator image-registry had, as `history` has them.
pub(crate) fn demo_values(field: &str) -> Vec<serde_json::Value> {
    let operator = "co/image-registry";
    let mut told: serde_json::Value =
        kubereel!("history {DEMO} {operator} --field {field} -o json").json();
    serde_json::from_value(told.pointer_mut("/items").expect("items").take()).expect("a list")
}

pub(crate) fn demo_spell() -> Spell {
    let items = demo_values(".status.conditions[Degraded].status");
    let text = |item: &serde_json::Value, name: &str| {
        let found = item.get(name).and_then(|value| value.as_str());
        found.expect(name).to_owned()
    };
    let became = |value: &str| {
        let mut items = items.iter();
        let found = items.find(|item| {
            let change = item.pointer("/changes/0");
            change.is_some_and(|change| {
                let is = |name: &str, meant: &str| change.get(name).is_some_and(|one| one == meant);
                is("change", "changed") && is("new", value)
            })
        });
        found.expect(value)
    };
    let at = text(became("True"), "at");
    let (second, _) = at.split_once('.').expect("a fraction");
    Spell {
        before: format!("{second}Z"),
        rv: text(became("True"), "rv"),
        ended: text(became("False"), "at"),
        at,
    }
}

/// Writes the version of a `ClusterOperator` that says whether it is degraded.
pub(crate) fn operator(script: &mut Script, stream: Stream, name: &str, rv: u128, degraded: &str) {
    let uid = format!("uid-{name}");
    let what = thing("", name, &uid);
    let body = format!(
        r#"{{"apiVersion":"config.openshift.io/v1","kind":"ClusterOperator","metadata":{{"name":"{name}","resourceVersion":"{rv}"}},"status":{{"conditions":[{{"type":"Available","status":"True"}},{{"type":"Degraded","status":"{degraded}"}}]}}}}"#
    );
    script.modified(stream, what, rv, body.as_bytes());
}
