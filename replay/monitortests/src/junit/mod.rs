//! Verdicts as JUnit, in the form that OpenShift's CI reads: one flat suite, a flake as two cases of one
//! name, evidence inside the failure.

mod case;
mod file;
mod text;
mod xml;

pub use case::{JunitCase, JunitResult};
pub use file::{JunitFile, write_junit};
