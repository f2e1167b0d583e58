//! The cluster-version operator during the installation: first outside the cluster, then in it.

use super::super::Moment;
use super::super::file::Release;
use super::super::progress::Progress;
use super::super::step::{Act, Gate, Leader};
use super::super::workload::operator_deployment;
use super::leases::{say_elected, version_leader, version_lease};
use super::teller::{CVO, CVO_NAMESPACE, STATUS_EVERY_SECS, Teller};
use crate::rest::Target;

/// From the last operator's report to the completion.
const COMPLETES_AFTER_SECS: f64 = 4.0;

/// The Deployment of the cluster-version operator.
pub(super) fn deployment() -> Target {
    Target::namespaced("apps/v1", "Deployment", CVO_NAMESPACE, CVO)
}

pub(super) fn tell(teller: &mut Teller<'_>, begins: Moment) {
    let scenario = teller.scenario;
    let release = &scenario.installed;
    let bootstrap = format!("bootstrap_{}", teller.dice.uuid(&["bootstrap"]));
    let lead = Act::Lead {
        lease: version_lease(),
        leader: Leader::Outsider { name: bootstrap },
    };
    teller.landmark("install begins", begins);
    teller.script.act(begins, CVO, lead);
    say_elected(teller, begins + 0.05, 1, "became leader");
    teller.say_payload_loaded(begins + 0.3, release);
    teller.write_version(begins + 0.5);
    teller.version.both_reasons(begins + 0.53);
    teller.write_version(begins + 0.53);
    teller.version.payload_is_read(
        begins + 0.6,
        teller.dice.hex(11, &["hash", &release.version]),
    );
    teller
        .version
        .report(begins + 0.6, &Progress::done(release, 5));
    teller.write_version(begins + 0.6);
    let object = own_deployment(teller, release);
    teller.create_workload(begins + 1.5, CVO, object);

    let hand_over = Moment::from_secs(scenario.install.bootstrap_ends_secs);
    let takes_over = Moment::from_secs(scenario.install.cluster_takes_over_secs);
    report_until(teller, begins, begins + STATUS_EVERY_SECS, hand_over);
    tell_hand_over(teller, begins, hand_over);
    tell_take_over(teller, takes_over);
    let last = scenario
        .operators
        .iter()
        .map(|operator| operator.available_secs)
        .fold(0.0, f64::max);
    let completes = begins + last + COMPLETES_AFTER_SECS;
    report_until(teller, begins, takes_over + STATUS_EVERY_SECS, completes);
    teller.version.complete(completes);
    teller.write_version(completes);
    teller.version.allow_minor_updates();
    teller.write_version(completes + 0.01);
    teller.landmark("installed", completes);
}

fn own_deployment(teller: &Teller<'_>, release: &Release) -> serde_json::Value {
    let mut made_of = teller.template(release, CVO);
    made_of.image.clone_from(&release.image);
    let mut object = operator_deployment(CVO_NAMESPACE, &made_of);
    object["spec"]["template"]["spec"]["hostNetwork"] = true.into();
    object["spec"]["template"]["spec"]["dnsPolicy"] = "ClusterFirstWithHostNet".into();
    object
}

/// The names of the operators that are not available at a time.
fn missing<'s>(teller: &Teller<'s>, begins: Moment, at: Moment) -> Vec<&'s str> {
    let operators = teller.scenario.operators.iter();
    operators
        .filter(|operator| begins + operator.available_secs > at)
        .map(|operator| operator.name.as_str())
        .collect()
}

/// How many manifests are done while so many operators are missing.
pub(super) fn done(release: &Release, operators: usize, missing: usize) -> u32 {
    let (operators, missing) = (
        u32::try_from(operators).unwrap_or(1).max(1),
        u32::try_from(missing).unwrap_or(0),
    );
    let settled = release.manifests / 12;
    let rest = release.manifests - settled - 2;
    settled + rest * (operators - missing.min(operators)) / operators
}

/// The status writes of one process: at most one every so often, and only when something changed.
fn report_until(teller: &mut Teller<'_>, begins: Moment, from: Moment, until: Moment) {
    let release = &teller.scenario.installed;
    let mut at = from;
    while at < until {
        let missing = missing(teller, begins, at);
        let done = done(release, teller.scenario.operators.len(), missing.len());
        let progress = if missing.is_empty() || missing.len() > 8 {
            Progress::done(release, done)
        } else {
            Progress::waiting(release, done, &missing)
        };
        if teller.version.report(at, &progress) {
            teller.write_version(at);
        }
        at = at + STATUS_EVERY_SECS;
    }
}

/// The bootstrap operator is told to stop: its last status write shows a failure that is none.
fn tell_hand_over(teller: &mut Teller<'_>, begins: Moment, at: Moment) {
    let missing = missing(teller, begins, at);
    teller.version.report(
        at,
        &Progress::not_available(&teller.scenario.installed, &missing),
    );
    teller.write_version(at);
    teller.script.act(
        at + 0.01,
        CVO,
        Act::Resign {
            lease: version_lease(),
        },
    );
    say_elected(teller, at + 0.02, 1, "stopped leading");
}

/// The operator in the cluster takes over and begins anew.
fn tell_take_over(teller: &mut Teller<'_>, at: Moment) {
    let release = &teller.scenario.installed;
    let lead = Act::Lead {
        lease: version_lease(),
        leader: version_leader(),
    };
    let up = Gate::RolledOut {
        targets: vec![deployment()],
    };
    teller.script.act_after(at, CVO, up, lead);
    say_elected(teller, at + 0.05, 2, "became leader");
    teller.say_payload_loaded(at + 0.1, release);
    teller.version.report(at + 0.25, &Progress::bare(release));
    teller.write_version(at + 0.25);
    teller.version.report(at + 0.3, &Progress::done(release, 4));
    teller.write_version(at + 0.3);
}
