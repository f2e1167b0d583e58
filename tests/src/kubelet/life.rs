//! The life of a Pod on a node, beat by beat, as its [`Fate`] has it. Pure: no clock, no API.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::node::{Beat, Change, ContainerIndex, Note, secs};
use super::pod_view::PodView;

/// The stage of a Pod.
#[derive(Debug)]
pub(crate) struct Life {
    fate: Fate,
    at: Stage,
    pulls_failed: u32,
    crashes: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Bound,
    Sandbox,
    Pull(ContainerIndex),
    PullBackOff(ContainerIndex),
    PullAgain(ContainerIndex),
    Run(ContainerIndex),
    Crashed(ContainerIndex),
    CrashBackOff(ContainerIndex),
    ReadyLate(ContainerIndex),
    Unready(ContainerIndex),
    Settled,
    Over,
}

/// A kubelet's back-off: ten seconds, doubling up to five minutes.
fn back_off(failures: u32) -> Duration {
    secs(10.0)
        .saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1).min(8)))
        .min(secs(300.0))
}

impl Life {
    pub(crate) fn new(fate: Fate) -> Self {
        Self {
            fate,
            at: Stage::Bound,
            pulls_failed: 0,
            crashes: 0,
        }
    }

    /// The node came up again: the Pod starts from its sandbox.
    pub(crate) fn restart(&mut self) {
        self.at = Stage::Sandbox;
    }

    /// Another fate from here on. Returns whether the Pod is at rest and meets it at once; any
    /// other lives through the beat it waits for, and comes to it then.
    pub(crate) fn turn(&mut self, fate: Fate, pod: &PodView) -> bool {
        let was_ignored = self.is_ignored();
        self.fate = fate;
        self.pulls_failed = 0;
        self.crashes = 0;
        if was_ignored {
            // It continues at its last position.
            return true;
        }
        let is_at_rest = matches!(self.at, Stage::Settled | Stage::Unready(_));
        if is_at_rest {
            self.at = Stage::Run(pod.containers.len().saturating_sub(1));
        }
        is_at_rest
    }

    /// Whether the kubelet does nothing for it.
    pub(crate) fn is_ignored(&self) -> bool {
        self.fate == Fate::Ignored
    }

    /// The next beat; `None` when nothing more happens by itself.
    ///
    /// `has_image` tells whether the node has an image already.
    pub(crate) fn next(&mut self, pod: &PodView, has_image: impl Fn(&str) -> bool) -> Option<Beat> {
        if self.is_ignored() {
            return None;
        }
        match self.at {
            Stage::Bound => {
                self.at = Stage::Sandbox;
                Some(Beat::after(0.2, vec![Change::Admitted], Vec::new()))
            }
            Stage::Sandbox => {
                self.at = Stage::Pull(0);
                let notes = self.pulling(pod, 0, &has_image);
                Some(Beat::after(0.9, vec![Change::SandboxReady], notes))
            }
            Stage::Pull(container) => Some(self.pull(pod, container, has_image)),
            Stage::PullBackOff(container) => Some(self.pull_back_off(pod, container)),
            Stage::PullAgain(container) => {
                self.at = Stage::Pull(container);
                let image = image_of(pod, container);
                let note = Note::normal(container, "Pulling", format!("Pulling image \"{image}\""));
                Some(Beat {
                    after: back_off(self.pulls_failed),
                    changes: Vec::new(),
                    notes: vec![note],
                })
            }
            Stage::Run(container) => self.run(pod, container, has_image),
            Stage::Crashed(container) => Some(self.after_crash(pod, container)),
            Stage::CrashBackOff(container) => {
                let mut again = start(pod, container, has_image);
                again.after = back_off(self.crashes.saturating_sub(1));
                self.at = Stage::Run(container);
                Some(again)
            }
            Stage::ReadyLate(container) => {
                self.at = Stage::Settled;
                let after = match self.fate {
                    Fate::StartsSlowly { ready_after_secs } => ready_after_secs,
                    _ => 1.5,
                };
                Some(Beat::after(
                    after,
                    vec![Change::Ready { container }],
                    Vec::new(),
                ))
            }
            Stage::Unready(container) => Some(self.unready(container)),
            Stage::Settled => self.settled(pod),
            Stage::Over => None,
        }
    }

    fn fails_to_pull(&self) -> Option<(&'static str, &str)> {
        match &self.fate {
            Fate::PullFails { message, failures }
                if failures.is_none_or(|failures| self.pulls_failed < failures) =>
            {
                Some(("ErrImagePull", message))
            }
            _ => None,
        }
    }

