//! A scripted API server: a cluster in memory behind HTTP/1.1 on loopback that says exactly the bytes it is told to.
//!
//! Owns a healthy server's behaviour towards a recorder (discovery, lists, watches) and every way to spoil it,
//! and remembers all it committed, so that a recording can be held against it.
//! Refuses to share code with kubereel's own crates: it is an independent oracle.

mod answer;
mod churn;
mod client;
mod clock;
mod cluster;
mod deliver;
mod discovery;
mod etag;
mod fault;
mod gzip;
mod http;
mod kubeconfig;
mod list;
mod log;
mod model;
mod noise;
mod oracle;
mod questions;
mod resource;
mod respond;
mod route;
mod settings;
mod state;
mod storage;
mod stream;
mod template;
mod wire;
mod writes;

pub use churn::{Churn, Churning};
pub use client::{Fetched, RawClient, Tail, chunks, unchunked};
pub use cluster::{Held, ScriptedCluster};
pub use fault::{Canned, Cut, Edit, End, Fault, FaultId, LongList, On, Pick, Place};
pub use kubeconfig::Kubeconfig;
pub use log::{Asked, Ending, Exchange, Progress};
pub use noise::noise;
pub use oracle::{Altered, Change, Committed, Standing};
pub use resource::Resource;
pub use settings::{Aggregation, Chunking, Gzip, InitialEnd, Settings, WatchList};
