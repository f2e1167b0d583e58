//! What kubelets do with Pods: the beats of their lives, written as their kubelet would.

use serde_json::{Value, json};

use super::pod::{Facts, Running, field_path};
use super::store::As;
use super::world::{Task, World};
use crate::kubelet::{Beat, Change, Fate, Life, Note, PodView};
use crate::rest::Target;

impl World<'_> {
    /// A Pod has come to a node.
    pub(super) fn take_on(&mut self, target: &Target, pod: &Value, facts: &Facts) {
        let Some(machine) = self.machines.get_mut(&facts.node) else {
            return;
        };
        let own_ip = machine.next_pod_ip();
        let mut view = PodView::of(pod, &machine.spec.host_ip(), &own_ip);
        let fate = self.fates.take(pod);
        if matches!(fate, Fate::StartsSlowly { .. }) {
            view.containers
                .iter_mut()
                .for_each(|container| container.has_readiness_probe = true);
        }
        if let Some(secs) = pod["spec"]["activeDeadlineSeconds"].as_f64() {
            self.later(secs, Task::Deadline(target.clone(), facts.uid.clone()));
        }
        let running = Running {
            view,
            life: Life::new(fate),
            next: None,
            node: facts.node.clone(),
        };
        self.running.insert(target.clone(), running);
        self.count_pods(&facts.node);
        self.plan_beat(target);
    }

    /// Puts the next beat of a Pod on the list.
    pub(super) fn plan_beat(&mut self, target: &Target) {
        let Some(running) = self.running.get_mut(target) else {
            return;
        };
        let machine = self.machines.get(&running.node);
        let images = machine.map(|machine| &machine.images);
        let has_image = |image: &str| images.is_some_and(|images| images.contains(image));
        running.next = running.life.next(&running.view, has_image);
        if let Some(beat) = &running.next {
            let secs = beat.after.as_secs_f64() + self.store.random.millis(2, 180);
            let uid = running.view.uid.clone();
            self.later(secs, Task::Beat(target.clone(), uid));
        }
    }

    fn is_on_duty(&self, target: &Target, uid: &str) -> bool {
        self.running.get(target).is_some_and(|running| {
            running.view.uid == uid
                && self
                    .machines
                    .get(&running.node)
                    .is_some_and(|machine| machine.is_up)
        })
    }

    /// The next thing that happens to a Pod.
    pub(super) fn beat(&mut self, target: &Target, uid: &str) {
        let is_dying = self
            .pods
            .get(&(
                target.namespace.clone().unwrap_or_default(),
                target.name.clone(),
            ))
            .is_none_or(|facts| facts.is_dying);
        if is_dying || !self.is_on_duty(target, uid) {
            return;
        }
        let Some(beat) = self
            .running
            .get_mut(target)
            .and_then(|running| running.next.take())
        else {
            return;
        };
        self.play(target, &beat);
        self.plan_beat(target);
    }

    fn play(&mut self, target: &Target, beat: &Beat) {
        let now = self.store.now.seconds();
        let Some(running) = self.running.get_mut(target) else {
            return;
        };
        for change in &beat.changes {
            running.view.apply(change, &now);
            if let Change::Starts { container } = change
                && let Some(container) = running.view.containers.get(*container)
                && let Some(machine) = self.machines.get_mut(&running.node)
            {
                machine.keep_image(&container.image);
            }
        }
        if !beat.changes.is_empty() {
            self.write_pod_status(target);
        }
        for note in &beat.notes {
            self.tell(target, note);
        }
    }

    fn tell(&mut self, target: &Target, note: &Note) {
        let (Some(running), Some(pod)) = (self.running.get(target), self.store.get(target)) else {
            return;
        };
        let path = note
            .container
            .and_then(|index| field_path(&running.view, index));
        let host = running.node.clone();
        self.say_of_kubelet(
            &pod,
            &host,
            path,
            (note.reason, note.is_warning),
            &note.message,
        );
    }

    pub(super) fn write_pod_status(&mut self, target: &Target) {
        let Some(running) = self.running.get(target) else {
            return;
        };
        let status = running.view.to_status();
        self.store.update("kubelet", target, As::Status, |pod| {
            merge_status(&mut pod["status"], &status);
        });
    }

    /// A Pod that is being deleted has stopped: its last status is told, and the object goes.
    pub(super) fn finish(&mut self, target: &Target, uid: &str) {
        let Some(running) = self.running.get_mut(target) else {
            return;
        };
        if running.view.uid != uid {
            return;
        }
        if !self
            .machines
            .get(&running.node)
            .is_some_and(|machine| machine.is_up)
        {
            // The node is off: its kubelet ends the Pod when it is back.
            self.later(2.0, Task::Finish(target.clone(), uid.to_owned()));
            return;
        }
        let node = running.node.clone();
        if !running.view.is_over() {
            running
                .view
                .apply(&Change::Stopped, &self.store.now.seconds());
            self.write_pod_status(target);
        }
        self.store.remove(target);
        self.running.remove(target);
        self.count_pods(&node);
    }

    /// A Pod has run for longer than it may.
    pub(super) fn pass_deadline(&mut self, target: &Target, uid: &str) {
        let is_late = self
            .running
            .get(target)
            .is_some_and(|running| running.view.uid == uid && !running.view.is_over());
        if !is_late {
            return;
        }
        let message = "Pod was active on the node longer than the specified deadline".to_owned();
        let beat = Beat::after(
            0.0,
            vec![Change::Fails {
                reason: "DeadlineExceeded",
                message: message.clone(),
            }],
            vec![Note {
                container: None,
                is_warning: false,
                reason: "DeadlineExceeded",
                message,
            }],
        );
        self.play(target, &beat);
    }

    /// A node is back: what was on it starts again.
    pub(super) fn restart_pods(&mut self, node: &str) {
        let now = self.store.now.seconds();
        let targets: Vec<Target> = self
            .running
            .iter()
            .filter(|(_, running)| running.node == node && !running.view.is_over())
            .map(|(target, _)| target.clone())
            .collect();
        for target in targets {
            if let Some(running) = self.running.get_mut(&target) {
                running.view.apply(&Change::Rebooted, &now);
                running.life.restart();
            }
            self.write_pod_status(&target);
            self.plan_beat(&target);
        }
    }
}

