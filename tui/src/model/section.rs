//! Owns the sections that lanes stand in, and the ways to group lanes by them. Refuses lanes: `LaneList`
//! holds those.

use crate::lane::{Lane, LaneGroup, LaneState};
use kubereel_history::harmless;

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
            Self::Objects => "a lane for each object",
            Self::Conditions => "a lane for each object and each of its conditions",
            Self::Troubles => "operators by what was wrong: unavailable, degraded, progressing",
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
            LaneGroup::Nodes => Some(Section::Nodes),
            LaneGroup::Pods => Some(Section::Pods(lane.subject.namespace.clone())),
            LaneGroup::Others => None,
        }
    }
}

/// What lanes under one head have in common, in the order in which they show.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Section {
    /// What somebody pinned.
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
    /// Nodes.
    Nodes,
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
            Self::Nodes => LaneGroup::Nodes.title().to_owned(),
            Self::Pods(namespace) => format!("{} {}", LaneGroup::Pods.title(), harmless(namespace)),
        }
    }

    /// Tells whether it is folded unless somebody unfolds it: there are many pods.
    pub(crate) const fn is_folded_first(&self) -> bool {
        matches!(self, Self::Pods(_))
    }
}
