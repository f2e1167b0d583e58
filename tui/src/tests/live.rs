//! A reel that grows while it is on the screen: the cursor follows the end if it stood there, what is chosen stays, and
//! the title says whether the recording goes on.

use super::script::{Script, Stream, pod, thing};
use super::stage::{Stage, request};
use crate::findings::{Findings, JudgingState};
use crate::lane::gather;
use crate::model::{ActiveScreen, LiveState, OpenReel};
use crate::msg::Msg;
use kubereel_history::{FollowStep, ReelFollower, Timeline};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

/// A recording, and the screen on it.
struct Live {
    folder: tempfile::TempDir,
    script: Script,
    stream: Stream,
    follower: ReelFollower,
    pods: u128,
    stage: Stage,
}

impl Live {
    fn begin(size: (u16, u16)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.reel");
        let mut script = Script::begin(&path);
        let pods = script.resource("pods", "Pod", &["po"]);
        let stream = script.connect(pods, None);
        script.synced(stream, 10);
        add(&mut script, stream, 0..5);
        // The stage opens files only: this one is as the first state of the reel.
        let first = folder.path().join("first.reel");
        kubereel_format::copy_in_use(&path, &first).expect("a copy");
        let mut asked = request(&first);
        asked.at = None;
        let stage = Stage::open(asked, size);
        let mut live = Self {
            follower: ReelFollower::new(&path, folder.path()),
            folder,
            script,
            stream,
            pods: 5,
            stage,
        };
        live.follower.look().map(drop).expect("a reel");
        live.stage.say(Msg::Live(LiveState::Live));
        live
    }

    fn open(&self) -> &OpenReel {
        self.stage.model.open().expect("open")
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("run.reel")
    }

    /// Records pods, and shows them.
    fn grow(&mut self, count: u128) {
        let pods = self.pods..self.pods + count;
        self.pods = pods.end;
        add(&mut self.script, self.stream, pods);
        let Ok(FollowStep::Grown(state)) = self.follower.look() else {
            panic!("nothing new");
        };
        self.show(state.timeline);
    }

    fn show(&mut self, timeline: Timeline) {
        let timeline = Arc::new(timeline);
        self.stage.say(Msg::Grown(Arc::clone(&timeline)));
        let board = gather(&timeline, |_| ControlFlow::Continue(())).expect("a board");
        self.stage.say(Msg::Regathered(Arc::new(board)));
    }

    fn title(&self) -> String {
        let screen = self.stage.screen();
        let title: Vec<&str> = screen.lines().take(2).collect();
        title.join("\n")
    }
}

fn add(script: &mut Script, stream: Stream, numbers: std::ops::Range<u128>) {
    for number in numbers {
        let (name, uid) = (format!("web-{number}"), format!("uid-{number}"));
        let what = thing("web", &name, &uid);
        script.wait(1_000);
        script.added(stream, what, number + 100, &pod(what, number + 100, "x"));
    }
    script.commit();
}

#[test]
fn the_cursor_stays_at_the_end_or_where_it_is_and_new_events_are_counted() {
    for size in [(120, 40), (80, 24), (40, 12)] {
        let mut live = Live::begin(size);
        live.stage.keys("<Esc>G");
        let whole = live.open().window;
        assert!(live.title().contains("◉ live"), "{}", live.title());
        live.grow(3);
        let end = live.open().timeline.reel().end();
        assert_eq!(live.open().place.below, end);
        assert_eq!(live.open().place.at, live.open().timeline.end());
        assert!(
            live.open().window.micros > whole.micros,
            "the whole reel shows"
        );
        assert!(!live.title().contains("new"), "{}", live.title());
        // Elsewhere it stays, and the title shows what came.
        live.stage.keys("g");
        let place = live.open().place;
        live.grow(4);
        live.grow(3);
        assert_eq!(live.open().place, place);
        assert!(
            live.title().contains("◉ live · 7 new: G"),
            "{}",
            live.title()
        );
        live.stage.keys("G");
        assert!(!live.title().contains("new"), "{}", live.title());
        assert_eq!(live.open().place.below, live.open().timeline.reel().end());
        assert_ne!(live.open().timeline.reel().end(), end);
    }
}

