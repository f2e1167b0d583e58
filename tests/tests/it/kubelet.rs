//! The fake kubelet on a real API server: what it reports is accepted, and a Pod meets its fate.

#![expect(
    clippy::indexing_slicing,
    reason = "reading a field of a JSON value never panics"
)]

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use kubereel_tests::control_plane::{self, ControlPlane};
use kubereel_tests::kubelet::{Fate, Kubelets, NodeRole, NodeSpec, PodMatcher, Reboot};
use kubereel_tests::rest::{Body, Call, Patience, Rest, Verb};
use serde_json::{Value, json};
use tokio::time::timeout;

const NAMESPACE: &str = "fates";
const SPEED: f64 = 20.0;
const PATIENCE: Patience = Patience::until_found(Duration::from_secs(20));

struct Scene {
    // Before the control plane: kubelets end first.
    kubelets: Kubelets,
    rest: Rest,
    _control_plane: ControlPlane,
}

impl Scene {
    async fn open() -> Result<Self> {
        let control_plane = ControlPlane::builder().start().await?;
        let rest = Rest::new(vec![control_plane.client(0).await?]);
        let kubelets = Kubelets::start(rest.clone(), SPEED);
        let scene = Self {
            kubelets,
            rest,
            _control_plane: control_plane,
        };
        scene
            .create(
                "/api/v1/namespaces",
                json!({
                    "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE},
                }),
            )
            .await?;
        // No controller is there to make it, and Pods are refused without.
        scene
            .create(
                &format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts"),
                json!({
                    "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"},
                }),
            )
            .await?;
        let node = NodeSpec {
            name: "node-1".to_owned(),
            role: NodeRole::Worker,
            index: 1,
            zone: "zone-a".to_owned(),
            annotations: Vec::new(),
        };
        scene.kubelets.join(node, 2.0).await?;
        Ok(scene)
    }

    async fn create(&self, path: &str, object: Value) -> Result<Value> {
        let call = Call {
            verb: Verb::Post,
            path: path.to_owned(),
            body: Body::Json(object),
        };
        Ok(self.rest.send(&call, PATIENCE).await?.body)
    }

    /// Creates a Pod that is bound to the node already, and meets this fate.
    async fn pod(&self, name: &str, fate: Fate, spec: Value) -> Result<()> {
        let pods = PodMatcher {
            namespace: NAMESPACE.to_owned(),
            name_prefix: Some(name.to_owned()),
            ..PodMatcher::default()
        };
        self.kubelets.script(pods, fate);
        let mut pod = json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {
                "nodeName": "node-1",
                "containers": [{"name": "app", "image": format!("registry.example/{name}:1")}],
            },
        });
        for (field, value) in spec.as_object().into_iter().flatten() {
            pod["spec"][field] = value.clone();
        }
        self.create(&format!("/api/v1/namespaces/{NAMESPACE}/pods"), pod)
            .await?;
        Ok(())
    }

    /// Watches a Pod until it is as wanted; returns all that was seen of it until then.
    async fn seen(&self, name: &str, wanted: impl Fn(&str, &Value) -> bool) -> Result<Vec<Value>> {
        let path =
            format!("/api/v1/namespaces/{NAMESPACE}/pods?fieldSelector=metadata.name%3D{name}");
        let mut seen = Vec::new();
        let watching = async {
            let mut watch = self.rest.watch(&path).await?;
            while let Some(notice) = watch.next().await {
                let is_wanted = wanted(&notice.what, &notice.object);
                seen.push(notice.object);
                if is_wanted {
                    return Ok(());
                }
            }
            bail!("the watch of {name} ended")
        };
        let outcome = timeout(Duration::from_secs(30), watching).await;
        match outcome {
            Ok(done) => done.map(|()| seen),
            Err(_elapsed) => bail!(
                "{name} stays {}",
                seen.last()
                    .map(|pod| pod["status"].to_string())
                    .unwrap_or_default()
            ),
        }
    }

    async fn reasons(&self, name: &str) -> Result<Vec<String>> {
        let path = format!(
            "/api/v1/namespaces/{NAMESPACE}/events?fieldSelector=involvedObject.name%3D{name}"
        );
        let list = self
            .rest
            .send(
                &Call {
                    verb: Verb::Get,
                    path,
                    body: Body::Empty,
                },
                PATIENCE,
            )
            .await?
            .body;
        let events = list["items"].as_array().context("no events")?;
        Ok(events
            .iter()
            .filter_map(|event| event["reason"].as_str().map(ToOwned::to_owned))
            .collect())
    }
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array();
    conditions
        .into_iter()
        .flatten()
        .any(|entry| entry["type"] == "Ready" && entry["status"] == "True")
}

