//! The timeline: a span of time that is selected, stages, damage.

use super::stage::{Stage, damaged, demo, request};
use crate::model::Open;
use crate::msg::Msg;
use insta::assert_snapshot;

fn stage(size: (u16, u16)) -> Stage {
    Stage::open(request(&demo()), size)
}

fn open(stage: &Stage) -> &Open {
    stage.model.open().expect("open")
}

#[test]
fn a_span_of_time_is_selected_and_zoomed_to() {
    for (name, size) in [
        ("picked_small", (40, 12)),
        ("picked_narrow", (80, 24)),
        ("picked_wide", (120, 40)),
    ] {
        let mut stage = stage(size);
        stage.keys(":+20s<Enter>V:+40s<Enter>");
        assert_snapshot!(name, stage.screen());
        let span = open(&stage).picked_content.expect("counted");
        assert_eq!(span.span.micros, 20_000_001);
        let timeline = &open(&stage).timeline;
        let stamps = (0..timeline.reel().end().0)
            .map(kubereel_format::Seq)
            .filter(|seq| timeline.reel().kind_of(*seq).is_some())
            .filter_map(|seq| timeline.reel().stamp(seq));
        let inside =
            stamps.filter(|stamp| stamp.wall >= span.span.from && stamp.wall < span.span.end());
        assert_eq!(u64::try_from(inside.count()), Ok(span.events));
        assert!(span.changes > 0);
        stage.keys("V:+50s<Enter>");
        assert_eq!(open(&stage).picked_content, Some(span), "it is fixed");
        stage.keys("z");
        assert_eq!(open(&stage).window, span.span);
        assert_eq!(open(&stage).picked, None);
    }
}

#[test]
fn a_selected_span_is_dropped() {
    let mut stage = stage((80, 24));
    let window = open(&stage).window;
    stage.keys("VG<Esc>");
    assert_eq!((open(&stage).picked, open(&stage).window), (None, window));
    stage.keys("gV:+3s<Enter><Enter>");
    assert_eq!(open(&stage).window.micros, 3_000_001);
}

#[test]
fn the_mouse_selects_a_span() {
    let mut stage = stage((80, 24));
    let before = open(&stage).place;
    stage.say(Msg::Pulled(30, 3, true));
    stage.say(Msg::Pulled(50, 3, false));
    stage.say(Msg::Released);
    let picked = open(&stage).picked.expect("a span");
    assert!(picked.is_fixed());
    let cells = picked.span(before.at).micros / open(&stage).window.cell_micros(58);
    assert_eq!(cells, 20);
    assert_eq!(open(&stage).place, before, "selecting never moves time");
}

#[test]
fn stages_of_an_upgrade_have_names_as_long_as_fit() {
    let mut stage = stage((120, 40));
    let board = open(&stage).board().expect("read");
    let names: Vec<String> = board.stages.iter().map(|one| one.name.clone()).collect();
    assert_eq!(
        names,
        [
            "install",
            "quiet",
            "upgrade to 4.21.9: retrieve payload",
            "upgrade to 4.21.9: verify",
            "upgrade to 4.21.9: operators",
            "upgrade to 4.21.9: nodes",
            "quiet",
        ]
    );
    // Every name that shows is whole, at any zoom.
    for _ in 0..12 {
        let screen = stage.screen();
        let row = screen.lines().nth(2).expect("stages");
        let row: String = row
            .chars()
            .skip(22)
            .take_while(|sign| *sign != '│')
            .collect();
        for word in row.split_whitespace() {
            let is_whole = names
                .iter()
                .any(|name| name.split(' ').any(|own| own == word));
            assert!(is_whole || word == "ops", "{word:?} of {row:?}");
        }
        stage.keys(":+24s<Enter>+");
    }
    stage.keys("Z:+24s<Enter>++++");
    assert_snapshot!("stages_wide", stage.screen());
}

#[test]
fn damage_is_unknown_wherever_it_lies() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = damaged(folder.path());
    for (name, size) in [("damage_small", (40, 12)), ("damage_wide", (120, 40))] {
        let mut stage = Stage::open(request(&path), size);
        stage.keys("G");
        assert_snapshot!(name, stage.screen());
    }
}
