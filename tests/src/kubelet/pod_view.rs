//! A Pod as its kubelet sees it, and the status that follows from it. Pure.

use serde_json::{Value, json};

use super::life::PodConditions;
use super::node::{Change, ContainerIndex, hex};

/// A Pod as its kubelet sees it.
#[derive(Debug)]
pub(crate) struct PodView {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: String,
    generation: Option<i64>,
    restart_policy: String,
    init_count: usize,
    pub(crate) containers: Vec<Container>,
    host_ip: String,
    pod_ip: String,
    start_time: Option<String>,
    sandbox_ready: bool,
    verdict: Option<(&'static str, String)>,
    is_evicted: bool,
    is_stopped: bool,
    conditions: PodConditions,
}

impl PodView {
    /// Reads a Pod that has come to the node with these addresses.
    pub(crate) fn of(pod: &Value, host_ip: &str, own_ip: &str) -> Self {
        let spec = &pod["spec"];
        let meta = &pod["metadata"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let init = list(&spec["initContainers"]);
        let waiting = if init.is_empty() {
            "ContainerCreating"
        } else {
            "PodInitializing"
        };
        let mut containers: Vec<Container> = init
            .iter()
            .map(|spec| Container::of(spec, waiting))
            .collect();
        containers.extend(
            list(&spec["containers"])
                .iter()
                .map(|spec| Container::of(spec, waiting)),
        );
        let on_host_network = spec["hostNetwork"] == true;
        Self {
            namespace: text(&meta["namespace"]),
            name: text(&meta["name"]),
            uid: text(&meta["uid"]),
            generation: meta["generation"].as_i64(),
            restart_policy: spec["restartPolicy"]
                .as_str()
                .unwrap_or("Always")
                .to_owned(),
            init_count: init.len(),
            containers,
            host_ip: host_ip.to_owned(),
            pod_ip: if on_host_network { host_ip } else { own_ip }.to_owned(),
            start_time: None,
            sandbox_ready: false,
            verdict: None,
            is_evicted: false,
            is_stopped: false,
            conditions: PodConditions::default(),
        }
    }

    /// Whether this container must be done before the next may start.
    pub(crate) fn is_init(&self, container: ContainerIndex) -> bool {
        container < self.init_count
    }

    /// Whether the Pod starts a container again that has ended well.
    pub(crate) fn restarts_always(&self) -> bool {
        self.restart_policy == "Always"
    }

    /// Whether the Pod starts a container again that has failed.
    pub(crate) fn restarts_after_failure(&self) -> bool {
        self.restart_policy != "Never"
    }

    /// Whether the Pod will not change any more by itself.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.phase(), "Succeeded" | "Failed")
    }

    /// Lets something happen to the Pod.
    pub(crate) fn apply(&mut self, change: &Change, now: &str) {
        match change {
            Change::Admitted => self.start_time = Some(now.to_owned()),
            Change::SandboxReady => self.sandbox_ready = true,
            Change::Waits {
                container,
                reason,
                message,
            } => self.wait(*container, reason, message),
            Change::Starts { container } => self.start(*container, now),
            Change::Ready { container } => {
                if let Some(container) = self.containers.get_mut(*container) {
                    container.ready = true;
                }
            }
            Change::Unready { container } => {
                if let Some(container) = self.containers.get_mut(*container) {
                    container.ready = false;
                }
            }
            Change::Dies {
                container,
                exit_code,
                reason,
                message,
            } => self.die(*container, *exit_code, reason, message.clone(), now),
            Change::Exits {
                container,
                exit_code,
            } => self.exit(*container, *exit_code, now),
            Change::Fails { reason, message } => self.verdict = Some((reason, message.clone())),
            Change::Evicted { message } => {
                self.is_evicted = true;
                self.verdict = Some(("Evicted", message.clone()));
                self.stop(now);
            }
            Change::Stopped => self.stop(now),
            Change::Rebooted => self.reboot(now),
        }
        self.update_conditions(now);
    }

