//! Logs events that concern many streams in one line: an outage of the API, or gaps at the same
//! time.
//!
//! Invariants:
//! * An outage gives one line, when it is over and its consequences are settled, or when the run
//!   ends.
//! * Gaps without an outage are joined with others at the same time.
//! * Memory is bounded by the number of resources and connections.

use kubereel_format::{
    ConnectionId, EndCause, GapId, GapVerdict, ListMethod, Note, OutageClass, ResourceId, Stamp,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// How long must be quiet before the line is written, in microseconds.
const QUIET_MICROS: u64 = 3_000_000;

/// How long the line waits for streams that do not resume, in microseconds.
const PATIENCE_MICROS: u64 = 60_000_000;

/// How long before the first failed probe a stream may have ended by the same outage, in
/// microseconds.
const BEFORE_MICROS: u64 = 2_000_000;

/// How long ends of streams are remembered, in microseconds: an outage is detected some seconds
/// after it began.
const RECENT_MICROS: u64 = 30_000_000;

/// How many ends of streams are remembered.
const RECENT: usize = 10_000;

/// The parts of the notes that are read.
#[derive(Clone, Debug, Default)]
pub(super) struct InterruptionReport {
    connections: BTreeMap<ConnectionId, ResourceId>,
    /// Streams that ended, with the time.
    recent: VecDeque<(u64, ResourceId)>,
    current: Option<Interruption>,
}

/// Streams that are interrupted at the same time.
#[derive(Clone, Debug, Default)]
struct Interruption {
    /// The first failed probe; `None` if none failed.
    out_since: Option<u64>,
    /// The endpoints that do not respond.
    out: BTreeSet<String>,
    /// Whether an endpoint failed for another reason than the credentials.
    is_unreached: bool,
    /// When the API responded again.
    answered: u64,
    /// When the last event happened.
    last: u64,
    interrupted: BTreeSet<ResourceId>,
    /// The interrupted resources that have not resumed.
    away: BTreeSet<ResourceId>,
    /// Gaps whose outcome is not known yet.
    open: BTreeMap<GapId, ResourceId>,
    /// Resources of which changes may be missing.
    lossy: BTreeSet<ResourceId>,
    /// Whether a gap was read back. Without one, the server may still answer that the history is lost.
    has_read_back: bool,
}

/// A line for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InterruptionLine {
    pub(super) text: String,
    /// Whether it is a warning: the API was out, or changes are missing.
    pub(super) is_trouble: bool,
}

impl InterruptionReport {
    /// Takes a note, and returns the line that it completes.
    pub(super) fn take(
        &mut self,
        stamp: Stamp,
        note: &Note,
        name: impl Fn(ResourceId) -> String,
    ) -> Option<InterruptionLine> {
        let now = stamp.elapsed.micros;
        match note {
            Note::Connected {
                connection,
                resource,
                method,
                ..
            } if *method != ListMethod::Exact => {
                self.connections.insert(*connection, *resource);
                if let Some(current) = &mut self.current {
                    current.is_back(*resource, now);
                }
            }
            Note::Disconnected {
                connection, cause, ..
            } => {
                if let Some(resource) = self.connections.remove(connection)
                    && !matches!(cause, EndCause::Stopped | EndCause::Gone)
                    // The successor of a watch opens before the watch ends.
                    && !self.connections.values().any(|other| *other == resource)
                {
                    self.ended(resource, now);
                }
            }
            Note::OutageBegan {
                endpoint,
                class,
                since_micros,
                ..
            } => self.out(endpoint, *class, now.saturating_sub(*since_micros), now),
            Note::OutageEnded { endpoint, .. } => {
                if let Some(current) = &mut self.current {
                    current.out.remove(endpoint);
                    (current.answered, current.last) = (now, now);
                }
            }
            Note::Gap(gap) => {
                let current = self.current.get_or_insert_default();
                current.interrupted.insert(gap.resource);
                current.open.insert(gap.id, gap.resource);
                current.last = now;
            }
            Note::GapJudged { gap, verdict, .. } => {
                if let Some(current) = &mut self.current {
                    current.judged(*gap, *verdict, now);
                }
            }
            _ => {}
        }
        if matches!(note, Note::SessionEnded { .. }) {
            return self.current.take().map(|current| current.line(now, name));
        }
        self.line(now, name)
    }

