//! The words without which a predicate is false.

use super::compile::Program;
use super::functions::OwnFunction;
use super::node::{BinaryOperator, CelConstant, CelNode};

impl Program {
    /// Finds words of which one must be in a text for the predicate to be anything but false: each with the member of
    /// a variable whose text it is looked for in, as it must be there and must be a text. `None` where that is
    /// not known.
    pub(crate) fn needed_words(&self, variable: usize) -> Option<Vec<(String, String)>> {
        needed(&self.node, variable)
    }
}

fn needed(node: &CelNode, variable: usize) -> Option<Vec<(String, String)>> {
    match node {
        // One side that is false decides, whatever the other is.
        CelNode::And(one, other) => needed(one, variable).or_else(|| needed(other, variable)),
        CelNode::Or(one, other) => {
            let mut words = needed(one, variable)?;
            words.extend(needed(other, variable)?);
            Some(words)
        }
        CelNode::OwnFunction(OwnFunction::Contains, arguments) => match arguments.as_slice() {
            [text, part] => Some(vec![(member(text, variable)?, constant(part)?)]),
            _ => None,
        },
        CelNode::BinaryOperator(BinaryOperator::Equal, sides) => {
            let [one, other] = sides.as_ref();
            Some(vec![(member(one, variable)?, constant(other)?)])
        }
        _ => None,
    }
}

fn member(node: &CelNode, variable: usize) -> Option<String> {
    match node {
        CelNode::Select {
            of,
            field,
            is_optional: false,
        } => matches!(of.as_ref(), CelNode::Variable(place) if *place == variable)
            .then(|| field.to_string()),
        _ => None,
    }
}

fn constant(node: &CelNode) -> Option<String> {
    match node {
        CelNode::CelConstant(CelConstant::Text(text)) => Some(text.to_string()),
        _ => None,
    }
}
