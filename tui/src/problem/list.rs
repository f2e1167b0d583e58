//! The list of problems on the screen: those of the reel, gaps and findings, each thing once, within bounds.

use super::entry::{
    PAYLOAD, ProblemEntry, ProblemKind, ProblemOccurrence, ProblemOrigin, RuleReport,
};
use crate::findings::{FindingVerdict, Findings, ReportedFinding};
use crate::lane::{Board, Lane, LaneState, rule_lanes};
use crate::subject::NamedObject;
use kubereel_format::{RecordedAt, ResourceId, Seq};
use kubereel_history::{Timeline, UnobservedReason, harmless};
use kubereel_monitortests::Phase;
use kubereel_problems::{
    Cause, PROBLEMS_MONITOR, Problem, ProblemClass, ProblemList, ProblemObject,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most entries; those that matter most are kept.
const MOST_LISTED: usize = 5_000;
/// More times are not stepped to.
const MOST_STEPS: usize = 50_000;

/// A time at which something was wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProblemStep {
    /// The moment, as places are compared.
    pub(crate) key: (RecordedAt, Seq),
    /// Which thing.
    pub(crate) entry: usize,
    /// Which of its times.
    pub(crate) spot: usize,
}

/// What went wrong first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FirstProblem {
    /// Which thing.
    pub(crate) entry: usize,
    /// What was taken for the first, and why.
    pub(crate) why: &'static str,
}

/// What looks wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Problems {
    /// Each thing, what matters most first.
    pub(crate) entries: Vec<ProblemEntry>,
    /// The places of the things, in order of time.
    pub(crate) by_time: Vec<usize>,
    /// The times, in order.
    pub(crate) steps: Vec<ProblemStep>,
    /// How many are problems as `kubereel problems` and `story` count them: the others are tests, gaps, and what was
    /// planned or normal.
    pub(crate) listed: usize,
    /// What went wrong first; `None` if nothing did.
    pub(crate) first: Option<FirstProblem>,
    /// How many things more there are.
    pub(crate) rest: usize,
    /// The lanes of the tests that failed or flaked.
    pub(crate) rules: Vec<Lane>,
    /// Whether the reel was read.
    is_read: bool,
    /// Whether monitortests had their say.
    has_rules: bool,
}

impl Problems {
    /// Says how many problems there are, and how many entries besides.
    pub(crate) fn tally(&self) -> ProblemTally {
        let all = self.entries.len() + self.rest;
        ProblemTally {
            problems: self.listed,
            others: all.saturating_sub(self.listed),
        }
    }
}

/// How many entries a list has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProblemTally {
    /// Those that `kubereel problems` lists, but for what was planned.
    pub(crate) problems: usize,
    /// All others: tests that failed or flaked, gaps, what was planned or normal.
    pub(crate) others: usize,
}

/// Lists what looks wrong, of what is known so far.
pub(crate) fn problems(
    timeline: &Timeline,
    board: Option<&Board>,
    findings: Option<&Findings>,
) -> Problems {
    let mut making = ProblemCollector::begin(timeline, board);
    add_recording(&mut making);
    if let Some(list) = board.and_then(Board::list) {
        add_listed(&mut making, list);
    }
    if let Some(findings) = findings {
        making.take(findings);
    }
    let mut rest = making.rest;
    let mut entries = making.all;
    let order = |entry: &ProblemEntry| {
        // What the reel's list does not have comes after what it has.
        let place = (entry.listed.is_none(), entry.listed);
        let from = entry.first().map(ProblemOccurrence::key);
        (entry.rank(), place, from, entry.kind)
    };
    entries.sort_by(|one, other| {
        let by_words = (&one.about, &one.words).cmp(&(&other.about, &other.words));
        order(one).cmp(&order(other)).then(by_words)
    });
    rest += entries.len().saturating_sub(MOST_LISTED);
    entries.truncate(MOST_LISTED);
    entries.shrink_to_fit();
    let mut by_time: Vec<usize> = (0..entries.len()).collect();
    by_time.sort_by_key(|at| {
        entries
            .get(*at)
            .and_then(ProblemEntry::first)
            .map(ProblemOccurrence::key)
    });
    let mut steps: Vec<ProblemStep> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let room = MOST_STEPS.saturating_sub(steps.len());
        let spots = entry.spots.iter().enumerate().take(room);
        steps.extend(spots.map(|(spot, own)| ProblemStep {
            key: own.key(),
            entry: at,
            spot,
        }));
    }
    steps.sort_by_key(|step| (step.key, step.entry));
    let list = board.and_then(Board::list);
    let listed = list.map_or(0, |list| {
        let all = list.problems.iter();
        all.filter(|problem| !problem.is_planned).count()
    });
    Problems {
        listed,
        first: first_problem(&entries),
        by_time,
        steps,
        rest,
        rules: findings.map_or_else(Vec::new, |findings| rule_lanes(timeline, findings)),
        is_read: board.is_some(),
        has_rules: findings.is_some(),
        entries,
    }
}

