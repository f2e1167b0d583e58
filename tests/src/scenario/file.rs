//! A scenario file: a cluster, its releases, and when what happens to it. Times are virtual.

use serde::Deserialize;
use serde_json::Value;

use super::story::tell;
use super::{Growth, Plan, ScenarioError};
use crate::kubelet::NodeRole;

/// Types of the file; a field that none of them has is a mistake.
macro_rules! read {
    ($($item:item)+) => {
        $(#[derive(Debug, Clone, Deserialize)] #[serde(deny_unknown_fields)] $item)+
    };
}

read! {
    /// A scenario as it is written in `testdata/scenarios`.
    pub struct Scenario {
        /// Its name.
        pub name: String,
        /// All choices follow from it.
        pub seed: u64,
        /// How many virtual seconds a second of the clock takes, as it is meant to be played.
        pub speed: f64,
        /// When it is over.
        pub end_secs: f64,
        pub(super) cluster: Cluster,
        pub(super) installed: Release,
        pub(super) update: Release,
        pub(super) bootstrap: Bootstrap,
        pub(super) install: Install,
        pub(super) upgrade: Upgrade,
        pub(super) operators: Vec<Operator>,
        pub(super) shop: Shop,
        pub(super) faults: Faults,
        pub(super) secrets: Vec<SecretSpec>,
    }

    /// The cluster's own facts.
    pub(super) struct Cluster {
        pub(super) infrastructure_name: String,
        pub(super) base_domain: String,
        pub(super) nodes: Vec<NodeEntry>,
    }

    pub(super) struct NodeEntry {
        pub(super) name: String,
        pub(super) role: NodeRole,
        pub(super) zone: String,
        pub(super) joins_secs: f64,
    }

    /// A release.
    pub(super) struct Release {
        pub(super) version: String,
        pub(super) image: String,
        pub(super) manifests: u32,
    }

    pub(super) struct Bootstrap {
        pub(super) api_restarts: Vec<ApiRestart>,
    }

    #[derive(Copy)]
    pub(super) struct ApiRestart {
        pub(super) at_secs: f64,
        pub(super) server: usize,
    }

    #[expect(
        clippy::struct_field_names,
        reason = "the unit belongs into the names of the file"
    )]
    pub(super) struct Install {
        pub(super) begins_secs: f64,
        /// When the bootstrap operator ends; the one in the cluster goes on.
        pub(super) bootstrap_ends_secs: f64,
        /// When the operator in the cluster takes the Lease: it polls for it slowly.
        pub(super) cluster_takes_over_secs: f64,
    }

    pub(super) struct Upgrade {
        pub(super) asked_secs: f64,
        /// Pull errors of the version Pod's attempts, in order; the attempt after them goes well.
        pub(super) failed_pulls: Vec<String>,
    }

    /// A second-level operator.
    pub(super) struct Operator {
        pub(super) name: String,
        pub(super) namespace: String,
        /// Its level in the payload: an update goes level by level.
        pub(super) level: u32,
        /// When it is available, counted from the start of the installation.
        pub(super) available_secs: f64,
        #[serde(default)]
        pub(super) operands: Vec<Operand>,
    }

    /// What an operator looks after.
    pub(super) struct Operand {
        pub(super) name: String,
        pub(super) namespace: String,
        pub(super) kind: OperandKind,
    }

    #[serde(tag = "is", rename_all = "kebab-case")]
    pub(super) enum OperandKind {
        /// Replicas on nodes of one role, no two on one node.
        Deployment { replicas: u32, role: NodeRole },
        /// One on every node.
        DaemonSet {},
    }

    /// The user's own work.
    pub(super) struct Shop {
        pub(super) namespace: String,
        pub(super) created_secs: f64,
        /// When the Jobs are created.
        pub(super) jobs_secs: Vec<f64>,
    }

    /// The faults that are planted.
    pub(super) struct Faults {
        /// An operator is not available for less than a minute, in quiet times.
        pub(super) flap: Flap,
        /// An operator is degraded within its own update.
        pub(super) degraded: Degraded,
        /// A Pod of the user crashes again and again.
        pub(super) crash_loop: CrashLoop,
        /// A Pod of the user is deleted by force.
        pub(super) force_delete: ForceDelete,
    }

    pub(super) struct Flap {
        pub(super) operator: String,
        pub(super) at_secs: f64,
        pub(super) for_secs: f64,
        pub(super) reason: String,
        pub(super) message: String,
    }

    pub(super) struct Degraded {
        pub(super) operator: String,
        /// From the start of its own update.
        pub(super) after_secs: f64,
        pub(super) for_secs: f64,
        pub(super) reason: String,
        /// One message after the other while it lasts: only the recording keeps the earlier ones.
        pub(super) messages: Vec<String>,
    }

    pub(super) struct CrashLoop {
        pub(super) app: String,
        pub(super) exit_code: i32,
        pub(super) runs_secs: f64,
    }

    pub(super) struct ForceDelete {
        /// A `StatefulSet` of one: its Pod comes back under the same name.
        pub(super) app: String,
        pub(super) at_secs: f64,
    }

    /// A Secret whose values must never be recorded.
    pub(super) struct SecretSpec {
        pub(super) namespace: String,
        pub(super) name: String,
        pub(super) created_secs: f64,
        /// Key and value; a value is found nowhere else in the scenario.
        pub(super) data: Vec<(String, String)>,
        /// Whether `kubectl apply` left the data in an annotation too.
        #[serde(default)]
        pub(super) applied: bool,
        /// A later write with other values.
        #[serde(default)]
        pub(super) rotated: Option<Rotated>,
        #[serde(default)]
        pub(super) deleted_secs: Option<f64>,
    }

    pub(super) struct Rotated {
        pub(super) at_secs: f64,
        pub(super) data: Vec<(String, String)>,
    }
}

