//! The resources of an input: which resource an object belongs to, and its names.
//!
//! A name comes from the line, from a definition in the input, from the built-in table, or else from the rule by which
//! Kubernetes' own clients guess plurals; a guess is marked as one.

use crate::builtin_resources::{self, BuiltInResource};
use crate::error::Problem;
use kubereel_format::{ResourceId, ResourceInfo};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};

/// The longest name that is taken; Kubernetes itself stops at 253.
const MAX_NAME: usize = 512;

/// How many resources an input may name. The largest clusters have some hundreds.
const MAX_RESOURCES: usize = 20_000;

/// How many questions are remembered, so that an input of odd lines does not fill the memory.
const MAX_ASKED: usize = 4 * MAX_RESOURCES;

/// What a line and its object say of the resource.
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
    /// By what was asked: most lines ask what one before them asked.
    asked: HashMap<String, usize>,
    by_plural: HashMap<(String, String, String), usize>,
    by_kind: HashMap<(String, String, String), usize>,
    definitions: BTreeMap<(String, String), ImportedDefinition>,
    key: String,
}

#[derive(Debug)]
struct KnownResource {
    info: ResourceInfo,
    /// Whether the plural was made of the kind.
    is_guessed: bool,
    /// Whether somebody who knows said where its objects live.
    is_scope_told: bool,
    told: Announcement,
}

/// What the reel says of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Announcement {
    /// Nothing: one whose only object is broken is never told of.
    Never,
    /// Something that no longer holds.
    Outdated,
    /// What holds.
    Current,
}

impl KnownResource {
    /// Notes that the reel has to be told anew.
    fn renew(&mut self) {
        if self.told == Announcement::Current {
            self.told = Announcement::Outdated;
        }
    }
}

impl InputResources {
    /// Finds the resource of an object.
    pub(crate) fn find(&mut self, asked: &ResourceQuery<'_>) -> Result<&ResourceInfo, Problem> {
        self.key.clear();
        for part in [
            asked.group.unwrap_or("\u{1}"),
            asked.version.unwrap_or("\u{1}"),
            asked.plural.unwrap_or("\u{1}"),
            asked.api_version,
            asked.kind,
        ] {
            self.key.push_str(part);
            self.key.push('\0');
        }
        let at = if let Some(&at) = self.asked.get(&self.key) {
            at
        } else {
            let at = self.look_up(asked)?;
            if self.asked.len() >= MAX_ASKED {
                self.asked.clear();
            }
            self.asked.insert(self.key.clone(), at);
            at
        };
        let known = self.known.get_mut(at).ok_or(Problem::NoResource)?;
        if asked.namespaced && !known.info.namespaced && !known.is_scope_told {
            known.info.namespaced = true;
            known.renew();
        }
        Ok(&known.info)
    }

    /// Gives a resource's description if the reel has not got it as it is now.
    pub(crate) fn take_news(&mut self, id: ResourceId) -> Option<ResourceInfo> {
        let at = usize::try_from(id.0).ok()?;
        let known = self
            .known
            .get_mut(at)
            .filter(|known| known.told != Announcement::Current)?;
        known.told = Announcement::Current;
        Some(known.info.clone())
    }

