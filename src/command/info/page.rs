//! Owns the page that `info` shows to people. Refuses sums: the summary has them.

use crate::screen::Paint;
use crate::table::Table;
use kubereel_replay::{GapSummary, ResourceSummary, Summary, Timeline, timetext};

/// How many resources, gaps and outages are listed one by one unless `wide` is asked for.
const LISTED: usize = 5;
const LABEL: usize = 13;

/// Writes the page.
pub(super) fn lines(
    timeline: &Timeline,
    summary: &Summary,
    is_wide: bool,
    paint: Paint,
) -> Vec<String> {
    let mut page = Page {
        timeline,
        summary,
        most: if is_wide { usize::MAX } else { LISTED },
        paint,
        lines: Vec::new(),
    };
    page.file();
    page.clusters();
    page.sessions();
    page.events();
    page.coverage();
    page.outages();
    page.oddities();
    if is_wide {
        page.resources();
    }
    page.lines
}

struct Page<'a> {
    timeline: &'a Timeline,
    summary: &'a Summary,
    most: usize,
    paint: Paint,
    lines: Vec<String>,
}

impl Page<'_> {
    fn push(&mut self, label: &str, parts: &[String]) {
        let said: Vec<&str> = parts
            .iter()
            .map(String::as_str)
            .filter(|part| !part.is_empty())
            .collect();
        let label = self.paint.strong(&format!("{label:<LABEL$}"));
        self.lines.push(format!("{label}  {}", said.join(" · ")));
    }

    /// Says how many more there are of what was listed.
    fn push_rest(&mut self, total: usize, what: &str) {
        let rest = total.saturating_sub(self.most);
        if rest > 0 {
            let more = self.paint.faint(&format!("{rest} more {what}: -o wide"));
            self.push("", &[more]);
        }
    }

    fn file(&mut self) {
        let summary = self.summary;
        let name = self.timeline.reel().path().file_name();
        let name = name.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let finished = if summary.finished {
            self.paint.good("finished")
        } else {
            self.paint
                .wary("not finished: its recorder was killed, or this is a copy of a running one")
        };
        let parts = [
            bytes(summary.file_bytes),
            format!("format {}", summary.format),
            finished,
        ];
        self.push(&name, &parts);
        let parts = summary.parts;
        self.push(
            "bytes",
            &[
                format!("objects {}", bytes(parts.bodies)),
                format!("index {}", bytes(parts.index)),
                format!("unsealed {}", bytes(parts.tail)),
                format!("database {}", bytes(parts.other)),
            ],
        );
        for damage in &summary.damage {
            let text = format!("{}: {}", damage.place, damage.cause);
            let text = self.paint.bad(&text);
            self.push("damaged", &[text]);
        }
    }

    fn clusters(&mut self) {
        if self.summary.clusters.is_empty() {
            self.push("cluster", &["none was reached".to_owned()]);
        }
        for cluster in &self.summary.clusters {
            let uid = if cluster.uid.is_empty() {
                "identity unknown".to_owned()
            } else {
                format!("kube-system uid {}", cluster.uid)
            };
            let nodes = cluster
                .nodes
                .map_or_else(String::new, |nodes| count(nodes, "node"));
            self.push(
                "cluster",
                &[
                    cluster.openshift_versions.join(" → "),
                    cluster.versions.join(" → "),
                    nodes,
                    uid,
                ],
            );
        }
    }

    fn sessions(&mut self) {
        let summary = self.summary;
        if summary.records == 0 {
            self.push("recorded", &["nothing".to_owned()]);
            return;
        }
        let sessions = u64::try_from(summary.sessions.len()).unwrap_or(u64::MAX);
        let micros = summary.end.micros_since(summary.start);
        self.push(
            "recorded",
            &[
                format!(
                    "{} – {}",
                    timetext::rfc3339(summary.start),
                    self.timeline.written(summary.end)
                ),
                timetext::span(u64::try_from(micros).unwrap_or(0)),
                count(sessions, "session"),
            ],
        );
        let is_told = summary.sessions.len() > 1
            || summary
                .sessions
                .iter()
                .any(|session| session.end == "killed");
        if !is_told {
            return;
        }
        for session in &summary.sessions {
            let from = self.timeline.written(session.from);
            let to = self.timeline.written(session.to);
            self.push(
                "  session",
                &[format!("{from} – {to}"), session.end.clone()],
            );
        }
    }

    fn events(&mut self) {
        let summary = self.summary;
        let events = &summary.events;
        let each = if events.total == 0 {
            String::new()
        } else {
            format!("{:.0} bytes each", events.bytes_each)
        };
        self.push(
            "events",
            &[
                number(events.total),
                format!("{} added", number(events.added)),
                format!("{} modified", number(events.modified)),
                format!("{} deleted", number(events.deleted)),
                each,
            ],
        );
        let recorded = u64::try_from(summary.resources.len()).unwrap_or(u64::MAX);
        let later = summary.resources.iter().filter(|one| one.appeared_later);
        let resources = match later.count() {
            0 => count(recorded, "resource"),
            later => format!(
                "{}, {later} of them appeared later",
                count(recorded, "resource")
            ),
        };
        self.push(
            "objects",
            &[
                format!("{} seen", number(summary.objects.seen)),
                format!("{} at the end", number(summary.objects.live)),
                resources,
            ],
        );
        let mut busiest: Vec<&ResourceSummary> = summary
            .resources
            .iter()
            .filter(|one| one.events > 0)
            .collect();
        busiest.sort_by_key(|one| (std::cmp::Reverse(one.events), &one.resource));
        let shown: Vec<String> = busiest
            .iter()
            .take(LISTED)
            .map(|one| format!("{} {}", one.resource, number(one.events)))
            .collect();
        if !shown.is_empty() {
            self.push("busiest", &shown);
        }
    }

    fn coverage(&mut self) {
        let resources = &self.summary.resources;
        let whole = resources.iter().filter(|one| one.whole).count();
        let text = format!(
            "{whole} of {} resources from their first to their last moment",
            resources.len()
        );
        let text = if whole == resources.len() {
            self.paint.good(&text)
        } else {
            self.paint.wary(&text)
        };
        self.push("complete", &[text]);
        let gaps: Vec<(&ResourceSummary, &GapSummary)> = resources
            .iter()
            .flat_map(|one| one.gaps.iter().map(move |gap| (one, gap)))
            .collect();
        for (resource, gap) in gaps.iter().take(self.most) {
            let from = self.timeline.written(gap.from);
            let to = self.timeline.written(gap.to);
            let missing = gap.missing_at_most.map_or_else(
                || "changes may be missing".to_owned(),
                |most| format!("up to {} missing", count(most, "change")),
            );
            let parts = [
                self.paint.wary(&format!("{from} – {to}")),
                resource.resource.clone(),
                missing,
                gap.cause.clone(),
            ];
            self.push("  gap", &parts);
        }
        self.push_rest(gaps.len(), "gaps");
        let unlisted: Vec<&ResourceSummary> = resources
            .iter()
            .filter(|one| one.covered.is_empty())
            .collect();
        for resource in unlisted.iter().take(self.most) {
            let parts = [
                resource.resource.clone(),
                "never listed completely".to_owned(),
            ];
            self.push("  unknown", &parts);
        }
        self.push_rest(unlisted.len(), "never listed completely");
        for excluded in self.summary.not_covered.iter().take(self.most) {
            let parts = [
                excluded.resource.clone(),
                excluded.reason.clone(),
                excluded.detail.clone(),
            ];
            self.push("  not covered", &parts);
        }
        self.push_rest(self.summary.not_covered.len(), "not covered");
    }

    fn outages(&mut self) {
        for (at, text) in self.timeline.waits().iter().take(self.most) {
            self.push("waiting", &[self.timeline.written(*at), text.clone()]);
        }
        let outages: Vec<_> = self
            .summary
            .outages
            .iter()
            .filter(|outage| !outage.before_first_answer)
            .collect();
        let micros = |from: kubereel_format::RecordedAt, to: kubereel_format::RecordedAt| {
            u64::try_from(to.micros_since(from)).unwrap_or(0)
        };
        if let Some(longest) = outages
            .iter()
            .max_by_key(|outage| micros(outage.from, outage.to))
        {
            let all = outages.iter().map(|outage| micros(outage.from, outage.to));
            let parts = [
                outages.len().to_string(),
                format!("{} in all", timetext::span(all.sum())),
                format!(
                    "longest {} at {}",
                    timetext::span(micros(longest.from, longest.to)),
                    self.timeline.written(longest.from)
                ),
                longest.error.clone(),
            ];
            self.push("API outages", &parts);
        }
    }

    fn oddities(&mut self) {
        let summary = self.summary;
        for (label, odd, what) in [
            (
                "odd",
                summary.odd_lines,
                "line of the server that is no event",
            ),
            ("anomalies", summary.anomalies, "breach of the protocol"),
            ("clock", summary.clock_steps, "step of the recorder's clock"),
        ] {
            if odd > 0 {
                let text = self.paint.wary(&count(odd, what));
                self.push(label, &[text]);
            }
        }
        let policies: Vec<u32> = summary
            .sessions
            .iter()
            .map(|session| session.redaction_policy)
            .collect();
        let text = match policies.iter().max() {
            None => return,
            Some(0) => self
                .paint
                .wary("nothing: Secrets are in the reel as they were"),
            Some(most) if policies.contains(&0) => {
                let text = format!("by policy {most}, and nothing in some sessions");
                self.paint.wary(&text)
            }
            Some(most) => format!("values of Secrets, by policy {most}"),
        };
        self.push("redacted", &[text]);
    }

    fn resources(&mut self) {
        let mut table = Table::with_headers([
            "RESOURCE", "VERSION", "EVENTS", "ADDED", "MODIFIED", "DELETED", "SEEN", "LIVE",
            "GAPS", "COMPLETE",
        ]);
        for one in &self.summary.resources {
            let complete = match (one.covered.first(), one.covered.last()) {
                (Some(first), Some(last)) => format!(
                    "{} – {}",
                    self.timeline.written(first.from),
                    self.timeline.written(last.to)
                ),
                _ => "never".to_owned(),
            };
            table.push(vec![
                one.resource.clone(),
                one.version.clone(),
                one.events.to_string(),
                one.added.to_string(),
                one.modified.to_string(),
                one.deleted.to_string(),
                one.objects_seen.to_string(),
                one.objects_live.to_string(),
                one.gaps.len().to_string(),
                complete,
            ]);
        }
        self.lines.push(String::new());
        self.lines.extend(table.lines());
    }
}

