//! The columns of storage: claims, volumes, classes, attachments and drivers.

use super::super::part::{NONE, ObjectPart};
use kubereel_format::RecordedAt;

/// The server's text for a value that is not set.
const UNSET: &str = "<unset>";

/// The annotation with the class in old clusters.
const OLD_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// Returns the storage class of a claim or a volume.
pub(crate) fn class_of(object: ObjectPart<'_>) -> &str {
    let annotations = object.at("metadata.annotations").texts();
    let old = annotations.get(OLD_CLASS).copied();
    old.unwrap_or_else(|| object.at("spec.storageClassName").text())
}

/// Formats access modes in the order of the server.
pub(crate) fn access_modes(modes: ObjectPart<'_>) -> String {
    let has = |mode: &str| modes.items().any(|one| one.text() == mode);
    let all = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let known = all.into_iter().filter(|(mode, _)| has(mode));
    known.map(|(_, short)| short).collect::<Vec<_>>().join(",")
}

fn phase(object: ObjectPart<'_>) -> String {
    if object.at("metadata.deletionTimestamp").is_there() {
        return "Terminating".to_owned();
    }
    object.at("status.phase").text().to_owned()
}

pub(super) fn claim_row(claim: ObjectPart<'_>, at: RecordedAt) -> Vec<String> {
    let (spec, status) = (claim.at("spec"), claim.at("status"));
    let volume = spec.at("volumeName").text();
    let is_bound = !volume.is_empty();
    let of_bound = |text: String| if is_bound { text } else { String::new() };
    vec![
        claim.name(),
        phase(claim),
        volume.to_owned(),
        of_bound(status.at("capacity.storage").plain_or("0")),
        of_bound(access_modes(status.at("accessModes"))),
        class_of(claim).to_owned(),
        spec.at("volumeAttributesClassName").plain_or(UNSET),
        claim.age(at),
        spec.at("volumeMode").plain_or(UNSET),
    ]
}

pub(super) fn volume_row(volume: ObjectPart<'_>, at: RecordedAt) -> Vec<String> {
    let spec = volume.at("spec");
    let claim = spec.at("claimRef");
    let claim_name = if claim.is_there() {
        format!(
            "{}/{}",
            claim.at("namespace").text(),
            claim.at("name").text()
        )
    } else {
        String::new()
    };
    vec![
        volume.name(),
        spec.at("capacity.storage").plain_or("0"),
        access_modes(spec.at("accessModes")),
        spec.at("persistentVolumeReclaimPolicy").text().to_owned(),
        phase(volume),
        claim_name,
        class_of(volume).to_owned(),
        spec.at("volumeAttributesClassName").plain_or(UNSET),
        volume.at("status.reason").text().to_owned(),
        volume.age(at),
        spec.at("volumeMode").plain_or(UNSET),
    ]
}

pub(super) fn class_row(class: ObjectPart<'_>, at: RecordedAt) -> Vec<String> {
    const DEFAULT: [&str; 2] = [
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class",
    ];
    let annotations = class.at("metadata.annotations").texts();
    let is_default = DEFAULT
        .iter()
        .any(|name| annotations.get(name) == Some(&"true"));
    let name = class.name();
    vec![
        if is_default {
            format!("{name} (default)")
        } else {
            name
        },
        class.at("provisioner").text().to_owned(),
        class.at("reclaimPolicy").text_or("Delete").to_owned(),
        class
            .at("volumeBindingMode")
            .text_or("Immediate")
            .to_owned(),
        class.at("allowVolumeExpansion").holds().to_string(),
        class.age(at),
    ]
}

pub(super) fn attachment_row(attachment: ObjectPart<'_>, at: RecordedAt) -> Vec<String> {
    let spec = attachment.at("spec");
    vec![
        attachment.name(),
        spec.at("attacher").text().to_owned(),
        spec.at("source.persistentVolumeName").text().to_owned(),
        spec.at("nodeName").text().to_owned(),
        attachment.at("status.attached").holds().to_string(),
        attachment.age(at),
    ]
}

pub(super) fn csi_node_row(node: ObjectPart<'_>, at: RecordedAt) -> Vec<String> {
    let drivers = node.at("spec.drivers").items().len();
    vec![node.name(), drivers.to_string(), node.age(at)]
}

pub(super) fn csi_driver_row(driver: ObjectPart<'_>, at: RecordedAt) -> Vec<String> {
    let spec = driver.at("spec");
    let is_set = |member: &str| spec.at(member).holds().to_string();
    let requests = spec.at("tokenRequests");
    let audiences = requests.items().map(|one| one.at("audience").text());
    let audiences: Vec<&str> = audiences.collect();
    let modes = spec
        .at("volumeLifecycleModes")
        .items()
        .map(ObjectPart::text);
    let modes: Vec<&str> = modes.collect();
    vec![
        driver.name(),
        spec.at("attachRequired").plain_or("true"),
        is_set("podInfoOnMount"),
        is_set("storageCapacity"),
        if requests.is_there() {
            audiences.join(",")
        } else {
            "<unset>".to_owned()
        },
        is_set("requiresRepublish"),
        if modes.is_empty() {
            NONE.to_owned()
        } else {
            modes.join(",")
        },
        driver.age(at),
    ]
}
