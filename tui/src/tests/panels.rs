//! What the panel shows of an object, chosen, searched, saved and copied.

use super::script::{Script, pod, thing};
use super::stage::{Stage, demo, gapped, node, request};
use crate::answer::Panel;
use crate::keymap::KeyPress;
use crate::layout::layout;
use crate::model::{ActiveScreen, Pane, SaveInput};
use crate::msg::Msg;
use crate::time::TimeDirection;
use insta::assert_snapshot;
use kubereel_format::EndCause;
use std::path::{Path, PathBuf};

const WIDE: (u16, u16) = (120, 40);
const NARROW: (u16, u16) = (80, 24);
const SMALL: (u16, u16) = (40, 12);
const SIZES: [(&str, (u16, u16)); 3] = [("wide", WIDE), ("narrow", NARROW), ("small", SMALL)];

/// Opens the demo at its end with an object selected.
fn at_end(select: &str, namespace: &str, size: (u16, u16)) -> Stage {
    let mut request = request(&demo());
    request.select = Some(select.to_owned());
    request.namespace = namespace.to_owned();
    let mut stage = Stage::open(request, size);
    stage.keys("G");
    stage
}

fn etcd(size: (u16, u16)) -> Stage {
    at_end("clusteroperators/etcd", "", size)
}

/// Shows a panel on the whole screen, so that it is seen at every size.
fn shows(name: &str, key: char) {
    for (word, size) in SIZES {
        let mut stage = etcd(size);
        stage.press(KeyPress::Char(key));
        stage.keys("<Enter>");
        assert_snapshot!(format!("{name}_{word}"), stage.screen());
    }
}

#[test]
fn a_diff_names_both_versions() {
    shows("diff", 'D');
}

#[test]
fn blame_tells_who_and_when() {
    shows("blame", 'B');
}

#[test]
fn conditions_tell_how_they_turned() {
    shows("conditions_panel", 'K');
}

#[test]
fn raw_json_is_laid_out() {
    shows("raw", 'R');
}

#[test]
fn owners_stand_above_and_children_below() {
    for (word, size) in SIZES {
        let mut stage = at_end("deployments/etcd-operator", "openshift-etcd-operator", size);
        stage.keys("O<Enter>");
        assert_snapshot!(format!("owners_{word}"), stage.screen());
    }
}

#[test]
fn a_line_of_the_tree_leads_to_its_object() {
    let mut stage = at_end(
        "deployments/etcd-operator",
        "openshift-etcd-operator",
        NARROW,
    );
    stage.keys("O<Tab><Down><Down><Enter>");
    let open = stage.model.open().expect("open");
    let kind = |open: &crate::model::OpenReel| {
        let resource = open.selected.as_ref().expect("one").resource;
        open.timeline
            .resources()
            .get(resource)
            .expect("known")
            .plural
            .clone()
    };
    assert_eq!(kind(open), "replicasets");
    assert_eq!(open.panel, Panel::Owners);
    assert!(open.row().is_some(), "the object has a row of the list");
    stage.keys("<Enter>");
    let open = stage.model.open().expect("open");
    assert_eq!(kind(open), "deployments", "the owner stands first");
}

/// Tells whether the line leads somewhere at which the keys are.
fn leads(stage: &Stage) -> bool {
    let open = stage.model.open().expect("open");
    match &open.answer {
        Some(crate::answer::ScreenAnswer::Lines(_, lines, _)) => lines[open.line].target.is_some(),
        _ => panic!("no lines"),
    }
}

#[test]
fn a_marked_version_is_the_other_end_of_the_diff() {
    let mut stage = etcd(NARROW);
    stage.keys("H<Tab>");
    stage.keys(&"<Up>".repeat(300));
    while !leads(&stage) {
        stage.keys("<Down>");
    }
    stage.keys("<Enter>");
    let open = stage.model.open().expect("open");
    let (subject, marked) = open.reading.other.clone().expect("a mark");
    let versions = subject.versions(&open.timeline);
    let at = versions
        .iter()
        .position(|seq| *seq == marked)
        .expect("its own");
    assert!(at + 2 < versions.len(), "it is an early one");
    assert_snapshot!("history_marked_narrow", stage.screen());
    stage.keys("D");
    let screen = stage.screen();
    assert!(screen.contains(&format!("seq:{}", marked.0)), "{screen}");
    assert!(screen.contains("versions in between"), "{screen}");
    stage.keys("D");
    assert!(!stage.screen().contains(&format!("seq:{} ", marked.0)));
}

