//! Upgrades of independent recordings are described as their documentation says.
//!
//! Clusters that were gathered in the middle of an upgrade are judged as `oc adm upgrade status`
//! judges them. What differs is listed, with its reason; a new difference fails, and so does one
//! that is gone.
//!
//! How the expected output of `oc adm upgrade status` is read: as facts, one a line of text.
//!
//! The facts that both `oc adm upgrade status` and kubereel state, in the words of the former.
//!
//! The story of a real cluster-version operator's upgrade names what was planted, to the second.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::unwrap_in_result,
    reason = "what helps a test may fail it"
)]

use crate::recordings::{Recording, Reel, Section, sections, time};
pub(crate) use crate::upgrades::folder as oc_folder;
pub(crate) use crate::upgrades::gathered as oc_reel;
pub(crate) use crate::upgrades::scenarios as oc_scenarios;
use kubereel_cluster::{
    Assessment, ClusterHistory, NodePhase, PoolState, SpellKind, UpdateKind, UpdateOrigin,
    UpdateStatus, UpgradeStory,
};
use kubereel_format::RecordedAt;
use kubereel_history::{Moment, ObjectForm, Timeline, timetext};
use kubereel_import::ImportOptions;
use kubereel_monitortests::{Gathering, Mode, feed};
use kubereel_tests::shared_data::shared_data;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const FOLDER: &str = "oc-upgrade-examples/status";

/// Returns the folder of the scenarios; `None`, reported, if it is not there.
pub(crate) fn folder() -> Option<PathBuf> {
    shared_data(FOLDER)
}

/// What `oc` adds to its moment, in microseconds.
const AFTER_MICROS: i64 = 368;

