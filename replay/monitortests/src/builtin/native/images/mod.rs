//! Images that tests pull. Rust, because which images are known stands in the cluster's image streams
//! and in its version, whose references must be taken apart.

mod judge;
mod known;

pub(crate) use judge::KnownImages;
