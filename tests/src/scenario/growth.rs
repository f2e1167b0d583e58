//! What makes a scenario larger: more workers, a later end, and teams that work after the update.

use serde::Deserialize;

use super::file::{NodeEntry, Scenario};
use super::load::LoadSteps;
use super::{Moment, Plan, ScenarioError};
use crate::kubelet::NodeRole;

/// What makes a scenario larger. Times are virtual, as in a [`Scenario`].
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Growth {
    /// The larger scenario's name.
    pub name: String,
    /// When it is over.
    pub end_secs: f64,
    /// How many more workers join: up to 100.
    pub workers: u8,
    /// What the teams do.
    pub load: Load,
}

/// The work of teams, from the end of the update on.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// When the first namespace is created.
    pub begins_secs: f64,
    /// How many namespaces there are.
    pub namespaces: u32,
    /// How many Deployments are in each.
    pub deployments: u32,
    /// How many replicas each has at first.
    pub replicas: u32,
    /// How long it takes until all are created.
    pub spread_secs: f64,
    /// How often some Deployment gets a new image.
    pub rollout_every_secs: f64,
    /// How often some Deployment gets another number of replicas.
    pub scale_every_secs: f64,
    /// How often a Job is run, and that of an hour before is deleted.
    pub job_every_secs: f64,
    /// How often some team writes its settings.
    pub settings_every_secs: f64,
    /// How many controllers outside the cluster lead by a Lease.
    pub controllers: u32,
    /// How often each of them renews it.
    pub renew_every_secs: f64,
    /// How often an operator becomes degraded: for one to ten minutes, one operator at a time.
    pub degraded_every_secs: f64,
}

/// The most workers that may join: each has its own /16 for Pods.
const WORKERS_MOST: u8 = 100;
/// The first of the workers that join later.
const JOIN_SECS: f64 = 60.0;

impl Growth {
    /// Reads a growth from YAML.
    ///
    /// # Errors
    ///
    /// It is none; the message names the place.
    pub fn read(yaml: &str) -> Result<Self, ScenarioError> {
        serde_saphyr::from_str(yaml).map_err(|error| ScenarioError::Unreadable {
            message: error.to_string(),
        })
    }
}

impl Scenario {
    /// Makes the scenario's cluster larger. The load comes to it by [`Scenario::load_steps`].
    #[must_use]
    pub fn grown(&self, growth: &Growth) -> Self {
        let mut grown = self.clone();
        growth.name.clone_into(&mut grown.name);
        let zones: Vec<String> = self
            .cluster
            .nodes
            .iter()
            .map(|node| node.zone.clone())
            .collect();
        let workers = self
            .cluster
            .nodes
            .iter()
            .filter(|node| node.role == NodeRole::Worker)
            .count();
        for nth in 0..growth.workers.min(WORKERS_MOST) {
            let zone = zones.iter().cycle().nth(nth.into());
            grown.cluster.nodes.push(NodeEntry {
                name: format!("worker-{}", workers + usize::from(nth)),
                role: NodeRole::Worker,
                zone: zone.cloned().unwrap_or_default(),
                joins_secs: JOIN_SECS + f64::from(nth) * 2.0,
            });
        }
        grown
    }

    /// The steps of a load, one by one, to the growth's end; they go on from the plan of the story.
    pub fn load_steps(&self, growth: &Growth, plan: &Plan) -> LoadSteps {
        LoadSteps::new(growth, self, plan)
    }

    /// Lays the scenario and a load out in time together.
    ///
    /// # Errors
    ///
    /// It contradicts itself.
    pub fn plan_with(&self, growth: &Growth) -> Result<Plan, ScenarioError> {
        let mut plan = self.plan()?;
        let mut load = self.load_steps(growth, &plan);
        plan.steps.extend(&mut load);
        plan.faults.extend_from_slice(load.faults());
        plan.end = Moment::from_secs(growth.end_secs);
        plan.steps.sort_by_key(|step| step.at);
        Ok(plan)
    }
}
