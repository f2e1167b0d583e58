//! A finding as text: its time, its subject, and the command that shows it.

use crate::outcome::JudgedFinding;
use crate::verdict::{FindingSubject, TestFinding};
use kubereel_format::{RecordedAt, quoted};
use kubereel_history::timetext;

/// A recording as commands name it, and its time.
#[derive(Clone, Copy, Debug)]
pub struct RunName<'a> {
    /// The reel as it is written on a command line; `None` if there is no reel.
    pub reel: Option<&'a str>,
    /// Its first and its last moment; `None` if they are not known.
    pub span: Option<(RecordedAt, RecordedAt)>,
}

impl RunName<'_> {
    /// Writes a time so that it can be pasted after `--at`.
    pub fn written(&self, at: RecordedAt) -> String {
        match (self.reel, self.span) {
            (Some(_), Some((start, end))) => timetext::within(start, end, at),
            _ => timetext::rfc3339(at),
        }
    }
}

/// Returns the command that shows a finding at its begin; `None` if there is no reel, or nothing that
/// can be named.
pub fn shown_by(run: &RunName<'_>, finding: &TestFinding) -> Option<String> {
    let reel = quoted(run.reel?);
    let subject = &finding.subject;
    let from = finding.from.max(finding.shown_at.unwrap_or(finding.from));
    // An Event's own time may be before the recording.
    let within = |(start, end): (RecordedAt, RecordedAt)| from.clamp(start, end.max(start));
    let at = run.written(run.span.map_or(from, within));
    // With its group: a plural alone may be that of another group's resource.
    let resource = subject.resource.as_str();
    let namespace = match subject.namespace.as_str() {
        "" => String::new(),
        namespace => format!(" -n {}", quoted(namespace)),
    };
    if resource.is_empty() {
        let seq = finding.seq?;
        let before = seq.0.checked_sub(1)?;
        return Some(format!(
            "kubereel diff {reel} --from seq:{before} --to seq:{}",
            seq.0
        ));
    }
    Some(if subject.name.is_empty() {
        format!(
            "kubereel get {reel} {}{namespace} --at {at}",
            quoted(resource)
        )
    } else {
        let name = quoted(&format!("{resource}/{}", subject.name));
        format!("kubereel describe {reel} {name}{namespace} --at {at}")
    })
}

/// Tells when a finding was, and for how long: `14:31:40.112Z – 14:32:20.300Z (40.1s)`.
pub fn when(run: &RunName<'_>, judged: &JudgedFinding) -> String {
    let finding = &judged.finding;
    let from = run.written(finding.from);
    let mut when = match judged.known_to() {
        Some(to) if to == finding.from => from,
        Some(to) => {
            let micros = to.micros_since(finding.from).max(0).unsigned_abs();
            format!("{from} – {} ({})", run.written(to), timetext::span(micros))
        }
        None => format!("{from} – end"),
    };
    if judged.end_unknown_since.is_some() {
        when.push_str(", end not observed");
    }
    when
}

/// Names what a finding is about: `pods/web-0 -n shop`; empty if that is nothing with a name.
pub fn subject(subject: &FindingSubject) -> String {
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
pub fn told(run: &RunName<'_>, judged: &JudgedFinding) -> String {
    let finding = &judged.finding;
    let about = subject(&finding.subject);
    let parts = [about.as_str(), &finding.reason, &finding.message];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{}  {}", when(run, judged), parts.join(": "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::{FindingSubject, Severity};
    use kubereel_format::Seq;

    fn command(reel: &str, resource: &str, namespace: &str, name: &str) -> Option<String> {
        let at = RecordedAt::from_micros(1_795_269_600_480_000);
        let run = RunName {
            reel: Some(reel),
            span: Some((at, at)),
        };
        let finding = TestFinding {
            subject: FindingSubject {
                resource: resource.to_owned(),
                namespace: namespace.to_owned(),
                name: name.to_owned(),
                ..FindingSubject::default()
            },
            severity: Severity::Fail,
            from: at,
            to: None,
            reason: String::new(),
            message: String::new(),
            seq: Some(Seq(7)),
            shown_at: None,
        };
        shown_by(&run, &finding)
    }

    #[test]
    fn a_command_can_be_pasted_into_a_shell() {
        assert_eq!(
            command("run.reel", "pods", "web", "b").as_deref(),
            Some("kubereel describe run.reel pods/b -n web --at 14:00:00.480Z")
        );
        assert_eq!(
            command("run.reel", "ingresses.config.openshift.io", "", "cluster").as_deref(),
            Some(
                "kubereel describe run.reel ingresses.config.openshift.io/cluster --at 14:00:00.480Z"
            )
        );
        assert_eq!(
            command("a b'c.reel", "nodes", "", "").as_deref(),
            Some(r"kubereel get 'a b'\''c.reel' nodes --at 14:00:00.480Z")
        );
        assert_eq!(
            command("run.reel", "", "", "").as_deref(),
            Some("kubereel diff run.reel --from seq:6 --to seq:7")
        );
    }
}
