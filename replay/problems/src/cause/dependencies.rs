//! What the object of a problem depends on, at the time of its first sign: the edges that the API itself
//! names (references, selectors, owners, words), each with a distance; and by which of them a changed object is related
//! to the problem.

use super::account_rights::AccountRights;
use super::call_targets::{CALLED, CallTargets};
use super::cluster_settings::relation_of_setting;
use super::failure_words::is_about_call;
use super::label_keys::{is_label_of, keys_of};
use super::named_objects::{MANAGER, NamedObjects};
use super::onset::OnsetObjects;
use super::operator_configuration::OperatorConfiguration;
use super::pod_data::{containers, data_of_pod_spec};
use super::problem_words::{ProblemWords, SHORTEST_NAME};
use super::references::ReferenceSearch;
use super::search::ExplainedReel;
use super::shared_objects::RoleBinding;
use crate::lookup::{labels, serving_service};
use crate::problem::Problem;
use crate::sign::SignKind;
use kubereel_format::{ObjectId, ResourceInfo};
use kubereel_history::LabelSelector;
use kubereel_history::field::{items, text};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// More Pods of one problem are not looked at: they are alike.
const MOST_PODS: usize = 5;
/// Owners of owners further away than this are not looked for.
const MOST_OWNERS: u8 = 3;
/// Longer values of a `ConfigMap` are not searched for addresses.
const MOST_DATA: usize = 65_536;

/// The relation of the problem's own object.
pub(super) const OWN: &str = "the object itself";
const OWNER: &str = "its owner";
/// The relation of what configures an operator or a pool.
pub(super) const CONFIGURATION: &str = "its configuration";
/// The relation of what asks for the resource that no Node has enough of.
pub(super) const ROOM: &str = "its Pods take room on the Nodes";
/// The relation of what takes a share of the quota that refuses an object.
pub(super) const QUOTA: &str = "its Pods use the quota";
/// The relation of what makes or mounts the volumes of a problem.
pub(super) const PROVISIONER: &str = "it serves its volumes";
/// The relation of the operator that writes the object.
pub(super) const WRITER: &str = "it belongs to the operator that writes the object";
/// The relation of a Namespace that a webhook's selector selects.
pub(super) const SELECTED_NAMESPACE: &str = "the webhook selects its label";
/// The relation of a Pod that a Service without endpoints had.
pub(super) const BEHIND: &str = "it was behind the Service";
/// The kinds of what scales workloads.
pub(super) const AUTOSCALERS: [&str; 2] = ["HorizontalPodAutoscaler", "ScaledObject"];
/// The relations of what makes the object as it is.
pub(super) const MANAGING: [&str; 2] = [OWNER, MANAGER];

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
    onset: OnsetObjects<'a>,
    problem: &'a Problem,
    words: ProblemWords,
    named: NamedObjects,
    called: CallTargets,
    rights: AccountRights<'a>,
    configuration: OperatorConfiguration,
    /// Whether a claim leaves the class to the cluster.
    wants_default_class: bool,
    /// Whether the words are about a connection or a login that failed.
    is_about_call: bool,
    /// The namespaces that the webhooks of the problem select, and by which labels.
    namespace_selectors: Vec<LabelSelector>,
    selected_labels: BTreeSet<String>,
    /// The labels by which the Service of the problem selects Pods.
    service_labels: BTreeSet<String>,
    /// What makes the volumes of the classes of its claims.
    provisioners: BTreeSet<String>,
    managers: BTreeSet<String>,
    /// Who writes the specification.
    writers: BTreeSet<String>,
    /// The labels of its Pods.
    labels: BTreeMap<String, String>,
}

// What the object depends on.
impl<'a> Dependencies<'a> {
    pub(super) fn of(reel: ExplainedReel<'a>, problem: &'a Problem) -> Self {
        let words = ProblemWords::of(problem, reel.found);
        let onset = OnsetObjects::new(reel, problem.from.seq);
        let mut own = Self {
            onset,
            problem,
            named: NamedObjects::default(),
            called: CallTargets::default(),
            rights: AccountRights::of(onset, &problem.object.namespace, &words),
            configuration: OperatorConfiguration::default(),
            wants_default_class: false,
            // A probe of another program, and a container that waits for one, do not say why they wait.
            is_about_call: is_about_call(words.text())
                || matches!(problem.kind, SignKind::Probe | SignKind::PodPending),
            namespace_selectors: Vec::new(),
            selected_labels: BTreeSet::new(),
            service_labels: BTreeSet::new(),
            provisioners: BTreeSet::new(),
            managers: BTreeSet::new(),
            writers: BTreeSet::new(),
            labels: BTreeMap::new(),
            words,
        };
        own.collect();
        own
    }

