//! The resources of an input: which resource an object belongs to, and its names.
//!
//! A name comes from the line, from a definition in the input, from the built-in table, or else
//! from the rule by which Kubernetes' own clients guess plurals. A guess is marked as such.

use crate::builtin_resources::{self, BuiltInResource};
use crate::error::BrokenReason;
use kubereel_format::{ResourceId, ResourceInfo};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};

/// The longest accepted name; Kubernetes allows 253 characters.
const MAX_NAME: usize = 512;

/// The largest number of resources in an input. The largest clusters have some hundreds.
const MAX_RESOURCES: usize = 20_000;

/// The number of cached queries, which bounds the memory for inputs with irregular lines.
const MAX_QUERIES: usize = 4 * MAX_RESOURCES;

/// What a line and its object state about the resource.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ResourceQuery<'a> {
    pub(crate) group: Option<&'a str>,
    pub(crate) version: Option<&'a str>,
    pub(crate) plural: Option<&'a str>,
    /// The object's `apiVersion`; empty if it has none.
    pub(crate) api_version: &'a str,
    /// The object's kind; empty if it has none.
    pub(crate) kind: &'a str,
    /// Whether the object lives in a namespace.
    pub(crate) namespaced: bool,
}

/// The resources of an input.
#[derive(Debug, Default)]
pub(crate) struct InputResources {
    known: Vec<KnownResource>,
    /// The answers to earlier queries: most lines repeat one.
    queries: HashMap<String, usize>,
    by_plural: HashMap<(String, String, String), usize>,
    by_kind: HashMap<(String, String, String), usize>,
    definitions: BTreeMap<(String, String), ImportedDefinition>,
    key: String,
}

#[derive(Debug)]
struct KnownResource {
    info: ResourceInfo,
    /// Whether the plural was guessed from the kind.
    is_guessed: bool,
    /// Whether its scope comes from a definition or the built-in table.
    is_scope_known: bool,
    announced: Announcement,
}

/// The description of the resource in the reel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Announcement {
    /// Missing: this stays so for a resource whose only object is broken.
    Never,
    /// Outdated.
    Outdated,
    /// Current.
    Current,
}

impl KnownResource {
    /// Marks the description in the reel as outdated.
    fn renew(&mut self) {
        if self.announced == Announcement::Current {
            self.announced = Announcement::Outdated;
        }
    }
}

impl InputResources {
    /// Finds the resource of an object.
    pub(crate) fn find(
        &mut self,
        query: &ResourceQuery<'_>,
    ) -> Result<&ResourceInfo, BrokenReason> {
        self.key.clear();
        for part in [
            query.group.unwrap_or("\u{1}"),
            query.version.unwrap_or("\u{1}"),
            query.plural.unwrap_or("\u{1}"),
            query.api_version,
            query.kind,
        ] {
            self.key.push_str(part);
            self.key.push('\0');
        }
        let at = if let Some(&at) = self.queries.get(&self.key) {
            at
        } else {
            let at = self.look_up(query)?;
            if self.queries.len() >= MAX_QUERIES {
                self.queries.clear();
            }
            self.queries.insert(self.key.clone(), at);
            at
        };
        let resource = self.known.get_mut(at).ok_or(BrokenReason::NoResource)?;
        if query.namespaced && !resource.info.namespaced && !resource.is_scope_known {
            resource.info.namespaced = true;
            resource.renew();
        }
        Ok(&resource.info)
    }

    /// Takes the resources of the reel to which the import appends, in the order of their ids.
    pub(crate) fn carry(&mut self, infos: impl IntoIterator<Item = ResourceInfo>) {
        for info in infos {
            let Ok(number) = usize::try_from(info.id.0) else {
                continue;
            };
            if number >= MAX_RESOURCES {
                continue;
            }
            // An id without a description does not belong to a resource.
            while self.known.len() < number {
                let Ok(id) = u32::try_from(self.known.len()).map(ResourceId) else {
                    break;
                };
                self.known.push(KnownResource {
                    info: no_resource(id),
                    is_guessed: false,
                    is_scope_known: true,
                    announced: Announcement::Never,
                });
            }
            let names = |last: &str| (info.group.clone(), info.version.clone(), last.to_owned());
            self.by_plural.insert(names(&info.plural), number);
            self.by_kind.insert(names(&info.kind), number);
            let resource = KnownResource {
                info,
                is_guessed: false,
                is_scope_known: true,
                announced: Announcement::Current,
            };
            match self.known.get_mut(number) {
                Some(place) => *place = resource,
                None => self.known.push(resource),
            }
        }
    }

