//! Moves in time, and a field that is followed through it.

use super::script::{Script, thing};
use super::stage::{Stage, damaged, demo, gapped, node, request, without_objects};
use crate::answer::ScreenQuestion;
use crate::keymap::KeyPress;
use crate::lane::LaneState;
use crate::model::{ActiveScreen, OpenReel};
use crate::msg::Msg;
use crate::time::{CursorPlace, clock_secs};
use insta::assert_snapshot;
use kubereel_format::{Note, RecordedAt};
use std::collections::BTreeSet;
use std::path::Path;

fn stage(size: (u16, u16)) -> Stage {
    Stage::open(request(&demo()), size)
}

fn open(stage: &Stage) -> &OpenReel {
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

/// Opens the demo on a machine whose clock is ahead of UTC.
fn abroad(size: (u16, u16), seconds: i32) -> Stage {
    let offset = jiff::tz::Offset::from_seconds(seconds).expect("small");
    let mut asked = request(&demo());
    asked.local_zone = Some(Box::leak(Box::new(jiff::tz::TimeZone::fixed(offset))));
    Stage::open(asked, size)
}

#[test]
fn a_key_shows_and_reads_local_time() {
    let mut stage = abroad((120, 40), 2 * 3600);
    stage.keys(":+20s<Enter>");
    let place = open(&stage).place;
    let utc = open(&stage).timeline.written(place.at);
    let screen = stage.screen();
    assert!(screen.contains(&format!("{utc} UTC")), "{screen}");
    stage.keys("U");
    assert_eq!(open(&stage).place, place, "no time moves");
    let own = open(&stage);
    let local = own.timeline.written(place.at);
    assert!(local.ends_with("+02"), "{local}");
    assert_snapshot!("local_time_wide", stage.screen());
    // What shows can be pasted, and what is typed is read as what shows.
    for text in [local.as_str(), local.trim_end_matches("+02"), utc.as_str()] {
        stage.keys(&format!("g:{text}<Enter>"));
        assert_eq!(open(&stage).place.at, place.at, "{text}");
    }
    let address = open(&stage).address(&demo());
    assert!(address.contains(&format!("--at {local}")), "{address}");
    stage.keys("A");
    let hour = local.split(':').next().expect("an hour");
    let screen = stage.screen();
    let row = screen.lines().find(|line| line.starts_with('>'));
    assert!(
        row.is_some_and(|row| row.starts_with(&format!(">{hour}:"))),
        "{row:?}"
    );
    stage.keys("<Esc>H");
    assert!(stage.screen().contains("+02  "), "{}", stage.screen());
    stage.keys("U");
    assert_eq!(open(&stage).zone, None);
    assert!(!stage.screen().contains("+02"), "{}", stage.screen());
}

#[test]
fn notes_are_exported_with_day_and_zone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("own.reel");
    std::fs::copy(demo(), &path).expect("room");
    let mut asked = request(&path);
    let offset = jiff::tz::offset(-3);
    asked.local_zone = Some(Box::leak(Box::new(jiff::tz::TimeZone::fixed(offset))));
    let mut stage = Stage::open(asked, (80, 24));
    stage.keys("U:+20s<Enter>mwhy here<Enter>'S");
    let ActiveScreen::SaveAs(saving) = &stage.model.screen else {
        panic!("{:?}", stage.model.screen)
    };
    let ScreenQuestion::Ready(text, _) = &saving.question else {
        panic!("{:?}", saving.question)
    };
    for words in [
        "Times are in -03.",
        "## why here",
        "2026-11-22T20:21:31.303650-03:00",
        "--at 20:21:31.303650-03",
    ] {
        assert!(text.contains(words), "{words:?} not in {text}");
    }
}

#[test]
fn a_machine_without_a_zone_says_so() {
    let mut stage = stage((80, 24));
    stage.keys("U");
    let word = stage.model.word.clone().expect("a word");
    assert!(word.contains("--tz"), "{word}");
    assert_eq!(open(&stage).zone, None);
}

#[test]
fn labels_stand_at_whole_hours_of_the_clock_that_shows() {
    let mut stage = abroad((120, 40), 5 * 3600 + 30 * 60 + 7);
    stage.keys("U");
    let screen = stage.screen();
    let ruler = screen.lines().find(|line| line.starts_with("shows "));
    let labels = ruler.expect("a ruler").split_whitespace().skip(3);
    let labels: Vec<&str> = labels.filter(|label| label.len() == 8).collect();
    assert!(labels.len() > 2, "{labels:?}");
    assert!(
        labels
            .iter()
            .all(|label| label.ends_with('0') || label.ends_with('5')),
        "{labels:?}"
    );
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
    stage.say(Msg::Pulled(40, 3, true));
    stage.say(Msg::Pulled(60, 3, false));
    stage.say(Msg::Released);
    let picked = open(&stage).picked.expect("a span");
    assert!(picked.is_fixed());
    let cells = picked.span(before.at).micros / open(&stage).window.cell_micros(49);
    assert_eq!(cells, 20);
    assert_eq!(open(&stage).place, before, "selecting never moves time");
}

