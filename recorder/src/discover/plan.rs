//! Chooses what is recorded: every resource with list and watch, in one version, once for each
//! storage. Other resources are named with the reason.

use super::documents::ServedResource;
use kubereel_format::{NotCoveredReason, ResourceId, ResourceInfo};
use std::collections::BTreeMap;

/// A resource that is not recorded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SkippedResource {
    /// The API group.
    pub(crate) group: String,
    /// The version that discovery prefers.
    pub(crate) version: String,
    /// The plural name.
    pub(crate) plural: String,
    /// The reason.
    pub(crate) reason: NotCoveredReason,
    /// The recorded resource with the same storage, if there is one.
    pub(crate) detail: String,
}

/// The resources to record, and the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DiscoveryPlan {
    /// The resources to record, in the order of discovery.
    pub(crate) follow: Vec<ServedResource>,
    /// The resources that are not recorded.
    pub(crate) left_out: Vec<SkippedResource>,
}

/// Chooses. `served` is in the order of preference; `wanted` names the version to take if there is
/// a reason to deviate from the preferred one.
pub(crate) fn plan(
    served: &[ServedResource],
    wanted: &BTreeMap<(String, String), String>,
) -> DiscoveryPlan {
    let mut order: Vec<(&str, &str)> = Vec::new();
    let mut versions: BTreeMap<(&str, &str), Vec<&ServedResource>> = BTreeMap::new();
    for one in served {
        let key = (one.group.as_str(), one.plural.as_str());
        let known = versions.entry(key).or_default();
        if known.is_empty() {
            order.push(key);
        }
        known.push(one);
    }
    let mut plan = DiscoveryPlan::default();
    for key in order {
        let versions = versions.get(&key).map(Vec::as_slice).unwrap_or_default();
        let wanted = wanted.get(&(key.0.to_owned(), key.1.to_owned()));
        choose(versions, wanted, &mut plan);
    }
    leave_out_doubles(&mut plan);
    plan
}

fn choose(versions: &[&ServedResource], wanted: Option<&String>, plan: &mut DiscoveryPlan) {
    let mut usable = versions
        .iter()
        .filter(|one| has(one, "list") && has(one, "watch"));
    let chosen = usable
        .clone()
        .find(|one| Some(&one.version) == wanted)
        .or_else(|| usable.next());
    if let Some(chosen) = chosen {
        plan.follow.push((*chosen).clone());
        return;
    }
    let Some(first) = versions.first() else {
        return;
    };
    let reason = if versions.iter().any(|one| has(one, "list")) {
        NotCoveredReason::NoWatch
    } else if versions
        .iter()
        .any(|one| has(one, "get") || has(one, "watch"))
    {
        NotCoveredReason::NoList
    } else {
        // Reviews and bindings are not stored: there is nothing to record.
        return;
    };
    plan.left_out.push(left_out(first, reason, String::new()));
}

fn has(served: &ServedResource, verb: &str) -> bool {
    served.verbs.iter().any(|name| name == verb)
}

fn left_out(served: &ServedResource, reason: NotCoveredReason, detail: String) -> SkippedResource {
    SkippedResource {
        group: served.group.clone(),
        version: served.version.clone(),
        plural: served.plural.clone(),
        reason,
        detail,
    }
}

/// Leaves out resources that another recorded resource of the same name has in the same storage.
///
/// The core group comes first, the retired `extensions` last, and otherwise discovery's order.
fn leave_out_doubles(plan: &mut DiscoveryPlan) {
    let rank = |one: &ServedResource| match one.group.as_str() {
        "" => 0,
        "extensions" => 2,
        _ => 1,
    };
    let mut first: BTreeMap<(String, String), (u8, usize)> = BTreeMap::new();
    for (place, one) in plan.follow.iter().enumerate() {
        if let Some(hash) = &one.storage_hash {
            let here = (rank(one), place);
            first
                .entry((hash.clone(), one.plural.clone()))
                .and_modify(|best| *best = (*best).min(here))
                .or_insert(here);
        }
    }
    let all = std::mem::take(&mut plan.follow);
    for (place, one) in all.iter().enumerate() {
        let best = one
            .storage_hash
            .as_ref()
            .and_then(|hash| first.get(&(hash.clone(), one.plural.clone())));
        match best {
            Some((_, best)) if *best != place => {
                let stands = all.get(*best).map(qualified).unwrap_or_default();
                plan.left_out
                    .push(left_out(one, NotCoveredReason::SameStorage, stands));
            }
            _ => plan.follow.push(one.clone()),
        }
    }
}

