//! Images that tests pull and that nobody knows.

use crate::verdicts::fixture::Fixture;
use crate::verdicts::reel::Reel;
use kubereel_monitortests::CaseVerdict;
use serde_json::json;

fn pulled(image: &str) -> Reel {
    let words = format!("Container image \"{image}\" already present on machine");
    Reel::cluster()
        .put(json!({
            "kind": "ImageStream",
            "metadata": {"namespace": "openshift", "name": "tools"},
            "spec": {"tags": [{"name": "v1", "from": {"kind": "DockerImage", "name": "quay.a/cluster/tools:v1"}}]},
        }))
        .at("10:05:00")
        .event("Pod", "e2e-a/web-0", "Pulled", &words)
}

pub fn fixtures() -> Vec<Fixture> {
    vec![Fixture {
        id: "only-known-images",
        case: "[sig-arch] Only known images used by tests",
        bad: || pulled("quay.a/someone/else:v1"),
        verdict: CaseVerdict::Fail,
        at: "10:05:00",
        says: "pod e2e-a/web-0 pulled quay.a/someone/else:v1",
        good: || pulled("quay.a/cluster/tools:v2"),
    }]
}

#[test]
fn known_images_are_pulled() {
    super::check(&fixtures());
}
