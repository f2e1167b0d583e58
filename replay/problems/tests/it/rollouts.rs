//! Rollouts of workloads: when they begin, how they end, and what is not claimed of them.

use super::life::{DAEMON_SETS, DEPLOYMENTS, Life, NODES, STATEFUL_SETS};
use kubereel_history::timetext::rfc3339_secs;
use kubereel_problems::ClusterStory;
use serde_json::{Value, json};

const WEB: &str = "shop/web";
const DB: &str = "shop/db";

fn life() -> Life {
    Life::of(&[DEPLOYMENTS, DAEMON_SETS, STATEFUL_SETS])
}

/// The Pod template of an image.
fn template(image: &str) -> Value {
    json!({"spec": {"containers": [{"name": "app", "image": image}]}})
}

/// A Deployment of three replicas, with its generation and how many are updated.
fn deployment(image: &str, (generation, observed): (u64, u64), updated: u64) -> Value {
    json!({"metadata": {"generation": generation}, "spec": {"replicas": 3, "template": template(image)},
        "status": {"observedGeneration": observed, "replicas": 3, "updatedReplicas": updated,
            "availableReplicas": 3}})
}

fn daemon_set(image: &str, generation: u64, updated: u64) -> Value {
    json!({"metadata": {"generation": generation}, "spec": {"template": template(image)},
        "status": {"observedGeneration": generation, "desiredNumberScheduled": 2,
            "updatedNumberScheduled": updated, "numberAvailable": 2}})
}

/// A `StatefulSet` with its generation, its current revision, and that to which it is updated.
fn database(image: &str, generation: u64, current: &str, update: &str, strategy: &str) -> Value {
    json!({"metadata": {"generation": generation},
        "spec": {"replicas": 1, "template": template(image), "updateStrategy": {"type": strategy}},
        "status": {"observedGeneration": generation, "readyReplicas": 1, "updatedReplicas": 1,
            "currentRevision": current, "updateRevision": update}})
}

/// Writes the steps of a story: when each began and ended, and its words.
fn steps(story: &ClusterStory) -> Vec<String> {
    let at = |at| rfc3339_secs(at)[11..19].to_owned();
    let steps = story.steps.iter();
    steps
        .map(|step| {
            let least = if step.is_older { "≥ " } else { "" };
            let to = step.to.map_or_else(|| "?".to_owned(), at);
            format!("{least}{} {to} {}", at(step.from), step.words)
        })
        .collect()
}

#[test]
fn a_rollout_ends_as_kubectl_rollout_status_says() {
    let mut life = life();
    life.put(DEPLOYMENTS, WEB, deployment("a", (1, 1), 3));
    life.put(DAEMON_SETS, "shop/agent", daemon_set("a", 1, 2));
    life.put(STATEFUL_SETS, DB, database("a", 1, "1", "1", ""));
    life.until("14:10:00");
    life.put(DEPLOYMENTS, WEB, deployment("b", (2, 1), 3));
    life.until("14:10:10");
    life.put(DEPLOYMENTS, WEB, deployment("b", (2, 2), 1));
    life.until("14:10:40");
    life.put(DEPLOYMENTS, WEB, deployment("b", (2, 2), 3));
    life.until("14:20:00");
    life.put(DAEMON_SETS, "shop/agent", daemon_set("b", 2, 0));
    life.until("14:20:30");
    life.put(DAEMON_SETS, "shop/agent", daemon_set("b", 2, 2));
    life.until("14:30:00");
    life.put(STATEFUL_SETS, DB, database("b", 2, "1", "2", ""));
    life.until("14:30:20");
    life.put(STATEFUL_SETS, DB, database("b", 2, "2", "2", ""));
    let story = life.story("15:00:00");
    let expected = [
        "14:10:00 14:10:40 rollout of Deployment shop/web: complete",
        "14:20:00 14:20:30 rollout of DaemonSet shop/agent: complete",
        "14:30:00 14:30:20 rollout of StatefulSet shop/db: complete",
    ];
    assert_eq!(steps(&story), expected);
}

