//! Volumes on a page: for each kind of source its name as text and its members.

use super::lines::{PageWriter, go_list};
use super::storage::claim_fields;
use crate::columns::{NONE, ObjectPart};

/// A kind of source on each line: the member of a volume, its name in kubectl, and its members as kubectl names them,
/// each with the source of its cell.
const KINDS: &str = "\
hostPath = HostPath (bare host directory volume); Path: plain path; HostPathType: plain type | <none>
emptyDir = EmptyDir (a temporary directory that shares a pod's lifetime); Medium: plain medium; SizeLimit: plain sizeLimit | <unset>
secret = Secret (a volume populated by a Secret); SecretName: plain secretName; Optional: plain optional | false
configMap = ConfigMap (a volume populated by a ConfigMap); Name: plain name; Optional: plain optional | false
persistentVolumeClaim = PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace); ClaimName: plain claimName; ReadOnly: plain readOnly | false
nfs = NFS (an NFS mount that lasts the lifetime of a pod); Server: plain server; Path: plain path; ReadOnly: plain readOnly | false
csi = CSI (a Container Storage Interface (CSI) volume source); Driver: plain driver; FSType: plain fsType; ReadOnly: plain readOnly | false
image = Image (a container image or OCI artifact); Reference: plain reference; PullPolicy: plain pullPolicy
gcePersistentDisk = GCEPersistentDisk (a Persistent Disk resource in Google Compute Engine); PDName: plain pdName; FSType: plain fsType; Partition: plain partition | 0; ReadOnly: plain readOnly | false
awsElasticBlockStore = AWSElasticBlockStore (a Persistent Disk resource in AWS); VolumeID: plain volumeID; FSType: plain fsType; Partition: plain partition | 0; ReadOnly: plain readOnly | false
cinder = Cinder (a Persistent Disk resource in OpenStack); VolumeID: plain volumeID; FSType: plain fsType; ReadOnly: plain readOnly | false
vsphereVolume = vSphereVolume (a Persistent Disk resource in vSphere); VolumePath: plain volumePath; FSType: plain fsType; StoragePolicyName: plain storagePolicyName
azureFile = AzureFile (an Azure File Service mount on the host and bind mount to the pod); SecretName: plain secretName; ShareName: plain shareName; ReadOnly: plain readOnly | false
local = LocalVolume (a persistent volume backed by local storage on a node); Path: plain path
ephemeral = EphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)";

/// Writes the volumes of a Pod, or of a Pod template, which is indented.
pub(super) fn volumes(page: &mut PageWriter, volumes: ObjectPart<'_>, indent: &str) {
    if volumes.items().len() == 0 {
        return page.field(0, &format!("{indent}Volumes"), NONE);
    }
    page.line(0, format!("{indent}Volumes:"));
    let space = if indent.is_empty() { "" } else { " " };
    for volume in volumes.items() {
        page.line(1, format!("{space}{}:", volume.at("name").text()));
        source(page, volume);
    }
}

fn source(page: &mut PageWriter, volume: ObjectPart<'_>) {
    let mut kinds = KINDS.lines().filter_map(|kind| kind.split_once(" = "));
    let Some((member, kind)) = kinds.find(|(member, _)| volume.at(member).is_there()) else {
        return other_source(page, volume);
    };
    let source = volume.at(member);
    let mut parts = kind.split("; ");
    page.field(2, "Type", parts.next().unwrap_or_default());
    for (name, from) in parts.filter_map(|field| field.split_once(": ")) {
        page.field(2, name, source.cell(from));
    }
    if member == "csi" {
        page.labels(2, "VolumeAttributes", source.at("volumeAttributes"));
    }
    let template = source.at("volumeClaimTemplate");
    if template.is_there() {
        page.within(2, |page| claim_fields(page, template, None));
    }
}

fn other_source(page: &mut PageWriter, volume: ObjectPart<'_>) {
    let (projected, downward) = (volume.at("projected"), volume.at("downwardAPI"));
    if projected.is_there() {
        let title = "Projected (a volume that contains injected data from multiple sources)";
        page.field(2, "Type", title);
        projected
            .at("sources")
            .items()
            .for_each(|source| projection(page, source));
    } else if downward.is_there() {
        page.field(
            2,
            "Type",
            "DownwardAPI (a volume populated by information about the pod)",
        );
        page.line(2, "Items:");
        for item in downward.at("items").items() {
            let from = item.at("fieldRef.fieldPath");
            let from = from.text_or(item.at("resourceFieldRef.resource").text());
            page.line(3, format!("{from} -> {}", item.at("path").text()));
        }
    } else {
        // A kind of source that current clusters do not have: its raw members.
        let members = volume.members().filter(|(name, _)| *name != "name");
        for (name, source) in members {
            page.field(2, "Type", name);
            for (name, value) in source.members() {
                let value = value.plain_or(&go_list(value));
                page.field(2, name, value);
            }
        }
    }
}

fn projection(page: &mut PageWriter, source: ObjectPart<'_>) {
    let optional = |of: ObjectPart<'_>| of.at("optional").holds().to_string();
    let (secret, map) = (source.at("secret"), source.at("configMap"));
    let token = source.at("serviceAccountToken");
    if secret.is_there() {
        page.field(2, "SecretName", secret.at("name").text());
        page.field(2, "Optional", optional(secret));
    } else if source.at("downwardAPI").is_there() {
        page.field(2, "DownwardAPI", "true");
    } else if map.is_there() {
        page.field(2, "ConfigMapName", map.at("name").text());
        page.field(2, "Optional", optional(map));
    } else if token.is_there() {
        let secs = token.at("expirationSeconds").whole();
        page.field(2, "TokenExpirationSeconds", secs.to_string());
    }
}