    fn wait(&mut self, index: ContainerIndex, reason: &str, message: &str) {
        let Some(container) = self.containers.get_mut(index) else {
            return;
        };
        if let ContainerState::Terminated(ended) = &container.state {
            container.last = Some(ended.clone());
        }
        container.state = ContainerState::Waiting {
            reason: reason.to_owned(),
            message: Some(message.to_owned()),
        };
    }

    fn start(&mut self, index: ContainerIndex, now: &str) {
        let uid = self.uid.clone();
        let is_init = self.is_init(index);
        let Some(container) = self.containers.get_mut(index) else {
            return;
        };
        if let ContainerState::Terminated(ended) = &container.state {
            container.last = Some(ended.clone());
        }
        if container.runtime_id.is_some() {
            container.restart_count += 1;
        }
        let run = container.restart_count.to_string();
        container.runtime_id = Some(format!(
            "cri-o://{}",
            hex(&[&uid, &container.name, &run], 64)
        ));
        container.state = ContainerState::Running {
            started_at: now.to_owned(),
        };
        container.ready = !is_init && !container.has_readiness_probe;
    }

    fn exit(&mut self, index: ContainerIndex, exit_code: i32, now: &str) {
        let is_init = self.is_init(index);
        let Some(container) = self.containers.get_mut(index) else {
            return;
        };
        container.end(
            exit_code,
            if exit_code == 0 { "Completed" } else { "Error" },
            now,
        );
        container.ready = is_init && exit_code == 0;
    }

    fn die(
        &mut self,
        index: ContainerIndex,
        exit_code: i32,
        reason: &str,
        message: Option<String>,
        now: &str,
    ) {
        let Some(container) = self.containers.get_mut(index) else {
            return;
        };
        container.end(exit_code, reason, now);
        if let ContainerState::Terminated(ended) = &mut container.state {
            ended.message = message;
        }
    }

    fn stop(&mut self, now: &str) {
        for container in &mut self.containers {
            container.end(0, "Completed", now);
        }
        self.sandbox_ready = false;
        self.is_stopped = true;
    }

    fn reboot(&mut self, now: &str) {
        for container in &mut self.containers {
            container.end(255, "Error", now);
            if let ContainerState::Terminated(ended) = &container.state {
                container.last = Some(ended.clone());
            }
            container.state = ContainerState::Waiting {
                reason: "ContainerCreating".to_owned(),
                message: None,
            };
        }
        self.sandbox_ready = false;
    }

    /// The phase, by the rules of a kubelet.
    pub(crate) fn phase(&self) -> &'static str {
        if self.verdict.is_some() {
            return "Failed";
        }
        let (init, main) = self
            .containers
            .split_at(self.init_count.min(self.containers.len()));
        let ended_badly =
            |container: &Container| container.exit_code().is_some_and(|code| code != 0);
        if self.is_stopped {
            let is_lost = self.containers.iter().any(ended_badly);
            return if is_lost { "Failed" } else { "Succeeded" };
        }
        let restarts_after_failure = self.restarts_after_failure();
        if init.iter().any(ended_badly) && !restarts_after_failure {
            return "Failed";
        }
        if init
            .iter()
            .any(|container| container.exit_code() != Some(0))
        {
            return "Pending";
        }
        if main.iter().any(Container::is_running) {
            return "Running";
        }
        if main
            .iter()
            .any(|container| container.exit_code().is_none() && container.last.is_none())
        {
            return "Pending";
        }
        // Nothing runs, and everything has run.
        if main.iter().all(|container| container.exit_code().is_some()) && !self.restarts_always() {
            if !main.iter().any(ended_badly) {
                return "Succeeded";
            }
            if !restarts_after_failure {
                return "Failed";
            }
        }
        "Running"
    }

