//! What the object of a problem depends on, at the time of its first sign: the edges that the API itself
//! names (references, selectors, owners, words), each with a distance.

use super::failure_words::{
    is_about_call, is_about_proxy, is_forbidden, is_pull_refused, is_unresolved,
};
use super::label_keys::{is_label_of, keys_of};
use super::pod_data::{containers, data_of_pod_spec};
use super::problem_words::{ProblemWords, SHORTEST_NAME};
use super::search::ExplainedReel;
use super::shared_objects::RoleBinding;
use crate::lookup::{labels, resources, serving_service};
use crate::problem::Problem;
use crate::sign::SignKind;
use kubereel_format::{ObjectId, ResourceId, ResourceInfo, Seq};
use kubereel_history::field::{items, text};
use kubereel_history::{LabelSelector, Timeline};
use serde_json::Value;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;

/// More Pods of one problem are not looked at: they are alike.
const MOST_PODS: usize = 5;
/// More workloads of a namespace are not compared with a selector.
const MOST_WORKLOADS: usize = 500;
/// Owners of owners further away than this are not looked for.
const MOST_OWNERS: u8 = 3;
/// Fields below this many levels are not searched for references.
const MOST_DEPTH: u8 = 8;
/// The name of a field that is shorter than this names no kind.
const SHORTEST_FIELD: usize = 5;
/// Longer values of a `ConfigMap` are not searched for addresses.
const MOST_DATA: usize = 65_536;

/// The relation of the problem's own object.
pub(super) const OWN: &str = "the object itself";
const OWNER: &str = "its owner";
/// The relation of what configures an operator or a pool.
pub(super) const CONFIGURATION: &str = "its configuration";
const MANAGER: &str = "it manages the object";
/// The relation of what asks for the resource that no Node has enough of.
pub(super) const ROOM: &str = "its Pods take room on the Nodes";
/// The relation of what takes a share of the quota that refuses an object.
pub(super) const QUOTA: &str = "its Pods use the quota";
/// The relation of what makes or mounts the volumes of a problem.
pub(super) const PROVISIONER: &str = "it serves its volumes";
/// The relation of the operator that writes the object.
pub(super) const WRITER: &str = "it belongs to the operator that writes the object";
/// The relation of what serves a Service that the containers of a problem call.
pub(super) const CALLED: &str = "its containers call it";
/// The relation of a Namespace that a webhook's selector selects.
pub(super) const SELECTED_NAMESPACE: &str = "the webhook selects its label";
/// The relation of a Pod that a Service without endpoints had.
pub(super) const BEHIND: &str = "it was behind the Service";
/// The kinds of what scales workloads.
pub(super) const AUTOSCALERS: [&str; 2] = ["HorizontalPodAutoscaler", "ScaledObject"];
/// The relations of what makes the object as it is.
pub(super) const MANAGING: [&str; 2] = [OWNER, MANAGER];

/// A setting of the whole cluster, which no object refers to.
struct ClusterSetting {
    kind: &'static str,
    namespace: &'static str,
    name: &'static str,
    /// Whether a sign and its words, in lower case, can come from it.
    is_meant: fn(SignKind, &str) -> bool,
    via: &'static str,
}

impl ClusterSetting {
    const fn dns(kind: &'static str, namespace: &'static str, name: &'static str) -> Self {
        Self {
            kind,
            namespace,
            name,
            // The kubelet resolves the names of registries as its Node does.
            is_meant: |kind, words| kind != SignKind::ImagePull && is_unresolved(words),
            via: "it configures the DNS of the cluster",
        }
    }
}

/// The settings of the whole cluster that are candidates for any object.
const CLUSTER_SETTINGS: &[ClusterSetting] = &[
    ClusterSetting {
        kind: "Secret",
        namespace: "openshift-config",
        name: "pull-secret",
        is_meant: |kind, words| {
            matches!(kind, SignKind::ImagePull | SignKind::ReleaseNotAccepted)
                && is_pull_refused(words)
        },
        via: "all Nodes pull images with it",
    },
    ClusterSetting {
        kind: "Proxy",
        namespace: "",
        name: "cluster",
        is_meant: |_, words| is_about_proxy(words),
        via: "it is the proxy of the cluster",
    },
    ClusterSetting::dns("ConfigMap", "kube-system", "coredns"),
    ClusterSetting::dns("ConfigMap", "kube-system", "coredns-custom"),
    ClusterSetting::dns("ConfigMap", "kube-system", "node-local-dns"),
    // Of OpenShift's DNS operator.
    ClusterSetting::dns("DNS", "", "default"),
];

/// A changed object's relation to a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Relation {
    /// How many steps lie between them.
    pub(super) distance: u8,
    /// The relation as text.
    pub(super) via: String,
    /// Whether the problem's own words name the object.
    pub(super) is_named: bool,
}

/// The object of a problem and what it depends on.
pub(super) struct Dependencies<'a> {
    reel: ExplainedReel<'a>,
    timeline: &'a Timeline,
    problem: &'a Problem,
    pub(super) words: ProblemWords,
    /// Namespaces and names of the Services that the containers call.
    pub(super) called_services: BTreeSet<(String, String)>,
    /// Kinds, namespaces and names of the workloads that serve those.
    called: BTreeSet<(String, String, String)>,
    /// The namespaces and labels of their Pods.
    called_labels: Vec<(String, BTreeMap<String, String>)>,
    named: BTreeMap<(String, String, String), (u8, String)>,
    /// The names of those.
    names: HashSet<String>,
    /// Names that fields like `fooRef.name` hold, whatever kind they mean, with the distance.
    any_kind: BTreeMap<String, (u8, String)>,
    /// Whether a claim leaves the class to the cluster.
    wants_default_class: bool,
    /// Whether the words are about a connection or a login that failed.
    is_about_call: bool,
    /// The namespaces that the webhooks of the problem select, and by which labels.
    namespace_selectors: Vec<LabelSelector>,
    selected_labels: BTreeSet<String>,
    /// The labels by which the Service of the problem selects Pods.
    service_labels: BTreeSet<String>,
    /// What an operator says that it is made of: group, plural, namespace and name; all of the resource
    /// where the name is empty.
    related: BTreeSet<(String, String, String, String)>,
    /// By which labels a pool selects its configurations, and which labels it has itself.
    pool: Option<(LabelSelector, BTreeMap<String, String>)>,
    /// Namespaces and names of the accounts of its Pods, and of those that the words name.
    accounts: BTreeSet<(String, String)>,
    /// What makes the volumes of the classes of its claims.
    provisioners: BTreeSet<String>,
    /// The roles of the accounts, read when a role is asked for.
    bound: OnceCell<BTreeMap<(String, String), u8>>,
    managers: BTreeSet<String>,
    /// Who writes the specification.
    writers: BTreeSet<String>,
    labels: BTreeMap<String, String>,
}

