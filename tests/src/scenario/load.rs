//! The steps of a load, in order, one by one: the work of teams needs no memory of its own.
//! Refuses to know who plays them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::file::{NodeEntry, Scenario};
use super::moment::Dice;
use super::operator::OperatorStatus;
use super::plan::{Act, Leader, Step};
use super::{Moment, Plan, PlantedFault, ScenarioError, story};
use crate::kubelet::NodeRole;
use crate::rest::Target;

/// Finished Jobs are deleted after so long.
const JOB_KEPT_SECS: f64 = 3600.0;
/// Operators renew their Leases this often.
const OPERATORS_RENEW_SECS: f64 = 26.0;
/// Why operators are degraded in a load.
const DEGRADED: &str = "SyncError";
/// The Leases of controllers outside the cluster lie here.
const LEASES_IN: &str = "kube-system";

/// The steps of a load by time.
#[derive(Debug, Clone)]
pub struct LoadSteps {
    load: Load,
    dice: Dice,
    end: Moment,
    /// When each kind of work is due, and how often it was done.
    due: [(Work, Moment, u32); 9],
    /// The Leases of the operators, which their story renews up to here.
    operators: Vec<(String, Target, Leader)>,
    /// What the operators say of themselves.
    statuses: BTreeMap<String, OperatorStatus>,
    /// What went wrong so far.
    faults: Vec<PlantedFault>,
    /// What belongs to the last piece of work, the next at the end.
    ready: Vec<Step>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    SetUp,
    RollOut,
    Scale,
    RunJob,
    DeleteJob,
    WriteSettings,
    Renew,
    RenewOperator,
    /// In turn: an operator becomes degraded, and recovers.
    Degrade,
}

impl LoadSteps {
    pub(super) fn new(growth: &Growth, scenario: &Scenario, plan: &Plan) -> Self {
        let load = growth.load.clone();
        let begins = Moment::from_secs(load.begins_secs);
        let set_up = begins + load.spread_secs;
        let due = [
            (Work::SetUp, begins, 0),
            (Work::RollOut, set_up + 5.0, 0),
            (Work::Scale, set_up + 17.0, 0),
            (Work::RunJob, set_up + 9.0, 0),
            (Work::DeleteJob, set_up + 9.0 + JOB_KEPT_SECS, 0),
            (Work::WriteSettings, set_up + 3.0, 0),
            (Work::Renew, begins + 1.0, 0),
            (Work::RenewOperator, Moment::from_secs(scenario.end_secs), 0),
            (Work::Degrade, begins + load.degraded_every_secs / 3.0, 0),
        ];
        Self {
            load,
            dice: Dice::new(scenario.seed),
            end: Moment::from_secs(growth.end_secs),
            due,
            operators: story::leaders(scenario),
            statuses: plan.operators.clone(),
            faults: Vec::new(),
            ready: Vec::new(),
        }
    }

    /// What went wrong on purpose in the steps so far.
    pub fn faults(&self) -> &[PlantedFault] {
        &self.faults
    }

    fn namespace(number: u32) -> String {
        format!("team-{number:03}")
    }

    /// The name of a Deployment of a namespace.
    fn app(number: u32) -> String {
        const NAMES: [&str; 8] = [
            "api", "frontend", "orders", "billing", "search", "mailer", "ledger", "gateway",
        ];
        let places = u32::try_from(NAMES.len()).unwrap_or(1);
        let name = usize::try_from(number % places)
            .ok()
            .and_then(|place| NAMES.get(place))
            .unwrap_or(&"app");
        match number / places {
            0 => (*name).to_owned(),
            round => format!("{name}-{round}"),
        }
    }

    /// A number below a limit, by the seed.
    fn choose(&self, limit: u32, what: &str, round: u32) -> u32 {
        self.dice.below(limit, &["load", what, &round.to_string()])
    }

    /// One of the Deployments, with its namespace.
    fn some_deployment(&self, what: &str, round: u32) -> (String, String) {
        let namespace = Self::namespace(self.choose(self.load.namespaces, what, round));
        let app = Self::app(self.choose(self.load.deployments, &format!("{what} app"), round));
        (namespace, app)
    }

    fn put(&mut self, at: Moment, actor: &str, act: Act) {
        self.ready.push(Step {
            at,
            actor: actor.to_owned(),
            gate: None,
            act,
        });
    }

