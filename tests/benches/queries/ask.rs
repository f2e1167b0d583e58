//! Owns the questions that are asked within this process, and how long they take.

use crate::naive::Naive;
use crate::reels::Made;
use crate::table::{Row, spent};
use anyhow::{Context as _, Result, ensure};
use kubereel_format::{ReadError, RecordedAt, Seq};
use kubereel_history::{
    Cursor, CursorStep, Cut, ObjectFilter, ResourceSnapshot, StepBodies, Timeline, Track,
};
use std::collections::HashSet;
use std::time::Duration;

/// How often a reel is opened.
const OPENED: usize = 5;
/// How often the whole state is asked for.
const STATES: u64 = 60;

/// Asks everything, and prints the rows.
pub(crate) fn show(made: &Made, naive: &Naive, asked: u64) -> Result<()> {
    let row = |question, times, promised_millis| Row {
        question,
        events: made.events,
        times,
        naive: naive.took,
        promised_millis,
    };
    let opened = (0..OPENED)
        .map(|_| open(made))
        .collect::<Result<Vec<_>>>()?;
    row("open, to the first answer", opened, Some(300.0)).print();
    let timeline = Timeline::open(&made.reel)?;
    check(&timeline, made, naive)?;
    let objects = objects(&timeline, asked)?;
    row("an object at a time", objects, Some(10.0)).print();
    for (jump, step, lone, is_forward) in [
        (
            "a jump and a step forward",
            "a further step forward",
            "the same, nothing read ahead",
            true,
        ),
        (
            "a jump and a step back",
            "a further step back",
            "the same, nothing read ahead",
            false,
        ),
    ] {
        let Walked { jumps, steps } = walk(&timeline, asked, is_forward, Cursor::bodies)?;
        row(jump, jumps, Some(10.0)).print();
        row(step, steps, Some(1.0)).print();
        // A reel opened anew: what the walk above left in memory must not help.
        let fresh = Timeline::open(&made.reel)?;
        let alone = |_: &mut Cursor<'_>, step: &CursorStep| fresh.step_bodies(step);
        row(lone, walk(&fresh, asked, is_forward, alone)?.steps, None).print();
    }
    for (question, with_events) in [
        ("the whole state", true),
        ("the whole state without Events", false),
    ] {
        let times = states(&timeline, with_events)?;
        row(question, times, Some(250.0)).print();
    }
    Ok(())
}

fn at(timeline: &Timeline, wall: RecordedAt) -> Cut {
    let below = timeline.reel().seq_after(wall);
    Cut::Arrival { below, wall }
}

fn open(made: &Made) -> Result<Duration> {
    let started = spent();
    let timeline = Timeline::open(&made.reel)?;
    object(&timeline, Seq(timeline.reel().end().0 / 2), made.middle)?;
    Ok(spent().saturating_sub(started))
}

/// Asks for the object of an event at a time.
fn object(timeline: &Timeline, event: Seq, wall: RecordedAt) -> Result<()> {
    let reel = timeline.reel();
    let Some(object) = reel.object_of(event) else {
        return Ok(());
    };
    let key = &reel
        .objects()
        .get(usize::try_from(object.0)?)
        .context("no such object")?
        .key;
    let filter = ObjectFilter {
        namespace: Some(&key.namespace),
        names: std::slice::from_ref(&key.name),
    };
    let state = timeline.as_of(key.resource, at(timeline, wall), &filter);
    for held in &state.objects {
        std::hint::black_box(reel.body(held.seq)?);
    }
    Ok(())
}

fn objects(timeline: &Timeline, asked: u64) -> Result<Vec<Duration>> {
    let mut chance = Chance::new();
    let end = timeline.reel().end().0;
    let mut times = Vec::new();
    for _ in 0..asked {
        let event = Seq(chance.between(0, end));
        let stamp = timeline.reel().stamp(event).context("no such record")?;
        // A moment after the event, when the object may have changed again.
        let later = i64::try_from(chance.between(0, 60_000_000))?;
        let wall = RecordedAt::from_micros(stamp.wall.micros + later);
        let started = spent();
        object(timeline, event, wall)?;
        times.push(spent().saturating_sub(started));
    }
    Ok(times)
}

