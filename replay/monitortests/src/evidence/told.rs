//! Owns a finding in one line of words. Refuses colours and widths.

use super::shown_by::RunName;
use crate::verdict::{Finding, Subject};
use kubereel_history::timetext;

/// Tells when a finding was, and for how long: `14:31:40.112Z – 14:32:20.300Z (40.1s)`.
pub fn when(run: &RunName<'_>, finding: &Finding) -> String {
    let from = run.written(finding.from);
    match finding.to {
        Some(to) if to == finding.from => from,
        Some(to) => {
            let micros = u64::try_from(to.micros_since(finding.from)).unwrap_or(0);
            format!("{from} – {} ({})", run.written(to), timetext::span(micros))
        }
        None => format!("{from} – end"),
    }
}

/// Names what a finding is about: `pods/web-0 -n shop`; empty if that is nothing with a name.
pub fn subject(subject: &Subject) -> String {
    let plural = subject.resource.split('.').next().unwrap_or_default();
    let name = match (plural, subject.name.as_str()) {
        ("", name) => name.to_owned(),
        (plural, "") => plural.to_owned(),
        (plural, name) => format!("{plural}/{name}"),
    };
    match subject.namespace.as_str() {
        "" => name,
        namespace if name.is_empty() => format!("-n {namespace}"),
        namespace => format!("{name} -n {namespace}"),
    }
}

/// Tells a finding in one line.
pub fn told(run: &RunName<'_>, finding: &Finding) -> String {
    let about = subject(&finding.subject);
    let parts = [about.as_str(), &finding.reason, &finding.message];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{}  {}", when(run, finding), parts.join(": "))
}
