//! `kubereel info`: the contents of a reel, and whether it is whole. The sums are those of the summary.

use crate::arguments::WideFormat;
use crate::command_error::{CommandError, Exit};
use crate::files;
use crate::progress::ProgressReporter;
use crate::screen::{Console, Paint};
use crate::table::TextTable;
use crate::words::{self, bytes, count, duration, number};
use kubereel_format::RecordedAt;
use kubereel_history::{
    GapSummary, ReelSummary, ResourceSummary, Timeline, UnseenSummary, harmless, timetext,
};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use unicode_width::UnicodeWidthStr;

/// Show the contents of a reel, and whether it is whole
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubereel info run.reel
  kubereel info run.reel -o wide                  every resource in a row of its own
  kubereel info run.reel --digest                 do two people have the same recording?
  kubereel info run.reel -o json | jq .events     for programs

Exit codes:
  0  all of the reel can be read
  3  the reel is damaged; what can be read is shown

Errors: kubereel --help")]
pub(crate) struct Args {
    /// The reel: a file, a folder, an archive or a URL; default: $KUBEREEL, or the only one here
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    /// Output format; wide adds a table of all resources
    #[arg(short, long, value_name = "FORM")]
    output: Option<WideFormat>,
    /// Read all records and print their digest, which is the same for two reels exactly if they hold the same recording
    #[arg(long)]
    digest: bool,
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let local = files::locate_reel(&args.reel)?;
    let timeline = files::open_located(&args.reel, &local)?;
    let name = files::shown(&args.reel);
    let mut summary = ReelSummary::of(&timeline);
    if local.is_growing() {
        summary.set_being_recorded();
    }
    if args.digest {
        summary.digest = Some(read_digest(&timeline, screen)?);
    }
    show(&timeline, &summary, Path::new(&name), args.output, screen)
}

/// Reads all records for their digest.
pub(crate) fn read_digest(timeline: &Timeline, screen: &Console) -> Result<String, CommandError> {
    let total = timeline.reel().end().0;
    let mut progress = ProgressReporter::begin("reading", total, screen.is_err_terminal());
    let digest = timeline.reel().digest(|done| progress.reached(done));
    digest.map(|digest| digest.to_string()).map_err(|error| {
        CommandError::reel(format!("the recording has no digest: {error}"))
            .hint("to see what can be read: kubereel verify REEL")
    })
}

/// Shows what is in an open reel.
pub(crate) fn show(
    timeline: &Timeline,
    summary: &ReelSummary,
    path: &Path,
    form: Option<WideFormat>,
    screen: &mut Console,
) -> Result<Exit, CommandError> {
    if form == Some(WideFormat::Json) {
        screen.json(summary)?;
    } else {
        let name = path.file_name().unwrap_or(path.as_os_str());
        let page = page_lines(
            (timeline, &name.to_string_lossy()),
            summary,
            form == Some(WideFormat::Wide),
            screen,
        );
        for line in page {
            writeln!(screen.out(), "{line}").map_err(|error| CommandError::output(&error))?;
        }
    }
    if summary.damage.iter().all(|damage| damage.recovered) {
        Ok(Exit::Yes)
    } else {
        Ok(Exit::Reel)
    }
}

/// How many resources, gaps and outages are listed one by one unless `wide` is asked for.
const LISTED: usize = 5;
const LABEL: usize = 13;

