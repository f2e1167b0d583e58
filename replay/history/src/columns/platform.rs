//! The columns of OpenShift's own custom resources, for a reel without their definitions: an
//! imported list of objects, or a recording that left definitions out. A definition in the reel has
//! precedence.

use super::table::DefinedColumn;
use kubereel_format::ResourceInfo;

/// Returns the columns of a resource; `None` if it is not one of OpenShift's with columns.
pub(super) fn platform_columns(resource: &ResourceInfo) -> Option<Vec<DefinedColumn>> {
    let heading = format!("[{}]", resource.qualified());
    let mut lines = TABLE.lines();
    lines.find(|line| *line == heading)?;
    let rows = lines.take_while(|line| !line.starts_with('['));
    let columns = rows.filter_map(|line| {
        let mut words = line.split(" | ");
        let (name, kind, path) = (words.next()?, words.next()?, words.next()?);
        DefinedColumn::new(name, kind, path, words.next().is_some())
    });
    Some(columns.collect())
}

/// Under each resource its columns as in `additionalPrinterColumns`: name, type, path, and whether
/// it is wide.
const TABLE: &str = r#"[clusteroperators.config.openshift.io]
Version | string | .status.versions[?(@.name=="operator")].version
Available | string | .status.conditions[?(@.type=="Available")].status
Progressing | string | .status.conditions[?(@.type=="Progressing")].status
Degraded | string | .status.conditions[?(@.type=="Degraded")].status
Since | date | .status.conditions[?(@.type=="Available")].lastTransitionTime
[clusterversions.config.openshift.io]
Version | string | .status.history[?(@.state=="Completed")].version
Available | string | .status.conditions[?(@.type=="Available")].status
Progressing | string | .status.conditions[?(@.type=="Progressing")].status
Since | date | .status.conditions[?(@.type=="Progressing")].lastTransitionTime
Status | string | .status.conditions[?(@.type=="Progressing")].message
[machineconfigpools.machineconfiguration.openshift.io]
Config | string | .status.configuration.name
Updated | string | .status.conditions[?(@.type=="Updated")].status
Updating | string | .status.conditions[?(@.type=="Updating")].status
Degraded | string | .status.conditions[?(@.type=="Degraded")].status
MachineCount | number | .status.machineCount
ReadyMachineCount | number | .status.readyMachineCount
UpdatedMachineCount | number | .status.updatedMachineCount
DegradedMachineCount | number | .status.degradedMachineCount
Age | date | .metadata.creationTimestamp
[machineconfigs.machineconfiguration.openshift.io]
GeneratedByController | string | .metadata.annotations.machineconfiguration\.openshift\.io/generated-by-controller-version
IgnitionVersion | string | .spec.config.ignition.version
Age | date | .metadata.creationTimestamp
[machineconfignodes.machineconfiguration.openshift.io]
PoolName | string | .spec.pool.name
DesiredConfig | string | .spec.configVersion.desired
CurrentConfig | string | .status.configVersion.current
Updated | string | .status.conditions[?(@.type=="Updated")].status
Age | date | .metadata.creationTimestamp
UpdatePrepared | string | .status.conditions[?(@.type=="UpdatePrepared")].status | wide
UpdateExecuted | string | .status.conditions[?(@.type=="UpdateExecuted")].status | wide
UpdatePostActionComplete | string | .status.conditions[?(@.type=="UpdatePostActionComplete")].status | wide
UpdateComplete | string | .status.conditions[?(@.type=="UpdateComplete")].status | wide
Resumed | string | .status.conditions[?(@.type=="Resumed")].status | wide
UpdatedFilesAndOS | string | .status.conditions[?(@.type=="AppliedFilesAndOS")].status | wide
CordonedNode | string | .status.conditions[?(@.type=="Cordoned")].status | wide
DrainedNode | string | .status.conditions[?(@.type=="Drained")].status | wide
RebootedNode | string | .status.conditions[?(@.type=="RebootedNode")].status | wide
UncordonedNode | string | .status.conditions[?(@.type=="Uncordoned")].status | wide
[securitycontextconstraints.security.openshift.io]
Priv | string | .allowPrivilegedContainer
Caps | string | .allowedCapabilities
SELinux | string | .seLinuxContext.type
RunAsUser | string | .runAsUser.type
FSGroup | string | .fsGroup.type
SupGroup | string | .supplementalGroups.type
Priority | string | .priority
ReadOnlyRootFS | string | .readOnlyRootFilesystem
Volumes | string | .volumes
[machines.machine.openshift.io]
Phase | string | .status.phase
Type | string | .metadata.labels['machine\.openshift\.io/instance-type']
Region | string | .metadata.labels['machine\.openshift\.io/region']
Zone | string | .metadata.labels['machine\.openshift\.io/zone']
Age | date | .metadata.creationTimestamp
Node | string | .status.nodeRef.name | wide
ProviderID | string | .spec.providerID | wide
State | string | .metadata.annotations['machine\.openshift\.io/instance-state'] | wide
[machinesets.machine.openshift.io]
Desired | integer | .spec.replicas
Current | integer | .status.replicas
Ready | integer | .status.readyReplicas
Available | string | .status.availableReplicas
Age | date | .metadata.creationTimestamp
[machinehealthchecks.machine.openshift.io]
MaxUnhealthy | string | .spec.maxUnhealthy
ExpectedMachines | integer | .status.expectedMachines
CurrentHealthy | integer | .status.currentHealthy
[controlplanemachinesets.machine.openshift.io]
Desired | integer | .spec.replicas
Current | integer | .status.replicas
Ready | integer | .status.readyReplicas
Updated | integer | .status.updatedReplicas
Unavailable | integer | .status.unavailableReplicas
State | string | .spec.state
Age | date | .metadata.creationTimestamp
[machineautoscalers.autoscaling.openshift.io]
Ref Kind | string | .spec.scaleTargetRef.kind
Ref Name | string | .spec.scaleTargetRef.name
Min | integer | .spec.minReplicas
Max | integer | .spec.maxReplicas
Age | date | .metadata.creationTimestamp
[clusterserviceversions.operators.coreos.com]
Display | string | .spec.displayName
Version | string | .spec.version
Replaces | string | .spec.replaces
Phase | string | .status.phase
[subscriptions.operators.coreos.com]
Package | string | .spec.name
Source | string | .spec.source
Channel | string | .spec.channel
[installplans.operators.coreos.com]
CSV | string | .spec.clusterServiceVersionNames[0]
Approval | string | .spec.approval
Approved | boolean | .spec.approved
[catalogsources.operators.coreos.com]
Display | string | .spec.displayName
Type | string | .spec.sourceType
Publisher | string | .spec.publisher
Age | date | .metadata.creationTimestamp
[apirequestcounts.apiserver.openshift.io]
RemovedInRelease | string | .status.removedInRelease
RequestsInCurrentHour | integer | .status.currentHour.requestCount
RequestsInLast24h | integer | .status.requestCount
[profiles.tuned.openshift.io]
Tuned | string | .spec.config.tunedProfile
Applied | string | .status.conditions[?(@.type=="Applied")].status
Degraded | string | .status.conditions[?(@.type=="Degraded")].status
Age | date | .metadata.creationTimestamp
[hostsubnets.network.openshift.io]
Host | string | .host
Host IP | string | .hostIP
Subnet | string | .subnet
Egress CIDRs | string | .egressCIDRs
Egress IPs | string | .egressIPs
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_format::RecordedAt;
    use serde_json::json;

    #[test]
    fn every_row_of_the_table_is_a_column() {
        let rows = TABLE.lines().filter(|line| !line.starts_with('[')).count();
        let headings = TABLE
            .lines()
            .filter_map(|line| line.strip_prefix('[')?.strip_suffix(']'));
        let columns = headings.map(|heading| {
            let (plural, group) = heading.split_once('.').expect("a group");
            platform_columns(&resource(group, plural))
                .expect("columns")
                .len()
        });
        assert_eq!(columns.sum::<usize>(), rows);
        assert!(platform_columns(&resource("", "pods")).is_none());
    }

    #[test]
    fn a_cluster_operator_prints_as_oc_prints_it() {
        let columns = platform_columns(&resource("config.openshift.io", "clusteroperators"))
            .expect("columns");
        let object = json!({"status": {
            "versions": [{"name": "a", "version": "1"}, {"name": "operator", "version": "4.20.1"}],
            "conditions": [
                {"type": "Degraded", "status": "False"},
                {"type": "Available", "status": "True", "lastTransitionTime": "2026-11-21T14:00:00Z"},
            ],
        }});
        let at = RecordedAt::from_micros(1_795_269_660_000_000);
        let cells: Vec<String> = columns.iter().map(|one| one.cell(&object, at)).collect();
        assert_eq!(cells, ["4.20.1", "True", "", "False", "60s"]);
    }

    fn resource(group: &str, plural: &str) -> ResourceInfo {
        ResourceInfo::new(
            kubereel_format::ResourceId(0),
            &format!("{group}/v1"),
            plural,
            "",
        )
    }
}
