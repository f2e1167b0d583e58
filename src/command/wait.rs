//! `kubereel wait`: when, in a recording, the condition of `kubectl wait` was met. The judgement is that of `history`.

use crate::arguments::{self, JsonOutput};
use crate::command::follow::{self, FollowBounds, FollowOptions};
use crate::command::object_query::AS_IMPORTED;
use crate::command::selection::SelectionArgs;
use crate::command::unreadable::UnreadableObjects;
use crate::command_error::{CommandError, Exit};
use crate::field_text::{self, FieldWriterOutput};
use crate::files;
use crate::outputs::outputs;
use crate::screen::{Console, JsonList};
use kubereel_format::RecordedAt;
use kubereel_history::{
    Cut, FieldSelector, FollowedReel, GoalError, MissedReason, MissedTime, Moment, ObjectFilter,
    ReelInstant, Timeline, WaitAnswer, WaitFor, WaitQuestion, WaitStep, WaitVerdict,
    condition_types, harmless, name_of, nearest, timetext,
};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use targets::WaitTarget;

mod targets;

/// How long a negative timeout is, as for kubectl: a week.
const WEEK_MICROS: i64 = 168 * 3600 * 1_000_000;

/// Find when, in a recording, a condition was met, as kubectl wait waits for it
///
/// --for takes what kubectl takes: create, delete, condition=NAME[=STATUS] and
/// jsonpath=EXPR[=VALUE]. The state at the start is evaluated first. Several conditions are waited for
/// one after the other, creation first.
///
/// Without gaps the answer is exact, stronger than that of kubectl wait, which may miss a short state.
/// With gaps the answer lists the times in which states may have been missed; a condition that was not
/// observed but may have been met in them is unknown (exit code 4), not false.
///
/// Unlike kubectl, objects are evaluated independently, and objects that are created in the time span
/// are included (not for deletion, which is waited for only on objects that exist at the start).
/// -l and --field-selector select objects by their state when they first exist.
/// --timeout is recorded time without a default. Additional conditions: reason=REASON (of a condition
/// or a waiting container), event=REASON (of an Event about the object) and replaced (by another
/// object with the same name).
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
#[expect(clippy::struct_excessive_bools, reason = "flags are booleans")]
pub(crate) struct Args {
    /// The reel: a file, a folder, an archive or a URL; default: $KUBEREEL, or the only one here
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    #[command(flatten)]
    which: WaitObjects,
    /// Condition to wait for; may be given more than once
    #[arg(long = "for", value_name = "CONDITION", required = true, value_parser = read_goal)]
    goals: Vec<WaitFor>,
    /// Succeed when any of the conditions is met
    #[arg(long)]
    or: bool,
    /// Fail if this condition is met first; may be given more than once
    #[arg(long, value_name = "CONDITION", value_parser = read_goal)]
    fail_on: Vec<WaitFor>,
    /// Succeed if the condition is never met
    #[arg(long)]
    never: bool,
    /// Wait for the N-th time that the last condition is met
    #[arg(long, value_name = "N", default_value = "1")]
    nth: NonZeroU64,
    /// Wait until the last condition is met for this long without interruption: 40s, 5m
    #[arg(long, value_name = "DURATION", value_parser = read_length)]
    for_at_least: Option<i64>,
    /// Evaluate objects one after the other, each from the moment the previous one was met, as kubectl does
    #[arg(long)]
    sequential: bool,
    /// Search from this moment; default: the first list of the resource
    #[arg(long, visible_alias = "since", value_name = "TIME", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    from: Option<Moment>,
    /// Search up to this moment
    #[arg(long, visible_alias = "until-time", value_name = "TIME", default_value = "end", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    to: Moment,
    /// Follow a reel that is being recorded: wait until the condition is met; default of --from: now
    #[arg(long)]
    follow: bool,
    /// Maximum recorded time to search, with --follow maximum time to wait: 0 evaluates only the start, a negative
    /// value means a week
    #[arg(long, value_name = "DURATION", value_parser = read_timeout, allow_hyphen_values = true)]
    timeout: Option<i64>,
    #[command(flatten)]
    output: JsonOutput,
}

