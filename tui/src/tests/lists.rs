//! Lists and tables, and the filter that narrows them.

use super::stage::{Stage, demo, imported, request};
use crate::answer::SortOrder;
use crate::filter::{FilterCandidate, FilterQuery, check_filter};
use crate::lane::LaneState;
use crate::model::{ActiveScreen, LaneAt, LaneRow, List, TuiRequest};
use insta::assert_snapshot;
use kubereel_format::ResourceId;
use proptest::prelude::*;
use serde_json::json;

const WIDE: (u16, u16) = (120, 40);
const NARROW: (u16, u16) = (80, 24);
const SMALL: (u16, u16) = (40, 12);

fn pods(size: (u16, u16)) -> Stage {
    let mut request = request(&demo());
    request.select = Some("pods".to_owned());
    Stage::open(request, size)
}

#[test]
fn resources_are_counted_narrowed_and_sorted() {
    for (word, size) in [("wide", WIDE), ("small", SMALL)] {
        let mut stage = Stage::open(request(&demo()), size);
        stage.keys("Gb<Tab>pod");
        assert_snapshot!(format!("kinds_by_change_{word}"), stage.screen());
    }
    let mut stage = Stage::open(request(&demo()), NARROW);
    stage.keys("bdeployments<Enter>");
    let open = stage.model.open().expect("open");
    let List::Objects(resource) = open.list else {
        panic!("objects are listed");
    };
    let info = open.timeline.resources().get(resource).expect("known");
    assert_eq!(info.plural, "deployments");
}

#[test]
fn a_namespace_narrows_tables_and_lanes() {
    for (word, size) in [("wide", WIDE), ("narrow", NARROW), ("small", SMALL)] {
        let mut stage = pods(size);
        stage.keys("Gu");
        assert_snapshot!(format!("namespaces_{word}"), stage.screen());
    }
    let mut stage = pods(NARROW);
    stage.keys("Guetcd-op<Enter>");
    let open = stage.model.open().expect("open");
    assert_eq!(open.namespace.as_deref(), Some("openshift-etcd-operator"));
    let view = open.table.as_ref().expect("read");
    assert!(!view.rows.is_empty());
    assert!(
        view.table
            .rows
            .iter()
            .all(|row| row.subject.namespace == "openshift-etcd-operator")
    );
    assert_snapshot!("pods_of_namespace_narrow", stage.screen());
    let mut stage = Stage::open(request(&demo()), NARROW);
    stage.keys("Guetcd-op<Enter>");
    let open = stage.model.open().expect("open");
    let board = open.board().expect("read");
    let heads = open.lanes.rows.iter().filter_map(|row| match row {
        LaneRow::Head(head) => Some(&head.lanes),
        LaneRow::Lane(..) => None,
    });
    let lanes = heads.flatten().filter_map(|at| match at {
        LaneAt::Board(at) => board.lanes.get(*at),
        _ => None,
    });
    let mut others = lanes.filter(|lane| !lane.subject.namespace().is_empty());
    assert!(others.all(|lane| lane.subject.namespace() == "openshift-etcd-operator"));
    stage.keys("u<Up><Up><Up><Enter>");
    let namespace = stage.model.open().expect("open").namespace.clone();
    assert_ne!(namespace.as_deref(), Some("openshift-etcd-operator"));
}

#[test]
fn what_changed_last_comes_first() {
    let mut stage = pods(NARROW);
    stage.keys("Go");
    assert_snapshot!("pods_by_change_narrow", stage.screen());
    let open = stage.model.open().expect("open");
    assert_eq!(open.browse.order, SortOrder::Changed);
    let rows = &open.table.as_ref().expect("read").table.rows;
    assert!(rows.is_sorted_by_key(|row| std::cmp::Reverse(row.changed)));
}

#[test]
fn an_empty_table_names_a_key_that_leads_to_objects() {
    let mut stage = pods(NARROW);
    stage.keys("u");
    let ActiveScreen::Namespaces(_) = stage.model.screen else {
        panic!("namespaces are listed");
    };
    stage.keys("etcd-op<Enter>g");
    let screen = stage.screen();
    assert_snapshot!("pods_not_yet_narrow", screen);
    assert!(screen.contains("press ."), "{screen}");
    stage.keys(".");
    assert!(stage.model.open().expect("open").row_count() > 0);
    stage.keys("g,");
    assert!(stage.screen().contains("no earlier event"));
}

#[test]
fn a_filter_that_cannot_be_read_leaves_the_last_one() {
    let mut stage = pods(NARROW);
    stage.keys("G/etcd");
    let count = stage.model.open().expect("open").row_count();
    assert!(count > 0);
    stage.keys(" \"run");
    assert_snapshot!("filter_error_narrow", stage.screen());
    assert_eq!(stage.model.open().expect("open").row_count(), count);
    stage.keys("<Enter>");
    assert!(
        matches!(stage.model.screen, ActiveScreen::Filter(_)),
        "it stays to be mended"
    );
    stage.keys("<Esc>");
    assert!(stage.model.open().expect("open").filter.is_empty());
}

