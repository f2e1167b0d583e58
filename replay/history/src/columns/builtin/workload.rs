//! The columns of workloads, of their revisions and of autoscalers.

use super::super::part::{NONE, ObjectPart, UNKNOWN, time_between, time_since};
use super::kind::selector_text;
use crate::field;
use kubereel_format::RecordedAt;

pub(super) fn deployment_cells(deployment: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    vec![
        ready(deployment),
        // Unlike elsewhere, an absent selector leaves the cell empty.
        selector_text(deployment.at("spec.selector")).unwrap_or_else(|| "<invalid>".to_owned()),
    ]
}

fn ready(workload: ObjectPart<'_>) -> String {
    let ready = workload.at("status.readyReplicas").whole();
    format!("{ready}/{}", desired(workload))
}

/// Reads the wanted replicas: one by default.
pub(crate) fn desired(object: ObjectPart<'_>) -> i64 {
    let replicas = object.at("spec.replicas");
    if replicas.is_there() {
        replicas.whole()
    } else {
        1
    }
}

pub(super) fn desired_cells(set: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    vec![desired(set).to_string()]
}

pub(super) fn stateful_set_cells(set: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    vec![ready(set)]
}

pub(super) fn cron_job_cells(cron: ObjectPart<'_>, at: RecordedAt) -> Vec<String> {
    let suspend = match cron.at("spec.suspend") {
        suspend if !suspend.is_there() => "<unset>",
        suspend if suspend.holds() => "True",
        _ => "False",
    };
    let last = cron.at("status.lastScheduleTime");
    let last = last.time().map(|time| time_since(time, at));
    vec![suspend.to_owned(), last.unwrap_or_else(|| NONE.to_owned())]
}

pub(super) fn job_cells(job: ObjectPart<'_>, at: RecordedAt) -> Vec<String> {
    vec![
        job_status(job).to_owned(),
        completions(job),
        duration(job, at),
    ]
}