    fn update_conditions(&mut self, now: &str) {
        let phase = self.phase();
        let (init, main) = self
            .containers
            .split_at(self.init_count.min(self.containers.len()));
        let names = |list: Vec<&Container>| {
            list.iter()
                .map(|container| container.name.as_str())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let incomplete = names(
            init.iter()
                .filter(|container| container.exit_code() != Some(0))
                .collect(),
        );
        let unready = names(main.iter().filter(|container| !container.ready).collect());
        let is_initialized = incomplete.is_empty();
        let is_ready = unready.is_empty() && phase == "Running";
        let unready_because = match phase {
            "Succeeded" => Some(("PodCompleted", None)),
            "Failed" => Some(("PodFailed", None)),
            _ if is_ready => None,
            _ => Some((
                "ContainersNotReady",
                Some(format!("containers with unready status: [{unready}]")),
            )),
        };
        let uninitialized = (!is_initialized).then(|| {
            (
                "ContainersNotInitialized",
                Some(format!("containers with incomplete status: [{incomplete}]")),
            )
        });
        let sandbox_ready = self.sandbox_ready;
        if self.is_evicted {
            let message = self.verdict.as_ref().map(|(_, message)| message.clone());
            self.conditions.set(
                "DisruptionTarget",
                true,
                Some(("TerminationByKubelet", message)),
                now,
            );
        }
        self.conditions
            .set("PodReadyToStartContainers", sandbox_ready, None, now);
        self.conditions
            .set("Initialized", is_initialized, uninitialized, now);
        self.conditions
            .set("Ready", is_ready, unready_because.clone(), now);
        self.conditions
            .set("ContainersReady", is_ready, unready_because, now);
    }

    /// The status as a strategic merge patch: conditions the kubelet does not own stay as they are.
    pub(crate) fn to_status(&self) -> Value {
        let (init, main) = self
            .containers
            .split_at(self.init_count.min(self.containers.len()));
        let statuses =
            |list: &[Container]| list.iter().map(Container::to_status).collect::<Vec<_>>();
        let mut status = json!({
            "phase": self.phase(),
            "observedGeneration": self.generation,
            "conditions": self.conditions.to_json(self.generation),
            "hostIP": self.host_ip,
            "hostIPs": [{"ip": self.host_ip}],
            "startTime": self.start_time,
            "containerStatuses": statuses(main),
        });
        if !init.is_empty() {
            status["initContainerStatuses"] = json!(statuses(init));
        }
        if self.sandbox_ready {
            status["podIP"] = json!(self.pod_ip);
            status["podIPs"] = json!([{"ip": self.pod_ip}]);
        }
        if let Some((reason, message)) = &self.verdict {
            status["reason"] = json!(reason);
            status["message"] = json!(message);
        }
        status
    }
}

/// How far a container is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ContainerState {
    /// Not running, for this reason.
    Waiting {
        reason: String,
        message: Option<String>,
    },
    /// Running since this time.
    Running { started_at: String },
    /// Over.
    Terminated(ContainerEnd),
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ContainerEnd {
    pub(crate) exit_code: i32,
    pub(crate) reason: String,
    pub(crate) message: Option<String>,
    pub(crate) started_at: Option<String>,
    pub(crate) finished_at: Option<String>,
    pub(crate) container_id: Option<String>,
}

/// One container of a Pod.
#[derive(Debug, Clone)]
pub(crate) struct Container {
    pub(crate) name: String,
    pub(crate) image: String,
    pub(crate) has_readiness_probe: bool,
    pub(crate) state: ContainerState,
    pub(crate) last: Option<ContainerEnd>,
    pub(crate) ready: bool,
    pub(crate) restart_count: u32,
    pub(crate) runtime_id: Option<String>,
}

impl Container {
    /// Reads a container of a Pod's spec; it waits with this reason.
    pub(crate) fn of(spec: &Value, waiting: &str) -> Self {
        Self {
            name: spec["name"].as_str().unwrap_or_default().to_owned(),
            image: spec["image"].as_str().unwrap_or_default().to_owned(),
            has_readiness_probe: spec["readinessProbe"].is_object(),
            state: ContainerState::Waiting {
                reason: waiting.to_owned(),
                message: None,
            },
            last: None,
            ready: false,
            restart_count: 0,
            runtime_id: None,
        }
    }

    /// Whether it runs now.
    pub(crate) fn is_running(&self) -> bool {
        matches!(self.state, ContainerState::Running { .. })
    }

