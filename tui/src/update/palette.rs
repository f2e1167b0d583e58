//! What `:` can run: a time, the action of every key, resources, objects, namespaces, problems, stages and
//! themes, the best match first. A text that is a TIME is always taken as one.

use crate::keymap::{KeyContext, bindings};
use crate::model::OpenReel;
use crate::msg::KeyAction;
use crate::subject::NamedObject;
use crate::theme::Palette;
use crate::time::TimeDirection::{Next, Previous};
use kubereel_format::{EventType, ObjectId, RecordedAt, ResourceId, ResourceInfo};
use kubereel_history::{Moment, harmless};
use std::collections::{BTreeMap, BTreeSet};

/// The most entries that are listed.
const MOST: usize = 200;
/// This many objects are looked through at a letter; a resource before the name narrows them.
const MOST_OBJECTS: usize = 20_000;
/// What is called by its resource stands before all that is only alike.
const EXACT: usize = 1_000;

/// What an entry does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PaletteCommand {
    /// Goes to the time that is written.
    Time,
    /// Does what a key does.
    Act(KeyAction),
    /// Lists the objects of a resource.
    List(ResourceId),
    /// Shows one namespace only.
    Namespace(String),
    /// Selects an object.
    Object(NamedObject),
    /// Goes to a problem, by its place in the list.
    Problem(usize),
    /// Goes to a moment with a name.
    Moment(&'static str),
    /// Goes to where a stage of the cluster's life begins.
    Stage(RecordedAt),
    /// Takes other colours.
    Theme(Palette),
}

/// Something that can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PaletteEntry {
    /// What it does, in words.
    pub(crate) words: String,
    /// The key that does it, too.
    pub(crate) key: &'static str,
    /// What it does.
    pub(crate) command: PaletteCommand,
}

/// Words for the acts of keys that share a row of the table.
const HALVES: [(KeyAction, &str, &str); 26] = [
    (KeyAction::Event(Previous), ",", "previous event"),
    (KeyAction::Event(Next), ".", "next event"),
    (
        KeyAction::Change(Previous),
        "C",
        "previous change of the object",
    ),
    (KeyAction::Change(Next), "c", "next change of the object"),
    (
        KeyAction::FieldChange(Previous),
        "F",
        "previous change of the selected field",
    ),
    (
        KeyAction::FieldChange(Next),
        "f",
        "next change of the selected field",
    ),
    (
        KeyAction::Transition(Previous),
        "T",
        "previous transition of the lane",
    ),
    (
        KeyAction::Transition(Next),
        "t",
        "next transition of the lane",
    ),
    (KeyAction::Problem(Previous), "N", "previous problem"),
    (KeyAction::Problem(Next), "n", "next problem"),
    (
        KeyAction::Anomaly(Previous),
        "(",
        "previous gap, outage or flap",
    ),
    (KeyAction::Anomaly(Next), ")", "next gap, outage or flap"),
    (
        KeyAction::Mark(Previous),
        "{",
        "previous bookmark, mark or stage",
    ),
    (KeyAction::Mark(Next), "}", "next bookmark, mark or stage"),
    (KeyAction::Start, "g", "go to the start"),
    (KeyAction::End, "G", "go to the end"),
    (KeyAction::ZoomOut, "-", "zoom out"),
    (KeyAction::ZoomIn, "+", "zoom in"),
    (KeyAction::Pan(-2), "a", "pan left"),
    (KeyAction::Pan(2), "d", "pan right"),
    (KeyAction::FitSelection, "z", "fit the selection"),
    (KeyAction::FitAll, "Z", "fit the whole reel"),
    (KeyAction::Back, "ctrl-o", "undo the last jump"),
    (KeyAction::Forth, "alt-o", "redo the jump"),
    (KeyAction::Slower, "[", "play slower"),
    (KeyAction::Faster, "]", "play faster"),
];

