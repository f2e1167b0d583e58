//! Upgrades that others recorded or gathered are told as those say that they went.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::unwrap_in_result,
    reason = "what helps a test may fail it"
)]

mod expected;
mod facts;
mod oc_status;
mod told;

pub(crate) use oc_status::{folder as oc_folder, gathered as oc_reel, scenarios as oc_scenarios};
