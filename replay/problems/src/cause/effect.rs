//! Which change can have which effect: how much the change of a field explains a sign, from 0 (not at
//! all) to above 1 (it explains just this).

use super::failure_words::{
    is_about_missing_kind, is_about_user, is_certificate_refused, is_denied, is_forbidden,
    is_login_refused, is_pull_refused, is_refused, is_timeout, is_unreachable,
};
use crate::sign::SignKind;
use kubereel_history::ChangeKind;
use serde_json::Value;

/// A change, as far as its effect depends on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChangedField<'a> {
    /// The kind of the object.
    pub(super) kind: &'a str,
    /// The field, as `kubereel diff` writes it; empty for the whole object.
    pub(super) path: &'a str,
    /// What happened there.
    pub(super) change: ChangeKind,
    pub(super) old: Option<&'a Value>,
    pub(super) new: Option<&'a Value>,
}

impl ChangedField<'_> {
    fn has(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.path.contains(word))
    }

    /// Returns whether the path has one of some parts, in whatever case.
    fn has_word(&self, words: &[&str]) -> bool {
        let path = self.path.to_lowercase();
        words.iter().any(|word| path.contains(word))
    }

    fn is_whole(&self) -> bool {
        self.path.is_empty()
    }

    fn is_deletion(&self) -> bool {
        self.is_whole() && self.change == ChangeKind::Removed
    }

    /// Returns whether nothing is lost: a member is new, or a list has all that it had.
    fn is_addition(&self) -> bool {
        let list = |value: Option<&'_ Value>| value.and_then(Value::as_array).cloned();
        match (list(self.old), list(self.new)) {
            (Some(old), Some(new)) => old.iter().all(|item| new.contains(item)),
            _ => self.change == ChangeKind::Added,
        }
    }

    fn is_decrease(&self) -> bool {
        let number = |value: Option<&Value>| value.and_then(Value::as_i64);
        number(self.old)
            .zip(number(self.new))
            .is_some_and(|(old, new)| new < old)
    }

    /// Returns whether an amount of processors is less than before.
    fn is_less(&self) -> bool {
        let amount = |value: Option<&Value>| {
            let text = value.and_then(Value::as_str)?;
            let (digits, unit) = match text.strip_suffix('m') {
                Some(digits) => (digits, 0.001),
                None => (text, 1.0),
            };
            Some(digits.parse::<f64>().ok()? * unit)
        };
        let before = amount(self.old);
        amount(self.new).is_some_and(|new| before.is_none_or(|old| new < old))
    }
}

