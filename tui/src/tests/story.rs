//! The first screen, the sentence of a problem, the log of transitions, and what a filter does to a selection.

use super::stage::{Stage, demo, gapped, request};
use crate::answer::{Panel, ScreenAnswer};
use crate::lane::LaneState;
use crate::model::{ActiveScreen, LanePass, List, OpenReel, ReelState};
use crate::msg::Msg;
use crate::time::CursorPlace;
use crate::update::palette::entries;
use insta::assert_snapshot;
use std::path::Path;

const WIDE: (u16, u16) = (120, 40);
const NARROW: (u16, u16) = (80, 24);
const SMALL: (u16, u16) = (40, 12);

/// Opens a reel as somebody does who says nothing but its name.
fn first(reel: &Path, size: (u16, u16)) -> Stage {
    let mut plain = request(reel);
    plain.at = None;
    Stage::open(plain, size)
}

fn open(stage: &Stage) -> &OpenReel {
    stage.model.open().expect("open")
}

#[test]
fn a_reel_opens_on_the_story_and_the_first_problem() {
    for (name, size) in [("wide", WIDE), ("narrow", NARROW), ("small", SMALL)] {
        let stage = first(&demo(), size);
        assert_eq!(stage.model.screen, ActiveScreen::Problems(0));
        let own = open(&stage);
        let problems = own.trouble.problems.as_ref().expect("listed");
        assert_eq!(own.place, problems.entries[0].spots[0].place);
        assert!(own.timeline.start() < own.place.at, "not the unknown start");
        assert_snapshot!(format!("start_{name}"), stage.screen());
    }
    let mut stage = first(&demo(), WIDE);
    stage.keys("<Enter>");
    assert_eq!(stage.model.screen, ActiveScreen::Main);
    assert_eq!(open(&stage).list, List::Lanes);
    assert_snapshot!("first_problem_wide", stage.screen());
}

#[test]
fn until_the_reel_is_read_the_first_screen_says_how_far_it_is() {
    let mut stage = first(&demo(), NARROW);
    let ReelState::Open(own) = &mut stage.model.reel else {
        panic!("open")
    };
    own.pass = LanePass::Under { done: 2_000 };
    own.trouble.problems = None;
    let screen = stage.screen();
    assert!(screen.contains("reading the recording, "), "{screen}");
    assert!(!screen.contains("no problem found"), "{screen}");
    assert!(screen.contains("no problems found so far"), "{screen}");
}

#[test]
fn who_moved_before_the_problems_are_known_stays_there() {
    let mut stage = first(&demo(), NARROW);
    let all = open(&stage).trouble.problems.clone().expect("listed");
    let ReelState::Open(own) = &mut stage.model.reel else {
        panic!("open")
    };
    own.is_awaiting = true;
    own.trouble.problems = None;
    stage.keys("<Esc>g");
    let place = open(&stage).place;
    stage.say(Msg::Listed(all));
    assert_eq!(open(&stage).place, place);
    assert_eq!(place.at, open(&stage).timeline.start());
}

#[test]
fn a_quiet_reel_says_what_was_looked_at() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("quiet.reel");
    let mut script = super::script::Script::begin(&path);
    let stream = script.watched("nodes", "Node", &["no"]);
    let node = br#"{"kind":"Node","apiVersion":"v1","metadata":{"name":"m-0","uid":"m-0","resourceVersion":"1"},"status":{"conditions":[{"type":"Ready","status":"True"}]}}"#;
    script.initial(stream, super::script::thing("", "m-0", "m-0"), 1, node);
    script.synced(stream, 1);
    script.wait(60_000);
    script.finish();
    let stage = first(&path, NARROW);
    let screen = stage.screen();
    assert!(
        screen.contains("no problem found · checked 1 event of 1 resource"),
        "{screen}"
    );
    assert!(screen.contains("not in the reel: "), "{screen}");
    assert_eq!(open(&stage).place.at, open(&stage).timeline.end());
    assert_snapshot!("quiet_narrow", screen);
}