impl<'a> Dependencies<'a> {
    pub(super) fn of(reel: ExplainedReel<'a>, problem: &'a Problem) -> Self {
        let words = ProblemWords::of(problem, reel.found);
        let mut own = Self {
            reel,
            timeline: reel.timeline,
            problem,
            // A probe of another program, and a container that waits for one, do not say why they wait.
            is_about_call: is_about_call(words.text())
                || matches!(problem.kind, SignKind::Probe | SignKind::PodPending),
            wants_default_class: false,
            namespace_selectors: Vec::new(),
            selected_labels: BTreeSet::new(),
            service_labels: BTreeSet::new(),
            accounts: words.accounts(),
            words,
            called_services: BTreeSet::new(),
            called: BTreeSet::new(),
            called_labels: Vec::new(),
            named: BTreeMap::new(),
            names: HashSet::new(),
            any_kind: BTreeMap::new(),
            related: BTreeSet::new(),
            pool: None,
            provisioners: BTreeSet::new(),
            bound: OnceCell::new(),
            managers: BTreeSet::new(),
            writers: BTreeSet::new(),
            labels: BTreeMap::new(),
        };
        own.collect();
        own
    }

    fn name(&mut self, kind: &str, namespace: &str, name: &str, distance: u8, via: &str) {
        if name.is_empty() {
            return;
        }
        self.names.insert(name.to_owned());
        let key = (kind.to_owned(), namespace.to_owned(), name.to_owned());
        let known = self.named.entry(key).or_insert((distance, via.to_owned()));
        if distance < known.0 {
            *known = (distance, via.to_owned());
        }
    }

    fn collect(&mut self) {
        let object = self.problem.object.clone();
        self.name(&object.kind, &object.namespace, &object.name, 0, OWN);
        if object.kind == "ClusterOperator" {
            self.name(
                "ClusterVersion",
                "",
                "version",
                1,
                "the release that it belongs to",
            );
        }
        if let Some(resource) = object.resource {
            let lives = self
                .timeline
                .lives(resource, &object.namespace, &object.name);
            for life in lives {
                self.take_object(life.object, &object.kind, &object.namespace);
            }
        }
        for pod in self.problem.shown_by.iter().take(MOST_PODS) {
            let kind = self.kind_of(*pod);
            self.take_object(*pod, &kind, &object.namespace);
        }
        for failure in &self.problem.nodes {
            self.name("Node", "", &failure.node, 1, "the Node of its Pods");
        }
        self.name("Namespace", "", &object.namespace, 1, "its namespace");
        if object.kind == "Service" {
            self.take_service(&object.namespace, &object.name, 1);
        }
        self.take_services_of_words();
        if self.is_about_call {
            let words = self.words.text().to_owned();
            self.take_called(&words, &object.namespace);
        }
        if self.problem.kind == SignKind::LeaderFlapping {
            self.take_holders();
        }
    }

    /// Takes the controllers of the Pods that held a Lease: their names begin what the holder is called.
    fn take_holders(&mut self) {
        let namespace = self.problem.object.namespace.clone();
        let holder = self.problem.message.rsplit(' ').next().unwrap_or_default();
        let pod = holder.split('_').next().unwrap_or_default().to_owned();
        for resource in resources(self.timeline, "", "pods") {
            for life in self.timeline.lives(resource, &namespace, &pod) {
                let mut at = Some(life.object);
                for _ in 0..4 {
                    let Some(owner) = at.and_then(|at| self.reel.found.controllers.get(&at)) else {
                        break;
                    };
                    let (kind, name, uid) = (&owner.kind, &owner.name, &owner.uid);
                    at = self.reel.by_uid.get(uid.as_str()).copied();
                    self.name(kind, &namespace, name, 1, "its Pods hold the Lease");
                }
            }
        }
    }

    fn kind_of(&self, object: ObjectId) -> String {
        let key = self.timeline.key_of(object);
        let mut infos = self.timeline.resources().iter();
        key.and_then(|key| infos.find(|info| info.id == key.resource))
            .map(|info| info.kind.clone())
            .unwrap_or_default()
    }

    /// Takes what the last versions of an object before the first sign refer to: a reference that was
    /// just removed or added counts too.
    fn take_object(&mut self, object: ObjectId, kind: &str, namespace: &str) {
        let versions = self.timeline.reel().versions(object);
        let before: Vec<Seq> = versions
            .iter()
            .copied()
            .filter(|seq| *seq <= self.problem.from.seq)
            .collect();
        let last = before.iter().rev().take(2);
        let first = versions.iter().take(usize::from(before.is_empty()));
        let seqs: Vec<Seq> = last.chain(first).copied().collect();
        for body in seqs
            .into_iter()
            .filter_map(|seq| self.reel.objects.body(seq))
        {
            self.take_body(&body, kind, namespace);
        }
    }

