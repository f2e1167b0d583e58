//! A few names with values, as locators and messages carry them: sorted, shared, small. It does not
//! grow: a change makes a new list.

use std::sync::Arc;

/// A name and its value.
pub type Pair = (Arc<str>, Arc<str>);

/// Names with values, sorted by name, each name once. A clone shares them.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pairs(pub(super) Arc<[Pair]>);

impl Pairs {
    /// Returns the value of a name.
    pub fn get(&self, name: &str) -> Option<&Arc<str>> {
        let place = self.place(name).ok()?;
        self.0.get(place).map(|(_, value)| value)
    }

    /// Returns whether a name is there.
    pub fn contains_key(&self, name: &str) -> bool {
        self.place(name).is_ok()
    }

    /// Returns the names and values, from A to Z.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> + Clone {
        self.0.iter().map(|(name, value)| (name, value))
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sets the value of a name, in a new list.
    pub fn insert(&mut self, name: Arc<str>, value: Arc<str>) {
        let mut pairs = self.0.to_vec();
        match self.place(&name) {
            Ok(place) => {
                if let Some(pair) = pairs.get_mut(place) {
                    pair.1 = value;
                }
            }
            Err(place) => pairs.insert(place, (name, value)),
        }
        self.0 = Arc::from(pairs);
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        self.0
            .binary_search_by(|(known, _)| known.as_ref().cmp(name))
    }

    /// Sorts pairs by name; of those with one name, the last stays.
    pub(super) fn sorted(mut pairs: Vec<Pair>) -> Vec<Pair> {
        // The sort is stable: of equal names the later one still comes later.
        pairs.sort_by(|one, other| one.0.cmp(&other.0));
        pairs.reverse();
        pairs.dedup_by(|one, other| one.0 == other.0);
        pairs.reverse();
        pairs
    }
}

impl FromIterator<Pair> for Pairs {
    /// Of several values of one name the last one is taken.
    fn from_iter<I: IntoIterator<Item = Pair>>(pairs: I) -> Self {
        Self(Arc::from(Self::sorted(pairs.into_iter().collect())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(of: &[(&str, &str)]) -> Pairs {
        of.iter()
            .map(|(name, value)| (Arc::from(*name), Arc::from(*value)))
            .collect()
    }

    #[test]
    fn names_are_sorted_and_the_last_value_wins() {
        let mut some = pairs(&[("b", "1"), ("a", "2"), ("b", "3")]);
        assert_eq!(some, pairs(&[("a", "2"), ("b", "3")]));
        some.insert(Arc::from("aa"), Arc::from("4"));
        some.insert(Arc::from("a"), Arc::from("5"));
        assert_eq!(some, pairs(&[("a", "5"), ("aa", "4"), ("b", "3")]));
        assert_eq!(some.get("aa").map(AsRef::as_ref), Some("4"));
        assert!(!some.contains_key("c"));
    }
}
