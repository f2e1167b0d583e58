//! Owns the steps of a run: one pass over the reel for everybody, judgement, exceptions, verdicts.
//! Refuses to know in what a monitortest is written.

use super::dark::Unseen;
use super::report::{RunReport, RunTrust, Work};
use super::selection::Selection;
use crate::exception::{Circumstances, ExceptionSet, RunKind};
use crate::feed::{Fed, Watcher, feed, feed_while};
use crate::gather::{Gathered, Gathering, Kept, Mode};
use crate::outcome::{join_same_names, outcome};
use crate::verdict::{About, Case, Dark, MonitorTest, Scene};
use kubereel_format::{RecordedAt, Seq};
use kubereel_history::Timeline;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// By which rules the intervals of a reel are made: rules about what the cluster version waits for read
/// messages that change while the status does not, and a spell is dated by who says it.
const MODE: Mode = Mode::Exact;

/// How many of the events that cannot be read are named.
const UNREAD_NAMED: usize = 10;

/// What a run is asked to do.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Which monitortests run.
    pub selection: &'a Selection,
    /// What is known to go wrong.
    pub exceptions: &'a ExceptionSet,
    /// The moment that ends of exceptions are compared with; the run's own end unless given.
    pub now: Option<RecordedAt>,
}

/// A monitortest of a run, with why it cannot run.
pub(super) struct Chosen {
    about: Arc<About>,
    test: Box<dyn MonitorTest>,
    skipped: Option<String>,
}

impl Chosen {
    /// Gives how often its predicates were asked.
    fn asked(&mut self) -> u64 {
        let watcher = self.test.watcher();
        watcher.map_or(0, |watcher| watcher.asked())
    }
}

/// Runs monitortests over a reel.
///
/// `progress` is told of each record that is done. Of the intervals the report has those at which some
/// monitortest looks: the others would take most of a large run's memory.
pub fn run_reel(
    timeline: &Timeline,
    tests: Vec<Box<dyn MonitorTest>>,
    asked: &Asked<'_>,
    progress: impl FnMut(Seq),
) -> RunReport {
    let mut run = InProgress::begin(timeline, tests, asked, false);
    let fed = feed(timeline, &mut run.watchers(), progress);
    run.end(timeline, &fed, asked)
}

/// Runs monitortests over a reel as [`run_reel`] does; the report has all intervals.
pub fn run_reel_with_intervals(
    timeline: &Timeline,
    tests: Vec<Box<dyn MonitorTest>>,
    asked: &Asked<'_>,
    progress: impl FnMut(Seq),
) -> RunReport {
    let mut run = InProgress::begin(timeline, tests, asked, true);
    let fed = feed(timeline, &mut run.watchers(), progress);
    run.end(timeline, &fed, asked)
}

/// Runs monitortests over a reel, as [`run_reel`] does, until `go_on` ends it; `None` if it did.
///
/// `go_on` is told of each record that is about to be read; the report has all intervals if it is to
/// be `with_intervals`.
pub fn run_reel_while(
    timeline: &Timeline,
    tests: Vec<Box<dyn MonitorTest>>,
    asked: &Asked<'_>,
    with_intervals: bool,
    mut go_on: impl FnMut(Seq) -> ControlFlow<()>,
) -> Option<RunReport> {
    let mut run = InProgress::begin(timeline, tests, asked, with_intervals);
    let mut is_ended = false;
    let fed = feed_while(timeline, &mut run.watchers(), |seq| {
        let flow = go_on(seq);
        is_ended |= flow.is_break();
        flow
    });
    (!is_ended).then(|| run.end(timeline, &fed, asked))
}

/// A run before and while the reel is read.
struct InProgress {
    unseen: Unseen,
    chosen: Vec<Chosen>,
    gathering: Gathering,
}

impl InProgress {
    fn begin(
        timeline: &Timeline,
        tests: Vec<Box<dyn MonitorTest>>,
        asked: &Asked<'_>,
        with_intervals: bool,
    ) -> Self {
        let unseen = Unseen::of(timeline);
        let mut gathering = Gathering::new(timeline, MODE);
        if !with_intervals {
            let all = tests
                .iter()
                .filter(|test| asked.selection.has(test.about()));
            gathering.keep(&Kept::of(all.map(|test| test.looks_at())));
        }
        let chosen = choose(tests, asked.selection, |test| why_skipped(test, &unseen));
        Self {
            unseen,
            chosen,
            gathering,
        }
    }

