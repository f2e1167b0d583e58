//! Chooses the page of a kind.

use super::cluster::namespace_page;
use super::container::pod_template;
use super::generic::{KeyStyle, any_page};
use super::lines::{PageLine, PageWriter};
use super::node::node_page;
use super::pod::pod_page;
use super::service::service_page;
use super::storage::claim_page;
use super::surroundings::{IncompleteList, Surroundings};
use super::workload::{
    cron_job_page, daemon_set_page, deployment_page, job_page, replica_set_page, stateful_set_page,
};
use crate::body_reader::QueryError;
use crate::columns::ObjectPart;
use crate::moment::Cut;
use crate::timeline::Timeline;
use kubereel_format::{RecordedAt, ResourceInfo};
use serde_json::Value;
use std::cell::RefCell;

/// An object as `kubectl describe` prints it, without its Events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectPage {
    /// The lines.
    pub lines: Vec<PageLine>,
    /// Whether the page lists every field: the kind has no page of its own.
    pub has_all_fields: bool,
    /// The lists of related objects that are not complete, each once.
    pub incomplete: Vec<IncompleteList>,
}

impl ObjectPage {
    /// Describes an object at a moment, with related objects: Pods on a Node, the endpoints of a
    /// Service, the `ReplicaSet`s of a Deployment.
    ///
    /// # Errors
    /// When the reel is damaged where these are.
    pub fn of(
        timeline: &Timeline,
        resource: &ResourceInfo,
        object: &Value,
        cut: Cut,
        at: RecordedAt,
    ) -> Result<Self, QueryError> {
        let object = ObjectPart::of(object);
        let incomplete = RefCell::default();
        let around = Surroundings {
            timeline,
            cut,
            at,
            incomplete: &incomplete,
        };
        let mut page = PageWriter::default();
        let mut has_all_fields = false;
        match resource.qualified().as_str() {
            "pods" => pod_page(&mut page, object, at),
            "nodes" => node_page(&mut page, object, around)?,
            "services" => service_page(&mut page, object, around)?,
            "namespaces" => namespace_page(&mut page, object, around)?,
            "persistentvolumeclaims" => claim_page(&mut page, object, around)?,
            "deployments.apps" => deployment_page(&mut page, object, around)?,
            "replicasets.apps" | "replicationcontrollers" => {
                replica_set_page(&mut page, object, around)?;
            }
            "statefulsets.apps" => stateful_set_page(&mut page, object, around)?,
            "daemonsets.apps" => daemon_set_page(&mut page, object, around)?,
            "jobs.batch" => job_page(&mut page, object),
            "cronjobs.batch" => cron_job_page(&mut page, object),
            _ => {
                any_page(&mut page, object, KeyStyle::of(resource));
                has_all_fields = true;
            }
        }
        let mut incomplete = incomplete.into_inner();
        incomplete.dedup_by(|one, other| one.resource == other.resource);
        Ok(Self {
            lines: page.done(),
            has_all_fields,
            incomplete,
        })
    }
}

/// Describes a Pod template.
pub(crate) fn template_page(template: &Value) -> Vec<PageLine> {
    let mut page = PageWriter::default();
    pod_template(&mut page, ObjectPart::of(template));
    page.done()
}