/// Finds what went wrong first: the earliest of the reel's problems, else of what failing rules tell;
/// what was planned or normal only if there is nothing else.
fn first_problem(entries: &[ProblemEntry]) -> Option<FirstProblem> {
    let earliest = |is_wanted: &dyn Fn(&ProblemEntry) -> bool| {
        let all = entries.iter().enumerate();
        let wrong = all.filter(|(_, entry)| {
            let is_missing = matches!(
                entry.kind,
                ProblemKind::Gap | ProblemKind::Damage | ProblemKind::Written
            );
            !is_missing && is_wanted(entry)
        });
        // Of what began together, what matters most.
        let first = wrong.min_by_key(|(at, entry)| (entry.first().map(|spot| spot.from), *at));
        first.map(|(entry, _)| entry)
    };
    let has_young = entries.iter().any(|entry| entry.is_young);
    let found = |entry, why| FirstProblem { entry, why };
    let listed = earliest(&|entry| entry.listed.is_some() && !entry.is_planned);
    match listed.or_else(|| earliest(&|entry| entry.rank() < 4)) {
        Some(one) if has_young => Some(found(one, "first problem after the installation")),
        Some(one) => Some(found(one, "first problem in this reel")),
        None => earliest(&|entry| entry.rank() == 5)
            .map(|one| found(one, "nothing but what was planned or normal; first")),
    }
}

/// More things are counted only.
const MOST_ENTRIES: usize = 10_000;
/// A thing that was so more often is only counted.
const MOST_SPOTS: usize = 500;
/// More rules that say the same are not named.
const MOST_SAID: usize = 20;
/// More objects of one thing are only counted.
const MOST_OTHERS: usize = 100;
/// What is so again within this time, in microseconds, is the same thing: 5 min.
const AGAIN_MICROS: i64 = 300_000_000;
/// Times of Events are whole seconds: what a rule says lies so near a lane's, in microseconds.
const SPARE_MICROS: i64 = 1_000_000;

/// The list while it grows.
struct ProblemCollector<'a> {
    timeline: &'a Timeline,
    board: Option<&'a Board>,
    ids: BTreeMap<String, ResourceId>,
    all: Vec<ProblemEntry>,
    /// What is about an object, or about words.
    places: BTreeMap<(Option<NamedObject>, String), Vec<usize>>,
    rest: usize,
}

impl<'a> ProblemCollector<'a> {
    /// Begins with nothing.
    fn begin(timeline: &'a Timeline, board: Option<&'a Board>) -> Self {
        let resources = timeline.resources().iter();
        Self {
            timeline,
            board,
            ids: resources.map(|info| (info.qualified(), info.id)).collect(),
            all: Vec::new(),
            places: BTreeMap::new(),
            rest: 0,
        }
    }

    /// Tells whether a cluster was being installed at a moment.
    fn is_young(&self, at: RecordedAt) -> bool {
        self.board
            .is_some_and(|board| board.facts.phase(at) == Some(Phase::Install))
    }

    fn key(subject: Option<&NamedObject>, about: &str) -> (Option<NamedObject>, String) {
        match subject {
            Some(subject) => (Some(subject.clone()), String::new()),
            None => (None, about.to_owned()),
        }
    }

