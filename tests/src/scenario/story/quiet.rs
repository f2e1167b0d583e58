//! The quiet time: an operator that is not available for a moment, and controllers that grumble.

use super::super::{Moment, ScenarioError};
use super::teller::Teller;

/// Controllers repeat themselves this often; the Event's count rises.
const GRUMBLE_EVERY_SECS: f64 = 7.0;

pub(super) fn tell(teller: &mut Teller<'_>) -> Result<(), ScenarioError> {
    let scenario = teller.scenario;
    let flap = &scenario.faults.flap;
    let operator = teller.operator(&flap.operator)?;
    let at = Moment::from_secs(flap.at_secs);
    let until = at + flap.for_secs;
    teller.change_operator(at, &operator, |status| {
        status.fail(at, &flap.reason, &flap.message);
    });
    let told = format!(
        "Status for clusteroperator/{} changed: Available changed from True to False (\"{}\")",
        flap.operator, flap.message
    );
    teller.say_by(at + 0.02, &operator, true, "OperatorStatusChanged", told);
    teller.change_operator(until, &operator, |status| status.serve_again(until));
    let told = format!(
        "Status for clusteroperator/{} changed: Available changed from False to True",
        flap.operator
    );
    teller.say_by(
        until + 0.02,
        &operator,
        false,
        "OperatorStatusChanged",
        told,
    );
    teller.plant(
        "flap",
        format!("ClusterOperator {}", flap.operator),
        at,
        Some(until),
    );
    tell_grumbling(teller);
    Ok(())
}

/// A few controllers say the same thing again and again, from the installation to the end.
fn tell_grumbling(teller: &mut Teller<'_>) {
    let scenario = teller.scenario;
    let grumblers: Vec<_> = scenario.operators.iter().take(6).collect();
    let mut at = Moment::from_secs(scenario.install.begins_secs) + 90.0;
    let end = Moment::from_secs(scenario.end_secs);
    let mut round = 0;
    while at < end && !grumblers.is_empty() {
        let Some(operator) = grumblers.get(round % grumblers.len()) else {
            break;
        };
        let told = "Controller \"StatusSyncer\" resync interval is set to 10s which might lead to client request throttling";
        teller.say_by(at, operator, true, "FastControllerResync", told.to_owned());
        at = at + GRUMBLE_EVERY_SECS;
        round += 1;
    }
}
