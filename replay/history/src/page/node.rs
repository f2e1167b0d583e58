//! The page of a Node: capacity, requests, and the Pods on it.

use super::lines::{PageWriter, joined};
use super::surroundings::{NOT_RECORDED, Surroundings};
use crate::body_reader::QueryError;
use crate::columns::{ObjectPart, roles};
use crate::quantity::Quantity;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const SYSTEM_INFO: &[(&str, &str)] = &[
    ("Machine ID", "machineID"),
    ("System UUID", "systemUUID"),
    ("Boot ID", "bootID"),
    ("Kernel Version", "kernelVersion"),
    ("OS Image", "osImage"),
    ("Operating System", "operatingSystem"),
    ("Architecture", "architecture"),
    ("Container Runtime Version", "containerRuntimeVersion"),
    ("Kubelet Version", "kubeletVersion"),
    ("Kube-Proxy Version", "kubeProxyVersion"),
];

/// The namespace with the Leases of Nodes.
const LEASES: &str = "kube-node-lease";

pub(super) fn node_page(
    page: &mut PageWriter,
    node: ObjectPart<'_>,
    around: Surroundings<'_>,
) -> Result<(), QueryError> {
    let (spec, status) = (node.at("spec"), node.at("status"));
    page.field(0, "Name", node.name());
    page.field(0, "Roles", roles(node));
    page.metadata(node);
    let created = node.cell("date metadata.creationTimestamp");
    page.field(0, "CreationTimestamp", created);
    page.list(0, "Taints", taints(spec));
    page.field(0, "Unschedulable", spec.cell("bool unschedulable"));
    lease(page, &node.name(), around)?;
    conditions(page, status);
    page.line(0, "Addresses:");
    for address in status.at("addresses").items() {
        page.field(1, address.at("type").text(), address.at("address").text());
    }
    for (title, member) in [("Capacity", "capacity"), ("Allocatable", "allocatable")] {
        let amounts: BTreeMap<&str, String> = status
            .at(member)
            .members()
            .map(|(name, amount)| (name, amount.plain()))
            .collect();
        if !amounts.is_empty() {
            page.line(0, format!("{title}:"));
        }
        for (name, amount) in amounts {
            page.field(1, name, amount);
        }
    }
    page.line(0, "System Info:");
    page.fields(1, status.at("nodeInfo"), SYSTEM_INFO);
    page.field_if(0, "PodCIDR", spec.at("podCIDR").text());
    page.field_if(0, "PodCIDRs", joined(spec.at("podCIDRs"), ","));
    page.field_if(0, "ProviderID", spec.at("providerID").text());
    pods(page, node, around)
}

/// Writes taints, sorted by effect and key.
fn taints(spec: ObjectPart<'_>) -> Vec<String> {
    let mut all: Vec<(String, String)> = Vec::new();
    for taint in spec.at("taints").items() {
        let (key, value) = (taint.at("key").text(), taint.at("value").text());
        let effect = taint.at("effect").text();
        let text = match (effect, value) {
            ("", "") => key.to_owned(),
            ("", value) => format!("{key}={value}:"),
            (effect, "") => format!("{key}:{effect}"),
            (effect, value) => format!("{key}={value}:{effect}"),
        };
        all.push((format!("{effect},{key}"), text));
    }
    all.sort();
    all.into_iter().map(|(_, text)| text).collect()
}

fn lease(page: &mut PageWriter, node: &str, around: Surroundings<'_>) -> Result<(), QueryError> {
    const RESOURCE: &str = "leases.coordination.k8s.io";
    let Some(leases) = around.list(RESOURCE, LEASES)? else {
        page.field(0, "Lease", NOT_RECORDED);
        return Ok(());
    };
    let mut leases = leases.iter().map(ObjectPart::of);
    let Some(lease) = leases.find(|lease| lease.name() == node) else {
        let absent = if around.is_incomplete(RESOURCE) {
            "<not known>".to_owned()
        } else {
            format!("Failed to get lease: {RESOURCE} {node:?} not found")
        };
        page.field(0, "Lease", absent);
        return Ok(());
    };
    let spec = lease.at("spec");
    page.line(0, "Lease:");
    page.field(1, "HolderIdentity", spec.cell("holderIdentity | <unset>"));
    for (title, member) in [("AcquireTime", "acquireTime"), ("RenewTime", "renewTime")] {
        let time = spec.at(member);
        let time = if time.is_there() {
            time.date()
        } else {
            "<unset>".to_owned()
        };
        page.field(1, title, time);
    }
    Ok(())
}

fn conditions(page: &mut PageWriter, status: ObjectPart<'_>) {
    if status.at("conditions").items().len() == 0 {
        return;
    }
    page.line(0, "Conditions:");
    page.titles(
        1,
        &[
            "Type",
            "Status",
            "LastHeartbeatTime",
            "LastTransitionTime",
            "Reason",
            "Message",
        ],
    );
    let (beat, changed) = ("date lastHeartbeatTime ", "date lastTransitionTime ");
    page.rows(
        status.at("conditions"),
        &["type ", "status ", beat, changed, "reason ", "message"],
    );
}

/// The requests of Pods, by resource.
#[derive(Debug, Default)]
struct Demands {
    requests: BTreeMap<String, Quantity>,
    limits: BTreeMap<String, Quantity>,
}

type Amounts = BTreeMap<String, Quantity>;

