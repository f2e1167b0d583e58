//! Owns what is said about exceptions after a run: those of the user that covered nothing, and those
//! whose time is over.

use super::runs::Ran;
use super::suite::Suite;
use crate::command_error::CommandError;
use crate::screen::Screen;
use kubereel_monitortests::{Exception, MonitorTest, Uses};

/// Why an exception is spoken of.
pub(super) enum Idle {
    /// It covered nothing although a rule of it ran.
    Unused,
    /// Its time is over; how many findings it would have covered.
    Expired { findings: u64 },
}

/// Finds the user's exceptions that did nothing.
pub(super) fn idle<'a>(suite: &'a Suite, all: &[Ran]) -> Vec<(&'a Exception, Idle)> {
    let mut uses = Uses::default();
    for report in all.iter().filter_map(|ran| ran.report.as_ref().ok()) {
        uses.add(&report.uses);
    }
    let ids = |tests: Vec<Box<dyn MonitorTest>>| {
        let ids = tests.iter().map(|test| test.about().id.clone());
        ids.collect::<Vec<String>>()
    };
    let (ran, known) = (ids(suite.tests()), ids(suite.every_test()));
    let own = suite.exceptions.all().iter().enumerate();
    let own = own.filter(|(_, exception)| !exception.is_builtin);
    let idle = own.filter_map(|(place, exception)| {
        let count = |counts: &[u64]| counts.get(place).copied().unwrap_or(0);
        let findings = count(&uses.too_late);
        if findings > 0 {
            return Some((exception, Idle::Expired { findings }));
        }
        let could_cover = ran.iter().any(|rule| exception.is_about(rule));
        let is_known = known.iter().any(|rule| exception.is_about(rule));
        // What was left out by the choice of rules is not unused.
        (count(&uses.covered) == 0 && (could_cover || !is_known))
            .then_some((exception, Idle::Unused))
    });
    idle.collect()
}

/// Says which exceptions did nothing.
pub(super) fn print(suite: &Suite, all: &[Ran], screen: &mut Screen) -> Result<(), CommandError> {
    for (exception, idle) in idle(suite, all) {
        let at = exception.written_at();
        let words = match idle {
            Idle::Unused => "unused exception: it matches no finding".to_owned(),
            Idle::Expired { findings } => format!(
                "expired exception: it would have covered {}",
                crate::words::count(findings, "finding")
            ),
        };
        screen.aside(format!("{at}: {words}"))?;
    }
    Ok(())
}