fn waiting(pod: &Value) -> &Value {
    &pod["status"]["containerStatuses"][0]["state"]["waiting"]["reason"]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_meets_its_fate() -> Result<()> {
    if control_plane::skipped() {
        return Ok(());
    }
    let scene = Scene::open().await?;
    runs_and_is_deleted(&scene).await?;
    has_its_image_refused(&scene).await?;
    crashes(&scene).await?;
    outlives_its_deadline(&scene).await?;
    is_evicted(&scene).await?;
    is_slow(&scene).await?;
    succeeds(&scene).await?;
    is_rebooted(&scene).await?;
    let failures = scene.kubelets.failures();
    if failures.is_empty() {
        Ok(())
    } else {
        bail!("{failures:?}")
    }
}

async fn runs_and_is_deleted(scene: &Scene) -> Result<()> {
    scene.pod("runs", Fate::Runs, json!({})).await?;
    let seen = scene.seen("runs", |_, pod| is_ready(pod)).await?;
    let pod = seen.last().context("nothing seen")?;
    assert!(pod["status"]["podIP"].is_string(), "{pod}");
    assert!(
        pod["status"]["containerStatuses"][0]["containerID"].is_string(),
        "{pod}"
    );
    assert!(seen.iter().any(|pod| waiting(pod) == "ContainerCreating"));
    let path = format!("/api/v1/namespaces/{NAMESPACE}/pods/runs");
    scene
        .rest
        .send(
            &Call {
                verb: Verb::Delete,
                path,
                body: Body::Empty,
            },
            PATIENCE,
        )
        .await?;
    let seen = scene.seen("runs", |what, _| what == "DELETED").await?;
    assert_eq!(
        seen.last().context("nothing seen")?["status"]["phase"],
        "Succeeded"
    );
    let reasons = scene.reasons("runs").await?;
    for reason in ["Pulling", "Pulled", "Created", "Started", "Killing"] {
        assert!(
            reasons.iter().any(|said| said == reason),
            "{reason} in {reasons:?}"
        );
    }
    Ok(())
}

async fn has_its_image_refused(scene: &Scene) -> Result<()> {
    let message =
        "Source image rejected: A signature was required, but no signature exists".to_owned();
    scene
        .pod("unsigned", Fate::SignatureRefused { message }, json!({}))
        .await?;
    scene
        .seen("unsigned", |_, pod| {
            waiting(pod) == "SignatureValidationFailed"
        })
        .await?;
    scene
        .seen("unsigned", |_, pod| waiting(pod) == "ImagePullBackOff")
        .await?;
    let message = "manifest unknown".to_owned();
    scene
        .pod(
            "missing",
            Fate::PullFails {
                message,
                failures: Some(1),
            },
            json!({}),
        )
        .await?;
    scene
        .seen("missing", |_, pod| waiting(pod) == "ErrImagePull")
        .await?;
    scene.seen("missing", |_, pod| is_ready(pod)).await?;
    Ok(())
}

async fn crashes(scene: &Scene) -> Result<()> {
    let fate = Fate::CrashLoops {
        exit_code: 3,
        runs_secs: 2.0,
        crashes: Some(3),
    };
    scene.pod("crashes", fate, json!({})).await?;
    let seen = scene
        .seen("crashes", |_, pod| waiting(pod) == "CrashLoopBackOff")
        .await?;
    let container = &seen.last().context("nothing seen")?["status"]["containerStatuses"][0];
    assert_eq!(container["lastState"]["terminated"]["exitCode"], 3);
    let restarts = |pod: &Value| pod["status"]["containerStatuses"][0]["restartCount"].as_i64();
    scene
        .seen("crashes", |_, pod| {
            restarts(pod) == Some(3) && is_ready(pod)
        })
        .await?;
    Ok(())
}

async fn outlives_its_deadline(scene: &Scene) -> Result<()> {
    scene
        .pod("hangs", Fate::Hangs, json!({"activeDeadlineSeconds": 10}))
        .await?;
    let seen = scene
        .seen("hangs", |_, pod| pod["status"]["phase"] == "Failed")
        .await?;
    let pod = seen.last().context("nothing seen")?;
    assert_eq!(pod["status"]["reason"], "DeadlineExceeded");
    assert_eq!(waiting(pod), "ContainerCreating", "left as it was");
    Ok(())
}

async fn is_evicted(scene: &Scene) -> Result<()> {
    let fate = Fate::Evicted {
        after_secs: 3.0,
        resource: "memory".to_owned(),
    };
    scene.pod("evicted", fate, json!({})).await?;
    let seen = scene
        .seen("evicted", |_, pod| pod["status"]["phase"] == "Failed")
        .await?;
    assert!(seen.iter().any(is_ready), "it ran before");
    assert_eq!(
        seen.last().context("nothing seen")?["status"]["reason"],
        "Evicted"
    );
    Ok(())
}

async fn is_slow(scene: &Scene) -> Result<()> {
    scene
        .pod(
            "slow",
            Fate::StartsSlowly {
                ready_after_secs: 10.0,
            },
            json!({}),
        )
        .await?;
    let seen = scene.seen("slow", |_, pod| is_ready(pod)).await?;
    let running =
        |pod: &Value| pod["status"]["containerStatuses"][0]["state"]["running"].is_object();
    assert!(
        seen.iter().any(|pod| running(pod) && !is_ready(pod)),
        "runs before it is ready"
    );
    Ok(())
}

async fn succeeds(scene: &Scene) -> Result<()> {
    let spec = json!({
        "restartPolicy": "Never",
        "initContainers": [{"name": "first", "image": "registry.example/first:1"}],
    });
    scene.pod("job", Fate::Runs, spec).await?;
    let seen = scene
        .seen("job", |_, pod| pod["status"]["phase"] == "Succeeded")
        .await?;
    assert!(seen.iter().any(|pod| pod["status"]["phase"] == "Running"));
    Ok(())
}

async fn is_rebooted(scene: &Scene) -> Result<()> {
    scene.pod("stays", Fate::Runs, json!({})).await?;
    let before = scene.seen("stays", |_, pod| is_ready(pod)).await?;
    let id = |pod: &Value| pod["status"]["containerStatuses"][0]["containerID"].clone();
    scene
        .kubelets
        .reboot(
            "node-1",
            Reboot {
                down_secs: 4.0,
                not_ready_secs: 2.0,
            },
        )
        .await?;
    let restarted = |pod: &Value| pod["status"]["containerStatuses"][0]["restartCount"] == 1;
    let after = scene
        .seen("stays", |_, pod| restarted(pod) && is_ready(pod))
        .await?;
    assert_ne!(
        before.last().map(id),
        after.last().map(id),
        "a new container"
    );
    Ok(())
}