/// Says how much a change explains a sign; `words` are those of the problem, in lower case.
pub(super) fn effect(sign: SignKind, words: &str, field: ChangedField<'_>) -> f64 {
    if field.has(&["finalizers", "deletionTimestamp"]) {
        return match sign {
            SignKind::DeletionStuck | SignKind::NamespaceStuck | SignKind::PodTerminating => 1.0,
            // Who needs the object will not find it.
            _ if field.has(&["deletionTimestamp"]) && field.change == ChangeKind::Added => {
                let deletion = ChangedField {
                    path: "",
                    change: ChangeKind::Removed,
                    ..field
                };
                effect(sign, words, deletion)
            }
            _ => 0.0,
        };
    }
    match field.kind {
        // What makes the volumes of a class is gone.
        "Deployment" | "StatefulSet" | "DaemonSet"
            if matches!(sign, SignKind::ClaimPending | SignKind::Volume)
                && (field.is_deletion()
                    || field.path == "spec.replicas" && field.is_decrease()) =>
        {
            1.4
        }
        "Deployment"
        | "DeploymentConfig"
        | "StatefulSet"
        | "DaemonSet"
        | "Job"
        | "CronJob"
        | "ReplicaSet"
        | "ReplicationController"
        | "Rollout"
        | "Pod" => workload(sign, words, field),
        "ConfigMap" | "Secret" => data(sign, words, field),
        "ServiceAccount" | "Role" | "ClusterRole" | "RoleBinding" | "ClusterRoleBinding" => {
            access(sign, words, field)
        }
        "Node" => node(sign, words, field),
        "PersistentVolumeClaim" | "PersistentVolume" | "StorageClass" | "CSIDriver" => {
            storage(sign, field)
        }

        "Service" | "NetworkPolicy" | "APIService" => network(sign, words, field),
        "HorizontalPodAutoscaler" => autoscaler(sign, field),
        "ImageContentSourcePolicy" | "ImageDigestMirrorSet" | "ImageTagMirrorSet"
            if sign == SignKind::ImagePull =>
        {
            1.2
        }
        "CustomResourceDefinition" if is_about_missing_kind(words) => {
            if field.is_deletion() {
                1.4
            } else {
                0.9
            }
        }
        "PodDisruptionBudget" if sign == SignKind::DrainHeld => 1.2,
        "ResourceQuota"
        | "LimitRange"
        | "Namespace"
        | "PriorityClass"
        | "RuntimeClass"
        | "SecurityContextConstraints"
        | "MutatingWebhookConfiguration"
        | "ValidatingWebhookConfiguration"
        | "ValidatingAdmissionPolicy"
        | "ValidatingAdmissionPolicyBinding" => admission(sign, words, field),
        "ClusterVersion" if field.has(&["desiredUpdate"]) => match sign {
            SignKind::ReleaseNotAccepted | SignKind::VersionFailing => 1.3,
            // An upgrade touches every operator; that alone explains little.
            SignKind::OperatorDegraded | SignKind::OperatorUnavailable => 0.45,
            _ => 0.2,
        },
        "ClusterVersion" => 0.2,
        "MachineConfig" | "KubeletConfig" | "ContainerRuntimeConfig" | "MachineConfigPool" => {
            pool_configuration(sign, words, field)
        }
        _ => custom(sign, words, field),
    }
}

/// Says how much a change of what serves a Service explains the failure of those that call it.
pub(super) fn effect_on_callers(words: &str, field: ChangedField<'_>) -> f64 {
    match field.kind {
        "ConfigMap" | "Secret" if field.path.starts_with("metadata") => 0.0,
        "ConfigMap" | "Secret" if field.is_whole() && !field.is_deletion() => 0.2,
        "Secret" if is_login_refused(words) || is_certificate_refused(words) => 1.3,
        "ConfigMap" | "Secret" => 0.7,
        "Service" if field.is_deletion() || field.has(ADDRESS) => 1.4,
        "NetworkPolicy" => network(SignKind::ContainerExit, words, field),
        _ => effect(SignKind::NoEndpoints, words, field),
    }
}

/// The fields of a Service that decide where its name leads.
const ADDRESS: &[&str] = &[
    "spec.ports",
    "spec.selector",
    "spec.externalName",
    "spec.clusterIP",
    "spec.type",
    "publishNotReadyAddresses",
];

/// Says how much a change of what serves the volumes of a problem explains it.
pub(super) fn effect_on_volumes(field: ChangedField<'_>) -> f64 {
    let is_gone = field.is_deletion() || field.path == "spec.replicas" && field.is_decrease();
    match field {
        _ if is_gone => 1.4,
        // It runs on other Nodes.
        _ if field.has(&["tolerations", "nodeSelector", "affinity"]) => 1.3,
        _ if field.has(&[".image", "args"]) => 1.1,
        _ => 0.2,
    }
}

/// Says how much a change of another workload explains that the Nodes have no room for the Pods of a problem.
pub(super) fn room_taken(field: ChangedField<'_>) -> f64 {
    let is_more = field.change != ChangeKind::Removed && !field.is_decrease();
    match field.path {
        _ if !is_more => 0.0,
        "" => 0.9,
        "spec.replicas" | "spec.parallelism" => 0.8,
        path if path.contains("resources.requests") => 0.8,
        _ => 0.0,
    }
}

