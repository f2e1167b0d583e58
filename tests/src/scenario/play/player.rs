//! Hands the steps of a plan out at their times, one lane an actor.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::ensure;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use super::super::plan::{Gate, Step};
use super::super::{Moment, Plan};
use super::perform::{ApiServers, Stage, lock};
use super::{gate, perform};
use crate::control_plane::{Builder, ControlPlane};
use crate::kubelet::Kubelets;
use crate::rest::{self, Rest, Target};

/// Plays plans on a real API. Its kubelets live as long as it does.
pub struct ApiPlayer {
    stage: Arc<Stage>,
}

/// How long virtual time may stand still for one gate.
const GATE_WITHIN: Duration = Duration::from_mins(1);
/// How many steps an actor may be behind before the play waits for it.
const LANE_STEPS: usize = 64;

/// A step on its way to its actor.
struct Work {
    step: Step,
    held_millis: u64,
}

type Lanes = BTreeMap<String, mpsc::Sender<Work>>;

impl ApiPlayer {
    /// A player over the clients of one cluster's API servers, at a plan's speed.
    ///
    /// The clients' own retries should be off. Without `api_servers` restarts are left out.
    pub fn new(
        clients: Vec<kube::Client>,
        speed: f64,
        api_servers: Option<Arc<dyn ApiServers>>,
    ) -> Self {
        let rest = Rest::new(clients);
        let kubelets = Kubelets::start(rest.clone(), speed);
        Self {
            stage: Arc::new(Stage::new(rest, kubelets, api_servers, speed)),
        }
    }

    /// What was played so far; also when a play ended badly.
    pub fn journal(&self) -> Journal {
        lock(&self.stage.journal).clone()
    }

    /// Plays a plan to its end.
    ///
    /// # Errors
    ///
    /// The cluster got stuck, or steps failed.
    pub async fn play(&self, plan: &Plan) -> Result<Journal, PlayError> {
        let stage = &self.stage;
        let mut tasks = JoinSet::new();
        let mut lanes = Lanes::new();
        let start = Instant::now();
        let mut held = Duration::ZERO;
        for step in &plan.steps {
            sleep_until(start + held + stage.real(step.at.since_start())).await;
            let began = Instant::now();
            if let Some(gate) = &step.gate {
                self.pass(step, gate).await?;
                held += began.elapsed();
            }
            stage.pass(step.at, rest::now());
            let work = Work {
                step: step.clone(),
                held_millis: millis(began.elapsed()),
            };
            self.hand_out(work, &mut lanes, &mut tasks).await;
        }
        sleep_until(start + held + stage.real(plan.end.since_start())).await;
        drop(lanes);
        tasks.join_all().await;
        lock(&stage.journal).held_millis = millis(held);
        let journal = self.journal();
        let mut failures = journal.failures();
        failures.extend(stage.kubelets.failures());
        if failures.is_empty() {
            Ok(journal)
        } else {
            Err(PlayError::Failed { failures })
        }
    }

    /// Waits until all writes so far are done, and then for the gate.
    async fn pass(&self, step: &Step, gate: &Gate) -> Result<(), PlayError> {
        let mut unsettled = self.stage.unsettled.subscribe();
        let waiting = async {
            // The sender lives in the stage: it cannot be gone.
            unsettled.wait_for(|count| *count == 0).await.ok();
            gate::pass(&self.stage.rest, gate).await
        };
        match timeout(GATE_WITHIN, waiting).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(PlayError::Failed {
                failures: vec![format!("{}: {error}", step.at)],
            }),
            Err(_elapsed) => Err(PlayError::Stuck {
                at: step.at,
                gate: gate.clone(),
                within: GATE_WITHIN,
            }),
        }
    }

    /// Gives a step to its actor's lane.
    async fn hand_out(&self, work: Work, lanes: &mut Lanes, tasks: &mut JoinSet<()>) {
        let lane = lanes.entry(work.step.actor.clone()).or_insert_with(|| {
            let (sender, receiver) = mpsc::channel(LANE_STEPS);
            tasks.spawn(walk(Arc::clone(&self.stage), receiver));
            sender
        });
        if !perform::is_long(&work.step.act) {
            self.stage.unsettled.send_modify(|count| *count += 1);
        }
        // The receiver ends only when this sender is dropped.
        lane.send(work).await.ok();
    }
}

