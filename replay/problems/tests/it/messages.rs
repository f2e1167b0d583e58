//! From when on a problem has its message.

use super::life::{Life, OPERATORS, condition};
use kubereel_history::timetext;
use serde_json::{Value, json};

/// An operator that is degraded, with a message.
fn degraded(message: &str) -> Value {
    let degraded = condition("Degraded", "True", "SyncError", message);
    json!({"metadata": {}, "status": {"conditions": [degraded]}})
}

#[test]
fn a_message_that_came_later_has_its_own_time() {
    let later = |messages: &[&str]| {
        let mut life = Life::of(&[OPERATORS]);
        for (minute, message) in messages.iter().enumerate() {
            life.put(OPERATORS, "etcd", degraded(message));
            life.until(&format!("14:{:02}:00", minute + 1));
        }
        let list = life.end("14:40:00");
        let problem = list.problems.first().expect("a problem");
        let later = problem.later_message();
        later.map(|mark| timetext::rfc3339_secs(mark.at))
    };
    assert_eq!(
        later(&["connection refused", "i/o timeout"]).as_deref(),
        Some("2026-11-21T14:01:00Z")
    );
    // A number that counts up is not another message.
    assert_eq!(
        later(&["1 of 3 members are down", "2 of 3 members are down"]),
        None
    );
    assert_eq!(later(&["connection refused"]), None);
}
