//! The `ClusterVersion` object, as the cluster-version operator keeps its status.
//!
//! Owns the order of its writes and the forms of its messages. Refuses to know when they happen.

use serde_json::{Value, json};

use super::Moment;
use super::file::Release;
use super::operator::Conditions;
use super::operator::{Progress, done_of};

const UPDATING: &str =
    "An update is already in progress and the details are in the Progressing condition.";

const NO_GATES: &str = "Failed to retrieve ConfigMap admin-gates from namespace openshift-config-managed: configmap \"admin-gates\" not found";

/// The status of `ClusterVersion` `version`.
#[derive(Debug)]
pub(super) struct ClusterVersion {
    conditions: Conditions,
    desired: Release,
    history: Vec<Entry>,
    observed_generation: i64,
    version_hash: String,
}

#[derive(Debug)]
struct Entry {
    release: Release,
    started: Moment,
    completed: Option<Moment>,
    is_verified: bool,
    accepted_risks: String,
}

impl ClusterVersion {
    /// The first status: an installation begins.
    pub(super) fn installing(at: Moment, release: &Release) -> Self {
        let mut conditions = Conditions::default();
        conditions.set(
            at,
            "RetrievedUpdates",
            "False",
            "NoChannel",
            "The update channel has not been configured.",
        );
        conditions.set(at, "Upgradeable", "False", "AdminAckUnknown", NO_GATES);
        let capabilities = "Capabilities match configured spec";
        conditions.set(
            at,
            "ImplicitlyEnabledCapabilities",
            "False",
            "AsExpected",
            capabilities,
        );
        conditions.set(
            at,
            "ReleaseAccepted",
            "True",
            "PayloadLoaded",
            &loaded(release),
        );
        conditions.set(at, "Available", "False", "", "");
        conditions.set(at, "Failing", "False", "", "");
        conditions.set(
            at,
            "Progressing",
            "True",
            "",
            &format!("Working towards {}", release.version),
        );
        let entry = Entry {
            release: release.clone(),
            started: at,
            completed: None,
            is_verified: false,
            accepted_risks: String::new(),
        };
        Self {
            conditions,
            desired: release.clone(),
            history: vec![entry],
            observed_generation: 1,
            version_hash: String::new(),
        }
    }

    /// A moment later both reasons hold minor updates back.
    pub(super) fn both_reasons(&mut self, at: Moment) {
        let message = format!(
            "Cluster should not be upgraded between minor or major versions for multiple reasons:\n* {UPDATING}\n* {NO_GATES}"
        );
        self.conditions
            .set(at, "Upgradeable", "False", "MultipleReasons", &message);
    }

    /// The payload's hash is known, and the update in progress is the only reason left.
    pub(super) fn payload_is_read(&mut self, at: Moment, hash: String) {
        self.version_hash = hash;
        self.conditions.set(
            at,
            "Upgradeable",
            "False",
            "ClusterVersionUpdating",
            UPDATING,
        );
    }

    /// Reports progress; true when there is something to write.
    pub(super) fn report(&mut self, at: Moment, progress: &Progress) -> bool {
        let (status, reason, message) = match &progress.failing {
            Some((reason, message)) => ("True", reason.as_str(), message.as_str()),
            None => ("False", "", ""),
        };
        let failing = self.conditions.set(at, "Failing", status, reason, message);
        let (reason, message) = (&progress.progressing_reason, &progress.progressing);
        self.conditions
            .set(at, "Progressing", "True", reason, message)
            || failing
    }

    /// Says one thing of the version.
    pub(super) fn set(
        &mut self,
        at: Moment,
        kind: &str,
        status: &str,
        reason: &str,
        message: &str,
    ) {
        self.conditions.set(at, kind, status, reason, message);
    }

    /// A release could not be had: everything else stays at the old one.
    pub(super) fn refuse(&mut self, at: Moment, message: &str) {
        self.conditions
            .set(at, "ReleaseAccepted", "False", "RetrievePayload", message);
    }

    /// The first of the two writes of an acceptance.
    pub(super) fn accept(&mut self, at: Moment, release: &Release) {
        self.conditions.set(
            at,
            "ReleaseAccepted",
            "True",
            "PayloadLoaded",
            &loaded(release),
        );
    }

    /// The second of the two writes of an acceptance: the update begins.
    pub(super) fn begin_update(
        &mut self,
        at: Moment,
        release: &Release,
        generation: i64,
        hash: String,
    ) {
        let risks = no_channel(&self.desired.version, &release.version);
        let entry = Entry {
            release: release.clone(),
            started: at,
            completed: None,
            is_verified: true,
            accepted_risks: risks,
        };
        self.history.insert(0, entry);
        self.desired = release.clone();
        self.observed_generation = generation;
        self.version_hash = hash;
        let first = done_of(release, 2);
        self.conditions.set(at, "Progressing", "True", "", &first);
    }

