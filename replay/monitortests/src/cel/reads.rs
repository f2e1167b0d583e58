//! The fields that an expression reads. No field is missed: what has no path is read as a whole.

use super::functions::OwnFunction;
use super::node::{BinaryOperator, CelConstant, CelNode, LoopKind};
use std::collections::{BTreeMap, BTreeSet};

/// A part of a variable's value: its place and the path of member names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ReadPath {
    pub(crate) variable: usize,
    pub(crate) path: String,
}

impl ReadPath {
    fn below(&self, name: &str) -> Self {
        let gap = if self.path.is_empty() { "" } else { "." };
        Self {
            variable: self.variable,
            path: format!("{}{gap}{name}", self.path),
        }
    }
}

/// What an expression reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reads {
    /// The paths read of each variable; the empty path is all of it.
    pub(crate) paths: BTreeMap<usize, BTreeSet<String>>,
}

impl Reads {
    /// Finds what an expression reads.
    pub(crate) fn of(node: &CelNode) -> Self {
        let (mut reads, parts) = Self::passed(node);
        reads.whole(parts);
        reads
    }

    /// Finds what an expression reads, and which parts of variables it gives on without reading them.
    pub(crate) fn passed(node: &CelNode) -> (Self, Vec<ReadPath>) {
        let mut reads = Self::default();
        let parts = reads.node(node, &mut Vec::new());
        (reads, parts)
    }

    /// Returns whether a variable is read.
    pub(crate) fn has(&self, variable: usize) -> bool {
        self.paths.contains_key(&variable)
    }

    /// Adds what another expression reads.
    pub(crate) fn join(&mut self, other: Self) {
        for (variable, paths) in other.paths {
            self.paths.entry(variable).or_default().extend(paths);
        }
    }

    /// Takes a variable's paths for paths below parts of others, as an item's are those of its list.
    pub(crate) fn replace(&mut self, variable: usize, parts: &[ReadPath]) {
        let Some(paths) = self.paths.get(&variable).cloned() else {
            return;
        };
        for part in parts {
            for path in &paths {
                let below = if path.is_empty() {
                    part.clone()
                } else {
                    part.below(path)
                };
                self.add(below);
            }
        }
    }

    fn add(&mut self, part: ReadPath) {
        self.paths
            .entry(part.variable)
            .or_default()
            .insert(part.path);
    }

    fn whole(&mut self, parts: Vec<ReadPath>) {
        for part in parts {
            self.add(part);
        }
    }

    fn consume(&mut self, node: &CelNode, locals: &mut Vec<Vec<ReadPath>>) {
        let parts = self.node(node, locals);
        self.whole(parts);
    }

    /// Walks an expression; gives the parts that its value is, or is in, and that are not read yet.
    fn node(&mut self, node: &CelNode, locals: &mut Vec<Vec<ReadPath>>) -> Vec<ReadPath> {
        match node {
            CelNode::CelConstant(_) | CelNode::Shared(_) => Vec::new(),
            CelNode::Variable(place) => vec![ReadPath {
                variable: *place,
                path: String::new(),
            }],
            CelNode::Local(depth) => locals.get(*depth).cloned().unwrap_or_default(),
            CelNode::Select { of, field, .. } => {
                let parts = self.node(of, locals);
                self.select(parts, field)
            }
            CelNode::Has { of, field } => {
                let parts = self.node(of, locals);
                let parts = self.select(parts, field);
                self.whole(parts);
                Vec::new()
            }
            CelNode::Index { of, by, .. } => {
                let parts = self.node(of, locals);
                match by.as_ref() {
                    CelNode::CelConstant(CelConstant::Text(name)) => self.select(parts, name),
                    // Of lists every item is read, so that a place in one changes no path.
                    CelNode::CelConstant(_) => parts,
                    other => {
                        self.whole(parts);
                        self.consume(other, locals);
                        Vec::new()
                    }
                }
            }
            CelNode::If(branches) => {
                let [test, yes, no] = branches.as_ref();
                self.consume(test, locals);
                let mut parts = self.node(yes, locals);
                parts.extend(self.node(no, locals));
                parts
            }
            CelNode::LoopKind {
                kind,
                over,
                only,
                body,
            } => {
                let parts = self.node(over, locals);
                locals.push(parts.clone());
                if let Some(only) = only {
                    self.consume(only, locals);
                }
                let result = match kind {
                    LoopKind::Filter => {
                        self.consume(body, locals);
                        parts
                    }
                    LoopKind::Map => self.node(body, locals),
                    LoopKind::All | LoopKind::Exists | LoopKind::ExistsOne => {
                        self.consume(body, locals);
                        Vec::new()
                    }
                };
                // What is given on reports itself how many there are.
                if let Some(gone) = locals.pop().filter(|_| result.is_empty()) {
                    self.presence(&gone);
                }
                result
            }
            CelNode::OwnFunction(own, arguments) => self.own(*own, arguments, locals),
            CelNode::BinaryOperator(BinaryOperator::Add, sides) => {
                let [one, other] = sides.as_ref();
                let mut parts = self.node(one, locals);
                parts.extend(self.node(other, locals));
                parts
            }
            other => {
                for child in children(other) {
                    self.consume(child, locals);
                }
                Vec::new()
            }
        }
    }

