//! What filters mean, as a table of filters and what passes them.

use crate::filter::{Query, Seen, check_filter};
use crate::lane::LaneState;
use kubereel_format::ResourceId;
use proptest::prelude::*;
use serde_json::json;

fn query(filter: &str) -> Query {
    Query::parse(filter, None).unwrap_or_else(|error| panic!("{filter}: {error}"))
}

#[test]
fn every_word_narrows_what_is_seen() {
    let passes = |filter: &str| {
        let seen = Seen {
            resource: ResourceId(0),
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
        ("!", "nothing follows !"),
        ("web ns:", "nothing follows ns:"),
        ("\"web", "a quote is not closed"),
        ("/web", "ends in a slash"),
        ("/(/", "unclosed group"),
        ("/a{9999}{9999}/", "no pattern"),
        ("label:a=b=c", "not a label selector"),
        ("phase=Running", "status.phase=Running"),
        ("status..a=1", "not a field"),
        ("status.n>many", "\"many\" is not a number"),
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
        if let Ok(query) = Query::parse(&filter, None) {
            let seen = Seen { resource: ResourceId(0), namespace: "a", texts: ["a", "é"].into_iter() };
            let _passes: bool = query.admits(&seen, |_| true) && query.admits_body(&json!({"a": [{"b": 1}]}));
        }
    }
}
