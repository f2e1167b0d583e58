//! The palette, the page of keys, what changed here, and the comparison of two moments.

use super::stage::{Stage, demo, gapped, imported, request};
use crate::answer::{NearbyQuery, ScreenAnswer, ScreenQuestion, answer};
use crate::keymap::KeyPress;
use crate::model::ActiveScreen;
use crate::msg::Msg;
use insta::assert_snapshot;

const WIDE: (u16, u16) = (120, 40);
const NARROW: (u16, u16) = (80, 24);
const SMALL: (u16, u16) = (40, 12);

fn after(keys: &str, size: (u16, u16)) -> Stage {
    let mut stage = Stage::open(request(&demo()), size);
    stage.keys(keys);
    stage
}

fn word(stage: &Stage) -> String {
    stage.model.word.clone().unwrap_or_default()
}

#[test]
fn pasted_letters_are_no_keys() {
    let paste = |keys: &str, text: &str| {
        let mut stage = after(keys, NARROW);
        stage.say(Msg::Pasted(text.to_owned()));
        stage
    };
    let stage = paste("", "qqGG23:21:40.5Z\n");
    let ActiveScreen::GoTo(written) = &stage.model.screen else {
        panic!("{}", stage.screen());
    };
    assert_eq!(written.text, "qqGG23:21:40.5Z");
    let filtered = paste("/", "etcd\n");
    let open = filtered.model.open().expect("open");
    assert_eq!(open.filter.text(), "etcd");
    // A page on which nothing is written takes no text.
    let help = paste("?", "q\n");
    assert!(matches!(help.model.screen, ActiveScreen::Help(..)));
}

#[test]
fn the_palette_runs_what_is_written() {
    assert_snapshot!("palette_narrow", after(":prob", NARROW).screen());
    assert_snapshot!("palette_small", after(":", SMALL).screen());
    let time = after(":end<Enter>", NARROW);
    let open = time.model.open().expect("open");
    assert_eq!(
        open.place.at,
        open.timeline.end(),
        "a TIME is one before anything else"
    );
    let pods = after("G:pods<Enter>", NARROW);
    assert_eq!(
        pods.model
            .open()
            .expect("open")
            .chosen()
            .0
            .split('/')
            .next(),
        Some("pods")
    );
    let only = after(":ns openshift-etcd<Enter>", NARROW);
    let only = only.model.open().expect("open").namespace.clone();
    assert!(only.is_some_and(|only| only.starts_with("openshift-etcd")));
    let next = after(":next problem<Enter>", NARROW);
    let pressed = after("n", NARROW);
    let place = |stage: &Stage| stage.model.open().expect("open").place;
    assert_eq!(place(&next), place(&pressed));
    let nothing = after(":qqqq<Enter>", NARROW);
    assert!(
        word(&nothing).contains("not a moment"),
        "{}",
        word(&nothing)
    );
}

#[test]
fn the_palette_quits() {
    let stage = after(":quit<Enter>", NARROW);
    assert!(stage.model.is_over);
}

#[test]
fn a_text_is_taken_back_by_words_and_whole() {
    let mut stage = after("/ns:shop web  ", NARROW);
    let text = |stage: &Stage| match &stage.model.screen {
        ActiveScreen::Filter(text) => text.clone(),
        screen => panic!("{screen:?}"),
    };
    for (key, left) in [('w', "ns:shop "), ('w', ""), ('w', "")] {
        stage.press(KeyPress::Ctrl(key));
        assert_eq!(text(&stage), left);
    }
    stage.keys("kind:pod é ü");
    stage.press(KeyPress::Ctrl('w'));
    assert_eq!(text(&stage), "kind:pod é ");
    stage.press(KeyPress::Ctrl('u'));
    assert_eq!(text(&stage), "");
    let filter = stage.model.open().expect("open").filter.text().to_owned();
    assert_eq!(filter, "", "the lanes follow the text");
}

#[test]
fn a_message_that_is_longer_than_a_row_is_shown_whole() {
    for size in [SMALL, NARROW, WIDE] {
        let stage = after(":qqqq of a name that nothing has<Enter>", size);
        let screen = stage.screen();
        let (letters, _styles) = screen.split_once("\n---\n").expect("letters and styles");
        let letters: Vec<&str> = letters.split_whitespace().collect();
        let message = word(&stage);
        assert!(message.len() > 80, "{message}");
        assert!(letters.join(" ").ends_with(&message), "{screen}");
    }
}