    fn pulling(
        &self,
        pod: &PodView,
        container: ContainerIndex,
        has_image: impl Fn(&str) -> bool,
    ) -> Vec<Note> {
        let image = image_of(pod, container);
        if has_image(&image) && self.fails_to_pull().is_none() {
            return Vec::new();
        }
        vec![Note::normal(
            container,
            "Pulling",
            format!("Pulling image \"{image}\""),
        )]
    }

    fn pull(
        &mut self,
        pod: &PodView,
        container: ContainerIndex,
        has_image: impl Fn(&str) -> bool,
    ) -> Beat {
        let image = image_of(pod, container);
        if let Fate::ConfigMissing { message } = &self.fate {
            let change = Change::Waits {
                container,
                reason: "CreateContainerConfigError",
                message: message.clone(),
            };
            let note = Note::warning(container, "Failed", format!("Error: {message}"));
            return Beat::after(5.0, vec![change], vec![note]);
        }
        if let Some((reason, message)) = self.fails_to_pull() {
            let change = Change::Waits {
                container,
                reason,
                message: message.to_owned(),
            };
            let notes = vec![
                Note::warning(
                    container,
                    "Failed",
                    format!("Failed to pull image \"{image}\": {message}"),
                ),
                Note::warning(container, "Failed", format!("Error: {reason}")),
            ];
            self.pulls_failed += 1;
            self.at = Stage::PullBackOff(container);
            return Beat::after(2.0, vec![change], notes);
        }
        self.at = Stage::Run(container);
        start(pod, container, has_image)
    }

    fn pull_back_off(&mut self, pod: &PodView, container: ContainerIndex) -> Beat {
        let image = image_of(pod, container);
        let (reason, message) = self
            .fails_to_pull()
            .unwrap_or(("ErrImagePull", "interrupted"));
        let told = format!("Back-off pulling image \"{image}\": {reason}: {message}");
        let change = Change::Waits {
            container,
            reason: "ImagePullBackOff",
            message: told,
        };
        let notes = vec![
            Note::normal(
                container,
                "BackOff",
                format!("Back-off pulling image \"{image}\""),
            ),
            Note::warning(container, "Failed", "Error: ImagePullBackOff".to_owned()),
        ];
        self.at = Stage::PullAgain(container);
        Beat::after(6.0, vec![change], notes)
    }

    fn run(
        &mut self,
        pod: &PodView,
        container: ContainerIndex,
        has_image: impl Fn(&str) -> bool,
    ) -> Option<Beat> {
        if pod.is_init(container) {
            self.at = Stage::Pull(container + 1);
            return Some(Beat::after(
                0.9,
                vec![Change::Exits {
                    container,
                    exit_code: 0,
                }],
                Vec::new(),
            ));
        }
        if let Fate::CrashLoops {
            exit_code,
            runs_secs,
            crashes,
        } = self.fate
            && crashes.is_none_or(|crashes| self.crashes < crashes)
        {
            self.crashes += 1;
            self.at = Stage::Crashed(container);
            let exits = Change::Exits {
                container,
                exit_code,
            };
            return Some(Beat::after(runs_secs, vec![exits], Vec::new()));
        }
        if let Some(beat) = self.dies(pod, container) {
            return Some(beat);
        }
        if container + 1 < pod.containers.len() {
            self.at = Stage::Run(container + 1);
            let mut next = start(pod, container + 1, has_image);
            next.after = secs(0.1);
            return Some(next);
        }
        if !pod.restarts_always() {
            self.at = Stage::Over;
            return Some(Beat::after(
                4.0,
                vec![Change::Exits {
                    container,
                    exit_code: 0,
                }],
                Vec::new(),
            ));
        }
        if matches!(self.fate, Fate::ProbeFails { .. }) {
            self.at = Stage::Unready(container);
            return self.next(pod, has_image);
        }
        let waits_for_probe = pod
            .containers
            .get(container)
            .is_some_and(|container| container.has_readiness_probe);
        self.at = if waits_for_probe {
            Stage::ReadyLate(container)
        } else {
            Stage::Settled
        };
        self.next(pod, has_image)
    }

