//! Does what one step says.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use super::super::Moment;
use super::super::plan::{Act, Step};
use super::gate;
use super::player::{Entry, Journal, Stamp, fill, uids_in};
use crate::kubelet::{Kubelets, Reboot};
use crate::rest::{self, Answer, Body, Call, Patience, Rest, RestError, Target, Verb};

/// How often a status is replaced anew because somebody else was faster.
const CONFLICTS: u32 = 20;

/// What a step came to.
struct Done {
    what: String,
    attempts: u32,
    resource_version: Option<String>,
}

/// Plays a step and notes it.
pub(super) async fn perform(stage: &Stage, step: &Step, held_millis: u64) {
    let (wall, began) = (rest::now(), Instant::now());
    let done = act(stage, step).await;
    let took_millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let (done, failure) = match done {
        Ok(done) => (done, None),
        Err(failure) => (
            Done {
                what: name(&step.act),
                attempts: 0,
                resource_version: None,
            },
            Some(failure),
        ),
    };
    let entry = Entry {
        at: step.at,
        wall,
        actor: step.actor.clone(),
        what: done.what,
        attempts: done.attempts,
        took_millis,
        held_millis,
        resource_version: done.resource_version,
        failure,
    };
    lock(&stage.journal).entries.push(entry);
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

async fn act(stage: &Stage, step: &Step) -> Result<Done, String> {
    let what = name(&step.act);
    let quiet = |what: String| Done {
        what,
        attempts: 1,
        resource_version: None,
    };
    match &step.act {
        Act::Await => Ok(quiet(what)),
        Act::Script { pods, fate } => {
            stage.kubelets.script(pods.clone(), fate.clone());
            Ok(quiet(what))
        }
        Act::Join {
            node,
            not_ready_secs,
        } => {
            stage
                .kubelets
                .join(node.clone(), *not_ready_secs)
                .await
                .map_err(|error| in_words(&error))?;
            Ok(quiet(what))
        }
        Act::Reboot {
            node,
            down_secs,
            not_ready_secs,
        } => {
            let reboot = Reboot {
                down_secs: *down_secs,
                not_ready_secs: *not_ready_secs,
            };
            stage
                .kubelets
                .reboot(node, reboot)
                .await
                .map_err(|error| in_words(&error))?;
            Ok(quiet(what))
        }
        Act::Drain { node } => {
            let drained = gate::drain(stage, node).await?;
            Ok(quiet(format!(
                "{what}: {} evicted, {} refusals",
                drained.evicted, drained.refused
            )))
        }
        Act::RestartApiServer { server } => match &stage.api_servers {
            Some(servers) => {
                servers
                    .restart(*server)
                    .await
                    .map_err(|error| format!("{error:#}"))?;
                Ok(quiet(what))
            }
            None => Ok(quiet(format!("{what}: left out, nobody can"))),
        },
        Act::Lead { lease, leader } => {
            let led = gate::lead(stage, &step.actor, lease, leader)
                .await
                .map_err(|error| in_words(&error))?;
            Ok(match led {
                Some(answer) => written(what, &answer),
                None => quiet(format!("{what}: nobody is there")),
            })
        }
        Act::Resign { lease } => {
            let answer = gate::resign(stage, &step.actor, lease)
                .await
                .map_err(|error| in_words(&error))?;
            Ok(written(what, &answer))
        }
        _ => write(stage, step)
            .await
            .map(|answer| written(what, &answer))
            .map_err(|error| in_words(&error)),
    }
}

fn written(what: String, answer: &Answer) -> Done {
    let resource_version = answer.body["metadata"]["resourceVersion"]
        .as_str()
        .map(ToOwned::to_owned);
    Done {
        what,
        attempts: answer.attempts,
        resource_version,
    }
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
async fn write(stage: &Stage, step: &Step) -> Result<Answer, RestError> {
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
    Ok(answer)
}

/// Replaces a status as a controller does: read, replace, and anew when somebody else was faster.
async fn update_status(
    stage: &Stage,
    target: &Target,
    status: &Value,
    by: &str,
) -> Result<Answer, RestError> {
    let path = path(target)?;
    let status = stage.fill(status).await?;
    let look = Call {
        verb: Verb::Get,
        path: path.clone(),
        body: Body::Empty,
    };
    let mut attempts = 0;
    loop {
        let mut object = stage.rest.send(&look, PATIENCE).await?.body;
        object["status"] = status.clone();
        let call = Call {
            verb: Verb::Put,
            path: format!("{path}/status?{by}"),
            body: Body::Json(object),
        };
        match stage
            .rest
            .send(&call, Patience::outages(PATIENCE.total))
            .await
        {
            Err(error) if error.is_conflict() && attempts < CONFLICTS => attempts += 1,
            Ok(answer) => {
                return Ok(Answer {
                    attempts: attempts + answer.attempts,
                    ..answer
                });
            }
            Err(error) => return Err(error),
        }
    }
}

async fn delete(
    stage: &Stage,
    target: &Target,
    grace_secs: Option<u32>,
) -> Result<Answer, RestError> {
    let options = grace_secs.map_or_else(|| json!({}), |secs| json!({"gracePeriodSeconds": secs}));
    let call = Call {
        verb: Verb::Delete,
        path: path(target)?,
        body: Body::Json(options),
    };
    stage
        .rest
        .send(&call, Patience::outages(Duration::from_secs(30)))
        .await
}

fn named(object: &Value) -> Result<Target, RestError> {
    Target::of(object).ok_or_else(|| RestError::NoPath {
        target: Target::cluster_wide("", "object", "without a name"),
    })
}

/// Who can end and start the API servers.
pub trait ApiServers: Send + Sync {
    /// Ends an API server and starts it again; done when it is ready.
    fn restart(
        &self,
        server: usize,
    ) -> Pin<Box<dyn Future<Output = anyhow::Result<()>> + Send + '_>>;
}

/// How long a write is tried: outages, and what has to be there first.
pub(super) const PATIENCE: Patience = Patience::until_found(Duration::from_secs(30));

/// What all actors share.
pub(super) struct Stage {
    pub(super) rest: Rest,
    pub(super) kubelets: Kubelets,
    pub(super) api_servers: Option<Arc<dyn ApiServers>>,
    pub(super) speed: f64,
    pub(super) journal: Mutex<Journal>,
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
        api_servers: Option<Arc<dyn ApiServers>>,
        speed: f64,
    ) -> Self {
        Self {
            rest,
            kubelets,
            api_servers,
            speed,
            journal: Mutex::default(),
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
    pub(super) fn pass(&self, moment: Moment, wall: Timestamp) {
        lock(&self.journal).walls.entry(moment).or_insert(wall);
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
        lock(&self.journal).wall_of(moment)
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