    fn own(
        &mut self,
        own: OwnFunction,
        arguments: &[CelNode],
        locals: &mut Vec<Vec<ReadPath>>,
    ) -> Vec<ReadPath> {
        match (own, arguments) {
            (OwnFunction::OrValue | OwnFunction::Or, [one, other]) => {
                let mut parts = self.node(one, locals);
                parts.extend(self.node(other, locals));
                parts
            }
            (OwnFunction::Value | OwnFunction::OptionalOf, [of]) => self.node(of, locals),
            (OwnFunction::Size, [of]) => {
                let parts = self.node(of, locals);
                self.presence(&parts);
                Vec::new()
            }
            (OwnFunction::Condition | OwnFunction::ConditionIs, [object, rest @ ..]) => {
                for argument in rest {
                    self.consume(argument, locals);
                }
                let parts = self.node(object, locals);
                let conditions: Vec<ReadPath> = parts
                    .iter()
                    .map(|part| part.below("status").below("conditions"))
                    .collect();
                for part in &conditions {
                    self.add(part.below("type"));
                    if own == OwnFunction::ConditionIs {
                        self.add(part.below("status"));
                    }
                }
                if own == OwnFunction::ConditionIs {
                    return Vec::new();
                }
                conditions
            }
            (_, arguments) => {
                for argument in arguments {
                    self.consume(argument, locals);
                }
                Vec::new()
            }
        }
    }

    fn select(&mut self, parts: Vec<ReadPath>, field: &str) -> Vec<ReadPath> {
        // A name with a dot is not a path.
        if field.contains('.') || field.is_empty() {
            self.whole(parts);
            return Vec::new();
        }
        parts.iter().map(|part| part.below(field)).collect()
    }

    /// Notes that it matters how many items a list has. A field read of them tells that too.
    fn presence(&mut self, parts: &[ReadPath]) {
        for part in parts {
            let paths = self.paths.entry(part.variable).or_default();
            let below = format!("{}.", part.path);
            let is_told = |path: &String| {
                *path == part.path || path.starts_with(&below) || part.path.is_empty()
            };
            if paths.is_empty() || !paths.iter().any(is_told) {
                paths.insert(part.path.clone());
            }
        }
    }
}

/// Returns the parts of a node whose values are consumed.
fn children(node: &CelNode) -> Vec<&CelNode> {
    match node {
        CelNode::List(items)
        | CelNode::Library {
            arguments: items, ..
        } => items.iter().collect(),
        CelNode::Map(entries) => entries
            .iter()
            .flat_map(|(name, value)| [name, value])
            .collect(),
        CelNode::And(one, other) | CelNode::Or(one, other) => vec![one.as_ref(), other.as_ref()],
        CelNode::Not(of)
        | CelNode::Negate(of)
        | CelNode::InTexts(of, _)
        | CelNode::Matches(of, _)
        | CelNode::Find(of, _)
        | CelNode::FindAll(of, _) => vec![of.as_ref()],
        CelNode::BinaryOperator(_, sides) => sides.iter().collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::compile::Compiler;
    use super::*;

    fn read(text: &str) -> Vec<String> {
        let names = ["object".to_owned(), "others".to_owned()];
        let constants = BTreeMap::new();
        let compiler = Compiler {
            variables: names.to_vec(),
            readable: names.to_vec(),
            why_not: &|_| None,
            words: &|_| None,
            constants: &constants,
        };
        let program = compiler.compile(text).expect(text);
        let reads = Reads::of(&program.node);
        let all = reads.paths.into_iter();
        all.flat_map(|(variable, paths)| {
            paths
                .into_iter()
                .map(move |path| format!("{variable}:{path}"))
        })
        .collect()
    }

    #[test]
    fn what_is_read_is_told_by_path() {
        let expected: [(&str, &[&str]); 16] = [
            ("object.spec.x == 1", &["0:spec.x"]),
            ("has(object.spec.x)", &["0:spec.x"]),
            ("object.?spec.?x.orValue(2) > 1", &["0:spec.x"]),
            ("object == object", &["0:"]),
            (
                "object.metadata.labels['a'] == 'b'",
                &["0:metadata.labels.a"],
            ),
            (
                "object.metadata.labels['a.b/c'] == 'b'",
                &["0:metadata.labels"],
            ),
            (
                "object.metadata.labels[object.kind] == 'b'",
                &["0:kind", "0:metadata.labels"],
            ),
            (
                "object.status.conditions.exists(c, c.type == 'a' && c.status == 'b')",
                &["0:status.conditions.status", "0:status.conditions.type"],
            ),
            ("object.list.exists(c, true)", &["0:list"]),
            ("size(object.list.filter(c, c.x > 1)) == 2", &["0:list.x"]),
            ("size(object.list) == 2", &["0:list"]),
            (
                "object.list.filter(c, c.x > 1)[0].y",
                &["0:list.x", "0:list.y"],
            ),
            (
                "(object.a + object.?b.orValue([])).map(c, c.name).exists(n, n == 'x')",
                &["0:a.name", "0:b.name"],
            ),
            (
                "condition(object, 'Ready').?status.orValue('')",
                &["0:status.conditions.status", "0:status.conditions.type"],
            ),
            (
                "others.exists(o, o.metadata.uid == object.x)",
                &["0:x", "1:metadata.uid"],
            ),
            ("size(others) > 0", &["1:"]),
        ];
        for (text, paths) in expected {
            assert_eq!(read(text), paths, "{text}");
        }
    }
}