/// Merges a kubelet's status into a Pod's: nulls go, conditions of others stay behind its own.
fn merge_status(status: &mut Value, patch: &Value) {
    for (key, value) in patch.as_object().into_iter().flatten() {
        match value {
            Value::Null => {
                if let Some(fields) = status.as_object_mut() {
                    fields.remove(key);
                }
            }
            Value::Array(conditions) if key == "conditions" => {
                let mut merged: Vec<Value> = conditions.iter().map(without_nulls).collect();
                let others = status["conditions"].as_array().cloned().unwrap_or_default();
                for other in others {
                    if !merged.iter().any(|one| one["type"] == other["type"]) {
                        merged.push(other);
                    }
                }
                status["conditions"] = Value::Array(merged);
            }
            value => status[key] = value.clone(),
        }
    }
}

/// A condition without what a patch takes away; the time of a probe that never was stays null.
fn without_nulls(condition: &Value) -> Value {
    let fields = condition.as_object().into_iter().flatten();
    fields
        .filter(|(key, value)| !value.is_null() || *key == "lastProbeTime")
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// Node names and reasons are JSON texts here and there.
pub(super) fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or(0)
}

/// A rounded share of a number, as `maxSurge` and `maxUnavailable` have it.
pub(super) fn share(value: &Value, of: i64, rounds_up: bool) -> i64 {
    match value {
        Value::String(percent) => {
            let percent: i64 = percent.trim_end_matches('%').parse().unwrap_or(0);
            let hundredfold = percent * of;
            if rounds_up {
                (hundredfold + 99) / 100
            } else {
                hundredfold / 100
            }
        }
        other => other.as_i64().unwrap_or(0),
    }
}

/// A condition by its type, from a status that keeps the time of its last flip.
pub(super) fn set_condition(conditions: &mut Value, condition: Value, with_update_time: bool) {
    let list = match conditions {
        Value::Array(list) => list,
        other => {
            *other = json!([]);
            match other {
                Value::Array(list) => list,
                _ => return,
            }
        }
    };
    let mut condition = condition;
    match list.iter_mut().find(|one| one["type"] == condition["type"]) {
        Some(known) => {
            if known["status"] == condition["status"] {
                condition["lastTransitionTime"] = known["lastTransitionTime"].clone();
                let is_same = ["reason", "message"]
                    .iter()
                    .all(|key| known[*key] == condition[*key]);
                if is_same && with_update_time {
                    condition["lastUpdateTime"] = known["lastUpdateTime"].clone();
                }
            }
            *known = condition;
        }
        None => list.push(condition),
    }
}
