//! A scripted API server: a cluster in memory behind HTTP/1.1 on loopback that serves exactly the
//! configured bytes.
//!
//! A healthy server's behaviour towards a recorder (discovery, lists, watches) and every way to
//! spoil it, and remembers all it committed, so that a recording can be compared with it. It does
//! not share code with kubereel's own crates: it is an independent oracle.

mod client;
mod cluster;
mod discovery;
mod fault;
mod list;
mod log;
mod model;
mod resource;
mod respond;
mod stream;
mod wire;
mod writes;

pub use client::{Fetched, RawClient, Tail, chunks, unchunked};
pub use cluster::Kubeconfig;
pub use cluster::noise;
pub use cluster::{Aggregation, Chunking, Gzip, InitialEnd, Settings, WatchList};
pub use cluster::{ScriptedCluster, StreamHold};
pub use fault::{AnswerCut, Canned, Edit, End, Fault, FaultId, LongList, On, Pick, Place};
pub use log::{Altered, Change, Committed, Standing};
pub use log::{Ending, Exchange, Progress, RequestHead};
pub use resource::Resource;
pub use writes::{Churn, Churning};
