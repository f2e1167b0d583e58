//! The update itself: the operator of operators first, then level by level, the nodes last.

use super::super::file::Operand;
use super::super::progress::Progress;
use super::super::step::{Act, Gate};
use super::super::workload::{new_image, service};
use super::super::{Moment, ScenarioError};
use super::installer::deployment;
use super::leases::{operator_leader, operator_lease, say_elected, version_leader, version_lease};
use super::level::{self, Level, OperatorRoll};
use super::roll;
use super::teller::{CVO, STATUS_EVERY_SECS, Teller, deployment_of};
use crate::rest::Target;

/// From the acceptance to the first level of operators: the new process has to take over.
const HAND_OVER_SECS: f64 = 11.0;
/// From the last operator's report to the completion.
const COMPLETES_AFTER_SECS: f64 = 3.0;

/// Tells the update; returns when it is complete.
pub(super) fn tell(teller: &mut Teller<'_>, accepted: Moment) -> Result<Moment, ScenarioError> {
    let scenario = teller.scenario;
    teller.operator(&scenario.faults.degraded.operator)?;
    tell_hand_over(teller, accepted);
    let levels = level::lay_out(scenario, teller.dice, accepted + HAND_OVER_SECS);
    for level in &levels {
        // The operators of the level before have reported.
        teller
            .script
            .act_after(level.begins, CVO, Gate::Settled, Act::Await);
        level.rolls.iter().for_each(|roll| tell_roll(teller, roll));
    }
    let ends = levels.last().map_or(accepted, |level| level.ends);
    let completes = ends + COMPLETES_AFTER_SECS;
    tell_reports(teller, &levels, accepted + HAND_OVER_SECS, completes);
    teller
        .script
        .act_after(completes, CVO, Gate::Settled, Act::Await);
    teller.version.complete(completes);
    teller.write_version(completes);
    teller.version.allow_minor_updates();
    teller.write_version(completes + 0.01);
    teller.landmark("upgrade completed", completes);
    Ok(completes)
}

/// The operator replaces itself: its Lease changes hands, and its counts start again.
fn tell_hand_over(teller: &mut Teller<'_>, accepted: Moment) {
    let release = &teller.scenario.update;
    let image = release.image.clone();
    patch_image(teller, accepted + 0.3, CVO, &deployment(), Some(image));
    teller.version.report(
        accepted + 0.4,
        &Progress::done(release, release.manifests / 8),
    );
    teller.write_version(accepted + 0.4);
    teller.script.act(
        accepted + 3.0,
        CVO,
        Act::Resign {
            lease: version_lease(),
        },
    );
    say_elected(teller, accepted + 3.02, 2, "stopped leading");
    let takes_over = accepted + (HAND_OVER_SECS - 1.5);
    let lead = Act::Lead {
        lease: version_lease(),
        leader: version_leader(),
    };
    let up = Gate::RolledOut {
        targets: vec![deployment()],
    };
    teller.script.act_after(takes_over, CVO, up, lead);
    say_elected(teller, takes_over + 0.05, 3, "became leader");
    teller.say_payload_loaded(takes_over + 0.1, release);
    for (after, progress) in [
        (0.25, Progress::bare(release)),
        (0.3, Progress::done(release, 1)),
    ] {
        teller.version.report(takes_over + after, &progress);
        teller.write_version(takes_over + after);
    }
}

/// Puts the new image into a Deployment or `DaemonSet`.
fn patch_image(
    teller: &mut Teller<'_>,
    at: Moment,
    actor: &str,
    target: &Target,
    image: Option<String>,
) {
    let Some(current) = teller.workloads.get(target) else {
        return;
    };
    let mut made_of = teller.template(&teller.scenario.update, &target.name);
    if let Some(image) = image {
        made_of.image = image;
    }
    let patch = new_image(&made_of, current);
    teller.script.merge(at, actor, target, patch);
}

