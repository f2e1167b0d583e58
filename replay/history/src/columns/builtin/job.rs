//! Owns the columns of jobs.

use super::super::elapsed;
use super::super::part::Part;
use super::kind::Header::{self, Always, Wide};
use super::{containers, selector};
use kubereel_format::RecordedAt;

pub(super) const COLUMNS: [Header; 8] = [
    Always("NAME"),
    Always("STATUS"),
    Always("COMPLETIONS"),
    Always("DURATION"),
    Always("AGE"),
    Wide("CONTAINERS"),
    Wide("IMAGES"),
    Wide("SELECTOR"),
];

pub(super) fn row(job: Part<'_>, at: RecordedAt) -> Vec<String> {
    let [names, images] = containers::names_and_images(job.at("spec.template.spec.containers"));
    vec![
        job.name(),
        status(job).to_owned(),
        completions(job),
        duration(job, at),
        job.age(at),
        names,
        images,
        selector::cell(job.at("spec.selector")),
    ]
}

fn status(job: Part<'_>) -> &'static str {
    // The first condition of a type counts.
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

fn completions(job: Part<'_>) -> String {
    let succeeded = job.at("status.succeeded").whole();
    let wanted = job.at("spec.completions");
    let parallelism = job.at("spec.parallelism");
    if wanted.is_there() {
        format!("{succeeded}/{}", wanted.whole())
    } else if parallelism.whole() > 1 {
        format!("{succeeded}/1 of {}", parallelism.whole())
    } else {
        // Also where nothing is said: the server fills one in then.
        format!("{succeeded}/1")
    }
}

fn duration(job: Part<'_>, at: RecordedAt) -> String {
    let start = job.at("status.startTime").time();
    match (start, job.at("status.completionTime").time()) {
        (None, _) => String::new(),
        (Some(start), None) => elapsed::since(start, at),
        (Some(start), Some(end)) => elapsed::between(start, end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// A minute after the times below.
    const AT: RecordedAt = RecordedAt::from_micros(1_795_269_660_000_000);

    fn narrow(job: &Value) -> Vec<String> {
        let mut cells = row(Part::of(job), AT);
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
            assert_eq!(completions(Part::of(&job)), expected, "{job}");
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
            assert_eq!(status(Part::of(&job)), *expected);
        }
        let going = json!({"metadata": {"deletionTimestamp": "2026-11-21T14:00:00Z"},
            "status": {"conditions": [condition("Suspended", "True")]}});
        assert_eq!(status(Part::of(&going)), "Terminating");
        let twice = json!({"status": {"conditions":
            [condition("Failed", "False"), condition("Failed", "True")]}});
        assert_eq!(status(Part::of(&twice)), "Running");
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
