//! Which objects a command is about, in kubectl's words: `pods,nodes`, `all`, `pods a b`, `pods/a nodes/b`, the
//! objects of manifests.

use crate::arguments;
use crate::command::manifests::{self, ManifestFiles};
use crate::command::object_query;
use crate::command_error::CommandError;
use crate::screen::Console;
use kubereel_format::ResourceInfo;
use kubereel_history::{
    Cut, LabelSelector, Moment, ObjectFilter, ResourceSnapshot, SelectError, Timeline,
};
use std::path::PathBuf;

/// The words that select objects, as kubectl's commands have them.
#[derive(Debug, clap::Args)]
pub(crate) struct SelectionArgs {
    /// The objects: RESOURCE[,RESOURCE…], RESOURCE NAME…, or RESOURCE/NAME…
    #[arg(value_name = "RESOURCE[/NAME]", required_unless_present = "filename")]
    pub(crate) objects: Vec<String>,
    /// The objects of a manifest, in YAML or JSON: a file, a directory, or - for stdin; repeatable
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["objects", "selector", "all_namespaces"])]
    pub(crate) filename: Vec<PathBuf>,
    /// Read the directories of -f with those below them
    #[arg(short = 'R', long)]
    pub(crate) recursive: bool,
    /// Namespace of the objects; default: "default", or the namespace in the manifest
    #[arg(short, long, value_name = "NS", value_parser = arguments::namespace)]
    pub(crate) namespace: Option<String>,
    /// Select objects in all namespaces
    #[arg(short = 'A', long)]
    pub(crate) all_namespaces: bool,
    /// Only objects whose labels match, as for kubectl: a=b,c!=d,e in (f,g),!h
    #[arg(short = 'l', long, value_name = "SELECTOR", default_value = "")]
    pub(crate) selector: LabelSelector,
}

impl SelectionArgs {
    /// Returns the manifests.
    pub(crate) fn manifests(&self) -> ManifestFiles<'_> {
        ManifestFiles {
            paths: &self.filename,
            is_recursive: self.recursive,
        }
    }

    /// Returns the selection; objects may be selected by more than their labels.
    pub(crate) fn selection(&self, has_other_selector: bool) -> ObjectSelection<'_> {
        ObjectSelection {
            objects: &self.objects,
            files: self.manifests(),
            namespace: self.namespace.as_deref(),
            all_namespaces: self.all_namespaces,
            has_selector: has_other_selector || !self.selector.is_empty(),
        }
    }
}

/// What was asked for.
pub(crate) struct ObjectSelection<'a> {
    objects: &'a [String],
    /// Manifests; with these there are no words.
    files: ManifestFiles<'a>,
    /// `None` for the default one.
    namespace: Option<&'a str>,
    all_namespaces: bool,
    has_selector: bool,
}

/// A resource, and which of its objects are asked for.
pub(crate) struct SelectedResource<'a> {
    pub(crate) resource: &'a ResourceInfo,
    /// None stand for all.
    pub(crate) names: Vec<String>,
    /// `None` for those of all namespaces, and for cluster-scoped ones.
    pub(crate) namespace: Option<String>,
    pub(crate) shows_namespace: bool,
}

impl SelectedResource<'_> {
    /// Gives the filter of these objects.
    pub(crate) fn filter(&self) -> ObjectFilter<'_> {
        ObjectFilter {
            namespace: self.namespace.as_deref(),
            names: &self.names,
        }
    }

    /// Gives the state at a moment, and the place of it.
    pub(crate) fn state(
        &self,
        timeline: &Timeline,
        at: Moment,
        cut: Cut,
    ) -> Result<(Cut, ResourceSnapshot), CommandError> {
        let id = self.resource.id;
        let cut = object_query::known_cut(timeline, id, at, cut)?;
        let state = timeline.as_of(id, cut, &self.filter());
        // Of a resource that is no longer served there are no objects.
        if !state.certainty.has_state() && !state.certainty.is_gone() {
            return Err(object_query::no_state(
                timeline,
                self.resource,
                &state,
                "--at",
            ));
        }
        Ok((cut, state))
    }
}

