//! Measures the speed of redaction, beside a plain pass over the same bytes in the same run.
//!
//! `cargo bench -p kubereel-redact [FILE…]`: JSON lines of objects, or of events with an `object`;
//! without a file, an ordinary Pod.

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark prints, and what helps it may fail it"
)]

use kubereel_redact::{Extra, Redactor, ResourceType};
use serde_json::Value;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// The bytes that each measurement reads at least.
const BYTES: usize = 200 * 1024 * 1024;

/// An object and its resource type.
struct Item {
    plural: String,
    kind: String,
    group: String,
    body: Vec<u8>,
}

fn item(value: &Value) -> Item {
    let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let api_version = text("apiVersion");
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    Item {
        plural: String::new(),
        kind: text("kind"),
        group: group.to_owned(),
        body: value.to_string().into_bytes(),
    }
}

fn items(files: &[String]) -> Vec<Item> {
    if files.is_empty() {
        return vec![item(&pod())];
    }
    let mut items = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file).expect("a readable file");
        for line in text.lines() {
            let value: Value = serde_json::from_str(line).expect("a line of JSON");
            items.push(item(value.get("object").unwrap_or(&value)));
        }
    }
    items
}

fn pod() -> Value {
    let containers: Vec<Value> = (0..4)
        .map(|number| {
            serde_json::json!({"name": format!("container-{number}"),
            "image": "quay.io/example/image@sha256:3e9a9708a3b2b94d2b7f8f9a3a29a7d8e4e8b9f3d4a4e2c7d1c5a1f0e9b8c7d6",
            "command": ["/bin/sh", "-c", "exec /usr/bin/program --v=4 --config=/etc/program/config.yaml"],
            "env": [{"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}, {"name": "GOGC", "value": "100"}],
            "volumeMounts": [{"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": "kube-api-access", "readOnly": true}],
            "terminationMessagePolicy": "FallbackToLogsOnError"})
        })
        .collect();
    let managed: Vec<Value> = (0..3)
        .map(|_| {
            serde_json::json!({"manager": "kubelet", "operation": "Update", "time": "2026-11-21T14:02:31Z", "subresource": "status",
            "fieldsV1": {"f:status": {"f:conditions": {"k:{\"type\":\"Ready\"}": {".": {}, "f:lastTransitionTime": {}, "f:message": {}, "f:reason": {}, "f:status": {}}}}}})
        })
        .collect();
    serde_json::json!({"kind": "Pod", "apiVersion": "v1",
        "metadata": {"name": "etcd-0", "namespace": "openshift-etcd", "uid": "0b1f9cc6-6a5e-4d0b-9d0e-9f3a4a0a8a11", "managedFields": managed},
        "spec": {"containers": containers, "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}]},
        "status": {"conditions": [{"type": "Ready", "status": "False", "message": "containers with unready status: [etcd]"}]}})
}

/// Measures how many megabytes a second a pass over all items makes.
fn measure(items: &[Item], mut pass: impl FnMut(&Item)) -> f64 {
    let began = Instant::now();
    let mut bytes = 0_usize;
    while bytes < BYTES || began.elapsed() < Duration::from_millis(500) {
        for item in items {
            pass(item);
            bytes += item.body.len();
        }
    }
    let megabytes = f64::from(u32::try_from(bytes / 1024).expect("not so many")) / 1024.0;
    megabytes / began.elapsed().as_secs_f64()
}

fn main() {
    let files: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let items = items(&files);
    let redactor = Redactor::new(Extra::default()).expect("random bytes");
    let plain = measure(&items, |item| {
        let sum = item
            .body
            .iter()
            .fold(0_u64, |sum, byte| sum.wrapping_add(u64::from(*byte)));
        black_box(sum);
    });
    let parsed = measure(&items, |item| {
        let ignored: Result<serde::de::IgnoredAny, _> = serde_json::from_slice(&item.body);
        black_box(ignored.is_ok());
    });
    let mut changed = 0_u64;
    let redacted = measure(&items, |item| {
        let subject = ResourceType::new(&item.group, &item.plural).with_kind(&item.kind);
        let kept = redactor.object(&subject, &item.body);
        changed += u64::from(matches!(kept, Some(std::borrow::Cow::Owned(_))));
        black_box(kept);
    });
    println!("objects           {}", items.len());
    println!("sum of the bytes  {plain:8.0} MB/s");
    println!("JSON skipped      {parsed:8.0} MB/s");
    println!("redaction         {redacted:8.0} MB/s, changed {changed} times");
}