    /// Adds a thing; it is the same as an earlier one if that is of the same kind, about the same
    /// object, and was so shortly before.
    fn add(&mut self, entry: ProblemEntry) {
        let key = Self::key(entry.subject.as_ref(), &entry.about);
        let from = entry.first().map(|spot| spot.from);
        let known = self.places.get(&key).into_iter().flatten();
        let before = known.copied().rfind(|at| {
            self.all.get(*at).is_some_and(|own| {
                let is_near = own.spots.last().zip(from).is_some_and(|(last, from)| {
                    last.to
                        .is_some_and(|to| from.micros_since(to) <= AGAIN_MICROS)
                });
                (own.kind, own.state, own.is_young, &own.words)
                    == (entry.kind, entry.state, entry.is_young, &entry.words)
                    && is_near
            })
        });
        if let Some(own) = before.and_then(|at| self.all.get_mut(at)) {
            for spot in entry.spots {
                add_spot(own, spot);
            }
        } else if self.all.len() < MOST_ENTRIES {
            self.places.entry(key).or_default().push(self.all.len());
            self.all.push(entry);
        } else {
            self.rest += 1;
        }
    }

    /// Adds what a rule found: to a thing that is about the same object at the same time, if there is
    /// one.
    fn say(&mut self, entry: ProblemEntry, said: RuleReport) {
        let key = Self::key(entry.subject.as_ref(), &entry.about);
        let Some(spot) = entry.spots.first().copied() else {
            return;
        };
        let known = self.places.get(&key).into_iter().flatten();
        let found = known.copied().find_map(|at| {
            let own = self.all.get(at)?;
            let is_same_rule = own.said.iter().any(|one| one.rule == said.rule);
            let is_here = |one: &ProblemOccurrence| {
                let is_in =
                    one.has(spot.from, SPARE_MICROS) || one.has(spot.place.at, SPARE_MICROS);
                // What only rules tell of is one thing if it began together.
                let is_together = (one.from.micros_since(spot.from)).abs() <= SPARE_MICROS;
                if own.is_seen { is_in } else { is_together }
            };
            let is_gap = (own.kind == ProblemKind::Gap) == (entry.kind == ProblemKind::Gap);
            let is_it = own.kind != ProblemKind::Written
                && is_gap
                && (own.spots.iter().any(is_here) || is_same_rule && !own.is_seen);
            is_it.then_some(at)
        });
        if let Some(own) = found.and_then(|at| self.all.get_mut(at)) {
            add_rule(own, entry, said, spot);
            return;
        }
        let mut entry = entry;
        entry.said.push(said);
        if self.all.len() < MOST_ENTRIES {
            self.places.entry(key).or_default().push(self.all.len());
            self.all.push(entry);
        } else {
            self.rest += 1;
        }
    }

    /// Adds what a rule says of the recording: to the gap that it means, whatever resources share it.
    fn miss(&mut self, entry: ProblemEntry, said: RuleReport) {
        let from = entry.first().map(|spot| spot.from);
        let gap = self.all.iter_mut().find(|own| {
            let is_then =
                |spot: &ProblemOccurrence| from.is_some_and(|from| spot.has(from, SPARE_MICROS));
            own.kind == ProblemKind::Gap && own.spots.iter().any(is_then)
        });
        match gap {
            Some(own) if own.said.len() < MOST_SAID => own.said.push(said),
            Some(_) => {}
            None => self.say(entry, said),
        }
    }

    /// Adds all that rules say of how objects are written: a thing for each rule.
    fn write(&mut self, entry: ProblemEntry, said: RuleReport) {
        let known = self.all.iter_mut().find(|own| {
            own.kind == ProblemKind::Written
                && own
                    .said
                    .first()
                    .is_some_and(|one| (&one.rule, one.verdict) == (&said.rule, said.verdict))
        });
        let Some(own) = known else {
            let mut entry = entry;
            entry.said.push(said);
            self.all.push(entry);
            return;
        };
        if own.others.len() < MOST_OTHERS {
            own.others.push(format!("{}: {}", entry.about, entry.words));
        } else {
            own.more_others += 1;
        }
        // Its entry is that of its first occurrence.
        let is_earlier =
            |spot: &ProblemOccurrence| own.spots.first().is_none_or(|own| spot.from < own.from);
        if let Some(spot) = entry.spots.first().filter(|spot| is_earlier(spot)) {
            own.spots = vec![*spot];
            own.others.pop();
            own.others.push(format!("{}: {}", own.about, own.words));
            own.subject = entry.subject;
            own.about = entry.about;
            own.words = entry.words;
        }
    }

