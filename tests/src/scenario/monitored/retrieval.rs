//! Lays out the retrieval of the update's payload by a version Pod: in its order of Pods, Events and
//! conditions, as the genuine operator has it.

use serde_json::{Value, json};

use super::super::Moment;
use super::super::script::Said;
use super::super::step::Act;
use super::super::story::version_pod;
use super::release;
use super::state::{CVO, CVO_NAMESPACE, State};
use crate::kubelet::{Fate, PodMatcher};

/// One attempt: it lasts so long, and fails with these words of the runtime if there are any.
pub(super) fn lay(
    state: &mut State<'_>,
    at: Moment,
    attempt: u32,
    for_secs: f64,
    fails: Option<&str>,
) {
    let update = state.of.update.clone();
    let name = version_pod::name(state.dice, &update, attempt);
    if attempt == 1 {
        release::ask(state, at);
    } else {
        let target = version_pod::target(&version_pod::name(state.dice, &update, attempt - 1));
        let grace_secs = None;
        state
            .script
            .act(at, CVO, Act::Delete { target, grace_secs });
    }
    let payload = format!("version=\"{}\" image=\"{}\"", update.version, update.image);
    say(
        state,
        at + 0.02,
        false,
        "RetrievePayload",
        format!("Retrieving and verifying payload {payload}"),
    );
    let pods = PodMatcher {
        namespace: CVO_NAMESPACE.to_owned(),
        name_prefix: Some(name.clone()),
        ..PodMatcher::default()
    };
    if let Some(message) = fails {
        let fate = Fate::PullFails {
            message: message.to_owned(),
            failures: None,
        };
        state.script.act(at, "harness", Act::Script { pods, fate });
    }
    let node = state.of.nodes.first().map(|node| node.name.clone());
    let node = node.unwrap_or_default();
    let pod = version_pod::object(state.dice, &update, &name, &node);
    state.script.create(at + 0.05, CVO, pod);
    let ends = at + for_secs;
    match fails {
        Some(message) => {
            let told = version_pod::failure(&update, &name, "ErrImagePull", message);
            say(state, ends, true, "RetrievePayloadFailed", told.clone());
            state.version.refuse(ends, &told);
            state.write_version(ends);
        }
        None => say(
            state,
            ends,
            false,
            "PayloadLoaded",
            format!("Payload loaded {payload}"),
        ),
    }
}

fn say(state: &mut State<'_>, at: Moment, is_warning: bool, reason: &str, message: String) {
    let about: Value = json!({
        "apiVersion": "config.openshift.io/v1",
        "kind": "ClusterVersion",
        "namespace": CVO_NAMESPACE,
        "name": "version",
    });
    state.script.say(
        at,
        &Said {
            by: CVO,
            component: CVO_NAMESPACE,
            namespace: CVO_NAMESPACE,
            about,
            is_warning,
            reason,
            message,
        },
    );
}
