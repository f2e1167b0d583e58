//! Owns whether the recording is whole. Refuses a word about the cluster: what was not seen is neither
//! good nor bad.
//!
//! In Rust, because gaps are no objects.

use crate::feed::Watcher;
use crate::verdict::{
    About, Case, Dark, Finding, LookedAt, MonitorTest, Needs, Scene, Severity, Subject, WrittenIn,
};
use std::collections::BTreeMap;

struct Recording {
    about: About,
}

/// Gives the test.
pub(crate) fn test() -> Box<dyn MonitorTest> {
    let about = About {
        id: "recording-complete".to_owned(),
        monitor: "recording".to_owned(),
        junit: "the recording should show every resource all the time".to_owned(),
        description: "The recorder saw every resource from the begin to the end. This is about the recording, not about the cluster: where it has gaps, other tests that find nothing are unknown.".to_owned(),
        owner: "kubereel".to_owned(),
        origin: "our own".to_owned(),
        is_flake_only: true,
        written_in: WrittenIn::Rust,
    };
    Box::new(Recording { about })
}

impl MonitorTest for Recording {
    fn about(&self) -> &About {
        &self.about
    }

    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn looks_at(&self) -> LookedAt {
        LookedAt::None
    }

    fn watcher(&mut self) -> Option<&mut dyn Watcher> {
        None
    }

    fn judge(&mut self, scene: &Scene<'_>) -> Vec<Case> {
        // One outage hides many resources: it is told once, with their names.
        let mut gaps: BTreeMap<(i64, i64), (&Dark, Vec<&str>)> = BTreeMap::new();
        for (resource, dark) in scene.dark {
            for dark in dark {
                gaps.entry((dark.from.micros, dark.to.micros))
                    .or_insert_with(|| (dark, Vec::new()))
                    .1
                    .push(resource);
            }
        }
        let findings = gaps
            .into_values()
            .map(|(dark, resources)| finding(dark, &resources))
            .collect();
        vec![Case {
            junit: self.about.junit.clone(),
            findings,
            ..Case::default()
        }]
    }
}

fn finding(dark: &Dark, resources: &[&str]) -> Finding {
    let (resource, others) = match resources {
        [one] => ((*one).to_owned(), String::new()),
        many => (String::new(), format!("; not seen: {}", many.join(", "))),
    };
    Finding {
        subject: Subject {
            resource,
            ..Subject::default()
        },
        severity: Severity::Flake,
        from: dark.from,
        to: Some(dark.to),
        reason: "Gap".to_owned(),
        message: format!("{}{others}", dark.why),
        seq: None,
    }
}
