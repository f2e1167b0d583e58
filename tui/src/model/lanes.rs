//! The list of lanes: sections, groupings, folds, pins, and the cells of the rows that show. `update` finds
//! them when something changed.

use crate::lane::{
    FirstSights, Lane, LaneCell, LaneGroup, LaneReading, LaneSpell, LaneState, LaneSubject,
    ObjectParts, dark_of, dark_of_object,
};
use crate::subject::NamedObject;
use crate::time::ViewWindow;
use kubereel_format::EventType;
use kubereel_history::{Timeline, harmless};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Where a lane is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LaneAt {
    /// Among the pins.
    Pin(usize),
    /// Among the pins, of an object that has a lane on the board.
    PinOf(usize),
    /// On the board.
    Board(usize),
    /// Among the tests.
    Rule(usize),
    /// A part of an unfolded object, by their places.
    Part(usize, usize),
}

/// A row of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LaneRow {
    /// The head of a section.
    Head(SectionHead),
    /// A lane, and how deep it stands below others.
    Lane(LaneAt, usize),
}

/// A selection that is not an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ChosenRow {
    /// The head of a section.
    Head(Section),
    /// A lane that is not of an object.
    Lane(LaneSubject),
}

/// An object whose parts show below it.
#[derive(Clone, Debug)]
pub(crate) struct UnfoldedObject {
    /// The object.
    pub(crate) subject: NamedObject,
    /// Its parts, once they are read.
    pub(crate) parts: Option<ObjectParts>,
    /// Whether there is more of the reel than they know.
    pub(crate) is_old: bool,
}

/// The head of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SectionHead {
    /// The section.
    pub(crate) section: Section,
    /// Its lanes, of objects.
    pub(crate) lanes: Vec<LaneAt>,
    /// Whether they are hidden.
    pub(crate) is_folded: bool,
}

/// What the cells of a row show.
#[derive(Clone, Debug)]
pub(crate) enum RowCells {
    /// Those of a lane.
    Lane(Arc<[LaneCell]>),
    /// Those of a head: where something of its section is not known.
    Head(Arc<[bool]>),
}

/// The list of lanes.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaneList {
    /// How lanes are grouped.
    pub(crate) grouping: Grouping,
    /// The sections that the user folded or unfolded.
    pub(crate) folds: BTreeMap<Section, bool>,
    /// The rows.
    pub(crate) rows: Vec<LaneRow>,
    /// The first row that shows.
    pub(crate) first: usize,
    /// How many columns the longest name takes.
    pub(crate) longest: usize,
    /// Whether the cluster has operators that tell how it is.
    pub(crate) has_operators: bool,
    /// The row without an object that is chosen, and over which selected object it was.
    pub(crate) chosen: Option<(ChosenRow, Option<NamedObject>)>,
    /// The objects that are unfolded.
    pub(crate) unfolded: Vec<UnfoldedObject>,
    /// The selected object for which the rows were found: its section is not folded.
    pub(crate) sought: Option<NamedObject>,
    /// Whether the selected lane is that among the pins.
    pub(crate) is_pin_chosen: bool,
    /// The window and the count of cells for which cells are kept.
    pub(crate) kept_for: Option<(ViewWindow, u16)>,
    /// The cells of rows that showed, by the place of the row.
    pub(crate) cells: BTreeMap<usize, RowCells>,
    /// How many lanes are bad at the cursor, and how many unknown, by the place of the head.
    pub(crate) bad: BTreeMap<usize, (usize, usize)>,
}

impl LaneList {
    /// Tells whether a section is folded; what a filter finds is hidden only by the user.
    pub(crate) fn is_folded(&self, section: &Section, is_filtered: bool) -> bool {
        let first = section.is_folded_first(self.has_operators) && !is_filtered;
        self.folds.get(section).copied().unwrap_or(first)
    }

    /// Gives the place of a section's head.
    pub(crate) fn head_row(&self, section: &Section) -> Option<usize> {
        let is_it = |row: &LaneRow| matches!(row, LaneRow::Head(head) if head.section == *section);
        self.rows.iter().position(is_it)
    }

    /// Gives how many of the first rows stay in sight: those of the pins, of a third of the height at
    /// most.
    pub(crate) fn sticky(&self, height: usize) -> usize {
        let pins = match self.rows.first() {
            Some(LaneRow::Head(head)) if head.section == Section::Pins => {
                let mut heads = self.rows.iter().skip(1);
                let next = heads.position(|row| matches!(row, LaneRow::Head(_)));
                next.map_or(self.rows.len(), |next| next + 1)
            }
            _ => 0,
        };
        pins.min(height / 3)
    }