/// One operator's update.
fn tell_roll(teller: &mut Teller<'_>, roll: &OperatorRoll) {
    let operator = &roll.operator;
    let version = &teller.scenario.update.version;
    let before = &teller.scenario.installed.version;
    let (name, app) = (&operator.name, operator.deployment());
    patch_image(teller, roll.patched, CVO, &deployment_of(operator), None);
    // The old Pod gives the Lease up while the new one starts.
    teller.script.act(
        roll.patched + 2.0,
        &app,
        Act::Resign {
            lease: operator_lease(operator),
        },
    );
    let at = roll.progressing;
    let up = Gate::RolledOut {
        targets: vec![deployment_of(operator)],
    };
    let lead = Act::Lead {
        lease: operator_lease(operator),
        leader: operator_leader(operator),
    };
    teller.script.act_after(at, &app, up, lead);
    let message = format!("Working towards {version}: operands are being updated");
    teller.change_operator(at + 0.1, operator, |status| {
        status.progress(at + 0.1, "RollingOut", &message);
    });
    let told = format!(
        "Status for clusteroperator/{name} changed: Progressing changed from False to True (\"{message}\")"
    );
    teller.say_by(at + 0.12, operator, false, "OperatorStatusChanged", told);
    for operand in &operator.operands {
        if let Some(object) = service(operand, version) {
            teller.script.act(at + 0.18, &app, Act::Apply { object });
        }
        patch_image(teller, at + 0.2, &app, &operand.target(), None);
    }
    if let Some((from, until)) = roll.degraded {
        tell_degraded(teller, roll, from, until);
    }
    if name == level::MACHINE_CONFIG {
        roll::tell(teller, at + 1.0);
    }
    let arrived = Gate::RolledOut {
        targets: operator.operands.iter().map(Operand::target).collect(),
    };
    teller.change_operator_after(roll.done, operator, arrived, |status| {
        status.arrive(roll.done, version);
    });
    let told = format!(
        "Status for clusteroperator/{name} changed: Progressing changed from True to False"
    );
    teller.say_by(
        roll.done + 0.02,
        operator,
        false,
        "OperatorStatusChanged",
        told,
    );
    let told = format!(
        "clusteroperator/{name} version \"operator\" changed from \"{before}\" to \"{version}\""
    );
    teller.say_by(
        roll.done + 0.04,
        operator,
        false,
        "OperatorVersionChanged",
        told,
    );
}

/// The operator is degraded for a while, with one message after the other.
fn tell_degraded(teller: &mut Teller<'_>, roll: &OperatorRoll, from: Moment, until: Moment) {
    let operator = &roll.operator;
    let fault = &teller.scenario.faults.degraded;
    let count = u32::try_from(fault.messages.len()).unwrap_or(1).max(1);
    for (index, message) in (0_u32..).zip(&fault.messages) {
        let at = from + fault.for_secs * f64::from(index) / f64::from(count);
        teller.change_operator(at, operator, |status| {
            status.degrade(at, &fault.reason, message);
        });
        let told = format!(
            "Status for clusteroperator/{} changed: Degraded message changed to \"{message}\"",
            operator.name
        );
        teller.say_by(at + 0.02, operator, true, "OperatorStatusChanged", told);
    }
    teller.change_operator(until, operator, |status| status.recover(until));
    let told = format!(
        "Status for clusteroperator/{} changed: Degraded changed from True to False",
        operator.name
    );
    teller.say_by(until + 0.02, operator, false, "OperatorStatusChanged", told);
    teller.plant(
        "degraded",
        format!("ClusterOperator {}", operator.name),
        from,
        Some(until),
    );
}

/// The status writes of the new process: a snapshot every so often, when something changed.
fn tell_reports(teller: &mut Teller<'_>, levels: &[Level], from: Moment, until: Moment) {
    let scenario = teller.scenario;
    let mut at = from + 4.0;
    while at < until {
        if let Some(progress) = level::progress_at(scenario, levels, at)
            && teller.version.report(at, &progress)
        {
            teller.write_version(at);
        }
        at = at + STATUS_EVERY_SECS;
    }
}
