//! What a predicate of a change is while nothing that it reads changes: found by its form alone, so that most such
//! predicates need not be evaluated at each event of an object.

use super::node::{BinaryOperator, CelConstant, CelNode};

/// The variables of a change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChangeVariables {
    /// Those of the version before, each with that of the version now.
    pub(crate) pairs: [(usize, usize); 2],
    /// The one that says what happened, and what it says of a change.
    pub(crate) action: (usize, &'static str),
}

impl ChangeVariables {
    /// Returns the truth of a predicate if the version before equals the version now; `None` if the form does not tell.
    pub(crate) fn truth_unchanged(&self, node: &CelNode) -> Option<bool> {
        match node {
            CelNode::CelConstant(CelConstant::Bool(value)) => Some(*value),
            CelNode::Not(of) => self.truth_unchanged(of).map(|truth| !truth),
            CelNode::And(one, other) => {
                let parts = (self.truth_unchanged(one), self.truth_unchanged(other));
                match parts {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    _ => self.is_contradiction(one, other).then_some(false),
                }
            }
            CelNode::Or(one, other) => {
                match (self.truth_unchanged(one), self.truth_unchanged(other)) {
                    (Some(true), _) | (_, Some(true)) => Some(true),
                    (Some(false), Some(false)) => Some(false),
                    _ => None,
                }
            }
            CelNode::BinaryOperator(BinaryOperator::In, sides) => {
                let [of, CelNode::List(words)] = sides.as_ref() else {
                    return None;
                };
                let is_it = words.iter().map(|word| self.action_is(of, word));
                let is_it: Option<Vec<bool>> = is_it.collect();
                is_it.map(|is_it| is_it.contains(&true))
            }
            CelNode::BinaryOperator(operator, sides) => {
                let [one, other] = sides.as_ref();
                let is_same = match (self.action_is(one, other), self.action_is(other, one)) {
                    (Some(is_it), _) | (_, Some(is_it)) => is_it,
                    (None, None) if self.form(one) == self.form(other) => true,
                    (None, None) => return None,
                };
                match operator {
                    BinaryOperator::Equal => Some(is_same),
                    BinaryOperator::Unequal => Some(!is_same),
                    BinaryOperator::Less | BinaryOperator::Greater if is_same => Some(false),
                    BinaryOperator::AtMost | BinaryOperator::AtLeast if is_same => Some(true),
                    _ => None,
                }
            }
            CelNode::InTexts(of, texts) => {
                let (variable, word) = self.action;
                let is_action = matches!(**of, CelNode::Variable(place) if place == variable);
                is_action.then(|| texts.contains(word))
            }
            _ => None,
        }
    }

    /// Compares what happened with a word.
    fn action_is(&self, variable: &CelNode, word: &CelNode) -> Option<bool> {
        let (action, changed) = self.action;
        match (variable, word) {
            (CelNode::Variable(place), CelNode::CelConstant(CelConstant::Text(word)))
                if *place == action =>
            {
                Some(**word == *changed)
            }
            _ => None,
        }
    }

    /// Returns whether both sides cannot be true: one of their parts is the opposite of another.
    fn is_contradiction(&self, one: &CelNode, other: &CelNode) -> bool {
        let mut rest = vec![one, other];
        let (mut stated, mut denied) = (Vec::new(), Vec::new());
        while let Some(part) = rest.pop() {
            match part {
                CelNode::And(one, other) => rest.extend([one.as_ref(), other.as_ref()]),
                CelNode::Not(of) => denied.push(self.form(of)),
                part => stated.push(self.form(part)),
            }
        }
        stated.iter().any(|part| denied.contains(part))
    }

    /// Writes an expression, the version before as the version now.
    fn form(&self, node: &CelNode) -> String {
        let mut form = format!("{node:?}");
        for (before, now) in self.pairs {
            form = form.replace(&format!("Variable({before})"), &format!("Variable({now})"));
        }
        form
    }
}

#[cfg(test)]
mod tests {
    use super::super::compile::Compiler;
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn the_form_tells_what_does_not_change() {
        let variables = ChangeVariables {
            pairs: [(1, 0), (4, 3)],
            action: (2, "changed"),
        };
        let names = ["object", "old", "action", "item", "oldItem"].map(str::to_owned);
        let constants = BTreeMap::new();
        let compiler = Compiler {
            variables: names.to_vec(),
            readable: names.to_vec(),
            why_not: &|_| None,
            words: &|_| None,
            constants: &constants,
        };
        for (text, expected) in [
            ("old.spec.x != object.spec.x", Some(false)),
            (
                "object.?spec.?x.orValue(0) < old.?spec.?x.orValue(0)",
                Some(false),
            ),
            ("item.n <= oldItem.n", Some(true)),
            ("old.a == 'b' && object.a != old.a", Some(false)),
            ("has(old.a) && object.b == 1 && !has(object.a)", Some(false)),
            ("action == 'gone' || action in ['appeared']", Some(false)),
            ("action != 'gone'", Some(true)),
            ("!('changed' == action)", Some(false)),
            ("old.a == 'b'", None),
            ("old.a != object.b", None),
            ("old.a == 'b' || object.a != old.a", None),
            ("size(old.a) + 1 == size(object.a)", None),
        ] {
            let program = compiler.compile(text).expect(text);
            assert_eq!(variables.truth_unchanged(&program.node), expected, "{text}");
        }
    }
}
