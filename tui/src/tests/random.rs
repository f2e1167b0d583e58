//! Random keys: nothing that is pressed, and no answer that comes late, twice overtaken or never, may
//! end the program in a panic or keep it from ending a turn.

use super::stage::{Stage, damaged, demo, done, gapped, meant, request};
use crate::effect::Effect;
use crate::keep::{BookmarkChange, Bookmarks};
use crate::keymap::{Key, bindings};
use crate::lane::{Board, gather};
use crate::model::Model;
use crate::msg::Msg;
use crate::theme::{Depth, Palette, Theme};
use crate::time::Way;
use crate::update::{begin, update};
use crate::view::view;
use kubereel_history::Timeline;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::cell::Cell;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// How many keys are pressed in all.
const KEYS: usize = 100_000;
/// How many in one life of the program.
const KEYS_OF_A_LIFE: usize = 500;
/// How many effects may wait for the world.
const MOST_WAITING: usize = 40;

fn keys() -> Vec<Key> {
    let bound = bindings().flat_map(|row| row.keys.iter().copied());
    let letters = "019:.+-m/é日 ".chars().map(Key::Char);
    bound
        .chain(letters)
        .filter(|key| !matches!(key, Key::Char('q') | Key::Ctrl('c')))
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
            // Nothing is written here: what the files would hold is told.
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
    let way = if x > y { Way::Next } else { Way::Previous };
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