#[test]
fn a_rollback_to_a_known_template_is_a_rollout_that_replaces_the_one_before() {
    let mut life = life();
    life.put(DEPLOYMENTS, WEB, deployment("a", (1, 1), 3));
    life.until("14:10:00");
    life.put(DEPLOYMENTS, WEB, deployment("bad", (2, 2), 1));
    life.until("14:11:00");
    life.put(DEPLOYMENTS, WEB, deployment("a", (3, 3), 2));
    life.until("14:11:30");
    life.put(DEPLOYMENTS, WEB, deployment("a", (3, 3), 3));
    // Two at once, one of which is deleted before it is complete.
    life.until("14:20:00");
    life.put(DEPLOYMENTS, WEB, deployment("c", (4, 4), 1));
    life.put(DAEMON_SETS, "infra/agent", daemon_set("a", 1, 2));
    life.put(DAEMON_SETS, "infra/agent", daemon_set("b", 2, 0));
    life.until("14:20:30");
    life.delete(DAEMON_SETS, "infra/agent");
    let story = life.story("15:00:00");
    let expected = [
        "14:10:00 14:11:30 2 rollouts of Deployment shop/web: 1 complete, 1 replaced by another rollout",
        "14:20:00 ? 2 rollouts in 2 namespaces: \
             1 workload deleted, 1 not complete at the end; the first of Deployment shop/web",
    ];
    assert_eq!(steps(&story), expected);
    let outcomes = story.list.rollouts.iter().map(|one| one.outcome.as_str());
    let expected = ["replaced", "complete", "incomplete", "deleted"];
    assert_eq!(outcomes.collect::<Vec<_>>(), expected);
}

#[test]
fn what_is_created_scaled_or_replaced_by_hand_is_not_rolled_out() {
    let mut life = life();
    life.put(DEPLOYMENTS, WEB, deployment("a", (1, 0), 0));
    life.put(STATEFUL_SETS, DB, database("a", 1, "1", "1", "OnDelete"));
    life.until("14:10:00");
    life.put(DEPLOYMENTS, WEB, deployment("a", (1, 1), 3));
    life.put(STATEFUL_SETS, DB, database("b", 2, "1", "2", "OnDelete"));
    life.until("14:20:00");
    let mut scaled = deployment("a", (2, 2), 3);
    scaled["spec"]["replicas"] = json!(5);
    life.put(DEPLOYMENTS, WEB, scaled);
    // Another object of the name is created with its template.
    life.until("14:30:00");
    life.delete(DEPLOYMENTS, WEB);
    life.put_as("2", DEPLOYMENTS, WEB, deployment("b", (1, 1), 3));
    assert!(steps(&life.story("15:00:00")).is_empty());
}

#[test]
fn what_was_not_observed_of_a_rollout_is_not_claimed() {
    // The whole rollout lies in the gap.
    let mut hidden = life();
    hidden.put(DEPLOYMENTS, WEB, deployment("a", (1, 1), 3));
    hidden.until("14:10:00");
    hidden.lose(DEPLOYMENTS);
    hidden.until("14:20:00");
    hidden.relist(DEPLOYMENTS, "14:10:00", WEB, deployment("b", (2, 2), 3));
    let expected = [
        "≥ 14:20:00 ? rollout of Deployment shop/web, begun while it was not observed: \
             complete, end not observed",
    ];
    assert_eq!(steps(&hidden.story("15:00:00")), expected);
    // Its beginning does.
    let mut late = life();
    late.put(DEPLOYMENTS, WEB, deployment("a", (1, 1), 3));
    late.until("14:10:00");
    late.lose(DEPLOYMENTS);
    late.until("14:20:00");
    late.relist(DEPLOYMENTS, "14:10:00", WEB, deployment("b", (2, 2), 1));
    late.until("14:25:00");
    late.put(DEPLOYMENTS, WEB, deployment("b", (2, 2), 3));
    let expected = [
        "≥ 14:20:00 14:25:00 rollout of Deployment shop/web, begun while it was not observed: complete",
    ];
    assert_eq!(steps(&late.story("15:00:00")), expected);
    // Nobody looked at its end.
    let mut lost = life();
    lost.put(DEPLOYMENTS, WEB, deployment("a", (1, 1), 3));
    lost.until("14:10:00");
    lost.put(DEPLOYMENTS, WEB, deployment("b", (2, 2), 1));
    lost.until("14:11:00");
    lost.lose(DEPLOYMENTS);
    let expected = ["14:10:00 ? rollout of Deployment shop/web: end not observed"];
    assert_eq!(steps(&lost.story("15:00:00")), expected);
}

#[test]
fn the_roles_of_nodes_are_those_of_kubectl() {
    let mut life = Life::of(&[NODES]);
    let labels = json!({"node-role.kubernetes.io/": "", "node-role.kubernetes.io/worker": ""});
    life.put(NODES, "a", json!({"metadata": {"labels": labels}}));
    let labels = json!({"kubernetes.io/role": "infra"});
    life.put(NODES, "b", json!({"metadata": {"labels": labels}}));
    let words = life.story("14:10:00").cluster.sentence();
    assert!(words.ends_with("2 Nodes (1 infra, 1 worker)"), "{words}");
}