    /// Does a piece of work; says when it is due again, `None` for never.
    fn work(&mut self, work: Work, at: Moment, round: u32) -> Option<Moment> {
        let load = self.load.clone();
        match work {
            Work::SetUp => return self.set_up(at, round),
            Work::RollOut => {
                let (namespace, app) = self.some_deployment("roll out", round);
                let containers = json!([container(&app, round + 2)]);
                let patch = json!({"spec": {"template": {"spec": {"containers": containers}}}});
                let target = deployment(&namespace, &app);
                self.put(at, "pipeline", Act::Merge { target, patch });
                Some(at + load.rollout_every_secs)
            }
            Work::Scale => {
                let (namespace, app) = self.some_deployment("scale", round);
                let replicas = load.replicas + self.choose(3, "replicas", round);
                let patch = json!({"spec": {"replicas": replicas}});
                let target = deployment(&namespace, &app);
                self.put(at, "autoscaler", Act::Merge { target, patch });
                Some(at + load.scale_every_secs)
            }
            Work::RunJob => {
                let target = self.job(round);
                let object = job(&target);
                self.put(at, "cron", Act::Create { object });
                Some(at + load.job_every_secs)
            }
            Work::DeleteJob => {
                let target = self.job(round);
                let grace_secs = None;
                self.put(at, "cron", Act::Delete { target, grace_secs });
                Some(at + load.job_every_secs)
            }
            Work::WriteSettings => {
                let namespace = Self::namespace(self.choose(load.namespaces, "settings", round));
                let target = Target::namespaced("v1", "ConfigMap", &namespace, "settings");
                let patch = json!({"data": settings(round)});
                self.put(at, "settings-operator", Act::Merge { target, patch });
                Some(at + load.settings_every_secs)
            }
            Work::Renew if load.controllers == 0 => None,
            Work::Renew => {
                let number = round % load.controllers;
                let name = format!("controller-{number}");
                let lease = Target::namespaced("coordination.k8s.io/v1", "Lease", LEASES_IN, &name);
                let id = self.dice.uuid(&["controller", &name]);
                let leader = Leader::Outsider {
                    name: format!("{name}_{id}"),
                };
                self.put(at, &name, Act::Lead { lease, leader });
                Some(at + load.renew_every_secs / f64::from(load.controllers))
            }
            Work::RenewOperator => return self.renew_operator(at, round),
            Work::Degrade => return self.degrade(at, round),
        }
        .filter(|_| load.namespaces > 0 && load.deployments > 0)
    }

    /// Renews the Lease of one operator after the other.
    fn renew_operator(&mut self, at: Moment, round: u32) -> Option<Moment> {
        let count = u32::try_from(self.operators.len())
            .ok()
            .filter(|count| *count > 0)?;
        let place = usize::try_from(round % count).ok()?;
        let (actor, lease, leader) = self.operators.get(place)?.clone();
        self.put(at, &actor, Act::Lead { lease, leader });
        Some(at + OPERATORS_RENEW_SECS / f64::from(count))
    }

    /// An operator becomes degraded, or the one that is recovers.
    fn degrade(&mut self, at: Moment, round: u32) -> Option<Moment> {
        if self.load.namespaces == 0 {
            return None;
        }
        let spell = round / 2;
        let count = u32::try_from(self.statuses.len())
            .ok()
            .filter(|count| *count > 0)?;
        let place = usize::try_from(self.choose(count, "degraded", spell)).ok()?;
        let every = self.load.degraded_every_secs;
        let lasts = (60.0 + f64::from(self.choose(540, "spell", spell))).min(every / 2.0);
        let (name, status) = self.statuses.iter_mut().nth(place)?;
        let again = if round.is_multiple_of(2) {
            let message = format!("{DEGRADED}: {name} cannot sync: connection refused");
            status.degrade(at, DEGRADED, &message);
            self.faults.push(PlantedFault {
                kind: "degraded".to_owned(),
                object: format!("ClusterOperator {name}"),
                at,
                until: Some(at + lasts),
            });
            at + lasts
        } else {
            status.recover(at);
            at + (every - lasts)
        };
        let (target, actor) = (status.target(), status.actor());
        let act = Act::UpdateStatus {
            target,
            status: status.to_status(),
        };
        self.put(at, &actor, act);
        Some(again)
    }

    fn job(&self, round: u32) -> Target {
        let namespace = Self::namespace(self.choose(self.load.namespaces, "job", round));
        Target::namespaced("batch/v1", "Job", &namespace, &format!("report-{round}"))
    }

