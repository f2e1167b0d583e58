//! The questions that need object bodies, their answers, and the long searches. Threads are not
//! known here: the caller waits.

use super::changes::NearbyQuery;
use super::choices::{NamespaceChoices, ResourceChoices};
use super::differences::Difference;
use super::line::{Ink, PanelLine};
use super::table::{ObjectTable, SortOrder, TableQuery};
use super::{changes, choices, differences, fields, object, problem, table};
use crate::lane::{ObjectParts, parts};
use crate::problem::ProblemEntry;
use crate::subject::NamedObject;
use crate::time::{CursorPlace, TimeDirection};
use kubereel_format::{ResourceId, Seq};
use kubereel_history::{FieldPath, Timeline, harmless};
use std::sync::Arc;

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ScreenQuestion {
    /// The objects of a resource.
    Table(TableQuery, CursorPlace),
    /// A problem.
    Problem(Arc<ProblemEntry>, CursorPlace),
    /// An object as YAML, with who set its fields.
    Yaml(NamedObject, CursorPlace),
    /// An object's versions around a moment.
    History(NamedObject, CursorPlace),
    /// The Events about an object up to a moment.
    Events(NamedObject, CursorPlace),
    /// What changed in the last seconds before a moment.
    Nearby(NearbyQuery, CursorPlace),
    /// The same, in the pane that stands below the panel.
    Standing(NearbyQuery, CursorPlace),
    /// What differs of an object between two moments; of one, if the first is not set.
    Between(NamedObject, Option<CursorPlace>, CursorPlace),
    /// The difference of an object's version to another, or to the one before.
    Diff(NamedObject, CursorPlace, Option<Seq>),
    /// Who set each field of an object.
    Blame(NamedObject, CursorPlace),
    /// Who owns an object, and what it owns.
    Owners(NamedObject, CursorPlace),
    /// The conditions of an object.
    Conditions(NamedObject, CursorPlace),
    /// An object's bytes.
    Raw(NamedObject, CursorPlace),
    /// A text that is made already.
    Ready(Arc<str>, CursorPlace),
    /// The lanes of the conditions and containers of an object.
    Parts(NamedObject),
    /// Who wrote some records.
    Writers(Arc<[Seq]>),
    /// The states of a lane that is not of an object, in words that are made already.
    PlainLane(Arc<str>, CursorPlace),
    /// The resources to choose from.
    Kinds(SortOrder, CursorPlace),
    /// The namespaces to choose from, with their objects of a resource.
    Namespaces(ResourceId, CursorPlace),
}

/// How many slots there are.
pub(crate) const SLOTS: usize = 6;

impl ScreenQuestion {
    /// Gives the object that a panel is about.
    pub(crate) const fn subject(&self) -> Option<&NamedObject> {
        match self {
            Self::Yaml(subject, _)
            | Self::History(subject, _)
            | Self::Events(subject, _)
            | Self::Diff(subject, ..)
            | Self::Blame(subject, _)
            | Self::Owners(subject, _)
            | Self::Conditions(subject, _)
            | Self::Raw(subject, _)
            | Self::Between(subject, ..) => Some(subject),
            Self::Nearby(..)
            | Self::Standing(..)
            | Self::Parts(_)
            | Self::Writers(_)
            | Self::Problem(..)
            | Self::Ready(..)
            | Self::PlainLane(..)
            | Self::Table(..)
            | Self::Kinds(..)
            | Self::Namespaces(..) => None,
        }
    }

    /// Gives the slot of a question: list, panel, a list to choose from, the standing pane, parts of an object, or who
    /// wrote what. A later question of a slot makes an earlier one void.
    pub(crate) const fn slot(&self) -> usize {
        match self {
            Self::Table(..) => 0,
            Self::Kinds(..) | Self::Namespaces(..) => 2,
            Self::Standing(..) => 3,
            Self::Parts(_) => 4,
            Self::Writers(_) => 5,
            _ => 1,
        }
    }
}