/// Gives what a text can mean, the best match first.
pub(crate) fn entries(open: &OpenReel, text: &str) -> Vec<PaletteEntry> {
    let text = text.trim();
    let mut all: Vec<(usize, PaletteEntry)> = Vec::new();
    if Moment::parse_in(text, open.zone).is_ok() {
        let entry = PaletteEntry {
            words: format!("go to {text}"),
            key: "",
            command: PaletteCommand::Time,
        };
        all.push((usize::MAX, entry));
    }
    let mut add = |words: String, key, command| {
        if let Some(score) = score(text, &words) {
            all.push((
                score,
                PaletteEntry {
                    words,
                    key,
                    command,
                },
            ));
        }
    };
    for (act, words, key) in acts() {
        add(words.to_owned(), key, PaletteCommand::Act(act));
    }
    if !text.is_empty() {
        let exact = open
            .timeline
            .resources()
            .find(text)
            .ok()
            .map(|info| info.id);
        for info in open.timeline.resources().iter() {
            let is_listed = Some(info.id) == exact;
            if !is_listed && !open.timeline.objects_of(info.id).is_empty() {
                let name = harmless(&info.qualified()).into_owned();
                add(name, "b", PaletteCommand::List(info.id));
            }
        }
        for name in namespaces(open) {
            let words = format!("ns {}", harmless(&name));
            add(words, "u", PaletteCommand::Namespace(name));
        }
    }
    all.extend(named(open, text));
    if !text.is_empty() {
        all.extend(objects(open, text));
    }
    // Of equals, the order of the table stays.
    all.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    all.into_iter().take(MOST).map(|(_, entry)| entry).collect()
}

/// Gives what has a name of its own: themes, the upgrade, stages, problems.
fn named(open: &OpenReel, text: &str) -> Vec<(usize, PaletteEntry)> {
    let mut all = Vec::new();
    let named = format!("{}:", text.to_lowercase());
    let mut add = |words: String, key, command| {
        if let Some(score) = score(text, &words) {
            // `problem 2` is the second one, not one that has a 2 in its words.
            let first = if words.starts_with(&named) { EXACT } else { 0 };
            let score = score.saturating_add(first);
            let entry = PaletteEntry {
                words,
                key,
                command,
            };
            all.push((score, entry));
        }
    };
    for (palette, name) in Palette::ALL {
        add(format!("theme {name}"), "", PaletteCommand::Theme(palette));
    }
    if text.is_empty() {
        return all;
    }
    let board = open.board();
    if board.is_some_and(|board| !board.releases.is_empty()) {
        for (words, moment) in [("upgrade", "upgrade:start"), ("upgrade end", "upgrade:end")] {
            add(words.to_owned(), "", PaletteCommand::Moment(moment));
        }
    }
    for stage in board.map_or(&[][..], |board| &board.stages) {
        let words = format!("stage {}", harmless(&stage.name));
        add(words, "}", PaletteCommand::Stage(stage.span.start));
    }
    let problems = open.trouble.problems.as_ref();
    let entries = problems.map_or(&[][..], |all| &all.entries);
    for (at, entry) in entries.iter().enumerate().take(MOST) {
        // Numbers are those of `kubereel problems`, which lists neither findings nor gaps.
        let number = entry.listed.map(|place| format!("problem {}", place + 1));
        let number = number.unwrap_or_else(|| "other finding".to_owned());
        let words = format!("{number}: {}: {}", entry.about, entry.words);
        add(words, "n", PaletteCommand::Problem(at));
    }
    all
}