    /// Returns a resource's description if that in the reel is missing or outdated.
    pub(crate) fn take_news(&mut self, id: ResourceId) -> Option<ResourceInfo> {
        let at = usize::try_from(id.0).ok()?;
        let resource = self
            .known
            .get_mut(at)
            .filter(|resource| resource.announced != Announcement::Current)?;
        resource.announced = Announcement::Current;
        Some(resource.info.clone())
    }

    /// Returns the resources with a description in the reel.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &ResourceInfo> {
        let announced = self
            .known
            .iter()
            .filter(|resource| resource.announced != Announcement::Never);
        announced.map(|resource| &resource.info)
    }

    /// Returns those with a guessed plural.
    pub(crate) fn guessed(&self) -> impl Iterator<Item = &ResourceInfo> {
        let guessed = |resource: &&KnownResource| {
            resource.announced != Announcement::Never && resource.is_guessed
        };
        self.known
            .iter()
            .filter(guessed)
            .map(|resource| &resource.info)
    }

    /// Takes a definition and returns the resources whose description it changes.
    pub(crate) fn learn(&mut self, definition: ImportedDefinition) -> Vec<ResourceId> {
        let named = |resource: &KnownResource| {
            resource.info.group == definition.group
                && (resource.info.plural == definition.plural
                    || (resource.is_guessed && resource.info.kind == definition.kind))
        };
        let places: Vec<usize> = (0..)
            .zip(&self.known)
            .filter(|(_, resource)| named(resource))
            .map(|(at, _)| at)
            .collect();
        let mut anew = Vec::new();
        for at in places {
            self.rename(at, &definition.plural);
            let Some(resource) = self.known.get_mut(at) else {
                continue;
            };
            let before = resource.info.clone();
            describe(&mut resource.info, &definition);
            resource.is_scope_known = true;
            if resource.info != before {
                resource.renew();
                if resource.announced != Announcement::Never {
                    anew.push(resource.info.id);
                }
            }
        }
        let key = (definition.group.clone(), definition.plural.clone());
        self.definitions.insert(key, definition);
        anew
    }

    fn look_up(&mut self, query: &ResourceQuery<'_>) -> Result<usize, BrokenReason> {
        let (of_group, of_version) = match query.api_version.split_once('/') {
            Some((group, version)) => (group, version),
            None => ("", query.api_version),
        };
        let group = query.group.unwrap_or(of_group);
        let version = query.version.unwrap_or(of_version);
        if version.is_empty() || (query.kind.is_empty() && query.plural.is_none()) {
            return Err(BrokenReason::NoResource);
        }
        for name in [group, version, query.plural.unwrap_or_default(), query.kind] {
            if name.len() > MAX_NAME {
                return Err(BrokenReason::LongName("resource's name"));
            }
        }
        match query.plural {
            Some("") => Err(BrokenReason::NoResource),
            Some(plural) => self.of_plural(group, version, plural, query),
            None => self.of_kind(group, version, query),
        }
    }

    fn of_plural(
        &mut self,
        group: &str,
        version: &str,
        plural: &str,
        query: &ResourceQuery<'_>,
    ) -> Result<usize, BrokenReason> {
        let name = (group.to_owned(), version.to_owned(), plural.to_owned());
        if let Some(&at) = self.by_plural.get(&name) {
            self.name_kind(at, query.kind);
            return Ok(at);
        }
        // A line names a resource that was guessed before.
        if let Some(&at) = self.by_kind.get(&(name.0, name.1, query.kind.to_owned()))
            && self
                .known
                .get(at)
                .is_some_and(|resource| resource.is_guessed)
        {
            self.rename(at, plural);
            return Ok(at);
        }
        let definition = self.definitions.get(&(group.to_owned(), plural.to_owned()));
        let source = match (definition, builtin_resources::of_plural(group, plural)) {
            (Some(definition), _) => NameSource::Definition(definition.clone()),
            (None, Some(row)) => NameSource::BuiltIn(row),
            (None, None) => NameSource::Line(plural),
        };
        self.push(group, version, &source, query)
    }

    fn of_kind(
        &mut self,
        group: &str,
        version: &str,
        query: &ResourceQuery<'_>,
    ) -> Result<usize, BrokenReason> {
        let kind = (group.to_owned(), version.to_owned(), query.kind.to_owned());
        if let Some(&at) = self.by_kind.get(&kind) {
            return Ok(at);
        }
        let definition = self
            .definitions
            .values()
            .find(|one| one.group == group && one.kind == query.kind);
        let source = match (definition, builtin_resources::of_kind(group, query.kind)) {
            (Some(definition), _) => NameSource::Definition(definition.clone()),
            (None, Some(row)) => NameSource::BuiltIn(row),
            (None, None) => NameSource::Kind,
        };
        self.push(group, version, &source, query)
    }

    fn push(
        &mut self,
        group: &str,
        version: &str,
        source: &NameSource<'_>,
        query: &ResourceQuery<'_>,
    ) -> Result<usize, BrokenReason> {
        let at = self.known.len();
        if at >= MAX_RESOURCES {
            return Err(BrokenReason::TooManyResources);
        }
        let number = u32::try_from(at).map_err(|_beyond| BrokenReason::TooManyResources)?;
        let mut info = ResourceInfo {
            group: group.to_owned(),
            version: version.to_owned(),
            namespaced: query.namespaced,
            ..ResourceInfo::new(ResourceId(number), "", "", query.kind)
        };
        match source {
            NameSource::Definition(definition) => describe(&mut info, definition),
            NameSource::BuiltIn(row) => describe_built_in(&mut info, row),
            NameSource::Line(plural) => (*plural).clone_into(&mut info.plural),
            NameSource::Kind => info.plural = guess_plural(query.kind),
        }
        let is_known = matches!(source, NameSource::Definition(_) | NameSource::BuiltIn(_));
        let version = || (info.group.clone(), info.version.clone());
        let (group, of) = version();
        // Two kinds may be served under one plural; the first one keeps the name.
        self.by_plural
            .entry((group, of, info.plural.clone()))
            .or_insert(at);
        if !info.kind.is_empty() {
            let (group, of) = version();
            self.by_kind
                .entry((group, of, info.kind.clone()))
                .or_insert(at);
        }
        self.known.push(KnownResource {
            is_guessed: matches!(source, NameSource::Kind),
            is_scope_known: is_known,
            announced: Announcement::Never,
            info,
        });
        Ok(at)
    }

    /// Sets the plural of a resource from a line or a definition.
    fn rename(&mut self, at: usize, plural: &str) {
        let Some(resource) = self.known.get_mut(at) else {
            return;
        };
        resource.is_guessed = false;
        if resource.info.plural == plural {
            return;
        }
        plural.clone_into(&mut resource.info.plural);
        resource.renew();
        let info = &resource.info;
        let name = (
            info.group.clone(),
            info.version.clone(),
            info.plural.clone(),
        );
        self.by_plural.entry(name).or_insert(at);
    }

    /// Sets the kind of a resource of which only the plural was known.
    fn name_kind(&mut self, at: usize, kind: &str) {
        let Some(resource) = self.known.get_mut(at) else {
            return;
        };
        if kind.is_empty() || !resource.info.kind.is_empty() {
            return;
        }
        kind.clone_into(&mut resource.info.kind);
        resource.info.singular = kind.to_lowercase();
        resource.renew();
        let info = &resource.info;
        let name = (info.group.clone(), info.version.clone(), info.kind.clone());
        self.by_kind.entry(name).or_insert(at);
    }
}