#[test]
fn stages_of_an_upgrade_have_names_as_long_as_fit() {
    let mut stage = stage((120, 40));
    let board = open(&stage).board().expect("read");
    let names: Vec<String> = board.stages.iter().map(|one| one.name.clone()).collect();
    let expected = [
        "install",
        "quiet",
        "upgrade to 4.21.9: retrieve payload",
        "upgrade to 4.21.9: verify",
        "upgrade to 4.21.9: operators",
        "upgrade to 4.21.9: nodes",
        "quiet",
    ];
    assert_eq!(names, expected);
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

#[test]
fn changes_that_may_be_missing_are_not_denied() {
    let folder = tempfile::tempdir().expect("a folder");
    let asked = |path: &Path| {
        let mut asked = request(path);
        asked.select = Some("node/m-0".to_owned());
        Stage::open(asked, (80, 24))
    };
    // The node flaps before the gap only, and is the same in the list after it.
    let mut stage = asked(&gapped(folder.path()));
    stage.keys("tttttt");
    assert_eq!(word(&stage), "no later transition of this lane");
    stage.keys("c");
    assert_eq!(word(&stage), "no later change of node m-0");
    let path = folder.path().join("recovered.reel");
    let mut script = Script::begin(&path);
    let nodes = script.resource("nodes", "Node", &["no"]);
    let stream = script.connect(nodes, None);
    let one = thing("", "m-0", "m-0");
    script.initial(stream, one, 1, &node("m-0", "True", 1));
    script.synced(stream, 1);
    script.wait(60_000);
    script.note(Note::Unreadable {
        from: script.now(),
        to: RecordedAt::from_micros(script.now().micros + 5_000_000),
        records: Some(3),
        resources: vec![nodes],
        cause: "block 7: the checksum does not fit".to_owned(),
    });
    script.wait(60_000);
    script.finish();
    let mut stage = asked(&path);
    stage.keys("ttt");
    assert_eq!(word(&stage), "later transitions of this lane are not known");
    stage.keys("ccc");
    assert_eq!(word(&stage), "later changes of node m-0 are not known");
}

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
    let expected = ".status.conditions[Ready].status True → False";
    assert_eq!(word(&stage), expected);
    stage.keys("f");
    let expected = ".status.conditions[Ready].status False → True";
    assert_eq!(word(&stage), expected);
    stage.keys("f");
    let expected = "no later change of .status.conditions[Ready].status";
    assert_eq!(word(&stage), expected);
    stage.keys("<Down><Down>f");
    // The list after the gap shows that the node did not change in it.
    assert!(word(&stage).contains(" → "), "{}", stage.screen());
    assert!(!word(&stage).contains("across a gap"), "{}", stage.screen());
}

#[test]
fn a_search_can_be_stopped_and_says_how_far_it_is() {
    let mut stage = Stage::open(request(&demo()), (80, 24));
    stage.keys("/etcd<Enter><Down>G");
    let act = crate::keymap::act(KeyPress::Char('F'), &stage.model.screen).expect("a key");
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
        word(&stage).contains("nothing is known of nodes for 30"),
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
        word(&stage).contains("nothing is known of nodes for 30"),
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

/// Writes a reel of nodes that fail at the same time of two days.
fn two_days(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("days.reel");
    let mut script = Script::begin(&path);
    let stream = script.watched("nodes", "Node", &["no"]);
    let names = ["m-0", "m-1"];
    let mut rv = 0;
    for name in names {
        rv += 1;
        script.initial(stream, thing("", name, name), rv, &node(name, "True", rv));
    }
    script.synced(stream, rv);
    script.wait(3_600_000);
    for name in names {
        for ready in ["False", "True"] {
            rv += 1;
            script.modified(stream, thing("", name, name), rv, &node(name, ready, rv));
            script.wait(600_000);
        }
        script.wait(24 * 3_600_000 - 1_200_000);
    }
    script.finish();
    path
}

#[test]
fn times_of_several_days_have_their_day() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut stage = Stage::open(request(&two_days(folder.path())), (120, 40));
    // The ruler: a label of each day.
    let screen = stage.screen();
    for day in ["11-22 00:00:00", "11-23 00:00:00"] {
        assert!(screen.contains(day), "{day}: {screen}");
    }
    stage.keys("A");
    let screen = stage.screen();
    for day in ["11-21 15:00:00.000Z", "11-22 15:00:00.000Z"] {
        assert!(screen.contains(day), "{day}: {screen}");
    }
    stage.keys("p");
    let screen = stage.screen();
    assert!(
        screen.contains("11-22 15:00:00.000Z +25h00m00s "),
        "{screen}"
    );
    let timeline = &open(&stage).timeline;
    assert_eq!(clock_secs(timeline, timeline.start()), "11-21 14:00:00");
    let demo = self::stage((80, 24));
    let timeline = &open(&demo).timeline;
    assert_eq!(clock_secs(timeline, timeline.start()), "23:21:11");
}