    /// Gives the places of the rows that show.
    pub(crate) fn shown(&self, height: usize) -> impl Iterator<Item = usize> + use<> {
        let sticky = self.sticky(height);
        let rest = self.first.max(sticky)..self.rows.len();
        (0..sticky).chain(rest).take(height)
    }

    /// Gives the sections that have a head.
    pub(crate) fn sections(&self) -> BTreeSet<Section> {
        let heads = self.rows.iter().filter_map(|row| match row {
            LaneRow::Head(head) => Some(head.section.clone()),
            LaneRow::Lane(..) => None,
        });
        heads.collect()
    }

    /// Gives the place of an object among the unfolded ones.
    pub(crate) fn unfolded_at(&self, subject: &NamedObject) -> Option<usize> {
        self.unfolded.iter().position(|one| one.subject == *subject)
    }

    /// Forgets all cells.
    pub(crate) fn forget(&mut self) {
        self.cells.clear();
        self.bad.clear();
        self.kept_for = None;
    }
}

/// How lanes are grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Grouping {
    /// One lane for each object: the worst of all that it says.
    #[default]
    Objects,
    /// One for each object, and below it one for each of its conditions.
    Conditions,
    /// As the timeline of openshift-tests has it: the operators that were unavailable, those that were
    /// degraded, those that progressed, nodes, pods.
    Troubles,
}

impl Grouping {
    /// Every way to group.
    pub(crate) const ALL: [Self; 3] = [Self::Objects, Self::Conditions, Self::Troubles];

    /// Gives the next one.
    pub(crate) const fn next(self) -> Self {
        match self {
            Self::Objects => Self::Conditions,
            Self::Conditions => Self::Troubles,
            Self::Troubles => Self::Objects,
        }
    }

    /// Gives the words for it.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Objects => "lanes by object",
            Self::Conditions => "lanes by object and condition",
            Self::Troubles => "operators by condition: unavailable, degraded, progressing",
        }
    }

    /// Tells whether conditions have lanes of their own.
    pub(crate) const fn has_conditions(self) -> bool {
        !matches!(self, Self::Objects)
    }

    /// Tells whether the lanes of a section are conditions that stand for their objects.
    pub(crate) fn is_by_trouble(self, section: &Section) -> bool {
        let is_one = matches!(
            section,
            Section::Unavailable | Section::Degraded | Section::Progressing
        );
        self == Self::Troubles && is_one
    }

    /// Gives the section in which a lane stands; `None` if it does not show.
    pub(crate) fn section(self, lane: &Lane) -> Option<Section> {
        let is_own = lane.condition.is_none();
        match lane.group {
            LaneGroup::Operators if self == Self::Troubles => {
                let (section, state) = match lane.condition.as_deref()? {
                    "Available" => (Section::Unavailable, LaneState::Down),
                    "Degraded" => (Section::Degraded, LaneState::Bad),
                    "Progressing" => (Section::Progressing, LaneState::Changing),
                    _ => return None,
                };
                let was_so = lane.spells.iter().any(|spell| spell.state == state);
                was_so.then_some(section)
            }
            _ if !is_own && self != Self::Conditions => None,
            LaneGroup::Version => Some(Section::Version),
            LaneGroup::Operators => Some(Section::Operators),
            LaneGroup::Pools => Some(Section::Pools),
            LaneGroup::Server => Some(Section::Server),
            LaneGroup::Nodes => Some(Section::Nodes),
            LaneGroup::Workloads => Some(Section::Workloads),
            LaneGroup::Services => Some(Section::Services),
            LaneGroup::Customs => Some(Section::Customs),
            LaneGroup::Rules => Some(Section::Rules),
            LaneGroup::Pods => Some(Section::Pods(lane.subject.namespace().to_owned())),
            LaneGroup::Others => None,
        }
    }
}

/// What lanes under one head have in common, in the order in which they show.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Section {
    /// Pinned objects.
    Pins,
    /// The cluster's version.
    Version,
    /// Operators that were unavailable.
    Unavailable,
    /// Operators that were degraded.
    Degraded,
    /// Operators that progressed.
    Progressing,
    /// Cluster operators.
    Operators,
    /// Machine config pools.
    Pools,
    /// The API server.
    Server,
    /// Nodes.
    Nodes,
    /// Workloads.
    Workloads,
    /// Services.
    Services,
    /// Custom resources.
    Customs,
    /// Tests that failed or flaked.
    Rules,
    /// Pods of a namespace.
    Pods(String),
}

