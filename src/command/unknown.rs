//! Owns what is said when a question has no answer in this reel: no such resource, not recorded, or
//! not yet.

use crate::command_error::CommandError;
use crate::exit::Exit;
use kubereel_format::ResourceInfo;
use kubereel_history::{Certainty, SelectError, State, Timeline};

/// Says why a name names no recorded resource.
pub(crate) fn explain(error: &SelectError, timeline: &Timeline) -> CommandError {
    match error {
        SelectError::UnknownResource { .. } if !timeline.reel().damage().is_empty() => {
            CommandError::new(Exit::Reel, format!("{error}, as far as it can be read"))
                .hint("to see where it is damaged: kubereel info REEL")
        }
        SelectError::UnknownResource { nearest, .. } if nearest.is_empty() => {
            CommandError::new(Exit::Usage, error)
                .hint("to list its resources: kubereel info REEL -o wide")
        }
        SelectError::UnknownResource { nearest, .. } => {
            let names = nearest.join(" or ");
            CommandError::new(Exit::Usage, error).hint(format!("did you mean {names}?"))
        }
        SelectError::NotCovered { excluded } if !excluded.detail.is_empty() => {
            CommandError::new(Exit::Unknown, error).hint(&excluded.detail)
        }
        SelectError::OtherVersion { qualified, .. } => {
            CommandError::new(Exit::Usage, error).hint(format!("use {qualified}"))
        }
        _ => CommandError::new(Exit::Unknown, error),
    }
}

/// Says why there is no state to show.
pub(crate) fn state(timeline: &Timeline, resource: &ResourceInfo, state: &State) -> CommandError {
    let name = resource.qualified();
    let at = timeline.written(state.at);
    match &state.certainty {
        Certainty::BeforeFirst { first: Some(first) } => {
            let first = timeline.written(*first);
            CommandError::new(Exit::Unknown, format!("{name} are not known at {at} yet"))
                .hint(format!("their first known state: --at {first}"))
        }
        Certainty::BeforeFirst { first: None } => CommandError::new(
            Exit::Unknown,
            format!("{name} are not known at {at}: no complete list was received"),
        ),
        Certainty::NotCovered { reason, detail } => {
            let reason = reason.as_str();
            let failed = CommandError::new(
                Exit::Unknown,
                format!("{name} were not recorded at {at}: {reason}"),
            );
            if detail.is_empty() {
                failed
            } else {
                failed.hint(detail)
            }
        }
        _ => CommandError::new(Exit::Unknown, format!("{name} are not known at {at}")),
    }
}
