//! Hands the steps of a scenario out at their times, and lets the cluster live in between.

use std::collections::BTreeMap;
use std::io::{self, Write};

use jiff::Timestamp;

use super::super::step::{Gate, Step};
use super::super::{LoadSteps, Moment, PlantedFault, Scenario, ScenarioError, small};
use super::act::Walls;
use super::clock::Instant;
use super::lines::Lines;
use super::size;
use super::world::World;

/// What is to be written.
#[derive(Debug, Clone)]
pub struct Writing {
    /// All choices follow from it.
    pub seed: u64,
    /// How many lines; fewer than the story has cut it short.
    pub events: u64,
    /// When the scenario begins.
    pub begins: Timestamp,
    /// How long Events live.
    pub event_ttl_secs: f64,
}

/// What was written.
#[derive(Debug, Clone)]
pub struct Written {
    /// How many lines.
    pub events: u64,
    /// How many lines of each resource.
    pub by_resource: BTreeMap<&'static str, u64>,
    /// How many objects live at the end.
    pub live: usize,
    /// The most objects that lived at once.
    pub live_most: usize,
    /// The time of the last line.
    pub ends: Timestamp,
    /// The planted faults, with the times at which they came to be.
    pub faults: Vec<(PlantedFault, Timestamp, Option<Timestamp>)>,
    /// For how long virtual time stood still for a gate.
    pub held_secs: f64,
}

