//! Owns the keys about bookmarks and marks. Refuses to look them up.

use super::binding::Binding;
use super::binding::Key::{Char, Named};
use super::binding::Where::{Bookmarks, Timeline};
use super::binding::row;
use crate::msg::{Act, Way};

/// The keys about bookmarks and marks.
pub(super) const KEYS: &[Binding] = &[
    row(
        Timeline,
        &[Char('m')],
        &[Act::Bookmark],
        "m",
        "set a bookmark here, with a note",
        "",
    ),
    row(
        Timeline,
        &[Char('\'')],
        &[Act::Bookmarks],
        "'",
        "list the bookmarks",
        "",
    ),
    row(
        Timeline,
        &[Char('{'), Char('}')],
        &[Act::Mark(Way::Previous), Act::Mark(Way::Next)],
        "{ }",
        "previous, next bookmark or stage",
        "",
    ),
    row(
        Timeline,
        &[Char('v')],
        &[Act::Compare],
        "v",
        "set A here; then compare A with here",
        "",
    ),
    row(
        Bookmarks,
        &[Char('d'), Named("Delete")],
        &[Act::Remove],
        "d",
        "remove the bookmark",
        "remove",
    ),
    row(
        Bookmarks,
        &[Char('m')],
        &[Act::Bookmark],
        "m",
        "write another note",
        "note",
    ),
];
