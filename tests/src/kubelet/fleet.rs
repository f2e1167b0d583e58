//! The kubelets of a cluster: one watch of Pods for all nodes, one task a Pod, one heartbeat a node.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{broadcast, watch};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::life::{Fate, FateBook, PodMatcher};
use super::node::Power;
use super::node::{NodeConditions, NodeSpec, Readiness};
use super::pod_task::{About, EventRecorder};
use super::{node, pod_task};
use crate::rest::{self, Body, Call, Patience, Rest, RestError, Target};

/// The kubelets of a cluster. Dropping it stops them where they are.
pub struct Kubelets {
    fleet: Arc<Fleet>,
    tasks: Mutex<JoinSet<()>>,
}

/// How a node is rebooted. Virtual times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reboot {
    /// From the shutdown to the kubelet's return.
    pub down_secs: f64,
    /// From the kubelet's return to ready.
    pub not_ready_secs: f64,
}

/// Another fate for Pods that live already.
pub(super) type Turn = (PodMatcher, Fate);

/// How many turns a Pod may be behind.
const TURNS_KEPT: usize = 64;

/// What all kubelets share.
pub(super) struct Fleet {
    rest: Rest,
    speed: f64,
    fates: FateBook,
    turns: broadcast::Sender<Turn>,
    sites: Mutex<BTreeMap<String, Arc<Site>>>,
    failures: Mutex<Vec<String>>,
}

/// One node and its kubelet.
pub(super) struct Site {
    pub(super) spec: NodeSpec,
    pub(super) rest: Rest,
    pub(super) power: watch::Sender<Power>,
    pub(super) events: EventRecorder,
    fleet: Arc<Fleet>,
    uid: Mutex<String>,
    conditions: tokio::sync::Mutex<NodeConditions>,
    images: Mutex<BTreeSet<String>>,
    addresses_given: AtomicU32,
}

/// How long node writes are tried.
const PATIENCE: Patience = Patience::until_found(Duration::from_secs(20));

