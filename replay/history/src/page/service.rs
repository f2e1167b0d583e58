//! The page of a Service, with its endpoints.

use super::container::host_and_port;
use super::lines::{PageWriter, joined};
use super::surroundings::{NOT_RECORDED, Surroundings};
use crate::body_reader::QueryError;
use crate::columns::{NONE, ObjectPart, labels_text};
use serde_json::Value;

/// The label by which an `EndpointSlice` names its Service.
const OF_SERVICE: &str = "kubernetes.io/service-name";

const LEADING: &[(&str, &str)] = &[
    ("?Desired LoadBalancer IP", "loadBalancerIP"),
    ("?External Name", "externalName"),
];

const TRAFFIC: &[(&str, &str)] = &[
    ("Session Affinity", "sessionAffinity"),
    ("?External Traffic Policy", "externalTrafficPolicy"),
    ("?Internal Traffic Policy", "internalTrafficPolicy"),
];

/// The number of endpoints that are listed; others are counted.
const LISTED: usize = 3;

pub(super) fn service_page(
    page: &mut PageWriter,
    service: ObjectPart<'_>,
    around: Surroundings<'_>,
) -> Result<(), QueryError> {
    let spec = service.at("spec");
    page.head(service);
    page.field(0, "Selector", labels_text(&spec.at("selector").texts()));
    page.field(0, "Type", spec.at("type").text());
    page.field_if(0, "IP Family Policy", spec.at("ipFamilyPolicy").text());
    page.field(0, "IP Families", list_or_none(spec.at("ipFamilies")));
    page.field(0, "IP", spec.at("clusterIP").text());
    page.field(0, "IPs", list_or_none(spec.at("clusterIPs")));
    page.field_if(0, "External IPs", joined(spec.at("externalIPs"), ","));
    page.fields(0, spec, LEADING);
    let ingress = service.at("status.loadBalancer.ingress").items();
    let ingress: Vec<String> = ingress.map(balancer).collect();
    page.field_if(0, "LoadBalancer Ingress", ingress.join(", "));
    let slices = around.list(
        "endpointslices.discovery.k8s.io",
        service.at("metadata.namespace").text(),
    )?;
    let name = service.name();
    let of_service = |slice: &Value| {
        let labels = ObjectPart::of(slice).at("metadata.labels").texts();
        labels.get(OF_SERVICE) == Some(&name.as_str())
    };
    let slices: Option<Vec<Value>> =
        slices.map(|slices| slices.into_iter().filter(of_service).collect());
    for port in spec.at("ports").items() {
        let name = port.at("name").text();
        let protocol = port.at("protocol").text();
        let title = port.at("name").text_or("<unset>");
        page.line(
            0,
            format!("Port:\t{title}\t{}/{protocol}", port.at("port").whole()),
        );
        let target = port.at("targetPort").plain();
        page.field(0, "TargetPort", format!("{target}/{protocol}"));
        page.field_if(0, "AppProtocol", port.at("appProtocol").text());
        let node_port = port.at("nodePort").whole();
        if node_port != 0 {
            page.line(0, format!("NodePort:\t{title}\t{node_port}/{protocol}"));
        }
        let endpoints = slices.as_deref().map(|slices| endpoints(slices, name));
        page.field(
            0,
            "Endpoints",
            endpoints.unwrap_or_else(|| NOT_RECORDED.to_owned()),
        );
    }
    page.fields(0, spec, TRAFFIC);
    let health = spec.at("healthCheckNodePort");
    if health.whole() != 0 {
        page.field(0, "HealthCheck NodePort", health.plain());
    }
    let ranges = joined(spec.at("loadBalancerSourceRanges"), ",");
    page.field_if(0, "LoadBalancer Source Ranges", ranges);
    let distribution = spec.at("trafficDistribution");
    page.field_if(0, "Traffic Distribution", distribution.text());
    Ok(())
}

/// Writes the address of a load balancer, and what it does with packets.
fn balancer(ingress: ObjectPart<'_>) -> String {
    match (ingress.at("ip").text(), ingress.at("ipMode").text()) {
        ("", _) => ingress.at("hostname").text().to_owned(),
        (ip, "") => ip.to_owned(),
        (ip, mode) => format!("{ip} ({mode})"),
    }
}

fn list_or_none(list: ObjectPart<'_>) -> String {
    match joined(list, ",") {
        text if text.is_empty() => NONE.to_owned(),
        text => text,
    }
}

/// Writes the ready addresses of a port.
fn endpoints(slices: &[Value], port: &str) -> String {
    if slices.is_empty() {
        return NONE.to_owned();
    }
    let mut all: Vec<String> = Vec::new();
    for slice in slices {
        let slice = ObjectPart::of(slice);
        // A Service without ports has addresses only.
        let ports: Vec<Option<String>> = match slice.at("ports").items().len() {
            0 => vec![None],
            _ => slice
                .at("ports")
                .items()
                .filter(|one| one.at("name").text() == port)
                .map(|one| Some(one.at("port").plain()))
                .collect(),
        };
        for port in ports {
            for endpoint in slice.at("endpoints").items() {
                let ready = endpoint.at("conditions.ready");
                let address = endpoint.at("addresses").items().next();
                let address = address.map_or("", ObjectPart::text);
                if ready.is_there() && !ready.holds() {
                    continue;
                }
                all.push(match &port {
                    None => address.to_owned(),
                    Some(port) => host_and_port(address, port),
                });
            }
        }
    }
    let more = all.len().saturating_sub(LISTED);
    all.truncate(LISTED);
    let listed = all.join(",");
    if more > 0 {
        format!("{listed} + {more} more...")
    } else {
        listed
    }
}
