//! Rules over time: a reel or a file of intervals goes in, verdicts come out, the same ones each time.
//!
//! `feed` reads a reel once and tells watchers what changed of the fields they read; `interval` is the
//! vocabulary of spans of time and their files; `gather` makes intervals of objects, `compute` makes
//! them of each other, and `facts` finds what cluster it was; `known` holds the platform's operators and namespaces; `builtin` the
//! monitortests that come along; `verdict` is what a monitortest says; `run` asks all of them,
//! `exception` holds what is known to go wrong, `outcome` decides; `evidence`, `junit` and `rows` tell
//! it. Synchronous, without network, terminal or clock.

mod builtin;
mod cel;
mod compute;
mod evidence;
mod exception;
mod facts;
mod feed;
mod gather;
mod interval;
mod judge;
mod junit;
mod known;
mod outcome;
mod reading;
mod rows;
mod rule;
mod run;
mod select;
mod signal;
mod verdict;

pub use builtin::{
    Row as UpstreamRow, Way, builtin, builtin_rule_files, objects, rows as upstream_rows,
};
pub use compute::computed_from;
pub use evidence::{RunName, shown_by, subject, told, when};
pub use exception::{
    Circumstances, Exception, ExceptionError, ExceptionSet, ExceptionState, RunKind, Uses, proposed,
};
pub use facts::{Facts, FactsOverTime, UpgradeWindow};
pub use feed::{Action, Fed, FeedError, Interest, Seen, StateWatcher, Watcher, feed, feed_while};
pub use gather::{Gathered, Gathering, Mode};
pub use interval::{
    Display, FilterError, Interval, IntervalFileError, IntervalFilter, IntervalMessage, Intervals,
    KeyPattern, Level, Locator, MAX_FILE_BYTES, MAX_ITEMS, Pair, Pairs, Source, TimelineFile,
    file_suffix, read_intervals, source, write_intervals,
};
pub use junit::{JunitCase, JunitFile, JunitResult, write_junit};
pub use known::{
    component_of_namespace, component_of_operator, is_known_namespace, is_platform_namespace,
    known_namespaces, known_operators,
};
pub use outcome::{Excuse, Judged, Outcome, Verdict, junit_name};
pub use rows::{Row, RowOrigin};
pub use rule::{RuleErrors, RuleMistake, RuleSet};
pub use run::{
    Asked, RunReport, RunTrust, Selection, Work, run_intervals, run_reel, run_reel_while,
    run_reel_with_intervals,
};
pub use select::Glob;
pub use verdict::{
    About, Case, Dark, Finding, LookedAt, MonitorTest, Needs, Phase, Scene, Severity, Subject,
    WrittenIn,
};
