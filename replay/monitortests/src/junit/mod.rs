//! Verdicts as JUnit, in the form that OpenShift's CI reads: one flat suite, a flake as two cases of one
//! name, evidence inside the failure.

mod file;
mod xml;

pub use file::{JunitCase, JunitFile, JunitResult, write_junit};
