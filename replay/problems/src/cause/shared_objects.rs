//! What the causes of all problems are looked for in, read once: bindings of roles, labels of cluster roles, the
//! labels by which network policies select namespaces, and bodies that several problems ask for.

use super::label_keys::namespace_labels;
use crate::lookup::{labels, resources};
use kubereel_format::{BodyBuffer, EventType, ObjectId, Seq};
use kubereel_history::Timeline;
use kubereel_history::field::{items, text};
use serde_json::Value;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

const RBAC: &str = "rbac.authorization.k8s.io";

/// Objects that many problems ask for, each kind read when it is asked for first.
pub(crate) struct SharedObjects<'a> {
    timeline: &'a Timeline,
    bindings: OnceCell<Vec<RoleBinding>>,
    role_labels: OnceCell<Vec<RoleLabels>>,
    policy_labels: OnceCell<BTreeSet<String>>,
    bodies: RefCell<ParsedBodies>,
}

/// Bodies by their versions; `None` for those that cannot be read.
#[derive(Default)]
struct ParsedBodies {
    kept: HashMap<Seq, Option<Rc<Value>>>,
    /// The length of their text.
    bytes: usize,
}

/// The bytes of text whose parsed bodies are kept.
const BODIES_KEPT: usize = 1024 * 1024;

/// The account, group or user that a binding gives a role.
pub(super) struct BindingSubject {
    pub(super) kind: String,
    pub(super) namespace: String,
    pub(super) name: String,
}

/// A `RoleBinding` or `ClusterRoleBinding`.
pub(super) struct RoleBinding {
    /// Empty for a `ClusterRoleBinding`.
    pub(super) namespace: String,
    /// The kind and name of the role.
    pub(super) role: (String, String),
    pub(super) subjects: Vec<BindingSubject>,
}

impl RoleBinding {
    pub(super) fn of(body: &Value) -> Self {
        let of = |body: &Value, field: &str| text(body, field).to_owned();
        let subjects = items(body, "/subjects").iter();
        Self {
            namespace: of(body, "/metadata/namespace"),
            role: (of(body, "/roleRef/kind"), of(body, "/roleRef/name")),
            subjects: subjects
                .map(|subject| BindingSubject {
                    kind: of(subject, "/kind"),
                    namespace: of(subject, "/namespace"),
                    name: of(subject, "/name"),
                })
                .collect(),
        }
    }
}

/// The labels that a `ClusterRole` has or had.
pub(super) struct RoleLabels {
    pub(super) name: String,
    pub(super) labels: BTreeSet<BTreeMap<String, String>>,
}

impl<'a> SharedObjects<'a> {
    pub(crate) fn of(timeline: &'a Timeline) -> Self {
        Self {
            timeline,
            bindings: OnceCell::new(),
            role_labels: OnceCell::new(),
            policy_labels: OnceCell::new(),
            bodies: RefCell::default(),
        }
    }

    /// Returns the body of a version; what cannot be read says nothing.
    pub(super) fn body(&self, seq: Seq) -> Option<Rc<Value>> {
        let mut bodies = self.bodies.borrow_mut();
        if let Some(body) = bodies.kept.get(&seq) {
            return body.clone();
        }
        let behind = Seq(seq.0.saturating_add(1));
        let text = self.timeline.reel().body_at(seq, behind).ok();
        let body = text
            .as_deref()
            .and_then(|text| serde_json::from_slice(text).ok())
            .map(Rc::new);
        if bodies.bytes > BODIES_KEPT {
            *bodies = ParsedBodies::default();
        }
        bodies.bytes = bodies
            .bytes
            .saturating_add(text.map_or(0, |text| text.len()));
        bodies.kept.insert(seq, body.clone());
        body
    }

    /// Returns the last bodies of all bindings.
    pub(super) fn bindings(&self) -> &[RoleBinding] {
        self.bindings.get_or_init(|| {
            let plurals = ["rolebindings", "clusterrolebindings"].into_iter();
            let objects = plurals.flat_map(|plural| self.objects(RBAC, plural));
            let reel = self.timeline.reel();
            let last = objects.filter_map(|object| {
                let mut versions = reel.versions(object).iter().rev();
                let last = versions.find(|seq| reel.kind_of(**seq) != Some(EventType::Deleted));
                Some((object, *last?))
            });
            let bodies = self.read(last.collect());
            bodies.map(|(_, body)| RoleBinding::of(&body)).collect()
        })
    }

    /// Returns the labels of all `ClusterRoles`.
    pub(super) fn role_labels(&self) -> &[RoleLabels] {
        self.role_labels.get_or_init(|| {
            let reel = self.timeline.reel();
            let objects = self.objects(RBAC, "clusterroles");
            let versions = objects.flat_map(|object| {
                let versions = reel.versions(object).iter();
                versions.map(move |seq| (object, *seq))
            });
            let mut all: BTreeMap<ObjectId, BTreeSet<BTreeMap<String, String>>> = BTreeMap::new();
            for (object, body) in self.read(versions.collect()) {
                let known = all.entry(object).or_default();
                known.extend(labels(&body, "/metadata/labels"));
            }
            let named = all.into_iter().filter_map(|(object, labels)| {
                let name = self.timeline.key_of(object)?.name.to_owned();
                Some(RoleLabels { name, labels })
            });
            named.collect()
        })
    }

    /// Returns the labels by which network policies select namespaces.
    pub(super) fn policy_labels(&self) -> &BTreeSet<String> {
        self.policy_labels.get_or_init(|| {
            let reel = self.timeline.reel();
            let policies = self.objects("networking.k8s.io", "networkpolicies");
            let last = policies.filter_map(|object| Some((object, *reel.versions(object).last()?)));
            let bodies = self.read(last.collect());
            bodies
                .flat_map(|(_, body)| namespace_labels(&body))
                .collect()
        })
    }

    fn objects(&self, group: &str, plural: &str) -> impl Iterator<Item = ObjectId> {
        let resources = resources(self.timeline, group, plural).into_iter();
        resources.flat_map(|resource| self.timeline.objects_of(resource).iter().copied())
    }

    /// Reads bodies, whose blocks are decoded once; what cannot be read says nothing.
    fn read(&self, versions: Vec<(ObjectId, Seq)>) -> impl Iterator<Item = (ObjectId, Value)> {
        let seqs: Vec<Seq> = versions.iter().map(|(_, seq)| *seq).collect();
        let bodies = self.timeline.reel().gather(&seqs, None, &mut |_| {});
        let mut buffer = BodyBuffer::default();
        versions.into_iter().filter_map(move |(object, seq)| {
            let body = bodies.body(seq, &mut buffer).ok()?;
            Some((object, serde_json::from_slice(body).ok()?))
        })
    }
}