    /// Returns what the problem says.
    pub(super) const fn words(&self) -> &ProblemWords {
        &self.words
    }

    /// Returns namespaces and names of the Services that the containers call.
    pub(super) fn into_called_services(self) -> BTreeSet<(String, String)> {
        self.called.into_services()
    }

    fn collect(&mut self) {
        let object = self.problem.object.clone();
        self.named
            .add(&object.kind, &object.namespace, &object.name, 0, OWN);
        if object.kind == "ClusterOperator" {
            self.named.add(
                "ClusterVersion",
                "",
                "version",
                1,
                "the release that it belongs to",
            );
        }
        if let Some(resource) = object.resource {
            let timeline = self.onset.reel().timeline;
            for life in timeline.lives(resource, &object.namespace, &object.name) {
                self.take_object(life.object, &object.kind, &object.namespace);
            }
        }
        for pod in self.problem.shown_by.iter().take(MOST_PODS) {
            let kind = self.onset.kind_of(*pod);
            self.take_object(*pod, &kind, &object.namespace);
        }
        for failure in &self.problem.nodes {
            self.named
                .add("Node", "", &failure.node, 1, "the Node of its Pods");
        }
        self.named
            .add("Namespace", "", &object.namespace, 1, "its namespace");
        if object.kind == "Service" {
            self.take_service(&object.namespace, &object.name, 1);
        }
        self.take_services_of_words();
        if self.is_about_call {
            let words = self.words.text();
            self.called
                .take(words, &object.namespace, self.onset, &mut self.named);
        }
        if self.problem.kind == SignKind::LeaderFlapping {
            self.take_holders();
        }
    }

    /// Takes the controllers of the Pods that held a Lease: their names begin what the holder is called.
    fn take_holders(&mut self) {
        let namespace = self.problem.object.namespace.as_str();
        let holder = self.problem.message.rsplit(' ').next().unwrap_or_default();
        let pod = holder.split('_').next().unwrap_or_default();
        for pod in self.onset.core_lives("pods", namespace, pod) {
            for owner in self.onset.controllers_above(Some(pod)) {
                let via = "its Pods hold the Lease";
                self.named.add(&owner.kind, namespace, &owner.name, 1, via);
            }
        }
    }

