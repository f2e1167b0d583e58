//! The list a scenario is written into: steps in any order, sorted once at the end.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Moment;
use super::dice::Dice;
use super::step::{Act, Gate, Step};
use crate::rest::Target;

/// Collects steps, and counts the Events that are said more than once.
#[derive(Debug)]
pub(super) struct Script {
    steps: Vec<Step>,
    said: BTreeMap<String, (Target, u32)>,
    dice: Dice,
}

/// What an operator's Event is about, and who says it.
#[derive(Debug, Clone)]
pub(super) struct Said<'a> {
    /// The field manager.
    pub(super) by: &'a str,
    /// The component that the Event names.
    pub(super) component: &'a str,
    /// The namespace of the Event itself.
    pub(super) namespace: &'a str,
    pub(super) about: Value,
    pub(super) is_warning: bool,
    pub(super) reason: &'a str,
    pub(super) message: String,
}

impl Script {
    pub(super) fn new(dice: Dice) -> Self {
        Self {
            steps: Vec::new(),
            said: BTreeMap::new(),
            dice,
        }
    }

    pub(super) fn act(&mut self, at: Moment, actor: &str, act: Act) {
        self.steps.push(Step {
            at,
            actor: actor.to_owned(),
            gate: None,
            act,
        });
    }

    pub(super) fn act_after(&mut self, at: Moment, actor: &str, gate: Gate, act: Act) {
        self.steps.push(Step {
            at,
            actor: actor.to_owned(),
            gate: Some(gate),
            act,
        });
    }

    pub(super) fn create(&mut self, at: Moment, actor: &str, object: Value) {
        self.act(at, actor, Act::Create { object });
    }

    pub(super) fn merge(&mut self, at: Moment, actor: &str, target: &Target, patch: Value) {
        self.act(
            at,
            actor,
            Act::Merge {
                target: target.clone(),
                patch,
            },
        );
    }

    pub(super) fn update_status(
        &mut self,
        at: Moment,
        actor: &str,
        target: &Target,
        status: Value,
    ) {
        self.act(
            at,
            actor,
            Act::UpdateStatus {
                target: target.clone(),
                status,
            },
        );
    }

    /// Says something as an Event; what was said before only counts up.
    pub(super) fn say(&mut self, at: Moment, said: &Said<'_>) {
        let key = format!(
            "{}\0{}\0{}\0{}\0{}",
            said.by, said.namespace, said.about, said.reason, said.message
        );
        if let Some((target, count)) = self.said.get_mut(&key) {
            *count += 1;
            let patch = json!({"count": *count, "lastTimestamp": at.stamp()});
            let target = target.clone();
            self.merge(at, said.by, &target, patch);
            return;
        }
        let about = said.about["name"].as_str().unwrap_or_default();
        let name = format!("{about}.18{}", self.dice.hex(14, &["event", &key]));
        self.create(
            at,
            said.by,
            json!({
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"name": name, "namespace": said.namespace},
                "involvedObject": said.about,
                "reason": said.reason,
                "message": said.message,
                "source": {"component": said.component},
                "firstTimestamp": at.stamp(),
                "lastTimestamp": at.stamp(),
                "count": 1,
                "type": if said.is_warning { "Warning" } else { "Normal" },
                "eventTime": null,
                "reportingComponent": said.component,
                "reportingInstance": "",
            }),
        );
        self.said.insert(
            key,
            (Target::namespaced("v1", "Event", said.namespace, &name), 1),
        );
    }

    /// The steps by time; those of one moment stay in the order in which they were written.
    pub(super) fn into_steps(mut self) -> Vec<Step> {
        self.steps.sort_by_key(|step| step.at);
        self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_again_counts_up() {
        let mut script = Script::new(Dice::new(1));
        let said = Said {
            by: "a",
            component: "a",
            namespace: "default",
            about: json!({"name": "version"}),
            is_warning: false,
            reason: "Retrieve",
            message: "m".to_owned(),
        };
        script.say(Moment::from_secs(2.0), &said);
        script.say(Moment::from_secs(3.0), &said);
        script.say(
            Moment::from_secs(1.0),
            &Said {
                reason: "Other",
                ..said.clone()
            },
        );
        let steps = script.into_steps();
        assert!(steps.is_sorted_by_key(|step| step.at));
        let Act::Merge { patch, .. } = &steps[2].act else {
            panic!("{:?}", steps[2])
        };
        assert_eq!(patch["count"], 2);
    }
}
