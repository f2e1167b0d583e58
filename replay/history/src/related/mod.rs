//! How objects hang together: who owns whom.

mod owned;
mod owners;

pub use owned::{Owned, OwnedObject};
pub use owners::{Child, OwnerRef, Relatives};
