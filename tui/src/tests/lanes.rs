//! Lanes: groups, folds, pins, pods, and what the mouse does with them.

use super::stage::{Stage, demo, gapped, imported, request};
use crate::lane::LaneState;
use crate::model::{Grouping, LaneRow, OpenReel, ReelState, RowCells};
use crate::msg::Msg;
use crate::time::{CursorPlace, TimeDirection};
use insta::assert_snapshot;

#[test]
fn pins_and_grouping_come_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut asked = request(&demo());
    asked.state_folder = Some(folder.path().to_owned());
    let mut first = Stage::open(asked.clone(), (80, 24));
    first.keys("ni<Down>x");
    let pinned = open(&first).pins.lanes()[0].subject.object().cloned();
    let pinned = pinned.expect("an object");
    let session = crate::update::left(open(&first));
    session.save(folder.path(), &open(&first).id).expect("room");
    let again = Stage::open(asked, (80, 24));
    assert!(open(&again).pins.has(&pinned));
    assert_eq!(open(&again).lanes.grouping, Grouping::Conditions);
    let sections = |stage: &Stage| open(stage).lanes.sections();
    assert_eq!(sections(&again), sections(&first));
}

fn stage(size: (u16, u16)) -> Stage {
    Stage::open(request(&demo()), size)
}

fn open(stage: &Stage) -> &OpenReel {
    stage.model.open().expect("open")
}

/// Gives what stands in the first columns of the rows of the list.
fn names(stage: &Stage) -> Vec<String> {
    let screen = stage.screen();
    let lines = screen.lines().take_while(|line| *line != "---");
    lines
        .skip(6)
        .map(|line| line.chars().take(21).collect())
        .collect()
}

#[test]
fn groups_fold_and_unfold() {
    let mut stage = stage((80, 24));
    stage.keys("<Down>");
    assert!(
        names(&stage)[2].starts_with(">OPERATORS 31"),
        "{:?}",
        names(&stage)
    );
    stage.keys("<Enter>");
    let folded = names(&stage);
    assert!(folded[3].starts_with("▾POOLS"), "{folded:?}");
    assert_snapshot!("folded_narrow", stage.screen());
    stage.keys("<Enter>");
    assert!(names(&stage)[3].contains("authentication"));
}

#[test]
fn the_ways_to_group() {
    let mut wide = stage((120, 40));
    wide.keys("Gi");
    assert_snapshot!("conditions_wide", wide.screen());
    wide.keys("i");
    assert_snapshot!("troubles_wide", wide.screen());
    let by_trouble = open(&wide).lanes.rows.clone();
    wide.keys("i");
    assert_ne!(open(&wide).lanes.rows, by_trouble);
    wide.keys("ii");
    assert_eq!(open(&wide).lanes.rows, by_trouble);
}

#[test]
fn pods_of_a_namespace_have_lanes_when_asked_for() {
    let mut stage = stage((80, 24));
    let pods = |stage: &Stage| {
        let rows = open(stage).lanes.rows.iter();
        rows.filter(|row| match row {
            LaneRow::Lane(at, _) => open(stage)
                .lane_at(*at)
                .is_some_and(|lane| !lane.subject.namespace().is_empty()),
            LaneRow::Head(_) => false,
        })
        .count()
    };
    assert_eq!(pods(&stage), 0, "pods are folded first");
    let ReelState::Open(reel) = &mut stage.model.reel else {
        panic!("open")
    };
    reel.namespace = Some("openshift-etcd".to_owned());
    stage.keys("P");
    let shown = pods(&stage);
    assert!(shown > 0);
    assert_snapshot!("pods_narrow", stage.screen());
    stage.keys("P");
    assert_eq!(pods(&stage), 0);
    let ReelState::Open(reel) = &mut stage.model.reel else {
        panic!("open")
    };
    reel.namespace = Some("no-such".to_owned());
    stage.keys("P");
    assert!(stage.screen().contains("no pods in namespace no-such"));
}

#[test]
fn any_object_can_be_pinned() {
    let mut asked = request(&demo());
    asked.select = Some("leases/version".to_owned());
    asked.namespace = "openshift-cluster-version".to_owned();
    let mut stage = Stage::open(asked, (80, 24));
    stage.keys("x<Esc><Esc>");
    assert_eq!(open(&stage).pins.lanes().len(), 1);
    // The first problems are those of objects without a lane; an operator follows.
    stage.keys("nnn");
    assert!(
        names(&stage)[0].starts_with("▾PINNED 1"),
        "pins stay in sight"
    );
    assert_snapshot!("pinned_narrow", stage.screen());
    // An operator's pin has the lane of the operator.
    stage.keys("/etcd<Enter><Down>x");
    assert_snapshot!("pinned_operator_narrow", stage.screen());
    stage.keys("x");
    assert_eq!(open(&stage).pins.lanes().len(), 1);
}

#[test]
fn a_pin_tells_the_lives_of_its_object() {
    let mut stage = stage((120, 40));
    stage.keys("n");
    let subject = open(&stage)
        .selected
        .clone()
        .expect("a problem of something");
    stage.keys("x");
    let pin = &open(&stage).pins.lanes()[0];
    assert!(pin.subject.is(&subject));
    assert_eq!(
        pin.spells.len(),
        subject.versions(&open(&stage).timeline).len()
    );
}

