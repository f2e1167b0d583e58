//! What was wrong in a reel, from when to when, and which changes may have caused it.
//!
//! Signs are read from versions of objects (`signs`), become spans of time in one pass (`collect`),
//! are grouped and ranked (`list`) and explained (`cause`). The same list is what the command, the
//! screen and the observer's files show, and what `rules` makes cases of `JUnit` of. Rules over time
//! are judged by `monitortests`.

mod birth;
mod cause;
mod certificate;
mod collect;
mod deadline;
mod drain;
mod endpoints;
mod event_words;
mod expected;
mod list;
mod lookup;
mod objects;
mod problem;
mod rank;
mod refusal;
mod rollout;
mod rules;
mod schedule;
mod sign;
mod signs;
mod span;
mod story;
mod words;

pub use endpoints::{ServiceChange, ServiceHistory, ServiceStates};
pub use list::{ProblemWatcher, problems};
pub use problem::{
    Cause, CheckedReel, InstallationNoise, Problem, ProblemList, ProblemObject, ProblemSign,
    RolloutOutcome, UnknownEnd, WorkloadRollout,
};
pub use rules::{PROBLEMS_MONITOR, monitor_tests};
pub use sign::{ProblemClass, SignKind};
pub use signs::is_judged_by_conditions;
pub use story::{ClusterPortrait, ClusterStory, StoryStep};
pub use words::{shortened, shortened_inside, value_text};
