//! Owns the lines of the page that say what is missing or odd.

use super::page::Page;
use crate::words::{count, number};
use kubereel_format::RecordedAt;
use kubereel_history::harmless;
use kubereel_history::{GapSummary, ResourceSummary, UnseenSummary, timetext};

impl Page<'_> {
    pub(super) fn provenance(&mut self) {
        let labels = std::iter::once("source").chain(std::iter::repeat(""));
        for (label, text) in labels.zip(&self.summary.provenance) {
            self.push(label, &[text.escape_debug().to_string()]);
        }
    }

    pub(super) fn coverage(&mut self) {
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
            let from = self.timeline.written(gap.from);
            let to = self.timeline.written(gap.to);
            let missing = gap.missing_at_most.map_or_else(
                || "changes may be missing".to_owned(),
                |most| format!("up to {} missing", count(most, "change")),
            );
            let mut parts = vec![
                self.paint.wary(&format!("{from} – {to}")),
                harmless(&resource.resource).into_owned(),
                missing,
                gap.cause.clone(),
            ];
            if gap.read_back > 0 {
                parts.push(format!("{} read back", count(gap.read_back, "event")));
            }
            self.push("  gap", &parts);
        }
        self.push_rest(gaps.len(), "gaps");
        self.reconstructed();
        let unseen: Vec<(&ResourceSummary, &UnseenSummary)> = resources
            .iter()
            .flat_map(|one| one.unseen.iter().map(move |unseen| (one, unseen)))
            .collect();
        for (resource, unseen) in unseen.iter().take(self.most) {
            let from = self.timeline.written(unseen.from);
            let to = self.timeline.written(unseen.to);
            let parts = [
                self.paint.wary(&format!("{from} – {to}")),
                harmless(&resource.resource).into_owned(),
                harmless(&unseen.why).into_owned(),
            ];
            self.push("  unknown", &parts);
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

    /// Tells of the gaps in which nothing is missing any more.
    fn reconstructed(&mut self) {
        let resources = self.summary.resources.iter();
        let closed: Vec<(&ResourceSummary, &GapSummary)> = resources
            .flat_map(|one| one.reconstructed.iter().map(move |gap| (one, gap)))
            .collect();
        for (resource, gap) in closed.iter().take(self.most) {
            let from = self.timeline.written(gap.from);
            let to = self.timeline.written(gap.to);
            let parts = [
                format!("{from} – {to}"),
                harmless(&resource.resource).into_owned(),
                format!("{} read back, none missing", count(gap.read_back, "event")),
                gap.cause.clone(),
            ];
            self.push("  reconstructed", &parts);
        }
        self.push_rest(closed.len(), "reconstructed");
        let resources = self.summary.resources.iter();
        let proven: Vec<(&ResourceSummary, &GapSummary)> = resources
            .flat_map(|one| one.proven.iter().map(move |gap| (one, gap)))
            .collect();
        for (resource, gap) in proven.iter().take(self.most) {
            let from = self.timeline.written(gap.from);
            let to = self.timeline.written(gap.to);
            let parts = [
                format!("{from} – {to}"),
                harmless(&resource.resource).into_owned(),
                "nothing lost: every revision is explained".to_owned(),
                gap.cause.clone(),
            ];
            self.push("  proven", &parts);
        }
        self.push_rest(proven.len(), "proven");
    }

    /// Tells how many of the storage's revisions are explained by events.
    pub(super) fn revisions(&mut self) {
        for account in self.summary.accounts.iter().take(self.most) {
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

    pub(super) fn outages(&mut self) {
        for (at, text) in self.timeline.waits().iter().take(self.most) {
            self.push(
                "waiting",
                &[self.timeline.written(*at), harmless(text).into_owned()],
            );
        }
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
    }

    pub(super) fn oddities(&mut self) {
        let summary = self.summary;
        for (label, odd, what) in [
            (
                "odd",
                summary.odd_lines,
                "line of the server without an event",
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
            Some(0) if !summary.provenance.is_empty() => self
                .paint
                .wary("not by the import: Secrets are unchanged from its input"),
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
    }
}
