//! Hands the steps of a plan out at their times, one lane an actor.

use super::perform::Stage;
use super::{Gate, Moment, Plan, Step, gate, perform};
use crate::control_plane::{Builder, ControlPlane};
use crate::kubelet::Kubelets;
use crate::rest::{Rest, Target};
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

/// Plays plans on a real API. Its kubelets live as long as it does.
pub struct ApiPlayer {
    stage: Arc<Stage>,
}

/// How long virtual time may stand still for one gate.
const GATE_WITHIN: Duration = Duration::from_mins(1);
/// How many steps an actor may be behind before the play waits for it.
const LANE_STEPS: usize = 64;

type Lanes = BTreeMap<String, mpsc::Sender<Step>>;

impl ApiPlayer {
    /// Makes a player over the API servers of one cluster, at a plan's speed.
    ///
    /// # Errors
    ///
    /// A server cannot be reached.
    pub async fn new(control_plane: &Arc<ControlPlane>, speed: f64) -> Result<Self> {
        let mut clients = Vec::new();
        for server in 0..control_plane.api_servers() {
            clients.push(control_plane.client(server).await?);
        }
        let rest = Rest::new(clients);
        let kubelets = Kubelets::start(rest.clone(), speed);
        let stage = Stage::new(rest, kubelets, Arc::clone(control_plane), speed);
        Ok(Self {
            stage: Arc::new(stage),
        })
    }

    /// Plays a plan to its end.
    ///
    /// # Errors
    ///
    /// The cluster got stuck, or steps failed.
    pub async fn play(&self, plan: &Plan) -> Result<()> {
        let stage = &self.stage;
        let mut tasks = JoinSet::new();
        let mut lanes = Lanes::new();
        let start = Instant::now();
        let mut held = Duration::ZERO;
        for step in &plan.steps {
            sleep_until(start + held + stage.real(step.at.since_start())).await;
            let began = Instant::now();
            if let Some(gate) = &step.gate {
                let passed = timeout(GATE_WITHIN, self.pass(gate)).await;
                let at = step.at;
                passed
                    .with_context(|| format!("at {at} the cluster did not come to {gate:?}"))??;
                held += began.elapsed();
            }
            stage.pass(step.at);
            self.hand_out(step.clone(), &mut lanes, &mut tasks).await;
        }
        sleep_until(start + held + stage.real(plan.end.since_start())).await;
        drop(lanes);
        tasks.join_all().await;
        let failures = stage.failures();
        ensure!(failures.is_empty(), "steps failed: {failures:#?}");
        Ok(())
    }

    /// Waits until all writes so far are done, and then for the gate.
    async fn pass(&self, gate: &Gate) -> Result<()> {
        let mut unsettled = self.stage.unsettled.subscribe();
        // The sender lives in the stage: it cannot be gone.
        unsettled.wait_for(|count| *count == 0).await.ok();
        Ok(gate::pass(&self.stage.rest, gate).await?)
    }

    /// Gives a step to its actor's lane.
    async fn hand_out(&self, step: Step, lanes: &mut Lanes, tasks: &mut JoinSet<()>) {
        let lane = lanes.entry(step.actor.clone()).or_insert_with(|| {
            let (sender, receiver) = mpsc::channel(LANE_STEPS);
            tasks.spawn(walk(Arc::clone(&self.stage), receiver));
            sender
        });
        if !perform::is_long(&step.act) {
            self.stage.unsettled.send_modify(|count| *count += 1);
        }
        // The receiver ends only when this sender is dropped.
        lane.send(step).await.ok();
    }
}

/// Plays the steps of one actor, in order.
async fn walk(stage: Arc<Stage>, mut steps: mpsc::Receiver<Step>) {
    while let Some(step) = steps.recv().await {
        perform::perform(&stage, &step).await;
        if !perform::is_long(&step.act) {
            stage.unsettled.send_modify(|count| *count -= 1);
        }
    }
}

