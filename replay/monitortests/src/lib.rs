//! Monitor tests: a reel or a file of intervals goes in, verdicts come out, the same ones each time.
//!
//! `feed` reads a reel once and notifies watchers of changed fields; `interval` holds spans of time and
//! their files; `gather` makes intervals of objects, `compute` makes them of each other, and `facts`
//! finds the facts of the cluster. `verdict` is the interface of a monitor test; `rule` reads rule
//! files, `cel` evaluates their predicates, `signal` their operators over time, and `judge` makes
//! monitor tests of them; `builtin` holds the built-in ones. `run` runs them, `exception` holds known
//! failures, `outcome` decides; `evidence`, `junit`, `rows` and `proposal` write the results.
//! Synchronous, without network, terminal or clock.

mod applies;
mod builtin;
mod cel;
mod compute;
mod evidence;
mod exception;
mod facts;
mod feed;
mod gather;
mod gathering;
mod glob;
mod interval;
mod interval_needs;
mod judge;
mod junit;
mod known;
mod open_ends;
mod outcome;
mod phase;
mod proposal;
mod reading;
mod release;
mod rows;
mod rule;
mod run;
mod signal;
mod table;
mod unseen;
mod verdict;
mod yaml;

pub use applies::{AppliesTo, BelowRelease, ClusterKind, Inapplicability, RuleClass};
pub use builtin::{
    UpstreamMethod, UpstreamRow, builtin, builtin_rule_files, rows as upstream_rows,
};
pub use compute::computed_from;
pub use evidence::{RunName, shown_by, subject, told, when};
pub use exception::{
    Exception, ExceptionError, ExceptionSet, ExceptionState, Excuse, RunKind, Uses,
};
pub use facts::{Facts, FactsOverTime, UpgradeWindow};
pub use feed::{
    Action, Fed, FeedError, Interest, StateWatcher, WatchedEvent, Watcher, feed, feed_while,
};
pub use gather::Mode;
pub use gathering::{GatheredIntervals, Gathering};
pub use glob::Glob;
pub use interval::{
    Display, FilterError, Interval, IntervalFileError, IntervalFilter, IntervalMessage, Intervals,
    KeyPattern, Level, Locator, MAX_FILE_BYTES, MAX_ITEMS, Pair, Pairs, Source, TimelineFile,
    file_suffix, read_intervals, source, write_intervals,
};
pub use interval_needs::{IntervalChoice, IntervalNeeds};
pub use junit::{JunitCase, JunitFile, JunitResult, write_junit};
pub use known::is_platform_namespace;
pub use outcome::{CaseOutcome, CaseVerdict, JudgedFinding};
pub use phase::Phase;
pub use proposal::proposed;
pub use release::Release;
pub use rows::{CaseRow, CaseRowOrigin};
pub use rule::{RuleErrors, RuleMistake, RuleSet};
pub use run::{
    OmittedRule, RunOptions, RunReport, RunStats, RunTrust, Selection, run_intervals, run_reel,
    run_reel_while,
};
pub use verdict::{
    CaseGap, FindingSubject, JudgeContext, MonitorTest, MonitorTestInfo, Needs, Severity, TestCase,
    TestFinding, WrittenIn,
};