/// A difference that is accepted.
struct Accepted {
    scenario: &'static str,
    /// What only one of them says begins so.
    fact: &'static str,
    /// Who says it.
    by: By,
    /// How many such facts there are.
    count: usize,
    #[expect(dead_code, reason = "for those who read the list")]
    reason: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum By {
    Oc,
    Kubereel,
}

const ACCEPTED: [Accepted; 1] = [Accepted {
    scenario: "4.15.0-ec2-unavailable-mco-20m",
    fact: "insight: Warning · Unknown · Alert is firing: ",
    by: By::Oc,
    count: 4,
    reason: "alerts come from Prometheus: no watch of the API shows them, and no reel holds them",
}];

#[test]
fn moments_of_upgrades_are_judged_as_oc_judges_them() {
    let Some(folder) = folder() else {
        return;
    };
    let mut differing: BTreeSet<(String, By, String)> = BTreeSet::new();
    let mut agreed = 0;
    let scenarios = scenarios(&folder);
    assert_eq!(scenarios.len(), 13, "{scenarios:?}");
    for scenario in &scenarios {
        let timeline = gathered(&folder, scenario);
        let ours = of(&judged(&timeline.timeline)).all;
        let output = read(&folder, &format!("{scenario}.detailed-output"));
        let theirs = facts(&output).all;
        agreed += ours.intersection(&theirs).count();
        let say = |by: By, fact: &String| (scenario.clone(), by, fact.clone());
        differing.extend(theirs.difference(&ours).map(|fact| say(By::Oc, fact)));
        differing.extend(ours.difference(&theirs).map(|fact| say(By::Kubereel, fact)));
    }
    let mut unused: Vec<&Accepted> = Vec::new();
    for accepted in &ACCEPTED {
        let before = differing.len();
        differing.retain(|(scenario, by, fact)| {
            scenario != accepted.scenario || *by != accepted.by || !fact.starts_with(accepted.fact)
        });
        if before - differing.len() != accepted.count {
            unused.push(accepted);
        }
    }
    let gone: Vec<_> = unused
        .iter()
        .map(|one| (one.scenario, one.by, one.fact))
        .collect();
    assert!(
        gone.is_empty(),
        "there are not as many of these any more: {gone:#?}"
    );
    assert!(differing.is_empty(), "new differences: {differing:#?}");
    assert!(agreed > 200, "{agreed}");
}

/// Judges the moment at which `oc` takes lists to have been gathered.
fn judged(timeline: &Timeline) -> UpdateStatus {
    let cut = timeline.resolve(Moment::End).unwrap();
    let now = newest_transition(timeline);
    let status = ClusterHistory::of(timeline).update_status(cut, Some(now));
    status.unwrap().unwrap()
}

/// Most reels do not have the configurations of nodes, which may hold secrets.
#[test]
fn moments_without_configurations_are_judged_alike() {
    let Some(folder) = folder() else {
        return;
    };
    let without_release = |fact: String| match fact.rsplit_once(' ') {
        Some((node, _)) if fact.starts_with("node: ") => node.to_owned(),
        _ => fact,
    };
    for scenario in scenarios(&folder) {
        let facts_of = |more: &str| -> BTreeSet<String> {
            let reel = gathered_with(&folder, &scenario, more);
            let facts = of(&judged(&reel.timeline)).all.into_iter();
            facts.map(without_release).collect()
        };
        let known = facts_of(&configurations(&folder, &scenario));
        assert_eq!(facts_of(""), known, "{scenario}");
    }
}

#[test]
fn an_update_that_ended_keeps_its_begin_while_nodes_follow() {
    let Some(recording) = Recording::read("cvo-upgrade/events.jsonl.zst") else {
        return;
    };
    let reel = recording.import(&ImportOptions::new("test", "a recording"));
    let began = time("13:27:45");
    for at in ["13:35:20", "13:36:00.5", "13:36:30", "13:36:52"] {
        let cut = reel.timeline.resolve(Moment::Time(time(at))).unwrap();
        let status = ClusterHistory::of(&reel.timeline).update_status(cut, None);
        let status = status.unwrap().unwrap();
        assert!(status.is_updating);
        let [well] = status.insights.as_slice() else {
            panic!("{:?}", status.insights);
        };
        assert_eq!(well.summary, "Update is proceeding well");
        assert_eq!(well.since, Some(began));
        // The Deployment of the machine-config operator is not where `oc` looks for it.
        let counts = &status.operators;
        assert_eq!((counts.updated, counts.total), (17, 17));
        assert_eq!(counts.waiting, [""; 0]);
        assert_eq!(status.assessment, Assessment::Completed);
    }
}

#[test]
fn intervals_and_the_story_begin_and_end_an_upgrade_alike() {
    let Some(told) = UpgradeReading::read(UpdateKind::Upgrade) else {
        return;
    };
    let timeline = &told.reel.timeline;
    let mut gathering = Gathering::only(timeline, Mode::Exact, |source| source == "ClusterPhase");
    feed(timeline, &mut gathering.watchers(), |_| {});
    let gathered = gathering.finish(timeline);
    let phases: Vec<_> = gathered.intervals.of("ClusterPhase").collect();
    let cut = timeline.resolve(Moment::End).unwrap();
    let updates = ClusterHistory::of(timeline).updates(cut).unwrap();
    assert_eq!((phases.len(), updates.all.len()), (2, 2));
    for (phase, update) in phases.iter().zip(&updates.all) {
        assert_eq!(phase.from, update.first.at);
        assert_eq!(phase.to, update.end.map(|end| end.mark.at));
    }
}

fn read(folder: &Path, file: &str) -> String {
    std::fs::read_to_string(folder.join(file)).unwrap()
}

/// Returns the names of the scenarios, from A to Z.
pub(crate) fn scenarios(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut scenarios: Vec<String> = names
        .filter_map(|name| name.strip_suffix("-cv.yaml").map(str::to_owned))
        .collect();
    scenarios.sort_unstable();
    scenarios
}

/// Makes a reel of all lists of a scenario: one moment.
pub(crate) fn gathered(folder: &Path, scenario: &str) -> Reel {
    let configurations = configurations(folder, scenario);
    gathered_with(folder, scenario, &configurations)
}

/// Makes one of the lists, and of more documents.
fn gathered_with(folder: &Path, scenario: &str, more: &str) -> Reel {
    let mut text = String::new();
    for kind in ["cv", "co", "mcp", "node", "mco-deployment"] {
        let file = format!("{scenario}-{kind}.yaml");
        if folder.join(&file).exists() {
            // Two of the files are JSON; indented, they are YAML as well, and part of the others' stream.
            let list = read(folder, &file);
            let list = if list.starts_with('{') {
                list.replace('\n', "\n ").replacen('{', " {", 1)
            } else {
                list
            };
            text = format!("{text}---\n{list}\n");
        }
    }
    text.push_str(more);
    let mut options = ImportOptions::new("test", "gathered lists");
    options.at = Some(RecordedAt::from_micros(1_900_000_000_000_000));
    let reel = Recording {
        bytes: text.into_bytes(),
    }
    .import(&options);
    assert_eq!(reel.imported.broken.count, 0, "{scenario}");
    reel
}

/// Makes the configurations of a scenario. Only their release is known: their files hold pull
/// secrets.
fn configurations(folder: &Path, scenario: &str) -> String {
    let mut text = String::new();
    for line in read(folder, "machineconfig-versions.tsv").lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        if let [of, name, version, ..] = cells.as_slice()
            && *of == scenario
            && !version.is_empty()
        {
            text = format!(
                "{text}---\napiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nmetadata:\n  name: {name}\n  annotations:\n    machineconfiguration.openshift.io/release-image-version: \"{version}\"\n"
            );
        }
    }
    text
}

