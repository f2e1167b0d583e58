//! Owns how lists are sorted, which namespace is chosen in them, and what there is to choose from.
//! Refuses to count: answers bring what there is.

use crate::answer::{Kinds, Namespaces};
use std::sync::Arc;

/// How a list is sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Order {
    /// By name.
    #[default]
    Name,
    /// What changed last comes first.
    Changed,
}

impl Order {
    /// Gives the other one.
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::Name => Self::Changed,
            Self::Changed => Self::Name,
        }
    }

    /// Gives the words for it.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Name => "by name",
            Self::Changed => "changed last first",
        }
    }
}

/// How lists are sorted, and what there is to choose from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Browse {
    /// How objects are sorted.
    pub(crate) order: Order,
    /// How resources are sorted.
    pub(crate) kinds_order: Order,
    /// The resources, once they are counted.
    pub(crate) kinds: Option<Arc<Kinds>>,
    /// The namespaces, once they are counted.
    pub(crate) namespaces: Option<Arc<Namespaces>>,
}
