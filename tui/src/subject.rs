//! An object by resource, namespace and name: what it is called on the screen and in addresses, and where
//! the events of its resource are. Whether it existed at a time is asked elsewhere.

use kubereel_format::{ObjectId, ResourceId, Seq, quoted};
use kubereel_history::{Timeline, harmless};

/// An object by its name, through all its lives.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NamedObject {
    /// Its resource.
    pub(crate) resource: ResourceId,
    /// Its namespace; empty for cluster-scoped objects.
    pub(crate) namespace: String,
    /// Its name.
    pub(crate) name: String,
}

impl NamedObject {
    /// Writes it for people: `pod shop/web-0`, `clusteroperator etcd`.
    pub(crate) fn written(&self, timeline: &Timeline) -> String {
        let text = format!("{} {}", self.kind(timeline), self.label());
        harmless(&text).into_owned()
    }

    /// Writes it short, with its namespace: `po/shop/web-0`, `co/etcd`.
    pub(crate) fn brief(&self, timeline: &Timeline) -> String {
        let info = timeline.resources().get(self.resource);
        let short = info.and_then(|info| info.short_names.first());
        let kind = short.map_or_else(|| self.kind(timeline), String::as_str);
        harmless(&format!("{kind}/{}", self.label())).into_owned()
    }

    /// Writes its namespace and name.
    pub(crate) fn label(&self) -> String {
        let gap = if self.namespace.is_empty() { "" } else { "/" };
        format!("{}{gap}{}", self.namespace, self.name)
    }

    /// Writes it as flags, so that it can be pasted.
    pub(crate) fn flags(&self, timeline: &Timeline) -> String {
        let resource = timeline.resources().get(self.resource);
        let resource = resource
            .map(kubereel_format::ResourceInfo::qualified)
            .unwrap_or_default();
        let select = format!("--select {}", quoted(&format!("{resource}/{}", self.name)));
        if self.namespace.is_empty() {
            select
        } else {
            format!("{select} -n {}", quoted(&self.namespace))
        }
    }

    /// Writes it short: `po/web-0`, `co/etcd`; with the singular name where there is no shorter one.
    pub(crate) fn short(&self, timeline: &Timeline) -> String {
        let info = timeline.resources().get(self.resource);
        let short = info.and_then(|info| info.short_names.first());
        let kind = short.map_or_else(|| self.kind(timeline), String::as_str);
        format!("{kind}/{}", self.name)
    }

    /// Gives the singular name of its resource.
    pub(crate) fn kind<'a>(&self, timeline: &'a Timeline) -> &'a str {
        let info = timeline.resources().get(self.resource);
        info.map_or("", |info| {
            if info.singular.is_empty() {
                &info.plural
            } else {
                &info.singular
            }
        })
    }

    /// Gives its versions through all its lives, in order.
    pub(crate) fn versions(&self, timeline: &Timeline) -> Vec<Seq> {
        let lives = timeline.lives(self.resource, &self.namespace, &self.name);
        let mut all: Vec<Seq> = lives
            .iter()
            .flat_map(|life| timeline.reel().versions(life.object))
            .copied()
            .collect();
        all.sort_unstable();
        all
    }
}

/// The events of a resource, of one namespace or of all.
#[derive(Clone, Copy)]
pub(crate) struct ResourceEvents<'a> {
    /// The reel.
    pub(crate) timeline: &'a Timeline,
    /// The resource.
    pub(crate) resource: ResourceId,
    /// The namespace; all of them if none.
    pub(crate) namespace: Option<&'a str>,
}

impl ResourceEvents<'_> {
    /// Gives the first event at or behind a record.
    pub(crate) fn next(&self, below: Seq) -> Option<Seq> {
        self.nearest(|versions| {
            let at = versions.partition_point(|seq| *seq < below);
            versions.get(at)
        })
        .min()
    }

    /// Gives the last event before a record.
    pub(crate) fn previous(&self, below: Seq) -> Option<Seq> {
        self.nearest(|versions| {
            let at = versions.partition_point(|seq| *seq < below);
            versions.get(at.checked_sub(1)?)
        })
        .max()
    }

    fn nearest(&self, pick: impl Fn(&[Seq]) -> Option<&Seq>) -> impl Iterator<Item = Seq> {
        let objects = self.timeline.objects_of(self.resource).iter();
        let is_asked = |object: &&ObjectId| {
            self.namespace.is_none_or(|only| {
                let key = self.timeline.key_of(**object);
                key.is_some_and(|key| key.namespace == only)
            })
        };
        let objects = objects.filter(is_asked);
        objects.filter_map(move |object| pick(self.timeline.reel().versions(*object)).copied())
    }
}
