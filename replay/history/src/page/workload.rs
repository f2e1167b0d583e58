//! The pages of workloads: Deployments, `ReplicaSet`s, `StatefulSet`s, `DaemonSet`s, Jobs and
//! `CronJob`s.

use super::container::pod_template;
use super::lines::{PageWriter, controller, go_list, truth};
use super::surroundings::{Surroundings, is_controlled};
use crate::body_reader::QueryError;
use crate::columns::{
    NONE, ObjectPart, class_of, desired, labels_text, selector_text, time_between,
};
use serde_json::Value;

const CREATED: &[(&str, &str)] = &[("CreationTimestamp", "date metadata.creationTimestamp")];

const JOB: &[(&str, &str)] = &[
    ("?Parallelism", "plain parallelism"),
    ("Completions", "plain completions | <unset>"),
    ("?Completion Mode", "completionMode"),
    ("?Suspend", "plain suspend"),
    ("?Backoff Limit", "plain backoffLimit"),
    (
        "?TTL Seconds After Finished",
        "plain ttlSecondsAfterFinished",
    ),
];

const HISTORY_LIMITS: &[(&str, &str)] = &[
    (
        "Successful Job History Limit",
        "plain successfulJobsHistoryLimit | <unset>",
    ),
    (
        "Failed Job History Limit",
        "plain failedJobsHistoryLimit | <unset>",
    ),
];

/// The label that a `ReplicaSet` adds to the template of its Deployment.
const TEMPLATE_HASH: &str = "pod-template-hash";

pub(super) fn deployment_page(
    page: &mut PageWriter,
    deployment: ObjectPart<'_>,
    around: Surroundings<'_>,
) -> Result<(), QueryError> {
    let (spec, status) = (deployment.at("spec"), deployment.at("status"));
    page.name(deployment);
    page.fields(0, deployment, CREATED);
    page.metadata(deployment);
    page.field(0, "Selector", selector(spec));
    let count = |member: &str| status.at(member).whole();
    let replicas = format!(
        "{} desired | {} updated | {} total | {} available | {} unavailable",
        desired(deployment),
        count("updatedReplicas"),
        count("replicas"),
        count("availableReplicas"),
        count("unavailableReplicas"),
    );
    page.field(0, "Replicas", replicas);
    page.field(0, "StrategyType", spec.at("strategy.type").text());
    page.field(0, "MinReadySeconds", spec.cell("whole minReadySeconds"));
    let update = spec.at("strategy.rollingUpdate");
    if update.is_there() {
        let most = |member: &str| update.at(member).plain_or("<nil>");
        let text = format!(
            "{} max unavailable, {} max surge",
            most("maxUnavailable"),
            most("maxSurge")
        );
        page.field(0, "RollingUpdateStrategy", text);
    }
    pod_template(page, spec.at("template"));
    conditions(page, status);
    let namespace = deployment.at("metadata.namespace").text();
    let Some(sets) = around.list("replicasets.apps", namespace)? else {
        return Ok(());
    };
    let uid = deployment.at("metadata.uid").text();
    let sets: Vec<&Value> = sets.iter().filter(|set| is_controlled(set, uid)).collect();
    let template = without_hash(spec.at("template"));
    let is_new = |set: &&Value| without_hash(ObjectPart::of(set).at("spec.template")) == template;
    let created = |set: &&&Value| ObjectPart::of(set).at("metadata.creationTimestamp").time();
    let new = sets
        .iter()
        .filter(|set| is_new(set))
        .min_by_key(created)
        .copied();
    let is_new = |set: &Value| new.is_some_and(|new| std::ptr::eq(new, set));
    if !sets.is_empty() {
        let old: Vec<&Value> = sets.iter().copied().filter(|set| !is_new(set)).collect();
        page.field(0, "OldReplicaSets", sets_text(&old));
        page.field(
            0,
            "NewReplicaSet",
            sets_text(&new.into_iter().collect::<Vec<_>>()),
        );
    }
    Ok(())
}

fn without_hash(template: ObjectPart<'_>) -> Option<Value> {
    let mut template = template.value()?.clone();
    let labels = template
        .pointer_mut("/metadata/labels")
        .and_then(Value::as_object_mut);
    if let Some(labels) = labels {
        labels.remove(TEMPLATE_HASH);
    }
    Some(template)
}

