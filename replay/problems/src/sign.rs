//! A sign: one thing that a version of an object says is wrong.
//!
//! Signs are read from one version alone, without a clock. Whether a sign is a problem depends on how
//! long it lasts: [`SignKind::grace`] says what is normal while things start or roll.

use kubereel_format::{RecordedAt, worded};
use std::time::Duration;

/// Defines the kinds of signs. A row has the kind, its word where the object itself gives no reason, the class of the
/// problem that it names, how much of a cluster it affects (the more, the higher), how many seconds it is normal while
/// the object was never well in its life and afterwards, and its rule: the id, the name in `JUnit`, and the resources
/// that show it.
macro_rules! sign_kinds {
    ($(#[$meta:meta])* pub enum SignKind {$(
        $(#[$doc:meta])* $kind:ident $word:literal $class:ident $weight:literal
            ($starting:literal, $was_well:literal) $($id:literal $junit:literal [$($resource:literal),*])?;
    )+}) => {
        $(#[$meta])*
        pub enum SignKind {
            $($(#[$doc])* $kind,)+
        }

        impl SignKind {
            /// Every kind, in this order.
            pub(crate) const ALL: &[Self] = &[$(Self::$kind),+];

            /// Returns the word for the kind where the object itself gives no reason.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$kind => $word,)+
                }
            }

            /// Returns the class of the problem that the sign names.
            pub(crate) const fn class(self) -> ProblemClass {
                match self {
                    $(Self::$kind => ProblemClass::$class,)+
                }
            }

            /// Returns how much of a cluster the sign affects: the more, the higher.
            pub(crate) const fn weight(self) -> i32 {
                match self {
                    $(Self::$kind => $weight,)+
                }
            }

            /// Returns how long the sign is normal. A sign that nothing ended needs a sixth of it: what
            /// is under way at the end of a recording is seldom slow at just that moment.
            pub(crate) const fn grace(self) -> SignGrace {
                match self {
                    $(Self::$kind => SignGrace {
                        starting: Duration::from_secs($starting),
                        was_well: Duration::from_secs($was_well),
                    },)+
                }
            }

            /// Returns the rule; `None` where upstream has rules for all of it.
            pub(crate) const fn rule(self) -> Option<&'static SignRule> {
                let rules: &[SignRule] = match self {
                    $(Self::$kind => &[$(SignRule {
                        id: $id,
                        junit: $junit,
                        resources: &[$($resource),*],
                    })?],)+
                };
                rules.first()
            }
        }
    };
}

