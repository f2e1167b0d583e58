//! Owns the differences that programs read: one JSON object, written as the differences are found.

use super::{Compared, End, Found, Output, Question};
use crate::command::get::header;
use crate::command_error::CommandError;
use crate::field_text;
use crate::screen::Screen;
use kubereel_history::{ObjectVersion, ResourceSnapshot, Timeline, timetext};
use serde_json::{Value, json};

/// A JSON document under way; silent if another form was asked for.
pub(super) struct Printer {
    is_on: bool,
    waiting: Option<Value>,
}

impl Printer {
    /// Writes what stands before the differences.
    pub(super) fn begin(
        timeline: &Timeline,
        question: &Question,
        compared: &Compared<'_>,
        screen: &mut Screen,
    ) -> Result<Self, CommandError> {
        let is_on = question.output == Some(Output::Json);
        if is_on {
            let states = |end: End| -> Vec<Value> {
                let pairs = compared.pairs.iter();
                pairs
                    .map(|pair| told(timeline, pair, pair.state(end)))
                    .collect()
            };
            let unknown = compared.unknown.iter().map(|(name, certainty)| {
                json!({"resource": name, "trust": header::trust(timeline, certainty)})
            });
            let head = format!(
                r#"{{"from":{},"to":{},"unknown":{},"differences":["#,
                Value::from(states(End::From)),
                Value::from(states(End::To)),
                Value::from(unknown.collect::<Vec<_>>()),
            );
            screen.line(head)?;
        }
        Ok(Self {
            is_on,
            waiting: None,
        })
    }

    /// Writes a difference.
    pub(super) fn push(
        &mut self,
        timeline: &Timeline,
        found: &Found<'_>,
        screen: &mut Screen,
    ) -> Result<(), CommandError> {
        match self.waiting.replace(written(timeline, found)) {
            Some(last) => screen.line(format_args!("{last},")),
            None => Ok(()),
        }
    }

    /// Writes what stands after the differences.
    pub(super) fn end(self, screen: &mut Screen) -> Result<(), CommandError> {
        if let Some(last) = self.waiting {
            screen.line(last)?;
        }
        if self.is_on {
            screen.line("]}")?;
        }
        Ok(())
    }
}

fn told(timeline: &Timeline, pair: &super::Pair<'_>, state: &ResourceSnapshot) -> Value {
    json!({
        "resource": pair.after.resource.qualified(),
        "at": timetext::rfc3339(state.at),
        "rv": state.rv.map(|rv| rv.to_string()),
        "is_known": state.certainty.is_known(),
        "trust": header::trust(timeline, &state.certainty),
        "objects": state.objects.len(),
    })
}

fn written(timeline: &Timeline, found: &Found<'_>) -> Value {
    let differing = &found.differing;
    let reel = timeline.reel();
    let version = |held: Option<&ObjectVersion>| {
        let head = reel.head(held?.seq)?;
        let object = usize::try_from(head.object.0).ok();
        let object = object.and_then(|at| reel.objects().get(at))?;
        Some(json!({
            "seq": head.seq.0,
            "at": timetext::rfc3339(head.stamp.wall),
            "rv": head.resource_version,
            "uid": object.key.uid,
        }))
    };
    let changes: Vec<Value> = found.changes.iter().map(field_text::json).collect();
    json!({
        "resource": found.pair.after.resource.qualified(),
        "namespace": differing.namespace,
        "name": differing.name,
        "change": differing.fate.as_str(),
        "old": version(differing.fate.before()),
        "new": version(differing.fate.after()),
        "changes": changes,
    })
}
