//! The columns of services, ingresses and endpoints.

use super::super::part::{NONE, ObjectPart};
use kubereel_format::RecordedAt;
use std::collections::BTreeSet;

pub(super) fn service_cells(service: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    let spec = service.at("spec");
    vec![cluster_ip(spec), external_ip(service), ports(spec)]
}

fn cluster_ip(spec: ObjectPart<'_>) -> String {
    let first = spec.at("clusterIPs").items().next();
    let ip = first.map_or_else(|| spec.at("clusterIP").text_or(NONE), ObjectPart::text);
    ip.to_owned()
}

fn external_ip(service: ObjectPart<'_>) -> String {
    let spec = service.at("spec");
    let external = spec.at("externalIPs").items().map(ObjectPart::text);
    let mut ips: Vec<&str> = Vec::new();
    // The server's default for an absent value.
    let otherwise = match spec.at("type").text_or("ClusterIP") {
        "ClusterIP" | "NodePort" => NONE,
        "LoadBalancer" => {
            ips.extend(balancers(service));
            "<pending>"
        }
        "ExternalName" => return spec.at("externalName").text().to_owned(),
        _ => return "<unknown>".to_owned(),
    };
    ips.extend(external);
    if ips.is_empty() {
        otherwise.to_owned()
    } else {
        ips.join(",")
    }
}

/// Returns the addresses of load balancers, sorted.
fn balancers(service: ObjectPart<'_>) -> BTreeSet<&str> {
    let ingress = service.at("status.loadBalancer.ingress").items();
    ingress
        .map(|one| one.at("ip").text_or(one.at("hostname").text()))
        .filter(|place| !place.is_empty())
        .collect()
}

fn ports(spec: ObjectPart<'_>) -> String {
    let ports: Vec<String> = spec.at("ports").items().map(port).collect();
    match ports.as_slice() {
        [] => NONE.to_owned(),
        ports => ports.join(","),
    }
}

fn port(port: ObjectPart<'_>) -> String {
    let number = port.at("port").whole();
    let protocol = port.at("protocol").text_or("TCP");
    match port.at("nodePort").whole() {
        node_port if node_port > 0 => format!("{number}:{node_port}/{protocol}"),
        _ => format!("{number}/{protocol}"),
    }
}

/// The number of ports, addresses and hosts that are listed; more are counted.
const LISTED: usize = 3;

pub(super) fn endpoint_slice_cells(slice: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    let ports = slice
        .at("ports")
        .items()
        .map(|port| match port.at("port").plain() {
            number if !number.is_empty() => number,
            _ => port.at("name").plain_or("*"),
        });
    let endpoints = slice.at("endpoints").items();
    let addresses = endpoints.filter_map(|endpoint| endpoint.at("addresses").items().next());
    vec![
        listed(ports.collect()),
        listed(addresses.map(ObjectPart::plain).collect()),
    ]
}

pub(super) fn endpoints_cells(endpoints: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for subset in endpoints.at("subsets").items() {
        let addresses = || {
            subset
                .at("addresses")
                .items()
                .map(|one| one.at("ip").text())
        };
        if subset.at("ports").items().len() == 0 {
            all.extend(addresses().map(str::to_owned));
        }
        for port in subset.at("ports").items() {
            let port = port.at("port").whole();
            all.extend(addresses().map(|address| {
                if address.contains(':') {
                    format!("[{address}]:{port}")
                } else {
                    format!("{address}:{port}")
                }
            }));
        }
    }
    let none = all.is_empty().then(|| NONE.to_owned());
    vec![none.unwrap_or_else(|| listed(all))]
}

/// Formats the first of some texts, and the number of the others.
fn listed(mut texts: Vec<String>) -> String {
    if texts.is_empty() {
        return "<unset>".to_owned();
    }
    let more = texts.len().saturating_sub(LISTED);
    texts.truncate(LISTED);
    let first = texts.join(",");
    if more > 0 {
        format!("{first} + {more} more...")
    } else {
        first
    }
}

