//! Tests that need no memory of their own: they judge intervals, facts and gaps when the run was read.

use crate::interval_needs::IntervalNeeds;
use crate::verdict::{JudgeContext, MonitorTest, MonitorTestInfo, Needs, TestCase};

/// A test, with the function that judges.
struct JudgedTest<J> {
    about: MonitorTestInfo,
    needs: Needs,
    looks_at: IntervalNeeds,
    judge: J,
}

/// Makes a test of a function that gets the name of its cases.
pub(super) fn judged_test(
    about: MonitorTestInfo,
    needs: Needs,
    looks_at: IntervalNeeds,
    judge: impl Fn(&str, &JudgeContext<'_>) -> Vec<TestCase> + 'static,
) -> Box<dyn MonitorTest> {
    Box::new(JudgedTest {
        about,
        needs,
        looks_at,
        judge,
    })
}

impl<J: Fn(&str, &JudgeContext<'_>) -> Vec<TestCase>> MonitorTest for JudgedTest<J> {
    fn about(&self) -> &MonitorTestInfo {
        &self.about
    }

    fn needs(&self) -> Needs {
        self.needs.clone()
    }

    fn looks_at(&self) -> IntervalNeeds {
        self.looks_at.clone()
    }

    fn judge(&mut self, scene: &JudgeContext<'_>) -> Vec<TestCase> {
        (self.judge)(&self.about.junit, scene)
    }
}
