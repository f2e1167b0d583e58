//! Owns by what names exceptions call the things that a finding is about.

use crate::verdict::Finding;
use std::collections::BTreeMap;

/// What a finding is about, as exceptions call it.
#[derive(Clone, Debug)]
pub(super) struct Known<'a> {
    pub(super) operator: Option<&'a str>,
    pub(super) namespace: Option<&'a str>,
    pub(super) container: Option<&'a str>,
    pub(super) node: Option<&'a str>,
    /// `Available=False`, or the condition's type alone.
    pub(super) condition: Option<String>,
}

/// Looks a key up: first what the finding says, then what the case is for.
pub(super) fn key<'a>(
    group: &'a BTreeMap<String, String>,
    finding: &'a Finding,
    name: &str,
) -> Option<&'a str> {
    let found = finding.subject.keys.get(name).or_else(|| group.get(name));
    found.map(String::as_str)
}

impl<'a> Known<'a> {
    /// Reads a finding of a case that is for a group.
    pub(super) fn of(group: &'a BTreeMap<String, String>, finding: &'a Finding) -> Self {
        let subject = &finding.subject;
        let key = |name: &str| key(group, finding, name);
        let own_name = |plural: &str| {
            let is_it = subject.resource.split('.').next() == Some(plural);
            (is_it && !subject.name.is_empty()).then_some(subject.name.as_str())
        };
        let namespace = (!subject.namespace.is_empty()).then_some(subject.namespace.as_str());
        let condition = key("condition").map(|kind| match key("status") {
            Some(status) => format!("{kind}={status}"),
            None => kind.to_owned(),
        });
        Self {
            operator: own_name("clusteroperators")
                .or_else(|| key("operator"))
                .or_else(|| key("clusteroperator")),
            namespace: namespace.or_else(|| key("namespace")),
            container: key("container"),
            node: own_name("nodes").or_else(|| key("node")),
            condition,
        }
    }
}
