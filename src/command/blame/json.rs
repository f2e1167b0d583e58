//! Owns the fields and their writers that programs read: one JSON object.

use crate::command::asked::Named;
use crate::command_error::CommandError;
use crate::field_text;
use crate::screen::Screen;
use kubereel_history::{Blame, BlameSource, BlamedObject, ResourceSnapshot, timetext};
use serde_json::{Value, json};

/// Prints an object's fields with who set them.
pub(super) fn print(
    named: &Named<'_>,
    state: &ResourceSnapshot,
    blamed: &BlamedObject,
    screen: &mut Screen,
) -> Result<(), CommandError> {
    let head = format!(
        r#"{{"resource":{},"namespace":{},"name":{},"at":{},"is_known":{},"fields":["#,
        Value::from(named.resource.qualified()),
        Value::from(named.namespace),
        Value::from(named.name.as_str()),
        Value::from(timetext::rfc3339(state.at)),
        state.certainty.is_known(),
    );
    screen.line(head)?;
    for (left, field) in (0..blamed.fields.len()).rev().zip(&blamed.fields) {
        let comma = if left == 0 { "" } else { "," };
        screen.line(format_args!("{}{comma}", written(field)))?;
    }
    screen.line("]}")
}

fn written(field: &Blame) -> Value {
    let writers: Vec<Value> = field.writers.iter().map(field_text::writer_json).collect();
    let seq = match field.source {
        BlameSource::Recorded { seq, .. } => Some(seq.0),
        BlameSource::ManagedFields { .. } | BlameSource::Unknown => None,
    };
    json!({
        "path": field.path.to_string(),
        "value": field.value,
        "source": field.source.as_str(),
        "at": field.source.at().map(timetext::rfc3339),
        "seq": seq,
        "writers": writers,
        "may_be_older": field.may_be_older,
    })
}
