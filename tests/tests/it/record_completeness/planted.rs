//! Words that must not be recorded, planted on the real server in every kind of place: by kind, by name
//! and in texts, in several encodings, and in the look-alikes of kinds that the server does not have.

use std::time::Duration;

use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kubereel_tests::rest::{Body, Call, Patience, Rest, Verb};
use kubereel_tests::shaken::{CANARY, CANARY_BASE64};
use serde_json::{Value, json};

/// Longer than a definition takes to be served.
const PATIENCE: Duration = Duration::from_mins(1);

/// Group, version, plural, kind, the name of the object, and its fields.
fn look_alikes() -> Vec<(&'static str, &'static str, &'static str, String, Value)> {
    let name = || "planted".to_owned();
    let url = format!("http://planted:{CANARY}@proxy.example:3128");
    vec![
        (
            "machineconfiguration.openshift.io",
            "machineconfigs",
            "MachineConfig",
            name(),
            json!({"spec": {"config": {"storage": {"files": [{"path": "/a", "contents": {"source": format!("data:,{CANARY}")}}]},
                "systemd": {"units": [{"name": "a.service", "contents": CANARY}]},
                "passwd": {"users": [{"name": "core", "passwordHash": CANARY, "sshAuthorizedKeys": [CANARY]}]}}}}),
        ),
        (
            "route.openshift.io",
            "routes",
            "Route",
            name(),
            json!({"spec": {"tls": {"key": CANARY}}}),
        ),
        (
            "config.openshift.io",
            "proxies",
            "Proxy",
            name(),
            json!({"spec": {"httpProxy": url}, "status": {"httpsProxy": url}}),
        ),
        (
            "oauth.openshift.io",
            "oauthaccesstokens",
            "OAuthAccessToken",
            format!("token-{CANARY}"),
            json!({"refreshToken": CANARY, "redirectURI": CANARY}),
        ),
        (
            "oauth.openshift.io",
            "oauthclients",
            "OAuthClient",
            name(),
            json!({"secret": CANARY, "redirectURIs": [CANARY]}),
        ),
        (
            "kubevirt.io",
            "virtualmachines",
            "VirtualMachine",
            name(),
            json!({"spec": {"volumes": [{"cloudInitNoCloud": {"userData": CANARY, "networkDataBase64": CANARY_BASE64}}]}}),
        ),
        (
            "build.openshift.io",
            "buildconfigs",
            "BuildConfig",
            name(),
            json!({"spec": {"triggers": [{"generic": {"secret": CANARY}}], "strategy": {"env": [{"name": "A_TOKEN", "value": CANARY}]}}}),
        ),
        (
            "template.openshift.io",
            "templates",
            "Template",
            name(),
            json!({"parameters": [{"name": "P", "value": CANARY}],
            "objects": [{"apiVersion": "v1", "kind": "Secret", "stringData": {"p": CANARY}}]}),
        ),
    ]
}

/// Objects of kinds that every server has.
fn native() -> Vec<(&'static str, Value)> {
    let message = |number: u32, text: String| {
        json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": format!("planted-{number}")},
            "involvedObject": {"kind": "ConfigMap", "namespace": "default", "name": "none"}, "message": text})
    };
    let events = "/api/v1/namespaces/default/events";
    vec![
        (
            "/api/v1/namespaces/default/configmaps",
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "planted"},
            "data": {"kubeconfig": CANARY, "a.conf": format!("password = {CANARY}")}, "binaryData": {"b": CANARY_BASE64}}),
        ),
        (
            "/api/v1/namespaces/default/secrets",
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "planted"},
            "data": {"k": CANARY_BASE64}, "stringData": {"p": CANARY}}),
        ),
        (
            "/apis/apps/v1/namespaces/default/deployments",
            json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "planted", "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": format!("{{\"a\":\"{CANARY}\"}}"),
                "openshift.io/token-secret.value": CANARY,
                "other.io/applied": json!({"kind": "Secret", "stringData": {"k": CANARY}}).to_string()}},
            "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "planted"}}, "template": {
                "metadata": {"labels": {"app": "planted"}},
                "spec": {"containers": [{"name": "c", "image": "none",
                    "env": [{"name": "DB_PASSWORD", "value": CANARY}, {"name": "HTTPS_PROXY", "value": format!("http://a:{CANARY}@proxy")}],
                    "args": [format!("--token={CANARY}"), "--password", CANARY],
                    "command": ["sh", "-c", format!("run --client-secret={CANARY}")]}]}}}}),
        ),
        (
            events,
            message(
                1,
                format!("got http://planted:{CANARY}@host/ and Authorization: Bearer {CANARY}"),
            ),
        ),
        (
            events,
            message(
                2,
                format!("GET /x?X-Amz-Signature={CANARY}&a=http%3A%2F%2Fa%3A{CANARY}%40host"),
            ),
        ),
        (
            events,
            message(
                3,
                format!("-----BEGIN PRIVATE KEY-----\n{CANARY}\n-----END PRIVATE KEY-----"),
            ),
        ),
        (events, message(4, format!("sha256~{CANARY}-{CANARY}"))),
        // password: and the canary, in base64.
        (
            events,
            message(
                5,
                format!("said {}", STANDARD.encode(format!("password: {CANARY}"))),
            ),
        ),
    ]
}

fn definition(group: &str, plural: &str, kind: &str) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group, "scope": "Cluster",
            "names": {"plural": plural, "singular": kind.to_ascii_lowercase(), "kind": kind},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            }}}],
        },
    })
}

async fn post(rest: &Rest, path: &str, object: Value) -> Result<()> {
    let call = Call {
        verb: Verb::Post,
        path: path.to_owned(),
        body: Body::Json(object),
    };
    rest.send(&call, Patience::until_found(PATIENCE)).await?;
    Ok(())
}

/// Plants them all; gives how many objects that are.
pub(crate) async fn plant(rest: &Rest) -> Result<usize> {
    let mut planted = 0;
    for (path, object) in native() {
        post(rest, path, object).await?;
        planted += 1;
    }
    for (group, plural, kind, name, fields) in look_alikes() {
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        post(rest, definitions, definition(group, plural, kind)).await?;
        let mut object = json!({
            "apiVersion": format!("{group}/v1"), "kind": kind, "metadata": {"name": name},
        });
        if let (Some(object), Value::Object(fields)) = (object.as_object_mut(), fields) {
            object.extend(fields);
        }
        post(rest, &format!("/apis/{group}/v1/{plural}"), object).await?;
        planted += 1;
    }
    Ok(planted)
}
