//! Every call on a kube client: how one is built, and the one request that the recorder makes, a GET whose
//! answer is bytes. No typed answers, hidden retries, compression or connection reuse.

mod answer;
mod client;
mod failure;

pub(crate) use answer::{ApiServer, Get, HttpAnswer, query_value};
pub(crate) use client::{client, of_system};
pub(crate) use failure::{Failure, FailureKind, chain};
