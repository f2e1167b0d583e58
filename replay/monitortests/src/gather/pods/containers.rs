//! The instants of a pod's containers: waiting, started, exited, restarted, ready or not. It does
//! not handle the pod as a whole.

use super::watch::WatchedPod;
use crate::gather::ledger::Ledger;
use crate::interval::Level;
use crate::reading;
use serde_json::Value;

const LISTS: [&str; 2] = ["/status/containerStatuses", "/status/initContainerStatuses"];
/// Upstream does not look at these, which are never ready.
const EPHEMERAL: &str = "/status/ephemeralContainerStatuses";
const STARTED: &str = "/state/running/startedAt";

/// Notes what containers began and ended.
pub(super) fn life(pod: WatchedPod<'_>, before: Option<&Value>, ledger: &mut Ledger) {
    let ephemeral = pod.mode.is_exact().then_some(EPHEMERAL);
    for list in LISTS.into_iter().chain(ephemeral) {
        let was_seen = before.is_some();
        let before = before.map_or(&[][..], |before| reading::list(before, list));
        let statuses = reading::list(pod.now(), list);
        let old = |status| reading::item(before, "name", reading::text(status, "/name"));
        for status in statuses {
            waits(pod, status, old(status), ledger);
        }
        for status in statuses {
            starts(pod, status, old(status), ledger);
        }
        for status in statuses {
            match old(status) {
                Some(old) => exits(pod, status, old, ledger),
                // It ran and ended since the version before, which had no status of it.
                None if was_seen && pod.mode.is_exact() => {
                    exits(pod, status, &Value::Null, ledger);
                }
                None => {}
            }
        }
        for status in statuses {
            let count = |status| reading::number(status, "/restartCount").unwrap_or(0);
            if count(status) != 0 && old(status).is_some_and(|old| count(old) != count(status)) {
                let name = reading::text(status, "/name");
                ledger.add(&pod.container(name, Level::Warning).reason("Restarted"));
            }
        }
    }
}

/// Notes that a container runs. Upstream does not note a restart between two versions that both say
/// running; the exit that the second one reports then ends the container for good.
fn starts(pod: WatchedPod<'_>, status: &Value, old: Option<&Value>, ledger: &mut Ledger) {
    let is_running = |status: &Value| reading::at(status, "/state/running").is_some();
    let was_running = old.is_some_and(is_running);
    let is_restarted = pod.mode.is_exact() && old.is_some_and(|old| run_of(old) != run_of(status));
    if !is_running(status) || was_running && !is_restarted {
        return;
    }
    let name = reading::text(status, "/name");
    let draft = pod.container(name, Level::Info);
    let draft = draft.reason("ContainerStart").cause("");
    let own = pod.own_time(reading::time(status, STARTED));
    ledger.add(&draft.own_time_of("startedAt", own));
}

/// Returns what differs between two runs of a container.
fn run_of(status: &Value) -> (&str, &str, Option<i64>) {
    (
        reading::text(status, STARTED),
        reading::text(status, "/containerID"),
        reading::number(status, "/restartCount"),
    )
}

fn waits(pod: WatchedPod<'_>, status: &Value, old: Option<&Value>, ledger: &mut Ledger) {
    let waiting = |status: &Value| reading::at(status, "/state/waiting").is_some();
    if !waiting(status) {
        return;
    }
    let reason = reading::text(status, "/state/waiting/reason");
    let is_known = old
        .is_some_and(|old| waiting(old) && reading::text(old, "/state/waiting/reason") == reason);
    if is_known {
        return;
    }
    // Upstream writes the blank also where no message follows.
    let words = format!(" {}", reading::text(status, "/state/waiting/message"));
    let draft = pod
        .container(reading::text(status, "/name"), Level::Info)
        .reason("ContainerWait")
        .cause(reason)
        .human(words);
    ledger.add(&draft);
}

const STATES: [(&str, Level); 2] = [
    (LAST_STATE, Level::Info),
    // Upstream calls this an error, whatever the code is.
    (STATE, Level::Error),
];
const LAST_STATE: &str = "/lastState/terminated";
const STATE: &str = "/state/terminated";

fn exits(pod: WatchedPod<'_>, status: &Value, old: &Value, ledger: &mut Ledger) {
    let name = reading::text(status, "/name");
    let last = |status: &Value| reading::at(status, LAST_STATE).is_some();
    if last(old) && !last(status) {
        let draft = pod
            .container(name, Level::Error)
            .reason("TerminationStateCleared");
        ledger.add(&draft.human("lastState.terminated was cleared on a pod (bug https://bugzilla.redhat.com/show_bug.cgi?id=1933760 or similar)"));
    }
    if pod.mode.is_exact() {
        // Runs may follow each other so quickly that no version shows the later one as running.
        let known = STATES.map(|(place, _)| ended_run(old, place));
        for (place, good) in STATES {
            let run = ended_run(status, place);
            if run.is_some() && !known.contains(&run) {
                exit(pod, status, (place, good), ledger);
            }
        }
        return;
    }
    // Upstream tells the first exit again when the container runs again, and not one whose state
    // nobody saw while it lasted, unless it is the first.
    let current = |status: &Value| reading::at(status, STATE).is_some();
    let finished =
        |status: &Value| reading::at(status, "/lastState/terminated/finishedAt").cloned();
    let is_other = !last(old) || finished(status) != finished(old);
    let [by_last, by_state] = STATES;
    if last(status) && is_other && !current(old) {
        exit(pod, status, by_last, ledger);
    } else if current(status) && !current(old) {
        exit(pod, status, by_state, ledger);
    }
}

/// Returns what distinguishes a run that ended from others of its container.
fn ended_run<'a>(status: &'a Value, place: &str) -> Option<(&'a str, &'a str)> {
    let ended = reading::at(status, place)?;
    let field = |path| reading::text(ended, path);
    Some((field("/containerID"), field("/finishedAt")))
}

/// Notes an exit.
fn exit(pod: WatchedPod<'_>, status: &Value, (place, good): (&str, Level), ledger: &mut Ledger) {
    let Some(ended) = reading::at(status, place) else {
        return;
    };
    let code = reading::number(ended, "/exitCode").unwrap_or(0);
    let level = if code == 0 { good } else { Level::Error };
    let draft = pod
        .container(reading::text(status, "/name"), level)
        .reason("ContainerExit")
        .with("code", code.to_string())
        .cause(reading::text(ended, "/reason"))
        .human(reading::text(ended, "/message"));
    let own = pod.own_time(reading::time(ended, "/finishedAt"));
    ledger.add(&draft.own_time_of("finishedAt", own));
}

/// Notes which containers became ready or unready; of a new pod, what each is.
pub(super) fn readiness(pod: WatchedPod<'_>, before: Option<&Value>, ledger: &mut Ledger) {
    let is_ready = |status: &Value| {
        let ready = reading::at(status, "/ready").and_then(Value::as_bool);
        ready.unwrap_or(false)
    };
    for list in LISTS {
        let before = before.map(|before| reading::list(before, list));
        for status in reading::list(pod.now(), list) {
            let name = reading::text(status, "/name");
            // Upstream takes a list that is absent for that of a new pod.
            let old = before
                .filter(|before| !before.is_empty())
                .map(|before| reading::item(before, "name", name).is_some_and(is_ready));
            let draft = match (old, is_ready(status)) {
                (None | Some(true), false) => {
                    pod.container(name, Level::Warning).reason("NotReady")
                }
                (None | Some(false), true) => pod.container(name, Level::Info).reason("Ready"),
                _ => continue,
            };
            ledger.add(&draft);
        }
    }
}
