//! What no input may do: bytes of hostile reels, texts that terminals would obey, and random keys.

use super::script::{Script, thing};
use super::stage::{Stage, damaged, demo, done, gapped, meant, request};
use super::terminal::{SmallTerminal, TerminalOutput};
use crate::effect::Effect;
use crate::keep::{BookmarkChange, Bookmarks};
use crate::keymap::{KeyPress, bindings};
use crate::lane::{Board, gather};
use crate::model::Model;
use crate::msg::Msg;
use crate::theme::{Depth, Palette, Theme};
use crate::time::TimeDirection;
use crate::update::{begin, update};
use crate::view::view;
use kubereel_history::Timeline;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use ratatui::backend::{CrosstermBackend, TestBackend};
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use serde_json::{Value, json};
use std::cell::Cell;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn terminal(
    sent: &TerminalOutput,
    (width, height): (u16, u16),
) -> Terminal<CrosstermBackend<TerminalOutput>> {
    let options = TerminalOptions {
        viewport: Viewport::Fixed(Rect::new(0, 0, width, height)),
    };
    Terminal::with_options(CrosstermBackend::new(sent.clone()), options).expect("a writer")
}

/// Walks over a reel by keys, and checks every frame.
fn walk(reel: &Path, size: (u16, u16)) -> String {
    let mut stage = Stage::open(request(reel), size);
    let sent = TerminalOutput::default();
    let mut screen = terminal(&sent, size);
    let mut seen = SmallTerminal::new(size.0, size.1);
    let mut all = String::new();
    for keys in [
        "",
        "?",
        "<Esc>p",
        "<Down><Enter>",
        "<Esc>n",
        "n",
        "n",
        "i<Down>",
        "t",
        "G<Down>",
        "y",
        "<Enter>",
        "<Down><Down>",
        "H",
        "E",
        "<Esc>",
        "b",
        "<Enter>",
        "<Down>y",
        "b<Down><Enter>",
        "<Down>",
        "b<Down><Enter>",
        "<Down>H",
        "b<Down><Enter>",
        "<Down>E",
        "b<Down><Enter>",
        "<Down>",
        "b<Down><Enter>",
        "<Down>",
        "/\u{202e}日本",
        "<Enter>",
        "<Esc>",
        "Y",
        ":日e\u{301}",
        "<Enter>",
        "Z",
        " ",
    ] {
        stage.keys(keys);
        screen
            .draw(|frame| view(&stage.model, frame))
            .expect("a writer");
        let text = sent.take();
        if let Err(wrong) = seen.take(&text) {
            panic!("after {keys:?} at {size:?}: {wrong}");
        }
        let mut meant = Terminal::new(TestBackend::new(size.0, size.1)).expect("memory");
        meant
            .draw(|frame| view(&stage.model, frame))
            .expect("memory");
        if let Err(wrong) = seen.compare(meant.backend().buffer()) {
            panic!("after {keys:?} at {size:?}: {wrong}");
        }
        all.push_str(&seen.text());
    }
    all
}

#[test]
fn no_text_of_a_cluster_commands_the_terminal_or_moves_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let (hostile, gapped) = (hostile(folder.path()), gapped(folder.path()));
    for size in [(40, 12), (80, 24), (120, 40), (57, 19), (41, 30)] {
        let all = walk(&hostile, size) + &walk(&gapped, size);
        // What is taken apart stands far to the right.
        let far = (size.0 >= 120).then_some("👩👩👧DE");
        for shown in ["u202e", "日"].into_iter().chain(far) {
            assert!(all.contains(shown), "{shown} was never drawn at {size:?}");
        }
    }
}

#[test]
fn nor_does_a_damaged_reel() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = hostile(folder.path());
    let bytes = std::fs::read(&path).expect("a reel");
    for place in [4, 10, 16] {
        let mut bytes = bytes.clone();
        let at = bytes.len() * place / 20;
        bytes[at..at + 64].fill(0x1b);
        let damaged = folder.path().join(format!("{HOSTILE}.reel"));
        std::fs::write(&damaged, bytes).expect("room");
        for size in [(40, 12), (80, 24)] {
            walk(&damaged, size);
        }
    }
    let missing = folder.path().join(HOSTILE);
    walk(&missing, (80, 24));
}

#[test]
fn every_small_terminal_gets_something_harmless() {
    let mut stage = Stage::open(request(&demo()), (1, 1));
    for width in [1, 2, 5, 39, 40, 69, 70, 71, 200] {
        for height in [1, 2, 11, 12, 19, 20, 60] {
            stage.say(Msg::Resized(width, height));
            let sent = TerminalOutput::default();
            let mut real = terminal(&sent, (width, height));
            real.draw(|frame| view(&stage.model, frame))
                .expect("a writer");
            let mut seen = SmallTerminal::new(width, height);
            if let Err(wrong) = seen.take(&sent.take()) {
                panic!("{width}x{height}: {wrong}");
            }
        }
    }
}