    /// The end of a run that the fate foresees; a Pod that is not restarted is over then.
    fn dies(&mut self, pod: &PodView, container: ContainerIndex) -> Option<Beat> {
        let Fate::Dies {
            exit_code,
            runs_secs,
            reason,
            message,
            probe,
        } = &self.fate
        else {
            return None;
        };
        self.crashes += 1;
        self.at = if pod.restarts_after_failure() {
            Stage::Crashed(container)
        } else {
            Stage::Over
        };
        let dies = Change::Dies {
            container,
            exit_code: *exit_code,
            reason: reason.clone(),
            message: message.clone(),
        };
        let mut notes = Vec::new();
        if let Some(probe) = probe {
            let name = pod.containers.get(container);
            let name = name.map_or("", |container| container.name.as_str());
            let killed = format!("Container {name} failed liveness probe, will be restarted");
            notes.push(Note::warning(
                container,
                "Unhealthy",
                format!("Liveness probe failed: {probe}"),
            ));
            notes.push(Note::normal(container, "Killing", killed));
        }
        Some(Beat::after(*runs_secs, vec![dies], notes))
    }

    /// The readiness probe fails, and fails again.
    fn unready(&mut self, container: ContainerIndex) -> Beat {
        let message = match &self.fate {
            Fate::ProbeFails { message } => message.as_str(),
            _ => "",
        };
        let failed = format!("Readiness probe failed: {message}");
        let note = Note::warning(container, "Unhealthy", failed);
        Beat::after(5.0, vec![Change::Unready { container }], vec![note])
    }

    fn after_crash(&mut self, pod: &PodView, container: ContainerIndex) -> Beat {
        if self.crashes < 2 {
            self.at = Stage::Run(container);
            let mut again = start(pod, container, |_| true);
            again.after = secs(0.6);
            return again;
        }
        self.at = Stage::CrashBackOff(container);
        let name = pod
            .containers
            .get(container)
            .map(|container| container.name.clone())
            .unwrap_or_default();
        let pod_id = format!("{}_{}({})", pod.name, pod.namespace, pod.uid);
        let pause = back_off(self.crashes - 1);
        let told = format!(
            "back-off {} restarting failed container={name} pod={pod_id}",
            go_duration(pause)
        );
        let note = format!("Back-off restarting failed container {name} in pod {pod_id}");
        Beat::after(
            0.8,
            vec![Change::Waits {
                container,
                reason: "CrashLoopBackOff",
                message: told,
            }],
            vec![Note::warning(container, "BackOff", note)],
        )
    }

    fn settled(&mut self, _pod: &PodView) -> Option<Beat> {
        let Fate::Evicted {
            after_secs,
            resource,
        } = &self.fate
        else {
            return None;
        };
        let message = format!("The node was low on resource: {resource}. ");
        let note = Note {
            container: None,
            is_warning: true,
            reason: "Evicted",
            message: message.clone(),
        };
        let after = *after_secs;
        self.at = Stage::Over;
        Some(Beat::after(
            after,
            vec![Change::Evicted { message }],
            vec![note],
        ))
    }
}

/// A container starts; its image is pulled first when the node lacks it.
fn start(pod: &PodView, container: ContainerIndex, has_image: impl Fn(&str) -> bool) -> Beat {
    let image = image_of(pod, container);
    let (pull_secs, pulled) = if has_image(&image) {
        let told = format!(
            "Container image \"{image}\" already present on machine and can be accessed by the pod"
        );
        (0.3, told)
    } else {
        let told = format!(
            "Successfully pulled image \"{image}\" in 1.7s (1.7s including waiting). Image size: 412316860 bytes."
        );
        (1.7, told)
    };
    let notes = vec![
        Note::normal(container, "Pulled", pulled),
        Note::normal(container, "Created", "Container created".to_owned()),
        Note::normal(container, "Started", "Container started".to_owned()),
    ];
    Beat::after(pull_secs, vec![Change::Starts { container }], notes)
}

fn image_of(pod: &PodView, container: ContainerIndex) -> String {
    pod.containers
        .get(container)
        .map(|container| container.image.clone())
        .unwrap_or_default()
}

/// A whole number of seconds as Go writes it: `10s`, `1m20s`, `5m0s`.
fn go_duration(duration: Duration) -> String {
    match duration.as_secs() {
        secs @ 0..60 => format!("{secs}s"),
        secs => format!("{}m{}s", secs / 60, secs % 60),
    }
}

/// Conditions in the order in which they first came.
#[derive(Debug, Default)]
pub(super) struct PodConditions {
    entries: Vec<Condition>,
}