/// Returns the moment at which `oc` takes such lists to have been gathered.
fn newest_transition(timeline: &Timeline) -> RecordedAt {
    let mut newest = RecordedAt::default();
    for name in ["clusterversions", "clusteroperators"] {
        let resource = timeline.resources().find(name).unwrap();
        for &object in timeline.objects_of(resource.id) {
            let seq = timeline.reel().versions(object)[0];
            let body = timeline
                .object(seq, resource, ObjectForm::default())
                .unwrap();
            let conditions = body["status"]["conditions"].as_array();
            for condition in conditions.into_iter().flatten() {
                let at: Option<jiff::Timestamp> = condition["lastTransitionTime"]
                    .as_str()
                    .and_then(|at| at.parse().ok());
                let at = at.map(|at| RecordedAt::from_micros(at.as_microsecond()));
                newest = newest.max(at.unwrap_or_default());
            }
        }
    }
    RecordedAt::from_micros(newest.micros + AFTER_MICROS)
}

/// Reads the facts of an output with all details.
pub fn facts(output: &str) -> Facts {
    let mut facts = Facts::default();
    if output.trim() == "The cluster is not updating." {
        facts.say("updating", "no");
        return facts;
    }
    facts.say("updating", "yes");
    let mut part = "";
    let mut insight: Option<(String, String)> = None;
    for line in output.lines() {
        let words: Vec<&str> = line
            .split("   ")
            .map(str::trim)
            .filter(|word| !word.is_empty())
            .collect();
        if let Some(heading) = line.strip_prefix("= ") {
            part = heading.trim_end_matches(" =");
            continue;
        }
        match (part, line.split_once(':')) {
            (
                "Control Plane",
                Some((name @ ("Assessment" | "Target Version" | "Updating"), value)),
            ) => {
                facts.say(&name.to_lowercase(), value.trim());
            }
            ("Control Plane", Some(("Completion", value))) => facts.say("completion", value.trim()),
            ("Control Plane", Some(("Duration", value))) => facts.say("duration", value.trim()),
            ("Control Plane", Some(("Operator Health", value))) => {
                facts.say("operators", value.trim());
            }
            ("Control Plane", _) if line.starts_with("Update to ") => facts.say("completed", line),
            ("Update Health", Some(("Message", message))) => {
                insight = Some((message.trim().to_owned(), String::new()));
            }
            ("Update Health", Some((name, value))) => {
                take(&mut facts, &mut insight, name.trim(), value.trim());
            }
            _ => {}
        }
        match (part, words.as_slice()) {
            ("Update Health", ["SINCE", ..]) => {}
            ("Update Health", [since, level, impact, message]) => {
                facts.say(
                    "insight",
                    &format!("{level} · {impact} · {message} · {since}"),
                );
            }
            ("Worker Upgrade", [name, "Empty", _]) => facts.say("pool", &format!("{name} Empty")),
            ("Worker Upgrade", [name, assessment, completion, status])
                if completion.contains('%') =>
            {
                facts.say(
                    "pool",
                    &format!("{name} {assessment} {completion} {status}"),
                );
            }
            (_, [name, assessment, phase, version, ..]) if is_phase(phase) => {
                facts.say("node", &format!("{name} {assessment} {phase} {version}"));
            }
            _ => {}
        }
    }
    facts
}