/// Plays the steps of one actor, in order.
async fn walk(stage: Arc<Stage>, mut steps: mpsc::Receiver<Work>) {
    while let Some(Work { step, held_millis }) = steps.recv().await {
        perform::perform(&stage, &step, held_millis).await;
        if !perform::is_long(&step.act) {
            stage.unsettled.send_modify(|count| *count -= 1);
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
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

impl ApiServers for ControlPlane {
    fn restart(
        &self,
        server: usize,
    ) -> Pin<Box<dyn Future<Output = anyhow::Result<()>> + Send + '_>> {
        Box::pin(async move {
            ensure!(
                server < self.api_servers(),
                "there is no API server {server}"
            );
            let server = self.api(server);
            // A graceful end waits up to a minute for its clients; a bootstrap does not.
            server.kill().await?;
            server.start().await
        })
    }
}

/// One step as it was played.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// When it was planned, in virtual time.
    pub at: Moment,
    /// When it was played, by the clock.
    pub wall: Timestamp,
    /// In whose name.
    pub actor: String,
    /// What was done, and to which object.
    pub what: String,
    /// How many tries the last call took.
    pub attempts: u32,
    /// From the start of the step to its end.
    pub took_millis: u64,
    /// How long virtual time stood still for the step's gate.
    pub held_millis: u64,
    /// The object's resourceVersion after the write, when there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<String>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// What was done at which time of the clock.
#[derive(Debug, Clone, Default)]
pub struct Journal {
    /// The steps, in the order in which they ended.
    pub entries: Vec<Entry>,
    /// How long virtual time stood still for the cluster to come after.
    pub held_millis: u64,
    pub(super) walls: BTreeMap<Moment, Timestamp>,
}

impl Journal {
    /// The time of the clock of a moment at which something was played, or of the last such before it.
    pub fn wall_of(&self, moment: Moment) -> Option<Timestamp> {
        self.walls
            .range(..=moment)
            .next_back()
            .map(|(_, wall)| *wall)
    }

    /// As JSON, one entry a line.
    pub fn to_json_lines(&self) -> String {
        let lines = self
            .entries
            .iter()
            .filter_map(|entry| serde_json::to_string(entry).ok());
        lines.map(|line| line + "\n").collect()
    }

    /// What failed, in words.
    pub fn failures(&self) -> Vec<String> {
        let failed = |entry: &Entry| {
            let failure = entry.failure.as_ref()?;
            Some(format!(
                "{} {} {}: {failure}",
                entry.at, entry.actor, entry.what
            ))
        };
        self.entries.iter().filter_map(failed).collect()
    }
}

/// Why a plan was not played to its end, or not well.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// The cluster did not come to what a step needs.
    #[error("at {at} the cluster did not come to {gate:?} within {} s", within.as_secs())]
    Stuck {
        /// When, in virtual time.
        at: Moment,
        /// What was waited for.
        gate: Gate,
        /// How long.
        within: Duration,
    },
    /// Steps failed.
    #[error("{} steps failed, the first: {}", failures.len(), failures.first().map_or("", String::as_str))]
    Failed {
        /// What failed, in words.
        failures: Vec<String>,
    },
}

const LEASES: &str = "coordination.k8s.io/v1";

/// A place to be filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Stamp {
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
pub(in super::super) fn fill(document: &mut Value, know: &impl Fn(&Stamp) -> Option<String>) {
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
    let moment = |millis: &str| millis.parse().ok().map(Moment::from_millis);
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
            Stamp::Secs(moment) => Some(format!("S{}", moment.millis())),
            Stamp::Micros(moment) => Some(format!("M{}", moment.millis())),
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