    /// Takes what the last versions of an object before the first sign refer to.
    fn take_object(&mut self, object: ObjectId, kind: &str, namespace: &str) {
        for body in self.onset.last_bodies(object) {
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
        self.named.add(kind, namespace, name, distance, OWNER);
        self.named.add(kind, "", name, distance, OWNER);
        if distance >= MOST_OWNERS || kind == "Node" {
            return;
        }
        let lives = self.onset.lives(kind, namespace, name).into_iter();
        for object in lives.chain(self.onset.lives(kind, "", name)) {
            let Some(body) = self.onset.first_body(object) else {
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
                let class = self.onset.body("StorageClass", "", class);
                let provisioner = class.as_ref().map(|class| text(class, "/provisioner"));
                self.provisioners.extend(provisioner.map(str::to_owned));
                self.named.add(
                    "StorageClass",
                    "",
                    text(body, "/spec/storageClassName"),
                    1,
                    "its StorageClass",
                );
                self.named.add(
                    "PersistentVolume",
                    "",
                    text(body, "/spec/volumeName"),
                    1,
                    "its volume",
                );
            }
            "APIService" => {
                let (at, name) = serving_service(body);
                self.named
                    .add("Service", at, name, 1, "the Service that serves it");
                self.take_service(at, name, 2);
            }
            "ClusterOperator" => self.configuration.take_operator(body),
            "MachineConfigPool" => self.configuration.take_pool(body),
            "PodDisruptionBudget" => {
                let selector = body
                    .pointer("/spec/selector")
                    .and_then(LabelSelector::of_value);
                for selector in selector.iter().filter(|selector| !selector.is_empty()) {
                    for (kind, name) in self.onset.selected(namespace, selector) {
                        self.named
                            .add(&kind, namespace, &name, 1, "the budget counts its Pods");
                    }
                }
            }
            "HorizontalPodAutoscaler" => {
                let target = |field| text(body, field).to_owned();
                let (of, name) = (
                    target("/spec/scaleTargetRef/kind"),
                    target("/spec/scaleTargetRef/name"),
                );
                self.named.add(&of, namespace, &name, 1, "what it scales");
            }
            "MutatingWebhookConfiguration"
            | "ValidatingWebhookConfiguration"
            | "CustomResourceDefinition" => self.take_webhooks(body, kind),
            "Service" => {
                let selector = body.pointer("/spec/selector").and_then(Value::as_object);
                let keys = selector.into_iter().flat_map(|all| all.keys().cloned());
                self.service_labels.extend(keys);
                self.take_references(body, namespace);
            }
            // `take_pod_spec` has read it.
            "Pod" => {}
            _ => self.take_references(body, namespace),
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
                    self.named
                        .add("Service", at, name, 1, "the Service that it calls");
                    self.take_service(at, name, 2);
                }
            }
            "CustomResourceDefinition" => {
                let of = |field: &str| {
                    let at = format!("/spec/conversion/webhook/clientConfig/service/{field}");
                    text(body, &at).to_owned()
                };
                let (at, name) = (of("namespace"), of("name"));
                self.named
                    .add("Service", &at, &name, 1, "the Service that converts it");
                self.take_service(&at, &name, 2);
            }
            _ => {}
        }
    }

    fn take_references(&mut self, body: &Value, namespace: &str) {
        ReferenceSearch::new(self.onset, namespace, &mut self.named).take_spec(body);
    }

    fn take_namespace_selector(&mut self, selector: &Value) {
        self.selected_labels.extend(keys_of(selector));
        let selector = LabelSelector::of_value(selector).filter(|selector| !selector.is_empty());
        self.namespace_selectors.extend(selector);
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
            self.named.add(kind, &at, &name, 1, MANAGER);
        }
        let mut at = label(labels, "olm.owner.namespace");
        if at.is_empty() {
            namespace.clone_into(&mut at);
        }
        let (kind, name) = (label(labels, "olm.owner.kind"), label(labels, "olm.owner"));
        self.named.add(&kind, &at, &name, 1, MANAGER);
        let instance = label(labels, "app.kubernetes.io/instance");
        let release = label("/metadata/annotations", "meta.helm.sh/release-name");
        for name in [instance, release]
            .into_iter()
            .filter(|name| !name.is_empty())
        {
            self.named.add_manager(name);
        }
    }

    fn take_pod_spec(&mut self, spec: &Value, namespace: &str) {
        for used in data_of_pod_spec(spec, self.words.container()) {
            let distance = 1 + u8::from(used.is_of_other_container);
            self.named
                .add(used.kind, namespace, used.name, distance, used.via);
        }
        for volume in items(spec, "/volumes") {
            let driver = text(volume, "/csi/driver");
            if !driver.is_empty() {
                self.provisioners.insert(driver.to_owned());
            }
        }
        for secret in items(spec, "/imagePullSecrets") {
            let via = "its Pods pull images with it";
            self.named
                .add("Secret", namespace, text(secret, "/name"), 1, via);
        }
        let account = match text(spec, "/serviceAccountName") {
            "" => "default",
            account => account,
        };
        let via = "the ServiceAccount of its Pods";
        self.named.add("ServiceAccount", namespace, account, 1, via);
        self.rights.add(namespace, account);
        for (field, kind) in [
            ("/priorityClassName", "PriorityClass"),
            ("/runtimeClassName", "RuntimeClass"),
            ("/nodeName", "Node"),
        ] {
            self.named
                .add(kind, "", text(spec, field), 1, "named by its Pods");
        }
        if self.is_about_call {
            for text in self.texts_of(spec, namespace) {
                self.called
                    .take(&text, namespace, self.onset, &mut self.named);
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
            let body = self.onset.body(used.kind, namespace, used.name);
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

    /// Takes what owns the Pods behind a Service.
    fn take_service(&mut self, namespace: &str, name: &str, distance: u8) {
        for (kind, name) in self.onset.owners_behind(namespace, name) {
            let via = "its Pods are behind the Service";
            self.named.add(&kind, namespace, &name, distance, via);
        }
    }

    /// Takes the Services that the words of an error name: `https://NAME.NAMESPACE.svc`.
    fn take_services_of_words(&mut self) {
        let words = self.words.text().to_owned();
        let hosts = words.split(|c: char| c.is_whitespace() || "/\":,".contains(c));
        for host in hosts.filter(|host| host.contains(".svc")) {
            let mut parts = host.split('.');
            if let (Some(name), Some(namespace)) = (parts.next(), parts.next()) {
                self.named.add(
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
}

// How a changed object is related to the problem.
impl Dependencies<'_> {
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
        if let Some((distance, via)) = self.named.get(&info.kind, namespace, name) {
            return of(distance, via);
        }
        let problem = &self.problem.object;
        let configuration = &self.configuration;
        if let Some(distance) = configuration.distance(problem, info, namespace, name, body) {
            return of(distance, CONFIGURATION);
        }
        let own = problem.namespace.as_str();
        let is_near = namespace.is_empty() || own.is_empty() || namespace == own;
        // Data of some namespace may have the name of any word.
        let is_meant = !own.is_empty() || self.words.mean_kind(&info.kind);
        if is_meant && self.words.name(name) && (is_near || self.words.name(namespace)) {
            return of(1, "the words of the problem name it");
        }
        let of_any_kind = self.named.get_of_any_kind(name);
        if let Some((distance, via)) = of_any_kind.filter(|_| is_near) {
            return of(distance, via);
        }
        let object = (info.kind.as_str(), namespace, name);
        if let Some(via) = relation_of_setting(object, self.problem.kind, self.words.text()) {
            return of(1, via);
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
                let binds = |body: Rc<Value>| self.rights.are_bound_by(&RoleBinding::of(&body));
                let is_bound = binds(body(0)?) || body(1).is_some_and(binds);
                is_bound.then_some((1, "it binds the ServiceAccount of its Pods"))?
            }
            "Role" | "ClusterRole" if namespace == own || namespace.is_empty() => {
                let distance = self.rights.distance_of_role(&info.kind, name)?;
                (distance, "it holds the rights of its ServiceAccount")
            }
            "CustomResourceDefinition" if self.words.miss_kind_of(&*body(0)?) => {
                (1, "the words of the problem name its kind")
            }
            "Certificate" if self.named.has_name(text(&*body(0)?, "/spec/secretName")) => {
                (1, "it issues a Secret that is used")
            }
            "StorageClass" if self.wants_default_class => (1, "its default StorageClass"),
            "HorizontalPodAutoscaler" | "ScaledObject" => {
                let autoscaler = body(0)?;
                let problem = &self.problem.object;
                if namespace == own && scales(&autoscaler, &problem.kind, &problem.name) {
                    return Some((1, "it scales the object"));
                }
                let is_it = |kind: &str, name: &str| scales(&autoscaler, kind, name);
                let is_of_called = self.called.has_workload(namespace, is_it);
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
            selector.is_some_and(|selector| self.called.are_selected(namespace, &selector))
        };
        (guards(now) || before.is_some_and(guards)).then_some((2, CALLED))
    }

    fn selects(&self, body: &Value, at: &str) -> bool {
        let selector = body.pointer(at).and_then(LabelSelector::of_value);
        selector.is_some_and(|selector| selector.is_empty() || selector.matches(&self.labels))
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

    /// Returns whether a path is a label by which a webhook of the problem selects namespaces.
    pub(super) fn is_selecting_label(&self, path: &str) -> bool {
        is_label_of(path, &self.selected_labels)
    }

    /// Returns whether a path is a label by which the Service of the problem selects Pods.
    pub(super) fn is_label_of_service(&self, path: &str) -> bool {
        is_label_of(path, &self.service_labels)
    }

    /// Returns whether a path is a label by which network policies select namespaces.
    pub(super) fn is_policy_label(&self, path: &str) -> bool {
        is_label_of(path, self.onset.reel().objects.policy_labels())
    }

    /// Returns whether a quota refuses what the problem is about.
    fn is_short_of_quota(&self) -> bool {
        match self.problem.kind {
            SignKind::QuotaExceeded => true,
            SignKind::CreateFailed => self.words.text().contains("exceeded quota"),
            _ => false,
        }
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