fn job_status(job: ObjectPart<'_>) -> &'static str {
    // Of several conditions of a type the first one counts.
    let has = |kind: &str| {
        let mut conditions = job.at("status.conditions").items();
        let first = conditions.find(|one| one.at("type").text() == kind);
        first.is_some_and(|one| one.at("status").text() == "True")
    };
    if has("Complete") {
        "Complete"
    } else if has("Failed") {
        "Failed"
    } else if job.at("metadata.deletionTimestamp").is_there() {
        "Terminating"
    } else if has("Suspended") {
        "Suspended"
    } else if has("FailureTarget") {
        "FailureTarget"
    } else if has("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    }
}

fn completions(job: ObjectPart<'_>) -> String {
    let succeeded = job.at("status.succeeded").whole();
    let wanted = job.at("spec.completions");
    let parallelism = job.at("spec.parallelism");
    if wanted.is_there() {
        format!("{succeeded}/{}", wanted.whole())
    } else if parallelism.whole() > 1 {
        format!("{succeeded}/1 of {}", parallelism.whole())
    } else {
        // The server's default for an absent value.
        format!("{succeeded}/1")
    }
}

fn duration(job: ObjectPart<'_>, at: RecordedAt) -> String {
    let start = job.at("status.startTime").time();
    match (start, job.at("status.completionTime").time()) {
        (None, _) => String::new(),
        (Some(start), None) => time_since(start, at),
        (Some(start), Some(end)) => time_between(start, end),
    }
}

/// The number of metrics of an autoscaler that are listed; more are counted.
const METRICS: usize = 2;

pub(super) fn autoscaler_cells(scaler: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    let spec = scaler.at("spec");
    let target = spec.at("scaleTargetRef");
    let mut current = scaler.at("status.currentMetrics").items();
    let metrics = spec.at("metrics").items().map(|metric| {
        let now = current.next().unwrap_or(ObjectPart::none());
        metric_text(metric, now)
    });
    let mut metrics: Vec<String> = metrics.collect();
    let more = metrics.len().saturating_sub(METRICS);
    metrics.truncate(METRICS);
    let targets = match metrics.join(", ") {
        none if none.is_empty() => NONE.to_owned(),
        first if more > 0 => format!("{first} + {more} more..."),
        all => all,
    };
    vec![
        format!("{}/{}", target.at("kind").text(), target.at("name").text()),
        targets,
    ]
}

/// Formats a metric of an autoscaler: current and target value.
fn metric_text(metric: ObjectPart<'_>, now: ObjectPart<'_>) -> String {
    let kind = metric.at("type").text();
    let member = match kind {
        "External" => "external",
        "Pods" => "pods",
        "Object" => "object",
        "Resource" => "resource",
        "ContainerResource" => "containerResource",
        _ => return "<unknown type>".to_owned(),
    };
    let (wanted, current) = (metric.at(member), now.at(member).at("current"));
    let target = wanted.at("target");
    let percent = |part: ObjectPart<'_>, otherwise: &str| match part.plain() {
        none if none.is_empty() => otherwise.to_owned(),
        number => format!("{number}%"),
    };
    let average = target.at("averageValue").plain();
    let resource = match member {
        "resource" | "containerResource" => format!("{}: ", wanted.at("name").text()),
        _ => String::new(),
    };
    if !average.is_empty() {
        let mark = match member {
            "external" | "object" => " (avg)",
            _ => "",
        };
        let now = current.at("averageValue").plain_or(UNKNOWN);
        return format!("{resource}{now}/{average}{mark}");
    }
    if resource.is_empty() {
        let now = current.at("value").plain_or(UNKNOWN);
        return format!("{now}/{}", target.at("value").plain());
    }
    let now = percent(current.at("averageUtilization"), UNKNOWN);
    format!(
        "{resource}{now}/{}",
        percent(target.at("averageUtilization"), "<auto>")
    )
}

pub(super) fn controller_revision_cells(revision: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    let controller = revision
        .value()
        .and_then(field::controller)
        .map(ObjectPart::of);
    let controller = controller.map(|owner| {
        let kind = owner.at("kind").text().to_lowercase();
        let group = owner.at("apiVersion").text().split_once('/');
        let group = group.map_or(String::new(), |(group, _)| format!(".{group}"));
        format!("{kind}{group}/{}", owner.at("name").text())
    });
    vec![controller.unwrap_or_else(|| NONE.to_owned())]
}

#[cfg(test)]
mod replica_tests {
    use super::super::kind::row_of;
    use super::*;
    use serde_json::{Value, json};

    const AT: RecordedAt = RecordedAt::from_micros(1_795_269_660_000_000);

    fn whole() -> Value {
        json!({
            "metadata": {"name": "a", "creationTimestamp": "2026-11-21T14:00:00Z"},
            "spec": {
                "replicas": 4,
                "selector": {"matchLabels": {"app": "x"}},
                "template": {"spec": {"containers": [
                    {"name": "b", "image": "example.io/b:1"}, {"name": "c", "image": "example.io/c"}]}}},
            "status": {
                "replicas": 5, "readyReplicas": 3, "updatedReplicas": 2, "availableReplicas": 1},
        })
    }

    fn rows(object: &Value) -> [Vec<String>; 2] {
        ["deployments", "replicasets"].map(|plural| row_of(plural, object, AT))
    }

    #[test]
    fn every_column_is_filled() {
        let [deployment, set] = rows(&whole());
        let last = ["60s", "b,c", "example.io/b:1,example.io/c", "app=x"];
        assert_eq!(deployment[..4], ["a", "3/4", "2", "1"]);
        assert_eq!(set[..4], ["a", "4", "5", "3"]);
        assert_eq!(deployment[4..], last);
        assert_eq!(set[4..], last);
    }

    #[test]
    fn one_replica_is_the_default() {
        let [deployment, set] = rows(&json!({"metadata": {"name": "a"}}));
        assert_eq!(deployment[..4], ["a", "0/1", "0", "0"]);
        assert_eq!(set[..4], ["a", "1", "0", "0"]);
        let mut none = whole();
        none["spec"]["replicas"] = json!(0);
        let [deployment, set] = rows(&none);
        assert_eq!((deployment[1].as_str(), set[1].as_str()), ("3/0", "0"));
    }

    #[test]
    fn a_wrong_selector_is_not_an_absent_one() {
        let wrong = json!({"matchExpressions": [{"key": "a", "operator": "Like"}]});
        for (selector, cells) in [
            (wrong, ["<invalid>", "<error>"]),
            (json!(null), ["", "<none>"]),
        ] {
            let mut odd = whole();
            odd["spec"]["selector"] = selector;
            assert_eq!(rows(&odd).map(|row| row[7].clone()), cells);
        }
    }
}

#[cfg(test)]
mod job_tests {
    use super::super::kind::row_of;
    use super::*;
    use serde_json::{Value, json};

    /// A minute after the times below.
    const AT: RecordedAt = RecordedAt::from_micros(1_795_269_660_000_000);

    fn narrow(job: &Value) -> Vec<String> {
        let mut cells = row_of("jobs", job, AT);
        cells.truncate(5);
        cells
    }

    #[test]
    fn completions_depend_on_what_is_wanted() {
        for (spec, expected) in [
            (json!({"completions": 3, "parallelism": 2}), "2/3"),
            (json!({"parallelism": 2}), "2/1 of 2"),
            (json!({"parallelism": 1}), "2/1"),
            (json!({"parallelism": 0}), "2/1"),
            (json!({}), "2/1"),
        ] {
            let job = json!({"spec": spec, "status": {"succeeded": 2}});
            assert_eq!(completions(ObjectPart::of(&job)), expected, "{job}");
        }
    }

    #[test]
    fn a_status_stands_above_those_below() {
        let condition = |kind: &str, status: &str| json!({"type": kind, "status": status});
        let ladder = [
            "Complete",
            "Failed",
            "Suspended",
            "FailureTarget",
            "SuccessCriteriaMet",
        ];
        for (at, expected) in ladder.iter().enumerate() {
            let conditions: Vec<Value> = ladder
                .iter()
                .enumerate()
                .map(|(other, kind)| condition(kind, if other < at { "False" } else { "True" }))
                .rev()
                .collect();
            let job = json!({"status": {"conditions": conditions}});
            assert_eq!(job_status(ObjectPart::of(&job)), *expected);
        }
        let going = json!({"metadata": {"deletionTimestamp": "2026-11-21T14:00:00Z"},
            "status": {"conditions": [condition("Suspended", "True")]}});
        assert_eq!(job_status(ObjectPart::of(&going)), "Terminating");
        let twice = json!({"status": {"conditions":
            [condition("Failed", "False"), condition("Failed", "True")]}});
        assert_eq!(job_status(ObjectPart::of(&twice)), "Running");
    }

    #[test]
    fn duration_ends_with_the_job() {
        let mut job =
            json!({"metadata": {"name": "a", "creationTimestamp": "2026-11-21T13:59:00Z"}});
        assert_eq!(narrow(&job), ["a", "Running", "0/1", "", "2m"]);
        job["status"] = json!({"startTime": "2026-11-21T14:00:00Z"});
        assert_eq!(narrow(&job)[3], "60s");
        job["status"]["completionTime"] = json!("2026-11-21T14:00:07Z");
        assert_eq!(narrow(&job)[3], "7s");
    }
}