/// A control plane that scenarios can be played on: two API servers, controllers and a scheduler.
pub fn control_plane() -> Builder {
    // Version Pods are privileged.
    ControlPlane::builder()
        .api_servers(2)
        .controllers(true)
        .scheduler(true)
        .api_flag("--allow-privileged=true")
}

const LEASES: &str = "coordination.k8s.io/v1";

/// A place to be filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stamp {
    Secs(Moment),
    Micros(Moment),
    Uid(Target),
    /// Who leads by a Lease, or was the last to do so.
    Holder(Target),
}

/// All objects whose uid a document asks for.
pub(super) fn uids_in(document: &Value) -> Vec<Target> {
    let mut found = Vec::new();
    visit(document, &mut |text| {
        let mut rest = text;
        while let Some((_, stamp, after)) = next_stamp(rest) {
            if let Stamp::Uid(target) = stamp {
                found.push(target);
            }
            rest = after;
        }
    });
    found
}

/// Fills a document in; what `know` does not know stays as it is.
pub(super) fn fill(document: &mut Value, know: &impl Fn(&Stamp) -> Option<String>) {
    match document {
        Value::String(text) if text.contains("{{") => *text = fill_text(text, know),
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, know)),
        Value::Object(fields) => fields.values_mut().for_each(|field| fill(field, know)),
        _ => {}
    }
}

fn fill_text(text: &str, know: &impl Fn(&Stamp) -> Option<String>) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, stamp, after)) = next_stamp(rest) {
        filled.push_str(before);
        match know(&stamp) {
            Some(known) => filled.push_str(&known),
            None => filled.push_str(
                rest.get(before.len()..rest.len() - after.len())
                    .unwrap_or_default(),
            ),
        }
        rest = after;
    }
    filled + rest
}

/// The text before the next stamp, the stamp, and the text after it.
fn next_stamp(text: &str) -> Option<(&str, Stamp, &str)> {
    let (before, opened) = text.split_once("{{")?;
    let (inside, after) = opened.split_once("}}")?;
    let words: Vec<&str> = inside.split(' ').collect();
    let moment = |millis: &str| millis.parse().ok().map(Moment);
    let stamp = match words.as_slice() {
        ["secs", millis] => Stamp::Secs(moment(millis)?),
        ["micros", millis] => Stamp::Micros(moment(millis)?),
        ["holder", namespace, name, _term] => {
            Stamp::Holder(Target::namespaced(LEASES, "Lease", namespace, name))
        }
        ["uid", api_version, kind, "-", name] => {
            Stamp::Uid(Target::cluster_wide(api_version, kind, name))
        }
        ["uid", api_version, kind, namespace, name] => {
            Stamp::Uid(Target::namespaced(api_version, kind, namespace, name))
        }
        _ => return None,
    };
    Some((before, stamp, after))
}

fn visit(document: &Value, on_text: &mut impl FnMut(&str)) {
    match document {
        Value::String(text) => on_text(text),
        Value::Array(items) => items.iter().for_each(|item| visit(item, on_text)),
        Value::Object(fields) => fields.values().for_each(|field| visit(field, on_text)),
        _ => {}
    }
}

#[cfg(test)]
mod stamps_tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn stamps_are_found_and_filled_in_anywhere() {
        let mut document = json!({
            "a": ["{{secs 1500}}", {"b": "x {{micros 7}} y {{secs 1}}"}],
            "uid": "{{uid v1 Node - master-0}}",
            "other": "{{not ours}}",
        });
        assert_eq!(
            uids_in(&document),
            [Target::cluster_wide("v1", "Node", "master-0")]
        );
        fill(&mut document, &|stamp| match stamp {
            Stamp::Secs(moment) => Some(format!("S{}", moment.0)),
            Stamp::Micros(moment) => Some(format!("M{}", moment.0)),
            Stamp::Uid(_) | Stamp::Holder(_) => None,
        });
        assert_eq!(
            document,
            json!({
                "a": ["S1500", {"b": "x M7 y S1"}],
                "uid": "{{uid v1 Node - master-0}}",
                "other": "{{not ours}}",
            })
        );
    }
}
