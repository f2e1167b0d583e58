//! A built-in monitortest with a recording that it finds wrong and one that it passes, and the check of
//! both.

use crate::verdicts::judged::{judged, judged_all, tail};
use crate::verdicts::reel::Reel;
use kubereel_monitortests::CaseVerdict;

/// A monitortest with two recordings.
pub struct Fixture {
    /// The monitortest.
    pub id: &'static str,
    /// The case, as it is called in JUnit, without `[Monitor:…]` and `[Jira:…]`.
    pub case: &'static str,
    /// A recording in which it finds something wrong.
    pub bad: fn() -> Reel,
    /// What it says then. Of one that only says by its presence that something happened it is `Pass`;
    /// that one is absent from the other recording.
    pub verdict: CaseVerdict,
    /// When what is wrong began.
    pub at: &'static str,
    /// What it says of it, or a part of that.
    pub says: &'static str,
    /// A recording, as near as can be, in which it finds nothing wrong.
    pub good: fn() -> Reel,
}

impl Fixture {
    /// Checks both recordings.
    pub fn check(&self) {
        let bad = judged((self.bad)(), self.id);
        if self.verdict == CaseVerdict::Pass {
            bad.passes(self.case);
            let all = judged_all((self.good)()).outcomes;
            assert!(
                all.iter().all(|one| tail(&one.name) != self.case),
                "{}",
                self.id
            );
            return;
        }
        bad.is(self.case, self.verdict.as_str());
        bad.says(self.case, self.at, self.says);
        if self.verdict == CaseVerdict::Fail {
            assert_eq!(bad.names_of_failed(), [self.case], "{}", self.id);
        } else {
            assert_eq!(bad.names_not_passed(), [self.case], "{}", self.id);
        }
        judged((self.good)(), self.id).passes(self.case);
    }
}