#[derive(Debug)]
struct Condition {
    kind: &'static str,
    status: bool,
    since: String,
    reason: Option<&'static str>,
    message: Option<String>,
}

impl PodConditions {
    /// Sets a condition; its time moves only when the status flips.
    pub(super) fn set(
        &mut self,
        kind: &'static str,
        status: bool,
        because: Option<(&'static str, Option<String>)>,
        now: &str,
    ) {
        let (reason, message) = match because {
            Some((reason, message)) => (Some(reason), message),
            None => (None, None),
        };
        let known = self.entries.iter_mut().find(|entry| entry.kind == kind);
        let Some(known) = known else {
            self.entries.push(Condition {
                kind,
                status,
                since: now.to_owned(),
                reason,
                message,
            });
            return;
        };
        if known.status != status {
            now.clone_into(&mut known.since);
        }
        known.status = status;
        known.reason = reason;
        known.message = message;
    }

    /// As in `status.conditions`; a reason that is no more is null, so that a patch takes it away.
    pub(super) fn to_json(&self, generation: Option<i64>) -> Value {
        let entries = self.entries.iter().map(|condition| {
            json!({
                "type": condition.kind,
                "status": if condition.status { "True" } else { "False" },
                "observedGeneration": generation,
                "lastProbeTime": null,
                "lastTransitionTime": condition.since,
                "reason": condition.reason,
                "message": condition.message,
            })
        });
        Value::Array(entries.collect())
    }
}

/// The fate of a Pod on its node. Times are virtual: the kubelet's speed shortens them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fate", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Fate {
    /// Starts, and runs until it is deleted or, in a Job, until it is done.
    #[default]
    Runs,
    /// Starts, and becomes ready late.
    StartsSlowly {
        /// From the start of the container to ready.
        ready_after_secs: f64,
    },
    /// The image cannot be pulled: `ErrImagePull` and `ImagePullBackOff` in turn.
    PullFails {
        /// The message of the runtime.
        message: String,
        /// The number of failing attempts before a success; all fail if absent.
        failures: Option<u32>,
    },
    /// The first container ends soon after each start: `CrashLoopBackOff`.
    CrashLoops {
        /// How it ends.
        exit_code: i32,
        /// How long each run lasts.
        runs_secs: f64,
        /// Runs that end so before one stays up; for ever when absent.
        crashes: Option<u32>,
    },
    /// The first container ends soon after each start, for this reason.
    Dies {
        /// How it ends.
        exit_code: i32,
        /// How long each run lasts.
        runs_secs: f64,
        /// The reason of its end: `Error`, `OOMKilled`.
        reason: String,
        /// Its termination message.
        #[serde(default)]
        message: Option<String>,
        /// What its liveness probe said before the kubelet killed it; it ended by itself when absent.
        #[serde(default)]
        probe: Option<String>,
    },
    /// Starts, and its readiness probe fails.
    ProbeFails {
        /// The message of the probe.
        message: String,
    },
    /// The source of its environment does not exist: `CreateContainerConfigError`.
    ConfigMissing {
        /// The message of the kubelet.
        message: String,
    },
    /// The kubelet does nothing for it: it neither starts nor stops.
    Ignored,
    /// The node runs short, and the kubelet puts the Pod out.
    Evicted {
        /// From ready to eviction.
        after_secs: f64,
        /// The resource that ran short.
        resource: String,
    },
}

/// Which Pods a fate is for: all that is given must match.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PodMatcher {
    /// The Pod's namespace.
    pub namespace: String,
    /// How its name begins.
    #[serde(default)]
    pub name_prefix: Option<String>,
    /// A label, key and value.
    #[serde(default)]
    pub label: Option<(String, String)>,
}

impl PodMatcher {
    pub(super) fn matches(&self, pod: &Value) -> bool {
        let meta = &pod["metadata"];
        let name = meta["name"].as_str().unwrap_or_default();
        meta["namespace"] == self.namespace.as_str()
            && self
                .name_prefix
                .as_ref()
                .is_none_or(|prefix| name.starts_with(prefix.as_str()))
            && self
                .label
                .as_ref()
                .is_none_or(|(key, value)| meta["labels"][key] == value.as_str())
    }
}

/// The remaining fates, taken once for each Pod.
#[derive(Debug, Default)]
pub(crate) struct FateBook {
    entries: Mutex<Vec<(PodMatcher, Fate)>>,
}

