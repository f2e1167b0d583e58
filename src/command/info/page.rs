//! Owns the page that `info` shows to people. Refuses sums: the summary has them.

use super::rows::rows;
use crate::screen::{Paint, Screen};
use crate::table::Table;
use crate::words::{bytes, count, number};
use kubereel_history::harmless;
use kubereel_history::{ResourceSummary, Summary, Timeline, timetext};

/// How many resources, gaps and outages are listed one by one unless `wide` is asked for.
const LISTED: usize = 5;
const LABEL: usize = 13;

/// Writes the page.
pub(super) fn lines(
    timeline: &Timeline,
    summary: &Summary,
    is_wide: bool,
    screen: &Screen,
) -> Vec<String> {
    let mut page = Page {
        timeline,
        summary,
        most: if is_wide { usize::MAX } else { LISTED },
        paint: screen.paint(),
        width: screen.width(),
        lines: Vec::new(),
    };
    page.file();
    page.clusters();
    page.sessions();
    page.outside();
    page.provenance();
    page.events();
    page.coverage();
    page.revisions();
    page.outages();
    page.oddities();
    if is_wide {
        page.resources();
    }
    page.lines
}

/// The page in the making.
pub(super) struct Page<'a> {
    pub(super) timeline: &'a Timeline,
    pub(super) summary: &'a Summary,
    /// How many of a kind are listed one by one.
    pub(super) most: usize,
    pub(super) paint: Paint,
    /// How wide a row may be, if anything says so.
    width: Option<usize>,
    lines: Vec<String>,
}

impl Page<'_> {
    /// Adds a line: a label and its parts.
    pub(super) fn push(&mut self, label: &str, parts: &[String]) {
        let said: Vec<&str> = parts
            .iter()
            .map(String::as_str)
            .filter(|part| !part.is_empty())
            .collect();
        let label = self.paint.strong(&format!("{label:<LABEL$}"));
        let label = format!("{label}  ");
        self.lines
            .extend(rows(&label, LABEL + 2, &said, self.width));
    }

    /// Says how many more there are of what was listed.
    pub(super) fn push_rest(&mut self, total: usize, what: &str) {
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
        self.push(&harmless(&name), &parts);
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
            let is_imported = !self.summary.provenance.is_empty();
            let text = if is_imported {
                "not named in the input"
            } else {
                "none reached"
            };
            self.push("cluster", &[text.to_owned()]);
        }
        for cluster in &self.summary.clusters {
            let uid = if cluster.uid.is_empty() {
                "identity unknown".to_owned()
            } else {
                format!("kube-system uid {}", harmless(&cluster.uid))
            };
            let nodes = cluster
                .nodes
                .map_or_else(String::new, |nodes| count(nodes, "node"));
            self.push(
                "cluster",
                &[
                    harmless(&cluster.openshift_versions.join(" → ")).into_owned(),
                    harmless(&cluster.versions.join(" → ")).into_owned(),
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
        let later = summary
            .resources
            .iter()
            .filter(|one| one.appeared_later == Some(true));
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
            .map(|one| format!("{} {}", harmless(&one.resource), number(one.events)))
            .collect();
        if !shown.is_empty() {
            self.push("busiest", &shown);
        }
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
                _ if one.imported => "not known".to_owned(),
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
