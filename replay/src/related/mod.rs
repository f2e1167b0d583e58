//! How objects hang together: who owns whom.

mod owners;

pub use owners::{Child, OwnerRef, Relatives};
