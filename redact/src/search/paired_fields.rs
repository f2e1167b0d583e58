//! The fields of one object that have a meaning only together: a variable's name and value, a
//! reference's kind and name, the arguments of a program.

use crate::names;
use std::ops::Range;

/// The places of such fields, which may occur more than once.
#[derive(Debug, Default)]
pub(super) struct PairedFields {
    /// The places of `name`, `key` and the like, and whether it is `name`.
    names: Vec<(bool, Range<usize>)>,
    /// The places of `value`, `default` and the like, with the names of those fields.
    values: Vec<(String, Range<usize>)>,
    /// Values of `kind`.
    kinds: Vec<Range<usize>>,
    /// Values of `uid`.
    uids: Vec<Range<usize>>,
    /// The places of `items`, with the names of those fields.
    items: Vec<(String, Range<usize>)>,
    /// Whether an `op` makes the object an operation of a JSON patch.
    is_patch: bool,
    /// Values of `path`.
    paths: Vec<Range<usize>>,
    /// Lists with the name of a program that takes a password.
    programs: Vec<(String, Range<usize>)>,
    /// `command` and `args` without one.
    arguments: Vec<(String, Range<usize>)>,
    /// Whether a `kty` makes the object a JSON web key.
    is_key: bool,
    /// Values of the private members of a JSON web key.
    key_members: Vec<Range<usize>>,
}

impl PairedFields {
    /// Notes a field.
    pub(super) fn note(&mut self, key: &str, value: Range<usize>, has_program: bool) {
        if has_program {
            self.programs.push((key.to_owned(), value));
            return;
        }
        let is = |name: &str| key.eq_ignore_ascii_case(name);
        match key.len() {
            4 if is("kind") => self.kinds.push(value),
            3 if is("uid") => self.uids.push(value),
            5 if is("items") => self.items.push((key.to_owned(), value)),
            2 if is("op") => self.is_patch = true,
            4 if is("path") => self.paths.push(value),
            3 if key == "kty" => self.is_key = true,
            1 | 2 if matches!(key, "d" | "p" | "q" | "dp" | "dq" | "qi" | "k") => {
                self.key_members.push(value);
            }
            4 | 7 if matches!(key, "args" | "command") => {
                self.arguments.push((key.to_owned(), value));
            }
            _ if names::is_name_field(key) => self.names.push((is("name"), value)),
            _ if names::is_value_field(key) => self.values.push((key.to_owned(), value)),
            _ => {}
        }
    }

    /// Returns the values beside a name, with the names of their fields.
    pub(super) fn values(&self) -> &[(String, Range<usize>)] {
        &self.values
    }

    /// Returns the names of variables.
    pub(super) fn variables(&self) -> impl Iterator<Item = &Range<usize>> {
        self.names.iter().map(|(_, name)| name)
    }

    /// Returns the names of objects.
    pub(super) fn objects(&self) -> impl Iterator<Item = &Range<usize>> {
        let named = self.names.iter().filter(|(is_name, _)| *is_name);
        named.map(|(_, name)| name)
    }

    /// Returns the kinds of the object.
    pub(super) fn kinds(&self) -> &[Range<usize>] {
        &self.kinds
    }

    /// Returns the uid of the object.
    pub(super) fn uid(&self) -> Option<&Range<usize>> {
        self.uids.first()
    }

    /// Returns the lists of items, with the names of their fields.
    pub(super) fn items(&self) -> &[(String, Range<usize>)] {
        &self.items
    }

    /// Returns the paths of a JSON patch.
    pub(super) fn patched_paths(&self) -> &[Range<usize>] {
        if self.is_patch { &self.paths } else { &[] }
    }

    /// Returns the private members of a JSON web key.
    pub(super) fn key_members(&self) -> &[Range<usize>] {
        if self.is_key { &self.key_members } else { &[] }
    }

    /// Returns the command lines with the name of a program that takes a password, each as its lists of arguments:
    /// `args` are those of the program in `command`.
    pub(super) fn command_lines(&self) -> Vec<Vec<(String, Range<usize>)>> {
        let is_part = |list: &(String, Range<usize>)| matches!(list.0.as_str(), "command" | "args");
        let (mut parts, lists): (Vec<_>, Vec<_>) = self.programs.iter().cloned().partition(is_part);
        let mut lines = Vec::new();
        if !parts.is_empty() {
            parts.extend(self.arguments.clone());
            parts.sort_by_key(|(name, _)| name != "command");
            lines.push(parts);
        }
        lines.extend(lists.into_iter().map(|list| vec![list]));
        lines
    }
}
