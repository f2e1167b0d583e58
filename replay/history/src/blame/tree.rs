//! Owns the origins of all values of an object, carried from version to version. Refuses to know
//! versions: it takes two values and what is known of the newer.

use super::origin::{self, Brought, Origin};
use crate::changes::{is_same_scalar, matched};
use crate::writers::{Managed, Owned};
use serde_json::Value;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The origins of a value and of all that it holds.
#[derive(Clone, Debug)]
pub(super) enum Tree {
    /// A value that holds no others.
    Leaf(Rc<Origin>),
    /// The origins of an object's members.
    Members(BTreeMap<String, Self>),
    /// The origins of a list's items.
    Items(Vec<Self>),
}

/// One step from a version to the next.
pub(super) struct Growth<'a> {
    brought: &'a Brought,
    entries: &'a [Managed<'a>],
    /// Origins made in this step, each once.
    known: BTreeMap<Origin, Rc<Origin>>,
}

impl<'a> Growth<'a> {
    pub(super) fn new(brought: &'a Brought, entries: &'a [Managed<'a>]) -> Self {
        Self {
            brought,
            entries,
            known: BTreeMap::new(),
        }
    }

    /// Gives the origins of a version, given the version before and its origins.
    pub(super) fn grow(&mut self, old: Option<(&Value, Tree)>, new: &Value) -> Tree {
        let owned = Owned::root(self.entries);
        self.value(None, old, new, &owned)
    }

    // The depth is bounded: the parser refuses more than 128 levels.
    fn value(
        &mut self,
        name: Option<&str>,
        old: Option<(&Value, Tree)>,
        new: &Value,
        owned: &Owned<'_>,
    ) -> Tree {
        match new {
            Value::Object(members) if !members.is_empty() => {
                let (old_members, mut origins) = match old {
                    Some((Value::Object(members), Tree::Members(origins))) => {
                        (Some(members), origins)
                    }
                    _ => (None, BTreeMap::new()),
                };
                let members = members.iter().map(|(name, new)| {
                    let old = old_members.and_then(|members| members.get(name));
                    let old = old.zip(origins.remove(name));
                    let tree = self.value(Some(name), old, new, &owned.member(name));
                    (name.clone(), tree)
                });
                Tree::Members(members.collect())
            }
            Value::Array(items) if !items.is_empty() => {
                let (old_items, origins) = match old {
                    Some((Value::Array(items), Tree::Items(origins))) => {
                        (items.as_slice(), origins)
                    }
                    _ => (&[][..], Vec::new()),
                };
                self.items(name, old_items, origins, items, owned)
            }
            leaf => match old {
                Some((old, tree @ Tree::Leaf(_))) if is_same_scalar(old, leaf) => tree,
                _ => self.leaf(owned),
            },
        }
    }

    fn items(
        &mut self,
        name: Option<&str>,
        old: &[Value],
        origins: Vec<Tree>,
        new: &[Value],
        owned: &Owned<'_>,
    ) -> Tree {
        let mut origins: Vec<Option<Tree>> = origins.into_iter().map(Some).collect();
        let mut before: Vec<Option<usize>> = vec![None; new.len()];
        for pair in matched(name, old, new).pairs {
            if let Some(slot) = pair.new.and_then(|at| before.get_mut(at)) {
                *slot = pair.old;
            }
        }
        let items = owned.items();
        let grown = new.iter().zip(before).enumerate();
        let grown = grown.map(|(at, (item, before))| {
            let tree = before
                .and_then(|at| origins.get_mut(at))
                .and_then(Option::take);
            let old = before.and_then(|at| old.get(at)).zip(tree);
            self.value(None, old, item, &items.item(at, item))
        });
        Tree::Items(grown.collect())
    }

    fn leaf(&mut self, owned: &Owned<'_>) -> Tree {
        let managers = owned
            .managers()
            .filter_map(|at| self.entries.get(at))
            .map(|entry| entry.writer.clone());
        let origin = origin::of(self.brought, managers.collect());
        let shared = self
            .known
            .entry(origin.clone())
            .or_insert_with(|| Rc::new(origin));
        Tree::Leaf(Rc::clone(shared))
    }
}
