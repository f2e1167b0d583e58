//! Questions to a reel that are asked within this process, and how long each takes.

use anyhow::{Context as _, Result};
use kubereel_format::{RecordedAt, Seq};
use kubereel_history::{Cut, ObjectFilter, ResourceSnapshot, Timeline};
use rustix::time::{ClockId, clock_gettime};
use std::path::Path;
use std::time::Duration;

/// How often the whole state is asked for.
const STATES: u64 = 60;

fn at(timeline: &Timeline, wall: RecordedAt) -> Cut {
    let below = timeline.reel().seq_after(wall);
    Cut::Arrival { below, wall }
}

/// Opens a reel, and asks for the object of the event in its middle.
pub(crate) fn open(reel: &Path, middle: RecordedAt) -> Result<Duration> {
    let started = spent();
    let timeline = Timeline::open(reel)?;
    object(&timeline, Seq(timeline.reel().end().0 / 2), middle)?;
    Ok(spent().saturating_sub(started))
}

/// Asks for the object of an event at a time.
fn object(timeline: &Timeline, event: Seq, wall: RecordedAt) -> Result<()> {
    let reel = timeline.reel();
    let Some(object) = reel.object_of(event) else {
        return Ok(());
    };
    let key = reel.key(object).context("no such object")?;
    let filter = ObjectFilter {
        namespace: Some(key.namespace),
        names: &[key.name.to_owned()],
    };
    let state = timeline.as_of(key.resource, at(timeline, wall), &filter);
    for held in &state.objects {
        std::hint::black_box(reel.body(held.seq)?);
    }
    Ok(())
}

/// Asks for objects at moments all over the reel.
pub(crate) fn objects(timeline: &Timeline, asked: u64) -> Result<Vec<Duration>> {
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

/// Returns how many objects lived at a time, Events or not, and gives their bodies.
pub(crate) fn state(
    timeline: &Timeline,
    wall: RecordedAt,
    with_events: bool,
    take: impl Fn(&[u8]) + Sync,
) -> Result<usize> {
    let cut = at(timeline, wall);
    let resources = timeline.resources().iter();
    let states: Vec<ResourceSnapshot> = resources
        .filter(|info| with_events || info.plural != "events")
        .map(|info| timeline.as_of(info.id, cut, &ObjectFilter::default()))
        .collect();
    let held: Vec<_> = states.into_iter().flat_map(|state| state.objects).collect();
    timeline.read_all(&held, cut, &mut |_| {}, |_, body| {
        take(body);
        Ok(())
    })?;
    Ok(held.len())
}

/// What questions for the whole state took, and how many objects lived, in ascending order.
#[derive(Debug)]
pub(crate) struct StateTimes {
    pub(crate) times: Vec<Duration>,
    pub(crate) live: Vec<usize>,
}

/// Asks for the whole state at moments once the cluster is full.
pub(crate) fn states(timeline: &Timeline, with_events: bool) -> Result<StateTimes> {
    let mut chance = Chance::new();
    let end = timeline.reel().end().0;
    let (mut times, mut live) = (Vec::new(), Vec::new());
    for _ in 0..STATES {
        let event = Seq(chance.between(end / 3, end));
        let wall = timeline.reel().stamp(event).context("no such record")?.wall;
        let started = spent();
        live.push(state(timeline, wall, with_events, |body| {
            std::hint::black_box(body);
        })?);
        times.push(spent().saturating_sub(started));
    }
    live.sort_unstable();
    Ok(StateTimes { times, live })
}

/// A stream of numbers, the same in every run.
#[derive(Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) const fn new() -> Self {
        Self(0x2545_f491_4f6c_dd1d)
    }

    /// A number from `least` up to, but without, `end`.
    pub(crate) fn between(&mut self, least: u64, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        least + self.0 % end.saturating_sub(least).max(1)
    }
}

/// Returns the time that this percentage of the times does not exceed, in milliseconds; the times are in ascending order.
pub(crate) fn percentile(times: &[Duration], hundredths: usize) -> f64 {
    let place = times.len().saturating_sub(1) * hundredths / 100;
    times.get(place).map_or(0.0, |time| millis(*time))
}

pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// This process's time on processors so far, all threads together: what else the machine does is
/// not in it.
pub(crate) fn spent() -> Duration {
    let at = clock_gettime(ClockId::ProcessCPUTime);
    // A process's own time is never negative.
    Duration::try_from(at).unwrap_or_default()
}
