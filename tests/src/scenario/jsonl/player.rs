//! Hands the steps of a scenario out at their times, and lets the cluster live in between.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::load::{Growth, Load};
use super::super::plan::{Act, Gate, Step};
use super::super::play::gate::{is_rolled_out, waits};
use super::super::play::player::{self as stamps, Stamp};
use super::super::{LoadSteps, Moment, PlantedFault, Scenario, ScenarioError, small};
use super::shape::Served;
use super::store::As;
use super::store::{Task, World, text};
use crate::rest;
use crate::rest::Target;

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
        let growth = growth(self.events);
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

/// A time, in microseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Instant(pub(super) i64);

impl Instant {
    /// So many seconds later.
    pub(super) fn after_secs(self, secs: f64) -> Self {
        let duration = std::time::Duration::from_secs_f64(secs.max(0.0));
        Self(self.0 + i64::try_from(duration.as_micros()).unwrap_or(i64::MAX / 4))
    }

    /// As a timestamp.
    pub(super) fn timestamp(self) -> Timestamp {
        Timestamp::from_microsecond(self.0).unwrap_or(Timestamp::MAX)
    }

    /// As `metav1.Time`.
    pub(super) fn seconds(self) -> String {
        rest::seconds(self.timestamp())
    }

    /// As `metav1.MicroTime`, and as the lines have it.
    pub(super) fn micros(self) -> String {
        rest::micros(self.timestamp())
    }
}

/// The story alone has about so many lines.
const STORY: u64 = 8_000;
/// From so many lines on the cluster is as large as it gets: about 10,000 objects live.
const FULL: u64 = 200_000;
/// The load goes on for as long as there are lines to be written: a year is always enough.
const END_SECS: f64 = 365.0 * 86_400.0;

/// What the story needs to have so many lines.
pub(super) fn growth(events: u64) -> Growth {
    // A cluster between none and full, in hundredths.
    let size = if events <= STORY {
        0
    } else {
        (events * 100 / FULL).clamp(5, 100)
    };
    let share = u32::try_from(size).unwrap_or(100);
    let part = |full: u32| (full * share).div_ceil(100);
    // A small cluster has less to do.
    let slower = f64::from(100_u32) / f64::from(share.max(1));
    Growth {
        name: format!("written-{events}"),
        end_secs: END_SECS,
        workers: u8::try_from(part(36)).unwrap_or(36),
        load: Load {
            begins_secs: 600.0,
            namespaces: part(24),
            deployments: if share == 0 { 0 } else { 10 },
            replicas: 3,
            spread_secs: 1_800.0 * f64::from(share.max(1)) / 100.0,
            rollout_every_secs: 20.0 * slower,
            scale_every_secs: 45.0 * slower,
            job_every_secs: 20.0 * slower,
            settings_every_secs: 6.0 * slower,
            controllers: part(30),
            renew_every_secs: 10.0,
            degraded_every_secs: 1_800.0,
        },
    }
}

/// A stream of numbers.
#[derive(Debug)]
pub(super) struct Random {
    state: u64,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            state: seed ^ 0x5851_f42d_4c95_7f2d,
        }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number from `least` up to, but without, `end`.
    pub(super) fn between(&mut self, least: u64, end: u64) -> u64 {
        least + self.next() % end.saturating_sub(least).max(1)
    }

    /// Seconds between two numbers of milliseconds.
    pub(super) fn millis(&mut self, least: u64, end: u64) -> f64 {
        std::time::Duration::from_millis(self.between(least, end)).as_secs_f64()
    }

    /// Lower-case hex of so many digits.
    pub(super) fn hex(&mut self, digits: usize) -> String {
        let mut text = String::new();
        while text.len() < digits {
            // Writing to a String cannot fail.
            write!(text, "{:016x}", self.next()).unwrap_or_default();
        }
        text.truncate(digits);
        text
    }

    /// A UUID, version 4 by its looks.
    pub(super) fn uuid(&mut self) -> String {
        let (high, low) = (self.next(), self.next());
        let time = high >> 32;
        let (mid, version) = ((high >> 16) & 0xffff, high & 0x0fff);
        let (variant, node) = (0x8000 | ((low >> 48) & 0x3fff), low & 0xffff_ffff_ffff);
        format!("{time:08x}-{mid:04x}-4{version:03x}-{variant:04x}-{node:012x}")
    }

    /// The characters at the end of a generated name: no vowels, as Kubernetes draws them.
    pub(super) fn suffix(&mut self, length: usize) -> String {
        const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        let letters = u64::try_from(LETTERS.len()).unwrap_or(1);
        (0..length)
            .filter_map(|_| {
                let place = usize::try_from(self.between(0, letters)).ok()?;
                LETTERS.get(place).copied().map(char::from)
            })
            .collect()
    }
}

