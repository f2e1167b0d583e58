//! A run over a reel: one pass for all watchers, then judgement, exceptions and verdicts.

use super::report::{OmittedRule, RunReport, RunStats, RunTrust, Selection};
use crate::applies::{Applicability, Inapplicability};
use crate::exception::{Circumstances, ExceptionSet, RunKind};
use crate::facts::FactsOverTime;
use crate::feed::{Fed, Watcher, feed, feed_while};
use crate::gather::{Mode, WantedIntervals};
use crate::gathering::{GatheredIntervals, Gathering};
use crate::open_ends::end_unknown_since;
use crate::outcome::{CaseOutcome, join_same_names, outcome};
use crate::unseen::Unseen;
use crate::verdict::{JudgeContext, MonitorTest, MonitorTestInfo, TestCase};
use kubereel_cluster::{ClusterHistory, UnreadVersions};
use kubereel_format::{RecordedAt, Seq};
use kubereel_history::Timeline;
use std::ops::ControlFlow;
use std::sync::Arc;

/// By which rules the intervals of a reel are made: rules about what the cluster version waits for read
/// messages that change while the status does not, and a spell is dated by who says it.
const MODE: Mode = Mode::Exact;

/// How many of the events that cannot be read are named.
const UNREAD_NAMED: usize = 10;

/// The options of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions<'a> {
    /// Which monitor tests run.
    pub selection: &'a Selection,
    /// What is known to go wrong.
    pub exceptions: &'a ExceptionSet,
    /// The moment that ends of exceptions are compared with; the run's own end unless given.
    pub now: Option<RecordedAt>,
}

/// Why a monitor test cannot run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// The cluster does not have these resources.
    NotServed(Vec<String>),
    /// Something that it needs was not recorded, as text.
    NotRecorded(String),
}

/// A monitor test of a run, with why it cannot run.
pub(super) struct SelectedTest {
    about: Arc<MonitorTestInfo>,
    test: Box<dyn MonitorTest>,
    missing: Option<Missing>,
}

impl SelectedTest {
    /// Returns how often its predicates were evaluated.
    fn asked(&mut self) -> u64 {
        let watcher = self.test.watcher();
        watcher.map_or(0, |watcher| watcher.asked())
    }
}

/// Runs monitor tests over a reel.
///
/// `progress` is called for each record that is done. Of the intervals the report has those at which some
/// monitor test looks: the others would take most of a large run's memory.
pub fn run_reel(
    timeline: &Timeline,
    tests: Vec<Box<dyn MonitorTest>>,
    asked: &RunOptions<'_>,
    progress: impl FnMut(Seq),
) -> RunReport {
    let mut run = InProgress::begin(timeline, tests, asked, false);
    let fed = feed(timeline, &mut run.watchers(), progress);
    run.end(timeline, &fed, asked)
}

/// Runs monitor tests over a reel, as [`run_reel`] does, until `go_on` ends it; `None` if it did.
///
/// `go_on` is called for each record that is about to be read; the report has the monitor's intervals if
/// it is to be `with_upstream`.
pub fn run_reel_while(
    timeline: &Timeline,
    tests: Vec<Box<dyn MonitorTest>>,
    asked: &RunOptions<'_>,
    with_upstream: bool,
    mut go_on: impl FnMut(Seq) -> ControlFlow<()>,
) -> Option<RunReport> {
    let mut run = InProgress::begin(timeline, tests, asked, with_upstream);
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
    chosen: Vec<SelectedTest>,
    gathering: Gathering,
    upstream: Option<Gathering>,
}

impl InProgress {
    fn begin(
        timeline: &Timeline,
        tests: Vec<Box<dyn MonitorTest>>,
        asked: &RunOptions<'_>,
        with_upstream: bool,
    ) -> Self {
        let unseen = Unseen::of(timeline);
        let mut gathering = Gathering::new(timeline, MODE);
        let all = tests
            .iter()
            .filter(|test| asked.selection.has(test.about()));
        gathering.keep(&WantedIntervals::of(all.map(|test| test.looks_at())));
        let mut chosen = choose(tests, asked.selection, |test| missing(test, &unseen));
        for one in chosen.iter_mut().filter(|one| one.missing.is_none()) {
            one.test.begin(timeline);
        }
        Self {
            unseen,
            chosen,
            gathering,
            upstream: with_upstream.then(|| Gathering::new(timeline, Mode::Upstream)),
        }
    }

    /// Returns all watchers: one pass serves the monitor tests, the intervals and the facts.
    fn watchers(&mut self) -> Vec<&mut dyn Watcher> {
        let running = self.chosen.iter_mut().filter(|one| one.missing.is_none());
        let mut watchers: Vec<&mut dyn Watcher> = self.gathering.watchers();
        watchers.extend(self.upstream.iter_mut().flat_map(Gathering::watchers));
        watchers.extend(running.filter_map(|one| one.test.watcher()));
        watchers
    }

    fn end(mut self, timeline: &Timeline, fed: &Fed, asked: &RunOptions<'_>) -> RunReport {
        let unread = fed.unread.iter().take(UNREAD_NAMED);
        let GatheredIntervals { intervals, facts } = self.gathering.finish(timeline);
        let is_damaged = !fed.unread.is_empty() || timeline.reel().has_losses();
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
            is_dated: timeline.is_dated(),
            trust,
            kind: RunKind::of(&facts),
            facts,
            outcomes: Vec::new(),
            omitted: Vec::new(),
            intervals,
            upstream: self
                .upstream
                .map(|gathering| gathering.finish(timeline).intervals),
            uses: asked.exceptions.uses(),
            work: RunStats {
                events: fed.events,
                read: fed.read,
                told: fed.told,
                asked: self.chosen.iter_mut().map(SelectedTest::asked).sum(),
            },
            unread: unread.map(ToString::to_string).collect(),
            has_lost_records: timeline.has_lost_records(),
        };
        judge(
            &mut report,
            self.chosen,
            Some(timeline),
            &self.unseen,
            asked,
        );
        report
    }
}

