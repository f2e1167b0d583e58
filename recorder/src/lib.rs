//! Placeholder docs, replaced as the crate grows.
