//! Containers on a page: image, state, resources, probes, environment and mounts.

use super::lines::{PageWriter, go_list, truth};
use super::volume::volumes;
use crate::columns::{NONE, ObjectPart, selector_text};
use crate::quantity::Quantity;

/// Containers of a Pod, or of a Pod template.
#[derive(Clone, Copy)]
pub(super) struct ContainerList<'a> {
    pub(super) title: &'static str,
    pub(super) specs: ObjectPart<'a>,
    pub(super) statuses: ObjectPart<'a>,
    /// The Pod itself, for environment variables that refer to it; a template has none.
    pub(super) pod: Option<ObjectPart<'a>>,
}

impl ContainerList<'_> {
    /// Writes them.
    pub(super) fn write(self, page: &mut PageWriter) {
        let is_template = self.pod.is_none();
        let (indent, space) = if is_template { ("  ", " ") } else { ("", "") };
        let none = if self.specs.items().len() == 0 {
            " <none>"
        } else {
            ""
        };
        page.line(0, format!("{indent}{}:{none}", self.title));
        for spec in self.specs.items() {
            let name = spec.at("name").text();
            let mut statuses = self.statuses.items();
            let status = statuses.find(|status| status.at("name").text() == name);
            page.line(1, format!("{space}{name}:"));
            self.write_one(page, spec, status);
        }
    }

    fn write_one(
        self,
        page: &mut PageWriter,
        spec: ObjectPart<'_>,
        status: Option<ObjectPart<'_>>,
    ) {
        if let Some(status) = status {
            page.field(2, "Container ID", status.at("containerID").text());
        }
        page.field(2, "Image", spec.at("image").text());
        if let Some(status) = status {
            page.field(2, "Image ID", status.at("imageID").text());
        }
        ports(page, spec.at("ports"));
        let profile = spec.at("securityContext.seccompProfile");
        page.field_if(2, "SeccompProfile", profile.at("type").text());
        page.field_if(3, "LocalhostProfile", profile.at("localhostProfile").text());
        for (title, member) in [("Command", "command"), ("Args", "args")] {
            if spec.at(member).items().len() > 0 {
                page.line(2, format!("{title}:"));
            }
            for text in spec.at(member).items() {
                let lines = text.text().split('\n');
                lines.for_each(|line| page.line(3, line));
            }
        }
        if let Some(status) = status {
            state(page, "State", status.at("state"));
            if status.at("lastState.terminated").is_there() {
                state(page, "Last State", status.at("lastState"));
            }
            page.field(2, "Ready", truth(status.at("ready").holds()));
            page.field(2, "Restart Count", status.cell("whole restartCount"));
        }
        resources(page, 2, spec.at("resources"));
        for (title, member) in [
            ("Liveness", "livenessProbe"),
            ("Readiness", "readinessProbe"),
            ("Startup", "startupProbe"),
        ] {
            if spec.at(member).is_there() {
                page.field(2, title, probe(spec.at(member)));
            }
        }
        environment_sources(page, spec.at("envFrom"));
        self.environment(page, spec);
        mounts(page, spec);
    }

    fn environment(self, page: &mut PageWriter, spec: ObjectPart<'_>) {
        if spec.at("env").items().len() == 0 {
            return page.field(2, "Environment", NONE);
        }
        page.line(2, "Environment:");
        for variable in spec.at("env").items() {
            let name = variable.at("name").text();
            let from = variable.at("valueFrom");
            if !from.is_there() {
                for (place, line) in variable.at("value").text().split('\n').enumerate() {
                    let name = if place == 0 {
                        format!("{name}:")
                    } else {
                        String::new()
                    };
                    page.cells(3, vec![name, line.to_owned()]);
                }
                continue;
            }
            self.environment_from(page, spec, name, from);
        }
    }

    fn environment_from(
        self,
        page: &mut PageWriter,
        spec: ObjectPart<'_>,
        name: &str,
        from: ObjectPart<'_>,
    ) {
        let field = from.at("fieldRef");
        if field.is_there() {
            let path = field.at("fieldPath").text();
            let value = self
                .pod
                .map_or_else(String::new, |pod| pod_value(pod, path));
            let version = field.at("apiVersion").text();
            return page.field(3, name, format!("{value} ({version}:{path})"));
        }
        let resource = from.at("resourceFieldRef");
        if resource.is_there() {
            let asked = resource.at("resource").text();
            return page.field(
                3,
                name,
                format!("{} ({asked})", resource_value(spec, resource)),
            );
        }
        for (member, of) in [
            ("secretKeyRef", "in secret"),
            ("configMapKeyRef", "of config map"),
        ] {
            let reference = from.at(member);
            if reference.is_there() {
                let (key, object) = (reference.at("key").text(), reference.at("name").text());
                let set = format!("<set to the key '{key}' {of} '{object}'>");
                let optional = format!("Optional: {}", reference.at("optional").holds());
                return page.cells(3, vec![format!("{name}:"), set, optional]);
            }
        }
    }
}

