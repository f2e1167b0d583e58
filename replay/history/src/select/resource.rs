//! Finds a resource by the names that kubectl accepts (plural, singular, short name, kind,
//! `plural.group`, `plural.version.group`), and similar names for one that was not found.

use kubereel_format::{
    NotCoveredReason, Note, NoteEntry, ResourceId, ResourceInfo, Seq, qualified,
};
use std::collections::BTreeMap;
use thiserror::Error;

/// A resource of the cluster that is not recorded from a record on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExcludedResource {
    /// The record of the note.
    pub since: Seq,
    /// The API group; empty for the core group.
    pub group: String,
    /// The version that discovery prefers.
    pub version: String,
    /// The plural name.
    pub plural: String,
    /// The cause.
    pub reason: NotCoveredReason,
    /// The server's message, or the name of the resource with the same storage.
    pub detail: String,
}

impl ExcludedResource {
    /// Returns whether it means missing data: a resource that is gone, or whose storage another one
    /// covers, does not.
    pub const fn is_loss(&self) -> bool {
        matches!(
            self.reason,
            NotCoveredReason::Forbidden
                | NotCoveredReason::Failing
                | NotCoveredReason::SizeBudget
                | NotCoveredReason::MemoryBudget
        )
    }

    /// Returns `plural.group`, or the plural alone for the core group.
    pub fn qualified(&self) -> String {
        qualified(&self.plural, &self.group)
    }
}

/// The objects of a query.
#[derive(Clone, Copy, Debug, Default)]
pub struct ObjectFilter<'a> {
    /// Only those of this namespace.
    pub namespace: Option<&'a str>,
    /// Only those of these names; all if empty.
    pub names: &'a [String],
}

impl ObjectFilter<'_> {
    /// Returns whether an object matches.
    pub fn takes(&self, namespace: &str, name: &str) -> bool {
        self.namespace.is_none_or(|only| namespace == only)
            && (self.names.is_empty() || self.names.iter().any(|asked| asked == name))
    }
}

/// A name names no recorded resource.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SelectError {
    /// The cluster has no resource of that name.
    #[error("no resource {name:?} in this reel")]
    UnknownResource {
        /// The name.
        name: String,
        /// Recorded resources with similar names, best first.
        nearest: Vec<String>,
    },
    /// The cluster had it, and the recorder did not record it.
    #[error("{} was not recorded: {}", .excluded.qualified(), .excluded.reason.as_str())]
    NotCovered {
        /// The note about it.
        excluded: ExcludedResource,
    },
    /// It was recorded in another version only.
    #[error("{qualified} was recorded as {recorded}, not as {asked}")]
    OtherVersion {
        /// The resource.
        qualified: String,
        /// The version that was recorded.
        recorded: String,
        /// The version in the request.
        asked: String,
    },
}

impl SelectError {
    /// Returns the error of a name such as `plural.version.group` if it asks for another version than that of a
    /// description.
    pub fn of_version(name: &str, described: &ResourceInfo) -> Option<Self> {
        let asked = name.to_lowercase();
        let (_, rest) = asked.split_once('.')?;
        let (version, group) = rest.split_once('.').unwrap_or((rest, ""));
        let is_other =
            rest != described.group && group == described.group && version != described.version;
        is_other.then(|| Self::OtherVersion {
            qualified: described.qualified(),
            recorded: described.version.clone(),
            asked: version.to_owned(),
        })
    }
}

/// The resources in a reel.
#[derive(Clone, Debug, Default)]
pub struct ResourceTable {
    recorded: BTreeMap<ResourceId, ResourceInfo>,
    /// Earlier descriptions of resources, with the records that replaced them: the version in which a resource is
    /// recorded may change while it is followed.
    replaced: BTreeMap<ResourceId, Vec<(Seq, ResourceInfo)>>,
    excluded: Vec<ExcludedResource>,
}

impl ResourceTable {
    /// Reads the resources from the notes; the last description of a resource counts.
    pub(crate) fn new(notes: &[NoteEntry]) -> Self {
        let mut table = Self::default();
        for entry in notes {
            match &entry.note {
                Note::Resource(info) => {
                    let before = table.recorded.insert(info.id, info.clone());
                    if let Some(before) = before.filter(|before| before != info) {
                        let replaced = table.replaced.entry(info.id).or_default();
                        replaced.push((entry.seq, before));
                    }
                    // Recorded again, or later for the first time.
                    table.excluded.retain(|excluded| {
                        (&excluded.group, &excluded.plural) != (&info.group, &info.plural)
                    });
                }
                Note::NotCovered {
                    group,
                    version,
                    plural,
                    reason,
                    detail,
                } => {
                    table
                        .excluded
                        .retain(|excluded| (&excluded.group, &excluded.plural) != (group, plural));
                    table.excluded.push(ExcludedResource {
                        since: entry.seq,
                        group: group.clone(),
                        version: version.clone(),
                        plural: plural.clone(),
                        reason: *reason,
                        detail: detail.clone(),
                    });
                }
                _ => {}
            }
        }
        table
    }