/// Gives the objects that a text names: `co/etcd`, `deploy shop/web`, `shop/web`, or a part of a name alone.
fn objects(open: &OpenReel, text: &str) -> Vec<(usize, PaletteEntry)> {
    let resources = open.timeline.resources();
    let parted = text.split_once(['/', ' ']);
    let by_kind = parted.and_then(|(kind, rest)| Some((resources.find(kind).ok()?, rest.trim())));
    let wanted = by_kind.map_or(text, |(_, rest)| rest);
    // As the screen writes it: `deployment shop/web`, or `shop/web` alone.
    let (namespace, wanted) = match wanted.split_once('/') {
        Some((namespace, name)) => (Some(namespace), name),
        None => (None, wanted),
    };
    let infos: Vec<_> = match by_kind {
        // `ns x` chooses the namespace.
        Some((info, _)) if info.kind == "Namespace" && text.contains(' ') => return Vec::new(),
        Some((info, _)) => vec![info],
        None if text.len() < 2 || parted.is_some() && namespace.is_none() => return Vec::new(),
        None => {
            let is_said = |kind: &str| !matches!(kind, "Event" | "Lease" | "Namespace");
            let all = resources.iter().filter(|info| is_said(&info.kind));
            all.collect()
        }
    };
    let mut named: BTreeMap<NamedObject, (usize, bool)> = BTreeMap::new();
    let ids = infos
        .iter()
        .flat_map(|info| open.timeline.objects_of(info.id));
    for id in ids.take(MOST_OBJECTS) {
        let Some(key) = open.timeline.key_of(*id) else {
            continue;
        };
        if namespace.is_some_and(|only| only != key.namespace) {
            continue;
        }
        let Some(score) = score(wanted, key.name) else {
            continue;
        };
        let subject = NamedObject {
            resource: key.resource,
            namespace: key.namespace.to_owned(),
            name: key.name.to_owned(),
        };
        let is_exact = by_kind.is_some() || namespace.is_some();
        let first = if is_exact { EXACT } else { 0 };
        let own = named.entry(subject);
        own.or_insert((score.saturating_add(first), false)).1 |= is_there(open, *id);
    }
    let mut found: Vec<(NamedObject, (usize, bool))> = named.into_iter().collect();
    // Of equals, those that exist at the cursor come first.
    found.sort_by_key(|(_, own)| std::cmp::Reverse(*own));
    found.truncate(MOST);
    let entry = |(subject, (score, _)): (NamedObject, (usize, bool))| {
        let words = subject.written(&open.timeline);
        let entry = PaletteEntry {
            words,
            key: "",
            command: PaletteCommand::Object(subject),
        };
        (score, entry)
    };
    let mut all: Vec<(usize, PaletteEntry)> = found.into_iter().map(entry).collect();
    // The resource itself, where that is all that is written.
    if let Ok(info) = resources.find(text)
        && !open.timeline.objects_of(info.id).is_empty()
    {
        let entry = PaletteEntry {
            words: harmless(&info.qualified()).into_owned(),
            key: "b",
            command: PaletteCommand::List(info.id),
        };
        all.push((EXACT * 2, entry));
    }
    all
}

/// Tells whether an object exists at the cursor.
fn is_there(open: &OpenReel, object: ObjectId) -> bool {
    let reel = open.timeline.reel();
    let versions = reel.versions(object);
    let count = versions.partition_point(|seq| *seq < open.place.below);
    let last = count.checked_sub(1).and_then(|at| versions.get(at));
    last.is_some_and(|last| reel.kind_of(*last) != Some(EventType::Deleted))
}

/// Gives the acts that keys have on the main screen, with their words.
fn acts() -> impl Iterator<Item = (KeyAction, &'static str, &'static str)> {
    let rows =
        bindings().filter(|row| matches!(row.place, KeyContext::Timeline | KeyContext::Everywhere));
    rows.flat_map(|row| {
        let is_one = row.acts.len() == 1;
        row.acts.iter().filter_map(move |act| {
            let half = HALVES.iter().find(|(own, ..)| own == act);
            match (half, act) {
                (
                    _,
                    KeyAction::AskTime
                    | KeyAction::Open
                    | KeyAction::Close
                    | KeyAction::Rows(_)
                    | KeyAction::Cells(_),
                ) => None,
                (Some((_, key, words)), _) => Some((*act, *words, *key)),
                (None, _) if is_one => Some((*act, row.does, row.shown)),
                // Keys without words of their own are better pressed than chosen.
                (None, _) => None,
            }
        })
    })
}