/// Writes a number with commas between thousands.
fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Writes how many there are of something.
fn count(value: u64, one: &str) -> String {
    if value == 1 {
        return format!("1 {one}");
    }
    // The plural is that of the first word: "3 lines of the server".
    let (noun, rest) = one.split_once(' ').unwrap_or((one, ""));
    let noun = match noun {
        "breach" => "breaches".to_owned(),
        noun => format!("{noun}s"),
    };
    format!("{} {noun} {rest}", number(value))
        .trim_end()
        .to_owned()
}

/// Writes a number of bytes with three digits.
fn bytes(value: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if value < 1000 {
        return format!("{value} B");
    }
    let mut tenths = value / 100;
    for unit in UNITS {
        if tenths < 10_000 {
            return format!("{}.{} {unit}", tenths / 10, tenths % 10);
        }
        tenths /= 1000;
    }
    format!("{value} B")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_counted() {
        assert_eq!(number(0), "0");
        assert_eq!(number(999), "999");
        assert_eq!(number(212_480), "212,480");
        assert_eq!(number(1_000_000), "1,000,000");
        assert_eq!(count(1, "node"), "1 node");
        assert_eq!(
            count(2, "breach of the protocol"),
            "2 breaches of the protocol"
        );
        assert_eq!(count(1500, "session"), "1,500 sessions");
    }

    #[test]
    fn bytes_keep_one_decimal() {
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1000), "1.0 kB");
        assert_eq!(bytes(18_249_000), "18.2 MB");
        assert_eq!(bytes(999_999), "999.9 kB");
        assert_eq!(bytes(4_200_000_000), "4.2 GB");
    }
}
