//! `kubereel info`: the page for people and the document for programs.

use super::run::{DEMO, Reel, assert_has, kubereel, pods_with_gap};

#[test]
fn the_page_tells_what_is_in_the_reel() {
    let reel = pods_with_gap();
    let page = kubereel!("info {reel}").ok();
    for words in [
        "format 1.0 · finished",
        "v1.36.3",
        "2026-11-21T14:00:00.000Z – 14:00:15.000Z · 15.0s · 1 session",
        "6 · 2 added · 3 modified · 1 deleted",
        "2 seen · 1 at the end · 2 resources",
        "pods 6",
        "0 of 2 resources from their first to their last moment",
        "14:00:07.000Z – 14:00:12.000Z · pods · up to 4 changes missing",
        "deployments.apps · never listed completely",
        "events.events.k8s.io · same storage as another resource · events",
        "values of Secrets, by policy 1",
    ] {
        assert!(page.contains(words), "{words:?} not in\n{page}");
    }
    assert!(!page.contains('\u{1b}'), "colours without a terminal");
}

#[test]
fn what_damage_hides_of_the_state_is_not_guessed() {
    let folder = tempfile::tempdir().expect("a folder");
    let demo = Reel::import_text("demo.jsonl", &kubereel!("export {DEMO}").ok());
    let whole = std::fs::read(demo.path()).expect("a reel");
    let half = folder.path().join("half.reel");
    std::fs::write(&half, &whole[whole.len() / 2..]).expect("written");
    let half = half.to_str().expect("text");
    let page = kubereel!("info {half}").code(3).out;
    for words in [
        "whether it was finished is not readable",
        "recorded       unknown",
    ] {
        assert!(page.contains(words), "{words:?} not in\n{page}");
    }
    let sealed = folder.path().join("sealed.reel");
    let path = sealed.to_str().expect("text");
    kubereel(&["seal", pods_with_gap().path(), path]).ok();
    let mut bytes = std::fs::read(&sealed).expect("sealed");
    bytes.extend_from_slice(b"more");
    std::fs::write(&sealed, bytes).expect("written");
    let page = kubereel!("info {path}").code(3).out;
    assert_has(&page, "4 bytes behind its end are not its own");
}

#[test]
fn wide_lists_every_resource() {
    let reel = pods_with_gap();
    let page = kubereel!("info {reel} -o wide").ok();
    let row = page
        .lines()
        .find(|line| line.starts_with("pods "))
        .expect("pods");
    let cells: Vec<&str> = row.split_whitespace().collect();
    let expected = ["pods", "v1", "6", "2", "3", "1", "2", "1", "1"];
    assert_eq!(cells[..9], expected);
}

#[test]
fn programs_get_json() {
    let reel = pods_with_gap();
    let info = kubereel!("info {reel} -o json").json();
    assert_eq!(info["events"]["total"], 6);
    assert_eq!(info["start"], "2026-11-21T14:00:00.000Z");
    assert_eq!(info["span_secs"], 15.0);
    assert_eq!(info["resources"][0]["gaps"][0]["span_secs"], 5.0);
    assert_eq!(info["file"], reel.path());
}

#[test]
fn a_cluster_that_nothing_identifies_is_described_by_its_objects() {
    let node = serde_json::json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "resourceVersion": "1"}});
    let reel = Reel::import(&[node]);
    let page = kubereel(&["info", reel.path()]).ok();
    assert!(page.contains("1 node · identity unknown"), "{page}");
}
