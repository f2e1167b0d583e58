//! The control plane on which scenarios are played and recorded, one after the other.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, Result, bail, ensure};
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::manifest::{Reference, full};
use super::scenario::{
    AUTHORITY, EVEN, Edit, Eviction, MICROS, NOW, ODD, Play, SOON, Script, Sight, Step, TURN,
};
use super::truth::Truth;
use crate::control_plane::ControlPlane;
use crate::kubelet::{Kubelets, NodeRole, NodeSpec, PodMatcher};
use crate::recording::{Page, Recording};
use crate::rest::{self, Body, Call, Patience, Rest, RestError, Verb};

/// How long anything that is sure to come may take on a busy machine.
const SURE: Duration = Duration::from_mins(2);
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// A call's patience; a namespace may still lack what Pods need.
const PATIENCE: Patience = Patience::outages(Duration::from_secs(20));
/// Kubelets live faster than the clock: a recording of seconds shows a back-off.
const SPEED: f64 = 5.0;
/// How long after now `$soon` is.
const SOON_AFTER: Duration = Duration::from_secs(45);
/// Quiet before the first step.
const QUIET: Duration = Duration::from_secs(2);
/// The longest pause between two unrelated acts.
const PAUSE_MILLIS: u32 = 900;
const NODES: [&str; 3] = ["$node1", "$node2", "$node3"];

/// A control plane with controllers, a scheduler and a place for reels.
pub struct Stage {
    control_plane: ControlPlane,
    rest: Rest,
}

/// A recorded scenario.
#[derive(Debug)]
pub struct RecordedScenario {
    /// The recording.
    pub reel: PathBuf,
    /// What is true of it.
    pub truth: Truth,
}

/// One scenario while it is played.
#[derive(Clone)]
struct Scene {
    rest: Rest,
    kubelets: Arc<Kubelets>,
    namespace: String,
}

impl Stage {
    /// Starts the control plane.
    ///
    /// # Errors
    ///
    /// When it does not start.
    pub async fn open() -> Result<Self> {
        let control_plane = ControlPlane::builder()
            .controllers(true)
            .scheduler(true)
            .controller_flag("--node-monitor-period=1s")
            .controller_flag("--node-monitor-grace-period=8s")
            .start()
            .await?;
        let rest = Rest::new(vec![control_plane.client(0).await?]);
        Ok(Self {
            control_plane,
            rest,
        })
    }

    /// Plays a scenario, records it into a folder, and leaves nothing of it on the control plane.
    ///
    /// # Errors
    ///
    /// When a step fails, or what it waits for does not come.
    pub async fn play(&self, play: &Play, folder: &Path) -> Result<RecordedScenario> {
        let namespaces = [play.named("$ns"), play.named("$other")];
        let scene = Scene {
            rest: self.rest.clone(),
            kubelets: Arc::new(Kubelets::start(self.rest.clone(), SPEED)),
            namespace: play.named("$ns"),
        };
        let played = self.record(&scene, play, &namespaces, folder).await;
        let left = self.clear(play, &namespaces, scene).await;
        let played = played.with_context(|| play.name().to_owned())?;
        left.with_context(|| format!("clear up after {}", play.name()))?;
        Ok(played)
    }

    async fn record(
        &self,
        scene: &Scene,
        play: &Play,
        namespaces: &[String; 2],
        folder: &Path,
    ) -> Result<RecordedScenario> {
        self.furnish(scene, play, namespaces).await?;
        let reel = folder.join(format!("{}.reel", play.name()));
        for old in ["reel", "log"] {
            // The recorder would resume a reel that is there.
            std::fs::remove_file(reel.with_extension(old)).ok();
        }
        let more = ["--listen", "127.0.0.1:0"];
        let recording = Recording::start(&reel, self.control_plane.kubeconfig(0), &more)?;
        let page = Page::of(&recording, SURE).await?;
        page.until_ready(SURE).await?;
        let around = Hubbub::begin(scene, play);
        sleep(QUIET).await;
        let begins = rest::now().to_string();
        for step in &play.scenario.then {
            scene.take(step, 0).await?;
        }
        let ends = rest::now().to_string();
        sleep(Duration::from_secs_f64(play.scenario.hold_secs)).await;
        around.end().await?;
        let ended = recording.finish(SURE)?;
        ensure!(ended.status.success(), "{}: {}", ended.status, ended.log);
        let truth = Truth::of(&play.scenario, &scene.namespace, play.seed, (begins, ends))?;
        Ok(RecordedScenario { reel, truth })
    }