#[test]
fn the_lane_that_is_selected_says_which_field_is_followed() {
    let mut stage = stage((120, 40));
    stage.keys(":co/etcd<Enter>gX<Down>");
    let mut followed = Vec::new();
    for _ in 0..2 {
        let condition = open(&stage).condition.clone().expect("a condition");
        stage.keys("f");
        let field = format!(".status.conditions[{condition}].status");
        assert!(word(&stage).contains(&field), "{field}: {}", word(&stage));
        followed.push(condition);
        stage.keys("<Down>");
    }
    assert_ne!(followed[0], followed[1]);
}

#[test]
fn an_object_is_unknown_from_a_version_that_cannot_be_read_to_the_next() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = without_objects(folder.path());
    let opened = |object: &str| {
        let mut asked = request(&path);
        asked.at = Some("23:22:05".parse().expect("a time"));
        asked.select = Some(object.to_owned());
        Stage::open(asked, (120, 40))
    };
    let mut stage = opened("co/machine-config");
    let screen = stage.screen();
    assert!(screen.contains("─ ░ unknown"), "{screen}");
    let here = |stage: &Stage| {
        let lane = open(stage).chosen_lane().expect("a lane");
        lane.at(open(stage).place).0
    };
    assert_eq!(here(&stage), LaneState::Unknown, "{screen}");
    stage.keys("g:23:21:40<Enter>");
    assert_ne!(here(&stage), LaneState::Unknown, "before the damage");
    let readable = opened("co/kube-apiserver");
    assert_ne!(
        here(&readable),
        LaneState::Unknown,
        "no version of it is lost"
    );
}

#[test]
fn what_cannot_be_read_is_not_called_deleted() {
    let folder = tempfile::tempdir().expect("a folder");
    let deleted = |path: &Path| {
        let mut stage = Stage::open(request(path), (120, 40));
        stage.keys(":23:21:40<Enter>v:23:22:05<Enter>v");
        let difference = open(&stage).compared.difference.clone();
        let difference = difference.expect("compared");
        let names = |fate: &str| {
            let rows = difference.rows.iter().filter(|row| row.fate == fate);
            let names = rows.map(|row| (row.subject.namespace.clone(), row.subject.name.clone()));
            names.collect::<BTreeSet<_>>()
        };
        let rows = difference.rows.iter();
        let unreadable = rows.filter(|row| row.fate == "not compared").count();
        (
            ["created", "deleted"].map(names),
            unreadable,
            stage.screen(),
        )
    };
    let (whole, none, _) = deleted(&demo());
    let (damaged, unreadable, screen) = deleted(&without_objects(folder.path()));
    assert_eq!(none, 0);
    assert_eq!(damaged, whole);
    assert!(unreadable > 0);
    assert!(
        screen.contains(&format!("not compared {unreadable}")),
        "{screen}"
    );
}

#[test]
fn the_moment_at_which_a_gap_begins_is_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut stage = Stage::open(request(&gapped(folder.path())), (120, 40));
    // The node that changed in the gap.
    stage.keys(":no/\u{202e}m-1<Enter>");
    let gap = open(&stage).dark.first().expect("a gap").span.clone();
    let mut says_unknown = |micros: i64| {
        let reel = open(&stage);
        let at = RecordedAt::from_micros(gap.start.micros + micros);
        let place = CursorPlace::at(&reel.timeline, at);
        let lane = reel.chosen_lane().expect("a lane").at(place).0;
        stage.keys(&format!(
            ":{}<Enter>",
            place.written(&open(&stage).timeline)
        ));
        let title = stage.screen();
        assert_eq!(
            title.contains("unknown from"),
            lane == LaneState::Unknown,
            "{title}"
        );
        lane == LaneState::Unknown
    };
    assert!(!says_unknown(0));
    assert!(says_unknown(1_000_000));
}
