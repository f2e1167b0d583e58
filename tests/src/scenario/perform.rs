//! Does what one step says.

use super::player::{Stamp, fill, uids_in};
use super::{Act, Moment, Step, gate};
use crate::control_plane::ControlPlane;
use crate::kubelet::{Kubelets, Reboot};
use crate::rest::{self, Body, Call, Patience, Rest, RestError, Target, Verb};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// How often a status is replaced anew because somebody else was faster.
const CONFLICTS: u32 = 20;

/// Plays a step and notes why it failed.
pub(super) async fn perform(stage: &Stage, step: &Step) {
    if let Err(failure) = act(stage, step).await {
        let failure = format!("{} {} {}: {failure}", step.at, step.actor, name(&step.act));
        lock(&stage.failures).push(failure);
    }
}

/// Whether a step takes long by itself: gates do not wait for it.
pub(super) fn is_long(act: &Act) -> bool {
    matches!(act, Act::Drain { .. } | Act::RestartApiServer { .. })
}

fn name(act: &Act) -> String {
    let target_of =
        |object: &Value| Target::of(object).map_or_else(String::new, |target| target.to_string());
    match act {
        Act::Await => "await".to_owned(),
        Act::Create { object } => format!("create {}", target_of(object)),
        Act::Apply { object } => format!("apply {}", target_of(object)),
        Act::Merge { target, .. } => format!("patch {target}"),
        Act::UpdateStatus { target, .. } => format!("update status of {target}"),
        Act::Delete { target, .. } => format!("delete {target}"),
        Act::Lead { lease, .. } => format!("lead by {lease}"),
        Act::Resign { lease } => format!("resign {lease}"),
        Act::Script { .. } => "script pods".to_owned(),
        Act::Join { node, .. } => format!("join node {}", node.name),
        Act::Drain { node } => format!("drain node {node}"),
        Act::Reboot { node, .. } => format!("reboot node {node}"),
        Act::RestartApiServer { server } => format!("restart API server {server}"),
    }
}

async fn act(stage: &Stage, step: &Step) -> Result<(), String> {
    let kubelets = &stage.kubelets;
    let done = match &step.act {
        Act::Await => Ok(()),
        Act::Script { pods, fate } => {
            kubelets.script(pods.clone(), fate.clone());
            Ok(())
        }
        Act::Join {
            node,
            not_ready_secs,
        } => kubelets.join(node.clone(), *not_ready_secs).await,
        Act::Reboot {
            node,
            down_secs,
            not_ready_secs,
        } => {
            let reboot = Reboot {
                down_secs: *down_secs,
                not_ready_secs: *not_ready_secs,
            };
            kubelets.reboot(node, reboot).await
        }
        Act::Drain { node } => return gate::drain(stage, node).await,
        Act::RestartApiServer { server } => {
            let restarted = stage.restart(*server).await;
            return restarted.map_err(|error| format!("{error:#}"));
        }
        Act::Lead { lease, leader } => gate::lead(stage, &step.actor, lease, leader).await,
        Act::Resign { lease } => gate::resign(stage, &step.actor, lease).await,
        _ => write(stage, step).await,
    };
    done.map_err(|error| in_words(&error))
}

fn in_words(error: &RestError) -> String {
    let mut words = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(source) = cause {
        words = format!("{words}: {source}");
        cause = source.source();
    }
    words
}

/// The plain writes.
async fn write(stage: &Stage, step: &Step) -> Result<(), RestError> {
    let by = format!("fieldManager={}", step.actor.replace(' ', "-"));
    let (call, target) = match &step.act {
        Act::Create { object } => {
            let target = named(object)?;
            let path = format!("{}?{by}", collection_path(&target)?);
            (
                Call {
                    verb: Verb::Post,
                    path,
                    body: Body::Json(stage.fill(object).await?),
                },
                target,
            )
        }
        Act::Apply { object } => {
            let target = named(object)?;
            let path = format!("{}?{by}&force=true", path(&target)?);
            (
                Call {
                    verb: Verb::Patch,
                    path,
                    body: Body::Apply(stage.fill(object).await?),
                },
                target,
            )
        }
        Act::Merge { target, patch } => {
            let path = format!("{}?{by}", path(target)?);
            (
                Call {
                    verb: Verb::Patch,
                    path,
                    body: Body::Merge(stage.fill(patch).await?),
                },
                target.clone(),
            )
        }
        Act::UpdateStatus { target, status } => {
            return update_status(stage, target, status, &by).await;
        }
        Act::Delete { target, grace_secs } => return delete(stage, target, *grace_secs).await,
        other => {
            return Err(RestError::NoPath {
                target: Target::cluster_wide("", "step", &name(other)),
            });
        }
    };
    let answer = stage.rest.send(&call, PATIENCE).await?;
    stage.learn_uid(&target, &answer.body);
    Ok(())
}