    /// Gives everybody who is told what happens: one pass serves those who judge, the intervals and the
    /// facts.
    fn watchers(&mut self) -> Vec<&mut dyn Watcher> {
        let running = self.chosen.iter_mut().filter(|one| one.skipped.is_none());
        let mut watchers: Vec<&mut dyn Watcher> = self.gathering.watchers();
        watchers.extend(running.filter_map(|one| one.test.watcher()));
        watchers
    }

    fn end(mut self, timeline: &Timeline, fed: &Fed, asked: &Asked<'_>) -> RunReport {
        let unread = fed.unread.iter().take(UNREAD_NAMED);
        let Gathered { intervals, facts } = self.gathering.finish(timeline);
        let is_damaged = !fed.unread.is_empty() || !timeline.reel().damage().is_empty();
        let trust = if is_damaged {
            RunTrust::Damaged
        } else if self.unseen.is_imported() {
            RunTrust::Imported
        } else {
            RunTrust::Recorded
        };
        let mut report = RunReport {
            start: timeline.start(),
            end: timeline.end(),
            trust,
            kind: RunKind::of(&facts, &intervals),
            facts,
            outcomes: Vec::new(),
            intervals,
            uses: asked.exceptions.uses(),
            events: fed.events,
            work: Work {
                events: fed.events,
                read: fed.read,
                told: fed.told,
                asked: self.chosen.iter_mut().map(Chosen::asked).sum(),
            },
            unread: unread.map(ToString::to_string).collect(),
        };
        judge(&mut report, self.chosen, &self.unseen.dark, asked);
        report
    }
}

pub(super) fn choose(
    tests: Vec<Box<dyn MonitorTest>>,
    selection: &Selection,
    why_skipped: impl Fn(&dyn MonitorTest) -> Option<String>,
) -> Vec<Chosen> {
    let chosen = tests
        .into_iter()
        .filter(|test| selection.has(test.about()))
        .map(|test| Chosen {
            about: Arc::new(test.about().clone()),
            skipped: why_skipped(test.as_ref()),
            test,
        });
    chosen.collect()
}

/// Tells why a monitortest cannot run on a reel: something that it needs was never recorded.
fn why_skipped(test: &dyn MonitorTest, unseen: &Unseen) -> Option<String> {
    let needs = test.needs();
    let all = needs.objects.iter().chain(&needs.seen);
    let mut missing: Vec<String> = all
        .filter_map(|resource| unseen.why_missing(resource))
        .collect();
    missing.dedup();
    (!missing.is_empty()).then(|| missing.join("; "))
}

/// Asks each monitortest, and holds what it found against the exceptions.
pub(super) fn judge(
    report: &mut RunReport,
    chosen: Vec<Chosen>,
    dark: &BTreeMap<String, Vec<Dark>>,
    asked: &Asked<'_>,
) {
    let scene = Scene {
        intervals: &report.intervals,
        facts: &report.facts,
        dark,
    };
    let circumstances = Circumstances {
        facts: &report.facts,
        run: report.kind,
        end: report.end,
        now: asked.now.unwrap_or(report.end),
    };
    let mut outcomes = Vec::new();
    for mut one in chosen {
        for case in cases(&mut one, &scene) {
            let decided = outcome(&one.about, case, |case, finding| {
                let uses = &mut report.uses;
                asked
                    .exceptions
                    .excuse(&one.about, case, finding, &circumstances, uses)
            });
            outcomes.push(decided);
        }
    }
    report.outcomes = join_same_names(outcomes);
}

/// Gives the cases of a monitortest, with the times that it could not see.
fn cases(one: &mut Chosen, scene: &Scene<'_>) -> Vec<Case> {
    if let Some(why) = one.skipped.take() {
        return vec![Case {
            junit: one.about.junit.clone(),
            skipped: Some(why),
            ..Case::default()
        }];
    }
    let seen = one.test.needs().seen;
    let dark = seen.iter().filter_map(|resource| scene.dark.get(resource));
    let dark: Vec<&Dark> = dark.flatten().collect();
    let mut cases = one.test.judge(scene);
    for case in &mut cases {
        if case.findings.is_empty() && case.skipped.is_none() && case.error.is_none() {
            case.dark.extend(dark.iter().map(|&dark| dark.clone()));
            case.dark.sort();
            case.dark.dedup();
        }
    }
    cases
}