    /// Time passes while these resources are behind: returns the line that is complete. A resumed
    /// watch has no note before it delivers data.
    pub(super) fn tick(
        &mut self,
        now: u64,
        is_behind: impl Fn(ResourceId) -> bool,
        name: impl Fn(ResourceId) -> String,
    ) -> Option<InterruptionLine> {
        if let Some(current) = self
            .current
            .as_mut()
            .filter(|current| current.out.is_empty())
        {
            current.away.retain(|resource| is_behind(*resource));
        }
        self.line(now, name)
    }

    fn line(&mut self, now: u64, name: impl Fn(ResourceId) -> String) -> Option<InterruptionLine> {
        let over = self.current.take_if(|current| current.is_over(now))?;
        Some(over.line(now, name))
    }

    fn ended(&mut self, resource: ResourceId, now: u64) {
        match &mut self.current {
            Some(current) if !current.out.is_empty() => current.ended(resource, now),
            _ => {
                self.recent.push_back((now, resource));
                let is_old = |(at, _): &(u64, ResourceId)| now.saturating_sub(*at) > RECENT_MICROS;
                while self.recent.len() > RECENT || self.recent.front().is_some_and(is_old) {
                    self.recent.pop_front();
                }
            }
        }
    }

    /// The API is out since some time before now.
    fn out(&mut self, endpoint: &str, class: OutageClass, since: u64, now: u64) {
        let current = self.current.get_or_insert_default();
        current.is_unreached |= class != OutageClass::Credentials;
        current.out.insert(endpoint.to_owned());
        current.out_since.get_or_insert(since);
        current.last = now;
        let open: BTreeSet<ResourceId> = self.connections.values().copied().collect();
        for (at, resource) in self.recent.drain(..) {
            if at.saturating_add(BEFORE_MICROS) >= since {
                current.ended(resource, now);
                if open.contains(&resource) {
                    current.away.remove(&resource);
                }
            }
        }
    }
}

impl Interruption {
    fn ended(&mut self, resource: ResourceId, now: u64) {
        self.interrupted.insert(resource);
        self.away.insert(resource);
        self.last = now;
    }

    fn is_back(&mut self, resource: ResourceId, now: u64) {
        if self.away.remove(&resource) {
            self.last = now;
        }
    }

    fn judged(&mut self, gap: GapId, verdict: GapVerdict, now: u64) {
        if let Some(resource) = self.open.remove(&gap) {
            if verdict == GapVerdict::Reconstructed {
                self.has_read_back = true;
            } else {
                self.lossy.insert(resource);
            }
            self.last = now;
        }
    }

    /// Returns whether the interruption is settled.
    fn is_over(&self, now: u64) -> bool {
        let quiet = now.saturating_sub(self.last);
        let is_settled = self.away.is_empty() && self.open.is_empty();
        self.out.is_empty() && (quiet >= PATIENCE_MICROS || (is_settled && quiet >= QUIET_MICROS))
    }

    fn line(&self, now: u64, name: impl Fn(ResourceId) -> String) -> InterruptionLine {
        let mut lossy = self.lossy.clone();
        lossy.extend(self.open.values());
        let failure = if self.is_unreached {
            "API not reachable"
        } else {
            "credentials refused by the API"
        };
        let outage = match (self.out_since, self.out.is_empty()) {
            (None, _) => String::new(),
            (Some(since), true) => {
                let lasted = span(self.answered.saturating_sub(since));
                format!("{failure} for {lasted}: ")
            }
            (Some(since), false) => {
                let lasted = span(now.saturating_sub(since));
                format!("{failure} since {lasted}: ")
            }
        };
        let watches = match self.interrupted.len() {
            0 => "no watch interrupted".to_owned(),
            1 => "1 watch interrupted".to_owned(),
            count => format!("{count} watches interrupted"),
        };
        let mut parts = vec![outage + &watches];
        if !lossy.is_empty() {
            let named = names(&lossy, &name);
            parts.push(format!("changes may be missing of {named}"));
        }
        if !self.away.is_empty() {
            let named = names(&self.away, &name);
            parts.push(format!("not resumed yet: {named}"));
        }
        let is_whole = lossy.is_empty() && self.away.is_empty();
        if is_whole && !self.interrupted.is_empty() {
            let back = match (self.interrupted.len(), self.has_read_back) {
                (1, true) => "read back",
                (1, false) => "resumed",
                (_, true) => "all read back",
                (_, false) => "all resumed",
            };
            parts.push(back.to_owned());
        }
        let text = parts.join(", ");
        InterruptionLine {
            text,
            is_trouble: self.out_since.is_some() || !is_whole,
        }
    }
}

