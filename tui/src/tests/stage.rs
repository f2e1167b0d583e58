//! A stage on which the UI plays without a terminal and threads: effects are done on the spot.

use super::problems::judged;
use super::script::{Script, thing};
use crate::answer::{Panel, ScreenQuestion, answer, document};
use crate::effect::Effect;
use crate::findings::Findings;
use crate::keep::SavedState;
use crate::keymap::{KeyPress, act};
use crate::lane::{Board, gather};
use crate::model::{ActiveScreen, Model, NoteInput, PickerState, SaveInput, TuiRequest};
use crate::msg::Msg;
use crate::problem::{Problems, problems};
use crate::runtime::save;
use crate::theme::{Depth, Palette, Theme};
use crate::time::CursorPlace;
use crate::update::{begin, update};
use crate::view::view;
use kubereel_format::{
    Appender, ConnectionId, EventType, Evidence, ListMethod, NewBody, NewEvent, Note, RecordedAt,
    ResourceId, ResourceInfo, Seq, Stamp,
};
use kubereel_history::{Moment, Timeline, timetext};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Style;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, OnceLock};

/// A UI that plays.
pub(super) struct Stage {
    pub(super) model: Model,
    /// Where files are saved.
    folder: tempfile::TempDir,
    /// What was put on the clipboard.
    pub(super) copied: Vec<String>,
}

/// Gives the demo that comes along.
pub(super) fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/demo.reel")
}

/// Writes the demo with 64 bytes in its middle spoilt.
pub(super) fn damaged(folder: &Path) -> PathBuf {
    let path = folder.join("damaged.reel");
    let mut bytes = std::fs::read(demo()).expect("the demo");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 64].fill(0xa5);
    std::fs::write(&path, bytes).expect("room");
    path
}

/// Writes the demo, as the newest format has it, without the objects of a part in its middle.
pub(super) fn without_objects(folder: &Path) -> PathBuf {
    let path = folder.join("without-objects.reel");
    let whole = kubereel_format::Reel::open(&demo()).expect("the demo");
    kubereel_format::recover(&whole, &path, |_| {}).expect("room");
    let mut bytes = std::fs::read(&path).expect("a reel");
    bytes[250_000..290_960].fill(0);
    std::fs::write(&path, bytes).expect("room");
    path
}

/// Writes a reel of a custom resource whose definition is deleted long before the end.
pub(crate) fn unserved(folder: &Path) -> PathBuf {
    let path = folder.join("unserved.reel");
    let mut script = Script::begin(&path);
    let stream = script.watched("widgets.example.io", "Widget", &[]);
    script.initial(stream, thing("", "w-0", "w-0"), 1, &node("w-0", "True", 1));
    script.synced(stream, 1);
    script.wait(60_000);
    script.disconnect(stream, kubereel_format::EndCause::Gone);
    script.not_covered(
        "widgets.example.io",
        kubereel_format::NotCoveredReason::Gone,
        "CRD deleted",
    );
    script.wait(60_000);
    script.finish();
    path
}

/// Asks for a reel and nothing else.
pub(crate) fn request(path: &Path) -> TuiRequest {
    TuiRequest {
        path: path.to_owned(),
        file: None,
        damage: None,
        copies: None,
        // Lanes at the start; the story is tested where it shows.
        at: Some(Moment::AfterStart { micros: 0 }),
        select: None,
        namespace: "default".to_owned(),
        filter: String::new(),
        state_folder: None,
        zone: None,
        local_zone: None,
        is_fresh: false,
    }
}

/// Gives what a key means where a program stands.
pub(super) fn meant(key: KeyPress, model: &Model) -> Option<Msg> {
    match (act(key, &model.screen), key) {
        (Some(act), _) => Some(Msg::Act(act)),
        (None, KeyPress::Char(letter)) => Some(Msg::Letter(letter)),
        (None, _) => None,
    }
}

/// What the program reads of the demo, and of a copy of it: once for all tests.
struct DemoContent {
    bytes: Vec<u8>,
    timeline: Arc<Timeline>,
    board: Option<Arc<Board>>,
    /// The problems without the monitor tests, and with them.
    problems: [OnceLock<Arc<Problems>>; 2],
}

static DEMO: LazyLock<DemoContent> = LazyLock::new(|| {
    let timeline = Timeline::open(&demo()).expect("the demo");
    DemoContent {
        bytes: std::fs::read(demo()).expect("the demo"),
        board: board(&timeline),
        timeline: Arc::new(timeline),
        problems: [OnceLock::new(), OnceLock::new()],
    }
});