sign_kinds! {
/// What kind of thing is wrong, the most telling first: of several signs of one problem, the first in
/// this order names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SignKind {
    /// A container was killed because it needed too much memory.
    OutOfMemory "OOMKilled" Fault 72 (0, 0)
        "container-out-of-memory" "containers should not be killed for lack of memory" ["pods"];
    /// The image of a container cannot be pulled.
    ImagePull "ErrImagePull" Fault 72 (15, 15)
        "image-pull" "the images of containers should be pulled" ["pods"];
    /// A container refers to what does not exist.
    ContainerConfig "CreateContainerConfigError" Fault 72 (10, 10)
        "container-config" "the ConfigMaps, Secrets and keys that containers refer to should exist" ["pods"];
    /// A container cannot be started.
    ContainerStart "RunContainerError" Fault 72 (10, 10)
        "container-start" "containers should start" ["pods"];
    /// A container exits with an error, once or again and again.
    ContainerExit "Error" Fault 72 (0, 0)
        "container-exit" "containers should not exit with an error" ["pods"];
    /// The scheduler finds no Node.
    Unschedulable "Unschedulable" Fault 71 (30, 30)
        "pod-unschedulable" "Pods should be scheduled" ["pods"];
    /// A Pod was evicted, preempted or rejected by the kubelet.
    Evicted "Evicted" Disruption 56 (0, 0)
        "pod-evicted" "Pods should not be evicted, preempted or rejected" ["pods"];
    /// A Pod failed.
    PodFailed "Failed" Fault 60 (0, 0)
        "pod-failed" "Pods should not fail" ["pods"];
    /// A controller cannot create Pods, or a `ReplicaSet` for them.
    CreateFailed "FailedCreate" Fault 71 (10, 5)
        "pod-creation" "controllers should be able to create Pods" ["events"];
    /// A quota is exceeded, or used up while something is refused for it.
    // What is refused for it comes first.
    QuotaExceeded "QuotaExceeded" Fault 50 (60, 30)
        "quota-exceeded" "quotas should not be exceeded, nor refuse what is wanted" ["resourcequotas"];
    /// A volume cannot be mounted or attached.
    VolumeMount "FailedMount" Fault 68 (60, 60)
        "volume-mount" "volumes should be attached and mounted" ["events"];
    /// The network of a Pod cannot be set up.
    Sandbox "FailedCreatePodSandBox" Fault 68 (60, 60)
        "pod-network" "the network of Pods should be set up" ["events"];
    /// A probe fails: a container runs and is not ready, or is killed for it.
    // Probes of a starting container fail until it has started.
    Probe "Unhealthy" Fault 67 (300, 30)
        "container-probe" "probes should not fail for long" ["pods"];
    /// A Pod stays Pending.
    // It is Pending until its init containers have ended.
    PodPending "Pending" Fault 60 (300, 300)
        "pod-pending" "Pods should not stay Pending" ["pods"];
    /// A Pod does not end after its deletion.
    PodTerminating "StuckTerminating" Fault 60 (120, 120)
        "pod-terminating" "Pods should end after their deletion" ["pods"];
    /// A Job failed.
    JobFailed "JobFailed" Fault 70 (0, 0)
        "job-failed" "Jobs should not fail" ["jobs.batch"];
    /// A `CronJob` did not run when it was due.
    RunMissed "MissSchedule" Fault 60 (0, 0)
        "cronjob-runs" "CronJobs should run when they are due" ["cronjobs.batch"];
    /// A rollout makes no progress.
    RolloutStuck "ProgressDeadlineExceeded" Fault 68 (0, 0)
        "rollout-stuck" "rollouts should make progress" ["deployments.apps"];
    /// A workload has fewer available replicas than it must have.
    Unavailable "Unavailable" Disruption 68 (300, 30)
        "workload-unavailable" "workloads should have the available replicas that they must have"
        ["deployments.apps", "statefulsets.apps", "daemonsets.apps"];
    /// A workload has fewer replicas than wanted.
    ReplicasMissing "ReplicasMissing" Disruption 58 (300, 180)
        "workload-replicas" "workloads should have the replicas that are wanted"
        ["deployments.apps", "statefulsets.apps", "daemonsets.apps"];
    /// An autoscaler cannot scale.
    Autoscaler "AutoscalerFailed" Fault 60 (300, 60)
        "autoscaler" "autoscalers should be able to scale" ["horizontalpodautoscalers.autoscaling"];
    /// A disruption budget holds a drain.
    DrainHeld "DisruptionBudgetHoldsDrain" Disruption 70 (10, 10)
        "drain-held" "disruption budgets should not hold drains for long" ["nodes"];
    /// A Node does not work.
    NodeNotReady "NodeNotReady" Disruption 86 (300, 5)
        "node-not-ready" "Nodes should be ready" ["nodes"];
    /// A Node was rebooted.
    NodeRebooted "NodeRebooted" Disruption 86 (0, 0)
        "node-rebooted" "Nodes should be drained before they are rebooted" ["nodes"];
    /// A Node runs out of a resource, or reports another trouble.
    NodePressure "NodePressure" Fault 76 (5, 0)
        "node-pressure" "Nodes should not run out of a resource" ["nodes"];
    /// A Node takes no Pods for a long time.
    NodeCordoned "NodeCordoned" Disruption 40 (3_600, 3_600)
        "node-cordoned" "Nodes should not be unschedulable for long" ["nodes"];
    /// A volume is lost, failed, or not attached.
    Volume "VolumeFailed" Fault 66 (60, 60)
        "volume-failed" "volumes should not be lost or fail"
        ["persistentvolumes", "persistentvolumeclaims", "volumeattachments.storage.k8s.io"];
    /// A claim is not bound.
    ClaimPending "ClaimPending" Fault 66 (60, 30)
        "claim-pending" "claims should be bound" ["persistentvolumeclaims"];
    /// A Service has no ready endpoints.
    NoEndpoints "NoReadyEndpoints" Disruption 70 (180, 10)
        "service-endpoints" "Services should have ready endpoints" ["endpointslices.discovery.k8s.io", "services"];
    /// An aggregated API is not available.
    ApiService "APIServiceUnavailable" Disruption 80 (120, 10)
        "api-service" "aggregated APIs should be available" ["apiservices.apiregistration.k8s.io"];
    /// A webhook cannot be called, and what it should admit or convert is refused.
    // What it takes a new Pod behind it to be reached is normal.
    Webhook "WebhookUnavailable" Fault 78 (10, 10)
        "webhook-unavailable" "webhooks should be reachable" ["events"];
    /// A namespace is not removed after its deletion.
    NamespaceStuck "NamespaceStuckTerminating" Fault 66 (120, 120)
        "namespace-terminating" "namespaces should be removed after their deletion" ["namespaces"];
    /// An object is not removed after its deletion.
    // A deletion may wait for others: that of a Node for its drain, of an owner for what it owns, of a claim for
    // its Pods.
    DeletionStuck "DeletionStuck" Fault 64 (300, 300)
        "deletion-stuck" "objects should be removed after their deletion" [];
    /// A certificate, or all of a bundle of certificate authorities, is about to expire, or has.
    Certificate "CertificateExpiring" Fault 58 (0, 0)
        "certificate-expiring" "certificates should be renewed before they expire" [];
    /// A certificate was requested, and nobody approves or signs it.
    SigningRequest "SigningRequestPending" Fault 56 (300, 300)
        "signing-request" "certificate signing requests should be approved and signed"
        ["certificatesigningrequests.certificates.k8s.io"];
    /// The holder of a Lease, or of another lock of a leader, changes again and again.
    LeaderFlapping "LeaderElectionFlapping" Fault 56 (0, 0)
        "leader-flapping" "leaders should not change again and again"
        ["leases.coordination.k8s.io", "configmaps", "endpoints"];
    /// A `ClusterOperator` is not available.
    // An operator is unavailable and degraded until it has been installed. `operator-available` and
    // `operator-degraded` judge every operator.
    OperatorUnavailable "OperatorUnavailable" Disruption 90 (1_800, 0);
    /// A `ClusterOperator` is degraded.
    OperatorDegraded "OperatorDegraded" Fault 82 (1_800, 0);
    /// The release of an update cannot be retrieved or is refused.
    ReleaseNotAccepted "ReleaseNotAccepted" Upgrade 82 (0, 0)
        "release-accepted" "the releases of updates should be retrieved and accepted"
        ["clusterversions.config.openshift.io"];
    /// The cluster version operator fails.
    VersionFailing "ClusterVersionFailing" Upgrade 84 (600, 0)
        "cluster-version-failing" "the cluster version operator should not fail"
        ["clusterversions.config.openshift.io"];
    /// A pool of Nodes is degraded.
    PoolDegraded "MachineConfigPoolDegraded" Upgrade 80 (600, 0)
        "pool-degraded" "pools of Nodes should not be degraded"
        ["machineconfigpools.machineconfiguration.openshift.io"];
    /// A condition says that an object of any kind is not well.
    Condition "ConditionNotMet" Fault 64 (600, 60)
        "condition-not-met" "the conditions of objects should say that they are well" [];
    /// The controller of an object does not observe a change of it.
    Unreconciled "GenerationNotObserved" Fault 56 (300, 300)
        "generation-observed" "controllers should observe the changes of their objects" [];
    /// Warning Events repeat.
    Events "RepeatedWarningEvents" Fault 20 (0, 0)
        "warnings-repeat" "Warning Events should not repeat again and again" ["events"];
    /// The API server did not answer.
    ApiOutage "APIServerNotReachable" Disruption 92 (0, 0)
        "api-outage" "the API server should answer" [];
}
}