/// How many steps are taken from each place.
const STEPS: u64 = 20;

/// What a walk took.
struct Walked {
    /// To a place anywhere, and the first step from there: nothing around it was read before.
    jumps: Vec<Duration>,
    /// The further ones.
    steps: Vec<Duration>,
}

/// Steps from places all over the reel: each step with the body that came and the one before it.
fn walk<'t>(
    timeline: &'t Timeline,
    asked: u64,
    is_forward: bool,
    read: impl Fn(&mut Cursor<'t>, &CursorStep) -> Result<StepBodies, ReadError>,
) -> Result<Walked> {
    let mut chance = Chance::new();
    let end = timeline.reel().end().0;
    let mut walked = Walked {
        jumps: Vec::new(),
        steps: Vec::new(),
    };
    for _ in 0..asked / STEPS {
        let below = Seq(chance.between(STEPS, end - STEPS));
        let wall = timeline.reel().stamp(below).context("no such record")?.wall;
        let cut = Cut::Arrival { below, wall };
        let mut started = spent();
        let mut cursor = timeline.cursor(Track::Everything, cut);
        for place in 0..=STEPS {
            let step = if is_forward {
                cursor.forward()
            } else {
                cursor.back()
            };
            let Some(step) = step else { break };
            std::hint::black_box(read(&mut cursor, &step)?);
            let now = spent();
            let took = now.saturating_sub(started);
            if place == 0 {
                walked.jumps.push(took);
            } else {
                walked.steps.push(took);
            }
            started = now;
        }
    }
    Ok(walked)
}

/// All resources at a time, or all but Events, and the bodies of all their objects.
fn state(
    timeline: &Timeline,
    wall: RecordedAt,
    with_events: bool,
    mut take: impl FnMut(&[u8]),
) -> Result<usize> {
    let cut = at(timeline, wall);
    let below = timeline.reel().seq_after(wall);
    let resources = timeline.resources().iter();
    let states: Vec<ResourceSnapshot> = resources
        .filter(|info| with_events || info.plural != "events")
        .map(|info| timeline.as_of(info.id, cut, &ObjectFilter::default()))
        .collect();
    let mut held: Vec<_> = states.iter().flat_map(|state| &state.objects).collect();
    // In the order in which objects were first seen: so they lie in checkpoints.
    held.sort_unstable_by_key(|held| held.object);
    for held in &held {
        take(&timeline.reel().body_at(held.seq, below)?);
    }
    Ok(held.len())
}

fn states(timeline: &Timeline, with_events: bool) -> Result<Vec<Duration>> {
    let mut chance = Chance::new();
    let end = timeline.reel().end().0;
    let (mut times, mut live) = (Vec::new(), Vec::new());
    for _ in 0..STATES {
        // Once the cluster is full.
        let event = Seq(chance.between(end / 3, end));
        let wall = timeline.reel().stamp(event).context("no such record")?.wall;
        let started = spent();
        live.push(state(timeline, wall, with_events, |body| {
            std::hint::black_box(body);
        })?);
        times.push(spent().saturating_sub(started));
    }
    live.sort_unstable();
    println!(
        "  {} to {} objects live:",
        live.first().copied().unwrap_or_default(),
        live.last().copied().unwrap_or_default()
    );
    Ok(times)
}

/// The fast answer must be the slow one's.
fn check(timeline: &Timeline, made: &Made, naive: &Naive) -> Result<()> {
    let expected: HashSet<&[u8]> = naive.state.values().map(|body| body.as_bytes()).collect();
    let mut found = 0;
    let all = state(timeline, made.middle, true, |body| {
        found += usize::from(expected.contains(body));
    })?;
    ensure!(
        all == expected.len() && found == all,
        "{found} of {all} objects are as in the naive replay, which has {}",
        expected.len()
    );
    Ok(())
}

/// A stream of numbers, the same in every run.
#[derive(Debug)]
struct Chance(u64);

impl Chance {
    const fn new() -> Self {
        Self(0x2545_f491_4f6c_dd1d)
    }

    /// A number from `least` up to, but without, `end`.
    fn between(&mut self, least: u64, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        least + self.0 % end.saturating_sub(least).max(1)
    }
}