#[test]
fn the_sentence_stays_until_something_else_is_selected() {
    let mut stage = first(&demo(), WIDE);
    stage.keys("<Enter>");
    assert_eq!(open(&stage).shown_panel(), Panel::Problem);
    let text = |stage: &Stage| match &open(stage).answer {
        Some(ScreenAnswer::Lines(_, lines, _)) => lines[0].text(),
        other => panic!("{other:?}"),
    };
    assert!(text(&stage).starts_with("clusteroperator console: RouteHealth_FailedGet"));
    stage.keys("<Right><Right>");
    assert_eq!(open(&stage).shown_panel(), Panel::Problem, "time may move");
    stage.keys("<Down>");
    assert_eq!(open(&stage).shown_panel(), Panel::Yaml);
    stage.keys("<Up>");
    assert_eq!(open(&stage).shown_panel(), Panel::Problem);
    stage.keys("H");
    assert_eq!(open(&stage).shown_panel(), Panel::History);
    stage.keys("e");
    assert_eq!(open(&stage).shown_panel(), Panel::Problem, "e explains");
    stage.keys("<Down>e");
    let word = stage.model.word.clone().expect("a word");
    assert!(word.contains("no problem of"), "{word}");
}

#[test]
fn a_cause_leads_to_its_change() {
    let mut stage = first(&demo(), WIDE);
    stage.keys("<Down><Enter><Tab><Down><Down><Enter>");
    assert_eq!(open(&stage).panel, Panel::Diff);
    let screen = stage.screen();
    assert!(screen.contains("spec.desiredUpdate"), "{screen}");
}

#[test]
fn a_filter_never_leaves_a_hidden_object_selected() {
    let mut stage = Stage::open(request(&demo()), NARROW);
    stage.keys(":co/etcd<Enter>");
    let name = |stage: &Stage| open(stage).selected.as_ref().map(|one| one.name.clone());
    assert_eq!(name(&stage).as_deref(), Some("etcd"));
    stage.keys("/registry");
    assert_eq!(name(&stage).as_deref(), Some("image-registry"));
    stage.keys("zzz");
    assert_eq!(name(&stage), None);
    stage.keys("<Esc>");
    assert_eq!(name(&stage).as_deref(), Some("etcd"), "it shows again");
}

#[test]
fn transitions_are_a_log_whose_rows_are_moments() {
    let mut stage = first(&demo(), WIDE);
    stage.keys("<Esc>A");
    assert_eq!(open(&stage).list, List::Stream);
    let rows = open(&stage).stream.rows.clone();
    assert!(rows.windows(2).all(|two| two[0].from <= two[1].from));
    let before = open(&stage).place;
    stage.keys("<Down>");
    assert!(open(&stage).place.below > before.below);
    let row = open(&stage).row().expect("a row");
    assert_eq!(rows[row].seq.0 + 1, open(&stage).place.below.0);
    assert_snapshot!("transitions_wide", stage.screen());
    stage.keys("/CrashLoop");
    let found = |stage: &Stage| {
        let open = open(stage);
        let row = open.stream.rows[open.row().expect("a row")];
        let (_, _, spell) = open.transition(row).expect("a transition");
        assert!(spell.word.contains("CrashLoopBackOff"), "{}", spell.word);
        open.place
    };
    let first = found(&stage);
    stage.keys("<Enter>n");
    let second = found(&stage);
    assert!(second.below > first.below);
    assert!(stage.screen().contains("n N match"), "{}", stage.screen());
    stage.keys("N");
    assert_eq!(found(&stage), first);
    // Then the keys have their usual meaning again.
    stage.keys("<Esc>");
    assert!(!stage.screen().contains("n N match"));
    stage.keys("&image-registry<Enter>");
    let own = open(&stage);
    let all = own.stream.rows.iter();
    let mut lanes = all.filter_map(|row| own.transition(*row));
    assert!(lanes.all(|(lane, ..)| lane.subject.name().contains("image-registry")));
    stage.keys("<Esc><Esc>");
    assert_eq!(open(&stage).list, List::Lanes);
}

