//! Owns the fields of one object that only mean something together: a variable's name and value, a
//! reference's kind and name. Refuses to judge them.

use crate::names;
use std::ops::Range;

/// Where such fields stand; a field may stand there more than once.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// Where `name`, `key` and the like stand, and whether it is `name`.
    pub(super) names: Vec<(bool, Range<usize>)>,
    /// Where `value`, `default` and the like stand, with the names of those fields.
    pub(super) values: Vec<(String, Range<usize>)>,
    /// Values of `kind`.
    pub(super) kinds: Vec<Range<usize>>,
    /// Values of `uid`.
    pub(super) uids: Vec<Range<usize>>,
    /// Whether a `kty` makes the object a JSON web key.
    pub(super) is_key: bool,
    /// Values of the private members of a JSON web key.
    pub(super) key_members: Vec<Range<usize>>,
}

impl Pairs {
    /// Notes a field.
    pub(super) fn note(&mut self, key: &str, value: Range<usize>) {
        let is = |name: &str| key.eq_ignore_ascii_case(name);
        match key.len() {
            4 if is("kind") => self.kinds.push(value),
            3 if is("uid") => self.uids.push(value),
            3 if key == "kty" => self.is_key = true,
            1 | 2 if matches!(key, "d" | "p" | "q" | "dp" | "dq" | "qi" | "k") => {
                self.key_members.push(value);
            }
            _ if names::is_name_field(key) => {
                self.names.push((key.eq_ignore_ascii_case("name"), value));
            }
            _ if names::is_value_field(key) => self.values.push((key.to_owned(), value)),
            _ => {}
        }
    }
}