/// Writes the page.
fn page_lines(
    (timeline, name): (&Timeline, &str),
    summary: &ReelSummary,
    is_wide: bool,
    screen: &Console,
) -> Vec<String> {
    let mut page = InfoPage {
        timeline,
        name,
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
struct InfoPage<'a> {
    timeline: &'a Timeline,
    /// The name by which the user knows the reel.
    name: &'a str,
    summary: &'a ReelSummary,
    /// How many of a kind are listed one by one.
    most: usize,
    paint: Paint,
    /// How wide a row may be, if anything says so.
    width: Option<usize>,
    lines: Vec<String>,
}

impl InfoPage<'_> {
    /// Adds a line: a label and its parts.
    fn push(&mut self, label: &str, parts: &[String]) {
        let said: Vec<&str> = parts
            .iter()
            .map(String::as_str)
            .filter(|part| !part.is_empty())
            .collect();
        let label = self.paint.strong(&format!("{label:<LABEL$}"));
        let label = format!("{label}  ");
        self.lines
            .extend(part_rows(&label, LABEL + 2, &said, self.width));
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
        let name = self.name;
        let finished = if summary.finished {
            self.paint.good("finished")
        } else if summary.being_recorded {
            "still being recorded".to_owned()
        } else if self.timeline.is_end_lost() {
            self.paint.wary("whether it was finished is not readable")
        } else {
            self.paint
                .wary("not finished: its recorder was killed, or this is a copy of a running one")
        };
        let sealed = if summary.sealed { "sealed" } else { "" };
        let parts = [
            bytes(summary.file_bytes),
            format!("format {}", summary.format),
            finished,
            sealed.to_owned(),
        ];
        self.push(&harmless(name), &parts);
        let parts = summary.parts;
        let container = if summary.sealed {
            "recovery"
        } else {
            "database"
        };
        self.push(
            "bytes",
            &[
                format!("objects {}", bytes(parts.bodies)),
                format!("index {}", bytes(parts.index)),
                format!("unsealed {}", bytes(parts.tail)),
                format!("{container} {}", bytes(parts.other)),
            ],
        );
        if let Some(digest) = &summary.digest {
            self.push("digest", std::slice::from_ref(digest));
        }
        for damage in &summary.damage {
            let text = self.paint.bad(&damage.lost);
            self.push("damaged", &[text]);
        }
        let lost = words::losses(self.timeline.reel().losses());
        if !lost.is_empty() {
            self.push("lost", &[self.paint.bad(&lost)]);
        }
    }

    fn clusters(&mut self) {
        if self.summary.clusters.is_empty() {
            let is_imported = !self.summary.provenance.is_empty();
            let text = if is_imported {
                "not named in the input"
            } else if self.timeline.has_lost_records() {
                "not readable"
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
        let is_lost = self.timeline.has_lost_records();
        if summary.records == 0 && !is_lost {
            self.push("recorded", &["nothing".to_owned()]);
            return;
        }
        if summary.records == 0 || !self.timeline.is_dated() {
            self.push("recorded", &["unknown: no record can be read".to_owned()]);
            return;
        }
        let sessions = summary.sessions.len();
        let micros = summary.end.micros_since(summary.start);
        self.push(
            "recorded",
            &[
                format!(
                    "{} – {}",
                    timetext::rfc3339(summary.start),
                    self.timeline.written(summary.end)
                ),
                duration(micros),
                count(sessions, "session"),
            ],
        );
        let is_told =
            summary.sessions.len() > 1 || summary.sessions.iter().any(|session| !session.has_end());
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
        let recorded = summary.resources.len();
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
        let mut table = TextTable::with_headers([
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

    fn outside(&mut self) {
        let summary = self.summary;
        let labels: Vec<String> = summary
            .labels
            .iter()
            .map(|label| format!("{}={}", harmless(&label.name), harmless(&label.value)))
            .collect();
        if !labels.is_empty() {
            self.push("job", &labels);
        }
        for mark in summary.marks.iter().take(self.most) {
            let parts = [
                self.timeline.written(mark.time),
                harmless(&mark.text).into_owned(),
            ];
            self.push("mark", &parts);
        }
        self.push_rest(summary.marks.len(), "marks");
    }

    fn provenance(&mut self) {
        let labels = std::iter::once("source").chain(std::iter::repeat(""));
        for (label, text) in labels.zip(&self.summary.provenance) {
            self.push(label, &[text.escape_debug().to_string()]);
        }
    }

    fn coverage(&mut self) {
        let resources = &self.summary.resources;
        let whole = resources.iter().filter(|one| one.whole).count();
        if whole == 0 && !resources.is_empty() && resources.iter().all(|one| one.imported) {
            let text = "not known: imported recordings do not state what they omit";
            let text = self.paint.wary(text);
            self.push("complete", &[text]);
            return;
        }
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
            let missing = gap.missing_at_most.map_or_else(
                || "changes may be missing".to_owned(),
                |most| format!("up to {} missing", count(most, "change")),
            );
            let mut parts = vec![missing, gap.cause.clone()];
            if gap.read_back > 0 {
                parts.push(format!("{} read back", count(gap.read_back, "event")));
            }
            self.push_span(
                "  gap",
                (Some(gap.from), Some(gap.to)),
                true,
                resource,
                parts,
            );
        }
        self.push_rest(gaps.len(), "gaps");
        self.reconstructed();
        let unseen: Vec<(&ResourceSummary, &UnseenSummary)> = resources
            .iter()
            .flat_map(|one| one.unseen.iter().map(move |unseen| (one, unseen)))
            .collect();
        for (resource, unseen) in unseen.iter().take(self.most) {
            let why = vec![harmless(&unseen.why).into_owned()];
            self.push_span("  unknown", (unseen.from, unseen.to), true, resource, why);
        }
        self.push_rest(unseen.len(), "times in which changes may be missing");
        for excluded in self.summary.not_covered.iter().take(self.most) {
            let parts = [
                harmless(&excluded.resource).into_owned(),
                harmless(&excluded.reason).into_owned(),
                harmless(&excluded.detail).into_owned(),
            ];
            self.push("  not covered", &parts);
        }
        self.push_rest(self.summary.not_covered.len(), "not covered");
    }

    /// Adds the gaps in which no change is missing.
    fn reconstructed(&mut self) {
        let resources = &self.summary.resources;
        let closed: Vec<(&ResourceSummary, &GapSummary)> = resources
            .iter()
            .flat_map(|one| one.reconstructed.iter().map(move |gap| (one, gap)))
            .collect();
        for (resource, gap) in closed.iter().take(self.most) {
            let events = count(gap.read_back, "event");
            let parts = vec![
                format!("{events} read back, none missing"),
                gap.cause.clone(),
            ];
            self.push_span(
                "  reconstructed",
                (Some(gap.from), Some(gap.to)),
                false,
                resource,
                parts,
            );
        }
        self.push_rest(closed.len(), "reconstructed");
        let proven: Vec<(&ResourceSummary, &GapSummary)> = resources
            .iter()
            .flat_map(|one| one.proven.iter().map(move |gap| (one, gap)))
            .collect();
        for (resource, gap) in proven.iter().take(self.most) {
            let explained = "nothing lost: every revision is explained".to_owned();
            let parts = vec![explained, gap.cause.clone()];
            self.push_span(
                "  proven",
                (Some(gap.from), Some(gap.to)),
                false,
                resource,
                parts,
            );
        }
        self.push_rest(proven.len(), "proven");
    }

    /// Adds a line about a resource in a span of time.
    fn push_span(
        &mut self,
        label: &str,
        (from, to): (Option<RecordedAt>, Option<RecordedAt>),
        is_wary: bool,
        resource: &ResourceSummary,
        parts: Vec<String>,
    ) {
        let [from, to] = [from, to].map(|at| self.timeline.written_if_known(at));
        let mut span = format!("{from} – {to}");
        if is_wary {
            span = self.paint.wary(&span);
        }
        let resource = harmless(&resource.resource).into_owned();
        let all: Vec<String> = [span, resource].into_iter().chain(parts).collect();
        self.push(label, &all);
    }

    /// Tells how many of the storage's revisions are explained by events.
    fn revisions(&mut self) {
        for account in self.summary.accounts.iter().take(self.most) {
            if account.revisions == 0 {
                self.push("revisions", &["none to explain".to_owned()]);
                continue;
            }
            let share = account.explained_share;
            let parts = [
                share.map_or_else(
                    || {
                        "inconclusive: the same revisions from two histories or two storages"
                            .to_owned()
                    },
                    |share| format!("{:.2} % explained", share * 100.0),
                ),
                format!(
                    "{} of {}",
                    number(account.explained),
                    number(account.revisions)
                ),
                "details: kubereel verify".to_owned(),
            ];
            self.push("revisions", &parts);
        }
    }

    fn outages(&mut self) {
        let kubeconfig = &self.summary.kubeconfig;
        for state in kubeconfig.iter().take(self.most) {
            let text = harmless(&state.text).into_owned();
            self.push("kubeconfig", &[self.timeline.written(state.time), text]);
        }
        self.push_rest(kubeconfig.len(), "notes of the kubeconfig");
        let early = self.summary.outages.iter();
        for outage in early
            .filter(|outage| outage.before_first_answer)
            .take(self.most)
        {
            let text = format!("the cluster did not answer: {}", harmless(&outage.error));
            self.push("waiting", &[self.timeline.written(outage.from), text]);
        }
        let outages: Vec<_> = self
            .summary
            .outages
            .iter()
            .filter(|outage| !outage.before_first_answer)
            .collect();
        let micros =
            |from: RecordedAt, to: RecordedAt| u64::try_from(to.micros_since(from)).unwrap_or(0);
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
                longest.class.clone().unwrap_or_default(),
                harmless(&longest.error).into_owned(),
            ];
            self.push("API outages", &parts);
        }
        let pauses = &self.summary.pauses;
        for pause in pauses.iter().take(self.most) {
            let text = format!(
                "the recorder was paused for {}",
                timetext::span(micros(pause.from, pause.to))
            );
            self.push("paused", &[self.timeline.written(pause.from), text]);
        }
        self.push_rest(pauses.len(), "pauses of the recorder");
    }

    fn oddities(&mut self) {
        let summary = self.summary;
        let unparsed = match summary.odd_lines {
            1 => "1 server line that is not an event".to_owned(),
            lines => format!("{} server lines that are not events", number(lines)),
        };
        for (label, odd, text) in [
            ("unparsed", summary.odd_lines, unparsed),
            (
                "anomalies",
                summary.anomalies,
                count(summary.anomalies, "breach of the protocol"),
            ),
            (
                "clock",
                summary.clock_steps,
                words::clock_steps(summary.clock_steps),
            ),
        ] {
            if odd > 0 {
                self.push(label, &[self.paint.wary(&text)]);
            }
        }
        let policies: Vec<u32> = summary
            .sessions
            .iter()
            .map(|session| session.redaction_policy)
            .collect();
        let text = match policies.iter().max() {
            None => return,
            Some(0) if !summary.provenance.is_empty() => {
                self.paint.wary("no: Secrets are as in the input")
            }
            Some(0) => self.paint.wary("no: Secrets are in the reel unredacted"),
            Some(most) if policies.contains(&0) => {
                let text = format!("by policy {most}, but not in some sessions");
                self.paint.wary(&text)
            }
            Some(1) => "values of Secrets, by policy 1".to_owned(),
            Some(most) => format!("by policy {most}"),
        };
        self.push("redacted", &[text]);
        for said in &summary.redaction {
            self.push("", &[harmless(said).into_owned()]);
        }
        // A session states its number at its end.
        let redacted = policies.iter().filter(|policy| **policy > 0).count();
        let uncounted = redacted.saturating_sub(summary.redaction.len());
        if uncounted > 0 {
            let sessions = count(uncounted, "session");
            self.push(
                "",
                &[format!("not counted in {sessions} without a recorded end")],
            );
        }
    }
}

const BETWEEN: &str = " · ";

/// Writes the parts after a label of `label_width` columns; one row without a width.
fn part_rows(label: &str, label_width: usize, parts: &[&str], width: Option<usize>) -> Vec<String> {
    let mut rows = Vec::new();
    let mut row = label.to_owned();
    let mut used = seen_width(label).max(label_width);
    for (place, part) in parts.iter().enumerate() {
        let wide = seen_width(part);
        if place > 0 && width.is_some_and(|width| used + BETWEEN.width() + wide > width) {
            let next = " ".repeat(label_width);
            rows.push(std::mem::replace(&mut row, next));
            used = label_width;
        } else if place > 0 {
            row.push_str(BETWEEN);
            used += BETWEEN.width();
        }
        row.push_str(part);
        used += wide;
    }
    rows.push(row);
    rows
}

/// Counts columns without the colours, which are all that is left of escape sequences here.
fn seen_width(text: &str) -> usize {
    let mut pieces = text.split('\u{1b}');
    let first = pieces.next().map_or(0, UnicodeWidthStr::width);
    let later = pieces.map(|piece| piece.split_once('m').map_or(0, |(_, text)| text.width()));
    first + later.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_break_between_parts_only() {
        let parts = ["one", "two", "a longer part"];
        let all = "label   one · two · a longer part";
        assert_eq!(part_rows("label   ", 8, &parts, None), [all]);
        assert_eq!(part_rows("label   ", 8, &parts, Some(33)), [all]);
        let expected = ["label   one · two", "        a longer part"];
        assert_eq!(part_rows("label   ", 8, &parts, Some(32)), expected);
        let expected = ["label   one", "        two", "        a longer part"];
        assert_eq!(part_rows("label   ", 8, &parts, Some(10)), expected);
    }

    #[test]
    fn colours_take_no_room() {
        let label = "\u{1b}[1mlabel\u{1b}[0m ";
        let parts = ["\u{1b}[1;31mred\u{1b}[0m", "two"];
        let row = [label, parts[0], BETWEEN, parts[1]].concat();
        assert_eq!(part_rows(label, 6, &parts, Some(15)), [row]);
        assert_eq!(part_rows(label, 6, &parts, Some(14)).len(), 2);
    }
}