#[test]
fn the_log_opens_at_the_nearest_transition_of_the_selected_object() {
    let mut stage = first(&demo(), WIDE);
    stage.keys("<Esc>:co/etcd<Enter>:end<Enter>");
    let place = open(&stage).place;
    stage.keys("A");
    let own = open(&stage);
    let row = own.stream.rows[own.row().expect("a row")];
    let (lane, ..) = own.transition(row).expect("a transition");
    assert_eq!(lane.subject.name(), "etcd");
    assert_eq!(own.place, place, "opening it moves no time");
    let later = own.stream.rows.iter().filter(|other| other.from > row.from);
    let mut later = later.filter_map(|row| own.transition(*row));
    assert!(later.all(|(lane, ..)| lane.subject.name() != "etcd"));
    // Who moves in time is led by the cursor again.
    stage.keys("g");
    assert_eq!(open(&stage).row(), Some(0));
}

#[test]
fn the_log_says_by_whom_as_the_history_does() {
    let mut stage = first(&demo(), WIDE);
    stage.keys("<Esc>A/CrashLoop<Enter>");
    let own = open(&stage);
    let row = own.stream.rows[own.row().expect("a row")];
    let authors = own.timeline.authors_of_record(row.seq);
    assert_eq!(own.stream.writers(row), authors.names());
    assert_eq!(authors.names(), "kubelet");
    let screen = stage.screen();
    let line = screen.lines().find(|line| line.starts_with('>'));
    let line = line.expect("a chosen row");
    assert!(line.contains("◂ kubelet"), "{line}");
    // Each record in sight is asked for once.
    assert!(
        own.stream
            .unwritten(own.row().expect("a row"), 1)
            .is_empty()
    );
}

#[test]
fn a_zoomed_window_has_a_map_of_the_whole() {
    let mut stage = first(&demo(), NARROW);
    stage.keys("<Esc>");
    assert!(!stage.screen().contains("whole reel"));
    stage.keys("++");
    assert!(stage.screen().contains("whole reel 1m 03s"));
    assert_snapshot!("zoomed_narrow", stage.screen());
}

#[test]
fn the_palette_finds_objects_problems_and_themes() {
    let mut stage = first(&demo(), NARROW);
    stage.keys("<Esc>:deploy payments<Enter>");
    let selected = open(&stage).selected.clone().expect("one");
    assert_eq!(
        (selected.namespace.as_str(), selected.name.as_str()),
        ("shop", "payments")
    );
    assert_eq!(open(&stage).list, List::Lanes, "workloads have lanes");
    stage.keys(":theme light<Enter>");
    let light = stage.model.theme.state(LaneState::Good);
    stage.keys(":theme dark<Enter>");
    assert_ne!(light, stage.model.theme.state(LaneState::Good));
    stage.keys(":upgrade<Enter>");
    let start = open(&stage).place;
    let upgrade = open(&stage).board().and_then(|board| board.upgrade);
    let upgrade = upgrade.expect("the demo is upgraded");
    assert_eq!(start.below.0, upgrade.first.0 + 1);
    stage.keys(":upgrade:end<Enter>");
    let end = upgrade.last.expect("it ended");
    assert_eq!(open(&stage).place.below.0, end.0 + 1);
    stage.keys(":problem 2<Enter>");
    assert_eq!(open(&stage).shown_panel(), Panel::Problem);
    assert!(open(&stage).place.at > start.at);
    let place = open(&stage).place;
    stage.keys("g:problem:2<Enter>");
    assert_eq!(open(&stage).place, place, "the same rank, the same moment");
    stage.keys(":pods<Enter>");
    assert!(matches!(open(&stage).list, List::Objects(_)));
}