/// Which objects are waited for.
#[derive(Debug, clap::Args)]
struct WaitObjects {
    #[command(flatten)]
    selected: SelectionArgs,
    /// All objects whose fields match when they first exist: status.phase=Running
    #[arg(
        long,
        value_name = "SELECTOR",
        default_value = "",
        conflicts_with = "filename"
    )]
    field_selector: FieldSelector,
    /// All objects
    #[arg(long, conflicts_with = "filename")]
    all: bool,
}

impl WaitObjects {
    /// Returns whether objects are chosen, not named.
    fn chooses(&self) -> bool {
        self.all || !self.selected.selector.is_empty() || !self.field_selector.is_empty()
    }

    fn namespace(&self) -> &str {
        self.selected.namespace.as_deref().unwrap_or("default")
    }
}

fn after_help() -> String {
    format!(
        "\
Examples:
  kubereel wait run.reel pod/web-0 -n shop --for=condition=Ready
  kubereel wait run.reel co --all --for=condition=Degraded --never
  kubereel wait run.reel pods -l app=shop -n shop --for=delete --from 14:02 --timeout 5m
  kubereel wait run.reel pod/web-0 -n shop --for=jsonpath='{{.status.phase}}'=Failed --fail-on=delete
  kubereel wait run.reel co/etcd --for=condition=Available=False --for-at-least 40s -o json
  kubereel wait run.reel -f shop.yaml --for=create
  kubereel wait run.reel deploy/shop -n shop --for=condition=Available --follow --timeout 5m

Exit codes:
  0  every object met the condition; with --never, none did
  1  an object did not meet it; with --never, one did
  3  the reel is damaged, and versions are missing
  4  unknown: it may have been met while it was not observed

{}",
        arguments::forms_help()
    )
}

fn read_goal(text: &str) -> Result<WaitFor, String> {
    text.parse().map_err(|error: GoalError| match error {
        GoalError::Unrecognized { .. } => format!(
            "{error}; expected create, delete, condition=NAME[=STATUS], jsonpath=EXPR[=VALUE], reason=REASON, event=REASON or replaced"
        ),
        _ => error.to_string(),
    })
}

/// Reads a length of time as kubectl writes it: `30s`, `1h5m`, `0`.
fn read_timeout(text: &str) -> Result<i64, String> {
    if text == "0" {
        return Ok(0);
    }
    let (length, is_negative) = text
        .strip_prefix('-')
        .map_or((text, false), |rest| (rest, true));
    let micros = arguments::read_micros(length)?;
    Ok(if is_negative { WEEK_MICROS } else { micros })
}

fn read_length(text: &str) -> Result<i64, String> {
    match read_timeout(text)? {
        length if text.starts_with('-') => Err(format!(
            "expected a duration that is not negative: {text:?}, {length}"
        )),
        length => Ok(length),
    }
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let all = args.goals.iter().chain(&args.fail_on);
    if args.for_at_least.is_some() && all.clone().any(WaitFor::is_momentary) {
        return Err(CommandError::usage(
            "--for-at-least requires a condition that lasts: an Event has no duration",
        ));
    }
    if args.follow {
        return follow(args, screen);
    }
    let timeline = files::open_reel(&args.reel)?;
    let from = args
        .from
        .map(|from| arguments::resolve(&timeline, from, "--from"));
    let search = SearchedTime {
        from: from.transpose()?,
        to: arguments::resolve(&timeline, args.to, "--to")?,
        timeout: args.timeout,
    };
    arguments::refuse_backward(&timeline, (search.from, Some(search.to)))?;
    let unreadable = UnreadableObjects::default();
    let mut targets = targets::find(&timeline, args, search, &unreadable)?;
    if targets.is_empty() && unreadable.is_empty() {
        return none_matched(&timeline, args, search, screen);
    }
    let answers = answers(&timeline, args, &mut targets);
    end(&timeline, args, &targets, answers, &unreadable, screen)
}

/// The time of the recording that is searched.
#[derive(Clone, Copy)]
struct SearchedTime {
    /// `None` for the first list of the resource.
    from: Option<Cut>,
    to: Cut,
    timeout: Option<i64>,
}