    /// Creates the next Deployment, and what is around it.
    fn set_up(&mut self, at: Moment, round: u32) -> Option<Moment> {
        let load = self.load.clone();
        let all = load.namespaces * load.deployments;
        if round >= all {
            return None;
        }
        let (number, nth) = (round / load.deployments, round % load.deployments);
        let namespace = Self::namespace(number);
        let app = Self::app(nth);
        let mut objects = Vec::new();
        if nth == 0 {
            objects.push(story::namespace(&namespace));
            objects.push(json!({
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "settings", "namespace": namespace},
                "data": settings(number),
            }));
        }
        objects.push(json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": app, "namespace": namespace, "labels": {"app": app}},
            "spec": {
                "replicas": load.replicas,
                "selector": {"matchLabels": {"app": app}},
                "template": template(&app, 1, "Always"),
            },
        }));
        objects.push(json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": app, "namespace": namespace},
            "spec": {
                "selector": {"app": app},
                "ports": [{"name": "http", "port": 80, "targetPort": 8080}],
            },
        }));
        if nth.is_multiple_of(3) {
            objects.push(json!({
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": {"name": app, "namespace": namespace},
                "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": app}}},
            }));
        }
        for object in objects {
            self.put(at, "pipeline", Act::Create { object });
        }
        Some(at + load.spread_secs / f64::from(all))
    }
}

impl Iterator for LoadSteps {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        while self.ready.is_empty() {
            let due = self.due.iter().enumerate();
            let (place, &(work, at, round)) = due.min_by_key(|(_, (_, at, _))| *at)?;
            if at >= self.end {
                return None;
            }
            let again = self.work(work, at, round);
            // What is never due again is due after the end.
            let next = (
                work,
                again.unwrap_or(Moment::from_millis(u64::MAX)),
                round + 1,
            );
            if let Some(entry) = self.due.get_mut(place) {
                *entry = next;
            }
            self.ready.reverse();
        }
        self.ready.pop()
    }
}

fn deployment(namespace: &str, app: &str) -> Target {
    Target::namespaced("apps/v1", "Deployment", namespace, app)
}

fn container(app: &str, version: u32) -> Value {
    json!({
        "name": app,
        "image": format!("registry.kubereel.example/teams/{app}:1.{version}"),
        "imagePullPolicy": "IfNotPresent",
        "command": ["/usr/bin/app", "serve", "--listen=:8080"],
        "ports": [{"name": "http", "containerPort": 8080}],
        "env": [
            {"name": "POD_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}},
            {"name": "LOG_LEVEL", "value": "info"},
        ],
        "resources": {
            "limits": {"memory": "256Mi"},
            "requests": {"cpu": "25m", "memory": "128Mi"},
        },
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": 8080}, "periodSeconds": 5},
    })
}

fn template(app: &str, version: u32, restarts: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": app}, "annotations": {"openshift.io/required-scc": "restricted-v2"}},
        "spec": {
            "containers": [container(app, version)],
            "nodeSelector": {"node-role.kubernetes.io/worker": ""},
            "restartPolicy": restarts,
        },
    })
}

fn job(target: &Target) -> Value {
    json!({
        "apiVersion": target.api_version,
        "kind": target.kind,
        "metadata": {"name": target.name, "namespace": target.namespace},
        "spec": {"template": template("report", 1, "Never"), "backoffLimit": 2},
    })
}

fn settings(round: u32) -> Value {
    json!({
        "level": if round.is_multiple_of(3) { "debug" } else { "info" },
        "revision": round.to_string(),
        "settings.yaml": format!("cache:\n  size: {}\nretries: {}\n", 64 + round % 7 * 16, round % 5),
    })
}

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

#[cfg(test)]
mod load_tests {
    use super::super::{large, small};

    #[test]
    fn the_steps_of_a_load_are_in_order_and_repeat() {
        let growth = large().unwrap();
        let scenario = small().unwrap().grown(&growth);
        let story = scenario.plan().unwrap();
        let steps: Vec<_> = scenario.load_steps(&growth, &story).collect();
        assert!(steps.is_sorted_by_key(|step| step.at));
        assert!(steps.len() > 30_000, "{}", steps.len());
        assert_eq!(
            steps,
            scenario.load_steps(&growth, &story).collect::<Vec<_>>()
        );
        let plan = scenario.plan_with(&growth).unwrap();
        assert!(plan.steps.is_sorted_by_key(|step| step.at));
        assert!(plan.faults_of("degraded").count() > 3);
        assert_eq!(plan.steps.len(), story.steps.len() + steps.len());
    }
}