fn is_phase(word: &str) -> bool {
    [
        "Draining",
        "Updating",
        "Rebooting",
        "Paused",
        "Pending",
        "Updated",
    ]
    .contains(&word)
}

/// Takes a line of an insight's details; the last of them completes it.
fn take(facts: &mut Facts, insight: &mut Option<(String, String)>, name: &str, value: &str) {
    let Some((message, told)) = insight else {
        return;
    };
    match name {
        "Since" => value.clone_into(told),
        "Level" => *told = format!("{value} · %impact% · {message} · {told}"),
        "Impact" => {
            facts.say("insight", &told.replace("%impact%", value));
            *insight = None;
        }
        _ => {}
    }
}

const MINUTE: i64 = 60;

/// Facts, each with what it is about.
#[derive(Debug, Default)]
pub struct Facts {
    pub all: BTreeSet<String>,
}

impl Facts {
    pub fn say(&mut self, about: &str, fact: &str) {
        self.all.insert(format!("{about}: {fact}"));
    }
}

/// States the facts of a status.
pub fn of(status: &UpdateStatus) -> Facts {
    let mut facts = Facts::default();
    if !status.is_updating {
        facts.say("updating", "no");
        return facts;
    }
    facts.say("updating", "yes");
    if status.assessment == Assessment::Completed {
        let at = status.completed.map(timetext::rfc3339).unwrap_or_default();
        let at = at.replace(".000Z", "Z");
        let took = rounded(status.elapsed_micros);
        facts.say(
            "completed",
            &format!(
                "Update to {} successfully completed at {at} (duration: {took})",
                status.target
            ),
        );
    } else {
        control_plane(status, &mut facts);
    }
    let has_workers = status
        .pools
        .iter()
        .any(|pool| pool.name != "master" && !pool.nodes.is_empty());
    for pool in &status.pools {
        let is_control_plane = pool.name == "master";
        if !is_control_plane && has_workers {
            facts.say("pool", &pool_text(pool));
        }
        // Of a control plane whose nodes are done only that is said.
        if is_control_plane && pool.assessment == Assessment::Completed {
            continue;
        }
        for node in &pool.nodes {
            let version = if node.version.is_empty() {
                "?"
            } else {
                &node.version
            };
            let text = format!(
                "{} {} {} {version}",
                node.name,
                node.assessment.as_str(),
                node.phase.as_str()
            );
            facts.say("node", &text);
        }
    }
    for insight in &status.insights {
        let since = insight
            .since
            .map_or_else(|| "-".to_owned(), |since| age(status.now, since));
        facts.say(
            "insight",
            &format!(
                "{} · {} · {} · {since}",
                insight.level.as_str(),
                insight.impact.as_str(),
                insight.summary
            ),
        );
    }
    facts
}

