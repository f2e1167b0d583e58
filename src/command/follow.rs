//! Commands that follow a reel which is being recorded: the loop, the new part of a query in each
//! state, and the reports of unobserved times. The commands print.
//!
//! Invariants:
//! * A record is in exactly one part, in the order of the reel.
//! * Nothing of a copy outlasts the process, however it ends: an interrupt needs no handler.

use crate::arguments;
use crate::command::object_query::ChangeTrust;
use crate::command_error::{CommandError, Exit};
use crate::files;
use crate::screen::Console;
use kubereel_format::{Gap, RecordedAt, ResourceId, Seq};
use kubereel_history::{
    Cut, FollowStep, FollowedReel, Moment, ResolveError, Timeline, UnobservedSpan, harmless,
};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

/// For how long after the recorder began a resource may be missing because it was not discovered yet, in microseconds.
const DISCOVERY_MICROS: i64 = 10_000_000;

/// How a reel is followed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FollowOptions {
    /// When the command has to answer, whatever was recorded by then.
    pub(crate) deadline: Option<Instant>,
    /// Whether a reel that is not being recorded is followed like any other: with a note that it has ended.
    pub(crate) is_asked: bool,
    /// Whether the command continues when its output has no reader.
    pub(crate) is_silent: bool,
}

/// Hands the states of a reel to a command until it has seen enough, the recording has ended, or the deadline passed;
/// the last state is announced as such.
pub(crate) fn follow(
    reel: &Path,
    options: FollowOptions,
    screen: &mut Console,
    mut take: impl FnMut(&FollowedReel, bool, &mut Console) -> Result<Option<Exit>, CommandError>,
) -> Result<Exit, CommandError> {
    let mut followed = files::follow_reel(reel)?;
    let mut was_growing = false;
    let mut awaited = None;
    let mut taken = Seq(0);
    loop {
        let left = options
            .deadline
            .map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let is_late = left.is_some_and(|left| left.is_zero());
        if is_late {
            followed.follower.forget();
        }
        let step = followed.follower.look();
        let step = step.map_err(|error| followed.explain(&error))?;
        let (state, has_ended) = match step {
            FollowStep::Unchanged => (None, false),
            FollowStep::Grown(state) => (Some(state), false),
            FollowStep::Ended(state) => (Some(state), true),
        };
        if let Some(mut state) = state {
            // What the command could not take yet is new to it.
            state.new_from = taken;
            let has_losses = state.timeline.reel().has_losses();
            let is_last = has_ended || is_late || has_losses;
            was_growing |= !has_ended;
            match take(&state, is_last, screen) {
                Ok(Some(exit)) if !is_last => return Ok(exit),
                Err(error) if !is_last && may_come(&error, &state.timeline, options) => {
                    await_it(&error, &mut awaited, screen)?;
                }
                Err(error) if is_late && !has_ended && error.is_of_missing_resource() => {
                    let message = format!("timed out: {}", error.message());
                    return Err(CommandError::unknown(message)
                        .hint("it may be recorded later: give --timeout more time"));
                }
                Err(error) => return Err(error),
                Ok(exit) if has_ended => {
                    if was_growing || options.is_asked {
                        screen.aside(end_note(&state.timeline))?;
                    }
                    return exit.map_or_else(|| not_reached(&state.timeline, screen), Ok);
                }
                Ok(_) if has_losses => {
                    return Err(CommandError::damaged("and is not followed any longer"));
                }
                Ok(exit) if is_last => {
                    return exit.map_or_else(|| not_reached(&state.timeline, screen), Ok);
                }
                Ok(_) => taken = state.timeline.reel().end(),
            }
            screen.finish()?;
        }
        let pause = followed.follower.pause();
        let pause = left
            .filter(|left| !left.is_zero())
            .map_or(pause, |left| left.min(pause));
        if !wait_for(pause) && !options.is_silent {
            let closed = std::io::ErrorKind::BrokenPipe.into();
            return Err(CommandError::output(&closed));
        }
    }
}