#[test]
fn the_panel_is_searched_where_it_has_the_keys() {
    let mut stage = etcd(NARROW);
    stage.keys("<Tab>/STATUS");
    assert_snapshot!("search_narrow", stage.screen());
    let at = |stage: &Stage| stage.model.open().expect("open").line;
    let first = at(&stage);
    stage.keys("<Enter>");
    assert!(at(&stage) > first);
    stage.keys("zzz");
    assert!(stage.screen().contains("nowhere"));
    stage.keys("<Esc>");
    let open = stage.model.open().expect("open");
    assert!(open.filter.is_empty() && open.reading.matches.is_empty());
}

#[test]
fn long_lines_are_cut_or_broken() {
    let mut stage = etcd(SMALL);
    stage.keys("<Enter>");
    let cut = stage.screen();
    stage.keys("L");
    let broken = stage.screen();
    assert!(cut.contains('…'));
    assert_ne!(cut, broken);
}

/// Gives the end of a file's name.
fn form(name: &str) -> &str {
    name.rsplit('.').next().expect("a name")
}

fn saved(stage: &mut Stage, keys: &str) -> (String, Vec<u8>) {
    stage.keys(keys);
    let SaveInput { text, .. } = match &stage.model.screen {
        ActiveScreen::SaveAs(saving) => saving.as_ref().clone(),
        other => panic!("{other:?} does not ask where"),
    };
    assert!(!text.is_empty(), "a name is suggested");
    stage.keys("<Enter>");
    let word = stage.model.word.clone().expect("a word");
    let path = word.strip_prefix("saved ").expect(&word).to_owned();
    let bytes = std::fs::read(&path).expect("the file");
    let name = path.rsplit('/').next().expect("a name").to_owned();
    (name, bytes)
}

#[test]
fn what_a_panel_shows_is_saved() {
    let mut stage = etcd(NARROW);
    let (name, yaml) = saved(&mut stage, "yS");
    assert!(
        name.starts_with("etcd-clusteroperator-20") && form(&name) == "yaml",
        "{name}"
    );
    assert!(
        String::from_utf8(yaml)
            .expect("text")
            .starts_with("apiVersion: config.openshift.io")
    );
    let (again, _) = saved(&mut stage, "S");
    assert_eq!(again, name.replace(".yaml", "-2.yaml"));
    let (name, raw) = saved(&mut stage, "RS");
    let open = stage.model.open().expect("open");
    let subject = open.selected.clone().expect("one");
    let last = *subject.versions(&open.timeline).last().expect("one");
    assert!(form(&name) == "json", "{name}");
    assert_eq!(
        raw,
        *open.timeline.reel().body(last).expect("whole"),
        "byte by byte"
    );
    for (keys, end) in [
        ("DS", "diff"),
        ("HS", "txt"),
        ("BS", "txt"),
        ("KS", "txt"),
        ("OS", "txt"),
        ("ES", "txt"),
    ] {
        let (name, bytes) = saved(&mut stage, keys);
        assert!(form(&name) == end && !bytes.is_empty(), "{name}");
    }
}

#[test]
fn a_table_is_saved_as_the_filter_leaves_it() {
    let mut request = request(&demo());
    request.select = Some("nodes".to_owned());
    request.filter = "worker".to_owned();
    let mut stage = Stage::open(request, NARROW);
    let (name, bytes) = saved(&mut stage, "GS");
    let text = String::from_utf8(bytes).expect("text");
    assert!(
        name.starts_with("nodes-20") && form(&name) == "txt",
        "{name}"
    );
    assert!(
        text.starts_with("NAME") && text.contains("worker-1"),
        "{text}"
    );
    assert!(!text.contains("master"), "{text}");
}