    /// Brings up nodes, namespaces and what is there before the recording, until all of it is well.
    async fn furnish(&self, scene: &Scene, play: &Play, namespaces: &[String; 2]) -> Result<()> {
        for (token, index) in NODES.iter().zip(1..) {
            let node = NodeSpec {
                name: play.named(token),
                role: NodeRole::Worker,
                index,
                zone: format!("zone-{index}"),
                annotations: Vec::new(),
            };
            scene.kubelets.join(node, 1.0).await?;
        }
        for namespace in namespaces {
            let object = json!({"kind": "Namespace", "name": namespace});
            scene.create(&object).await?;
            let account = format!("ServiceAccount {namespace}/default");
            scene.until(&account, &Sight::default_of(&account)).await?;
        }
        let around = &play.around;
        let beside = around
            .before_beside
            .iter()
            .filter(|_| !play.scenario.is_alone);
        let steps = around
            .before
            .iter()
            .chain(beside)
            .chain(&play.scenario.before);
        for step in steps {
            scene.take(step, 0).await?;
        }
        for namespace in namespaces {
            for kind in ["Deployment", "StatefulSet", "DaemonSet"] {
                scene.until_all_ready(kind, namespace).await?;
            }
        }
        Ok(())
    }

    /// Takes everything away that the scenario made.
    async fn clear(&self, play: &Play, namespaces: &[String; 2], scene: Scene) -> Result<()> {
        let mut made: Vec<Reference> = Vec::new();
        let around = &play.around;
        let steps = [
            &around.before,
            &around.before_beside,
            &play.scenario.before,
            &play.scenario.then,
        ];
        for step in steps.into_iter().flatten() {
            if let Step::Create(short) = step {
                made.push(Reference::of(&full(
                    &without_extras(short),
                    &namespaces[0],
                )?));
            }
        }
        let mut gone = Vec::new();
        for object in &made {
            let unbind = json!({"metadata": {"finalizers": null}});
            self.try_send(Verb::Patch, &object.path(), Body::Merge(unbind))
                .await?;
            if object.namespace.is_none() {
                self.try_send(Verb::Delete, &object.path(), Body::Empty)
                    .await?;
                gone.push(object.path());
            }
        }
        for namespace in namespaces {
            let path = format!("/api/v1/namespaces/{namespace}");
            self.try_send(Verb::Delete, &path, Body::Empty).await?;
            // A node that is down does not end its Pods.
            let at_once = Body::Json(json!({"gracePeriodSeconds": 0}));
            self.try_send(Verb::Delete, &format!("{path}/pods"), at_once)
                .await?;
            gone.push(path);
        }
        for path in gone {
            let deadline = Instant::now() + SURE;
            while self
                .try_send(Verb::Get, &path, Body::Empty)
                .await?
                .is_some()
            {
                ensure!(Instant::now() < deadline, "{path} stays");
                sleep(LOOK_EVERY).await;
            }
        }
        drop(scene);
        for token in NODES {
            let node = play.named(token);
            let lease =
                format!("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{node}");
            self.try_send(Verb::Delete, &format!("/api/v1/nodes/{node}"), Body::Empty)
                .await?;
            self.try_send(Verb::Delete, &lease, Body::Empty).await?;
        }
        let events = "/api/v1/namespaces/default/events";
        self.try_send(Verb::Delete, events, Body::Empty).await?;
        Ok(())
    }