#[test]
fn a_key_sends_only_the_cells_that_change_and_nothing_sends_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut stage = Stage::open(request(&gapped(folder.path())), (120, 40));
    let sent = TerminalOutput::default();
    let mut terminal = terminal(&sent, (120, 40));
    let mut draw = |stage: &Stage| {
        sent.take();
        terminal
            .draw(|frame| view(&stage.model, frame))
            .expect("a writer");
        // What only moves or hides the cursor shows nothing.
        sent.take()
            .replace("\u{1b}[?25l", "")
            .replace("\u{1b}[39m\u{1b}[49m\u{1b}[59m\u{1b}[0m", "")
            .len()
    };
    let whole = draw(&stage);
    assert!(draw(&stage) < 40, "nothing changed");
    stage.keys("<Down>");
    let step = draw(&stage);
    assert!(step > 0 && step < whole / 3, "{step} of {whole}");
}

/// Colours, a title, a bell, line ends, marks, commands of one byte, wide and joining letters.
pub(super) const HOSTILE: &str = "\u{1b}[31mR\u{1b}]0;owned\u{7}\r\n\u{202e}x\u{2066}\u{9b}2J\u{200b}\u{2028}\u{7f}日本語e\u{301}\u{301}각👩\u{200d}👩\u{200d}👧🇩🇪";

pub(super) fn h(start: &str) -> String {
    format!("{start}{HOSTILE}")
}

fn condition(kind: &str, status: &str) -> Value {
    json!({"type": kind, "status": status, "reason": h("Why"), "message": h("said"), h("k"): h("v")})
}

fn meta(name: &str, namespace: &str, rv: u128) -> Value {
    json!({
        "name": name, "namespace": namespace, "uid": format!("u-{name}"),
        "resourceVersion": rv.to_string(),
        "labels": {h("l"): h("v")}, "annotations": {h("k"): h(&rv.to_string())},
        "ownerReferences": [{"apiVersion": "v1", "kind": h("Own"), "name": h("o"), "uid": h("q")}],
        "managedFields": [{
            "manager": h("m"), "operation": "Update", "apiVersion": "v1",
            "time": "2026-11-21T14:00:00Z", "fieldsType": "FieldsV1",
            "fieldsV1": {"f:metadata": {"f:annotations": {format!("f:{}", h("k")): {}}}},
        }],
    })
}

fn definition(odd_group: &str) -> Value {
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": meta(&h("odds."), "", 2),
        "spec": {"group": odd_group, "scope": "Namespaced",
            "names": {"plural": "odds", "singular": h("odd"), "kind": h("Odd"), "listKind": h("OddList")},
            "versions": [{"name": "v1", "served": true, "storage": true, "additionalPrinterColumns": [
                {"name": h("Col"), "type": "string", "jsonPath": ".spec.x", "description": h("d")},
            ]}]},
    })
}