fn control_plane(status: &UpdateStatus, facts: &mut Facts) {
    facts.say("assessment", status.assessment.as_str());
    let origin = match &status.origin {
        UpdateOrigin::Nothing => "(a new install)".to_owned(),
        UpdateOrigin::Version(version) => format!("(from {version})"),
        UpdateOrigin::Partial(version) => format!("(from incomplete {version})"),
        UpdateOrigin::SameVersion => "to Multi-Architecture".to_owned(),
    };
    facts.say("target version", &format!("{} {origin}", status.target));
    let counts = &status.operators;
    if !counts.updating.is_empty() {
        facts.say("updating", &counts.updating.join(", "));
    }
    facts.say(
        "completion",
        &format!(
            "{:.0}% ({} operators updated, {} updating, {} waiting)",
            counts.completion() * 100.0,
            counts.updated,
            counts.updating.len(),
            counts.waiting.len()
        ),
    );
    let left = match status.estimate {
        None => "N/A for Multi-Architecture Migration".to_owned(),
        Some(estimate) if estimate.remaining_secs < -10 * MINUTE => {
            format!("N/A; estimate duration was {}", short(estimate.total_secs))
        }
        Some(estimate) if estimate.remaining_secs < 10 * MINUTE => "<10m".to_owned(),
        Some(estimate) => short(estimate.remaining_secs),
    };
    let took = rounded(status.elapsed_micros);
    facts.say("duration", &format!("{took} (Est. Time Remaining: {left})"));
    let mut health = format!("{} Healthy", counts.healthy());
    for (names, words) in [
        (&counts.unavailable, "Unavailable"),
        (&counts.degraded, "Available but degraded"),
    ] {
        if !names.is_empty() {
            health = format!("{health}, {} {words}", names.len());
        }
    }
    facts.say("operators", &health);
}

fn pool_text(pool: &PoolState) -> String {
    let all = pool.nodes.len();
    if all == 0 {
        return format!("{} Empty", pool.name);
    }
    let updated = pool.updated();
    let mut text = format!(
        "{} {} {}% ({updated}/{all}) {} Available, {} Progressing, {} Draining",
        pool.name,
        pool.assessment.as_str(),
        updated * 100 / all,
        pool.count(|node| node.is_available),
        pool.progressing(),
        pool.count(|node| node.phase == NodePhase::Draining)
    );
    for (count, word) in [
        (
            pool.count(|node| node.phase == NodePhase::Paused),
            "Excluded",
        ),
        (pool.count(|node| node.is_degraded), "Degraded"),
    ] {
        if count > 0 {
            text = format!("{text}, {count} {word}");
        }
    }
    text
}

fn age(now: RecordedAt, since: RecordedAt) -> String {
    short(now.micros_since(since) / 1_000_000)
}

/// Rounds as `oc` does: to minutes from 10 minutes on.
fn rounded(micros: i64) -> String {
    let secs = (micros + 500_000) / 1_000_000;
    if micros > 10 * MINUTE * 1_000_000 {
        short((secs + MINUTE / 2) / MINUTE * MINUTE)
    } else {
        short(secs)
    }
}

/// Writes a length as `oc` does, without what is nought at its end.
fn short(secs: i64) -> String {
    let (hours, minutes, rest) = (secs / 3600, secs / 60 % 60, secs % 60);
    match (hours, minutes, rest) {
        (0, 0, 0) => "now".to_owned(),
        (0, 0, rest) => format!("{rest}s"),
        (0, minutes, 0) => format!("{minutes}m"),
        (0, minutes, rest) => format!("{minutes}m{rest}s"),
        (hours, 0, 0) => format!("{hours}h"),
        (hours, minutes, 0) => format!("{hours}h{minutes}m"),
        (hours, minutes, rest) => format!("{hours}h{minutes}m{rest}s"),
    }
}

/// What was planted is stamped just before or after the request.
const PLANTED_MICROS: i64 = 1_000_000;
/// What was seen is written with milliseconds.
const SEEN_MICROS: i64 = 1_000;

struct UpgradeReading {
    reel: Reel,
    story: UpgradeStory,
    sections: Vec<Section>,
}

impl UpgradeReading {
    fn read(kind: UpdateKind) -> Option<Self> {
        let recording = Recording::read("cvo-upgrade/events.jsonl.zst")?;
        let sections = sections()?;
        let reel = recording.import(&ImportOptions::new("test", "a recording"));
        let timeline = &reel.timeline;
        let cut = timeline.resolve(Moment::End).unwrap();
        let updates = ClusterHistory::of(timeline).updates(cut).unwrap();
        let kinds: Vec<UpdateKind> = updates.all.iter().map(|update| update.kind).collect();
        assert_eq!(kinds, [UpdateKind::Install, UpdateKind::Upgrade]);
        let update = updates
            .all
            .iter()
            .find(|update| update.kind == kind)
            .unwrap();
        let story = ClusterHistory::of(timeline)
            .upgrade_story(&updates, update, cut)
            .unwrap();
        Some(Self {
            reel,
            story,
            sections,
        })
    }