/// Returns whether a file has the content of the demo.
pub(super) fn is_demo(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|bytes| bytes == DEMO.bytes)
}

fn board(timeline: &Timeline) -> Option<Arc<Board>> {
    gather(timeline, |_| ControlFlow::Continue(())).map(Arc::new)
}

fn listed(
    timeline: &Arc<Timeline>,
    board: Option<&Arc<Board>>,
    findings: Option<&Arc<Findings>>,
) -> Arc<Problems> {
    let list = || {
        Arc::new(problems(
            timeline,
            board.map(Arc::as_ref),
            findings.map(Arc::as_ref),
        ))
    };
    let is_board = |board| Arc::ptr_eq(board, DEMO.board.as_ref().expect("the demo has lanes"));
    if Arc::ptr_eq(timeline, &DEMO.timeline) && board.is_some_and(is_board) {
        let [without, with] = &DEMO.problems;
        let known = if findings.is_some() { with } else { without };
        Arc::clone(known.get_or_init(list))
    } else {
        list()
    }
}

/// Does what the program asks of the world, and gives what the world says.
pub(super) fn done(effect: Effect) -> Option<Msg> {
    Some(match effect {
        Effect::Open(request) if is_demo(&request.path) => {
            Msg::Opened(Ok(Arc::clone(&DEMO.timeline)))
        }
        Effect::Open(request) => {
            let opened = Timeline::open(&request.path).map(Arc::new);
            Msg::Opened(opened.map_err(|error| error.to_string()))
        }
        Effect::Gather(timeline) if Arc::ptr_eq(&timeline, &DEMO.timeline) => {
            Msg::Gathered(DEMO.board.clone())
        }
        Effect::Gather(timeline) => Msg::Gathered(board(&timeline)),
        Effect::Ask(timeline, question) => Msg::Answered(answer(&timeline, question)),
        Effect::Search(timeline, number, search) => {
            let found = search.run(&timeline, &mut |_, _| true)?;
            Msg::Found(number, found)
        }
        Effect::Bookmark(place, change) => {
            let now = place.change(&change);
            Msg::Bookmarks(now.map_err(|error| error.to_string()))
        }
        Effect::Save(timeline, question, _) => {
            Msg::Saved(document(&timeline, question).map(|document| document.name))
        }
        Effect::Fetch(timeline, question) => Msg::Fetched(document(&timeline, question)),
        Effect::Judge(path) => Msg::Judging(judged(&path)),
        Effect::List(timeline, board, findings) => {
            Msg::Listed(listed(&timeline, board.as_ref(), findings.as_ref()))
        }
        Effect::StopGathering | Effect::StopJudging | Effect::StopSearch | Effect::Copy(_) => {
            return None;
        }
    })
}