impl Kubelets {
    /// Starts kubelets without nodes; virtual time goes `speed` times as fast as the clock.
    pub fn start(rest: Rest, speed: f64) -> Self {
        let fleet = Arc::new(Fleet {
            rest,
            speed,
            fates: FateBook::default(),
            turns: broadcast::Sender::new(TURNS_KEPT),
            sites: Mutex::default(),
            failures: Mutex::default(),
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(follow_pods(Arc::clone(&fleet)));
        Self {
            fleet,
            tasks: Mutex::new(tasks),
        }
    }

    /// Scripts the fate of Pods to come.
    pub fn script(&self, matcher: PodMatcher, fate: Fate) {
        self.fleet.fates.script(matcher, fate);
    }

    /// Scripts the fate of Pods to come, and of those that live already.
    pub fn turn(&self, matcher: PodMatcher, fate: Fate) {
        self.script(matcher.clone(), fate.clone());
        // No Pod lives: nobody has to hear it.
        self.fleet.turns.send((matcher, fate)).ok();
    }

    /// Stops a node's kubelet without a trace: no heartbeat, and no status of its Pods.
    ///
    /// # Errors
    ///
    /// There is no such node.
    pub fn stop(&self, node: &str) -> Result<(), RestError> {
        let site = self.site(node)?;
        site.power.send_modify(|power| power.is_up = false);
        Ok(())
    }

    /// Has a node say that its memory is short.
    ///
    /// # Errors
    ///
    /// There is no such node, or the API refused its status.
    pub async fn run_short_of_memory(&self, node: &str) -> Result<(), RestError> {
        let site = self.site(node)?;
        let now = rest::seconds(rest::now());
        site.conditions.lock().await.run_short_of_memory(&now);
        site.write_status().await?;
        let told = format!("Node {node} status is now: NodeHasInsufficientMemory");
        site.say(false, "NodeHasInsufficientMemory", &told).await
    }

    fn site(&self, node: &str) -> Result<Arc<Site>, RestError> {
        let found = lock(&self.fleet.sites).get(node).cloned();
        found.ok_or_else(|| RestError::NoPath {
            target: Target::cluster_wide("v1", "Node", node),
        })
    }

    /// Brings a node up: registered not ready, then ready after `not_ready_secs` of virtual time.
    ///
    /// # Errors
    ///
    /// The API refused the Node.
    pub async fn join(&self, spec: NodeSpec, not_ready_secs: f64) -> Result<(), RestError> {
        let now = rest::seconds(rest::now());
        let site = Arc::new(Site {
            events: EventRecorder::new(self.fleet.rest.clone(), &spec.name),
            rest: self.fleet.rest.clone(),
            power: watch::Sender::new(Power {
                boot: 1,
                is_up: true,
            }),
            fleet: Arc::clone(&self.fleet),
            uid: Mutex::default(),
            conditions: tokio::sync::Mutex::new(NodeConditions::new(
                Readiness::NetworkMissing,
                &now,
            )),
            images: Mutex::default(),
            addresses_given: AtomicU32::new(0),
            spec,
        });
        let call = Call::post(
            "/api/v1/nodes?fieldManager=kubelet".to_owned(),
            site.spec.to_object(),
        );
        let node = self.fleet.rest.send(&call, PATIENCE).await?.body;
        node["metadata"]["uid"]
            .as_str()
            .unwrap_or_default()
            .clone_into(&mut lock(&site.uid));
        site.write_status().await?;
        lock(&self.fleet.sites).insert(site.spec.name.clone(), Arc::clone(&site));
        site.say(false, "Starting", "Starting kubelet.").await?;
        lock(&self.tasks).spawn(node::beat(Arc::clone(&site)));
        let real = self.fleet.real(Duration::from_secs_f64(not_ready_secs));
        lock(&self.tasks).spawn(async move {
            sleep(real).await;
            if let Err(error) = site.become_ready().await {
                site.fail(&error);
            }
        });
        Ok(())
    }

    /// Reboots a node; returns once the kubelet has said that it goes down.
    ///
    /// # Errors
    ///
    /// There is no such node, or the API refused its status.
    pub async fn reboot(&self, node: &str, reboot: Reboot) -> Result<(), RestError> {
        let site = self.site(node)?;
        site.set_readiness(Readiness::ShuttingDown).await?;
        site.say(
            false,
            "NodeNotReady",
            &format!("Node {node} status is now: NodeNotReady"),
        )
        .await?;
        site.power.send_modify(|power| power.is_up = false);
        lock(&self.tasks).spawn(async move {
            if let Err(error) = site.come_back(reboot).await {
                site.fail(&error);
            }
        });
        Ok(())
    }

    /// Returns the failures so far; empty if there are none.
    pub fn failures(&self) -> Vec<String> {
        lock(&self.fleet.failures).clone()
    }
}

impl Fleet {
    fn real(&self, virtual_time: Duration) -> Duration {
        virtual_time.div_f64(self.speed)
    }
}

impl Site {
    /// Shortens a virtual time to real time.
    pub(super) fn real(&self, virtual_time: Duration) -> Duration {
        self.fleet.real(virtual_time)
    }

    /// Other fates for Pods that live, from now on.
    pub(super) fn turns(&self) -> broadcast::Receiver<Turn> {
        self.fleet.turns.subscribe()
    }

    pub(super) fn uid(&self) -> String {
        lock(&self.uid).clone()
    }

    /// Keeps what went wrong for the end.
    pub(super) fn fail(&self, error: &RestError) {
        lock(&self.fleet.failures).push(format!("kubelet {}: {error}", self.spec.name));
    }

    /// Whether an image was pulled to this node before.
    pub(super) fn has_image(&self, image: &str) -> bool {
        lock(&self.images).contains(image)
    }

    pub(super) fn keep_image(&self, image: &str) {
        lock(&self.images).insert(image.to_owned());
    }

    /// An address no other Pod of this node has had lately.
    pub(super) fn next_pod_ip(&self) -> String {
        self.spec
            .pod_ip(self.addresses_given.fetch_add(1, Ordering::Relaxed))
    }

    async fn say(&self, is_warning: bool, reason: &str, message: &str) -> Result<(), RestError> {
        // A kubelet gives its node's name as the uid.
        let name = &self.spec.name;
        let about = About {
            kind: "Node",
            namespace: "default",
            name,
            uid: name,
            field_path: None,
        };
        self.events
            .record(&about, is_warning, reason, message)
            .await
    }

    async fn set_readiness(&self, readiness: Readiness) -> Result<(), RestError> {
        self.conditions
            .lock()
            .await
            .set(readiness, &rest::seconds(rest::now()));
        self.write_status().await
    }

    /// Writes the node's status with a new heartbeat time.
    pub(super) async fn write_status(&self) -> Result<(), RestError> {
        let boot = self.power.borrow().boot;
        let conditions = self.conditions.lock().await;
        let mut status = self.spec.fixed_status(boot);
        status["conditions"] = conditions.to_status(&rest::seconds(rest::now()));
        if conditions.is_ready() {
            status["images"] = lock(&self.images)
                .iter()
                .map(|image| json!({"names": [image], "sizeBytes": 412_316_860}))
                .collect();
        }
        let path = format!(
            "/api/v1/nodes/{}/status?fieldManager=kubelet",
            self.spec.name
        );
        let body = Body::Strategic(json!({"status": status}));
        self.rest.send(&Call::patch(path, body), PATIENCE).await?;
        Ok(())
    }

    async fn become_ready(&self) -> Result<(), RestError> {
        self.set_readiness(Readiness::Ready).await?;
        self.say(
            false,
            "NodeReady",
            &format!("Node {} status is now: NodeReady", self.spec.name),
        )
        .await
    }

    async fn come_back(&self, reboot: Reboot) -> Result<(), RestError> {
        sleep(self.real(Duration::from_secs_f64(reboot.down_secs))).await;
        let mut boot = 0;
        self.power.send_modify(|power| {
            power.boot += 1;
            boot = power.boot;
        });
        self.say(false, "Starting", "Starting kubelet.").await?;
        self.set_readiness(Readiness::NetworkMissing).await?;
        let told = format!(
            "Node {} has been rebooted, boot id: {}",
            self.spec.name,
            self.spec.boot_id(boot)
        );
        self.say(true, "Rebooted", &told).await?;
        self.power.send_modify(|power| power.is_up = true);
        sleep(self.real(Duration::from_secs_f64(reboot.not_ready_secs))).await;
        self.become_ready().await
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Follows all Pods and hands each that is bound to one of the nodes to a task of its own.
#[expect(
    clippy::infinite_loop,
    reason = "it ends when its kubelets are dropped"
)]
async fn follow_pods(fleet: Arc<Fleet>) {
    let mut pods: BTreeMap<String, watch::Sender<Value>> = BTreeMap::new();
    let mut lives = JoinSet::new();
    loop {
        // Without a resourceVersion a watch begins with all there is.
        match fleet.rest.watch("/api/v1/pods?timeoutSeconds=600").await {
            Ok(mut watching) => {
                while let Some(notice) = watching.next().await {
                    take_notice(&fleet, &mut pods, &mut lives, notice);
                    while lives.try_join_next().is_some() {}
                }
            }
            // An outage: the next try says more.
            Err(_error) => sleep(Duration::from_millis(100)).await,
        }
    }
}

fn take_notice(
    fleet: &Arc<Fleet>,
    pods: &mut BTreeMap<String, watch::Sender<Value>>,
    lives: &mut JoinSet<()>,
    notice: rest::Notice,
) {
    let pod = notice.object;
    let Some(uid) = pod["metadata"]["uid"].as_str().map(ToOwned::to_owned) else {
        return;
    };
    if notice.what == "DELETED" {
        // Dropping the sender tells the Pod's task.
        pods.remove(&uid);
        return;
    }
    if let Some(known) = pods.get(&uid) {
        known.send_replace(pod);
        return;
    }
    let node = pod["spec"]["nodeName"].as_str().unwrap_or_default();
    let Some(site) = lock(&fleet.sites).get(node).cloned() else {
        return;
    };
    let fate = fleet.fates.take(&pod);
    let (sender, receiver) = watch::channel(pod);
    pods.insert(uid, sender);
    lives.spawn(pod_task::live(site, receiver, fate));
}
