//! Parses responses: splits bytes into lines and list items, and parses the head of each. An object
//! stays the server's bytes.

mod head;
mod line;
mod split;

pub(crate) use head::{LineKind, ObjectHead, bookmark, error_message, event, head, line, status};
pub(crate) use line::{LinePiece, LineSplitter};
pub(crate) use split::{ListMeta, ListPiece, ListSplitter};