/// Rights, and the accounts that have them.
fn access(sign: SignKind, words: &str, field: ChangedField<'_>) -> f64 {
    match (field.kind, sign) {
        ("ServiceAccount", SignKind::CreateFailed) if field.is_deletion() => 1.3,
        ("ServiceAccount", SignKind::ImagePull) if field.has(&["imagePullSecrets"]) => 1.0,
        ("ServiceAccount", SignKind::ContainerExit | SignKind::JobFailed)
            if is_forbidden(words) =>
        {
            0.9
        }
        ("ServiceAccount", _)
            if field.has(&["automountServiceAccountToken"])
                && words.contains("serviceaccount/token") =>
        {
            1.4
        }
        ("ServiceAccount", _) => 0.2,
        // What gives a right takes none.
        _ if is_forbidden(words) && field.is_addition() => 0.2,
        _ if is_forbidden(words) => 1.4,
        (_, SignKind::ContainerExit | SignKind::Condition | SignKind::JobFailed) => 0.4,
        _ => 0.1,
    }
}

/// What decides which objects are admitted.
fn admission(sign: SignKind, words: &str, field: ChangedField<'_>) -> f64 {
    let says = |any: &[&str]| any.iter().any(|word| words.contains(word));
    match (field.kind, sign) {
        ("ResourceQuota", SignKind::CreateFailed) if says(&["quota"]) => 1.4,
        ("ResourceQuota", SignKind::QuotaExceeded)
            if field.has(&["spec.hard"]) || field.is_whole() && !field.is_deletion() =>
        {
            1.4
        }
        // Its calls may have failed from the beginning.
        (_, SignKind::Webhook) if field.is_whole() && !field.is_deletion() => 0.7,
        ("LimitRange", SignKind::CreateFailed)
            if says(&["maximum", "minimum", "limitrange", "limit range"]) =>
        {
            1.4
        }
        // What containers without a limit get counts against the quota.
        ("LimitRange", SignKind::CreateFailed) if says(&["quota"]) => 1.3,
        ("LimitRange", SignKind::OutOfMemory) => 0.8,
        ("Namespace", SignKind::CreateFailed) if field.has(&["labels"]) && says(&["violates"]) => {
            1.4
        }
        (
            "PriorityClass" | "RuntimeClass" | "SecurityContextConstraints",
            SignKind::CreateFailed | SignKind::Unschedulable,
        ) => 1.1,
        (
            "LimitRange"
            | "ResourceQuota"
            | "Namespace"
            | "PriorityClass"
            | "RuntimeClass"
            | "SecurityContextConstraints",
            _,
        ) => 0.1,
        _ if says(&["webhook", "denied"]) => 1.2,
        _ => 0.1,
    }
}

fn storage(sign: SignKind, field: ChangedField<'_>) -> f64 {
    let is_class = ["StorageClass", "CSIDriver"].contains(&field.kind);
    match sign {
        _ if field.has(&["allowVolumeExpansion", "metadata.labels"]) => 0.1,
        SignKind::ClaimPending if is_class => 1.4,
        SignKind::Volume if !is_class && field.is_deletion() => 1.4,
        SignKind::ClaimPending => 0.6,
        SignKind::Unschedulable | SignKind::VolumeMount | SignKind::Volume if is_class => 0.8,
        SignKind::VolumeMount | SignKind::Unschedulable | SignKind::PodPending if !is_class => 1.0,
        _ => 0.1,
    }
}

/// Bounds of the number of Pods.
fn autoscaler(sign: SignKind, field: ChangedField<'_>) -> f64 {
    match sign {
        SignKind::Autoscaler => 1.2,
        SignKind::OutOfMemory
        | SignKind::NoEndpoints
        | SignKind::Probe
        | SignKind::ReplicasMissing
        | SignKind::Unavailable
        | SignKind::Unschedulable
        | SignKind::CreateFailed
        | SignKind::QuotaExceeded
            if field.has(&["Replicas"]) =>
        {
            0.8
        }
        _ => 0.1,
    }
}