/// Waits until the condition is met, or cannot be met any more, while the reel is recorded.
fn follow(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let mut bounds = FollowBounds::new(Some(args.from.unwrap_or(Moment::End)), Some(args.to));
    let timeout = args
        .timeout
        .and_then(|micros| u64::try_from(micros).ok())
        .map(Duration::from_micros);
    let options = FollowOptions {
        deadline: timeout.and_then(|timeout| Instant::now().checked_add(timeout)),
        is_asked: true,
        is_silent: true,
    };
    let take = |state: &FollowedReel, is_last: bool, screen: &mut Console| {
        let Some(part) = bounds.part(state)? else {
            return Ok(None);
        };
        let is_last = is_last || part.is_over;
        let timeline = &state.timeline;
        let mut timeout = args.timeout;
        if options
            .deadline
            .is_none_or(|deadline| Instant::now() >= deadline)
        {
            timeout = timeout.filter(|timeout| *timeout == 0);
        }
        let search = SearchedTime {
            from: part.asked_from,
            to: part.to.unwrap_or(timeline.last_cut()),
            timeout,
        };
        let unreadable = UnreadableObjects::default();
        let mut targets = targets::find(timeline, args, search, &unreadable)?;
        if targets.is_empty() && unreadable.is_empty() && is_last {
            return none_matched(timeline, args, search, screen).map(Some);
        }
        let answers = answers(timeline, args, &mut targets);
        if !is_last && !is_decided(args, &answers) {
            return Ok(None);
        }
        end(timeline, args, &targets, answers, &unreadable, screen).map(Some)
    };
    follow::follow(&args.reel, options, screen, take)
}

/// Tells whether nothing that comes can change how the command ends.
fn is_decided(args: &Args, answers: &[WaitAnswer]) -> bool {
    let is_met = |answer: &WaitAnswer| answer.verdict == WaitVerdict::Met;
    let has_failed = answers.iter().any(|answer| match answer.verdict {
        WaitVerdict::Met => args.never,
        WaitVerdict::Refused { .. } | WaitVerdict::Failed { .. } => true,
        WaitVerdict::NotMet | WaitVerdict::Unknown => false,
    });
    let are_met = !answers.is_empty() && !args.never && answers.iter().all(is_met);
    has_failed || are_met
}