/// The source of a resource's names.
enum NameSource<'a> {
    /// A definition in the input.
    Definition(ImportedDefinition),
    /// Kubernetes or OpenShift.
    BuiltIn(BuiltInResource),
    /// Only the line.
    Line(&'a str),
    /// Nothing: the plural is guessed from the kind.
    Kind,
}

/// The names in a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImportedDefinition {
    pub(crate) group: String,
    pub(crate) kind: String,
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) namespaced: bool,
}

#[derive(Deserialize)]
struct DefinitionObject {
    spec: CustomResourceSpec,
}

#[derive(Deserialize)]
struct CustomResourceSpec {
    group: String,
    names: CustomResourceNames,
    #[serde(default)]
    scope: String,
}

#[derive(Deserialize)]
struct CustomResourceNames {
    plural: String,
    kind: String,
    #[serde(default)]
    singular: Option<String>,
    #[serde(default, rename = "shortNames")]
    shorts: Option<Vec<String>>,
    #[serde(default)]
    categories: Option<Vec<String>>,
}

impl ImportedDefinition {
    /// The group and the plural of definitions themselves.
    pub(crate) const RESOURCE: (&str, &str) = ("apiextensions.k8s.io", "customresourcedefinitions");

    /// Reads a definition; `None` if it does not name a resource.
    pub(crate) fn read(object: &[u8]) -> Option<Self> {
        let DefinitionObject { spec } = serde_json::from_slice(object).ok()?;
        let names = spec.names;
        if names.plural.is_empty() || names.kind.is_empty() || spec.group.is_empty() {
            return None;
        }
        let singular = names.singular.filter(|singular| !singular.is_empty());
        Some(Self {
            group: spec.group,
            singular: singular.unwrap_or_else(|| names.kind.to_lowercase()),
            kind: names.kind,
            plural: names.plural,
            short_names: names.shorts.unwrap_or_default(),
            categories: names.categories.unwrap_or_default(),
            namespaced: spec.scope == "Namespaced",
        })
    }
}