fn network(sign: SignKind, words: &str, field: ChangedField<'_>) -> f64 {
    match (field.kind, sign) {
        // One more rule of a list allows more.
        ("NetworkPolicy", _) if field.change == ChangeKind::Added && field.has(&["gress["]) => 0.2,
        ("NetworkPolicy", SignKind::ContainerExit | SignKind::JobFailed)
            if is_unreachable(words) =>
        {
            1.4
        }
        (
            "Service",
            SignKind::ContainerExit | SignKind::JobFailed | SignKind::Probe | SignKind::Condition,
        ) if is_unreachable(words) && field.has(ADDRESS) => 1.4,
        ("Service", SignKind::NoEndpoints) if field.has(&["spec.selector"]) => 1.4,
        ("Service", SignKind::NoEndpoints) if field.has(&["targetPort"]) => 1.4,
        ("Service", SignKind::NoEndpoints) if field.is_whole() => 0.6,
        ("Service", SignKind::ApiService | SignKind::CreateFailed | SignKind::Webhook) => {
            if field.is_deletion() { 1.2 } else { 0.9 }
        }
        ("Service", SignKind::Probe) if field.has(&["targetPort"]) => 0.9,
        ("Service", _) if field.is_deletion() => 0.7,
        ("Service", _) => 0.4,
        ("APIService", _) if field.has(&["spec.service"]) || field.is_deletion() => 1.3,
        // The content of a Namespace cannot be listed as long as nobody serves one of the APIs.
        ("APIService", SignKind::NamespaceStuck) if field.is_whole() => 1.3,
        ("APIService", _) => 0.7,
        (
            _,
            SignKind::ContainerExit
            | SignKind::Probe
            | SignKind::Condition
            | SignKind::JobFailed
            | SignKind::ApiService
            | SignKind::Webhook,
        ) => 0.6,
        _ => 0.1,
    }
}

/// Which fields of a Pod's specification explain a sign, and how much the others do.
fn template_fields(sign: SignKind) -> (&'static [&'static str], f64, f64) {
    const RUN: &[&str] = &["command", "args", ".env", "envFrom", ".image", "Probe"];
    const START: &[&str] = &[
        "command",
        "args",
        ".image",
        "volumeMounts",
        "securityContext",
    ];
    const PLACE: &[&str] = &[
        "requests",
        "limits",
        "nodeSelector",
        "affinity",
        "tolerations",
        "topologySpread",
        "priorityClass",
        "schedulerName",
        "nodeName",
        "resources",
    ];
    const ADMIT: &[&str] = &[
        "securityContext",
        "serviceAccount",
        "priorityClass",
        "runtimeClass",
        "resources",
        "host",
    ];
    match sign {
        SignKind::ImagePull => (&[".image", "imagePull"], 1.3, 0.15),
        SignKind::ContainerConfig => (
            &[".env", "envFrom", "volumes", "securityContext"],
            1.1,
            0.25,
        ),
        SignKind::ContainerStart => (START, 1.1, 0.4),
        SignKind::OutOfMemory => (&["limits.memory", "limits"], 1.3, 0.5),
        SignKind::ContainerExit | SignKind::JobFailed | SignKind::PodFailed => (RUN, 1.1, 0.5),
        SignKind::Probe => (&["Probe"], 1.3, 0.7),
        SignKind::Unschedulable => (PLACE, 1.3, 0.2),
        SignKind::PodPending | SignKind::VolumeMount | SignKind::Sandbox => (
            &["volumes", "volumeClaimTemplates", "serviceAccount"],
            1.1,
            0.4,
        ),
        SignKind::CreateFailed => (ADMIT, 1.1, 0.4),
        SignKind::NoEndpoints => (&["template.metadata.labels", "containers.ports"], 1.3, 0.4),
        SignKind::Evicted => (
            &["ephemeral-storage", "sizeLimit", "emptyDir", "resources"],
            1.2,
            0.3,
        ),
        SignKind::Autoscaler => (&["resources", "template.metadata.labels"], 1.2, 0.2),
        // Of an operator, for what it manages.
        SignKind::Condition | SignKind::Unreconciled => (RUN, 1.1, 0.3),
        SignKind::RolloutStuck
        | SignKind::Unavailable
        | SignKind::ReplicasMissing
        | SignKind::LeaderFlapping => (RUN, 1.0, 0.7),
        _ => (&[], 0.0, 0.3),
    }
}