    /// Adds what all monitortests found.
    fn take(&mut self, findings: &Findings) {
        for finding in &findings.all {
            finding_entry(self, finding);
        }
        self.rest += findings.rest;
    }
}

/// Adds a time at which it was so.
fn add_spot(own: &mut ProblemEntry, spot: ProblemOccurrence) {
    if own.spots.len() < MOST_SPOTS {
        own.spots.push(spot);
        own.spots.sort_by_key(|spot| (spot.from, spot.seq));
    } else {
        own.more_spots += 1;
    }
}

/// Adds what a rule says of a thing that is known already.
fn add_rule(
    own: &mut ProblemEntry,
    entry: ProblemEntry,
    said: RuleReport,
    spot: ProblemOccurrence,
) {
    let is_known = own.spots.iter().any(|one| one.has(spot.from, SPARE_MICROS));
    if !own.is_seen && !is_known {
        add_spot(own, spot);
    }
    let is_first = own.verdict().is_none_or(|verdict| said.verdict < verdict);
    // The words of a rule that fails say it best; so do those of the story of a payload.
    let is_better = &*said.rule == PAYLOAD || said.verdict == FindingVerdict::Fail && is_first;
    if is_better && own.listed.is_none() && own.kind != ProblemKind::Payload {
        own.words = entry.words;
    }
    own.kind = own.kind.min(entry.kind);
    if !own.is_seen {
        own.state = own.state.max(entry.state);
    }
    let is_told = own.said.contains(&said);
    if !is_told && own.said.len() < MOST_SAID {
        own.said.push(said);
        own.said.sort_by_key(|said| said.verdict);
    }
}

/// A gap that several resources may share.
struct SharedGap {
    from: RecordedAt,
    to: RecordedAt,
    why: String,
    names: Vec<String>,
}

/// Takes all that is missing.
fn add_recording(making: &mut ProblemCollector<'_>) {
    let timeline = making.timeline;
    for shared in add_gaps(timeline) {
        let mut names = shared.names.into_iter();
        let first = names.next().unwrap_or_default();
        let others: Vec<String> = names.collect();
        let about = match others.len() {
            0 => first,
            count => format!("{first} and {count} more resources"),
        };
        let spot = ProblemOccurrence::of(timeline, None, shared.from, Some(shared.to));
        let words = format!("not observed: {}", shared.why);
        let mut gap = recording_entry(ProblemKind::Gap, about, words, spot);
        gap.others = others;
        making.add(gap);
    }
    for entry in damage_entries(timeline) {
        making.add(entry);
    }
}

/// Makes the entries of damage: what was found at one place of the file is one thing.
fn damage_entries(timeline: &Timeline) -> Vec<ProblemEntry> {
    let mut all: Vec<ProblemEntry> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for damaged in timeline.damaged() {
        let place = damaged.damage.place.as_str();
        let spot = ProblemOccurrence::of(timeline, None, damaged.from, Some(damaged.to));
        // The place precedes these words.
        let words = timeline
            .damage_words(damaged)
            .replacen(&format!("{place}: "), "", 1);
        let words = harmless(&words).into_owned();
        let known = places.get(place).and_then(|at| all.get_mut(*at));
        let Some(own) = known else {
            places.insert(place, all.len());
            let about = harmless(place).into_owned();
            all.push(recording_entry(ProblemKind::Damage, about, words, spot));
            continue;
        };
        if !own.spots.contains(&spot) {
            add_spot(own, spot);
        }
        if own.words == words || own.others.contains(&words) {
            continue;
        }
        if own.others.len() < MOST_OTHERS {
            own.others.push(words);
        } else {
            own.more_others += 1;
        }
    }
    all
}

