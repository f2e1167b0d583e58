//! Lives one Pod's life on the API: waits for its beats, writes its status, ends it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, sleep, sleep_until};

use super::fleet::{Site, Turn};
use super::life::{Fate, Life};
use super::node::{Beat, Change, Note, Power};
use super::pod_view::PodView;
use crate::rest::{self, Body, Call, Patience, Rest, RestError, Target, Verb};

/// How long a Pod's writes are tried.
const PATIENCE: Patience = Patience::outages(Duration::from_secs(20));
/// How long containers take to stop when asked, in virtual time; less when the grace is shorter.
const STOPS_WITHIN: Duration = Duration::from_millis(1_500);

struct PodTask {
    site: Arc<Site>,
    view: PodView,
    target: Target,
    life: Life,
    deadline: Option<Instant>,
    boot: u32,
    turns: broadcast::Receiver<Turn>,
}

/// Lives until the Pod is gone.
pub(super) async fn live(site: Arc<Site>, mut pod: watch::Receiver<Value>, fate: Fate) {
    let mut task = PodTask::new(&site, &pod.borrow_and_update(), fate);
    let mut power = site.power.subscribe();
    if let Err(error) = task.run(&mut pod, &mut power).await {
        // A Pod that no longer exists is not a failure: it was deleted by force, and may have been
        // created again.
        if !error.is_not_found() && !error.is_about_another() {
            site.fail(&error);
        }
    }
}

/// What ended a wait.
enum Woken {
    Beat,
    Turn(Turn),
    Deadline,
    Pod,
    PodGone,
    Power,
}

impl PodTask {
    fn new(site: &Arc<Site>, pod: &Value, fate: Fate) -> Self {
        let mut view = PodView::of(pod, &site.spec.host_ip(), &site.next_pod_ip());
        if matches!(fate, Fate::StartsSlowly { .. } | Fate::ProbeFails { .. }) {
            view.containers
                .iter_mut()
                .for_each(|container| container.has_readiness_probe = true);
        }
        let deadline = pod["spec"]["activeDeadlineSeconds"]
            .as_u64()
            .map(|secs| Instant::now() + site.real(Duration::from_secs(secs)));
        let target = Target::namespaced("v1", "Pod", &view.namespace, &view.name);
        Self {
            site: Arc::clone(site),
            view,
            target,
            life: Life::new(fate),
            deadline,
            boot: site.power.borrow().boot,
            turns: site.turns(),
        }
    }

    async fn run(
        &mut self,
        pod: &mut watch::Receiver<Value>,
        power: &mut watch::Receiver<Power>,
    ) -> Result<(), RestError> {
        let mut next = self.next_beat();
        loop {
            let seen = *power.borrow_and_update();
            if !seen.is_up || seen.boot != self.boot {
                if !self.stay_while_off(pod, power).await? {
                    return Ok(());
                }
                next = self.next_beat();
            }
            if is_deleted(&pod.borrow_and_update()) && !self.life.is_ignored() {
                return self.terminate(pod).await;
            }
            match wait(
                next.as_ref().map(|(due, _)| *due),
                self.deadline,
                pod,
                power,
                &mut self.turns,
            )
            .await
            {
                Woken::Pod | Woken::Power => {}
                Woken::Turn((pods, fate)) => {
                    let is_meant = pods.matches(&pod.borrow());
                    if is_meant && self.life.turn(fate, &self.view) {
                        next = self.next_beat();
                    }
                }
                Woken::PodGone => return self.kill_leftovers().await,
                Woken::Deadline => {
                    self.deadline = None;
                    next = None;
                    self.fail_by_deadline().await?;
                }
                Woken::Beat => {
                    if let Some((_, beat)) = next.take() {
                        self.play(beat).await?;
                    }
                    next = self.next_beat();
                }
            }
        }
    }

    fn next_beat(&mut self) -> Option<(Instant, Beat)> {
        let site = Arc::clone(&self.site);
        let beat = self.life.next(&self.view, |image| site.has_image(image))?;
        Some((Instant::now() + site.real(beat.after), beat))
    }

