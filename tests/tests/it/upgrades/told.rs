//! The story of a real cluster-version operator's upgrade names what was planted, to the second.

use crate::recordings::recording::{Recording, Reel, Section, sections, time};
use kubereel_cluster::{ClusterHistory, Ill, UpdateKind, UpgradeStory};
use kubereel_format::RecordedAt;
use kubereel_history::Moment;
use kubereel_import::ImportOptions;
use serde_json::Value;
use std::collections::BTreeSet;

/// What was planted is stamped just before or after the request.
const PLANTED_MICROS: i64 = 1_000_000;
/// What was seen is written with milliseconds.
const SEEN_MICROS: i64 = 1_000;

struct Told {
    _reel: Reel,
    story: UpgradeStory,
    sections: Vec<Section>,
}

impl Told {
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
            _reel: reel,
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
    let Some(told) = Told::read(UpdateKind::Upgrade) else {
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
    assert_eq!(late.word, "DeadlineExceeded");
    near(late.mark.at, "13:27:22.723", PLANTED_MICROS);
}

#[test]
fn requests_acceptance_and_completion_stand_where_they_were_seen() {
    let Some(told) = Told::read(UpdateKind::Upgrade) else {
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
        let Some(told) = Told::read(kind) else {
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
    let Some(told) = Told::read(UpdateKind::Upgrade) else {
        return;
    };
    let spells = &told.story.spells;
    let rows = told.rows("Planted: administrator");
    let faults: Vec<&Vec<String>> = rows.iter().filter(|row| row[1] == "fault").collect();
    let mut of_operators: Vec<_> = spells
        .iter()
        .filter(|spell| spell.ill != Ill::Failing)
        .collect();
    for begin in faults.iter().filter(|row| row[2].contains("begins")) {
        let (what, planted) = words(&begin[2]);
        let ill = if what.starts_with("Degraded") {
            Ill::Degraded
        } else {
            Ill::Unavailable
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
        .filter(|spell| spell.ill == Ill::Failing)
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
    let Some(told) = Told::read(UpdateKind::Upgrade) else {
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
    assert_eq!(
        order,
        ["master-0", "master-1", "master-2", "worker-0", "worker-1"]
    );
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
        let held: BTreeSet<&str> = node.held_by.iter().map(|hold| hold.pod.as_str()).collect();
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
    let [held] = told.story.nodes[3].held_by.as_slice() else {
        panic!("{:#?}", told.story.nodes[3].held_by);
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
        let Some(one) = Told::read(kind) else {
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
