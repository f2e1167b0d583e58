//! Redacted values in versions of two sessions, whose hashes have different keys.

use crate::script::{Script, thing};
use kubereel_history::{
    ComparisonScope, HistoryItem, HistoryQuestion, Moment, ObjectFilter, Timeline,
};
use serde_json::json;

#[test]
fn values_that_two_sessions_redacted_differ_by_their_lengths_only() {
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
    let changed = history.filter_map(|item| match item {
        HistoryItem::Version(version) => {
            let changes = version.changes?.into_iter();
            Some(changes.map(|change| change.path.to_string()).collect())
        }
        _ => None,
    });
    let changed: Vec<Vec<String>> = changed.collect();
    let [owner, password, token] = [
        ".metadata.annotations.owner",
        ".spec.containers[shop].env[PASSWORD].value",
        ".spec.containers[shop].args[0]",
    ]
    .map(|path| path.trim_start_matches('.').to_owned());
    assert_eq!(changed[1], [owner.as_str()], "{changed:?}");
    let mut both = changed[2].clone();
    both.sort();
    assert_eq!(both, [token, password.clone()], "one session has one key");
    assert_eq!(changed[3], [password.as_str()], "{changed:?}");

    let end = timeline.resolve(Moment::End).expect("a place");
    let state = timeline.as_of(info.id, end, &ObjectFilter::default());
    let blamed = timeline.blame(info, &state.objects[0]).expect("blamed");
    let since = |path: &str| {
        let mut fields = blamed.fields.iter();
        let field = fields.find(|field| field.path.to_string().trim_start_matches('.') == path);
        format!("{:?}", field.expect(path).source)
    };
    // The last known change of the token is that within the second session.
    assert_ne!(since(&both[0]), since(&password));
}
