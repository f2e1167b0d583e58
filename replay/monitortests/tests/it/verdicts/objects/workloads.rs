//! Rows 15 and 17 to 20.

use crate::verdicts::judged::judged;
use crate::verdicts::reel::Reel;
use serde_json::json;

const GENERATION: &str = "objects in ns/openshift-dns should not have a generation greater than 3";
const POLICY: &str = "[sig-arch] all containers in ns/openshift-dns must have terminationMessagePolicy=FallbackToLogsOnError";
const ACCOUNT: &str =
    "[sig-auth] all pods in openshift-dns namespace must not use the default service account.";

const RECREATED: &str =
    "[sig-instrumentation] Monitoring statefulsets are not recreated after upgrade";

const POD: &str = "openshift-dns/dns-1";

#[test]
fn a_specification_that_is_written_often_flakes() {
    let id = "generation-at-most-3";
    for kind in ["Deployment", "DaemonSet", "StatefulSet"] {
        let written = |generation: u64| {
            let put = |generation: u64| {
                json!({
                    "kind": kind,
                    "metadata": {"namespace": "openshift-dns", "name": "dns", "generation": generation},
                })
            };
            let reel = Reel::cluster().put(put(3)).at("10:05:00");
            reel.put(put(generation))
        };
        let verdicts = judged(written(4), id);
        verdicts.is(GENERATION, "flake");
        verdicts.says(GENERATION, "10:05:00", "4");
        judged(written(3), id).passes(GENERATION);
    }
}

#[test]
fn last_words_are_kept() {
    let id = "termination-message-policy";
    let file = json!([{"name": "main", "terminationMessagePolicy": "File"}]);
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        let reel = Reel::cluster().at("10:05:00").pod(POD).change(
            "Pod",
            POD,
            json!({"spec": {"containers": null, (list): file}}),
        );
        judged(reel, id).fails(POLICY, "10:05:00", "container main of pod dns-1");
    }
    judged(Reel::cluster().pod(POD).at("10:05:00"), id).passes(POLICY);
    // What is gone at the end is not judged.
    let gone = Reel::cluster()
        .pod(POD)
        .change("Pod", POD, json!({"spec": {"containers": file}}))
        .at("10:05:00")
        .gone("Pod", POD);
    judged(gone, id).passes(POLICY);
    let old = || {
        Reel::cluster()
            .installed("4.15.1")
            .pod(POD)
            .change("Pod", POD, json!({"spec": {"containers": file}}))
            .at("10:05:00")
    };
    let why = judged(old(), id).omitted();
    assert_eq!(why, "it is a rule since OpenShift 4.16");
    // What the release before had written is still there after the upgrade.
    let upgraded = old().upgrade_begins("4.16.0").at("11:00:00").upgrade_ends();
    judged(upgraded, id).is(POLICY, "flake");
}

#[test]
fn pods_say_under_which_constraint_they_run() {
    let id = "required-scc-annotation";
    let case = |namespace: &str| {
        format!(
            "[sig-auth] all workloads in ns/{namespace} must set the 'openshift.io/required-scc' annotation"
        )
    };
    let without = |path: &str| {
        let patch = json!({"metadata": {"annotations": {"openshift.io/required-scc": null}}});
        let reel = Reel::cluster().at("10:05:00").pod(path);
        reel.change("Pod", path, patch)
    };
    let console = case("openshift-console");
    judged(without("openshift-console/console-1"), id).fails(&console, "10:05:00", "console-1");
    // Namespaces that are still being pinned flake.
    judged(without(POD), id).is(&case("openshift-dns"), "flake");
    let good = Reel::cluster()
        .pod("openshift-console/console-1")
        .at("10:05:00");
    judged(good, id).passes(&console);
}

#[test]
fn pods_have_accounts_of_their_own() {
    let id = "no-default-service-account";
    let account = |path: &str, name: &str| {
        let patch = json!({"spec": {"serviceAccountName": name}});
        let reel = Reel::cluster().at("10:05:00").pod(path);
        reel.change("Pod", path, patch)
    };
    judged(account(POD, "default"), id).fails(ACCOUNT, "10:05:00", "dns-1");
    judged(account(POD, "dns"), id).passes(ACCOUNT);
    let known = judged(account("openshift-etcd/etcd-guard-master-0", "default"), id);
    let name =
        "[sig-auth] all pods in openshift-etcd namespace must not use the default service account.";
    known.is(name, "flake-jira");
}

#[test]
fn monitoring_is_changed_in_place() {
    let id = "monitoring-statefulsets-not-recreated";
    let set = json!({
        "kind": "StatefulSet",
        "metadata": {"namespace": "openshift-monitoring", "name": "prometheus-k8s", "generation": 1},
    });
    let upgraded = |reel: Reel| reel.at("10:30:00").upgrade_ends().until("11:00:00");
    let began = || {
        Reel::cluster()
            .put(set.clone())
            .at("10:05:00")
            .upgrade_begins("5.1.0")
            .at("10:10:00")
    };
    let path = "openshift-monitoring/prometheus-k8s";
    let changed = began().change("StatefulSet", path, json!({"metadata": {"generation": 2}}));
    judged(upgraded(changed), id).passes(RECREATED);
    let anew = began()
        .gone("StatefulSet", path)
        .at("10:10:05")
        .put(set.clone());
    judged(upgraded(anew), id).fails(RECREATED, "10:10:05", "prometheus-k8s was made anew");
    let no_upgrade = Reel::cluster().put(set.clone()).at("10:10:00");
    judged(no_upgrade, id).is(RECREATED, "skipped");
}