/// An answer, with its question.
#[derive(Clone, Debug)]
pub(crate) enum ScreenAnswer {
    /// The objects of a resource.
    Table(ScreenQuestion, Arc<ObjectTable>),
    /// Lines of a panel, and which of them is to be seen first.
    Lines(ScreenQuestion, Arc<Vec<PanelLine>>, usize),
    /// The lanes of the parts of an object.
    Parts(ScreenQuestion, ObjectParts),
    /// The writers of records; empty where unknown.
    Writers(ScreenQuestion, Vec<(Seq, Arc<str>)>),
    /// The resources to choose from.
    Kinds(ScreenQuestion, Arc<ResourceChoices>),
    /// The namespaces to choose from.
    Namespaces(ScreenQuestion, Arc<NamespaceChoices>),
}

impl ScreenAnswer {
    /// Gives the question.
    pub(crate) const fn question(&self) -> &ScreenQuestion {
        match self {
            Self::Table(question, _)
            | Self::Lines(question, ..)
            | Self::Parts(question, _)
            | Self::Writers(question, _)
            | Self::Kinds(question, _)
            | Self::Namespaces(question, _) => question,
        }
    }
}

/// Answers a question; the answer names what failed.
pub(crate) fn answer(timeline: &Timeline, question: ScreenQuestion) -> ScreenAnswer {
    let text = match &question {
        ScreenQuestion::Table(listing, place) => {
            let table = table::read(timeline, listing, *place);
            return ScreenAnswer::Table(question, Arc::new(table));
        }
        ScreenQuestion::Parts(object) => {
            let parts = parts(timeline, object);
            return ScreenAnswer::Parts(question, parts);
        }
        ScreenQuestion::Writers(seqs) => {
            let writers = changes::read_writers(timeline, seqs);
            return ScreenAnswer::Writers(question, writers);
        }
        ScreenQuestion::Kinds(order, place) => {
            let kinds = choices::read_resources(timeline, *order, *place);
            return ScreenAnswer::Kinds(question, Arc::new(kinds));
        }
        ScreenQuestion::Namespaces(resource, place) => {
            let namespaces = choices::read_namespaces(timeline, *resource, *place);
            return ScreenAnswer::Namespaces(question, Arc::new(namespaces));
        }
        ScreenQuestion::Yaml(object, place) => fields::read_yaml(timeline, object, *place),
        ScreenQuestion::Blame(object, place) => fields::read_blame(timeline, object, *place),
        ScreenQuestion::Owners(object, place) => object::read_owners(timeline, object, *place),
        ScreenQuestion::Conditions(object, place) => {
            object::read_conditions(timeline, object, *place).map(from_top)
        }
        ScreenQuestion::Raw(object, place) => {
            object::read_raw(timeline, object, *place).map(from_top)
        }
        ScreenQuestion::History(object, place) => {
            Ok(changes::read_history(timeline, object, *place))
        }
        ScreenQuestion::Events(object, place) => {
            Ok(from_top(changes::read_events(timeline, object, *place)))
        }
        ScreenQuestion::Ready(text, _) | ScreenQuestion::PlainLane(text, _) => {
            let lines = text.lines();
            let lines = lines.map(|line| PanelLine::of(Ink::Plain, harmless(line)));
            Ok(from_top(lines.collect()))
        }
        ScreenQuestion::Problem(entry, _) => Ok(from_top(problem::problem_lines(timeline, entry))),
        ScreenQuestion::Nearby(asked, place) | ScreenQuestion::Standing(asked, place) => {
            Ok(from_top(changes::read_nearby(timeline, asked, *place)))
        }
        ScreenQuestion::Between(object, Some(a), b) => Ok(from_top(differences::read_between(
            timeline, object, *a, *b,
        ))),
        ScreenQuestion::Between(_, None, _) => Ok(from_top(vec![PanelLine::of(
            Ink::Faint,
            "A is not set: v sets it",
        )])),
        ScreenQuestion::Diff(object, place, other) => Ok(from_top(differences::read_diff(
            timeline, object, *place, *other,
        ))),
    };
    let (lines, first) = text.unwrap_or_else(from_top);
    ScreenAnswer::Lines(question, Arc::new(lines), first)
}

/// Lets the first line be seen first.
const fn from_top(lines: Vec<PanelLine>) -> (Vec<PanelLine>, usize) {
    (lines, 0)
}

