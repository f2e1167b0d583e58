//! Events: said once, counted when they are said again, gone when their time is over.

use serde_json::{Value, json};

use super::clock::Instant;
use super::store::As;
use super::world::{Task, World, text};
use crate::rest::Target;

/// An Event that may be said again.
#[derive(Debug)]
pub(super) struct Said {
    target: Target,
    count: u32,
}

/// The place in a Pod that an Event is about.
pub(super) fn path(list: &str, container: &str) -> String {
    format!("spec.{list}{{{container}}}")
}

impl World<'_> {
    /// A controller says something about an object.
    pub(super) fn say_about(
        &mut self,
        object: &Value,
        by: &str,
        component: &str,
        what: (&str, bool),
        message: &str,
    ) {
        let about = reference(object, None);
        let source = json!({"component": component});
        self.say(by, &about, &source, what, message);
    }

    /// A kubelet says something about a Pod.
    pub(super) fn say_of_kubelet(
        &mut self,
        pod: &Value,
        node: &str,
        path: Option<String>,
        what: (&str, bool),
        message: &str,
    ) {
        let about = reference(pod, path);
        let source = json!({"component": "kubelet", "host": node});
        self.say("kubelet", &about, &source, what, message);
    }

    /// A kubelet says something about its node.
    pub(super) fn say_about_node(&mut self, node: &str, what: (&str, bool), message: &str) {
        // A kubelet gives its node's name as the uid.
        let about = json!({"kind": "Node", "apiVersion": "v1", "name": node, "uid": node});
        let source = json!({"component": "kubelet", "host": node});
        self.say("kubelet", &about, &source, what, message);
    }

    fn say(
        &mut self,
        by: &str,
        about: &Value,
        source: &Value,
        (reason, is_warning): (&str, bool),
        message: &str,
    ) {
        let key = format!(
            "{}\0{}\0{reason}\0{message}",
            text(&about["uid"]),
            text(&about["fieldPath"])
        );
        let now = self.store.now.seconds();
        if let Some(said) = self.said.get_mut(&key) {
            said.count += 1;
            let (target, count) = (said.target.clone(), said.count);
            self.store.update(by, &target, As::Update, |event| {
                event["count"] = json!(count);
                event["lastTimestamp"] = json!(now);
            });
            return;
        }
        let namespace = about["namespace"].as_str().unwrap_or("default").to_owned();
        let name = format!("{}.18{}", text(&about["name"]), self.store.random.hex(14));
        let component = source["component"].clone();
        let instance = source.get("host").cloned().unwrap_or_else(|| json!(""));
        self.store.create(
            by,
            json!({
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"name": name, "namespace": namespace},
                "involvedObject": about,
                "reason": reason,
                "message": message,
                "source": source,
                "firstTimestamp": now,
                "lastTimestamp": now,
                "count": 1,
                "type": if is_warning { "Warning" } else { "Normal" },
                "eventTime": null,
                "reportingComponent": component,
                "reportingInstance": instance,
            }),
        );
        let target = Target::namespaced("v1", "Event", &namespace, &name);
        self.said.insert(key, Said { target, count: 1 });
    }

    /// An Event's time is over: the server forgets it, and so do those who said it.
    pub(super) fn expire(&mut self, event: &Target) {
        let Some(object) = self.store.get(event) else {
            return;
        };
        // Saying it again has given it a new time.
        let last: Option<jiff::Timestamp> = text(&object["lastTimestamp"]).parse().ok();
        if let Some(last) = last {
            let over = Instant(last.as_microsecond()).after_secs(self.event_ttl_secs);
            if over > self.store.now {
                self.at(over, Task::Expire(event.clone()));
                return;
            }
        }
        let about = &object["involvedObject"];
        let key = format!(
            "{}\0{}\0{}\0{}",
            text(&about["uid"]),
            text(&about["fieldPath"]),
            text(&object["reason"]),
            text(&object["message"])
        );
        self.said.remove(&key);
        self.store.remove(event);
    }
}

fn reference(object: &Value, path: Option<String>) -> Value {
    let meta = &object["metadata"];
    let mut about = json!({
        "kind": object["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
        "apiVersion": object["apiVersion"],
        "resourceVersion": meta["resourceVersion"],
    });
    if meta["namespace"].is_string() {
        about["namespace"] = meta["namespace"].clone();
    }
    if let Some(path) = path {
        about["fieldPath"] = json!(path);
    }
    about
}
