//! The columns of storage: claims, volumes, classes, attachments and drivers.

use super::super::part::{NONE, ObjectPart};
use kubereel_format::RecordedAt;

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

pub(super) fn claim_cells(claim: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    let status = claim.at("status");
    let is_bound = !claim.at("spec.volumeName").text().is_empty();
    let of_bound = |text: String| if is_bound { text } else { String::new() };
    vec![
        phase(claim),
        of_bound(status.at("capacity.storage").plain_or("0")),
        of_bound(access_modes(status.at("accessModes"))),
        class_of(claim).to_owned(),
    ]
}

pub(super) fn volume_cells(volume: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
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
        access_modes(spec.at("accessModes")),
        phase(volume),
        claim_name,
        class_of(volume).to_owned(),
    ]
}

pub(super) fn class_cells(class: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    const DEFAULT: [&str; 2] = [
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class",
    ];
    let annotations = class.at("metadata.annotations").texts();
    let is_default = DEFAULT
        .iter()
        .any(|name| annotations.get(name) == Some(&"true"));
    let name = class.name();
    vec![if is_default {
        format!("{name} (default)")
    } else {
        name
    }]
}

pub(super) fn csi_driver_cells(driver: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    let spec = driver.at("spec");
    let requests = spec.at("tokenRequests");
    let audiences = requests.items().map(|one| one.at("audience").text());
    let audiences: Vec<&str> = audiences.collect();
    let modes = spec
        .at("volumeLifecycleModes")
        .items()
        .map(ObjectPart::text);
    let modes: Vec<&str> = modes.collect();
    vec![
        if requests.is_there() {
            audiences.join(",")
        } else {
            "<unset>".to_owned()
        },
        if modes.is_empty() {
            NONE.to_owned()
        } else {
            modes.join(",")
        },
    ]
}