    /// What each update begins with a moment later: minor updates have to wait.
    pub(super) fn block_minor_updates(&mut self, at: Moment) {
        self.conditions.set(
            at,
            "Upgradeable",
            "False",
            "ClusterVersionUpdating",
            UPDATING,
        );
    }

    /// The first of the two writes of a completion; the second takes `Upgradeable` away.
    pub(super) fn complete(&mut self, at: Moment) {
        let version = self.desired.version.clone();
        if let Some(entry) = self.history.first_mut() {
            entry.completed = Some(at);
        }
        self.conditions.set(
            at,
            "Available",
            "True",
            "",
            &format!("Done applying {version}"),
        );
        self.conditions.set(at, "Failing", "False", "", "");
        self.conditions.set(
            at,
            "Progressing",
            "False",
            "",
            &format!("Cluster version is {version}"),
        );
    }

    /// The second of the two writes of a completion.
    pub(super) fn allow_minor_updates(&mut self) {
        self.conditions.remove("Upgradeable");
    }

    /// The whole status.
    pub(super) fn to_status(&self) -> Value {
        let history: Vec<Value> = self.history.iter().map(Entry::to_json).collect();
        json!({
            "availableUpdates": null,
            "capabilities": {
                "enabledCapabilities": ["Console", "ImageRegistry", "Ingress", "MachineAPI", "Storage"],
                "knownCapabilities": ["Console", "ImageRegistry", "Ingress", "MachineAPI", "Storage"],
            },
            "conditions": self.conditions.to_json(),
            "desired": {
                "image": self.desired.image,
                "url": format!("https://errata.kubereel.example/{}", self.desired.version),
                "version": self.desired.version,
            },
            "history": history,
            "observedGeneration": self.observed_generation,
            "versionHash": self.version_hash,
        })
    }
}

impl Entry {
    fn to_json(&self) -> Value {
        let mut entry = json!({
            "state": if self.completed.is_some() { "Completed" } else { "Partial" },
            "startedTime": self.started.stamp(),
            "completionTime": self.completed.map(Moment::stamp),
            "version": self.release.version,
            "image": self.release.image,
            "verified": self.is_verified,
        });
        if !self.accepted_risks.is_empty() {
            entry["acceptedRisks"] = json!(self.accepted_risks);
        }
        entry
    }
}

/// What is said when a payload is loaded.
pub(super) fn loaded(release: &Release) -> String {
    format!(
        "Payload loaded version=\"{}\" image=\"{}\" architecture=\"amd64\"",
        release.version, release.image
    )
}

/// The precondition that always fails where no channel is set.
pub(super) fn no_channel(from: &str, to: &str) -> String {
    format!(
        "Precondition \"ClusterVersionRecommendedUpdate\" failed because of \"NoChannel\": Configured channel is unset, so the recommended status of updating from {from} to {to} is unknown."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(version: &str) -> Release {
        Release {
            version: version.to_owned(),
            image: "registry.example/r@sha256:0".to_owned(),
            manifests: 50,
        }
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
    fn a_refused_release_leaves_no_trace_but_one_condition() {
        let mut version = ClusterVersion::installing(Moment::from_secs(1.0), &release("1.0.0"));
        version.complete(Moment::from_secs(2.0));
        version.allow_minor_updates();
        let before = version.to_status();
        version.refuse(Moment::from_secs(3.0), "Retrieving payload failed");
        version.refuse(Moment::from_secs(4.0), "Retrieving payload failed again");
        let after = version.to_status();
        assert_eq!(
            condition(&after, "ReleaseAccepted")["lastTransitionTime"],
            "{{secs 3000}}"
        );
        for field in ["history", "desired", "observedGeneration"] {
            assert_eq!(before[field], after[field]);
        }
    }

    #[test]
    fn an_update_adds_an_entry_and_completes_it() {
        let mut version = ClusterVersion::installing(Moment::from_secs(1.0), &release("1.0.0"));
        version.complete(Moment::from_secs(2.0));
        version.begin_update(Moment::from_secs(5.0), &release("1.0.1"), 2, String::new());
        let history = &version.to_status()["history"];
        assert_eq!(
            (&history[0]["state"], &history[0]["verified"]),
            (&json!("Partial"), &json!(true))
        );
        assert!(history[0]["completionTime"].is_null());
        version.complete(Moment::from_secs(9.0));
        let status = version.to_status();
        assert_eq!(status["history"][0]["completionTime"], "{{secs 9000}}");
        assert_eq!(
            condition(&status, "Available")["lastTransitionTime"],
            "{{secs 2000}}"
        );
        assert_eq!(
            condition(&status, "Available")["message"],
            "Done applying 1.0.1"
        );
    }
}
