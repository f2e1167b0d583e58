//! Owns the resources of an input: which objects belong to which, and under what names. Refuses to
//! hide a guess: what was made of a kind is told apart from what somebody named.

use super::builtin::{self, BuiltIn};
use super::describe::{describe, describe_built_in};
use super::{Definition, plural};
use crate::broken::Problem;
use kubereel_format::{ResourceId, ResourceInfo};
use std::collections::{BTreeMap, HashMap};

/// The longest name that is taken; Kubernetes itself stops at 253.
pub(super) const MAX_NAME: usize = 512;

/// How many resources an input may name. The largest clusters have some hundreds.
pub(super) const MAX_RESOURCES: usize = 20_000;

/// How many questions are remembered, so that an input of odd lines does not fill the memory.
const MAX_ASKED: usize = 4 * MAX_RESOURCES;

/// What a line and its object say of the resource.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked<'a> {
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
pub(crate) struct Resources {
    known: Vec<Known>,
    /// By what was asked: most lines ask what one before them asked.
    asked: HashMap<String, usize>,
    by_plural: HashMap<(String, String, String), usize>,
    by_kind: HashMap<(String, String, String), usize>,
    definitions: BTreeMap<(String, String), Definition>,
    key: String,
}

#[derive(Debug)]
struct Known {
    info: ResourceInfo,
    /// Whether the plural was made of the kind.
    is_guessed: bool,
    /// Whether somebody who knows said where its objects live.
    is_scope_told: bool,
    told: Told,
}

/// What the reel says of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    /// Nothing: one whose only object is broken is never told of.
    Never,
    /// Something that no longer holds.
    Before,
    /// What holds.
    Now,
}

impl Known {
    /// Notes that the reel has to be told anew.
    fn renew(&mut self) {
        if self.told == Told::Now {
            self.told = Told::Before;
        }
    }
}

impl Resources {
    /// Finds the resource of an object.
    pub(crate) fn find(&mut self, asked: &Asked<'_>) -> Result<&ResourceInfo, Problem> {
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
            .filter(|known| known.told != Told::Now)?;
        known.told = Told::Now;
        Some(known.info.clone())
    }

    /// Gives the resources that the reel describes.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &ResourceInfo> {
        let told = self.known.iter().filter(|known| known.told != Told::Never);
        told.map(|known| &known.info)
    }

    /// Gives those of them whose plural is a guess.
    pub(crate) fn guessed(&self) -> impl Iterator<Item = &ResourceInfo> {
        let guessed = |known: &&Known| known.told != Told::Never && known.is_guessed;
        self.known.iter().filter(guessed).map(|known| &known.info)
    }

    /// Takes a definition and gives the resources that it describes anew.
    pub(crate) fn learn(&mut self, definition: Definition) -> Vec<ResourceId> {
        let named = |known: &Known| {
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
                if known.told != Told::Never {
                    anew.push(known.info.id);
                }
            }
        }
        let key = (definition.group.clone(), definition.plural.clone());
        self.definitions.insert(key, definition);
        anew
    }

    fn look_up(&mut self, asked: &Asked<'_>) -> Result<usize, Problem> {
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
        asked: &Asked<'_>,
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
        let source = match (definition, builtin::of_plural(group, plural)) {
            (Some(definition), _) => Source::Definition(definition.clone()),
            (None, Some(row)) => Source::BuiltIn(row),
            (None, None) => Source::Line(plural),
        };
        self.push(group, version, &source, asked)
    }

    fn of_kind(&mut self, group: &str, version: &str, asked: &Asked<'_>) -> Result<usize, Problem> {
        let kind = (group.to_owned(), version.to_owned(), asked.kind.to_owned());
        if let Some(&at) = self.by_kind.get(&kind) {
            return Ok(at);
        }
        let definition = self
            .definitions
            .values()
            .find(|one| one.group == group && one.kind == asked.kind);
        let source = match (definition, builtin::of_kind(group, asked.kind)) {
            (Some(definition), _) => Source::Definition(definition.clone()),
            (None, Some(row)) => Source::BuiltIn(row),
            (None, None) => Source::Kind,
        };
        self.push(group, version, &source, asked)
    }

    fn push(
        &mut self,
        group: &str,
        version: &str,
        source: &Source<'_>,
        asked: &Asked<'_>,
    ) -> Result<usize, Problem> {
        let at = self.known.len();
        if at >= MAX_RESOURCES {
            return Err(Problem::TooManyResources);
        }
        let mut info = ResourceInfo {
            id: ResourceId(u32::try_from(at).unwrap_or(u32::MAX)),
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
            Source::Definition(definition) => describe(&mut info, definition),
            Source::BuiltIn(row) => describe_built_in(&mut info, row),
            Source::Line(plural) => (*plural).clone_into(&mut info.plural),
            Source::Kind => info.plural = plural::guess(asked.kind),
        }
        let is_known = matches!(source, Source::Definition(_) | Source::BuiltIn(_));
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
        self.known.push(Known {
            is_guessed: matches!(source, Source::Kind),
            is_scope_told: is_known,
            told: Told::Never,
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
enum Source<'a> {
    /// A definition in the input.
    Definition(Definition),
    /// Kubernetes or OpenShift.
    BuiltIn(BuiltIn),
    /// The line; nobody says more.
    Line(&'a str),
    /// Nobody: the plural is made of the kind.
    Kind,
}
