//! Hands the steps of a plan out at their times, one lane an actor.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use super::super::Plan;
use super::super::step::{Gate, Step};
use super::journal::{Journal, PlayError};
use super::stage::{ApiServers, Stage, lock};
use super::{gate, perform};
use crate::kubelet::Kubelets;
use crate::rest::{self, Rest};

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