/// Waits for one object after the other.
fn answers(timeline: &Timeline, args: &Args, targets: &mut [WaitTarget<'_>]) -> Vec<WaitAnswer> {
    let mut answers = Vec::new();
    let mut reached: Option<ReelInstant> = None;
    for target in targets {
        if let Some(reached) = reached
            && args.sequential
        {
            // One deadline holds for all.
            target.span.from = reached.min(target.span.to);
        }
        let waited = timeline.wait(&WaitQuestion {
            resource: target.resource,
            namespace: &target.namespace,
            name: &target.name,
            goals: &args.goals,
            is_any: args.or,
            fail_on: &args.fail_on,
            span: target.span,
            nth: args.nth.get(),
            at_least_micros: args
                .for_at_least
                .and_then(|micros| u64::try_from(micros).ok())
                .unwrap_or(0),
        });
        reached = Some(waited.reached);
        answers.push(waited);
    }
    answers
}

/// Prints the answers, and gives how the command ends.
fn end(
    timeline: &Timeline,
    args: &Args,
    targets: &[WaitTarget<'_>],
    answers: Vec<WaitAnswer>,
    unreadable: &UnreadableObjects,
    screen: &mut Console,
) -> Result<Exit, CommandError> {
    let answers: Vec<(&WaitTarget<'_>, WaitAnswer)> = targets.iter().zip(answers).collect();
    if args.output.is_json() {
        print_json(args, &answers, screen)?;
    } else {
        print_text(timeline, args, &answers, screen)?;
    }
    unreadable.report(screen)?;
    if let Some(note) = unknown_condition(timeline, args, &answers) {
        screen.aside(harmless(&note))?;
    }
    let has_unreadable = |(_, waited): &(_, WaitAnswer)| waited.has_unreadable;
    let is_within_damage = |(target, waited): &(&WaitTarget<'_>, WaitAnswer)| {
        let to = match waited.verdict {
            // What is chosen includes what comes later.
            WaitVerdict::Met if !args.which.chooses() => waited.reached,
            _ => target.span.to,
        };
        let name = (target.namespace.as_str(), target.name.as_str());
        let bounds = (Some(target.span.from.cut()), Some(to.cut()));
        timeline.is_object_damaged_between(target.resource.id, name, bounds)
    };
    let is_damaged = !unreadable.is_empty() || answers.iter().any(has_unreadable);
    if is_damaged || answers.iter().any(is_within_damage) {
        screen.finish()?;
        return Err(CommandError::damaged("versions are missing"));
    }
    let exits: Vec<Exit> = answers
        .iter()
        .map(|(_, waited)| exit(args, &waited.verdict))
        .collect();
    let has = |exit| exits.contains(&exit);
    Ok(if has(Exit::No) {
        Exit::No
    } else if has(Exit::Unknown) {
        Exit::Unknown
    } else {
        Exit::Yes
    })
}

/// Says that a condition was never met which no object has at the end: its name may be misspelled.
fn unknown_condition(
    timeline: &Timeline,
    args: &Args,
    answers: &[(&WaitTarget<'_>, WaitAnswer)],
) -> Option<String> {
    if answers
        .iter()
        .any(|(_, one)| one.verdict == WaitVerdict::Met)
    {
        return None;
    }
    let last = |(target, _): &(&WaitTarget<'_>, WaitAnswer)| {
        let filter = ObjectFilter {
            namespace: Some(&target.namespace),
            names: std::slice::from_ref(&target.name),
        };
        let held = timeline.as_of(target.resource.id, target.span.to.cut(), &filter);
        let seq = held.objects.first()?.seq;
        serde_json::from_slice(&timeline.reel().body(seq).ok()?).ok()
    };
    let bodies: Vec<Value> = answers.iter().filter_map(last).collect();
    let types: BTreeSet<&str> = bodies.iter().flat_map(condition_types).collect();
    args.goals.iter().find_map(|goal| {
        let mut missing = bodies.iter().map(|body| goal.missing_condition(body));
        let name = missing.next().flatten()?;
        let is_missing = !types.is_empty() && missing.all(|missing| missing.is_some());
        let near = nearest(name, types.iter().copied());
        let near = near.first().map(|near| format!("; did you mean {near}?"));
        let at = timeline.written(answers.first()?.0.span.to.at);
        is_missing.then(|| {
            let near = near.unwrap_or_default();
            format!("note: no object has a condition {name} at {at}{near}")
        })
    })
}

/// Gives how the wait for one object ends.
const fn exit(args: &Args, verdict: &WaitVerdict) -> Exit {
    match verdict {
        WaitVerdict::Met if args.never => Exit::No,
        WaitVerdict::NotMet if args.never => Exit::Yes,
        WaitVerdict::Met => Exit::Yes,
        WaitVerdict::Unknown => Exit::Unknown,
        WaitVerdict::NotMet | WaitVerdict::Refused { .. } | WaitVerdict::Failed { .. } => Exit::No,
    }
}

/// Says that nothing was chosen: to wait for its deletion is to have waited enough.
fn none_matched(
    timeline: &Timeline,
    args: &Args,
    search: SearchedTime,
    screen: &mut Console,
) -> Result<Exit, CommandError> {
    let is_known = targets::are_known(timeline, args, search)?;
    let is_gone = args.goals.iter().any(WaitFor::is_deletion);
    if is_gone && is_known && !args.never {
        if args.output.is_json() {
            print_json(args, &[], screen)?;
        }
        screen.aside("no matching resources found: nothing to delete")?;
        return Ok(Exit::Yes);
    }
    let exit = if is_known { Exit::No } else { Exit::Unknown };
    let error = CommandError::new(exit, "no matching resources found");
    Err(error.hint("to list the objects of a moment: kubereel get REEL RESOURCE -A --at TIME"))
}

/// What precedes the objects: nothing.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct WaitHead {}

outputs! {
/// An object that was waited for.
struct WaitOutput<'a>(args: &Args, target: &'a WaitTarget<'_>, waited: &'a WaitAnswer) {
    resource: String = target.resource.qualified(),
    namespace: &'a str = &target.namespace,
    name: &'a str = &target.name,
    /// Whether an object of this name was ever in the recording. The deletion of another one counts as met.
    is_observed: bool = target.is_observed,
    from: String = timetext::rfc3339(target.span.from.at),
    to: String = timetext::rfc3339(target.span.to.at),
    answer: &'static str = match exit(args, &waited.verdict) {
        Exit::Yes => "yes",
        Exit::Unknown => "unknown",
        _ => "no",
    },
    verdict: &'static str = match &waited.verdict {
        WaitVerdict::Met => "met",
        WaitVerdict::NotMet => "not met",
        WaitVerdict::Unknown => "unknown",
        WaitVerdict::Refused { .. } => "error",
        WaitVerdict::Failed { .. } => "failed",
    },
    problem: Option<&'a str> = problem(&waited.verdict).map(|(problem, _)| problem),
    failed_at: Option<String> = problem(&waited.verdict).map(|(_, at)| timetext::rfc3339(at)),
    guarantee: &'static str = match (waited.missed.is_empty(), waited.is_imported) {
        (true, true) => "as imported",
        (true, false) if is_bounded(waited) => "received late",
        (true, false) => "exact",
        (false, _) => "may have missed states",
    },
    unchanged_gaps: usize = waited.bridged_gaps,
    missed: Vec<MissedTimeOutput> = waited.missed.iter().map(MissedTimeOutput::of).collect(),
    met: Vec<MetCondition<'a>> = waited.steps.iter().map(MetCondition::of).collect(),
}

/// A time in which states may have been missed.
struct MissedTimeOutput(missed: &MissedTime) {
    from: String = timetext::rfc3339(missed.from),
    to: String = timetext::rfc3339(missed.to),
    why: &'static str = missed.why.as_str(),
}

struct MetCondition<'a>(step: &'a WaitStep) {
    r#for: &'a str = &step.goal,
    at: String = timetext::rfc3339(step.at),
    since: String = timetext::rfc3339(step.since),
    not_before: Option<String> = step.not_before.map(timetext::rfc3339),
    until: Option<String> = step.until.map(timetext::rfc3339),
    /// When it was last known to be met before `until`, if its end was not observed.
    until_not_before: Option<String> = step.until_not_before.map(timetext::rfc3339),
    lasts_to_end: bool = step.lasts_to_end,
    may_last_longer: bool = step.may_last_longer,
    seq: Option<u64> = step.seq.map(|seq| seq.0),
    rv: &'a str = &step.rv,
    writers: Option<Vec<FieldWriterOutput>> = FieldWriterOutput::of(&step.authors),
    met_secs: f64 = field_text::length_secs(step.met_micros),
    longest_secs: f64 = field_text::length_secs(step.longest_micros),
}
}

