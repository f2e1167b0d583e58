//! Owns what an interval is about: a type and keys. Refuses to judge: any type and any key is taken.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The keys that lead the text of a locator, in this order; the others follow from A to Z.
const LEADING: [&str; 8] = [
    "namespace",
    "node",
    "pod",
    "uid",
    "server",
    "container",
    "shutdown",
    "row",
];

/// What an interval is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Locator {
    /// `ClusterOperator`, `Node`, `Pod` and others; empty in files that have none.
    pub kind: Arc<str>,
    /// Its keys, such as `namespace` and `pod`.
    pub keys: BTreeMap<Arc<str>, Arc<str>>,
}

impl Locator {
    /// Makes a locator of a type and keys; keys without a value are left out.
    pub fn new<'a>(kind: &str, keys: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let keys = keys.into_iter().filter(|(_, value)| !value.is_empty());
        Self {
            kind: Arc::from(kind),
            keys: keys
                .map(|(key, value)| (Arc::from(key), Arc::from(value)))
                .collect(),
        }
    }

    /// Gives the value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.keys.get(key).map(AsRef::as_ref)
    }
}

impl fmt::Display for Locator {
    /// Writes `key/value` words: the leading keys first, then from A to Z; the name of an e2e test in
    /// quotes.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let leading = LEADING
            .iter()
            .filter_map(|key| self.keys.get_key_value(*key));
        let others = self
            .keys
            .iter()
            .filter(|(key, _)| !LEADING.contains(&key.as_ref()));
        for (place, (key, value)) in leading.chain(others).enumerate() {
            if place > 0 {
                out.write_str(" ")?;
            }
            if key.as_ref() == "e2e-test" {
                write!(out, "{key}/{value:?}")?;
            } else {
                write!(out, "{key}/{value}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_keys_come_first() {
        let locator = Locator::new(
            "Pod",
            [
                ("hmsg", "0a"),
                ("pod", "a"),
                ("namespace", "n"),
                ("cause", ""),
                ("container", "c"),
            ],
        );
        assert_eq!(locator.to_string(), "namespace/n pod/a container/c hmsg/0a");
    }
}
