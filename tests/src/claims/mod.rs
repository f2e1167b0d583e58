//! What a reel claims of itself, as `kubereel verify` tells it, held against what the servers' own
//! oracle knows: recorded, read back and declared missing make up all of it, and no claim is false.
//!
//! Owns the comparison, for the scripted server and for etcd alike. Refuses to ask the recorder.

mod fact;
mod judged;
mod said;
mod tally;

pub use fact::Fact;
pub use said::Claims;
pub use tally::Tally;
