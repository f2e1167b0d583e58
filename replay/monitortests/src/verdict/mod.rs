//! What a monitortest is asked and what it says.

mod about;
mod case;
mod finding;
mod looked_at;
mod monitor_test;

pub use about::{About, Needs, WrittenIn};
pub use case::{Case, Dark};
pub use finding::{Finding, Phase, Severity, Subject};
pub use looked_at::LookedAt;
pub use monitor_test::{MonitorTest, Scene};