/// Says that the recording does not reach the begin of the question.
fn not_reached(timeline: &Timeline, screen: &mut Console) -> Result<Exit, CommandError> {
    screen.aside(ChangeTrust::Outside.words(timeline, ""))?;
    Ok(Exit::Unknown)
}

/// Returns whether an object that was not found may still be recorded. A resource can be installed at any time, but
/// only a deadline ends the wait for one that is misspelled.
fn may_come(error: &CommandError, timeline: &Timeline, options: FollowOptions) -> bool {
    match error.exit() {
        Exit::No | Exit::Unknown => true,
        Exit::Usage if error.is_of_missing_resource() => {
            let is_discovering = timeline
                .sessions()
                .last()
                .is_none_or(|session| timeline.end().micros_since(session.from) < DISCOVERY_MICROS);
            let has_resources = timeline.resources().iter().next().is_some();
            options.deadline.is_some() || is_discovering || !has_resources
        }
        _ => false,
    }
}

/// Prints once what the command waits for.
fn await_it(
    error: &CommandError,
    awaited: &mut Option<String>,
    screen: &mut Console,
) -> Result<(), CommandError> {
    if awaited.is_none() {
        screen.aside(format!(
            "note: waiting for what is not recorded yet: {}",
            error.message()
        ))?;
        *awaited = Some(error.message().to_owned());
    }
    Ok(())
}

fn end_note(timeline: &Timeline) -> String {
    let at = timeline.written(timeline.end());
    if timeline.reel().is_finished() {
        format!("note: the recording ended at {at}")
    } else {
        format!(
            "note: the recording ends at {at}, unfinished: its recorder was killed or has lost the file"
        )
    }
}

/// Waits; returns whether the output still has a reader.
#[cfg(unix)]
fn wait_for(pause: Duration) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdout = std::io::stdout();
    let mut ends = [PollFd::new(&stdout, PollFlags::empty())];
    let is_over = Timespec::try_from(pause)
        .ok()
        .and_then(|pause| poll(&mut ends, Some(&pause)).ok());
    match is_over {
        Some(0) => true,
        Some(_)
            if ends
                .iter()
                .any(|end| end.revents().contains(PollFlags::ERR)) =>
        {
            false
        }
        // A terminal that hung up sends a signal, and a file that is not open takes everything.
        _ => {
            std::thread::sleep(pause);
            true
        }
    }
}

/// Waits.
#[cfg(not(unix))]
fn wait_for(pause: Duration) -> bool {
    std::thread::sleep(pause);
    true
}

/// The time of a question about a reel that grows. Moments are those that the first state gives; a time that was not
/// reached then is waited for.
#[derive(Debug)]
pub(crate) struct FollowBounds {
    from: Option<Moment>,
    to: Option<Moment>,
    pinned: Option<PinnedBounds>,
    /// Whether changes at the first moment are asked for, and not the state then.
    lists_changes: bool,
}

/// Where a question begins and ends; `None` for the ends of the recording.
type PinnedBounds = (Option<PinnedMoment>, Option<PinnedMoment>);

/// A moment that no longer depends on the end of the recording.
#[derive(Clone, Copy, Debug)]
enum PinnedMoment {
    /// A place.
    At(Cut),
    /// A time that was not recorded yet.
    Later(RecordedAt),
    /// A mark or a record that is not there yet.
    Awaited(Moment),
}

/// What of a question is new in a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FollowPart {
    /// Where the question begins; `None` for the start of the recording.
    pub(crate) asked_from: Option<Cut>,
    /// Where the part begins.
    pub(crate) from: Option<Cut>,
    /// Where it ends; `None` for the end of what is recorded.
    pub(crate) to: Option<Cut>,
    /// Whether nothing can come after it.
    pub(crate) is_over: bool,
}

impl FollowBounds {
    /// Takes the bounds of a question.
    pub(crate) const fn new(from: Option<Moment>, to: Option<Moment>) -> Self {
        Self {
            from,
            to,
            pinned: None,
            lists_changes: false,
        }
    }

