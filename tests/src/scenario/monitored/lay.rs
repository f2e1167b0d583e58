//! Lays a scenario out as steps: the entries of the base and of the faults that are switched on, by
//! time. Refuses to play them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::progress::Progress;
use super::super::script::Said;
use super::super::step::{Act, Step};
use super::super::story::namespace;
use super::super::{Moment, ScenarioError, definitions};
use super::file::{Doing, Entry, Monitored};
use super::state::State;
use super::{node, release, retrieval};
use crate::rest::Target;

/// Who writes what no operator does.
const USER: &str = "oc";
/// From the first moment to the first entries.
const SET_UP_SECS: f64 = 0.5;

impl Monitored {
    /// Lays the base out with some faults; unknown names are refused.
    ///
    /// # Errors
    ///
    /// It contradicts itself.
    pub fn steps(&self, on: &BTreeSet<&str>) -> Result<Vec<Step>, ScenarioError> {
        for name in on {
            if !self.faults.iter().any(|fault| fault.name == *name) {
                let message = format!("no fault is named {name}");
                return Err(ScenarioError::Unreadable { message });
            }
        }
        let faults = || {
            self.faults
                .iter()
                .filter(|fault| on.contains(fault.name.as_str()))
        };
        let gone: BTreeSet<&str> = faults()
            .flat_map(|fault| fault.instead_of.iter().map(String::as_str))
            .collect();
        let is_there = |entry: &&Entry| {
            !entry
                .label
                .as_ref()
                .is_some_and(|label| gone.contains(label.as_str()))
        };
        let mut entries: Vec<&Entry> = self
            .base
            .iter()
            .filter(is_there)
            .chain(faults().flat_map(|fault| &fault.entries))
            .collect();
        // Operators keep what they said before: what is laid out has to be in order.
        entries.sort_by(|one, other| one.at_secs.total_cmp(&other.at_secs));
        let mut state = State::new(self);
        set_up(&mut state);
        for entry in later_halves(&entries) {
            let at = Moment::from_secs(entry.at_secs);
            lay(&mut state, at, &entry.act)?;
        }
        Ok(state.script.into_steps())
    }
}

/// Cuts what lasts into its begin and its end, and sorts again.
fn later_halves(entries: &[&Entry]) -> Vec<Entry> {
    let mut all = Vec::new();
    for entry in entries {
        all.push((*entry).clone());
        if let Doing::RollOperator { name, for_secs } = &entry.act {
            all.push(Entry {
                at_secs: entry.at_secs + for_secs,
                label: None,
                act: Doing::RollOperator {
                    name: name.clone(),
                    for_secs: 0.0,
                },
            });
        }
    }
    all.sort_by(|one, other| one.at_secs.total_cmp(&other.at_secs));
    all
}

/// What is there before anything happens.
fn set_up(state: &mut State<'_>) {
    let at = Moment::from_secs(SET_UP_SECS);
    let of = state.of;
    for name in &of.namespaces {
        state.script.create(at, USER, namespace(name));
    }
    for kind in [
        "ClusterVersion",
        "ClusterOperator",
        "Infrastructure",
        "Network",
    ] {
        if let Some(definition) = definitions::definition_of(kind) {
            state.script.create(at + 0.1, USER, definition);
        }
    }
    release::install(state, at + 0.3);
    state.install_operators(at + 0.5);
    node::join(state);
}

fn lay(state: &mut State<'_>, at: Moment, act: &Doing) -> Result<(), ScenarioError> {
    match act {
        Doing::Create { object } => state.script.create(at, USER, object.clone()),
        Doing::Merge { target, patch } => {
            state
                .script
                .merge(at, USER, &target.target(), patch.clone());
        }
        Doing::Delete { target, grace_secs } => {
            let (target, grace_secs) = (target.target(), *grace_secs);
            state
                .script
                .act(at, USER, Act::Delete { target, grace_secs });
        }
        Doing::Workload(workload) => {
            for object in workload.objects() {
                state.script.create(at, USER, object);
            }
        }
        Doing::Fate { pods, fate } => {
            let (pods, fate) = (pods.clone(), fate.clone());
            state.script.act(at, "harness", Act::Script { pods, fate });
        }
        Doing::Operator {
            name,
            condition,
            status,
            reason,
            message,
        } => state.change_operator(at, name, |operator| {
            operator.set(at, condition, status, reason, message);
        })?,
        Doing::RollOperator { name, for_secs } => {
            release::roll_operator(state, at, name, *for_secs > 0.0)?;
        }
        Doing::Retrieve {
            attempt,
            for_secs,
            fails,
        } => retrieval::lay(state, at, *attempt, *for_secs, fails.as_deref()),
        Doing::Accept {} => release::accept(state, at),
        Doing::Report { done, waiting } => {
            let names: Vec<&str> = waiting.iter().map(String::as_str).collect();
            let update = &state.of.update;
            let progress = if names.is_empty() {
                Progress::done(update, *done)
            } else {
                Progress::waiting(update, *done, &names)
            };
            state.version.report(at, &progress);
            state.write_version(at);
        }
        Doing::Version {
            condition,
            status,
            reason,
            message,
        } => {
            state.version.set(at, condition, status, reason, message);
            state.write_version(at);
        }
        Doing::Complete {} => release::complete(state, at),
        Doing::Say { .. } => say(state, at, act),
        Doing::Reboot {
            node,
            down_secs,
            not_ready_secs,
        } => node::reboot(state, at, node, *down_secs, *not_ready_secs),
        Doing::RollNode { node, drains_secs } => node::roll(state, at, node, *drains_secs),
    }
    Ok(())
}

fn say(state: &mut State<'_>, at: Moment, act: &Doing) {
    let Doing::Say {
        about,
        namespace,
        component,
        reason,
        message,
        is_warning,
        times,
        every_secs,
    } = act
    else {
        return;
    };
    let place = namespace
        .as_deref()
        .or(about.namespace.as_deref())
        .unwrap_or("default");
    let said = Said {
        by: component,
        component,
        namespace: place,
        about: reference(&about.target()),
        is_warning: *is_warning,
        reason,
        message: message.clone(),
    };
    for nth in 0..*times {
        state.script.say(at + f64::from(nth) * every_secs, &said);
    }
}

/// What an Event names. Components give a node's name as its uid, and `ClusterVersion` none.
fn reference(target: &Target) -> Value {
    let mut about = json!({
        "apiVersion": target.api_version,
        "kind": target.kind,
        "name": target.name,
    });
    if let Some(namespace) = &target.namespace {
        about["namespace"] = json!(namespace);
    }
    match target.kind.as_str() {
        "ClusterVersion" => {}
        "Node" => about["uid"] = json!(target.name),
        kind => {
            let namespace = target.namespace.as_deref().unwrap_or("-");
            about["uid"] = json!(format!(
                "{{{{uid {} {kind} {namespace} {}}}}}",
                target.api_version, target.name
            ));
        }
    }
    about
}