impl Stage {
    /// Opens a reel on a screen of a size.
    pub(super) fn open(request: TuiRequest, size: (u16, u16)) -> Self {
        let model = Model::new(request, Theme::new(Palette::Dark, Depth::Indexed), size);
        let effects = begin(&model);
        let mut stage = Self {
            model,
            folder: tempfile::tempdir().expect("a folder"),
            copied: Vec::new(),
        };
        stage.perform(effects);
        stage
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            if let Effect::Open(request) = &effect
                && let Ok(timeline) = Timeline::open(&request.path)
            {
                self.say(Msg::Kept(Box::new(SavedState::of(
                    &timeline,
                    &request.path,
                    request.state_folder.as_deref(),
                    request.is_fresh,
                ))));
            }
            let msg = match effect {
                Effect::Save(timeline, question, path) => {
                    let document = document(&timeline, question);
                    let saved =
                        document.and_then(|document| save(self.folder.path(), &path, &document));
                    Some(Msg::Saved(saved))
                }
                Effect::Copy(text) => {
                    self.copied.push(text);
                    None
                }
                other => done(other),
            };
            if let Some(msg) = msg {
                self.say(msg);
            }
        }
    }

    /// Lets something happen.
    pub(super) fn say(&mut self, msg: Msg) {
        let effects = update(&mut self.model, msg);
        self.perform(effects);
    }

    /// Presses a key.
    pub(super) fn press(&mut self, key: KeyPress) {
        if let Some(msg) = meant(key, &self.model) {
            self.say(msg);
        }
    }

    /// Presses keys: letters, and names such as `<Enter>`.
    pub(super) fn keys(&mut self, keys: &str) {
        let mut rest = keys;
        while let Some(letter) = rest.chars().next() {
            const NAMES: [&str; 8] = [
                "Enter",
                "Esc",
                "Tab",
                "Up",
                "Down",
                "Left",
                "Right",
                "Backspace",
            ];
            let named = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
            if let Some((name, after)) = named {
                let name = NAMES.into_iter().find(|own| *own == name).expect("a key");
                self.press(KeyPress::Named(name));
                rest = after;
            } else {
                self.press(KeyPress::Char(letter));
                rest = &rest[letter.len_utf8()..];
            }
        }
    }

    /// Gives the screen: its text, and a letter for each style below.
    pub(super) fn screen(&self) -> String {
        let (width, height) = self.model.size;
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("memory");
        terminal
            .draw(|frame| view(&self.model, frame))
            .expect("memory");
        let buffer = terminal.backend().buffer();
        let mut styles: Vec<Style> = vec![Style::reset()];
        let (mut text, mut inks) = (String::new(), String::new());
        for row in buffer.content().chunks(usize::from(width)) {
            let mut skipped = 0;
            for cell in row {
                let style = cell.style();
                let known = styles.iter().position(|own| *own == style);
                let at = known.unwrap_or_else(|| {
                    styles.push(style);
                    styles.len() - 1
                });
                inks.push(if at == 0 {
                    ' '
                } else {
                    char::from(b'a' + u8::try_from(at).expect("few") - 1)
                });
                if skipped == 0 {
                    text.push_str(cell.symbol());
                    skipped = unicode_width::UnicodeWidthStr::width(cell.symbol()).max(1);
                }
                skipped -= 1;
            }
            for lines in [&mut text, &mut inks] {
                lines.truncate(lines.trim_end_matches(' ').len());
                lines.push('\n');
            }
        }
        let mut all = format!("{text}---\n{inks}---\n");
        for (at, style) in styles.iter().enumerate().skip(1) {
            let letter = char::from(b'a' + u8::try_from(at).expect("few") - 1);
            let (fg, bg) = (style.fg.unwrap_or_default(), style.bg.unwrap_or_default());
            let more = style.add_modifier;
            all.extend([format!("{letter} {fg:?} on {bg:?} {more:?}\n")]);
        }
        all
    }
}