#[test]
fn the_keys_of_where_one_is_come_first() {
    assert_snapshot!("keys_small", after("?", SMALL).screen());
    assert_snapshot!("keys_of_bookmarks_narrow", after("'?", NARROW).screen());
    let mut back = after("'?", NARROW);
    back.keys("<Esc>");
    assert!(back.screen().contains("BOOKMARKS"));
    let mut far = after("?", SMALL);
    for _ in 0..300 {
        far.keys("<Down>");
    }
    assert!(!far.screen().contains("THIS SCREEN"), "{}", far.screen());
}

#[test]
fn what_changed_here_is_listed_and_led_to() {
    let mut stage = after("/etcd<Enter>:+29s<Enter>W", WIDE);
    assert_snapshot!("nearby_wide", stage.screen());
    stage.keys("<Down><Enter>");
    let open = stage.model.open().expect("open");
    assert!(open.place.below.0 > 0 && open.selected.is_some());
    assert_snapshot!("nearby_small", after("GW", SMALL).screen());
}

#[test]
fn two_moments_are_compared() {
    let mut stage = after(":+23s<Enter>v", NARROW);
    let set = word(&stage);
    assert!(set.starts_with("A is ") && set.contains(": move"), "{set}");
    stage.keys("v");
    assert!(word(&stage).starts_with("A is here"), "{}", word(&stage));
    stage.keys(":+29s<Enter>v");
    assert_snapshot!("compare_narrow", stage.screen());
    stage.keys("<Enter>");
    assert_snapshot!("between_narrow", stage.screen());
    stage.keys("<Esc><Esc>");
    assert_eq!(word(&stage), "A cleared");
    let folder = tempfile::tempdir().expect("a folder");
    let mut gap = Stage::open(request(&gapped(folder.path())), NARROW);
    gap.keys("v:+2m15s<Enter>v");
    assert!(
        gap.screen().contains("unknown: nodes at here"),
        "{}",
        gap.screen()
    );
}

#[test]
fn resources_that_are_not_compared_are_named() {
    let screen = after("vGv", NARROW).screen();
    for words in [
        " not known at both moments: ",
        " and ",
        " more",
        "no differences where both states are known",
    ] {
        assert!(screen.contains(words), "{screen}");
    }
}

/// Gives the head of the recent changes.
fn changes_head(keys: &str) -> String {
    let stage = after(keys, WIDE);
    let open = stage.model.open().expect("open");
    match &open.answer {
        Some(ScreenAnswer::Lines(_, lines, _)) => lines[0].text(),
        _ => panic!("no lines"),
    }
}

#[test]
fn changes_that_were_not_read_are_not_left_out_of_the_count() {
    let stage = after("G", WIDE);
    let open = stage.model.open().expect("open");
    let head = |most: usize| {
        let query = NearbyQuery {
            micros: 60_000_000,
            filter: "etcd".to_owned(),
            namespace: None,
            most,
        };
        let question = ScreenQuestion::Nearby(query, open.place);
        match answer(&open.timeline, question) {
            ScreenAnswer::Lines(_, lines, _) => lines[0].text(),
            _ => panic!("no lines"),
        }
    };
    let (whole, part) = (head(100_000), head(100));
    assert!(!whole.contains("at least"), "{whole}");
    assert!(part.starts_with("at least "), "{part}");
}

#[test]
fn states_of_a_filter_do_not_hide_changes() {
    let all = changes_head("/etcd<Enter>:+29s<Enter>W");
    let bad = changes_head("/etcd !good<Enter>:+29s<Enter>W");
    let words = "matching the filter (states, labels and fields not applied)";
    assert_eq!(bad.replace(words, "matching the filter"), all);
    assert!(!all.starts_with("0 "), "{all}");
    let bad = changes_head("/etcd bad<Enter>:+29s<Enter>W");
    assert!(bad.contains(words) && !bad.starts_with("0 "), "{bad}");
}

