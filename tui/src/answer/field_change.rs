//! Owns the search for the version of an object that changes a field. Refuses versions that cannot be
//! read and gaps in silence: they are counted in the words.

use super::short::short;
use crate::model::{FieldSearch, FoundField, Place};
use crate::msg::Way;
use kubereel_format::{EventType, Evidence, Seq};
use kubereel_history::{Change, ComparisonScope, Field, ObjectForm, Timeline, harmless};
use serde_json::Value;

/// Looks for it; `go_on` is told how many of how many versions are read, and ends it by `false`.
pub(super) fn find(
    timeline: &Timeline,
    search: &FieldSearch,
    go_on: &mut dyn FnMut(usize, usize) -> bool,
) -> Option<FoundField> {
    let path = search.field.to_string();
    let shown = harmless(&path).into_owned();
    let Ok(field) = path.parse::<Field>() else {
        return Some(nowhere(format!(".{shown} cannot be followed")));
    };
    let walk = Walk {
        timeline,
        search,
        scope: ComparisonScope {
            fields: vec![field],
            ..ComparisonScope::default()
        },
    };
    let versions = search.subject.versions(timeline);
    let order = order(&versions, search);
    let mut unread = 0;
    // On the way, one of two versions has been read for the step before.
    let mut kept: Option<(Seq, Held)> = None;
    for (done, at) in order.iter().enumerate() {
        if !go_on(done, order.len()) {
            return None;
        }
        let Some(seq) = versions.get(*at).copied() else {
            continue;
        };
        let before = at.checked_sub(1).and_then(|at| versions.get(at)).copied();
        let mut old = before.map_or(Held::Nothing, |before| walk.kept(before, &mut kept));
        let mut new = walk.kept(seq, &mut kept);
        // What cannot be read is passed over: those on both sides are compared.
        let (read, other) = match search.way {
            Way::Next => (&mut new, &mut old),
            Way::Previous => (&mut old, &mut new),
        };
        if matches!(read, Held::Unread) {
            unread += 1;
            std::mem::swap(read, other);
        }
        if let Some(change) = walk.change(seq, before, &old, &new) {
            let gap = before.is_some_and(|before| walk.is_gap_between(before, seq));
            return Some(FoundField {
                place: Some(Place::behind(timeline, seq)),
                words: format!(".{shown} {}{}", told(&change), doubt(unread, gap)),
            });
        }
        kept = match search.way {
            Way::Next => Some((seq, new)),
            Way::Previous => before.map(|before| (before, old)),
        };
    }
    let word = match search.way {
        Way::Next => "later",
        Way::Previous => "earlier",
    };
    Some(nowhere(format!(
        "no {word} change of .{shown}{}",
        doubt(unread, false)
    )))
}

/// Gives the places of the versions in the order in which they are looked at.
fn order(versions: &[Seq], search: &FieldSearch) -> Vec<usize> {
    let below = search.from.below;
    let here = versions.partition_point(|seq| *seq < below);
    let last = here.checked_sub(1).and_then(|at| versions.get(at));
    // The change that is at the cursor was seen already.
    let is_here = last.is_some_and(|seq| seq.0 + 1 == below.0);
    match search.way {
        Way::Next => (here..versions.len()).collect(),
        Way::Previous => (0..here.saturating_sub(usize::from(is_here)))
            .rev()
            .collect(),
    }
}

const fn nowhere(words: String) -> FoundField {
    FoundField { place: None, words }
}

/// What was there of an object at a version.
enum Held {
    /// Nothing: it is deleted, or does not exist yet.
    Nothing,
    /// This.
    Object(Value),
    /// The version cannot be read.
    Unread,
}

struct Walk<'a> {
    timeline: &'a Timeline,
    search: &'a FieldSearch,
    scope: ComparisonScope,
}

impl Walk<'_> {
    /// Takes a version that was kept, or reads it.
    fn kept(&self, seq: Seq, kept: &mut Option<(Seq, Held)>) -> Held {
        let own = kept.take_if(|(own, _)| *own == seq);
        own.map_or_else(|| self.held(seq), |(_, held)| held)
    }

    fn held(&self, seq: Seq) -> Held {
        if self.timeline.reel().kind_of(seq) == Some(EventType::Deleted) {
            return Held::Nothing;
        }
        let resource = self.timeline.resources().get(self.search.subject.resource);
        let form = ObjectForm {
            shows_managed_fields: true,
        };
        match resource.map(|info| self.timeline.object(seq, info, form)) {
            Some(Ok(object)) => Held::Object(object),
            _ => Held::Unread,
        }
    }

    fn change(&self, seq: Seq, before: Option<Seq>, old: &Held, new: &Held) -> Option<Change> {
        let changes = match (old, new) {
            (Held::Object(old), Held::Object(new)) => self.scope.changes(old, new),
            (Held::Nothing, Held::Object(new)) => {
                let head = self.timeline.reel().head(seq);
                let is_old = head.is_some_and(|head| head.evidence == Evidence::Initial);
                // What was there when the recorder first looked did not change then.
                if before.is_none() && is_old {
                    return None;
                }
                self.scope.contents(new)
            }
            (Held::Object(old), Held::Nothing) => self.scope.lost(old),
            _ => return None,
        };
        changes.into_iter().next()
    }

    fn is_gap_between(&self, before: Seq, seq: Seq) -> bool {
        let at = |seq| Place::behind(self.timeline, seq).at;
        let (from, to) = (at(before), at(seq));
        let resource = self.search.subject.resource;
        self.timeline.may_miss_changes(resource, from, to)
    }
}

/// Says what a change did.
fn told(change: &Change) -> String {
    match (&change.old, &change.new) {
        (Some(old), Some(new)) => format!("{} → {}", short(old), short(new)),
        (None, Some(new)) => format!("appears: {}", short(new)),
        (Some(old), None) => format!("is gone, was {}", short(old)),
        (None, None) => "changes".to_owned(),
    }
}

/// Says what makes an answer doubtful.
fn doubt(unread: usize, is_across_gap: bool) -> String {
    let mut words = String::new();
    if is_across_gap {
        words.push_str(", across a gap: it may have changed in it");
    }
    if unread > 0 {
        words.extend([", ", &unread.to_string(), " versions cannot be read"]);
    }
    words
}
