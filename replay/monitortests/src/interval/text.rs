//! Texts and lists of names and values that are shared: a million intervals repeat a few thousand
//! of them. It does not forget: what is kept lives as long as the run is read.

use super::pairs::{Pair, Pairs};
use std::collections::HashSet;
use std::sync::Arc;

/// Texts and lists, each kept once.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedTexts {
    texts: HashSet<Arc<str>>,
    pairs: HashSet<Arc<[Pair]>>,
}

impl SharedTexts {
    /// Returns the kept text that equals another.
    pub(crate) fn kept(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.texts.get(text) {
            return Arc::clone(known);
        }
        let new: Arc<str> = Arc::from(text);
        self.texts.insert(Arc::clone(&new));
        new
    }

    /// Returns the kept list that equals another; of several values of one name the last one is
    /// taken.
    pub(crate) fn pairs<'a>(&mut self, of: impl IntoIterator<Item = (&'a str, &'a str)>) -> Pairs {
        let of = of.into_iter();
        let pairs: Vec<Pair> = of
            .map(|(name, value)| (self.kept(name), self.kept(value)))
            .collect();
        self.shared(pairs)
    }

    /// Returns the kept list that equals one of texts that are kept already, here or elsewhere.
    pub(crate) fn shared(&mut self, pairs: Vec<Pair>) -> Pairs {
        let pairs = Pairs::sorted(pairs);
        if let Some(known) = self.pairs.get(pairs.as_slice()) {
            return Pairs(Arc::clone(known));
        }
        let new: Arc<[Pair]> = Arc::from(pairs);
        self.pairs.insert(Arc::clone(&new));
        Pairs(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lists_are_one() {
        let mut words = SharedTexts::default();
        let one = words.pairs([("pod", "a"), ("namespace", "n")]);
        let other = words.pairs([("namespace", "n"), ("pod", "a")]);
        assert!(Arc::ptr_eq(&one.0, &other.0));
        assert!(Arc::ptr_eq(&words.kept("n"), &words.kept("n")));
    }
}
