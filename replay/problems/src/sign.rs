//! A sign: one thing that a version of an object says is wrong.
//!
//! Signs are read from one version alone, without a clock. Whether a sign is a problem depends on how
//! long it lasts: [`SignKind::grace`] says what is normal while things start or roll.

use kubereel_format::RecordedAt;
use std::time::Duration;

/// What kind of thing is wrong, the most telling first: of several signs of one problem, the first in
/// this order names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SignKind {
    /// A container was killed because it needed too much memory.
    OutOfMemory,
    /// The image of a container cannot be pulled.
    ImagePull,
    /// A container refers to what does not exist.
    ContainerConfig,
    /// A container cannot be started.
    ContainerStart,
    /// A container exits with an error, once or again and again.
    ContainerExit,
    /// The scheduler finds no Node.
    Unschedulable,
    /// A Pod was evicted, preempted or rejected by the kubelet.
    Evicted,
    /// A Pod failed.
    PodFailed,
    /// A controller cannot create Pods, or a `ReplicaSet` for them.
    CreateFailed,
    /// A quota is exceeded, or used up while something is refused for it.
    QuotaExceeded,
    /// A volume cannot be mounted or attached.
    VolumeMount,
    /// The network of a Pod cannot be set up.
    Sandbox,
    /// A probe fails: a container runs and is not ready, or is killed for it.
    Probe,
    /// A Pod stays Pending.
    PodPending,
    /// A Pod does not end after its deletion.
    PodTerminating,
    /// A Job failed.
    JobFailed,
    /// A `CronJob` did not run when it was due.
    RunMissed,
    /// A rollout makes no progress.
    RolloutStuck,
    /// A workload has fewer available replicas than it must have.
    Unavailable,
    /// A workload has fewer replicas than wanted.
    ReplicasMissing,
    /// An autoscaler cannot scale.
    Autoscaler,
    /// A disruption budget holds a drain.
    DrainHeld,
    /// A Node does not work.
    NodeNotReady,
    /// A Node was rebooted.
    NodeRebooted,
    /// A Node runs out of a resource, or reports another trouble.
    NodePressure,
    /// A Node takes no Pods for a long time.
    NodeCordoned,
    /// A volume is lost, failed, or not attached.
    Volume,
    /// A claim is not bound.
    ClaimPending,
    /// A Service has no ready endpoints.
    NoEndpoints,
    /// An aggregated API is not available.
    ApiService,
    /// A webhook cannot be called, and what it should admit or convert is refused.
    Webhook,
    /// A namespace is not removed after its deletion.
    NamespaceStuck,
    /// An object is not removed after its deletion.
    DeletionStuck,
    /// A certificate, or all of a bundle of certificate authorities, is about to expire, or has.
    Certificate,
    /// A certificate was requested, and nobody approves or signs it.
    SigningRequest,
    /// The holder of a Lease, or of another lock of a leader, changes again and again.
    LeaderFlapping,
    /// A `ClusterOperator` is not available.
    OperatorUnavailable,
    /// A `ClusterOperator` is degraded.
    OperatorDegraded,
    /// The release of an update cannot be retrieved or is refused.
    ReleaseNotAccepted,
    /// The cluster version operator fails.
    VersionFailing,
    /// A pool of Nodes is degraded.
    PoolDegraded,
    /// A condition says that an object of any kind is not well.
    Condition,
    /// The controller of an object does not observe a change of it.
    Unreconciled,
    /// Warning Events repeat.
    Events,
    /// The API server did not answer.
    ApiOutage,
}

/// What a problem belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProblemClass {
    /// Something stopped working.
    Fault,
    /// Something was unavailable for a while.
    Disruption,
    /// An installation or an upgrade does not go on.
    Upgrade,
}

impl ProblemClass {
    /// Returns the word that is shown to people and programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fault => "fault",
            Self::Disruption => "disruption",
            Self::Upgrade => "upgrade",
        }
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

const fn grace(starting: u64, was_well: u64) -> SignGrace {
    SignGrace {
        starting: Duration::from_secs(starting),
        was_well: Duration::from_secs(was_well),
    }
}

