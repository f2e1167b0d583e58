//! Owns the fields of one object that only mean something together: a variable's name and value, a
//! reference's kind and name. Refuses to judge them.

use std::ops::Range;

/// Where such fields stand; a field may stand there more than once.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// Values of `name`.
    pub(super) names: Vec<Range<usize>>,
    /// Values of `value`.
    pub(super) values: Vec<Range<usize>>,
    /// Values of `kind`.
    pub(super) kinds: Vec<Range<usize>>,
    /// Values of `uid`.
    pub(super) uids: Vec<Range<usize>>,
}

impl Pairs {
    /// Notes a field.
    pub(super) fn note(&mut self, key: &str, value: Range<usize>) {
        let is = |name: &str| key.eq_ignore_ascii_case(name);
        match key.len() {
            4 if is("name") => self.names.push(value),
            4 if is("kind") => self.kinds.push(value),
            5 if is("value") => self.values.push(value),
            3 if is("uid") => self.uids.push(value),
            _ => {}
        }
    }
}