/// Writes the reel, in a file with a hostile name.
pub(super) fn hostile(folder: &Path) -> PathBuf {
    let path = folder.join(format!("{}.reel", h("r").replace('/', "")));
    let mut script = Script::begin(&path);
    let names = (h("m"), h("p"), h("n"), h("e"));
    let (node, pod, space, event) = (&*names.0, &*names.1, &*names.2, &*names.3);
    let odd_group = format!("x{HOSTILE}.io");
    let resources = [
        ("nodes".to_owned(), "Node".to_owned()),
        ("pods".to_owned(), "Pod".to_owned()),
        ("events".to_owned(), "Event".to_owned()),
        (
            "clusteroperators.config.openshift.io".to_owned(),
            "ClusterOperator".to_owned(),
        ),
        (
            "clusterversions.config.openshift.io".to_owned(),
            "ClusterVersion".to_owned(),
        ),
        (format!("odds.{odd_group}"), h("Odd")),
        (
            "customresourcedefinitions.apiextensions.k8s.io".to_owned(),
            "CustomResourceDefinition".to_owned(),
        ),
    ];
    let streams = resources.map(|(name, kind)| {
        let resource = script.resource(&name, &kind, &[]);
        script.connect(resource, None)
    });
    let [nodes, pods, events, operators, versions, odds, definitions] = streams;
    for stream in streams {
        script.synced(stream, 1);
    }
    let definition = definition(&odd_group);
    let name = format!("odds.{odd_group}");
    script.added(definitions, thing("", &name, "crd"), 2, &bytes(&definition));
    for (rv, status) in [(3_u128, "True"), (10, "False"), (20, &*h("Unknown"))] {
        let object = json!({"apiVersion": "v1", "kind": "Node", "metadata": meta(node, "", rv),
            "status": {"conditions": [condition("Ready", status)]}});
        script.modified(nodes, thing("", node, "no"), rv, &bytes(&object));
        let conditions = [
            condition("Available", status),
            condition("Degraded", status),
        ];
        let object = json!({"apiVersion": "config.openshift.io/v1", "kind": "ClusterOperator",
            "metadata": meta(node, "", rv + 1), "status": {"conditions": conditions,
            "versions": [{"name": "operator", "version": h("4.21")}]}});
        script.modified(operators, thing("", node, "co"), rv + 1, &bytes(&object));
        let object = json!({"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion",
            "metadata": meta("version", "", rv + 2), "status": {
            "desired": {"version": h(&rv.to_string()), "image": h("i")},
            "history": [{"state": if status == "True" {"Completed"} else {"Partial"}, "version": h(&rv.to_string()),
                "startedTime": "2026-11-21T14:00:00Z", "completionTime": null}],
            "conditions": [condition("Available", "True"), condition("Failing", status)]}});
        script.modified(
            versions,
            thing("", "version", "cv"),
            rv + 2,
            &bytes(&object),
        );
        let object = json!({"apiVersion": "v1", "kind": "Pod", "metadata": meta(pod, space, rv + 3),
            "spec": {"nodeName": h("node"), "containers": [{"name": h("c"), "image": h("i")}]},
            "status": {"phase": if rv == 20 {"Failed"} else {"Pending"}, "reason": h("r"), "message": h("said"),
            "conditions": [condition("Ready", status)],
            "containerStatuses": [{"name": h("c"), "ready": false, "restartCount": 3,
                "state": {"waiting": {"reason": h("CrashLoopBackOff"), "message": h("m")}}}]}});
        script.modified(pods, thing(space, pod, "po"), rv + 3, &bytes(&object));
        let object = json!({"apiVersion": "v1", "kind": "Event", "metadata": meta(event, space, rv + 4),
            "involvedObject": {"kind": "Pod", "name": pod, "namespace": space, "uid": "po"},
            "type": "Warning", "reason": h("Why"), "message": h("said"),
            "source": {"component": h("kubelet")}, "count": rv, "lastTimestamp": "2026-11-21T14:00:00Z"});
        script.modified(events, thing(space, event, "ev"), rv + 4, &bytes(&object));
        let object = json!({"apiVersion": format!("{odd_group}/v1"), "kind": h("Odd"),
            "metadata": meta(pod, space, rv + 5), "spec": {"x": h(&rv.to_string())}});
        script.modified(odds, thing(space, pod, "od"), rv + 5, &bytes(&object));
        script.wait(20_000);
    }
    script.finish();
    path
}

fn bytes(object: &Value) -> Vec<u8> {
    object.to_string().into_bytes()
}

/// How many keys are pressed in all.
const KEYS: usize = 100_000;
/// How many in one life of the program.
const KEYS_OF_A_LIFE: usize = 500;
/// How many effects may wait for the world.
const MOST_WAITING: usize = 40;

fn keys() -> Vec<KeyPress> {
    let bound = bindings().flat_map(|row| row.keys.iter().copied());
    let letters = "019:.+-m/é日 ".chars().map(KeyPress::Char);
    bound
        .chain(letters)
        .filter(|key| !matches!(key, KeyPress::Char('q') | KeyPress::Ctrl('c')))
        .collect()
}

/// A reel that was opened and passed over once, for all lives.
struct Ready {
    timeline: Arc<Timeline>,
    board: Arc<Board>,
}

impl Ready {
    fn open(path: &Path) -> Self {
        let timeline = Arc::new(Timeline::open(path).expect("a reel"));
        let board = gather(&timeline, |_| ControlFlow::Continue(()));
        Self {
            timeline,
            board: Arc::new(board.expect("it went on")),
        }
    }
}

/// A program in a world that answers when it likes.
struct Life<'a> {
    model: Model,
    ready: &'a Ready,
    waiting: Vec<Effect>,
}

impl<'a> Life<'a> {
    fn begin(ready: &'a Ready, path: &Path, size: (u16, u16)) -> Self {
        let model = Model::new(
            request(path),
            Theme::new(Palette::Dark, Depth::Indexed),
            size,
        );
        let waiting = begin(&model);
        Self {
            model,
            ready,
            waiting,
        }
    }

