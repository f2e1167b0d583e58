//! Steps over the changes of one field, and over what is odd.

use super::stage::{Stage, demo, gapped, request};
use crate::keymap::Key;
use crate::msg::Msg;
use insta::assert_snapshot;

/// What the operator says of its upgrade.
const FIELD: &str = "status.conditions[Progressing].status";

fn word(stage: &Stage) -> String {
    stage.model.word.clone().unwrap_or_default()
}

fn at(stage: &Stage) -> String {
    let open = stage.model.open().expect("open");
    open.place.written(&open.timeline)
}

#[test]
fn the_line_of_the_panel_chooses_the_field_that_f_follows() {
    let mut stage = Stage::open(request(&demo()), (120, 40));
    // The operator that was upgraded, its YAML, and the line with the status of the condition.
    stage.keys("/etcd<Enter><Down>G<Tab>");
    let is_at = |stage: &Stage| {
        let field = crate::update::followed(stage.model.open().expect("open"));
        field.is_some_and(|field| field.to_string() == FIELD)
    };
    for _ in 0..200 {
        stage.keys("<Up>");
    }
    for _ in 0..200 {
        if is_at(&stage) {
            break;
        }
        stage.keys("<Down>");
    }
    assert!(is_at(&stage), "{}", stage.screen());
    stage.keys("F");
    assert_eq!(word(&stage), format!(".{FIELD} True → False"));
    assert_snapshot!("field_wide", stage.screen());
    let last = at(&stage);
    stage.keys("F");
    assert_eq!(word(&stage), format!(".{FIELD} False → True"));
    stage.keys("f");
    let there = format!(".{FIELD} True → False");
    assert_eq!((at(&stage), word(&stage)), (last.clone(), there));
    stage.keys("f");
    let none = format!("no later change of .{FIELD}");
    assert_eq!((at(&stage), word(&stage)), (last, none));
}

#[test]
fn a_field_is_followed_over_a_flap_and_a_gap() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut stage = Stage::open(request(&gapped(folder.path())), (80, 24));
    stage.keys("i<Down>f");
    assert_eq!(
        word(&stage),
        ".status.conditions[Ready].status True → False"
    );
    stage.keys("f");
    assert_eq!(
        word(&stage),
        ".status.conditions[Ready].status False → True"
    );
    stage.keys("f");
    assert_eq!(
        word(&stage),
        "no later change of .status.conditions[Ready].status"
    );
    stage.keys("<Down><Down>f");
    assert!(word(&stage).contains("across a gap"), "{}", stage.screen());
}

#[test]
fn a_search_can_be_stopped_and_says_how_far_it_is() {
    let mut stage = Stage::open(request(&demo()), (80, 24));
    stage.keys("/etcd<Enter><Down>G");
    let act = crate::keymap::act(Key::Char('F'), &stage.model.screen).expect("a key");
    // Nobody searches yet.
    let effects = crate::update::update(&mut stage.model, Msg::Act(act));
    assert!(
        effects
            .iter()
            .any(|effect| matches!(effect, crate::effect::Effect::Search(..)))
    );
    stage.say(Msg::Searched(1, (3, 9)));
    assert!(
        stage.screen().contains("3 of 9 · esc stops"),
        "{}",
        stage.screen()
    );
    let before = at(&stage);
    stage.keys("<Esc>");
    assert!(!stage.screen().contains("esc stops"));
    for effect in effects {
        if let crate::effect::Effect::Search(timeline, number, search) = effect {
            let found = search.run(&timeline, &mut |_, _| true).expect("found");
            assert!(search.run(&timeline, &mut |_, _| false).is_none());
            stage.say(Msg::Found(number, found));
        }
    }
    assert_eq!(at(&stage), before, "what was stopped moved the cursor");
}

#[test]
fn what_is_odd_is_stepped_over_and_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut stage = Stage::open(request(&gapped(folder.path())), (80, 24));
    stage.keys(")");
    assert!(
        word(&stage).starts_with("flap: node m-0 Ready=False"),
        "{}",
        word(&stage)
    );
    assert!(
        word(&stage).contains("for 40ms, then good again"),
        "{}",
        word(&stage)
    );
    let flap = at(&stage);
    stage.keys(")");
    assert!(
        word(&stage).contains("nothing is known for 30"),
        "{}",
        word(&stage)
    );
    assert_snapshot!("odd_narrow", stage.screen());
    stage.keys("(");
    assert_eq!(at(&stage), flap);
    stage.keys("(");
    assert_eq!(word(&stage), "no earlier gap, outage or flap");
    stage.keys(")))");
    assert_eq!(word(&stage), "no later gap, outage or flap");
}

#[test]
fn what_is_passed_too_fast_to_be_seen_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut stage = Stage::open(request(&gapped(folder.path())), (80, 24));
    stage.keys("]]]]]] ");
    stage.say(Msg::Elapsed(33_000));
    assert_eq!(word(&stage), "");
    stage.say(Msg::Elapsed(33_000));
    assert!(
        word(&stage).starts_with("passed 14:01:00.000Z: flap: node m-0"),
        "{}",
        word(&stage)
    );
    stage.say(Msg::Elapsed(100_000));
    assert!(
        word(&stage).contains("nothing is known for 30"),
        "{}",
        word(&stage)
    );
    stage.keys("r");
    if !stage.model.is_playing() {
        stage.keys(" ");
    }
    stage.say(Msg::Elapsed(200_000));
    assert!(
        word(&stage).contains("(and 1 more): flap"),
        "{}",
        word(&stage)
    );
}