worded! {
/// What a problem belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProblemClass {
    /// Something stopped working.
    Fault = "fault",
    /// Something was unavailable for a while.
    Disruption = "disruption",
    /// An installation or an upgrade does not go on.
    Upgrade = "upgrade",
}
}

/// How long a sign is normal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SignGrace {
    /// While the object was never well in its life.
    pub(crate) starting: Duration,
    /// After the object had been well, or once it is no longer new.
    pub(crate) was_well: Duration,
}

/// The rule that judges signs of a kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SignRule {
    pub(crate) id: &'static str,
    /// Its name in `JUnit`.
    pub(crate) junit: &'static str,
    /// The resources that show a sign, first the one without which it is not known that nothing is wrong, apart from
    /// workloads, of which any kind will do; none if any object can. A lost claim is a finding without its volume.
    pub(crate) resources: &'static [&'static str],
}

impl SignKind {
    /// Returns whether the object is a part of the cluster itself: it is new only while the cluster is installed, or
    /// while the recording shows its creation.
    pub(crate) const fn is_of_cluster(self) -> bool {
        matches!(
            self,
            Self::NodeNotReady
                | Self::NodePressure
                | Self::OperatorUnavailable
                | Self::OperatorDegraded
                | Self::VersionFailing
                | Self::PoolDegraded
        )
    }

