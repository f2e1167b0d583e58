//! Problems and causes as text, the same on every screen and in every file.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::problem::{Cause, CheckedReel, Problem, ProblemList};
use crate::story::ClusterPortrait;
use kubereel_cluster::RecordMark;
use kubereel_format::{REDACTED, REDACTED_BASE64, RecordedAt};
use kubereel_history::counttext::count;
use kubereel_history::{ChangeKind, Timeline, cut, harmless, timetext};
use serde_json::Value;

/// The most letters of one value.
const MOST_LETTERS: usize = 120;
/// The most letters of a message in one line.
const MOST_MESSAGE: usize = 400;

/// Shortens a text to one line of a number of letters.
pub fn shortened(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = harmless(&line).into_owned();
    if line.chars().count() <= most {
        return line;
    }
    cut(&line, most.saturating_sub(1)).into_owned()
}

/// Shortens a text to one line of a number of letters, in its middle: the end of an error is its cause.
pub fn shortened_inside(text: &str, most: usize) -> String {
    let line = shortened(text, usize::MAX);
    let letters = line.chars().count();
    if letters <= most {
        return line;
    }
    let end = most / 2;
    let begin = most.saturating_sub(end + 1);
    let kept: String = line.chars().take(begin).collect();
    let rest: String = line.chars().skip(letters - end).collect();
    format!("{kept}…{rest}")
}

/// Writes a value in one short line.
pub fn value_text(value: &Value) -> String {
    let text = match value {
        Value::String(text) => redaction(text).unwrap_or_else(|| format!("{text:?}")),
        other => other.to_string(),
    };
    shortened(&text, MOST_LETTERS)
}

/// Shortens the note that stands for a hidden value, also where a Secret holds it as base64; equal values keep
/// equal notes.
fn redaction(text: &str) -> Option<String> {
    let encoded = text.starts_with(REDACTED_BASE64).then_some(text);
    let decoded = encoded.and_then(|text| BASE64_STANDARD.decode(text).ok());
    let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
    let note = decoded.as_deref().unwrap_or(text).strip_prefix(REDACTED)?;
    let (size, digest) = note.split_once(", ")?;
    let digest: String = digest.chars().take(6).collect();
    Some(format!("redacted ({size}, {digest})"))
}

/// Writes how many things a list has.
fn count_of<T>(all: &[T], one: &str) -> String {
    count(all.len(), one)
}

impl ProblemList {
    /// Returns what was found and what was looked at, in one line.
    pub fn summary(&self) -> String {
        if self.checked.is_empty() {
            let why = if self.checked.has_lost_records {
                "no resource can be read"
            } else {
                "no resource was recorded"
            };
            return format!("whether there was a problem is not known: {why}");
        }
        format!("{} · checked {}", self.found(), self.checked.amount())
    }

    /// Returns how many problems were found.
    pub fn found(&self) -> String {
        let is_planned = |problem: &&Problem| problem.is_planned;
        let planned: Vec<&Problem> = self.problems.iter().filter(is_planned).collect();
        let others: Vec<&Problem> = self
            .problems
            .iter()
            .filter(|one| !is_planned(one))
            .collect();
        let consequences = others.len() - self.roots().count();
        let mut found = match (others.len(), consequences) {
            (0, _) => "no problem found".to_owned(),
            (_, 0) => count_of(&others, "problem"),
            (_, 1) => format!("{} (1 a consequence)", count_of(&others, "problem")),
            (_, more) => format!("{} ({more} consequences)", count_of(&others, "problem")),
        };
        if !planned.is_empty() {
            found = format!("{found}, {}", count_of(&planned, "disruption planned"));
        }
        found
    }
}

impl CheckedReel {
    /// Returns whether the recording has no resource: its recorder did not reach an API server.
    pub const fn is_empty(&self) -> bool {
        self.resources == 0
    }

    /// Returns how much was looked at.
    pub fn amount(&self) -> String {
        let (events, resources) = (self.events, self.resources);
        format!(
            "{} of {}",
            count(events, "event"),
            count(resources, "resource")
        )
    }

