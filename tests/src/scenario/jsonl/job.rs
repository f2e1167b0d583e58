//! Jobs: one Pod that runs to its end.

use serde_json::{Value, json};

use super::store::As;
use super::world::{World, text};
use crate::rest::Target;

const BY: &str = "kube-controller-manager";

impl World<'_> {
    pub(super) fn look_at_job(&mut self, target: &Target) {
        let Some(job) = self.store.get(target) else {
            return;
        };
        let uid = text(&job["metadata"]["uid"]);
        if job["spec"]["selector"].is_null() {
            self.label_job(target, &uid);
            return;
        }
        if job["status"]["completionTime"].is_string() {
            return;
        }
        let namespace = target.namespace.clone().unwrap_or_default();
        let pods = self.pods_of(&namespace, &uid);
        if pods.is_empty()
            && let Some(name) = self.make_pod(&job, &job["spec"]["template"], None, &[])
        {
            let message = format!("Created pod: {name}");
            self.say_about(
                &job,
                BY,
                "job-controller",
                ("SuccessfulCreate", false),
                &message,
            );
        }
        let now = self.store.now.seconds();
        let is_done = pods.iter().any(|pod| pod.phase == "Succeeded");
        let ready = pods.iter().filter(|pod| pod.is_ready).count();
        self.store.update(BY, target, As::Status, |job| {
            let started = job["status"].get("startTime").cloned().unwrap_or_else(|| json!(now));
            job["status"] = if is_done {
                done(&started, &now)
            } else {
                json!({"startTime": started, "active": 1, "terminating": 0, "uncountedTerminatedPods": {}, "ready": ready})
            };
        });
        if is_done {
            self.say_about(
                &job,
                BY,
                "job-controller",
                ("Completed", false),
                "Job completed",
            );
        }
    }

    /// The server labels a Job and its template with the Job's own uid.
    fn label_job(&mut self, target: &Target, uid: &str) {
        let name = target.name.clone();
        self.store.update(BY, target, As::Update, |job| {
            let labels = [
                ("batch.kubernetes.io/controller-uid", uid),
                ("batch.kubernetes.io/job-name", name.as_str()),
                ("controller-uid", uid),
                ("job-name", name.as_str()),
            ];
            for (key, value) in labels {
                job["metadata"]["labels"][key] = json!(value);
                job["spec"]["template"]["metadata"]["labels"][key] = json!(value);
            }
            job["spec"]["selector"] =
                json!({"matchLabels": {"batch.kubernetes.io/controller-uid": uid}});
        });
    }
}

fn done(started: &Value, now: &str) -> Value {
    let condition = |kind: &str| {
        json!({
            "type": kind, "status": "True", "lastProbeTime": now, "lastTransitionTime": now,
            "reason": "CompletionsReached", "message": "Reached expected number of succeeded pods",
        })
    };
    json!({
        "conditions": [condition("SuccessCriteriaMet"), condition("Complete")],
        "startTime": started,
        "completionTime": now,
        "succeeded": 1,
        "terminating": 0,
        "uncountedTerminatedPods": {},
        "ready": 0,
    })
}