impl FateBook {
    /// Puts a fate in store, before those already there.
    pub(crate) fn script(&self, matcher: PodMatcher, fate: Fate) {
        self.entries
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(0, (matcher, fate));
    }

    /// Takes the fate of a Pod that has come to a node.
    pub(crate) fn take(&self, pod: &Value) -> Fate {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let found = entries.iter().find(|(matcher, _)| matcher.matches(pod));
        found.map_or(Fate::Runs, |(_, fate)| fate.clone())
    }
}

#[cfg(test)]
mod life_tests {
    use serde_json::json;

    use super::*;

    fn view(restart_policy: &str, init: usize) -> PodView {
        let containers: Vec<_> = (0..init)
            .map(|n| json!({"name": format!("init-{n}"), "image": "i"}))
            .collect();
        let pod = json!({
            "metadata": {"namespace": "shop", "name": "web", "uid": "u"},
            "spec": {
                "restartPolicy": restart_policy,
                "initContainers": containers,
                "containers": [{"name": "app", "image": "i"}],
            },
        });
        PodView::of(&pod, "h", "p")
    }

    /// Lives through the first `beats` beats and tells phase and waiting reason after each.
    fn live(fate: Fate, mut pod: PodView, beats: usize) -> Vec<String> {
        let mut life = Life::new(fate);
        let mut told = Vec::new();
        for _ in 0..beats {
            let Some(beat) = life.next(&pod, |_| false) else {
                break;
            };
            for change in &beat.changes {
                pod.apply(change, "t");
            }
            let status = pod.to_status();
            let all = [
                &status["initContainerStatuses"],
                &status["containerStatuses"],
            ];
            let waiting = all
                .iter()
                .filter_map(|list| list.as_array())
                .flatten()
                .find_map(|container| container["state"]["waiting"]["reason"].as_str());
            told.push(format!(
                "{} {}",
                status["phase"].as_str().unwrap(),
                waiting.unwrap_or("-")
            ));
        }
        told
    }

