//! Reads scenario files.

use super::story::tell;
use super::{Growth, Plan, Scenario, ScenarioError};

/// The scenario *small*: a cluster's life in about a minute.
///
/// # Errors
///
/// The file in `testdata/scenarios` is not a scenario.
pub fn small() -> Result<Scenario, ScenarioError> {
    Scenario::read(include_str!("../../../testdata/scenarios/small.yaml"))
}

/// What makes *small* large: at least 200,000 watch events on a real control plane.
///
/// # Errors
///
/// The file in `testdata/scenarios` is no growth.
pub fn large() -> Result<Growth, ScenarioError> {
    Growth::read(include_str!("../../../testdata/scenarios/large.yaml"))
}

impl Scenario {
    /// Reads a scenario from YAML.
    ///
    /// # Errors
    ///
    /// It is not a scenario; the message names the place.
    pub fn read(yaml: &str) -> Result<Self, ScenarioError> {
        serde_saphyr::from_str(yaml).map_err(|error| ScenarioError::Unreadable {
            message: error.to_string(),
        })
    }

    /// Lays the scenario out in time.
    ///
    /// # Errors
    ///
    /// It contradicts itself.
    pub fn plan(&self) -> Result<Plan, ScenarioError> {
        tell(self)
    }
}

#[cfg(test)]
mod tests {
    use super::super::step::{Act, Step};
    use super::*;

    fn plan() -> Plan {
        small().unwrap().plan().unwrap()
    }

    /// All statuses that are written to an object of a kind, with their times.
    fn statuses<'p>(plan: &'p Plan, kind: &str, name: &str) -> Vec<&'p serde_json::Value> {
        let of = |step: &'p Step| match &step.act {
            Act::UpdateStatus { target, status } if target.kind == kind && target.name == name => {
                Some(status)
            }
            _ => None,
        };
        plan.steps.iter().filter_map(of).collect()
    }

    fn condition<'s>(status: &'s serde_json::Value, kind: &str) -> Option<&'s serde_json::Value> {
        let conditions = status["conditions"].as_array()?;
        conditions.iter().find(|entry| entry["type"] == kind)
    }

    #[test]
    fn the_same_seed_gives_the_same_plan() {
        let text = |plan: &Plan| serde_json::to_string(plan).unwrap();
        assert_eq!(text(&plan()), text(&plan()));
        let mut other = small().unwrap();
        other.seed += 1;
        assert_ne!(text(&plan()), text(&other.plan().unwrap()));
    }

    #[test]
    fn steps_are_in_order_and_within_the_scenario() {
        let plan = plan();
        assert!(plan.steps.is_sorted_by_key(|step| step.at));
        assert!(plan.steps.iter().all(|step| step.at <= plan.end));
        assert!(
            plan.landmarks
                .iter()
                .all(|landmark| landmark.at <= plan.end)
        );
        assert!(plan.steps.len() > 1000, "{}", plan.steps.len());
    }

    #[test]
    fn every_fault_is_planted_and_shows() {
        let plan = plan();
        for kind in [
            "flap",
            "degraded",
            "crash-loop",
            "failed-pull",
            "force-delete",
        ] {
            let fault = plan
                .faults_of(kind)
                .next()
                .unwrap_or_else(|| panic!("{kind}"));
            assert!(
                plan.steps.iter().any(|step| step.at == fault.at),
                "{fault:?}"
            );
        }
        let flap = plan.faults_of("flap").next().unwrap();
        let lasts = flap.until.unwrap().millis() - flap.at.millis();
        assert!((1..60_000).contains(&lasts), "{lasts}");
    }

    #[test]
    fn canaries_are_in_secrets_only_and_in_an_annotation_too() {
        let plan = plan();
        let mut annotated = 0;
        for needle in plan.canaries.iter().flat_map(super::super::Canary::needles) {
            for step in &plan.steps {
                let text = serde_json::to_string(step).unwrap();
                if !text.contains(&needle) {
                    continue;
                }
                assert!(text.contains(r#""kind":"Secret""#), "{text}");
                annotated += usize::from(text.contains("last-applied-configuration"));
            }
        }
        assert!(annotated > 0);
    }

    #[test]
    fn cluster_version_is_written_as_the_genuine_operator_does() {
        let plan = plan();
        let written = statuses(&plan, "ClusterVersion", "version");
        let accepted: Vec<_> = written
            .iter()
            .map(|status| {
                condition(status, "ReleaseAccepted").unwrap()["status"]
                    .as_str()
                    .unwrap()
            })
            .collect();
        assert!(accepted.contains(&"False") && !accepted.contains(&"Unknown"));
        let refused = written
            .iter()
            .position(|status| condition(status, "ReleaseAccepted").unwrap()["status"] == "False");
        let (before, refused) = (written[refused.unwrap() - 1], written[refused.unwrap()]);
        for field in ["history", "desired", "observedGeneration"] {
            assert_eq!(
                before[field], refused[field],
                "{field} stays at the old release"
            );
        }
        let states: Vec<Vec<&str>> = written
            .iter()
            .map(|status| {
                let history = status["history"].as_array().unwrap();
                history
                    .iter()
                    .map(|entry| entry["state"].as_str().unwrap())
                    .collect()
            })
            .collect();
        let mut turns = states;
        turns.dedup();
        let expected: [&[&str]; 4] = [
            &["Partial"],
            &["Completed"],
            &["Partial", "Completed"],
            &["Completed", "Completed"],
        ];
        assert_eq!(turns, expected);
        assert!(condition(written.last().unwrap(), "Upgradeable").is_none());
    }

    #[test]
    fn operators_change_version_by_level() {
        let scenario = small().unwrap();
        let plan = scenario.plan().unwrap();
        let version = &plan.outcome.version;
        let mut arrivals: Vec<(u32, super::super::Moment)> = Vec::new();
        for operator in &scenario.operators {
            let arrived = plan.steps.iter().find(|step| match &step.act {
                Act::UpdateStatus { target, status } => {
                    target.name == operator.name
                        && status["versions"][0]["version"] == version.as_str()
                }
                _ => false,
            });
            arrivals.push((
                operator.level,
                arrived.unwrap_or_else(|| panic!("{}", operator.name)).at,
            ));
        }
        arrivals.sort_unstable();
        assert!(
            arrivals.is_sorted_by(|(a, at), (b, then)| a == b || at < then),
            "{arrivals:?}"
        );
    }

    #[test]
    fn a_scenario_that_contradicts_itself_is_refused() {
        let mut scenario = small().unwrap();
        scenario.end_secs = 300.0;
        assert!(matches!(
            scenario.plan(),
            Err(ScenarioError::TooShort { .. })
        ));
        let mut scenario = small().unwrap();
        scenario.faults.flap.operator = "nobody".to_owned();
        assert!(matches!(
            scenario.plan(),
            Err(ScenarioError::NoSuchOperator { .. })
        ));
        assert!(matches!(
            Scenario::read("name: [1"),
            Err(ScenarioError::Unreadable { .. })
        ));
    }
}