/// Replaces a status as a controller does: read, replace, and anew when somebody else was faster.
async fn update_status(
    stage: &Stage,
    target: &Target,
    status: &Value,
    by: &str,
) -> Result<(), RestError> {
    let path = path(target)?;
    let status = stage.fill(status).await?;
    let look = Call {
        verb: Verb::Get,
        path: path.clone(),
        body: Body::Empty,
    };
    for _ in 0..CONFLICTS {
        let mut object = stage.rest.send(&look, PATIENCE).await?.body;
        object["status"] = status.clone();
        let call = Call {
            verb: Verb::Put,
            path: format!("{path}/status?{by}"),
            body: Body::Json(object),
        };
        let patience = Patience::outages(PATIENCE.total);
        match stage.rest.send(&call, patience).await {
            Err(error) if error.is_conflict() => {}
            done => return done.map(drop),
        }
    }
    Err(RestError::TooSlow {
        verb: Verb::Put,
        path,
    })
}

async fn delete(stage: &Stage, target: &Target, grace_secs: Option<u32>) -> Result<(), RestError> {
    let options = grace_secs.map_or_else(|| json!({}), |secs| json!({"gracePeriodSeconds": secs}));
    let call = Call {
        verb: Verb::Delete,
        path: path(target)?,
        body: Body::Json(options),
    };
    let patience = Patience::outages(PATIENCE.total);
    stage.rest.send(&call, patience).await.map(drop)
}

fn named(object: &Value) -> Result<Target, RestError> {
    Target::of(object).ok_or_else(|| RestError::NoPath {
        target: Target::cluster_wide("", "object", "without a name"),
    })
}

/// How long a write is tried: outages, and what has to be there first.
pub(super) const PATIENCE: Patience = Patience::until_found(Duration::from_secs(30));

/// What all actors share.
pub(super) struct Stage {
    pub(super) rest: Rest,
    pub(super) kubelets: Kubelets,
    control_plane: Arc<ControlPlane>,
    speed: f64,
    failures: Mutex<Vec<String>>,
    /// At which times of the clock moments came to be.
    walls: Mutex<BTreeMap<Moment, Timestamp>>,
    pub(super) leases: Mutex<BTreeMap<Target, Held>>,
    /// Steps handed out and not yet done, without those that take long by themselves.
    pub(super) unsettled: watch::Sender<usize>,
    uids: Mutex<BTreeMap<Target, String>>,
}

/// A Lease as it was last written.
#[derive(Debug, Clone)]
pub(super) struct Held {
    /// Empty when nobody leads.
    pub(super) holder: String,
    /// Who led last, or leads.
    pub(super) last_holder: String,
    pub(super) transitions: u32,
}

impl Stage {
    pub(super) fn new(
        rest: Rest,
        kubelets: Kubelets,
        control_plane: Arc<ControlPlane>,
        speed: f64,
    ) -> Self {
        Self {
            rest,
            kubelets,
            control_plane,
            speed,
            failures: Mutex::default(),
            walls: Mutex::default(),
            leases: Mutex::default(),
            unsettled: watch::Sender::new(0),
            uids: Mutex::default(),
        }
    }

    /// Shortens a virtual time to real time.
    pub(super) fn real(&self, virtual_time: Duration) -> Duration {
        virtual_time.div_f64(self.speed)
    }

    /// Notes that a moment is now.
    pub(super) fn pass(&self, moment: Moment) {
        lock(&self.walls).entry(moment).or_insert_with(rest::now);
    }

    /// What failed so far, in words.
    pub(super) fn failures(&self) -> Vec<String> {
        let mut failures = lock(&self.failures).clone();
        failures.extend(self.kubelets.failures());
        failures
    }

    async fn restart(&self, server: usize) -> anyhow::Result<()> {
        let server = self.control_plane.api(server);
        // A graceful end waits up to a minute for its clients; a bootstrap does not.
        server.kill().await?;
        server.start().await
    }

    /// Fills in times and uids.
    pub(super) async fn fill(&self, document: &Value) -> Result<Value, RestError> {
        for target in uids_in(document) {
            if !lock(&self.uids).contains_key(&target) {
                let call = Call {
                    verb: Verb::Get,
                    path: path(&target)?,
                    body: Body::Empty,
                };
                let object = self.rest.send(&call, PATIENCE).await?.body;
                self.learn_uid(&target, &object);
            }
        }
        let mut document = document.clone();
        fill(&mut document, &|stamp| match stamp {
            Stamp::Secs(moment) => self.wall_of(*moment).map(rest::seconds),
            Stamp::Micros(moment) => self.wall_of(*moment).map(rest::micros),
            Stamp::Uid(target) => lock(&self.uids).get(target).cloned(),
            Stamp::Holder(lease) => lock(&self.leases)
                .get(lease)
                .map(|held| held.last_holder.clone()),
        });
        Ok(document)
    }

    pub(super) fn learn_uid(&self, target: &Target, object: &Value) {
        if let Some(uid) = object["metadata"]["uid"].as_str() {
            lock(&self.uids).insert(target.clone(), uid.to_owned());
        }
    }

    fn wall_of(&self, moment: Moment) -> Option<Timestamp> {
        let walls = lock(&self.walls);
        walls.range(..=moment).next_back().map(|(_, wall)| *wall)
    }
}

/// The path of an object, or an error that names it.
pub(super) fn path(target: &Target) -> Result<String, RestError> {
    target.path().ok_or_else(|| RestError::NoPath {
        target: target.clone(),
    })
}

/// The path of an object's collection, or an error that names it.
pub(super) fn collection_path(target: &Target) -> Result<String, RestError> {
    target.collection_path().ok_or_else(|| RestError::NoPath {
        target: target.clone(),
    })
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
