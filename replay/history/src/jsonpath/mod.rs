//! Paths into objects, those of printed columns for one: the server's own dialect of `JSONPath`, with
//! its oddities.
//!
//! What a path finds follows kubernetes `client-go/util/jsonpath`, version 0.36: `.a.b`, `['a']`,
//! `[0]`, `[1:3]`, `[0,2]`, `[*]`, `.*`, `..a` and `[?(@.type=="Ready")]`.

mod compare;
mod parse;
mod walk;

pub(crate) use parse::Path;
