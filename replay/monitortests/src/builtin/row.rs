//! Owns what is known of one JUnit name of the OpenShift monitor: where it is judged here, or why it is
//! not. Refuses the judgement.

/// How a name is judged here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By a rule of the language.
    Yaml,
    /// By Rust; why the language cannot say it.
    Rust {
        /// The reason.
        because: &'static str,
    },
    /// Not at all.
    NotPossible {
        /// The reason.
        because: &'static str,
    },
}

/// A row of the table of upstream's JUnit names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its number; those of several names of one kind follow each other.
    pub number: u8,
    /// The id of the monitortest here; where there is none, the id that it would have.
    pub id: &'static str,
    /// The upstream monitor test, the word of `[Monitor:…]`.
    pub monitor: &'static str,
    /// The name in JUnit, with places such as `{operator}`.
    pub junit: &'static str,
    /// How it is judged.
    pub way: Way,
    /// How it differs from upstream on purpose; empty if it does not.
    pub differs: &'static str,
}
