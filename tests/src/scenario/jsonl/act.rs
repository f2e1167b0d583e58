//! Does what a step says, and tells whether its gate is open.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::Moment;
use super::super::play::gate::{is_rolled_out, waits};
use super::super::play::stamps::{self, Stamp};
use super::super::step::{Act, Gate, Step};
use super::clock::Instant;
use super::store::As;
use super::world::{Task, World, text};
use crate::rest::Target;

/// Which time each moment of the plan came to be.
pub(super) type Walls = BTreeMap<Moment, Instant>;

impl World<'_> {
    /// Does what a step says.
    pub(super) fn act(&mut self, step: &Step, walls: &Walls) {
        let by = step.actor.replace(' ', "-");
        match &step.act {
            // Clients see a server restart, objects do not.
            Act::Await | Act::RestartApiServer { .. } => {}
            Act::Script { pods, fate } => self.fates.script(pods.clone(), fate.clone()),
            Act::Join {
                node,
                not_ready_secs,
            } => self.join(node, *not_ready_secs),
            Act::Reboot {
                node,
                down_secs,
                not_ready_secs,
            } => self.reboot(node, *down_secs, *not_ready_secs),
            Act::Drain { node } => self.later(0.01, Task::Drain(node.clone())),
            Act::Lead { lease, leader } => self.lead(&by, lease, leader),
            Act::Resign { lease } => self.resign(&by, lease),
            Act::Create { object } => {
                let object = self.filled(object, walls);
                self.store.create(&by, object);
            }
            Act::Apply { object } => {
                let object = self.filled(object, walls);
                let Some(target) = Target::of(&object) else {
                    return;
                };
                if self.store.has(&target) {
                    self.store
                        .update(&by, &target, As::Apply, |old| merge(old, &object));
                } else {
                    self.store.create_as(&by, As::Apply, object);
                }
            }
            Act::Merge { target, patch } => self.patch(&by, target, &self.filled(patch, walls)),
            Act::UpdateStatus { target, status } => {
                let status = self.filled(status, walls);
                self.store
                    .update(&by, target, As::Status, |object| object["status"] = status);
            }
            Act::Delete { target, grace_secs } => self.delete(target, *grace_secs, &by),
        }
        self.react();
    }

    fn patch(&mut self, by: &str, target: &Target, patch: &Value) {
        let is_template = patch["spec"].get("template").is_some();
        self.store.update(by, target, As::Update, |object| {
            let before = object["spec"].clone();
            merge(object, patch);
            if is_template && target.kind == "DaemonSet" && object["spec"] != before {
                let key = "deprecated.daemonset.template.generation";
                let old: i64 = text(&object["metadata"]["annotations"][key])
                    .parse()
                    .unwrap_or(0);
                object["metadata"]["annotations"][key] = json!((old + 1).to_string());
            }
            // The server fills in anew what a patch of a list has left out.
            super::defaults::fill(object);
        });
        if target.kind == "Node" {
            self.note_cordon(&target.name);
        }
    }

    fn delete(&mut self, target: &Target, grace_secs: Option<u32>, by: &str) {
        if target.kind != "Pod" {
            self.store.remove(target);
            return;
        }
        let key = (
            target.namespace.clone().unwrap_or_default(),
            target.name.clone(),
        );
        if let Some(pod) = self.pods.get(&key).cloned() {
            self.delete_pod(&pod, grace_secs, by);
        }
    }

    fn filled(&self, document: &Value, walls: &Walls) -> Value {
        let mut document = document.clone();
        let wall = |moment: &Moment| {
            walls.get(moment).copied().or_else(|| {
                let (before, at) = walls.range(..=*moment).next_back()?;
                let later =
                    (moment.since_start().saturating_sub(before.since_start())).as_secs_f64();
                Some(at.after_secs(later))
            })
        };
        stamps::fill(&mut document, &|stamp| match stamp {
            Stamp::Secs(moment) => wall(moment).map(Instant::seconds),
            Stamp::Micros(moment) => wall(moment).map(Instant::micros),
            Stamp::Uid(target) => self
                .store
                .get(target)
                .map(|object| text(&object["metadata"]["uid"])),
            Stamp::Holder(lease) => self.leases.get(lease).map(|held| held.last_holder.clone()),
        });
        document
    }

    /// Whether the cluster has come to what a step needs.
    pub(super) fn is_open(&self, gate: &Gate) -> bool {
        match gate {
            // What was written before is done: nobody here writes late.
            Gate::Settled => true,
            Gate::RolledOut { targets } => targets.iter().all(|target| {
                self.store
                    .get(target)
                    .is_some_and(|found| is_rolled_out(&found))
            }),
            Gate::PodWaits { pod, reason } => self
                .store
                .get(pod)
                .is_some_and(|pod| waits(&pod) == Some(reason)),
            Gate::PodPhase { pod, phase } => self
                .store
                .get(pod)
                .is_some_and(|pod| pod["status"]["phase"] == phase.as_str()),
            Gate::NodeReady { node, boot_id } => self
                .machines
                .get(node)
                .is_some_and(|machine| machine.is_ready_in(boot_id)),
            Gate::Drained { node } => self.to_be_drained(node).is_empty(),
        }
    }
}

/// Merges as a JSON merge patch does.
fn merge(into: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *into = patch.clone();
        return;
    };
    if !into.is_object() {
        *into = json!({});
    }
    for (key, value) in patch {
        if value.is_null() {
            if let Some(fields) = into.as_object_mut() {
                fields.remove(key);
            }
        } else {
            merge(&mut into[key], value);
        }
    }
}
