//! Our own monitortests in Rust, which no upstream monitor has: how highly available workloads are,
//! what became of version Pods, whether the recording is whole.

mod ha;
mod list;
mod recording;
mod version_pods;

pub use list::own;
