//! The lines that are written, and how many: one watch event each. Refuses to know what is in them.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::clock::Instant;
use super::kinds::Served;

/// What happened to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    Added,
    Modified,
    Deleted,
}

/// Writes lines until there are enough.
pub(super) struct Lines<'w> {
    out: &'w mut dyn Write,
    most: u64,
    pub(super) written: u64,
    pub(super) by_resource: BTreeMap<&'static str, u64>,
    line: String,
    failure: Option<io::Error>,
}

impl<'w> Lines<'w> {
    pub(super) fn new(out: &'w mut dyn Write, most: u64) -> Self {
        Self {
            out,
            most,
            written: 0,
            by_resource: BTreeMap::new(),
            line: String::new(),
            failure: None,
        }
    }

    /// Writes a line, unless there are enough of them.
    pub(super) fn put(&mut self, at: Instant, what: What, served: &Served, object: &str) {
        if self.is_over() {
            return;
        }
        let what = match what {
            What::Added => "ADDED",
            What::Modified => "MODIFIED",
            What::Deleted => "DELETED",
        };
        let (group, version) = served.group_version();
        self.line.clear();
        for part in [
            r#"{"ts":""#,
            &at.micros(),
            r#"","type":""#,
            what,
            r#"","group":""#,
            group,
            r#"","version":""#,
            version,
            r#"","resource":""#,
            served.plural,
            r#"","object":"#,
            object,
            "}\n",
        ] {
            self.line.push_str(part);
        }
        match self.out.write_all(self.line.as_bytes()) {
            Ok(()) => {
                self.written += 1;
                *self.by_resource.entry(served.plural).or_default() += 1;
            }
            Err(error) => self.failure = Some(error),
        }
    }

    /// Whether there are enough lines, or none can be written any more.
    pub(super) fn is_over(&self) -> bool {
        self.written >= self.most || self.failure.is_some()
    }

    /// Ends the writing.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        match self.failure.take() {
            Some(failure) => Err(failure),
            None => self.out.flush(),
        }
    }
}