    async fn play(&mut self, beat: Beat) -> Result<(), RestError> {
        let now = rest::seconds(rest::now());
        for change in &beat.changes {
            self.view.apply(change, &now);
            if let Change::Starts { container } = change
                && let Some(container) = self.view.containers.get(*container)
            {
                self.site.keep_image(&container.image);
            }
        }
        if self.view.is_over() {
            self.deadline = None;
        }
        if !beat.changes.is_empty() {
            self.write_status().await?;
        }
        for note in &beat.notes {
            self.say(note).await?;
        }
        Ok(())
    }

    /// Waits for a node that is off; true to go on, false when the Pod went meanwhile.
    async fn stay_while_off(
        &mut self,
        pod: &mut watch::Receiver<Value>,
        power: &mut watch::Receiver<Power>,
    ) -> Result<bool, RestError> {
        loop {
            tokio::select! {
                back = power.wait_for(|power| power.is_up) => match back {
                    Ok(back) => {
                        self.boot = back.boot;
                        break;
                    }
                    Err(_closed) => return Ok(false),
                },
                changed = pod.changed() => if changed.is_err() {
                    return Ok(false);
                },
            }
        }
        if !self.view.is_over() {
            self.view
                .apply(&Change::Rebooted, &rest::seconds(rest::now()));
            self.life.restart();
            self.write_status().await?;
        }
        Ok(true)
    }

    async fn fail_by_deadline(&mut self) -> Result<(), RestError> {
        if self.view.is_over() {
            return Ok(());
        }
        let message = "Pod was active on the node longer than the specified deadline".to_owned();
        let change = Change::Fails {
            reason: "DeadlineExceeded",
            message: message.clone(),
        };
        let note = Note {
            container: None,
            is_warning: false,
            reason: "DeadlineExceeded",
            message,
        };
        self.play(Beat {
            after: Duration::ZERO,
            changes: vec![change],
            notes: vec![note],
        })
        .await
    }

    /// Ends a Pod that is being deleted: containers stop, the last status is reported, the object is deleted.
    async fn terminate(&mut self, pod: &mut watch::Receiver<Value>) -> Result<(), RestError> {
        let grace = pod.borrow_and_update()["metadata"]["deletionGracePeriodSeconds"]
            .as_u64()
            .unwrap_or(30);
        if !self.view.is_over() {
            self.kill_leftovers().await?;
            sleep(self.site.real(STOPS_WITHIN.min(Duration::from_secs(grace)))).await;
            self.view
                .apply(&Change::Stopped, &rest::seconds(rest::now()));
            self.write_status().await?;
        }
        let path = self.path("")?;
        let options = json!({"gracePeriodSeconds": 0, "preconditions": {"uid": self.view.uid}});
        self.site
            .rest
            .send(
                &Call {
                    verb: Verb::Delete,
                    path,
                    body: Body::Json(options),
                },
                PATIENCE,
            )
            .await?;
        Ok(())
    }

    /// Reports that the running containers are being killed.
    async fn kill_leftovers(&self) -> Result<(), RestError> {
        for (index, container) in self.view.containers.iter().enumerate() {
            if container.is_running() {
                let message = format!("Stopping container {}", container.name);
                self.say(&Note {
                    container: Some(index),
                    is_warning: false,
                    reason: "Killing",
                    message,
                })
                .await?;
            }
        }
        Ok(())
    }

    async fn say(&self, note: &Note) -> Result<(), RestError> {
        let field_path = note.container.and_then(|index| {
            let list = if self.view.is_init(index) {
                "initContainers"
            } else {
                "containers"
            };
            self.view
                .containers
                .get(index)
                .map(|container| format!("spec.{list}{{{}}}", container.name))
        });
        let view = &self.view;
        let about = About {
            kind: "Pod",
            namespace: &view.namespace,
            name: &view.name,
            uid: &view.uid,
            field_path,
        };
        self.site
            .events
            .record(&about, note.is_warning, note.reason, &note.message)
            .await
    }

    async fn write_status(&self) -> Result<(), RestError> {
        let seen = json!({"metadata": {"uid": self.view.uid}, "status": self.view.to_status()});
        let path = self.path("/status")?;
        self.site
            .rest
            .send(&Call::patch(path, Body::Strategic(seen)), PATIENCE)
            .await?;
        Ok(())
    }

    fn path(&self, subresource: &str) -> Result<String, RestError> {
        let path = self.target.require_path()?;
        Ok(format!("{path}{subresource}?fieldManager=kubelet"))
    }
}