    fn rows(&self, heading: &str) -> &[Vec<String>] {
        let found = self
            .sections
            .iter()
            .find(|one| one.heading.starts_with(heading));
        &found.unwrap().rows
    }
}

#[track_caller]
fn near(found: RecordedAt, cell: &str, micros: i64) {
    let apart = found.micros_since(time(cell)).abs();
    assert!(apart <= micros, "{apart} µs from {cell}");
}

/// Splits what a row of the simulation says from its parameters.
fn words(cell: &str) -> (&str, Value) {
    let (words, json) = cell.split_once(" {").unwrap();
    (words, serde_json::from_str(&format!("{{{json}")).unwrap())
}

#[test]
fn every_attempt_to_fetch_the_payload_is_told_with_its_pod() {
    let Some(told) = UpgradeReading::read(UpdateKind::Upgrade) else {
        return;
    };
    let attempts = &told.story.retrievals.attempts;
    let rows = told.rows("Seen: Events about ClusterVersion");
    // The operator's own starts are left out: of 16 begins, 12 are of other releases than it runs.
    let asked = told.story.update.asked().unwrap().at;
    let begins: Vec<&Vec<String>> = rows
        .iter()
        .filter(|row| row[3] == "RetrievePayload" && row[5].contains("version=\"\""))
        .collect();
    assert_eq!(begins.len(), 12);
    assert_eq!(attempts.len(), 12);
    for (attempt, row) in attempts.iter().zip(&begins) {
        let began = attempt.began.unwrap().at;
        near(began, &row[0], SEEN_MICROS);
        assert!(began > asked);
    }
    let failed = rows.iter().filter(|row| row[3] == "RetrievePayloadFailed");
    let ends = attempts.iter().filter(|attempt| attempt.has_failed());
    let mut count = 0;
    for (attempt, row) in ends.zip(failed) {
        near(attempt.end.as_ref().unwrap().mark.at, &row[0], SEEN_MICROS);
        count += 1;
    }
    assert_eq!((count, told.story.retrievals.counted_only()), (11, 0));
    // The Pods and their states, as the simulation of the kubelet planted them.
    let rows = told.rows("Planted: CVO processes and version Pods");
    let mut planted = rows.iter().filter(|row| row[1].starts_with("attempt"));
    let pods: Vec<_> = attempts
        .iter()
        .filter_map(|attempt| attempt.pod.as_ref())
        .collect();
    for pod in &pods {
        let row = planted.next().unwrap();
        assert_eq!(words(&row[1]).1["pod"], pod.name);
        near(pod.created.at, &row[0], PLANTED_MICROS);
    }
    assert_eq!((pods.len(), planted.next()), (9, None));
    let mut states = 0;
    for row in rows
        .iter()
        .filter(|row| row[1].starts_with("init container waiting"))
    {
        let (_, planted) = words(&row[1]);
        let pod = pods.iter().find(|pod| planted["pod"] == pod.name).unwrap();
        let word = format!("Init:{}", planted["reason"].as_str().unwrap());
        let at = time(&row[0]);
        let shown = pod.states.iter().filter(|state| state.word == word);
        let is_near = |mark: RecordedAt| mark.micros_since(at).abs() < PLANTED_MICROS;
        assert_eq!(
            shown.filter(|state| is_near(state.mark.at)).count(),
            1,
            "{row:?}"
        );
        states += 1;
    }
    assert_eq!(states, 14);
    let late = pods[0].states.last().unwrap();
    let told = format!("{}: {}", late.word, late.message);
    assert!(told.contains("DeadlineExceeded: Pod was active"), "{told}");
    near(late.mark.at, "13:27:22.723", PLANTED_MICROS);
}