#[test]
fn only_rows_that_show_have_cells() {
    let mut stage = stage((80, 24));
    stage.keys("P");
    let height = 8;
    let kept = open(&stage).lanes.cells.len();
    assert!(kept <= 2 * height + 4, "{kept}");
    let lane = open(&stage)
        .lanes
        .cells
        .values()
        .find_map(|cells| match cells {
            RowCells::Lane(cells) => Some(cells.len()),
            RowCells::Head(_) => None,
        });
    // The longest name takes 31 columns of the 80.
    assert_eq!(lane, Some(49));
}

#[test]
fn the_mouse_chooses_and_folds() {
    let mut stage = stage((80, 24));
    let before = open(&stage).place;
    stage.say(Msg::Pointed(3, 10));
    let selected = open(&stage).selected.clone().expect("a lane");
    assert_eq!(selected.name, "baremetal");
    assert_eq!(open(&stage).place, before, "choosing never moves time");
    stage.say(Msg::Pointed(3, 8));
    assert!(
        names(&stage)[3].starts_with("▾POOLS"),
        "{:?}",
        names(&stage)
    );
    stage.say(Msg::Pointed(40, 10));
    assert_ne!(open(&stage).place, before);
}

#[test]
fn panes_are_resized_by_keys_and_mouse() {
    let mut narrow = stage((80, 24));
    narrow.keys(">>>");
    assert_snapshot!("resized_narrow", narrow.screen());
    let height = |stage: &Stage| crate::layout::layout(&stage.model).list.height;
    let before = height(&narrow);
    let border = crate::layout::layout(&narrow.model).panel.y;
    narrow.say(Msg::Pointed(30, border));
    narrow.say(Msg::Dragged(30, border - 4));
    narrow.say(Msg::Released);
    assert!(height(&narrow).abs_diff(before - 4) <= 1);
    let moved = open(&narrow).place;
    narrow.say(Msg::Dragged(60, 4));
    assert_ne!(open(&narrow).place, moved, "the border was let go");
    let mut wide = stage((120, 40));
    wide.keys("G<<<");
    assert_snapshot!("resized_wide", wide.screen());
    let border = crate::layout::layout(&wide.model).border.expect("beside").x;
    wide.say(Msg::Pointed(border, 20));
    wide.say(Msg::Dragged(90, 20));
    let moved = crate::layout::layout(&wide.model).border.expect("beside").x;
    assert!(moved.abs_diff(90) <= 2, "{moved}");
}

#[test]
fn a_panel_shows_where_only_one_pane_does() {
    for size in [(40, 12), (80, 19)] {
        let mut asked = request(&demo());
        asked.select = Some("clusteroperators/etcd".to_owned());
        let mut stage = Stage::open(asked, size);
        stage.keys("GH");
        let height = crate::layout::layout(&stage.model).panel.height;
        assert!(height > 0, "{}", stage.screen());
        stage.keys("<Esc>");
        assert_eq!(crate::layout::layout(&stage.model).panel.height, 0);
    }
}

#[test]
fn the_wheel_zooms_where_it_points() {
    let mut stage = stage((80, 24));
    let bounds = open(&stage).bounds();
    stage.say(Msg::Wheel(79, 3, TimeDirection::Previous));
    let window = open(&stage).window;
    assert_eq!(window.micros, bounds.micros / 2);
    assert!(window.from.micros_since(bounds.from) > bounds.micros * 45 / 100);
    assert!(stage.screen().contains('◀'), "the cursor is not in sight");
}

#[test]
fn a_filter_that_leaves_only_tests_selects_one() {
    let mut stage = Stage::open(request(&demo()), (80, 24));
    stage.keys("&operator-degraded<Enter><Down>");
    let own = open(&stage);
    assert!(own.row().is_some(), "{}", stage.screen());
    assert!(own.chosen_plain().is_some(), "{}", stage.screen());
}

#[test]
fn gaps_are_drawn_through_heads_and_lanes() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut stage = Stage::open(request(&gapped(folder.path())), (120, 40));
    stage.keys("x");
    assert_snapshot!("gap_wide", stage.screen());
    let folder = tempfile::tempdir().expect("a folder");
    let stage = Stage::open(request(&gapped(folder.path())), (40, 12));
    assert_snapshot!("gap_small", stage.screen());
}

#[test]
fn a_large_screen_shows_more() {
    let mut stage = stage((200, 60));
    stage.keys("nn");
    assert_snapshot!("large_screen", stage.screen());
}

#[test]
fn an_import_does_not_prove_that_an_object_was_absent_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut asked = request(&imported(folder.path()));
    asked.at = Some("14:00:15".parse().expect("a time"));
    asked.select = Some("pods/new".to_owned());
    let mut stage = Stage::open(asked, (120, 40));
    let own = open(&stage);
    let lane = own.chosen_lane().expect("it has a lane");
    assert_eq!(lane.at(own.place).0, LaneState::Unknown);
    assert_eq!(
        lane.at(CursorPlace::at(&own.timeline, own.timeline.end()))
            .0,
        LaneState::Good
    );
    let span = own.place.at..own.timeline.end();
    assert_eq!(lane.cell(&span).state, LaneState::Unknown);
    assert!(!lane.is_dark(&span), "the resource is known");
    stage.keys("A");
    let screen = stage.screen();
    assert!(screen.contains("░→━"), "{screen}");
}