    fn say(&mut self, msg: Msg) {
        let effects = update(&mut self.model, msg);
        self.waiting.extend(effects);
        let first = self.waiting.len().saturating_sub(MOST_WAITING);
        self.waiting.drain(..first);
    }

    /// Lets the world answer one of what waits, or fail.
    fn world(&mut self, which: usize, fails: bool) {
        if self.waiting.is_empty() {
            return;
        }
        let effect = self.waiting.remove(which % self.waiting.len());
        let msg = match effect {
            Effect::Open(_) if fails => Some(Msg::Opened(Err("no such\u{1b}[2J reel".to_owned()))),
            Effect::Open(_) => Some(Msg::Opened(Ok(Arc::clone(&self.ready.timeline)))),
            Effect::Gather(_) if fails => Some(Msg::Gathered(None)),
            Effect::Gather(_) => Some(Msg::Gathered(Some(Arc::clone(&self.ready.board)))),
            // No file is written: the messages contain what the files would contain.
            Effect::Bookmark(..) if fails => Some(Msg::Bookmarks(Err("a full disk".to_owned()))),
            Effect::Bookmark(_, BookmarkChange::Add(one)) => {
                let all = vec![one];
                Some(Msg::Bookmarks(Ok(Bookmarks { all, words: None })))
            }
            Effect::Bookmark(..) => Some(Msg::Bookmarks(Ok(Bookmarks::default()))),
            _ if fails => None,
            other => done(other),
        };
        if let Some(msg) = msg {
            self.say(msg);
        }
    }

    fn draw(&self) {
        let (width, height) = self.model.size;
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("memory");
        terminal
            .draw(|frame| view(&self.model, frame))
            .expect("memory");
    }
}

/// What happens beside a key, by one number in 64.
fn aside(life: &mut Life<'_>, what: u16, x: u16, y: u16) {
    let way = if x > y {
        TimeDirection::Next
    } else {
        TimeDirection::Previous
    };
    match what % 64 {
        0..3 => life.say(Msg::Pointed(x, y)),
        3..6 => life.say(Msg::Wheel(x, y, way)),
        6..8 => life.say(Msg::Resized(x, y)),
        8..12 => life.say(Msg::Elapsed(i64::from(x) * 100_000)),
        12 => life.say(Msg::Passed(u64::from(x))),
        62 => life.say(Msg::Dragged(x, y)),
        63 => life.say(Msg::Released),
        13 => life.say(Msg::Opened(Ok(Arc::clone(&life.ready.timeline)))),
        61 => life.say(Msg::Pulled(x, y, x > y)),
        14..16 => life.world(usize::from(x), true),
        16..26 => life.world(usize::from(x), false),
        _ => {}
    }
}

#[test]
fn no_keys_panic_or_hang() {
    let folder = tempfile::tempdir().expect("a folder");
    let damaged = damaged(folder.path());
    let gapped = Ready::open(&gapped(folder.path()));
    let (demo, damaged) = (Ready::open(&demo()), Ready::open(&damaged));
    let reels = [&gapped, &gapped, &gapped, &gapped, &demo, &damaged];
    // What is kept beside a reel lies in the folder, too.
    let path = folder.path().join("random.reel");
    let keys = keys();
    let pressed = Cell::new(0_usize);
    let cases = u32::try_from(KEYS / KEYS_OF_A_LIFE).expect("few");
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    });
    let steps = prop::collection::vec(
        (any::<u16>(), any::<u16>(), 0_u16..130, 0_u16..45),
        KEYS_OF_A_LIFE,
    );
    let lives = (0..reels.len(), (1_u16..130, 1_u16..45), steps);
    let ended = runner.run(&lives, |(reel, size, steps)| {
        let mut life = Life::begin(reels[reel], &path, size);
        for (number, (key, what, x, y)) in steps.into_iter().enumerate() {
            aside(&mut life, what, x, y);
            let key = keys[usize::from(key) % keys.len()];
            if let Some(msg) = meant(key, &life.model) {
                life.say(msg);
            }
            pressed.set(pressed.get() + 1);
            if number % 50 == 0 && life.model.size.0 > 0 && life.model.size.1 > 0 {
                life.draw();
            }
        }
        Ok(())
    });
    if let Err(error) = ended {
        panic!("{error}");
    }
    assert!(pressed.get() >= KEYS, "{} keys", pressed.get());
}

#[test]
fn playing_reaches_the_end_and_stops() {
    let mut stage = Stage::open(request(&demo()), (80, 24));
    stage.keys(" ]]");
    for _ in 0..20 {
        stage.say(Msg::Elapsed(1_000_000));
    }
    let open = stage.model.open().expect("open");
    assert_eq!(open.place.at, open.timeline.end());
    assert!(!open.playing.is_on);
}