impl Section {
    /// Gives the words above it.
    pub(crate) fn title(&self) -> String {
        match self {
            Self::Pins => "PINNED".to_owned(),
            Self::Version => LaneGroup::Version.title().to_owned(),
            Self::Unavailable => "OPERATORS UNAVAILABLE".to_owned(),
            Self::Degraded => "OPERATORS DEGRADED".to_owned(),
            Self::Progressing => "OPERATORS PROGRESSING".to_owned(),
            Self::Operators => LaneGroup::Operators.title().to_owned(),
            Self::Pools => LaneGroup::Pools.title().to_owned(),
            Self::Server => LaneGroup::Server.title().to_owned(),
            Self::Nodes => LaneGroup::Nodes.title().to_owned(),
            Self::Workloads => LaneGroup::Workloads.title().to_owned(),
            Self::Services => LaneGroup::Services.title().to_owned(),
            Self::Customs => LaneGroup::Customs.title().to_owned(),
            Self::Rules => LaneGroup::Rules.title().to_owned(),
            Self::Pods(namespace) => format!("{} {}", LaneGroup::Pods.title(), harmless(namespace)),
        }
    }

    /// Tells whether it is folded at first: there are many pods, and where there are operators, these tell
    /// how the workloads of the platform are.
    const fn is_folded_first(&self, has_operators: bool) -> bool {
        match self {
            Self::Pods(_) | Self::Rules => true,
            Self::Workloads | Self::Services | Self::Customs => has_operators,
            _ => false,
        }
    }
}

/// How many objects can be unfolded.
pub(crate) const MOST_UNFOLDED: usize = 50;
/// How many objects can be pinned.
const MOST: usize = 50;

/// The pinned objects in the order of pinning, each with the lane of its existence.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pins {
    lanes: Vec<Lane>,
}

impl Pins {
    /// Gives the lanes, whose subjects are what is pinned.
    pub(crate) fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// Tells whether an object is pinned.
    pub(crate) fn has(&self, subject: &NamedObject) -> bool {
        self.lanes.iter().any(|lane| lane.subject.is(subject))
    }

    /// Makes the lanes anew, of a reel that has grown.
    pub(crate) fn renew(&mut self, timeline: &Timeline) {
        for lane in &mut self.lanes {
            if let Some(subject) = lane.subject.object() {
                *lane = presence(timeline, &subject.clone());
            }
        }
    }

    /// Pins an object, or takes its pin away; tells whether it is pinned now. `None` if there are too
    /// many.
    pub(crate) fn toggle(&mut self, timeline: &Timeline, subject: &NamedObject) -> Option<bool> {
        if let Some(at) = self.lanes.iter().position(|lane| lane.subject.is(subject)) {
            self.lanes.remove(at);
            return Some(false);
        }
        if self.lanes.len() >= MOST {
            return None;
        }
        self.lanes.push(presence(timeline, subject));
        Some(true)
    }
}

/// Gives the lane of an object: that it exists, and each of its changes.
fn presence(timeline: &Timeline, subject: &NamedObject) -> Lane {
    let reel = timeline.reel();
    let words = ["exists", "changed", "deleted"].map(Arc::<str>::from);
    let [exists, changed, deleted] = &words;
    let mut spells: Vec<LaneSpell> = Vec::new();
    for seq in subject.versions(timeline) {
        let Some(at) = reel.stamp(seq).map(|stamp| stamp.wall) else {
            continue;
        };
        let last = spells.last();
        let was_there = last.is_some_and(|last| last.state == LaneState::Good);
        let (state, word) = match (reel.kind_of(seq), was_there) {
            (Some(EventType::Deleted), _) => (LaneState::Absent, deleted),
            (_, true) => (LaneState::Good, changed),
            (_, false) => (LaneState::Good, exists),
        };
        spells.push(LaneSpell {
            // A clock that stepped back must not put later versions before earlier ones.
            from: last.map_or(at, |last| last.from.max(at)),
            seq,
            state,
            word: Arc::clone(word),
        });
    }
    // That it exists is known also of a version that cannot be read.
    let dark = dark_of(timeline, subject.resource).into();
    let dark = dark_of_object(timeline, subject, &dark, &[]);
    let seen_from = FirstSights::of(timeline, subject.resource).of_object(subject);
    let lane = Lane::of(
        (
            LaneGroup::Others,
            LaneSubject::Object(subject.clone()),
            None,
        ),
        LaneReading::Presence,
        spells,
        dark,
    );
    lane.seen_from(seen_from)
}