    /// Takes the bounds of a list of changes, those of the first moment among them.
    pub(crate) const fn of_changes(from: Option<Moment>, to: Option<Moment>) -> Self {
        Self {
            lists_changes: true,
            ..Self::new(from, to)
        }
    }

    /// Gives the part that is new in a state; `None` where the question begins later.
    pub(crate) fn part(
        &mut self,
        state: &FollowedReel,
    ) -> Result<Option<FollowPart>, CommandError> {
        let timeline = &state.timeline;
        let (from, to) = match self.pinned {
            Some(pinned) => pinned,
            None => *self.pinned.insert(pinned(timeline, self.from, self.to)?),
        };
        let from = match from.map(|from| from.place(timeline)) {
            None => None,
            Some(Some(place)) => Some(place),
            Some(None) => return Ok(None),
        };
        let to = to.and_then(|to| to.place(timeline));
        arguments::refuse_backward(timeline, (from, to))?;
        let first = if self.lists_changes {
            arguments::first_change(timeline, self.from, from)
        } else {
            from
        };
        Ok(Some(FollowPart {
            asked_from: from,
            from: part_begin(first, state.new_from),
            to,
            // A change of an earlier revision may come later.
            is_over: matches!(to, Some(Cut::Arrival { .. })),
        }))
    }
}

/// Gives where the new part of a question begins.
fn part_begin(from: Option<Cut>, new_from: Seq) -> Option<Cut> {
    if new_from == Seq(0) {
        return from;
    }
    Some(match from {
        Some(Cut::Arrival { below, wall }) => Cut::Arrival {
            below: below.max(new_from),
            wall,
        },
        // What has no place in the order of arrival was passed with the first state.
        None | Some(Cut::Revision(_)) => Cut::Arrival {
            below: new_from,
            wall: RecordedAt::from_micros(i64::MIN),
        },
    })
}

/// Takes the bounds of a question as the first state has them.
fn pinned(
    timeline: &Timeline,
    from: Option<Moment>,
    to: Option<Moment>,
) -> Result<PinnedBounds, CommandError> {
    let from = from.map(|from| pin(timeline, from, "--from")).transpose()?;
    // The end of what grows is not reached.
    let to = to.filter(|to| *to != Moment::End);
    let to = to.map(|to| pin(timeline, to, "--to")).transpose()?;
    Ok((from, to))
}

/// Takes a moment as the first state has it.
fn pin(timeline: &Timeline, moment: Moment, flag: &str) -> Result<PinnedMoment, CommandError> {
    if matches!(moment, Moment::Mark(_) | Moment::Record(_))
        && matches!(
            timeline.resolve(moment),
            Err(ResolveError::NoSuchMark { .. } | ResolveError::NoSuchRecord { .. })
        )
    {
        return Ok(PinnedMoment::Awaited(moment));
    }
    let cut = arguments::resolve(timeline, moment, flag)?;
    Ok(match cut {
        Cut::Arrival { wall, .. } if wall > timeline.end() => PinnedMoment::Later(wall),
        cut => PinnedMoment::At(cut),
    })
}

impl PinnedMoment {
    /// Gives its place, once the recording has come so far.
    fn place(self, timeline: &Timeline) -> Option<Cut> {
        match self {
            Self::At(cut) => Some(cut),
            Self::Later(wall) if wall > timeline.end() => None,
            Self::Later(wall) => timeline.resolve(Moment::Time(wall)).ok(),
            Self::Awaited(moment) => timeline.resolve(moment).ok(),
        }
    }
}

/// The reported unobserved times.
#[derive(Debug, Default)]
pub(crate) struct ToldSpans(BTreeSet<(ResourceId, RecordedAt, RecordedAt)>);

impl ToldSpans {
    /// Returns whether a time is over and was not reported yet.
    pub(crate) fn is_new(&mut self, span: &UnobservedSpan, is_last: bool) -> bool {
        // What is open may be read back, or the watch may go on without a loss.
        (is_last || !span.is_open()) && self.0.insert((span.resource, span.from, span.to))
    }