#[test]
fn cancelling_a_filter_restores_the_one_before() {
    let mut stage = pods(NARROW);
    stage.keys("G/etcd<Enter>");
    let count = stage.model.open().expect("open").row_count();
    for keys in ["/ zzz<Esc>", "/ \"zzz<Esc>"] {
        stage.keys(keys);
        let open = stage.model.open().expect("open");
        assert_eq!((open.filter.text(), open.filter.error()), ("etcd", None));
        assert_eq!(open.row_count(), count);
    }
}

#[test]
fn labels_and_fields_narrow_tables() {
    let mut stage = pods(WIDE);
    stage.keys("G");
    let all = stage.model.open().expect("open").row_count();
    let mut count = |filter: &str| {
        stage.keys("/");
        stage.keys(filter);
        stage.keys("<Enter>");
        let count = stage.model.open().expect("open").row_count();
        stage.keys("<Esc>");
        count
    };
    assert_eq!(
        count("status.phase=Running") + count("status.phase!=Running"),
        all
    );
    let named = count("metadata.namespace=openshift-etcd");
    assert!(named > 0 && named < all);
    assert_eq!(named, count("ns:openshift-etcd"));
    assert_eq!(count("!ns:openshift-etcd"), all - named);
    assert_eq!(count("kind:pod"), all);
    assert_eq!(count("kind:node"), 0);
}

#[test]
fn an_address_leads_back_to_filter_and_namespace() {
    let mut stage = pods(NARROW);
    stage.keys("Guetcd-op<Enter>/!label:gone");
    stage.keys("<Enter>");
    let open = stage.model.open().expect("open");
    let address = open.address(&demo());
    let filter = "'ns:openshift-etcd-operator !label:gone'";
    assert!(address.contains(&format!("--filter {filter}")), "{address}");
    let mut again = request(&demo());
    again.filter = filter.trim_matches('\'').to_owned();
    let other = Stage::open(again, NARROW);
    let other = other.model.open().expect("open");
    assert_eq!(other.namespace, open.namespace);
    assert_eq!(other.filter.text().trim(), open.filter.text());
}

#[test]
fn a_wrong_filter_of_the_command_line_is_said() {
    let mut wrong = request(&demo());
    wrong.filter = "kind:zebra".to_owned();
    let stage = Stage::open(wrong, NARROW);
    assert!(
        stage.screen().contains("--filter: no resource"),
        "{}",
        stage.screen()
    );
}

fn query(filter: &str) -> FilterQuery {
    FilterQuery::parse(filter, None).unwrap_or_else(|error| panic!("{filter}: {error}"))
}

#[test]
fn every_word_narrows_what_is_seen() {
    let passes = |filter: &str| {
        let seen = FilterCandidate {
            resource: Some(ResourceId(0)),
            namespace: "shop",
            texts: ["web-0", "Running", "1/1 ready"].into_iter(),
        };
        query(filter).admits(&seen, |state| state == LaneState::Bad)
    };
    for yes in [
        "",
        "WEB",
        "ns:shop",
        "bad",
        "down bad",
        "web run",
        "ns:a ns:shop web",
        "/^web-\\d$/",
        "/RUN/",
        "\"1/1 r\"",
        "!db",
        "!ns:a",
        "!down",
        "!/db/",
        "web !ns:a !down",
    ] {
        assert!(passes(yes), "{yes}");
    }
    for no in [
        "ns:sho",
        "down",
        "web bar",
        "ns:a web",
        "/^eb/",
        "!web",
        "!ns:shop",
        "!bad",
        "bad !bad",
        "\"web run\"",
        "!/web/",
        "kind:pod",
    ] {
        assert!(!passes(no), "{no}");
    }
}

#[test]
fn labels_and_fields_narrow_bodies() {
    let pod = json!({
        "metadata": {"name": "web-0", "labels": {"app": "web", "tier.io/x": "front"}},
        "spec": {"nodeName": "m-0", "containers": [{"name": "a", "image": "x"}, {"name": "b", "image": "y"}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}],
            "containerStatuses": [{"name": "a", "restartCount": 4}, {"name": "b", "restartCount": 0}]},
    });
    for yes in [
        "",
        "label:app=web",
        "label:app in (a, web)",
        "label:app notin (a)",
        "label:!missing",
        "label:app,tier.io/x!=back",
        "label:\"app in (web)\"",
        "!label:app=db",
        "status.phase=Running",
        "status.phase==Running",
        "status.phase!=Pending",
        ".spec.nodeName=m-0",
        "spec.gone=",
        "!status.phase=Pending",
        "metadata.labels.app=web",
        "metadata.labels[\"tier.io/x\"]=front",
        "status.conditions[Ready].status!=True",
        "status.containerStatuses.restartCount>3",
        "status.containerStatuses[b].restartCount<1",
        "spec.containers.image=y",
        "status.phase=\"Running\"",
    ] {
        assert!(query(yes).admits_body(&pod), "{yes}");
    }
    for no in [
        "label:app=db",
        "label:!app",
        "label:app in (a,b)",
        "!label:app",
        "status.phase!=Running",
        "spec.nodeName=m-1",
        "spec.gone=x",
        "status.containerStatuses.restartCount>4",
        "spec.containers.image!=y",
        "label:app=web status.phase=Pending",
        "!spec.nodeName=m-0",
    ] {
        assert!(!query(no).admits_body(&pod), "{no}");
    }
}

