//! Plays a plan: runs each step at its time, with one lane for each actor, and waits until the
//! cluster is in the state that a step needs.

use super::{Act, Gate, Leader, Moment, Plan, Step};
use crate::control_plane::{Builder, ControlPlane};
use crate::kubelet::node::uuid;
use crate::kubelet::{Kubelets, Reboot};
use crate::rest::{self, Body, Call, Patience, Rest, RestError, Target, Verb};
use anyhow::{Context as _, Result, ensure};
use http::StatusCode;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};

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
        Ok(pass(&self.stage.rest, gate).await?)
    }

    /// Returns a step to its actor's lane.
    async fn hand_out(&self, step: Step, lanes: &mut Lanes, tasks: &mut JoinSet<()>) {
        let lane = lanes.entry(step.actor.clone()).or_insert_with(|| {
            let (sender, receiver) = mpsc::channel(LANE_STEPS);
            tasks.spawn(walk(Arc::clone(&self.stage), receiver));
            sender
        });
        if !is_long(&step.act) {
            self.stage.unsettled.send_modify(|count| *count += 1);
        }
        // The receiver ends only when this sender is dropped.
        lane.send(step).await.ok();
    }
}

/// Plays the steps of one actor, in order.
async fn walk(stage: Arc<Stage>, mut steps: mpsc::Receiver<Step>) {
    while let Some(step) = steps.recv().await {
        perform(&stage, &step).await;
        if !is_long(&step.act) {
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
enum Stamp {
    Secs(Moment),
    Micros(Moment),
    Uid(Target),
    /// Who leads by a Lease, or was the last to do so.
    Holder(Target),
}

/// All objects whose uid a document asks for.
fn uids_in(document: &Value) -> Vec<Target> {
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

/// Fills a document in; placeholders that `know` does not have stay.
fn fill(document: &mut Value, know: &impl Fn(&Stamp) -> Option<String>) {
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
        let expected = [Target::cluster_wide("v1", "Node", "master-0")];
        assert_eq!(uids_in(&document), expected);
        fill(&mut document, &|stamp| match stamp {
            Stamp::Secs(moment) => Some(format!("S{}", moment.0)),
            Stamp::Micros(moment) => Some(format!("M{}", moment.0)),
            Stamp::Uid(_) | Stamp::Holder(_) => None,
        });
        let expected = json!({
            "a": ["S1500", {"b": "x M7 y S1"}],
            "uid": "{{uid v1 Node - master-0}}",
            "other": "{{not ours}}",
        });
        assert_eq!(document, expected);
    }
}

/// How often a status is replaced again because another writer was faster.
const CONFLICTS: u32 = 20;

/// Plays a step and notes why it failed.
async fn perform(stage: &Stage, step: &Step) {
    if let Err(failure) = act(stage, step).await {
        let failure = format!("{} {} {}: {failure}", step.at, step.actor, name(&step.act));
        lock(&stage.failures).push(failure);
    }
}

/// Whether a step takes long by itself: gates do not wait for it.
fn is_long(act: &Act) -> bool {
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
        Act::Drain { node } => return drain(stage, node).await,
        Act::RestartApiServer { server } => {
            let restarted = stage.restart(*server).await;
            return restarted.map_err(|error| format!("{error:#}"));
        }
        Act::Lead { lease, leader } => lead(stage, &step.actor, lease, leader).await,
        Act::Resign { lease } => resign(stage, &step.actor, lease).await,
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
            let path = format!("{}?{by}", target.require_collection_path()?);
            (Call::post(path, stage.fill(object).await?), target)
        }
        Act::Apply { object } => {
            let target = named(object)?;
            let path = format!("{}?{by}&force=true", target.require_path()?);
            (
                Call::patch(path, Body::Apply(stage.fill(object).await?)),
                target,
            )
        }
        Act::Merge { target, patch } => {
            let path = format!("{}?{by}", target.require_path()?);
            (
                Call::patch(path, Body::Merge(stage.fill(patch).await?)),
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

/// Replaces a status as a controller does: read, replace, and repeat if another writer was faster.
async fn update_status(
    stage: &Stage,
    target: &Target,
    status: &Value,
    by: &str,
) -> Result<(), RestError> {
    let path = target.require_path()?;
    let status = stage.fill(status).await?;
    let look = Call::get(path.clone());
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
        path: target.require_path()?,
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
const PATIENCE: Patience = Patience::until_found(Duration::from_secs(30));

/// What all actors share.
struct Stage {
    rest: Rest,
    kubelets: Kubelets,
    control_plane: Arc<ControlPlane>,
    speed: f64,
    failures: Mutex<Vec<String>>,
    /// At which times of the clock moments came to be.
    walls: Mutex<BTreeMap<Moment, Timestamp>>,
    leases: Mutex<BTreeMap<Target, LeaseRecord>>,
    /// Steps passed on and not yet done, without those that take long by themselves.
    unsettled: watch::Sender<usize>,
    uids: Mutex<BTreeMap<Target, String>>,
}

/// A Lease as it was last written.
#[derive(Debug, Clone)]
struct LeaseRecord {
    /// Empty if there is no leader.
    holder: String,
    /// Who led last, or leads.
    last_holder: String,
    transitions: u32,
}

impl Stage {
    fn new(rest: Rest, kubelets: Kubelets, control_plane: Arc<ControlPlane>, speed: f64) -> Self {
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
    fn real(&self, virtual_time: Duration) -> Duration {
        virtual_time.div_f64(self.speed)
    }

    /// Notes that a moment is now.
    fn pass(&self, moment: Moment) {
        lock(&self.walls).entry(moment).or_insert_with(rest::now);
    }

    /// The failures so far.
    fn failures(&self) -> Vec<String> {
        let mut failures = lock(&self.failures).clone();
        failures.extend(self.kubelets.failures());
        failures
    }

    async fn restart(&self, server: usize) -> Result<()> {
        let server = self.control_plane.api(server);
        // A graceful end waits up to a minute for its clients; a bootstrap does not.
        server.kill().await?;
        server.start().await
    }

    /// Fills in times and uids.
    async fn fill(&self, document: &Value) -> Result<Value, RestError> {
        for target in uids_in(document) {
            if !lock(&self.uids).contains_key(&target) {
                let call = Call::get(target.require_path()?);
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

    fn learn_uid(&self, target: &Target, object: &Value) {
        if let Some(uid) = object["metadata"]["uid"].as_str() {
            lock(&self.uids).insert(target.clone(), uid.to_owned());
        }
    }

    fn wall_of(&self, moment: Moment) -> Option<Timestamp> {
        let walls = lock(&self.walls);
        walls.range(..=moment).next_back().map(|(_, wall)| *wall)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A watch that is silent for this long is requested again: its server may have stopped.
const SILENCE: Duration = Duration::from_secs(3);

/// Waits until a gate is open.
async fn pass(rest: &Rest, gate: &Gate) -> Result<(), RestError> {
    match gate {
        // The player has waited for that already, as before every gate.
        Gate::Settled => Ok(()),
        Gate::RolledOut { targets } => {
            for target in targets {
                until(rest, target, |found| found.is_some_and(is_rolled_out)).await?;
            }
            Ok(())
        }
        Gate::PodWaits { pod, reason } => {
            until(rest, pod, |found| found.and_then(waits) == Some(reason)).await
        }
        Gate::PodPhase { pod, phase } => {
            let is_there = |pod: &Value| pod["status"]["phase"] == phase.as_str();
            until(rest, pod, |found| found.is_some_and(is_there)).await
        }
        Gate::NodeReady { node, boot_id } => {
            let target = Target::cluster_wide("v1", "Node", node);
            until(rest, &target, |found| {
                found.is_some_and(|node| is_ready(node, boot_id))
            })
            .await
        }
        Gate::Drained { node } => until_drained(rest, node).await,
    }
}

/// The path of the Pods of a node.
fn pods_of(node: &str) -> String {
    format!("/api/v1/pods?fieldSelector=spec.nodeName%3D{node}")
}

/// Looks at an object at every change of it until it is as wanted.
///
/// A read of one object is cheap; a consistent list waits for the server's cache.
async fn until(
    rest: &Rest,
    target: &Target,
    wanted: impl Fn(Option<&Value>) -> bool,
) -> Result<(), RestError> {
    let look = Call::get(target.require_path()?);
    let changes = format!(
        "{}?fieldSelector=metadata.name%3D{}&timeoutSeconds=30",
        target.require_collection_path()?,
        target.name
    );
    loop {
        let found = match rest.send(&look, Patience::outages(PATIENCE.total)).await {
            Ok(answer) => Some(answer.body),
            Err(error) if error.is_not_found() => None,
            Err(error) => return Err(error),
        };
        if wanted(found.as_ref()) {
            return Ok(());
        }
        // Without an object the watch begins with what is there by then.
        let since = found
            .as_ref()
            .and_then(|object| object["metadata"]["resourceVersion"].as_str());
        let since = since
            .map(|since| format!("&resourceVersion={since}"))
            .unwrap_or_default();
        next_change(rest, &format!("{changes}{since}")).await;
    }
}

/// Looks at the Pods of a node at every change of them until only those are left that stay.
async fn until_drained(rest: &Rest, node: &str) -> Result<(), RestError> {
    let path = pods_of(node);
    let look = Call::get(path.clone());
    loop {
        let list = rest.send(&look, PATIENCE).await?.body;
        if !list["items"]
            .as_array()
            .is_some_and(|pods| pods.iter().any(is_drained_away))
        {
            return Ok(());
        }
        let since = list["metadata"]["resourceVersion"]
            .as_str()
            .unwrap_or_default();
        next_change(
            rest,
            &format!("{path}&timeoutSeconds=30&resourceVersion={since}"),
        )
        .await;
    }
}

/// Waits for a word of a watch, or for a silence that is a reason to look as well.
async fn next_change(rest: &Rest, path: &str) {
    match rest.watch(path).await {
        Ok(mut watching) => drop(timeout(SILENCE, watching.next()).await),
        Err(_outage) => sleep(Duration::from_millis(50)).await,
    }
}

/// Whether a Deployment or `DaemonSet` runs its newest template, and nothing of the one before.
fn is_rolled_out(workload: &Value) -> bool {
    let status = &workload["status"];
    let number = |field: &str| status[field].as_i64().unwrap_or(0);
    if status["observedGeneration"].as_i64() < workload["metadata"]["generation"].as_i64() {
        return false;
    }
    if workload["spec"]["replicas"].is_i64() {
        let wanted = workload["spec"]["replicas"].as_i64().unwrap_or(1);
        return ["updatedReplicas", "availableReplicas", "replicas"]
            .iter()
            .all(|field| number(field) == wanted);
    }
    let wanted = number("desiredNumberScheduled");
    wanted > 0
        && ["updatedNumberScheduled", "numberAvailable"]
            .iter()
            .all(|field| number(field) == wanted)
}

/// The waiting reason of the first container that is not done.
fn waits(pod: &Value) -> Option<&String> {
    let lists = [
        &pod["status"]["initContainerStatuses"],
        &pod["status"]["containerStatuses"],
    ];
    let mut containers = lists.into_iter().filter_map(Value::as_array).flatten();
    match &containers.find(|container| container["state"]["terminated"].is_null())?["state"]["waiting"]
        ["reason"]
    {
        Value::String(reason) => Some(reason),
        _ => None,
    }
}

fn is_ready(node: &Value, boot_id: &str) -> bool {
    let conditions = node["status"]["conditions"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    node["status"]["nodeInfo"]["bootID"] == boot_id
        && conditions
            .iter()
            .any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

/// Whether a drain has to take a Pod away: a `DaemonSet` would only bring it back.
fn is_drained_away(pod: &Value) -> bool {
    let owners = pod["metadata"]["ownerReferences"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    !owners.iter().any(|owner| owner["kind"] == "DaemonSet")
}

/// A drain looks again so long after a refusal, in virtual time.
const AGAIN_AFTER: Duration = Duration::from_secs(5);
/// A drain that takes longer than this is a failure.
const WITHIN: Duration = Duration::from_secs(90);

/// Evicts until nothing is left to evict.
async fn drain(stage: &Stage, node: &str) -> Result<(), String> {
    let began = Instant::now();
    let look = Call::get(pods_of(node));
    loop {
        let list = stage
            .rest
            .send(&look, PATIENCE)
            .await
            .map_err(|error| error.to_string())?
            .body;
        let pods = list["items"].as_array().map_or(&[][..], Vec::as_slice);
        let left: Vec<&Value> = pods.iter().filter(|pod| is_drained_away(pod)).collect();
        if left.is_empty() {
            return Ok(());
        }
        if began.elapsed() > WITHIN {
            return Err(format!("{} pods are left on {node}", left.len()));
        }
        for pod in left
            .into_iter()
            .filter(|pod| pod["metadata"]["deletionTimestamp"].is_null())
        {
            match evict(stage, pod).await {
                Ok(()) => {}
                // A disruption budget refuses with this status.
                Err(error) if error.status() == Some(StatusCode::TOO_MANY_REQUESTS) => {}
                Err(error) if error.is_not_found() || error.is_outage() => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        sleep(stage.real(AGAIN_AFTER)).await;
    }
}

async fn evict(stage: &Stage, pod: &Value) -> Result<(), RestError> {
    let text = |field: &str| pod["metadata"][field].as_str().unwrap_or_default();
    let (namespace, name) = (text("namespace"), text("name"));
    let eviction = json!({
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"namespace": namespace, "name": name},
    });
    let call = Call::post(
        format!(
            "/api/v1/namespaces/{namespace}/pods/{name}/eviction?fieldManager=machine-config-controller"
        ),
        eviction,
    );
    stage.rest.send_once(&call).await?;
    Ok(())
}

/// Leaders claim their Leases for so long.
const DURATION_SECS: u32 = 137;

/// Takes or renews a Lease, if there is a leader.
async fn lead(
    stage: &Stage,
    actor: &str,
    lease: &Target,
    leader: &Leader,
) -> Result<(), RestError> {
    let Some(holder) = find(stage, leader).await? else {
        return Ok(());
    };
    let now = rest::micros(rest::now());
    let held = lock(&stage.leases).get(lease).cloned();
    let (call, transitions) = match held {
        None => (create(actor, lease, &holder, &now)?, 0),
        Some(held) if held.holder == holder => (
            patch(actor, lease, &json!({"renewTime": now}))?,
            held.transitions,
        ),
        Some(held) => {
            let transitions = held.transitions + 1;
            let spec = json!({
                "holderIdentity": holder, "leaseDurationSeconds": DURATION_SECS,
                "acquireTime": now, "renewTime": now, "leaseTransitions": transitions,
            });
            (patch(actor, lease, &spec)?, transitions)
        }
    };
    stage.rest.send(&call, PATIENCE).await?;
    lock(&stage.leases).insert(
        lease.clone(),
        LeaseRecord {
            last_holder: holder.clone(),
            holder,
            transitions,
        },
    );
    Ok(())
}

/// Returns a Lease up, as a leader that ends in good order does.
async fn resign(stage: &Stage, actor: &str, lease: &Target) -> Result<(), RestError> {
    let now = rest::micros(rest::now());
    let spec = json!({"holderIdentity": "", "leaseDurationSeconds": 1, "acquireTime": now, "renewTime": now});
    let call = patch(actor, lease, &spec)?;
    stage.rest.send(&call, PATIENCE).await?;
    if let Some(held) = lock(&stage.leases).get_mut(lease) {
        held.holder.clear();
    }
    Ok(())
}

fn create(actor: &str, lease: &Target, holder: &str, now: &str) -> Result<Call, RestError> {
    let object = json!({
        "apiVersion": lease.api_version,
        "kind": lease.kind,
        "metadata": {"namespace": lease.namespace, "name": lease.name},
        "spec": {
            "holderIdentity": holder, "leaseDurationSeconds": DURATION_SECS,
            "acquireTime": now, "renewTime": now, "leaseTransitions": 0,
        },
    });
    let path = format!("{}?fieldManager={actor}", lease.require_collection_path()?);
    Ok(Call::post(path, object))
}

fn patch(actor: &str, lease: &Target, spec: &Value) -> Result<Call, RestError> {
    let path = format!("{}?fieldManager={actor}", lease.require_path()?);
    Ok(Call::patch(path, Body::Merge(json!({"spec": spec}))))
}

/// The identity of the current leader: the newest running Pod of the app.
///
/// From the server's cache, which may be a moment behind: as good as a Pod's own view of itself.
async fn find(stage: &Stage, leader: &Leader) -> Result<Option<String>, RestError> {
    let (namespace, app) = match leader {
        Leader::Outsider { name } => return Ok(Some(name.clone())),
        Leader::PodOf { namespace, app } | Leader::NodeOf { namespace, app } => (namespace, app),
    };
    let path =
        format!("/api/v1/namespaces/{namespace}/pods?labelSelector=app%3D{app}&resourceVersion=0");
    let list = stage.rest.send(&Call::get(path), PATIENCE).await?.body;
    let pods = list["items"].as_array().map_or(&[][..], Vec::as_slice);
    let newest = pods
        .iter()
        .filter(|pod| {
            pod["status"]["phase"] == "Running" && pod["metadata"]["deletionTimestamp"].is_null()
        })
        .max_by_key(|pod| pod["status"]["startTime"].as_str().unwrap_or_default());
    Ok(newest.map(|pod| {
        let uid = pod["metadata"]["uid"].as_str().unwrap_or_default();
        let name = match leader {
            Leader::NodeOf { .. } => &pod["spec"]["nodeName"],
            _ => &pod["metadata"]["name"],
        };
        format!(
            "{}_{}",
            name.as_str().unwrap_or_default(),
            uuid(&["leader", uid])
        )
    }))
}

#[cfg(test)]
mod gate_tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_deployment_is_rolled_out_when_nothing_old_is_left() {
        let mut deployment = json!({
            "metadata": {"generation": 2},
            "spec": {"replicas": 2},
            "status": {"observedGeneration": 2, "updatedReplicas": 2, "availableReplicas": 2, "replicas": 3},
        });
        assert!(!is_rolled_out(&deployment));
        deployment["status"]["replicas"] = json!(2);
        assert!(is_rolled_out(&deployment));
        deployment["metadata"]["generation"] = json!(3);
        assert!(!is_rolled_out(&deployment));
    }

    #[test]
    fn the_first_unfinished_container_tells_why_a_pod_waits() {
        let pod = json!({"status": {
            "initContainerStatuses": [
                {"state": {"terminated": {"exitCode": 0}}},
                {"state": {"waiting": {"reason": "ErrImagePull"}}},
            ],
            "containerStatuses": [{"state": {"waiting": {"reason": "PodInitializing"}}}],
        }});
        assert_eq!(waits(&pod).unwrap(), "ErrImagePull");
    }

    #[test]
    fn a_node_is_ready_in_one_boot_only() {
        let node = json!({"status": {
            "nodeInfo": {"bootID": "old"},
            "conditions": [{"type": "Ready", "status": "True"}],
        }});
        assert!(is_ready(&node, "old") && !is_ready(&node, "new"));
    }
}