pub(crate) fn node(name: &str, ready: &str, rv: u128) -> Vec<u8> {
    format!(r#"{{"kind":"Node","apiVersion":"v1","metadata":{{"name":"{name}","uid":"{name}","resourceVersion":"{rv}","annotations":{{"note":"\u001b]0;owned\u0007 \u202eevil\u009b31m"}}}},"status":{{"conditions":[{{"type":"Ready","status":"{ready}","reason":"\u001b[2JWhy"}}]}}}}"#).into_bytes()
}

/// Writes a reel of two nodes, one of which flaps, with a gap in which the other one changed, and hostile texts.
pub(crate) fn gapped(folder: &Path) -> PathBuf {
    let path = folder.join("gapped.reel");
    let mut script = Script::begin(&path);
    let nodes = script.resource("nodes", "Node", &["no"]);
    let stream = script.connect(nodes, None);
    let (one, other) = (
        thing("", "m-0", "m-0"),
        thing("", "\u{202e}m-1\u{1b}[31m", "m-1"),
    );
    script.initial(stream, one, 1, &node("m-0", "True", 1));
    script.initial(stream, other, 2, &node("m-1", "True", 2));
    script.synced(stream, 2);
    script.wait(60_000);
    script.modified(stream, one, 3, &node("m-0", "False", 3));
    script.wait(40);
    script.modified(stream, one, 4, &node("m-0", "True", 4));
    script.wait(60_000);
    let from = script.now();
    script.wait(30_000);
    script.gap(nodes, 4, 9, from);
    let stream = script.connect(nodes, None);
    let changed = node("m-1", "True", 8);
    script.event(
        stream,
        EventType::Modified,
        Evidence::Listed,
        other,
        8,
        &changed,
    );
    script.synced(stream, 9);
    script.wait(60_000);
    script.modified(stream, other, 10, &node("m-1", "Unknown", 10));
    script.wait(20_000);
    script.finish();
    path
}

/// Writes a reel that another tool recorded: `old` is shown at 14:00:10 and was created before the recording, `new` is
/// shown at 14:00:20 and was created then. What the recording knows of Nodes begins at 14:00:00.
pub(super) fn imported(folder: &Path) -> PathBuf {
    let path = folder.join("imported.reel");
    let start = timetext::parsed("2026-11-23T14:00:00Z").expect("a time");
    let stamp = |secs: i64| Stamp::from_micros(start.micros + secs * 1_000_000, 0);
    let mut reel = Appender::create(&path).expect("a reel");
    let connect = |reel: &mut Appender, id: u32, plural: &str, kind: &str, secs: i64| {
        let info = ResourceInfo::new(ResourceId(id), "v1", plural, kind);
        let connected = Note::Connected {
            connection: ConnectionId(id),
            resource: ResourceId(id),
            from_rv: None,
            method: ListMethod::Import,
        };
        for note in [Note::Resource(info), connected] {
            reel.append_note(stamp(secs), note).expect("appended");
        }
    };
    connect(&mut reel, 0, "nodes", "Node", 0);
    connect(&mut reel, 1, "pods", "Pod", 10);
    let mut show = |id: u32, name: &str, created: &str, secs: i64| {
        let body = format!(
            r#"{{"metadata":{{"name":"{name}","uid":"{name}","creationTimestamp":"2026-11-23T{created}Z"}},"status":{{"phase":"Running","conditions":[{{"type":"Ready","status":"True"}}]}}}}"#
        );
        reel.append_event(&NewEvent {
            stamp: stamp(secs),
            connection: ConnectionId(id),
            kind: EventType::Added,
            evidence: Evidence::Imported,
            resource: ResourceId(id),
            namespace: "default",
            name,
            uid: name,
            resource_version: "5",
            body: NewBody::Bytes(body.as_bytes()),
        })
        .expect("appended");
    };
    show(0, "m-0", "09:00:00", 0);
    show(1, "old", "09:00:00", 10);
    show(1, "new", "14:00:20", 20);
    reel.finish().expect("finished");
    path
}

/// Gives every screen.
pub(crate) fn screens() -> Vec<ActiveScreen> {
    std::iter::successors(Some(ActiveScreen::Main), after_screen).collect()
}

/// Gives every panel.
pub(crate) fn panels() -> Vec<Panel> {
    std::iter::successors(Some(Panel::Yaml), |panel| after_panel(*panel)).collect()
}

/// Gives the next screen: each leads to another one, so that all are reached.
fn after_screen(screen: &ActiveScreen) -> Option<ActiveScreen> {
    Some(match screen {
        ActiveScreen::Main => ActiveScreen::Large,
        ActiveScreen::Large => ActiveScreen::Kinds(PickerState::default()),
        ActiveScreen::Kinds(_) => ActiveScreen::Namespaces(PickerState::default()),
        ActiveScreen::Namespaces(_) => ActiveScreen::Problems(0),
        ActiveScreen::Problems(_) => ActiveScreen::Help(0, Box::default()),
        ActiveScreen::Help(..) => ActiveScreen::GoTo(PickerState::default()),
        ActiveScreen::GoTo(_) => ActiveScreen::Filter(String::new()),
        ActiveScreen::Filter(_) => ActiveScreen::Bookmarks(0),
        ActiveScreen::Bookmarks(_) => ActiveScreen::Note(NoteInput {
            text: String::new(),
            of: None,
        }),
        ActiveScreen::Note(_) => ActiveScreen::Compare(0),
        ActiveScreen::Compare(_) => ActiveScreen::Seek {
            text: String::new(),
            is_large: false,
        },
        ActiveScreen::Seek { .. } => ActiveScreen::SaveAs(Box::new(SaveInput {
            text: String::new(),
            question: ScreenQuestion::Ready(
                "".into(),
                CursorPlace {
                    below: Seq(0),
                    at: RecordedAt::from_micros(0),
                },
            ),
            of: ActiveScreen::Main,
        })),
        ActiveScreen::SaveAs(_) => return None,
    })
}

/// Gives the next panel.
const fn after_panel(panel: Panel) -> Option<Panel> {
    Some(match panel {
        Panel::Yaml => Panel::Problem,
        Panel::Problem => Panel::History,
        Panel::History => Panel::Events,
        Panel::Events => Panel::Nearby,
        Panel::Nearby => Panel::Between,
        Panel::Between => Panel::Diff,
        Panel::Diff => Panel::Blame,
        Panel::Blame => Panel::Owners,
        Panel::Owners => Panel::Conditions,
        Panel::Conditions => Panel::Raw,
        Panel::Raw => return None,
    })
}

#[test]
fn none_is_reached_twice() {
    let names = |all: Vec<String>| {
        let count = all.len();
        let unlike: std::collections::BTreeSet<String> = all.into_iter().collect();
        (count, unlike.len())
    };
    let screens: Vec<String> = screens().iter().map(|one| format!("{one:?}")).collect();
    let panels: Vec<String> = panels().iter().map(|one| format!("{one:?}")).collect();
    for all in [screens, panels] {
        let (count, unlike) = names(all);
        assert_eq!(count, unlike);
    }
}
