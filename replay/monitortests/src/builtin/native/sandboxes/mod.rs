//! Pods whose sandbox could not be made. Rust, because what a failure means depends on when the Pod was
//! deleted, on its node and on roll-outs, and because its words choose the case.

mod judge;
mod pods;
mod words;

pub(crate) use judge::SandboxFailures;