/// Gives the namespaces that were recorded, and those that anything recorded was in: an import may have no Namespaces.
fn namespaces(open: &OpenReel) -> BTreeSet<String> {
    let is_namespace = |info: &&ResourceInfo| info.kind == "Namespace";
    let infos = open.timeline.resources().iter();
    let (own, others): (Vec<_>, Vec<_>) = infos.partition(is_namespace);
    let objects = own.into_iter().chain(others).flat_map(|info| {
        let ids = open.timeline.objects_of(info.id).iter();
        ids.map(move |object| (*object, is_namespace(&info)))
    });
    let names = objects
        .take(MOST_OBJECTS)
        .filter_map(|(object, is_namespace)| {
            let key = open.timeline.key_of(object)?;
            Some(if is_namespace {
                key.name
            } else {
                key.namespace
            })
        });
    let names: BTreeSet<&str> = names.filter(|name| !name.is_empty()).collect();
    names.into_iter().map(str::to_owned).collect()
}

/// Says how well letters fit a text; `None` if they do not. Every word must fit: as a part of the
/// text, or as letters of it in their order that do not lie too far apart.
fn score(letters: &str, text: &str) -> Option<usize> {
    let text = text.to_lowercase();
    letters
        .split_whitespace()
        .map(|word| of_word(&word.to_lowercase(), &text))
        .sum()
}

fn of_word(word: &str, text: &str) -> Option<usize> {
    if let Some(at) = text.find(word) {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let is_start = before.is_none_or(|letter| !letter.is_alphanumeric());
        // What fills more of the text fits better.
        let share = word.len().saturating_mul(50) / text.len().max(1);
        return Some(100 + share + if is_start { 100 } else { 0 } + if at == 0 { 50 } else { 0 });
    }
    let mut wanted = word.chars().peekable();
    let (mut first, mut last) = (None, 0);
    for (at, letter) in text.chars().enumerate() {
        if wanted.next_if_eq(&letter).is_some() {
            first = first.or(Some(at));
            last = at;
        }
        if wanted.peek().is_none() {
            break;
        }
    }
    let span = last + 1 - first?;
    let count = word.chars().count();
    let is_near = wanted.peek().is_none() && span <= count.saturating_mul(2) && count > 1;
    is_near.then(|| 90_usize.saturating_sub(span - count.min(span)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_match_comes_first() {
        let best = |letters: &str, texts: &[&str]| {
            let mut all: Vec<(Option<usize>, &str)> = texts
                .iter()
                .map(|text| (score(letters, text), *text))
                .collect();
            all.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
            all.into_iter()
                .filter(|(score, _)| score.is_some())
                .map(|(_, text)| text.to_owned())
                .collect::<Vec<_>>()
        };
        let kinds = [
            "podnetworks.example",
            "nodes",
            "pods",
            "next problem",
            "ns pods-east",
        ];
        assert_eq!(best("pods", &kinds)[..2], ["pods", "ns pods-east"]);
        assert_eq!(best("nxprb", &kinds), ["next problem"]);
        assert_eq!(best("prob next", &kinds), ["next problem"]);
        assert_eq!(best("zzz", &kinds), Vec::<String>::new());
        assert_eq!(best("", &kinds).len(), kinds.len());
        assert_eq!(
            best("noon", &["ns openshift-monitoring", "networks.config"]),
            Vec::<String>::new()
        );
    }

    #[test]
    fn words_of_halves_stand_for_keys_that_do_that() {
        for (own, key, words) in HALVES {
            let row = bindings().find(|row| row.acts.contains(&own));
            let row = row.unwrap_or_else(|| panic!("{words}: no key"));
            assert!(
                row.shown.split(' ').any(|shown| shown == key),
                "{words}: {}",
                row.shown
            );
        }
    }
}
