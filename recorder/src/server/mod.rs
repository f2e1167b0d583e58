//! Owns every call on a kube client: how one is built, and the one request that the recorder makes,
//! a GET whose answer is bytes. Refuses typed answers, hidden retries, compression and connection
//! reuse.

mod answer;
mod build;
mod failure;
mod unquoted;

pub(crate) use answer::{Answer, Get, Server, query_value};
pub(crate) use build::client;
pub(crate) use failure::{Failure, FailureKind, chain};
pub(crate) use unquoted::of_system;