    /// Returns every recorded resource.
    pub fn iter(&self) -> impl Iterator<Item = &ResourceInfo> {
        self.recorded.values()
    }

    /// Returns the description of one recorded resource.
    pub fn get(&self, id: ResourceId) -> Option<&ResourceInfo> {
        self.recorded.get(&id)
    }

    /// Returns the description of a recorded resource below a record.
    pub fn described(&self, id: ResourceId, below: Seq) -> Option<&ResourceInfo> {
        let replaced = self.replaced.get(&id).into_iter().flatten();
        let earlier = replaced.filter(|(until, _)| below <= *until);
        let earlier = earlier.map(|(_, info)| info).next();
        earlier.or_else(|| self.get(id))
    }

    /// Returns the descriptions of a resource, in order.
    pub fn descriptions(&self, id: ResourceId) -> impl Iterator<Item = &ResourceInfo> {
        let replaced = self.replaced.get(&id).into_iter().flatten();
        replaced.map(|(_, info)| info).chain(self.get(id))
    }

    /// Returns what is not recorded as of the end of the reel.
    pub fn excluded(&self) -> &[ExcludedResource] {
        &self.excluded
    }

    /// Finds a recorded resource by any of its names.
    ///
    /// If several groups use a name, the core group has precedence, then the resource that was
    /// announced first.
    ///
    /// # Errors
    /// When no recorded resource has the name.
    pub fn find(&self, name: &str) -> Result<&ResourceInfo, SelectError> {
        let asked = name.to_lowercase();
        // The names of a resource may change while it is recorded: the present ones have precedence.
        let bore = |info: &ResourceInfo, name: &str| {
            let mut all = self.descriptions(info.id);
            all.any(|one| bears(one, name))
        };
        let named = self.iter().filter(|info| bore(info, &asked));
        let rank = |info: &&ResourceInfo| (!bears(info, &asked), !info.group.is_empty(), info.id);
        if let Some(info) = named.min_by_key(rank) {
            return Ok(info);
        }
        // plural.version.group, and plural.group: the first part of a group may look like a
        // version.
        if let Some((short, rest)) = asked.split_once('.') {
            let in_group = |group: &str| {
                let of_group = |info: &&ResourceInfo| info.group == group && bore(info, short);
                let mut all: Vec<&ResourceInfo> = self.iter().filter(of_group).collect();
                all.sort_by_key(|info| info.id);
                all
            };
            if let Some(info) = in_group(rest).last() {
                return Ok(info);
            }
            let (version, group) = rest.split_once('.').unwrap_or((rest, ""));
            let all = in_group(group);
            let has_version = |info: &&&ResourceInfo| {
                let mut descriptions = self.descriptions(info.id);
                descriptions.any(|one| one.version == version)
            };
            if let Some(info) = all.iter().rfind(has_version) {
                return Ok(info);
            }
            if let Some(last) = all.last() {
                let versions = all.iter().flat_map(|info| self.descriptions(info.id));
                let mut versions: Vec<&str> = versions.map(|info| info.version.as_str()).collect();
                versions.dedup();
                return Err(SelectError::OtherVersion {
                    qualified: last.qualified(),
                    recorded: versions.join(" and "),
                    asked: version.to_owned(),
                });
            }
        }
        if let Some(excluded) = self
            .excluded
            .iter()
            .find(|excluded| excluded.plural == asked || excluded.qualified() == asked)
        {
            return Err(SelectError::NotCovered {
                excluded: excluded.clone(),
            });
        }
        Err(SelectError::UnknownResource {
            name: name.to_owned(),
            nearest: self.nearest(&asked),
        })
    }

    /// Returns every recorded resource of the same group and plural, the one recorded last first.
    ///
    /// A resource that vanished and came back, or changed its recorded version, has several.
    pub fn namesakes(&self, info: &ResourceInfo) -> Vec<&ResourceInfo> {
        let mut same: Vec<&ResourceInfo> = self
            .iter()
            .filter(|other| other.group == info.group && other.plural == info.plural)
            .collect();
        same.sort_by_key(|other| std::cmp::Reverse(other.id));
        same
    }