    /// Sends a call; none when the object is not there.
    async fn try_send(&self, verb: Verb, path: &str, body: Body) -> Result<Option<Value>> {
        let path = path.to_owned();
        match self.rest.send(&Call { verb, path, body }, PATIENCE).await {
            Ok(answer) => Ok(Some(answer.body)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl Sight {
    fn default_of(object: &str) -> Self {
        Self {
            object: object.to_owned(),
            has: Vec::new(),
            lacks: Vec::new(),
            count: 1,
        }
    }

    fn fits(&self, object: &Value) -> bool {
        let text = object.to_string();
        self.has.iter().all(|part| text.contains(part.as_str()))
            && !self.lacks.iter().any(|part| text.contains(part.as_str()))
    }
}

impl Scene {
    async fn take(&self, step: &Step, turn: u32) -> Result<()> {
        match step {
            Step::Create(short) => self.create(&timed(short, turn)?).await,
            Step::Patch(edit) => self.patch(edit, turn).await,
            Step::Delete(removal) => {
                let object = Reference::read(&removal.object, &self.namespace)?;
                self.send(Verb::Delete, object.path(), Body::Empty).await?;
                Ok(())
            }
            Step::DeletePods(prefix) => {
                for pod in self.pods(prefix, None).await? {
                    self.send(Verb::Delete, pod.path(), Body::Empty).await?;
                }
                Ok(())
            }
            Step::Evict(eviction) => self.evict(eviction).await,
            Step::Fate(script) => {
                self.script(script);
                Ok(())
            }
            Step::StopKubelet(node) => Ok(self.kubelets.stop(node)?),
            Step::ShortOfMemory(node) => Ok(self.kubelets.run_short_of_memory(node).await?),
            Step::Until(sight) => self.until(&sight.object, sight).await,
            Step::Hold(secs) => {
                sleep(Duration::from_secs_f64(*secs)).await;
                Ok(())
            }
            Step::Repeat(repetition) => {
                for turn in 0..repetition.times {
                    for step in &repetition.steps {
                        Box::pin(self.take(step, turn)).await?;
                    }
                    sleep(Duration::from_secs_f64(repetition.every_secs)).await;
                }
                Ok(())
            }
        }
    }

    async fn create(&self, short: &Value) -> Result<()> {
        let mut manifest = full(&without_extras(short), &self.namespace)?;
        if let Some(owner) = short["owner"].as_str() {
            let owner = Reference::read(owner, &self.namespace)?;
            let found = self.send(Verb::Get, owner.path(), Body::Empty).await?;
            manifest["metadata"]["ownerReferences"] = json!([{
                "apiVersion": owner.api_version, "kind": owner.kind, "name": owner.name,
                "uid": found["metadata"]["uid"], "controller": true, "blockOwnerDeletion": true,
            }]);
        }
        let object = Reference::of(&manifest);
        let by = short["by"].as_str().unwrap_or("kubectl-create");
        let path = format!("{}?fieldManager={by}", object.collection());
        let call = Call::post(path, manifest.clone());
        // A custom resource may come before its definition is served.
        let patience = Patience::until_found(Duration::from_secs(20));
        self.rest.send(&call, patience).await?;
        // What a controller would say of it; its own manager writes it.
        if let Some(status) = manifest.get("status") {
            let edit = Edit {
                object: format!("{}/{} {}", object.api_version, object.kind, object.name),
                with: json!({"status": status}),
                part: "/status".to_owned(),
                by: short["reports"].as_str().unwrap_or("operator").to_owned(),
            };
            self.patch(&edit, 0).await?;
        }
        Ok(())
    }

    async fn patch(&self, edit: &Edit, turn: u32) -> Result<()> {
        let object = Reference::read(&edit.object, &self.namespace)?;
        let with = timed(&edit.with, turn)?;
        let body = if object.is_built_in() {
            Body::Strategic(with)
        } else {
            Body::Merge(with)
        };
        let Edit { part, by, .. } = edit;
        let path = format!("{}{part}?fieldManager={by}", object.path());
        self.send(Verb::Patch, path, body).await?;
        Ok(())
    }

    async fn evict(&self, eviction: &Eviction) -> Result<()> {
        for pod in self.pods(&eviction.pods, eviction.node.as_deref()).await? {
            let body = json!({
                "apiVersion": "policy/v1", "kind": "Eviction",
                "metadata": {"name": pod.name, "namespace": pod.namespace},
            });
            let call = Call::post(format!("{}/eviction", pod.path()), body);
            match self.rest.send_once(&call).await {
                Ok(_) => {}
                // A budget refuses so.
                Err(RestError::Refused { status, .. }) if status.as_u16() == 429 => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn script(&self, script: &Script) {
        let pods = PodMatcher {
            namespace: self.namespace.clone(),
            name_prefix: Some(script.pods.clone()),
            ..PodMatcher::default()
        };
        if script.now {
            self.kubelets.turn(pods, script.fate.clone());
        } else {
            self.kubelets.script(pods, script.fate.clone());
        }
    }

    async fn pods(&self, prefix: &str, node: Option<&str>) -> Result<Vec<Reference>> {
        let pods = self
            .list(&Reference::read(&format!("Pod {prefix}"), &self.namespace)?)
            .await?;
        let meant = pods.iter().filter(|pod| {
            pod["metadata"]["deletionTimestamp"].is_null()
                && node.is_none_or(|node| pod["spec"]["nodeName"] == node)
        });
        let named = meant.map(|pod| {
            let name = pod["metadata"]["name"].as_str().unwrap_or_default();
            Reference::read(&format!("Pod {name}"), &self.namespace)
        });
        named.collect()
    }

    /// The objects of a kind whose names begin so.
    async fn list(&self, like: &Reference) -> Result<Vec<Value>> {
        let mut answer = self.send(Verb::Get, like.collection(), Body::Empty).await?;
        let Value::Array(mut items) = answer["items"].take() else {
            bail!("no list of {}", like.kind);
        };
        items.retain(|item| {
            let name = item["metadata"]["name"].as_str().unwrap_or_default();
            name.starts_with(&like.name)
        });
        Ok(items)
    }

    async fn until(&self, object: &str, sight: &Sight) -> Result<()> {
        let like = Reference::read(object, &self.namespace)?;
        let deadline = Instant::now() + SURE;
        loop {
            let items = self.list(&like).await?;
            if items.iter().filter(|item| sight.fits(item)).count() >= sight.count {
                return Ok(());
            }
            ensure!(
                Instant::now() < deadline,
                "never seen: {sight:?}, but {}",
                json!(items)
            );
            sleep(LOOK_EVERY).await;
        }
    }

    async fn until_all_ready(&self, kind: &str, namespace: &str) -> Result<()> {
        let like = Reference::read(&format!("{kind} {namespace}/"), namespace)?;
        let deadline = Instant::now() + SURE;
        loop {
            let items = self.list(&like).await?;
            if items.iter().all(is_ready) {
                return Ok(());
            }
            ensure!(Instant::now() < deadline, "never ready: {}", json!(items));
            sleep(LOOK_EVERY).await;
        }
    }

    async fn send(&self, verb: Verb, path: String, body: Body) -> Result<Value> {
        let call = Call { verb, path, body };
        Ok(self.rest.send(&call, PATIENCE).await?.body)
    }
}

/// Whether all Pods of a workload are available.
fn is_ready(workload: &Value) -> bool {
    let status = &workload["status"];
    let (wanted, ready) = if workload["spec"]["replicas"].is_null() {
        (
            &status["desiredNumberScheduled"],
            &status["numberAvailable"],
        )
    } else {
        (&workload["spec"]["replicas"], &status["availableReplicas"])
    };
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    status["observedGeneration"] == workload["metadata"]["generation"]
        && number(wanted) == number(ready)
}

/// What the API does not take from a short manifest.
fn without_extras(short: &Value) -> Value {
    let mut manifest = short.clone();
    if let Some(fields) = manifest.as_object_mut() {
        for extra in ["by", "owner", "reports"] {
            fields.remove(extra);
        }
    }
    manifest
}

/// Fills in the time and the turn.
fn timed(value: &Value, turn: u32) -> Result<Value> {
    let now = rest::now();
    let fill = |text: &str| {
        text.replace(MICROS, &rest::micros(now))
            .replace(SOON, &rest::seconds(now + SOON_AFTER))
            .replace(NOW, &rest::seconds(now))
            .replace(TURN, &turn.to_string())
    };
    Ok(match value {
        Value::String(text) if text == EVEN => json!(2 * turn + 2),
        Value::String(text) if text == ODD => json!(2 * turn + 3),
        Value::String(text) if text == AUTHORITY => json!(authority()?),
        Value::String(text) => Value::String(fill(text)),
        Value::Array(items) => {
            let items: Result<Vec<Value>> = items.iter().map(|item| timed(item, turn)).collect();
            Value::Array(items?)
        }
        Value::Object(fields) => {
            let fields = fields.iter();
            fields
                .map(|(key, value)| Ok((key.clone(), timed(value, turn)?)))
                .collect::<Result<_>>()?
        }
        other => other.clone(),
    })
}

/// Makes a certificate authority in PEM that is valid from now until [`SOON_AFTER`].
fn authority() -> Result<String> {
    let now = SystemTime::from(rest::now());
    let mut params = CertificateParams::default();
    params.not_before = now.into();
    params.not_after = (now + SOON_AFTER).into();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    Ok(params.self_signed(&KeyPair::generate()?)?.pem())
}

/// Unrelated work around a scenario, until it is ended.
struct Hubbub {
    ends: watch::Sender<bool>,
    task: JoinHandle<Result<u32>>,
}

impl Hubbub {
    fn begin(scene: &Scene, play: &Play) -> Self {
        let (ends, mut ended) = watch::channel(false);
        let scene = scene.clone();
        let mut acts = play.around.acts.clone();
        if !play.scenario.is_alone {
            acts.extend(play.around.acts_beside.iter().cloned());
        }
        let (dice, name) = (play.dice, play.name().to_owned());
        let task = tokio::spawn(async move {
            let limit = u32::try_from(acts.len())?;
            let mut turn = 0;
            while !*ended.borrow() {
                turn += 1;
                let purpose = [name.as_str(), "act", &turn.to_string()];
                let act = usize::try_from(dice.below(limit, &purpose))?;
                let act = acts.get(act).context("an act")?;
                scene.take(act, turn).await.context("unrelated work")?;
                let purpose = [name.as_str(), "pause", &turn.to_string()];
                let pause = u64::from(dice.below(PAUSE_MILLIS, &purpose));
                tokio::select! {
                    () = sleep(Duration::from_millis(pause)) => {}
                    _ = ended.changed() => {}
                }
            }
            Ok(turn)
        });
        Self { ends, task }
    }

    /// Ends it; unrelated work that failed or did nothing is no noise.
    async fn end(self) -> Result<()> {
        self.ends.send_replace(true);
        let acts = self.task.await??;
        ensure!(acts > 2, "only {acts} unrelated acts");
        Ok(())
    }
}
