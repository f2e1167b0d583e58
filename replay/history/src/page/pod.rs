//! The page of a Pod.

use super::container::{ContainerList, resources, spread_constraints, tolerations};
use super::lines::{PageWriter, controller, terminating};
use super::volume::volumes;
use crate::columns::{NONE, ObjectPart};
use kubereel_format::RecordedAt;

const CLASSES: &[(&str, &str)] = &[
    ("?Priority", "plain priority"),
    ("?Priority Class Name", "priorityClassName"),
    ("?Runtime Class Name", "runtimeClassName"),
    ("?Service Account", "serviceAccountName"),
];

pub(super) fn pod_page(page: &mut PageWriter, pod: ObjectPart<'_>, at: RecordedAt) {
    let (spec, status) = (pod.at("spec"), pod.at("status"));
    page.name(pod);
    page.fields(0, spec, CLASSES);
    let node = match spec.at("nodeName").text() {
        "" => NONE.to_owned(),
        node => format!("{node}/{}", status.at("hostIP").text()),
    };
    page.field(0, "Node", node);
    if status.at("startTime").is_there() {
        page.field(0, "Start Time", status.at("startTime").date());
    }
    page.metadata(pod);
    standing(page, pod, at);
    let profile = spec.at("securityContext.seccompProfile");
    page.field_if(0, "SeccompProfile", profile.at("type").text());
    page.field_if(0, "LocalhostProfile", profile.at("localhostProfile").text());
    page.field(0, "IP", status.at("podIP").text());
    addresses(page, status);
    page.field_if(0, "Controlled By", controller(pod));
    let nominated = status.at("nominatedNodeName");
    page.field_if(0, "NominatedNodeName", nominated.text());
    if spec.at("resources").is_there() {
        page.line(0, "Resources:");
        resources(page, 1, spec.at("resources"));
    }
    for (title, specs, statuses) in [
        ("Init Containers", "initContainers", "initContainerStatuses"),
        ("Containers", "containers", "containerStatuses"),
        (
            "Ephemeral Containers",
            "ephemeralContainers",
            "ephemeralContainerStatuses",
        ),
    ] {
        if title == "Containers" || spec.at(specs).items().len() > 0 {
            let list = ContainerList {
                title,
                specs: spec.at(specs),
                statuses: status.at(statuses),
                pod: Some(pod),
            };
            list.write(page);
        }
    }
    conditions(page, pod);
    volumes(page, spec.at("volumes"), "");
    page.field(0, "QoS Class", status.at("qosClass").text_or(NONE));
    page.labels(0, "Node-Selectors", spec.at("nodeSelector"));
    page.list(0, "Tolerations", tolerations(spec));
    spread_constraints(page, spec, "");
}

fn standing(page: &mut PageWriter, pod: ObjectPart<'_>, at: RecordedAt) {
    let status = pod.at("status");
    let phase = status.at("phase").text();
    match terminating(pod, at).filter(|_| !matches!(phase, "Failed" | "Succeeded")) {
        Some(text) => {
            page.field(0, "Status", text);
            let grace = pod.at("metadata.deletionGracePeriodSeconds").whole();
            page.field(0, "Termination Grace Period", format!("{grace}s"));
        }
        None => page.field(0, "Status", phase),
    }
    page.field_if(0, "Reason", status.at("reason").text());
    page.field_if(0, "Message", status.at("message").text());
}

fn addresses(page: &mut PageWriter, status: ObjectPart<'_>) {
    if status.at("podIPs").items().len() == 0 {
        return page.field(0, "IPs", NONE);
    }
    page.line(0, "IPs:");
    for address in status.at("podIPs").items() {
        page.field(1, "IP", address.at("ip").text());
    }
}

fn conditions(page: &mut PageWriter, pod: ObjectPart<'_>) {
    let all = pod.at("status.conditions");
    let gates = pod.at("spec.readinessGates");
    if gates.items().len() > 0 {
        page.line(0, "Readiness Gates:");
        page.line(1, "Type\tStatus");
    }
    for gate in gates.items() {
        let kind = gate.at("conditionType").text();
        let mut found = all.items().filter(|one| one.at("type").text() == kind);
        let status = found.next().map_or(NONE, |one| one.at("status").text());
        page.line(1, format!("{kind} \t{status} "));
    }
    if all.items().len() > 0 {
        page.line(0, "Conditions:");
        page.line(1, "Type\tStatus");
    }
    page.rows(all, &["type ", "status "]);
}