fn workload(sign: SignKind, words: &str, field: ChangedField<'_>) -> f64 {
    if field.is_whole() {
        // A deletion takes what it served away; something new may never have worked.
        return match (field.is_deletion(), sign) {
            (
                true,
                SignKind::NoEndpoints
                | SignKind::ApiService
                | SignKind::Autoscaler
                | SignKind::Webhook
                | SignKind::CreateFailed,
            ) => 1.1,
            // Nobody takes the finalizers away any more.
            (true, SignKind::DeletionStuck | SignKind::NamespaceStuck | SignKind::Unreconciled) => {
                1.7
            }
            (true, SignKind::Condition) => 0.9,
            (true, _) => 0.3,
            (false, _) => 0.5,
        };
    }
    if field.path == "spec.replicas" {
        let is_zero = field.new.and_then(Value::as_i64) == Some(0);
        return match sign {
            _ if is_zero => match sign {
                SignKind::NoEndpoints
                | SignKind::ApiService
                | SignKind::Webhook
                | SignKind::CreateFailed => 1.3,
                SignKind::DeletionStuck | SignKind::NamespaceStuck | SignKind::Unreconciled => 1.7,
                SignKind::Condition | SignKind::Certificate => 1.1,
                _ => 0.3,
            },
            SignKind::Unschedulable | SignKind::CreateFailed if !field.is_decrease() => 0.9,
            SignKind::OutOfMemory if field.is_decrease() => 0.6,
            SignKind::DrainHeld if field.is_decrease() => 1.2,
            _ => 0.1,
        };
    }
    if field.has(&[
        "metadata.annotations",
        "revisionHistory",
        "metadata.finalizers",
    ]) {
        return 0.1;
    }
    let is_template = [
        "spec.template",
        "spec.jobTemplate",
        "spec.volumeClaimTemplates",
    ]
    .iter()
    .any(|start| field.path.starts_with(start))
        || field.kind == "Pod" && field.path.starts_with("spec");
    if !is_template {
        return if field.path.starts_with("spec") {
            0.4
        } else {
            0.0
        };
    }
    template(sign, words, field)
}

/// The specification of Pods.
fn template(sign: SignKind, words: &str, field: ChangedField<'_>) -> f64 {
    if is_forbidden(words) && field.has(&["serviceAccount"]) {
        return 1.4;
    }
    if is_about_user(words) && field.has(&["securityContext"]) {
        return 1.4;
    }
    // Who may not pull one image may pull no other.
    if sign == SignKind::ImagePull && is_pull_refused(words) && field.has(&[".image"]) {
        return 0.6;
    }
    // With less of a processor everything takes longer.
    if is_timeout(words) && field.has(&["limits.cpu"]) && field.is_less() {
        return 1.3;
    }
    let (telling, much, little) = template_fields(sign);
    // Rights decide what is forbidden, not what runs.
    let (much, little) = if is_forbidden(words) && sign == SignKind::ContainerExit {
        (much * 0.5, little * 0.5)
    } else {
        (much, little)
    };
    let is_telling = field.has(telling);
    // A probe that was made stricter kills containers only where the kubelet says so.
    if is_telling && field.has(&["Probe"]) && sign == SignKind::ContainerExit {
        return if words.contains("probe") { 1.3 } else { 0.6 };
    }
    if is_telling { much } else { little }
}