#[test]
fn what_is_no_filter_says_how_to_write_it() {
    for (filter, words) in [
        ("!", "a value after !"),
        ("web ns:", "a value after ns:"),
        ("\"web", "unterminated quote"),
        ("/web", "end it with /"),
        ("/(/", "unclosed group"),
        ("/a{9999}{9999}/", "invalid pattern"),
        ("label:a=b=c", "not a label selector"),
        ("phase=Running", "status.phase=Running"),
        ("status..a=1", "not a field"),
        ("status.n>many", "a number, found \"many\""),
    ] {
        let error = check_filter(filter).expect_err(filter).to_string();
        assert!(error.contains(words), "{filter}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn a_filter_knows_its_one_namespace() {
    for (filter, expected) in [
        ("ns:a web", Some("a")),
        ("web", None),
        ("!ns:a", None),
        ("ns:a ns:b", None),
    ] {
        assert_eq!(query(filter).namespace(), expected, "{filter}");
    }
}

proptest! {
    #[test]
    fn no_text_panics(filter in "[a-c!/\"'\\[\\](){}=<>:.,\\\\* é]{0,40}|(label:|ns:|kind:|!|/|a\\.b=| in \\(){0,6}") {
        if let Ok(query) = FilterQuery::parse(&filter, None) {
            let seen = FilterCandidate { resource: Some(ResourceId(0)), namespace: "a", texts: ["a", "é"].into_iter() };
            let _passes: bool = query.admits(&seen, |_| true) && query.admits_body(&json!({"a": [{"b": 1}]}));
        }
    }
}

#[test]
fn a_chosen_namespace_is_shown_and_left_by_esc() {
    let mut stage = Stage::open(request(&demo()), WIDE);
    stage.keys("G:ns openshift-etcd-operator<Enter>");
    let screen = stage.screen();
    assert!(screen.contains("/ns:openshift-etcd-operator "), "{screen}");
    assert!(!screen.contains("matching the filter"), "{screen}");
    assert!(
        screen.contains("of namespace openshift-etcd-operator"),
        "{screen}"
    );
    stage.keys("A");
    let screen = stage.screen();
    assert!(
        screen.contains("matching ns:openshift-etcd-operator"),
        "{screen}"
    );
    // First the filter is left, then the namespace, then the log.
    stage.keys("&etcd<Enter>");
    let mut left = Vec::new();
    for _ in 0..3 {
        stage.keys("<Esc>");
        let open = stage.model.open().expect("open");
        left.push((open.filter.is_empty(), open.namespace.is_none(), open.list));
    }
    let expected = [
        (true, false, List::Stream),
        (true, true, List::Stream),
        (true, true, List::Lanes),
    ];
    assert_eq!(left, expected);
}

#[test]
fn a_filter_for_unknown_finds_lanes_with_gaps_and_nodes_that_do_not_report_ready() {
    let folder = tempfile::tempdir().expect("a folder");
    let count = |path: &std::path::Path| {
        let mut stage = Stage::open(request(path), WIDE);
        stage.keys("/unknown<Enter>");
        stage.model.open().expect("open").row_count()
    };
    // A head, and the node that changed in the gap: it has no recorded state "unknown" before.
    assert_eq!(count(&super::stage::gapped(folder.path())), 2);
    // Before the first list, each lane is unknown: that is not a gap. A head, and five nodes that were created without
    // `Ready`.
    assert_eq!(count(&demo()), 6);
}

#[test]
fn a_state_narrows_a_table_to_the_objects_that_are_in_it() {
    let mut asked = request(&demo());
    asked.at = Some("23:21:48".parse().expect("a time"));
    asked.select = Some("clusteroperators".to_owned());
    let names = |filter: &str| {
        let asked = TuiRequest {
            filter: filter.to_owned(),
            ..asked.clone()
        };
        let stage = Stage::open(asked, WIDE);
        let view = stage.model.open().expect("open").table.as_ref();
        let view = view.expect("a table");
        let rows = view.rows.iter().map(|row| &view.table.rows[*row]);
        rows.map(|row| row.subject.name.clone()).collect::<Vec<_>>()
    };
    assert!(names("bad down").contains(&"image-registry".to_owned()));
    let not_good = names("!good");
    assert!(
        not_good.contains(&"image-registry".to_owned()),
        "{not_good:?}"
    );
    assert_eq!(not_good.len() + names("good").len(), names("").len());
}

#[test]
fn a_namespace_of_a_recording_without_namespaces_is_chosen() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut stage = Stage::open(request(&imported(folder.path())), WIDE);
    stage.keys(":ns default<Enter>");
    let open = stage.model.open().expect("open");
    assert_eq!(open.namespace.as_deref(), Some("default"));
}