impl SignKind {
    /// Every kind, in this order.
    pub(crate) const ALL: [Self; 45] = [
        Self::OutOfMemory,
        Self::ImagePull,
        Self::ContainerConfig,
        Self::ContainerStart,
        Self::ContainerExit,
        Self::Unschedulable,
        Self::Evicted,
        Self::PodFailed,
        Self::CreateFailed,
        Self::QuotaExceeded,
        Self::VolumeMount,
        Self::Sandbox,
        Self::Probe,
        Self::PodPending,
        Self::PodTerminating,
        Self::JobFailed,
        Self::RunMissed,
        Self::RolloutStuck,
        Self::Unavailable,
        Self::ReplicasMissing,
        Self::Autoscaler,
        Self::DrainHeld,
        Self::NodeNotReady,
        Self::NodeRebooted,
        Self::NodePressure,
        Self::NodeCordoned,
        Self::Volume,
        Self::ClaimPending,
        Self::NoEndpoints,
        Self::ApiService,
        Self::Webhook,
        Self::NamespaceStuck,
        Self::DeletionStuck,
        Self::Certificate,
        Self::SigningRequest,
        Self::LeaderFlapping,
        Self::OperatorUnavailable,
        Self::OperatorDegraded,
        Self::ReleaseNotAccepted,
        Self::VersionFailing,
        Self::PoolDegraded,
        Self::Condition,
        Self::Unreconciled,
        Self::Events,
        Self::ApiOutage,
    ];

    /// Returns how long the sign is normal. A sign that nothing ended needs a sixth of it: what
    /// is under way at the end of a recording is seldom slow at just that moment.
    pub(crate) const fn grace(self) -> SignGrace {
        match self {
            Self::OutOfMemory
            | Self::ContainerExit
            | Self::PodFailed
            | Self::Evicted
            | Self::JobFailed
            | Self::RunMissed
            | Self::RolloutStuck
            | Self::NodeRebooted
            | Self::LeaderFlapping
            | Self::Certificate
            | Self::ReleaseNotAccepted
            | Self::Events
            | Self::ApiOutage => grace(0, 0),
            // Of a webhook, what it takes a new Pod behind it to be reached.
            Self::ContainerConfig | Self::ContainerStart | Self::DrainHeld | Self::Webhook => {
                grace(10, 10)
            }
            Self::CreateFailed => grace(10, 5),
            Self::ImagePull => grace(15, 15),
            Self::Unschedulable => grace(30, 30),
            Self::Volume | Self::Sandbox | Self::VolumeMount => grace(60, 60),
            Self::ClaimPending | Self::QuotaExceeded => grace(60, 30),
            Self::PodTerminating | Self::NamespaceStuck => grace(120, 120),
            // Probes of a starting container fail until it has started.
            Self::Probe | Self::Unavailable => grace(300, 30),
            Self::ReplicasMissing => grace(300, 180),
            // A Pod is Pending until its init containers have ended, and a deletion may wait for others: that of a Node
            // for its drain, of an owner for what it owns, of a claim for its Pods.
            Self::PodPending | Self::DeletionStuck | Self::SigningRequest | Self::Unreconciled => {
                grace(300, 300)
            }
            Self::Autoscaler => grace(300, 60),
            Self::NodeNotReady => grace(300, 5),
            Self::NodePressure => grace(5, 0),
            Self::NodeCordoned => grace(3_600, 3_600),
            Self::NoEndpoints => grace(180, 10),
            Self::ApiService => grace(120, 10),
            // An operator is unavailable and degraded until it has been installed.
            Self::OperatorUnavailable | Self::OperatorDegraded => grace(1_800, 0),
            Self::VersionFailing | Self::PoolDegraded => grace(600, 0),
            Self::Condition => grace(600, 60),
        }
    }

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

    /// Returns the class of the problem that the sign names.
    pub(crate) const fn class(self) -> ProblemClass {
        match self {
            Self::Unavailable
            | Self::ReplicasMissing
            | Self::NodeNotReady
            | Self::NodeRebooted
            | Self::NodeCordoned
            | Self::NoEndpoints
            | Self::ApiService
            | Self::OperatorUnavailable
            | Self::Evicted
            | Self::DrainHeld
            | Self::ApiOutage => ProblemClass::Disruption,
            Self::ReleaseNotAccepted | Self::VersionFailing | Self::PoolDegraded => {
                ProblemClass::Upgrade
            }
            _ => ProblemClass::Fault,
        }
    }