fn sets_text(sets: &[&Value]) -> String {
    let texts = sets.iter().map(|set| {
        let set = ObjectPart::of(set);
        let (made, wanted) = (set.at("status.replicas").whole(), desired(set));
        format!("{} ({made}/{wanted} replicas created)", set.name())
    });
    let texts: Vec<String> = texts.collect();
    if texts.is_empty() {
        NONE.to_owned()
    } else {
        texts.join(", ")
    }
}

fn selector(spec: ObjectPart<'_>) -> String {
    selector_text(spec.at("selector")).unwrap_or_else(|| "<invalid>".to_owned())
}

fn conditions(page: &mut PageWriter, status: ObjectPart<'_>) {
    if status.at("conditions").items().len() == 0 {
        return;
    }
    page.line(0, "Conditions:");
    page.titles(1, &["Type", "Status", "Reason"]);
    page.rows(status.at("conditions"), &["type ", "status", "reason"]);
}

pub(super) fn replica_set_page(
    page: &mut PageWriter,
    set: ObjectPart<'_>,
    around: Surroundings<'_>,
) -> Result<(), QueryError> {
    page.name(set);
    let plain = set.at("spec.selector.matchLabels").is_there()
        || set.at("spec.selector.matchExpressions").is_there();
    // The selector of a ReplicationController has no expressions.
    let selector = if plain {
        selector(set.at("spec"))
    } else {
        labels_text(&set.at("spec.selector").texts())
    };
    page.field(0, "Selector", selector);
    page.metadata(set);
    page.field_if(0, "Controlled By", controller(set));
    let current = set.at("status.replicas").whole();
    page.field(
        0,
        "Replicas",
        format!("{current} current / {} desired", desired(set)),
    );
    page.field(0, "Pods Status", around.pods_status(set)?);
    pod_template(page, set.at("spec.template"));
    conditions(page, set.at("status"));
    Ok(())
}

pub(super) fn stateful_set_page(
    page: &mut PageWriter,
    set: ObjectPart<'_>,
    around: Surroundings<'_>,
) -> Result<(), QueryError> {
    let spec = set.at("spec");
    page.name(set);
    page.fields(0, set, CREATED);
    page.field(0, "Selector", selector(spec));
    page.metadata(set);
    let total = set.at("status.replicas").whole();
    page.field(
        0,
        "Replicas",
        format!("{} desired | {total} total", desired(set)),
    );
    page.field(0, "Update Strategy", spec.at("updateStrategy.type").text());
    let update = spec.at("updateStrategy.rollingUpdate");
    if update.at("partition").is_there() {
        page.field(1, "Partition", update.at("partition").plain());
        page.field_if(1, "MaxUnavailable", update.at("maxUnavailable").plain());
    }
    page.field(0, "Pods Status", around.pods_status(set)?);
    pod_template(page, spec.at("template"));
    if spec.at("volumeClaimTemplates").items().len() == 0 {
        page.field(0, "Volume Claims", NONE);
        return Ok(());
    }
    page.line(0, "Volume Claims:");
    for claim in spec.at("volumeClaimTemplates").items() {
        page.field(1, "Name", claim.name());
        page.field(1, "StorageClass", class_of(claim));
        page.labels(1, "Labels", claim.at("metadata.labels"));
        page.labels(1, "Annotations", claim.at("metadata.annotations"));
        let requests = claim.at("spec.resources.requests.storage");
        page.field(1, "Capacity", requests.plain_or("<default>"));
        page.field(1, "Access Modes", go_list(claim.at("spec.accessModes")));
    }
    Ok(())
}