fn data(sign: SignKind, words: &str, field: ChangedField<'_>) -> f64 {
    if field.path.starts_with("metadata") {
        return 0.0;
    }
    match sign {
        SignKind::DeletionStuck => 0.6,
        SignKind::ContainerConfig | SignKind::VolumeMount | SignKind::PodPending => {
            let is_gone = field.change == ChangeKind::Removed;
            if is_gone { 1.3 } else { 0.5 }
        }
        // New data breaks nobody who did without it.
        _ if field.is_whole() && field.change == ChangeKind::Added => 0.2,
        SignKind::ContainerExit | SignKind::JobFailed
            if is_unreachable(words)
                || is_certificate_refused(words) && field.kind == "ConfigMap" =>
        {
            0.8
        }
        SignKind::ContainerExit | SignKind::JobFailed | SignKind::PodFailed => 1.2,
        // A program that listens elsewhere is refused where it is asked.
        SignKind::Probe | SignKind::NoEndpoints
            if is_unreachable(words) && field.has_word(&["port", "listen", "addr", "bind"]) =>
        {
            1.3
        }
        SignKind::Probe => 1.0,
        // An operator depends on no data but what its words name.
        SignKind::ContainerStart
        | SignKind::Condition
        | SignKind::OperatorDegraded
        | SignKind::OperatorUnavailable
        | SignKind::PoolDegraded => 0.9,
        SignKind::ImagePull if field.kind == "Secret" && is_pull_refused(words) => 1.5,
        SignKind::ImagePull if field.kind == "Secret" => 1.1,
        // Settings of a heap, a cache or a pool decide how much memory is used.
        SignKind::OutOfMemory => {
            let settings = &[
                "java", "xmx", "heap", "mem", "cache", "buffer", "pool", "worker",
            ];
            if field.has_word(settings) { 0.9 } else { 0.5 }
        }
        SignKind::RolloutStuck | SignKind::Unavailable | SignKind::NoEndpoints => 0.7,
        SignKind::CreateFailed | SignKind::ApiService | SignKind::Webhook
            if words.contains("x509") =>
        {
            1.1
        }
        SignKind::Certificate => 0.8,
        _ => 0.1,
    }
}

fn node(sign: SignKind, words: &str, field: ChangedField<'_>) -> f64 {
    let is_gone = field.is_deletion();
    match sign {
        SignKind::Unschedulable => {
            if field.has(&["metadata.labels"]) {
                // A Node with one more label is selected by no less.
                if field.change == ChangeKind::Added {
                    return 0.2;
                }
                let is_about_labels = words.contains("selector") || words.contains("affinity");
                return if is_about_labels { 1.4 } else { 0.2 };
            }
            if field.has(&["spec.taints"]) {
                return if words.contains("taint") { 1.4 } else { 0.4 };
            }
            if field.has(&["spec.unschedulable"]) {
                if field.change == ChangeKind::Removed {
                    return 0.0;
                }
                // The scheduler counts the Nodes for each reason; the reason of the condition is
                // `Unschedulable` for all of them.
                return if words.contains("were unschedulable") {
                    1.3
                } else if words.contains("nodes are available") {
                    0.1
                } else {
                    0.5
                };
            }
            if field.has(&["status.allocatable"]) || is_gone {
                return if words.contains("insufficient") {
                    1.1
                } else {
                    0.4
                };
            }
            0.1
        }
        SignKind::Evicted | SignKind::PodTerminating if field.has(&["spec.taints"]) => 0.9,
        SignKind::NodeNotReady | SignKind::PoolDegraded if field.has(&["desiredConfig"]) => 1.1,
        SignKind::NodeCordoned if field.has(&["spec.unschedulable"]) => 1.0,
        // It is what is held.
        SignKind::DrainHeld if field.has(&["spec.unschedulable"]) => 0.7,
        _ => 0.1,
    }
}

/// What the Nodes of a pool are configured by: a new one counts as much as a change.
fn pool_configuration(sign: SignKind, words: &str, field: ChangedField<'_>) -> f64 {
    // A pool that is new is not configured yet.
    let is_new_pool = field.kind == "MachineConfigPool" && field.is_whole();
    let is_meant = (field.is_whole() || field.path.starts_with("spec")) && !is_new_pool;
    match sign {
        SignKind::PoolDegraded | SignKind::OperatorDegraded | SignKind::OperatorUnavailable
            if is_meant =>
        {
            1.2
        }
        _ => custom(sign, words, field),
    }
}