    /// Returns every recorded resource of the same group and plural, the one recorded first first.
    pub fn namesake_ids(&self, id: ResourceId) -> Vec<ResourceId> {
        let same = self.get(id).map(|info| self.namesakes(info));
        let ids = same.into_iter().flatten().rev().map(|info| info.id);
        let ids: Vec<ResourceId> = ids.collect();
        if ids.is_empty() { vec![id] } else { ids }
    }

    fn nearest(&self, asked: &str) -> Vec<String> {
        let names = self.iter().flat_map(|info| {
            let shorts = info.short_names.iter().map(String::as_str);
            [info.plural.as_str(), info.singular.as_str()]
                .into_iter()
                .chain(shorts)
                .filter(|name| !name.is_empty())
                .map(move |name| (name, info))
        });
        let names: Vec<(&str, &ResourceInfo)> = names.collect();
        let mut plurals = Vec::new();
        for near in nearest(asked, names.iter().map(|(name, _)| *name)) {
            for (name, info) in &names {
                if *name == near && !plurals.contains(&info.qualified()) {
                    plurals.push(info.qualified());
                }
            }
        }
        plurals
    }
}

fn bears(info: &ResourceInfo, lower: &str) -> bool {
    let is = |name: &str| !name.is_empty() && name.eq_ignore_ascii_case(lower);
    is(&info.plural)
        || is(&info.singular)
        || is(&info.kind)
        || info.short_names.iter().any(|s| is(s))
}

/// The largest number of proposed names.
const PROPOSALS: usize = 3;

/// Returns the known names that are most similar to `wrong`, best first.
pub fn nearest<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> Vec<String> {
    let wrong = wrong.to_lowercase();
    // A third of the letters may differ; more make another word.
    let bound = (wrong.chars().count() / 3).clamp(1, 4);
    let mut near: Vec<(usize, &str)> = known
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let is_beginning = wrong.len() >= 3 && lower.starts_with(&wrong);
            // Edit operations: insert, delete, replace, or swap neighbours.
            let steps = strsim::osa_distance(&wrong, &lower);
            (steps <= bound || is_beginning).then_some((steps, name))
        })
        .collect();
    near.sort_unstable();
    near.dedup_by_key(|(_, name)| *name);
    near.truncate(PROPOSALS);
    near.into_iter().map(|(_, name)| name.to_owned()).collect()
}

#[cfg(test)]
mod resource_tests {
    use super::*;
    use kubereel_format::Stamp;

    fn info(id: u32, group: &str, plural: &str, kind: &str, shorts: &[&str]) -> Note {
        Note::Resource(ResourceInfo {
            short_names: shorts.iter().map(|&s| s.to_owned()).collect(),
            ..ResourceInfo::new(ResourceId(id), &format!("{group}/v1"), plural, kind)
        })
    }

    fn table(notes: Vec<Note>) -> ResourceTable {
        let notes: Vec<NoteEntry> = (0..)
            .zip(notes)
            .map(|(seq, note)| NoteEntry {
                seq: Seq(seq),
                stamp: Stamp::from_micros(0, 0),
                note,
            })
            .collect();
        ResourceTable::new(&notes)
    }

    fn sample() -> ResourceTable {
        table(vec![
            info(0, "serving.example.io", "services", "Service", &["ksvc"]),
            info(1, "", "services", "Service", &["svc"]),
            info(2, "apps", "deployments", "Deployment", &["deploy"]),
            info(3, "v1.odd.io", "things", "Thing", &[]),
            Note::NotCovered {
                group: "metrics.k8s.io".to_owned(),
                version: "v1beta1".to_owned(),
                plural: "pods".to_owned(),
                reason: NotCoveredReason::NoWatch,
                detail: String::new(),
            },
        ])
    }

    #[test]
    fn every_spelling_of_kubectl_finds_the_resource() {
        let table = sample();
        for (name, id) in [
            ("services", 1),
            ("service", 1),
            ("Service", 1),
            ("svc", 1),
            ("SVC", 1),
            ("ksvc", 0),
            ("services.serving.example.io", 0),
            ("Service.v1.serving.example.io", 0),
            ("service.serving.example.io", 0),
            ("services.v1.", 1),
            ("services.v1", 1),
            ("deploy", 2),
            ("deployments.apps", 2),
            ("deployments.v1.apps", 2),
            ("Deployment.v1.apps", 2),
            ("things.v1.odd.io", 3),
            ("things.v1.v1.odd.io", 3),
        ] {
            let found = table.find(name).map(|info| info.id);
            assert_eq!(found, Ok(ResourceId(id)), "{name}");
        }
    }