pub(super) fn choose(
    tests: Vec<Box<dyn MonitorTest>>,
    selection: &Selection,
    why_missing: impl Fn(&dyn MonitorTest) -> Option<Missing>,
) -> Vec<SelectedTest> {
    let chosen = tests
        .into_iter()
        .filter(|test| selection.has(test.about()))
        .map(|test| SelectedTest {
            about: Arc::new(test.about().clone()),
            missing: why_missing(test.as_ref()),
            test,
        });
    chosen.collect()
}

/// Tells why a monitor test cannot run on a reel: something that it needs is not there.
fn missing(test: &dyn MonitorTest, unseen: &Unseen) -> Option<Missing> {
    let needs = test.needs();
    let mut all: Vec<&String> = needs.objects.iter().chain(&needs.seen).collect();
    let is_lacking =
        |resource: &String| !unseen.is_served(resource) || unseen.why_missing(resource).is_some();
    if needs.any_of.iter().all(is_lacking) {
        all.extend(&needs.any_of);
    }
    all.sort_unstable();
    all.dedup();
    let not_served = all.iter().filter(|resource| !unseen.is_served(resource));
    let not_served: Vec<String> = not_served.map(ToString::to_string).collect();
    if !not_served.is_empty() {
        return Some(Missing::NotServed(not_served));
    }
    let why: Vec<String> = all
        .into_iter()
        .filter_map(|resource| unseen.why_missing(resource))
        .collect();
    (!why.is_empty()).then(|| Missing::NotRecorded(why.join("; ")))
}

/// Judges by each monitor test that applies to the cluster, and applies the exceptions to the findings.
pub(super) fn judge(
    report: &mut RunReport,
    chosen: Vec<SelectedTest>,
    timeline: Option<&Timeline>,
    unseen: &Unseen,
    asked: &RunOptions<'_>,
) {
    let unread = UnreadVersions::default();
    let scene = JudgeContext {
        intervals: &report.intervals,
        facts: &report.facts,
        cluster: timeline.map(|timeline| ClusterHistory::of_readable(timeline, &unread)),
        dark: &unseen.dark,
        not_recorded: &unseen.missing,
        missing: &|resource| unseen.why_missing(resource),
    };
    let circumstances = Circumstances {
        facts: &report.facts,
        run: report.kind,
        end: report.end,
        now: asked.now.unwrap_or(report.end),
    };
    let mut outcomes = Vec::new();
    for mut one in chosen {
        if let Err(why) = apply(&mut one, &report.facts, unseen) {
            report.omitted.push(OmittedRule {
                about: one.about,
                why,
            });
            continue;
        }
        for case in cases(&mut one, &scene, unseen) {
            let mut decided = outcome(&one.about, case, |case, finding| {
                let uses = &mut report.uses;
                asked
                    .exceptions
                    .excuse(&one.about, case, finding, &circumstances, uses)
            });
            for judged in &mut decided.findings {
                judged.end_unknown_since =
                    timeline.and_then(|timeline| end_unknown_since(timeline, &judged.finding));
            }
            outcomes.push(decided);
        }
    }
    if !report.is_dated {
        outcomes.iter_mut().for_each(CaseOutcome::forget_times);
    }
    report.outcomes = join_same_names(outcomes);
}

/// Lets a monitor test be what it is on this cluster; an error is why it does not apply.
fn apply(
    one: &mut SelectedTest,
    cluster: &FactsOverTime,
    unseen: &Unseen,
) -> Result<(), Inapplicability> {
    let about = &one.about;
    match about
        .applies_to
        .on(about.class, cluster, |resource| unseen.is_served(resource))
    {
        Applicability::Full => {}
        Applicability::FlakeOnly => Arc::make_mut(&mut one.about).is_flake_only = true,
        Applicability::None(why) => return Err(why),
    }
    match one.missing.take() {
        Some(Missing::NotServed(resources)) => Err(Inapplicability::NoResource(resources)),
        kept => {
            one.missing = kept;
            Ok(())
        }
    }
}

/// Returns the cases of a monitor test, with the times that it could not see.
fn cases(one: &mut SelectedTest, scene: &JudgeContext<'_>, unseen: &Unseen) -> Vec<TestCase> {
    if let Some(lost) = &unseen.lost {
        return vec![TestCase {
            dark: vec![lost.clone()],
            ..TestCase::named(&one.about.junit)
        }];
    }
    if let Some(Missing::NotRecorded(why)) = one.missing.take() {
        return vec![TestCase {
            junit: one.about.junit.clone(),
            skipped: Some(why),
            ..TestCase::default()
        }];
    }
    let seen = one.test.needs().seen;
    let dark = scene.gaps(seen.iter().map(String::as_str));
    let mut cases = one.test.judge(scene);
    for case in &mut cases {
        if case.findings.is_empty() && case.skipped.is_none() && case.error.is_none() {
            case.dark.extend(dark.iter().cloned());
            case.dark.sort();
            case.dark.dedup();
        }
    }
    cases
}