#[test]
fn requests_acceptance_and_completion_stand_where_they_were_seen() {
    let Some(told) = UpgradeReading::read(UpdateKind::Upgrade) else {
        return;
    };
    let update = &told.story.update;
    let admin = told.rows("Planted: administrator");
    let asked = admin.iter().filter(|row| row[2].contains("desiredUpdate"));
    let mut requests = update.requests.iter();
    for row in asked {
        near(requests.next().unwrap().asked.at, &row[0], PLANTED_MICROS);
    }
    assert!(requests.next().is_none());
    let history = told.rows("Seen: ClusterVersion history");
    near(update.accepted.unwrap().at, &history[2][0], SEEN_MICROS);
    near(update.end.unwrap().mark.at, &history[3][0], SEEN_MICROS);
    assert!(update.is_completed());
    let pool = told.rows("Planted: node roll").last().unwrap();
    near(told.story.over.unwrap().at, &pool[0], PLANTED_MICROS);
}

#[test]
fn operators_move_in_their_order_at_their_time() {
    for (kind, from) in [(UpdateKind::Install, 0), (UpdateKind::Upgrade, 17)] {
        let Some(told) = UpgradeReading::read(kind) else {
            return;
        };
        let rows = told.rows("Seen: order in which operators reported");
        let rows = &rows[from..from + 17];
        assert_eq!(told.story.operators.len(), 17);
        for (operator, row) in told.story.operators.iter().zip(rows) {
            assert_eq!(operator.name, row[2]);
            near(operator.moved.unwrap().at, &row[0], SEEN_MICROS);
        }
        let flips = told.rows("Seen: ClusterOperator status flips");
        for operator in told.story.operators.iter().filter(|_| from > 0) {
            let began = flips
                .iter()
                .find(|row| row[2] == operator.name && row[3] == "Progressing" && row[5] == "True");
            near(operator.began.unwrap().at, &began.unwrap()[0], SEEN_MICROS);
        }
    }
}

#[test]
fn every_planted_fault_is_told_and_no_other() {
    let Some(told) = UpgradeReading::read(UpdateKind::Upgrade) else {
        return;
    };
    let spells = &told.story.spells;
    let rows = told.rows("Planted: administrator");
    let faults: Vec<&Vec<String>> = rows.iter().filter(|row| row[1] == "fault").collect();
    let mut of_operators: Vec<_> = spells
        .iter()
        .filter(|spell| spell.ill != SpellKind::Failing)
        .collect();
    for begin in faults.iter().filter(|row| row[2].contains("begins")) {
        let (what, planted) = words(&begin[2]);
        let ill = if what.starts_with("Degraded") {
            SpellKind::Degraded
        } else {
            SpellKind::Unavailable
        };
        let name = planted["operator"].as_str().unwrap();
        let place = of_operators
            .iter()
            .position(|spell| spell.ill == ill && spell.name == name)
            .unwrap();
        let spell = of_operators.remove(place);
        near(spell.from.at, &begin[0], PLANTED_MICROS);
        let end = faults.iter().find(|row| {
            row[2].starts_with(&what.replace("begins", "ends")) && row[2].contains(name)
        });
        near(spell.to.unwrap().at, &end.unwrap()[0], PLANTED_MICROS);
        let secs = planted["seconds"].as_u64().unwrap();
        let lasted = spell.micros(told.story.now) / 100_000;
        assert!(
            (secs * 10 - 5..=secs * 10 + 5).contains(&lasted),
            "{name}: {lasted}"
        );
    }
    assert!(of_operators.is_empty(), "{of_operators:#?}");
    let asked = told.story.update.first.at;
    let rows = told.rows("Seen: ClusterVersion conditions");
    let flips: Vec<&Vec<String>> = rows
        .iter()
        .filter(|row| row[2] == "Failing" && time(&row[0]) > asked)
        .collect();
    let failing: Vec<_> = spells
        .iter()
        .filter(|spell| spell.ill == SpellKind::Failing)
        .collect();
    assert_eq!((failing.len(), flips.len()), (3, 6));
    for (spell, flips) in failing.iter().zip(flips.chunks(2)) {
        near(spell.from.at, &flips[0][0], SEEN_MICROS);
        assert_eq!(spell.texts[0].reason, flips[0][4]);
        near(spell.to.unwrap().at, &flips[1][0], SEEN_MICROS);
    }
}