fn no_resource(id: ResourceId) -> ResourceInfo {
    ResourceInfo {
        namespaced: false,
        ..ResourceInfo::new(id, "", "", "")
    }
}

/// Returns the description of a definition's resource.
fn describe(info: &mut ResourceInfo, definition: &ImportedDefinition) {
    info.plural.clone_from(&definition.plural);
    info.singular.clone_from(&definition.singular);
    info.kind.clone_from(&definition.kind);
    info.short_names.clone_from(&definition.short_names);
    info.categories.clone_from(&definition.categories);
    info.namespaced = definition.namespaced;
}

/// Returns the description of a discovered resource.
fn describe_built_in(info: &mut ResourceInfo, row: &BuiltInResource) {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    row.plural.clone_into(&mut info.plural);
    row.kind.clone_into(&mut info.kind);
    info.singular = row.kind.to_lowercase();
    info.short_names = owned(&row.short_names);
    info.categories = owned(&row.categories);
    info.namespaced = row.namespaced;
}

/// Guesses the plural of a kind.
fn guess_plural(kind: &str) -> String {
    let singular = kind.to_lowercase();
    if singular.ends_with("endpoints") {
        singular
    } else if singular.ends_with('s') {
        singular + "es"
    } else if let Some(stem) = singular.strip_suffix('y') {
        format!("{stem}ies")
    } else {
        singular + "s"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind<'a>(api_version: &'a str, kind: &'a str) -> ResourceQuery<'a> {
        ResourceQuery {
            api_version,
            kind,
            namespaced: true,
            ..ResourceQuery::default()
        }
    }

    fn definition(group: &str, kind: &str, plural: &str) -> ImportedDefinition {
        ImportedDefinition {
            group: group.to_owned(),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
            singular: kind.to_lowercase(),
            short_names: vec!["x".to_owned()],
            categories: Vec::new(),
            namespaced: false,
        }
    }

    #[test]
    fn what_is_not_named_comes_from_the_object() {
        let mut resources = InputResources::default();
        let pods = resources
            .find(&kind("v1", "Pod"))
            .expect("a resource")
            .clone();
        assert_eq!((pods.group.as_str(), pods.plural.as_str()), ("", "pods"));
        assert_eq!(pods.short_names, ["po"]);
        let named = ResourceQuery {
            group: Some(""),
            version: Some("v1"),
            plural: Some("pods"),
            ..ResourceQuery::default()
        };
        assert_eq!(resources.find(&named).expect("the same").id, pods.id);
        assert_eq!(resources.guessed().count(), 0);
        let roles = resources.find(&kind("g.io/v2", "Widget")).expect("another");
        assert_eq!(roles.qualified(), "widgets.g.io");
        assert_eq!(roles.version, "v2");
        assert!(roles.namespaced);
        let id = roles.id;
        assert_eq!(resources.guessed().count(), 0, "the reel has nothing of it");
        assert!(resources.take_news(id).is_some());
        assert_eq!(resources.guessed().count(), 1);
    }

    #[test]
    fn a_definition_corrects_a_guess_and_stays_for_later() {
        let mut resources = InputResources::default();
        let oxen = resources
            .find(&kind("g.io/v1", "Ox"))
            .expect("a guess")
            .clone();
        assert_eq!(oxen.plural, "oxs");
        assert_eq!(resources.take_news(oxen.id), Some(oxen.clone()));
        assert_eq!(resources.take_news(oxen.id), None);
        assert_eq!(resources.learn(definition("g.io", "Ox", "oxen")), [oxen.id]);
        let news = resources.take_news(oxen.id).expect("a new name");
        assert_eq!((news.plural.as_str(), news.namespaced), ("oxen", false));
        assert_eq!(resources.guessed().count(), 0);
        assert!(resources.learn(definition("g.io", "Ox", "oxen")).is_empty());
        let other = resources
            .find(&kind("g.io/v2", "Ox"))
            .expect("another version");
        assert_eq!((other.plural.as_str(), other.id), ("oxen", ResourceId(1)));
        assert_eq!(
            resources.find(&kind("g.io/v1", "Ox")).map(|info| info.id),
            Ok(oxen.id)
        );
    }

    #[test]
    fn a_line_corrects_a_guess() {
        let mut resources = InputResources::default();
        let guess = resources.find(&kind("g.io/v1", "Ox")).expect("a guess").id;
        let named = ResourceQuery {
            plural: Some("oxen"),
            ..kind("g.io/v1", "Ox")
        };
        let info = resources.find(&named).expect("named").clone();
        assert_eq!((info.id, info.plural.as_str()), (guess, "oxen"));
        assert_eq!(resources.guessed().count(), 0);
        assert_eq!(
            resources.find(&kind("g.io/v1", "Ox")).map(|info| info.id),
            Ok(guess)
        );
    }

    #[test]
    fn a_kind_that_comes_late_is_taken() {
        let mut resources = InputResources::default();
        let bare = ResourceQuery {
            group: Some("g.io"),
            version: Some("v1"),
            plural: Some("oxen"),
            ..ResourceQuery::default()
        };
        let id = resources.find(&bare).expect("named").id;
        assert!(resources.take_news(id).is_some());
        let whole = ResourceQuery {
            plural: Some("oxen"),
            ..kind("g.io/v1", "Ox")
        };
        assert_eq!(resources.find(&whole).map(|info| info.id), Ok(id));
        assert_eq!(
            resources.take_news(id).map(|info| info.kind).as_deref(),
            Some("Ox")
        );
    }

    #[test]
    fn resources_without_end_are_refused_and_the_known_ones_stay() {
        let mut resources = InputResources::default();
        for number in 0..MAX_RESOURCES {
            let name = format!("Kind{number}");
            assert!(resources.find(&kind("v1", &name)).is_ok());
        }
        let found = resources.find(&kind("v1", "More")).map(|info| info.id);
        assert_eq!(found, Err(BrokenReason::TooManyResources));
        let found = resources.find(&kind("v1", "Kind0")).map(|info| info.id);
        assert_eq!(found, Ok(ResourceId(0)));
    }

    #[test]
    fn without_names_there_is_no_resource() {
        let long = "x".repeat(MAX_NAME + 1);
        for (query, problem) in [
            (kind("", "Pod"), BrokenReason::NoResource),
            (kind("v1", ""), BrokenReason::NoResource),
            (kind("v1", &long), BrokenReason::LongName("resource's name")),
        ] {
            let found = InputResources::default().find(&query).map(|info| info.id);
            assert_eq!(found, Err(problem));
        }
    }

    #[test]
    fn names_are_read() {
        let definition = ImportedDefinition::read(
            br#"{"spec":{"group":"g.io","scope":"Namespaced","names":{"plural":"oxen","kind":"Ox","shortNames":["ox"]},"versions":[]}}"#,
        )
        .expect("a definition");
        assert_eq!(definition.plural, "oxen");
        assert_eq!(definition.singular, "ox");
        assert_eq!(definition.short_names, ["ox"]);
        assert!(definition.namespaced);
    }

    #[test]
    fn what_names_nothing_is_none() {
        for text in [
            "",
            "{}",
            r#"{"spec":{"group":"g.io","names":{"plural":"","kind":"X"}}}"#,
            r#"{"spec":{"group":"g.io","names":{"plural":"x"}}}"#,
        ] {
            assert_eq!(ImportedDefinition::read(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn plurals_are_those_of_kubernetes() {
        for (kind, plural) in [
            ("Pod", "pods"),
            ("NetworkPolicy", "networkpolicies"),
            ("StorageClass", "storageclasses"),
            ("Endpoints", "endpoints"),
            ("Gateway", "gatewaies"),
            ("DNS", "dnses"),
        ] {
            assert_eq!(guess_plural(kind), plural);
        }
    }
}