#[test]
fn problems_have_the_numbers_that_they_have_elsewhere() {
    let stage = after("", WIDE);
    let open = stage.model.open().expect("open");
    let entries = crate::update::palette::entries(open, "problem");
    let numbered = entries
        .iter()
        .filter(|entry| entry.words.starts_with("problem "));
    let found: std::collections::BTreeSet<String> = numbered
        .filter_map(|entry| Some(entry.words.split_once(": ")?.0.to_owned()))
        .collect();
    let problems = open.trouble.problems.as_ref().expect("listed");
    let listed = problems.entries.iter().filter_map(|entry| entry.listed);
    let expected = listed
        .map(|place| format!("problem {}", place + 1))
        .collect();
    assert_eq!(found, expected);
    assert!(problems.entries.len() > found.len(), "some have no number");
    // A number leads to the problem that has it.
    for name in &found {
        let stage = after(&format!(":{name}<Enter>"), WIDE);
        let told = stage.model.open().and_then(|open| open.told());
        let place = told.and_then(|told| told.listed).expect("it has a number");
        assert_eq!(format!("problem {}", place + 1), *name);
    }
}

#[test]
fn what_was_only_rewritten_is_not_counted_as_changed() {
    let stage = after(":+23s<Enter>v:+29s<Enter>v", WIDE);
    let open = stage.model.open().expect("open");
    let all = open.compared.difference.as_ref().expect("compared");
    let count = |fate: &str| all.rows.iter().filter(|row| row.fate == fate).count();
    let (changed, rewritten) = (count("changed"), count("rewritten"));
    assert!(changed > 0 && rewritten > 0, "{changed} {rewritten}");
    let is_same = |words: &str| words == "rewritten, no net change";
    let mut rows = all.rows.iter();
    assert!(rows.all(|row| (row.fate == "rewritten") == is_same(&row.words)));
    let screen = stage.screen();
    let head = format!(" changed {changed} rewritten {rewritten} ");
    assert!(screen.contains(&head), "{screen}");
}

#[test]
fn what_an_import_shows_first_was_not_created_then() {
    let lines = |at: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        let mut stage = Stage::open(request(&imported(folder.path())), WIDE);
        stage.keys(&format!(":{at}<Enter>W"));
        match &stage.model.open().expect("open").answer {
            Some(ScreenAnswer::Lines(_, lines, _)) => {
                let lines = lines.iter().map(crate::answer::PanelLine::text);
                lines.collect::<Vec<_>>().join("\n")
            }
            _ => panic!("no lines"),
        }
    };
    let old = lines("14:00:10");
    assert!(
        old.contains("0 changes") && old.contains("; 1 object was there when"),
        "{old}"
    );
    let new = lines("14:00:20");
    assert!(new.contains("pod default/new  first seen"), "{new}");
}

#[test]
fn the_page_of_keys_ends_at_its_last_line() {
    for size in [SMALL, NARROW, WIDE] {
        let mut stage = after("?", size);
        stage.keys(&"<Down>".repeat(500));
        let last = stage.screen();
        stage.keys("<Up>");
        assert_ne!(stage.screen(), last, "a key up moves it at once");
        stage.keys("<Down>");
        assert_eq!(stage.screen(), last);
    }
}

#[test]
fn a_text_that_is_too_long_is_not_cut_in_silence() {
    let mut stage = after("/", NARROW);
    stage.keys(&"web ".repeat(60));
    stage.keys("end");
    let screen = stage.screen();
    assert!(
        screen.contains("web web end"),
        "its end is in sight: {screen}"
    );
    stage.keys(&"x".repeat(1_000));
    let ActiveScreen::Filter(text) = &stage.model.screen else {
        panic!("a filter is written");
    };
    assert_eq!(text.len(), crate::model::MOST_WRITTEN_BYTES);
    let screen = stage.screen();
    assert!(screen.contains("full: at most 1000 bytes"), "{screen}");
}

#[test]
fn events_are_unknown_before_their_first_list() {
    let mut asked = request(&demo());
    asked.select = Some("clusteroperators/etcd".to_owned());
    let mut stage = Stage::open(asked, NARROW);
    stage.keys("E");
    let screen = stage.screen();
    assert!(screen.contains("Events unknown before"), "{screen}");
    assert!(!screen.contains("no Events about"), "{screen}");
}