    #[test]
    fn another_version_is_named() {
        let error = sample()
            .find("deployments.v1beta1.apps")
            .expect_err("other");
        assert_eq!(
            error.to_string(),
            "deployments.apps was recorded as v1, not as v1beta1"
        );
    }

    #[test]
    fn every_recorded_version_is_found() {
        let version = |id, version: &str| {
            let api_version = format!("e.io/{version}");
            Note::Resource(ResourceInfo::new(
                ResourceId(id),
                &api_version,
                "gadgets",
                "Gadget",
            ))
        };
        // One that came back in another version, and then changed it.
        let table = table(vec![
            version(0, "v1alpha1"),
            version(1, "v1beta1"),
            version(1, "v1"),
        ]);
        let found = |name: &str| table.find(name).map(|info| info.id);
        assert_eq!(found("gadgets.v1alpha1.e.io"), Ok(ResourceId(0)));
        assert_eq!(found("gadgets.v1beta1.e.io"), Ok(ResourceId(1)));
        assert_eq!(found("gadgets.v1.e.io"), Ok(ResourceId(1)));
        let error = table.find("gadgets.v2.e.io").expect_err("another");
        assert_eq!(
            error.to_string(),
            "gadgets.e.io was recorded as v1alpha1 and v1beta1 and v1, not as v2"
        );
        let described = |below| {
            table
                .described(ResourceId(1), Seq(below))
                .map(|info| &*info.version)
        };
        assert_eq!(described(2), Some("v1beta1"));
        assert_eq!(described(3), Some("v1"));
        let now = table.get(ResourceId(1)).expect("recorded");
        let refused =
            |name: &str| SelectError::of_version(name, now).map(|error| error.to_string());
        assert_eq!(
            refused("Gadget.v1beta1.e.io").as_deref(),
            Some("gadgets.e.io was recorded as v1, not as v1beta1")
        );
        for name in ["gadgets", "gadgets.e.io", "gadgets.v1.e.io"] {
            assert_eq!(refused(name), None, "{name}");
        }
    }

    #[test]
    fn what_was_not_recorded_says_why() {
        let error = sample().find("pods.metrics.k8s.io").expect_err("excluded");
        assert_eq!(
            error.to_string(),
            "pods.metrics.k8s.io was not recorded: no watch"
        );
    }

    #[test]
    fn a_resource_that_comes_back_is_no_longer_excluded() {
        let gone = Note::NotCovered {
            group: "apps".to_owned(),
            version: "v1".to_owned(),
            plural: "deployments".to_owned(),
            reason: NotCoveredReason::Gone,
            detail: String::new(),
        };
        let deployments = || info(2, "apps", "deployments", "Deployment", &[]);
        assert_eq!(table(vec![deployments(), gone.clone()]).excluded().len(), 1);
        let table = table(vec![gone, deployments()]);
        assert!(table.excluded().is_empty());
    }

    #[test]
    fn a_wrong_name_gets_the_nearest_ones() {
        for (wrong, right) in [("deploymnets", "deployments.apps"), ("sv", "services")] {
            let Err(SelectError::UnknownResource { nearest, .. }) = sample().find(wrong) else {
                panic!("{wrong} was found");
            };
            assert_eq!(nearest.first().map(String::as_str), Some(right), "{wrong}");
        }
        let Err(SelectError::UnknownResource { nearest, .. }) = sample().find("zebra") else {
            panic!("zebra was found");
        };
        assert!(nearest.is_empty(), "{nearest:?}");
    }
}

#[cfg(test)]
mod nearest_tests {
    use super::*;

    #[test]
    fn near_names_come_best_first_and_far_ones_not_at_all() {
        let known = ["pods", "nodes", "podtemplates", "services", "endpoints"];
        assert_eq!(nearest("pdos", known.into_iter()), ["pods"]);
        assert_eq!(nearest("Serivces", known.into_iter()), ["services"]);
        assert_eq!(nearest("podt", known.into_iter()), ["pods", "podtemplates"]);
        assert!(nearest("zebra", known.into_iter()).is_empty());
    }
}
