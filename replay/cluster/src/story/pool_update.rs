//! Owns how a pool of nodes came to a new configuration, by what it says of itself.

use super::mark::{Lasting, Mark, Spans};
use crate::condition::StatusCondition;
use crate::read::{Pool, ReadVersion};

/// How one pool came to a new configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolUpdate {
    /// The pool.
    pub name: String,
    /// When it was first seen not updated.
    pub began: Mark,
    /// When it said that it is updated again.
    pub done: Option<Mark>,
    /// The configuration that it goes to.
    pub to_config: String,
    /// How many machines it had, at last.
    pub machines: u64,
    /// How many of them had the configuration, at last.
    pub updated: u64,
    /// When it was paused meanwhile.
    pub paused: Vec<Lasting>,
    /// When it said that it is degraded, meanwhile.
    pub degraded: Vec<Lasting>,
}

struct Open {
    update: PoolUpdate,
    paused: Spans,
    degraded: Spans,
}

/// Reads the updates of a pool.
pub(super) fn updates(name: &str, versions: &[ReadVersion<Pool>]) -> Vec<PoolUpdate> {
    let mut all = Vec::new();
    let mut open: Option<Open> = None;
    for seen in versions {
        let conditions = &seen.body.status.conditions;
        let says = |kind: &str, status: &str| {
            StatusCondition::find(conditions, kind).is_some_and(|condition| condition.is(status))
        };
        // A paused pool says neither that it is updated nor that it is updating.
        if says("Updated", "False") && !seen.is_gone && open.is_none() {
            open = Some(Open {
                update: PoolUpdate {
                    name: name.to_owned(),
                    began: seen.mark,
                    done: None,
                    to_config: String::new(),
                    machines: 0,
                    updated: 0,
                    paused: Vec::new(),
                    degraded: Vec::new(),
                },
                paused: Spans::default(),
                degraded: Spans::default(),
            });
        }
        let Some(running) = &mut open else {
            continue;
        };
        running.paused.note(seen.mark, seen.body.spec.paused);
        running.degraded.note(seen.mark, says("Degraded", "True"));
        let update = &mut running.update;
        update
            .to_config
            .clone_from(&seen.body.spec.configuration.name);
        update.machines = seen.body.status.machine_count;
        update.updated = seen.body.status.updated_machine_count;
        if says("Updated", "True") || seen.is_gone {
            update.done = (!seen.is_gone).then_some(seen.mark);
            all.extend(open.take().map(Open::end));
        }
    }
    all.extend(open.map(Open::end));
    all
}

impl Open {
    fn end(self) -> PoolUpdate {
        PoolUpdate {
            paused: self.paused.all(),
            degraded: self.degraded.all(),
            ..self.update
        }
    }
}
