//! An update is asked for, and its payload retrieved: the first attempts in vain.

use serde_json::json;

use super::super::Moment;
use super::super::cluster_version::{loaded, no_channel};
use super::super::step::{Act, Gate};
use super::teller::{CVO, CVO_NAMESPACE, Teller, payload};
use super::version_pod;
use crate::kubelet::{Fate, NodeRole, PodMatcher};

/// From the creation of a version Pod to its pull error.
const PULL_FAILS_AFTER_SECS: f64 = 4.0;
/// From the creation of a version Pod to its success.
const SUCCEEDS_AFTER_SECS: f64 = 13.0;

/// Tells the retrieval; returns when the release is accepted.
pub(super) fn tell(teller: &mut Teller<'_>) -> Moment {
    let scenario = teller.scenario;
    let release = &scenario.update;
    let asked = Moment::from_secs(scenario.upgrade.asked_secs);
    teller.landmark("upgrade asked", asked);
    teller.script.merge(
        asked,
        "oc",
        &Teller::version_target(),
        json!({"spec": {"desiredUpdate": {
            "architecture": "",
            "force": false,
            "image": release.image,
            "version": release.version,
        }}}),
    );
    let mut at = asked + 0.3;
    let mut attempt = 1;
    for message in &scenario.upgrade.failed_pulls {
        at = tell_failed_attempt(teller, at, attempt, message);
        attempt += 1;
    }
    let succeeded = tell_attempt(teller, at, attempt, None) + SUCCEEDS_AFTER_SECS;
    tell_acceptance(teller, succeeded)
}

/// Begins an attempt; returns the time of the new Pod. Older version Pods go first.
fn tell_attempt(
    teller: &mut Teller<'_>,
    at: Moment,
    attempt: u32,
    pull_error: Option<&str>,
) -> Moment {
    let scenario = teller.scenario;
    let release = &scenario.update;
    let of = payload(release);
    teller.say_about_version(
        at,
        false,
        "RetrievePayload",
        format!("Retrieving and verifying payload {of}"),
    );
    let created = at + 0.15;
    let name = version_pod::name(teller.dice, release, attempt);
    if let Some(message) = pull_error {
        let pods = PodMatcher {
            namespace: CVO_NAMESPACE.to_owned(),
            name_prefix: Some(name.clone()),
            ..PodMatcher::default()
        };
        let fate = Fate::PullFails {
            message: message.to_owned(),
            failures: None,
        };
        teller.script.act(at, CVO, Act::Script { pods, fate });
    }
    if let Some(before) = teller.version_pods.last() {
        let target = version_pod::target(before);
        teller.script.act(
            at + 0.02,
            CVO,
            Act::Delete {
                target,
                grace_secs: None,
            },
        );
    }
    let node = scenario
        .cluster
        .nodes
        .iter()
        .find(|node| node.role == NodeRole::Master);
    let node = node.map(|node| node.name.as_str()).unwrap_or_default();
    let pod = version_pod::object(teller.dice, release, &name, node);
    teller.script.create(created, CVO, pod);
    teller.version_pods.push(name);
    created
}

/// An attempt that fails fast; returns when the next may begin: at once, as the message is a new one.
fn tell_failed_attempt(teller: &mut Teller<'_>, at: Moment, attempt: u32, message: &str) -> Moment {
    let release = &teller.scenario.update;
    let created = tell_attempt(teller, at, attempt, Some(message));
    let fails = created + PULL_FAILS_AFTER_SECS;
    let name = version_pod::name(teller.dice, release, attempt);
    let pod = version_pod::target(&name);
    teller.plant("failed-pull", pod.to_string(), created, Some(fails));
    // Nothing is written while an attempt runs; then the Event goes out just before the status.
    let failure = version_pod::failure(release, &name, "ErrImagePull", message);
    let gate = Gate::PodWaits {
        pod,
        reason: "ErrImagePull".to_owned(),
    };
    teller.script.act_after(fails, CVO, gate, Act::Await);
    teller.say_about_version(
        fails + 0.005,
        true,
        "RetrievePayloadFailed",
        failure.clone(),
    );
    teller.version.refuse(fails + 0.01, &failure);
    teller.write_version(fails + 0.01);
    fails + 0.03
}

/// Payload and preconditions are well: the two writes of an acceptance, and one that follows.
fn tell_acceptance(teller: &mut Teller<'_>, at: Moment) -> Moment {
    let scenario = teller.scenario;
    let release = &scenario.update;
    let of = payload(release);
    let Some(name) = teller.version_pods.last().cloned() else {
        return at;
    };
    let gate = Gate::PodPhase {
        pod: version_pod::target(&name),
        phase: "Succeeded".to_owned(),
    };
    teller.script.act_after(at, CVO, gate, Act::Await);
    teller.say_about_version(
        at + 0.01,
        false,
        "LoadPayload",
        format!("Loading payload {of}"),
    );
    let warning = no_channel(&scenario.installed.version, &release.version);
    let told = format!("precondition warning for payload loaded {of}: {warning}");
    teller.say_about_version(at + 0.10, true, "PreconditionWarn", told);
    let told = format!("preconditions passed for payload loaded {of}");
    teller.say_about_version(at + 0.11, false, "PreconditionsPassed", told);
    teller.version.accept(at + 0.12, release);
    teller.write_version(at + 0.12);
    teller.say_about_version(at + 0.121, false, "PayloadLoaded", loaded(release));
    let begins = at + 0.13;
    teller.version.begin_update(
        begins,
        release,
        2,
        teller.dice.hex(11, &["hash", &release.version]),
    );
    teller.write_version(begins);
    teller.version.block_minor_updates(begins + 0.02);
    teller.write_version(begins + 0.02);
    teller.landmark("upgrade accepted", begins);
    begins
}