/// The number of resources that a line names.
const NAMED: usize = 3;

fn names(resources: &BTreeSet<ResourceId>, name: impl Fn(ResourceId) -> String) -> String {
    let mut words: Vec<String> = resources.iter().take(NAMED).map(|id| name(*id)).collect();
    if resources.len() > NAMED {
        words.push(format!("and {} more", resources.len() - NAMED));
    }
    words.join(", ")
}

/// Formats a duration.
fn span(micros: u64) -> String {
    let secs = micros.saturating_add(500_000) / 1_000_000;
    match (secs / 60, secs % 60) {
        (0 | 1, _) => format!("{} s", secs.max(1)),
        (minutes, secs) => format!("{minutes} min {secs} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_format::{Elapsed, Gap, GapCause, RecordedAt, SessionEnd, SessionId};

    /// A run with notes at these seconds.
    #[derive(Default)]
    struct Run {
        report: InterruptionReport,
        lines: Vec<InterruptionLine>,
        behind: BTreeSet<ResourceId>,
    }

    impl Run {
        fn note(&mut self, secs: u64, note: &Note) {
            let stamp = Stamp {
                elapsed: Elapsed {
                    micros: secs * 1_000_000,
                },
                ..Stamp::default()
            };
            let line = self
                .report
                .take(stamp, note, |id| format!("things{}", id.0));
            self.lines.extend(line);
        }

        fn connect(&mut self, secs: u64, connection: u32, resource: u32) {
            self.note(
                secs,
                &Note::Connected {
                    connection: ConnectionId(connection),
                    resource: ResourceId(resource),
                    from_rv: None,
                    method: ListMethod::Watch,
                },
            );
        }

        fn cut(&mut self, secs: u64, connection: u32) {
            self.note(
                secs,
                &Note::Disconnected {
                    connection: ConnectionId(connection),
                    cause: EndCause::Cut,
                    last_rv: None,
                    detail: String::new(),
                },
            );
        }

        fn out(&mut self, secs: u64, since: u64) {
            self.fails("e", OutageClass::Connect, (secs, since));
        }

        fn fails(&mut self, endpoint: &str, class: OutageClass, (secs, since): (u64, u64)) {
            self.note(
                secs,
                &Note::OutageBegan {
                    endpoint: endpoint.to_owned(),
                    class,
                    error: String::new(),
                    since_micros: (secs - since) * 1_000_000,
                },
            );
        }

        fn answers(&mut self, secs: u64) {
            let endpoint = "e".to_owned();
            self.note(
                secs,
                &Note::OutageEnded {
                    endpoint,
                    failed: 3,
                },
            );
        }

        fn gap(&mut self, secs: u64, resource: u32, verdict: Option<GapVerdict>) {
            let id = GapId(resource);
            let gap = Gap {
                id,
                resource: ResourceId(resource),
                from_rv: None,
                to_rv: "9".to_owned(),
                from_time: RecordedAt::default(),
                to_time: RecordedAt::default(),
                cause: GapCause::Expired,
                missing_at_most: None,
                differences: 0,
            };
            self.note(secs, &Note::Gap(gap));
            if let Some(verdict) = verdict {
                self.note(
                    secs,
                    &Note::GapJudged {
                        gap: id,
                        verdict,
                        reconstructed: 0,
                        missing_at_most: None,
                        requests: 1,
                        detail: String::new(),
                    },
                );
            }
        }

        /// Time passes.
        fn tick(&mut self, secs: u64) {
            let behind = &self.behind;
            let is_behind = |id| behind.contains(&id);
            let name = |id: ResourceId| format!("things{}", id.0);
            let line = self.report.tick(secs * 1_000_000, is_behind, name);
            self.lines.extend(line);
        }

        fn texts(&self) -> Vec<&str> {
            self.lines.iter().map(|line| line.text.as_str()).collect()
        }
    }

    #[test]
    fn one_outage_of_many_watches_is_one_line() {
        let mut run = Run::default();
        for id in 0..57 {
            run.connect(1, id, id);
        }
        // One stream ends by itself long before; the others end with the API, some of them before
        // the outage is detected.
        run.cut(50, 0);
        run.connect(50, 100, 0);
        for id in 1..30 {
            run.cut(100, id);
        }
        run.out(103, 101);
        for id in 30..57 {
            run.cut(104, id);
        }
        run.answers(109);
        for id in 1..57 {
            run.connect(110, 100 + id, id);
            run.gap(110, id, Some(GapVerdict::Reconstructed));
        }
        run.tick(112);
        assert_eq!(run.texts(), [""; 0]);
        run.tick(113);
        let text = "API not reachable for 8 s: 56 watches interrupted, all read back";
        assert_eq!(run.texts(), [text]);
        assert!(run.lines.iter().all(|line| line.is_trouble));
        run.tick(500);
        assert_eq!(run.lines.len(), 1);
    }

    #[test]
    fn an_api_that_refuses_the_credentials_is_reachable() {
        let mut run = Run::default();
        run.connect(1, 1, 1);
        run.fails("e", OutageClass::Credentials, (102, 100));
        run.cut(103, 1);
        run.answers(188);
        run.connect(188, 2, 1);
        run.tick(192);
        let text = "credentials refused by the API for 88 s: 1 watch interrupted, resumed";
        assert_eq!(run.texts(), [text]);
        run.fails("e", OutageClass::Credentials, (300, 300));
        run.fails("f", OutageClass::Timeout, (301, 301));
        let (session, end) = (SessionId(0), SessionEnd::Finished);
        run.note(310, &Note::SessionEnded { session, end });
        let text = "API not reachable since 10 s: no watch interrupted";
        assert_eq!(run.texts().last(), Some(&text));
    }

    #[test]
    fn what_is_lost_or_does_not_come_back_is_named() {
        let mut run = Run::default();
        for id in 0..6 {
            run.connect(1, id, id);
        }
        run.out(100, 100);
        for id in 0..6 {
            run.cut(100, id);
        }
        run.answers(230);
        for id in 0..5 {
            run.connect(231, 10 + id, id);
        }
        for id in 0..4 {
            run.gap(231, id, Some(GapVerdict::Partly));
        }
        run.behind.insert(ResourceId(5));
        run.tick(290);
        assert_eq!(run.lines.len(), 0);
        run.tick(291);
        assert_eq!(
            run.texts(),
            ["API not reachable for 2 min 10 s: 6 watches interrupted, \
              changes may be missing of things0, things1, things2, and 1 more, not resumed yet: things5"]
        );
    }

    #[test]
    fn a_resumed_watch_on_which_nothing_comes_is_back() {
        let mut run = Run::default();
        run.connect(1, 1, 1);
        run.out(100, 100);
        run.cut(100, 1);
        run.behind.insert(ResourceId(1));
        run.answers(105);
        run.tick(109);
        assert_eq!(run.texts(), [""; 0]);
        run.behind.clear();
        run.tick(111);
        let text = "API not reachable for 5 s: 1 watch interrupted, resumed";
        assert_eq!(run.texts(), [text]);
    }

    #[test]
    fn gaps_without_an_outage_are_joined_and_quiet_if_nothing_is_lost() {
        let mut run = Run::default();
        for id in 0..3 {
            run.gap(10, id, Some(GapVerdict::Reconstructed));
        }
        run.tick(20);
        run.gap(30, 1, Some(GapVerdict::Lost));
        run.tick(40);
        let expected = [
            "3 watches interrupted, all read back",
            "1 watch interrupted, changes may be missing of things1",
        ];
        assert_eq!(run.texts(), expected);
        let troubles: Vec<bool> = run.lines.iter().map(|line| line.is_trouble).collect();
        assert_eq!(troubles, [false, true]);
    }

    #[test]
    fn a_watch_that_ends_by_itself_is_no_line_and_an_end_leaves_none_behind() {
        let mut run = Run::default();
        run.connect(1, 1, 1);
        run.cut(100, 1);
        run.connect(100, 2, 1);
        run.tick(200);
        assert_eq!(run.texts(), [""; 0]);
        run.out(300, 299);
        run.cut(300, 2);
        let (session, end) = (SessionId(0), SessionEnd::Finished);
        run.note(310, &Note::SessionEnded { session, end });
        let text = "API not reachable since 11 s: 1 watch interrupted, not resumed yet: things1";
        assert_eq!(run.texts(), [text]);
    }
}