/// Adds the gaps: resources that share one share an entry.
fn add_gaps(timeline: &Timeline) -> Vec<SharedGap> {
    let mut all: Vec<SharedGap> = Vec::new();
    for info in timeline.resources().iter() {
        let name = harmless(&info.qualified()).into_owned();
        for span in timeline.unobserved(info.id) {
            let why = match &span.reason {
                UnobservedReason::Gap { gap } => gap.cause().to_owned(),
                // What was refused from the start, or came late, is not a trouble of the recording; damage
                // has an entry of its own.
                UnobservedReason::NotRecorded { .. }
                | UnobservedReason::NotListedYet
                | UnobservedReason::NotListedAgain => continue,
                reason if reason.is_damage() => continue,
                reason => reason.to_string(),
            };
            all.push(SharedGap {
                from: span.from,
                to: span.to,
                why,
                names: vec![name.clone()],
            });
        }
    }
    all.sort_by(|one, other| (one.from, &one.why).cmp(&(other.from, &other.why)));
    let mut told: Vec<SharedGap> = Vec::new();
    for gap in all {
        match told.last_mut() {
            Some(last) if last.why == gap.why && gap.from <= last.to => {
                last.to = last.to.max(gap.to);
                last.names.extend(gap.names);
            }
            _ => told.push(gap),
        }
    }
    for shared in &mut told {
        shared.names.sort();
        shared.names.dedup();
    }
    told
}

fn recording_entry(
    kind: ProblemKind,
    about: String,
    words: String,
    spot: ProblemOccurrence,
) -> ProblemEntry {
    ProblemEntry {
        state: LaneState::Unknown,
        ..unlisted(kind, about, words, spot, None)
    }
}

/// Takes the problems of the reel.
fn add_listed(making: &mut ProblemCollector<'_>, list: &ProblemList) {
    let timeline = making.timeline;
    for (place, problem) in list.problems.iter().enumerate() {
        if making.all.len() >= MOST_ENTRIES {
            making.rest += list.problems.len() - place;
            break;
        }
        let entry = listed_entry(timeline, list, place, problem);
        // What a rule finds in a Pod belongs to the problem of its workload.
        let shown = problem.signs.iter().filter_map(|sign| named(&sign.object));
        let mut keys: Vec<_> = shown.map(|shown| (Some(shown), String::new())).collect();
        keys.push(ProblemCollector::key(entry.subject.as_ref(), &entry.about));
        let at = making.all.len();
        for key in keys {
            let own = making.places.entry(key).or_default();
            if !own.contains(&at) {
                own.push(at);
            }
        }
        making.all.push(entry);
    }
    if let Some(noise) = &list.installation {
        let spot = ProblemOccurrence::of(timeline, None, noise.from, noise.completed);
        let words = format!(
            "{} signs that are normal while a cluster is being installed",
            noise.count
        );
        making.all.push(ProblemEntry {
            is_planned: true,
            is_young: true,
            state: LaneState::Changing,
            ..unlisted(
                ProblemKind::Version,
                "the installation".to_owned(),
                words,
                spot,
                None,
            )
        });
    }
}

fn named(object: &ProblemObject) -> Option<NamedObject> {
    Some(NamedObject {
        resource: object.resource?,
        namespace: object.namespace.clone(),
        name: object.name.clone(),
    })
}

/// Makes the entry of a problem of the reel.
fn listed_entry(
    timeline: &Timeline,
    list: &ProblemList,
    place: usize,
    problem: &Problem,
) -> ProblemEntry {
    let subject = named(&problem.object);
    let about = match &subject {
        Some(subject) => subject.written(timeline),
        None => problem.object.label(),
    };
    let spot = ProblemOccurrence::of(
        timeline,
        Some(problem.from.seq),
        problem.from.at,
        problem.to,
    );
    let by = problem.consequence_of.and_then(|by| list.problems.get(by));
    let by = by.map(|by| format!("{}: {}", problem.consequence_words(), by.sentence()));
    let causes = problem.causes.iter().map(|cause| ProblemOrigin {
        words: cause_words(timeline, cause),
        change: named(&cause.object).map(|object| (cause.at.seq, object)),
    });
    let said = by.into_iter().map(|words| ProblemOrigin {
        words,
        change: None,
    });
    let led_to = list.problems.iter();
    let led_to = led_to.filter(|other| other.consequence_of == Some(place));
    let words = format!("{} {}", harmless(&problem.reason), problem.message_line());
    ProblemEntry {
        listed: Some(place),
        is_planned: problem.is_planned,
        times: Some(problem.times(timeline)),
        causes: said.chain(causes).collect(),
        led_to: led_to.take(MOST_OTHERS).map(Problem::sentence).collect(),
        state: match problem.class {
            ProblemClass::Disruption => LaneState::Down,
            ProblemClass::Fault | ProblemClass::Upgrade => LaneState::Bad,
        },
        more_spots: problem.count.saturating_sub(1),
        ..unlisted(
            ProblemKind::of_sign(problem.kind),
            about,
            words.trim().to_owned(),
            spot,
            subject,
        )
    }
}

