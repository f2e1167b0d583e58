//! Owns every call on a kube client: how one is built, and the one request that the recorder makes,
//! a GET whose answer is bytes. Refuses typed answers, hidden retries, compression and connection
//! reuse.

mod answer;
mod client;
mod failure;

pub(crate) use answer::{Answer, Get, Server, query_value};
pub(crate) use client::{client, of_system};
pub(crate) use failure::{Failure, FailureKind, chain};