fn qualified(served: &ServedResource) -> String {
    resource_info(served, ResourceId::default()).qualified()
}

/// Returns the description of a resource for the reel.
pub(crate) fn resource_info(served: &ServedResource, id: ResourceId) -> ResourceInfo {
    ResourceInfo {
        id,
        group: served.group.clone(),
        version: served.version.clone(),
        plural: served.plural.clone(),
        singular: served.singular.clone(),
        kind: served.kind.clone(),
        short_names: served.short_names.clone(),
        categories: served.categories.clone(),
        namespaced: served.is_namespaced,
        verbs: served.verbs.clone(),
        storage_hash: served.storage_hash.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(group: &str, version: &str, plural: &str, verbs: &str, hash: &str) -> ServedResource {
        ServedResource {
            group: group.into(),
            version: version.into(),
            plural: plural.into(),
            verbs: verbs.split(' ').map(str::to_owned).collect(),
            storage_hash: Some(hash.to_owned()).filter(|hash| !hash.is_empty()),
            ..ServedResource::default()
        }
    }

    fn followed(plan: &DiscoveryPlan) -> Vec<String> {
        let names = plan.follow.iter();
        names
            .map(|one| format!("{}/{}/{}", one.group, one.version, one.plural))
            .collect()
    }

    #[test]
    fn one_storage_is_recorded_once_and_core_stands_for_it() {
        let plan = plan(
            &[
                served("events.k8s.io", "v1", "events", "list watch", "e"),
                served("", "v1", "events", "list watch", "e"),
                served("", "v1", "pods", "list watch", "p"),
                served("x", "v1", "pods", "list watch", "other"),
            ],
            &BTreeMap::new(),
        );
        assert_eq!(followed(&plan), ["/v1/events", "/v1/pods", "x/v1/pods"]);
        assert_eq!(plan.left_out.len(), 1);
        assert_eq!(plan.left_out[0].reason, NotCoveredReason::SameStorage);
        assert_eq!(plan.left_out[0].detail, "events");
        assert_eq!(plan.left_out[0].group, "events.k8s.io");
    }

    #[test]
    fn takes_the_preferred_version_that_can_be_watched_unless_another_is_wanted() {
        let all = [
            served("g", "v2", "as", "list", ""),
            served("g", "v1", "as", "list watch", ""),
            served("g", "v1beta1", "as", "list watch", ""),
        ];
        assert_eq!(followed(&plan(&all, &BTreeMap::new())), ["g/v1/as"]);
        let mut wanted = BTreeMap::new();
        wanted.insert(("g".to_owned(), "as".to_owned()), "v1beta1".to_owned());
        assert_eq!(followed(&plan(&all, &wanted)), ["g/v1beta1/as"]);
        wanted.insert(("g".to_owned(), "as".to_owned()), "v9".to_owned());
        assert_eq!(followed(&plan(&all, &wanted)), ["g/v1/as"]);
    }

    #[test]
    fn says_what_cannot_be_recorded_and_is_silent_on_what_keeps_nothing() {
        let plan = plan(
            &[
                served("", "v1", "componentstatuses", "get list", ""),
                served("g", "v1", "things", "get", ""),
                served("authentication.k8s.io", "v1", "tokenreviews", "create", ""),
            ],
            &BTreeMap::new(),
        );
        assert_eq!(followed(&plan), [""; 0]);
        let reasons: Vec<_> = plan.left_out.iter().map(|one| one.reason).collect();
        assert_eq!(
            reasons,
            [NotCoveredReason::NoWatch, NotCoveredReason::NoList]
        );
    }
}