/// Custom resources, and built-in ones without an entry of their own.
fn custom(sign: SignKind, words: &str, field: ChangedField<'_>) -> f64 {
    let is_spec = field.path.starts_with("spec") || field.path.starts_with("data");
    // An operator notes there what it observed.
    if field.has(&["spec.observedConfig"]) {
        return 0.3;
    }
    // When it is done, not what.
    let path = field.path.to_lowercase();
    let is_schedule = [
        "interval", "period", "resync", "schedule", "timeout", "suspend", "paused", "loglevel",
    ];
    if is_spec && is_schedule.iter().any(|last| path.ends_with(last)) {
        return 0.5;
    }
    let is_policy = field.kind.ends_with("Policy") || field.kind.ends_with("Constraint");
    if is_policy && is_denied(words) && matches!(sign, SignKind::CreateFailed | SignKind::Webhook) {
        return 1.3;
    }
    let decides_rights = ["role", "auth", "credential", "account", "secret", "policy"];
    match sign {
        SignKind::Condition
            if is_spec
                && is_refused(words)
                && decides_rights.iter().any(|part| path.contains(part)) =>
        {
            1.3
        }
        SignKind::Condition if is_spec && is_forbidden(words) => 0.6,
        SignKind::ContainerExit if is_spec && is_certificate_refused(words) => 1.3,
        SignKind::Condition | SignKind::Certificate | SignKind::SigningRequest if is_spec => 1.2,
        SignKind::OperatorDegraded | SignKind::OperatorUnavailable | SignKind::VersionFailing
            if is_spec =>
        {
            0.9
        }
        _ if is_spec => 0.8,
        SignKind::Condition if field.is_whole() => 0.6,
        _ if field.is_deletion() => 0.5,
        _ if field.is_whole() => 0.3,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(sign: SignKind, words: &str, kind: &str, path: &str) -> f64 {
        let value = json!(1);
        effect(
            sign,
            words,
            ChangedField {
                kind,
                path,
                change: ChangeKind::Changed,
                old: Some(&value),
                new: Some(&value),
            },
        )
    }

    #[test]
    fn a_change_explains_what_it_can_have_effected() {
        let image = "spec.template.spec.containers[web].image";
        let probe = "spec.template.spec.containers[web].readinessProbe.httpGet.path";
        assert!(
            of(SignKind::ImagePull, "", "Deployment", image)
                > of(SignKind::ImagePull, "", "Deployment", probe)
        );
        assert!(
            of(SignKind::Probe, "", "Deployment", probe)
                > of(SignKind::Probe, "", "Deployment", image)
        );
        let labels = "metadata.labels.zone";
        let cordoned = "unschedulable 0/3 nodes are available: 1 node(s) were unschedulable";
        assert!(
            of(
                SignKind::Unschedulable,
                cordoned,
                "Node",
                "spec.unschedulable"
            ) > 1.0
        );
        let words =
            "unschedulable 0/3 nodes are available: didn't match pod's node affinity/selector";
        assert!(of(SignKind::Unschedulable, words, "Node", labels) > 1.0);
        assert!(of(SignKind::Unschedulable, words, "Node", "spec.unschedulable") < 0.2);
        assert!(of(SignKind::ImagePull, words, "Node", labels) < 0.2);
        let denied = "pods is forbidden: user cannot list resource";
        assert!(of(SignKind::ContainerExit, denied, "RoleBinding", "subjects") > 1.0);
    }

    #[test]
    fn the_kind_of_failure_decides_between_network_and_data() {
        let words = "dial tcp 10.96.44.7:5432: i/o timeout";
        let policy = of(
            SignKind::ContainerExit,
            words,
            "NetworkPolicy",
            "spec.egress",
        );
        assert!(policy > of(SignKind::ContainerExit, words, "Secret", "data.password"));
        let words = "unknown region ue";
        let policy = of(
            SignKind::ContainerExit,
            words,
            "NetworkPolicy",
            "spec.egress",
        );
        assert!(policy < of(SignKind::ContainerExit, words, "Secret", "data.password"));
    }

    #[test]
    fn a_right_that_is_given_forbids_nothing() {
        let verbs = |old: Value, new: Value| {
            let words = "pods is forbidden: user cannot list resource";
            let field = ChangedField {
                kind: "Role",
                path: "rules[0].verbs",
                change: ChangeKind::Changed,
                old: Some(&old),
                new: Some(&new),
            };
            effect(SignKind::ContainerExit, words, field)
        };
        let (few, many) = (|| json!(["get"]), || json!(["get", "list"]));
        assert!(verbs(few(), many()) < 0.3);
        assert!(verbs(many(), few()) > 1.0);
    }

    #[test]
    fn a_requested_deletion_is_one() {
        let at = json!("2026-11-25T21:51:59Z");
        let requested = |sign, kind| {
            let field = ChangedField {
                kind,
                path: "metadata.deletionTimestamp",
                change: ChangeKind::Added,
                old: None,
                new: Some(&at),
            };
            effect(sign, "", field)
        };
        let claim = "PersistentVolumeClaim";
        assert!(requested(SignKind::Unschedulable, claim) > 0.9);
        assert!(requested(SignKind::ImagePull, claim) < 0.2);
        assert!(requested(SignKind::DeletionStuck, "Bucket") > 0.9);
    }

    #[test]
    fn the_words_decide_between_changes_that_could_all_have_that_effect() {
        let template = "spec.template.spec";
        let pull = SignKind::ImagePull;
        let refused = "failed to authorize: 401 unauthorized";
        let secret = of(pull, refused, "Secret", "data.token");
        assert!(
            secret
                > of(
                    pull,
                    refused,
                    "Deployment",
                    &format!("{template}.containers[a].image")
                )
        );
        let exit = SignKind::ContainerExit;
        let owner = "data directory has wrong ownership";
        let user = of(
            exit,
            owner,
            "StatefulSet",
            &format!("{template}.securityContext.runAsUser"),
        );
        assert!(user > of(exit, owner, "ConfigMap", "data.conf"));
        let name = "getaddrinfo enotfound ledger";
        let service = of(exit, name, "Service", "spec.externalName");
        assert!(service > of(exit, name, "ConfigMap", "data.pool"));
        let probe = "dial tcp 10.0.0.4:8080: connection refused";
        let port = of(SignKind::Probe, probe, "ConfigMap", "data.SERVER_PORT");
        assert!(port > of(SignKind::Probe, probe, "ConfigMap", "data.BANNER"));
        let quota = "exceeded quota: team, requested: limits.cpu=2";
        assert!(of(SignKind::CreateFailed, quota, "LimitRange", "spec.limits") > 1.0);
        let full = "3 insufficient cpu. no preemption victims found";
        let priority = format!("{template}.priorityClassName");
        assert!(of(SignKind::Unschedulable, full, "Deployment", &priority) > 1.0);
        assert!(of(SignKind::DrainHeld, "", "Node", "spec.unschedulable") < 1.0);
    }

    #[test]
    fn what_is_added_takes_nothing_away() {
        let added = |sign, words, kind, path| {
            let value = json!("x");
            let field = ChangedField {
                kind,
                path,
                change: ChangeKind::Added,
                old: None,
                new: Some(&value),
            };
            effect(sign, words, field)
        };
        let unreachable = "i/o timeout";
        let rule = "spec.egress[0].ports[port=443,protocol=TCP]";
        assert!(added(SignKind::ContainerExit, unreachable, "NetworkPolicy", rule) < 0.3);
        let list = "spec.egress";
        assert!(added(SignKind::ContainerExit, unreachable, "NetworkPolicy", list) > 1.0);
        let words = "1 node(s) had untolerated taint(s), didn't match pod's node affinity/selector";
        assert!(
            added(
                SignKind::Unschedulable,
                words,
                "Node",
                "metadata.labels.avx"
            ) < 0.3
        );
        assert!(added(SignKind::Unschedulable, words, "Node", "spec.taints[a]") > 1.0);
    }

    #[test]
    fn labels_and_annotations_of_data_explain_nothing() {
        let at = "metadata.annotations[\"a/b\"]";
        assert!(of(SignKind::ContainerExit, "", "ConfigMap", at) < 0.01);
    }
}
