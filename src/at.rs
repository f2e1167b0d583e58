//! Owns `--at` on the command line: the argument, its help, and what to say when it is wrong.
//! Refuses the grammar itself: `kubereel_history::Moment` is that, so that screens and rules read the
//! same one.

use crate::command_error::CommandError;
use crate::exit::Exit;
use kubereel_history::{Cut, MOMENT_FORMS, Moment, ResolveError, Timeline, timetext};

/// The help text that lists every form of TIME.
pub(crate) fn forms_help() -> String {
    let forms = MOMENT_FORMS.map(|(form, meaning)| format!("  {form:<26}{meaning}\n"));
    format!("TIME is one of:\n{}", forms.concat())
}

/// Reads a TIME argument.
pub(crate) fn parse(text: &str) -> Result<Moment, String> {
    text.parse::<Moment>().map_err(|error| {
        let forms: Vec<&str> = MOMENT_FORMS.iter().map(|(form, _)| *form).collect();
        format!("{error}; expected one of: {}", forms.join(", "))
    })
}

/// Finds the place of a moment in a reel.
pub(crate) fn resolve(timeline: &Timeline, moment: Moment) -> Result<Cut, CommandError> {
    timeline.resolve(moment).map_err(|error| {
        let failed = CommandError::new(Exit::Usage, format!("--at: {error}"));
        match error {
            ResolveError::Ambiguous { candidates } => {
                let dates: Vec<String> = candidates.into_iter().map(timetext::rfc3339).collect();
                failed.hint(format!("give the day: --at {}", dates.join(" or --at ")))
            }
            ResolveError::NoSuchRecord { .. } => failed.hint("--at end is the last record"),
            ResolveError::EmptyReel => CommandError::new(Exit::Unknown, error.to_string()),
            _ => failed,
        }
    })
}

/// Finds the bounds of a time, of which either may be open; refuses those that hold nothing between.
pub(crate) fn bounds(
    timeline: &Timeline,
    from: Option<Moment>,
    to: Option<Moment>,
) -> Result<(Option<Cut>, Option<Cut>), CommandError> {
    let resolve = |moment: Option<Moment>| moment.map(|at| resolve(timeline, at)).transpose();
    let (from, to) = (resolve(from)?, resolve(to)?);
    let is_backward = match (from, to) {
        (
            Some(Cut::Arrival { below, wall }),
            Some(Cut::Arrival {
                below: to_below,
                wall: to_wall,
            }),
        ) => below > to_below && wall > to_wall,
        (Some(Cut::Revision(from)), Some(Cut::Revision(to))) => from > to,
        // A resourceVersion and a time of arrival have no order of their own.
        _ => false,
    };
    if is_backward {
        return Err(CommandError::new(Exit::Usage, "--from is after --to")
            .hint("give the earlier moment to --from"));
    }
    Ok((from, to))
}