fn ports(page: &mut PageWriter, ports: ObjectPart<'_>) {
    for (title, member) in [("Port", "containerPort"), ("Host Port", "hostPort")] {
        let texts = ports.items().map(|port| {
            let protocol = port.at("protocol").text();
            let text = format!("{}/{protocol}", port.at(member).whole());
            match port.at("name").text() {
                "" => text,
                name => format!("{text} ({name})"),
            }
        });
        let texts: Vec<String> = texts.collect();
        match texts.as_slice() {
            [] => page.field(2, title, NONE),
            [one] => page.field(2, title, one.as_str()),
            _ => page.field(2, &format!("{title}s"), texts.join(", ")),
        }
    }
}

fn state(page: &mut PageWriter, title: &str, state: ObjectPart<'_>) {
    let (running, ended) = (state.at("running"), state.at("terminated"));
    if running.is_there() {
        page.field(2, title, "Running");
        page.field(3, "Started", running.at("startedAt").date());
    } else if ended.is_there() && !state.at("waiting").is_there() {
        page.field(2, title, "Terminated");
        page.field_if(3, "Reason", ended.at("reason").text());
        page.field_if(3, "Message", ended.at("message").text());
        page.field(3, "Exit Code", ended.at("exitCode").whole().to_string());
        if ended.at("signal").whole() > 0 {
            page.field(3, "Signal", ended.at("signal").whole().to_string());
        }
        page.field(3, "Started", ended.at("startedAt").date());
        page.field(3, "Finished", ended.at("finishedAt").date());
    } else {
        page.field(2, title, "Waiting");
        page.field_if(3, "Reason", state.at("waiting.reason").text());
        // kubectl leaves it out, but it explains the state.
        page.field_if(3, "Message", state.at("waiting.message").text());
    }
}

/// Writes limits and requests.
pub(super) fn resources(page: &mut PageWriter, depth: usize, resources: ObjectPart<'_>) {
    for (title, member) in [("Limits", "limits"), ("Requests", "requests")] {
        let mut amounts: Vec<(&str, String)> = resources
            .at(member)
            .members()
            .map(|(name, amount)| (name, amount.plain()))
            .collect();
        amounts.sort_unstable();
        if !amounts.is_empty() {
            page.line(depth, format!("{title}:"));
        }
        for (name, amount) in amounts {
            page.field(depth + 1, name, amount);
        }
    }
}

fn probe(probe: ObjectPart<'_>) -> String {
    let times = format!(
        "delay={}s timeout={}s period={}s #success={} #failure={}",
        probe.at("initialDelaySeconds").whole(),
        probe.at("timeoutSeconds").whole(),
        probe.at("periodSeconds").whole(),
        probe.at("successThreshold").whole(),
        probe.at("failureThreshold").whole(),
    );
    let (exec, http) = (probe.at("exec"), probe.at("httpGet"));
    let (tcp, grpc) = (probe.at("tcpSocket"), probe.at("grpc"));
    if exec.is_there() {
        format!("exec {} {times}", go_list(exec.at("command")))
    } else if http.is_there() {
        let scheme = http.at("scheme").text().to_lowercase();
        let path = http.at("path").text();
        let slash = if path.is_empty() || path.starts_with('/') {
            ""
        } else {
            "/"
        };
        let path = path.replace('?', "%3F");
        let place = host_and_port(http.at("host").text(), &http.at("port").plain());
        format!("http-get {scheme}://{place}{slash}{path} {times}")
    } else if tcp.is_there() {
        let (host, port) = (tcp.at("host").text(), tcp.at("port").plain());
        format!("tcp-socket {host}:{port} {times}")
    } else if grpc.is_there() {
        let (port, service) = (grpc.at("port").whole(), grpc.at("service").text());
        format!("grpc <pod>:{port} {service} {times}")
    } else {
        format!("unknown {times}")
    }
}

