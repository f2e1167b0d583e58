//! The levels of an update laid out in time. Pure arithmetic over the scenario.

use super::super::Moment;
use super::super::dice::Dice;
use super::super::file::{Operand, OperandKind, Operator, Scenario};
use super::super::progress::Progress;
use super::installer::done;
use super::roll;

/// How one operator goes through an update.
#[derive(Debug, Clone)]
pub(super) struct OperatorRoll {
    pub(super) operator: Operator,
    /// Its Deployment gets the new image.
    pub(super) patched: Moment,
    /// Its new Pod reports.
    pub(super) progressing: Moment,
    /// Its operands are all new, and it reports the new version.
    pub(super) done: Moment,
    /// It is degraded within its own update.
    pub(super) degraded: Option<(Moment, Moment)>,
}

/// A level: its operators go side by side, and the next waits for all of them.
#[derive(Debug, Clone)]
pub(super) struct Level {
    pub(super) begins: Moment,
    pub(super) ends: Moment,
    pub(super) rolls: Vec<OperatorRoll>,
}

/// The operator whose update includes the nodes.
pub(super) const MACHINE_CONFIG: &str = "machine-config";

/// From the last operator of a level to the first write of the next.
const BETWEEN_LEVELS_SECS: f64 = 0.8;

/// Lays all levels out, the first beginning at `from`.
pub(super) fn lay_out(scenario: &Scenario, dice: Dice, from: Moment) -> Vec<Level> {
    let mut numbers: Vec<u32> = scenario
        .operators
        .iter()
        .map(|operator| operator.level)
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut begins = from;
    let mut levels = Vec::new();
    for number in numbers {
        let members = scenario
            .operators
            .iter()
            .filter(|operator| operator.level == number);
        let rolls: Vec<OperatorRoll> = members
            .map(|operator| roll_of(scenario, dice, begins, operator))
            .collect();
        let settled = |roll: &OperatorRoll| {
            roll.degraded
                .map_or(roll.done, |(_, until)| until.max(roll.done))
        };
        let ends = rolls.iter().map(settled).max().unwrap_or(begins);
        levels.push(Level {
            begins,
            ends,
            rolls,
        });
        begins = ends + BETWEEN_LEVELS_SECS;
    }
    levels
}

fn roll_of(scenario: &Scenario, dice: Dice, begins: Moment, operator: &Operator) -> OperatorRoll {
    let name = operator.name.as_str();
    let patched = begins + 0.05 + dice.secs(0.1, &["patched", name]);
    let progressing = patched + 7.0 + dice.secs(1.5, &["progressing", name]);
    let operands = operator
        .operands
        .iter()
        .map(rolls_within_secs)
        .fold(1.0, f64::max);
    let nodes = if name == MACHINE_CONFIG {
        roll::masters_secs(scenario)
    } else {
        0.0
    };
    let mut done = progressing + operands.max(nodes) + 1.0 + dice.secs(2.0, &["done", name]);
    let fault = &scenario.faults.degraded;
    let degraded = (fault.operator == name).then(|| {
        let from = progressing + fault.after_secs;
        (from, from + fault.for_secs)
    });
    if let Some((_, until)) = degraded {
        done = done.max(until + 0.1);
    }
    OperatorRoll {
        operator: operator.clone(),
        patched,
        progressing,
        done,
        degraded,
    }
}

/// How long an operand takes to roll, so that the story seldom has to wait for the cluster.
fn rolls_within_secs(operand: &Operand) -> f64 {
    match operand.kind {
        OperandKind::Deployment { replicas, .. } => 8.0 * f64::from(replicas),
        OperandKind::DaemonSet {} => 22.0,
    }
}

/// What the cluster-version operator says of an update at a time; `None` before and after.
pub(super) fn progress_at(scenario: &Scenario, levels: &[Level], at: Moment) -> Option<Progress> {
    let level = levels
        .iter()
        .find(|level| level.begins <= at && at < level.ends)?;
    let finished = levels
        .iter()
        .flat_map(|level| &level.rolls)
        .filter(|roll| roll.done <= at)
        .count();
    let operators = scenario.operators.len();
    let done = done(&scenario.update, operators, operators - finished);
    let pending: Vec<&str> = level
        .rolls
        .iter()
        .filter(|roll| roll.done > at)
        .map(|roll| roll.operator.name.as_str())
        .collect();
    let degraded = level
        .rolls
        .iter()
        .find(|roll| {
            roll.degraded
                .is_some_and(|(from, until)| from <= at && at < until)
        })
        .map(|roll| roll.operator.name.as_str());
    Some(match degraded {
        Some(operator) if pending.iter().all(|pending| *pending == operator) => {
            Progress::degraded(&scenario.update, done, operator)
        }
        Some(operator) => Progress::degraded_among_others(&scenario.update, operator),
        None => Progress::waiting(&scenario.update, done, &pending),
    })
}
