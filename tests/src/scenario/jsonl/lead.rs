//! Leases of leaders: taken, renewed, given up.

use serde_json::{Value, json};

use super::super::step::Leader;
use super::store::As;
use super::world::World;
use crate::kubelet::identity::uuid;
use crate::rest::Target;

/// Leaders claim their Leases for so long.
const DURATION_SECS: u32 = 137;

/// A Lease as it was last written.
#[derive(Debug, Clone)]
pub(super) struct Held {
    /// Empty when nobody leads.
    holder: String,
    /// Who led last, or leads.
    pub(super) last_holder: String,
    transitions: u32,
}

impl World<'_> {
    /// Takes or renews a Lease, if somebody is there to lead.
    pub(super) fn lead(&mut self, by: &str, lease: &Target, leader: &Leader) {
        let Some(holder) = self.find_leader(leader) else {
            return;
        };
        let now = self.store.now.micros();
        let held = self.leases.get(lease).cloned();
        let transitions = match &held {
            None => 0,
            Some(held) if held.holder == holder => held.transitions,
            Some(held) => held.transitions + 1,
        };
        if held.as_ref().is_some_and(|held| held.holder == holder) {
            self.store.update(by, lease, As::Update, |lease| {
                lease["spec"]["renewTime"] = json!(now);
            });
        } else {
            let spec = json!({
                "holderIdentity": holder, "leaseDurationSeconds": DURATION_SECS,
                "acquireTime": now, "renewTime": now, "leaseTransitions": transitions,
            });
            self.write_lease(by, lease, spec);
        }
        let held = Held {
            last_holder: holder.clone(),
            holder,
            transitions,
        };
        self.leases.insert(lease.clone(), held);
    }

    /// Gives a Lease up, as a leader that ends in good order does.
    pub(super) fn resign(&mut self, by: &str, lease: &Target) {
        let now = self.store.now.micros();
        let Some(held) = self.leases.get_mut(lease) else {
            return;
        };
        held.holder.clear();
        let transitions = held.transitions;
        let spec = json!({
            "holderIdentity": "", "leaseDurationSeconds": 1, "acquireTime": now, "renewTime": now,
            "leaseTransitions": transitions,
        });
        self.write_lease(by, lease, spec);
    }

    fn write_lease(&mut self, by: &str, lease: &Target, spec: Value) {
        if self.store.has(lease) {
            self.store
                .update(by, lease, As::Update, |lease| lease["spec"] = spec);
        } else {
            self.store.create(
                by,
                json!({
                    "apiVersion": lease.api_version,
                    "kind": lease.kind,
                    "metadata": {"namespace": lease.namespace, "name": lease.name},
                    "spec": spec,
                }),
            );
        }
    }

    /// The identity of whoever leads now: the newest running Pod of the app.
    fn find_leader(&self, leader: &Leader) -> Option<String> {
        let (namespace, app) = match leader {
            Leader::Outsider { name } => return Some(name.clone()),
            Leader::PodOf { namespace, app } | Leader::NodeOf { namespace, app } => {
                (namespace, app)
            }
        };
        let pods = self.pods_in(namespace).filter(|pod| {
            pod.labels.get("app") == Some(app) && pod.phase == "Running" && !pod.is_dying
        });
        let newest = pods.max_by_key(|pod| (pod.started.clone(), pod.uid.clone()))?;
        let name = match leader {
            Leader::NodeOf { .. } => &newest.node,
            _ => &newest.target.name,
        };
        Some(format!("{name}_{}", uuid(&["leader", &newest.uid])))
    }
}
