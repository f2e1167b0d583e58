//! Redacted values in versions of two sessions, whose hashes have different keys.

use crate::script::{Script, thing};
use kubereel_history::{
    Change, ChangeKind, ComparisonScope, HistoryItem, HistoryQuestion, Moment, ObjectFilter,
    Timeline,
};
use serde_json::json;

#[test]
fn of_values_that_two_sessions_redacted_only_another_length_is_a_change() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.reel");
    let shop = thing("web", "shop", "uid-shop");
    let body = |owner: &str, length: usize, hash: &str| {
        let mark = format!("redacted by kubereel: {length} bytes, {hash}");
        let args = [format!("--token=redacted-by-kubereel-9-bytes-{hash}")];
        let container =
            json!({"name": "shop", "args": args, "env": [{"name": "PASSWORD", "value": mark}]});
        let object = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "shop", "namespace": "web", "uid": "uid-shop", "annotations": {"owner": owner}},
            "spec": {"containers": [container]},
        });
        object.to_string().into_bytes()
    };
    let mut script = Script::begin(&path);
    let pods = script.resource("pods", "Pod", &["po"]);
    let stream = script.connect(pods, None);
    script.initial(stream, shop, 11, &body("a", 8, "d14d53700b1c0887"));
    script.synced(stream, 11);
    let mut script = script.resume(&path);
    let stream = script.connect(pods, Some(11));
    for (rv, owner, length, hash) in [
        (12, "b", 8, "aa9d745dcf6e0cde"),
        (13, "b", 8, "0123456789abcdef"),
    ] {
        script.wait(1000);
        script.modified(stream, shop, rv, &body(owner, length, hash));
    }
    let mut script = script.resume(&path);
    let stream = script.connect(pods, Some(13));
    script.wait(1000);
    script.modified(stream, shop, 14, &body("b", 10, "d14d53700b1c0887"));
    script.finish();
    let timeline = Timeline::open(&path).expect("a reel");
    let info = timeline.resources().find("pods").expect("recorded");
    let history = timeline.history(HistoryQuestion {
        resource: info,
        namespace: "web",
        name: "shop",
        scope: ComparisonScope::default(),
        from: None,
        to: None,
    });
    let versions = history.filter_map(|item| match item {
        HistoryItem::Version(version) => version.changes,
        _ => None,
    });
    let versions: Vec<Vec<Change>> = versions.collect();
    let paths = |number: usize, is_known: bool| {
        let changes = versions[number].iter();
        let changes = changes.filter(|one| (one.kind != ChangeKind::Unknown) == is_known);
        let mut paths: Vec<String> = changes.map(|one| one.path.to_string()).collect();
        paths.sort();
        paths
    };
    let [owner, password, token] = [
        ".metadata.annotations.owner",
        ".spec.containers[shop].env[PASSWORD].value",
        ".spec.containers[shop].args[0]",
    ]
    .map(|path| path.trim_start_matches('.').to_owned());
    let both = [token.clone(), password.clone()];
    assert_eq!(paths(1, true), [owner]);
    assert_eq!(paths(1, false), both);
    assert_eq!(paths(2, true), both, "one session has one key");
    assert!(paths(2, false).is_empty());
    assert_eq!(paths(3, true), [password.as_str()]);
    assert_eq!(paths(3, false), [token.as_str()]);

    let end = timeline.resolve(Moment::End).expect("a place");
    let state = timeline.as_of(info.id, end, &ObjectFilter::default());
    let blamed = timeline.blame(info, &state.objects[0]).expect("blamed");
    let doubt = |path: &str| {
        let mut fields = blamed.fields.iter();
        let field = fields.find(|field| field.path.to_string() == path);
        field.expect(path).may_be_older
    };
    assert!(doubt(&token), "it may have been set before");
}