    /// Its exit code, when it is over.
    pub(crate) fn exit_code(&self) -> Option<i32> {
        match &self.state {
            ContainerState::Terminated(ended) => Some(ended.exit_code),
            _ => None,
        }
    }

    /// Ends the run there is; one that never ran ends as lost.
    pub(crate) fn end(&mut self, exit_code: i32, reason: &str, now: &str) {
        let started_at = match &self.state {
            ContainerState::Running { started_at } => Some(started_at.clone()),
            ContainerState::Terminated(_) => return,
            ContainerState::Waiting { .. } => None,
        };
        self.ready = false;
        self.state = ContainerState::Terminated(match started_at {
            Some(started_at) => ContainerEnd {
                exit_code,
                reason: reason.to_owned(),
                message: None,
                started_at: Some(started_at),
                finished_at: Some(now.to_owned()),
                container_id: self.runtime_id.clone(),
            },
            None => ContainerEnd {
                exit_code: 137,
                reason: "ContainerStatusUnknown".to_owned(),
                message: Some(
                    "The container could not be located when the pod was terminated".to_owned(),
                ),
                started_at: None,
                finished_at: None,
                container_id: None,
            },
        });
    }

    /// Its `containerStatuses[]` entry.
    pub(crate) fn to_status(&self) -> Value {
        let ran = self.runtime_id.is_some();
        let mut status = json!({
            "name": self.name,
            "state": self.state.to_json(),
            "lastState": self.last.as_ref().map_or_else(|| json!({}), |ended| json!({"terminated": ended.to_json()})),
            "ready": self.ready,
            "restartCount": self.restart_count,
            "image": self.image,
            "imageID": if ran { self.image.as_str() } else { "" },
            "started": self.is_running(),
        });
        if let Some(id) = &self.runtime_id {
            status["containerID"] = json!(id);
        }
        status
    }
}

impl ContainerState {
    fn to_json(&self) -> Value {
        match self {
            Self::Waiting { reason, message } => match message {
                Some(message) => json!({"waiting": {"reason": reason, "message": message}}),
                None => json!({"waiting": {"reason": reason}}),
            },
            Self::Running { started_at } => json!({"running": {"startedAt": started_at}}),
            Self::Terminated(ended) => json!({"terminated": ended.to_json()}),
        }
    }
}

impl ContainerEnd {
    fn to_json(&self) -> Value {
        let mut value = json!({
            "exitCode": self.exit_code,
            "reason": self.reason,
            "startedAt": self.started_at,
            "finishedAt": self.finished_at,
        });
        if let Some(message) = &self.message {
            value["message"] = json!(message);
        }
        if let Some(id) = &self.container_id {
            value["containerID"] = json!(id);
        }
        value
    }
}

#[cfg(test)]
mod pod_view_tests {
    use super::*;

    fn pod(restart_policy: &str, init: bool) -> PodView {
        let container = |name: &str| json!({"name": name, "image": "registry.example/app:1"});
        let mut pod = json!({
            "metadata": {"namespace": "shop", "name": "web", "uid": "u", "generation": 1},
            "spec": {"restartPolicy": restart_policy, "containers": [container("app")]},
        });
        if init {
            pod["spec"]["initContainers"] = json!([container("first")]);
        }
        PodView::of(&pod, "10.0.0.1", "10.128.0.1")
    }