pub(super) fn ingress_cells(ingress: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    let spec = ingress.at("spec");
    let rules = spec.at("rules").items();
    let more = rules.len().saturating_sub(LISTED);
    let hosts = rules.map(|rule| rule.at("host").text());
    let hosts: Vec<&str> = hosts.filter(|host| !host.is_empty()).collect();
    let hosts = match hosts.split_at_checked(LISTED) {
        _ if hosts.is_empty() => "*".to_owned(),
        Some((first, [_, ..])) => format!("{} + {more} more...", first.join(",")),
        _ => hosts.join(","),
    };
    let balancers: Vec<&str> = balancers(ingress).into_iter().collect();
    let is_secure = spec.at("tls").items().len() > 0;
    vec![
        hosts,
        balancers.join(","),
        if is_secure { "80, 443" } else { "80" }.to_owned(),
    ]
}

pub(super) fn ingress_class_cells(class: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    let annotations = class.at("metadata.annotations").texts();
    let is_default = annotations.get("ingressclass.kubernetes.io/is-default-class");
    let mark = if is_default == Some(&"true") {
        " (default)"
    } else {
        ""
    };
    let parameters = class.at("spec.parameters");
    let cell = if parameters.is_there() {
        let group = parameters.at("apiGroup").text();
        let dot = if group.is_empty() { "" } else { "." };
        let kind = parameters.at("kind").text();
        format!("{kind}{dot}{group}/{}", parameters.at("name").text())
    } else {
        NONE.to_owned()
    };
    vec![class.name() + mark, cell]
}

#[cfg(test)]
mod tests {
    use super::super::kind::row_of;
    use super::*;
    use serde_json::{Value, json};

    fn cells(service: &Value) -> Vec<String> {
        let at = RecordedAt::from_micros(1_795_269_660_000_000);
        row_of("services", service, at)
    }

    #[test]
    fn every_type_says_where_it_is_reached() {
        let ports = json!([{"port": 80, "protocol": "TCP", "nodePort": 30080}, {"port": 53, "protocol": "UDP"}]);
        let ingress = json!({"loadBalancer": {"ingress": [{"hostname": "b.example"}, {"ip": "192.0.2.9"}, {"ip": "192.0.2.9"}, {}]}});
        for (spec, status, expected) in [
            (
                json!({"type": "ClusterIP", "clusterIPs": ["10.0.0.5", "fd00::5"]}),
                json!({}),
                ["ClusterIP", "10.0.0.5", "<none>", "<none>"],
            ),
            (
                json!({"type": "ClusterIP", "clusterIP": "None", "clusterIPs": ["None"], "externalIPs": ["192.0.2.1", "192.0.2.0"]}),
                json!({}),
                ["ClusterIP", "None", "192.0.2.1,192.0.2.0", "<none>"],
            ),
            (
                json!({"type": "NodePort", "clusterIP": "10.0.0.5", "ports": ports}),
                json!({}),
                ["NodePort", "10.0.0.5", "<none>", "80:30080/TCP,53/UDP"],
            ),
            (
                json!({"type": "LoadBalancer", "clusterIPs": ["10.0.0.5"]}),
                json!({}),
                ["LoadBalancer", "10.0.0.5", "<pending>", "<none>"],
            ),
            (
                json!({"type": "LoadBalancer", "clusterIPs": ["10.0.0.5"], "externalIPs": ["192.0.2.1"]}),
                ingress,
                [
                    "LoadBalancer",
                    "10.0.0.5",
                    "192.0.2.9,b.example,192.0.2.1",
                    "<none>",
                ],
            ),
            (
                json!({"type": "ExternalName", "externalName": "far.example"}),
                json!({}),
                ["ExternalName", "<none>", "far.example", "<none>"],
            ),
            (
                json!({"ports": [{"port": 1}]}),
                json!({}),
                ["ClusterIP", "<none>", "<none>", "1/TCP"],
            ),
            (
                json!({"type": "Strange"}),
                json!({}),
                ["Strange", "<none>", "<unknown>", "<none>"],
            ),
        ] {
            let service = json!({"metadata": {"name": "a"}, "spec": spec, "status": status});
            assert_eq!(cells(&service)[1..5], expected, "{service}");
        }
    }

    #[test]
    fn the_selector_is_written_as_labels() {
        let service = json!({"spec": {"selector": {"b": "2", "a": "1"}}});
        assert_eq!(cells(&service)[6], "a=1,b=2");
        assert_eq!(cells(&json!({}))[6], "<none>");
    }
}