    /// Returns what could not be looked at, a line each.
    pub fn limits(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.absent.is_empty() {
            let what = if self.has_lost_records {
                "not in the readable part"
            } else {
                "not in the reel"
            };
            lines.push(format!("{what}: {}", self.absent.join(", ")));
        }
        if self.unreadable > 0 {
            lines.push(format!(
                "{} cannot be read",
                count(self.unreadable, "event")
            ));
        }
        if self.dropped > 0 {
            lines.push(format!(
                "{} more were not kept",
                count(self.dropped, "sign")
            ));
        }
        if !self.unobserved.is_empty() {
            let some: Vec<&str> = self.unobserved.iter().take(3).map(String::as_str).collect();
            let more = if self.unobserved.len() > some.len() {
                ", …"
            } else {
                ""
            };
            lines.push(format!(
                "changes of {} may be missing: {}{more}; to see when: kubereel info REEL",
                count_of(&self.unobserved, "resource"),
                some.join(", ")
            ));
        }
        lines
    }
}

impl ClusterPortrait {
    /// Returns what the cluster was, in one line.
    pub fn sentence(&self) -> String {
        let mut parts = Vec::new();
        match &self.openshift {
            Some(version) if version.is_empty() => parts.push("OpenShift".to_owned()),
            Some(version) => parts.push(format!("OpenShift {version}")),
            None => {}
        }
        if !self.kubernetes.is_empty() {
            parts.push(format!("Kubernetes {}", self.kubernetes.join(" → ")));
        }
        let platform = self.platform.as_ref();
        parts.extend(platform.filter(|name| *name != "None").cloned());
        // The older name of the same role is left out.
        let is_shown = |role: &str| role != "master" || !self.nodes.contains_key("control-plane");
        let roles = self.nodes.iter().filter(|(role, _)| is_shown(role));
        let roles: Vec<String> = roles
            .map(|(role, count)| format!("{count} {role}"))
            .collect();
        let least = if self.has_unreadable_nodes {
            "at least "
        } else {
            ""
        };
        let nodes = match self.node_count {
            0 if self.has_unreadable_nodes => "number of Nodes not known".to_owned(),
            _ if !self.are_nodes_recorded => "Nodes not recorded".to_owned(),
            some => format!("{least}{}", count(some, "Node")),
        };
        parts.push(match roles.as_slice() {
            [] => nodes,
            roles => format!("{nodes} ({})", roles.join(", ")),
        });
        harmless(&parts.join(", ")).into_owned()
    }
}

impl Problem {
    /// Returns from when to when it was so.
    pub fn times(&self, timeline: &Timeline) -> String {
        let from = self.begin(timeline);
        let long = |to: RecordedAt| {
            timetext::span(u64::try_from(to.micros_since(self.from.at)).unwrap_or_default())
        };
        let least = if self.is_older { "at least " } else { "" };
        let span = match (self.to, self.unknown_end) {
            (None, Some(end)) => format!(
                "{from} → ? ({} since {})",
                end.as_str(),
                timeline.written(end.since())
            ),
            (None, None) if timeline.end() <= self.from.at => {
                format!("{from} → end of the recording (seen at one moment)")
            }
            (None, None) => format!(
                "{from} → end of the recording (at least {})",
                long(timeline.end())
            ),
            (Some(to), _) => format!("{from} → {} ({least}{})", timeline.written(to), long(to)),
        };
        let all = [span].into_iter().chain(self.frequency());
        let all = all.chain(self.more_times(timeline));
        all.collect::<Vec<_>>().join(", ")
    }

    /// Returns when it began: at the latest, if it was so when the recording began.
    pub fn begin(&self, timeline: &Timeline) -> String {
        let from = timeline.written(self.from.at);
        if self.is_older {
            format!("≤ {from}")
        } else {
            from
        }
    }

