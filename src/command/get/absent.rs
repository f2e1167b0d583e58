//! Owns what is said of names that name nothing at the moment: when they did, and where else.

use super::Answer;
use crate::command_error::CommandError;
use crate::exit::Exit;
use kubereel_history::{Certainty, Held};

/// Gives the names that were asked for and not found.
pub(super) fn names(asked: &[String], held: &[Held]) -> Vec<String> {
    asked
        .iter()
        .filter(|name| !held.iter().any(|held| held.name == **name))
        .cloned()
        .collect()
}

/// Says that names were not found, and when they were there.
pub(super) fn explain(
    answer: &Answer<'_>,
    absent: &[String],
    namespace: Option<&str>,
) -> Option<CommandError> {
    if absent.is_empty() {
        return None;
    }
    let quoted: Vec<String> = absent.iter().map(|name| format!("{name:?}")).collect();
    let at = answer.timeline.written(answer.state.at);
    let resource = answer.resource.qualified();
    let exit = match answer.state.certainty {
        Certainty::Known { .. } => Exit::No,
        Certainty::Damaged { .. } => Exit::Reel,
        _ => Exit::Unknown,
    };
    let message = format!("{resource} {} not found at {at}", quoted.join(", "));
    let mut error = CommandError::new(exit, message);
    for name in absent {
        for hint in hints(answer, name, namespace) {
            error = error.hint(hint);
        }
    }
    Some(error)
}

fn hints(answer: &Answer<'_>, name: &str, namespace: Option<&str>) -> Vec<String> {
    let timeline = answer.timeline;
    let mut hints = Vec::new();
    for life in timeline.lives(answer.resource.id, namespace.unwrap_or_default(), name) {
        let from = timeline.written(life.from);
        let from = if life.is_older_than_reel {
            format!("from before {from}")
        } else {
            format!("from {from}")
        };
        let to = life
            .to
            .map_or_else(|| "the end".to_owned(), |to| timeline.written(to));
        hints.push(format!("{name:?} existed {from} to {to}"));
    }
    if hints.is_empty()
        && namespace.is_some()
        && let Some(other) = timeline.namespace_of(answer.resource.id, name)
    {
        hints.push(format!(
            "{name:?} exists in another namespace: use -n {other}"
        ));
    }
    let near = timeline.nearest_names(answer.resource.id, namespace.unwrap_or_default(), name);
    if hints.is_empty() && !near.is_empty() {
        hints.push(format!("did you mean {}?", near.join(" or ")));
    }
    hints
}
