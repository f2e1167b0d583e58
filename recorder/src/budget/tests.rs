//! Tests of the gate with files that fill up at random.

use super::plan::{BudgetStep, STEPS};
use super::*;
use crate::clock::Clock;
use crate::health::Health;
use crate::queue::{EventEntry, QueueEntry};
use crate::resource::{GroupResource, plain_info};
use kubereel_format::{
    ConnectionId, EventType, Evidence, ListMethod, NotCoveredReason, Note, ObjectMemory,
    ResourceInfo, SessionEnd, SessionId, Stamp, Usage,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::sync::watch;

const NAMES: [(&str, &str); 9] = [
    ("", "configmaps"),
    ("", "events"),
    ("", "nodes"),
    ("", "pods"),
    ("apps", "replicasets"),
    ("config.openshift.io", "clusteroperators"),
    ("config.openshift.io", "clusterversions"),
    ("coordination.k8s.io", "leases"),
    ("shop.example.com", "orders"),
];

fn info(number: usize) -> ResourceInfo {
    let (group, plural) = NAMES[number];
    plain_info(u32::try_from(number).expect("few"), group, plural)
}

fn note(note: Note) -> QueueEntry {
    let stamp = Stamp::default();
    QueueEntry::Note { stamp, note }
}

fn event(number: usize, version: u64, bytes: usize) -> QueueEntry {
    QueueEntry::Event(EventEntry {
        stamp: Stamp::default(),
        connection: ConnectionId(info(number).id.0),
        kind: EventType::Modified,
        evidence: Evidence::Live,
        resource: info(number).id,
        namespace: "".into(),
        name: "x".into(),
        uid: "u".into(),
        version: version.to_string().into(),
        body: Some(vec![b'x'; bytes].into()),
    })
}

fn usage(used_bytes: u64) -> Usage {
    Usage {
        file_bytes: used_bytes,
        used_bytes,
        reach_bytes: 10_000_000,
    }
}

/// A gate, and all entries that passed it.
struct GateWritten {
    gate: Gate,
    published: watch::Receiver<Exclusions>,
    entries: Vec<QueueEntry>,
    used: u64,
    memory: Vec<ObjectMemory>,
}

impl GateWritten {
    fn new(used: u64, before: BTreeSet<GroupResource>) -> Self {
        let limits = RecordingLimits {
            max_bytes: Some(10_000_000),
            max_memory: Some(1_000_000_000),
        };
        let (sender, published) = watch::channel(Exclusions::default());
        let health = Arc::new(Health::new(Clock::start(), crate::queue::redactor()));
        Self {
            gate: Gate::new(limits, usage(used), before, sender, health),
            memory: Vec::new(),
            published,
            entries: Vec::new(),
            used,
        }
    }

    fn push(&mut self, entry: QueueEntry, growth: u64) {
        self.entries.extend(self.gate.before(&entry));
        match self.gate.admit(&entry) {
            Admission::Pass => {
                self.gate.appended(&entry, growth);
                self.used += growth;
                self.entries.push(entry);
            }
            Admission::Instead(entry) => self.entries.push(*entry),
            Admission::Drop => {}
        }
        self.gate.committed(usage(self.used), &self.memory);
    }

    fn begin(&mut self, number: usize) {
        self.push(note(Note::Resource(info(number))), 100);
        let connected = Note::Connected {
            connection: ConnectionId(info(number).id.0),
            resource: info(number).id,
            from_rv: None,
            method: ListMethod::Pages,
        };
        self.push(note(connected), 100);
    }

    /// Returns where each resource was noted as left out.
    fn left_out(&self) -> BTreeMap<(String, String), usize> {
        let mut places = BTreeMap::new();
        for (place, entry) in self.entries.iter().enumerate() {
            if let QueueEntry::Note {
                note:
                    Note::NotCovered {
                        group,
                        plural,
                        reason,
                        ..
                    },
                ..
            } = entry
            {
                assert_eq!(*reason, NotCoveredReason::SizeBudget);
                let before = places.insert((group.clone(), plural.clone()), place);
                assert!(before.is_none(), "{plural} was noted twice");
            }
        }
        places
    }

    fn place(&self, plural: &str) -> Option<usize> {
        let places = self.left_out().into_iter();
        let mut places = places.filter(|((_, name), _)| name == plural);
        places.next().map(|(_, place)| place)
    }
}

#[test]
fn the_steps_come_in_their_order_and_later_ones_later() {
    let mut last = (0, BudgetStep::Leases);
    for (percent, step) in STEPS {
        assert!(percent > last.0 && step >= last.1 && percent < 90);
        last = (percent, step);
    }
    assert_eq!(last.1, BudgetStep::End);
}

proptest! {
    #[test]
    fn whatever_grows_what_is_left_out_is_said_once_in_order_and_never_written_again(
        writes in prop::collection::vec((0..NAMES.len(), 1_u64..60_000), 50..600)
    ) {
        let mut written = GateWritten::new(0, BTreeSet::new());
        for number in 0..NAMES.len() {
            written.begin(number);
        }
        for (version, (number, growth)) in (1..).zip(&writes) {
            written.push(event(*number, version, 100), *growth);
        }
        let places = written.left_out();
        for (place, entry) in written.entries.iter().enumerate() {
            if let QueueEntry::Event(event) = entry {
                let (group, plural) = NAMES[usize::try_from(event.resource.0).expect("few")];
                let end = places.get(&(group.to_owned(), plural.to_owned()));
                prop_assert!(end.is_none_or(|end| place < *end), "{plural} was written again");
            }
        }
        // A resource that comes later in the order is not left out before an earlier one.
        let order = [
            "leases", "events", "pods", "nodes", "clusteroperators", "clusterversions",
        ];
        for (first, second) in order.iter().zip(order.iter().skip(1)) {
            if let Some(second) = written.place(second) {
                prop_assert!(written.place(first).is_some_and(|first| first < second));
            }
        }
        for plain in ["configmaps", "replicasets", "orders"] {
            if let Some(pods) = written.place("pods") {
                prop_assert!(written.place(plain).is_some_and(|plain| plain < pods));
            }
            if let Some(plain) = written.place(plain) {
                prop_assert!(written.place("events").is_some_and(|events| events < plain));
            }
        }
        // At most one write beyond the last step.
        prop_assert!(written.used <= 8_200_000 + 60_000, "{}", written.used);
        let out = written.published.borrow().clone();
        for (group, plural) in NAMES {
            prop_assert_eq!(out.holds(group, plural), written.place(plural).is_some());
        }
    }
}

#[test]
fn what_grows_most_goes_first_of_what_is_not_truth() {
    let mut written = GateWritten::new(0, BTreeSet::new());
    for number in [0, 3, 4] {
        written.begin(number);
    }
    for version in 1..70 {
        written.push(event(3, version, 10), 80_000);
        written.push(event(4, version, 10), 15_000);
        written.push(event(0, version, 10), 5_000);
    }
    let (first, second) = (written.place("replicasets"), written.place("configmaps"));
    assert!(first.is_some() && second.is_none_or(|second| Some(second) > first));
    let mark = written.entries.iter().find_map(|entry| match entry {
        QueueEntry::Note {
            note: Note::Mark { text },
            ..
        } => Some(text.as_str()),
        _ => None,
    });
    let mark = mark.expect("a mark");
    assert!(
        mark.starts_with("size budget: no longer recorded: replicasets.apps (6.8 MB used"),
        "{mark}"
    );
}

#[test]
fn the_connection_of_what_is_left_out_ends_where_it_was() {
    let mut written = GateWritten::new(0, BTreeSet::new());
    written.begin(7);
    written.push(event(7, 41, 10), 10);
    written.push(event(7, 42, 10), 5_000_000);
    written.push(event(7, 43, 10), 10);
    let end = written.entries.iter().find_map(|entry| match entry {
        QueueEntry::Note {
            note: Note::Disconnected { last_rv, .. },
            ..
        } => Some(last_rv.clone()),
        _ => None,
    });
    assert_eq!(end, Some(Some("42".to_owned())));
}

#[test]
fn an_object_too_large_for_what_is_left_ends_its_resource_only() {
    let mut written = GateWritten::new(0, BTreeSet::new());
    written.begin(0);
    written.begin(4);
    written.push(event(0, 1, 30_000_000), 30_000_000);
    written.push(event(4, 2, 10), 10);
    assert!(written.place("configmaps").is_some() && written.place("replicasets").is_none());
    assert!(written.used < 1_000);
    assert!(
        matches!(written.entries.last(), Some(QueueEntry::Event(event)) if event.name == "x".into())
    );
}

#[test]
fn what_an_earlier_run_left_out_stays_out_while_the_reel_is_full() {
    let before = BTreeSet::from([(String::new(), "configmaps".to_owned())]);
    let mut full = GateWritten::new(6_500_000, before.clone());
    full.begin(0);
    full.push(event(0, 1, 10), 10);
    assert!(full.place("configmaps").is_some());
    assert!(
        !full
            .entries
            .iter()
            .any(|entry| matches!(entry, QueueEntry::Event(_)))
    );
    let mut roomy = GateWritten::new(1_000_000, before);
    roomy.begin(0);
    roomy.push(event(0, 1, 10), 10);
    assert!(roomy.place("configmaps").is_none());
}

#[test]
fn a_file_that_refuses_to_grow_takes_notes_and_in_the_end_only_the_end() {
    let mut written = GateWritten::new(0, BTreeSet::new());
    written.begin(0);
    written.push(event(0, 5, 10), 10);
    let notes = written.gate.refused(Stamp::default());
    assert!(notes.iter().any(|entry| matches!(
        entry,
        QueueEntry::Note {
            note: Note::Disconnected { last_rv: None, .. },
            ..
        }
    )));
    let mark = || note(Note::Mark { text: "m".into() });
    let ended = || {
        note(Note::SessionEnded {
            session: SessionId(0),
            end: SessionEnd::Finished,
        })
    };
    assert!(matches!(
        written.gate.admit(&event(0, 6, 10)),
        Admission::Drop
    ));
    assert!(matches!(written.gate.admit(&mark()), Admission::Pass));
    assert!(!written.gate.refused(Stamp::default()).is_empty());
    assert!(matches!(written.gate.admit(&mark()), Admission::Drop));
    assert!(matches!(written.gate.admit(&ended()), Admission::Pass));
    assert!(written.gate.refused(Stamp::default()).is_empty());
}

/// The memory of a resource with a million objects.
fn many_objects(number: usize) -> ObjectMemory {
    ObjectMemory {
        resource: info(number).id,
        live: 1_000_000,
        name_bytes: 50_000_000,
        bytes: 600_000_000,
    }
}

#[test]
fn the_resource_whose_objects_take_most_memory_is_left_out_and_the_reel_says_so() {
    let mut written = GateWritten::new(0, BTreeSet::new());
    written.begin(0);
    written.begin(3);
    written.push(event(3, 7, 10), 10);
    written.memory = vec![many_objects(3)];
    written.push(event(0, 8, 10), 10);
    assert!(
        written.gate.take_forgotten().is_empty(),
        "seen at the commit"
    );
    written.push(event(3, 9, 10), 10);
    let noted = written.entries.iter().position(|entry| {
        matches!(entry, QueueEntry::Note { note: Note::NotCovered { plural, reason, .. }, .. }
            if plural == "pods" && *reason == NotCoveredReason::MemoryBudget)
    });
    let last = written.entries.iter().rposition(
        |entry| matches!(entry, QueueEntry::Event(event) if event.resource == info(3).id),
    );
    assert!(noted.is_some() && last < noted, "{last:?} and {noted:?}");
    assert!(written.entries.iter().any(|entry| {
        matches!(entry, QueueEntry::Note { note: Note::Mark { text }, .. }
            if text.starts_with("memory budget: no longer recorded: pods ("))
    }));
    assert!(written.entries.iter().any(|entry| {
        matches!(entry, QueueEntry::Note { note: Note::Disconnected { last_rv, detail, .. }, .. }
            if last_rv.as_deref() == Some("7") && detail == "memory budget")
    }));
    assert_eq!(written.gate.take_forgotten(), BTreeSet::from([info(3).id]));
    assert!(written.gate.take_forgotten().is_empty(), "once is enough");
    written.gate.forget_again();
    assert_eq!(written.gate.take_forgotten(), BTreeSet::from([info(3).id]));
    assert!(written.published.borrow().holds("", "pods"));
    // A resource that is announced again stays out, for the same reason.
    written.memory.clear();
    let entries = written.entries.len();
    written.begin(3);
    written.push(event(3, 10, 10), 10);
    written.push(event(0, 11, 10), 10);
    let more = written.entries.split_off(entries);
    assert!(matches!(more.as_slice(), [QueueEntry::Event(event)] if event.resource == info(0).id));
}