    /// Returns what else is known of its times: the begin that its object states, the begins of its reason and of its
    /// message, and whether it ended without recovery.
    pub fn more_times(&self, timeline: &Timeline) -> impl Iterator<Item = String> {
        let written = |at| timeline.written(at);
        let since = self.since.map(|at| {
            let words = self.kind.since_words();
            format!("{words} {} by its own clock", written(at))
        });
        let later = self.later_reason();
        let later = later.map(|mark| format!("this reason since {}", written(mark.at)));
        let words = self.later_message();
        let words = words.map(|mark| format!("this message since {}", written(mark.at)));
        let deleted = self
            .ends_by_deletion
            .then(|| "until it was deleted".to_owned());
        since.into_iter().chain(later).chain(words).chain(deleted)
    }

    /// Returns the version that gave the reason first, if the problem began before it with another reason or sign.
    pub fn later_reason(&self) -> Option<RecordMark> {
        Some(self.reason_from).filter(|mark| mark.at > self.from.at)
    }

    /// Returns the version that gave the message first, if the problem, which nothing planned, began before it with other
    /// words.
    pub fn later_message(&self) -> Option<RecordMark> {
        let began = self.from.at.max(self.reason_from.at);
        Some(self.message_from).filter(|mark| mark.at > began && !self.is_planned)
    }

    /// Returns how the problem that explains this one is introduced: by how this one began, which may be other words than
    /// those that are shown.
    pub fn consequence_words(&self) -> &'static str {
        let began_otherwise = self.signs.first().is_some_and(|sign| sign.began.is_some());
        if began_otherwise {
            "began as a consequence of"
        } else {
            "a consequence of"
        }
    }

    /// Returns the message in one line.
    pub fn message_line(&self) -> String {
        shortened_inside(&self.message, MOST_MESSAGE)
    }

    /// Returns what was wrong in one line: object, reason, message.
    pub fn sentence(&self) -> String {
        let object = harmless(&self.object.label()).into_owned();
        let reason = shortened(&self.reason, MOST_LETTERS);
        match self.message_line().as_str() {
            "" => format!("{object}: {reason}"),
            message => format!("{object}: {reason}: {message}"),
        }
    }
}

impl Cause {
    /// Returns what changed, who wrote it, and how it is related to the problem.
    pub fn words(&self) -> String {
        let mut words = self.written();
        if !self.via.is_empty() {
            words = format!("{words} ({})", self.relation());
        }
        words
    }

    /// Returns what changed, and who wrote it.
    pub fn written(&self) -> String {
        match self.by.join(", ").as_str() {
            "" => self.sentence(),
            by => format!("{} by {}", self.sentence(), harmless(by)),
        }
    }

    /// Returns how the changed object is related to that of the problem: `the object itself`.
    pub fn relation(&self) -> String {
        let chain = self.chain.iter();
        let through = chain.map(|link| format!("; through {}", link.label()));
        let relation = format!("{}{}", self.via, through.collect::<String>());
        harmless(&relation).into_owned()
    }

    /// Returns what changed: `ConfigMap web/settings data.MODE: "fast" → "broken"`.
    pub fn sentence(&self) -> String {
        let object = harmless(&self.object.label()).into_owned();
        if self.field.is_empty() {
            return match self.change {
                ChangeKind::Removed => format!("{object} was deleted"),
                _ => format!("{object} was created"),
            };
        }
        let field = harmless(&self.field).into_owned();
        match (&self.old, &self.new) {
            (Some(old), Some(new)) => {
                format!(
                    "{object} {field}: {} → {}",
                    value_text(old),
                    value_text(new)
                )
            }
            (Some(old), None) => format!("{object} {field} was removed: {}", value_text(old)),
            (None, Some(new)) => format!("{object} {field} was added: {}", value_text(new)),
            (None, None) => format!("{object} {field} changed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_long_message_keeps_its_end() {
        assert_eq!(
            shortened_inside("cannot pull\nthe image: denied", 15),
            "cannot … denied"
        );
    }

    #[test]
    fn a_hidden_value_is_written_short_also_as_base64() {
        let note = "redacted by kubereel: 3 bytes, 80abfbc0ecf9ce6f";
        let expected = "redacted (3 bytes, 80abfb)";
        assert_eq!(value_text(&json!(note)), expected);
        let encoded = BASE64_STANDARD.encode(note);
        assert_eq!(value_text(&json!(encoded)), expected);
        assert_eq!(value_text(&json!("b25l")), "\"b25l\"");
    }
}