    fn take_body(&mut self, body: &Value, kind: &str, namespace: &str) {
        for owner in items(body, "/metadata/ownerReferences") {
            let (kind, name) = (text(owner, "/kind"), text(owner, "/name"));
            self.take_owner(kind, namespace, name, 1);
        }
        self.take_managing_labels(body, namespace);
        for entry in items(body, "/metadata/managedFields") {
            let manager = text(entry, "/manager").to_owned();
            if text(entry, "/subresource") == "status" {
                self.managers.insert(manager);
            } else if kind != "Pod" {
                self.writers.insert(manager);
            }
        }
        let specs = [
            ("/spec", kind == "Pod"),
            ("/spec/template/spec", true),
            ("/spec/jobTemplate/spec/template/spec", true),
        ];
        for spec in specs
            .iter()
            .filter(|(_, is_pod)| *is_pod)
            .filter_map(|(at, _)| body.pointer(at))
        {
            self.take_pod_spec(spec, namespace);
        }
        let of_pods = if kind == "Pod" {
            "/metadata/labels"
        } else {
            "/spec/template/metadata/labels"
        };
        self.labels
            .extend(labels(body, of_pods).unwrap_or_default());
        self.take_spec(body, kind, namespace);
    }

    /// Takes an owner, and what owns it.
    fn take_owner(&mut self, kind: &str, namespace: &str, name: &str, distance: u8) {
        self.name(kind, namespace, name, distance, OWNER);
        self.name(kind, "", name, distance, OWNER);
        if distance >= MOST_OWNERS || kind == "Node" {
            return;
        }
        let named: Vec<ResourceId> = self
            .timeline
            .resources()
            .iter()
            .filter(|info| info.kind == kind)
            .map(|info| info.id)
            .collect();
        for resource in named {
            let lives = self.timeline.lives(resource, namespace, name).into_iter();
            let all = lives.chain(self.timeline.lives(resource, "", name));
            let Some(life) = all.last() else {
                continue;
            };
            let versions = self.timeline.reel().versions(life.object);
            let Some(body) = versions
                .first()
                .and_then(|seq| self.reel.objects.body(*seq))
            else {
                continue;
            };
            self.take_managing_labels(&body, namespace);
            for owner in items(&body, "/metadata/ownerReferences") {
                let (kind, name) = (text(owner, "/kind"), text(owner, "/name"));
                self.take_owner(kind, namespace, name, distance + 1);
            }
        }
    }

    /// Takes what the specification of a kind that is no workload refers to.
    fn take_spec(&mut self, body: &Value, kind: &str, namespace: &str) {
        match kind {
            "PersistentVolumeClaim" => {
                let class = body.pointer("/spec/storageClassName");
                self.wants_default_class |= class.is_none();
                let class = class.and_then(Value::as_str).unwrap_or_default();
                let class = self.body_at_onset("StorageClass", "", class);
                let provisioner = class.as_ref().map(|class| text(class, "/provisioner"));
                self.provisioners.extend(provisioner.map(str::to_owned));
                self.name(
                    "StorageClass",
                    "",
                    text(body, "/spec/storageClassName"),
                    1,
                    "its StorageClass",
                );
                self.name(
                    "PersistentVolume",
                    "",
                    text(body, "/spec/volumeName"),
                    1,
                    "its volume",
                );
            }
            "APIService" => {
                let (at, name) = serving_service(body);
                self.name("Service", at, name, 1, "the Service that serves it");
                self.take_service(at, name, 2);
            }
            "ClusterOperator" => {
                for one in items(body, "/status/relatedObjects") {
                    let of = |field: &str| text(one, field).to_owned();
                    let group = of("/group");
                    if is_configuration(&group) {
                        let key = (group, of("/resource"), of("/namespace"), of("/name"));
                        self.related.insert(key);
                    }
                }
            }
            "MachineConfigPool" => {
                let selector = body.pointer("/spec/machineConfigSelector");
                let selector = selector.and_then(LabelSelector::of_value);
                let own = labels(body, "/metadata/labels").unwrap_or_default();
                self.pool = selector.map(|selector| (selector, own));
            }
            "PodDisruptionBudget" => {
                let selector = body
                    .pointer("/spec/selector")
                    .and_then(LabelSelector::of_value);
                for selector in selector.iter().filter(|selector| !selector.is_empty()) {
                    for (kind, name) in self.selected(namespace, selector) {
                        self.name(&kind, namespace, &name, 1, "the budget counts its Pods");
                    }
                }
            }
            "HorizontalPodAutoscaler" => {
                let target = |field| text(body, field).to_owned();
                let (of, name) = (
                    target("/spec/scaleTargetRef/kind"),
                    target("/spec/scaleTargetRef/name"),
                );
                self.name(&of, namespace, &name, 1, "what it scales");
            }
            "MutatingWebhookConfiguration"
            | "ValidatingWebhookConfiguration"
            | "CustomResourceDefinition" => self.take_webhooks(body, kind),
            "Service" => {
                let selector = body.pointer("/spec/selector").and_then(Value::as_object);
                let keys = selector.into_iter().flat_map(|all| all.keys().cloned());
                self.service_labels.extend(keys);
                self.take_custom_spec(body, namespace);
            }
            // `take_pod_spec` has read it.
            "Pod" => {}
            _ => self.take_custom_spec(body, namespace),
        }
    }

