//! Rules over time: a reel or a file of intervals goes in, verdicts come out, the same ones each time.
//!
//! `feed` reads a reel once and tells watchers what changed of the fields they read; `interval` is the
//! vocabulary of spans of time; `known` holds the platform's operators and namespaces; `builtin` the
//! monitortests that come along; `verdict` is
//! what a monitortest says. Synchronous, without network, terminal or clock.

mod builtin;
#[expect(dead_code, reason = "the engine that evaluates is being built")]
mod cel;
mod facts;
mod feed;
mod interval;
mod known;
#[expect(dead_code, reason = "the engine that evaluates is being built")]
mod rule;
mod verdict;

pub use builtin::{Row as UpstreamRow, Way, builtin_rule_files, objects, rows as upstream_rows};
pub use facts::{Facts, FactsOverTime, UpgradeWindow};
pub use feed::{Action, Fed, FeedError, Interest, Seen, Watcher, feed};
pub use interval::{Display, Interval, IntervalMessage, Intervals, Level, Locator, Source};
pub use known::{
    component_of_namespace, component_of_operator, is_known_namespace, is_platform_namespace,
    known_namespaces, known_operators,
};
pub use rule::{RuleErrors, RuleMistake, RuleSet};
pub use verdict::{
    About, Case, Dark, Finding, MonitorTest, Needs, Phase, Scene, Severity, Subject, WrittenIn,
};
