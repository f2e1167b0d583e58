//! Owns a list to choose from that letters narrow. Refuses to know what is listed.

/// A list to choose from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The row that is chosen, of those that the letters leave.
    pub(crate) at: usize,
    /// The letters.
    pub(crate) text: String,
}

impl Choice {
    /// Tells whether a name is left.
    pub(crate) fn leaves(&self, name: &str) -> bool {
        let mut words = self.text.split_whitespace();
        let name = name.to_lowercase();
        words.all(|word| name.contains(&word.to_lowercase()))
    }
}
