//! Owns what is known of an object beside its bytes: of which resource it is. Refuses the bytes.

/// Of which resource an object is. What is not known is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Subject<'a> {
    /// The API group; empty for the core group.
    pub group: &'a str,
    /// The plural name.
    pub plural: &'a str,
    /// The kind.
    pub kind: &'a str,
}

impl<'a> Subject<'a> {
    /// Names a resource by group and plural.
    pub const fn new(group: &'a str, plural: &'a str) -> Self {
        Self {
            group,
            plural,
            kind: "",
        }
    }

    /// Adds the kind.
    #[must_use]
    pub const fn with_kind(mut self, kind: &'a str) -> Self {
        self.kind = kind;
        self
    }
}