#[test]
fn what_a_panel_shows_is_copied_unless_it_is_too_large() {
    let mut stage = etcd(NARROW);
    stage.press(KeyPress::Ctrl('y'));
    let copied = stage.copied.pop().expect("copied");
    assert!(copied.contains("kind: ClusterOperator"), "{copied}");
    let folder = tempfile::tempdir().expect("a folder");
    let mut large = Stage::open(request(&gapped(folder.path())), NARROW);
    large.keys("<Down>");
    let document = crate::answer::ScreenDocument {
        name: "large.txt".to_owned(),
        bytes: vec![b'x'; 200_000],
    };
    large.say(Msg::Fetched(Ok(document)));
    assert!(large.copied.is_empty());
    assert!(large.screen().contains("not copied"), "{}", large.screen());
}

#[test]
fn names_of_files_mean_nothing_to_a_system() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut stage = Stage::open(request(&gapped(folder.path())), NARROW);
    stage.keys("/m-1<Enter><Down>");
    stage.keys("G");
    let (name, _) = saved(&mut stage, "S");
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    assert!(name.chars().all(is_plain), "{name}");
}

#[test]
fn a_shorter_answer_leaves_no_blank_panel() {
    for panel in ['y', 'R'] {
        let mut stage = at_end("clusteroperators/etcd", "", NARROW);
        stage.press(KeyPress::Char(panel));
        stage.keys("<Tab>");
        stage.keys(&"<Down>".repeat(400));
        assert!(stage.model.open().expect("open").scroll > 10);
        // At the start the object does not exist yet: one line says so.
        stage.keys("<Tab>g");
        let open = stage.model.open().expect("open");
        assert_eq!(open.scroll, 0);
        let screen = stage.screen();
        assert!(
            screen.contains("does not exist yet") || screen.contains("no "),
            "{screen}"
        );
    }
}

#[test]
fn leaving_a_prompt_leads_back_to_the_large_pane() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("demo.reel");
    std::fs::copy(demo(), &path).expect("room");
    let mut stage = Stage::open(request(&path), NARROW);
    for pane in [Pane::Panel, Pane::List] {
        stage.keys("<Enter>");
        if pane == Pane::List {
            stage.keys("<Tab>");
        }
        for keys in [
            ":abc<Esc>",
            "mabc<Esc>",
            "mabc<Enter>",
            "b<Esc>",
            "u<Esc>",
            "p<Esc>",
            "'<Esc>",
            "'m<Esc><Esc>",
            "&web<Esc>",
            "?<Esc>",
        ] {
            stage.keys(keys);
            assert_eq!(stage.model.screen, ActiveScreen::Large, "{keys}");
            assert_eq!(stage.model.open().expect("open").pane, pane, "{keys}");
        }
        stage.keys("<Esc>:<Esc>");
        assert_eq!(stage.model.screen, ActiveScreen::Main);
    }
}

#[test]
fn the_wheel_scrolls_what_it_is_over() {
    for size in [NARROW, WIDE] {
        let mut stage = etcd(size);
        let lay = layout(&stage.model);
        let seen = |stage: &Stage| {
            let open = stage.model.open().expect("open");
            (open.scroll, open.row())
        };
        let (scroll, row) = seen(&stage);
        let over = |area: ratatui::layout::Rect| (area.x + 1, area.y + 1);
        let ((px, py), (lx, ly)) = (over(lay.panel), over(lay.list));
        stage.say(Msg::Wheel(px, py, TimeDirection::Next));
        assert_eq!(seen(&stage), (scroll + 3, row));
        stage.say(Msg::Wheel(px, py, TimeDirection::Previous));
        assert_eq!(seen(&stage), (scroll, row));
        for _ in 0..2_000 {
            stage.say(Msg::Wheel(px, py, TimeDirection::Next));
        }
        let screen = stage.screen();
        let last = seen(&stage).0;
        stage.say(Msg::Wheel(px, py, TimeDirection::Next));
        assert_eq!(seen(&stage).0, last, "{screen}");
        stage.say(Msg::Wheel(px, py, TimeDirection::Previous));
        assert_ne!(stage.screen(), screen, "it does not stick at the end");
        // Over the list it moves there, also while the keys are in the panel.
        stage.keys("<Tab>");
        stage.say(Msg::Wheel(lx, ly, TimeDirection::Next));
        assert_eq!(seen(&stage).1, row.map(|row| row + 3));
    }
}