#[test]
fn what_is_named_by_kind_and_name_stands_first() {
    let stage = first(&demo(), NARROW);
    let best = |text: &str| {
        let all = entries(open(&stage), text);
        all.first().map(|entry| entry.words.clone())
    };
    for (text, words) in [
        ("deploy web", "deployment shop/web"),
        ("deployment/web", "deployment shop/web"),
        ("co/etcd", "clusteroperator etcd"),
        ("deployment shop/payments", "deployment shop/payments"),
        ("deploy/shop/payments", "deployment shop/payments"),
        ("shop/payments", "deployment shop/payments"),
        ("pods", "pods"),
        ("po", "pods"),
        ("no", "nodes"),
        ("problem:1", "go to problem:1"),
        ("bookmark:x", "go to bookmark:x"),
        ("theme light", "theme light"),
    ] {
        assert_eq!(best(text).as_deref(), Some(words), "{text}");
    }
}

#[test]
fn a_moment_that_only_the_pass_tells_is_waited_for() {
    for (at, wanted) in [("problem:2", None), ("upgrade:start", Some(()))] {
        let mut asked = request(&demo());
        asked.at = Some(at.parse().expect("a moment"));
        let stage = Stage::open(asked, NARROW);
        let own = open(&stage);
        let board = own.board().expect("read");
        let seq = match wanted {
            Some(()) => board.upgrade.expect("the demo is upgraded").first,
            None => board.list().expect("listed").problems[1].from.seq,
        };
        assert_eq!(own.place.below.0, seq.0 + 1, "{at}");
        assert_eq!(stage.model.screen, ActiveScreen::Main);
        assert_eq!(own.awaited, None);
    }
    let mut asked = request(&demo());
    asked.at = Some("problem:99".parse().expect("a moment"));
    let stage = Stage::open(asked, NARROW);
    let word = stage.model.word.clone().expect("a word");
    assert!(word.contains("no problem 99"), "{word}");
    let plain = request(&demo());
    let wrong = ["seq:99999999", "23:59", "+5h", "rv:999999999", "problem:99"];
    for at in wrong {
        let asked = crate::model::TuiRequest {
            at: Some(at.parse().expect("a moment")),
            ..plain.clone()
        };
        let stage = Stage::open(asked, NARROW);
        let own = open(&stage);
        let start = own.timeline.start();
        assert!(own.place.at > start, "{at} is the address of the start");
        assert!(stage.model.word.is_some(), "{at}");
        assert_eq!(stage.model.screen, ActiveScreen::Main);
    }
    let mut stage = Stage::open(plain, NARROW);
    for at in ["23:59", "+5h", "rv:999999999"] {
        let before = open(&stage).place;
        stage.keys(&format!(":{at}<Enter>"));
        assert_eq!(open(&stage).place, before, "{at}");
        let word = stage.model.word.clone().expect("a word");
        assert!(word.contains("is outside of the recording"), "{word}");
    }
}

#[test]
fn while_a_release_cannot_be_retrieved_the_version_is_not_well() {
    let stage = first(&demo(), NARROW);
    let board = open(&stage).board().expect("read");
    let list = board.list().expect("listed");
    let problem = list
        .problems
        .iter()
        .find(|one| one.reason == "RetrievePayload");
    let problem = problem.expect("the demo has one");
    let mut lanes = board.lanes.iter();
    let lane = lanes.find(|lane| lane.subject.name() == "version" && lane.condition.is_none());
    let lane = lane.expect("a lane");
    let place = |at| CursorPlace::at(&open(&stage).timeline, at);
    assert!(lane.at(place(problem.from.at)).0 >= LaneState::Bad);
    let after = lane.at(place(problem.to.expect("it ended")));
    assert_ne!(after.0, LaneState::Absent);
}

#[test]
fn a_gap_is_no_first_problem() {
    let folder = tempfile::tempdir().expect("a folder");
    let stage = first(&gapped(folder.path()), NARROW);
    assert_eq!(stage.model.screen, ActiveScreen::Problems(0));
    let all = open(&stage).trouble.problems.clone().expect("listed");
    let place = open(&stage).place;
    let is_there = all.entries[0].spots[0].place == place;
    assert_eq!(is_there, all.entries[0].rank() < 4);
}
