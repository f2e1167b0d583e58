//! Owns which built-in kinds have columns of their own. Refuses to know what their cells say.

use super::super::part::Part;
use super::{deployment, event, job, lease, namespace, node, pod, replica_set, service};
use kubereel_format::{RecordedAt, ResourceInfo};
use serde_json::Value;

/// A kind with its columns.
#[derive(Debug)]
pub(in crate::columns) struct Kind {
    group: &'static str,
    plural: &'static str,
    /// Headers, in the order of the cells.
    columns: &'static [Header],
    row: fn(Part<'_>, RecordedAt) -> Vec<String>,
}

/// A column's name, and whether it shows only where there is room.
#[derive(Clone, Copy, Debug)]
pub(super) enum Header {
    Always(&'static str),
    Wide(&'static str),
}

static ALL: [Kind; 10] = [
    kind("", "pods", &pod::COLUMNS, pod::row),
    kind("", "nodes", &node::COLUMNS, node::row),
    kind("apps", "deployments", &deployment::COLUMNS, deployment::row),
    kind(
        "apps",
        "replicasets",
        &replica_set::COLUMNS,
        replica_set::row,
    ),
    kind("batch", "jobs", &job::COLUMNS, job::row),
    kind("", "events", &event::COLUMNS, event::row),
    kind("events.k8s.io", "events", &event::COLUMNS, event::row),
    kind("", "namespaces", &namespace::COLUMNS, namespace::row),
    kind("coordination.k8s.io", "leases", &lease::COLUMNS, lease::row),
    kind("", "services", &service::COLUMNS, service::row),
];

const fn kind(
    group: &'static str,
    plural: &'static str,
    columns: &'static [Header],
    row: fn(Part<'_>, RecordedAt) -> Vec<String>,
) -> Kind {
    Kind {
        group,
        plural,
        columns,
        row,
    }
}

impl Kind {
    /// Finds the kind of a resource.
    pub(in crate::columns) fn of(resource: &ResourceInfo) -> Option<&'static Self> {
        ALL.iter()
            .find(|kind| kind.group == resource.group && kind.plural == resource.plural)
    }

    /// Gives its headers, and which of them show only where there is room.
    pub(in crate::columns) fn names(&self) -> impl Iterator<Item = (&'static str, bool)> {
        self.columns.iter().map(|header| match *header {
            Header::Always(name) => (name, false),
            Header::Wide(name) => (name, true),
        })
    }

    /// Gives the cells of an object under all its headers, as of a moment.
    pub(in crate::columns) fn row(&self, object: &Value, at: RecordedAt) -> Vec<String> {
        (self.row)(Part::of(object), at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_kind_fills_its_columns_whatever_the_object_is() {
        let at = RecordedAt::from_micros(1_795_269_660_000_000);
        let strange = json!({
            "metadata": 7,
            "spec": {"containers": {}, "template": [], "ports": [null, 1], "type": false},
            "status": {"conditions": [1, "a", null, {}], "containerStatuses": [null, [], {"state": 1}]},
        });
        for kind in &ALL {
            for object in [&json!(null), &json!([]), &json!({}), &strange] {
                assert_eq!(kind.row(object, at).len(), kind.names().count(), "{kind:?}");
            }
        }
    }
}