fn is_deleted(pod: &Value) -> bool {
    pod["metadata"]["deletionTimestamp"].is_string()
}

async fn wait(
    due: Option<Instant>,
    deadline: Option<Instant>,
    pod: &mut watch::Receiver<Value>,
    power: &mut watch::Receiver<Power>,
    turns: &mut broadcast::Receiver<Turn>,
) -> Woken {
    let at = async |moment: Option<Instant>| match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    };
    tokio::select! {
        // A Pod that lags behind more turns than are kept has missed only older ones.
        Ok(turn) = turns.recv() => Woken::Turn(turn),
        () = at(due) => Woken::Beat,
        () = at(deadline) => Woken::Deadline,
        changed = pod.changed() => if changed.is_ok() { Woken::Pod } else { Woken::PodGone },
        changed = power.changed() => if changed.is_ok() { Woken::Power } else { Woken::PodGone },
    }
}

/// Reports Events about Pods and the node, as the kubelet of one node.
pub(super) struct EventRecorder {
    rest: Rest,
    host: String,
    known: Mutex<BTreeMap<String, EventRecord>>,
}

#[derive(Clone)]
struct EventRecord {
    target: Target,
    count: u32,
}

/// The object of an Event.
pub(super) struct About<'a> {
    pub(super) kind: &'a str,
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    pub(super) uid: &'a str,
    pub(super) field_path: Option<String>,
}

impl EventRecorder {
    const PATIENCE: Patience = Patience::outages(Duration::from_secs(20));

    pub(super) fn new(rest: Rest, host: &str) -> Self {
        Self {
            rest,
            host: host.to_owned(),
            known: Mutex::default(),
        }
    }

    /// Reports an Event, or repeats it.
    pub(super) async fn record(
        &self,
        about: &About<'_>,
        is_warning: bool,
        reason: &str,
        message: &str,
    ) -> Result<(), RestError> {
        let key = format!("{}\0{:?}\0{reason}\0{message}", about.uid, about.field_path);
        let now = rest::now();
        let again = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.get_mut(&key).map(|known| {
                known.count += 1;
                known.clone()
            })
        };
        if let Some(again) = again {
            return self.count(&again, &rest::seconds(now)).await;
        }
        let name = format!("{}.{:016x}", about.name, now.as_nanosecond());
        let event = self.describe(
            about,
            is_warning,
            (reason, message),
            &name,
            &rest::seconds(now),
        );
        let target = Target::namespaced("v1", "Event", about.namespace, &name);
        let path = target.require_collection_path()?;
        let call = Call::post(format!("{path}?fieldManager=kubelet"), event);
        match self.rest.send(&call, Self::PATIENCE).await {
            // A namespace that is being deleted takes no new Events; its Pods end all the same.
            Err(refused) if refused.status() == Some(StatusCode::FORBIDDEN) => return Ok(()),
            sent => {
                sent?;
            }
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(key, EventRecord { target, count: 1 });
        Ok(())
    }

    async fn count(&self, again: &EventRecord, now: &str) -> Result<(), RestError> {
        let path = again.target.require_path()?;
        let counted = json!({"count": again.count, "lastTimestamp": now});
        let path = format!("{path}?fieldManager=kubelet");
        self.rest
            .send(&Call::patch(path, Body::Strategic(counted)), Self::PATIENCE)
            .await?;
        Ok(())
    }

    fn describe(
        &self,
        about: &About<'_>,
        is_warning: bool,
        (reason, message): (&str, &str),
        name: &str,
        now: &str,
    ) -> Value {
        let mut involved = json!({
            "apiVersion": "v1", "kind": about.kind, "name": about.name, "uid": about.uid,
        });
        if about.kind != "Node" {
            involved["namespace"] = json!(about.namespace);
        }
        if let Some(path) = &about.field_path {
            involved["fieldPath"] = json!(path);
        }
        json!({
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": about.namespace},
            "involvedObject": involved,
            "reason": reason,
            "message": message,
            "source": {"component": "kubelet", "host": self.host},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
            "type": if is_warning { "Warning" } else { "Normal" },
            "eventTime": null,
            "reportingComponent": "kubelet",
            "reportingInstance": self.host,
        })
    }
}