    /// Takes the Services that the API server calls.
    fn take_webhooks(&mut self, body: &Value, kind: &str) {
        match kind {
            "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
                for webhook in items(body, "/webhooks") {
                    if let Some(selector) = webhook.get("namespaceSelector") {
                        self.take_namespace_selector(selector);
                    }
                    let (at, name) = (
                        text(webhook, "/clientConfig/service/namespace"),
                        text(webhook, "/clientConfig/service/name"),
                    );
                    self.name("Service", at, name, 1, "the Service that it calls");
                    self.take_service(at, name, 2);
                }
            }
            "CustomResourceDefinition" => {
                let of = |field: &str| {
                    let at = format!("/spec/conversion/webhook/clientConfig/service/{field}");
                    text(body, &at).to_owned()
                };
                let (at, name) = (of("namespace"), of("name"));
                self.name("Service", &at, &name, 1, "the Service that converts it");
                self.take_service(&at, &name, 2);
            }
            _ => {}
        }
    }

    /// Takes what the specification of any other kind refers to, but for what `take_pod_spec` reads.
    fn take_custom_spec(&mut self, body: &Value, namespace: &str) {
        let Some(mut spec) = body.get("spec").cloned() else {
            return;
        };
        for template in ["template", "jobTemplate"] {
            let is_of_pods = ["spec/containers", "spec/template/spec/containers"]
                .iter()
                .any(|at| spec.pointer(&format!("/{template}/{at}")).is_some());
            if let Some(members) = spec.as_object_mut().filter(|_| is_of_pods) {
                members.remove(template);
            }
        }
        let at = ReferenceDepth {
            distance: 1,
            depth: 0,
        };
        self.take_references(&spec, "", namespace, at);
    }

    fn take_namespace_selector(&mut self, selector: &Value) {
        self.selected_labels.extend(keys_of(selector));
        let selector = LabelSelector::of_value(selector).filter(|selector| !selector.is_empty());
        self.namespace_selectors.extend(selector);
    }

    /// Returns whether a path is a label by which a webhook of the problem selects namespaces.
    pub(super) fn is_selecting_label(&self, path: &str) -> bool {
        is_label_of(path, &self.selected_labels)
    }

    /// Returns whether a path is a label by which the Service of the problem selects Pods.
    pub(super) fn is_label_of_service(&self, path: &str) -> bool {
        is_label_of(path, &self.service_labels)
    }

    /// Takes the labels by which deployment tools mark what they manage.
    fn take_managing_labels(&mut self, body: &Value, namespace: &str) {
        let label = |place: &str, name: &str| {
            let found = body.pointer(place).and_then(|all| all.get(name));
            found.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let labels = "/metadata/labels";
        for (tool, kind) in [
            ("helm.toolkit.fluxcd.io", "HelmRelease"),
            ("kustomize.toolkit.fluxcd.io", "Kustomization"),
        ] {
            let name = label(labels, &format!("{tool}/name"));
            let mut at = label(labels, &format!("{tool}/namespace"));
            if at.is_empty() {
                namespace.clone_into(&mut at);
            }
            self.name(kind, &at, &name, 1, MANAGER);
        }
        let mut at = label(labels, "olm.owner.namespace");
        if at.is_empty() {
            namespace.clone_into(&mut at);
        }
        let (kind, name) = (label(labels, "olm.owner.kind"), label(labels, "olm.owner"));
        self.name(&kind, &at, &name, 1, MANAGER);
        let instance = label(labels, "app.kubernetes.io/instance");
        let release = label("/metadata/annotations", "meta.helm.sh/release-name");
        for name in [instance, release]
            .into_iter()
            .filter(|name| !name.is_empty())
        {
            self.any_kind.insert(name, (1, MANAGER.to_owned()));
        }
    }

    fn take_pod_spec(&mut self, spec: &Value, namespace: &str) {
        for used in data_of_pod_spec(spec, self.words.container()) {
            let distance = 1 + u8::from(used.is_of_other_container);
            self.name(used.kind, namespace, used.name, distance, used.via);
        }
        for volume in items(spec, "/volumes") {
            let driver = text(volume, "/csi/driver");
            if !driver.is_empty() {
                self.provisioners.insert(driver.to_owned());
            }
        }
        for secret in items(spec, "/imagePullSecrets") {
            let via = "its Pods pull images with it";
            self.name("Secret", namespace, text(secret, "/name"), 1, via);
        }
        let account = match text(spec, "/serviceAccountName") {
            "" => "default",
            account => account,
        };
        let via = "the ServiceAccount of its Pods";
        self.name("ServiceAccount", namespace, account, 1, via);
        self.accounts
            .insert((namespace.to_owned(), account.to_owned()));
        for (field, kind) in [
            ("/priorityClassName", "PriorityClass"),
            ("/runtimeClassName", "RuntimeClass"),
            ("/nodeName", "Node"),
        ] {
            self.name(kind, "", text(spec, field), 1, "named by its Pods");
        }
        if self.is_about_call {
            for text in self.texts_of(spec, namespace) {
                self.take_called(&text, namespace);
            }
        }
    }

    /// Returns the texts that tell the containers of a Pod what to call: their environment, arguments and data.
    fn texts_of(&self, spec: &Value, namespace: &str) -> Vec<String> {
        let mut texts: Vec<String> = Vec::new();
        for container in containers(spec) {
            let env = items(container, "/env").iter();
            texts.extend(env.map(|env| text(env, "/value").to_owned()));
            let lists = ["/args", "/command"].into_iter();
            let words = lists.flat_map(|list| items(container, list));
            texts.extend(words.filter_map(Value::as_str).map(str::to_owned));
        }
        let used = data_of_pod_spec(spec, self.words.container()).into_iter();
        for used in used.filter(|used| used.kind == "ConfigMap" && !used.is_of_other_container) {
            let body = self.body_at_onset(used.kind, namespace, used.name);
            let data = body.as_ref().and_then(|body| body.get("data")?.as_object());
            let values = data.into_iter().flatten();
            let values = values.filter_map(|(_, value)| value.as_str());
            let short = values.filter(|value| value.len() <= MOST_DATA);
            texts.extend(short.map(str::to_owned));
        }
        texts.sort_unstable();
        texts.dedup();
        texts
    }

    /// Takes the Services whose addresses a text holds, what serves them, and the data that configures it.
    fn take_called(&mut self, words: &str, namespace: &str) {
        let is_of_host = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
        let hosts = words.split(|c: char| !is_of_host(c));
        for host in hosts.filter(|host| !host.is_empty()) {
            let mut parts = host.split('.');
            let name = parts.next().unwrap_or_default();
            let at = parts.next().unwrap_or(namespace);
            let mut services = resources(self.timeline, "", "services").into_iter();
            if !services.any(|one| !self.timeline.lives(one, at, name).is_empty()) {
                continue;
            }
            self.name("Service", at, name, 1, CALLED);
            self.called_services
                .insert((at.to_owned(), name.to_owned()));
            for (kind, owner) in self.owners_behind(at, name) {
                self.name(&kind, at, &owner, 2, CALLED);
                self.called
                    .insert((kind.clone(), at.to_owned(), owner.clone()));
                let Some(body) = self.body_at_onset(&kind, at, &owner) else {
                    continue;
                };
                let of_pods = labels(&body, "/spec/template/metadata/labels").unwrap_or_default();
                self.called_labels.push((at.to_owned(), of_pods));
                let spec = body.pointer("/spec/template/spec").unwrap_or(&Value::Null);
                for used in data_of_pod_spec(spec, None) {
                    self.name(used.kind, at, used.name, 3, CALLED);
                }
            }
        }
    }

    /// Returns the body that an object had at the first sign.
    fn body_at_onset(&self, kind: &str, namespace: &str, name: &str) -> Option<Rc<Value>> {
        let infos = self.timeline.resources().iter();
        let lives = infos
            .filter(|info| info.kind == kind)
            .flat_map(|info| self.timeline.lives(info.id, namespace, name));
        let object = lives.last()?.object;
        let versions = self.timeline.reel().versions(object);
        let before = versions.partition_point(|seq| *seq <= self.problem.from.seq);
        let last = versions.get(before.checked_sub(1)?)?;
        self.reel.objects.body(*last)
    }

    /// Takes what the fields of a custom resource refer to: `fooRef.name`, `fooName`, and members with a
    /// `kind` and a `name`. A custom resource that it refers to is read in turn.
    fn take_references(&mut self, value: &Value, field: &str, namespace: &str, at: ReferenceDepth) {
        match value {
            Value::Object(members) if at.depth < MOST_DEPTH => {
                let name = text(value, "/name");
                let kind = match text(value, "/kind") {
                    "" => self.kind_of_field(field),
                    kind => Some(kind.to_owned()),
                };
                // One key of a Secret or `ConfigMap`.
                if kind.is_none() && !name.is_empty() && !text(value, "/key").is_empty() {
                    let via = format!("named by its field {field}");
                    let known = self.any_kind.entry(name.to_owned());
                    known.or_insert((at.distance, via));
                }
                if let Some(kind) = kind.filter(|_| !name.is_empty() && !field.is_empty()) {
                    let named_at = match text(value, "/namespace") {
                        "" => namespace.to_owned(),
                        other => other.to_owned(),
                    };
                    let via = format!("named by its field {field}");
                    self.name(&kind, &named_at, name, at.distance, &via);
                    self.name(&kind, "", name, at.distance, &via);
                    self.follow_reference(&kind, &named_at, name, at.distance);
                }
                for (member, value) in members {
                    let is_ref = field.ends_with("Ref") && member == "name";
                    let is_name =
                        member != "name" && (member.ends_with("Name") || member.ends_with("Ref"));
                    if let Some(name) = value.as_str().filter(|_| is_ref || is_name) {
                        let via = if is_ref { field } else { member };
                        let via = format!("named by its field {via}");
                        let known = self.any_kind.entry(name.to_owned());
                        known.or_insert((at.distance, via));
                    }
                    if let Some(name) = value.as_str().filter(|_| !is_ref && !is_name) {
                        self.take_plain_reference(member, name, namespace, at.distance);
                    }
                    self.take_references(value, member, namespace, at.deeper());
                }
            }
            Value::Array(list) if at.depth < MOST_DEPTH => {
                let singular = field.strip_suffix('s').unwrap_or(field);
                for item in list {
                    self.take_references(item, singular, namespace, at.deeper());
                }
            }
            _ => {}
        }
    }

    /// Takes a field that names a custom resource by the end of its kind, as `storageLocation` names a
    /// `BackupStorageLocation`.
    fn take_plain_reference(&mut self, field: &str, name: &str, namespace: &str, distance: u8) {
        let wanted = field.to_lowercase();
        let infos = self.timeline.resources().iter();
        let meant = infos.filter(|info| {
            is_custom(info)
                && wanted.len() >= SHORTEST_FIELD
                && info.kind.to_lowercase().ends_with(&wanted)
        });
        let there = meant.filter(|info| !self.timeline.lives(info.id, namespace, name).is_empty());
        let kinds: BTreeSet<String> = there.map(|info| info.kind.clone()).collect();
        for kind in kinds {
            let via = format!("named by its field {field}");
            self.name(&kind, namespace, name, distance, &via);
            self.follow_reference(&kind, namespace, name, distance);
        }
    }

    /// Returns the recorded kind that a field means by its name: `secretRef`, `providerConfigRef`, `service`.
    fn kind_of_field(&self, field: &str) -> Option<String> {
        let stem = field.strip_suffix("Ref");
        let wanted = stem.unwrap_or(field).to_lowercase();
        let kinds = self.timeline.resources().iter().map(|info| &info.kind);
        let meant = kinds.filter(|kind| {
            let kind = kind.to_lowercase();
            wanted == kind || stem.is_some() && wanted.ends_with(&kind)
        });
        meant.max_by_key(|kind| kind.len()).cloned()
    }

    /// Takes what a custom resource refers to that another one names.
    fn follow_reference(&mut self, kind: &str, namespace: &str, name: &str, distance: u8) {
        let mut infos = self.timeline.resources().iter();
        let is_custom = infos.any(|info| info.kind == kind && is_custom(info));
        if distance >= MOST_OWNERS || !is_custom {
            return;
        }
        let body = self.body_at_onset(kind, namespace, name);
        let body = body.or_else(|| self.body_at_onset(kind, "", name));
        if let Some(spec) = body.as_ref().and_then(|body| body.get("spec")) {
            let at = ReferenceDepth {
                distance: distance + 1,
                depth: 0,
            };
            self.take_references(spec, "", namespace, at);
        }
    }

    /// Takes what owns the Pods behind a Service.
    fn take_service(&mut self, namespace: &str, name: &str, distance: u8) {
        for (kind, name) in self.owners_behind(namespace, name) {
            let via = "its Pods are behind the Service";
            self.name(&kind, namespace, &name, distance, via);
        }
    }

    /// Returns the kinds and names of what owns the Pods behind a Service, and of the workloads that its
    /// selector selects or selected.
    fn owners_behind(&self, namespace: &str, name: &str) -> BTreeSet<(String, String)> {
        let mut owners: BTreeSet<(String, String)> = BTreeSet::new();
        for uid in self.reel.found.services.pods_of(namespace, name) {
            let mut at = self.reel.by_uid.get(uid).copied();
            for _ in 0..4 {
                let Some(owner) = at.and_then(|at| self.reel.found.controllers.get(&at)) else {
                    break;
                };
                owners.insert((owner.kind.clone(), owner.name.clone()));
                at = self.reel.by_uid.get(owner.uid.as_str()).copied();
            }
        }
        for selector in self.selectors(namespace, name) {
            owners.extend(self.selected(namespace, &selector));
        }
        owners
    }

    /// Returns the selectors that a Service has and had.
    fn selectors(&self, namespace: &str, name: &str) -> Vec<LabelSelector> {
        let mut all = Vec::new();
        for resource in resources(self.timeline, "", "services") {
            for life in self.timeline.lives(resource, namespace, name) {
                let versions = self.timeline.reel().versions(life.object).iter();
                for body in versions.filter_map(|seq| self.reel.objects.body(*seq)) {
                    all.extend(
                        body.pointer("/spec/selector")
                            .and_then(LabelSelector::of_value),
                    );
                }
            }
        }
        all
    }

    /// Returns the workloads whose Pods a selector selects.
    fn selected(&self, namespace: &str, selector: &LabelSelector) -> Vec<(String, String)> {
        let mut all = Vec::new();
        for info in self.timeline.resources().iter() {
            let is_workload = info.group == "apps"
                && matches!(
                    info.plural.as_str(),
                    "deployments" | "statefulsets" | "daemonsets"
                );
            if !is_workload {
                continue;
            }
            let objects = self.timeline.objects_of(info.id).iter();
            let named = objects.filter_map(|&object| Some((object, self.timeline.key_of(object)?)));
            let here = named.filter(|(_, key)| key.namespace == namespace);
            for (object, key) in here.take(MOST_WORKLOADS) {
                let last = self.timeline.reel().versions(object).last();
                let body = last.and_then(|seq| self.reel.objects.body(*seq));
                let made = body.and_then(|body| labels(&body, "/spec/template/metadata/labels"));
                if made.is_some_and(|labels| selector.matches(&labels)) {
                    all.push((info.kind.clone(), key.name.to_owned()));
                }
            }
        }
        all
    }

    /// Takes the Services that the words of an error name: `https://NAME.NAMESPACE.svc`.
    fn take_services_of_words(&mut self) {
        let words = self.words.text().to_owned();
        let hosts = words.split(|c: char| c.is_whitespace() || "/\":,".contains(c));
        for host in hosts.filter(|host| host.contains(".svc")) {
            let mut parts = host.split('.');
            if let (Some(name), Some(namespace)) = (parts.next(), parts.next()) {
                self.name(
                    "Service",
                    namespace,
                    name,
                    1,
                    "the words of the error name it",
                );
                self.take_service(namespace, name, 2);
            }
        }
    }

    /// Returns how an object is related to the problem; `body` reads its last version, and with a number one
    /// before it, only where a relation needs it.
    pub(super) fn relation(
        &self,
        info: &ResourceInfo,
        namespace: &str,
        name: &str,
        body: &dyn Fn(usize) -> Option<Rc<Value>>,
    ) -> Option<Relation> {
        let of = |distance: u8, via: &str| {
            Some(Relation {
                distance,
                via: via.to_owned(),
                is_named: self.words.name(name),
            })
        };
        // Most objects have another name: those need no key.
        if self.names.contains(name) {
            let key = (info.kind.clone(), namespace.to_owned(), name.to_owned());
            if let Some((distance, via)) = self.named.get(&key) {
                return of(*distance, via);
            }
        }
        if self.is_configuration_of_operator(info, namespace, name) {
            return of(1, CONFIGURATION);
        }
        if let Some(distance) = self.configures_pool(info, name, &|| body(0)) {
            return of(distance, CONFIGURATION);
        }
        let own = self.problem.object.namespace.as_str();
        let is_near = namespace.is_empty() || own.is_empty() || namespace == own;
        // Data of some namespace may have the name of any word.
        let is_meant = !own.is_empty() || self.words.mean_kind(&info.kind);
        if is_meant && self.words.name(name) && (is_near || self.words.name(namespace)) {
            return of(1, "the words of the problem name it");
        }
        if let Some((distance, via)) = self.any_kind.get(name).filter(|_| is_near) {
            return of(*distance, via);
        }
        let mut settings = CLUSTER_SETTINGS.iter().filter(|one| {
            (one.kind, one.namespace, one.name) == (info.kind.as_str(), namespace, name)
        });
        if let Some(setting) =
            settings.find(|one| (one.is_meant)(self.problem.kind, self.words.text()))
        {
            return of(1, setting.via);
        }
        let (distance, via) = self.relation_of_kind(info, namespace, name, body)?;
        of(distance, via)
    }

    /// Returns the distance and the relation that only objects of its kind have.
    fn relation_of_kind(
        &self,
        info: &ResourceInfo,
        namespace: &str,
        name: &str,
        body: &dyn Fn(usize) -> Option<Rc<Value>>,
    ) -> Option<(u8, &'static str)> {
        let own = self.problem.object.namespace.as_str();
        Some(match info.kind.as_str() {
            "ResourceQuota" | "LimitRange" if namespace == own && !own.is_empty() => {
                (1, "it limits the namespace")
            }
            "NetworkPolicy" => self.guarded_by(namespace, &*body(0)?, body(1).as_deref())?,
            "RoleBinding" | "ClusterRoleBinding" if namespace == own || namespace.is_empty() => {
                let binds = |body: Rc<Value>| self.binds(&RoleBinding::of(&body));
                let is_bound = binds(body(0)?) || body(1).is_some_and(binds);
                is_bound.then_some((1, "it binds the ServiceAccount of its Pods"))?
            }
            "Role" | "ClusterRole" if namespace == own || namespace.is_empty() => self
                .bound
                .get_or_init(|| self.bound_roles())
                .get(&(info.kind.clone(), name.to_owned()))
                .map(|distance| (*distance, "it holds the rights of its ServiceAccount"))?,
            "CustomResourceDefinition" if self.words.miss_kind_of(&*body(0)?) => {
                (1, "the words of the problem name its kind")
            }
            "Certificate" if self.names.contains(text(&*body(0)?, "/spec/secretName")) => {
                (1, "it issues a Secret that is used")
            }
            "StorageClass" if self.wants_default_class => (1, "its default StorageClass"),
            "HorizontalPodAutoscaler" | "ScaledObject" => {
                let autoscaler = body(0)?;
                let problem = &self.problem.object;
                if namespace == own && scales(&autoscaler, &problem.kind, &problem.name) {
                    return Some((1, "it scales the object"));
                }
                let mut called = self.called.iter();
                let is_of_called = called
                    .any(|(kind, at, name)| at == namespace && scales(&autoscaler, kind, name));
                is_of_called.then_some((2, CALLED))?
            }
            "APIService" if self.words.name_api(name) => {
                (1, "the words of the problem name its API")
            }
            "ImageContentSourcePolicy" | "ImageDigestMirrorSet" | "ImageTagMirrorSet"
                if self.problem.kind == SignKind::ImagePull =>
            {
                (2, "it says where images are pulled from")
            }
            "Namespace" if self.problem.kind == SignKind::Webhook => {
                let own = labels(&*body(0)?, "/metadata/labels").unwrap_or_default();
                let mut selectors = self.namespace_selectors.iter();
                selectors
                    .any(|selector| selector.matches(&own))
                    .then_some((1, SELECTED_NAMESPACE))?
            }
            "Pod" if self.problem.kind == SignKind::NoEndpoints => (1, BEHIND),
            "Node" if self.problem.kind == SignKind::Unschedulable => {
                (1, "a Node that its Pods could run on")
            }
            "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration"
                if self.words.text().contains("webhook") =>
            {
                (1, "it is called for the object")
            }
            kind => self.relation_of_workload(kind, namespace, name, body)?,
        })
    }

    /// Returns the distance and the relation of a workload, or of the data of a controller.
    fn relation_of_workload(
        &self,
        kind: &str,
        namespace: &str,
        name: &str,
        body: &dyn Fn(usize) -> Option<Rc<Value>>,
    ) -> Option<(u8, &'static str)> {
        let own = self.problem.object.namespace.as_str();
        Some(match kind {
            "Deployment" | "StatefulSet" | "DaemonSet"
                if !self.provisioners.is_empty() && self.provisions(&*body(0)?) =>
            {
                (1, PROVISIONER)
            }
            "Deployment" | "StatefulSet" | "DaemonSet" | "Job"
                if namespace == own && self.is_short_of_quota() =>
            {
                (2, QUOTA)
            }
            "Deployment" | "StatefulSet" | "DaemonSet" | "Job"
                if self.problem.kind == SignKind::Unschedulable =>
            {
                self.words.miss_room_for(&*body(0)?).then_some((2, ROOM))?
            }
            "Deployment" | "ConfigMap" | "StatefulSet"
                if matches!(
                    self.problem.kind,
                    SignKind::Condition
                        | SignKind::Unreconciled
                        | SignKind::Certificate
                        | SignKind::DeletionStuck
                        | SignKind::NamespaceStuck
                ) =>
            {
                self.is_of_manager(name)
                    .then_some((2, "it belongs to the controller that writes the status"))?
            }
            "Deployment"
                if self
                    .writers
                    .iter()
                    .any(|writer| names_one_another(writer, name)) =>
            {
                (2, WRITER)
            }
            _ => return None,
        })
    }

    /// Returns how a network policy guards the Pods of the problem or of what they call, or did before.
    fn guarded_by(
        &self,
        namespace: &str,
        now: &Value,
        before: Option<&Value>,
    ) -> Option<(u8, &'static str)> {
        let at = "/spec/podSelector";
        let is_own = namespace == self.problem.object.namespace && !namespace.is_empty();
        if is_own && self.selects(now, at) {
            return Some((2, "it selects its Pods"));
        }
        if is_own && before.is_some_and(|before| self.selects(before, at)) {
            // What is lost with the edge counts too.
            return Some((2, "it selected its Pods"));
        }
        let guards = |policy: &Value| {
            let selector = policy.pointer(at).and_then(LabelSelector::of_value);
            let of_namespace = self.called_labels.iter().filter(|(of, _)| of == namespace);
            let mut called = of_namespace.map(|(_, labels)| labels);
            selector.is_some_and(|selector| {
                called.any(|labels| selector.is_empty() || selector.matches(labels))
            })
        };
        (guards(now) || before.is_some_and(guards)).then_some((2, CALLED))
    }

    /// Returns whether an object configures the operator of the problem: the operator lists it, or
    /// it has the operator's name.
    fn is_configuration_of_operator(
        &self,
        info: &ResourceInfo,
        namespace: &str,
        name: &str,
    ) -> bool {
        let is_kept = ["ClusterOperator", "ClusterVersion"].contains(&info.kind.as_str());
        if self.problem.object.kind != "ClusterOperator"
            || is_kept
            || !is_configuration(&info.group)
        {
            return false;
        }
        // The machine-config operator lists all of its resource; what it renders, it makes of the others.
        let is_rendered = name.starts_with("rendered-");
        let key = |name: &str| {
            (
                info.group.clone(),
                info.plural.clone(),
                namespace.to_owned(),
                name.to_owned(),
            )
        };
        let is_related = self.related.contains(&key(name)) || self.related.contains(&key(""));
        let operator = self.problem.object.name.replace('-', "");
        let of_group = info.group.split('.').next().unwrap_or_default();
        let is_like = info.kind.to_lowercase() == operator
            || info.group.ends_with(".operator.openshift.io") && of_group == operator;
        is_related && !is_rendered || is_like
    }

    /// Returns whether an object makes the configuration of the pool of the problem, and over how
    /// many steps.
    fn configures_pool(
        &self,
        info: &ResourceInfo,
        name: &str,
        body: &dyn Fn() -> Option<Rc<Value>>,
    ) -> Option<u8> {
        let (selector, own) = self.pool.as_ref()?;
        if info.group != "machineconfiguration.openshift.io" {
            return None;
        }
        match info.kind.as_str() {
            // What the pool renders is the effect.
            "MachineConfig" if !name.starts_with("rendered-") => {
                let body = body()?;
                let selected = labels(&body, "/metadata/labels")?;
                // One with an owner was made of it.
                let is_made = !items(&body, "/metadata/ownerReferences").is_empty();
                selector
                    .matches(&selected)
                    .then_some(if is_made { 2 } else { 1 })
            }
            "KubeletConfig" | "ContainerRuntimeConfig" => {
                let body = body()?;
                let pools = body.pointer("/spec/machineConfigPoolSelector");
                pools
                    .and_then(LabelSelector::of_value)?
                    .matches(own)
                    .then_some(1)
            }
            _ => None,
        }
    }

    fn selects(&self, body: &Value, at: &str) -> bool {
        let selector = body.pointer(at).and_then(LabelSelector::of_value);
        selector.is_some_and(|selector| selector.is_empty() || selector.matches(&self.labels))
    }

    /// Returns whether a binding's subjects name an account of the problem, or a group of it.
    fn binds(&self, binding: &RoleBinding) -> bool {
        let own = &self.problem.object.namespace;
        binding.subjects.iter().any(|subject| {
            let (at, name) = (subject.namespace.as_str(), subject.name.as_str());
            let mut accounts = self.accounts.iter();
            match subject.kind.as_str() {
                "ServiceAccount" => accounts.any(|(namespace, account)| {
                    account == name && (at == namespace || at.is_empty() && namespace == own)
                }),
                "Group" => match name.strip_prefix("system:serviceaccounts") {
                    Some("") => !self.accounts.is_empty(),
                    Some(of) => accounts.any(|(namespace, _)| of == format!(":{namespace}")),
                    None => false,
                },
                _ => false,
            }
        })
    }

    /// Returns whether a name is like that of a controller that writes the status.
    fn is_of_manager(&self, name: &str) -> bool {
        let mut managers = self.managers.iter();
        managers.any(|manager| names_one_another(manager, name))
    }

    /// Returns whether the arguments of a workload's containers name a provisioner of the claim.
    fn provisions(&self, body: &Value) -> bool {
        let spec = body.pointer("/spec/template/spec").unwrap_or(&Value::Null);
        containers(spec).any(|container| {
            let arguments = items(container, "/args").iter();
            let arguments = arguments.chain(items(container, "/command"));
            let values = items(container, "/env").iter();
            let values = values.map(|env| text(env, "/value"));
            let mut words = arguments.filter_map(Value::as_str).chain(values);
            words.any(|word| self.provisioners.iter().any(|one| word.contains(one)))
        })
    }

    /// Returns whether a path is a label by which network policies select namespaces.
    pub(super) fn is_policy_label(&self, path: &str) -> bool {
        is_label_of(path, self.reel.objects.policy_labels())
    }

    /// Returns whether a quota refuses what the problem is about.
    fn is_short_of_quota(&self) -> bool {
        match self.problem.kind {
            SignKind::QuotaExceeded => true,
            SignKind::CreateFailed => self.words.text().contains("exceeded quota"),
            _ => false,
        }
    }

    /// Returns the kinds and names of the roles that bindings gave to accounts of the problem's
    /// Pods, with their distance.
    fn bound_roles(&self) -> BTreeMap<(String, String), u8> {
        let bindings = self.reel.objects.bindings().iter();
        let near = bindings.filter(|binding| {
            let own = &self.problem.object.namespace;
            binding.namespace.is_empty() || binding.namespace == *own
        });
        let mut roles: BTreeMap<(String, String), u8> = near
            .filter(|binding| self.binds(binding))
            .map(|binding| (binding.role.clone(), 2))
            .collect();
        // A controller writes the rules of an aggregate: its parts are what somebody changes.
        if is_forbidden(self.words.text()) {
            let selectors: Vec<LabelSelector> = roles
                .iter_mut()
                .filter(|((kind, _), _)| kind == "ClusterRole")
                .flat_map(|((kind, name), distance)| {
                    let body = self.body_at_onset(kind, "", name).unwrap_or_default();
                    let parts = items(&body, "/aggregationRule/clusterRoleSelectors").iter();
                    let parts: Vec<_> = parts.filter_map(LabelSelector::of_value).collect();
                    *distance += u8::from(!parts.is_empty());
                    parts
                })
                .collect();
            for name in self.selected_roles(&selectors) {
                roles.entry(("ClusterRole".to_owned(), name)).or_insert(2);
            }
        }
        roles
    }

    /// Returns the names of the `ClusterRoles` that selectors select or selected.
    fn selected_roles(&self, selectors: &[LabelSelector]) -> Vec<String> {
        if selectors.is_empty() {
            return Vec::new();
        }
        let roles = self.reel.objects.role_labels().iter();
        let selected = roles.filter(|role| {
            let mut labels = role.labels.iter();
            labels.any(|labels| selectors.iter().any(|one| one.matches(labels)))
        });
        selected.map(|role| role.name.clone()).collect()
    }
}

