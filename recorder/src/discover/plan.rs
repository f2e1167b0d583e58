//! Chooses what is recorded: every resource with list and watch, in one version, once for each
//! storage. Other resources are named with the reason.

use crate::resource::not_covered;
use kubereel_format::{NotCoveredReason, Note, ResourceInfo};
use std::collections::BTreeMap;

/// The resources to record, and the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DiscoveryPlan {
    /// The resources to record, in the order of discovery.
    pub(crate) follow: Vec<ResourceInfo>,
    /// A note for each of the others: its preferred version, the reason, and the recorded resource
    /// with the same storage, if there is one.
    pub(crate) left_out: Vec<Note>,
}

/// Chooses. `served` is in the order of preference; `wanted` names the version to take if there is
/// a reason to deviate from the preferred one.
pub(crate) fn plan(
    served: &[ResourceInfo],
    wanted: &BTreeMap<(String, String), String>,
) -> DiscoveryPlan {
    let mut order: Vec<(&str, &str)> = Vec::new();
    let mut versions: BTreeMap<(&str, &str), Vec<&ResourceInfo>> = BTreeMap::new();
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

fn choose(versions: &[&ResourceInfo], wanted: Option<&String>, plan: &mut DiscoveryPlan) {
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
    plan.left_out
        .push(not_covered(first, reason, String::new()));
}

fn has(served: &ResourceInfo, verb: &str) -> bool {
    served.verbs.iter().any(|name| name == verb)
}

/// Leaves out resources that another recorded resource of the same name has in the same storage.
///
/// The core group comes first, the retired `extensions` last, and otherwise discovery's order.
fn leave_out_doubles(plan: &mut DiscoveryPlan) {
    let rank = |one: &ResourceInfo| match one.group.as_str() {
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
                let stands = all
                    .get(*best)
                    .map(ResourceInfo::qualified)
                    .unwrap_or_default();
                plan.left_out
                    .push(not_covered(one, NotCoveredReason::SameStorage, stands));
            }
            _ => plan.follow.push(one.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::plain_info;

    fn served(group: &str, version: &str, plural: &str, verbs: &str, hash: &str) -> ResourceInfo {
        ResourceInfo {
            version: version.into(),
            verbs: verbs.split(' ').map(str::to_owned).collect(),
            storage_hash: Some(hash.to_owned()).filter(|hash| !hash.is_empty()),
            ..plain_info(0, group, plural)
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
        let other = served("events.k8s.io", "v1", "events", "", "");
        let note = not_covered(&other, NotCoveredReason::SameStorage, "events".to_owned());
        assert_eq!(plan.left_out, [note]);
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
        let note = |group, plural, reason| {
            not_covered(&served(group, "v1", plural, "", ""), reason, String::new())
        };
        let expected = [
            note("", "componentstatuses", NotCoveredReason::NoWatch),
            note("g", "things", NotCoveredReason::NoList),
        ];
        assert_eq!(plan.left_out, expected);
    }
}