/// Writes an address with a port; one of IPv6 is in brackets.
pub(super) fn host_and_port(host: &str, port: &str) -> String {
    if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

fn environment_sources(page: &mut PageWriter, sources: ObjectPart<'_>) {
    if sources.items().len() == 0 {
        return;
    }
    page.line(2, "Environment Variables from:");
    for source in sources.items() {
        let (map, secret) = (source.at("configMapRef"), source.at("secretRef"));
        let (kind, of) = if map.is_there() {
            ("ConfigMap", map)
        } else {
            ("Secret", secret)
        };
        let kind = match source.at("prefix").text() {
            "" => kind.to_owned(),
            prefix => format!("{kind} with prefix '{prefix}'"),
        };
        let optional = format!("Optional: {}", of.at("optional").holds());
        page.cells(3, vec![of.at("name").text().to_owned(), kind, optional]);
    }
}

/// Returns the value of a Pod's field that kubectl resolves.
fn pod_value(pod: ObjectPart<'_>, path: &str) -> String {
    match path {
        "metadata.name" | "metadata.namespace" | "metadata.uid" => pod.at(path).plain(),
        _ => String::new(),
    }
}

/// Returns the amount of a container's resource in the requested unit.
fn resource_value(spec: ObjectPart<'_>, asked: ObjectPart<'_>) -> String {
    let (kind, name) = asked
        .at("resource")
        .text()
        .split_once('.')
        .unwrap_or_default();
    let read = |text: String| Quantity::parse(&text).unwrap_or_default();
    let amounts = spec.at("resources").at(kind).members();
    let amount = amounts
        .filter(|(one, _)| *one == name)
        .map(|(_, amount)| amount.plain());
    let amount = read(amount.last().unwrap_or_default());
    match amount.divided_by(read(asked.at("divisor").plain())) {
        0 if kind == "limits" && matches!(name, "cpu" | "memory") => "node allocatable".to_owned(),
        amount => amount.to_string(),
    }
}

fn mounts(page: &mut PageWriter, spec: ObjectPart<'_>) {
    let mut mounts: Vec<(&str, String)> = Vec::new();
    for mount in spec.at("volumeMounts").items() {
        let path = mount.at("mountPath").text();
        let access = if mount.at("readOnly").holds() {
            "ro"
        } else {
            "rw"
        };
        let below = match mount.at("subPath").text() {
            "" => String::new(),
            below => format!(",path={below:?}"),
        };
        let name = mount.at("name").text();
        mounts.push((path, format!("{path} from {name} ({access}{below})")));
    }
    mounts.sort_by_key(|(path, _)| *path);
    if mounts.is_empty() {
        page.field(2, "Mounts", NONE);
    } else {
        page.line(2, "Mounts:");
    }
    for (_, mount) in mounts {
        page.line(3, mount);
    }
    if spec.at("volumeDevices").items().len() > 0 {
        page.line(2, "Devices:");
    }
    for device in spec.at("volumeDevices").items() {
        let (path, name) = (device.at("devicePath").text(), device.at("name").text());
        page.line(3, format!("{path} from {name}"));
    }
}

/// Writes a Pod template.
pub(super) fn pod_template(page: &mut PageWriter, template: ObjectPart<'_>) {
    page.line(0, "Pod Template:");
    page.labels(0, "  Labels", template.at("metadata.labels"));
    if !template.at("metadata.annotations").texts().is_empty() {
        page.annotations("  Annotations", template.at("metadata.annotations"));
    }
    let spec = template.at("spec");
    page.field_if(1, "Service Account", spec.at("serviceAccountName").text());
    for (title, member) in [
        ("Init Containers", "initContainers"),
        ("Containers", "containers"),
    ] {
        if title == "Containers" || spec.at(member).items().len() > 0 {
            let list = ContainerList {
                title,
                specs: spec.at(member),
                statuses: ObjectPart::none(),
                pod: None,
            };
            list.write(page);
        }
    }
    volumes(page, spec.at("volumes"), "  ");
    spread_constraints(page, spec, "  ");
    let priority = spec.at("priorityClassName");
    page.field_if(1, "Priority Class Name", priority.text());
    page.labels(0, "  Node-Selectors", spec.at("nodeSelector"));
    page.list(0, "  Tolerations", tolerations(spec));
}

/// Writes topology spread constraints.
pub(super) fn spread_constraints(page: &mut PageWriter, spec: ObjectPart<'_>, indent: &str) {
    let mut constraints: Vec<(&str, String)> = Vec::new();
    for one in spec.at("topologySpreadConstraints").items() {
        let key = one.at("topologyKey").text();
        let otherwise = one.at("whenUnsatisfiable").text();
        let skew = one.at("maxSkew").whole();
        let selector = one.at("labelSelector");
        let selector = selector_text(selector)
            .filter(|_| selector.is_there())
            .map_or_else(String::new, |text| format!(" for selector {text}"));
        let text = format!("{key}:{otherwise} when max skew {skew} is exceeded{selector}");
        constraints.push((key, text));
    }
    constraints.sort_by_key(|(key, _)| *key);
    if !constraints.is_empty() {
        let texts = constraints.into_iter().map(|(_, text)| text).collect();
        page.list(0, &format!("{indent}Topology Spread Constraints"), texts);
    }
}

/// Writes tolerations, sorted.
pub(super) fn tolerations(spec: ObjectPart<'_>) -> Vec<String> {
    let mut all: Vec<(&str, String)> = Vec::new();
    for one in spec.at("tolerations").items() {
        let (key, value) = (one.at("key").text(), one.at("value").text());
        let effect = one.at("effect").text();
        let mut text = key.to_owned();
        if !value.is_empty() {
            text.extend(["=", value]);
        }
        if !effect.is_empty() {
            text.extend([":", effect]);
        }
        if one.at("operator").text() == "Exists" && value.is_empty() {
            let space = if text.is_empty() { "" } else { " " };
            text.extend([space, "op=Exists"]);
        }
        if one.at("tolerationSeconds").is_there() {
            let secs = one.at("tolerationSeconds").whole();
            text.extend([" for ", &secs.to_string(), "s"]);
        }
        all.push((key, text));
    }
    all.sort_by_key(|(key, _)| *key);
    all.into_iter().map(|(_, text)| text).collect()
}