/// Returns whether the name of a manager is like that of a workload.
pub(super) fn names_one_another(manager: &str, name: &str) -> bool {
    manager.len() >= SHORTEST_NAME && (name.contains(manager) || manager.contains(name))
}

/// Returns whether an autoscaler scales a workload.
fn scales(autoscaler: &Value, kind: &str, name: &str) -> bool {
    let target = |field: &str| text(autoscaler, &format!("/spec/scaleTargetRef/{field}"));
    // KEDA scales Deployments where no kind is given.
    let is_kind = target("kind") == kind || target("kind").is_empty();
    is_kind && target("name") == name
}

/// How far a search for references has come.
#[derive(Clone, Copy)]
struct ReferenceDepth {
    /// The steps from the problem to the object that is read.
    distance: u8,
    /// The levels from its specification.
    depth: u8,
}

impl ReferenceDepth {
    const fn deeper(self) -> Self {
        Self {
            depth: self.depth + 1,
            ..self
        }
    }
}

/// Returns whether a resource is one that a definition adds.
fn is_custom(info: &ResourceInfo) -> bool {
    info.group.contains('.') && !info.group.ends_with(".k8s.io")
}

/// Returns whether the objects of a group say how an OpenShift cluster is to be.
fn is_configuration(group: &str) -> bool {
    matches!(
        group,
        "config.openshift.io" | "operator.openshift.io" | "machineconfiguration.openshift.io"
    ) || group.ends_with(".operator.openshift.io")
}