    /// Returns how much of a cluster the sign affects: the more, the higher.
    pub(crate) const fn weight(self) -> i32 {
        match self {
            Self::ApiOutage => 92,
            Self::OperatorUnavailable => 90,
            Self::NodeNotReady | Self::NodeRebooted => 86,
            Self::VersionFailing => 84,
            Self::OperatorDegraded | Self::ReleaseNotAccepted => 82,
            Self::PoolDegraded | Self::ApiService => 80,
            Self::Webhook => 78,
            Self::NodePressure => 76,
            Self::OutOfMemory
            | Self::ImagePull
            | Self::ContainerConfig
            | Self::ContainerStart
            | Self::ContainerExit => 72,
            Self::Unschedulable | Self::CreateFailed => 71,
            Self::JobFailed | Self::DrainHeld | Self::NoEndpoints => 70,
            Self::Unavailable | Self::RolloutStuck | Self::VolumeMount | Self::Sandbox => 68,
            Self::Probe => 67,
            Self::ClaimPending | Self::Volume | Self::NamespaceStuck => 66,
            Self::Condition | Self::DeletionStuck => 64,
            Self::PodFailed
            | Self::PodPending
            | Self::PodTerminating
            | Self::Autoscaler
            | Self::RunMissed => 60,
            Self::ReplicasMissing | Self::Certificate => 58,
            Self::Evicted | Self::LeaderFlapping | Self::SigningRequest | Self::Unreconciled => 56,
            // What is refused for it comes first.
            Self::QuotaExceeded => 50,
            Self::NodeCordoned => 40,
            Self::Events => 20,
        }
    }

    /// Returns the word for the kind where the object itself gives no reason.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OutOfMemory => "OOMKilled",
            Self::ImagePull => "ErrImagePull",
            Self::ContainerConfig => "CreateContainerConfigError",
            Self::ContainerStart => "RunContainerError",
            Self::ContainerExit => "Error",
            Self::Unschedulable => "Unschedulable",
            Self::Evicted => "Evicted",
            Self::PodFailed => "Failed",
            Self::CreateFailed => "FailedCreate",
            Self::QuotaExceeded => "QuotaExceeded",
            Self::VolumeMount => "FailedMount",
            Self::Sandbox => "FailedCreatePodSandBox",
            Self::Probe => "Unhealthy",
            Self::PodPending => "Pending",
            Self::PodTerminating => "StuckTerminating",
            Self::JobFailed => "JobFailed",
            Self::RunMissed => "MissSchedule",
            Self::RolloutStuck => "ProgressDeadlineExceeded",
            Self::Unavailable => "Unavailable",
            Self::ReplicasMissing => "ReplicasMissing",
            Self::Autoscaler => "AutoscalerFailed",
            Self::DrainHeld => "DisruptionBudgetHoldsDrain",
            Self::NodeNotReady => "NodeNotReady",
            Self::NodeRebooted => "NodeRebooted",
            Self::NodePressure => "NodePressure",
            Self::NodeCordoned => "NodeCordoned",
            Self::ClaimPending => "ClaimPending",
            Self::Volume => "VolumeFailed",
            Self::NoEndpoints => "NoReadyEndpoints",
            Self::ApiService => "APIServiceUnavailable",
            Self::Webhook => "WebhookUnavailable",
            Self::NamespaceStuck => "NamespaceStuckTerminating",
            Self::DeletionStuck => "DeletionStuck",
            Self::Certificate => "CertificateExpiring",
            Self::SigningRequest => "SigningRequestPending",
            Self::LeaderFlapping => "LeaderElectionFlapping",
            Self::OperatorUnavailable => "OperatorUnavailable",
            Self::OperatorDegraded => "OperatorDegraded",
            Self::ReleaseNotAccepted => "ReleaseNotAccepted",
            Self::VersionFailing => "ClusterVersionFailing",
            Self::PoolDegraded => "MachineConfigPoolDegraded",
            Self::Condition => "ConditionNotMet",
            Self::Unreconciled => "GenerationNotObserved",
            Self::Events => "RepeatedWarningEvents",
            Self::ApiOutage => "APIServerNotReachable",
        }
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