/// Writes a Pod that changed often, with many Events about it.
fn often_changed(folder: &Path) -> PathBuf {
    let path = folder.join("often.reel");
    let mut script = Script::begin(&path);
    let pods = script.resource("pods", "Pod", &["po"]);
    let events = script.resource("events", "Event", &["ev"]);
    let (of_pods, of_events) = (script.connect(pods, None), script.connect(events, None));
    script.synced(of_pods, 1);
    script.synced(of_events, 1);
    let web = thing("shop", "web", "web");
    for rv in 2..=71 {
        script.wait(1_000);
        script.modified(of_pods, web, rv, &pod(web, rv, &format!("v{rv}")));
    }
    for rv in 100..=305 {
        script.wait(100);
        let name = format!("web.{rv}");
        let body = format!(
            r#"{{"metadata":{{"namespace":"shop","name":"{name}","uid":"{name}"}},"involvedObject":{{"kind":"Pod","namespace":"shop","name":"web"}},"type":"Normal","reason":"R{rv}","message":"m"}}"#
        );
        script.added(of_events, thing("shop", &name, &name), rv, body.as_bytes());
    }
    script.finish();
    path
}

#[test]
fn versions_and_events_that_are_not_listed_are_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut stage = Stage::open(request(&often_changed(folder.path())), NARROW);
    stage.keys(":pod web<Enter>");
    let text = |stage: &mut Stage, keys: &str| {
        let (_, bytes) = saved(stage, keys);
        String::from_utf8(bytes).expect("a text")
    };
    for (keys, counts) in [
        ("GHS", ["and 45 earlier versions", ""]),
        (
            ":+40s<Enter>S",
            ["and 15 earlier versions", "and 4 later versions"],
        ),
    ] {
        let text = text(&mut stage, keys);
        let (first, last) = (text.lines().next(), text.lines().last());
        assert_eq!(first, Some(counts[0]), "{text}");
        assert!(last.is_some_and(|last| last.contains(counts[1])), "{text}");
        let versions = text
            .lines()
            .filter(|line| line.contains("first seen") || line.contains("writer unknown"))
            .count();
        let hidden = counts
            .iter()
            .filter_map(|words| words.split(' ').nth(1)?.parse::<usize>().ok());
        assert_eq!(versions + hidden.sum::<usize>(), 70, "{text}");
    }
    let text = text(&mut stage, "GES");
    assert_eq!(text.lines().last(), Some("and 6 earlier Events"), "{text}");
}

#[test]
fn what_is_not_known_of_an_object_is_not_called_absent() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("late.reel");
    let mut script = Script::begin(&path);
    let nodes = script.resource("nodes", "Node", &["no"]);
    let pods = script.resource("pods", "Pod", &["po"]);
    let stream = script.connect(nodes, None);
    script.synced(stream, 1);
    script.wait(90_000);
    let stream = script.connect(pods, None);
    let web = thing("shop", "web", "web");
    script.initial(stream, web, 2, &pod(web, 2, "x"));
    script.synced(stream, 2);
    script.wait(10_000);
    script.finish();
    let mut stage = Stage::open(request(&path), NARROW);
    stage.keys(":pod web<Enter>:+10s<Enter>S<Enter>");
    let word = stage.model.word.clone().unwrap_or_default();
    assert!(
        word.contains("unknown before 14:01:30"),
        "{word} {}",
        stage.screen()
    );
    stage.keys("D");
    let screen = stage.screen();
    assert!(screen.contains("unknown before 14:01:30"), "{screen}");
    assert!(!screen.contains("does not exist"), "{screen}");
}