impl Operator {
    /// Its Deployment, its Pods' app, and the name in its writes.
    pub(super) fn deployment(&self) -> String {
        if self.name.ends_with("-operator") {
            self.name.clone()
        } else {
            format!("{}-operator", self.name)
        }
    }
}

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

const DEFINITIONS: &[(&str, &str)] = &[
    (
        "ClusterVersion",
        include_str!("../../../testdata/scenarios/crds/clusterversions.yaml"),
    ),
    (
        "ClusterOperator",
        include_str!("../../../testdata/scenarios/crds/clusteroperators.yaml"),
    ),
    (
        "Infrastructure",
        include_str!("../../../testdata/scenarios/crds/infrastructures.yaml"),
    ),
    (
        "Network",
        include_str!("../../../testdata/scenarios/crds/networks.yaml"),
    ),
    (
        "FeatureGate",
        include_str!("../../../testdata/scenarios/crds/featuregates.yaml"),
    ),
    (
        "MachineConfigPool",
        include_str!("../../../testdata/scenarios/crds/machineconfigpools.yaml"),
    ),
    (
        "MachineConfig",
        include_str!("../../../testdata/scenarios/crds/machineconfigs.yaml"),
    ),
    (
        "Machine",
        include_str!("../../../testdata/scenarios/crds/machines.yaml"),
    ),
    (
        "Route",
        include_str!("../../../testdata/scenarios/crds/routes.yaml"),
    ),
];

/// The `CustomResourceDefinition` of a kind; `None` for a kind without one.
pub(super) fn definition_of(kind: &str) -> Option<Value> {
    let (_, yaml) = DEFINITIONS.iter().find(|(known, _)| *known == kind)?;
    serde_saphyr::from_str(yaml).ok()
}

#[cfg(test)]
mod read_tests {
    use super::super::plan::{Act, Step};
    use super::*;

    fn plan() -> Plan {
        small().unwrap().plan().unwrap()
    }

    /// All statuses that are written to an object of a kind, with their times.
    fn statuses<'p>(plan: &'p Plan, kind: &str, name: &str) -> Vec<&'p Value> {
        let of = |step: &'p Step| match &step.act {
            Act::UpdateStatus { target, status } if target.kind == kind && target.name == name => {
                Some(status)
            }
            _ => None,
        };
        plan.steps.iter().filter_map(of).collect()
    }

    fn condition<'s>(status: &'s Value, kind: &str) -> Option<&'s Value> {
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

#[cfg(test)]
mod definitions_tests {
    use super::*;
    use crate::rest::kind_of;

    #[test]
    fn every_definition_is_of_its_kind_and_served_where_the_players_write() {
        for (kind, _) in DEFINITIONS {
            let definition = definition_of(kind).unwrap_or_else(|| panic!("{kind} does not parse"));
            let spec = &definition["spec"];
            assert_eq!(spec["names"]["kind"], *kind);
            let version = &spec["versions"][0];
            let api_version = format!(
                "{}/{}",
                spec["group"].as_str().unwrap(),
                version["name"].as_str().unwrap()
            );
            let known =
                kind_of(&api_version, kind).unwrap_or_else(|| panic!("{api_version} {kind}"));
            assert_eq!(spec["names"]["plural"], known.plural);
            assert_eq!(spec["scope"] == "Namespaced", known.namespaced);
            let name = format!("{}.{}", known.plural, spec["group"].as_str().unwrap());
            assert_eq!(definition["metadata"]["name"], name.as_str());
        }
    }
}