/// The resources of `all` in kubectl, in its order, for a recording that has no categories.
const ALL: [&str; 10] = [
    "pods",
    "replicationcontrollers",
    "services",
    "daemonsets.apps",
    "deployments.apps",
    "replicasets.apps",
    "statefulsets.apps",
    "horizontalpodautoscalers.autoscaling",
    "cronjobs.batch",
    "jobs.batch",
];

impl<'a> ObjectSelection<'a> {
    /// Says that there are no objects; an error of a namespace that never was there.
    pub(crate) fn say_none(
        &self,
        timeline: &Timeline,
        screen: &mut Console,
    ) -> Result<(), CommandError> {
        if let Some(namespace) = self.namespace.filter(|_| !self.all_namespaces) {
            object_query::known_namespace(timeline, namespace)?;
        }
        screen.aside("No resources found.")
    }

    /// Finds the resources that are asked for, and which of their objects.
    pub(crate) fn resources(
        &self,
        timeline: &'a Timeline,
        cut: Cut,
    ) -> Result<Vec<SelectedResource<'a>>, CommandError> {
        let target = |resource: &'a ResourceInfo, names: Vec<String>, namespace: &str| {
            let resource = timeline.resource_at(resource, cut);
            let is_bound = resource.namespaced && !self.all_namespaces;
            SelectedResource {
                resource,
                names,
                namespace: is_bound.then(|| namespace.to_owned()),
                shows_namespace: resource.namespaced && self.all_namespaces,
            }
        };
        let mut targets: Vec<SelectedResource<'a>> = Vec::new();
        for object in manifests::named_objects(self.files, self.namespace)? {
            let resource = object_query::find_resource(timeline, &object.resource())?;
            targets.push(target(resource, vec![object.name], &object.namespace));
        }
        if !self.files.paths.is_empty() {
            return Ok(targets);
        }
        let namespace = self.namespace.unwrap_or("default");
        for (spelt, names) in object_query::named_resources(self.objects)? {
            if !names.is_empty() && self.has_selector {
                let both = "names cannot be combined with a selector";
                return Err(CommandError::usage(both));
            }
            let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
            for resource in resources(timeline, spelt, cut)? {
                let known = targets
                    .iter_mut()
                    .find(|known| known.resource.id == resource.id && !known.names.is_empty());
                // Several names of one resource are one table.
                match known {
                    Some(known) => known.names.extend(names.iter().cloned()),
                    None => targets.push(target(resource, names.clone(), namespace)),
                }
            }
        }
        Ok(targets)
    }
}

/// Finds a resource, or those that are of a category at a moment.
fn resources<'a>(
    timeline: &'a Timeline,
    spelt: &str,
    cut: Cut,
) -> Result<Vec<&'a ResourceInfo>, CommandError> {
    let place = |info: &ResourceInfo| {
        let name = info.qualified();
        ALL.iter()
            .position(|known| *known == name)
            .unwrap_or(ALL.len())
    };
    if let Err(SelectError::UnknownResource { .. }) = timeline.resources().find(spelt) {
        let all = timeline.resources().iter();
        let mut of_category: Vec<&ResourceInfo> = all
            .filter(|info| {
                let described = timeline.described_at(info, cut);
                let mut categories = described.categories.iter();
                categories.any(|category| category == spelt)
                    || spelt == "all" && place(info) < ALL.len()
            })
            .collect();
        of_category.sort_by_key(|info| (place(info), info.qualified()));
        if !of_category.is_empty() {
            return Ok(of_category);
        }
    }
    let found = object_query::find_resource(timeline, spelt)?;
    match SelectError::of_version(spelt, timeline.resource_at(found, cut)) {
        Some(error) => Err(object_query::unknown_resource(&error, timeline)),
        None => Ok(vec![found]),
    }
}
