//! What becomes of the cases of monitortests: findings are held against exceptions, and each case has
//! one verdict.

mod judged;
mod name;
mod outcome_of;
mod verdict;

pub use judged::{Excuse, Judged};
pub use name::junit_name;
pub use outcome_of::Outcome;
pub(crate) use outcome_of::{join_same_names, outcome};
pub use verdict::Verdict;