/// What happened to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    Added,
    Modified,
    Deleted,
}

/// Writes lines until there are enough.
pub(super) struct Lines<'w> {
    out: &'w mut dyn Write,
    most: u64,
    pub(super) written: u64,
    pub(super) by_resource: BTreeMap<&'static str, u64>,
    line: String,
    failure: Option<io::Error>,
}

impl<'w> Lines<'w> {
    pub(super) fn new(out: &'w mut dyn Write, most: u64) -> Self {
        Self {
            out,
            most,
            written: 0,
            by_resource: BTreeMap::new(),
            line: String::new(),
            failure: None,
        }
    }

    /// Writes a line, unless there are enough of them.
    pub(super) fn put(&mut self, at: Instant, what: What, served: &Served, object: &str) {
        if self.is_over() {
            return;
        }
        let what = match what {
            What::Added => "ADDED",
            What::Modified => "MODIFIED",
            What::Deleted => "DELETED",
        };
        let (group, version) = served.group_version();
        self.line.clear();
        for part in [
            r#"{"ts":""#,
            &at.micros(),
            r#"","type":""#,
            what,
            r#"","group":""#,
            group,
            r#"","version":""#,
            version,
            r#"","resource":""#,
            served.plural,
            r#"","object":"#,
            object,
            "}\n",
        ] {
            self.line.push_str(part);
        }
        match self.out.write_all(self.line.as_bytes()) {
            Ok(()) => {
                self.written += 1;
                *self.by_resource.entry(served.plural).or_default() += 1;
            }
            Err(error) => self.failure = Some(error),
        }
    }

    /// Whether there are enough lines, or none can be written any more.
    pub(super) fn is_over(&self) -> bool {
        self.written >= self.most || self.failure.is_some()
    }

    /// Ends the writing.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        match self.failure.take() {
            Some(failure) => Err(failure),
            None => self.out.flush(),
        }
    }
}

/// Which time each moment of the plan came to be.
pub(super) type Walls = BTreeMap<Moment, Instant>;