    #[test]
    fn an_ordinary_pod_settles() {
        let told = live(Fate::Runs, view("Always", 0), 20);
        let expected = [
            "Pending ContainerCreating",
            "Pending ContainerCreating",
            "Running -",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_job_pod_succeeds() {
        let told = live(Fate::Runs, view("Never", 1), 20);
        assert_eq!(told.last().unwrap(), "Succeeded -");
    }

    #[test]
    fn pulls_fail_and_back_off_in_turn_and_then_go_well() {
        let fate = Fate::PullFails {
            message: "manifest unknown".to_owned(),
            failures: Some(2),
        };
        let told = live(fate, view("OnFailure", 1), 40);
        let waits: Vec<_> = told.iter().filter(|line| line.contains("Pull")).collect();
        assert_eq!(waits.first().unwrap().as_str(), "Pending ErrImagePull");
        assert!(told.contains(&"Pending ImagePullBackOff".to_owned()));
        assert_eq!(told.last().unwrap(), "Succeeded -");
    }

    #[test]
    fn a_crash_loop_backs_off_longer_each_time() {
        let mut pod = view("Always", 0);
        let mut life = Life::new(Fate::CrashLoops {
            exit_code: 1,
            runs_secs: 1.0,
            crashes: None,
        });
        let mut pauses = Vec::new();
        for _ in 0..20 {
            let waits = pod.containers[0].state.clone();
            let beat = life.next(&pod, |_| true).unwrap();
            if format!("{waits:?}").contains("CrashLoopBackOff") {
                pauses.push(beat.after.as_secs());
            }
            for change in &beat.changes {
                pod.apply(change, "t");
            }
        }
        assert_eq!(pauses[..3], [10, 20, 40]);
        assert!(pod.containers[0].restart_count >= 4);
    }

    #[test]
    fn a_settled_pod_that_turns_dies_with_its_reason() {
        let mut pod = view("Always", 0);
        let mut life = Life::new(Fate::Runs);
        while let Some(beat) = life.next(&pod, |_| true) {
            for change in &beat.changes {
                pod.apply(change, "t");
            }
        }
        let fate = Fate::Dies {
            exit_code: 137,
            runs_secs: 1.0,
            reason: "OOMKilled".to_owned(),
            message: None,
            probe: None,
        };
        assert!(life.turn(fate, &pod));
        for change in life.next(&pod, |_| true).unwrap().changes {
            pod.apply(&change, "t");
        }
        let state = &pod.to_status()["containerStatuses"][0]["state"];
        assert_eq!(state["terminated"]["reason"], "OOMKilled");
        assert_eq!(state["terminated"]["exitCode"], 137);
        assert!(
            !life.turn(Fate::Runs, &pod),
            "its container starts again first"
        );
        while let Some(beat) = life.next(&pod, |_| true) {
            for change in &beat.changes {
                pod.apply(change, "t");
            }
        }
        assert!(pod.containers[0].is_running());
    }

    #[test]
    fn nothing_happens_to_an_ignored_pod_until_its_fate_turns() {
        let mut pod = view("Always", 0);
        let mut life = Life::new(Fate::Ignored);
        assert!(life.next(&pod, |_| true).is_none());
        assert!(life.turn(Fate::Runs, &pod), "it begins to live at once");
        while let Some(beat) = life.next(&pod, |_| true) {
            for change in &beat.changes {
                pod.apply(change, "t");
            }
        }
        assert!(pod.containers[0].is_running());
        assert!(life.turn(Fate::Ignored, &pod));
        assert!(life.next(&pod, |_| true).is_none());
        assert!(life.is_ignored());
    }

    #[test]
    fn a_pod_that_is_not_restarted_dies_once() {
        let fate = Fate::Dies {
            exit_code: 1,
            runs_secs: 1.0,
            reason: "Error".to_owned(),
            message: Some("no table".to_owned()),
            probe: None,
        };
        let told = live(fate, view("Never", 0), 20);
        assert_eq!(told.last().unwrap(), "Failed -");
        assert_eq!(told.iter().filter(|line| *line == "Failed -").count(), 1);
    }

    #[test]
    fn a_failing_probe_and_a_missing_config_keep_a_pod_unready() {
        let probe = Fate::ProbeFails {
            message: "HTTP 503".to_owned(),
        };
        let mut pod = view("Always", 0);
        let mut life = Life::new(probe);
        for _ in 0..6 {
            for change in life.next(&pod, |_| true).unwrap().changes {
                pod.apply(&change, "t");
            }
        }
        let status = pod.to_status();
        assert_eq!(status["phase"], "Running");
        assert_eq!(status["containerStatuses"][0]["ready"], false);
        let missing = Fate::ConfigMissing {
            message: "secret \"s\" not found".to_owned(),
        };
        let told = live(missing, view("Always", 0), 6);
        assert_eq!(told.last().unwrap(), "Pending CreateContainerConfigError");
    }

    #[test]
    fn an_evicted_pod_fails_after_it_ran() {
        let fate = Fate::Evicted {
            after_secs: 5.0,
            resource: "memory".to_owned(),
        };
        let told = live(fate, view("Always", 0), 20);
        assert_eq!(told[told.len() - 2], "Running -");
        assert!(told.last().unwrap().starts_with("Failed"));
    }

    #[test]
    fn durations_read_as_go_writes_them() {
        assert_eq!(go_duration(secs(40.0)), "40s");
        assert_eq!(go_duration(secs(80.0)), "1m20s");
        assert_eq!(go_duration(secs(300.0)), "5m0s");
    }
}

#[cfg(test)]
mod fate_tests {
    use serde_json::json;

    use super::*;

    fn evicted() -> Fate {
        Fate::Evicted {
            after_secs: 1.0,
            resource: "memory".to_owned(),
        }
    }

    #[test]
    fn names_match_by_their_begin_and_pods_of_one_namespace_only() {
        let book = FateBook::default();
        let matcher = PodMatcher {
            namespace: "shop".to_owned(),
            name_prefix: Some("web-".to_owned()),
            ..PodMatcher::default()
        };
        book.script(matcher, evicted());
        let web = json!({"metadata": {"namespace": "shop", "name": "web-1"}});
        let other = json!({"metadata": {"namespace": "mail", "name": "web-1"}});
        assert_eq!(book.take(&other), Fate::Runs);
        assert_eq!(book.take(&web), evicted());
    }

    #[test]
    fn labels_match_by_value() {
        let book = FateBook::default();
        let matcher = PodMatcher {
            namespace: "shop".to_owned(),
            label: Some(("app".to_owned(), "web".to_owned())),
            ..PodMatcher::default()
        };
        book.script(matcher, evicted());
        let pod = |app: &str| json!({"metadata": {"namespace": "shop", "name": "p", "labels": {"app": app}}});
        assert_eq!(book.take(&pod("web")), evicted());
        assert_eq!(book.take(&pod("mail")), Fate::Runs);
    }
}