#[test]
fn every_node_is_told_phase_by_phase_and_what_held_its_drain() {
    let Some(told) = UpgradeReading::read(UpdateKind::Upgrade) else {
        return;
    };
    let rows = told.rows("Planted: node roll");
    let asked = told.story.update.first.at;
    let rows: Vec<&Vec<String>> = rows.iter().filter(|row| time(&row[0]) > asked).collect();
    let at = |words: &str, node: &str| {
        let wanted = format!("{words} {node}");
        let row = rows.iter().find(|row| row[1].starts_with(&wanted));
        row.map(|row| row[0].as_str()).unwrap()
    };
    let order: Vec<&str> = told
        .story
        .nodes
        .iter()
        .map(|node| node.node.as_str())
        .collect();
    let expected = ["master-0", "master-1", "master-2", "worker-0", "worker-1"];
    assert_eq!(order, expected);
    let mut refused: BTreeSet<(String, String)> = BTreeSet::new();
    for row in &rows {
        if let Some(words) = row[1].strip_prefix("eviction refused (429, PDB) ") {
            let (pod, node) = words.split_once(' ').unwrap();
            refused.insert((node.to_owned(), pod.to_owned()));
        }
    }
    for node in &told.story.nodes {
        let name = node.node.as_str();
        let (drain, reboot) = (node.drain.unwrap(), node.reboot.unwrap());
        for (mark, words) in [
            (node.began, "node update begins"),
            (node.cordoned.unwrap(), "cordoned, drain begins"),
            (drain.from, "cordoned, drain begins"),
            (drain.to.unwrap(), "drained"),
            (reboot.from, "node goes down for reboot"),
            (reboot.to.unwrap(), "kubelet back, NotReady"),
            (node.ready.unwrap(), "node Ready again"),
            (node.over().unwrap(), "uncordoned, node update done"),
        ] {
            near(mark.at, at(words, name), PLANTED_MICROS);
        }
        assert_eq!(node.pool, name.split_once('-').unwrap().0);
        assert_eq!(node.to_version, "4.22.0-b");
        // Every budget that refused is named with its Pod, and none that refused nobody.
        let held: BTreeSet<&str> = node
            .blocked_by
            .iter()
            .map(|hold| hold.pod.as_str())
            .collect();
        let of_node = refused.iter().filter(|(node, _)| node == name);
        let of_node: BTreeSet<&str> = of_node.map(|(_, pod)| pod.as_str()).collect();
        assert_eq!(held, of_node, "{name}");
    }
    for pool in &told.story.pools {
        near(
            pool.began.at,
            at("pool update begins", &pool.name),
            PLANTED_MICROS,
        );
        near(
            pool.done.unwrap().at,
            at("pool update done", &pool.name),
            PLANTED_MICROS,
        );
    }
    // The drain that somebody had to free: held until the budget was relaxed.
    let [held] = told.story.nodes[3].blocked_by.as_slice() else {
        panic!("{:#?}", told.story.nodes[3].blocked_by);
    };
    assert_eq!(
        (held.namespace.as_str(), held.budget.as_str()),
        ("shop", "web")
    );
    near(
        held.span.from.at,
        at("cordoned, drain begins", "worker-0"),
        PLANTED_MICROS,
    );
    near(held.span.to.unwrap().at, "13:35:15.474", PLANTED_MICROS);
}

#[test]
fn the_leading_process_changes_where_the_lease_does() {
    let mut told = 0;
    for kind in [UpdateKind::Install, UpdateKind::Upgrade] {
        let Some(one) = UpgradeReading::read(kind) else {
            return;
        };
        let rows = one.rows("Seen: holder of the CVO lease");
        for handover in &one.story.handovers {
            for (mark, holder) in [
                (handover.released, "(released)"),
                (handover.taken, &handover.to),
            ] {
                let Some(mark) = mark else {
                    continue;
                };
                let row = rows.iter().find(|row| {
                    row[2] == holder && mark.at.micros_since(time(&row[0])).abs() <= SEEN_MICROS
                });
                assert!(row.is_some(), "{handover:?}");
                told += 1;
            }
        }
    }
    // All but the last, which comes with the end of the recording.
    assert_eq!(told, 7);
}