    fn condition<'a>(status: &'a Value, kind: &str) -> &'a Value {
        status["conditions"]
            .as_array()
            .unwrap()
            .iter()
            .find(|entry| entry["type"] == kind)
            .unwrap()
    }

    #[test]
    fn a_pod_gets_ready() {
        let mut view = pod("Always", false);
        view.apply(&Change::Admitted, "t0");
        assert_eq!(
            view.to_status()["containerStatuses"][0]["state"]["waiting"]["reason"],
            "ContainerCreating"
        );
        assert_eq!(view.phase(), "Pending");
        view.apply(&Change::SandboxReady, "t1");
        view.apply(&Change::Starts { container: 0 }, "t2");
        let status = view.to_status();
        assert_eq!(status["phase"], "Running");
        assert_eq!(condition(&status, "Ready")["status"], "True");
        assert_eq!(condition(&status, "Ready")["lastTransitionTime"], "t2");
        assert_eq!(
            condition(&status, "PodReadyToStartContainers")["lastTransitionTime"],
            "t1"
        );
        assert!(
            condition(&status, "Ready")["reason"].is_null(),
            "null takes the old reason away"
        );
        assert_eq!(status["podIP"], "10.128.0.1");
    }

    #[test]
    fn a_crash_counts_restarts_and_keeps_the_last_run() {
        let mut view = pod("Always", false);
        for change in [
            Change::Admitted,
            Change::SandboxReady,
            Change::Starts { container: 0 },
            Change::Exits {
                container: 0,
                exit_code: 1,
            },
            Change::Waits {
                container: 0,
                reason: "CrashLoopBackOff",
                message: "back-off".to_owned(),
            },
        ] {
            view.apply(&change, "t");
        }
        let status = view.to_status();
        assert_eq!(status["phase"], "Running");
        assert_eq!(
            status["containerStatuses"][0]["lastState"]["terminated"]["exitCode"],
            1
        );
        view.apply(&Change::Starts { container: 0 }, "t");
        assert_eq!(view.to_status()["containerStatuses"][0]["restartCount"], 1);
    }

    #[test]
    fn init_containers_go_first_and_a_job_pod_succeeds() {
        let mut view = pod("OnFailure", true);
        view.apply(&Change::Admitted, "t0");
        view.apply(&Change::SandboxReady, "t0");
        view.apply(&Change::Starts { container: 0 }, "t0");
        assert_eq!(view.phase(), "Pending");
        view.apply(
            &Change::Exits {
                container: 0,
                exit_code: 0,
            },
            "t1",
        );
        view.apply(&Change::Starts { container: 1 }, "t1");
        assert_eq!(view.phase(), "Running");
        view.apply(
            &Change::Exits {
                container: 1,
                exit_code: 0,
            },
            "t2",
        );
        assert_eq!(view.phase(), "Succeeded");
        let expected = "PodCompleted";
        assert_eq!(condition(&view.to_status(), "Ready")["reason"], expected);
    }

    #[test]
    fn a_deadline_fails_a_pod_that_never_started() {
        let mut view = pod("OnFailure", true);
        view.apply(&Change::Admitted, "t0");
        view.apply(
            &Change::Fails {
                reason: "DeadlineExceeded",
                message: "too long".to_owned(),
            },
            "t1",
        );
        let status = view.to_status();
        assert_eq!(
            (&status["phase"], &status["reason"]),
            (&json!("Failed"), &json!("DeadlineExceeded"))
        );
        assert!(
            status["initContainerStatuses"][0]["state"]["waiting"].is_object(),
            "left as it was"
        );
    }

    #[test]
    fn a_pod_that_is_stopped_before_it_started_has_failed() {
        let mut view = pod("OnFailure", true);
        view.apply(&Change::Admitted, "t0");
        view.apply(&Change::Stopped, "t1");
        assert_eq!(view.phase(), "Failed");
        let status = view.to_status();
        let lost = &status["initContainerStatuses"][0]["state"]["terminated"];
        assert_eq!(lost["reason"], "ContainerStatusUnknown");
    }

    #[test]
    fn a_reboot_starts_again_with_a_higher_count() {
        let mut view = pod("Always", false);
        view.apply(&Change::Admitted, "t0");
        view.apply(&Change::SandboxReady, "t0");
        view.apply(&Change::Starts { container: 0 }, "t0");
        let before = view.containers[0].runtime_id.clone();
        view.apply(&Change::Rebooted, "t1");
        assert_eq!(condition(&view.to_status(), "Ready")["status"], "False");
        view.apply(&Change::SandboxReady, "t2");
        view.apply(&Change::Starts { container: 0 }, "t2");
        assert_eq!(view.containers[0].restart_count, 1);
        assert_ne!(view.containers[0].runtime_id, before);
    }
}