/// Returns why a wait ended early, and when.
const fn problem(verdict: &WaitVerdict) -> Option<(&str, RecordedAt)> {
    match verdict {
        WaitVerdict::Refused { at, problem } => Some((problem.as_str(), *at)),
        WaitVerdict::Failed { goal, at } => Some((goal.as_str(), *at)),
        WaitVerdict::Met | WaitVerdict::NotMet | WaitVerdict::Unknown => None,
    }
}

fn print_json(
    args: &Args,
    answers: &[(&WaitTarget<'_>, WaitAnswer)],
    screen: &mut Console,
) -> Result<(), CommandError> {
    let mut list = JsonList::begin(&WaitHead {}, "objects", screen)?;
    for (target, waited) in answers {
        list.push(&WaitOutput::of(args, target, waited), screen)?;
    }
    JsonList::end(screen)
}

/// How many times whose state is not known are named one by one; JSON has all.
const SHOWN_MISSED: usize = 5;

/// The remark that the order of changes to objects of several resources decides.
const ORDER: &str =
    "the order is exact within a resource; between resources it is the order of arrival";

/// Prints the answers: what was met to stdout, all else to stderr.
fn print_text(
    timeline: &Timeline,
    args: &Args,
    answers: &[(&WaitTarget<'_>, WaitAnswer)],
    screen: &mut Console,
) -> Result<(), CommandError> {
    for (target, waited) in answers {
        let name = name_of(target.resource, &target.name);
        if is_nothing_to_delete(timeline, args, target, waited) {
            let never = target.object().never_observed_words();
            screen.line(harmless(&format!("{never}: nothing to delete")))?;
            screen.aside(harmless(&format!("  {}", guarantee(timeline, waited))))?;
            continue;
        }
        for step in &waited.steps {
            let line = met(timeline, &name, step, waited, args);
            screen.line(harmless(&line))?;
            screen.aside(harmless(&format!("  {}", met_details(timeline, step))))?;
        }
        if let Some(line) = verdict_line(timeline, args, target, waited, &name) {
            if args.never && waited.verdict == WaitVerdict::NotMet {
                screen.line(harmless(&line))?;
            } else {
                screen.aside(harmless(&line))?;
            }
        }
        let place = if args.which.selected.all_namespaces && !target.namespace.is_empty() {
            format!("-n {} · ", target.namespace)
        } else {
            String::new()
        };
        let line = format!("  {place}{}", guarantee(timeline, waited));
        screen.aside(harmless(&line))?;
    }
    if spans_resources(args, answers) {
        screen.aside(ORDER)?;
    }
    Ok(())
}

/// Returns whether the wait was for the deletion of an object that never existed, as far as was observed: it may be
/// among lost records.
fn is_nothing_to_delete(
    timeline: &Timeline,
    args: &Args,
    target: &WaitTarget<'_>,
    waited: &WaitAnswer,
) -> bool {
    let names = [target.name.clone()];
    let filter = ObjectFilter {
        namespace: Some(&target.namespace),
        names: &names,
    };
    let mut lost = timeline.hidden_by_damage(target.resource.id, &filter);
    !target.is_observed
        && lost.next().is_none()
        && !args.never
        && waited.verdict == WaitVerdict::Met
        && args.goals.iter().all(WaitFor::is_deletion)
}

/// Tells whether what came when matters between resources.
fn spans_resources(args: &Args, answers: &[(&WaitTarget<'_>, WaitAnswer)]) -> bool {
    let mut resources = answers.iter().map(|(target, _)| target.resource.id);
    let first = resources.next();
    let has_others = resources.any(|id| Some(id) != first);
    let goals = || args.goals.iter().chain(&args.fail_on);
    let has = |is_momentary| goals().any(|goal| goal.is_momentary() == is_momentary);
    let has_both = has(true) && has(false);
    (has_others && args.sequential) || has_both
}

fn met(
    timeline: &Timeline,
    name: &str,
    step: &WaitStep,
    waited: &WaitAnswer,
    args: &Args,
) -> String {
    let at = match step.not_before {
        Some(before) => {
            let lasting = step.at.micros_since(step.since);
            let before = RecordedAt::from_micros(before.micros.saturating_add(lasting));
            let (before, at) = (timeline.written(before), timeline.written(step.at));
            format!("between {before} and {at}")
        }
        None => format!("at {}", timeline.written(step.at)),
    };
    let is_many = args.goals.len() > 1 || waited.steps.len() > 1;
    let which = if is_many {
        format!(" ({})", step.goal)
    } else {
        String::new()
    };
    format!("{name} condition met {at}{which}")
}

/// Prints the writer, the time since which it was met, and the duration.
fn met_details(timeline: &Timeline, step: &WaitStep) -> String {
    let mut parts = Vec::new();
    let offset = timetext::offset(step.at.micros_since(timeline.start()));
    parts.push(offset);
    if step.at != step.since {
        parts.push(format!("since {}", timeline.written(step.since)));
    }
    if let Some(before) = step.not_before {
        let (before, since) = (timeline.written(before), timeline.written(step.since));
        parts.push(format!(
            "between {before} (last seen not met) and {since} (first seen met)"
        ));
    }
    if !step.rv.is_empty() {
        parts.push(format!("rv {}", step.rv));
    }
    let writers = step.authors.writers();
    if !writers.is_empty() {
        parts.push(format!("by {}", field_text::managers(writers)));
    }
    let (total, longest) = (step.met_micros, step.longest_micros);
    // What is met at a moment only, as an Event is, does not last.
    if total > 0 {
        if let Some(until) = step.until {
            let until = timeline.written(until);
            parts.push(match step.until_not_before {
                Some(before) => format!(
                    "until between {} (last known met) and {until} (first seen not met)",
                    timeline.written(before)
                ),
                None => format!("until {until}"),
            });
        } else if step.lasts_to_end {
            parts.push("to the end".to_owned());
        }
        let all = timetext::span(total);
        let least = if step.may_last_longer {
            "at least "
        } else {
            ""
        };
        parts.push(if total == longest {
            format!("met for {least}{all}")
        } else {
            let longest = timetext::span(longest);
            format!("met for {least}{all} in total, {longest} at the longest")
        });
    }
    parts.join(" · ")
}

fn verdict_line(
    timeline: &Timeline,
    args: &Args,
    target: &WaitTarget<'_>,
    waited: &WaitAnswer,
    name: &str,
) -> Option<String> {
    Some(match &waited.verdict {
        WaitVerdict::Met if args.never => {
            format!("error: {name} met the condition, despite --never")
        }
        WaitVerdict::Met => return None,
        WaitVerdict::NotMet if args.never => format!("{name} condition never met"),
        WaitVerdict::NotMet if args.timeout == Some(0) => {
            format!("error: condition not met for {name}")
        }
        WaitVerdict::NotMet => {
            let to = timeline.written(target.span.to.at);
            let resource = &target.resource.plural;
            let name = &target.name;
            if args.timeout.is_some() || args.to != Moment::End {
                format!(
                    "error: timed out waiting for the condition on {resource}/{name}: not met by {to}"
                )
            } else {
                format!("error: condition not met on {resource}/{name} by {to}")
            }
        }
        WaitVerdict::Unknown => {
            format!(
                "error: unknown whether {name} met the condition: not all of the time was observed"
            )
        }
        WaitVerdict::Refused { at, problem } => {
            format!("error: {name} at {}: {problem}", timeline.written(*at))
        }
        WaitVerdict::Failed { goal, at } => {
            format!(
                "error: {name} met {goal} at {} first",
                timeline.written(*at)
            )
        }
    })
}

/// Says how far the answer can be trusted.
fn guarantee(timeline: &Timeline, waited: &WaitAnswer) -> String {
    if waited.missed.is_empty() {
        if waited.is_imported {
            return AS_IMPORTED.to_owned();
        }
        if is_bounded(waited) {
            return "no gaps in the searched time, but changes were received late".to_owned();
        }
        let is_open = waited.steps.iter().any(|step| step.may_last_longer);
        return exact(waited.bridged_gaps, is_open).to_owned();
    }
    let shown = waited.missed.iter().take(SHOWN_MISSED);
    let mut parts: Vec<String> = shown.map(|missed| missing(timeline, missed)).collect();
    let rest = waited.missed.len().saturating_sub(SHOWN_MISSED);
    if rest > 0 {
        parts.push(format!("and {rest} more times: -o json"));
    }
    parts.join("; ")
}

/// Returns whether something was met at a time of which only bounds are known, although nothing was missed.
fn is_bounded(waited: &WaitAnswer) -> bool {
    let mut steps = waited.steps.iter();
    steps.any(|step| step.not_before.is_some())
}

const fn exact(bridged_gaps: usize, is_open: bool) -> &'static str {
    match bridged_gaps {
        0 if is_open => "exact: no gaps before it",
        0 => "exact: no gaps in the searched time",
        1 => "exact: unchanged across the gap",
        _ => "exact: unchanged across the gaps",
    }
}

fn missing(timeline: &Timeline, missed: &MissedTime) -> String {
    let (from, to) = (timeline.written(missed.from), timeline.written(missed.to));
    if missed.from == missed.to {
        return format!("not known at {from} ({})", missed.why.as_str());
    }
    match missed.why {
        MissedReason::Gap => format!("may have missed states between {from} and {to}"),
        MissedReason::NotObserved => format!("not observed between {from} and {to}"),
        MissedReason::RecordingEnded => format!("recording ends at {from}"),
        MissedReason::Unreadable => format!("unreadable between {from} and {to}"),
        MissedReason::Redacted => format!("value redacted between {from} and {to}"),
    }
}