#[test]
fn what_is_chosen_filtered_zoomed_and_unfolded_survives() {
    let mut live = Live::begin((120, 40));
    live.stage.keys("<Esc>:pods<Enter>");
    live.stage.keys("G<Down><Down>&web<Enter>++x");
    let before = live.open();
    let (selected, list, window, place) = (
        before.selected.clone(),
        before.list,
        before.window,
        before.place,
    );
    assert!(selected.is_some(), "{}", live.stage.screen());
    let pins = before.pins.lanes().len();
    let filter = before.filter.text().to_owned();
    assert_eq!((pins, filter.as_str()), (1, "web"));
    // Not at the end: nothing moves.
    live.stage.keys(",");
    let back = live.open().place;
    assert_ne!(back, place);
    let zoomed = live.open().window;
    live.grow(3);
    let now = live.open();
    assert_eq!((now.selected.clone(), now.list), (selected.clone(), list));
    assert_eq!((now.window, now.place), (zoomed, back));
    assert_eq!((now.filter.text(), now.pins.lanes().len()), ("web", 1));
    // At the end: the window goes along, as long as it is.
    live.stage.keys("G");
    let at_end = live.open().window;
    live.grow(2);
    let now = live.open();
    assert_eq!(now.window.micros, at_end.micros);
    assert!(now.window.end() > at_end.end(), "{window:?}");
    assert_eq!(now.selected, selected);
    // What is new is in the list.
    let table = now.table.as_ref().expect("a table");
    assert_eq!(table.rows.len(), 10);
}

#[test]
fn the_end_of_the_recording_shows_however_it_comes() {
    let mut live = Live::begin((80, 24));
    live.stage.keys("<Esc>G");
    live.stage.model.screen = ActiveScreen::Main;
    live.stage
        .say(Msg::NotFollowed("the reel was removed".to_owned()));
    assert!(
        live.title().contains("■ no longer live"),
        "{}",
        live.title()
    );
    assert!(live.stage.screen().contains("the reel was removed"));
    let mut live = Live::begin((80, 24));
    live.stage.keys("<Esc>G");
    live.grow(1);
    let path = live.path();
    live.script.finish();
    let Ok(FollowStep::Ended(state)) = live.follower.look() else {
        panic!("it goes on");
    };
    assert!(path.exists());
    let timeline = Arc::new(state.timeline);
    live.stage.say(Msg::Grown(timeline));
    live.stage.say(Msg::Live(LiveState::Ended));
    let screen = live.stage.screen();
    assert!(screen.contains("■ ended"), "{screen}");
    assert!(screen.contains("the recording ended at "), "{screen}");
    live.stage.say(Msg::Live(LiveState::Unfinished));
    assert!(live.stage.screen().contains("■ ended, unfinished"));
}

#[test]
fn what_the_rules_say_is_of_the_recording_up_to_when_they_ran() {
    let mut live = Live::begin((120, 40));
    let until = live.open().timeline.end();
    let until = live.open().timeline.written(until);
    let judged = || JudgingState::Done(Arc::new(Findings::default()));
    live.stage.say(Msg::Judging(judged()));
    live.stage.keys("<Esc>p");
    assert!(!live.stage.screen().contains(" up to "));
    live.grow(2);
    let screen = live.stage.screen();
    assert!(
        screen.contains(&format!("no rule failed up to {until}")),
        "{screen}"
    );
    let incomplete = format!("incomplete: rules run up to {until}, x reruns");
    assert!(screen.contains(&incomplete), "{screen}");
    live.stage.keys("x");
    live.stage.say(Msg::Judging(judged()));
    let screen = live.stage.screen();
    assert!(screen.contains("no rule failed\n"), "{screen}");
    assert!(!screen.contains(" up to "), "{screen}");
}
