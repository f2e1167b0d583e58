//! What an observer says of its own recording when it ends, and before: the cases, and the forms in which
//! CI reads them.

mod case;
mod junit;
mod metadata;
mod page;
mod stage;
mod summary;
mod words;

pub(super) use junit::junit;
pub(super) use metadata::metadata;
pub(super) use page::page;
pub(super) use stage::{Report, Stage};
pub(super) use summary::summary;

use case::{Verdict, cases};