/// Words a cause, with its time and who wrote it.
fn cause_words(timeline: &Timeline, cause: &Cause) -> String {
    let at = timeline.written(cause.at.at);
    format!("possible cause: {at} {}", cause.words())
}

/// Makes an entry that something else than a rule reports.
fn unlisted(
    kind: ProblemKind,
    about: String,
    words: String,
    spot: ProblemOccurrence,
    subject: Option<NamedObject>,
) -> ProblemEntry {
    ProblemEntry {
        kind,
        state: LaneState::Bad,
        listed: None,
        is_planned: false,
        times: None,
        is_young: false,
        causes: Vec::new(),
        led_to: Vec::new(),
        subject,
        about,
        words,
        is_seen: true,
        spots: vec![spot],
        more_spots: 0,
        said: Vec::new(),
        others: Vec::new(),
        more_others: 0,
    }
}

/// Takes one finding.
fn finding_entry(making: &mut ProblemCollector<'_>, finding: &ReportedFinding) {
    let kind = ProblemKind::of_finding(finding);
    let subject = subject(making, finding);
    let about = match &subject {
        Some(subject) => subject.written(making.timeline),
        None => written(finding),
    };
    let words = finding.message.first().cloned().unwrap_or_default();
    let words = if words.is_empty() {
        finding.reason.clone()
    } else {
        words
    };
    let spot = ProblemOccurrence::of(making.timeline, finding.seq, finding.from, finding.to);
    let entry = ProblemEntry {
        kind,
        state: match (kind, finding.verdict) {
            (ProblemKind::Gap, _) => LaneState::Unknown,
            (_, FindingVerdict::Fail)
            | (ProblemKind::Payload | ProblemKind::Image | ProblemKind::Event, _) => LaneState::Bad,
            (_, FindingVerdict::Flake) => LaneState::Changing,
        },
        is_young: making.is_young(spot.place.at),
        is_seen: false,
        ..unlisted(kind, about, words, spot, subject)
    };
    let said = RuleReport {
        rule: Arc::clone(&finding.rule),
        test: Arc::clone(&finding.test),
        verdict: finding.verdict,
        // The reel's own list says the same.
        lines: if finding
            .test
            .starts_with(&format!("[Monitor:{PROBLEMS_MONITOR}]"))
        {
            Arc::default()
        } else {
            Arc::clone(&finding.message)
        },
    };
    match kind {
        ProblemKind::Written => making.write(entry, said),
        ProblemKind::Gap => making.miss(entry, said),
        _ => making.say(entry, said),
    }
}

fn subject(making: &ProblemCollector<'_>, finding: &ReportedFinding) -> Option<NamedObject> {
    let resource = *making.ids.get(&finding.resource)?;
    let subject = NamedObject {
        resource,
        namespace: finding.namespace.clone(),
        name: finding.name.clone(),
    };
    let lives = making
        .timeline
        .lives(resource, &subject.namespace, &subject.name);
    (!lives.is_empty()).then_some(subject)
}

fn written(finding: &ReportedFinding) -> String {
    let plural = finding.resource.split('.').next().unwrap_or_default();
    let parts = [plural, &finding.namespace, &finding.name];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let words = if parts.is_empty() {
        finding.rule.to_string()
    } else {
        parts.join(" ")
    };
    harmless(&words).into_owned()
}
