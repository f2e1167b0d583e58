//! The Services that the containers of a problem call, and the workloads that serve those.

use super::named_objects::NamedObjects;
use super::onset::OnsetObjects;
use super::pod_data::data_of_pod_spec;
use crate::lookup::labels;
use kubereel_history::LabelSelector;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The relation of what serves a Service that the containers of a problem call.
pub(super) const CALLED: &str = "its containers call it";

/// Services that are called, and what serves them.
#[derive(Default)]
pub(super) struct CallTargets {
    /// Namespaces and names of the Services.
    services: BTreeSet<(String, String)>,
    /// Kinds, namespaces and names of the workloads that serve them.
    workloads: BTreeSet<(String, String, String)>,
    /// The namespaces and labels of their Pods.
    labels: Vec<(String, BTreeMap<String, String>)>,
}

impl CallTargets {
    /// Takes the Services whose addresses a text holds, what serves them, and the data that configures it.
    pub(super) fn take(
        &mut self,
        words: &str,
        namespace: &str,
        onset: OnsetObjects<'_>,
        named: &mut NamedObjects,
    ) {
        let is_of_host = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
        let hosts = words.split(|c: char| !is_of_host(c));
        for host in hosts.filter(|host| !host.is_empty()) {
            let mut parts = host.split('.');
            let name = parts.next().unwrap_or_default();
            let at = parts.next().unwrap_or(namespace);
            if onset.core_lives("services", at, name).next().is_none() {
                continue;
            }
            named.add("Service", at, name, 1, CALLED);
            self.services.insert((at.to_owned(), name.to_owned()));
            for (kind, owner) in onset.owners_behind(at, name) {
                named.add(&kind, at, &owner, 2, CALLED);
                if let Some(body) = onset.body(&kind, at, &owner) {
                    let of_pods = labels(&body, "/spec/template/metadata/labels");
                    self.labels
                        .push((at.to_owned(), of_pods.unwrap_or_default()));
                    let spec = body.pointer("/spec/template/spec").unwrap_or(&Value::Null);
                    for used in data_of_pod_spec(spec, None) {
                        named.add(used.kind, at, used.name, 3, CALLED);
                    }
                }
                self.workloads.insert((kind, at.to_owned(), owner));
            }
        }
    }

    /// Returns namespaces and names of the Services.
    pub(super) fn into_services(self) -> BTreeSet<(String, String)> {
        self.services
    }

    /// Returns whether a workload in a namespace that serves them satisfies a predicate of kind and name.
    pub(super) fn has_workload(&self, namespace: &str, is_it: impl Fn(&str, &str) -> bool) -> bool {
        let mut workloads = self.workloads.iter();
        workloads.any(|(kind, at, name)| at == namespace && is_it(kind, name))
    }

    /// Returns whether a selector in a namespace selects the Pods of a workload that serves them.
    pub(super) fn are_selected(&self, namespace: &str, selector: &LabelSelector) -> bool {
        let mut labels = self.labels.iter();
        labels.any(|(at, labels)| {
            at == namespace && (selector.is_empty() || selector.matches(labels))
        })
    }
}