/// Why a scenario cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The scenario contradicts itself.
    #[error("the scenario cannot be laid out")]
    Scenario(#[from] ScenarioError),
    /// The cluster does not come to what a step needs.
    #[error("stuck at {at}: {gate:?}")]
    Stuck {
        /// The step's time.
        at: Moment,
        /// What it waits for.
        gate: Box<Gate>,
    },
    /// The lines cannot be written.
    #[error("cannot write lines")]
    Io(#[from] io::Error),
}

/// How often a closed gate is looked at.
const LOOK_SECS: f64 = 0.25;
/// How long virtual time may stand still for one gate.
const GATE_WITHIN_SECS: f64 = 1_200.0;

impl Default for Writing {
    /// 100,000 lines from the first minute of 2026 on, with Events that live for an hour.
    fn default() -> Self {
        Self {
            seed: 1,
            events: 100_000,
            begins: Timestamp::from_second(1_767_225_600).unwrap_or_default(),
            event_ttl_secs: 3_600.0,
        }
    }
}

/// The steps of the story and those of the load, by time.
struct Steps {
    story: std::iter::Peekable<std::vec::IntoIter<Step>>,
    load: LoadSteps,
    next_of_load: Option<Step>,
}

impl Steps {
    fn due(&mut self) -> Option<Moment> {
        let (story, load) = (self.story.peek(), self.next_of_load.as_ref());
        story.into_iter().chain(load).map(|step| step.at).min()
    }

    fn next(&mut self) -> Option<Step> {
        let due = self.due()?;
        if let Some(step) = self.story.next_if(|step| step.at == due) {
            return Some(step);
        }
        std::mem::replace(&mut self.next_of_load, self.load.next())
    }
}

impl Writing {
    /// Writes the lines.
    ///
    /// # Errors
    ///
    /// Nothing can be written, or the scenario gets stuck.
    pub fn write(&self, out: &mut dyn Write) -> Result<Written, WriteError> {
        let growth = size::growth(self.events);
        let mut scenario: Scenario = small()?;
        scenario.seed = self.seed;
        let scenario = scenario.grown(&growth);
        let mut plan = scenario.plan()?;
        let mut load = scenario.load_steps(&growth, &plan);
        let mut steps = Steps {
            story: std::mem::take(&mut plan.steps).into_iter().peekable(),
            next_of_load: load.next(),
            load,
        };
        let start = Instant(self.begins.as_microsecond());
        let lines = Lines::new(out, self.events);
        let mut world = World::new(lines, start, self.seed, self.event_ttl_secs);
        world.bootstrap();
        let mut held = 0.0;
        let mut walls = Walls::new();
        walls.insert(Moment::default(), start);
        let end = Moment::from_secs(growth.end_secs);
        while !world.store.lines.is_over() {
            let at = steps.due().unwrap_or(end);
            let due = start.after_secs(at.since_start().as_secs_f64() + held);
            if world.next_due().is_some_and(|other| other <= due) {
                if let Some(task) = world.next() {
                    world.perform(task);
                }
                continue;
            }
            world.store.now = world.store.now.max(due);
            let Some(step) = steps.next() else { break };
            if let Some(gate) = &step.gate {
                held += wait(&mut world, &step, gate)?;
            }
            // Only the story names moments.
            if step.at <= plan.end {
                walls.insert(step.at, world.store.now);
            }
            world.act(&step, &walls);
        }
        world.store.lines.finish()?;
        let faults = plan.faults.iter().chain(steps.load.faults());
        Ok(written(&world, faults, &walls, held))
    }
}

impl Writing {
    /// Writes the lines of steps that are laid out already, up to a moment.
    ///
    /// # Errors
    ///
    /// Nothing can be written, or the steps get stuck.
    pub(in super::super) fn write_steps(
        &self,
        out: &mut dyn Write,
        steps: &[Step],
        end: Moment,
    ) -> Result<(), WriteError> {
        let start = Instant(self.begins.as_microsecond());
        let lines = Lines::new(out, self.events);
        let mut world = World::new(lines, start, self.seed, self.event_ttl_secs);
        world.bootstrap();
        let mut held = 0.0;
        let mut walls = Walls::new();
        walls.insert(Moment::default(), start);
        for step in steps.iter().filter(|step| step.at <= end) {
            let due = start.after_secs(step.at.since_start().as_secs_f64() + held);
            live_until(&mut world, due);
            if let Some(gate) = &step.gate {
                held += wait(&mut world, step, gate)?;
            }
            walls.insert(step.at, world.store.now);
            world.act(step, &walls);
        }
        let due = start.after_secs(end.since_start().as_secs_f64() + held);
        live_until(&mut world, due);
        world.store.lines.finish()?;
        Ok(())
    }
}

/// Lets the cluster live until a moment.
fn live_until(world: &mut World<'_>, until: Instant) {
    while world.next_due().is_some_and(|due| due <= until) {
        if let Some(task) = world.next() {
            world.perform(task);
        }
    }
    world.store.now = world.store.now.max(until);
}

/// Lets the cluster live until a gate is open; says for how long, in seconds.
fn wait(world: &mut World<'_>, step: &Step, gate: &Gate) -> Result<f64, WriteError> {
    let mut waited = 0.0;
    while !world.is_open(gate) && !world.store.lines.is_over() {
        if waited > GATE_WITHIN_SECS {
            let (at, gate) = (step.at, Box::new(gate.clone()));
            return Err(WriteError::Stuck { at, gate });
        }
        let until = world.store.now.after_secs(LOOK_SECS);
        live_until(world, until);
        waited += LOOK_SECS;
    }
    Ok(waited)
}

fn written<'f>(
    world: &World<'_>,
    faults: impl Iterator<Item = &'f PlantedFault>,
    walls: &Walls,
    held_secs: f64,
) -> Written {
    let time = |moment: Moment| {
        let (before, at) = walls.range(..=moment).next_back()?;
        let later = moment.since_start().saturating_sub(before.since_start());
        Some(at.after_secs(later.as_secs_f64()).timestamp())
    };
    let lines = &world.store.lines;
    Written {
        events: lines.written,
        by_resource: lines.by_resource.clone(),
        live: world.store.live(),
        live_most: world.store.live_most,
        ends: world.store.now.timestamp(),
        faults: faults
            .filter_map(|fault| Some((fault.clone(), time(fault.at)?, fault.until.and_then(time))))
            .filter(|(_, from, _)| *from <= world.store.now.timestamp())
            .collect(),
        held_secs,
    }
}