impl World<'_> {
    /// Does what a step says.
    pub(super) fn act(&mut self, step: &Step, walls: &Walls) {
        let by = step.actor.replace(' ', "-");
        match &step.act {
            // Clients see a server restart, objects do not.
            Act::Await | Act::RestartApiServer { .. } => {}
            Act::Script { pods, fate } => self.fates.script(pods.clone(), fate.clone()),
            Act::Join {
                node,
                not_ready_secs,
            } => self.join(node, *not_ready_secs),
            Act::Reboot {
                node,
                down_secs,
                not_ready_secs,
            } => self.reboot(node, *down_secs, *not_ready_secs),
            Act::Drain { node } => self.later(0.01, Task::Drain(node.clone())),
            Act::Lead { lease, leader } => self.lead(&by, lease, leader),
            Act::Resign { lease } => self.resign(&by, lease),
            Act::Create { object } => {
                let object = self.filled(object, walls);
                self.store.create(&by, object);
            }
            Act::Apply { object } => {
                let object = self.filled(object, walls);
                let Some(target) = Target::of(&object) else {
                    return;
                };
                if self.store.has(&target) {
                    self.store
                        .update(&by, &target, As::Apply, |old| merge(old, &object));
                } else {
                    self.store.create_as(&by, As::Apply, object);
                }
            }
            Act::Merge { target, patch } => self.patch(&by, target, &self.filled(patch, walls)),
            Act::UpdateStatus { target, status } => {
                let status = self.filled(status, walls);
                self.store
                    .update(&by, target, As::Status, |object| object["status"] = status);
            }
            Act::Delete { target, grace_secs } => self.delete(target, *grace_secs, &by),
        }
        self.react();
    }

    fn patch(&mut self, by: &str, target: &Target, patch: &Value) {
        let is_template = patch["spec"].get("template").is_some();
        self.store.update(by, target, As::Update, |object| {
            let before = object["spec"].clone();
            merge(object, patch);
            if is_template && target.kind == "DaemonSet" && object["spec"] != before {
                let key = "deprecated.daemonset.template.generation";
                let old: i64 = text(&object["metadata"]["annotations"][key])
                    .parse()
                    .unwrap_or(0);
                object["metadata"]["annotations"][key] = json!((old + 1).to_string());
            }
            // The server fills in anew what a patch of a list has left out.
            super::defaults::fill(object);
        });
        if target.kind == "Node" {
            self.note_cordon(&target.name);
        }
    }

    fn delete(&mut self, target: &Target, grace_secs: Option<u32>, by: &str) {
        if target.kind != "Pod" {
            self.store.remove(target);
            return;
        }
        let key = (
            target.namespace.clone().unwrap_or_default(),
            target.name.clone(),
        );
        if let Some(pod) = self.pods.get(&key).cloned() {
            self.delete_pod(&pod, grace_secs, by);
        }
    }

    fn filled(&self, document: &Value, walls: &Walls) -> Value {
        let mut document = document.clone();
        let wall = |moment: &Moment| {
            walls.get(moment).copied().or_else(|| {
                let (before, at) = walls.range(..=*moment).next_back()?;
                let later =
                    (moment.since_start().saturating_sub(before.since_start())).as_secs_f64();
                Some(at.after_secs(later))
            })
        };
        stamps::fill(&mut document, &|stamp| match stamp {
            Stamp::Secs(moment) => wall(moment).map(Instant::seconds),
            Stamp::Micros(moment) => wall(moment).map(Instant::micros),
            Stamp::Uid(target) => self
                .store
                .get(target)
                .map(|object| text(&object["metadata"]["uid"])),
            Stamp::Holder(lease) => self.leases.get(lease).map(|held| held.last_holder.clone()),
        });
        document
    }

    /// Whether the cluster has come to what a step needs.
    pub(super) fn is_open(&self, gate: &Gate) -> bool {
        match gate {
            // What was written before is done: nobody here writes late.
            Gate::Settled => true,
            Gate::RolledOut { targets } => targets.iter().all(|target| {
                self.store
                    .get(target)
                    .is_some_and(|found| is_rolled_out(&found))
            }),
            Gate::PodWaits { pod, reason } => self
                .store
                .get(pod)
                .is_some_and(|pod| waits(&pod) == Some(reason)),
            Gate::PodPhase { pod, phase } => self
                .store
                .get(pod)
                .is_some_and(|pod| pod["status"]["phase"] == phase.as_str()),
            Gate::NodeReady { node, boot_id } => self
                .machines
                .get(node)
                .is_some_and(|machine| machine.is_ready_in(boot_id)),
            Gate::Drained { node } => self.to_be_drained(node).is_empty(),
        }
    }
}

/// Merges as a JSON merge patch does.
fn merge(into: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *into = patch.clone();
        return;
    };
    if !into.is_object() {
        *into = json!({});
    }
    for (key, value) in patch {
        if value.is_null() {
            if let Some(fields) = into.as_object_mut() {
                fields.remove(key);
            }
        } else {
            merge(&mut into[key], value);
        }
    }
}
