//! The objects that configure an operator or a pool of machines of an OpenShift cluster.

use crate::lookup::labels;
use crate::problem::ProblemObject;
use kubereel_format::ResourceInfo;
use kubereel_history::LabelSelector;
use kubereel_history::field::{items, text};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// What configures the operator or the pool of a problem.
#[derive(Default)]
pub(super) struct OperatorConfiguration {
    /// What an operator says that it is made of: group, plural, namespace and name; all of the resource
    /// where the name is empty.
    related: BTreeSet<(String, String, String, String)>,
    /// By which labels a pool selects its configurations, and which labels it has itself.
    pool: Option<(LabelSelector, BTreeMap<String, String>)>,
}

impl OperatorConfiguration {
    /// Takes what a version of a `ClusterOperator` lists.
    pub(super) fn take_operator(&mut self, body: &Value) {
        for one in items(body, "/status/relatedObjects") {
            let of = |field: &str| text(one, field).to_owned();
            let group = of("/group");
            if is_configuration(&group) {
                let key = (group, of("/resource"), of("/namespace"), of("/name"));
                self.related.insert(key);
            }
        }
    }

    /// Takes what a version of a `MachineConfigPool` selects.
    pub(super) fn take_pool(&mut self, body: &Value) {
        let selector = body.pointer("/spec/machineConfigSelector");
        let selector = selector.and_then(LabelSelector::of_value);
        let own = labels(body, "/metadata/labels").unwrap_or_default();
        self.pool = selector.map(|selector| (selector, own));
    }

    /// Returns over how many steps an object configures the object of a problem.
    pub(super) fn distance(
        &self,
        problem: &ProblemObject,
        info: &ResourceInfo,
        namespace: &str,
        name: &str,
        body: &dyn Fn(usize) -> Option<Rc<Value>>,
    ) -> Option<u8> {
        if self.is_of_operator(problem, info, namespace, name) {
            return Some(1);
        }
        self.distance_to_pool(info, name, body)
    }

    /// Returns whether an object configures the operator: the operator lists it, or it has the
    /// operator's name.
    fn is_of_operator(
        &self,
        problem: &ProblemObject,
        info: &ResourceInfo,
        namespace: &str,
        name: &str,
    ) -> bool {
        let is_kept = ["ClusterOperator", "ClusterVersion"].contains(&info.kind.as_str());
        if problem.kind != "ClusterOperator" || is_kept || !is_configuration(&info.group) {
            return false;
        }
        // The machine-config operator lists all of its resource; what it renders, it makes of the others.
        let is_rendered = name.starts_with("rendered-");
        let key = |name: &str| {
            (
                info.group.clone(),
                info.plural.clone(),
                namespace.to_owned(),
                name.to_owned(),
            )
        };
        let is_related = self.related.contains(&key(name)) || self.related.contains(&key(""));
        let operator = problem.name.replace('-', "");
        let of_group = info.group.split('.').next().unwrap_or_default();
        let is_like = info.kind.to_lowercase() == operator
            || info.group.ends_with(".operator.openshift.io") && of_group == operator;
        is_related && !is_rendered || is_like
    }

    /// Returns over how many steps an object makes the configuration of the pool.
    fn distance_to_pool(
        &self,
        info: &ResourceInfo,
        name: &str,
        body: &dyn Fn(usize) -> Option<Rc<Value>>,
    ) -> Option<u8> {
        let (selector, own) = self.pool.as_ref()?;
        if info.group != "machineconfiguration.openshift.io" {
            return None;
        }
        match info.kind.as_str() {
            // What the pool renders is the effect.
            "MachineConfig" if !name.starts_with("rendered-") => {
                let body = body(0)?;
                let selected = labels(&body, "/metadata/labels")?;
                // One with an owner was made of it.
                let is_made = !items(&body, "/metadata/ownerReferences").is_empty();
                selector
                    .matches(&selected)
                    .then_some(if is_made { 2 } else { 1 })
            }
            "KubeletConfig" | "ContainerRuntimeConfig" => {
                let body = body(0)?;
                let pools = body.pointer("/spec/machineConfigPoolSelector");
                let pools = pools.and_then(LabelSelector::of_value)?;
                pools.matches(own).then_some(1)
            }
            _ => None,
        }
    }
}

/// Returns whether the objects of a group say how an OpenShift cluster is to be.
fn is_configuration(group: &str) -> bool {
    matches!(
        group,
        "config.openshift.io" | "operator.openshift.io" | "machineconfiguration.openshift.io"
    ) || group.ends_with(".operator.openshift.io")
}