    /// Returns whether a gap was not reported yet.
    pub(crate) fn is_new_gap(&mut self, gap: &Gap) -> bool {
        self.0.insert((gap.resource, gap.from_time, gap.to_time))
    }

    /// Says in which times changes of resources may be missing, each once.
    pub(crate) fn tell(
        &mut self,
        timeline: &Timeline,
        resources: &[ResourceId],
        part: FollowPart,
        screen: &mut Console,
    ) -> Result<(), CommandError> {
        let begin = match part.asked_from {
            Some(Cut::Arrival { wall, .. }) => wall,
            _ => RecordedAt::from_micros(i64::MIN),
        };
        for span in resources.iter().flat_map(|id| timeline.unobserved(*id)) {
            if span.to > begin && self.is_new(span, false) {
                let [from, to] =
                    [span.known_from(), span.known_to()].map(|at| timeline.written_if_known(at));
                let line = format!(
                    "note: not observed {from} – {to}: changes in between may be missing ({})",
                    span.reason
                );
                screen.aside(harmless(&line))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_format::Reel;

    /// The demo, of which the records from a number on are new.
    fn state(new_from: Seq) -> FollowedReel {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/demo.reel");
        let timeline = Timeline::new(Reel::open(&path).expect("the demo"));
        FollowedReel { timeline, new_from }
    }

    fn below(cut: Option<Cut>) -> Option<Seq> {
        match cut? {
            Cut::Arrival { below, .. } => Some(below),
            Cut::Revision(_) => None,
        }
    }

    #[test]
    fn parts_follow_each_other_and_begin_where_the_question_does() {
        let first = state(Seq(0));
        let end = first.timeline.reel().end();
        let mut all = FollowBounds::new(None, Some(Moment::End));
        let part = all.part(&first).expect("bounds").expect("a part");
        assert_eq!(
            (below(part.from), below(part.to), part.is_over),
            (None, None, false)
        );
        let part = all.part(&state(Seq(9))).expect("bounds").expect("a part");
        assert_eq!(
            (below(part.from), below(part.asked_from)),
            (Some(Seq(9)), None)
        );
        // The end of the first state stays where it was.
        let mut rest = FollowBounds::new(Some(Moment::End), None);
        for new_from in [Seq(0), Seq(9), Seq(end.0 + 7)] {
            let part = rest
                .part(&state(new_from))
                .expect("bounds")
                .expect("a part");
            assert_eq!(below(part.asked_from), Some(end));
            assert_eq!(below(part.from), Some(end.max(new_from)));
        }
    }

    #[test]
    fn what_was_not_recorded_yet_is_waited_for() {
        let first = state(Seq(0));
        let end = first.timeline.end();
        let later = RecordedAt::from_micros(end.micros + 5_000_000);
        let mut bounds = FollowBounds::new(Some(Moment::Time(later)), None);
        assert!(bounds.part(&first).expect("bounds").is_none());
        for to in [
            "mark:none of these",
            "seq:99999999",
            &kubereel_history::timetext::rfc3339(later),
        ] {
            let to: Moment = to.parse().expect("a moment");
            let mut bounds = FollowBounds::new(None, Some(to));
            let part = bounds.part(&first).expect("bounds").expect("a part");
            assert!(!part.is_over, "{to:?}");
        }
        let mut bounds = FollowBounds::new(None, Some(Moment::Record(Seq(20))));
        let part = bounds.part(&first).expect("bounds").expect("a part");
        assert_eq!((below(part.to), part.is_over), (Some(Seq(21)), true));
        // A change of an earlier revision may come later.
        let mut bounds = FollowBounds::new(None, Some(Moment::Revision(7)));
        let part = bounds.part(&first).expect("bounds").expect("a part");
        assert_eq!((part.to, part.is_over), (Some(Cut::Revision(7)), false));
    }
}