    /// Gives the resources that the reel describes.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &ResourceInfo> {
        let told = self
            .known
            .iter()
            .filter(|known| known.told != Announcement::Never);
        told.map(|known| &known.info)
    }

    /// Gives those of them whose plural is a guess.
    pub(crate) fn guessed(&self) -> impl Iterator<Item = &ResourceInfo> {
        let guessed =
            |known: &&KnownResource| known.told != Announcement::Never && known.is_guessed;
        self.known.iter().filter(guessed).map(|known| &known.info)
    }

    /// Takes a definition and gives the resources that it describes anew.
    pub(crate) fn learn(&mut self, definition: ImportedDefinition) -> Vec<ResourceId> {
        let named = |known: &KnownResource| {
            known.info.group == definition.group
                && (known.info.plural == definition.plural
                    || (known.is_guessed && known.info.kind == definition.kind))
        };
        let places: Vec<usize> = (0..)
            .zip(&self.known)
            .filter(|(_, known)| named(known))
            .map(|(at, _)| at)
            .collect();
        let mut anew = Vec::new();
        for at in places {
            self.rename(at, &definition.plural);
            let Some(known) = self.known.get_mut(at) else {
                continue;
            };
            let before = known.info.clone();
            describe(&mut known.info, &definition);
            known.is_scope_told = true;
            if known.info != before {
                known.renew();
                if known.told != Announcement::Never {
                    anew.push(known.info.id);
                }
            }
        }
        let key = (definition.group.clone(), definition.plural.clone());
        self.definitions.insert(key, definition);
        anew
    }

    fn look_up(&mut self, asked: &ResourceQuery<'_>) -> Result<usize, Problem> {
        let (of_group, of_version) = match asked.api_version.split_once('/') {
            Some((group, version)) => (group, version),
            None => ("", asked.api_version),
        };
        let group = asked.group.unwrap_or(of_group);
        let version = asked.version.unwrap_or(of_version);
        if version.is_empty() || (asked.kind.is_empty() && asked.plural.is_none()) {
            return Err(Problem::NoResource);
        }
        for name in [group, version, asked.plural.unwrap_or_default(), asked.kind] {
            if name.len() > MAX_NAME {
                return Err(Problem::LongName("resource's name"));
            }
        }
        match asked.plural {
            Some("") => Err(Problem::NoResource),
            Some(plural) => self.of_plural(group, version, plural, asked),
            None => self.of_kind(group, version, asked),
        }
    }

    fn of_plural(
        &mut self,
        group: &str,
        version: &str,
        plural: &str,
        asked: &ResourceQuery<'_>,
    ) -> Result<usize, Problem> {
        let name = (group.to_owned(), version.to_owned(), plural.to_owned());
        if let Some(&at) = self.by_plural.get(&name) {
            self.name_kind(at, asked.kind);
            return Ok(at);
        }
        // A line names what was guessed before.
        if let Some(&at) = self.by_kind.get(&(name.0, name.1, asked.kind.to_owned()))
            && self.known.get(at).is_some_and(|known| known.is_guessed)
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
        self.push(group, version, &source, asked)
    }

    fn of_kind(
        &mut self,
        group: &str,
        version: &str,
        asked: &ResourceQuery<'_>,
    ) -> Result<usize, Problem> {
        let kind = (group.to_owned(), version.to_owned(), asked.kind.to_owned());
        if let Some(&at) = self.by_kind.get(&kind) {
            return Ok(at);
        }
        let definition = self
            .definitions
            .values()
            .find(|one| one.group == group && one.kind == asked.kind);
        let source = match (definition, builtin_resources::of_kind(group, asked.kind)) {
            (Some(definition), _) => NameSource::Definition(definition.clone()),
            (None, Some(row)) => NameSource::BuiltIn(row),
            (None, None) => NameSource::Kind,
        };
        self.push(group, version, &source, asked)
    }

    fn push(
        &mut self,
        group: &str,
        version: &str,
        source: &NameSource<'_>,
        asked: &ResourceQuery<'_>,
    ) -> Result<usize, Problem> {
        let at = self.known.len();
        if at >= MAX_RESOURCES {
            return Err(Problem::TooManyResources);
        }
        #[expect(clippy::expect_used, reason = "the number is below MAX_RESOURCES")]
        let number = u32::try_from(at).expect("a small number");
        let mut info = ResourceInfo {
            id: ResourceId(number),
            group: group.to_owned(),
            version: version.to_owned(),
            plural: String::new(),
            singular: asked.kind.to_lowercase(),
            kind: asked.kind.to_owned(),
            short_names: Vec::new(),
            categories: Vec::new(),
            namespaced: asked.namespaced,
            verbs: Vec::new(),
            storage_hash: None,
        };
        match source {
            NameSource::Definition(definition) => describe(&mut info, definition),
            NameSource::BuiltIn(row) => describe_built_in(&mut info, row),
            NameSource::Line(plural) => (*plural).clone_into(&mut info.plural),
            NameSource::Kind => info.plural = guess_plural(asked.kind),
        }
        let is_known = matches!(source, NameSource::Definition(_) | NameSource::BuiltIn(_));
        let version = || (info.group.clone(), info.version.clone());
        let (group, of) = version();
        // Two kinds may be served under one plural; the first keeps the name.
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
            is_scope_told: is_known,
            told: Announcement::Never,
            info,
        });
        Ok(at)
    }

    /// Gives a resource the plural that somebody named.
    fn rename(&mut self, at: usize, plural: &str) {
        let Some(known) = self.known.get_mut(at) else {
            return;
        };
        known.is_guessed = false;
        if known.info.plural == plural {
            return;
        }
        plural.clone_into(&mut known.info.plural);
        known.renew();
        let info = &known.info;
        let name = (
            info.group.clone(),
            info.version.clone(),
            info.plural.clone(),
        );
        self.by_plural.entry(name).or_insert(at);
    }

    /// Gives a resource its kind if only its plural was known.
    fn name_kind(&mut self, at: usize, kind: &str) {
        let Some(known) = self.known.get_mut(at) else {
            return;
        };
        if kind.is_empty() || !known.info.kind.is_empty() {
            return;
        }
        kind.clone_into(&mut known.info.kind);
        known.info.singular = kind.to_lowercase();
        known.renew();
        let info = &known.info;
        let name = (info.group.clone(), info.version.clone(), info.kind.clone());
        self.by_kind.entry(name).or_insert(at);
    }
}