/// Writes a Pod and an Event that existed when the recording started, and a change of each that was received late.
fn received_late(folder: &Path) -> PathBuf {
    let path = folder.join("late.reel");
    let mut script = Script::begin(&path);
    let pods = script.resource("pods", "Pod", &["po"]);
    let events = script.resource("events", "Event", &["ev"]);
    script.wait(1_000);
    let (of_pods, of_events) = (script.connect(pods, None), script.connect(events, None));
    let (web, other) = (thing("shop", "web", "web"), thing("shop", "db", "db"));
    let event = |name: &str, last: &str| {
        format!(
            r#"{{"metadata":{{"namespace":"shop","name":"{name}","uid":"{name}"}},"involvedObject":{{"kind":"Pod","namespace":"shop","name":"web"}},"type":"Normal","reason":"R","message":"{name}","lastTimestamp":"2026-11-21T{last}Z"}}"#
        )
    };
    script.initial(of_pods, web, 2, &pod(web, 2, "x"));
    script.wait(10);
    for (name, last) in [("second", "13:50:00"), ("first", "13:40:00")] {
        let body = event(name, last);
        script.initial(of_events, thing("shop", name, name), 3, body.as_bytes());
    }
    script.synced(of_events, 4);
    script.synced(of_pods, 4);
    script.wait(10_000);
    for stream in [of_pods, of_events] {
        script.disconnect(stream, EndCause::Cut);
    }
    script.wait(20_000);
    let (of_pods, of_events) = (
        script.connect(pods, Some(4)),
        script.connect(events, Some(4)),
    );
    script.modified(of_pods, web, 5, &pod(web, 5, "y"));
    script.added(of_pods, other, 6, &pod(other, 6, "y"));
    let body = event("late", "14:00:20");
    script.added(of_events, thing("shop", "late", "late"), 7, body.as_bytes());
    script.wait(10_000);
    script.finish();
    path
}

#[test]
fn versions_and_events_are_dated_as_the_commands_date_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut stage = Stage::open(request(&received_late(folder.path())), WIDE);
    stage.keys(":pod web<Enter>G");
    let mut text = |keys: &str| {
        let (_, bytes) = saved(&mut stage, keys);
        String::from_utf8(bytes).expect("a text")
    };
    let history = text("HS");
    assert!(
        history.contains("existed when the recording started"),
        "{history}"
    );
    assert!(history.contains("between 14:00:1"), "{history}");
    let events = text("ES");
    let at = |words: &str| {
        events
            .find(words)
            .unwrap_or_else(|| panic!("{words}: {events}"))
    };
    assert!(at("13:50:00.000Z") < at("13:40:00.000Z"), "{events}");
    at("second (existed when the recording started)");
    at("late (received late: between 14:00:1");
}

#[test]
fn what_several_resources_did_not_observe_together_is_one_period() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut stage = Stage::open(request(&received_late(folder.path())), WIDE);
    stage.keys("G");
    let screen = stage.screen();
    assert!(screen.contains("1 unwatched period elsewhere"), "{screen}");
    stage.keys(":14:00:25<Enter>W");
    let screen = stage.screen();
    assert!(
        screen.contains("not observed 14:00:24.000Z – 14:00:25.000Z"),
        "{screen}"
    );
}

#[test]
fn what_the_first_list_has_was_not_absent_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("first.reel");
    let mut script = Script::begin(&path);
    let nodes = script.resource("nodes", "Node", &["no"]);
    let pods = script.resource("pods", "Pod", &["po"]);
    script.wait(1_000);
    let (of_nodes, of_pods) = (script.connect(nodes, None), script.connect(pods, None));
    let (one, web) = (thing("", "m-0", "m-0"), thing("shop", "web", "web"));
    script.initial(of_nodes, one, 1, &node("m-0", "False", 1));
    script.wait(10);
    script.synced(of_nodes, 2);
    script.initial(of_pods, web, 2, &pod(web, 2, "x"));
    script.synced(of_pods, 2);
    script.wait(60_000);
    script.finish();
    let mut stage = Stage::open(request(&path), WIDE);
    stage.keys("A");
    let screen = stage.screen();
    assert!(screen.contains("░→") && !screen.contains("·→"), "{screen}");
    // The first problem is looked at behind all first lists, and has the words of the command.
    stage.keys("<Esc>:problem:1<Enter>");
    let open = stage.model.open().expect("open");
    assert!(open.timeline.certainty(pods, open.place.cut()).is_known());
    stage.keys("gn");
    let open = stage.model.open().expect("open");
    assert!(open.timeline.certainty(pods, open.place.cut()).is_known());
    let problem = stage.screen();
    assert!(problem.contains("≤ 14:00:01"), "{problem}");
    assert!(problem.contains("end of the recording"), "{problem}");
}