    /// Returns whether a controller reports it in a condition, with a reason that may change.
    pub(crate) const fn is_reported(self) -> bool {
        matches!(
            self,
            Self::NodeNotReady
                | Self::OperatorUnavailable
                | Self::OperatorDegraded
                | Self::VersionFailing
                | Self::PoolDegraded
                | Self::ApiService
                | Self::Condition
        )
    }

    /// Returns whether the time that an object states is only the earliest possible begin: that since which a Pod whose
    /// container waits is not ready.
    pub(crate) const fn is_since_at_earliest(self) -> bool {
        matches!(
            self,
            Self::ImagePull | Self::ContainerConfig | Self::ContainerStart
        )
    }

    /// Returns the words before the time that an object states.
    pub const fn since_words(self) -> &'static str {
        if self.is_since_at_earliest() {
            "not ready since"
        } else {
            "since"
        }
    }

    /// Returns how long a sign that nothing ended is normal at most: what takes minutes only in large clusters. What
    /// starts does so in any.
    pub(crate) const fn most_at_end(self) -> Duration {
        match self {
            Self::DeletionStuck => Duration::from_secs(10),
            _ => Duration::MAX,
        }
    }

    /// Returns whether a workload reports by the sign that it lacks Pods: for some reason that the Pods show.
    pub(crate) const fn is_of_replicas(self) -> bool {
        matches!(
            self,
            Self::RolloutStuck | Self::Unavailable | Self::ReplicasMissing
        )
    }

    /// Returns whether an object is not deleted that is to be.
    pub(crate) const fn is_deletion(self) -> bool {
        matches!(
            self,
            Self::PodTerminating | Self::NamespaceStuck | Self::DeletionStuck
        )
    }
}

/// One thing that a version says is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sign {
    /// What kind.
    pub(crate) kind: SignKind,
    /// What of the object: a container, a condition's type; empty for all of it.
    pub(crate) part: String,
    /// The object's own word for it.
    pub(crate) reason: String,
    /// The object's own words.
    pub(crate) message: String,
    /// Since when by the object itself, on its writer's clock.
    pub(crate) since: Option<RecordedAt>,
    /// The words say that something failed, so that the grace of a starting object does not hold.
    pub(crate) is_failure: bool,
    /// The object stays like this for ever: its end is not awaited.
    pub(crate) is_final: bool,
    /// Something that is under way makes it so, and is expected to end: a rollout within its bounds.
    pub(crate) is_under_way: bool,
    /// How long it is normal by the object's own words while the object starts: what its startup probes allow.
    pub(crate) start: Option<Duration>,
}

impl Sign {
    pub(crate) fn new(kind: SignKind, reason: &str, message: &str) -> Self {
        let reason = if reason.is_empty() {
            kind.as_str()
        } else {
            reason
        };
        Self {
            kind,
            part: String::new(),
            reason: reason.to_owned(),
            message: message.trim().to_owned(),
            since: None,
            is_failure: false,
            is_final: false,
            is_under_way: false,
            start: None,
        }
    }

    pub(crate) fn of_part(mut self, part: &str) -> Self {
        part.clone_into(&mut self.part);
        self
    }

    pub(crate) fn since(mut self, at: Option<RecordedAt>) -> Self {
        self.since = at;
        self
    }
}
