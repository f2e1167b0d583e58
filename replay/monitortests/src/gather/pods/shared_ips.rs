//! Which pod holds which IP of the pod network, and the instants at which two hold one. It does not
//! handle pods of the host's network, and those that gave their IP back: deleted, succeeded,
//! failed.

use super::watch::WatchedPod;
use crate::feed::Action;
use crate::gather::ledger::Ledger;
use crate::interval::Level;
use crate::reading;
use kubereel_format::ObjectId;
use kubereel_history::field::is_being_deleted;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The IPs in use.
#[derive(Debug, Default)]
pub(super) struct SharedIps {
    /// Who holds each, by words for people.
    holders: BTreeMap<String, BTreeMap<ObjectId, String>>,
    held: BTreeMap<ObjectId, BTreeSet<String>>,
}

impl SharedIps {
    /// The fields that are read.
    pub(super) const PATHS: [&'static str; 3] =
        ["spec.hostNetwork", "status.podIP", "status.podIPs.ip"];

    /// Takes a pod as it is, and notes each IP that it has come to share.
    pub(super) fn take(&mut self, pod: WatchedPod<'_>, ledger: &mut Ledger) {
        let object = pod.seen.object;
        let now = if pod.seen.action == Action::Gone {
            BTreeSet::new()
        } else {
            ips(pod.now())
        };
        let before = self.held.remove(&object).unwrap_or_default();
        for ip in before.difference(&now) {
            if let Some(holders) = self.holders.get_mut(ip) {
                holders.remove(&object);
                if holders.is_empty() {
                    self.holders.remove(ip);
                }
            }
        }
        for ip in now.difference(&before) {
            let holders = self.holders.entry(ip.clone()).or_default();
            let key = pod.seen.key;
            holders.insert(object, format!("{}/{}", key.namespace, key.name));
            if holders.len() > 1 {
                let names: Vec<&str> = holders.values().map(String::as_str).collect();
                let words = format!(
                    "podIP {ip} is currently assigned to multiple pods: {}",
                    names.join(";")
                );
                ledger.add(&pod.draft(Level::Error).reason("PodIPReused").human(words));
            }
        }
        if !now.is_empty() {
            self.held.insert(object, now);
        }
    }
}

/// Returns the IPs of the pod network that a pod holds.
fn ips(pod: &Value) -> BTreeSet<String> {
    let is_of_host = reading::at(pod, "/spec/hostNetwork").and_then(Value::as_bool) == Some(true);
    let is_released = is_being_deleted(pod)
        || matches!(reading::text(pod, "/status/phase"), "Succeeded" | "Failed");
    if is_of_host || is_released {
        return BTreeSet::new();
    }
    let listed = reading::list(pod, "/status/podIPs").iter();
    let listed = listed.map(|one| reading::text(one, "/ip"));
    let all = listed.chain([reading::text(pod, "/status/podIP")]);
    all.filter(|ip| !ip.is_empty()).map(str::to_owned).collect()
}
