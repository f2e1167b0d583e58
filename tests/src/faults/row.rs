//! Owns the form of a row. Refuses rows.

/// What a fault is played on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The scripted API server, or the harness's TCP proxy.
    Scripted,
    /// Real API servers and a real etcd.
    Real,
    /// A part of the recorder, with a clock or a file of the test's own.
    Unit,
}

impl Place {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scripted => "scripted",
            Self::Real => "real",
            Self::Unit => "unit",
        }
    }
}

/// A test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Test {
    /// Where it is played.
    pub place: Place,
    /// Its file, from the workspace on.
    pub file: &'static str,
    /// Its function.
    pub name: &'static str,
}

/// What a recorder must make of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Everything is in the reel, as it came.
    Whole,
    /// Everything that the server's history still has is in the reel; the rest lies in a gap that says so.
    ReadBack,
    /// What is missing lies in a gap that says so.
    Gap,
    /// It is kept as it came, marked, and costs nothing else.
    Kept,
    /// It is said by name, and costs nothing else.
    Said,
    /// What follows is told apart from what was before.
    ToldApart,
    /// Nothing that could not be read is claimed.
    NoClaim,
    /// The oracle names each loss and no other.
    Noticed,
}

impl Expected {
    /// The words for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Whole => "nothing is lost",
            Self::ReadBack => "nothing is lost that the server still has; the rest is a gap",
            Self::Gap => "what is missing is a gap that says so",
            Self::Kept => "kept and marked; nothing else is lost",
            Self::Said => "said by name; nothing else is lost",
            Self::ToldApart => "told apart; nothing is mixed up",
            Self::NoClaim => "nothing is claimed",
            Self::Noticed => "the oracle names each loss, and no other",
        }
    }
}

/// A fault of the list.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The fault.
    pub fault: &'static str,
    /// What must come of it; none for a row that is open.
    pub expected: Option<Expected>,
    /// The tests that show it; none for a row that is open.
    pub tests: &'static [Test],
    /// Why it is open, or what its tests leave open; may be empty.
    pub remark: &'static str,
}

impl Row {
    /// The same row, with what its tests leave open.
    pub(super) const fn but(self, remark: &'static str) -> Self {
        Self { remark, ..self }
    }
}

/// A fault with its tests.
pub(super) const fn row(fault: &'static str, expected: Expected, tests: &'static [Test]) -> Row {
    Row {
        fault,
        expected: Some(expected),
        tests,
        remark: "",
    }
}

/// A test on the scripted server.
pub(super) const fn scripted(file: &'static str, name: &'static str) -> Test {
    Test {
        place: Place::Scripted,
        file,
        name,
    }
}

/// A test on the real control plane.
pub(super) const fn real(file: &'static str, name: &'static str) -> Test {
    Test {
        place: Place::Real,
        file,
        name,
    }
}

/// A test of a part of the recorder.
pub(super) const fn unit(file: &'static str, name: &'static str) -> Test {
    Test {
        place: Place::Unit,
        file,
        name,
    }
}
