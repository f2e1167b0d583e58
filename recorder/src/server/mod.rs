//! All use of the kube client: how it is built, and the only request that the recorder makes, a GET
//! whose response is bytes. Typed responses, hidden retries, compression and connection reuse are
//! not used.

mod answer;
mod client;
mod failure;
mod token_file;

pub(crate) use answer::{ApiServer, Get, HttpAnswer, query_value};
pub(crate) use client::{client, of_system};
pub(crate) use failure::{Failure, FailureKind, chain};