/// Who names a resource.
enum NameSource<'a> {
    /// A definition in the input.
    Definition(ImportedDefinition),
    /// Kubernetes or OpenShift.
    BuiltIn(BuiltInResource),
    /// The line; nobody says more.
    Line(&'a str),
    /// Nobody: the plural is made of the kind.
    Kind,
}

/// What a definition names.
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
    spec: DefinitionSpec,
}

#[derive(Deserialize)]
struct DefinitionSpec {
    group: String,
    names: DefinitionNames,
    #[serde(default)]
    scope: String,
}

#[derive(Deserialize)]
struct DefinitionNames {
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

/// Describes a resource as its definition does.
fn describe(info: &mut ResourceInfo, definition: &ImportedDefinition) {
    info.plural.clone_from(&definition.plural);
    info.singular.clone_from(&definition.singular);
    info.kind.clone_from(&definition.kind);
    info.short_names.clone_from(&definition.short_names);
    info.categories.clone_from(&definition.categories);
    info.namespaced = definition.namespaced;
}

/// Describes a resource as its server does.
fn describe_built_in(info: &mut ResourceInfo, row: &BuiltInResource) {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    row.plural.clone_into(&mut info.plural);
    row.kind.clone_into(&mut info.kind);
    info.singular = row.kind.to_lowercase();
    info.short_names = owned(&row.short_names);
    info.categories = owned(&row.categories);
    info.namespaced = row.namespaced;
}

/// Makes a plural of a kind.
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
        assert_eq!(found, Err(Problem::TooManyResources));
        let found = resources.find(&kind("v1", "Kind0")).map(|info| info.id);
        assert_eq!(found, Ok(ResourceId(0)));
    }

    #[test]
    fn without_names_there_is_no_resource() {
        let long = "x".repeat(MAX_NAME + 1);
        for (asked, problem) in [
            (kind("", "Pod"), Problem::NoResource),
            (kind("v1", ""), Problem::NoResource),
            (kind("v1", &long), Problem::LongName("resource's name")),
        ] {
            let found = InputResources::default().find(&asked).map(|info| info.id);
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
