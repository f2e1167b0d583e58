//! Owns what is said about a monitortest before it runs. Refuses what a run found.

/// In what a monitortest is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrittenIn {
    /// The rule language.
    Yaml,
    /// Rust, because the language cannot say it.
    Rust,
}

/// What a monitortest is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// Its own short name, unique, of lower-case letters, digits and dashes: `operator-available`.
    pub id: String,
    /// The upstream monitor test that it belongs to, without `[Monitor:…]`.
    pub monitor: String,
    /// The names that its cases have in JUnit, with places such as `{operator}`; without `[Monitor:…]`
    /// and `[Jira:…]`.
    pub junit: String,
    /// What it looks for, in a sentence or two.
    pub description: String,
    /// Who answers for it: a team, a SIG or a component.
    pub owner: String,
    /// Where the rule comes from: an upstream source or a document.
    pub origin: String,
    /// Whether it never fails a run, only flakes.
    pub is_flake_only: bool,
    /// In what it is written.
    pub written_in: WrittenIn,
}

/// What a monitortest must have to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Resources whose objects it reads, as `plural` or `plural.group`; with any of them, a file of
    /// intervals is not enough. Where one was not recorded at all, it is skipped; where it was not seen
    /// for a while, the test itself says so in its cases, for it knows which times matter.
    pub objects: Vec<String>,
    /// Resources from whose objects its intervals are made, `plural` or `plural.group`: where they were
    /// not recorded it is skipped, and where they were not seen all the time, its cases without findings
    /// are unknown: the run adds those times to them.
    pub seen: Vec<String>,
    /// Whether it needs to know what cluster it was.
    pub facts: bool,
}