pub(super) fn daemon_set_page(
    page: &mut PageWriter,
    set: ObjectPart<'_>,
    around: Surroundings<'_>,
) -> Result<(), QueryError> {
    let spec = set.at("spec");
    page.name(set);
    page.field(0, "Selector", selector(spec));
    let nodes = spec.at("template.spec.nodeSelector");
    page.field(0, "Node-Selector", labels_text(&nodes.texts()));
    page.metadata(set);
    for (title, member) in [
        (
            "Desired Number of Nodes Scheduled",
            "desiredNumberScheduled",
        ),
        (
            "Current Number of Nodes Scheduled",
            "currentNumberScheduled",
        ),
        (
            "Number of Nodes Scheduled with Up-to-date Pods",
            "updatedNumberScheduled",
        ),
        (
            "Number of Nodes Scheduled with Available Pods",
            "numberAvailable",
        ),
        ("Number of Nodes Misscheduled", "numberMisscheduled"),
    ] {
        page.line(
            0,
            format!("{title}: {}", set.at("status").at(member).whole()),
        );
    }
    page.field(0, "Pods Status", around.pods_status(set)?);
    pod_template(page, spec.at("template"));
    Ok(())
}

pub(super) fn job_page(page: &mut PageWriter, job: ObjectPart<'_>) {
    let (spec, status) = (job.at("spec"), job.at("status"));
    page.name(job);
    page.field(0, "Selector", selector(spec));
    page.metadata(job);
    page.field_if(0, "Controlled By", controller(job));
    page.fields(0, spec, JOB);
    let (start, end) = (status.at("startTime"), status.at("completionTime"));
    for (title, time) in [("Start Time", start), ("Completed At", end)] {
        if time.is_there() {
            page.field(0, title, time.date());
        }
    }
    if let (Some(start), Some(end)) = (start.time(), end.time()) {
        page.field(0, "Duration", time_between(start, end));
    }
    if spec.at("activeDeadlineSeconds").is_there() {
        let deadline = spec.at("activeDeadlineSeconds").whole();
        page.field(0, "Active Deadline Seconds", format!("{deadline}s"));
    }
    let ready = status.at("ready");
    let ready = if ready.is_there() {
        format!(" ({} Ready)", ready.whole())
    } else {
        String::new()
    };
    let count = |member: &str| status.at(member).whole();
    let (active, succeeded, failed) = (count("active"), count("succeeded"), count("failed"));
    let pods = format!("{active} Active{ready} / {succeeded} Succeeded / {failed} Failed");
    page.field(0, "Pods Statuses", pods);
    if spec.at("completionMode").text() == "Indexed" {
        page.field(
            0,
            "Completed Indexes",
            status.at("completedIndexes").text_or(NONE),
        );
    }
    pod_template(page, spec.at("template"));
}

pub(super) fn cron_job_page(page: &mut PageWriter, cron: ObjectPart<'_>) {
    let spec = cron.at("spec");
    page.head(cron);
    page.field(0, "Schedule", spec.at("schedule").text());
    page.field(0, "Concurrency Policy", spec.at("concurrencyPolicy").text());
    let suspend = match spec.at("suspend") {
        suspend if suspend.is_there() => truth(suspend.holds()),
        _ => "<unset>",
    };
    page.field(0, "Suspend", suspend);
    page.fields(0, spec, HISTORY_LIMITS);
    let deadline = match spec.at("startingDeadlineSeconds") {
        deadline if deadline.is_there() => format!("{}s", deadline.whole()),
        _ => "<unset>".to_owned(),
    };
    page.field(0, "Starting Deadline Seconds", deadline);
    let job = spec.at("jobTemplate.spec");
    let selector = Some(job)
        .filter(|job| job.at("selector").is_there())
        .map(selector);
    page.field(
        0,
        "Selector",
        selector.unwrap_or_else(|| "<unset>".to_owned()),
    );
    page.field(0, "Parallelism", job.at("parallelism").plain_or("<unset>"));
    page.field(0, "Completions", job.at("completions").plain_or("<unset>"));
    pod_template(page, job.at("template"));
    let last = cron.at("status.lastScheduleTime");
    let last = last.is_there().then(|| last.date());
    page.field(
        0,
        "Last Schedule Time",
        last.unwrap_or_else(|| "<unset>".to_owned()),
    );
    let active = cron.at("status.active");
    let active: Vec<&str> = active.items().map(|job| job.at("name").text()).collect();
    let active = if active.is_empty() {
        NONE.to_owned()
    } else {
        active.join(", ")
    };
    page.field(0, "Active Jobs", active);
}
