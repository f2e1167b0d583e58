//! Owns what the cluster's operators have said so far, while a scenario is laid out. Refuses to know
//! when they say something.

use std::collections::BTreeMap;

use super::super::cluster_version::ClusterVersion;
use super::super::dice::Dice;
use super::super::file::Operator;
use super::super::operator::{self, OperatorStatus};
use super::super::script::Script;
use super::super::{Moment, ScenarioError};
use super::file::Monitored;
use crate::rest::Target;

/// Who writes `ClusterVersion`.
pub(super) const CVO: &str = "cluster-version-operator";
/// Where the operator of operators lives.
pub(super) const CVO_NAMESPACE: &str = "openshift-cluster-version";

/// What has been said so far, and the list into which more is written.
pub(super) struct State<'m> {
    pub(super) of: &'m Monitored,
    pub(super) script: Script,
    pub(super) dice: Dice,
    pub(super) version: ClusterVersion,
    operators: BTreeMap<String, OperatorStatus>,
}

impl<'m> State<'m> {
    pub(super) fn new(of: &'m Monitored) -> Self {
        let dice = Dice::new(of.seed);
        let operators = of.operators.iter().map(|component| {
            let operator = Operator {
                name: component.name.clone(),
                namespace: component.namespace.clone(),
                level: 0,
                available_secs: 0.0,
                operands: Vec::new(),
            };
            (component.name.clone(), OperatorStatus::new(&operator))
        });
        Self {
            of,
            script: Script::new(dice),
            dice,
            version: ClusterVersion::installing(Moment::default(), &of.installed),
            operators: operators.collect(),
        }
    }

    /// An operator is there and well.
    pub(super) fn install_operators(&mut self, at: Moment) {
        let names: Vec<String> = self.operators.keys().cloned().collect();
        for name in names {
            if let Some(status) = self.operators.get(&name) {
                self.script
                    .create(at, CVO, operator::created(status.operator()));
            }
            let version = self.of.installed.version.clone();
            self.change_operator(at + 0.1, &name, |status| {
                status.start(at, &version);
                status.arrive(at, &version);
            })
            .unwrap_or_default();
        }
    }

    /// Changes what an operator says of itself, and writes it.
    pub(super) fn change_operator(
        &mut self,
        at: Moment,
        name: &str,
        change: impl FnOnce(&mut OperatorStatus),
    ) -> Result<(), ScenarioError> {
        let Some(status) = self.operators.get_mut(name) else {
            return Err(ScenarioError::NoSuchOperator {
                name: name.to_owned(),
            });
        };
        change(status);
        let (target, actor) = (status.target(), status.actor());
        self.script
            .update_status(at, &actor, &target, status.to_status());
        Ok(())
    }

    /// Writes what the operator of operators says.
    pub(super) fn write_version(&mut self, at: Moment) {
        self.script
            .update_status(at, CVO, &version_target(), self.version.to_status());
    }
}

/// The one `ClusterVersion`.
pub(super) fn version_target() -> Target {
    Target::cluster_wide("config.openshift.io/v1", "ClusterVersion", "version")
}