/// Gives the answer that list or panel cannot be shown, and why; `None` for a list to choose from.
pub(crate) fn not_answered(question: ScreenQuestion, why: &str) -> Option<ScreenAnswer> {
    let words = format!("cannot be shown: {}", harmless(why));
    Some(match &question {
        ScreenQuestion::Kinds(..) | ScreenQuestion::Namespaces(..) => return None,
        ScreenQuestion::Table(..) => {
            let table = ObjectTable {
                trust: Some(words),
                ..ObjectTable::default()
            };
            ScreenAnswer::Table(question, Arc::new(table))
        }
        ScreenQuestion::Parts(_) => ScreenAnswer::Parts(question, Err(words)),
        ScreenQuestion::Writers(seqs) => {
            let unknown = seqs.iter().map(|seq| (*seq, "".into())).collect();
            ScreenAnswer::Writers(question, unknown)
        }
        _ => ScreenAnswer::Lines(question, Arc::new(vec![PanelLine::of(Ink::Wary, words)]), 0),
    })
}

/// Tells whether two questions are about the same thing, perhaps at other moments.
pub(crate) fn is_same_thing(one: &ScreenQuestion, other: &ScreenQuestion) -> bool {
    if let (ScreenQuestion::Table(one, _), ScreenQuestion::Table(other, _)) = (one, other) {
        return one.resource == other.resource;
    }
    if let (ScreenQuestion::PlainLane(one, _), ScreenQuestion::PlainLane(other, _)) = (one, other) {
        return one == other;
    }
    if let (ScreenQuestion::Problem(one, _), ScreenQuestion::Problem(other, _)) = (one, other) {
        return one == other;
    }
    let is_nearby = |question: &ScreenQuestion| {
        matches!(
            question,
            ScreenQuestion::Nearby(..) | ScreenQuestion::Standing(..)
        )
    };
    if is_nearby(one) && is_nearby(other) {
        return true;
    }
    std::mem::discriminant(one) == std::mem::discriminant(other)
        && one
            .subject()
            .is_some_and(|subject| Some(subject) == other.subject())
}

/// What the panel shows of the selected object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Panel {
    /// Its YAML.
    #[default]
    Yaml,
    /// The problem that led here.
    Problem,
    /// Its versions.
    History,
    /// The Events about it.
    Events,
    /// What changed in the last seconds, of everything.
    Nearby,
    /// What differs of it between A and the cursor.
    Between,
    /// What differs between two of its versions.
    Diff,
    /// Who set its fields.
    Blame,
    /// Who owns it, and what it owns.
    Owners,
    /// Its conditions.
    Conditions,
    /// Its bytes.
    Raw,
}

impl Panel {
    /// Gives the word for it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Yaml => "yaml",
            Self::Problem => "problem",
            Self::History => "history",
            Self::Events => "events",
            Self::Diff => "diff",
            Self::Blame => "blame",
            Self::Owners => "owners",
            Self::Conditions => "conditions",
            Self::Raw => "json",
            Self::Nearby => "",
            Self::Between => "A to cursor",
        }
    }
}

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ScreenSearch {
    /// The version of an object that changes a field.
    Field(FieldSearch),
    /// What differs between two moments.
    Compare(CursorPlace, CursorPlace),
}

/// Where a change of a field is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldSearch {
    /// The object.
    pub(crate) subject: NamedObject,
    /// The field.
    pub(crate) field: FieldPath,
    /// Where one stands.
    pub(crate) from: CursorPlace,
    /// Which way.
    pub(crate) way: TimeDirection,
}

/// What a search found.
#[derive(Clone, Debug)]
pub(crate) enum SearchResult {
    /// A version that changes the field, or why there is none.
    Field(FieldSearchResult),
    /// What differs.
    Difference(Arc<Difference>),
}

/// The end of the search for a change of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldSearchResult {
    /// Where it is; `None` if there is none that way.
    pub(crate) place: Option<CursorPlace>,
    /// What changed, or what there is not, and what makes that doubtful.
    pub(crate) words: String,
}

impl ScreenSearch {
    /// Searches. `go_on` gets the steps done and all steps, and ends it by `false`: then
    /// nothing is found.
    pub(crate) fn run(
        &self,
        timeline: &Timeline,
        go_on: &mut dyn FnMut(usize, usize) -> bool,
    ) -> Option<SearchResult> {
        match self {
            Self::Compare(a, b) => differences::compare(timeline, *a, *b, go_on)
                .map(|difference| SearchResult::Difference(Arc::new(difference))),
            Self::Field(search) => {
                differences::find_field_change(timeline, search, go_on).map(SearchResult::Field)
            }
        }
    }
}