fn plus(amounts: &mut Amounts, others: &Amounts) {
    for (name, amount) in others {
        let sum = amounts.entry(name.clone()).or_default();
        *sum = sum.plus(*amount);
    }
}

fn larger(amounts: &mut Amounts, others: &Amounts) {
    for (name, amount) in others {
        let most = amounts.entry(name.clone()).or_default();
        *most = most.larger(*amount);
    }
}

fn amounts(of: ObjectPart<'_>) -> Amounts {
    let amounts = of.members().filter_map(|(name, amount)| {
        let amount = Quantity::parse(&amount.plain())?;
        Some((name.to_owned(), amount))
    });
    amounts.collect()
}

/// Returns the requests of a Pod: of its containers and sidecars together, or of an init container
/// if that is more, and its overhead.
fn demand(pod: ObjectPart<'_>, kind: &str) -> Amounts {
    let spec = pod.at("spec");
    let of = |container: ObjectPart<'_>| amounts(container.at("resources").at(kind));
    let mut total = Amounts::new();
    spec.at("containers")
        .items()
        .for_each(|one| plus(&mut total, &of(one)));
    let (mut sidecars, mut initial) = (Amounts::new(), Amounts::new());
    for container in spec.at("initContainers").items() {
        let own = of(container);
        if container.at("restartPolicy").text() == "Always" {
            plus(&mut total, &own);
            plus(&mut sidecars, &own);
            larger(&mut initial, &sidecars);
        } else {
            let mut with_sidecars = own;
            plus(&mut with_sidecars, &sidecars);
            larger(&mut initial, &with_sidecars);
        }
    }
    larger(&mut total, &initial);
    for (name, amount) in amounts(spec.at("overhead")) {
        // The overhead does not make a limit where there is none.
        let sum = match kind {
            "limits" if !total.contains_key(&name) => continue,
            _ => total.entry(name).or_default(),
        };
        *sum = sum.plus(amount);
    }
    total
}

fn pods(
    page: &mut PageWriter,
    node: ObjectPart<'_>,
    around: Surroundings<'_>,
) -> Result<(), QueryError> {
    let Some(pods) = around.list("pods", "")? else {
        page.field(0, "Pods", NOT_RECORDED);
        return Ok(());
    };
    let name = node.name();
    let is_here = |pod: &&Value| {
        let pod = ObjectPart::of(pod);
        let has_ended = matches!(pod.at("status.phase").text(), "Succeeded" | "Failed");
        pod.at("spec.nodeName").text() == name && !has_ended
    };
    let pods: Vec<&Value> = pods.iter().filter(is_here).collect();
    page.field(
        0,
        "Non-terminated Pods",
        if around.is_incomplete("pods") {
            format!("(at least {} in total)", pods.len())
        } else {
            format!("({} in total)", pods.len())
        },
    );
    page.line(
        1,
        "Namespace\tName\t\tCPU Requests\tCPU Limits\tMemory Requests\tMemory Limits\tAge",
    );
    page.line(
        1,
        "---------\t----\t\t------------\t----------\t---------------\t-------------\t---",
    );
    let mut whole = amounts(node.at("status.allocatable"));
    if whole.is_empty() {
        whole = amounts(node.at("status.capacity"));
    }
    let mut demands = Demands::default();
    for pod in pods.into_iter().map(ObjectPart::of) {
        let (requests, limits) = (demand(pod, "requests"), demand(pod, "limits"));
        let cell = |of: &Amounts, name: &str| share(of, &whole, name);
        page.cells(
            1,
            vec![
                pod.at("metadata.namespace").text().to_owned(),
                pod.name(),
                String::new(),
                cell(&requests, "cpu"),
                cell(&limits, "cpu"),
                cell(&requests, "memory"),
                cell(&limits, "memory"),
                pod.age(around.at),
            ],
        );
        plus(&mut demands.requests, &requests);
        plus(&mut demands.limits, &limits);
    }
    allocated(page, &demands, &whole);
    Ok(())
}

/// Formats a quantity and its share of the total.
fn share(of: &Amounts, whole: &Amounts, name: &str) -> String {
    let amount = of.get(name).copied().unwrap_or_default();
    let all = whole.get(name).copied().unwrap_or_default();
    format!("{amount} ({}%)", amount.percent_of(all))
}

fn allocated(page: &mut PageWriter, demands: &Demands, whole: &Amounts) {
    page.line(0, "Allocated resources:");
    page.line(
        1,
        "(Total limits may be over 100 percent, i.e., overcommitted.)",
    );
    page.titles(1, &["Resource", "Requests", "Limits"]);
    let is_huge = |name: &&String| name.starts_with("hugepages-");
    let huge = whole.keys().filter(is_huge).map(String::as_str);
    for name in ["cpu", "memory", "ephemeral-storage"]
        .into_iter()
        .chain(huge)
    {
        let requests = share(&demands.requests, whole, name);
        let limits = share(&demands.limits, whole, name);
        page.line(1, format!("{name}\t{requests}\t{limits}"));
    }
    let standard = BTreeSet::from(["cpu", "memory", "ephemeral-storage", "pods"]);
    let others = whole
        .keys()
        .filter(|name| !is_huge(name) && !standard.contains(name.as_str()));
    for name in others {
        let amount = |of: &Amounts| of.get(name).copied().unwrap_or_default();
        let (requests, limits) = (amount(&demands.requests), amount(&demands.limits));
        page.line(1, format!("{name}\t{requests}\t{limits}"));
    }
}
